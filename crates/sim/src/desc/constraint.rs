//! Descriptions of constraints, before validation.

use super::Region;
use sinew_math::Vec3;

/// A dragged or pinned point, a joint between two points, or a belt.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintDesc {
    /// Its name in reports, unique among constraints.
    pub name: String,
    /// Its kind.
    pub kind: ConstraintKind,
    /// Stiffness k (N/m). By default a drag oscillates its body about three times a second, and all others are as stiff as the step allows; a larger stiffness makes the step
    /// shorter.
    pub stiffness: Option<f64>,
    /// Damping ratio, relative to the mass that a drag moves or the effective mass of any other point; limited by stability.
    pub damping: Option<f64>,
    /// Whether a drag or pin holds its point exactly at the target, without a spring. Points of flesh only.
    pub is_exact: bool,
}

/// Kinds of constraints.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintKind {
    /// Pulls a point softly towards a target, which the `Control` of each step may move.
    Drag {
        /// The point.
        point: PointDesc,
        /// The default target (m); the rest position of the point if not given.
        place: Option<Vec3>,
    },
    /// Pins a point to a target, which the `Control` of each step may move, as stiffly as the step allows.
    Pin {
        /// The point.
        point: PointDesc,
        /// The default target (m); the rest position of the point if not given.
        place: Option<Vec3>,
    },
    /// Keeps two points at a distance.
    Join {
        /// The points.
        points: [PointDesc; 2],
        /// The distance (m), 0 for coincident points; the distance at rest if not given.
        length: Option<f64>,
        /// Whether it resists extension only, like a rope.
        is_unilateral: bool,
    },
    /// A closed belt around a body that is in tension when longer than its natural length.
    Belt(BeltDesc),
}

/// A belt along the section of a plane with the surface of a body at rest. It does not slide on the surface; its tension is uniform.
#[derive(Clone, Debug, PartialEq)]
pub struct BeltDesc {
    /// The body.
    pub body: String,
    /// A point of the plane (m). If the section has several closed curves, the belt follows the one whose centroid is nearest to it.
    pub center: Vec3,
    /// The normal of the plane, of any length.
    pub axis: Vec3,
    /// Its natural length (m); the length of the section at rest if not given.
    pub length: Option<f64>,
}

/// A point of a body, bone or obstacle, selected at rest.
#[derive(Clone, Debug, PartialEq)]
pub enum PointDesc {
    /// The point of a body's surface nearest to a position (m).
    Surface {
        /// The body's name.
        body: String,
        /// The position (m).
        place: Vec3,
    },
    /// The point of the flesh at a position (m).
    Inside {
        /// The body's name.
        body: String,
        /// The position (m).
        place: Vec3,
    },
    /// The mean of all surface vertices in a region, with equal weights.
    Region {
        /// The body's name.
        body: String,
        /// The region.
        region: Region,
    },
    /// A point of a bone.
    Bone {
        /// The rig's name.
        rig: String,
        /// The bone's name.
        bone: String,
        /// The rest position of the point (m, world); the bone's origin if not given.
        place: Option<Vec3>,
    },
    /// A point of an obstacle.
    Obstacle {
        /// The obstacle's name.
        obstacle: String,
        /// The initial position of the point (m, world); the obstacle's origin if not given.
        place: Option<Vec3>,
    },
}

impl ConstraintDesc {
    /// A constraint with default stiffness and damping.
    pub fn new(name: impl Into<String>, kind: ConstraintKind) -> ConstraintDesc {
        ConstraintDesc { name: name.into(), kind, stiffness: None, damping: None, is_exact: false }
    }
}

impl ConstraintDesc {
    /// The same, held exactly.
    pub fn exact(self) -> ConstraintDesc {
        ConstraintDesc { is_exact: true, ..self }
    }
}

impl PointDesc {
    /// The point of a body's surface nearest to a position (m).
    pub fn surface(body: impl Into<String>, place: Vec3) -> PointDesc {
        PointDesc::Surface { body: body.into(), place }
    }
}
