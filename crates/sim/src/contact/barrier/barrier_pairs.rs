//! Broad phase of barriers: the pairs of points and triangles, of edges, and of points and planes that may be in range of each other, or meet, during a motion of all points.

use super::barrier_mesh::{BarrierMesh, BarrierSurface, Owner};
use crate::Model;
use rayon::prelude::*;
use sinew_contact::{Barrier, Bounds, BoxTree, Clearance, PairDistance, PairMaterial, Sweep};
use sinew_math::{Isometry, Vec3};

/// A pair of primitives with the barrier between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct BarrierPair {
    pub(super) kind: PairKind,
    /// The point and the corners of the triangle, or the ends of both edges; a point four times for a plane.
    pub(super) points: [u32; 4],
    pub(super) barrier: Barrier,
    /// Coulomb friction coefficient.
    pub(super) friction: f64,
}

/// Which primitives a pair consists of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PairKind {
    PointTriangle,
    /// With the squared lengths of the edges at rest (m²).
    EdgeEdge([f64; 2]),
    /// A point and the plane with this place among the planes.
    PointPlane(u32),
}

/// Positions and displacements of all points (m), and of planes.
#[derive(Clone, Debug, Default)]
pub(super) struct PointMotions {
    pub(super) x: Vec<Vec3>,
    pub(super) motion: Vec<Vec3>,
    /// The plane of each obstacle that is one, before and after the motion: a point of it and its unit normal.
    pub(super) planes: Vec<[(Vec3, Vec3); 2]>,
}

/// What determines the barriers of pairs.
pub(super) struct BarrierScale<'a> {
    pub(super) model: &'a Model,
    /// Scale of the barrier at each point of flesh: its stiffness times its range (N).
    pub(super) force: &'a [f64],
}

/// Fraction of each gap that a motion leaves.
const KEPT: f64 = 0.2;
/// Pairs of one body get a barrier of at most this fraction of their distance at rest, so that rest is free of forces.
const RANGE_OF_REST: f64 = 0.5;
/// Pairs of one body that are closer than this fraction of their range at rest are neighbours whatever the topology: coincident vertices of seams.
const SEAM: f64 = 1e-3;

impl PointMotions {
    pub(super) fn at(&self, points: &[u32; 4]) -> [Vec3; 4] {
        points.map(|i| self.x[i as usize])
    }

    /// The box that points sweep relative to a common motion, grown by a margin (m).
    #[inline]
    fn swept(&self, points: &[u32], margin: f64, common: &Vec3) -> Bounds {
        let ends = |i: &u32| {
            let (x, motion) = (self.x[*i as usize], self.motion[*i as usize]);
            [x, x + (motion - common)]
        };
        points.iter().flat_map(ends).fold(Bounds::EMPTY, |bounds, x| bounds.with(&x)).grown(margin)
    }

    /// Signed distance of a point from a plane, and the normal.
    fn plane_distance(&self, plane: u32, point: u32) -> PairDistance {
        let (origin, normal) = self.planes[plane as usize][0];
        PairDistance::point_plane((self.x[point as usize] - origin).dot(&normal), normal)
    }

    /// The distance of a pair.
    pub(super) fn distance(&self, pair: &BarrierPair) -> PairDistance {
        match pair.kind {
            PairKind::PointTriangle => PairDistance::point_triangle(&self.at(&pair.points)),
            PairKind::EdgeEdge(_) => PairDistance::edge_edge(&self.at(&pair.points)),
            PairKind::PointPlane(plane) => self.plane_distance(plane, pair.points[0]),
        }
    }

    /// The largest fraction of the motion, at most 1, over which a pair keeps a fifth of its gap.
    pub(super) fn max_step(&self, pair: &BarrierPair) -> f64 {
        let clearance = Clearance { separation: 0.0, kept: KEPT };
        let sweep =
            Sweep { start: self.at(&pair.points), motion: pair.points.map(|i| self.motion[i as usize]) };
        match pair.kind {
            PairKind::PointTriangle => sweep.point_triangle_impact(clearance).unwrap_or(1.0),
            PairKind::EdgeEdge(_) => sweep.edge_edge_impact(clearance).unwrap_or(1.0),
            PairKind::PointPlane(plane) => {
                let [before, after] = self.planes[plane as usize];
                let height = |(origin, normal): (Vec3, Vec3), x: Vec3| (x - origin).dot(&normal);
                let gap = height(before, sweep.start[0]);
                let end = height(after, sweep.start[0] + sweep.motion[0]);
                if end >= KEPT * gap { 1.0 } else { (1.0 - KEPT) * gap.max(0.0) / (gap - end) }
            }
        }
    }

