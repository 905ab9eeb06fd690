//! Contact surface: the vertices of all bodies' surfaces, without long edges, as one list of points with their effective masses, from which stable contact stiffnesses follow.
//!
//! A spring of stiffness kᵢ at each point yᵢ = Σₙ φᵢₙ xₙ adds Jᵀ K J to the stiffness of the nodes. The largest eigenvalue of M⁻¹ Jᵀ K J is that of
//! K J M⁻¹ Jᵀ, and is bounded by the row sums of that matrix, scaled by the areas aᵢ:
//!
//! ```text
//! λ ≤ maxᵢ kᵢ/aᵢ Σₙ φᵢₙ sₙ/mₙ,     sₙ = Σⱼ φⱼₙ aⱼ      so that with   μᵢ = aᵢ / Σₙ φᵢₙ sₙ/mₙ   and   kᵢ = κ μᵢ/h²:   h² λ ≤ κ
//! ```
//!
//! however many points are in contact at once. μᵢ is the effective mass of a point.

mod coarse_surface;
mod pair_materials;
mod rest_gap;
mod rest_overlap;
mod samples;
mod soft_surface;

use crate::body::Body;
use crate::desc::{ContactDesc, WorldDesc};
use crate::fault::Fault;
use crate::obstacle::Obstacle;
pub(crate) use pair_materials::{PairMaterials, Surface, scaled_friction};
use rest_gap::RestGaps;
use sinew_contact::{ContactMaterial, PairSurface, Penalty, Shape, SurfacePairs};
use sinew_math::Vec3;
use soft_surface::SoftSurface;
use std::sync::Arc;

/// All points that may come into contact, and the contact parameters.
#[derive(Clone, Debug)]
pub(crate) struct ContactSurface {
    offsets: Vec<u32>,
    nodes: Vec<u32>,
    weights: Vec<f64>,
    /// Effective mass μ of each point (kg).
    pub(crate) mass: Vec<f64>,
    /// Stiffness (N/m) and damping (N s/m) of each point for factor 1.
    springs: Vec<[f64; 2]>,
    /// The distance that points of sheets keep from obstacles, half of their thickness (m); empty without sheets.
    offset: Vec<f64>,
    /// The time step that stiffnesses are computed for (s).
    pub(crate) step: f64,
    /// The normal spring force is constant beyond this depth (m).
    pub(crate) deepest: f64,
    /// Upper bound of the displacement of points relative to that of their nodes: the largest Σ|φ|.
    pub(crate) stretch: f64,
    /// Mean distance of neighbouring vertices (m).
    pub(crate) spacing: f64,
    pub(crate) desc: ContactDesc,
    /// Friction and stiffness of pairs of bodies and obstacles.
    pub(crate) materials: PairMaterials,
    /// The largest stiffness factor of contacts between soft surfaces.
    pub(crate) max_stiffness: f64,
    /// Whether contact between bodies or self-contact is enabled.
    pub(crate) has_pairs: bool,
    /// Soft surfaces in contact with each other and themselves.
    pub(crate) soft: Option<SoftContact>,
}

/// What contact between soft surfaces needs.
#[derive(Clone, Debug)]
pub(crate) struct SoftContact {
    /// Bounding volume hierarchies of the surfaces, to be cloned into workspaces.
    pub(crate) pairs: Arc<SurfacePairs>,
    /// Gaps that depend on how far surfaces that overlap at rest have come apart.
    pub(crate) rest_gaps: RestGaps,
    /// Whether each point is a corner of a triangle that soft contact sees.
    is_corner: Vec<bool>,
    /// Effective mass μ of each sample if only samples are in contact (kg); 0 for other points.
    pub(crate) sample_mass: Vec<f64>,
    /// Mass of each node (kg).
    pub(crate) node_mass: Vec<f64>,
    /// Whether each edge is sharp at rest.
    pub(crate) is_sharp: Vec<bool>,
    /// For each body the range within which its contacts are detected where it is thick (m).
    pub(crate) ranges: Vec<f64>,
}

