//! Contact of two primitives of soft surfaces, a vertex and a triangle or two edges, as one combination of four points.
//!
//! ```text
//! g = Σ wᵢ xᵢ,   Σ wᵢ = 0,   δ = gap − n · g
//! ```
//!
//! g leads from the point of contact on the second surface to that on the first, n is the outward normal of the second, and δ the depth. A sheet has no outward side: n leads to where the other one is.

use crate::Model;
use crate::friction_anchor::{PairFrictionAnchor, SoftPair};
use sinew_contact::{NearPair, SurfaceEdge, SurfacePairs, nearest_on_triangle};
use sinew_math::Vec3;

/// Two primitives in contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairContact {
    pub(super) pair: SoftPair,
    /// The points: a vertex and three corners, or the ends of two edges.
    pub(super) points: [u32; 4],
    /// Their weights: positive for the first primitive, negative for the second.
    pub(super) weights: [f64; 4],
    /// Depth below the distance at which the force begins (m), and the outward normal of the second.
    pub(super) depth: f64,
    pub(super) normal: Vec3,
}

/// Two edges at an angle below a thousandth of a right angle leave the plane of a triangle to round-off: the square of that.
const SLIVER: f64 = 1e-6;
/// Edges at a smaller angle than this (square of its sine, 3°) are held apart by their ends.
const PARALLEL: f64 = 3e-3;
/// How far the normal of an edge contact may lie outside of the normals of the two triangles beside the edge (cosine).
const WEDGE_SLACK: f64 = 0.1;
/// A vertex in contact is in front of its triangle within this cosine of the normal, which that of any convex corner meets, or behind it within the other: what is beside a triangle on the same surface is not in contact,
/// and the nearest point to one inside is never at a convex edge.
const IN_FRONT: f64 = 0.55;
const BEHIND: f64 = 0.7;
/// The number of shells near one vertex that are told apart.
pub(super) const SHELLS: usize = 4;

/// The nearest triangle of a shell.
#[derive(Clone, Copy, Debug)]
struct Nearest {
    shell: u32,
    distance: f64,
    /// The height above the plane of the triangle (m).
    facing: f64,
    contact: PairContact,
}

impl PairContact {
    /// The contact of a vertex with the nearest triangle of a shell, if it is within the gap in front of it or the range behind it. Of equally near triangles, as at an edge, the one that faces the vertex most directly.
    /// Of several shells, such as skin and a shirt over it, the nearest that it is in contact with.
    pub(super) fn of_vertex(
        finder: &SurfacePairs,
        vertex: u32,
        triangles: impl Iterator<Item = u32>,
        x: impl Fn(u32) -> Vec3,
    ) -> Option<PairContact> {
        let mut shells: [Option<Nearest>; SHELLS] = [None; SHELLS];
        for triangle in triangles {
            let Some(found) = Nearest::of(finder, (vertex, triangle), &x) else { continue };
            let own = shells.iter().position(|slot| slot.is_none_or(|other| other.shell == found.shell));
            let Some(slot) = own.map(|i| &mut shells[i]) else { continue };
            if slot.is_none_or(|other| found.is_nearer_than(&other)) {
                *slot = Some(found);
            }
        }
        let in_contact = shells.into_iter().flatten().filter(|found| found.contact.depth > 0.0);
        in_contact.reduce(|a, b| if b.distance < a.distance { b } else { a }).map(|found| found.contact)
    }

