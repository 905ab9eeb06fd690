//! A solid bounded by a possibly defective surface: inside tests by generalised winding numbers.
//!
//! A point is inside where the winding number exceeds one half. Triangles are first oriented consistently, and boundary loops
//! that the winding number shows to be holes are closed by triangle fans, which makes it an integer almost everywhere. The
//! vertices and triangles of the caller keep their order; the fans come after them.

use crate::disjoint_sets::DisjointSets;
use crate::orientation::Orientation;
use crate::{Finding, TriMesh, WindingTree};
use rayon::prelude::*;
use sinew_math::Vec3;

/// A surface that encloses a volume, with inside tests.
#[derive(Clone, Debug)]
pub struct Solid {
    /// The vertices of the surface, then the apexes of the fans (m).
    pub(crate) vertices: Vec<Vec3>,
    /// The triangles of the surface facing outwards, then those of the fans.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The first vertex at the position of each vertex.
    pub(crate) welded: Vec<u32>,
    /// Whether a triangle bounds the solid: it has area and repeats no other.
    pub(crate) active: Vec<bool>,
    /// The connected shell of each triangle.
    pub(crate) triangle_shell: Vec<u32>,
    pub(crate) shell_count: usize,
    /// The number of vertices of the caller.
    pub(crate) vertex_count: usize,
    /// Whether the winding number is an integer off the surface.
    pub(crate) closed: bool,
    /// Smallest and largest coordinates of the vertices in use (m).
    pub(crate) bounds: (Vec3, Vec3),
    volume: f64,
    area: f64,
    tree: WindingTree,
    findings: Vec<Finding>,
}

/// Why a surface encloses no volume that can be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolidError {
    /// The surface has no vertices or triangles.
    #[error(
        "the surface has {vertices} vertices and {triangles} triangles: give it at least 4 of each, or make it cloth: `kind = \"cloth\"` in a scene, `--cloth` on the command line"
    )]
    Empty {
        /// Vertices given.
        vertices: usize,
        /// Triangles given.
        triangles: usize,
    },
    /// The surface has more vertices or triangles than the limit.
    #[error("the surface has {count} vertices or triangles: the limit is {limit}, so reduce it")]
    TooMany {
        /// Vertices or triangles given.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// A triangle refers to a vertex that does not exist.
    #[error(
        "triangle {triangle} uses vertex {vertex}, but there are only {vertices}: \
         correct or remove the triangle ({count} such triangles)"
    )]
    IndexOutOfRange {
        /// The first such triangle.
        triangle: usize,
        /// The vertex it refers to.
        vertex: u32,
        /// How many vertices there are.
        vertices: usize,
        /// How many triangles have the fault.
        count: usize,
    },
    /// A coordinate is not finite.
    #[error("vertex {vertex} is at {position:?}: give it finite coordinates ({count} such vertices)")]
    NotFinite {
        /// The first such vertex.
        vertex: usize,
        /// Its position (m).
        position: [f64; 3],
        /// How many vertices have the fault.
        count: usize,
    },
    /// The surface is too large, too far away or too small for double precision.
    #[error(
        "the surface spans {diagonal:.2e} m and reaches {reach:.2e} m from the origin: \
         move it near the origin and scale it to between 1e-6 and 1e12 m (is the unit right?)"
    )]
    Extent {
        /// Diagonal of the bounding box (m).
        diagonal: f64,
        /// Largest coordinate (m).
        reach: f64,
    },
    /// The triangles join vertices across the whole surface.
    #[error(
        "the {triangles} triangles have {ratio:.0} times the area of the box around them: they join vertices from all over the \
         surface, as if their order were scrambled; export the mesh again"
    )]
    Scrambled {
        /// How many triangles there are.
        triangles: usize,
        /// Their area as a multiple of that of the bounding box.
        ratio: f64,
    },
    /// The surface is flat.
    #[error(
        "the surface of {area:.2e} m² encloses {volume:.2e} m³, a sheet {thickness:.2e} m thick: \
         close it, give it a thickness of at least {minimum:.2e} m, or make it cloth: `kind = \"cloth\"` in a scene, `--cloth` on the command line"
    )]
    Flat {
        /// Area of the surface (m²).
        area: f64,
        /// Volume it encloses (m³).
        volume: f64,
        /// Thickness of a sheet of that area and volume (m).
        thickness: f64,
        /// The minimum thickness (m).
        minimum: f64,
    },
}

