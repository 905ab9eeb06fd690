//! A take of flesh on bones as a skinned GLB: its skeletons with keys for every frame, smooth weights, and flesh as morph targets.
//!
//! [`RigFile`] is the file that an artist would have made of a model at rest: bones as nodes, surfaces bound to them. [`RigGlb`] plays a take
//! into it as into any rigged file, by [`SkinnedGlb`]. A body without bones follows a node of its own, which moves as rigidly as the body may be
//! said to. All is y up, as glTF is.

mod bone_weights;
mod document;
mod rigid_fit;

use crate::Up;
use crate::character_file::{CharacterFile, CharacterPose, NodeTransform, SurfaceId, read_character};
use crate::skinned_glb::{ErrorMeasure, SkinnedGlb, SkinnedGlbOptions, SkinnedGlbReport};
use document::RestDocument;
use rigid_fit::rigid_fit;
use sinew_math::{Isometry, Rotation, Vec3, turn};
use sinew_render::Look;
use sinew_sim::Model;
use sinew_take::{Frame, FrameSink, SinkError, SurfaceInfo, body_color, check_frame, check_surfaces};
use std::borrow::Borrow;
use std::path::PathBuf;
use std::sync::Arc;

/// The skeletons and surfaces of a model at rest as a rigged file.
pub struct RigFile {
    file: CharacterFile,
    /// For each rig its bones.
    rigs: Vec<Vec<BoneNode>>,
    /// For each body how it is shown; nothing for one without a surface.
    bodies: Vec<Option<ShownBody>>,
    surfaces: Vec<SurfaceInfo>,
    world_from_scene: Rotation,
}

/// A bone in the file.
struct BoneNode {
    node: usize,
    /// Its parent among the bones of its rig.
    parent: Option<usize>,
}

/// A body in the file.
struct ShownBody {
    node: usize,
    /// Whether bones move it, rather than its node.
    is_skinned: bool,
}

impl RigFile {
    /// The file of a model in which `up` is up. Bodies have the colours of looks that are given, the others colours in turn.
    pub fn build(model: &Model, up: Up, looks: &[Look]) -> Result<RigFile, SinkError> {
        let surfaces: Vec<SurfaceInfo> = model.bodies.iter().map(SurfaceInfo::of).collect();
        check_surfaces(&surfaces)?;
        let world_from_scene = match up {
            Up::Y => Rotation::identity(),
            // a quarter turn about x brings z up to y
            Up::Z => turn::exp(&Vec3::new(-std::f64::consts::FRAC_PI_2, 0.0, 0.0)),
        };
        let mut document = RestDocument::new(world_from_scene);
        let rigs: Vec<Vec<BoneNode>> = model.rigs.iter().map(|rig| document.add_rig(rig)).collect();
        let color = |body: usize| looks.get(body).map_or_else(|| body_color(body), |look| look.color);
        let bodies =
            (0..model.bodies.len()).map(|body| document.add_body(model, body, &surfaces[body], color(body)));
        let bodies = bodies.collect();
        let read = read_character(document.into_glb()?)
            .map_err(|errors| SinkError(format!("the skeletons cannot be written as glTF: {errors}")))?;
        Ok(RigFile { file: read.value, rigs, bodies, surfaces, world_from_scene })
    }

    /// The file itself, at rest.
    pub fn file(&self) -> &CharacterFile {
        &self.file
    }

    /// The node of a bone, by the places of its rig in the model and of the bone in its skeleton.
    pub fn bone_node(&self, rig: usize, bone: usize) -> Option<usize> {
        Some(self.rigs.get(rig)?.get(bone)?.node)
    }

    /// The surface of a body, by its place in the model.
    pub fn surface(&self, body: usize) -> Option<SurfaceId> {
        let body = self.bodies.get(body)?.as_ref()?;
        Some(SurfaceId { node: body.node, primitive: 0 })
    }

