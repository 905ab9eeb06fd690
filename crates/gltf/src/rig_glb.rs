//! A take of flesh on bones as a skinned GLB: its skeletons with keys for every frame, smooth weights, and flesh as morph targets.
//!
//! [`RigFile`] is the file that an artist would have made of a model at rest: bones as nodes, surfaces bound to them. [`RigGlb`] plays a take
//! into it as into any rigged file, by [`SkinnedGlb`]. A body without bones follows a node of its own, which moves as rigidly as the body may be
//! said to. All is y up, as glTF is.

mod rest_document;
mod rigid_fit;

use crate::document::Document;
use crate::skinned_glb::{ErrorMeasure, SkinnedGlb, SkinnedGlbOptions, SkinnedGlbReport};
use rest_document::RestDocument;
use rigid_fit::rigid_fit;
use sinew_character::{CharacterPose, NodeTransform, RiggedCharacter, SurfaceId};
use sinew_math::{Isometry, Rotation, Vec3, so3};
use sinew_sim::Model;
use sinew_take::{
    Frame, FrameSink, SceneParts, SinkError, SurfaceInfo, Up, body_color, check_frame, check_surfaces,
};
use std::path::PathBuf;
use std::sync::Arc;

/// The skeletons and surfaces of a model at rest as a rigged file.
pub struct RigFile {
    character: Arc<RiggedCharacter>,
    document: Arc<Document>,
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
    /// The file of some parts of a model in which `up` is up. Bodies have the given colours (linear RGB), by their index in the model;
    /// where none is given, default colours in turn.
    pub fn build(
        model: &Model,
        parts: &SceneParts,
        up: Up,
        colors: &[[f32; 3]],
    ) -> Result<RigFile, SinkError> {
        let surfaces: Vec<SurfaceInfo> =
            parts.bodies.iter().map(|body| SurfaceInfo::of(&model.bodies()[*body])).collect();
        check_surfaces(&surfaces)?;
        let world_from_scene = match up {
            Up::Y => Rotation::identity(),
            // a quarter turn about x brings z up to y
            Up::Z => so3::exp(&Vec3::new(-std::f64::consts::FRAC_PI_2, 0.0, 0.0)),
        };
        let mut document = RestDocument::new(world_from_scene);
        let rigs = parts.rigs.iter().map(|rig| document.add_rig(*rig, &model.rigs()[*rig])).collect();
        let color = |body: usize| colors.get(body).copied().unwrap_or_else(|| body_color(body));
        let bodies = parts.bodies.iter().zip(&surfaces);
        let bodies =
            bodies.map(|(body, surface)| document.add_body(model, *body, surface, color(*body))).collect();
        let (document, character) = document.finish()?;
        let (document, character) = (Arc::new(document), Arc::new(character));
        Ok(RigFile { character, document, rigs, bodies, surfaces, world_from_scene })
    }

    /// The character at rest, as a reader of the file finds it.
    pub fn character(&self) -> &RiggedCharacter {
        &self.character
    }

    /// The file at rest, as bytes.
    pub fn to_glb(&self) -> Result<Vec<u8>, SinkError> {
        let mut bytes = Vec::new();
        Document::clone(&self.document).write(&mut bytes)?;
        Ok(bytes)
    }

    /// The node of a bone, by the indices of its rig among the parts and of the bone in its skeleton.
    pub fn bone_node(&self, rig: usize, bone: usize) -> Option<usize> {
        Some(self.rigs.get(rig)?.get(bone)?.node)
    }

    /// The surface of a body, by its index among the parts.
    pub fn surface(&self, body: usize) -> Option<SurfaceId> {
        let body = self.bodies.get(body)?.as_ref()?;
        Some(SurfaceId { node: body.node, primitive: 0 })
    }

    /// Where the nodes stand in a frame: bones where they were simulated, bodies without bones where their surface is.
    fn pose_in(&self, frame: &Frame, vertices: &[Vec<Vec3>]) -> CharacterPose {
        let mut pose = self.character.rest_pose();
        for (nodes, bones) in self.rigs.iter().zip(&frame.bones) {
            for (bone, world_from_bone) in nodes.iter().zip(bones) {
                let local = match bone.parent {
                    Some(parent) => bones[parent].inverse() * world_from_bone,
                    None => self.world_from_scene * world_from_bone,
                };
                pose.parent_from_node[bone.node] = NodeTransform::of_isometry(&local);
            }
        }
        for (body, vertices) in self.bodies.iter().zip(vertices) {
            if let Some(body) = body.as_ref().filter(|body| !body.is_skinned) {
                let rest = self.character.primitive(SurfaceId { node: body.node, primitive: 0 });
                let rest = rest.map_or(&[][..], |primitive| &primitive.positions);
                pose.parent_from_node[body.node] = NodeTransform::of_isometry(&rigid_fit(rest, vertices));
            }
        }
        self.character.place(&mut pose);
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
    writer: Option<SkinnedGlb>,
    report: Option<SkinnedGlbReport>,
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

    /// What was written; `None` before `finish`.
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
        self.writer = Some(SkinnedGlb::of_document(
            self.target.clone(),
            self.rig.character.clone(),
            &self.rig.document,
            options,
        )?);
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

fn not_begun() -> SinkError {
    SinkError("the GLB was given a frame outside of begin and finish".into())
}
