//! Articulated-body algorithm for hybrid dynamics: accelerations of torque-driven joints and torques of motion-driven joints, in
//! time linear in the number of bones.
//!
//! The backward and the last forward recursion of [KimPollard2011, table I], in body frames as in \[Park1995\]:
//!
//! ```text
//! Ĵ = J + Σ Ad*Π Ad,   B = −ad*(V) J V − F_ext + Σ Ad* β          over children
//! driven by motion:  Π = Ĵ,         β = B + Ĵ (η + S q̈)
//! driven by torque:  Π = Ĵ − W Wᵀ,  β = B + Ĵ η + W y,   y = L⁻¹ (τ − Sᵀ(Ĵ η + B))
//! ```
//!
//! and forward with V̇₀ = (0, −g):
//!
//! ```text
//! driven by torque:  q̈ = L⁻ᵀ (y − Wᵀ Ad V̇_λ)
//! V̇ = Ad V̇_λ + S q̈ + η,   F = Ĵ V̇ + B
//! driven by motion:  τ = Sᵀ F
//! ```
//!
//! The printed table has q̇ instead of q̈ in two places: β of a prescribed joint and V̇ of a torque joint. Springs, dampers and
//! stops add to τ, armature to the diagonal of Sᵀ Ĵ S (see `passive` and `joint_factor`).
//!
//! Forces that oppose the acceleration of a bone, such as those of springs and dampers between it and other bodies taken at the end of
//! a step, F_ext − J⁺ V̇, add J⁺ to J but nothing to −ad*(V) J V ([`Dynamics::added_inertia`]).

use crate::drive::{DriveKind, Drives};
use crate::joint::{Joint, MAX_DOFS};
use crate::joint_factor::JointFactor;
use crate::passive::{self, Passive};
use crate::{BoneId, Kinematics, Skeleton, SkeletonState};
use sinew_math::Vec3;
use sinew_math::spatial::{ArticulatedInertia, RigidInertia, Twist, Wrench};

/// External loads on the bones.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loads<'a> {
    /// Gravitational acceleration (m/s²).
    pub gravity: Vec3,
    /// F_ext: wrenches on the bones, each in the bone's frame, in the order of [`Skeleton::bones`]. Bones beyond the end have
    /// none.
    pub wrenches: &'a [Wrench],
    /// The step (s) over which springs, dampers and stops of joints act implicitly, at the end of the step, so that stiff ones
    /// are stable; 0 for explicit forces.
    pub passive_step: f64,
}

/// Why the equations of motion have no solution. The state is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DynamicsError {
    /// A joint has no inertia against a torque in this pose.
    #[error(
        "bone '{bone}': its joint has no inertia against some torque in this pose (aligned axes, or no mass off the axis): give it armature, or drive it by motion"
    )]
    Singular {
        /// The bone of the joint.
        bone: String,
    },
    /// An acceleration or a torque is not finite.
    #[error(
        "bone '{bone}': the {what} of its joint is not finite: check for excessive forces, velocities or torques near it"
    )]
    NotFinite {
        /// The bone of the joint.
        bone: String,
        /// Acceleration or torque.
        what: &'static str,
    },
}

/// Results and work arrays of hybrid dynamics. Dropping it costs time, never a different result.
#[derive(Clone, Debug, Default)]
pub struct Dynamics {
    /// q̈: accelerations of all degrees of freedom (rad/s² or m/s²), computed or prescribed.
    pub acceleration: Vec<f64>,
    /// τ: torques of all drives (N m or N), computed or prescribed; without springs, dampers and stops.
    pub torque: Vec<f64>,
    /// J⁺: force per acceleration of each bone relative to free fall, in the bone's frame, in the order of [`Skeleton::bones`]. Bones
    /// beyond the end have none.
    pub added_inertia: Vec<RigidInertia>,
    /// Torque against the acceleration of each degree of freedom (N m s² or N s²), of what is stiff between bones of this skeleton and taken at the end of the step. Those beyond the end have none.
    pub added_drag: Vec<f64>,
    inertia: Vec<ArticulatedInertia>,
    bias: Vec<Wrench>,
    bone_acceleration: Vec<Twist>,
    factor: Vec<JointFactor>,
    passive: Vec<Passive>,
    midpoint: Midpoint,
}

/// The midpoint state of [`Dynamics::solve_centered`].
#[derive(Clone, Debug, Default)]
struct Midpoint {
    kinematics: Kinematics,
    state: SkeletonState,
}

impl Dynamics {
    /// Solves the equations of motion of a state whose kinematics are up to date.
    ///
    /// # Panics
    /// If the state or the drives belong to another skeleton.
    pub fn solve(
        &mut self,
        skeleton: &Skeleton,
        kinematics: &Kinematics,
        state: &SkeletonState,
        drives: &Drives,
        loads: &Loads,
    ) -> Result<(), DynamicsError> {
        self.find_passive(skeleton, state, loads.passive_step);
        self.recur(skeleton, kinematics, drives, loads)
    }

