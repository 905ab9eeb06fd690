//! The top of a scene file.

use super::{
    BodyTable, CharacterTable, ConstraintTable, ContactTable, EditTable, KeyedVector, MetaphorTable,
    MuscleTable, ObstacleTable, SolverTable,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scene file: bodies, characters, obstacles, constraints and metaphors, and the settings of the take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneFile {
    /// Length of the take (s).
    #[schemars(extend("default" = 5, "exclusiveMinimum" = 0, "maximum" = 36000))]
    pub seconds: Option<f64>,
    /// Frames per second.
    #[schemars(extend("default" = 60, "exclusiveMinimum" = 0, "maximum" = 10000))]
    pub fps: Option<f64>,
    /// The up axis, which gravity and the named ends of bodies follow.
    #[schemars(extend("default" = "y"))]
    pub up: Option<UpAxis>,
    /// Gravitational acceleration (m/s²). If it is keyed, rest shapes are those under gravity at time 0.
    #[schemars(extend("x-default" = "9.81 down"))]
    pub gravity: Option<KeyedVector>,
    /// The unit of all angles in the file: poses, limits, `turn` and `spin`.
    #[schemars(extend("default" = "degrees"))]
    pub angles: Option<AngleUnit>,
    /// Preroll: time simulated before the first frame (s).
    #[schemars(extend("x-default" = "as long as the characters need", "minimum" = 0, "maximum" = 86400))]
    pub preroll: Option<f64>,
    /// The soft bodies, one `[[body]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<BodyTable>,
    /// Bodies with bones, one `[[character]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub character: Vec<CharacterTable>,
    /// Obstacles: rigid bodies to collide with, one `[[obstacle]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacle: Vec<ObstacleTable>,
    /// How contact is resolved: `[contact]`.
    #[schemars(extend("x-default" = "penalty, friction 0.6"))]
    pub contact: Option<ContactTable>,
    /// Points that are dragged, pinned or joined, and belts, one `[[constraint]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraint: Vec<ConstraintTable>,
    /// Control metaphors: forces that stretch, bend, twist or push a body, one `[[metaphor]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metaphor: Vec<MetaphorTable>,
    /// Muscles, one `[[muscle]]` each; those of a character may be `[[character.muscle]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub muscle: Vec<MuscleTable>,
    /// How time steps are taken: `[solver]`.
    #[schemars(extend("x-default" = "explicit"))]
    pub solver: Option<SolverTable>,
    /// Changes of the scene during the take, one `[[edit]]` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edit: Vec<EditTable>,
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
    /// 2π to a full turn: the unit of the simulation, so that nothing is rounded.
    Radians,
}
