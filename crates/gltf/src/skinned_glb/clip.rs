//! One animation of the file and the frames that were given for it: when they are, and where the file with its new keys puts all nodes.

use super::joint_keys::JointKeys;
use sinew_character::{ChannelPath, CharacterPose, RiggedCharacter};
use sinew_take::SinkError;
use std::ops::Range;

/// Keys this near to a frame, as a fraction of the time between frames, are as good as at it.
const NEAR: f64 = 0.1;

/// The frames of an animation.
#[derive(Debug)]
pub(super) struct Clip {
    /// The animation that was played, by its index in the file; without one, a new animation.
    pub(super) animation: Option<usize>,
    /// Frames per second.
    pub(super) fps: f64,
    /// The time of the first frame (s).
    pub(super) start: f64,
    /// Its frames among those of all clips.
    pub(super) frames: Range<usize>,
    /// Keys of nodes that stood elsewhere than the animation puts them.
    pub(super) joint_keys: JointKeys,
}

/// A time of a clip: a fraction, 0 to below 1, of the way from a frame to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moment {
    /// The clip.
    pub(super) clip: usize,
    /// The frame, among those of all clips.
    pub(super) frame: usize,
    /// How far it is to the next one.
    pub(super) fraction: f64,
}

impl Clip {
    /// A clip without frames, behind `first` frames of other clips. Fails if its settings make no sense for the character.
    pub(super) fn new(
        character: &RiggedCharacter,
        animation: Option<usize>,
        (fps, start): (f64, f64),
        first: usize,
    ) -> Result<Clip, SinkError> {
        let has = character.animations.len();
        if let Some(animation) = animation.filter(|animation| *animation >= has) {
            return Err(SinkError(format!("animation {animation} is not in the file, which has {has}")));
        }
        if !(fps.is_finite() && fps > 0.0) {
            return Err(SinkError(format!("{fps} frames per second: give a number above 0")));
        }
        if !(start.is_finite() && start >= 0.0) {
            return Err(SinkError(format!("the first frame is at {start} s: give a time from 0")));
        }
        let joint_keys = JointKeys::new(character);
        Ok(Clip { animation, fps, start, frames: first..first, joint_keys })
    }

    /// The time in the animation (s) of a fraction of the way from a frame of the clip, counted from its first, to the next.
    pub(super) fn time(&self, frame: usize, fraction: f64) -> f64 {
        self.start + (frame as f64 + fraction) / self.fps
    }

    /// The time of a moment of this clip (s).
    pub(super) fn time_of(&self, moment: &Moment) -> f64 {
        self.time(moment.frame - self.frames.start, moment.fraction)
    }

    /// The pose of the file alone at a time (s).
    pub(super) fn pose_of_file(&self, character: &RiggedCharacter, time: f64) -> CharacterPose {
        let played = self.animation.and_then(|animation| character.pose_at(animation, time));
        played.unwrap_or_else(|| character.rest_pose())
    }

    /// The pose at a moment of this clip, as the file with its new keys has it.
    pub(super) fn pose_at(&self, character: &RiggedCharacter, moment: &Moment) -> CharacterPose {
        let mut pose = self.pose_of_file(character, self.time_of(moment));
        self.joint_keys.play(moment.frame - self.frames.start, moment.fraction, &mut pose);
        character.place(&mut pose);
        pose
    }

    /// The moments at which flesh gets keys: all frames, so many per frame if that is more than one, and the times between them at which the animation's own keys turn nodes, if these are fewer than the frames. Flesh in bind
    /// space has a corner where its joints have one, and a straight line between keys would cut it.
    pub(super) fn keys(&self, character: &RiggedCharacter, clip: usize, per_frame: usize) -> Vec<Moment> {
        let mut keys: Vec<Moment> = self.parts_of_frames(clip, per_frame).collect();
        let between = self.keys_between(character, clip);
        if between.len() <= self.frames.len() {
            keys.extend(between);
        }
        keys.sort_by(|a, b| a.frame.cmp(&b.frame).then(a.fraction.total_cmp(&b.fraction)));
        keys.dedup_by(|later, first| {
            later.frame == first.frame && later.fraction - first.fraction < 0.5 * NEAR
        });
        keys
    }

    /// Where the animation's own keys are, without those near a frame and beyond the last.
    fn keys_between(&self, character: &RiggedCharacter, clip: usize) -> Vec<Moment> {
        let Some(animation) = self.animation.map(|animation| &character.animations[animation]) else {
            return Vec::new();
        };
        let moves = animation.channels.iter().filter(|channel| channel.path != ChannelPath::Weights);
        let mut times: Vec<f64> = moves.flat_map(|channel| channel.times.iter().copied()).collect();
        times.sort_by(f64::total_cmp);
        times.dedup_by(|later, first| *later - *first < NEAR / self.fps);
        let place = |time: f64| {
            let frames = (time - self.start) * self.fps;
            let fraction = frames - frames.floor();
            let is_between = frames > 0.0 && frames < self.frames.len().saturating_sub(1) as f64;
            (is_between && (NEAR..1.0 - NEAR).contains(&fraction)).then(|| Moment {
                clip,
                frame: self.frames.start + frames as usize,
                fraction,
            })
        };
        times.into_iter().filter_map(place).collect()
    }

    /// The frames, and moments between them: so many per frame.
    pub(super) fn parts_of_frames(&self, clip: usize, per_frame: usize) -> impl Iterator<Item = Moment> {
        let parts = move |frame: usize| {
            let fraction = move |part: usize| part as f64 / per_frame as f64;
            (0..per_frame).map(move |part| Moment { clip, frame, fraction: fraction(part) })
        };
        let last = self.frames.end.saturating_sub(1);
        self.frames
            .clone()
            .flat_map(parts)
            .filter(move |moment| moment.frame < last || moment.fraction == 0.0)
    }
}
