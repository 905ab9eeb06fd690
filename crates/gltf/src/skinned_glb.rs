//! A take written back into a character's own file: a GLB that is the file as it was, with the motion of flesh added.
//!
//! ```text
//! x(t) = Σ_j w_j J_j(t) (v + Σ_m μ_m(t) d_m + Σ_k ω_k(t) e_k)
//! ```
//!
//! The skeleton J, the weights w, the file's own morph targets d and all that is not named here stay as they are. Flesh adds the morph
//! targets e, in bind space and behind those of the file, with the normals that go with them, and keys of their weights ω in the animations that were played. Nodes that
//! stood elsewhere than the animation puts them get new keys, and rotations whose keys are far apart further ones on the arcs between them. Between frames ω is a straight line, as are the own weights μ of meshes that have flesh.
//!
//! Several clips, one after the other, share one set of targets. Animations without flesh get weights of zero, and the clips come first in the file.
//!
//! Frames wait on disk beside the target until the end, so memory does not grow with their number.

mod body;
mod carry_back;
mod clip;
mod compression;
mod direction_fit;
mod flesh_frames;
mod helper_motion;
mod helper_pass;
mod images;
mod joint_keys;
mod keys;
mod report;
mod residuals;
mod rotation_arcs;
mod scratch;
mod shading;
mod shading_targets;
mod targets;

pub use compression::Quantization;
pub(crate) use images::pack as pack_images;
pub use report::{SkinnedBodyReport, SkinnedClipReport, SkinnedGlbReport};

use crate::character_file::CharacterFile;
use crate::components::{Effort, Fitted};
use crate::document::Document;
use body::Body;
use clip::Clip;
use compression::Flesh;
use flesh_frames::FleshFrames;
use keys::KeyWriter;
use rotation_arcs::{RotationArcs, Turned};
use shading::Shading;
use sinew_character::{CharacterPose, RiggedCharacter, SurfaceId};
use sinew_files::AtomicFile;
use sinew_math::Vec3;
use sinew_take::SinkError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Some phones and engines lose a mesh with more morph targets.
const TARGET_CEILING: usize = 240;
/// How far a pose's places in the world may be from its places in parents, as a fraction of its largest number.
const POSE_ROUND_OFF: f64 = 1e-6;

/// Up to so many vertices times frames, [`AUTO_HELPERS`] helper bones are found within some ten seconds on two cores.
const QUICK_HELPERS: usize = 4_000_000;
/// Helper bones of a node unless a limit is given: with as many morph targets as a compact file has room for, 16 of them leave the smallest errors over the characters of decision 015.
const AUTO_HELPERS: usize = 16;

/// The bytes of a key of a helper bone: a translation, a rotation, and its part of the time.
const HELPER_KEY: usize = 24;

/// A compact file is at most so many times as large as without flesh, or has so many bytes per second of its clips, whichever is more.
const COMPACT_FACTOR: u64 = 3;
const COMPACT_RATE: f64 = 1e6 / 60.0;
/// Further keys of rotations take at most one part in so many of what flesh may add to a compact file.
const ARCS_OF_ROOM: u64 = 4;
/// How often morph targets are found anew for a file that is still too large.
const COMPACT_TRIES: usize = 4;

/// What an error is a fraction of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorMeasure {
    /// The diagonal of the box around all flesh at rest: surfaces are parts of one character.
    #[default]
    AllFlesh,
    /// The longest side of the box around what each node shows at rest: they are bodies for themselves.
    EachBody,
}

/// What carries flesh in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FleshBake {
    /// Morph targets; where they miss the error or the size of a compact file, and helpers are found within seconds, a few helper bones too.
    #[default]
    Auto,
    /// Helper bones under the joints of the file, and weights over both.
    Bones,
    /// Morph targets; joints and weights of the file stay as they are.
    Morphs,
    /// Helper bones, and morph targets for what they leave.
    BonesAndMorphs,
}

