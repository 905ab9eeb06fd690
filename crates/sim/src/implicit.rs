//! Implicit stepping: backward Euler as the minimum of one potential over free nodes and joint coordinates, stable for any step.
//!
//! ```text
//! U(x, q) = Σ m/(2h²) |x − x̂|² + Σ ‖A(q) − Â‖²_M/(2h²) + Ψ(x) + D(x, q) + joints(q) + loads + extra energies
//! x̂ = xₙ + h vₙ + h² g,      Â = 2 A(qₙ) − A(qₙ₋₁) + h² g
//! ```
//!
//! A is where a bone is (its rotation and origin), M its second moments of mass. Nodes fixed to bones follow q; their motion is linearised anew in every iteration
//! and its curvature left out (Gauss-Newton), so that bones never make the system indefinite. Joints on a path drop out, and the slope of U along them is the torque that
//! keeps them on it. The drag of [KimPollard2011, eq. 12] is the potential D, as strong over a step as in explicit stepping.
//!
//! Reading order: `problem` is U with its slope and curvature; `newton` minimises it; `preconditioner` makes that fast.

mod bones;
mod extra;
mod newton;
mod pcg;
mod preconditioner;
mod problem;
mod settings;
mod settle;
mod skin;
#[cfg(test)]
mod tests;

pub use extra::{NodeEnergy, PointSprings};
pub use settings::{ImplicitSettings, SolveReport, Solver, SolverKind, SolverPick, SolverReason};
pub use settle::{SettleError, SettleReport, settle, settle_with};

use crate::constraint::{Held, HeldStep};
use crate::contact::{Contacts, Pressing};
use crate::coupling::Link;
use crate::{Control, Model, State, StepError, StepReport};
use newton::Newton;
use problem::Problem;

/// Scratch of implicit stepping: dropping it costs time, never a different answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Implicit {
    problem: Problem,
    newton: Newton,
    link: Link,
    held: Held,
    pressing: Pressing,
    torques: Vec<Vec<f64>>,
}

impl Implicit {
    /// Takes the state `dt` (s) further.
    pub(crate) fn step(
        &mut self,
        model: &Model,
        control: &Control,
        settings: &ImplicitSettings,
        extras: &mut [&mut dyn NodeEnergy],
        dt: f64,
        state: &mut State,
    ) -> Result<StepReport, StepError> {
        let substeps = settings.substeps.max(1);
        let h = dt / substeps as f64;
        let start = (state.time, state.supplied_energy);
        let mut solve = SolveReport::CONVERGED;
        let mut max_inverted = 0;
        let can_touch = Contacts::can_touch_in(model, control);
        for substep in 1..=substeps {
            // what is to be minimised, and where to begin
            let [from, to] = [substep - 1, substep].map(|i| i as f64 / substeps as f64);
            self.problem.begin(model, control, (dt, to, h), state);
            let bones = &self.problem.bones.start_frames;
            let step = HeldStep { shares: [from, to], h, is_damped: true, bones };
            self.held.begin(model, control, step, state);
            if can_touch {
                self.pressing.begin(model, control, ([from, to], h), state);
            }
            let mut pressed = self.pressing.on(model, state);
            let mut all = self.held.beside(model, extras);
            if can_touch {
                all.push(&mut pressed);
            }
            self.newton.start(&mut self.problem, model, &mut all);

            // the minimum
            let found = self.newton.minimise(&mut self.problem, model, settings, &mut all);
            if !found.residual.is_finite() {
                (state.time, state.supplied_energy) = start;
                return Err(self.problem.failure(model, state, &found));
            }
            max_inverted = max_inverted.max(self.newton.inverted());
            solve = solve.and(found);

            // what follows from it
            self.finish(model, control, h, state);
            if can_touch {
                self.pressing.finish(model, state);
                state.supplied_energy += self.pressing.energy();
            }
        }
        state.time = start.0 + dt;
        let touching = if can_touch { self.pressing.touching() } else { 0 };
        Ok(StepReport { substeps, max_inverted, touching, solve: Some(solve), ..StepReport::default() })
    }

    /// Torques of all drives of a rig in the last step taken (N m or N).
    pub(crate) fn torques(&self, rig: usize) -> &[f64] {
        self.torques.get(rig).map_or(&[], Vec::as_slice)
    }

    /// Writes positions, velocities and torques, and opens a new account of the energy.
    fn finish(&mut self, model: &Model, control: &Control, h: f64, state: &mut State) {
        let point = self.newton.point();
        for (node, x) in point.x.iter().enumerate() {
            state.node_v[node] = (x - state.node_x[node]) / h;
            state.node_x[node] = *x;
        }
        for ((rig, found), own) in model.rigs.iter().zip(&point.rigs).zip(&mut state.rigs) {
            let start = own.clone();
            found.way_from(&rig.skeleton, &start, &mut own.v);
            own.v.iter_mut().for_each(|v| *v /= h);
            own.q.clone_from(&found.q);
        }
        self.problem.write_torques(model, control, self.newton.joint_gradient(), &mut self.torques);
        if !model.rigs.is_empty() {
            self.link.attend(model);
            self.link.refresh(model, state);
            self.link.place_fixed_nodes(model, state);
        }
        let (kinetic, potential, springs) = self.link.energies(model, state);
        state.supplied_energy = kinetic
            + potential
            + springs
            + self.problem.elastic_energy()
            + state.node_kinetic_energy(model)
            + state.node_potential_energy(model);
    }
}
