//! Backward Euler and SDIRK2 time integration by optimisation: each stage minimises an incremental potential over free nodes, joint coordinates and dynamic obstacles, which is stable for any time step.
//!
//! ```text
//! U(x, q) = Σ m/(2h²) |x − x̂|² + Σ ‖A(q) − Â‖²_M/(2h²) + Ψ(x) + D(x, q) + joints(q) + loads + extra energies
//! x̂ = xₙ + h vₙ + h² g,      Â = 2 A(qₙ) − A(qₙ₋₁) + h² g
//! ```
//!
//! A is the pose of a bone (rotation and origin), M its second moments of mass. Nodes fixed to bones follow q; their motion is linearised in every iteration
//! and its second derivative neglected (Gauss–Newton), so that bones never make the system indefinite. Joints with prescribed motion are not unknowns; the gradient of U with respect to them is
//! the driving torque. Dynamic obstacles have terms of their own, see `rigid_obstacles`. The damping of [KimPollard2011, eq. 12] becomes the potential D, scaled to match explicit stepping over one time step.
//!
//! Reading order: `problem` is U with its gradient and Hessian; `newton` minimises it; `preconditioner` accelerates the linear solves; `second_order` combines two such solves into an SDIRK2 step.

mod barrier_solve;
mod bones;
mod deadline;
mod deformation_damping;
mod energy_limit;
mod flight;
mod home_terms;
mod linear_system;
mod minres;
mod newton;
mod pcg;
mod point_solver;
mod preconditioner;
mod problem;
mod rigid_obstacles;
mod second_order;
mod settings;
mod settle;
mod skin;
mod stagnation;
#[cfg(test)]
pub(crate) mod tests;

pub use deadline::Clock;
pub use settings::{
    ExactMethod, ImplicitContact, ImplicitSettings, Solver, SolverKind, SolverPick, SolverReason, StepOrder,
};
pub use settle::{SettleError, SettleReport, settle, settle_with};

use crate::constraint_forces::{ConstraintEnergy, ConstraintStep};
use crate::contact::{self, BarrierContact, ContactEnergy, Contacts};
use crate::coupling::BoneCoupling;
use crate::custom_bodies::CustomBodies;
use crate::exact_constraints::DroppedConstraint;
use crate::muscle_energy::MuscleEnergy;
use crate::substep::Substep;
use crate::{Control, Model, NodeEnergy, SolveReport, State, StepError, StepReport};
use deadline::Budget;
use flight::Flight;
use newton::Newton;
use problem::Problem;
use second_order::SecondOrder;
use sinew_math::Vec3;
use std::sync::Arc;

/// Workspace of implicit steps: dropping it costs time but never changes a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Implicit {
    problem: Problem,
    newton: Newton,
    /// The same for first-order stages that replace a second-order one because a new contact began.
    demoted: Newton,
    second_order: SecondOrder,
    flight: Flight,
    /// Which parts flew in the first of two stages.
    first_flight: Flight,
    coupling: BoneCoupling,
    constraint_energy: ConstraintEnergy,
    contact_energy: ContactEnergy,
    barrier: BarrierContact,
    /// Whether the current stage keeps surfaces apart by barriers.
    uses_barrier: bool,
    /// The energy at the beginning of such a stage, if nothing from outside does work in it (J).
    energy_limit: Option<f64>,
    custom_bodies: CustomBodies,
    muscles: MuscleEnergy,
    torques: Vec<Vec<f64>>,
    before: State,
    /// Measures time against the budget.
    pub(crate) clock: Option<Arc<dyn Clock>>,
}

/// Inputs of a step.
#[derive(Clone, Copy)]
struct Task<'a> {
    model: &'a Model,
    control: &'a Control,
    settings: &'a ImplicitSettings,
}

/// One solve of a step.
#[derive(Clone, Copy, Debug)]
struct Stage {
    kind: StageKind,
    /// The interval it integrates.
    substep: Substep,
    /// Duration of the sub-step that it is part of (s).
    whole: f64,
    is_demoted: bool,
}

/// Position of a solve within its sub-step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StageKind {
    /// The only stage: backward Euler.
    Only,
    /// The first of two SDIRK2 stages.
    First,
    /// The second of two SDIRK2 stages.
    Second,
}