impl SoftContact {
    /// The deviation of points of each body from constant velocity that candidate pairs allow for (m).
    pub(crate) fn drifts(&self, fraction: f64) -> Vec<f64> {
        self.ranges.iter().map(|range| fraction * range).collect()
    }
}

/// Position and velocity of a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointMotion {
    /// Position (m).
    pub(crate) x: Vec3,
    /// Velocity (m/s).
    pub(crate) v: Vec3,
}

impl ContactSurface {
    pub(crate) fn build(
        world: &WorldDesc,
        bodies: &[Body],
        (node_rest, node_mass): (&[Vec3], &[f64]),
        step: f64,
    ) -> ContactSurface {
        // areas and embedding of the vertices of all bodies
        let desc = &world.contact;
        let (mut offsets, mut nodes, mut weights) = (vec![0u32], Vec::new(), Vec::new());
        let mut area = Vec::new();
        let (mut edge_sum, mut edge_count) = (0.0, 0usize);
        let mut smallest = f64::INFINITY;
        for body in bodies {
            let start = area.len();
            let (surface, embedding) = body.contact_mesh();
            area.resize(start + surface.vertices.len(), 0.0);
            for t in 0..surface.triangles.len() {
                let [a, b, c] = surface.corners(t);
                let third = (b - a).cross(&(c - a)).norm() / 6.0;
                surface.triangles[t].iter().for_each(|v| area[start + *v as usize] += third);
                edge_sum += (b - a).norm() + (c - b).norm() + (a - c).norm();
                edge_count += 3;
            }
            for point in 0..surface.vertices.len() {
                for (node, weight) in embedding.point(point) {
                    nodes.push(node + body.nodes.start as u32);
                    weights.push(weight);
                }
                offsets.push(nodes.len() as u32);
            }
            smallest = smallest.min(smallest_extent(body));
        }

        // effective masses, by the row-sum bound
        let row = |i: usize| {
            (offsets[i] as usize..offsets[i + 1] as usize).map(|k| (nodes[k] as usize, weights[k]))
        };

        // largest amplification by the embedding, and spacing
        let stretch =
            (0..area.len()).map(|i| row(i).map(|(_, weight)| weight.abs()).sum()).fold(1.0, f64::max);
        let mass = effective_masses(&area, node_mass, row);
        let spacing = edge_sum / edge_count.max(1) as f64;

        // the surface, with hierarchies if surfaces may be in contact
        let named = |body: &Body| desc.self_contact.contains(&body.name);
        let counts = bodies.iter().map(|body| body.contact_mesh().0.vertices.len());
        let materials = PairMaterials::build(world, counts);
        let mut hit = ContactSurface {
            soft: None,
            springs: springs(&mass, step),
            mass,
            offset: sheet_offsets(bodies),
            step,
            deepest: 0.25 * smallest,
            stretch,
            spacing,
            has_pairs: bodies.iter().any(named) || (desc.between_bodies && bodies.len() > 1),
            desc: desc.clone(),
            max_stiffness: desc.stiffness * materials.max_soft_stiffness(),
            materials,
            offsets,
            nodes,
            weights,
        };
        if hit.has_pairs {
            hit.soft = Some(hit.build_soft(bodies, (node_rest, node_mass)));
        }
        hit
    }

    /// The surface of a revised model with the same node masses and contact parameters, for another time step (s): shapes stay what they are.
    pub(crate) fn revised(&self, world: &WorldDesc, bodies: &[Body], step: f64) -> ContactSurface {
        let counts = bodies.iter().map(|body| body.contact_mesh().0.vertices.len());
        let materials = PairMaterials::build(world, counts);
        ContactSurface {
            step,
            springs: springs(&self.mass, step),
            offset: sheet_offsets(bodies),
            max_stiffness: self.desc.stiffness * materials.max_soft_stiffness(),
            materials,
            ..self.clone()
        }
    }