    /// Whether a pair may be in range during a fraction of the motion.
    pub(super) fn is_near(&self, pair: &BarrierPair, fraction: f64) -> bool {
        let [a, b, c, d] = pair.points;
        let swept = |points: &[u32], margin: f64| {
            let ends =
                |i: &u32| [self.x[*i as usize], self.x[*i as usize] + fraction * self.motion[*i as usize]];
            points.iter().flat_map(ends).fold(Bounds::EMPTY, |bounds, x| bounds.with(&x)).grown(margin)
        };
        let range = pair.barrier.range;
        match pair.kind {
            PairKind::PointTriangle => swept(&[a], range).intersects(&swept(&[b, c, d], 0.0)),
            PairKind::EdgeEdge(_) => swept(&[a, b], range).intersects(&swept(&[c, d], 0.0)),
            PairKind::PointPlane(_) => true,
        }
    }
}

/// Refits the hierarchies of a surface to the boxes that its primitives sweep relative to a common motion (m), grown by their range.
fn refit(surfaces: &mut [BarrierSurface], range: &[f64], motions: &PointMotions, common: &Vec3) {
    surfaces.par_iter_mut().for_each(|surface| {
        let margin = |points: &[u32]| {
            let own = points.iter().map(|i| range[*i as usize]).fold(0.0, f64::max);
            if own.is_finite() { own } else { 0.0 }
        };
        let BarrierSurface { edges, triangles, edge_tree, triangle_tree, .. } = surface;
        edge_tree.refit(|i| motions.swept(&edges[i], margin(&edges[i]), common));
        triangle_tree.refit(|i| motions.swept(&triangles[i], margin(&triangles[i]), common));
    });
}

/// Finds all pairs that may be in range during the motion. A surface meets itself by its motion relative to the mean of its points alone.
pub(super) fn find_pairs(
    mesh: &mut BarrierMesh,
    motions: &PointMotions,
    scale: &BarrierScale,
    found: &mut Vec<BarrierPair>,
) {
    found.clear();
    let desc = &scale.model.contact_surface().desc;
    for i in 0..mesh.surfaces.len() {
        if mesh.surfaces[i].collides_with_itself {
            let common = mean_motion(&mesh.surfaces[i], motions);
            refit(&mut mesh.surfaces[i..=i], &mesh.range, motions, &common);
            let surface = &mesh.surfaces[i];
            let material = material(scale.model, surface, surface);
            let search = Search { mesh, motions, scale, material, common };
            search.points_of(surface, surface, found);
            search.edges_of(surface, surface, true, found);
        }
    }
    refit(&mut mesh.surfaces, &mesh.range, motions, &Vec3::zeros());
    for (i, first) in mesh.surfaces.iter().enumerate() {
        for second in &mesh.surfaces[i + 1..] {
            if !first.collides_with(second, desc.between_bodies) || !overlap(first, second) {
                continue;
            }
            let material = material(scale.model, first, second);
            let search = Search { mesh, motions, scale, material, common: Vec3::zeros() };
            search.points_of(first, second, found);
            search.points_of(second, first, found);
            search.edges_of(first, second, false, found);
        }
    }
    find_planes(mesh, motions, scale, found);
}

fn mean_motion(surface: &BarrierSurface, motions: &PointMotions) -> Vec3 {
    let sum: Vec3 = surface.points.iter().map(|i| motions.motion[*i as usize]).sum();
    sum / surface.points.len().max(1) as f64
}

fn overlap(first: &BarrierSurface, second: &BarrierSurface) -> bool {
    first.triangle_tree.bounds().intersects(&second.triangle_tree.bounds())
}

/// Friction of two surfaces, and the stiffness of their barriers relative to the default.
fn material(model: &Model, first: &BarrierSurface, second: &BarrierSurface) -> PairMaterial {
    let surface = model.contact_surface();
    let found = match (first.owner, second.owner) {
        (Owner::Obstacle(i), Owner::Body(body)) | (Owner::Body(body), Owner::Obstacle(i)) => {
            surface.materials.of_body_on_obstacle(body, i)
        }
        (Owner::Body(a), Owner::Body(b)) => surface.materials.of_bodies(a, b),
        (Owner::Obstacle(a), Owner::Obstacle(b)) => surface.materials.of_obstacles(a as u32, b as u32),
    };
    PairMaterial { stiffness: surface.desc.stiffness * found.stiffness, ..*found }
}

/// The search between two surfaces.
struct Search<'a> {
    mesh: &'a BarrierMesh,
    motions: &'a PointMotions,
    scale: &'a BarrierScale<'a>,
    material: PairMaterial,
    /// Motion that boxes are relative to (m).
    common: Vec3,
}