    /// The contact of two edges, if each is in front of the other, within the gap, or within the range behind it.
    ///
    /// The normal is that of both edges, n = ± e₁ × e₂, on the outer side of the second and on the inner side of the first. Between the edges' own triangles it lies within the normals
    /// on either side; elsewhere a vertex and a triangle are nearer.
    pub(super) fn of_edges(
        finder: &SurfacePairs,
        pair: &NearPair,
        x: impl Fn(u32) -> Vec3,
    ) -> Option<PairContact> {
        // the points where the lines are nearest, inside of both edges
        let edges = [pair.first, pair.second];
        let [first, second] = edges.map(|edge| finder.edge(edge));
        let ([a, b], [c, d]) = (first.ends.map(&x), second.ends.map(&x));
        let (u, v, w) = (b - a, d - c, c - a);
        let across = u.cross(&v);
        let squared = across.norm_squared();
        if squared <= PARALLEL * u.norm_squared() * v.norm_squared() || squared == 0.0 {
            return None;
        }
        let (s, t) = (w.cross(&v).dot(&across) / squared, w.cross(&u).dot(&across) / squared);
        if !((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)) {
            return None;
        }

        // the normal, between those of the triangles beside the edges; edges of sheets have any
        let (ours, theirs) = (wing_normals(&first, &x)?, wing_normals(&second, &x)?);
        let [is_sheet, is_on_sheet] = edges.map(|edge| finder.is_edge_two_sided(edge));
        let apart = (a + s * u) - (c + t * v);
        let outward = match (is_sheet, is_on_sheet) {
            (false, false) => theirs[0] + theirs[1] - ours[0] - ours[1],
            (true, false) => theirs[0] + theirs[1],
            (false, true) => -ours[0] - ours[1],
            (true, true) => apart,
        };
        let normal = across * (outward.dot(&across).signum() / squared.sqrt());
        let fits = |edge: &[Vec3; 2], normal: Vec3, is_sheet: bool| is_sheet || is_between(&normal, edge);
        if !(fits(&theirs, normal, is_on_sheet) && fits(&ours, -normal, is_sheet)) {
            return None;
        }

        // depth
        let height = normal.dot(&apart);
        let range = finder.edge_range(edges[0]).min(finder.edge_range(edges[1]));
        let both = is_sheet && is_on_sheet;
        let gap =
            finder.edge_gap(edges[0]).min(finder.edge_gap(edges[1])) + if both { 0.5 * range } else { 0.0 };
        let depth = gap - height;
        (depth > 0.0 && height > -range).then_some(PairContact {
            pair: SoftPair::Edges { edges },
            points: [first.ends[0], first.ends[1], second.ends[0], second.ends[1]],
            weights: [1.0 - s, s, t - 1.0, -t],
            depth,
            normal,
        })
    }

    /// Whether the flesh on either side is inverted, with nodes at the given positions (m): the outward normal is then unreliable, and contact would increase the penetration.
    pub(super) fn is_inside_out(&self, model: &Model, node_x: &[Vec3]) -> bool {
        let turned =
            |point: u32| model.contact_surface().is_inside_out(point as usize, model.node_rest(), node_x);
        self.points.into_iter().any(turned)
    }

    /// g for points at the given positions (m).
    pub(super) fn gap(&self, at: impl Fn(u32) -> Vec3) -> Vec3 {
        self.points.iter().zip(self.weights).map(|(point, weight)| weight * at(*point)).sum()
    }

    /// The displacement of the first surface along the second since the friction anchor was set (m). `None` if the anchor is on another side, as on a second nearby surface.
    pub(super) fn stretch(
        &self,
        finder: &SurfacePairs,
        anchor: &PairFrictionAnchor,
        at: impl Fn(u32) -> Vec3,
    ) -> Option<Vec3> {
        let weights = anchor.weights;
        match anchor.pair {
            SoftPair::VertexTriangle { triangle, .. } => {
                let held = finder.triangle(triangle).map(&at);
                let side = (held[1] - held[0]).cross(&(held[2] - held[0]));
                let here: Vec3 = (1..4).map(|i| -self.weights[i] * at(self.points[i])).sum();
                let is_same_side = finder.is_two_sided(triangle) || side.dot(&self.normal) > 0.0;
                is_same_side.then(|| here - weighted(weights, &held))
            }
            SoftPair::Edges { .. } => {
                let [a, b, c, d] = self.points.map(&at);
                Some((a + weights[0] * (b - a)) - (c + weights[1] * (d - c)))
            }
        }
    }