    /// What contact between soft surfaces needs.
    fn build_soft(&self, bodies: &[Body], (node_rest, node_mass): (&[Vec3], &[f64])) -> SoftContact {
        // vertices and edges that are tested, with gaps fitted to overlaps at rest
        let mut soft: Vec<SoftSurface> =
            bodies.iter().map(|body| SoftSurface::build(body, node_rest)).collect();
        let samples: Vec<f64> = soft.iter().flat_map(|own| own.samples.area.iter().copied()).collect();
        let mut pairs = SurfacePairs::build(&pair_surfaces(bodies, &soft, &self.desc));
        let fitted = rest_overlap::fit_gaps(bodies, &mut soft, &mut pairs);
        pairs.set_primitives(&pair_surfaces(bodies, &soft, &self.desc));

        // masses
        let is_sharp = soft.iter().flat_map(SoftSurface::sharp_edges);
        SoftContact {
            rest_gaps: RestGaps::build(fitted, &pairs),
            is_corner: soft.iter().flat_map(SoftSurface::corners).collect(),
            pairs: Arc::new(pairs),
            sample_mass: effective_masses(&samples, node_mass, |i| self.row(i)),
            node_mass: node_mass.to_vec(),
            is_sharp: is_sharp.collect(),
            ranges: soft.iter().map(SoftSurface::nominal_range).collect(),
        }
    }

    /// The hierarchies of soft surfaces in contact.
    pub(crate) fn pairs(&self) -> Option<&Arc<SurfacePairs>> {
        self.soft.as_ref().map(|soft| &soft.pairs)
    }

    /// Whether `trees` are clones of those of this surface.
    pub(crate) fn has_trees(&self, trees: Option<&Arc<SurfacePairs>>) -> bool {
        match (trees, self.pairs()) {
            (None, None) => true,
            (Some(own), Some(theirs)) => Arc::ptr_eq(own, theirs),
            _ => false,
        }
    }

    /// Whether a point is a corner of a triangle that soft contact sees.
    #[inline]
    pub(crate) fn is_corner(&self, point: usize) -> bool {
        self.soft.as_ref().is_some_and(|soft| soft.is_corner[point])
    }

    /// Number of points.
    pub(crate) fn count(&self) -> usize {
        self.mass.len()
    }

    /// Number of nodes of soft surfaces in contact with each other.
    pub(crate) fn node_count(&self) -> usize {
        self.soft.as_ref().map_or(0, |soft| soft.node_mass.len())
    }

    /// The nodes that carry a point, with their weights.
    #[inline(always)]
    pub(crate) fn row(&self, point: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[point] as usize..self.offsets[point + 1] as usize;
        let (nodes, weights) = (&self.nodes[range.clone()], &self.weights[range]);
        nodes.iter().zip(weights).map(|(node, weight)| (*node as usize, *weight))
    }

    /// Whether the tet that carries a point is inverted relative to the rest positions (m): the outward side of the surface is then unknown.
    pub(crate) fn is_inside_out(&self, point: usize, node_rest: &[Vec3], node_x: &[Vec3]) -> bool {
        let range = self.offsets[point] as usize..self.offsets[point + 1] as usize;
        let &[a, b, c, d] = &self.nodes[range] else { return false };
        let volume = |x: &[Vec3]| {
            let [a, b, c, d] = [a, b, c, d].map(|node| x[node as usize]);
            (b - a).cross(&(c - a)).dot(&(d - a))
        };
        volume(node_rest) * volume(node_x) < 0.0
    }

    /// The distance that a point keeps from obstacles (m).
    #[inline(always)]
    pub(crate) fn offset(&self, point: usize) -> f64 {
        self.offset.get(point).copied().unwrap_or(0.0)
    }

    /// The distance that any point keeps from obstacles at most (m).
    pub(crate) fn max_offset(&self) -> f64 {
        self.offset.iter().copied().fold(0.0, f64::max)
    }

