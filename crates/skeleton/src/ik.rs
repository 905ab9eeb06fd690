//! Inverse kinematics: coordinates that bring points of bones to given places.
//!
//! ```text
//! minimise E(q) = Σ w (|x_target − x|² + ℓ² |log(R_target Rᵀ)|²)
//! (Jᵀ W J + λ 1) δ = Jᵀ W e                                             damped least squares [Wampler1986]
//! ```
//!
//! The one idea: a step is taken only if E falls, and λ grows until it does, so that the error never rises, targets out of reach
//! are approached and left at their nearest, and near-singular poses cost iterations rather than jumps. Only degrees of freedom
//! that move a target take part. Dynamics is not asked.

use crate::linear::{self, Symmetric};
use crate::state::each_part;
use crate::target::{self, IkError, IkReport, IkSettings, IkTarget};
use crate::{JointPrimitive, Kinematics, Skeleton, SkeletonState};
use sinew_math::{Vec3, so3};

/// Scratch of inverse kinematics, to be used again for every pose. Dropping it costs time, never a different answer.
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

/// A degree of freedom that takes no part.
const IDLE: usize = usize::MAX;
/// A step (rad or m) that no eye would see.
const SMALL_STEP: f64 = 1e-4;
/// How often a pose at rest short of its targets is shaken: a straight limb feels no pull along itself.
const SHAKES: usize = 1;

impl Ik {
    /// Moves the coordinates of a state so that targets are met as well as they can be, within the limits of joints. Velocities
    /// stay as they are. The weighted error never grows, but for bringing coordinates within their limits first.
    pub fn solve(
        &mut self,
        skeleton: &Skeleton,
        targets: &[IkTarget],
        settings: &IkSettings,
        state: &mut SkeletonState,
    ) -> Result<IkReport, IkError> {
        target::check(skeleton, targets)?;
        self.find_active(skeleton, targets, settings);
        clamp(skeleton, &self.slot, state);
        self.kinematics.update(skeleton, state);
        let mut error = self.error(targets, settings);
        let (mut damping, mut shakes, mut iterations) = (1e-4, SHAKES, 0);
        let (mut best_error, mut shaken) = (f64::INFINITY, false);
        while iterations < settings.iterations && !self.report(targets, settings, iterations).reached {
            iterations += 1;
            self.assemble(skeleton, targets, settings, state);
            let next = self.descend(skeleton, targets, settings, (&mut damping, error), state);
            let fell = error - next;
            error = next;
            // far targets barely lose error over a whole turn, so the step counts too
            if fell > 1e-7 * error || (fell > 0.0 && linear::largest(&self.step) > SMALL_STEP) {
                continue;
            }
            // at rest: keep the best and try once more from beside it
            if shakes == 0 {
                break;
            }
            shakes -= 1;
            (best_error, shaken, damping) = (error, true, 1e-4);
            self.best.clone_from(state);
            self.shake(skeleton, state);
            error = self.error(targets, settings);
        }
        if shaken && best_error <= error * (1.0 + 1e-6) {
            state.q.copy_from_slice(&self.best.q);
            self.kinematics.update(skeleton, state);
        }
        Ok(self.report(targets, settings, iterations))
    }

    /// Degrees of freedom between the world and any target, but for locked joints.
    fn find_active(&mut self, skeleton: &Skeleton, targets: &[IkTarget], settings: &IkSettings) {
        self.slot.clear();
        self.slot.resize(skeleton.v_count(), IDLE);
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
        for (dof, slot) in self.slot.iter_mut().enumerate().filter(|(_, slot)| **slot != IDLE) {
            *slot = self.active.len();
            self.active.push(dof);
        }
    }

    /// E
    fn error(&self, targets: &[IkTarget], settings: &IkSettings) -> f64 {
        let one = |target: &IkTarget| {
            let (distance, turned) = self.gap(target);
            target.weight
                * (distance.norm_squared() + settings.lever * settings.lever * turned.norm_squared())
        };
        targets.iter().map(one).sum()
    }

    /// From the point to its target (m), and the rotation vector from the bone's orientation to its target (rad).
    fn gap(&self, target: &IkTarget) -> (Vec3, Vec3) {
        let frame = &self.kinematics.world_frames()[target.bone.index()];
        let turned = target.orientation.map(|wanted| so3::log(&(wanted * frame.quaternion().inverse())));
        (target.position - frame.point(&target.point_in_bone), turned.unwrap_or_default())
    }

