//! SDIRK2 time integration: two backward-Euler-like stages of η = γ h with γ = 1 − 1/√2, the second starting from an extrapolation of the first.   `[Alexander1977]`
//!
//! ```text
//! x₁ = xₙ + η v₁,     v₁ = vₙ + η a(x₁)
//! x₂ = x* + η v₂,     v₂ = v* + η a(x₂),      x* = xₙ + κ (x₁ − xₙ),   v* = vₙ + κ (v₁ − vₙ),   κ = (1 − γ)/γ = 1 + √2
//! ```
//!
//! An oscillation of frequency ω retains 1 − (γ ω h)⁴ of its energy per step, and unresolved motion is damped (L-stability). It is a one-step method, so the state alone must be saved. Rate-dependent terms refer to extrapolated
//! reference values: strains, slips and gaps are extrapolated like positions, and rigid motion dissipates nothing.
//!
//! Bone poses are A(q), with rates A' = ∂A/∂q q'. The second stage extrapolates in A, not in q: with η a₁ = (A(q₁) − Â₁)/η + η g, which balances the forces exactly,
//!
//! ```text
//! A* = Aₙ + κ η A'₁,    A'* = A'ₙ + κ η a₁,    Â₂ = A* + η A'* + η² g
//! ```
//!
//! and the joint velocities minimise the kinetic energy of the difference between their rates and (A(q₂) − A*)/η. Joints with prescribed motion use stages that end on the path with its velocity:
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

/// γ = 1 − 1/√2: the fraction of a step that each stage spans.
pub(super) const FRACTION: f64 = 1.0 - core::f64::consts::FRAC_1_SQRT_2;

/// κ = (1 − γ)/γ: extrapolation factor from the first stage to the start of the second.
pub(super) const EXTRAPOLATION: f64 = 1.0 + core::f64::consts::SQRT_2;

/// Data that the second stage needs from the first.
#[derive(Clone, Debug, Default)]
pub(super) struct SecondOrder {
    /// xₙ, vₙ, qₙ and the joint velocities.
    x: Vec<Vec3>,
    /// The same as elasticity sees them.
    bind_x: Vec<Vec3>,
    v: Vec<Vec3>,
    rigs: Vec<SkeletonState>,
    /// Aₙ, A'ₙ and Â₁.
    frames: Vec<Frame>,
    rates: Vec<Frame>,
    aims: Vec<Frame>,
    carried: Vec<Vec3>,
    /// Shapes of parts of bodies without bones.
    shape: Vec<Vec3>,
    constraint_energy: ConstraintEnergy,
    /// Coordinates and velocities of joints with prescribed motion at the end of the step.
    ends: Vec<SkeletonState>,
    path: StatePath,
    /// x* and A*.
    from_x: Vec<Vec3>,
    from_frames: Vec<Frame>,
}

