//! Mesh decimation by half-edge collapse: the triangles that soft contact sees where a surface is drawn much finer than its cage deforms.
//!
//! A vertex v collapses into a neighbour u if the triangles that remain around it pass near every vertex that was ever removed there:
//!
//! ```text
//! min over triangles |p − y| ≤ d    for v and all p removed before it,
//! ```
//!
//! if no triangle turns by more than an angle, and if no edge becomes longer than a length. The vertices that remain are vertices of the drawn surface, with their places in the cage.

use sinew_contact::nearest_on_triangle;
use sinew_math::Vec3;
use sinew_mesh::TriMesh;

/// How far a surface may be coarsened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coarseness {
    /// The distance d of removed vertices from the triangles that remain (m).
    pub(super) distance: f64,
    /// The longest edge that a collapse may make (m).
    pub(super) max_edge: f64,
}

/// A triangle turns by at most this angle in one collapse (its cosine, 30°).
const MIN_COSINE: f64 = 0.87;
/// The smallest ratio of twice the area to the square of the longest edge that a collapse may make; that of an equilateral triangle is 0.87.
const MIN_SHAPE: f64 = 0.2;
/// A pass that removes fewer than this fraction of the vertices is the last one: those after it cost more than they save.
const WORTHWHILE: f64 = 0.02;
/// The maximum number of passes; each removes at most one vertex of every neighbourhood.
const MAX_PASSES: usize = 24;

/// The same surface with as few triangles as its coarseness allows. Vertices keep their numbers; some are corners of no triangle any more.
pub(super) fn coarsen(surface: &TriMesh, coarseness: Coarseness) -> TriMesh {
    let mut decimation = Decimation::begin(surface, coarseness);
    let worthwhile = (WORTHWHILE * surface.vertices.len() as f64) as usize;
    for _ in 0..MAX_PASSES {
        if decimation.pass() <= worthwhile {
            break;
        }
    }
    TriMesh { vertices: surface.vertices.clone(), triangles: decimation.remaining() }
}

struct Decimation<'a> {
    x: &'a [Vec3],
    coarseness: Coarseness,
    /// Corners of each triangle; `None` once it is removed.
    triangles: Vec<Option<[u32; 3]>>,
    /// The removed vertices that are nearest to each triangle.
    nearby: Vec<Vec<u32>>,
    /// The triangles around each vertex.
    around: Vec<Vec<u32>>,
    /// Whether a vertex or a neighbour of it was changed in this pass.
    is_done: Vec<bool>,
    collapse: Collapse,
}

/// A collapse that is tried: buffers that are used again.
#[derive(Default)]
struct Collapse {
    /// The neighbours of the vertex with the squares of their distances (m²), the nearest first.
    ring: Vec<(f64, u32)>,
    /// The triangles that remain, with their new corners.
    kept: Vec<(u32, [u32; 3])>,
    /// The vertex and those removed before it, with the triangle that each is nearest to now.
    removed: Vec<(u32, u32)>,
}

