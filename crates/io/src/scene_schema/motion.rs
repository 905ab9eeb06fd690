//! `motion = { … }`: how something that is held moves as a rigid body.

use super::Vector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rigid motion; at the start it is the identity, so that nothing jumps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "oneOf" = [{ "required": ["shake"] }, { "required": ["spin"] }, { "required": ["glide"] }]
))]
pub struct MotionTable {
    /// To and fro about the start.
    pub shake: Option<ShakeTable>,
    /// Round an axis at a constant rate.
    pub spin: Option<SpinTable>,
    /// Along a straight line.
    pub glide: Option<GlideTable>,
}

/// To and fro about the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShakeTable {
    /// Largest displacement (m).
    pub amplitude: Vector,
    /// Oscillations per second (Hz).
    #[schemars(extend("minimum" = 0, "maximum" = 1000))]
    pub frequency: f64,
}

/// Round an axis at a constant rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpinTable {
    /// The axis; its length does not matter.
    pub axis: Vector,
    /// A point on the axis (m).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub center: Option<Vector>,
    /// Turns per second (Hz).
    #[schemars(extend("minimum" = -1000, "maximum" = 1000))]
    pub rate: f64,
}

/// Along a straight line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlideTable {
    /// Its velocity (m/s).
    pub velocity: Vector,
}
