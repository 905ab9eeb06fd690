//! Mass properties of solid shapes: closed forms, and integrals over closed surfaces.

use crate::Shape;
use core::f64::consts::PI;
use sinew_math::{Isometry, Mat3, Vec3};

/// Mass, centre of mass and inertia of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidMass {
    /// Mass (kg).
    pub mass: f64,
    /// Centre of mass in the shape's frame (m).
    pub center: Vec3,
    /// Inertia tensor about the centre of mass, in the axes of the frame of the shape (kg m²).
    pub inertia: Mat3,
}

impl SolidMass {
    /// Mass properties of a shape of uniform density (kg/m³); `None` for shapes that enclose no volume.
    pub fn of(shape: &Shape, density: f64) -> Option<SolidMass> {
        // about the principal axes, centred on the origin
        let diagonal = |mass: f64, xx: f64, yy: f64, zz: f64| {
            Some(SolidMass {
                mass,
                center: Vec3::zeros(),
                inertia: Mat3::from_diagonal(&Vec3::new(xx, yy, zz)),
            })
        };

        // closed forms where there are any
        match shape {
            Shape::Plane { .. } | Shape::Heights(_) => None,
            Shape::Sphere { radius } => {
                let mass = density * 4.0 / 3.0 * PI * radius.powi(3);
                let i = 0.4 * mass * radius * radius;
                diagonal(mass, i, i, i)
            }
            Shape::Cuboid { half } => {
                let mass = density * 8.0 * half.x * half.y * half.z;
                let s = half.component_mul(half) * (mass / 3.0);
                diagonal(mass, s.y + s.z, s.x + s.z, s.x + s.y)
            }
            Shape::Cylinder { half_length, radius } => {
                let mass = density * 2.0 * half_length * PI * radius * radius;
                let across = mass * (0.25 * radius * radius + half_length * half_length / 3.0);
                diagonal(mass, across, 0.5 * mass * radius * radius, across)
            }
            Shape::Capsule { half_length: h, radius: r } => {
                let (tube, balls) = (density * 2.0 * h * PI * r * r, density * 4.0 / 3.0 * PI * r.powi(3));
                let along = r * r * (0.5 * tube + 0.4 * balls);
                let across =
                    tube * (0.25 * r * r + h * h / 3.0) + balls * (0.4 * r * r + h * h + 0.75 * h * r);
                diagonal(tube + balls, across, along, across)
            }
            Shape::Convex(_) | Shape::Grid(_) | Shape::Mesh(_) => enclosed(&shape.surface(1.0), density),
        }
    }

    /// Transformed to another frame by `pose`.
    pub fn moved(mut self, pose: &Isometry) -> SolidMass {
        let rotation = pose.rotation.to_rotation_matrix();
        self.center = pose.rotation * self.center + pose.translation.vector;
        self.inertia = rotation * self.inertia * rotation.transpose();
        self
    }

    /// The composite of two solids in a common frame (parallel axis theorem):
    ///
    /// ```text
    /// I = I₁ + I₂ + m₁ m₂/(m₁ + m₂) (|d|² 1 − d dᵀ),     d between the centres
    /// ```
    pub fn and(self, other: SolidMass) -> SolidMass {
        let mass = self.mass + other.mass;
        let offset = other.center - self.center;
        let spread = Mat3::from_diagonal_element(offset.norm_squared()) - offset * offset.transpose();
        SolidMass {
            mass,
            center: self.center + other.mass / mass * offset,
            inertia: self.inertia + other.inertia + self.mass * other.mass / mass * spread,
        }
    }

    /// The same mass distribution scaled to another total mass (kg).
    pub fn scaled_to(mut self, mass: f64) -> SolidMass {
        self.inertia *= mass / self.mass;
        self.mass = mass;
        self
    }
}