impl Stage {
    /// Replaces the second of two stages by a first-order step from the end of the first. Extrapolating beyond a first stage that was stopped by an impact would rebound
    /// at up to 1.4 times the impact velocity.
    fn demoted(self) -> Stage {
        let substep = Substep { h: (1.0 - second_order::FRACTION) * self.whole, ..self.substep };
        Stage { kind: StageKind::Only, substep, is_demoted: true, ..self }
    }

    /// How far a first-order solve is ahead of a free fall (m): ½ h² g.
    fn ahead(&self, model: &Model) -> Vec3 {
        0.5 * self.substep.h * self.substep.h * model.gravity()
    }

    /// The same for the first of two stages (m).
    fn first_ahead(&self, model: &Model) -> Vec3 {
        let h = second_order::FRACTION * self.whole;
        0.5 * h * h * model.gravity()
    }
}

impl Implicit {
    /// Advances the state by `dt` (s).
    pub(crate) fn step(
        &mut self,
        model: &Model,
        control: &Control,
        settings: &ImplicitSettings,
        extras: &mut [&mut dyn NodeEnergy],
        dt: f64,
        state: &mut State,
    ) -> Result<StepReport, StepError> {
        // time budget and a copy of the state to restore on failure
        let mut solve = SolveReport::CONVERGED;
        let mut max_inverted = 0;
        let can_collide = Contacts::can_collide_in(model, control);
        let Some(mut budget) = Budget::open(settings.budget, self.clock.as_ref()) else {
            return Err(StepError::NoClock(settings.budget.unwrap_or_default()));
        };
        self.before.copy_from(state);
        let mut solves_left = stages(settings, dt).count();
        let mut was_struck = false;
        let task = Task { model, control, settings };
        let (mut barrier_substeps, mut barrier_fallbacks) = (0, 0);

        // one solve per stage; an impact during second-order stages reduces them to first order
        for stage in stages(settings, dt) {
            let was_in_contact = state.anchors.len() + state.pair_anchors.len();
            let stage = if was_struck { stage.demoted() } else { stage };
            let begins_apart = match self.choose_contact(task, state) {
                Ok(is_apart) => is_apart,
                Err(error) => {
                    state.copy_from(&self.before);
                    return Err(error);
                }
            };
            self.uses_barrier = begins_apart;
            self.energy_limit = None;
            let mut found = self.solve(task, stage, extras, (&mut budget, solves_left), state);
            let is_struck = can_collide && self.is_struck(was_in_contact);
            let mut last = stage;
            if is_struck && stage.kind == StageKind::Second {
                last = stage.demoted();
                let again = self.solve(task, last, extras, (&mut budget, solves_left), state);
                found =
                    SolveReport { converged: again.converged, residual: again.residual, ..found.and(again) };
            }
            if !found.residual.is_finite() {
                state.copy_from(&self.before);
                return Err(self.problem.failure(model, state, &found));
            }
            was_struck = is_struck && stage.kind == StageKind::First;
            solves_left -= 1;
            max_inverted = max_inverted.max(self.newton_of(last).inverted());
            solve = solve.and(found);

            // new positions, velocities and contact history
            self.finish(model, control, last, state);
            if can_collide {
                self.finish_contact(model, state);
            }
            if let Some(limit) = self.energy_limit.filter(|_| last.kind == StageKind::Only) {
                energy_limit::limit_energy(model, &self.barrier, limit, state);
            }
            barrier_substeps += usize::from(self.uses_barrier);
            barrier_fallbacks += usize::from(begins_apart && !self.uses_barrier);
        }
        state.time = self.before.time + dt;
        let substeps = settings.substeps.max(1);
        let in_contact = match (can_collide, self.uses_barrier) {
            (false, _) => 0,
            (true, false) => self.contact_energy.in_contact(),
            (true, true) => self.barrier.in_contact(),
        };
        let report = StepReport { substeps, max_inverted, in_contact, ..StepReport::default() };
        Ok(StepReport { barrier_substeps, barrier_fallbacks, solve: Some(solve), ..report })
    }

    /// Whether a contact began in the last stage, with this many before it; with barriers whether there is one.
    fn is_struck(&self, before: usize) -> bool {
        if self.uses_barrier { self.barrier.energy() > 0.0 } else { self.contact_energy.met() > before }
    }

    /// Writes obstacles and the history of contacts at the end of a stage.
    fn finish_contact(&mut self, model: &Model, state: &mut State) {
        if self.uses_barrier {
            self.barrier.finish(model, state);
            state.supplied_energy += self.barrier.energy();
        } else {
            self.contact_energy.finish(model, state);
            state.supplied_energy += self.contact_energy.energy();
        }
    }

