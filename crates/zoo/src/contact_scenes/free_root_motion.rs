//! Motion of a character with a free root on level ground: joints are kinematic, and contact with the ground moves the root.

use crate::character_desc::EARTH;
use crate::cycle::{FRAMES_PER_SECOND, PoseBuilder};
use sinew_control::{Cue, DriveMode, Extrapolation, Interpolation, Key, Performance, SkeletonMotion};
use sinew_sim::desc::{ContactDesc, Hold, ObstacleDesc};
use sinew_skeleton::Skeleton;
use sinew_take::Scene;

/// Time for the flesh to settle in the first pose before the root is released (s).
const SETTLE: f64 = 0.4;

/// A motion that plays once on level ground at height 0.
pub(super) struct FreeRootMotion<'a> {
    /// The name of the scene.
    pub(super) name: &'static str,
    /// Its duration (s).
    pub(super) seconds: f64,
    /// Coulomb's coefficient of friction.
    pub(super) friction: f64,
    /// Young's modulus of the flesh (Pa): flesh that swims without weight may be softer than flesh that lies and leaps.
    pub(super) young: f64,
    /// Distance from bones within which nodes are fixed to them (m). With a single row of nodes on its axis a bone could rotate within the flesh.
    pub(super) hold: f64,
    /// Writes the pose at a time (s). The pose of the root matters at the start only.
    pub(super) pose: &'a dyn Fn(f64, &mut PoseBuilder),
    /// Cues in addition to the release of the root at time 0.
    pub(super) cues: Vec<Cue>,
}

impl FreeRootMotion<'_> {
    /// Replaces the motion of a scene with a single character by this one, on level ground.
    pub(super) fn apply_to(self, mut scene: Scene) -> Scene {
        let skeleton = scene.world.rigs.first().map(|rig| Skeleton::build(&rig.skeleton.with_plain_masses()));
        let motion = skeleton.and_then(Result::ok).and_then(|skeleton| self.motion(&skeleton));
        let mut performance = Performance { cues: self.cues, ..Performance::of(motion) };
        performance.set_drive_mode(DriveMode::TwoWay);
        scene.name = self.name.into();
        for body in &mut scene.world.bodies {
            body.material.young = self.young;
            for tie in body.attachment.iter_mut().flat_map(|attachment| &mut attachment.ties) {
                tie.hold = Hold::Inside { margin: self.hold };
            }
        }
        scene.world.gravity = EARTH;
        scene.world.obstacles = vec![ObstacleDesc::ground(0.0)];
        scene.world.contact = ContactDesc { friction: self.friction, ..ContactDesc::default() };
        scene.performances = vec![performance];
        scene.preroll = SETTLE;
        scene.seconds = self.seconds;
        scene
    }

    /// The motion with one key per frame, which holds its last pose.
    fn motion(&self, skeleton: &Skeleton) -> Option<SkeletonMotion> {
        let key = |frame: usize| {
            let time = frame as f64 / FRAMES_PER_SECOND;
            Key::at(time, PoseBuilder::at_rest(skeleton, |pose| (self.pose)(time, pose)))
        };
        let frames = (self.seconds * FRAMES_PER_SECOND).round() as usize;
        let keys: Vec<_> = (0..=frames).map(key).collect();
        let interpolation = Interpolation::KochanekBartels;
        let motion =
            SkeletonMotion::from_key_poses(skeleton, 1.0 / FRAMES_PER_SECOND, &keys, interpolation).ok()?;
        Some(motion.with(interpolation, Extrapolation::Hold))
    }
}