/// How a take is written into a character's file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinnedGlbOptions {
    /// The animation that was played first, by its index in the file; without one, a new animation is put before the others.
    pub animation: Option<usize>,
    /// Frames per second.
    pub fps: f64,
    /// The time of the first frame in the animation (s).
    pub start: f64,
    /// The largest error allowed at any vertex in any frame, as a fraction of [`Self::measure`].
    pub error_fraction: f64,
    /// What errors are fractions of.
    pub measure: ErrorMeasure,
    /// The most morph targets that are added to a mesh; it never has more than 240 in all.
    pub component_limit: usize,
    /// How numbers of morph targets are stored.
    pub quantization: Quantization,
    /// Whether the views of the buffer are packed (`EXT_meshopt_compression`), which the file then requires.
    pub is_compressed: bool,
    /// What carries flesh.
    pub bake: FleshBake,
    /// Whether, with [`FleshBake::Auto`], size comes before the error: a file has no more morph targets than keep it below three times its size without flesh, or 1 MB per minute of its clips.
    pub is_compact: bool,
    /// The most helper bones of a node that shows flesh; `None` for as many as fit the purpose.
    pub helper_limit: Option<usize>,
    /// The most bones of a vertex that helper bones move.
    pub influence_limit: usize,
    /// The most memory for frames while they are compressed (bytes).
    pub memory_limit: usize,
}

impl Default for SkinnedGlbOptions {
    fn default() -> Self {
        SkinnedGlbOptions {
            animation: None,
            fps: 30.0,
            start: 0.0,
            error_fraction: 1e-3,
            measure: ErrorMeasure::AllFlesh,
            component_limit: 64,
            quantization: Quantization::default(),
            is_compressed: false,
            bake: FleshBake::default(),
            is_compact: true,
            helper_limit: None,
            influence_limit: 4,
            memory_limit: 1 << 30,
        }
    }
}

/// Writes a take into a character's file.
#[derive(Debug)]
pub struct SkinnedGlb {
    character: Arc<RiggedCharacter>,
    /// The document that the take is added to.
    document: Document,
    options: SkinnedGlbOptions,
    file: AtomicFile,
    clips: Vec<Clip>,
    /// From the first frame on.
    flesh: Option<FleshFrames>,
    notes: Vec<String>,
    /// The most bytes of the file, if it is to be compact.
    max_bytes: Option<u64>,
    /// In a file that was given helper bones, how many each node has that shows flesh on them.
    helper_counts: Option<BTreeMap<usize, usize>>,
}

impl SkinnedGlb {
    /// A file that will appear as `target`. Fails if it cannot be written, or if the options do not fit the character.
    pub fn new(
        target: impl Into<PathBuf>,
        file: &CharacterFile,
        options: SkinnedGlbOptions,
    ) -> Result<SkinnedGlb, SinkError> {
        let mut document = Document::of(file)?;
        let notes = images::pack(&mut document, file);
        let mut glb = SkinnedGlb::build(target.into(), file.rigged.clone(), document, notes, options)?;
        if options.is_compact && options.bake == FleshBake::Auto {
            glb.max_bytes = Some(COMPACT_FACTOR * glb.document.byte_count());
        }
        Ok(glb)
    }

    /// The same for a document that was built, and the character it describes.
    pub(crate) fn of_document(
        target: PathBuf,
        character: Arc<RiggedCharacter>,
        document: &Document,
        options: SkinnedGlbOptions,
    ) -> Result<SkinnedGlb, SinkError> {
        SkinnedGlb::build(target, character, document.clone(), Vec::new(), options)
    }

    fn build(
        target: PathBuf,
        character: Arc<RiggedCharacter>,
        document: Document,
        notes: Vec<String>,
        options: SkinnedGlbOptions,
    ) -> Result<SkinnedGlb, SinkError> {
        let SkinnedGlbOptions { animation, fps, start, error_fraction, .. } = options;
        let clip = Clip::new(&character, animation, (fps, start), 0)?;
        if !(error_fraction.is_finite() && error_fraction >= 0.0) {
            return Err(SinkError(format!(
                "an error of {error_fraction} of the size: give a fraction from 0"
            )));
        }
        let file = AtomicFile::create(&target).map_err(|error| SinkError(error.to_string()))?;
        let clips = vec![clip];
        Ok(SkinnedGlb {
            character,
            document,
            options,
            file,
            clips,
            flesh: None,
            notes,
            max_bytes: None,
            helper_counts: None,
        })
    }

    /// Begins another clip: frames that follow are those of another animation, or of a new one. Fails if the settings make no sense, or if the animation has a clip already.
    pub fn begin_clip(&mut self, animation: Option<usize>, fps: f64, start: f64) -> Result<(), SinkError> {
        self.clips.retain(|clip| !clip.frames.is_empty());
        if self.clips.iter().any(|clip| clip.animation == animation) {
            return Err(SinkError("an animation is played twice: give each once".into()));
        }
        self.clips.push(Clip::new(&self.character, animation, (fps, start), self.frame_count())?);
        Ok(())
    }

