//! What a character does once, on the ground, with nobody to hold its root: joints are led, and where that brings it the ground decides.

use crate::cycle::{FRAMES_PER_SECOND, Posture};
use crate::figure::EARTH;
use sinew_control::{Cue, DriveMode, Extrapolation, Interpolation, Key, Performance, SkeletonMotion};
use sinew_sim::desc::{ContactDesc, Hold, ObstacleDesc};
use sinew_skeleton::Skeleton;
use sinew_take::Scene;

/// How long flesh settles in the first posture before the root is let go (s).
const SETTLE: f64 = 0.4;

/// An act on level ground at height 0.
pub(super) struct Act<'a> {
    /// The name of the scene.
    pub(super) name: &'static str,
    /// How long it takes (s).
    pub(super) seconds: f64,
    /// Coulomb's coefficient of friction.
    pub(super) friction: f64,
    /// Young's modulus of its flesh (Pa): what swims without weight may be softer than what lies and leaps.
    pub(super) young: f64,
    /// How far beyond their bones nodes are fixed to them (m). A single row of nodes on its axis would let a bone turn within the flesh.
    pub(super) hold: f64,
    /// Writes the posture at a time (s). Where it places the root counts at the start only.
    pub(super) pose: &'a dyn Fn(f64, &mut Posture),
    /// When joints change hands, beside the root, which goes free at 0.
    pub(super) cues: Vec<Cue>,
}

impl Act<'_> {
    /// The scene in which a character, alone in its own scene so far, does this.
    pub(super) fn played_by(self, mut scene: Scene) -> Scene {
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

    /// A posture for every frame, the last of which is held.
    fn motion(&self, skeleton: &Skeleton) -> Option<SkeletonMotion> {
        let key = |frame: usize| {
            let time = frame as f64 / FRAMES_PER_SECOND;
            Key::at(time, Posture::at_rest(skeleton, |posture| (self.pose)(time, posture)))
        };
        let frames = (self.seconds * FRAMES_PER_SECOND).round() as usize;
        let keys: Vec<_> = (0..=frames).map(key).collect();
        let interpolation = Interpolation::KochanekBartels;
        let motion =
            SkeletonMotion::from_key_poses(skeleton, 1.0 / FRAMES_PER_SECOND, &keys, interpolation).ok()?;
        Some(motion.with(interpolation, Extrapolation::Hold))
    }
}
