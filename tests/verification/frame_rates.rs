//! Bones move alike at every frame rate.

use super::coupling::Worm;
use sinew::control::{
    BoneSelection, Cue, CueDrive, Curve, Extrapolation, Interpolation, PathFollower, Performance,
    SkeletonMotion,
};
use sinew::math::real;
use sinew::prelude::*;
use sinew::sim::{ImplicitSettings, Solver, StepOrder};
use sinew::skeleton::{Kinematics, Skeleton};

const RATES: [f64; 6] = [60.0, 24.0, 30.0, 120.0, 240.0, 960.0];

/// Frames at all of these rates fall on multiples of this time (s).
const COMMON: f64 = 1.0 / 6.0;

/// A worm that swings all its joints, 30 frames a second.
fn swing(skeleton: &Skeleton) -> SkeletonMotion {
    let mut frames = Vec::new();
    for i in 0..40 {
        let mut state = SkeletonState::at_rest(skeleton);
        for (dof, v) in state.v.iter_mut().enumerate() {
            *v = 0.4 * real::sin(0.15 * f64::from(i) + dof as f64);
        }
        state.move_along_velocity(skeleton, 1.0);
        frames.extend(state.q);
    }
    let motion = SkeletonMotion::build(skeleton, 1.0 / 30.0, frames).expect("a sound motion");
    motion.with(Interpolation::BSpline, Extrapolation::Hold)
}

fn scene(fps: f64, cues: Vec<Cue>, time_constant: f64) -> Scene {
    let mut world = Worm { gravity: -Vec3::y() * 9.81, ..Worm::default() }.world();
    // as many sub-steps per second at every rate
    world.max_step = Some((1.0 + 1e-9) / 1920.0);
    let skeleton = Skeleton::build(&world.rigs[0].skeleton).expect("a sound skeleton");
    let follow = PathFollower { time_constant };
    let performance = Performance { cues, follow, ..Performance::of(Some(swing(&skeleton))) };
    Scene { world, performances: vec![performance], seconds: 1.0, fps, ..Scene::default() }
}

/// The ends of all bones at common times, from a start far off the motion.
fn bone_ends(scene: &Scene) -> Vec<Vec3> {
    let mut player = Player::build(scene).expect("a sound scene");
    let skeleton = player.model.rigs()[0].skeleton.clone();
    for bone in 0..3 {
        let joint = &skeleton.bone(BoneId(bone)).joint;
        for dof in joint.v() {
            player.state.rigs[0].v[dof] += 0.8;
        }
    }
    player.state.rigs[0].move_along_velocity(&skeleton, 0.5);
    player.state.carry_flesh(&player.model);
    let frames = (COMMON * scene.fps).round() as usize;
    let (mut ends, mut kinematics) = (Vec::new(), Kinematics::default());
    for frame in 1..=scene.frame_count() {
        player.advance().expect("holds");
        if frame % frames == 0 {
            kinematics.update(&skeleton, &player.state.rigs[0]);
            ends.extend(kinematics.world_frames().iter().map(|frame| frame.point(&(0.2 * Vec3::x()))));
        }
    }
    ends
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// Kinematic joints return to their motion by a closed form that frames compose exactly. What is left are errors below 1e-9 rad and m, which count as none at the
/// next frame, earlier at high rates than at low ones: four of them over a length of 1 m.
#[test]
fn bones_return_to_their_motion_alike_at_every_frame_rate() {
    for time_constant in [0.1, 0.5] {
        let reference = bone_ends(&scene(RATES[0], Vec::new(), time_constant));
        for fps in &RATES[1..] {
            let gap = farthest(&bone_ends(&scene(*fps, Vec::new(), time_constant)), &reference);
            assert!(gap < 4e-9, "{fps} fps, τ = {time_constant} s: {gap:e} m");
        }
    }
}

/// The same for implicit steps, whose only bones that move are kinematic.
#[test]
fn bones_return_to_their_motion_alike_in_implicit_steps() {
    let reference = bone_ends(&scene(60.0, Vec::new(), 0.1));
    for order in [StepOrder::First, StepOrder::Second] {
        for fps in [24.0, 120.0] {
            let settings = ImplicitSettings { order, ..ImplicitSettings::INTERACTIVE };
            let scene = Scene { solver: Solver::Implicit(settings), ..scene(fps, Vec::new(), 0.1) };
            let gap = farthest(&bone_ends(&scene), &reference);
            assert!(gap < 4e-9, "{fps} fps: {gap:e} m");
        }
    }
}

/// Torques in between, of the last two bones from 1/6 s to 1/2 s. Sub-steps and the ends of frames are the same at all rates, but within frames kinematic joints go along cubics, off by up
/// to T³ |d⁴x/dt⁴|/125 in velocity, which flesh and limp joints take over for 1/3 s. Most of the derivative is that of the return, e/τ⁴ + 4 (ė + e/τ)/τ³ = 2e4 m/s⁴ for 0.4 m and 0.8 m/s.
/// The reference at 60 frames a second has the same error.
#[test]
fn torques_in_between_act_alike_at_every_frame_rate() {
    let cue = |time: f64, drive: CueDrive| Cue {
        time,
        bones: BoneSelection::These(vec![BoneId(1), BoneId(2)]),
        drive,
    };
    let cues = || {
        vec![
            cue(COMMON, CueDrive::Torque([0.1, -0.2, 0.3].map(Curve::Constant).to_vec())),
            cue(2.0 * COMMON, CueDrive::Limp),
            cue(3.0 * COMMON, CueDrive::Motion),
        ]
    };
    let reference = bone_ends(&scene(RATES[0], cues(), 0.1));
    let kinematic = bone_ends(&scene(RATES[0], Vec::new(), 0.1));
    assert!(farthest(&reference, &kinematic) > 0.05, "torques move the bones");
    for fps in &RATES[1..] {
        let gap = farthest(&bone_ends(&scene(*fps, cues(), 0.1)), &reference);
        let longest = (1.0 / fps).max(1.0 / RATES[0]);
        let bound = COMMON * 2.0 * longest * longest * longest * 2e4 / 125.0;
        assert!(gap < bound, "{fps} fps: {gap:e} m, bound {bound:e} m");
    }
}
