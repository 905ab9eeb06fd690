//! A deformable body of a model: its nodes, masses, surface and embedding.

use crate::body_kind::{BodyKind, KindDesc, KindParts};
use crate::desc::{BodyDesc, NetworkDesc, NetworkKind, Sag, ShapeDesc};
use crate::factors::Factors;
use crate::fault::Fault;
use crate::network::{Sheet, SheetPoints, fine_surface, tet_springs};
use crate::rest_shape::RestShapeReport;
use crate::stable_step::StableStep;
use core::ops::Range;
use sinew_flesh::{Fabric, Material};
use sinew_math::{Vec3, real};
use sinew_mesh::{Cage, Embedding, Solid, TetMesh, TriMesh, full_fill, split_long_edges};
use std::sync::Arc;

/// One deformable body of a model.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name.
    pub name: String,
    /// Its kind, beside its nodes.
    pub kind: BodyKind,
    /// Range of its nodes in the model.
    pub nodes: Range<usize>,
    /// Range of its tets in the model; empty for other kinds.
    pub tets: Range<usize>,
    /// Its surface at rest.
    pub surface: TriMesh,
    /// The embedding of the surface vertices in the body's nodes, numbered from the first of them.
    pub embedding: Embedding,
    /// The same surface without long edges, where it has any, with its own embedding: what contact sees.
    pub(crate) fine_surface: Option<FineSurface>,
    /// Its material.
    pub material: Material,
    /// Mass (kg).
    pub mass: f64,
    /// Volume of the solid (m³).
    pub volume: f64,
    /// Characteristic length (m): the thickness of flesh on bones, or the longest side of a body without bones.
    pub reach: f64,
    /// Damping rate c of velocities (1/s) relative to the reference bone; without bones relative to the rigid motion of its largest connected part.
    pub damping_rate: f64,
    /// Lowest frequency of deformation of that part (rad/s); unknown on bones and without damping.
    pub frequency: Option<f64>,
    /// Damping rate of velocities relative to the world (1/s); 0 for bodies on bones.
    pub air_drag: f64,
    /// How sagging is prevented.
    pub sag: Sag,
    /// Report about its rest shape, if it has one.
    pub rest_shape: Option<RestShapeReport>,
    /// Findings about its shape and automatic corrections.
    pub notes: Vec<String>,
    /// Stability limit of the body alone.
    pub(crate) step: Option<StableStep>,
    /// What its stiffness and damping are multiplied by; other than 1 in copies of a model for one step only.
    pub(crate) factors: Factors,
    /// What its cage was built with; none for other shapes.
    pub(crate) cage: Option<Arc<CageParts>>,
}

/// What a cage was built with besides its mesh, kept so that the body joins a revised model without building it again.
#[derive(Clone, Debug)]
pub(crate) struct CageParts {
    fill: Vec<f64>,
    corner_volume: Vec<[f64; 4]>,
    anchor_nodes: Vec<Option<u32>>,
    /// Findings about the surface and the cage.
    notes: Vec<String>,
}

/// A surface without long edges.
#[derive(Clone, Debug)]
pub(crate) struct FineSurface {
    /// The vertices of the drawn surface, then those in the middle of edges.
    pub(crate) surface: TriMesh,
    /// All of them in the body's nodes.
    pub(crate) embedding: Embedding,
}

impl Body {
    /// The thickness in contact of a body without an inside (m); none for one with an inside.
    pub fn thickness(&self) -> Option<f64> {
        match &self.kind {
            BodyKind::Tets => None,
            BodyKind::Custom(own) => own.kind.thickness(),
        }
    }

    /// The surface that contact sees at rest, and its embedding: vertices of the drawn surface come first.
    pub(crate) fn contact_mesh(&self) -> (&TriMesh, &Embedding) {
        match &self.fine_surface {
            Some(fine) => (&fine.surface, &fine.embedding),
            None => (&self.surface, &self.embedding),
        }
    }
}

