//! `[[edit]]`: a change of the scene during the take.

use super::{
    BandsTable, ConstraintTable, ContactTable, DriveMode, GoalTable, KeyedNumber, KeyedVector, LoadTable,
    MaterialChoice, MetaphorTable, MotionTable, SolverTable, whole,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A change of the scene from a time of the take on. Keys that are not given stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditTable {
    /// When it takes effect (s), rounded to the nearest frame: that frame is the last one without it.
    #[schemars(extend("minimum" = 0, "maximum" = 86400))]
    pub time: f64,
    /// Gravitational acceleration (m/s²); rest shapes stay as they are.
    #[schemars(extend("x-default" = "as before"))]
    pub gravity: Option<KeyedVector>,
    /// Changes of bodies and of the flesh of characters, one `[[edit.body]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<BodyEditTable>,
    /// Changes of characters, one `[[edit.character]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub character: Vec<CharacterEditTable>,
    /// Changes of obstacles, one `[[edit.obstacle]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacle: Vec<ObstacleEditTable>,
    /// Constraints that begin, or replace those of their name, one `[[edit.constraint]]` each, with the keys of `[[constraint]]`; times are those of the take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraint: Vec<ConstraintTable>,
    /// Constraints that end, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
    /// Control metaphors that begin, or replace those of their name, one `[[edit.metaphor]]` each, with the keys of `[[metaphor]]`; times are those of the take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metaphor: Vec<MetaphorTable>,
    /// Control metaphors that end, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_metaphor: Vec<String>,
    /// Activations of muscles by their names: `{ biceps = 0.5 }`.
    #[schemars(extend("x-default" = "as before"))]
    pub activation: Option<BTreeMap<String, KeyedNumber>>,
    /// How contact is resolved: `[edit.contact]`; keys that are not given are the defaults.
    #[schemars(extend("x-default" = "as before"))]
    pub contact: Option<ContactTable>,
    /// How time steps are taken: `[edit.solver]`.
    #[schemars(extend("x-default" = "as before"))]
    pub solver: Option<SolverTable>,
}

/// A change of a body, or of the flesh of a character.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BodyEditTable {
    /// The body.
    pub name: String,
    /// Its material.
    #[schemars(extend("x-default" = "as before"))]
    pub material: Option<MaterialChoice>,
    /// All forces on it, in place of those before, one `[[edit.body.load]]` each; `[]` ends them.
    #[schemars(extend("x-default" = "as before"))]
    pub load: Option<Vec<LoadTable>>,
    /// Rate at which the air slows its motion (1/s).
    #[schemars(extend("x-default" = "as before"))]
    pub air_drag: Option<KeyedNumber>,
    /// What the stiffness of its flesh, cloth or springs is multiplied by, from 0.001 to 1000. Damping ratios stay: it is as if `young` were multiplied.
    #[schemars(extend("x-default" = "as before"))]
    pub stiffness_factor: Option<KeyedNumber>,
    /// What its damping is multiplied by, from 0 to 1000. Well above 10, time steps are shorter.
    #[schemars(extend("x-default" = "as before"))]
    pub damping_factor: Option<KeyedNumber>,
    /// What friction of its surface is multiplied by, from 0 to 1000; where the other side of a contact has a factor too, both count.
    #[schemars(extend("x-default" = "as before"))]
    pub friction_factor: Option<KeyedNumber>,
    /// How its skin is bound to the muscles below, with the keys of `[body.skin.bands]`, in place of the bands before: keys that are not given are the defaults, and a stiffness of 0 cuts them. Bands are bound at rest.
    #[schemars(extend("x-default" = "as before"))]
    pub bands: Option<BandsTable>,
    /// Motions of its pins, one `[[edit.body.pin]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<PinEditTable>,
}

/// A change of the motion of a pin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinEditTable {
    /// The pin, by its number among those of the body.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 1, "minimum" = 1))]
    pub number: Option<usize>,
    /// How it moves, beginning at the edit from where it is.
    #[schemars(extend("x-default" = "it stops"))]
    pub motion: Option<MotionTable>,
}

/// A change of a character.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CharacterEditTable {
    /// The character.
    pub name: String,
    /// How bones and flesh drive each other, in place of `mode` and of the cues up to then.
    #[schemars(extend("x-default" = "as before"))]
    pub mode: Option<DriveMode>,
    /// Goals that begin, or replace those of their name, one `[[edit.character.goal]]` each, with the keys of `[[character.goal]]`; times are those of the take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goal: Vec<GoalTable>,
    /// Goals that end, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_goal: Vec<String>,
}

/// A change of an obstacle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [{ "not": { "required": ["motion", "still"] } }]))]
pub struct ObstacleEditTable {
    /// The obstacle.
    pub name: String,
    /// Its motion, beginning at the edit from where it is.
    #[schemars(extend("x-default" = "as before"))]
    pub motion: Option<MotionTable>,
    /// `true` to stop it where it is.
    #[schemars(extend("default" = false))]
    pub still: Option<bool>,
    /// Coulomb's coefficient of friction against it.
    #[schemars(extend("x-default" = "as before", "minimum" = 0))]
    pub friction: Option<f64>,
    /// What friction against it is multiplied by, from 0 to 1000; where the other side of a contact has a factor too, both count.
    #[schemars(extend("x-default" = "as before"))]
    pub friction_factor: Option<KeyedNumber>,
}