    /// The same with velocities at the midpoint of a step of length h (s), predicted by a first solve: twice the work. With
    /// velocity-dependent terms at the start of each step a bone that spins at w gains energy at the rate w² h/2; at the
    /// midpoint, at (w h)² of that.
    ///
    /// # Panics
    /// If the state or the drives belong to another skeleton.
    pub fn solve_centered(
        &mut self,
        skeleton: &Skeleton,
        kinematics: &Kinematics,
        state: &SkeletonState,
        drives: &Drives,
        loads: &Loads,
        h: f64,
    ) -> Result<(), DynamicsError> {
        self.solve(skeleton, kinematics, state, drives, loads)?;
        self.recur_at_midpoint(skeleton, state, drives, loads, h)
    }

    /// The same for the step after one that was solved: the accelerations of that step predict the midpoint velocities, with an
    /// error of order h², so there is no first solve.
    ///
    /// # Panics
    /// If the state or the drives belong to another skeleton, or nothing was solved before.
    pub fn solve_next_centered(
        &mut self,
        skeleton: &Skeleton,
        state: &SkeletonState,
        drives: &Drives,
        loads: &Loads,
        h: f64,
    ) -> Result<(), DynamicsError> {
        assert_eq!(self.acceleration.len(), skeleton.v_count(), "nothing was solved before");
        self.find_passive(skeleton, state, loads.passive_step);
        self.recur_at_midpoint(skeleton, state, drives, loads, h)
    }

    fn recur_at_midpoint(
        &mut self,
        skeleton: &Skeleton,
        state: &SkeletonState,
        drives: &Drives,
        loads: &Loads,
        h: f64,
    ) -> Result<(), DynamicsError> {
        let mut midpoint = core::mem::take(&mut self.midpoint);
        midpoint.state.q.clone_from(&state.q);
        midpoint.state.v.clear();
        midpoint.state.v.extend(state.v.iter().zip(&self.acceleration).map(|(v, a)| v + 0.5 * h * a));
        midpoint.kinematics.update(skeleton, &midpoint.state);
        let result = self.recur(skeleton, &midpoint.kinematics, drives, loads);
        self.midpoint = midpoint;
        result
    }

    /// Backward and forward recursion.
    fn recur(
        &mut self,
        skeleton: &Skeleton,
        kinematics: &Kinematics,
        drives: &Drives,
        loads: &Loads,
    ) -> Result<(), DynamicsError> {
        self.begin(skeleton, kinematics, drives, loads);
        for i in (0..skeleton.bones().len()).rev() {
            self.backward(skeleton, kinematics, drives, i)?;
        }
        let ground = Twist::new(Vec3::zeros(), -loads.gravity);
        for i in 0..skeleton.bones().len() {
            self.forward(skeleton, kinematics, drives, &ground, i);
        }
        self.check(skeleton)
    }

    /// F: the wrench that the joint of a bone transmits to it from its parent (N m, N), in the bone's frame.
    pub fn joint_wrench(&self, bone: BoneId) -> Wrench {
        let i = bone.index();
        self.inertia[i].times(&self.bone_acceleration[i]) + self.bias[i]
    }

    /// V̇ of a bone relative to free fall (rad/s², m/s²), in the bone's frame: the derivative of the components of its twist there, less gravity.
    pub fn bone_acceleration(&self, bone: BoneId) -> &Twist {
        &self.bone_acceleration[bone.index()]
    }

    /// The acceleration of a point of a bone, in the world (m/s²).
    pub fn point_acceleration(
        &self,
        kinematics: &Kinematics,
        loads: &Loads,
        bone: BoneId,
        point_in_bone: &Vec3,
    ) -> Vec3 {
        let (a, v) = (&self.bone_acceleration[bone.index()], &kinematics.velocities()[bone.index()]);
        let in_bone = a.at(point_in_bone) + v.angular.cross(&v.at(point_in_bone));
        kinematics.world_frames()[bone.index()].rotation * in_bone + loads.gravity
    }

    /// Forces of springs, dampers and stops.
    fn find_passive(&mut self, skeleton: &Skeleton, state: &SkeletonState, h: f64) {
        self.passive.clear();
        self.passive.resize(skeleton.v_count(), Passive::default());
        for bone in skeleton.bones().iter().filter(|bone| bone.joint.has_passive) {
            passive::joint_forces(skeleton, &bone.joint, state, h, &mut self.passive[bone.joint.v()]);
        }
    }

    /// Initialises the recursions: J, and B without children.
    fn begin(&mut self, skeleton: &Skeleton, kinematics: &Kinematics, drives: &Drives, loads: &Loads) {
        let bones = skeleton.bones().len();
        self.inertia.resize(bones, ArticulatedInertia::default());
        self.bias.resize(bones, Wrench::default());
        self.bone_acceleration.resize(bones, Twist::default());
        self.factor.resize(bones, JointFactor::default());
        self.acceleration.clear();
        self.acceleration.extend_from_slice(&drives.value);
        self.torque.clear();
        self.torque.extend_from_slice(&drives.value);

        for (i, bone) in skeleton.bones().iter().enumerate() {
            let v = &kinematics.velocities()[i];
            self.inertia[i] =
                (&self.added_inertia.get(i).map_or(bone.inertia, |added| bone.inertia + *added)).into();
            self.bias[i] = v.minus_ad_transposed(&bone.inertia.times(v));
            if let Some(wrench) = loads.wrenches.get(i) {
                self.bias[i] = self.bias[i] - *wrench;
            }
        }
    }