/// The maximum number of vertices or triangles: leaves room for fans in 32-bit indices.
const COUNT_LIMIT: usize = 1 << 29;

/// Smallest and largest extents (m) at which products of three lengths keep all their digits.
const EXTENT: core::ops::RangeInclusive<f64> = 1e-6..=1e12;

/// The largest area of a surface as a multiple of the area of its bounding box, and the number of triangles from which on it holds. Body
/// with clothes and hair has 1 to 10; random triangles between n points have about n/10.
const MAX_AREA_RATIO: f64 = 100.0;
const MIN_SCRAMBLED: usize = 5000;

/// The minimum mean thickness as a fraction of the diagonal. Volumes are differences of products of diagonals, exact to about
/// 1e-15 of them; this leaves nine digits.
const MIN_THICKNESS: f64 = 1e-6;

impl Solid {
    /// Checks and repairs the surface; [`Self::findings`] lists the repairs.
    pub fn build(surface: &TriMesh) -> Result<Self, SolidError> {
        check(surface)?;
        let orientation = Orientation::find(&surface.vertices, &surface.triangles);
        let mut findings = findings_of(&orientation);
        let tree =
            WindingTree::build(corners_of(&surface.vertices, &orientation.triangles, &orientation.active));
        let mut solid = Self {
            vertices: surface.vertices.clone(),
            vertex_count: surface.vertices.len(),
            triangle_shell: Vec::new(),
            shell_count: 0,
            closed: false,
            bounds: used_bounds(surface),
            volume: 0.0,
            area: 0.0,
            tree,
            findings: Vec::new(),
            triangles: Vec::new(),
            welded: Vec::new(),
            active: Vec::new(),
        };
        findings.extend(solid.close_holes(orientation));
        solid.find_shells();
        solid.measure()?;
        findings.extend(solid.find_global_findings(surface));
        solid.findings = findings;
        Ok(solid)
    }

    /// The winding number of the surface at `p` (m): 1 inside, 0 outside, more where parts overlap.
    pub fn winding_number(&self, p: &Vec3) -> f64 {
        self.tree.winding_number(p)
    }

    /// Whether `p` (m) is inside: its winding number exceeds one half.
    pub fn contains(&self, p: &Vec3) -> bool {
        let (lo, hi) = &self.bounds;
        (0..3).all(|k| lo[k] <= p[k] && p[k] <= hi[k]) && self.winding_number(p) > 0.5
    }

    /// [`Self::contains`] for many points, in parallel.
    pub fn contains_each(&self, points: &[Vec3]) -> Vec<bool> {
        points.par_iter().map(|p| self.contains(p)).collect()
    }

    /// The enclosed volume (m³), weighted by the winding number; an estimate if holes are left open.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// The area of the surface (m²), fans included.
    pub fn area(&self) -> f64 {
        self.area
    }

    /// Whether every hole could be closed, so that inside and outside are well defined.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether parts of the surface lie inside the solid.
    pub fn overlaps(&self) -> bool {
        self.findings.iter().any(|f| matches!(f, Finding::Overlap { .. }))
    }

    /// Smallest and largest coordinates of the surface (m).
    pub fn bounds(&self) -> (Vec3, Vec3) {
        self.bounds
    }

    /// The number of shells, which share no vertex.
    pub fn shell_count(&self) -> usize {
        self.shell_count
    }

    /// Defects of the surface and their repairs.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The corners of triangle `t` (m).
    pub(crate) fn corners(&self, t: usize) -> [Vec3; 3] {
        self.triangles[t].map(|v| self.vertices[v as usize])
    }

    /// Takes the oriented triangles and closes the boundary loops that are holes.
    fn close_holes(&mut self, orientation: Orientation) -> Option<Finding> {
        let holes = crate::holes::Holes::find(&self.vertices, &orientation);
        let Orientation { triangles, welded, active, .. } = orientation;
        (self.triangles, self.welded, self.active) = (triangles, welded, active);
        self.closed = true;
        let mut closed_count = 0;
        for hole in &holes.holes {
            if hole.should_close(&self.vertices, &self.tree) {
                let apex = self.vertices.len() as u32;
                self.vertices.push(hole.apex);
                self.welded.push(apex);
                self.triangles.extend(hole.edges.iter().map(|&[a, b]| [b, a, apex]));
                self.active.resize(self.triangles.len(), true);
                closed_count += 1;
            } else {
                self.closed = false;
            }
        }
        if closed_count > 0 {
            self.tree = WindingTree::build(corners_of(&self.vertices, &self.triangles, &self.active));
        }
        (holes.edge_count > 0).then_some(Finding::OpenEdges {
            edges: holes.edge_count,
            holes: holes.holes.len(),
            closed: closed_count,
        })
    }

