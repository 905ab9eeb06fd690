//! A take written back into a character's own file: a GLB that is the file as it was, with the motion of flesh added.
//!
//! ```text
//! x(t) = Σ_j w_j J_j(t) (v + Σ_m μ_m(t) d_m + Σ_k ω_k(t) e_k)
//! ```
//!
//! The skeleton J, the weights w, the file's own morph targets d and all that is not named here stay as they are. Flesh adds the morph
//! targets e, in bind space and behind those of the file, and keys of their weights ω in the animation that was played. Nodes that
//! stood elsewhere than the animation puts them get new keys. Normals have no deltas: viewers light flesh by the normals of the file,
//! turned by the joints. Between frames ω is a straight line, as are the own weights μ of meshes that have flesh.
//!
//! Frames wait on disk beside the target until the end, so memory does not grow with their number.

mod body;
mod carry_back;
mod images;
mod joint_keys;
mod keys;
mod report;
mod residuals;
mod scratch;
mod targets;

pub(crate) use images::pack as pack_images;
pub use report::{SkinnedBodyReport, SkinnedGlbReport};

use crate::character_file::CharacterFile;
use crate::components::Effort;
use crate::document::Document;
use body::Body;
use joint_keys::JointKeys;
use keys::KeyWriter;
use residuals::{Flesh, Residuals};
use scratch::Scratch;
use sinew_character::{CharacterPose, RiggedCharacter, SurfaceId};
use sinew_files::AtomicFile;
use sinew_math::Vec3;
use sinew_take::SinkError;
use std::path::PathBuf;
use std::sync::Arc;

/// Some phones and engines lose a mesh with more morph targets.
const TARGET_CEILING: usize = 240;
/// How far a pose's places in the world may be from its places in parents, as a fraction of its largest number.
const POSE_ROUND_OFF: f64 = 1e-6;

/// What an error is a fraction of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorMeasure {
    /// The diagonal of the box around all flesh at rest: surfaces are parts of one character.
    #[default]
    AllFlesh,
    /// The longest side of the box around what each node shows at rest: they are bodies for themselves.
    EachBody,
}

/// How a take is written into a character's file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinnedGlbOptions {
    /// The animation that was played, by its index in the file; without one, a new animation is put before the others.
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
            memory_limit: 1 << 30,
        }
    }
}

/// Writes a take into a character's file.
#[derive(Debug)]
pub struct SkinnedGlb<'a> {
    character: Arc<RiggedCharacter>,
    origin: Origin<'a>,
    options: SkinnedGlbOptions,
    file: AtomicFile,
    joint_keys: JointKeys,
    /// From the first frame on.
    flesh: Option<FleshFrames>,
    frame_count: usize,
}

/// The document that a take is added to.
#[derive(Debug)]
enum Origin<'a> {
    /// That of a character's file.
    File(&'a CharacterFile),
    /// One that was built.
    Built(Arc<Document>),
}

/// The frames of all bodies.
#[derive(Debug)]
struct FleshFrames {
    surfaces: Vec<SurfaceId>,
    bodies: Vec<Body>,
    scratch: Scratch,
    /// For each body how far its vertices may be off (m).
    allowed_errors: Vec<f64>,
}

