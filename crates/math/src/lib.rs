//! Small linear algebra for Sinew: 3×3 decompositions, spatial vectors, batched lanes, and elementary functions
//! that return the same bits on every platform.
//!
//! The one idea: an algorithm is written once over the [`lanes::Real`] trait and runs for one `f64`
//! or for a block of `f32` lanes. Meshes and forces live elsewhere.

pub mod columns;
pub mod lanes;
pub mod logarithm;
pub mod parallel;
pub mod real;
pub mod sparse;
pub mod spatial;
pub mod svd;
pub mod turn;

/// A vector or point in space.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3×3 matrix.
pub type Mat3 = nalgebra::Matrix3<f64>;
/// A 9×9 matrix: how one 3×3 matrix, stacked column by column, changes with another.
pub type Mat9 = nalgebra::SMatrix<f64, 9, 9>;
/// A rotation followed by a translation.
pub type Isometry = nalgebra::Isometry3<f64>;
/// A rotation.
pub type Rotation = nalgebra::UnitQuaternion<f64>;

pub use nalgebra;

/// The nine entries of a matrix, column by column.
pub fn stacked(m: &Mat3) -> nalgebra::SVector<f64, 9> {
    nalgebra::SVector::from_column_slice(m.as_slice())
}

/// How far a point is from a segment; from its one end where both are the same.
pub fn distance_to_segment(p: &Vec3, from: &Vec3, to: &Vec3) -> f64 {
    let along = to - from;
    let squared = along.norm_squared();
    let fraction = if squared > 0.0 { ((p - from).dot(&along) / squared).clamp(0.0, 1.0) } else { 0.0 };
    (p - (from + along * fraction)).norm()
}
