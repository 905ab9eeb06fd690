//! One round part of a body: a cone with round ends, or an ellipsoid.
//!
//! The one idea: both have an exact signed distance, and an exact distance never changes faster than
//! the point moves. All that skips empty space rests on that.

use super::ellipsoid;
use sinew_math::nalgebra::Quaternion;
use sinew_math::{Rotation, Vec3};

/// A round part of a [`super::ImplicitSurface`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Primitive {
    /// What it looks like alone.
    pub shape: PrimitiveShape,
    /// How near another part must come (m) for the two to flow into each other; 0 for a sharp crease.
    pub blend: f64,
}

/// What a [`Primitive`] looks like alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PrimitiveShape {
    /// All balls whose middle lies on a segment and whose radius changes evenly along it.
    RoundCone {
        /// The ends of the segment (m); a ball where they are the same.
        ends: [Vec3; 2],
        /// The radius at each end (m); one of them may be 0.
        radii: [f64; 2],
    },
    /// A stretched ball.
    Ellipsoid {
        /// Its middle (m).
        middle: Vec3,
        /// From its own axes to the world's.
        world_from_axes: Rotation,
        /// Half its length along each of its axes (m).
        radii: [f64; 3],
    },
}

/// The least radius (m): the ratio of the largest coordinate to it can be squared twice.
const THINNEST: f64 = 1e-12;

impl Primitive {
    /// A ball.
    pub fn sphere(middle: Vec3, radius: f64) -> Self {
        Self::round_cone([middle; 2], [radius; 2])
    }

    /// All balls between one at each end of a segment (m), with radii (m) that change evenly.
    pub fn round_cone(ends: [Vec3; 2], radii: [f64; 2]) -> Self {
        Self { shape: PrimitiveShape::RoundCone { ends, radii }, blend: 0.0 }
    }

    /// A stretched ball with half lengths `radii` (m) along its own axes.
    pub fn ellipsoid(middle: Vec3, world_from_axes: Rotation, radii: [f64; 3]) -> Self {
        Self { shape: PrimitiveShape::Ellipsoid { middle, world_from_axes, radii }, blend: 0.0 }
    }

    /// The same part with another blend length (m).
    pub fn blended(self, blend: f64) -> Self {
        Self { blend, ..self }
    }

    /// The same part on the other side of the plane x = 0.
    pub fn mirrored_in_x(self) -> Self {
        let across = |p: Vec3| Vec3::new(-p.x, p.y, p.z);
        let shape = match self.shape {
            PrimitiveShape::RoundCone { ends, radii } => {
                PrimitiveShape::RoundCone { ends: ends.map(across), radii }
            }
            PrimitiveShape::Ellipsoid { middle, world_from_axes, radii } => {
                // S R S with S = diag(−1, 1, 1): the rotation vector is an axial one, and an ellipsoid is its own mirror image
                let [i, j, k] = [world_from_axes.i, -world_from_axes.j, -world_from_axes.k];
                let turn = Quaternion::new(world_from_axes.w, i, j, k);
                let world_from_axes = Rotation::new_unchecked(turn);
                PrimitiveShape::Ellipsoid { middle: across(middle), world_from_axes, radii }
            }
        };
        Self { shape, ..self }
    }

    /// The signed distance of `p` (m): negative inside.
    pub(crate) fn distance(&self, p: &Vec3) -> f64 {
        self.distance_and_gradient(p).0
    }

    /// The signed distance of `p` (m), and the direction in which it grows. On the middle line, where all
    /// directions are alike, the direction is zero.
    pub(crate) fn distance_and_gradient(&self, p: &Vec3) -> (f64, Vec3) {
        match &self.shape {
            PrimitiveShape::RoundCone { ends, radii } => round_cone(ends, *radii, p),
            PrimitiveShape::Ellipsoid { middle, world_from_axes, radii } => {
                let y = world_from_axes.inverse_transform_vector(&(p - middle));
                let (distance, gradient) = ellipsoid::distance_and_gradient(radii, &y);
                (distance, world_from_axes * gradient)
            }
        }
    }