/// Contact sees no edges longer than this fraction of the diagonal of a surface, so that a body with few vertices rests on what is smaller than its faces.
const LONG_EDGE: f64 = 0.05;
/// Nor longer than this fraction of the width of a thin obstacle, such as a rod, which would pass between vertices,
const OF_THINNEST: f64 = 0.7;
/// unless that is below this fraction of the diagonal: a box has some 20,000 vertices then.
const SHORTEST_SPLIT: f64 = 0.0125;

/// A body's shape with its mass distribution, before it is added to a model.
pub(crate) struct Shape {
    pub(crate) mesh: TetMesh,
    pub(crate) fill: Vec<f64>,
    /// The data of a custom body; its mesh has points but no tets.
    pub(crate) custom: Option<KindParts>,
    pub(crate) corner_volume: Vec<[f64; 4]>,
    pub(crate) surface: TriMesh,
    pub(crate) embedding: Embedding,
    pub(crate) fine_surface: Option<FineSurface>,
    /// For each anchor the node at its position.
    pub(crate) anchor_nodes: Vec<Option<u32>>,
    /// Nodes that skin has fixed to bones of its rig.
    pub(crate) fixed: Vec<(u32, usize)>,
    /// The bones that nodes of skin are carried by at a start, numbered over all rigs; empty for other bodies.
    pub(crate) carriers: Vec<u32>,
    pub(crate) notes: Vec<String>,
}

/// A skin, before it is added to a model.
pub(crate) struct BuiltSkin {
    pub(crate) parts: KindParts,
    /// Its nodes that are fixed to bones of its rig.
    pub(crate) fixed: Vec<(u32, usize)>,
    /// The bone that carries each node at a start, numbered over all rigs; 0 for the world.
    pub(crate) carriers: Vec<u32>,
}

