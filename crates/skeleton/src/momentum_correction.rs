//! Trees that float freely keep their momentum.
//!
//! A step solves for accelerations at its start, but the momentum of a tree depends on its pose, so that limbs that swing leave a little of it behind in
//! every step. For a tree whose root is free and undriven the answer is known without solving anything, with P, L and c its momentum,
//! its angular momentum about the origin and its centre of mass, and F, T all forces and torques from outside:
//!
//! ```text
//! P' = P + h F,   L' = L + h T,   c' = c + h P'/m
//! ```
//!
//! After the step the root is moved to where c' asks for it, and given the velocity that P' and L' ask for. Joints keep theirs.

use crate::drive::{DriveKind, Drives};
use crate::joint::JointPrimitive;
use crate::{Kinematics, Loads, Skeleton, SkeletonState};
use sinew_math::{Mat3, Vec3};

/// What floating trees will have after a step. Scratch: [`MomentumCorrection::predict`] fills it.
#[derive(Clone, Debug, Default)]
pub struct MomentumCorrection {
    /// For each bone the tree it belongs to.
    tree_of_bone: Vec<usize>,
    trees: Vec<Tree>,
}

#[derive(Clone, Copy, Debug)]
struct Tree {
    root: usize,
    floats: bool,
    foreseen: Motion,
}

/// Mass, centre and momenta of a tree; `angular` is about the origin.
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    mass: f64,
    center: Vec3,
    linear: Vec3,
    angular: Vec3,
}

impl MomentumCorrection {
    /// Finds what the trees whose root is free will have after a step of `h` (s) from a state whose kinematics are up to date.
    /// `loads` are those that the step is solved with.
    pub fn predict(
        &mut self,
        skeleton: &Skeleton,
        kinematics: &Kinematics,
        drives: &Drives,
        loads: &Loads,
        h: f64,
    ) {
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
                let unarmed = skeleton.dofs()[bone.joint.v()].iter().all(|dof| dof.armature == 0.0);
                let floats = free && undriven && unarmed;
                self.trees.push(Tree { root: i, floats, foreseen: Motion::default() });
            }
        }
        if self.trees.iter().all(|tree| !tree.floats) {
            return;
        }
        for (i, bone) in skeleton.bones().iter().enumerate() {
            let frame = &kinematics.world_frames()[i];
            let tree = &mut self.trees[self.tree_of_bone[i]].foreseen;
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
                let push = frame.wrench(wrench);
                tree.linear += h * push.force;
                tree.angular += h * push.torque;
            }
        }
        for tree in &mut self.trees {
            let foreseen = &mut tree.foreseen;
            foreseen.center = (foreseen.center + h * foreseen.linear) / foreseen.mass;
        }
    }

    /// Brings the roots of a state that has taken the step, and whose kinematics are up to date, to what was foreseen. Returns whether anything
    /// moved, so that the kinematics are out of date.
    pub fn correct(&self, skeleton: &Skeleton, kinematics: &Kinematics, state: &mut SkeletonState) -> bool {
        let mut moved = false;
        for (t, tree) in self.trees.iter().enumerate().filter(|(_, tree)| tree.floats) {
            let own = |i: &usize| self.tree_of_bone[*i] == t;
            let now = Motion::of(skeleton, kinematics, (0..skeleton.bones().len()).filter(own));
            let inertia =
                inertia_about(skeleton, kinematics, &now.center, (0..skeleton.bones().len()).filter(own));
            let Some(inverse) = inertia.try_inverse() else { continue };
            let foreseen = &tree.foreseen;

            // about the centre, linear and angular part from each other
            let faster = (foreseen.linear - now.linear) / now.mass;
            let spin = foreseen.angular - foreseen.center.cross(&foreseen.linear);
            let own_spin = now.angular - now.center.cross(&now.linear);
            let turning = inverse * (spin - own_spin);

            let root = &skeleton.bones()[tree.root];
            let frame = &kinematics.world_frames()[tree.root];
            let joint = root.parent_from_joint.rotation;
            let shift = joint.tr_mul(&(foreseen.center - now.center));
            let speed = joint.tr_mul(&(faster + turning.cross(&(frame.origin - now.center))));
            let rate = frame.rotation.tr_mul(&turning);
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

/// Σ R I Rᵀ + m (d² 1 − d dᵀ) of bones about a point of the world (kg m²).
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