    /// A box around it (m).
    pub(crate) fn bounds(&self) -> (Vec3, Vec3) {
        match &self.shape {
            PrimitiveShape::RoundCone { ends: [a, b], radii: [ra, rb] } => {
                let (ra, rb) = (Vec3::repeat(*ra), Vec3::repeat(*rb));
                ((a - ra).inf(&(b - rb)), (a + ra).sup(&(b + rb)))
            }
            PrimitiveShape::Ellipsoid { middle, world_from_axes, radii } => {
                // along x the farthest point of an ellipsoid is at √Σ (Rₓᵢ rᵢ)²
                let turn = world_from_axes.to_rotation_matrix();
                let reach = Vec3::from_fn(|k, _| {
                    (0..3).map(|i| turn[(k, i)] * radii[i]).map(|x| x * x).sum::<f64>().sqrt()
                });
                (middle - reach, middle + reach)
            }
        }
    }

    /// A bound for the area (m²) of its surface moved outwards by `grown` (m): that of the capsule around
    /// a round cone, and 4π r₁ r₂ with the two largest radii of an ellipsoid.
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

    /// The radius (m) of the largest ball that fits in.
    pub(crate) fn thickness(&self) -> f64 {
        match &self.shape {
            PrimitiveShape::RoundCone { radii, .. } => radii[0].max(radii[1]),
            PrimitiveShape::Ellipsoid { radii, .. } => radii.iter().fold(f64::INFINITY, |m, r| m.min(*r)),
        }
    }

    /// All numbers that describe it, to check them and to put parts in an order that depends on nothing else.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        let mut numbers = vec![self.blend];
        match &self.shape {
            PrimitiveShape::RoundCone { ends, radii } => {
                numbers.extend(ends.iter().flat_map(|p| p.iter()));
                numbers.extend(radii);
            }
            PrimitiveShape::Ellipsoid { middle, world_from_axes, radii } => {
                numbers.extend(middle.iter());
                numbers.extend(radii);
                numbers.extend(world_from_axes.coords.iter());
            }
        }
        numbers
    }

    /// Whether it is round all over: no radius too small, but for the tip of a cone.
    pub(crate) fn is_thick(&self) -> bool {
        match &self.shape {
            PrimitiveShape::RoundCone { radii, .. } => {
                radii.iter().all(|r| *r >= 0.0) && radii[0].max(radii[1]) >= THINNEST
            }
            PrimitiveShape::Ellipsoid { radii, .. } => radii.iter().all(|r| *r >= THINNEST),
        }
    }
}

/// The nearest of all balls along the segment.
///
/// ```text
/// d = min |p − q(h)| − r(h),   q(h) = a + h u,   r(h) = rₐ − s h,   0 ≤ h ≤ L,   s = (rₐ − r_b)/L
/// ```
///
/// With p at height z along the axis and ρ beside it, the minimum is where the way from q to p is the
/// normal of the cone, which leans by s against the axis: h = z − ρ s/√(1 − s²). Where |s| ≥ 1 one end
/// holds the other. The gradient is that of the nearest ball.
fn round_cone([a, b]: &[Vec3; 2], [ra, rb]: [f64; 2], p: &Vec3) -> (f64, Vec3) {
    let axis = b - a;
    let length = axis.norm();
    let (q, r) = if (ra - rb).abs() >= length {
        if ra >= rb { (*a, ra) } else { (*b, rb) }
    } else {
        let (u, s) = (axis / length, (ra - rb) / length);
        let z = u.dot(&(p - a));
        let rho = (p - a - z * u).norm();
        let h = (z - rho * s / (1.0 - s * s).sqrt()).clamp(0.0, length);
        (a + h * u, ra - s * h)
    };
    let way = p - q;
    let far = way.norm();
    (far - r, if far > 0.0 { way / far } else { Vec3::zeros() })
}