    fn report(&self, targets: &[IkTarget], settings: &IkSettings, iterations: usize) -> IkReport {
        let mut report = IkReport { iterations, reached: true, ..IkReport::default() };
        for target in targets {
            let (distance, turned) = self.gap(target);
            let (distance, turned) = (distance.norm(), turned.norm());
            report.position_error = report.position_error.max(distance);
            report.orientation_error = report.orientation_error.max(turned);
            report.reached &= distance.max(settings.lever * turned) <= settings.tolerance;
        }
        report
    }

    /// Jᵀ W J and Jᵀ W e, with degrees of freedom left out that only push against their limit.
    fn assemble(
        &mut self,
        skeleton: &Skeleton,
        targets: &[IkTarget],
        settings: &IkSettings,
        state: &SkeletonState,
    ) {
        let n = self.active.len();
        self.matrix.reset(n);
        self.gradient.clear();
        self.gradient.resize(n, 0.0);
        for target in targets {
            let (distance, turned) = self.gap(target);
            self.columns.clear();
            self.columns.resize(n, (Vec3::zeros(), Vec3::zeros()));
            let point = self.kinematics.point(target.bone, &target.point_in_bone);
            let lever = if target.orientation.is_some() { settings.lever } else { 0.0 };
            self.kinematics.for_each_column(skeleton, target.bone, &point, |dof, angular, linear| {
                if self.slot[dof] != IDLE {
                    self.columns[self.slot[dof]] = (linear, angular * lever);
                }
            });
            for i in 0..n {
                let (linear, angular) = &self.columns[i];
                self.gradient[i] += target.weight * (linear.dot(&distance) + angular.dot(&(turned * lever)));
                for j in 0..=i {
                    let (other_linear, other_angular) = &self.columns[j];
                    let product = linear.dot(other_linear) + angular.dot(other_angular);
                    self.matrix.add(i, j, target.weight * product);
                }
            }
        }
        for_each_plain(skeleton, |q, dof| {
            let (slot, desc) = (self.slot[dof], &skeleton.dofs()[dof]);
            if slot == IDLE {
                return;
            }
            let (x, pull) = (state.q[q], self.gradient[slot]);
            if (x >= desc.upper && pull > 0.0) || (x <= desc.lower && pull < 0.0) {
                self.matrix.isolate(slot);
                self.gradient[slot] = 0.0;
            }
        });
    }

    /// Takes the longest damped step by which the error falls, and returns the error after it.
    fn descend(
        &mut self,
        skeleton: &Skeleton,
        targets: &[IkTarget],
        settings: &IkSettings,
        (damping, error): (&mut f64, f64),
        state: &mut SkeletonState,
    ) -> f64 {
        let scale = self.matrix.mean_diagonal();
        if !(scale > 0.0 && scale.is_finite()) {
            return error;
        }
        // from 10⁻⁸ to 10⁸ in factors of four
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

    /// Shortens the step as a whole until no coordinate goes farther than it may.
    fn bound_step(&mut self, skeleton: &Skeleton, settings: &IkSettings) {
        let mut scale: f64 = 1.0;
        for bone in skeleton.bones() {
            for (part, _, v) in each_part(skeleton, &bone.joint) {
                let bound = match part {
                    JointPrimitive::Revolute(_) | JointPrimitive::Ball => settings.max_rotation,
                    JointPrimitive::Prismatic(_) | JointPrimitive::Translation => settings.max_translation,
                };
                for slot in v.map(|dof| self.slot[dof]).filter(|&slot| slot != IDLE) {
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

    /// Moves every active coordinate a little, unevenly, the same way each time.
    fn shake(&mut self, skeleton: &Skeleton, state: &mut SkeletonState) {
        self.step.clear();
        // multiples of the golden ratio never line up; a twentieth of a radian bends a straight limb and loses little
        self.step.extend(
            (0..self.active.len()).map(|i| 0.05 * (0.5 + (0.618_033_988_749_895 * i as f64).fract())),
        );
        self.take_step(skeleton, state);
        state.q.copy_from_slice(&self.trial.q);
        self.kinematics.update(skeleton, state);
    }
}

/// Every coordinate that is its own degree of freedom: all but quaternions.
fn for_each_plain(skeleton: &Skeleton, mut each: impl FnMut(usize, usize)) {
    for bone in skeleton.bones() {
        for (part, q, v) in each_part(skeleton, &bone.joint) {
            if part != JointPrimitive::Ball {
                q.zip(v).for_each(|(q, dof)| each(q, dof));
            }
        }
    }
}

/// Brings the coordinates that take part within their limits.
fn clamp(skeleton: &Skeleton, slot: &[usize], state: &mut SkeletonState) {
    for bone in skeleton.bones() {
        for (part, q, v) in each_part(skeleton, &bone.joint) {
            if slot.get(v.start).is_none_or(|&slot| slot == IDLE) {
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
