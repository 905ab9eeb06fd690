//! Obstacle shapes and their signed distance functions.
//!
//! Every shape is queried in its own frame for a signed distance, negative inside, and its gradient.

mod convex_hull;
mod distance_grid;
mod height_field;
mod primitives;
mod sample_grid;
mod simple_surface;
mod surface;
mod triangle_solid;

use crate::Bounds;
use core::fmt;
use sinew_math::Vec3;
use sinew_mesh::TriMesh;

pub use convex_hull::ConvexHull;
pub use distance_grid::DistanceGrid;
pub use height_field::HeightField;
pub use sample_grid::SampleGrid;
pub use triangle_solid::TriangleSolid;

/// A shape, in its own frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// The half-space behind a plane through the origin.
    Plane {
        /// Outward unit normal.
        normal: Vec3,
    },
    /// A sphere about the origin.
    Sphere {
        /// Its radius (m).
        radius: f64,
    },
    /// A capsule about a segment along y, centred on the origin.
    Capsule {
        /// Half the length of the segment (m).
        half_length: f64,
        /// The radius (m).
        radius: f64,
    },
    /// An axis-aligned box about the origin.
    Cuboid {
        /// Half its side lengths (m).
        half: Vec3,
    },
    /// A cylinder along y, centred on the origin.
    Cylinder {
        /// Half its length (m).
        half_length: f64,
        /// Its radius (m).
        radius: f64,
    },
    /// A convex polyhedron.
    Convex(ConvexHull),
    /// A height field.
    Heights(HeightField),
    /// A signed distance grid.
    Grid(DistanceGrid),
    /// A triangle mesh.
    Mesh(TriangleSolid),
}

/// The signed distance of a point from a shape, and its gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Signed distance, negative inside (m).
    pub distance: f64,
    /// The gradient of the distance: outward unit normal.
    pub normal: Vec3,
}

impl Probe {
    /// A point outside the range of the distance function.
    pub const FAR: Probe = Probe { distance: f64::INFINITY, normal: Vec3::new(0.0, 1.0, 0.0) };
}

/// Why parameters define no shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeFault(pub String);

impl fmt::Display for ShapeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for ShapeFault {}

impl Shape {
    /// Signed distance and gradient at a point in the frame of the shape (m).
    #[inline]
    pub fn probe(&self, p: &Vec3) -> Probe {
        match self {
            Shape::Plane { normal } => Probe { distance: normal.dot(p), normal: *normal },
            Shape::Sphere { radius } => primitives::sphere(p, *radius),
            Shape::Capsule { half_length, radius } => primitives::capsule(p, *half_length, *radius),
            Shape::Cuboid { half } => primitives::cuboid(p, half),
            Shape::Cylinder { half_length, radius } => primitives::cylinder(p, *half_length, *radius),
            Shape::Convex(hull) => hull.probe(p),
            Shape::Heights(field) => field.probe(p),
            Shape::Grid(grid) => grid.probe(p),
            Shape::Mesh(mesh) => mesh.probe(p),
        }
    }

    /// Signed distance of a point in the frame of the shape (m): that of [`Shape::probe`].
    #[inline(always)]
    pub fn distance(&self, p: &Vec3) -> f64 {
        match self {
            Shape::Plane { normal } => normal.dot(p),
            Shape::Cuboid { half } => primitives::cuboid_distance(p, half),
            _ => self.probe(p).distance,
        }
    }

    /// Whether the distance is exact everywhere outside, and not only near the surface.
    #[inline]
    pub fn has_exact_distance(&self) -> bool {
        match self {
            Shape::Plane { .. }
            | Shape::Sphere { .. }
            | Shape::Capsule { .. }
            | Shape::Cuboid { .. }
            | Shape::Cylinder { .. } => true,
            Shape::Mesh(mesh) => mesh.is_exact(),
            Shape::Convex(_) | Shape::Heights(_) | Shape::Grid(_) => false,
        }
    }

