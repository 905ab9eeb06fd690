//! What a user asks for, before it is checked: bones, what joins them, and what they weigh.

use crate::mass::{MassDesc, MassProperties};
use sinew_math::{Isometry, Mat3, Vec3};

/// All that a `Skeleton` is built from.
#[derive(Clone, Debug, Default)]
pub struct SkeletonDesc {
    /// The bones, in any order. Several may hang from the world.
    pub bones: Vec<BoneDesc>,
}

/// One bone and the joint that holds it to its parent.
#[derive(Clone, Debug)]
pub struct BoneDesc {
    /// Its name; no other bone has it.
    pub name: String,
    /// What it hangs from.
    pub parent: Parent,
    /// Where the bone's frame stands in its parent's at zero coordinates.
    pub parent_from_joint: Isometry,
    /// How it may move against its parent.
    pub joint: JointDesc,
    /// What it weighs.
    pub mass: MassDesc,
}

/// What a bone hangs from.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Parent {
    /// The world: the bone is a root.
    #[default]
    World,
    /// The bone of this name.
    Named(String),
    /// The bone at this place of [`SkeletonDesc::bones`].
    Index(usize),
}

/// A joint: how it moves, and what acts in it by itself.
#[derive(Clone, Debug, Default)]
pub struct JointDesc {
    /// How it moves.
    pub kind: JointKind,
    /// Springs, dampers, limits and rotor inertia: one entry for each degree of freedom, one for all of them, or none.
    pub dofs: Vec<DofDesc>,
    /// Who may drive it.
    pub drive: DriveRule,
}

/// How a bone may move against its parent. Axes need not have unit length; they are seen from the joint's frame, which the bone's
/// frame leaves as it moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum JointKind {
    /// Not at all.
    #[default]
    Fixed,
    /// Turns about an axis: one angle (rad).
    Revolute(Vec3),
    /// Slides along an axis: one length (m).
    Prismatic(Vec3),
    /// Turns about an axis and slides along it: an angle (rad) and a length (m).
    Cylindrical(Vec3),
    /// Turns about a first axis, then about a second that the first turn carries along: two angles (rad).
    Universal(Vec3, Vec3),
    /// Turns about a point: a unit quaternion (x, y, z, w), velocity the angular velocity in the bone's frame (rad/s).
    Ball,
    /// Slides in a plane and turns about its normal: two lengths (m) and an angle (rad). The first length is along the x axis
    /// laid into the plane (along y where the normal leans to x), the second along normal × first.
    Planar(Vec3),
    /// Moves freely: a position (m) in the joint's frame and a unit quaternion (x, y, z, w); velocity the rate of the
    /// position (m/s, joint's frame), then the angular velocity in the bone's frame (rad/s).
    Free,
    /// One after the other, each seen from the frame that the ones before it have moved. At most six degrees of freedom.
    Composite(Vec<JointKind>),
}

/// Who may drive a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DriveRule {
    /// A torque or a motion, as each step asks.
    #[default]
    TorqueOrMotion,
    /// A motion only. What hangs on the joint may then be without mass.
    MotionOnly,
}

/// What acts by itself in one degree of freedom. Coordinates are angles (rad) and lengths (m); for a ball they are the three
/// components of its rotation vector (rad).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DofDesc {
    /// Where the spring is at rest (rad or m).
    pub rest: f64,
    /// Spring stiffness (N m/rad or N/m).
    pub stiffness: f64,
    /// Damping (N m s/rad or N s/m).
    pub damping: f64,
    /// Inertia of a rotor geared to this coordinate (kg m² or kg): adds to the diagonal of the mass matrix.
    pub armature: f64,
    /// Smallest coordinate (rad or m).
    pub lower: f64,
    /// Largest coordinate (rad or m).
    pub upper: f64,
    /// Stiffness of the stops beyond the limits (N m/rad or N/m). At 0 only inverse kinematics keeps the limits.
    pub limit_stiffness: f64,
    /// Damping of the stops (N m s/rad or N s/m).
    pub limit_damping: f64,
}

impl Default for DofDesc {
    /// Free of everything.
    fn default() -> DofDesc {
        DofDesc {
            rest: 0.0,
            stiffness: 0.0,
            damping: 0.0,
            armature: 0.0,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            limit_stiffness: 0.0,
            limit_damping: 0.0,
        }
    }
}

impl SkeletonDesc {
    /// The same bones, each with the same plain mass: what flesh will weigh on them is not known yet, and only poses and names are asked for.
    pub fn with_plain_masses(&self) -> SkeletonDesc {
        let plain = MassProperties { mass: 1.0, center: Vec3::zeros(), tensor: Mat3::identity() };
        let mut same = self.clone();
        same.bones.iter_mut().for_each(|bone| bone.mass = MassDesc::Given(plain));
        same
    }
}

impl JointDesc {
    /// A joint of a kind with nothing that acts in it by itself.
    pub fn of(kind: JointKind) -> JointDesc {
        JointDesc { kind, ..JointDesc::default() }
    }

    /// The same with one entry for all degrees of freedom.
    pub fn with(mut self, dof: DofDesc) -> JointDesc {
        self.dofs = vec![dof];
        self
    }
}