    fn find_shells(&mut self) {
        let mut sets = DisjointSets::new(self.vertices.len());
        for t in &self.triangles {
            let [a, b, c] = t.map(|v| self.welded[v as usize] as usize);
            sets.join(a, b);
            sets.join(a, c);
        }
        let mut roots: Vec<u32> =
            self.triangles.iter().map(|t| sets.find(self.welded[t[0] as usize] as usize) as u32).collect();
        let mut known = roots.clone();
        known.sort_unstable();
        known.dedup();
        for root in &mut roots {
            *root = known.partition_point(|k| k < root) as u32;
        }
        (self.triangle_shell, self.shell_count) = (roots, known.len());
    }

    /// Computes volume and area; rejects a flat surface.
    fn measure(&mut self) -> Result<(), SolidError> {
        let diagonal = (self.bounds.1 - self.bounds.0).norm();
        let corners = corners_of(&self.vertices, &self.triangles, &self.active);
        let area_of = |[a, b, c]: &[Vec3; 3]| 0.5 * (b - a).cross(&(c - a)).norm();
        self.area = corners.iter().map(area_of).sum();
        // relative to the centroid of the area, so that an open sheet has no volume
        let centre = corners.iter().map(|t| area_of(t) * (t[0] + t[1] + t[2]) / 3.0).sum::<Vec3>()
            / self.area.max(f64::MIN_POSITIVE);
        self.volume =
            corners.iter().map(|t| t.map(|c| c - centre)).map(|[a, b, c]| a.dot(&b.cross(&c)) / 6.0).sum();
        // a sheet has two sides
        let thickness = 2.0 * self.volume / self.area.max(f64::MIN_POSITIVE);
        let minimum = MIN_THICKNESS * diagonal;
        if thickness >= minimum {
            Ok(())
        } else {
            Err(SolidError::Flat { area: self.area, volume: self.volume, thickness, minimum })
        }
    }

    fn find_global_findings(&self, surface: &TriMesh) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.shell_count > 1 {
            findings.push(Finding::Shells { shells: self.shell_count });
        }
        let mut used = vec![false; surface.vertices.len()];
        surface.triangles.iter().flatten().for_each(|&v| used[v as usize] = true);
        let vertices = used.iter().filter(|&&u| !u).count();
        if vertices > 0 {
            findings.push(Finding::UnusedVertices { vertices });
        }
        let fraction = self.overlap_fraction();
        if fraction > 0.0 {
            findings.push(Finding::Overlap { fraction });
        }
        findings
    }

    /// The fraction of the surface, by area, whose outer side is inside too.
    fn overlap_fraction(&self) -> f64 {
        // enough samples to find overlaps of small parts, such as teeth, at little cost
        let stride = self.triangles.len().div_ceil(1 << 15);
        let lift = 1e-6 * (self.bounds.1 - self.bounds.0).norm();
        let found: Vec<(f64, f64)> = (0..self.triangles.len())
            .into_par_iter()
            .step_by(stride)
            .filter(|&t| self.active[t])
            .map(|t| {
                let [a, b, c] = self.corners(t);
                let normal = (b - a).cross(&(c - a));
                let area = normal.norm();
                let outer = (a + b + c) / 3.0 + normal * (lift / area);
                (area, if self.winding_number(&outer) > 0.75 { area } else { 0.0 })
            })
            .collect();
        let (whole, inside) = found.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
        inside / f64::max(whole, f64::MIN_POSITIVE)
    }
}

