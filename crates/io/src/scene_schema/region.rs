//! `region = { … }`: a part of a body.

use super::Vector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of a body, selected by positions at rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "oneOf" = [{ "required": ["end"] }, { "required": ["box"] }, { "required": ["ball"] }, { "required": ["nearest"] }],
    "dependencies" = { "fraction": ["end"] }
))]
pub struct RegionTable {
    /// The end of the body in a direction.
    pub end: Option<EndChoice>,
    /// The size of that end, as a fraction of the body's extent.
    #[schemars(extend("default" = 0.1, "exclusiveMinimum" = 0, "maximum" = 1))]
    pub fraction: Option<f64>,
    /// All points in an axis-aligned box.
    #[serde(rename = "box")]
    pub cuboid: Option<BoxTable>,
    /// All points in a ball.
    pub ball: Option<BallTable>,
    /// The single point nearest to a position (m).
    pub nearest: Option<Vector>,
}

/// The end of a body: one side of it, or a direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EndChoice {
    /// A side, seen from the front.
    Side(BodySide),
    /// A direction; its length does not matter.
    Direction(Vector),
}

/// A side of a body, seen from the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words are the sides")]
pub enum BodySide {
    Top,
    Bottom,
    Left,
    Right,
    Front,
    Back,
}

/// An axis-aligned box.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxTable {
    /// Smallest coordinates (m).
    pub min: Vector,
    /// Largest coordinates (m).
    pub max: Vector,
}

/// A ball.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BallTable {
    /// Its centre (m).
    pub center: Vector,
    /// Its radius (m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
}
