//! One soft body: its cage, its masses, its surface and what holds it.

use crate::desc::{BodyDesc, Sag, ShapeDesc};
use crate::fault::Fault;
use crate::rest_shape::RestShapeReport;
use core::ops::Range;
use sinew_flesh::Material;
use sinew_math::{Vec3, real};
use sinew_mesh::{Cage, Embedding, Solid, TetMesh, TriMesh, full_fill};

/// One soft body of a model.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name.
    pub name: String,
    /// Its nodes among those of the model.
    pub nodes: Range<usize>,
    /// Its tets among those of the model.
    pub tets: Range<usize>,
    /// Its surface at rest.
    pub surface: TriMesh,
    /// The surface's vertices in the body's nodes, counted from the first of them.
    pub embedding: Embedding,
    /// What it is made of.
    pub material: Material,
    /// Mass (kg).
    pub mass: f64,
    /// Volume of the solid (m³).
    pub volume: f64,
    /// How far it reaches from what holds it (m): the thickness of flesh on bones, or the longest side of a body without bones.
    pub reach: f64,
    /// Rate c at which velocities decay, against the bone nearest through the flesh, or the world (1/s).
    pub damping_rate: f64,
    /// What keeps it from sagging.
    pub sag: Sag,
    /// How its rest shape carries it, if it has one.
    pub rest_shape: Option<RestShapeReport>,
    /// What was found about its shape and what was done about it.
    pub notes: Vec<String>,
}

/// A body's shape with masses, before it joins a model.
pub(crate) struct Shape {
    pub(crate) mesh: TetMesh,
    pub(crate) fill: Vec<f64>,
    pub(crate) corner_volume: Vec<[f64; 4]>,
    pub(crate) surface: TriMesh,
    pub(crate) embedding: Embedding,
    /// For each anchor the node that lies on it.
    pub(crate) anchor_nodes: Vec<Option<u32>>,
    pub(crate) notes: Vec<String>,
}

impl Shape {
    /// Builds the cage with nodes on anchors, or checks the tets.
    pub(crate) fn build(desc: &BodyDesc, anchors: &[Vec3]) -> Result<Shape, Vec<Fault>> {
        let fault = |what: String| vec![Fault::new(&desc.name, what)];
        match &desc.shape {
            ShapeDesc::Surface { surface, cage } => {
                let solid = Solid::build(surface).map_err(|e| fault(e.to_string()))?;
                let cage =
                    Cage::build_with_anchors(&solid, *cage, anchors).map_err(|e| fault(e.to_string()))?;
                let findings = solid.findings().iter().map(ToString::to_string);
                let notes = findings.chain(cage.findings.iter().map(ToString::to_string)).collect();
                let Cage { mesh, fill, corner_volume, embedding, anchor_nodes, .. } = cage;
                let surface = surface.clone();
                Ok(Shape { mesh, fill, corner_volume, surface, embedding, anchor_nodes, notes })
            }
            ShapeDesc::Tets(mesh) => {
                let faults = mesh.find_faults();
                if !faults.is_empty() {
                    return Err(faults.iter().map(|what| Fault::new(&desc.name, what.to_string())).collect());
                }
                let (surface, vertex_node) = mesh.boundary();
                let embedding = Embedding::of_nodes(mesh, &vertex_node);
                let (fill, corner_volume) = full_fill(mesh);
                let anchor_nodes = vec![None; anchors.len()];
                let (mesh, notes) = (mesh.clone(), Vec::new());
                Ok(Shape { mesh, fill, corner_volume, surface, embedding, anchor_nodes, notes })
            }
        }
    }

    /// mᵢ = ∫ ρ φᵢ dV                                                      [KimPollard2011, eq. 10]
    pub(crate) fn node_mass(&self, density: f64) -> Vec<f64> {
        let mut mass = vec![0.0; self.mesh.nodes.len()];
        for (tet, volumes) in self.mesh.tets.iter().zip(&self.corner_volume) {
            for (&node, volume) in tet.iter().zip(volumes) {
                mass[node as usize] += density * volume;
            }
        }
        mass
    }

    /// The longest side of the box around it (m).
    pub(crate) fn length(&self) -> f64 {
        let (low, high) = self.surface.bounds().unwrap_or_default();
        (high - low).amax()
    }

    /// The volume of the solid (m³).
    pub(crate) fn volume(&self) -> f64 {
        self.corner_volume.iter().flatten().sum()
    }
}

/// c = 2 ζ ω with the quarter-wave frequency of shear over a length L, ω = 2π √(μ/ρ) / (4 L): a bar held at one end, or flesh so thick
/// on a bone, swings at about that frequency, and its swing then dies at the damping ratio ζ.
pub(crate) fn damping_rate(material: &Material, length: f64) -> f64 {
    if length == 0.0 {
        return 0.0;
    }
    let shear_speed = (material.lame().mu / material.density).sqrt();
    2.0 * material.damping_ratio * core::f64::consts::TAU * shear_speed / (4.0 * length)
}

/// exp(−c h): how much velocity is left after a step.
pub(crate) fn decay(damping_rate: f64, h: f64) -> f64 {
    real::exp(-damping_rate * h)
}
