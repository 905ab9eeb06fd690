//! `[[muscle]]` and `[[character.muscle]]`: what contracts.

use super::{KeyedNumber, Vector, whole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A muscle: fibres in a part of a body, or a line from bone to bone. As far as it is activated it shortens, bulges, and moves the bones that it ends on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [{ "not": { "required": ["surface", "radius"] } }]))]
pub struct MuscleTable {
    /// Its name in reports.
    #[schemars(extend("x-default" = "muscle-1, …"))]
    pub name: Option<String>,
    /// The body, or the character, that it is in, or whose bones its line pulls.
    #[schemars(extend("x-default" = "the character that it is written in, or the only body"))]
    pub body: Option<String>,
    /// A closed surface (.obj, .ply, .stl): what of the body is inside is muscle.
    #[schemars(extend("format" = "path", "x-default" = "the whole body"))]
    pub surface: Option<String>,
    /// Instead of `surface`, the largest radius of a spindle from `origin` to `insertion` (m).
    #[schemars(extend("x-default" = "by `surface`", "exclusiveMinimum" = 0))]
    pub radius: Option<f64>,
    /// Where it begins.
    #[schemars(extend("x-default" = "an end of its longest direction"))]
    pub origin: Option<MuscleEndTable>,
    /// Where it ends.
    #[schemars(extend("x-default" = "the other one"))]
    pub insertion: Option<MuscleEndTable>,
    /// Whether it is a line of action from bone to bone: it pulls on bones only, costs next to nothing, and does not bulge.
    #[schemars(extend("default" = false))]
    pub line: Option<bool>,
    /// Points of bones that a line runs over, without friction, from origin to insertion.
    #[schemars(extend("x-default" = "straight"))]
    pub via: Option<Vec<MuscleEndTable>>,
    /// One direction of all fibres at rest.
    #[schemars(extend("x-default" = "a harmonic field from origin to insertion"))]
    pub fibres: Option<Vector>,
    /// Stress of fully activated fibres at their optimal length (Pa).
    #[schemars(extend("default" = 300000, "exclusiveMinimum" = 0, "maximum" = 1e8))]
    pub stress: Option<f64>,
    /// Force of a fully activated line at its optimal length (N).
    #[schemars(extend("x-default" = "needed by lines", "exclusiveMinimum" = 0, "maximum" = 1e7))]
    pub force: Option<f64>,
    /// Length at which it is strongest, relative to that at rest. Active force ends at 0.4 and 1.6 of it.
    #[schemars(extend("default" = 1, "minimum" = 0.2, "maximum" = 5))]
    pub optimal: Option<f64>,
    /// Factor of the passive force beyond that length.
    #[schemars(extend("default" = 1, "minimum" = 0, "maximum" = 100))]
    pub passive: Option<f64>,
    /// Whether its tissue differs from the material of the body: as `young` and `poisson` say.
    #[schemars(extend("default" = true))]
    pub own_tissue: Option<bool>,
    /// Young's modulus of its tissue apart from fibres (Pa).
    #[schemars(extend("default" = 10000, "exclusiveMinimum" = 0))]
    pub young: Option<f64>,
    /// Poisson's ratio of its tissue: contracting by a quarter, it loses about (1 − 2ν)/2 of its volume.
    #[schemars(extend("default" = 0.495, "minimum" = 0, "exclusiveMaximum" = 0.5))]
    pub poisson: Option<f64>,
    /// How far it is activated, from 0 to 1.
    #[schemars(extend("x-default" = "0; 1 with `driver`"))]
    pub activation: Option<KeyedNumber>,
    /// A joint whose angle multiplies its activation.
    #[schemars(extend("x-default" = "none"))]
    pub driver: Option<MuscleDriverTable>,
}

/// A place at rest where a muscle begins, ends, or is led along a bone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MuscleEndTable {
    /// The place at rest (m).
    pub place: Vector,
    /// The bone that it is fixed to; lines need one.
    #[schemars(extend("x-default" = "none: it ends in flesh"))]
    pub bone: Option<String>,
    /// How far around the place it is fixed (m).
    #[schemars(extend("x-default" = "a tenth of the muscle's length", "minimum" = 0))]
    pub radius: Option<f64>,
}

/// A joint whose angle drives a muscle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MuscleDriverTable {
    /// The bone that the joint moves.
    pub bone: String,
    /// Which of the joint's coordinates, counted from 1.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 1, "minimum" = 1, "maximum" = 6))]
    pub coordinate: Option<usize>,
    /// Angles with activations between 0 and 1, in order; smooth between them.
    #[schemars(title = "list of [angle, activation]")]
    pub keys: Vec<[f64; 2]>,
}