    /// The friction anchor that is stretched by s (m), with points at the given positions (m). On a triangle with edges e₁ and e₂ from its first corner it is
    ///
    /// ```text
    /// anchor = point − (u e₁ + v e₂),    (eᵢ · eⱼ) (u, v) = (e₁ · s, e₂ · s)
    /// ```
    ///
    /// and the fractions of two edges e₁ and e₂ grow by u and fall by v.
    pub(super) fn hold(&self, at: impl Fn(u32) -> Vec3, stretch: &Vec3) -> PairFrictionAnchor {
        let p = self.points.map(at);
        let [_, wa, wb, wc] = self.weights;
        let weights = match self.pair {
            SoftPair::VertexTriangle { .. } => {
                let [u, v] = components(&(p[2] - p[1]), &(p[3] - p[1]), stretch);
                [u + v - wa, -wb - u, -wc - v]
            }
            SoftPair::Edges { .. } => {
                let [u, v] = components(&(p[1] - p[0]), &(p[3] - p[2]), stretch);
                [self.weights[1] + u, -wc - v, 0.0]
            }
        };
        PairFrictionAnchor { pair: self.pair, weights }
    }
}

impl Nearest {
    fn of(
        finder: &SurfacePairs,
        (vertex, triangle): (u32, u32),
        x: &impl Fn(u32) -> Vec3,
    ) -> Option<Nearest> {
        // nearest point, within the range
        let p = x(vertex);
        let corners = finder.triangle(triangle);
        let [a, b, c] = corners.map(x);
        let found = nearest_on_triangle(&p, &[a, b, c]);
        let off = p - found.point;
        let (distance, gap) = (off.norm(), finder.gap(vertex));
        let reach = finder.range(triangle).max(gap);
        if distance > reach {
            return None;
        }
        let is_sheet = finder.is_two_sided(triangle);
        let gap = if is_sheet { (gap + 0.5 * finder.range(triangle)).min(reach) } else { gap };

        // signed distance
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
        let facing = off.dot(&normal);
        let side = if facing < 0.0 && !is_sheet { -1.0 } else { 1.0 };
        let is_beside = !is_sheet && facing < IN_FRONT * distance && facing > -BEHIND * distance;
        let normal = if distance > 1e-9 * reach { off * (side / distance) } else { normal };
        let [wa, wb, wc] = found.weights;
        let contact = PairContact {
            pair: SoftPair::VertexTriangle { vertex, triangle },
            points: [vertex, corners[0], corners[1], corners[2]],
            weights: [1.0, -wa, -wb, -wc],
            depth: if is_beside { 0.0 } else { gap - side * distance },
            normal,
        };
        Some(Nearest { shell: finder.shell(triangle), distance, facing: facing.abs(), contact })
    }

    fn is_nearer_than(&self, other: &Nearest) -> bool {
        let is_same = (self.distance - other.distance).abs() <= 1e-9 * (self.distance + self.facing);
        if is_same { self.facing > other.facing } else { self.distance < other.distance }
    }
}

/// The unit normals of the two triangles beside an edge; `None` if one has no area.
fn wing_normals(edge: &SurfaceEdge, x: &impl Fn(u32) -> Vec3) -> Option<[Vec3; 2]> {
    let [a, b] = edge.ends.map(x);
    let [c, d] = edge.wings.map(x);
    let ahead = (b - a).cross(&(c - a)).try_normalize(0.0)?;
    if edge.wings[0] == edge.wings[1] {
        return Some([ahead; 2]);
    }
    Some([ahead, (a - b).cross(&(d - b)).try_normalize(0.0)?])
}

/// Whether a normal of an edge lies between those of its triangles.
fn is_between(normal: &Vec3, [ahead, back]: &[Vec3; 2]) -> bool {
    let least = ahead.dot(back) - WEDGE_SLACK;
    normal.dot(ahead) >= least && normal.dot(back) >= least && normal.dot(&(ahead + back)) > 0.0
}

/// The components of a vector along two edges, by least squares. Slivers have no well-defined plane: zero.
fn components(e1: &Vec3, e2: &Vec3, s: &Vec3) -> [f64; 2] {
    let (e11, e12, e22) = (e1.norm_squared(), e1.dot(e2), e2.norm_squared());
    let (s1, s2) = (e1.dot(s), e2.dot(s));
    let area = e11 * e22 - e12 * e12;
    if area <= SLIVER * e11 * e22 {
        return [0.0; 2];
    }
    [(s1 * e22 - s2 * e12) / area, (s2 * e11 - s1 * e12) / area]
}

fn weighted(weights: [f64; 3], corners: &[Vec3; 3]) -> Vec3 {
    weights[0] * corners[0] + weights[1] * corners[1] + weights[2] * corners[2]
}
