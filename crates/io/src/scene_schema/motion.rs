//! `motion = { … }`: a rigid motion of a pin, an obstacle or the target of a constraint.

use super::Vector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rigid motion, which begins with the identity so that nothing jumps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "oneOf" = [{ "required": ["shake"] }, { "required": ["spin"] }, { "required": ["glide"] }]
))]
pub struct MotionTable {
    /// Oscillation about the start.
    pub shake: Option<ShakeTable>,
    /// Rotation about an axis at a constant rate.
    pub spin: Option<SpinTable>,
    /// Translation along a straight line.
    pub glide: Option<GlideTable>,
}

/// Oscillation about the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShakeTable {
    /// Amplitude (m).
    pub amplitude: Vector,
    /// Oscillations per second (Hz).
    #[schemars(extend("minimum" = 0, "maximum" = 1000))]
    pub frequency: f64,
}

/// Rotation about an axis at a constant rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpinTable {
    /// The axis; its length does not matter.
    pub axis: Vector,
    /// A point on the axis (m).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub center: Option<Vector>,
    /// Revolutions per second (Hz).
    #[schemars(extend("minimum" = -1000, "maximum" = 1000))]
    pub rate: f64,
}

/// Translation along a straight line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlideTable {
    /// Its velocity (m/s).
    pub velocity: Vector,
}
