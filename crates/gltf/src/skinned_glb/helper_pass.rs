//! Flesh on helper bones: the file is given helpers that follow the flesh, and what they leave is written into that file as into any other.
//!
//! Helpers follow flesh where there are frames of it, and the skinned surface everywhere else: in other animations, and before and after the frames
//! of a clip, which fade into it. So an animation without flesh plays as before, to the error of the helpers.

use super::clip::{Clip, Moment};
use super::flesh_frames::FleshFrames;
use super::helper_motion::{BodyMotion, Followed, HelperFrame};
use super::keys::FADE;
use super::{FleshBake, SkinnedGlb, SkinnedGlbReport, animation_name, targets};
use crate::character_file::read_character;
use crate::document::Document;
use crate::helper_bones::{
    ClipTime, HelperBody, HelperBones, HelperClip, HelperNodes, HelperOptions, add_helpers,
};
use serde_json::json;
use sinew_character::{CharacterPose, Mat4, RiggedCharacter, SurfaceId};
use sinew_math::Vec3;
use sinew_take::SinkError;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// How often the skinned surface is looked at where there is no flesh (Hz): as often as most animations have keys.
const SKINNED_RATE: f64 = 30.0;
/// The most helper bones of a node where helpers are asked for without a number.
const MAX_HELPERS: usize = 64;
/// Parts of a frame at which errors are measured.
const PARTS: usize = 4;

/// The keys of helpers in one animation.
struct Track {
    /// The animation in the file; `None` for one that is added.
    animation: Option<usize>,
    /// The times of its frames (s).
    times: Vec<f64>,
    /// Which of all frames these are.
    frames: Range<usize>,
}

impl SkinnedGlb {
    /// Gives the file helper bones, and writes what they leave.
    pub(super) fn finish_with_helpers(mut self, flesh: FleshFrames) -> Result<SkinnedGlbReport, SinkError> {
        // what helpers follow, and the best of them
        let (tracks, frames) = self.tracks();
        let followed =
            Followed { character: &self.character, clips: &self.clips, flesh: &flesh, frames: &frames };
        let mut bodies = Vec::new();
        for body in 0..flesh.bodies.len() {
            let label = &self.character.nodes[flesh.bodies[body].node].label;
            match self.helpers_of(followed, body) {
                Ok(found) => bodies.extend(found),
                Err(Refused::NoHelpers(reason)) => self
                    .notes
                    .push(format!("'{label}' {reason}: it has morph targets instead of helper bones")),
                Err(Refused::Failed(message)) => {
                    return Err(SinkError(format!(
                        "'{label}' cannot be followed by helper bones: {message}"
                    )));
                }
            }
        }

        // a file that has them, and its flesh
        let mut document = self.document.clone();
        let nodes: Vec<usize> = bodies.iter().map(|body| body.node).collect();
        targets::own_meshes(&mut document, &self.character, &nodes);
        let mut clips = Vec::new();
        for Track { animation, times, frames } in tracks {
            let animation = animation.unwrap_or_else(|| {
                document.push("animations", json!({ "name": "flesh", "channels": [], "samplers": [] }))
            });
            clips.push(HelperClip { animation, times, frames });
        }
        add_helpers(&mut document, &self.character, &bodies, &clips);
        let counts = bodies.iter().map(|body| (body.node, body.bones.helpers.len())).collect();
        let animations: Vec<usize> = clips.iter().map(|clip| clip.animation).collect();
        self.write_rest(&flesh, document, counts, &animations)
    }