    /// Solves one stage of a step; the state does not change.
    fn solve(
        &mut self,
        Task { model, control, settings }: Task,
        stage: Stage,
        extras: &mut [&mut dyn NodeEnergy],
        (budget, solves_left): (&mut Budget, usize),
        state: &State,
    ) -> SolveReport {
        // the incremental potential of the stage
        let substep = stage.substep;
        self.problem.uses_multipliers = settings.exact == ExactMethod::Multipliers;
        self.problem.begin(model, control, substep, state);
        let bones = &self.problem.start_frames;
        self.constraint_energy.begin(
            model,
            control,
            ConstraintStep { substep, is_damped: true, bones },
            state,
        );
        self.begin_stage(model, control, stage, state);
        self.begin_custom_bodies(model, stage, state);
        self.muscles.begin(model, control, substep.to);
        if self.uses_barrier {
            let task = Task { model, control, settings };
            if let Some(found) = self.solve_with_barrier(task, stage, extras, (budget, solves_left), state) {
                if stage.kind == StageKind::First {
                    core::mem::swap(&mut self.first_flight, &mut self.flight);
                }
                return found;
            }
            self.uses_barrier = false;
        }

        // external energies: contacts, constraints and custom bodies
        let can_collide = Contacts::can_collide_in(model, control);
        if can_collide {
            self.contact_energy.begin(model, control, substep, state);
        }
        let mut contact_nodes = self.contact_energy.on(model, state);
        let mut all = self.constraint_energy.beside(model, extras);
        if can_collide {
            all.push(&mut contact_nodes);
        }
        if self.custom_bodies.has_energies() {
            all.push(&mut self.custom_bodies);
        }
        self.muscles.join(&mut all);
        let newton = if stage.is_demoted { &mut self.demoted } else { &mut self.newton };
        newton.is_stiff = false;
        newton.start(&mut self.problem, model, &mut all);

        // minimisation
        newton.deadline = budget.begin(solves_left);
        let found = newton.minimise(&mut self.problem, model, settings, &mut all);
        budget.end();
        let Implicit { problem, .. } = self;
        if problem.obstacles.any() {
            problem.place_bones(model, newton.point_mut());
            problem.show_bodies(newton.point(), &mut all);
            problem.obstacles.find_flying(problem.bone_count(), &newton.point().x, &mut all);
        }
        self.flight.find(model, &self.problem, (&newton.point().x, stage.ahead(model)), &mut all);
        if stage.kind == StageKind::First {
            core::mem::swap(&mut self.first_flight, &mut self.flight);
            self.problem.obstacles.keep_flying();
        }
        found
    }

    fn newton_of(&self, stage: Stage) -> &Newton {
        if stage.is_demoted { &self.demoted } else { &self.newton }
    }

    /// Turns the problem into that of a stage of a second-order step.
    fn begin_stage(&mut self, model: &Model, control: &Control, stage: Stage, state: &State) {
        let Implicit { problem, constraint_energy, second_order, .. } = self;
        match stage.kind {
            StageKind::Only => problem.bones.aim_along_paths(model, control, &problem.onward.rigs),
            StageKind::First => {
                let Substep { from, dt, .. } = stage.substep;
                let whole = Substep { from, to: from + stage.whole / dt, h: stage.whole, dt };
                second_order.begin_first(model, control, whole, (problem, constraint_energy), state);
            }
            StageKind::Second => {
                second_order.begin_second(model, control, (problem, constraint_energy), state)
            }
        }
    }

    /// Sets what the dampers of custom bodies refer to.
    fn begin_custom_bodies(&mut self, model: &Model, stage: Stage, state: &State) {
        self.custom_bodies.prepare(model);
        let h = stage.substep.h;
        if self.custom_bodies.has_energies() {
            let at_end = state.time + stage.substep.to * stage.substep.dt;
            self.custom_bodies.see_start(&self.problem.start_frames, at_end);
        }
        if stage.kind == StageKind::Second {
            self.custom_bodies.begin_step(self.second_order.start_x(), h);
            self.custom_bodies.begin_beyond(&state.node_x, second_order::EXTRAPOLATION);
        } else {
            self.custom_bodies.begin_step(&state.node_x, h);
        }
    }

    /// Exact constraints that could not be held in the last solve.
    pub(crate) fn dropped(&self) -> &[DroppedConstraint] {
        &self.problem.exact.dropped
    }