impl Shape {
    /// Builds the cage with nodes at the anchors, or validates the tets. `thinnest` is the width of the thinnest obstacle (m), infinite without any.
    pub(crate) fn build(desc: &BodyDesc, anchors: &[Vec3], thinnest: f64) -> Result<Shape, Vec<Fault>> {
        let fault = |what: String| vec![Fault::new(&desc.name, what)];
        match &desc.shape {
            // a surface in a cage
            ShapeDesc::Surface { surface, cage } => {
                let solid = Solid::build(surface).map_err(|e| fault(e.to_string()))?;
                let findings: Vec<String> = solid.findings().iter().map(ToString::to_string).collect();
                let fine = without_long_edges(surface, thinnest);
                let solid = match &fine {
                    Some(fine) => Solid::build(fine).map_err(|e| fault(e.to_string()))?,
                    None => solid,
                };
                let cage =
                    Cage::build_with_anchors(&solid, *cage, anchors).map_err(|e| fault(e.to_string()))?;
                let notes =
                    findings.into_iter().chain(cage.findings.iter().map(ToString::to_string)).collect();
                let Cage { mesh, fill, corner_volume, embedding: all, anchor_nodes, .. } = cage;
                let surface = surface.clone();
                let (embedding, fine_surface) = match fine {
                    Some(fine) => {
                        let drawn = all.of_first_points(surface.vertices.len());
                        (drawn, Some(FineSurface { surface: fine, embedding: all }))
                    }
                    None => (all, None),
                };
                Ok(Shape {
                    mesh,
                    fill,
                    custom: None,
                    corner_volume,
                    surface,
                    embedding,
                    fine_surface,
                    anchor_nodes,
                    fixed: Vec::new(),
                    carriers: Vec::new(),
                    notes,
                })
            }

            // a tet mesh
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
                Ok(Shape {
                    mesh,
                    fill,
                    custom: None,
                    corner_volume,
                    surface,
                    embedding,
                    fine_surface: None,
                    anchor_nodes,
                    fixed: Vec::new(),
                    carriers: Vec::new(),
                    notes,
                })
            }

            // a mesh that is not filled
            ShapeDesc::Network(network) => Shape::of_network(desc, network, anchors),

            // skin is built with the bones that it is on
            ShapeDesc::Skin(_) => Err(fault("its skin was not built".into())),

            // a custom body
            ShapeDesc::Custom(kind) => Shape::of_custom(desc, kind.as_ref(), anchors),
        }
    }

    /// The shape of a custom body.
    fn of_custom(desc: &BodyDesc, kind: &dyn KindDesc, anchors: &[Vec3]) -> Result<Shape, Vec<Fault>> {
        let parts = kind.build(&desc.material, &desc.velocity);
        let faults =
            parts.as_ref().map_or_else(Clone::clone, |parts| parts.faults(kind.surface().vertices.len()));
        match parts {
            Ok(parts) if faults.is_empty() => Ok(Shape::of_kind(parts, kind.surface(), anchors)),
            _ => Err(faults.iter().map(|what| Fault::new(&desc.name, what)).collect()),
        }
    }

    /// The shape of skin.
    pub(crate) fn of_skin(skin: BuiltSkin, surface: &TriMesh) -> Shape {
        let BuiltSkin { parts, fixed, carriers } = skin;
        Shape { fixed, carriers, ..Shape::of_kind(parts, surface, &[]) }
    }

    /// The shape of a body of a model, if it has a cage. `node_rest` and `tets` are those of the model.
    pub(crate) fn of_body(body: &Body, node_rest: &[Vec3], tets: &[[u32; 4]]) -> Option<Shape> {
        let cage = body.cage.as_ref()?;
        let first = body.nodes.start as u32;
        let own = tets[body.tets.clone()].iter().map(|tet| tet.map(|node| node - first));
        Some(Shape {
            mesh: TetMesh { nodes: node_rest[body.nodes.clone()].to_vec(), tets: own.collect() },
            fill: cage.fill.clone(),
            custom: None,
            corner_volume: cage.corner_volume.clone(),
            surface: body.surface.clone(),
            embedding: body.embedding.clone(),
            fine_surface: body.fine_surface.clone(),
            anchor_nodes: cage.anchor_nodes.clone(),
            fixed: Vec::new(),
            carriers: Vec::new(),
            notes: cage.notes.clone(),
        })
    }

    /// What the cage of a body with this description was built with; none without a cage.
    pub(crate) fn cage_parts(&self, desc: &BodyDesc) -> Option<Arc<CageParts>> {
        matches!(desc.shape, ShapeDesc::Surface { .. }).then(|| {
            Arc::new(CageParts {
                fill: self.fill.clone(),
                corner_volume: self.corner_volume.clone(),
                anchor_nodes: self.anchor_nodes.clone(),
                notes: self.notes.clone(),
            })
        })
    }

    /// A sheet on the surface of a mesh, or springs along the edges of its tets.
    fn of_network(desc: &BodyDesc, network: &NetworkDesc, anchors: &[Vec3]) -> Result<Shape, Vec<Fault>> {
        let (fabric, thickness, elements) = match network.kind {
            NetworkKind::Solid => return Shape::of_springs(desc, network, anchors),
            NetworkKind::Cloth { fabric, thickness, elements } => (fabric, thickness, elements),
            NetworkKind::Shell { thickness, elements } => {
                let length = longest_side(network.mesh.points());
                let fabric = Fabric::plate(&desc.material, thickness, damping_rate(&desc.material, length));
                (fabric, Some(thickness), elements)
            }
        };
        let boundary;
        let surface = match &*network.mesh {
            ShapeDesc::Surface { surface, .. } => surface,
            ShapeDesc::Tets(tets) => {
                boundary = tets.boundary().0;
                &boundary
            }
            _ => return Err(vec![Fault::new(&desc.name, "a sheet needs a surface or tets")]),
        };
        let built = Sheet { fabric, elements, thickness, points: SheetPoints::default() }.build(surface);
        let parts = built.map_err(|faults| -> Vec<Fault> {
            faults.iter().map(|what| Fault::new(&desc.name, what.as_str())).collect()
        })?;
        let (low, high) = surface.bounds().unwrap_or_default();
        let fine = fine_surface(surface, &parts.embedding, LONG_EDGE * (high - low).norm());
        let fine_surface = fine.map(|(surface, embedding)| FineSurface { surface, embedding });
        Ok(Shape { fine_surface, ..Shape::of_kind(parts, surface, anchors) })
    }

    /// Springs along the edges of the tets that flesh would have.
    fn of_springs(desc: &BodyDesc, network: &NetworkDesc, anchors: &[Vec3]) -> Result<Shape, Vec<Fault>> {
        if !matches!(*network.mesh, ShapeDesc::Surface { .. } | ShapeDesc::Tets(_)) {
            return Err(vec![Fault::new(&desc.name, "springs need a surface or tets")]);
        }
        let flesh = Shape::build(
            &BodyDesc { shape: (*network.mesh).clone(), ..desc.clone() },
            anchors,
            f64::INFINITY,
        )?;
        let rate = damping_rate(&desc.material, flesh.length());
        let carried = (flesh.node_mass(desc.material.density), flesh.embedding.clone());
        let parts = tet_springs((&flesh.mesh, &flesh.fill), &desc.material, carried, rate);
        let mesh = TetMesh { tets: Vec::new(), nodes: flesh.mesh.nodes };
        Ok(Shape { mesh, fill: Vec::new(), corner_volume: Vec::new(), custom: Some(parts), ..flesh })
    }

    fn of_kind(parts: KindParts, surface: &TriMesh, anchors: &[Vec3]) -> Shape {
        Shape {
            mesh: TetMesh { nodes: parts.points.clone(), tets: Vec::new() },
            fill: Vec::new(),
            corner_volume: Vec::new(),
            surface: surface.clone(),
            embedding: parts.embedding.clone(),
            fine_surface: None,
            anchor_nodes: vec![None; anchors.len()],
            fixed: Vec::new(),
            carriers: Vec::new(),
            notes: Vec::new(),
            custom: Some(parts),
        }
    }

    /// mᵢ = ∫ ρ φᵢ dV                                                      [KimPollard2011, eq. 10]
    pub(crate) fn node_mass(&self, density: f64) -> Vec<f64> {
        if let Some(custom) = &self.custom {
            return custom.point_mass.clone();
        }
        let mut mass = vec![0.0; self.mesh.nodes.len()];
        for (tet, volumes) in self.mesh.tets.iter().zip(&self.corner_volume) {
            for (&node, volume) in tet.iter().zip(volumes) {
                mass[node as usize] += density * volume;
            }
        }
        mass
    }

    /// The longest side of its bounding box (m).
    pub(crate) fn length(&self) -> f64 {
        let (low, high) = self.surface.bounds().unwrap_or_default();
        (high - low).amax()
    }

    /// The volume of the solid (m³).
    pub(crate) fn volume(&self) -> f64 {
        self.custom.as_ref().map_or_else(|| self.corner_volume.iter().flatten().sum(), |custom| custom.volume)
    }
}

