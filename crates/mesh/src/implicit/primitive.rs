//! Primitives of an implicit surface with exact signed distances: round cones and ellipsoids.
//!
//! An exact distance is 1-Lipschitz; all skipping of empty space relies on that.

use super::ellipsoid;
use sinew_math::nalgebra::Quaternion;
use sinew_math::{Rotation, Vec3};

/// A round primitive of a [`super::ImplicitSurface`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Primitive {
    /// Its shape without blending.
    pub shape: PrimitiveShape,
    /// The blend length (m): how close another primitive must come for a smooth transition; 0 for a sharp crease.
    pub blend: f64,
}

/// The shape of a [`Primitive`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PrimitiveShape {
    /// The union of spheres whose centres lie on a segment and whose radii vary linearly along it.
    RoundCone {
        /// The ends of the segment (m); a sphere if they coincide.
        ends: [Vec3; 2],
        /// The radius at each end (m); one of them may be 0.
        radii: [f64; 2],
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Its centre (m).
        center: Vec3,
        /// Rotation from its principal axes to the world.
        world_from_axes: Rotation,
        /// Its semi-axes (m).
        radii: [f64; 3],
    },
}

/// The minimum radius (m): the ratio of the largest coordinate to it can be squared twice.
const MIN_RADIUS: f64 = 1e-12;

impl Primitive {
    /// A sphere.
    pub fn sphere(center: Vec3, radius: f64) -> Self {
        Self::round_cone([center; 2], [radius; 2])
    }

    /// A round cone between two points (m), with a radius (m) at each end.
    pub fn round_cone(ends: [Vec3; 2], radii: [f64; 2]) -> Self {
        Self { shape: PrimitiveShape::RoundCone { ends, radii }, blend: 0.0 }
    }

    /// An ellipsoid with semi-axes `radii` (m).
    pub fn ellipsoid(center: Vec3, world_from_axes: Rotation, radii: [f64; 3]) -> Self {
        Self { shape: PrimitiveShape::Ellipsoid { center, world_from_axes, radii }, blend: 0.0 }
    }

    /// The same primitive with another blend length (m).
    pub fn blended(self, blend: f64) -> Self {
        Self { blend, ..self }
    }

    /// The mirror image in the plane x = 0.
    pub fn mirrored_in_x(self) -> Self {
        let across = |p: Vec3| Vec3::new(-p.x, p.y, p.z);
        let shape = match self.shape {
            PrimitiveShape::RoundCone { ends, radii } => {
                PrimitiveShape::RoundCone { ends: ends.map(across), radii }
            }
            PrimitiveShape::Ellipsoid { center, world_from_axes, radii } => {
                // S R S with S = diag(−1, 1, 1): the rotation vector is axial, and an ellipsoid is its own mirror image
                let [i, j, k] = [world_from_axes.i, -world_from_axes.j, -world_from_axes.k];
                let mirrored = Quaternion::new(world_from_axes.w, i, j, k);
                let world_from_axes = Rotation::new_unchecked(mirrored);
                PrimitiveShape::Ellipsoid { center: across(center), world_from_axes, radii }
            }
        };
        Self { shape, ..self }
    }

    /// The signed distance of `p` (m): negative inside.
    pub(crate) fn distance(&self, p: &Vec3) -> f64 {
        self.distance_and_gradient(p).0
    }

    /// The signed distance of `p` (m) and its gradient, which is zero on the medial axis of a round cone.
    pub(crate) fn distance_and_gradient(&self, p: &Vec3) -> (f64, Vec3) {
        match &self.shape {
            PrimitiveShape::RoundCone { ends, radii } => round_cone(ends, *radii, p),
            PrimitiveShape::Ellipsoid { center, world_from_axes, radii } => {
                let y = world_from_axes.inverse_transform_vector(&(p - center));
                let (distance, gradient) = ellipsoid::distance_and_gradient(radii, &y);
                (distance, world_from_axes * gradient)
            }
        }
    }