    /// How many frames there are, of all clips.
    fn frame_count(&self) -> usize {
        self.clips.last().map_or(0, |clip| clip.frames.end)
    }

    /// Adds a frame: where all nodes stand, and where the vertices of some surfaces are in the world (m), in the order of the file.
    /// Every frame has the same surfaces in the same order. A frame that is refused leaves all as it was.
    pub fn frame(
        &mut self,
        pose: &CharacterPose,
        surfaces: &[(SurfaceId, &[Vec3])],
    ) -> Result<(), SinkError> {
        // whether the frame fits
        let place = self.frame_count();
        let Some(clip) = self.clips.last_mut() else { return Ok(()) };
        let frame = clip.frames.len();
        let named = |message: String| SinkError(format!("frame {frame}: {message}"));
        let time = clip.time(frame, 0.0);
        // key times are written in single precision and must differ there
        if frame > 0 && time as f32 <= clip.time(frame - 1, 0.0) as f32 {
            return Err(named(format!("{time} s cannot be told from the frame before: start earlier")));
        }
        check_pose(&self.character, pose).map_err(named)?;
        // until a frame is taken, nothing says which surfaces there are
        if place == 0 {
            let (document, file) = (&self.document, &self.file);
            self.flesh = Some(FleshFrames::new(&self.character, document, file, surfaces, &self.options)?);
        }
        let Some(flesh) = &mut self.flesh else { return Ok(()) };
        flesh.check(&self.character, surfaces).map_err(named)?;

        // where the file and its new keys put everything, and what is beyond
        let of_file = clip.pose_of_file(&self.character, time);
        let played = clip.joint_keys.played(&self.character, of_file, pose);
        let numbers = flesh.numbers(&self.character, &played.pose, surfaces).map_err(named)?;
        flesh.write(place, &numbers).map_err(|error| named(format!("cannot be kept: {error}")))?;
        clip.joint_keys.push(played);
        clip.frames.end += 1;
        Ok(())
    }

    /// Compresses all frames and gives the file its name. Fails without frames.
    pub fn finish(mut self) -> Result<SkinnedGlbReport, SinkError> {
        // helper bones first, in a file of their own
        self.clips.retain(|clip| !clip.frames.is_empty());
        let Some(frames) = self.flesh.take().filter(|_| !self.clips.is_empty()) else {
            return Err(SinkError("there are no frames to write: give at least one".into()));
        };
        let may_add = self.helper_counts.is_none();
        if may_add && matches!(self.options.bake, FleshBake::Bones | FleshBake::BonesAndMorphs) {
            return self.finish_with_helpers(frames);
        }

        // the morph targets of every body
        let limit = self.options.component_limit;
        let mut found = self.compress_all(&frames, limit)?;
        let is_missed = found.iter().zip(&frames.allowed_errors).any(|(of, most)| of.largest_error() > *most);
        let max_bytes = self.max_bytes_of_clips();
        let room = max_bytes.map(|most| most.saturating_sub(self.document.byte_count()));
        let arcs = self.rotation_arcs(room);
        let room = room.map(|room| room.saturating_sub(arcs.byte_count()));
        let is_too_large = |found: &[Flesh]| room.is_some_and(|room| frames.byte_count(found) > room);
        let is_quick = frames.vertex_count() * self.frame_count() <= QUICK_HELPERS;
        // keys of helpers must leave room for morph targets
        let of_keys = (AUTO_HELPERS * HELPER_KEY * self.frame_count()) as u64;
        let has_room = room.is_none_or(|room| 2 * of_keys <= room);
        let may_add = may_add && self.options.bake == FleshBake::Auto && is_quick && has_room;
        if may_add && (is_missed || is_too_large(&found)) {
            self.options.bake = FleshBake::BonesAndMorphs;
            self.options.helper_limit.get_or_insert(AUTO_HELPERS);
            return self.finish_with_helpers(frames);
        }

        // fewer of them in a compact file
        for _ in 0..COMPACT_TRIES {
            let most = found.iter().map(|flesh| flesh.deltas.len()).max().unwrap_or(0);
            let Some(room) = room.filter(|_| is_too_large(&found) && most > 1) else { break };
            let fraction = room as f64 / frames.byte_count(&found) as f64;
            let limit = ((most as f64 * fraction) as usize).clamp(1, most - 1);
            found = self.compress_all(&frames, limit)?;
        }

        // in the document, with keys of theirs and of joints
        let sheared: BTreeSet<usize> = self.clips.iter().flat_map(|clip| clip.joint_keys.sheared()).collect();
        self.notes.extend(sheared.into_iter().map(|node| {
            let label = &self.character.nodes[node].label;
            format!("node '{label}' is sheared and stood elsewhere than the file puts it: it keeps the file's keys")
        }));
        let packed = self.document.buffer_length();
        self.write_arcs(&arcs, &found);
        self.write_motion(&frames, &found);
        let bytes_added = (self.document.buffer_length() - packed) as u64;

        // in the file
        let bodies = self.body_reports(&frames, &found);
        self.document.sign();
        if self.options.is_compressed {
            self.document.pack_views();
        }
        let bytes = self.document.write(&mut self.file)?;
        self.file.commit().map_err(|error| SinkError(error.to_string()))?;
        let keyed: BTreeSet<usize> =
            self.clips.iter().flat_map(|clip| clip.joint_keys.keyed_nodes()).collect();
        Ok(SkinnedGlbReport { bodies, keyed_nodes: keyed.len(), bytes, bytes_added, notes: self.notes })
    }