impl<'a> Decimation<'a> {
    fn begin(surface: &'a TriMesh, coarseness: Coarseness) -> Decimation<'a> {
        let mut around = vec![Vec::with_capacity(6); surface.vertices.len()];
        for (t, corners) in surface.triangles.iter().enumerate() {
            corners.iter().for_each(|v| around[*v as usize].push(t as u32));
        }
        Decimation {
            x: &surface.vertices,
            coarseness,
            triangles: surface.triangles.iter().copied().map(Some).collect(),
            nearby: vec![Vec::new(); surface.triangles.len()],
            around,
            is_done: Vec::new(),
            collapse: Collapse::default(),
        }
    }

    /// Removes vertices no two of which are neighbours; returns how many.
    fn pass(&mut self) -> usize {
        self.is_done.clear();
        self.is_done.resize(self.x.len(), false);
        let mut collapse = core::mem::take(&mut self.collapse);
        let mut count = 0;
        for v in 0..self.x.len() as u32 {
            if !self.is_done[v as usize] && self.find_ring(v, &mut collapse.ring) {
                let found =
                    (0..collapse.ring.len()).any(|i| self.allows(v, collapse.ring[i].1, &mut collapse));
                if found {
                    self.apply(v, &collapse);
                    count += 1;
                }
            }
        }
        self.collapse = collapse;
        count
    }

    /// Finds the neighbours of a vertex, the nearest first; returns whether its triangles are a closed fan.
    fn find_ring(&self, v: u32, ring: &mut Vec<(f64, u32)>) -> bool {
        ring.clear();
        let fan = &self.around[v as usize];
        for corners in fan.iter().filter_map(|t| self.triangles[*t as usize]) {
            let Some(i) = corners.iter().position(|corner| *corner == v) else { return false };
            let next = corners[(i + 1) % 3];
            // once as the next corner and once as the one after it
            let is_closed = fan.iter().filter(|t| self.follows(**t, next, v)).count() == 1;
            if !is_closed || ring.iter().any(|(_, known)| *known == next) {
                return false;
            }
            ring.push(((self.x[next as usize] - self.x[v as usize]).norm_squared(), next));
        }
        ring.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // of a tetrahedron nothing would be left
        ring.len() > 3
    }

    /// Whether `v` follows `before` in a triangle.
    fn follows(&self, t: u32, before: u32, v: u32) -> bool {
        self.triangles[t as usize].is_some_and(|c| (0..3).any(|i| c[i] == before && c[(i + 1) % 3] == v))
    }

    /// Whether `v` may collapse into its neighbour `u`, which is written down.
    fn allows(&self, v: u32, u: u32, collapse: &mut Collapse) -> bool {
        let Collapse { ring, kept, removed } = collapse;
        // the link condition: two common neighbours
        let is_near_u = |w: u32| {
            self.around[u as usize]
                .iter()
                .any(|t| self.triangles[*t as usize].is_some_and(|c| c.contains(&w)))
        };
        if ring.iter().filter(|(_, w)| *w != u && is_near_u(*w)).count() != 2 {
            return false;
        }

        // the triangles that remain
        kept.clear();
        removed.clear();
        removed.push((v, 0));
        for &t in &self.around[v as usize] {
            let Some(corners) = self.triangles[t as usize] else { continue };
            removed.extend(self.nearby[t as usize].iter().map(|p| (*p, 0)));
            if !corners.contains(&u) {
                let moved = corners.map(|corner| if corner == v { u } else { corner });
                if !self.is_sound(&corners, &moved) {
                    return false;
                }
                kept.push((t, moved));
            }
        }

        // near everything that is removed
        let limit = self.coarseness.distance * self.coarseness.distance;
        removed.iter_mut().all(|(p, nearest)| {
            let p = self.x[*p as usize];
            let mut least = f64::INFINITY;
            for (t, corners) in kept.iter() {
                let squared = (nearest_on_triangle(&p, &self.corners(corners)).point - p).norm_squared();
                if squared < least {
                    (least, *nearest) = (squared, *t);
                }
            }
            least <= limit
        })
    }

    /// Whether a triangle may take the place of another.
    fn is_sound(&self, before: &[u32; 3], after: &[u32; 3]) -> bool {
        let [a, b, c] = self.corners(before);
        let old = (b - a).cross(&(c - a));
        let [a, b, c] = self.corners(after);
        let new = (b - a).cross(&(c - a));
        let longest = (b - a).norm_squared().max((c - b).norm_squared()).max((a - c).norm_squared());
        longest <= self.coarseness.max_edge * self.coarseness.max_edge
            && new.norm() >= MIN_SHAPE * longest
            && new.dot(&old) >= MIN_COSINE * new.norm() * old.norm()
    }

    fn corners(&self, triangle: &[u32; 3]) -> [Vec3; 3] {
        triangle.map(|v| self.x[v as usize])
    }

    /// Removes a vertex as found.
    fn apply(&mut self, v: u32, Collapse { ring, kept, removed }: &Collapse) {
        for t in core::mem::take(&mut self.around[v as usize]) {
            self.nearby[t as usize].clear();
            let Some(corners) = self.triangles[t as usize].take() else { continue };
            for corner in corners.into_iter().filter(|corner| *corner != v) {
                self.around[corner as usize].retain(|other| *other != t);
            }
        }
        for (t, corners) in kept {
            self.triangles[*t as usize] = Some(*corners);
            corners.iter().for_each(|corner| self.around[*corner as usize].push(*t));
        }
        removed.iter().for_each(|(p, nearest)| self.nearby[*nearest as usize].push(*p));
        ring.iter().for_each(|(_, w)| self.is_done[*w as usize] = true);
    }

    fn remaining(self) -> Vec<[u32; 3]> {
        self.triangles.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f64::consts::PI;
    use sinew_mesh::shapes;

    /// The distance of every vertex of the first surface from the second (m).
    fn farthest(from: &TriMesh, to: &TriMesh) -> f64 {
        let distance = |p: &Vec3| {
            let of = |t: usize| (nearest_on_triangle(p, &to.corners(t)).point - p).norm();
            (0..to.triangles.len()).map(of).fold(f64::INFINITY, f64::min)
        };
        from.vertices.iter().map(distance).fold(0.0, f64::max)
    }

    fn longest(surface: &TriMesh) -> f64 {
        let sides = |t: usize| {
            let [a, b, c] = surface.corners(t);
            (b - a).norm().max((c - b).norm()).max((a - c).norm())
        };
        (0..surface.triangles.len()).map(sides).fold(0.0, f64::max)
    }

    /// A torus keeps its distance, its Euler characteristic 0 and its orientation, and loses most of its triangles; its volume lies between that of the torus and that of one thinner by the distance.
    #[test]
    fn what_remains_is_near_everything_that_was_removed() {
        let (major, minor) = (0.1, 0.04);
        let torus = shapes::torus(major, minor, 160, 80);
        let coarseness = Coarseness { distance: 1e-3, max_edge: 0.03 };
        let coarse = coarsen(&torus, coarseness);
        assert!(farthest(&torus, &coarse) <= coarseness.distance);
        assert!(longest(&coarse) <= coarseness.max_edge);
        assert!(5 * coarse.triangles.len() < torus.triangles.len(), "{}", coarse.triangles.len());
        let mut edges: Vec<[u32; 2]> =
            coarse.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
        edges.sort_unstable();
        assert!(edges.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(edges.iter().all(|[a, b]| edges.binary_search(&[*b, *a]).is_ok()));
        let mut corners: Vec<u32> = coarse.triangles.iter().flatten().copied().collect();
        corners.sort_unstable();
        corners.dedup();
        assert_eq!(corners.len() + coarse.triangles.len(), edges.len() / 2);
        let volume = |minor: f64| 2.0 * PI * PI * major * minor * minor;
        let own = coarse.signed_volume();
        // vertices stay on the torus, so that chords lie inside of the tube, but outside of it around the hole
        assert!(own > volume(minor - coarseness.distance) && own < volume(minor), "{own}");
    }

    /// Corners and edges of a box are within the distance of nothing else.
    #[test]
    fn a_fine_box_keeps_its_shape() {
        let fine = sinew_mesh::split_long_edges(&shapes::cuboid([0.1, 0.2, 0.3]), 0.01);
        let coarse = coarsen(&fine, Coarseness { distance: 1e-4, max_edge: 0.05 });
        assert!((coarse.signed_volume() - 0.006).abs() < 1e-4 * fine.area());
        assert!(2 * coarse.triangles.len() < fine.triangles.len(), "{}", coarse.triangles.len());
    }

    /// Where no edge may become longer, nothing is removed; borders and loose parts stay.
    #[test]
    fn coarse_and_open_surfaces_stay_as_they_are() {
        let ball = shapes::sphere(0.1, 2);
        let short = Coarseness { distance: 1.0, max_edge: 0.01 };
        assert_eq!(coarsen(&ball, short), ball);
        let open = TriMesh { triangles: ball.triangles[..3].to_vec(), ..ball };
        assert_eq!(coarsen(&open, Coarseness { distance: 1.0, max_edge: 1.0 }), open);
    }
}
