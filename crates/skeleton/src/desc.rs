//! Description of a skeleton: bones, joints and masses, before they are checked.

use crate::mass::{MassDesc, MassProperties};
use sinew_math::{Isometry, Mat3, Vec3};

/// Everything that a `Skeleton` is built from.
#[derive(Clone, Debug, Default)]
pub struct SkeletonDesc {
    /// The bones, in any order. There may be several roots.
    pub bones: Vec<BoneDesc>,
}

/// One bone and the joint to its parent.
#[derive(Clone, Debug)]
pub struct BoneDesc {
    /// Its name, unique in the skeleton.
    pub name: String,
    /// Its parent.
    pub parent: Parent,
    /// The frame of the bone in that of its parent at zero coordinates.
    pub parent_from_joint: Isometry,
    /// The joint to its parent.
    pub joint: JointDesc,
    /// Its mass properties.
    pub mass: MassDesc,
}

/// The parent of a bone.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Parent {
    /// The world: the bone is a root.
    #[default]
    World,
    /// The bone of this name.
    Named(String),
    /// The bone at this index of [`SkeletonDesc::bones`].
    Index(usize),
}

/// A joint: its kinematics and its passive elements.
#[derive(Clone, Debug, Default)]
pub struct JointDesc {
    /// Its kinematics.
    pub kind: JointKind,
    /// Springs, dampers, limits and armature: one entry for each degree of freedom, one for all of them, or none.
    pub dofs: Vec<DofDesc>,
    /// How it may be driven.
    pub drive: DriveRule,
}

/// The kinematics of a joint. Axes need not have unit length; they are given in the joint's frame, which the bone's frame leaves
/// as it moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum JointKind {
    /// No motion.
    #[default]
    Fixed,
    /// Rotation about an axis: one angle (rad).
    Revolute(Vec3),
    /// Translation along an axis: one length (m).
    Prismatic(Vec3),
    /// Rotation about an axis and translation along it: an angle (rad) and a length (m).
    Cylindrical(Vec3),
    /// Rotation about a first axis, then about a second that rotates with the first: two angles (rad).
    Universal(Vec3, Vec3),
    /// Rotation about a point: a unit quaternion (x, y, z, w), velocity the angular velocity in the bone's frame (rad/s).
    Ball,
    /// Translation in a plane and rotation about its normal: two lengths (m) and an angle (rad). The first length is along the
    /// projection of the x axis onto the plane (of y where the normal is close to x), the second along normal × first.
    Planar(Vec3),
    /// Free motion: a position (m) in the joint's frame and a unit quaternion (x, y, z, w); velocity the rate of the position
    /// (m/s, joint's frame), then the angular velocity in the bone's frame (rad/s).
    Free,
    /// A sequence of joints, each in the frame after the ones before it. At most six degrees of freedom.
    Composite(Vec<JointKind>),
}

/// How a joint may be driven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DriveRule {
    /// By a torque or a motion, chosen at each step.
    #[default]
    TorqueOrMotion,
    /// By a motion only. Its subtree may then be massless.
    MotionOnly,
}

/// Passive elements of one degree of freedom. Coordinates are angles (rad) and lengths (m); for a ball joint they are the three
/// components of its rotation vector (rad).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DofDesc {
    /// Rest coordinate of the spring (rad or m).
    pub rest: f64,
    /// Spring stiffness (N m/rad or N/m).
    pub stiffness: f64,
    /// Damping (N m s/rad or N s/m).
    pub damping: f64,
    /// Armature: inertia of a rotor geared to this coordinate (kg m² or kg), added to the diagonal of the mass matrix.
    pub armature: f64,
    /// Lower limit (rad or m).
    pub lower: f64,
    /// Upper limit (rad or m).
    pub upper: f64,
    /// Stiffness of the stops beyond the limits (N m/rad or N/m). At 0 only inverse kinematics respects the limits.
    pub limit_stiffness: f64,
    /// Damping of the stops (N m s/rad or N s/m).
    pub limit_damping: f64,
}

impl Default for DofDesc {
    /// No passive elements.
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
    /// The same bones with unit masses, for uses that need only poses and names before the mass of the flesh is known.
    pub fn with_plain_masses(&self) -> SkeletonDesc {
        let plain = MassProperties { mass: 1.0, center: Vec3::zeros(), tensor: Mat3::identity() };
        let mut same = self.clone();
        same.bones.iter_mut().for_each(|bone| bone.mass = MassDesc::Given(plain));
        same
    }
}

impl JointDesc {
    /// A joint without passive elements.
    pub fn of(kind: JointKind) -> JointDesc {
        JointDesc { kind, ..JointDesc::default() }
    }

    /// The same joint with one entry for all degrees of freedom.
    pub fn with(mut self, dof: DofDesc) -> JointDesc {
        self.dofs = vec![dof];
        self
    }
}
