//! Steps of second order: two solves like those of backward Euler, each of η = γ h with γ = 1 − 1/√2, the second from beyond the first.   `[Alexander1977]`
//!
//! ```text
//! x₁ = xₙ + η v₁,     v₁ = vₙ + η a(x₁)
//! x₂ = x* + η v₂,     v₂ = v* + η a(x₂),      x* = xₙ + κ (x₁ − xₙ),   v* = vₙ + κ (v₁ − vₙ),   κ = (1 − γ)/γ = 1 + √2
//! ```
//!
//! A swing of ω keeps 1 − (γ ω h)⁴ of its energy in a step, and motion too fast for the step is damped away. Nothing of earlier steps is needed, so that a state is all that must be saved. What is damped remembers
//! how it was deformed: strains, slips and gaps go beyond theirs in the same way as places, and rigid motion costs nothing.
//!
//! Bones are where joints put them, A(q), and their rates are A' = ∂A/∂q q'. The second solve begins beyond the first in A, not in q: with η a₁ = (A(q₁) − Â₁)/η + η g, which is what pushes balance exactly,
//!
//! ```text
//! A* = Aₙ + κ η A'₁,    A'* = A'ₙ + κ η a₁,    Â₂ = A* + η A'* + η² g
//! ```
//!
//! and the joints' velocities are those whose rates come nearest to (A(q₂) − A*)/η by kinetic energy. Joints on a path take it as steps that end on the path with its velocity:
//! q₁ = qₙ + η v₁ with v₁ = (q₂ − qₙ − η v₂)/(κ η).

use super::bones::Bones;
use super::problem::{Point, Problem};
use crate::constraint_forces::ConstraintEnergy;
use crate::substep::Substep;
use crate::{Control, Model, State};
use sinew_math::Vec3;
use sinew_math::nalgebra::{DMatrix, DVector};
use sinew_math::spatial::{Frame, Wrench};
use sinew_skeleton::{BoneId, DriveKind, SkeletonState, StatePath};

/// γ = 1 − 1/√2: the fraction of a step that each of its solves takes.
pub(super) const FRACTION: f64 = 1.0 - core::f64::consts::FRAC_1_SQRT_2;

/// κ = (1 − γ)/γ: how far beyond the first solve the second begins.
const BEYOND: f64 = 1.0 + core::f64::consts::SQRT_2;

/// What the second solve of a step takes from the first.
#[derive(Clone, Debug, Default)]
pub(super) struct SecondOrder {
    /// xₙ, vₙ, qₙ and their velocities.
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    rigs: Vec<SkeletonState>,
    /// Aₙ, A'ₙ and Â₁.
    frames: Vec<Frame>,
    rates: Vec<Frame>,
    aims: Vec<Frame>,
    carried: Vec<Vec3>,
    constraint_energy: ConstraintEnergy,
    /// Where joints on a path are at the end, and how they move there.
    ends: Vec<SkeletonState>,
    path: StatePath,
    /// x* and A*.
    from_x: Vec<Vec3>,
    from_frames: Vec<Frame>,
}

impl SecondOrder {
    /// Makes the first solve of a sub-step of a problem that has begun: one of the whole sub-step given.
    pub(super) fn begin_first(
        &mut self,
        model: &Model,
        control: &Control,
        whole: Substep,
        (problem, constraint_energy): (&mut Problem, &ConstraintEnergy),
        state: &State,
    ) {
        self.x.clone_from(&state.node_x);
        self.v.clone_from(&state.node_v);
        self.rigs.clone_from(&state.rigs);
        self.constraint_energy.clone_from(constraint_energy);
        problem.drag_plainly(model);
        self.carried.clone_from(&problem.carried);
        self.frames.clone_from(&problem.bones.start_frames);
        self.aims.clone_from(&problem.bones.aims);
        self.rates = problem.bones.rates(model, &state.rigs);
        self.lay_paths(model, control, whole);
        self.lead_joints(model, control, problem);
    }

    /// Finds where joints on a path are at the end.
    fn lay_paths(&mut self, model: &Model, control: &Control, whole: Substep) {
        let Substep { to: fraction, dt, .. } = whole;
        self.ends.clone_from(&self.rigs);
        for (i, (rig, end)) in model.rigs().iter().zip(&mut self.ends).enumerate() {
            let Some(control) = control.rigs.get(i) else { continue };
            let skeleton = &rig.skeleton;
            self.path.fit(skeleton, &control.from, &control.to, dt);
            for (b, _) in prescribed(skeleton.bones(), &control.drives) {
                self.path.place(skeleton, BoneId(b as u32), (fraction, dt), end);
            }
        }
    }

