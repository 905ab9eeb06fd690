//! Rest: where nothing is left to move a world.
//!
//! The potential of a step without velocities is minimised again and again, each time with a longer step, so that inertia holds back less and less:
//!
//! ```text
//! min Ψ + loads + joints + Σ m/(2h²) |x − x_k − h² g|²,      h = 1/20 s, 1/4 s, 5/4 s, …
//! ```
//!
//! What is left of the gradient without inertia tells how far from rest the world is.

use super::Solver;
use super::newton::Newton;
use super::problem::{Gradient, Problem};
use super::settings::ImplicitSettings;
use crate::NodeEnergy;
use crate::SolveReport;
use crate::constraint_forces::{ConstraintEnergy, ConstraintStep};
use crate::contact::{ContactEnergy, Contacts};
use crate::custom_bodies::CustomBodies;
use crate::substep::Substep;
use crate::{Control, Model, State};
use sinew_math::Vec3;

/// How a world came to rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettleReport {
    /// Whether the gradient fell to the tolerance.
    pub converged: bool,
    /// The gradient of the potential that is left, in parts of all weights.
    pub residual: f64,
    /// Rounds with longer and longer steps.
    pub rounds: usize,
    /// The work of all rounds.
    pub work: SolveReport,
}

/// A world that could not be settled. The state is as it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettleError {
    /// The control does not fit the model.
    #[error("{0}")]
    BadControl(String),
    /// An obstacle may move, which is not seen.
    #[error(
        "settling leaves obstacles where they are, and this scene has free ones: fix or remove them, or simulate until it rests"
    )]
    FreeObstacles,
    /// A body has coordinates of its own.
    #[error(
        "settling moves points and joints, and body '{0}' has coordinates of its own: simulate until it rests"
    )]
    OwnCoordinates(String),
    /// The solution is not finite.
    #[error(
        "the world has no rest that could be found: after {rounds} rounds positions were no numbers; look for huge loads"
    )]
    NotFinite {
        /// Rounds until then.
        rounds: usize,
    },
}

/// The most rounds.
const MAX_ROUNDS: usize = 40;
/// The first step (s), and how much longer each next one is.
const FIRST_STEP: f64 = 0.05;
const GROWTH: f64 = 5.0;
/// The longest step (s) if no joint is sought: inertia then is nothing.
const LONGEST: f64 = 1e3;
/// The longest step (s) with joints that are sought: the Hessian of a swinging bone's height is left out of the system, and inertia stands in for it.
const LONGEST_WITH_JOINTS: f64 = 1.0;

/// Brings a world to rest under a control: pins at the end of their paths, joints on paths at their end, all others where they balance. Velocities become 0.
pub fn settle(model: &Model, control: &Control, state: &mut State) -> Result<SettleReport, SettleError> {
    settle_with(model, control, &ImplicitSettings::ACCURATE, &mut [], state)
}

/// [`settle`], to a tolerance, with more energies of nodes.
pub fn settle_with(
    model: &Model,
    control: &Control,
    settings: &ImplicitSettings,
    extras: &mut [&mut dyn NodeEnergy],
    state: &mut State,
) -> Result<SettleReport, SettleError> {
    if let Some(fault) = control.fault(model) {
        return Err(SettleError::BadControl(fault));
    }
    let (mut problem, mut newton) = (Problem::default(), Newton::default());
    let mut now = state.clone();
    let mut report =
        SettleReport { converged: false, residual: f64::INFINITY, rounds: 0, work: SolveReport::CONVERGED };
    if model.has_free_obstacles() {
        return Err(SettleError::FreeObstacles);
    }
    if let Some(body) = model.reduced_body() {
        return Err(SettleError::OwnCoordinates(body.name.clone()));
    }
    let mut custom_bodies = CustomBodies::of(model);
    let (mut constraint_energy, mut contact_energy) = (ConstraintEnergy::default(), ContactEnergy::default());
    let can_collide = Contacts::can_collide_in(model, control);
    // a round begins before it is seen what touches, and is compared with the whole weight
    let round = ImplicitSettings { tolerance: 0.5 * settings.tolerance, ..*settings };
    let mut h = FIRST_STEP;
    let mut joints_before: Vec<Vec<f64>> = Vec::new();
    while report.rounds < MAX_ROUNDS && !report.converged {
        report.rounds += 1;
        now.node_v.iter_mut().for_each(|v| *v = Vec3::zeros());
        now.rigs.iter_mut().for_each(|rig| rig.v.fill(0.0));
        problem.begin_static(model, control, h, &now);
        let bones = &problem.bones.start_frames;
        let substep = Substep::at_end(h);
        constraint_energy.begin(model, control, ConstraintStep { substep, is_damped: false, bones }, &now);
        if can_collide {
            contact_energy.begin(model, control, substep, &now);
        }
        let mut contact_nodes = contact_energy.on(model, &now);
        let mut all = constraint_energy.beside(model, extras);
        if can_collide {
            all.push(&mut contact_nodes);
        }
        if custom_bodies.has_energies() {
            all.push(&mut custom_bodies);
        }
        newton.start(&mut problem, model, &mut all);
        let found = newton.minimise(&mut problem, model, &round, &mut all);
        if !found.residual.is_finite() {
            return Err(SettleError::NotFinite { rounds: report.rounds });
        }
        report.work = report.work.and(found);
        let gradient = static_gradient(&problem, &newton, &now);
        let weight = problem.small_gradient(model).max(problem.weight(model));
        report.residual = problem.norm(&gradient) / weight;
        let stays = |(found, before): (&sinew_skeleton::SkeletonState, &Vec<f64>)| {
            found.q.iter().zip(before).all(|(q, before)| (q - before).abs() <= settings.tolerance)
        };
        let joints_stay = !problem.bones.any_sought()
            || (joints_before.len() == now.rigs.len()
                && newton.point().rigs.iter().zip(&joints_before).all(stays));
        joints_before = newton.point().rigs.iter().map(|rig| rig.q.clone()).collect();
        report.converged = report.residual <= settings.tolerance && joints_stay;
        now.node_x.clone_from(&newton.point().x);
        for (own, found) in now.rigs.iter_mut().zip(&newton.point().rigs) {
            own.q.clone_from(&found.q);
        }
        if can_collide {
            contact_energy.finish(model, &mut now);
        }
        let longest = if problem.bones.any_sought() { LONGEST_WITH_JOINTS } else { LONGEST };
        h = (h * GROWTH).min(longest);
    }
    now.rigs.iter_mut().for_each(|rig| rig.v.fill(0.0));
    now.restart(model);
    *state = now;
    Ok(report)
}

/// The gradient without what inertia holds back: that of the step less m (x − x_k)/h².
fn static_gradient(problem: &Problem, newton: &Newton, before: &State) -> Gradient {
    let mut gradient = newton.gradient().clone();
    for (node, gradient) in gradient.nodes.iter_mut().enumerate() {
        *gradient -= problem.inertia[node] * (newton.point().x[node] - before.node_x[node]);
    }
    // joints move by less and less, and their part with them
    gradient
}

impl Solver {
    /// A short name for reports.
    pub fn name(&self) -> &'static str {
        match self {
            Solver::Explicit => "explicit",
            Solver::Implicit(_) => "implicit",
            Solver::Auto(_) => "auto",
        }
    }
}
