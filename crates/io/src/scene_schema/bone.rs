//! `[[character.bone]]` and `[[character.tie]]`: bones, their joints, and which flesh is fixed to them.

use super::{Quaternion, RegionTable, Vector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A bone and the joint that holds it to its parent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "oneOf" = [{ "required": ["from"] }, { "required": ["offset"] }],
    "allOf" = [{ "not": { "required": ["to", "tip"] } }, { "not": { "required": ["radius", "mass"] } }],
    "dependencies" = { "center": ["mass"], "inertia": ["mass"] }
))]
pub struct BoneTable {
    /// Its name.
    pub name: String,
    /// Its parent bone.
    #[schemars(extend("x-default" = "the world"))]
    pub parent: Option<String>,
    /// Where it begins at rest, which is where its joint is (m).
    pub from: Option<Vector>,
    /// Where it ends at rest (m).
    #[schemars(extend("x-default" = "where it begins"))]
    pub to: Option<Vector>,
    /// Instead of `from`, where it begins in its parent's frame (m).
    pub offset: Option<Vector>,
    /// Instead of `to`, where it ends in its own frame (m).
    #[schemars(extend("x-default" = "by `to`"))]
    pub tip: Option<Vector>,
    /// Rotation of its frame relative to its parent's at rest, as a unit quaternion.
    #[schemars(title = "[x, y, z, w]", extend("default" = [0, 0, 0, 1]))]
    pub rotation: Option<Quaternion>,
    /// Its radius (m).
    #[schemars(extend("x-default" = "no shape, no mass", "exclusiveMinimum" = 0))]
    pub radius: Option<f64>,
    /// Its density (kg/m³).
    #[schemars(extend("default" = 1200, "minimum" = 0, "maximum" = 1e6))]
    pub density: Option<f64>,
    /// Instead of `radius` and `density`, its mass (kg).
    #[schemars(extend("x-default" = "by `radius`", "minimum" = 0))]
    pub mass: Option<f64>,
    /// Its centre of mass in its own frame (m).
    #[schemars(extend("default" = [0, 0, 0]))]
    pub center: Option<Vector>,
    /// Its inertia tensor about that centre, along the axes of its frame (kg m²).
    #[schemars(title = "[xx, yy, zz, xy, xz, yz]", extend("default" = [0, 0, 0, 0, 0, 0]))]
    pub inertia: Option<[f64; 6]>,
    /// Radius of the flesh that is made around it when there is no surface (m).
    pub flesh: Option<FleshRadius>,
    /// Its joint: how it moves relative to its parent.
    #[schemars(extend("x-default" = "\"ball\"; \"free\" for a root"))]
    pub joint: Option<JointType>,
    /// The axis of the joint at rest, or the normal of a planar joint.
    #[schemars(extend("x-default" = "needed by some joints"))]
    pub axis: Option<Vector>,
    /// The second axis of the joint.
    #[schemars(extend("x-default" = "needed by universal"))]
    pub second_axis: Option<Vector>,
    /// Limits of every coordinate of the joint (degrees, or m).
    #[schemars(title = "[lower, upper]")]
    pub limits: Option<[f64; 2]>,
    /// Stiffness of the stops at the limits (N m/rad or N/m).
    #[schemars(extend("default" = 0, "minimum" = 0))]
    pub stop_stiffness: Option<f64>,
    /// Damping of the stops (N m s/rad or N s/m).
    #[schemars(extend("default" = 0, "minimum" = 0))]
    pub stop_damping: Option<f64>,
    /// Stiffness of the joint's spring (N m/rad or N/m).
    #[schemars(extend("default" = 0, "minimum" = 0))]
    pub stiffness: Option<f64>,
    /// Rest position of the joint's spring (degrees, or m).
    #[schemars(extend("default" = 0))]
    pub spring_rest: Option<f64>,
    /// Damping of the joint (N m s/rad or N s/m).
    #[schemars(extend("default" = 0, "minimum" = 0))]
    pub damping: Option<f64>,
    /// Inertia of a rotor in the joint (kg m² or kg).
    #[schemars(extend("default" = 0, "minimum" = 0))]
    pub armature: Option<f64>,
    /// Whether only a motion may drive the joint, in which case its bones may be massless.
    #[schemars(extend("default" = false))]
    pub motion_only: Option<bool>,
}

/// The radius of flesh: the same along a bone, or at its two ends (m).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FleshRadius {
    /// The same all along.
    Even(#[schemars(extend("exclusiveMinimum" = 0))] f64),
    /// Where the bone begins, and where it ends.
    Ends(
        #[schemars(title = "[from, to]", extend("items" = { "type": "number", "exclusiveMinimum": 0 }))]
        [f64; 2],
    ),
}

/// How a bone moves relative to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JointType {
    /// Not at all.
    Fixed,
    /// Turns about an axis.
    Revolute,
    /// Slides along an axis.
    Prismatic,
    /// Turns about an axis and slides along it.
    Cylindrical,
    /// Turns about an axis, then about a second.
    Universal,
    /// Turns about a point.
    Ball,
    /// Slides in a plane and turns about its normal.
    Planar,
    /// Moves freely.
    Free,
}

/// Which nodes of the cage are fixed to a bone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "oneOf" = [{ "required": ["inside"] }, { "required": ["near"] }, { "required": ["region"] }, { "required": ["nodes"] }]
))]
pub struct TieTable {
    /// The bone.
    #[schemars(extend("x-default" = "every bone"))]
    pub bone: Option<String>,
    /// Nodes inside the bone's shape, enlarged by this distance (m).
    #[schemars(extend("minimum" = -1000, "maximum" = 1000))]
    pub inside: Option<f64>,
    /// Nodes within this distance of the bone's axis (m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub near: Option<f64>,
    /// Nodes in a region.
    pub region: Option<RegionTable>,
    /// Nodes of the cage by index.
    pub nodes: Option<Vec<u32>>,
}