    /// Puts joints on a path where the first solve has them.
    fn lead_joints(&self, model: &Model, control: &Control, problem: &mut Problem) {
        let h = problem.h;
        for (i, (rig, onward)) in model.rigs().iter().zip(&mut problem.onward.rigs).enumerate() {
            let Some(control) = control.rigs.get(i) else { continue };
            let (start, end) = (&self.rigs[i], &self.ends[i]);
            let mut way = vec![0.0; start.v.len()];
            end.difference_from(&rig.skeleton, start, &mut way);
            let mut driven_on = start.clone();
            for (_, bone) in prescribed(rig.skeleton.bones(), &control.drives) {
                for dof in bone.joint.v() {
                    driven_on.v[dof] = (way[dof] - h * end.v[dof]) / (BEYOND * h);
                }
            }
            driven_on.move_along_velocity(&rig.skeleton, h);
            for (_, bone) in prescribed(rig.skeleton.bones(), &control.drives) {
                let q = bone.joint.q();
                onward.q[q.clone()].copy_from_slice(&driven_on.q[q]);
            }
        }
    }

    /// Makes the second solve of a problem that has begun anew where the first one ended.
    pub(super) fn begin_second(
        &mut self,
        model: &Model,
        control: &Control,
        (problem, constraint_energy): (&mut Problem, &mut ConstraintEnergy),
        state: &State,
    ) {
        let h = problem.h;
        constraint_energy.begin_beyond(&self.constraint_energy, BEYOND);
        problem.begin_strain_beyond(model, &self.x, BEYOND);
        problem.drag_plainly(model);
        for (own, earlier) in problem.carried.iter_mut().zip(&self.carried) {
            *own = earlier + BEYOND * (*own - earlier);
        }

        self.from_x.clear();
        for node in 0..model.node_count() {
            let (x, v) = (&self.x[node], &self.v[node]);
            let from = x + BEYOND * (state.node_x[node] - x);
            let speed = v + BEYOND * (state.node_v[node] - v);
            problem.aim[node] = from + h * speed + h * h * model.gravity();
            self.from_x.push(from);
            if problem.inertia[node] > 0.0 {
                problem.onward.x[node] = state.node_x[node] + BEYOND * h * state.node_v[node];
            }
        }

        self.lead_bones(model, &mut problem.bones, h, &state.rigs);
        for (i, (rig, onward)) in model.rigs().iter().zip(&mut problem.onward.rigs).enumerate() {
            let mut on = state.rigs[i].clone();
            on.move_along_velocity(&rig.skeleton, BEYOND * h);
            let drives = control.rigs.get(i).map_or(&[][..], |control| &control.drives);
            for (b, bone) in rig.skeleton.bones().iter().enumerate() {
                let q = bone.joint.q();
                let is_prescribed = drives.get(b) == Some(&DriveKind::Motion);
                let from = if is_prescribed { &self.ends[i] } else { &on };
                onward.q[q.clone()].copy_from_slice(&from.q[q]);
            }
        }
    }

    /// Takes bones beyond where the first solve put them.
    fn lead_bones(&mut self, model: &Model, bones: &mut Bones, h: f64, rigs: &[SkeletonState]) {
        let rates = bones.rates(model, rigs);
        self.from_frames.clear();
        for (bone, rate) in rates.iter().enumerate() {
            let from = plus(&self.frames[bone], rate, BEYOND * h);
            let pushed = plus(&bones.start_frames[bone], &self.aims[bone], -1.0);
            let mut speed = plus(&self.rates[bone], &pushed, BEYOND / h);
            speed.origin += BEYOND * h * model.gravity();
            let mut aim = plus(&from, &speed, h);
            aim.origin += h * h * model.gravity();
            bones.aims[bone] = aim;
            self.from_frames.push(from);
        }
        let mut backs = rigs.to_vec();
        for (i, rig) in model.rigs().iter().enumerate() {
            // where joints are damped from
            bones.starts[i].q.clone_from(&self.rigs[i].q);
            bones.starts[i].v.clone_from(&rigs[i].v);
            bones.starts[i].move_along_velocity(&rig.skeleton, BEYOND * h);
            let speeds = self.rigs[i].v.iter().zip(&rigs[i].v);
            let speeds = speeds.map(|(v, next)| v + BEYOND * (next - v));
            bones.starts[i].v = speeds.collect();
            backs[i].move_along_velocity(&rig.skeleton, -BEYOND * h);
        }
        bones.back_frames = bones.frames_of(model, &backs);
    }