    /// Frames of every animation: those of clips with what is before and after them, then all others.
    fn tracks(&mut self) -> (Vec<Track>, Vec<HelperFrame>) {
        let (mut tracks, mut frames): (Vec<Track>, Vec<HelperFrame>) = (Vec::new(), Vec::new());
        let character = self.character.clone();
        for (index, clip) in self.clips.iter().enumerate() {
            // flesh
            let moments = clip.keys(&character, index, 1);
            let mut timed: Vec<(f64, Option<Moment>)> =
                moments.iter().map(|moment| (clip.time_of(moment), Some(*moment))).collect();
            let (Some(first), Some(last)) = (timed.first().map(|at| at.0), timed.last().map(|at| at.0))
            else {
                continue;
            };

            // the skinned surface beyond it
            let duration = clip.animation.map_or(0.0, |animation| character.animations[animation].duration);
            if duration - last > 1.0 / clip.fps {
                let name = animation_name(&character, clip.animation.unwrap_or_default());
                self.notes.push(format!(
                    "animation {name} goes on for {:.2} s after the last frame: flesh fades out within {FADE} s, and the rest plays without it",
                    duration - last
                ));
            }
            let beyond = skinned_times(duration).filter(|time| *time < first - FADE || *time > last + FADE);
            let fades = [first - FADE, last + FADE].into_iter().filter(|time| (0.0..duration).contains(time));
            timed.extend(beyond.chain(fades).map(|time| (time, None)));
            timed.sort_by(|a, b| a.0.total_cmp(&b.0));
            timed.dedup_by(|later, first| later.0 as f32 <= first.0 as f32);
            let pose = |(time, moment): &(f64, Option<Moment>)| match moment {
                Some(moment) => clip.pose_at(&character, moment),
                None => clip.pose_of_file(&character, *time),
            };
            let start = frames.len();
            let track = tracks.len();
            let time = |seconds: f64| ClipTime { clip: track, seconds };
            frames.extend(timed.iter().map(|at| HelperFrame {
                pose: pose(at),
                time: time(at.0),
                moment: at.1,
            }));
            let times = timed.into_iter().map(|at| at.0).collect();
            tracks.push(Track { animation: clip.animation, times, frames: start..frames.len() });
        }

        // animations without flesh
        for animation in 0..character.animations.len() {
            if self.clips.iter().any(|clip| clip.animation == Some(animation)) {
                continue;
            }
            let times: Vec<f64> = skinned_times(character.animations[animation].duration).collect();
            let start = frames.len();
            let track = tracks.len();
            frames.extend(times.iter().filter_map(|seconds| {
                let time = ClipTime { clip: track, seconds: *seconds };
                Some(HelperFrame { pose: character.pose_at(animation, *seconds)?, time, moment: None })
            }));
            tracks.push(Track { animation: Some(animation), times, frames: start..frames.len() });
        }
        (tracks, frames)
    }

    /// The helpers of a body; `None` where its skinning is near enough.
    fn helpers_of(&self, of: Followed, body: usize) -> Result<Option<HelperBody>, Refused> {
        // the best helpers
        let own = &of.flesh.bodies[body];
        let motion = BodyMotion::new(of, own).map_err(Refused::NoHelpers)?;
        let wanted = HelperOptions {
            max_helpers: self.options.helper_limit.unwrap_or(MAX_HELPERS),
            influences: self.options.influence_limit,
            allowed_error: of.flesh.allowed_errors[body],
        };
        let failed = |error: io::Error| Refused::Failed(error.to_string());
        let bones = HelperBones::find(&motion, &wanted).map_err(failed)?;
        if bones.helpers.is_empty() {
            return Ok(None);
        }

        // their nodes
        let worlds: Vec<Vec<Mat4>> =
            of.frames.iter().map(|frame| frame.pose.world_from_node.clone()).collect();
        let nodes = HelperNodes::place(of.character, motion.skin(), &bones, &worlds);
        let nodes = nodes.map_err(Refused::NoHelpers)?;
        let parts = own.parts.iter().map(|part| (part.surface.primitive, part.vertices.clone()));
        Ok(Some(HelperBody { node: own.node, parts: parts.collect(), bones, nodes }))
    }

