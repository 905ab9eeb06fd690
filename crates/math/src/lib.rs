//! Linear algebra of the engine: 3×3 decompositions, rotations, spatial vectors, SIMD lanes, sparse solvers, and elementary
//! functions that return the same bits on every platform.
//!
//! Kernels are written once over the [`lanes::Real`] trait and run for one `f64` or for a block of `f32` lanes. Meshes and
//! forces live in other crates.
//!
//! The singular value decomposition of a deformation gradient keeps both rotations proper, so an inverted element has
//! σ₃ < 0:
//!
//! ```
//! use sinew_math::{Mat3, Vec3, svd::Svd};
//!
//! let inverted = Mat3::from_diagonal(&Vec3::new(1.2, 0.9, -0.3));
//! let svd = Svd::of(&inverted);
//! assert!((svd.u.determinant() - 1.0).abs() < 1e-14);
//! assert!((svd.sigma - Vec3::new(1.2, 0.9, -0.3)).norm() < 1e-14);
//! assert!((svd.with_diagonal(&svd.sigma) - inverted).norm() < 1e-14);
//! ```

pub mod arctangent;
pub mod bounded_least_squares;
pub mod columns;
pub mod lanes;
pub mod logarithm;
pub mod parallel;
pub mod real;
pub mod so3;
pub mod sparse;
pub mod spatial;
pub mod svd;

/// A vector or point in space.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3×3 matrix.
pub type Mat3 = nalgebra::Matrix3<f64>;
/// A 9×9 matrix: the derivative of one vectorised 3×3 matrix with respect to another (see [`stacked`]).
pub type Mat9 = nalgebra::SMatrix<f64, 9, 9>;
/// A rigid transform: a rotation followed by a translation.
pub type Isometry = nalgebra::Isometry3<f64>;
/// A rotation, as a unit quaternion.
pub type Rotation = nalgebra::UnitQuaternion<f64>;

pub use nalgebra;

/// vec(M): the nine entries of a matrix, column by column.
pub fn stacked(m: &Mat3) -> nalgebra::SVector<f64, 9> {
    nalgebra::SVector::from_column_slice(m.as_slice())
}

/// The distance from a point to a segment (m); a segment of zero length counts as its one point.
pub fn distance_to_segment(p: &Vec3, from: &Vec3, to: &Vec3) -> f64 {
    let along = to - from;
    let squared = along.norm_squared();
    let fraction = if squared > 0.0 { ((p - from).dot(&along) / squared).clamp(0.0, 1.0) } else { 0.0 };
    (p - (from + along * fraction)).norm()
}