fn check(surface: &TriMesh) -> Result<(), SolidError> {
    // counts
    let (vertices, triangles) = (surface.vertices.len(), surface.triangles.len());
    if vertices == 0 || triangles == 0 {
        return Err(SolidError::Empty { vertices, triangles });
    }
    if vertices.max(triangles) > COUNT_LIMIT {
        return Err(SolidError::TooMany { count: vertices.max(triangles), limit: COUNT_LIMIT });
    }

    // indices and coordinates
    let is_out = |t: &[u32; 3]| t.iter().any(|&v| v as usize >= vertices);
    if let Some(triangle) = surface.triangles.iter().position(is_out) {
        let vertex = *surface.triangles[triangle].iter().max().unwrap_or(&0);
        let count = surface.triangles.iter().filter(|t| is_out(t)).count();
        return Err(SolidError::IndexOutOfRange { triangle, vertex, vertices, count });
    }
    let is_non_finite = |p: &Vec3| p.iter().any(|x| !x.is_finite());
    if let Some(vertex) = surface.vertices.iter().position(is_non_finite) {
        let count = surface.vertices.iter().filter(|p| is_non_finite(p)).count();
        return Err(SolidError::NotFinite { vertex, position: surface.vertices[vertex].into(), count });
    }

    // size
    let (lo, hi) = used_bounds(surface);
    let diagonal = (hi - lo).norm();
    let reach = surface.vertices.iter().map(|p| p.amax()).fold(0.0, f64::max);
    // beyond this many diagonals the digits of a coordinate do not resolve the surface
    if !EXTENT.contains(&diagonal) || reach > *EXTENT.end() || lo.amax().max(hi.amax()) > 1e6 * diagonal {
        return Err(SolidError::Extent { diagonal, reach });
    }

    // far more area than a surface of that size has
    let sides = hi - lo;
    let box_area = 2.0 * (sides.x * sides.y + sides.y * sides.z + sides.z * sides.x);
    let ratio = surface.area() / box_area;
    if triangles >= MIN_SCRAMBLED && ratio > MAX_AREA_RATIO {
        return Err(SolidError::Scrambled { triangles, ratio });
    }
    Ok(())
}

fn used_bounds(surface: &TriMesh) -> (Vec3, Vec3) {
    let first = surface.vertices[surface.triangles[0][0] as usize];
    let corners = surface.triangles.iter().flatten().map(|&v| surface.vertices[v as usize]);
    corners.fold((first, first), |(lo, hi), p| (lo.inf(&p), hi.sup(&p)))
}

fn corners_of(vertices: &[Vec3], triangles: &[[u32; 3]], active: &[bool]) -> Vec<[Vec3; 3]> {
    core::iter::zip(triangles, active)
        .filter(|(_, active)| **active)
        .map(|(t, _)| t.map(|v| vertices[v as usize]))
        .collect()
}

