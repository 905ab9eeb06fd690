//! Sudden cuts of a motion: flesh is carried with its bones and does not notice.

use super::coupling::Worm;
use sinew::control::{Extrapolation, Performance, SkeletonMotion};
use sinew::prelude::*;
use sinew::sim::{ImplicitSettings, Solver};
use sinew::skeleton::{Kinematics, Skeleton};

const FRAME_SECONDS: f64 = 1.0 / 30.0;

/// 40 frames of a worm that glides at 0.5 m/s along x, with joints put elsewhere in some of them.
fn glide(skeleton: &Skeleton, put: impl Fn(usize, &mut SkeletonState)) -> SkeletonMotion {
    let mut frames = Vec::new();
    for i in 0..40 {
        let mut state = SkeletonState::at_rest(skeleton);
        state.q[0] = 0.5 * FRAME_SECONDS * i as f64;
        put(i, &mut state);
        frames.extend(state.q);
    }
    SkeletonMotion::build(skeleton, FRAME_SECONDS, frames).expect("a sound motion")
}

fn scene(extrapolation: Extrapolation, fps: f64, put: impl Fn(usize, &mut SkeletonState)) -> Scene {
    let world = Worm::default().world();
    let skeleton = Skeleton::build(&world.rigs[0].skeleton).expect("a sound skeleton");
    let motion = glide(&skeleton, put);
    let interpolation = motion.interpolation;
    let motion = motion.with(interpolation, extrapolation);
    let performances = vec![Performance::of(Some(motion))];
    Scene { world, performances, seconds: 39.0 * FRAME_SECONDS, fps, ..Scene::default() }
}

/// The root turned by a quarter about z and 5 m away, from frame 20 on.
fn teleport(i: usize, state: &mut SkeletonState) {
    if i >= 20 {
        state.q[1] += 5.0;
        let half = core::f64::consts::FRAC_1_SQRT_2;
        state.q[3..7].copy_from_slice(&[0.0, 0.0, half, half]);
    }
}

/// The last bone bent by 2.5 rad in frame 20 alone.
fn pop(i: usize, state: &mut SkeletonState) {
    if i == 20 {
        let (s, c) = (sinew::math::real::sin(1.25), sinew::math::real::cos(1.25));
        state.q[11..15].copy_from_slice(&[0.0, 0.0, s, c]);
    }
}

/// Plays a scene; returns for every frame the farthest that a node is from its place at rest, as its root sees it (m), and the place of the root (m).
fn play(scene: &Scene) -> Vec<(f64, Vec3)> {
    let mut player = Player::build(scene).expect("a sound scene");
    let (mut seen, mut kinematics) = (Vec::new(), Kinematics::default());
    for _ in 0..scene.frame_count() {
        let report = player.advance().expect("holds");
        assert_eq!(report.retries, 0, "at {} s", player.state.time);
        kinematics.update(&player.model.rigs()[0].skeleton, &player.state.rigs[0]);
        let root = kinematics.world_frames()[0];
        let rest = player.model.node_rest().iter();
        let moved = player.state.node_x.iter().zip(rest).map(|(x, rest)| (root.point_back(x) - rest).norm());
        seen.push((moved.fold(0.0, f64::max), root.origin));
    }
    seen
}

fn cuts_of(scene: &Scene) -> Vec<(u32, f64)> {
    let motion = scene.performances[0].motion.as_ref().expect("it has one");
    motion.cuts().iter().map(|cut| (cut.bone.0, cut.time)).collect()
}

