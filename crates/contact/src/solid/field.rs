//! Implicit functions of undeformed solids: zero on the surface, negative inside.
//!
//! ```text
//! superquadric:   f = ((|x/a|^(2/ε₂) + |z/c|^(2/ε₂))^(ε₂/ε₁) + |y/b|^(2/ε₁))^(ε₁/2),    F = f − 1          [Barr1981]
//! ```
//!
//! f is homogeneous of degree one, so that F has about the same gradient near the surface as on it, and one Newton step from anywhere on a ray through the centre hits the surface.

use super::SolidShape;
use sinew_math::{Vec3, real};

/// F and its gradient.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) value: f64,
    pub(super) gradient: Vec3,
}

/// The field of a shape at a point (m).
#[inline]
pub(super) fn of(shape: &SolidShape, p: &Vec3) -> Field {
    match shape {
        SolidShape::Sphere { radius } => ellipsoid(p, &Vec3::repeat(*radius)),
        SolidShape::Ellipsoid { radii } => ellipsoid(p, radii),
        SolidShape::Capsule { half_length, radius } => {
            let off = p - Vec3::new(0.0, p.y.clamp(-half_length, *half_length), 0.0);
            let length = off.norm();
            let gradient = if length > 0.0 { off / length } else { Vec3::zeros() };
            Field { value: length - radius, gradient }
        }
        SolidShape::Superquadric { radii, squareness } => superquadric(p, radii, squareness),
        SolidShape::Metaballs(balls) => {
            let (value, gradient) = balls.distance_and_gradient(p);
            Field { value, gradient }
        }
        SolidShape::Grid(grid) => {
            // beyond the grid the distance to it leads back
            let bounds = grid.grid.bounds();
            let held = p.sup(&bounds.min).inf(&bounds.max);
            let margin = 1e-9 * (bounds.max - bounds.min).max();
            let held = held.sup(&bounds.min.add_scalar(margin)).inf(&bounds.max.add_scalar(-margin));
            let probe = grid.probe_inside(&held);
            let off = p - held;
            let far = off.norm();
            let gradient = if far > 2.0 * margin {
                (off / far + probe.normal).try_normalize(0.0).unwrap_or(probe.normal)
            } else {
                probe.normal
            };
            Field { value: probe.distance + far, gradient }
        }
    }
}

#[inline]
fn ellipsoid(p: &Vec3, radii: &Vec3) -> Field {
    let scaled = p.component_div(radii);
    let f = scaled.norm();
    let gradient = if f > 0.0 { scaled.component_div(radii) / f } else { Vec3::zeros() };
    Field { value: f - 1.0, gradient }
}

fn superquadric(p: &Vec3, radii: &Vec3, [pole, around]: &[f64; 2]) -> Field {
    let scaled = p.component_div(radii);
    let size = scaled.map(f64::abs);
    let largest = size.max();
    if largest == 0.0 {
        return Field { value: -1.0, gradient: Vec3::zeros() };
    }
    // scaled by the largest, so that no power underflows
    let [x, y, z] = [size.x / largest, size.y / largest, size.z / largest];
    let (xp, zp) = (power(x, 2.0 / around), power(z, 2.0 / around));
    let ring = xp + zp;
    let ring_part = power(ring, around / pole);
    let y_part = power(y, 2.0 / pole);
    let sum = ring_part + y_part;
    let f = power(sum, 0.5 * pole);

    // ∂f/∂x = f/sum · ring^(ε₂/ε₁ − 1) · |x|^(2/ε₂ − 1), and so on: homogeneous of degree zero
    let outer = f / sum;
    let inner = if ring > 0.0 { ring_part / ring } else { 0.0 };
    let derivative = |part: f64, x: f64| if x > 0.0 { part / x } else { 0.0 };
    let gradient = Vec3::new(
        outer * inner * derivative(xp, x) * scaled.x.signum() / radii.x,
        outer * derivative(y_part, y) * scaled.y.signum() / radii.y,
        outer * inner * derivative(zp, z) * scaled.z.signum() / radii.z,
    );
    Field { value: largest * f - 1.0, gradient }
}

/// x^k for x ≥ 0, with the common powers by multiplication.
#[inline]
fn power(x: f64, k: f64) -> f64 {
    if k == 2.0 {
        x * x
    } else if k == 1.0 {
        x
    } else if k == 0.5 {
        x.sqrt()
    } else if k == 4.0 {
        (x * x) * (x * x)
    } else {
        real::pow(x, k)
    }
}