    /// Backward recursion: adds bone i and its joint to its parent.
    #[inline]
    fn backward(
        &mut self,
        skeleton: &Skeleton,
        kinematics: &Kinematics,
        drives: &Drives,
        i: usize,
    ) -> Result<(), DynamicsError> {
        // the bone with its subtree
        let bone = &skeleton.bones()[i];
        let (joint, columns) = (&bone.joint, &kinematics.columns()[bone.joint.v()]);
        let eta = &kinematics.biases()[i];
        let (inertia, bias) = (self.inertia[i], self.bias[i]);

        // what its joint transmits
        let mut transmitted = inertia;
        let mut beta = inertia.times(eta) + bias;
        match drives.kind[i] {
            DriveKind::Motion => {
                beta += inertia.times(&combine(columns, &self.acceleration[joint.v()]));
            }
            DriveKind::Torque => {
                let (dofs, passive) = (&skeleton.dofs()[joint.v()], &self.passive[joint.v()]);
                let added = |k: usize| self.added_drag.get(joint.v_offset + k).copied().unwrap_or(0.0);
                let diagonal = |k: usize| dofs[k].armature + passive[k].drag + added(k);
                let factor = &mut self.factor[i];
                if factor.find(&inertia, columns, diagonal).is_err() {
                    return Err(DynamicsError::Singular { bone: bone.name.clone() });
                }
                // y, stored in the place of the acceleration
                let y = &mut self.acceleration[joint.v()];
                for (k, column) in columns.iter().enumerate() {
                    y[k] = self.torque[joint.v_offset + k] + passive[k].force - column.dot(&beta);
                }
                factor.solve_lower(y);
                if bone.parent.is_some() {
                    beta += factor.w_times(y);
                    factor.apply(&mut transmitted);
                }
            }
        }

        // added to the parent
        if let Some(parent) = bone.parent {
            let parent_from_bone = &kinematics.parent_from_bone()[i];
            self.inertia[parent.index()].add_from(parent_from_bone, &transmitted);
            self.bias[parent.index()] += parent_from_bone.wrench(&beta);
        }
        Ok(())
    }

    /// Forward recursion: the unknown of joint i from the acceleration of its parent.
    #[inline]
    fn forward(
        &mut self,
        skeleton: &Skeleton,
        kinematics: &Kinematics,
        drives: &Drives,
        ground: &Twist,
        i: usize,
    ) {
        let bone = &skeleton.bones()[i];
        let (joint, columns) = (&bone.joint, &kinematics.columns()[bone.joint.v()]);
        let parent_acceleration =
            bone.parent.map_or(ground, |parent| &self.bone_acceleration[parent.index()]);
        let transformed = kinematics.parent_from_bone()[i].twist_back(parent_acceleration);
        let q_acc = &mut self.acceleration[joint.v()];
        if drives.kind[i] == DriveKind::Torque {
            self.factor[i].subtract_w_transposed(&transformed, q_acc);
            self.factor[i].solve_upper(q_acc);
        }
        self.bone_acceleration[i] = transformed + combine(columns, q_acc) + kinematics.biases()[i];
        if drives.kind[i] == DriveKind::Motion {
            self.find_torques(skeleton, joint, columns, i);
        }
    }

    /// τ = Sᵀ F, less the passive forces, plus the inertia of rotors.
    fn find_torques(&mut self, skeleton: &Skeleton, joint: &Joint, columns: &[Twist], i: usize) {
        let wrench = self.joint_wrench(BoneId(i as u32));
        for (dof, column) in joint.v().zip(columns) {
            let Passive { force, drag } = self.passive[dof];
            let inertial = (skeleton.dofs()[dof].armature + drag) * self.acceleration[dof];
            self.torque[dof] = column.dot(&wrench) + inertial - force;
        }
    }

    fn check(&self, skeleton: &Skeleton) -> Result<(), DynamicsError> {
        for (what, values) in [("acceleration", &self.acceleration), ("torque", &self.torque)] {
            if let Some(dof) = values.iter().position(|x| !x.is_finite()) {
                let bone_of_dof = skeleton.bones().iter().find(|bone| bone.joint.v().contains(&dof));
                let bone = bone_of_dof.map(|bone| bone.name.clone()).unwrap_or_default();
                return Err(DynamicsError::NotFinite { bone, what });
            }
        }
        Ok(())
    }
}

/// S q̈
#[inline]
fn combine(columns: &[Twist], rates: &[f64]) -> Twist {
    debug_assert!(columns.len() <= MAX_DOFS);
    let mut sum = Twist::default();
    for (column, rate) in columns.iter().zip(rates) {
        sum += *column * *rate;
    }
    sum
}
