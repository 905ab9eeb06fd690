//! Directed takes: direct control prepares what key poses or free fall finish, with a switch of modes in the take.                [KimPollard2011, fig. 3 and 10]

use super::free_root_motion::FreeRootMotion;
use crate::character_desc::at;
use crate::cycle::{PoseBuilder, ramp};
use crate::worm::{BONES, worm};
use crate::{fish, starfish};
use core::f64::consts::{FRAC_PI_2, TAU};
use sinew_control::{DriveMode, Extrapolation, Goal, GoalPoint, Interpolation, Key, Keyframes, PathFollower};
use sinew_math::{Rotation, Vec3, real, so3};
use sinew_sim::desc::ShapeDesc;
use sinew_skeleton::{BoneId, JointKind, Skeleton};
use sinew_take::{Scene, SceneChange, SceneEdit};

/// A goal for a point of a bone at rest, with its place over time and the end of it (s).
struct BoneGoal<'a> {
    bone: &'a str,
    point: Vec3,
    path: &'a [(f64, Vec3)],
    interpolation: Interpolation,
    end: f64,
}

impl BoneGoal<'_> {
    /// None if the bone does not exist, which the tests of the scenes would see.
    fn build(&self, scene: &Scene) -> Option<Goal> {
        let skeleton = Skeleton::build(&scene.world.rigs.first()?.skeleton.with_plain_masses()).ok()?;
        let point = GoalPoint::Bone { bone: skeleton.find_bone(self.bone)?, place: Some(self.point) };
        let place = curve(self.path, self.interpolation)?;
        Some(Goal { point, end: self.end, ..Goal::of_bone(self.bone, BoneId(0), place) })
    }
}

fn curve(keys: &[(f64, Vec3)], interpolation: Interpolation) -> Option<Keyframes<Vec3>> {
    let keys = keys.iter().map(|(time, value)| Key::at(*time, *value)).collect();
    Keyframes::build(keys, interpolation, Extrapolation::Hold).ok()
}

/// Drives a scene by direct control at first, then by other modes from given times (s) on.
fn direct(mut scene: Scene, goals: Vec<Goal>, time_constant: f64, modes: &[(f64, DriveMode)]) -> Scene {
    let rig = scene.world.rigs.first().map(|rig| rig.name.clone()).unwrap_or_default();
    for performance in &mut scene.performances {
        performance.set_drive_mode(DriveMode::Direct);
        performance.follow = PathFollower { time_constant };
        performance.goals.clone_from(&goals);
    }
    let edit = |(time, mode): &(f64, DriveMode)| SceneEdit {
        time: *time,
        changes: vec![SceneChange::Drive { rig: rig.clone(), mode: *mode }],
    };
    scene.edits = modes.iter().map(edit).collect();
    scene
}

/// A fish on land: its head and tail are guided up by direct control, key poses snap it the other way, and limp it falls.       [KimPollard2011, fig. 3, above]
pub fn fish_directed() -> Scene {
    const SNAP: f64 = 0.95;
    let snap = |time: f64, pose: &mut PoseBuilder| {
        let snapped = ramp(time, SNAP, SNAP + 0.06);
        for (bone, degrees) in [("trunk", 34.0), ("loin", 40.0), ("stem", 40.0), ("tail", 30.0)] {
            pose.turn(bone, &[degrees * snapped]);
        }
        // on its side
        pose.place("head", at(0.0, 0.09, 0.0), &so3::exp(&(Vec3::x() * FRAC_PI_2)));
    };
    let scene = FreeRootMotion {
        name: "fish-directed",
        seconds: 2.5,
        friction: 0.6,
        young: 25e3,
        hold: 0.01,
        pose: &snap,
        cues: Vec::new(),
    }
    .apply_to(fish(800));

    // both ends rise
    let ends = [("head", 0.17, 0.12), ("tail", -0.235, -0.18)];
    let goal = |(bone, from, to): (&str, f64, f64)| {
        let path = [(0.0, at(from, 0.06, 0.0)), (0.1, at(from, 0.06, 0.0)), (0.8, at(to, 0.16, 0.0))];
        let (point, interpolation) = (at(from, 0.0, 0.0), Interpolation::KochanekBartels);
        BoneGoal { bone, point, path: &path, interpolation, end: SNAP }.build(&scene)
    };
    let goals = ends.into_iter().filter_map(goal).collect();
    direct(scene, goals, 0.015, &[(SNAP, DriveMode::TwoWay), (1.08, DriveMode::Ragdoll)])
}

/// Width of the belt over its thickness: the ring, 0.3 m high and as wide, stands by itself.
const BELT_BREADTH: f64 = 2.8;