impl Search<'_> {
    fn points_of(&self, first: &BarrierSurface, second: &BarrierSurface, found: &mut Vec<BarrierPair>) {
        let part = second.triangle_tree.bounds();
        for &point in &first.points {
            let bounds = self.swept(&[point]);
            if !bounds.intersects(&part) {
                continue;
            }
            second.triangle_tree.for_each_near(&bounds, |t| {
                let [a, b, c] = second.triangles[t];
                if ![a, b, c].contains(&point) && bounds.intersects(&self.swept(&[a, b, c])) {
                    found.extend(self.pair(PairKind::PointTriangle, [point, a, b, c], first, second));
                }
            });
        }
    }

    fn edges_of(
        &self,
        first: &BarrierSurface,
        second: &BarrierSurface,
        is_same: bool,
        found: &mut Vec<BarrierPair>,
    ) {
        let part: Bounds = BoxTree::bounds(&second.edge_tree);
        for (e, &[a, b]) in first.edges.iter().enumerate() {
            let bounds = self.swept(&[a, b]);
            if !bounds.intersects(&part) {
                continue;
            }
            second.edge_tree.for_each_near(&bounds, |f| {
                let [c, d] = second.edges[f];
                let is_adjacent = [c, d].contains(&a) || [c, d].contains(&b);
                if (is_same && f <= e) || is_adjacent || !bounds.intersects(&self.swept(&[c, d])) {
                    return;
                }
                let squared = |a: u32, b: u32| (self.rest(a) - self.rest(b)).norm_squared();
                let kind = PairKind::EdgeEdge([squared(a, b), squared(c, d)]);
                found.extend(self.pair(kind, [a, b, c, d], first, second));
            });
        }
    }

    fn rest(&self, point: u32) -> Vec3 {
        self.mesh.rest[point as usize]
    }

    /// The box that primitives sweep, grown by their range.
    fn swept(&self, points: &[u32]) -> Bounds {
        let range = points.iter().map(|i| self.mesh.range[*i as usize]).fold(0.0, f64::max);
        self.motions.swept(points, if range.is_finite() { range } else { 0.0 }, &self.common)
    }

    /// The barrier of a pair, unless its primitives are neighbours at rest.
    fn pair(
        &self,
        kind: PairKind,
        points: [u32; 4],
        first: &BarrierSurface,
        second: &BarrierSurface,
    ) -> Option<BarrierPair> {
        let mut range = points.iter().map(|i| self.mesh.range[*i as usize]).fold(f64::INFINITY, f64::min);
        if first.owner == second.owner {
            let rest = points.map(|i| self.rest(i));
            let apart = match kind {
                PairKind::PointTriangle => PairDistance::point_triangle(&rest).distance,
                _ => PairDistance::edge_edge(&rest).distance,
            };
            if apart < SEAM * range {
                return None;
            }
            range = range.min(RANGE_OF_REST * apart);
        }
        let PairMaterial { friction, stiffness } = self.material;
        let stiffness = stiffness * force(self.scale, &points) / range;
        Some(BarrierPair { kind, points, barrier: Barrier { range, stiffness }, friction })
    }
}

/// The least force scale of the points of flesh of a pair (N).
fn force(scale: &BarrierScale, points: &[u32; 4]) -> f64 {
    points.iter().filter_map(|i| scale.force.get(*i as usize)).copied().fold(f64::INFINITY, f64::min)
}

/// Pairs of points of flesh and planes.
fn find_planes(
    mesh: &BarrierMesh,
    motions: &PointMotions,
    scale: &BarrierScale,
    found: &mut Vec<BarrierPair>,
) {
    for (place, ends) in motions.planes.iter().enumerate() {
        for surface in &mesh.surfaces {
            let Owner::Body(body) = surface.owner else { continue };
            let contact = scale.model.contact_surface();
            let PairMaterial { friction, stiffness } =
                *contact.materials.of_body_on_obstacle(body, mesh.planes[place]);
            let factor = contact.desc.stiffness * stiffness;
            for &point in &surface.points {
                let i = point as usize;
                let range = mesh.range[i];
                let height = |(origin, normal): (Vec3, Vec3), x: Vec3| (x - origin).dot(&normal);
                let low =
                    height(ends[0], motions.x[i]).min(height(ends[1], motions.x[i] + motions.motion[i]));
                if low < range {
                    let barrier = Barrier { range, stiffness: factor * scale.force[i] / range };
                    let (kind, points) = (PairKind::PointPlane(place as u32), [point; 4]);
                    found.push(BarrierPair { kind, points, barrier, friction });
                }
            }
        }
    }
}

/// A point and the unit normal of a plane obstacle at a pose.
pub(super) fn plane_at(pose: &Isometry, normal: &Vec3) -> (Vec3, Vec3) {
    (pose.translation.vector, pose.rotation * normal)
}
