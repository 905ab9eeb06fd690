//! Momentum correction of free-floating trees.
//!
//! A step solves for accelerations at its start, but the momentum of a tree depends on its pose, so swinging limbs change it a
//! little in every step. For a tree whose root is free and undriven the exact result is known without solving anything, with P, L
//! and c its momentum, its angular momentum about the origin and its centre of mass, and F, T the total external force and
//! torque:
//!
//! ```text
//! P' = P + h F,   L' = L + h T,   c' = c + h P'/m
//! ```
//!
//! After the step the root is translated to match c', and its velocity is changed to match P' and L'. Other joints keep theirs.

use crate::drive::{DriveKind, Drives};
use crate::joint::JointPrimitive;
use crate::{Kinematics, Loads, Skeleton, SkeletonState};
use sinew_math::{Mat3, Vec3};

/// The predicted motion of floating trees after a step, filled by [`MomentumCorrection::predict`].
#[derive(Clone, Debug, Default)]
pub struct MomentumCorrection {
    /// The tree of each bone.
    tree_of_bone: Vec<usize>,
    trees: Vec<Tree>,
}

#[derive(Clone, Copy, Debug)]
struct Tree {
    root: usize,
    is_floating: bool,
    predicted: Motion,
}

/// Mass, centre of mass and momenta of a tree; `angular` is about the origin.
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    mass: f64,
    center: Vec3,
    linear: Vec3,
    angular: Vec3,
}

impl MomentumCorrection {
    /// Predicts the motion of the trees with a free root after a step of `h` (s) from a state whose kinematics are up to date.
    /// `loads` are those of the step.
    pub fn predict(
        &mut self,
        skeleton: &Skeleton,
        kinematics: &Kinematics,
        drives: &Drives,
        loads: &Loads,
        h: f64,
    ) {
        // trees, and which of them float
        self.trees.clear();
        self.tree_of_bone.clear();
        for (i, bone) in skeleton.bones().iter().enumerate() {
            let tree = bone.parent.map_or(self.trees.len(), |parent| self.tree_of_bone[parent.index()]);
            self.tree_of_bone.push(tree);
            if bone.parent.is_none() {
                let free = skeleton.parts(&bone.joint) == [JointPrimitive::Translation, JointPrimitive::Ball]
                    && !bone.joint.has_passive;
                let undriven = drives.kind[i] == DriveKind::Torque
                    && drives.value[bone.joint.v()].iter().all(|torque| *torque == 0.0);
                let has_no_armature = skeleton.dofs()[bone.joint.v()].iter().all(|dof| dof.armature == 0.0);
                let is_floating = free && undriven && has_no_armature;
                self.trees.push(Tree { root: i, is_floating, predicted: Motion::default() });
            }
        }
        if self.trees.iter().all(|tree| !tree.is_floating) {
            return;
        }

        // momenta and impulses of external loads
        for (i, bone) in skeleton.bones().iter().enumerate() {
            let frame = &kinematics.world_frames()[i];
            let tree = &mut self.trees[self.tree_of_bone[i]].predicted;
            let center = frame.point(&bone.mass.center);
            let momentum = frame.wrench(&bone.inertia.times(&kinematics.velocities()[i]));
            tree.mass += bone.mass.mass;
            tree.center += bone.mass.mass * center;
            tree.linear += momentum.force;
            tree.angular += momentum.torque;
            let weight = bone.mass.mass * h * loads.gravity;
            tree.linear += weight;
            tree.angular += center.cross(&weight);
            if let Some(wrench) = loads.wrenches.get(i) {
                let external = frame.wrench(wrench);
                tree.linear += h * external.force;
                tree.angular += h * external.torque;
            }
        }

        // centre of mass after the step
        for tree in &mut self.trees {
            let predicted = &mut tree.predicted;
            predicted.center = (predicted.center + h * predicted.linear) / predicted.mass;
        }
    }

    /// Corrects the roots of a state after the step, whose kinematics are up to date, to the predicted motion. Returns whether
    /// anything changed, so that the kinematics are out of date.
    pub fn correct(&self, skeleton: &Skeleton, kinematics: &Kinematics, state: &mut SkeletonState) -> bool {
        let mut moved = false;
        for (t, tree) in self.trees.iter().enumerate().filter(|(_, tree)| tree.is_floating) {
            // current motion of the tree
            let own = |i: &usize| self.tree_of_bone[*i] == t;
            let current = Motion::of(skeleton, kinematics, (0..skeleton.bones().len()).filter(own));
            let inertia =
                inertia_about(skeleton, kinematics, &current.center, (0..skeleton.bones().len()).filter(own));
            let Some(inverse) = inertia.try_inverse() else { continue };
            let predicted = &tree.predicted;

            // velocity change of the root, linear and about the centre of mass
            let velocity_change = (predicted.linear - current.linear) / current.mass;
            let predicted_spin = predicted.angular - predicted.center.cross(&predicted.linear);
            let current_spin = current.angular - current.center.cross(&current.linear);
            let rotation_change = inverse * (predicted_spin - current_spin);

            // in the coordinates of the free root joint
            let root = &skeleton.bones()[tree.root];
            let frame = &kinematics.world_frames()[tree.root];
            let joint = root.parent_from_joint.rotation;
            let shift = joint.tr_mul(&(predicted.center - current.center));
            let speed =
                joint.tr_mul(&(velocity_change + rotation_change.cross(&(frame.origin - current.center))));
            let rate = frame.rotation.tr_mul(&rotation_change);
            let (q, v) = (root.joint.q_offset, root.joint.v_offset);
            for k in 0..3 {
                state.q[q + k] += shift[k];
                state.v[v + k] += speed[k];
                state.v[v + 3 + k] += rate[k];
            }
            moved = true;
        }
        moved
    }
}

impl Motion {
    fn of(skeleton: &Skeleton, kinematics: &Kinematics, bones: impl Iterator<Item = usize>) -> Motion {
        let mut sum = Motion::default();
        for i in bones {
            let (bone, frame) = (&skeleton.bones()[i], &kinematics.world_frames()[i]);
            let momentum = frame.wrench(&bone.inertia.times(&kinematics.velocities()[i]));
            sum.mass += bone.mass.mass;
            sum.center += bone.mass.mass * frame.point(&bone.mass.center);
            sum.linear += momentum.force;
            sum.angular += momentum.torque;
        }
        sum.center /= sum.mass;
        sum
    }
}

/// Σ R I Rᵀ + m (d² 1 − d dᵀ): inertia tensor of bones about a point of the world (kg m²).
fn inertia_about(
    skeleton: &Skeleton,
    kinematics: &Kinematics,
    point: &Vec3,
    bones: impl Iterator<Item = usize>,
) -> Mat3 {
    let mut sum = Mat3::zeros();
    for i in bones {
        let (mass, frame) = (&skeleton.bones()[i].mass, &kinematics.world_frames()[i]);
        let d = frame.point(&mass.center) - point;
        sum += frame.rotation * mass.tensor * frame.rotation.transpose();
        sum += mass.mass * (Mat3::identity() * d.norm_squared() - d * d.transpose());
    }
    sum
}