/// A worm like a belt, whose joints bend in one plane.
fn belt_worm(tets: usize) -> Scene {
    let mut scene = worm(tets);
    for joint in
        scene.world.rigs.iter_mut().flat_map(|rig| &mut rig.skeleton.bones).map(|bone| &mut bone.joint)
    {
        if let JointKind::Universal(across, _) = joint.kind {
            joint.kind = JointKind::Revolute(across);
        }
    }
    for body in &mut scene.world.bodies {
        if let ShapeDesc::Surface { surface, .. } = &mut body.shape {
            surface.vertices.iter_mut().for_each(|v| v.z *= BELT_BREADTH);
        }
    }
    scene
}

/// A worm on the ground: one end is guided up by direct control, then key poses bend the worm into a ring that rolls away.       [KimPollard2011, fig. 3, below]
///
/// The ring is an ellipse, oblique in the world, through which the worm runs like the track of a tank: its centre is ahead of its support. With the turn φ of the ring
///
/// ```text
/// βⱼ = B + A cos(2 (2π (j + 1)/7 + φ(t))),   j = 0 … 5 from the tail
/// ```
pub fn worm_directed() -> Scene {
    const CURL: f64 = 0.8;
    const ROLL: f64 = 1.4;
    let curl = |time: f64, pose: &mut PoseBuilder| {
        // the rate rises for 2 s to 0.6 revolutions per second
        let since = (time - ROLL).max(0.0);
        let turn = TAU * if since < 2.0 { 0.15 * since * since } else { 0.6 * (since - 1.0) };
        for i in (0..BONES).filter(|i| *i != 3) {
            // bones before the root have their joints at the other end, and are bent already by direct control
            let (sign, joint, bent) = if i > 3 {
                (1.0, i, ramp(time, CURL, CURL + 0.6))
            } else {
                (-1.0, i + 1, ramp(time, 0.5 * CURL, CURL))
            };
            let oval = 24.0 * ramp(time, CURL + 0.3, CURL + 0.8);
            let bend = 48.0 + oval * real::cos(2.0 * (TAU * joint as f64 / BONES as f64 + turn));
            pose.turn(&format!("bone {}", i + 1), &[sign * bend * bent]);
        }
        pose.place("bone 4", at(0.0, 0.062, 0.0), &Rotation::identity());
    };
    let mut scene = FreeRootMotion {
        name: "worm-directed",
        seconds: 6.0,
        friction: 0.8,
        young: 5e4,
        hold: 0.01,
        pose: &curl,
        cues: Vec::new(),
    }
    .apply_to(belt_worm(2_500));
    scene.world.contact.self_contact = scene.world.bodies.iter().map(|body| body.name.clone()).collect();
    let start = at(-0.35, 0.06, 0.0);
    let path = [(0.0, start), (0.1, start), (0.5, at(-0.22, 0.26, 0.0)), (CURL, at(-0.06, 0.3, 0.0))];
    let end = BoneGoal {
        bone: "bone 1",
        point: at(-0.35, 0.0, 0.0),
        path: &path,
        interpolation: Interpolation::KochanekBartels,
        end: CURL,
    };
    let goals = end.build(&scene).into_iter().collect();
    direct(scene, goals, 0.06, &[(CURL, DriveMode::TwoWay)])
}

/// A starfish whose centre is guided up and round by direct control of all its arms: it leaps and turns, and falls limp.               [KimPollard2011, fig. 10]
pub fn starfish_directed() -> Scene {
    const LEAP: f64 = 0.75;
    let lie =
        |_: f64, pose: &mut PoseBuilder| pose.place("middle", at(0.0, 0.042, 0.0), &Rotation::identity());
    let scene = FreeRootMotion {
        name: "starfish-directed",
        seconds: 2.0,
        friction: 1.0,
        young: 25e3,
        hold: 0.006,
        pose: &lie,
        cues: Vec::new(),
    }
    .apply_to(starfish(400));
    let heights = [(0.0, 0.042), (0.2, 0.042), (0.6, 0.075), (LEAP, 0.17)];
    let path = heights.map(|(time, height)| (time, at(0.0, height, 0.0)));
    let turns = [(0.0, 0.0), (0.2, 0.0), (0.6, -0.3), (LEAP, 0.9)];
    let turns = turns.map(|(time, angle)| (time, at(0.0, angle, 0.0)));
    let (end, interpolation) = (LEAP + 0.05, Interpolation::Linear);
    let middle = BoneGoal { bone: "middle", point: Vec3::zeros(), path: &path, interpolation, end };
    let goal = middle.build(&scene).map(|goal| Goal {
        turn: curve(&turns, Interpolation::Linear),
        reach_time: 0.07,
        ..goal
    });
    let goals = goal.into_iter().collect();
    direct(scene, goals, 0.1, &[(end, DriveMode::Ragdoll)])
}
