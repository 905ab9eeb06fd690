//! `[[constraint]]`: points that are dragged, pinned or joined, and belts.

use super::{Curve, KeyRows, MotionTable, RegionTable, Vector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point that is dragged or pinned, points that are joined, or a belt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "oneOf" = [{ "required": ["drag"] }, { "required": ["pin"] }, { "required": ["join"] }, { "required": ["belt"] }],
    "allOf" = [{ "not": { "required": ["path", "motion"] } }],
    "dependencies" = { "rope": ["join"] }
))]
pub struct ConstraintTable {
    /// Its name in reports.
    #[schemars(extend("x-default" = "constraint-1, …"))]
    pub name: Option<String>,
    /// A point that is pulled softly.
    pub drag: Option<PointTable>,
    /// A point that is held as stiffly as the time step allows.
    pub pin: Option<PointTable>,
    /// Two points that are held at a distance from each other.
    #[schemars(extend("minItems" = 2, "maxItems" = 2))]
    pub join: Option<Vec<PointTable>>,
    /// A belt around a body.
    pub belt: Option<BeltTable>,
    /// The target of a dragged or pinned point (m).
    #[schemars(extend("x-default" = "the start of `path`, or where the point is at rest"))]
    pub place: Option<Vector>,
    /// The target at given times (s, m).
    #[schemars(title = "list of [seconds, x, y, z]", extend("x-default" = "it stays"))]
    pub path: Option<Vec<[f64; 4]>>,
    /// Instead of `path`, how the target moves.
    #[schemars(extend("x-default" = "it stays"))]
    pub motion: Option<MotionTable>,
    /// Distance of joined points, or length of a slack belt (m).
    #[schemars(extend("x-default" = "as at rest", "minimum" = 0))]
    pub length: Option<f64>,
    /// That length at given times, as a fraction: below 1 a belt is tightened.
    #[schemars(title = "list of [seconds, fraction] or curve", extend("x-default" = "1"))]
    pub lengths: Option<KeyRows>,
    /// Whether a join only pulls, as a rope does.
    #[schemars(extend("default" = false))]
    pub rope: Option<bool>,
    /// Its strength at given times, from 0 (released) to 1.
    #[schemars(title = "list of [seconds, fraction] or curve", extend("x-default" = "1"))]
    pub strengths: Option<KeyRows>,
    /// The interpolation between times, where they are no curves.
    #[schemars(extend("default" = "kochanek-bartels"))]
    pub interpolation: Option<Curve>,
    /// Whether it repeats after the last time.
    #[serde(rename = "loop")]
    #[schemars(extend("default" = false))]
    pub is_loop: Option<bool>,
    /// Its stiffness (N/m); if the time step does not allow it, steps are shortened.
    #[schemars(extend("x-default" = "by mass and step", "exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub stiffness: Option<f64>,
    /// Fraction of critical damping.
    #[schemars(extend("x-default" = "0.5 of drags, 0.127", "minimum" = 0, "maximum" = 1000))]
    pub damping: Option<f64>,
}

/// A point of a body, a bone or an obstacle, given by its position at rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "oneOf" = [{ "required": ["body"] }, { "required": ["character"] }, { "required": ["obstacle"] }]
))]
pub struct PointTable {
    /// The body that the point belongs to.
    pub body: Option<String>,
    /// The point of its surface nearest to this position at rest (m).
    #[schemars(extend("x-default" = "one of three with `body`"))]
    pub surface: Option<Vector>,
    /// The point of its flesh at this position at rest (m).
    #[schemars(extend("x-default" = "one of three with `body`"))]
    pub inside: Option<Vector>,
    /// The mean of all points of its surface in a region; the force is spread evenly over them.
    #[schemars(extend("x-default" = "one of three with `body`"))]
    pub region: Option<RegionTable>,
    /// The character whose bone the point belongs to.
    pub character: Option<String>,
    /// The bone.
    #[schemars(extend("x-default" = "needed with `character`"))]
    pub bone: Option<String>,
    /// The obstacle that the point belongs to.
    pub obstacle: Option<String>,
    /// The position of a point of a bone or an obstacle at rest (m).
    #[schemars(extend("x-default" = "its own origin"))]
    pub place: Option<Vector>,
}

/// The line in which a plane cuts the surface of a body at rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeltTable {
    /// The body.
    pub body: String,
    /// A point of the plane of the belt at rest (m).
    pub center: Vector,
    /// The normal of that plane.
    pub axis: Vector,
}
