//! `[[metaphor]]`: forces that stretch, bend, twist or push a body.

use super::{KeyedNumber, Vector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A control metaphor: forces that stretch, bend, twist or push a part of a body. Its parts are selected at rest, and its directions turn with the body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetaphorTable {
    /// Its name in reports and edits.
    #[schemars(extend("x-default" = "metaphor-1, …"))]
    pub name: Option<String>,
    /// The body, or the character, that it acts on.
    pub body: String,
    /// What it does.
    pub kind: MetaphorChoice,
    /// How strong it is: 1 is clearly visible on every body (about 15 % of strain, 29° of twist, 14° of bend on each side), below 0 it does the opposite. Before the take it does nothing.
    #[schemars(extend("default" = 1))]
    pub magnitude: Option<KeyedNumber>,
    /// The middle of what it acts on, at rest (m).
    #[schemars(extend("x-default" = "the middle of the body"))]
    pub origin: Option<Vector>,
    /// The direction that it stretches along, twists about, bends across or pushes in.
    #[schemars(extend("x-default" = "the longest side of the body, of a push from `origin` to its middle"))]
    pub axis: Option<Vector>,
    /// The direction across the axis that a bend moves both ends in.
    #[schemars(extend("x-default" = "the shortest side of the body across the axis"))]
    pub normal: Option<Vector>,
    /// Distance from `origin` along the axis at which the parts on both sides begin (m); the middle of a bend is within half of it.
    #[schemars(extend("x-default" = "a third of `far`, or halfway to the nearer end of the body", "minimum" = 0))]
    pub near: Option<f64>,
    /// Distance at which they end (m).
    #[schemars(extend("x-default" = "the end of the body", "exclusiveMinimum" = 0))]
    pub far: Option<f64>,
    /// Largest distance from the axis, of a push from `origin` (m).
    #[schemars(extend("x-default" = "unlimited, of a push a fifth of the body", "exclusiveMinimum" = 0))]
    pub radius: Option<f64>,
    /// Whether its forces may set the body in motion as a whole; a push then shoves it away.
    #[schemars(extend("default" = false))]
    pub net: Option<bool>,
    /// How the orientation of the body is found.
    #[schemars(extend("default" = "best-fit"))]
    pub frame: Option<FrameChoice>,
}

/// Kinds of metaphors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MetaphorChoice {
    /// Pulls two parts apart along the axis; below 0 it compresses.
    #[default]
    Stretch,
    /// Moves two parts along the normal, and what is between them the other way.
    Bend,
    /// Turns two parts against each other about the axis.
    Twist,
    /// Dents one part along the axis.
    Push,
}

/// How the orientation of a deformed body is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FrameChoice {
    /// The rotation that fits most of it; a bent end hardly counts.
    #[default]
    BestFit,
    /// From the nodes in a cone about its longest direction.
    Cone,
}
