//! Damped inverse of linear blend skinning: from a displacement in the world to one in bind space.
//!
//! A vertex is moved by A = Σ_j w_j A_j, the mean of its joints' linear maps. Joints that turn against each other nearly right round
//! leave A nearly flat, and no displacement in bind space reaches the world along what was lost. There the inverse is damped:
//!
//! ```text
//! A = U diag(σ) Vᵀ,   A⁺ = V diag(f(σ)) Uᵀ,   f(σ) = 1/σ where |σ| ≥ τ s, else σ/(τ s)²
//! ```
//!
//! with s = Σ_j w_j ‖A_j‖, which A would stretch by if the joints agreed. f is continuous, and |f| ≤ 1/(τ s).

use sinew_math::svd::Svd;
use sinew_math::{Mat3, Vec3};

/// τ: the inverse of a flat map is at most 1/τ = 20 times that of the same joints side by side. For two joints of equal weight that
/// is a twist of 174°.
const FLAT: f64 = 0.05;

/// A⁺ of a vertex's map A whose joints stretch by s in the mean, and whether it was damped.
pub(super) fn carry_back(linear: &Mat3, scale: f64) -> (Mat3, bool) {
    let size = linear.norm_squared();
    // |det| = σ₁ σ₂ |σ₃| and σ₁ σ₂ ≤ ‖A‖²/2, so this is a lower bound of |σ₃|
    let smallest = 2.0 * linear.determinant().abs() / size;
    if smallest >= FLAT * scale
        && let Some(inverse) = linear.try_inverse()
    {
        return (inverse, false);
    }
    let floor = FLAT * scale;
    if !(floor > 0.0 && size > 0.0) {
        return (Mat3::zeros(), true);
    }
    let Svd { u, sigma, v } = Svd::of(linear);
    let is_flat = sigma.iter().any(|sigma| sigma.abs() < floor);
    let undone: Vec3 =
        sigma.map(|sigma| if sigma.abs() >= floor { 1.0 / sigma } else { sigma / (floor * floor) });
    (v * Mat3::from_diagonal(&undone) * u.transpose(), is_flat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::so3;

    fn twisted(angle: f64) -> Mat3 {
        let turned = so3::exp(&Vec3::new(0.0, angle, 0.0)).to_rotation_matrix().into_inner();
        0.5 * (Mat3::identity() + turned)
    }

    #[test]
    fn a_map_that_is_not_flat_is_undone() {
        for map in [twisted(1.0), 100.0 * twisted(3.0), Mat3::from_diagonal(&Vec3::new(1.0, -0.2, 3.0))] {
            let scale = map.norm();
            let (undone, damped) = carry_back(&map, scale);
            assert!(!damped && (undone * map - Mat3::identity()).amax() < 1e-12);
        }
    }

    #[test]
    fn a_flat_map_is_undone_along_what_is_left_and_bounded() {
        let half_turn = twisted(std::f64::consts::PI);
        let (undone, damped) = carry_back(&half_turn, 1.0);
        // a half turn about y leaves y alone
        assert!(damped && (half_turn * undone * Vec3::y() - Vec3::y()).norm() < 1e-12);
        for step in 0..200 {
            let (undone, _) = carry_back(&twisted(3.0 + 0.0014 * f64::from(step)), 1.0);
            assert!(Svd::of(&undone).sigma.x <= 1.0 / FLAT + 1e-9);
        }
        assert_eq!(carry_back(&Mat3::zeros(), 0.0), (Mat3::zeros(), true));
        assert_eq!(carry_back(&Mat3::zeros(), 1.0), (Mat3::zeros(), true));
    }

    #[test]
    fn the_inverse_does_not_jump_where_it_begins_to_be_damped() {
        let nearly =
            |sigma: f64| carry_back(&Mat3::from_diagonal(&Vec3::new(1.0, 1.0, sigma)), 1.0).0[(2, 2)];
        assert!((nearly(FLAT * (1.0 + 1e-9)) - nearly(FLAT * (1.0 - 1e-9))).abs() < 1e-6);
        assert!(nearly(1e-9).abs() < 1e-5 && (nearly(1e-9) + nearly(-1e-9)).abs() < 1e-12);
    }
}
