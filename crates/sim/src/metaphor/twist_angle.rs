//! The angle of a twist beyond half a turn: rotations of slices across the axis, unwrapped from slice to slice.
//!
//! ```text
//! θᵢ₊₁ = θᵢ + wrap(φᵢ₊₁ − φᵢ),      φ: the angle of the rotation that fits a slice best in the plane across the axis
//! θ = Σ rᵢ θᵢ − Σ lᵢ θᵢ             l, r: second moments of the nodes of the left and the right set in a slice about the axis, as fractions of those of the set
//! ```

use super::{ControlFrame, NodeSet, turned};
use core::f64::consts::PI;
use sinew_math::Vec3;

/// A slice of a body across the axis of a twist.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slice {
    pub(crate) set: NodeSet,
    /// The fractions of the left and of the right set that it holds.
    pub(crate) fractions: [f64; 2],
}

/// The angle by which the right set has turned against the left one (rad), with nodes at positions `x` (m).
pub(super) fn twist_angle(slices: &[Slice], frame: &ControlFrame, rest: &[Vec3], x: &[Vec3]) -> f64 {
    let (mut angle, mut last, mut sum) = (0.0, None, 0.0);
    for slice in slices {
        let own = turned(&slice.set, frame, rest, x);
        angle += last.map_or(own, |last| wrapped(own - last));
        last = Some(own);
        sum += (slice.fractions[1] - slice.fractions[0]) * angle;
    }
    sum
}

/// An angle between −π and π.
fn wrapped(angle: f64) -> f64 {
    match angle {
        angle if angle > PI => angle - 2.0 * PI,
        angle if angle < -PI => angle + 2.0 * PI,
        angle => angle,
    }
}
