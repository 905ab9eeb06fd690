//! Exact signed distance to an ellipsoid, by Newton's method on the secular equation.
//!
//! The closest point x of the surface x·D⁻²x = 1, D = diag(r), has p − x parallel to the normal, which leaves one unknown t.
//! Written as 1/|·| the equation is nearly linear in t, so Newton's method converges from one side in a few iterations.

use sinew_math::Vec3;

/// The signed distance of `p` (m, in the axes of the ellipsoid) from an ellipsoid of semi-axes `radii` (m), and its gradient.
///
/// ```text
/// p − x = t D⁻² x   ⇒   x = D² m,   mᵢ = pᵢ / (t + rᵢ²)
/// x·D⁻²x = |s|² = 1,   sᵢ = rᵢ mᵢ
/// d = t |m|,   ∇d = m/|m|
/// ```
///
/// φ(t) = 1/|s(t)| − 1 is increasing and concave above t = −min r² (as the secular equation of a trust region), so Newton's
/// method from the left of its root stays there and converges. Each |sᵢ| alone is 1 at t = rᵢ|pᵢ| − rᵢ², and the largest of these
/// is left of the root. Points closer to a plane of symmetry than 1e-13 of the smallest radius are moved off it by that much,
/// where the closest point is unique.
pub(crate) fn distance_and_gradient(radii: &[f64; 3], p: &Vec3) -> (f64, Vec3) {
    let smallest = radii.iter().fold(f64::INFINITY, |m, r| m.min(*r));
    // in units of the smallest radius, and relative to t = −1, where nothing cancels
    let r = Vec3::from_fn(|i, _| radii[i] / smallest);
    let y = Vec3::from_fn(|i, _| (p[i].abs() / smallest).max(OFF_PLANE));
    let beyond = r.map(|r| r * r - 1.0);
    let mut t = (0..3).map(|i| r[i] * y[i] - beyond[i]).fold(0.0, f64::max);
    for _ in 0..MAX_ITERATIONS {
        let s = Vec3::from_fn(|i, _| r[i] * y[i] / (t + beyond[i]));
        let size = s.norm_squared();
        // φ = |s|⁻¹ − 1,  φ′ = |s|⁻³ Σ sᵢ²/(t + rᵢ²)
        let derivative: f64 = (0..3).map(|i| s[i] * s[i] / (t + beyond[i])).sum();
        let step = (size.sqrt() - 1.0) * size / derivative;
        t += step;
        if step <= 1e-15 * t {
            break;
        }
    }
    let m = Vec3::from_fn(|i, _| (y[i] / (t + beyond[i])).copysign(p[i]));
    let size = m.norm();
    (smallest * (t - 1.0) * size, m / size)
}

/// The distance by which points are moved off planes of symmetry, in smallest radii.
const OFF_PLANE: f64 = 1e-13;

/// The maximum number of Newton iterations. Five are usual; deep inside a flat ellipsoid it takes some more.
const MAX_ITERATIONS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    /// Along the normal of a surface point the distance is the offset, out to infinity and in to the smallest radius of curvature
    /// min r²/max r; exact to round-off times the ratio of radii.
    #[test]
    fn the_distance_along_a_normal_is_the_offset() {
        let radii = [0.3, 0.11, 0.2];
        let curvature = 0.11 * 0.11 / 0.3;
        for i in 0..200 {
            let t = f64::from(i);
            let on_ball =
                Vec3::new(0.371 * t % 2.0 - 1.0, 0.733 * t % 2.0 - 1.0, 0.117 * t % 2.0 - 1.0).normalize();
            let x = Vec3::from_fn(|k, _| radii[k] * on_ball[k]);
            let normal = Vec3::from_fn(|k, _| on_ball[k] / radii[k]).normalize();
            for offset in [-0.99 * curvature, -0.01, 0.0, 1e-9, 0.02, 1.0, 50.0] {
                let (d, n) = distance_and_gradient(&radii, &(x + offset * normal));
                assert!((d - offset).abs() < 1e-13 * (1.0 + offset.abs()), "{d} {offset}");
                assert!((n - normal).norm() < 1e-9, "{n} {normal} {offset}");
            }
        }
    }

    #[test]
    fn the_centre_has_depth_equal_to_the_smallest_radius() {
        for radii in [[0.3, 0.1, 0.2], [0.1, 0.1, 0.1], [1.0, 1.0, 1e-3]] {
            let smallest = radii.iter().fold(f64::INFINITY, |m: f64, r| m.min(*r));
            let (d, n) = distance_and_gradient(&radii, &Vec3::zeros());
            assert!((d + smallest).abs() < 1e-9 * smallest, "{d}");
            assert!((n.norm() - 1.0).abs() < 1e-12);
        }
    }
}