    /// Its bounding box, in its own frame; infinite for a plane.
    pub fn bounds(&self) -> Bounds {
        let about = |half: Vec3| Bounds { min: -half, max: half };
        match self {
            Shape::Plane { .. } => about(Vec3::repeat(f64::INFINITY)),
            Shape::Sphere { radius } => about(Vec3::repeat(*radius)),
            Shape::Capsule { half_length, radius } => {
                about(Vec3::new(*radius, half_length + radius, *radius))
            }
            Shape::Cuboid { half } => about(*half),
            Shape::Cylinder { half_length, radius } => about(Vec3::new(*radius, *half_length, *radius)),
            Shape::Convex(hull) => hull.bounds(),
            Shape::Heights(field) => field.bounds(),
            Shape::Grid(grid) => grid.bounds(),
            Shape::Mesh(mesh) => mesh.bounds(),
        }
    }

    /// Points that move less than this in a step cannot pass through undetected (m).
    #[inline]
    pub fn thickness(&self) -> f64 {
        match self {
            Shape::Plane { .. } | Shape::Heights(_) => f64::INFINITY,
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius,
            Shape::Cuboid { half } => half.min(),
            Shape::Cylinder { half_length, radius } => half_length.min(*radius),
            Shape::Convex(hull) => hull.thickness(),
            Shape::Grid(grid) => grid.grid.spacing,
            Shape::Mesh(mesh) => mesh.shell().min(0.25 * (mesh.bounds().max - mesh.bounds().min).min()),
        }
    }

    /// What is wrong with its parameters, if anything.
    pub fn fault(&self) -> Option<String> {
        let length = |what: &str, x: f64| {
            (!(x > 0.0 && x < 1e9)).then(|| format!("its {what} is {x} m: it must be above 0 and below 1e9"))
        };
        match self {
            Shape::Plane { normal } => {
                let off = (normal.norm() - 1.0).abs();
                (off.is_nan() || off > 1e-9)
                    .then(|| format!("its normal has length {}: make it 1", normal.norm()))
            }
            Shape::Sphere { radius } => length("radius", *radius),
            Shape::Capsule { half_length, radius } | Shape::Cylinder { half_length, radius } => {
                length("radius", *radius).or_else(|| length("half length", *half_length))
            }
            Shape::Cuboid { half } => half.iter().find_map(|h| length("half side", *h)),
            Shape::Convex(_) | Shape::Heights(_) | Shape::Grid(_) | Shape::Mesh(_) => None,
        }
    }

    /// Its surface in its own frame, for rendering; for a plane a square of side 2 × `reach` (m).
    pub fn surface(&self, reach: f64) -> TriMesh {
        surface::of(self, reach)
    }

    /// Sample points on its surface, for contact with other obstacles (m).
    pub fn samples(&self) -> Vec<Vec3> {
        surface::samples(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn all() -> Vec<(Shape, f64)> {
        let heights = (0..49).map(|i| 0.05 * f64::from(i % 7)).collect();
        vec![
            (Shape::Plane { normal: Vec3::new(0.6, 0.8, 0.0) }, 1e-6),
            (Shape::Sphere { radius: 0.5 }, 1e-6),
            (Shape::Capsule { half_length: 0.3, radius: 0.2 }, 1e-6),
            (Shape::Cuboid { half: Vec3::new(0.3, 0.2, 0.5) }, 1e-6),
            (Shape::Cylinder { half_length: 0.3, radius: 0.25 }, 1e-6),
            (Shape::Convex(ConvexHull::build(&shapes::sphere(0.5, 2).vertices).expect("a hull")), 1e-6),
            (Shape::Heights(HeightField::build([7, 7], 0.2, heights).expect("heights")), 1e-6),
            (Shape::Mesh(TriangleSolid::build(shapes::torus(0.5, 0.2, 24, 16)).expect("a mesh")), 1e-6),
            (Shape::Grid(DistanceGrid::of_surface(shapes::sphere(0.5, 3), 24).expect("a grid")), 1e-6),
        ]
    }

    /// The normal is the gradient of the distance where the distance is smooth: at most of a thousand random points. The distance
    /// of a height field is first-order: exact on the ground, and off it by its curvature, which is zero within a facet; between
    /// facets of a grid it jumps.
    #[test]
    fn normals_are_gradients_of_distances() {
        for (shape, step) in all() {
            let mut seed = 11;
            let (mut smooth, mut tried) = (0, 0);
            for _ in 0..1000 {
                let p = 0.7 * Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed));
                let probe = shape.probe(&p);
                if !probe.distance.is_finite() {
                    continue;
                }
                tried += 1;
                assert!((probe.normal.norm() - 1.0).abs() < 1e-9);
                let along = |by: f64| shape.probe(&(p + by * probe.normal)).distance;
                let derivative = (along(step) - along(-step)) / (2.0 * step);
                smooth += usize::from((derivative - 1.0).abs() < 0.05);
            }
            assert!(tried > 100 && smooth * 100 > tried * 90, "{smooth} of {tried}: {shape:?}");
        }
    }