    /// Writes velocities at the end of the second solve, `whole` (s) after the first began; positions are still those of the state.
    pub(super) fn write_velocities(
        &mut self,
        model: &Model,
        control: &Control,
        (problem, whole): (&mut Problem, f64),
        point: &Point,
        state: &mut State,
    ) {
        for (node, x) in point.x.iter().enumerate() {
            let is_free = model.node_inverse_mass()[node] > 0.0;
            let v = if is_free { (x - self.from_x[node]) / problem.h } else { (x - self.x[node]) / whole };
            state.node_v[node] = v;
        }
        for (i, (rig, own)) in model.rigs().iter().zip(&mut state.rigs).enumerate() {
            point.rigs[i].difference_from(&rig.skeleton, &problem.bones.starts[i], &mut own.v);
            own.v.iter_mut().for_each(|v| *v /= problem.h);
            let Some(control) = control.rigs.get(i) else { continue };
            for (_, bone) in prescribed(rig.skeleton.bones(), &control.drives) {
                own.v[bone.joint.v()].copy_from_slice(&self.ends[i].v[bone.joint.v()]);
            }
        }
        if problem.bones.any_sought() {
            self.project(model, problem, point, state);
        }
    }

    /// Finds the velocities of joints that are sought: min ½ Σ ‖∂A/∂q v − (A(q₂) − A*)/η‖²_M + ½ Σ a (v − w)², with rotors' a and how the joints have gone, w.
    fn project(&self, model: &Model, problem: &mut Problem, point: &Point, state: &mut State) {
        let bones = &mut problem.bones;
        let h = problem.h;
        bones.place(model, &point.rigs);
        let n = bones.dof_bone.len();
        let mut wrenches = vec![Wrench::default(); bones.parents.len()];
        for rig in model.rigs() {
            for (b, bone) in rig.skeleton.bones().iter().enumerate() {
                let place = rig.bones.start + b;
                let gone = plus(&bones.frames[place], &self.from_frames[place], -1.0);
                let rate = Frame { rotation: gone.rotation / h, origin: gone.origin / h };
                wrenches[place] = Bones::momentum(&bone.mass, &bones.frames[place], &rate);
            }
        }
        let mut momenta = vec![0.0; n];
        bones.add_wrenches(&mut wrenches, &mut momenta);
        let mut matrix = vec![0.0; n * n];
        bones.add_inertia_matrix(bones.inertias(model), &mut matrix);
        matrix.iter_mut().for_each(|entry| *entry *= h * h);
        let mut speeds = Vec::with_capacity(n);
        for (rig, state) in model.rigs().iter().zip(&state.rigs) {
            for (dof, v) in rig.skeleton.dofs().iter().zip(&state.v) {
                let own = speeds.len();
                momenta[own] += dof.armature * v;
                matrix[own * n + own] += dof.armature;
                speeds.push(*v);
            }
        }
        for dof in (0..n).filter(|dof| bones.is_sought[*dof]) {
            let row = &matrix[dof * n..(dof + 1) * n];
            let given = (0..n).filter(|other| !bones.is_sought[*other]);
            momenta[dof] -= given.map(|other| row[other] * speeds[other]).sum::<f64>();
        }
        problem.isolate(&mut matrix);
        let Some(factor) = DMatrix::from_row_slice(n, n, &matrix).cholesky() else { return };
        let found = factor.solve(&DVector::from_vec(momenta));
        for (dof, own) in state.rigs.iter_mut().flat_map(|rig| &mut rig.v).enumerate() {
            if problem.bones.is_sought[dof] {
                *own = found[dof];
            }
        }
    }
}

/// a + s b, number by number.
fn plus(a: &Frame, b: &Frame, s: f64) -> Frame {
    Frame { rotation: a.rotation + s * b.rotation, origin: a.origin + s * b.origin }
}

/// Bones whose joints go along a path.
pub(super) fn prescribed<'a>(
    bones: &'a [sinew_skeleton::Bone],
    drives: &'a [DriveKind],
) -> impl Iterator<Item = (usize, &'a sinew_skeleton::Bone)> {
    bones.iter().enumerate().zip(drives).filter(|(_, kind)| **kind == DriveKind::Motion).map(|(bone, _)| bone)
}
