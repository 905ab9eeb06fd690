//! `motion = { … }`: a rigid motion of a pin, an obstacle or the target of a constraint.

use super::{KeyedVector, Vector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rigid motion, which begins with the identity so that nothing jumps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "oneOf" = [{ "required": ["shake"] }, { "required": ["spin"] }, { "required": ["glide"] }, { "required": ["keyed"] }]
))]
pub struct MotionTable {
    /// Oscillation about the start.
    pub shake: Option<ShakeTable>,
    /// Rotation about an axis at a constant rate.
    pub spin: Option<SpinTable>,
    /// Translation along a straight line.
    pub glide: Option<GlideTable>,
    /// Translation and rotation along curves over the time of the take.
    pub keyed: Option<KeyedMotionTable>,
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

/// Translation and rotation along curves over the time of the take, relative to where the curves are when the motion begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyedMotionTable {
    /// Displacement (m).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub translation: Option<KeyedVector>,
    /// Rotation vector: the axis times the number of turns; `[0, { keys = [[0, 0], [2, 0.25]] }, 0]` is a quarter turn about y in two seconds.
    #[schemars(extend("default" = [0, 0, 0]))]
    pub turns: Option<KeyedVector>,
    /// The point that it rotates about, which the translation carries along (m).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub center: Option<Vector>,
}