    /// Where the nodes stand in a frame: bones where they were simulated, bodies without bones where their surface is.
    fn pose_in(&self, frame: &Frame, vertices: &[Vec<Vec3>]) -> CharacterPose {
        let mut pose = self.file.rest_pose();
        for (nodes, bones) in self.rigs.iter().zip(&frame.bones) {
            for (bone, world_from_bone) in nodes.iter().zip(bones) {
                let local = match bone.parent {
                    Some(parent) => bones[parent].inverse() * world_from_bone,
                    None => self.world_from_scene * world_from_bone,
                };
                pose.parent_from_node[bone.node] = place_of(&local);
            }
        }
        for (body, vertices) in self.bodies.iter().zip(vertices) {
            if let Some(body) = body.as_ref().filter(|body| !body.is_skinned) {
                let rest = self.file.primitive(SurfaceId { node: body.node, primitive: 0 });
                let rest = rest.map_or(&[][..], |primitive| &primitive.positions);
                pose.parent_from_node[body.node] = place_of(&rigid_fit(rest, vertices));
            }
        }
        self.file.place(&mut pose);
        pose
    }

    fn check(&self, frame: &Frame) -> Result<(), SinkError> {
        check_frame(&self.surfaces, frame)?;
        let counts = frame.bones.iter().map(Vec::len);
        if !counts.eq(self.rigs.iter().map(Vec::len)) {
            return Err(SinkError(format!(
                "the frame at {} s has other bones than the take began with",
                frame.time
            )));
        }
        let finite = |bone: &Isometry| {
            bone.translation.vector.iter().chain(bone.rotation.coords.iter()).all(|c| c.is_finite())
        };
        if !frame.bones.iter().flatten().all(finite) {
            return Err(SinkError(format!("a bone is not finite at {} s", frame.time)));
        }
        Ok(())
    }
}

/// Writes a take of flesh on bones as a skinned GLB.
pub struct RigGlb {
    rig: Arc<RigFile>,
    target: PathBuf,
    options: SkinnedGlbOptions,
    writer: Option<SkinnedGlb<RestCharacter>>,
    report: Option<SkinnedGlbReport>,
}

/// The character of a rig at rest.
struct RestCharacter(Arc<RigFile>);

impl Borrow<CharacterFile> for RestCharacter {
    fn borrow(&self) -> &CharacterFile {
        &self.0.file
    }
}

impl RigGlb {
    /// A file that will appear as `target`. Errors are fractions of each body's longest side, and the rate is the take's, whatever the options say.
    pub fn new(
        rig: impl Into<Arc<RigFile>>,
        target: impl Into<PathBuf>,
        options: SkinnedGlbOptions,
    ) -> RigGlb {
        RigGlb { rig: rig.into(), target: target.into(), options, writer: None, report: None }
    }

    /// What was written; `None` before the end.
    pub fn report(&self) -> Option<&SkinnedGlbReport> {
        self.report.as_ref()
    }
}

impl FrameSink for RigGlb {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        if surfaces != self.rig.surfaces {
            return Err(SinkError("the take has other surfaces than the file it goes into".into()));
        }
        let options =
            SkinnedGlbOptions { animation: None, fps, measure: ErrorMeasure::EachBody, ..self.options };
        self.writer = Some(SkinnedGlb::new(self.target.clone(), RestCharacter(self.rig.clone()), options)?);
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let writer = self.writer.as_mut().ok_or_else(not_begun)?;
        self.rig.check(frame)?;
        let in_world = |p: &[f32; 3]| self.rig.world_from_scene * Vec3::from(p.map(f64::from));
        let vertices: Vec<Vec<Vec3>> =
            frame.surfaces.iter().map(|surface| surface.iter().map(in_world).collect()).collect();
        let pose = self.rig.pose_in(frame, &vertices);
        let shown: Vec<(SurfaceId, &[Vec3])> = vertices
            .iter()
            .enumerate()
            .filter_map(|(body, vertices)| Some((self.rig.surface(body)?, vertices.as_slice())))
            .collect();
        writer.frame(&pose, &shown)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.report = Some(self.writer.take().ok_or_else(not_begun)?.finish()?);
        Ok(())
    }
}

fn place_of(place: &Isometry) -> NodeTransform {
    let mut transform = NodeTransform::identity();
    (transform.translation, transform.rotation) = (place.translation.vector, place.rotation);
    transform
}

fn not_begun() -> SinkError {
    SinkError("the GLB was given a frame outside of begin and finish".into())
}