    /// The most bytes of the file, with what its clips may have.
    fn max_bytes_of_clips(&self) -> Option<u64> {
        let seconds: f64 = self.clips.iter().map(|clip| clip.frames.len() as f64 / clip.fps).sum();
        self.max_bytes.map(|most| most.max((COMPACT_RATE * seconds) as u64))
    }

    /// Further keys between those of the file's rotations that are far apart.
    fn rotation_arcs(&self, room: Option<u64>) -> RotationArcs {
        let angle = rotation_arcs::max_angle(self.options.error_fraction);
        let most = room.map_or(u64::MAX, |room| room / ARCS_OF_ROOM);
        let helpers: usize = self.helper_counts.iter().flat_map(BTreeMap::values).sum();
        let node_count = self.character.nodes.len() - helpers;
        let of = Turned { character: &self.character, clips: &self.clips, node_count };
        RotationArcs::find_within(of, angle, most)
    }

    /// Writes them, unless nothing moves beyond the file's own animations, and says where there was no room for all.
    fn write_arcs(&mut self, arcs: &RotationArcs, found: &[Flesh]) {
        let is_moved = found.iter().any(|flesh| !flesh.deltas.is_empty() || flesh.largest_error() > 0.0);
        if !is_moved && self.has_no_joint_keys() {
            return;
        }
        arcs.write(&mut self.document);
        if arcs.max_angle > rotation_arcs::max_angle(self.options.error_fraction) {
            let degrees = arcs.max_angle.to_degrees().min(180.0);
            self.notes.push(format!(
                "rotations have keys up to {degrees:.0}° apart, and more of them would make the file too large: programs that interpolate quaternions by components, such as Blender, are off between them"
            ));
        }
    }

    /// Whether all nodes stood where the animations put them.
    fn has_no_joint_keys(&self) -> bool {
        self.clips.iter().all(|clip| clip.joint_keys.keyed_nodes().next().is_none())
    }

    /// The morph targets of all bodies, at most so many for each.
    fn compress_all(&self, frames: &FleshFrames, limit: usize) -> Result<Vec<Flesh>, SinkError> {
        (0..frames.bodies.len()).map(|body| self.compress(body, frames, limit)).collect()
    }

    fn compress(&self, body: usize, frames: &FleshFrames, limit: usize) -> Result<Flesh, SinkError> {
        let node = &self.character.nodes[frames.bodies[body].node];
        let own = node.mesh.map_or(0, |mesh| self.character.meshes[mesh].target_count());
        let limit = limit.min(TARGET_CEILING.saturating_sub(own));
        // where helpers carry flesh alone, what they leave is measured only
        let is_on_bones =
            self.options.bake == FleshBake::Bones && self.helper_count(frames.bodies[body].node) > 0;
        let limit = if is_on_bones { 0 } else { limit };
        let effort = Effort {
            allowed: frames.allowed_errors[body],
            limit,
            memory: self.options.memory_limit,
            fitted: Fitted::Largest,
        };
        let how = (effort, self.options.quantization);
        compression::compress(&self.character, &self.clips, frames, body, how)
            .map_err(|error| SinkError(format!("'{}' cannot be compressed: {error}", node.label)))
    }

    /// How many helper bones a node has that shows flesh.
    fn helper_count(&self, node: usize) -> usize {
        self.helper_counts.as_ref().and_then(|counts| counts.get(&node)).copied().unwrap_or(0)
    }

