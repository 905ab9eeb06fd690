//! Affine transforms of nodes: where a node stands in its parent.

use sinew_math::svd::Polar;
use sinew_math::{Isometry, Mat3, Rotation, Vec3, nalgebra::Matrix4};

/// An affine map as a matrix over (x, y, z, 1); its last row is (0, 0, 0, 1).
pub type Mat4 = Matrix4<f64>;

/// A stretch, then a rotation, then a translation.
///
/// ```text
/// x ↦ t + R S x
/// ```
///
/// Scales make S diagonal. A node that is given as a matrix with shear has a full symmetric S, so nothing is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeTransform {
    /// t, in the unit of the file (m by the standard).
    pub translation: Vec3,
    /// R.
    pub rotation: Rotation,
    /// S.
    pub stretch: Mat3,
}

impl NodeTransform {
    /// The identity.
    pub fn identity() -> NodeTransform {
        NodeTransform {
            translation: Vec3::zeros(),
            rotation: Rotation::identity(),
            stretch: Mat3::identity(),
        }
    }

    /// Splits an affine map of finite numbers by polar decomposition of its linear part. A reflection stays in S.
    pub fn of_matrix(matrix: &Mat4) -> NodeTransform {
        let linear = linear(matrix);
        let rotation = Polar::of(&linear).quaternion();
        // taken from the rotation as it was rounded, so that R S is the map itself
        let stretch = rotation.to_rotation_matrix().into_inner().transpose() * linear;
        NodeTransform { translation: translation(matrix), rotation, stretch }
    }

    /// The parts of a rigid map.
    pub fn of_isometry(isometry: &Isometry) -> NodeTransform {
        NodeTransform {
            translation: isometry.translation.vector,
            rotation: isometry.rotation,
            stretch: Mat3::identity(),
        }
    }

    /// The same map as a matrix.
    pub fn matrix(&self) -> Mat4 {
        let linear = self.rotation.to_rotation_matrix().into_inner() * self.stretch;
        affine(&linear, &self.translation)
    }

    /// The scale along each axis: the diagonal of S.
    pub fn scale(&self) -> Vec3 {
        self.stretch.diagonal()
    }

    /// The map without its stretch.
    pub fn isometry(&self) -> Isometry {
        Isometry::from_parts(self.translation.into(), self.rotation)
    }
}

/// The affine map x ↦ A x + t.
pub fn affine(linear: &Mat3, translation: &Vec3) -> Mat4 {
    let mut matrix = Mat4::identity();
    matrix.fixed_view_mut::<3, 3>(0, 0).copy_from(linear);
    matrix.fixed_view_mut::<3, 1>(0, 3).copy_from(translation);
    matrix
}

/// A of x ↦ A x + t.
pub fn linear(matrix: &Mat4) -> Mat3 {
    matrix.fixed_view::<3, 3>(0, 0).into_owned()
}

/// t of x ↦ A x + t.
pub fn translation(matrix: &Mat4) -> Vec3 {
    matrix.fixed_view::<3, 1>(0, 3).into_owned()
}

/// A x + t.
pub fn apply(matrix: &Mat4, point: &Vec3) -> Vec3 {
    linear(matrix) * point + translation(matrix)
}

/// The inverse of an affine map: x ↦ A⁻¹ x − A⁻¹ t; `None` if A is singular, which is when the smallest singular value of A
/// is lost in the round-off of the largest (single precision, as matrices are stored).
pub fn inverse(matrix: &Mat4) -> Option<Mat4> {
    let linear = linear(matrix);
    let sigma = sinew_math::svd::Svd::of(&linear).sigma;
    let is_flat = sigma.z.abs() <= f64::from(f32::EPSILON) * sigma.x;
    let inverse = linear.try_inverse().filter(|_| !is_flat)?;
    let inverse = affine(&inverse, &-(inverse * translation(matrix)));
    inverse.iter().all(|x| x.is_finite()).then_some(inverse)
}

/// Whether all numbers are finite, and so small that products of three of them are finite too.
pub fn is_moderate(matrix: &Mat4) -> bool {
    matrix.iter().all(|x| x.abs() < 1e100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::so3;

    #[test]
    fn the_parts_of_a_matrix_make_it_again_mirrors_and_shear_included() {
        let turned = so3::exp(&Vec3::new(0.3, -1.2, 2.0)).to_rotation_matrix().into_inner();
        for stretch in [
            Mat3::from_diagonal(&Vec3::new(1.0, 2.0, 0.5)),
            Mat3::from_diagonal(&Vec3::new(-1.0, 2.0, 0.5)),
            Mat3::new(1.0, 0.3, 0.0, 0.0, 1.0, -0.2, 0.0, 0.0, 1.0),
            Mat3::zeros(),
        ] {
            let matrix = affine(&(turned * stretch), &Vec3::new(1.0, 2.0, 3.0));
            let parts = NodeTransform::of_matrix(&matrix);
            // entries of order one, three products in a row
            assert!((parts.matrix() - matrix).amax() < 20.0 * f64::EPSILON, "{stretch}");
        }
    }

    #[test]
    fn a_turn_with_scale_comes_apart_into_both() {
        let rotation = so3::exp(&Vec3::new(0.3, -1.2, 0.4));
        let given = NodeTransform {
            translation: Vec3::x(),
            rotation,
            stretch: Mat3::from_diagonal(&Vec3::new(1.0, 2.0, 0.5)),
        };
        let found = NodeTransform::of_matrix(&given.matrix());
        // the polar decomposition is well posed here: singular values are apart from zero by half
        assert!(found.rotation.angle_to(&rotation) < 1e-7 && (found.scale() - given.scale()).amax() < 1e-14);
    }

    #[test]
    fn a_flat_map_has_no_inverse_and_others_are_undone() {
        assert!(inverse(&affine(&Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 0.0)), &Vec3::x())).is_none());
        assert!(inverse(&Mat4::zeros()).is_none());
        let map =
            affine(&Mat3::new(0.01, 0.0, 0.003, 0.0, 0.02, 0.0, 0.0, 0.0, 0.01), &Vec3::new(5.0, 1.0, 2.0));
        assert!((inverse(&map).unwrap() * map - Mat4::identity()).amax() < 1e-12);
    }
}
