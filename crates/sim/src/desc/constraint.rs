//! What a user asks of constraints, before it is checked.

use super::Region;
use sinew_math::Vec3;

/// A point that is held, points that are joined, or a belt.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintDesc {
    /// Its name in reports; no other constraint has it.
    pub name: String,
    /// What it does.
    pub kind: ConstraintKind,
    /// Stiffness k (N/m). Without it a drag moves its body some three times a second, and all others are as stiff as the step allows; what is stiffer makes steps
    /// shorter.
    pub stiffness: Option<f64>,
    /// Share of critical damping, of the mass that a drag pulls or that stands behind any other point; as far as the step allows.
    pub damping: Option<f64>,
}

/// What a constraint does.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintKind {
    /// AppliedForces a point to a place that the `Control` of each step gives, softly.
    Drag {
        /// The point.
        point: PointDesc,
        /// Where it is pulled to while nothing else is said (m); where it is at rest if not given.
        place: Option<Vec3>,
    },
    /// Holds a point at a place that the `Control` of each step gives, as stiffly as the step allows.
    Pin {
        /// The point.
        point: PointDesc,
        /// Where it is held while nothing else is said (m); where it is at rest if not given.
        place: Option<Vec3>,
    },
    /// Holds two points at a distance from each other.
    Join {
        /// The points.
        points: [PointDesc; 2],
        /// The distance (m), 0 for one on top of the other; what it is at rest if not given.
        length: Option<f64>,
        /// Whether it pulls but never pushes, as a rope.
        is_unilateral: bool,
    },
    /// A closed belt around a body that pulls where it is longer than its own length.
    Belt(BeltDesc),
}

/// A belt: the line in which a plane cuts the surface of a body at rest. It clings to the flesh where it lies; its tension is the same all the way round.
#[derive(Clone, Debug, PartialEq)]
pub struct BeltDesc {
    /// The body.
    pub body: String,
    /// A point of the plane (m). Where the plane cuts the surface in several lines, the belt is the one whose middle is nearest to it.
    pub center: Vec3,
    /// The normal of the plane; its length does not matter.
    pub axis: Vec3,
    /// How long it is without tension (m); as long as its line at rest if not given.
    pub length: Option<f64>,
}

/// A point that moves with something, chosen by where it is at rest.
#[derive(Clone, Debug, PartialEq)]
pub enum PointDesc {
    /// The point of a body's surface that is nearest to a place (m).
    Surface {
        /// The body's name.
        body: String,
        /// The place (m).
        place: Vec3,
    },
    /// The point of the flesh at a place (m).
    Inside {
        /// The body's name.
        body: String,
        /// The place (m).
        place: Vec3,
    },
    /// The middle of all surface vertices in a region, each pulled alike.
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
        /// Where the point is at rest (m, world); the bone's own origin if not given.
        place: Option<Vec3>,
    },
    /// A point of an obstacle.
    Obstacle {
        /// The obstacle's name.
        obstacle: String,
        /// Where the point is at the start (m, world); the obstacle's own origin if not given.
        place: Option<Vec3>,
    },
}

impl ConstraintDesc {
    /// A constraint with the usual stiffness and damping.
    pub fn new(name: impl Into<String>, kind: ConstraintKind) -> ConstraintDesc {
        ConstraintDesc { name: name.into(), kind, stiffness: None, damping: None }
    }
}

impl PointDesc {
    /// The point of a body's surface that is nearest to a place (m).
    pub fn surface(body: impl Into<String>, place: Vec3) -> PointDesc {
        PointDesc::Surface { body: body.into(), place }
    }
}