    /// What leads from the side of a sheet that faces an obstacle to its middle, with a point in the middle at `p` in the frame of the shape (m): zero for other points.
    #[inline]
    pub(crate) fn inset(&self, point: usize, shape: &Shape, p: &Vec3) -> Vec3 {
        let offset = self.offset(point);
        if offset == 0.0 { Vec3::zeros() } else { offset * shape.probe(p).normal }
    }

    /// Interpolates node positions or velocities at a point.
    #[inline(always)]
    pub(crate) fn at(&self, point: usize, node_values: &[Vec3]) -> Vec3 {
        self.row(point).fold(Vec3::zeros(), |sum, (node, weight)| sum + weight * node_values[node])
    }

    /// The spring of a point for the given friction and stiffness factor: that of explicit steps without damping, at any depth.
    pub(crate) fn spring(&self, point: usize, friction: f64, factor: f64) -> Penalty {
        let mut law = Penalty::stable(self.mass[point], self.step, friction, f64::INFINITY);
        law.stiffness *= factor * self.desc.stiffness;
        law
    }

    /// The spring of a contact between soft surfaces, of some points with weights: that of a point of its effective mass 1/Σ c²/m, but no stiffer than a sample may be.
    pub(crate) fn pair_spring(&self, points: &[u32; 4], weights: &[f64; 4]) -> Penalty {
        let Some(soft) = &self.soft else { return Penalty::stable(0.0, self.step, 0.0, 0.0) };
        let mut give = 0.0;
        for (point, weight) in points.iter().zip(weights) {
            let rows = self.row(*point as usize);
            give += rows.map(|(node, w)| (w * weight) * (w * weight) / soft.node_mass[node]).sum::<f64>();
        }
        let lone = if give > 0.0 { 1.0 / give } else { 0.0 };
        let sample = soft.sample_mass[points[0] as usize];
        let mass = if sample > 0.0 { sample.min(lone) } else { lone };
        let material = self.materials.of_points(points[0], points[3]);
        let mut law = Penalty::stable(mass, self.step, material.friction, f64::INFINITY);
        law.stiffness *= material.stiffness * self.desc.stiffness;
        law
    }

    /// Interpolates position and velocity of a point in one pass over its nodes.
    #[inline]
    pub(crate) fn motion_at(&self, point: usize, node_x: &[Vec3], node_v: &[Vec3]) -> PointMotion {
        let mut motion = PointMotion { x: Vec3::zeros(), v: Vec3::zeros() };
        for (node, weight) in self.row(point) {
            motion.x += weight * node_x[node];
            motion.v += weight * node_v[node];
        }
        motion
    }

    /// The contact law of a point for the given friction and stiffness factor.
    #[inline(always)]
    pub(crate) fn law(&self, point: usize, friction: f64, factor: f64) -> Penalty {
        let factor = factor * self.desc.stiffness;
        let [stiffness, damping] = self.springs[point];
        Penalty {
            stiffness: stiffness * factor,
            damping: damping * factor.sqrt(),
            friction,
            max_depth: self.deepest,
            recovery_speed: f64::INFINITY,
        }
    }
}

/// Half of the thickness of the sheet that each point is on (m), 0 for other points; empty without sheets.
fn sheet_offsets(bodies: &[Body]) -> Vec<f64> {
    if bodies.iter().all(|body| body.thickness().is_none()) {
        return Vec::new();
    }
    let of_body = |body: &Body| {
        let count = body.contact_mesh().0.vertices.len();
        core::iter::repeat_n(0.5 * body.thickness().unwrap_or(0.0), count)
    };
    bodies.iter().flat_map(of_body).collect()
}

/// The smallest side of the box around a body at rest (m). A sheet has no far side that it could be pushed out of: its largest.
fn smallest_extent(body: &Body) -> f64 {
    let (low, high) = body.contact_mesh().0.bounds().unwrap_or_default();
    let size = high - low;
    if body.thickness().is_some() { size.max() } else { size.min() }
}

