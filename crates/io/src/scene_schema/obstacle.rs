//! `[[obstacle]]`: a rigid body that flesh collides with.

use super::{KeyedNumber, MotionTable, Quaternion, Vector, whole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rigid body that flesh collides with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "oneOf" = [
        { "required": ["plane"] }, { "required": ["sphere"] }, { "required": ["box"] }, { "required": ["capsule"] },
        { "required": ["cylinder"] }, { "required": ["hull"] }, { "required": ["mesh"] }, { "required": ["grid"] },
        { "required": ["heights"] }
    ],
    "allOf" = [{ "not": { "required": ["turn", "rotation"] } }, { "not": { "required": ["density", "motion"] } }]
))]
pub struct ObstacleTable {
    /// Its name in reports and pictures.
    #[schemars(extend("x-default" = "obstacle-1, …"))]
    pub name: Option<String>,
    /// The half-space behind a plane with this normal.
    pub plane: Option<Vector>,
    /// A ball of this radius (m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub sphere: Option<f64>,
    /// A box with these side lengths (m).
    #[serde(rename = "box")]
    pub cuboid: Option<Vector>,
    /// A capsule along y; the length is without its round ends (m).
    #[schemars(title = "[length, radius]")]
    pub capsule: Option<[f64; 2]>,
    /// A cylinder along y (m).
    #[schemars(title = "[length, radius]")]
    pub cylinder: Option<[f64; 2]>,
    /// The convex hull of a surface (.obj, .ply, .stl).
    #[schemars(extend("format" = "path"))]
    pub hull: Option<String>,
    /// A surface (.obj, .ply, .stl); a closed one is solid, an open one collides on its front.
    #[schemars(extend("format" = "path"))]
    pub mesh: Option<String>,
    /// A closed surface as a grid of signed distances, coarser and faster than `mesh`.
    #[schemars(extend("format" = "path"))]
    pub grid: Option<String>,
    /// A height field along y, row by row in x (m).
    pub heights: Option<Vec<f64>>,
    /// Heights per row.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("x-default" = "needed by `heights`", "minimum" = 2))]
    pub columns: Option<usize>,
    /// Distance between neighbouring heights (m).
    #[schemars(extend("x-default" = "needed by `heights`", "exclusiveMinimum" = 0))]
    pub spacing: Option<f64>,
    /// Cells of a grid along its longest side.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 48, "minimum" = 4, "maximum" = 500))]
    pub cells: Option<usize>,
    /// Metres per unit of the file.
    #[schemars(extend("default" = 1, "exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub scale: Option<f64>,
    /// Position of its origin (m).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub position: Option<Vector>,
    /// Its rotation as a rotation vector: axis times angle (degrees).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub turn: Option<Vector>,
    /// Instead of `turn`, its rotation as a unit quaternion.
    #[schemars(title = "[x, y, z, w]", extend("x-default" = "by `turn`"))]
    pub rotation: Option<Quaternion>,
    /// What moves it: nothing (`fixed`), its `motion` (`kinematic`), or gravity and contact (`dynamic`).
    #[schemars(extend("x-default" = "dynamic with `density`, kinematic with `motion`, else fixed"))]
    pub mobility: Option<ObstacleMobility>,
    /// The motion of a kinematic obstacle.
    #[schemars(extend("x-default" = "it stays"))]
    pub motion: Option<MotionTable>,
    /// Density of a dynamic obstacle (kg/m³).
    #[schemars(extend("x-default" = "it is not dynamic", "exclusiveMinimum" = 0, "exclusiveMaximum" = 1e9))]
    pub density: Option<f64>,
    /// Velocity of a dynamic obstacle at the start (m/s).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub velocity: Option<Vector>,
    /// Angular velocity of a dynamic obstacle at the start (degrees per second).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub spin: Option<Vector>,
    /// Coulomb's coefficient of friction against it. Where the other side of a contact has one too, the geometric mean counts.
    #[schemars(extend("x-default" = "of what touches it, or of `[contact]`", "minimum" = 0))]
    pub friction: Option<f64>,
    /// What friction against it is multiplied by, from 0 to 1000; where the other side of a contact has a factor too, both count.
    #[schemars(extend("default" = 1))]
    pub friction_factor: Option<KeyedNumber>,
    /// A factor on the stiffness of contact with it, times that of the other side; above 1, time steps are shorter.
    #[schemars(extend("default" = 1, "exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub stiffness: Option<f64>,
    /// The obstacle above that it is a part of and moves with; the density of a dynamic obstacle applies to its parts too.
    #[schemars(extend("x-default" = "it is a whole"))]
    pub part_of: Option<String>,
    /// Whether it is transparent in pictures.
    #[schemars(extend("default" = false))]
    pub glass: Option<bool>,
}

/// What moves an obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObstacleMobility {
    /// Nothing: it stays.
    Fixed,
    /// Its `motion`, or a program.
    Kinematic,
    /// Gravity and contact.
    Dynamic,
}