/// Integrals over the signed tets between the origin and each triangle: V = a·(b×c)/6, ∫ x xᵀ = V/20 (s sᵀ + a aᵀ + b bᵀ + c cᵀ)
/// with s = a + b + c.
fn enclosed(surface: &sinew_mesh::TriMesh, density: f64) -> Option<SolidMass> {
    let (mut volume, mut first, mut second) = (0.0, Vec3::zeros(), Mat3::zeros());
    for t in 0..surface.triangles.len() {
        let [a, b, c] = surface.corners(t);
        let tet = a.dot(&b.cross(&c)) / 6.0;
        let sum = a + b + c;
        volume += tet;
        first += sum * (tet / 4.0);
        let squares = sum * sum.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose();
        second += squares * (tet / 20.0);
    }
    if volume.is_nan() || volume <= 0.0 {
        return None;
    }
    let center = first / volume;
    let spread = second - center * center.transpose() * volume;
    let inertia = (Mat3::identity() * spread.trace() - spread) * density;
    Some(SolidMass { mass: density * volume, center, inertia })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConvexHull, TriangleSolid};

    /// Two halves of a box, each in its own frame, compose the box.
    #[test]
    fn halves_compose_the_whole() {
        let whole = SolidMass::of(&Shape::Cuboid { half: Vec3::new(0.2, 0.1, 0.3) }, 700.0).expect("solid");
        let half = SolidMass::of(&Shape::Cuboid { half: Vec3::new(0.1, 0.1, 0.3) }, 700.0).expect("solid");
        let turned = sinew_math::so3::exp(&(core::f64::consts::PI * Vec3::x()));
        let left = half.moved(&Isometry::translation(-0.1, 0.0, 0.0));
        let right = half.moved(&Isometry::from_parts(Vec3::new(0.1, 0.0, 0.0).into(), turned));
        let sum = left.and(right);
        assert!((sum.mass - whole.mass).abs() < 1e-12 * whole.mass);
        assert!((sum.center - whole.center).norm() < 1e-12);
        assert!((sum.inertia - whole.inertia).norm() < 1e-12 * whole.inertia.norm());
    }

    /// Closed forms against the integrals over inscribed surfaces: 32 corners around lack under 1 % of the area, 2 % of inertia.
    #[test]
    fn closed_forms_agree_with_surface_integrals() {
        let shapes = [
            (Shape::Sphere { radius: 0.3 }, 0.04),
            (Shape::Capsule { half_length: 0.2, radius: 0.1 }, 0.04),
            (Shape::Cylinder { half_length: 0.2, radius: 0.1 }, 0.03),
            (Shape::Cuboid { half: Vec3::new(0.1, 0.2, 0.3) }, 1e-12),
        ];
        for (shape, tolerance) in shapes {
            let exact = SolidMass::of(&shape, 1000.0).expect("solid");
            let surface = shape.surface(1.0);
            let mesh = Shape::Mesh(TriangleSolid::build(surface.clone()).expect("a surface"));
            let hull = Shape::Convex(ConvexHull::build(&surface.vertices).expect("a hull"));
            for other in [mesh, hull] {
                let found = SolidMass::of(&other, 1000.0).expect("solid");
                assert!((found.mass / exact.mass - 1.0).abs() < tolerance, "{shape:?}");
                let off = (found.inertia - exact.inertia).norm() / exact.inertia.norm();
                assert!(off < tolerance && found.center.norm() < 1e-9, "{off} {shape:?}");
            }
        }
        assert!(SolidMass::of(&Shape::Plane { normal: Vec3::y() }, 1.0).is_none());
    }

    #[test]
    fn inertia_is_independent_of_the_position() {
        let mut surface = Shape::Cuboid { half: Vec3::new(0.1, 0.2, 0.3) }.surface(1.0);
        let here = enclosed(&surface, 500.0).expect("solid");
        surface.vertices.iter_mut().for_each(|v| *v += Vec3::new(1.0, -2.0, 0.5));
        let there = enclosed(&surface, 500.0).expect("solid");
        assert!((there.center - Vec3::new(1.0, -2.0, 0.5)).norm() < 1e-12);
        assert!((there.inertia - here.inertia).norm() < 1e-10 * here.mass);
    }
}