impl SecondOrder {
    /// Turns a problem set up for a sub-step into the first stage of that sub-step, `whole`.
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
        self.shape.clone_from(&problem.deformation.shape);
        self.frames.clone_from(&problem.bones.start_frames);
        self.aims.clone_from(&problem.bones.aims);
        self.rates = problem.bones.rates(model, &state.rigs);
        self.find_path_ends(model, control, whole);
        self.place_prescribed_joints(model, control, problem);
        self.bind_x.clear();
        self.bind_x.extend_from_slice(problem.bind_start(model));
        problem.place_homes(model);
        problem.obstacles.begin_first(whole.h);
    }

    /// Node positions at the beginning of the step (m).
    pub(super) fn start_x(&self) -> &[Vec3] {
        &self.x
    }

    /// Computes the coordinates of joints with prescribed motion at the end of the step.
    fn find_path_ends(&mut self, model: &Model, control: &Control, whole: Substep) {
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

    /// Moves joints with prescribed motion to their coordinates at the first stage.
    fn place_prescribed_joints(&self, model: &Model, control: &Control, problem: &mut Problem) {
        let h = problem.h;
        for (i, (rig, onward)) in model.rigs().iter().zip(&mut problem.onward.rigs).enumerate() {
            let Some(control) = control.rigs.get(i) else { continue };
            let (start, end) = (&self.rigs[i], &self.ends[i]);
            let mut displacement = vec![0.0; start.v.len()];
            end.difference_from(&rig.skeleton, start, &mut displacement);
            let mut stage = start.clone();
            for (_, bone) in prescribed(rig.skeleton.bones(), &control.drives) {
                for dof in bone.joint.v() {
                    stage.v[dof] = (displacement[dof] - h * end.v[dof]) / (EXTRAPOLATION * h);
                }
            }
            stage.move_along_velocity(&rig.skeleton, h);
            for (_, bone) in prescribed(rig.skeleton.bones(), &control.drives) {
                let q = bone.joint.q();
                onward.q[q.clone()].copy_from_slice(&stage.q[q]);
            }
        }
    }

    /// Turns a problem set up at the end of the first stage into the second stage.
    pub(super) fn begin_second(
        &mut self,
        model: &Model,
        control: &Control,
        (problem, constraint_energy): (&mut Problem, &mut ConstraintEnergy),
        state: &State,
    ) {
        // reference values of damping and constraints
        let h = problem.h;
        constraint_energy.begin_beyond(&self.constraint_energy, EXTRAPOLATION);
        problem.begin_strain_beyond(model, &self.bind_x, EXTRAPOLATION);
        problem.drag_plainly(model);
        for (own, earlier) in problem.carried.iter_mut().zip(&self.carried) {
            *own = earlier + EXTRAPOLATION * (*own - earlier);
        }
        problem.deformation.begin_beyond(model, &self.shape, EXTRAPOLATION);

        // inertial prediction and initial guess of nodes
        self.from_x.clear();
        for node in 0..model.node_count() {
            let (x, v) = (&self.x[node], &self.v[node]);
            let from = x + EXTRAPOLATION * (state.node_x[node] - x);
            let speed = v + EXTRAPOLATION * (state.node_v[node] - v);
            problem.aim[node] = from + h * speed + h * h * model.gravity();
            self.from_x.push(from);
            if problem.inertia[node] > 0.0 {
                problem.onward.x[node] = state.node_x[node] + EXTRAPOLATION * h * state.node_v[node];
            }
        }

        // inertial prediction and initial guess of bones
        self.extrapolate_bones(model, &mut problem.bones, h, &state.rigs);
        for (i, (rig, onward)) in model.rigs().iter().zip(&mut problem.onward.rigs).enumerate() {
            let mut on = state.rigs[i].clone();
            on.move_along_velocity(&rig.skeleton, EXTRAPOLATION * h);
            let drives = control.rigs.get(i).map_or(&[][..], |control| &control.drives);
            for (b, bone) in rig.skeleton.bones().iter().enumerate() {
                let q = bone.joint.q();
                let is_prescribed = drives.get(b) == Some(&DriveKind::Motion);
                let from = if is_prescribed { &self.ends[i] } else { &on };
                onward.q[q.clone()].copy_from_slice(&from.q[q]);
            }
        }
        problem.place_homes(model);
        problem.obstacles.begin_second(model, &mut problem.onward.obstacles);
    }

    /// Extrapolates bones from their poses at the first stage.
    fn extrapolate_bones(&mut self, model: &Model, bones: &mut Bones, h: f64, rigs: &[SkeletonState]) {
        let rates = bones.rates(model, rigs);
        self.from_frames.clear();
        for (bone, rate) in rates.iter().enumerate() {
            let from = plus(&self.frames[bone], rate, EXTRAPOLATION * h);
            let pushed = plus(&bones.start_frames[bone], &self.aims[bone], -1.0);
            let mut speed = plus(&self.rates[bone], &pushed, EXTRAPOLATION / h);
            speed.origin += EXTRAPOLATION * h * model.gravity();
            let mut aim = plus(&from, &speed, h);
            aim.origin += h * h * model.gravity();
            bones.aims[bone] = aim;
            self.from_frames.push(from);
        }
        let mut backs = rigs.to_vec();
        for (i, rig) in model.rigs().iter().enumerate() {
            // reference coordinates of joint damping
            bones.starts[i].q.clone_from(&self.rigs[i].q);
            bones.starts[i].v.clone_from(&rigs[i].v);
            bones.starts[i].move_along_velocity(&rig.skeleton, EXTRAPOLATION * h);
            let speeds = self.rigs[i].v.iter().zip(&rigs[i].v);
            let speeds = speeds.map(|(v, next)| v + EXTRAPOLATION * (next - v));
            bones.starts[i].v = speeds.collect();
            backs[i].move_along_velocity(&rig.skeleton, -EXTRAPOLATION * h);
        }
        bones.back_frames = bones.frames_of(model, &backs);
    }

    /// Writes velocities at the end of the second stage, `whole` (s) after the start of the sub-step; the positions of the state are still those of the first stage.
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

    /// Projects onto the velocities of unknown joints: min ½ Σ ‖∂A/∂q v − (A(q₂) − A*)/η‖²_M + ½ Σ a (v − w)², with rotor inertias a and the joints' mean velocities w.
    fn project(&self, model: &Model, problem: &mut Problem, point: &Point, state: &mut State) {
        // momenta of bones along the joints
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

        // joint-space inertia matrix, with rotor inertias
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

        // known velocities of prescribed joints move to the right-hand side
        for dof in (0..n).filter(|dof| bones.is_sought[*dof]) {
            let row = &matrix[dof * n..(dof + 1) * n];
            let given = (0..n).filter(|other| !bones.is_sought[*other]);
            momenta[dof] -= given.map(|other| row[other] * speeds[other]).sum::<f64>();
        }

        // velocities of unknown joints
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

/// a + s b, componentwise.
fn plus(a: &Frame, b: &Frame, s: f64) -> Frame {
    Frame { rotation: a.rotation + s * b.rotation, origin: a.origin + s * b.origin }
}

/// Bones whose joints have prescribed motion.
pub(super) fn prescribed<'a>(
    bones: &'a [sinew_skeleton::Bone],
    drives: &'a [DriveKind],
) -> impl Iterator<Item = (usize, &'a sinew_skeleton::Bone)> {
    bones.iter().enumerate().zip(drives).filter(|(_, kind)| **kind == DriveKind::Motion).map(|(bone, _)| bone)
}