/// Stiffness (N/m) and damping (N s/m) of points of some masses (kg) for a step (s).
fn springs(mass: &[f64], step: f64) -> Vec<[f64; 2]> {
    let of = |mass: &f64| Penalty::stable(*mass, step, 0.0, 0.0);
    mass.iter().map(of).map(|law| [law.stiffness, law.damping]).collect()
}

/// The effective mass of each point, by the row-sum bound, for points that stand for the given areas; 0 for points without.
fn effective_masses<R: Iterator<Item = (usize, f64)>>(
    area: &[f64],
    node_mass: &[f64],
    row: impl Fn(usize) -> R,
) -> Vec<f64> {
    let mut carried = vec![0.0; node_mass.len()];
    for (i, area) in area.iter().enumerate() {
        row(i).for_each(|(node, weight)| carried[node] += weight.abs() * area);
    }
    let behind = |i: usize| {
        let load: f64 = row(i).map(|(node, weight)| weight.abs() * carried[node] / node_mass[node]).sum();
        if load > 0.0 { area[i] / load } else { 0.0 }
    };
    (0..area.len()).map(behind).collect()
}

/// A model's surfaces as the broad phase sees them.
fn pair_surfaces<'a>(bodies: &[Body], soft: &'a [SoftSurface], desc: &ContactDesc) -> Vec<PairSurface<'a>> {
    let surface = |(body, soft): (&Body, &'a SoftSurface)| {
        soft.as_pair_surface(desc.self_contact.contains(&body.name), desc.between_bodies)
    };
    bodies.iter().zip(soft).map(surface).collect()
}

/// All faults of the contact description of a world.
pub(crate) fn find_faults(world: &WorldDesc) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |what: String| faults.push(Fault::new("", what));

    // obstacles
    for (i, desc) in world.obstacles.iter().enumerate() {
        Obstacle::faults(&world.obstacles, i)
            .into_iter()
            .for_each(|what| fault(format!("obstacle '{}': {what}", desc.name)));
        if world.obstacles[..i].iter().any(|other| other.name == desc.name) {
            fault(format!("two obstacles are named '{}': rename one", desc.name));
        }
    }

    // contact parameters
    let contact = &world.contact;
    if contact.friction.is_nan() || contact.friction < 0.0 {
        fault(format!("contact: friction is {}: it must be 0 or more", contact.friction));
    }
    if !(contact.stiffness > 0.0 && contact.stiffness <= 1e6) {
        fault(format!("contact: stiffness is {}: it must be above 0 and at most 1e6", contact.stiffness));
    }
    if contact.longest_step.is_nan() || contact.longest_step <= 0.0 {
        fault(format!("contact: the longest step is {} s: it must be above 0", contact.longest_step));
    }

    // contact parameters of bodies
    for (i, own) in contact.bodies.iter().enumerate() {
        let (name, ContactMaterial { friction, stiffness }) = (&own.body, own.material);
        if world.bodies.iter().all(|body| body.name != *name) {
            fault(format!("contact: body '{name}' has contact parameters, but does not exist"));
        }
        if contact.bodies[..i].iter().any(|earlier| earlier.body == *name) {
            fault(format!("contact: body '{name}' has contact parameters twice: remove one"));
        }
        if let Some(friction) = friction.filter(|friction| friction.is_nan() || *friction < 0.0) {
            fault(format!("contact: friction of body '{name}' is {friction}: it must be 0 or more"));
        }
        if !(stiffness > 0.0 && stiffness <= 1e6) {
            fault(format!(
                "contact: stiffness of body '{name}' is {stiffness}: it must be above 0 and at most 1e6"
            ));
        }
    }

    // bodies with self-contact
    for name in &contact.self_contact {
        if world.bodies.iter().all(|body| body.name != *name) {
            fault(format!("contact: self-contact is enabled for body '{name}', which does not exist"));
        }
    }
    faults
}