/// The longest side of the box around points (m).
fn longest_side(points: &[Vec3]) -> f64 {
    let bounds = points.iter().fold(None, |bounds: Option<(Vec3, Vec3)>, x| {
        Some(bounds.map_or((*x, *x), |(low, high)| (low.inf(x), high.sup(x))))
    });
    bounds.map_or(0.0, |(low, high)| (high - low).amax())
}

/// A surface with its long edges split, so that an obstacle of some width (m) does not fit between its vertices; `None` if it has none.
fn without_long_edges(surface: &TriMesh, thinnest: f64) -> Option<TriMesh> {
    let (low, high) = surface.bounds()?;
    let size = (high - low).norm();
    let length = (LONG_EDGE * size).min((OF_THINNEST * thinnest).max(SHORTEST_SPLIT * size));
    let fine = split_long_edges(surface, length);
    (fine.vertices.len() > surface.vertices.len()).then_some(fine)
}

/// c = 2 ζ ω with the quarter-wave shear frequency over a length L, ω = 2π √(μ/ρ) / (4 L): flesh of that thickness on a bone oscillates at about that
/// frequency, with damping ratio ζ.
pub(crate) fn damping_rate(material: &Material, length: f64) -> f64 {
    if length == 0.0 {
        return 0.0;
    }
    let shear_speed = (material.lame().mu / material.density).sqrt();
    2.0 * material.damping_ratio * core::f64::consts::TAU * shear_speed / (4.0 * length)
}

/// exp(−c h): the factor by which velocity decays in a step.
pub(crate) fn decay(damping_rate: f64, h: f64) -> f64 {
    real::exp(-damping_rate * h)
}
