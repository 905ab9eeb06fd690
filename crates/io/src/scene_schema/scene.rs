//! The top of a scene file.

use super::{BodyTable, CharacterTable, ConstraintTable, ContactTable, ObstacleTable, SolverTable, Vector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scene file: what there is, what it is made of, where it is held, what pushes on it and what its bones do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneFile {
    /// How long to play (s).
    #[schemars(extend("default" = 5, "exclusiveMinimum" = 0, "maximum" = 36000))]
    pub seconds: Option<f64>,
    /// Frames per second.
    #[schemars(extend("default" = 60, "exclusiveMinimum" = 0, "maximum" = 10000))]
    pub fps: Option<f64>,
    /// The axis that points up: gravity and the named ends follow it.
    #[schemars(extend("default" = "y"))]
    pub up: Option<UpAxis>,
    /// Acceleration of free fall (m/s²).
    #[schemars(extend("x-default" = "9.81 down"))]
    pub gravity: Option<Vector>,
    /// The unit of all angles in the file: poses, limits, `turn` and `spin`.
    #[schemars(extend("default" = "degrees"))]
    pub angles: Option<AngleUnit>,
    /// How long everything runs before the first frame (s).
    #[schemars(extend("x-default" = "as long as the characters need", "minimum" = 0, "maximum" = 86400))]
    pub preroll: Option<f64>,
    /// The soft bodies, one `[[body]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<BodyTable>,
    /// Bodies with bones, one `[[character]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub character: Vec<CharacterTable>,
    /// Rigid things that bodies collide with, one `[[obstacle]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacle: Vec<ObstacleTable>,
    /// How contact is resolved: `[contact]`.
    #[schemars(extend("x-default" = "penalty, friction 0.6"))]
    pub contact: Option<ContactTable>,
    /// Points that are dragged, pinned or joined, and belts, one `[[constraint]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraint: Vec<ConstraintTable>,
    /// How time steps are taken: `[solver]`.
    #[schemars(extend("x-default" = "explicit"))]
    pub solver: Option<SolverTable>,
}

/// The axis that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpAxis {
    /// +y, as in glTF and most meshes.
    Y,
    /// +z, as in Blender and engineering.
    Z,
}

/// The unit of the angles in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AngleUnit {
    /// 360 to a full turn.
    Degrees,
    /// 2π to a full turn: what the simulation computes in, so that nothing is rounded.
    Radians,
}
