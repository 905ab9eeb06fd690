//! Orthogonal Procrustes fit: the rigid motion nearest to that of a surface.

use sinew_math::svd::Polar;
use sinew_math::{Isometry, Mat3, Vec3};

/// The rotation R and translation t that minimise the squared distances between two sets of points, each with the same weight.
///
/// ```text
/// min Σ ‖R a + t − b‖²:   R = polar(M),   M = Σ (b − b̄)(a − ā)ᵀ,   t = b̄ − R ā
/// ```
///
/// since t must map the mean to the mean, and the rest of the sum is constant but for −2 tr(Rᵀ M), which the rotation of M = R S minimises.
pub(super) fn rigid_fit(from: &[Vec3], to: &[Vec3]) -> Isometry {
    let fraction = 1.0 / from.len().max(1) as f64;
    let [middle, goal] = [from, to].map(|points| fraction * points.iter().sum::<Vec3>());
    let covariance: Mat3 = from.iter().zip(to).map(|(a, b)| (b - goal) * (a - middle).transpose()).sum();
    let rotation = Polar::of(&covariance).quaternion();
    Isometry::from_parts((goal - rotation * middle).into(), rotation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::so3;

    #[test]
    fn a_rigid_motion_is_found_and_nothing_moves_nothing() {
        let points: Vec<Vec3> =
            (0..20).map(f64::from).map(|i| Vec3::new(i % 3.0, i % 5.0, 0.1 * i * i)).collect();
        let turned =
            Isometry::from_parts(Vec3::new(3.0, -1.0, 2.0).into(), so3::exp(&Vec3::new(1.0, 2.0, -0.5)));
        let moved: Vec<Vec3> = points.iter().map(|p| turned.transform_point(&(*p).into()).coords).collect();
        let found = rigid_fit(&points, &moved);
        // sums of twenty numbers up to 40, squared
        assert!((found.to_homogeneous() - turned.to_homogeneous()).amax() < 1e-11);
        assert!(
            (rigid_fit(&points, &points).to_homogeneous() - Isometry::identity().to_homogeneous()).amax()
                < 1e-11
        );
        assert!(rigid_fit(&[], &[]).to_homogeneous().iter().all(|c| c.is_finite()));
        assert!(rigid_fit(&points[..1], &moved[..1]).to_homogeneous().iter().all(|c| c.is_finite()));
    }
}
