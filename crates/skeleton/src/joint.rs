//! Joints of a built skeleton as sequences of joint primitives.
//!
//! ```text
//! T = T₀ T₁(q₁) T₂(q₂) …,   T⁻¹ Ṫ = S q̇                                   [KimPollard2011, table II]
//! ```
//!
//! Every joint kind is a sequence of revolute, prismatic, translational and ball primitives, so that kinematics has only four
//! cases.

use crate::desc::{DriveRule, JointKind};
use sinew_math::Vec3;

/// The maximum number of degrees of freedom of a joint: a rigid body has six.
pub(crate) const MAX_DOFS: usize = 6;

/// One joint primitive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointPrimitive {
    /// Rotation about a unit axis through the origin: one angle (rad).
    Revolute(Vec3),
    /// Translation along a unit axis: one length (m).
    Prismatic(Vec3),
    /// Translation in space: a position (m).
    Translation,
    /// Rotation in space: a unit quaternion (x, y, z, w), velocity in the rotated frame (rad/s).
    Ball,
}

/// The joint between a bone and its parent: its ranges in the arrays of the skeleton.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint {
    /// Its first primitive.
    pub(crate) part_offset: usize,
    /// The number of its primitives.
    pub(crate) part_count: usize,
    /// Its first coordinate in [`crate::SkeletonState::q`].
    pub q_offset: usize,
    /// The number of its coordinates.
    pub q_count: usize,
    /// Its first degree of freedom in [`crate::SkeletonState::v`].
    pub v_offset: usize,
    /// The number of its degrees of freedom, at most six.
    pub v_count: usize,
    /// How it may be driven.
    pub drive: DriveRule,
    /// Whether it has a spring, damper or stop.
    pub(crate) has_passive: bool,
}

impl Joint {
    /// The range of its coordinates.
    #[inline]
    pub fn q(&self) -> core::ops::Range<usize> {
        self.q_offset..self.q_offset + self.q_count
    }

    /// The range of its degrees of freedom.
    #[inline]
    pub fn v(&self) -> core::ops::Range<usize> {
        self.v_offset..self.v_offset + self.v_count
    }

    /// The range of its primitives.
    #[inline]
    pub(crate) fn parts(&self) -> core::ops::Range<usize> {
        self.part_offset..self.part_offset + self.part_count
    }
}

impl JointPrimitive {
    /// The number of its coordinates.
    #[inline]
    pub fn q_count(&self) -> usize {
        match self {
            JointPrimitive::Revolute(_) | JointPrimitive::Prismatic(_) => 1,
            JointPrimitive::Translation => 3,
            JointPrimitive::Ball => 4,
        }
    }

    /// The number of its degrees of freedom.
    #[inline]
    pub fn v_count(&self) -> usize {
        match self {
            JointPrimitive::Revolute(_) | JointPrimitive::Prismatic(_) => 1,
            JointPrimitive::Translation | JointPrimitive::Ball => 3,
        }
    }
}

impl JointKind {
    /// The number of degrees of freedom of a joint of this kind.
    pub fn v_count(&self) -> usize {
        match self {
            JointKind::Fixed => 0,
            JointKind::Revolute(_) | JointKind::Prismatic(_) => 1,
            JointKind::Cylindrical(_) | JointKind::Universal(..) => 2,
            JointKind::Ball | JointKind::Planar(_) => 3,
            JointKind::Free => 6,
            JointKind::Composite(sequence) => sequence.iter().map(JointKind::v_count).sum(),
        }
    }

    /// Appends the primitives of this kind. Axes must have been checked.
    pub(crate) fn lower(&self, parts: &mut Vec<JointPrimitive>) {
        match self {
            JointKind::Fixed => {}
            JointKind::Revolute(a) => parts.push(JointPrimitive::Revolute(unit(a))),
            JointKind::Prismatic(a) => parts.push(JointPrimitive::Prismatic(unit(a))),
            JointKind::Cylindrical(a) => {
                parts.extend([JointPrimitive::Revolute(unit(a)), JointPrimitive::Prismatic(unit(a))])
            }
            JointKind::Universal(a, b) => {
                parts.extend([JointPrimitive::Revolute(unit(a)), JointPrimitive::Revolute(unit(b))])
            }
            JointKind::Ball => parts.push(JointPrimitive::Ball),
            JointKind::Planar(normal) => {
                let normal = unit(normal);
                let reference = if normal.x.abs() < 0.8 { Vec3::x() } else { Vec3::y() };
                let first = unit(&(reference - normal * normal.dot(&reference)));
                let second = normal.cross(&first);
                parts.extend([
                    JointPrimitive::Prismatic(first),
                    JointPrimitive::Prismatic(second),
                    JointPrimitive::Revolute(normal),
                ]);
            }
            JointKind::Free => parts.extend([JointPrimitive::Translation, JointPrimitive::Ball]),
            JointKind::Composite(sequence) => sequence.iter().for_each(|kind| kind.lower(parts)),
        }
    }

    /// What is wrong with the axes, if anything.
    pub(crate) fn axis_fault(&self) -> Option<String> {
        let bad = |a: &Vec3| {
            let size = a.amax();
            (!(size.is_finite() && size > 1e-150)).then(|| {
                format!("joint axis {:?} has no direction: give a finite one that is not zero", a.as_slice())
            })
        };
        match self {
            JointKind::Fixed | JointKind::Ball | JointKind::Free => None,
            JointKind::Revolute(a) | JointKind::Prismatic(a) | JointKind::Cylindrical(a) | JointKind::Planar(a) => {
                bad(a)
            }
            JointKind::Universal(a, b) => bad(a).or_else(|| bad(b)).or_else(|| {
                let sine = unit(a).cross(&unit(b)).norm();
                // below a thousandth of a radian the two rotations coincide, and the mass matrix is singular
                (sine < 1e-3).then(|| {
                    format!("the axes of the universal joint are {sine:.1e} rad from parallel: rotate one of them, or use a revolute joint")
                })
            }),
            JointKind::Composite(sequence) => sequence.iter().find_map(JointKind::axis_fault),
        }
    }
}

/// The unit vector; scaled first, so that neither huge nor tiny axes overflow.
fn unit(a: &Vec3) -> Vec3 {
    (a / a.amax()).normalize()
}