fn findings_of(found: &Orientation) -> Vec<Finding> {
    let mut findings = Vec::new();
    if found.degenerate > 0 {
        findings.push(Finding::DegenerateTriangles { triangles: found.degenerate });
    }
    if found.duplicate > 0 {
        findings.push(Finding::DuplicateTriangles { triangles: found.duplicate });
    }
    if found.non_manifold_edges > 0 {
        findings.push(Finding::NonManifoldEdges { edges: found.non_manifold_edges });
    }
    if found.inside_out {
        findings.push(Finding::InsideOut);
    }
    if found.flipped > 0 {
        findings.push(Finding::FlippedTriangles { triangles: found.flipped });
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;
    use proptest::prelude::*;

    fn joined(parts: &[TriMesh]) -> TriMesh {
        let mut whole = TriMesh::default();
        for part in parts {
            let base = whole.vertices.len() as u32;
            whole.vertices.extend(&part.vertices);
            whole.triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + base)));
        }
        whole
    }

    fn shifted(mut mesh: TriMesh, x: f64) -> TriMesh {
        mesh.vertices.iter_mut().for_each(|v| v.x += x);
        mesh
    }

    #[test]
    fn a_sphere_with_a_hole_has_an_inside() {
        let mut ball = shapes::sphere(1.0, 3);
        ball.triangles.retain(|t| t.iter().any(|&v| ball.vertices[v as usize].y < 0.8));
        let solid = Solid::build(&ball).unwrap();
        assert!(solid.is_closed());
        assert!(matches!(solid.findings()[0], Finding::OpenEdges { holes: 1, closed: 1, .. }));
        assert!(solid.contains(&Vec3::zeros()) && solid.contains(&Vec3::new(0.0, 0.7, 0.0)));
        assert!(!solid.contains(&Vec3::new(0.0, 0.95, 0.0)) && !solid.contains(&Vec3::new(0.0, -1.1, 0.0)));
    }

    /// Torn apart at every edge, no boundary loop is a hole: the winding number alone must decide.
    #[test]
    fn a_torn_sphere_has_an_inside() {
        let ball = shapes::sphere(1.0, 3);
        let mut soup = TriMesh::default();
        for t in 0..ball.triangles.len() {
            let [a, b, c] = ball.corners(t);
            let middle = (a + b + c) / 3.0;
            let base = soup.vertices.len() as u32;
            soup.vertices.extend([a, b, c].map(|p| middle + 0.95 * (p - middle)));
            soup.triangles.push([base, base + 1, base + 2]);
        }
        let solid = Solid::build(&soup).unwrap();
        assert!(!solid.is_closed());
        assert!(solid.contains(&Vec3::zeros()) && solid.contains(&Vec3::new(0.0, 0.0, 0.8)));
        assert!(!solid.contains(&Vec3::new(0.72, 0.72, 0.0)));
    }

    #[test]
    fn overlapping_shells_count_once_and_are_reported() {
        let pair = joined(&[shapes::sphere(1.0, 3), shifted(shapes::sphere(1.0, 3), 1.0)]);
        let solid = Solid::build(&pair).unwrap();
        assert!((solid.winding_number(&Vec3::new(0.5, 0.0, 0.0)) - 2.0).abs() < 3.0 / 8.0);
        assert!(solid.contains(&Vec3::new(0.5, 0.0, 0.0)) && solid.overlaps());
        assert_eq!(solid.shell_count(), 2);
        // each cap inside the other sphere has height 1/2 of radius 1, a quarter of the sphere
        assert!(
            solid
                .findings()
                .iter()
                .any(|f| matches!(f, Finding::Overlap { fraction } if (fraction - 0.25).abs() < 0.02))
        );
    }

    #[test]
    fn an_inside_out_surface_is_flipped() {
        let mut cube = shapes::cuboid([1.0, 2.0, 3.0]);
        cube.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        let solid = Solid::build(&cube).unwrap();
        assert_eq!(solid.findings(), [Finding::InsideOut]);
        assert!((solid.volume() - 6.0).abs() < 1e-12);
    }

    #[test]
    fn errors_say_where_and_how_much() {
        let say = |mesh: &TriMesh| Solid::build(mesh).unwrap_err().to_string();
        assert!(say(&TriMesh::default()).contains("0 vertices"));
        let mut cube = shapes::cuboid([1.0; 3]);
        cube.triangles[7][1] = 99;
        assert!(say(&cube).starts_with("triangle 7 uses vertex 99, but there are only 8"));
        let mut cube = shapes::cuboid([1.0; 3]);
        cube.vertices[5].y = f64::NAN;
        assert!(say(&cube).starts_with("vertex 5 is at [0.5, NaN, 0.5]"));
        assert!(say(&shapes::cuboid([1e13; 3])).contains("is the unit right?"));
        assert!(say(&shapes::cuboid([1.0, 1.0, 0.0])).contains("m thick"));
    }

    fn soups() -> impl Strategy<Value = TriMesh> {
        let coordinate = prop_oneof![
            8 => -1.0..1.0f64,
            2 => (-2i32..=2).prop_map(f64::from),
            1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(1e300), Just(1e-300), Just(-0.0)]
        ];
        let tame = prop_oneof![3 => -1.0..1.0f64, 2 => (-2i32..=2).prop_map(f64::from)];
        let vertices = prop_oneof![
            4 => prop::collection::vec([tame.clone(), tame.clone(), tame], 0..14),
            1 => prop::collection::vec([coordinate.clone(), coordinate.clone(), coordinate], 0..14)
        ];
        let triangles = prop::collection::vec([0u32..14, 0u32..14, 0u32..14], 0..40);
        (vertices, triangles).prop_map(|(vertices, triangles)| {
            let count = vertices.len().max(1) as u32;
            // most indices in range, a few not
            let wrap = |v: u32| if v == 13 { v } else { v % count };
            TriMesh {
                vertices: vertices.into_iter().map(Vec3::from).collect(),
                triangles: triangles.into_iter().map(|t| t.map(wrap)).collect(),
            }
        })
    }

    proptest! {
        #[test]
        fn any_triangle_soup_is_built_or_rejected(soup in soups()) {
            if let Ok(solid) = Solid::build(&soup) {
                prop_assert!(solid.volume() > 0.0 && solid.winding_number(&Vec3::zeros()).is_finite());
            }
        }
    }
}