    /// Inside and outside, against the closed form of a sphere: the error of the inscribed mesh is its sagitta, that of the grid
    /// also a fraction of its spacing.
    #[test]
    fn all_representations_of_a_sphere_agree() {
        let ball = Shape::Sphere { radius: 0.5 };
        let mesh = shapes::sphere(0.5, 4);
        let others = [
            (Shape::Convex(ConvexHull::build(&mesh.vertices).expect("a hull")), 0.005),
            (Shape::Mesh(TriangleSolid::build(mesh.clone()).expect("a mesh")), 0.005),
            (Shape::Grid(DistanceGrid::of_surface(mesh, 40).expect("a grid")), 0.01),
        ];
        let mut seed = 5;
        for _ in 0..400 {
            let p = 0.45 * Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed));
            if p.norm() < 0.1 {
                continue;
            }
            let exact = ball.probe(&p);
            for (other, tolerance) in &others {
                let found = other.probe(&p);
                assert!((found.distance - exact.distance).abs() < *tolerance, "{p:?} {found:?} {exact:?}");
            }
        }
    }

    #[test]
    fn surfaces_are_closed_and_on_the_zero_level_set() {
        for (shape, _) in all() {
            let surface = shape.surface(1.0);
            assert!(!surface.triangles.is_empty());
            let tolerance = if matches!(shape, Shape::Grid(_)) { 0.03 } else { 1e-6 };
            for v in &surface.vertices {
                let distance = shape.probe(v).distance;
                assert!(distance.abs() < tolerance || distance.is_infinite(), "{distance} {shape:?}");
            }
            let open = matches!(shape, Shape::Plane { .. } | Shape::Heights(_));
            assert!(open || surface.signed_volume() > 0.0);
        }
    }

    #[test]
    fn a_distance_alone_has_the_bits_of_that_with_its_gradient() {
        let half = Vec3::new(0.3, 0.2, 0.1);
        for shape in
            [Shape::Plane { normal: Vec3::y() }, Shape::Cuboid { half }, Shape::Sphere { radius: 0.2 }]
        {
            for i in 0..1000 {
                let at = |k: f64| (f64::from(i) * k).fract() - 0.5;
                let p = Vec3::new(at(0.618_033), at(0.754_877), at(0.569_840));
                assert_eq!(shape.distance(&p).to_bits(), shape.probe(&p).distance.to_bits(), "{p:?}");
            }
        }
    }

    #[test]
    fn invalid_shapes_are_rejected() {
        assert!(Shape::Sphere { radius: -1.0 }.fault().is_some());
        assert!(Shape::Sphere { radius: f64::NAN }.fault().is_some());
        assert!(Shape::Plane { normal: Vec3::zeros() }.fault().is_some());
        assert!(Shape::Cuboid { half: Vec3::new(1.0, 0.0, 1.0) }.fault().is_some());
        assert!(ConvexHull::build(&[Vec3::zeros(); 5]).is_err());
        assert!(ConvexHull::build(&[Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::x() + Vec3::y()]).is_err());
        assert!(HeightField::build([1, 4], 0.1, vec![0.0; 4]).is_err());
        assert!(HeightField::build([2, 2], 0.1, vec![0.0; 3]).is_err());
        assert!(TriangleSolid::build(TriMesh::default()).is_err());
    }
}
