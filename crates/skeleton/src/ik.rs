//! Inverse kinematics by damped least squares (Levenberg-Marquardt) with joint limits.
//!
//! ```text
//! minimise E(q) = Σ w (|x_target − x|² + ℓ² |log(R_target Rᵀ)|²)
//! (Jᵀ W J + λ 1) δ = Jᵀ W e                                             damped least squares [Wampler1986]
//! ```
//!
//! A step is accepted only if E decreases, and λ grows until it does. So the error never increases, unreachable targets are
//! approached as closely as possible, and near-singular poses cost iterations rather than jumps. Only degrees of freedom that
//! move a target are unknowns. Dynamics plays no role.

use crate::linear::{self, Symmetric};
use crate::state::each_part;
use crate::target::{self, IkError, IkReport, IkSettings, IkTarget};
use crate::{JointPrimitive, Kinematics, Skeleton, SkeletonState};
use sinew_math::{Vec3, so3};

/// Work arrays of inverse kinematics, reused for every pose. Dropping it costs time, never a different result.
#[derive(Clone, Debug, Default)]
pub struct Ik {
    kinematics: Kinematics,
    trial: SkeletonState,
    best: SkeletonState,
    active: Vec<usize>,
    slot: Vec<usize>,
    columns: Vec<(Vec3, Vec3)>,
    matrix: Symmetric,
    gradient: Vec<f64>,
    step: Vec<f64>,
}

/// The slot of a degree of freedom that is no unknown.
const INACTIVE: usize = usize::MAX;
/// A step (rad or m) too small to be visible.
const SMALL_STEP: f64 = 1e-4;
/// How often a stationary pose short of its targets is perturbed: a straight limb has no gradient along itself.
const PERTURBATIONS: usize = 1;

impl Ik {
    /// Changes the coordinates of a state to meet the targets as well as possible within the limits of joints. Velocities are
    /// unchanged. The weighted error never increases, except by clamping coordinates to their limits first.
    pub fn solve(
        &mut self,
        skeleton: &Skeleton,
        targets: &[IkTarget],
        settings: &IkSettings,
        state: &mut SkeletonState,
    ) -> Result<IkReport, IkError> {
        // unknowns and initial error
        target::check(skeleton, targets)?;
        self.find_active(skeleton, targets, settings);
        clamp(skeleton, &self.slot, state);
        self.kinematics.update(skeleton, state);
        let mut error = self.error(targets, settings);
        let (mut damping, mut perturbations, mut iterations) = (1e-4, PERTURBATIONS, 0);
        let (mut best_error, mut was_perturbed) = (f64::INFINITY, false);

        // damped least squares until reached or stationary
        while iterations < settings.iterations && !self.report(targets, settings, iterations).reached {
            iterations += 1;
            self.assemble(skeleton, targets, settings, state);
            let next = self.take_damped_step(skeleton, targets, settings, (&mut damping, error), state);
            let decrease = error - next;
            error = next;
            // the error of far targets barely decreases over a whole rotation, so the step length counts too
            if decrease > 1e-7 * error || (decrease > 0.0 && linear::largest(&self.step) > SMALL_STEP) {
                continue;
            }
            // stationary: store the best pose and restart once from a perturbed one
            if perturbations == 0 {
                break;
            }
            perturbations -= 1;
            (best_error, was_perturbed, damping) = (error, true, 1e-4);
            self.best.clone_from(state);
            self.perturb(skeleton, state);
            error = self.error(targets, settings);
        }

        // the better of the poses before and after the perturbation
        if was_perturbed && best_error <= error * (1.0 + 1e-6) {
            state.q.copy_from_slice(&self.best.q);
            self.kinematics.update(skeleton, state);
        }
        Ok(self.report(targets, settings, iterations))
    }

    /// Degrees of freedom between the world and any target, except locked joints.
    fn find_active(&mut self, skeleton: &Skeleton, targets: &[IkTarget], settings: &IkSettings) {
        self.slot.clear();
        self.slot.resize(skeleton.v_count(), INACTIVE);
        for target in targets {
            let mut next = Some(target.bone);
            while let Some(bone) = next {
                if !settings.locked.contains(&bone) {
                    self.slot[skeleton.bone(bone).joint.v()].fill(0);
                }
                next = skeleton.bone(bone).parent;
            }
        }
        self.active.clear();
        for (dof, slot) in self.slot.iter_mut().enumerate().filter(|(_, slot)| **slot != INACTIVE) {
            *slot = self.active.len();
            self.active.push(dof);
        }
    }

