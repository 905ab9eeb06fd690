//! Where a part of a body is now: the rigid motion from rest that fits its surface best.

use crate::pictures::Shown;
use sinew_math::Vec3;
use sinew_math::nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion};

/// Fewest vertices that tell an orientation.
const FEWEST: usize = 8;

/// The motion from rest of the surface of a body around a point at rest, within a radius (m); of the whole body where too few vertices are near.
pub(crate) fn fit(shown: &Shown, body: usize, about: &Vec3, radius: f64) -> Option<Isometry3<f64>> {
    let document = shown.document.as_ref()?;
    let rest = &document.model.bodies().get(body)?.surface.vertices;
    let now = shown.surfaces.surfaces.get(body)?;
    let pairs = || {
        rest.iter()
            .zip(now)
            .map(|(rest, now)| (*rest, Vec3::new(now[0].into(), now[1].into(), now[2].into())))
    };
    let near: Vec<(Vec3, Vec3)> = pairs().filter(|(rest, _)| (rest - about).norm() <= radius).collect();
    let chosen = if near.len() >= FEWEST { near } else { pairs().collect() };
    fit_pairs(&chosen)
}

/// Least squares fit of a rigid motion to pairs of points (Kabsch): R = V diag(1, 1, det V Uᵀ) Uᵀ for Σ (x − x̄)(X − X̄)ᵀ = V Σ Uᵀ.
fn fit_pairs(pairs: &[(Vec3, Vec3)]) -> Option<Isometry3<f64>> {
    if pairs.is_empty() {
        return None;
    }
    let scale = 1.0 / pairs.len() as f64;
    let mean = |pick: fn(&(Vec3, Vec3)) -> Vec3| pairs.iter().map(pick).sum::<Vec3>() * scale;
    let (from, to) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let covariance: Matrix3<f64> =
        pairs.iter().map(|(rest, now)| (now - to) * (rest - from).transpose()).sum();
    let svd = covariance.svd(true, true);
    let (u, v) = (svd.u?, svd.v_t?);
    let sign = (u * v).determinant().signum();
    let turn = u * Matrix3::from_diagonal(&Vec3::new(1.0, 1.0, sign)) * v;
    let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(turn));
    Some(Isometry3::from_parts(Translation3::from(to - rotation * from), rotation))
}

/// The directions of a cloud of points, the longest first, and half its extent along each (m), about its middle.
pub(crate) fn principal_axes(points: &[Vec3]) -> Option<(Vec3, [Vec3; 3], [f64; 3])> {
    if points.len() < FEWEST {
        return None;
    }
    let middle = points.iter().sum::<Vec3>() / points.len() as f64;
    let spread: Matrix3<f64> = points.iter().map(|p| (p - middle) * (p - middle).transpose()).sum();
    let eigen = spread.symmetric_eigen();
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
    let axes = order.map(|i| eigen.eigenvectors.column(i).into_owned());
    let extent = |axis: &Vec3| points.iter().map(|p| (p - middle).dot(axis).abs()).fold(0.0, f64::max);
    Some((middle, axes, [extent(&axes[0]), extent(&axes[1]), extent(&axes[2])]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_is_the_motion_of_a_rigid_part() {
        let motion = Isometry3::new(Vec3::new(0.3, -1.0, 2.0), Vec3::new(0.4, 1.9, -0.2));
        let points = [Vec3::zeros(), Vec3::x(), 2.0 * Vec3::y(), Vec3::new(0.1, 0.2, -1.0)];
        let pairs: Vec<_> =
            points.iter().map(|p| (*p, motion.rotation * p + motion.translation.vector)).collect();
        let found = fit_pairs(&pairs).unwrap();
        assert!((found.to_homogeneous() - motion.to_homogeneous()).norm() < 1e-12);
    }

    #[test]
    fn the_longest_direction_of_a_bar_is_its_axis() {
        let at = |i: usize| Vec3::new(0.1 * (i % 2) as f64, (i / 4) as f64, 0.2 * (i / 2 % 2) as f64);
        let points: Vec<Vec3> = (0..20).map(at).collect();
        let (_, axes, extents) = principal_axes(&points).unwrap();
        assert!(axes[0].y.abs() > 0.99);
        assert!((extents[0] - 2.0).abs() < 0.05);
    }
}
