//! Diagnostic overlays of a simulated model: cage, bones, strain, contact forces and plain skinning.

use crate::frame_source::PictureError;
use crate::linear_blend_skinning::{LinearBlendSkinning, bone_segments};
use crate::render_frame::{Arrow, Marks, RenderFrame};
use sinew_math::{Isometry, Vec3, nalgebra::Point3};
use sinew_mesh::TetMesh;
use sinew_sim::{Body, ContactForce, Model, State, StrainGauge, contact_forces};
use sinew_take::Frame;

/// The colour of contact forces (linear RGB).
const FORCE_COLOR: [f32; 3] = [0.9, 0.28, 0.02];
/// The longest arrow, as a fraction of the largest body.
const ARROW_FRACTION: f64 = 0.2;

/// What is drawn of a simulation besides its surfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlays {
    /// The boundary of the cages.
    pub cage: bool,
    /// The bones.
    pub bones: bool,
    /// The strain of the flesh, as colours.
    pub strain: bool,
    /// How soft the flesh of characters is, as colours, which frame sources add that know characters.
    pub softness: bool,
    /// The surfaces under plain skinning, for a comparison side by side.
    pub skinned: bool,
    /// The contact forces of obstacles on bodies, as arrows.
    pub contacts: bool,
}

/// The overlays of a model, evaluated state by state.
pub struct ModelOverlays<'a> {
    model: &'a Model,
    cage: Vec<[u32; 3]>,
    strain: Option<StrainGauge>,
    skinning: Option<LinearBlendSkinning>,
    /// For each rig segments of its bones, each in the frame of a bone (m).
    bones: Vec<Vec<(usize, [Vec3; 2])>>,
    arrows: Option<ArrowScale>,
}

/// How long arrows are.
#[derive(Clone, Copy)]
struct ArrowScale {
    /// The force (N) that the longest arrow stands for.
    force: f64,
    /// The length of the longest arrow (m).
    length: f64,
}

impl<'a> ModelOverlays<'a> {
    /// Prepares the overlays of a model. Fails if bones are asked for and there are none.
    pub fn build(model: &'a Model, overlays: Overlays) -> Result<ModelOverlays<'a>, PictureError> {
        if overlays.bones && model.rigs().is_empty() {
            return Err(PictureError("this scene has no bones to draw".into()));
        }
        let skinning = || {
            LinearBlendSkinning::of(model).ok_or_else(|| {
                PictureError(
                    "only bodies on bones can be compared with plain skinning, and this scene has a body without bones".into(),
                )
            })
        };
        let sizes = model.bodies().iter().filter_map(|body| body.surface.bounds());
        let length = ARROW_FRACTION * sizes.map(|(low, high)| (high - low).amax()).fold(0.0, f64::max);
        Ok(ModelOverlays {
            model,
            cage: if overlays.cage { cage_boundary(model) } else { Vec::new() },
            strain: overlays.strain.then(|| StrainGauge::of(model)),
            skinning: overlays.skinned.then(skinning).transpose()?,
            bones: if overlays.bones { model.rigs().iter().map(bone_segments).collect() } else { Vec::new() },
            arrows: overlays.contacts.then_some(ArrowScale { force: f64::MIN_POSITIVE, length }),
        })
    }

    /// Whether contact forces are drawn, so that [`ModelOverlays::scale_forces`] should see the states first.
    pub fn draws_forces(&self) -> bool {
        self.arrows.is_some()
    }

    /// Lets the longest arrow stand for the largest contact force in any of the states this is called with.
    pub fn scale_forces(&mut self, state: &State) {
        if let Some(scale) = &mut self.arrows {
            let forces = contact_forces(self.model, state);
            scale.force = forces.iter().map(|contact| contact.force.norm()).fold(scale.force, f64::max);
        }
    }

    /// Boundary triangles of the cages, as indices into [`RenderFrame::cage`]; empty if they are not drawn.
    pub fn cage(&self) -> &[[u32; 3]] {
        &self.cage
    }

    /// Adds the overlays of a state, whose frame is given, to a render frame. Strain and skinned vertices are per body of the model.
    pub fn add_to(&self, render_frame: &mut RenderFrame, state: &State, frame: &Frame) {
        if let Some(gauge) = &self.strain {
            render_frame.strain = self.surface_strain(&gauge.nodes(self.model, state));
        }
        if !self.cage.is_empty() {
            let single = |v: &Vec3| [v.x as f32, v.y as f32, v.z as f32];
            render_frame.cage = state.node_x.iter().map(single).collect();
        }
        if let Some(skinning) = &self.skinning {
            render_frame.skinned = skinning.surfaces(&frame.bones);
        }
        render_frame.marks = Marks { bones: self.bone_lines(&frame.bones), arrows: self.force_arrows(state) };
    }

    /// The contact forces of obstacles. Only vertices in contact have an arrow, so their number changes from frame to frame.
    fn force_arrows(&self, state: &State) -> Vec<Arrow> {
        let Some(scale) = self.arrows else { return Vec::new() };
        let arrow = |contact: ContactForce| {
            // the square root keeps weak forces visible beside strong ones
            let fraction = (contact.force.norm() / scale.force).min(1.0).sqrt();
            let along = contact.force.try_normalize(0.0).unwrap_or(Vec3::zeros());
            let to = contact.point + along * (fraction * scale.length);
            Arrow { from: contact.point, to, color: FORCE_COLOR }
        };
        contact_forces(self.model, state).into_iter().map(arrow).collect()
    }

    /// Interpolates strain from nodes to vertices with the weights of the embedding.
    fn surface_strain(&self, nodes: &[f64]) -> Vec<Vec<f32>> {
        let body = |body: &Body| -> Vec<f32> {
            let own = &nodes[body.nodes.clone()];
            let vertex = |i: usize| {
                body.embedding.point(i).map(|(node, weight)| weight * own[node as usize]).sum::<f64>()
            };
            (0..body.embedding.point_count()).map(|i| vertex(i).max(0.0) as f32).collect()
        };
        self.model.bodies().iter().map(body).collect()
    }

    fn bone_lines(&self, frames: &[Vec<Isometry>]) -> Vec<[Vec3; 2]> {
        let rig = |(segments, frames): (&Vec<(usize, [Vec3; 2])>, &Vec<Isometry>)| -> Vec<[Vec3; 2]> {
            let world = |bone: usize, p: Vec3| (frames[bone] * Point3::from(p)).coords;
            segments.iter().map(|(bone, ends)| ends.map(|end| world(*bone, end))).collect()
        };
        self.bones.iter().zip(frames).flat_map(rig).collect()
    }
}

/// Triangles of the boundary of all cages, in the model's nodes.
fn cage_boundary(model: &Model) -> Vec<[u32; 3]> {
    let cages = TetMesh { nodes: model.node_rest().to_vec(), tets: model.tets().to_vec() };
    let (surface, vertex_node) = cages.boundary();
    surface.triangles.iter().map(|triangle| triangle.map(|v| vertex_node[v as usize])).collect()
}