    /// The weighted error E.
    fn error(&self, targets: &[IkTarget], settings: &IkSettings) -> f64 {
        let one = |target: &IkTarget| {
            let (distance, rotation_error) = self.gap(target);
            target.weight
                * (distance.norm_squared() + settings.lever * settings.lever * rotation_error.norm_squared())
        };
        targets.iter().map(one).sum()
    }

    /// The vector from the point to its target (m), and the rotation vector from the orientation of the bone to its target (rad).
    fn gap(&self, target: &IkTarget) -> (Vec3, Vec3) {
        let frame = &self.kinematics.world_frames()[target.bone.index()];
        let rotation_error = target
            .orientation
            .map(|target_orientation| so3::log(&(target_orientation * frame.quaternion().inverse())));
        (target.position - frame.point(&target.point_in_bone), rotation_error.unwrap_or_default())
    }

    fn report(&self, targets: &[IkTarget], settings: &IkSettings, iterations: usize) -> IkReport {
        let mut report = IkReport { iterations, reached: true, ..IkReport::default() };
        for target in targets {
            let (distance, rotation_error) = self.gap(target);
            let (distance, rotation_error) = (distance.norm(), rotation_error.norm());
            report.position_error = report.position_error.max(distance);
            report.orientation_error = report.orientation_error.max(rotation_error);
            report.reached &= distance.max(settings.lever * rotation_error) <= settings.tolerance;
        }
        report
    }

    /// Assembles Jᵀ W J and Jᵀ W e without the degrees of freedom that are at a limit and pushed against it.
    fn assemble(
        &mut self,
        skeleton: &Skeleton,
        targets: &[IkTarget],
        settings: &IkSettings,
        state: &SkeletonState,
    ) {
        // sums over targets
        let n = self.active.len();
        self.matrix.reset(n);
        self.gradient.clear();
        self.gradient.resize(n, 0.0);
        for target in targets {
            let (distance, rotation_error) = self.gap(target);
            self.columns.clear();
            self.columns.resize(n, (Vec3::zeros(), Vec3::zeros()));
            let point = self.kinematics.point(target.bone, &target.point_in_bone);
            let lever = if target.orientation.is_some() { settings.lever } else { 0.0 };
            self.kinematics.for_each_column(skeleton, target.bone, &point, |dof, angular, linear| {
                if self.slot[dof] != INACTIVE {
                    self.columns[self.slot[dof]] = (linear, angular * lever);
                }
            });

            // its contribution to both sums
            for i in 0..n {
                let (linear, angular) = &self.columns[i];
                self.gradient[i] +=
                    target.weight * (linear.dot(&distance) + angular.dot(&(rotation_error * lever)));
                for j in 0..=i {
                    let (other_linear, other_angular) = &self.columns[j];
                    let product = linear.dot(other_linear) + angular.dot(other_angular);
                    self.matrix.add(i, j, target.weight * product);
                }
            }
        }

        // active set: fix coordinates that are pushed against a limit
        for_each_scalar_coordinate(skeleton, |q, dof| {
            let (slot, desc) = (self.slot[dof], &skeleton.dofs()[dof]);
            if slot == INACTIVE {
                return;
            }
            let (x, gradient) = (state.q[q], self.gradient[slot]);
            if (x >= desc.upper && gradient > 0.0) || (x <= desc.lower && gradient < 0.0) {
                self.matrix.isolate(slot);
                self.gradient[slot] = 0.0;
            }
        });
    }