impl<'a> SkinnedGlb<'a> {
    /// A file that will appear as `target`. Fails if it cannot be written, or if the options do not fit the character.
    pub fn new(
        target: impl Into<PathBuf>,
        file: &'a CharacterFile,
        options: SkinnedGlbOptions,
    ) -> Result<SkinnedGlb<'a>, SinkError> {
        SkinnedGlb::build(target.into(), file.rigged.clone(), Origin::File(file), options)
    }

    /// The same for a document that was built, and the character it describes.
    pub(crate) fn of_document(
        target: PathBuf,
        character: Arc<RiggedCharacter>,
        document: Arc<Document>,
        options: SkinnedGlbOptions,
    ) -> Result<SkinnedGlb<'a>, SinkError> {
        SkinnedGlb::build(target, character, Origin::Built(document), options)
    }

    fn build(
        target: PathBuf,
        character: Arc<RiggedCharacter>,
        origin: Origin<'a>,
        options: SkinnedGlbOptions,
    ) -> Result<SkinnedGlb<'a>, SinkError> {
        let SkinnedGlbOptions { animation, fps, start, error_fraction, .. } = options;
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
        if !(error_fraction.is_finite() && error_fraction >= 0.0) {
            return Err(SinkError(format!(
                "an error of {error_fraction} of the size: give a fraction from 0"
            )));
        }
        let file = AtomicFile::create(&target).map_err(|error| SinkError(error.to_string()))?;
        let joint_keys = JointKeys::new(&character);
        Ok(SkinnedGlb { character, origin, options, file, joint_keys, flesh: None, frame_count: 0 })
    }

    /// Adds a frame: where all nodes stand, and where the vertices of some surfaces are in the world (m), in the order of the file.
    /// Every frame has the same surfaces in the same order. A frame that is refused leaves all as it was.
    pub fn frame(
        &mut self,
        pose: &CharacterPose,
        surfaces: &[(SurfaceId, &[Vec3])],
    ) -> Result<(), SinkError> {
        // whether the frame fits
        let frame = self.frame_count;
        let named = |message: String| SinkError(format!("frame {frame}: {message}"));
        let time = self.time(frame);
        // key times are written in single precision and must differ there
        if frame > 0 && time as f32 <= self.time(frame - 1) as f32 {
            return Err(named(format!("{time} s cannot be told from the frame before: start earlier")));
        }
        check_pose(&self.character, pose).map_err(named)?;
        // until a frame is taken, nothing says which surfaces there are
        if frame == 0 {
            self.flesh = Some(FleshFrames::new(&self.character, &self.file, surfaces, &self.options)?);
        }
        let Some(flesh) = &mut self.flesh else { return Ok(()) };
        flesh.check(&self.character, surfaces).map_err(named)?;

        // where the file and its new keys put everything, and what is beyond
        let of_file = self.options.animation.and_then(|animation| self.character.pose_at(animation, time));
        let of_file = of_file.unwrap_or_else(|| self.character.rest_pose());
        let played = self.joint_keys.played(&self.character, of_file, pose);
        let beyond = flesh.displacements(&self.character, &played.pose, surfaces).map_err(named)?;
        flesh.scratch.write(frame, &beyond).map_err(|error| named(format!("cannot be kept: {error}")))?;
        flesh.bodies.iter_mut().for_each(|body| body.push_pose(&self.character, &played.pose));
        self.joint_keys.push(played);
        self.frame_count += 1;
        Ok(())
    }

    /// Compresses all frames and gives the file its name. Fails without frames.
    pub fn finish(mut self) -> Result<SkinnedGlbReport, SinkError> {
        // the morph targets of every body
        let Some(frames) = self.flesh.take().filter(|_| self.frame_count > 0) else {
            return Err(SinkError("there are no frames to write: give at least one".into()));
        };
        let found: Vec<Flesh> =
            (0..frames.bodies.len()).map(|body| self.compress(body, &frames)).collect::<Result<_, _>>()?;

        // the document they are added to
        let (mut document, mut notes) = match &self.origin {
            Origin::File(file) => {
                let mut document = Document::of(file)?;
                let notes = images::pack(&mut document, file);
                (document, notes)
            }
            Origin::Built(document) => (Document::clone(document), Vec::new()),
        };
        notes.extend(self.joint_keys.sheared().map(|node| {
            let label = &self.character.nodes[node].label;
            format!("node '{label}' is sheared and stood elsewhere than the file puts it: it keeps the file's keys")
        }));

        // both in the file
        let packed = document.buffer_length();
        self.write_motion(&mut document, &frames.bodies, &found);
        let bytes_added = (document.buffer_length() - packed) as u64;
        document.sign();
        let bytes = document.write(&mut self.file)?;
        self.file.commit().map_err(|error| SinkError(error.to_string()))?;

        // what was written
        let bodies = frames.bodies.iter().zip(&frames.allowed_errors).zip(&found);
        let bodies = bodies.map(|((body, allowed_error), flesh)| SkinnedBodyReport {
            node: body.node,
            name: self.character.nodes[body.node].label.clone(),
            components: flesh.deltas.len(),
            largest_error: flesh.largest_error,
            allowed_error: *allowed_error,
            damped_vertices: flesh.damped,
        });
        let bodies = bodies.collect();
        Ok(SkinnedGlbReport { bodies, keyed_nodes: self.joint_keys.keyed_nodes(), bytes, bytes_added, notes })
    }

    fn compress(&self, body: usize, frames: &FleshFrames) -> Result<Flesh, SinkError> {
        let (body, allowed) = (&frames.bodies[body], frames.allowed_errors[body]);
        let node = &self.character.nodes[body.node];
        let own = node.mesh.map_or(0, |mesh| self.character.meshes[mesh].target_count());
        let limit = self.options.component_limit.min(TARGET_CEILING.saturating_sub(own));
        let effort = Effort { allowed, limit, memory: self.options.memory_limit };
        Residuals::new(body, &frames.scratch)
            .compress(effort)
            .map_err(|error| SinkError(format!("'{}' cannot be compressed: {error}", node.label)))
    }

    /// Morph targets, and keys of theirs and of joints.
    fn write_motion(&self, document: &mut Document, bodies: &[Body], found: &[Flesh]) {
        let moving: Vec<(&Body, &Flesh)> =
            bodies.iter().zip(found).filter(|(_, flesh)| !flesh.deltas.is_empty()).collect();
        if moving.is_empty() && self.joint_keys.keyed_nodes() == 0 {
            return;
        }
        let nodes: Vec<usize> = moving.iter().map(|(body, _)| body.node).collect();
        targets::own_meshes(document, &self.character, &nodes);
        let times = (0..self.frame_count).map(|frame| self.time(frame)).collect();
        let mut keys = KeyWriter::new(document, &self.character, self.options.animation, times);
        for (body, flesh) in moving {
            targets::add(document, &self.character, body, flesh);
            keys.add_flesh(document, body, flesh);
        }
        keys.add_joints(document, &self.joint_keys);
        keys.put_first(document);
    }

    /// The time of a frame in the animation (s).
    fn time(&self, frame: usize) -> f64 {
        self.options.start + frame as f64 / self.options.fps
    }
}