    /// Morph targets, and keys of theirs and of joints.
    fn write_motion(&mut self, frames: &FleshFrames, found: &[Flesh]) {
        // the bodies that move
        let all = frames.bodies.iter().zip(&frames.shadings).zip(found);
        let moving: Vec<(&Body, &Shading, &Flesh)> = all
            .filter(|(_, flesh)| !flesh.deltas.is_empty())
            .map(|((body, shading), flesh)| (body, shading, flesh))
            .collect();
        if moving.is_empty() && self.has_no_joint_keys() {
            return;
        }
        let max_angle = rotation_arcs::max_angle(self.options.error_fraction);
        let (document, character) = (&mut self.document, &self.character);
        let nodes: Vec<usize> = moving.iter().map(|(body, ..)| body.node).collect();
        targets::own_meshes(document, character, &nodes);
        for (body, shading, flesh) in &moving {
            targets::add(document, character, body, shading, flesh);
        }

        // their keys in every clip
        let mut written = Vec::new();
        for clip in &self.clips {
            let mut keys = KeyWriter::new(document, character, clip, max_angle);
            moving.iter().for_each(|(body, _, flesh)| keys.add_flesh(document, body, flesh));
            keys.add_joints(document);
            written.push(keys.animation());
            if let Some(rest) = keys.seconds_after().filter(|_| !moving.is_empty()) {
                let name = animation_name(character, keys.animation());
                self.notes.push(format!(
                    "animation {name} goes on for {rest:.2} s after the last frame: flesh fades out within 0.25 s, and the rest plays without it"
                ));
            }
        }

        // zeros in all others
        for animation in (0..character.animations.len()).filter(|animation| !written.contains(animation)) {
            for (body, _, flesh) in &moving {
                keys::add_neutral(document, character, animation, body.node, flesh.deltas.len());
            }
        }
        keys::put_first(document, &written);
    }

    /// What was written of each body.
    fn body_reports(&self, frames: &FleshFrames, found: &[Flesh]) -> Vec<SkinnedBodyReport> {
        let bodies = frames.bodies.iter().zip(&frames.allowed_errors).zip(found);
        let report = |(place, ((body, allowed_error), flesh)): (usize, ((&Body, &f64), &Flesh))| {
            let clips = self.clips.iter().zip(&flesh.errors).map(|(clip, error)| SkinnedClipReport {
                animation: clip.animation,
                frames: clip.frames.len(),
                error_at_frames: error.at_frames,
                error_between: error.between,
            });
            SkinnedBodyReport {
                node: body.node,
                name: self.character.nodes[body.node].label.clone(),
                helpers: self.helper_count(body.node),
                components: flesh.deltas.len(),
                largest_error: flesh.largest_error(),
                clips: clips.collect(),
                normal_angle: flesh.normal_angle,
                area: frames.shadings[place].area.iter().sum(),
                allowed_error: *allowed_error,
                is_compact: self.max_bytes.is_some(),
                damped_vertices: flesh.damped,
            }
        };
        bodies.enumerate().map(report).collect()
    }
}

/// An animation by its name, or else its number.
fn animation_name(character: &RiggedCharacter, animation: usize) -> String {
    let name = character.animations.get(animation).and_then(|animation| animation.name.as_deref());
    name.map_or_else(|| animation.to_string(), |name| format!("'{name}'"))
}

/// Fails unless a pose is one of the character, and its places in the world follow from those in parents.
fn check_pose(character: &RiggedCharacter, pose: &CharacterPose) -> Result<(), String> {
    let count = character.nodes.len();
    let lengths = [pose.parent_from_node.len(), pose.world_from_node.len(), pose.morph_weights.len()];
    if let Some(length) = lengths.into_iter().find(|length| *length != count) {
        return Err(format!(
            "the pose has {length} nodes and the file {count}: give a pose of this character"
        ));
    }
    let mut placed = pose.clone();
    character.place(&mut placed);
    let size = placed.world_from_node.iter().map(|matrix| matrix.amax()).fold(1e-12, f64::max);
    for (node, (placed, given)) in placed.world_from_node.iter().zip(&pose.world_from_node).enumerate() {
        let gap = (placed - given).amax();
        if gap.is_nan() || gap > POSE_ROUND_OFF * size {
            let label = &character.nodes[node].label;
            return Err(format!(
                "node '{label}' stands {gap} from where its parents put it: call `RiggedCharacter::place` on the pose"
            ));
        }
    }
    Ok(())
}