/// A glide needs no force and a cut gives none. Elements compute in single precision from differences in double: 1e-7 of their size of 25 mm, and implicit steps leave a
/// force of 0.01 m/s² per mass times their tolerance, which moves flesh of some 100 rad/s² by 1e-6 m at most.
#[test]
fn flesh_does_not_notice_a_teleport() {
    for solver in [Solver::Explicit, Solver::Implicit(ImplicitSettings::INTERACTIVE)] {
        for fps in [24.0, 60.0, 240.0] {
            let scene = Scene { solver, ..scene(Extrapolation::Hold, fps, teleport) };
            // both parts of the root's joint jump: 5 m and a quarter turn
            assert_eq!(cuts_of(&scene), [(0, 20.0 * FRAME_SECONDS), (0, 20.0 * FRAME_SECONDS)]);
            let seen = play(&scene);
            let farthest = seen.iter().map(|(moved, _)| *moved).fold(0.0, f64::max);
            assert!(farthest < 1e-6, "{fps} fps: flesh is {farthest:e} m from its place");
            let last = seen.last().expect("there are frames").1;
            let glided = 0.5 * seen.len() as f64 / fps;
            assert!((last - Vec3::new(glided, 5.0, 0.0)).norm() < 1e-9, "{last:?}");
        }
    }
}

/// Away and back within two frames: two cuts for each part of the root's joint, and the flesh notices neither.
#[test]
fn a_pop_of_one_frame_is_two_cuts() {
    let scene = scene(Extrapolation::Hold, 60.0, |i, state| {
        if i == 20 {
            teleport(i, state)
        }
    });
    let [there, back] = [20.0, 21.0].map(|frame| frame * FRAME_SECONDS);
    assert_eq!(cuts_of(&scene), [(0, there), (0, back), (0, there), (0, back)]);
    let farthest = play(&scene).iter().map(|(moved, _)| *moved).fold(0.0, f64::max);
    assert!(farthest < 1e-6, "flesh is {farthest:e} m from its place");
}

/// The flesh at a joint that pops spends a frame in a pose that it was not drawn for, and swings when it is back. A third of the body away from it, a fifth of the thickness is more than what
/// comes through.
#[test]
fn a_pop_of_a_joint_concerns_its_flesh_only() {
    let scene = scene(Extrapolation::Hold, 60.0, pop);
    assert_eq!(cuts_of(&scene), [(2, 20.0 * FRAME_SECONDS), (2, 21.0 * FRAME_SECONDS)]);
    let mut player = Player::build(&scene).expect("a sound scene");
    for frame in 0..scene.frame_count() {
        player.advance().expect("holds");
        let (root, rest) = (player.state.rigs[0].q[0], player.model.node_rest());
        let far = player.state.node_x.iter().zip(rest).filter(|(_, rest)| rest.x < 0.2);
        let moved = far.map(|(x, rest)| (x - rest - root * Vec3::x()).norm()).fold(0.0, f64::max);
        assert!(moved < 0.02, "frame {frame}: {moved} m");
    }
}

/// A loop that ends 0.65 m from where it starts jumps back in every round, whatever the frame rate: the flesh does not notice.
#[test]
fn a_loop_that_does_not_close_jumps_back_with_its_flesh() {
    for fps in [24.0, 50.0, 60.0, 240.0] {
        let mut scene = scene(Extrapolation::Loop, fps, |_, _| {});
        assert_eq!(cuts_of(&scene), []);
        let period = scene.seconds;
        scene.seconds = 2.2 * period;
        for preroll in [false, true] {
            if preroll {
                let longer = scene.performances[0].extend_preroll(1.0).expect("it loops");
                scene.preroll = longer;
            }
            for (frame, (moved, root)) in play(&scene).iter().enumerate() {
                assert!(*moved < 1e-7, "{fps} fps, frame {frame}: flesh is {moved:e} m from its place");
                let time = (frame + 1) as f64 / fps;
                // where rounds meet within round-off, the earlier one ends
                let rounds = ((time / period - 1e-9).ceil() - 1.0).max(0.0);
                let gap = (root.x - 0.5 * (time - rounds * period)).abs();
                assert!(gap < 1e-9, "{fps} fps, {time} s: the root is at {} m", root.x);
            }
        }
    }
}