impl FleshFrames {
    fn new(
        character: &RiggedCharacter,
        file: &AtomicFile,
        surfaces: &[(SurfaceId, &[Vec3])],
        options: &SkinnedGlbOptions,
    ) -> Result<FleshFrames, SinkError> {
        let surfaces: Vec<SurfaceId> = surfaces.iter().map(|(surface, _)| *surface).collect();
        let bodies = Body::all(character, &surfaces)?;
        let count = bodies.last().map_or(0, |body| body.vertices.end);
        let file = file.scratch().map_err(|error| SinkError(error.to_string()))?;
        let rest = character.rest_pose();
        let sides = |surfaces: &mut dyn Iterator<Item = SurfaceId>| {
            box_sides(surfaces.filter_map(|surface| character.world_vertices(surface, &rest)).flatten())
        };
        let sizes: Vec<f64> = match options.measure {
            ErrorMeasure::AllFlesh => vec![sides(&mut surfaces.iter().copied()).norm(); bodies.len()],
            ErrorMeasure::EachBody => bodies
                .iter()
                .map(|body| sides(&mut body.parts.iter().map(|part| part.surface)).max())
                .collect(),
        };
        let allowed_errors = sizes.iter().map(|size| options.error_fraction * size).collect();
        Ok(FleshFrames { surfaces, bodies, scratch: Scratch::new(file, 3 * count), allowed_errors })
    }

    fn check(&self, character: &RiggedCharacter, surfaces: &[(SurfaceId, &[Vec3])]) -> Result<(), String> {
        if !surfaces.iter().map(|(surface, _)| surface).eq(&self.surfaces) {
            return Err(
                "has other surfaces than the first frame: give the same ones in the same order".into()
            );
        }
        for (SurfaceId { node, primitive }, vertices) in surfaces {
            let surface = SurfaceId { node: *node, primitive: *primitive };
            let name = format!("primitive {primitive} of node '{}'", character.nodes[*node].label);
            let wanted = character.primitive(surface).map_or(0, |primitive| primitive.positions.len());
            if vertices.len() != wanted {
                let has = vertices.len();
                return Err(format!("{name} has {has} positions and {wanted} vertices: give one for each"));
            }
            if let Some(bad) = vertices.iter().position(|x| !x.iter().all(|c| c.is_finite())) {
                return Err(format!(
                    "{name}: vertex {bad} is at {:?}: the simulation has failed",
                    vertices[bad].as_slice()
                ));
            }
        }
        Ok(())
    }

    /// u = x − x_p of all vertices, body after body.
    fn displacements(
        &self,
        character: &RiggedCharacter,
        pose: &CharacterPose,
        surfaces: &[(SurfaceId, &[Vec3])],
    ) -> Result<Vec<f32>, String> {
        let mut numbers = Vec::new();
        for part in self.bodies.iter().flat_map(|body| &body.parts) {
            let carried = character.world_vertices(part.surface, pose).unwrap_or_default();
            let (_, given) = surfaces[part.given];
            numbers.extend(
                given.iter().zip(&carried).flat_map(|(x, p)| <[f64; 3]>::from(x - p)).map(|u| u as f32),
            );
        }
        match numbers.iter().position(|u| u.is_nan() || u.abs() > 1e15) {
            None => Ok(numbers),
            Some(bad) => {
                Err(format!("a vertex is {} m from its skin: the simulation has failed", numbers[bad]))
            }
        }
    }
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

/// The sides of the box around points.
fn box_sides(points: impl Iterator<Item = Vec3>) -> Vec3 {
    let empty = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    let (low, high) = points.fold(empty, |(low, high), x| (low.inf(&x), high.sup(&x)));
    if low.x <= high.x { high - low } else { Vec3::zeros() }
}