    /// Torques of all drives of a rig in the last completed step (N m or N).
    pub(crate) fn torques(&self, rig: usize) -> &[f64] {
        self.torques.get(rig).map_or(&[], Vec::as_slice)
    }

    /// Writes positions, velocities and torques to the state, and resets the energy balance.
    fn finish(&mut self, model: &Model, control: &Control, stage: Stage, state: &mut State) {
        // velocities: by differences, or by SDIRK2
        let Implicit { problem, newton, demoted, second_order, .. } = self;
        let newton = if stage.is_demoted { demoted } else { newton };
        let point = newton.point();
        if stage.kind == StageKind::Second {
            second_order.write_velocities(model, control, (problem, stage.whole), point, state);
        } else {
            for (node, x) in point.x.iter().enumerate() {
                state.node_v[node] = (x - state.node_x[node]) / stage.substep.h;
            }
            for (i, (rig, own)) in model.rigs().iter().zip(&mut state.rigs).enumerate() {
                let start = own.clone();
                point.rigs[i].difference_from(&rig.skeleton, &start, &mut own.v);
                own.v.iter_mut().for_each(|v| *v /= stage.substep.h);
                let control = control.rigs.get(i).filter(|_| stage.kind == StageKind::Only);
                let drives = control.map_or(&[][..], |control| &control.drives);
                for (_, bone) in second_order::prescribed(rig.skeleton.bones(), drives) {
                    let v = bone.joint.v();
                    own.v[v.clone()].copy_from_slice(&problem.onward.rigs[i].v[v]);
                }
            }
        }

        // positions, torques and nodes fixed to bones
        state.node_x.clone_from(&point.x);
        if stage.kind == StageKind::Only {
            self.flight.move_back(model, &stage.ahead(model), &mut state.node_x);
        }
        if stage.is_demoted && !self.uses_barrier {
            self.first_flight.move_back(model, &stage.first_ahead(model), &mut state.node_x);
        }
        let ahead = if stage.kind == StageKind::Only { stage.ahead(model) } else { Vec3::zeros() };
        let earlier = if stage.is_demoted { stage.first_ahead(model) } else { Vec3::zeros() };
        self.problem.obstacles.write(model, &point.obstacles, [ahead, earlier], state);
        for (found, own) in point.rigs.iter().zip(&mut state.rigs) {
            own.q.clone_from(&found.q);
        }
        let at_end = (newton.joint_gradient(), point.rigs.as_slice());
        self.problem.write_torques(model, control, at_end, &mut self.torques);
        if !model.rigs().is_empty() {
            self.coupling.prepare(model);
            self.coupling.refresh(model, state);
            self.coupling.place_fixed_nodes(model, state);
        }
        if self.custom_bodies.has_energies() {
            let at_end = state.time + stage.substep.to * stage.substep.dt;
            self.custom_bodies.see_layers(&self.coupling.fields, at_end, 0.0);
            self.custom_bodies.lift_from_layers(model, state);
        }

        // numerical damping dissipates energy, so the supplied energy starts anew
        let bones = self.coupling.energies(model, state);
        let obstacles = contact::energies(model, state);
        state.supplied_energy = bones.kinetic
            + bones.potential
            + bones.elastic
            + self.problem.elastic_energy()
            + self.custom_bodies.energy(&state.node_x)
            + state.node_kinetic_energy(model)
            + state.node_potential_energy(model)
            + obstacles.kinetic
            + obstacles.potential;
    }
}

/// The stages of a step of `dt` (s).
fn stages(settings: &ImplicitSettings, dt: f64) -> impl Iterator<Item = Stage> {
    let (substeps, order) = (settings.substeps.max(1), settings.order);
    let whole = dt / substeps as f64;
    let kinds: &[StageKind] = match order {
        StepOrder::First => &[StageKind::Only],
        StepOrder::Second => &[StageKind::First, StageKind::Second],
    };
    (0..substeps).flat_map(move |substep| {
        let [from, to] = [substep, substep + 1].map(|i| i as f64 / substeps as f64);
        let between = from + (to - from) * second_order::FRACTION;
        kinds.iter().map(move |&kind| {
            let part = second_order::FRACTION * whole;
            let substep = match kind {
                StageKind::Only => Substep { from, to, h: whole, dt },
                StageKind::First => Substep { from, to: between, h: part, dt },
                StageKind::Second => Substep { from: between, to, h: part, dt },
            };
            Stage { kind, substep, whole, is_demoted: false }
        })
    })
}
