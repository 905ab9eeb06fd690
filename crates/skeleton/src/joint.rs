//! A joint of a built skeleton: a row of simple motions, one after the other.
//!
//! ```text
//! T = T₀ T₁(q₁) T₂(q₂) …,   T⁻¹ Ṫ = S q̇                                   [KimPollard2011, table II]
//! ```
//!
//! The one idea: every joint kind is a row of turns, slides, shifts and balls, so that kinematics knows four motions only.

use crate::desc::{DriveRule, JointKind};
use sinew_math::Vec3;

/// The most degrees of freedom of a joint: more than six cannot be told apart by one bone.
pub(crate) const MAX_DOFS: usize = 6;

/// One simple motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointPrimitive {
    /// Turns about a unit axis through the origin: one angle (rad).
    Revolute(Vec3),
    /// Slides along a unit axis: one length (m).
    Prismatic(Vec3),
    /// Shifts anywhere: a position (m).
    Translation,
    /// Turns anyhow: a quaternion (x, y, z, w), velocity in the frame after the turn (rad/s).
    Ball,
}

/// The joint between a bone and its parent: where its numbers stand in the arrays of the skeleton.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint {
    /// Its first part.
    pub(crate) part_offset: usize,
    /// How many parts it has.
    pub(crate) part_count: usize,
    /// Its first coordinate in [`crate::SkeletonState::q`].
    pub q_offset: usize,
    /// How many coordinates it has.
    pub q_count: usize,
    /// Its first degree of freedom in [`crate::SkeletonState::v`].
    pub v_offset: usize,
    /// How many degrees of freedom it has, at most six.
    pub v_count: usize,
    /// Who may drive it.
    pub drive: DriveRule,
    /// Whether a spring, damper or stop acts in it.
    pub(crate) has_passive: bool,
}

impl Joint {
    /// Its coordinates.
    #[inline]
    pub fn q(&self) -> core::ops::Range<usize> {
        self.q_offset..self.q_offset + self.q_count
    }

    /// Its degrees of freedom.
    #[inline]
    pub fn v(&self) -> core::ops::Range<usize> {
        self.v_offset..self.v_offset + self.v_count
    }

    /// Its parts.
    #[inline]
    pub(crate) fn parts(&self) -> core::ops::Range<usize> {
        self.part_offset..self.part_offset + self.part_count
    }
}

impl JointPrimitive {
    /// How many coordinates it has.
    #[inline]
    pub fn q_count(&self) -> usize {
        match self {
            JointPrimitive::Revolute(_) | JointPrimitive::Prismatic(_) => 1,
            JointPrimitive::Translation => 3,
            JointPrimitive::Ball => 4,
        }
    }

    /// How many degrees of freedom it has.
    #[inline]
    pub fn v_count(&self) -> usize {
        match self {
            JointPrimitive::Revolute(_) | JointPrimitive::Prismatic(_) => 1,
            JointPrimitive::Translation | JointPrimitive::Ball => 3,
        }
    }
}

impl JointKind {
    /// How many degrees of freedom a joint of this kind has.
    pub fn v_count(&self) -> usize {
        match self {
            JointKind::Fixed => 0,
            JointKind::Revolute(_) | JointKind::Prismatic(_) => 1,
            JointKind::Cylindrical(_) | JointKind::Universal(..) => 2,
            JointKind::Ball | JointKind::Planar(_) => 3,
            JointKind::Free => 6,
            JointKind::Composite(row) => row.iter().map(JointKind::v_count).sum(),
        }
    }

    /// Adds the parts of this kind to a row. Axes must be checked before.
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
                let leaning = if normal.x.abs() < 0.8 { Vec3::x() } else { Vec3::y() };
                let first = unit(&(leaning - normal * normal.dot(&leaning)));
                let second = normal.cross(&first);
                parts.extend([
                    JointPrimitive::Prismatic(first),
                    JointPrimitive::Prismatic(second),
                    JointPrimitive::Revolute(normal),
                ]);
            }
            JointKind::Free => parts.extend([JointPrimitive::Translation, JointPrimitive::Ball]),
            JointKind::Composite(row) => row.iter().for_each(|kind| kind.lower(parts)),
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
                // under a thousandth of a radian the two turns are one, and the mass matrix is singular
                (sine < 1e-3).then(|| {
                    format!("the axes of the universal joint are {sine:.1e} rad from parallel: turn one, or use a revolute joint")
                })
            }),
            JointKind::Composite(row) => row.iter().find_map(JointKind::axis_fault),
        }
    }
}

/// Scaled first, so that neither huge nor tiny axes overflow.
fn unit(a: &Vec3) -> Vec3 {
    (a / a.amax()).normalize()
}