    /// Its bounding box (m).
    pub(crate) fn bounds(&self) -> (Vec3, Vec3) {
        match &self.shape {
            PrimitiveShape::RoundCone { ends: [a, b], radii: [ra, rb] } => {
                let (ra, rb) = (Vec3::repeat(*ra), Vec3::repeat(*rb));
                ((a - ra).inf(&(b - rb)), (a + ra).sup(&(b + rb)))
            }
            PrimitiveShape::Ellipsoid { center, world_from_axes, radii } => {
                // along x the farthest point of an ellipsoid is at √Σ (Rₓᵢ rᵢ)²
                let rotation = world_from_axes.to_rotation_matrix();
                let reach = Vec3::from_fn(|k, _| {
                    (0..3).map(|i| rotation[(k, i)] * radii[i]).map(|x| x * x).sum::<f64>().sqrt()
                });
                (center - reach, center + reach)
            }
        }
    }

    /// A bound for the area (m²) of its surface offset outwards by `grown` (m): that of the capsule around a round cone, and 4π
    /// r₁ r₂ with the two largest semi-axes of an ellipsoid.
    pub(crate) fn area_bound(&self, grown: f64) -> f64 {
        const PI: f64 = core::f64::consts::PI;
        match &self.shape {
            PrimitiveShape::RoundCone { ends: [a, b], radii: [ra, rb] } => {
                let r = ra.max(*rb) + grown;
                4.0 * PI * r * r + 2.0 * PI * r * (b - a).norm()
            }
            PrimitiveShape::Ellipsoid { radii: [r, s, t], .. } => {
                let (r, s, t) = (r + grown, s + grown, t + grown);
                4.0 * PI * (r * s).max(s * t).max(t * r)
            }
        }
    }

    /// The radius (m) of the largest inscribed sphere.
    pub(crate) fn thickness(&self) -> f64 {
        match &self.shape {
            PrimitiveShape::RoundCone { radii, .. } => radii[0].max(radii[1]),
            PrimitiveShape::Ellipsoid { radii, .. } => radii.iter().fold(f64::INFINITY, |m, r| m.min(*r)),
        }
    }

    /// All its parameters, for checks and for a canonical order of primitives.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        let mut numbers = vec![self.blend];
        match &self.shape {
            PrimitiveShape::RoundCone { ends, radii } => {
                numbers.extend(ends.iter().flat_map(|p| p.iter()));
                numbers.extend(radii);
            }
            PrimitiveShape::Ellipsoid { center, world_from_axes, radii } => {
                numbers.extend(center.iter());
                numbers.extend(radii);
                numbers.extend(world_from_axes.coords.iter());
            }
        }
        numbers
    }

    /// Whether no radius is too small, except at one end of a cone.
    pub(crate) fn has_valid_radii(&self) -> bool {
        match &self.shape {
            PrimitiveShape::RoundCone { radii, .. } => {
                radii.iter().all(|r| *r >= 0.0) && radii[0].max(radii[1]) >= MIN_RADIUS
            }
            PrimitiveShape::Ellipsoid { radii, .. } => radii.iter().all(|r| *r >= MIN_RADIUS),
        }
    }
}

/// The closest of all spheres along the segment.
///
/// ```text
/// d = min |p − q(h)| − r(h),   q(h) = a + h u,   r(h) = rₐ − s h,   0 ≤ h ≤ L,   s = (rₐ − r_b)/L
/// ```
///
/// With p at height z along the axis and at radius ρ, the minimum is where p − q is normal to the cone, which is inclined to the
/// axis by s: h = z − ρ s/√(1 − s²). Where |s| ≥ 1 one end contains the other. The gradient is that of the closest sphere.
fn round_cone([a, b]: &[Vec3; 2], [ra, rb]: [f64; 2], p: &Vec3) -> (f64, Vec3) {
    let axis = b - a;
    let axis_length = axis.norm();
    let (q, r) = if (ra - rb).abs() >= axis_length {
        if ra >= rb { (*a, ra) } else { (*b, rb) }
    } else {
        let (u, s) = (axis / axis_length, (ra - rb) / axis_length);
        let z = u.dot(&(p - a));
        let rho = (p - a - z * u).norm();
        let h = (z - rho * s / (1.0 - s * s).sqrt()).clamp(0.0, axis_length);
        (a + h * u, ra - s * h)
    };
    let offset = p - q;
    let length = offset.norm();
    (length - r, if length > 0.0 { offset / length } else { Vec3::zeros() })
}