    /// Writes all frames into a document that has helpers, whose clips are the given animations.
    fn write_rest(
        self,
        flesh: &FleshFrames,
        document: Document,
        helper_counts: BTreeMap<usize, usize>,
        animations: &[usize],
    ) -> Result<SkinnedGlbReport, SinkError> {
        // the file with helpers, read again
        let of_helpers = (document.buffer_length() - self.document.buffer_length()) as u64;
        let mut bytes = Vec::new();
        document.write(&mut bytes)?;
        let read = read_character(bytes).map_err(|error| SinkError(format!("helper bones: {error}")))?;
        let rigged = read.value.rigged.clone();
        let mut written = SkinnedGlb {
            document: Document::of(&read.value)?,
            character: rigged.clone(),
            options: self.options,
            file: self.file,
            clips: Vec::new(),
            flesh: None,
            notes: self.notes,
            max_bytes: self.max_bytes,
            helper_counts: Some(helper_counts),
        };

        // its frames
        for (index, (clip, animation)) in self.clips.iter().zip(animations).enumerate() {
            written.begin_clip(Some(*animation), clip.fps, clip.start)?;
            for frame in clip.frames.clone() {
                let moment = Moment { clip: index, frame, fraction: 0.0 };
                let pose = clip.pose_at(&self.character, &moment);
                let places = places_by_surface(&self.character, flesh, (&self.clips, &moment), &pose)?;
                let surfaces: Vec<(SurfaceId, &[Vec3])> =
                    flesh.surfaces.iter().copied().zip(places.iter().map(Vec::as_slice)).collect();
                let time = clip.time_of(&moment);
                written.frame(&with_helpers(&rigged, *animation, time, &pose), &surfaces)?;
            }
        }

        // what is lost, also between frames, where helpers have straight lines of their own
        let errors = match self.options.bake {
            FleshBake::Bones => Some(measure(&self.character, &self.clips, flesh, &written)?),
            _ => None,
        };
        let mut report = written.finish()?;
        report.bytes_added += of_helpers;
        for (place, body) in report.bodies.iter_mut().enumerate() {
            for (index, clip) in body.clips.iter_mut().enumerate() {
                clip.animation = self.clips[index].animation;
                if let Some(errors) = errors.as_ref().filter(|_| body.helpers > 0) {
                    [clip.error_at_frames, clip.error_between] = errors[index][place];
                }
            }
            let largest = body.clips.iter().map(|clip| clip.error_at_frames.max(clip.error_between));
            body.largest_error = largest.fold(0.0, f64::max);
        }
        Ok(report)
    }
}

/// Why a body has no helpers.
enum Refused {
    NoHelpers(String),
    Failed(String),
}

/// Times at which the skinned surface of an animation is followed (s).
fn skinned_times(duration: f64) -> impl Iterator<Item = f64> {
    let count = (duration * SKINNED_RATE).ceil().clamp(0.0, 1e6) as usize;
    (0..=count).map(move |i| duration * i as f64 / count.max(1) as f64)
}

/// Where the vertices of all surfaces are at a moment, in the order in which they were given (m).
fn places_by_surface(
    character: &RiggedCharacter,
    flesh: &FleshFrames,
    (clips, moment): (&[Clip], &Moment),
    pose: &CharacterPose,
) -> Result<Vec<Vec<Vec3>>, SinkError> {
    let mut places = vec![Vec::new(); flesh.surfaces.len()];
    for body in &flesh.bodies {
        let all = flesh.places(character, body, (clips, Some(moment)), pose);
        let all = all.map_err(|error| SinkError(format!("a frame cannot be read: {error}")))?;
        for part in &body.parts {
            places[part.given] = all[part.vertices.clone()].to_vec();
        }
    }
    Ok(places)
}

/// A pose of the file in the file with helpers, which stand where an animation puts them at a time (s).
fn with_helpers(
    character: &Arc<RiggedCharacter>,
    animation: usize,
    time: f64,
    pose: &CharacterPose,
) -> CharacterPose {
    let mut played = character.pose_at(animation, time).unwrap_or_else(|| character.rest_pose());
    let count = pose.parent_from_node.len();
    played.parent_from_node[..count].clone_from_slice(&pose.parent_from_node);
    played.morph_weights[..count].clone_from_slice(&pose.morph_weights);
    character.place(&mut played);
    played
}

/// For each clip and body the largest distances of vertices on helpers from where they were given (m): at frames, and at quarters between them.
fn measure(
    character: &RiggedCharacter,
    clips: &[Clip],
    flesh: &FleshFrames,
    written: &SkinnedGlb,
) -> Result<Vec<Vec<[f64; 2]>>, SinkError> {
    let unread = |error: io::Error| SinkError(format!("a frame cannot be read: {error}"));
    let mut errors = vec![vec![[0.0f64; 2]; flesh.bodies.len()]; clips.len()];
    for (index, (clip, with)) in clips.iter().zip(&written.clips).enumerate() {
        for moment in clip.parts_of_frames(index, PARTS) {
            let pose = clip.pose_at(character, &moment);
            let played = with.pose_at(&written.character, &moment);
            for (body, errors) in flesh.bodies.iter().zip(&mut errors[index]) {
                let given = flesh.places(character, body, (clips, Some(&moment)), &pose).map_err(unread)?;
                for part in &body.parts {
                    let shown = written.character.world_vertices(part.surface, &played).unwrap_or_default();
                    let gaps = given[part.vertices.clone()].iter().zip(&shown).map(|(a, b)| (a - b).norm());
                    let error = &mut errors[usize::from(moment.fraction > 0.0)];
                    *error = gaps.fold(*error, f64::max);
                }
            }
        }
    }
    Ok(errors)
}