    /// Takes the longest damped step that decreases the error, and returns the error after it.
    fn take_damped_step(
        &mut self,
        skeleton: &Skeleton,
        targets: &[IkTarget],
        settings: &IkSettings,
        (damping, error): (&mut f64, f64),
        state: &mut SkeletonState,
    ) -> f64 {
        // damping is relative to the diagonal
        let scale = self.matrix.mean_diagonal();
        if !(scale > 0.0 && scale.is_finite()) {
            return error;
        }
        // damping from 10⁻⁸ to 10⁸ in factors of four
        for _ in 0..28 {
            self.step.clone_from(&self.gradient);
            if linear::solve_damped(&mut self.matrix, *damping * scale, &mut self.step) {
                self.bound_step(skeleton, settings);
                self.take_step(skeleton, state);
                self.kinematics.update(skeleton, &self.trial);
                let next = self.error(targets, settings);
                if next < error {
                    state.q.copy_from_slice(&self.trial.q);
                    *damping = (*damping * 0.25).max(1e-8);
                    return next;
                }
            }
            *damping = (*damping * 4.0).min(1e8);
        }
        self.kinematics.update(skeleton, state);
        error
    }

    /// Scales the step so that no coordinate exceeds its maximum change.
    fn bound_step(&mut self, skeleton: &Skeleton, settings: &IkSettings) {
        let mut scale: f64 = 1.0;
        for bone in skeleton.bones() {
            for (part, _, v) in each_part(skeleton, &bone.joint) {
                let bound = match part {
                    JointPrimitive::Revolute(_) | JointPrimitive::Ball => settings.max_rotation,
                    JointPrimitive::Prismatic(_) | JointPrimitive::Translation => settings.max_translation,
                };
                for slot in v.map(|dof| self.slot[dof]).filter(|&slot| slot != INACTIVE) {
                    scale = scale.min(bound / self.step[slot].abs().max(1e-300));
                }
            }
        }
        self.step.iter_mut().for_each(|x| *x *= scale);
    }

    fn take_step(&mut self, skeleton: &Skeleton, state: &SkeletonState) {
        self.trial.q.clone_from(&state.q);
        self.trial.v.clear();
        self.trial.v.resize(state.v.len(), 0.0);
        for (slot, &dof) in self.active.iter().enumerate() {
            self.trial.v[dof] = self.step[slot];
        }
        self.trial.move_along_velocity(skeleton, 1.0);
        clamp(skeleton, &self.slot, &mut self.trial);
        self.trial.v.copy_from_slice(&state.v);
    }

    /// Perturbs every active coordinate by a small, generic and reproducible amount.
    fn perturb(&mut self, skeleton: &Skeleton, state: &mut SkeletonState) {
        self.step.clear();
        // multiples of the golden ratio are never aligned; a twentieth of a radian bends a straight limb at little cost
        self.step.extend(
            (0..self.active.len()).map(|i| 0.05 * (0.5 + (0.618_033_988_749_895 * i as f64).fract())),
        );
        self.take_step(skeleton, state);
        state.q.copy_from_slice(&self.trial.q);
        self.kinematics.update(skeleton, state);
    }
}

/// Every coordinate that is its own degree of freedom: all but quaternions.
fn for_each_scalar_coordinate(skeleton: &Skeleton, mut each: impl FnMut(usize, usize)) {
    for bone in skeleton.bones() {
        for (part, q, v) in each_part(skeleton, &bone.joint) {
            if part != JointPrimitive::Ball {
                q.zip(v).for_each(|(q, dof)| each(q, dof));
            }
        }
    }
}

/// Clamps the active coordinates to their limits.
fn clamp(skeleton: &Skeleton, slot: &[usize], state: &mut SkeletonState) {
    for bone in skeleton.bones() {
        for (part, q, v) in each_part(skeleton, &bone.joint) {
            if slot.get(v.start).is_none_or(|&slot| slot == INACTIVE) {
                continue;
            }
            let limits = &skeleton.dofs()[v];
            if limits.iter().all(|dof| dof.lower == f64::NEG_INFINITY && dof.upper == f64::INFINITY) {
                continue;
            }
            let mut x = part.chart(&state.q[q.clone()]);
            let mut outside = false;
            for (x, dof) in x.iter_mut().zip(limits) {
                outside |= *x < dof.lower || *x > dof.upper;
                *x = x.max(dof.lower).min(dof.upper);
            }
            if outside {
                part.set_chart(&x[..limits.len()], &mut state.q[q]);
            }
        }
    }
}
