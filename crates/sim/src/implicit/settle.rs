//! Static equilibrium by pseudo-transient continuation.
//!
//! The incremental potential with zero velocity is minimised repeatedly with increasing time steps, so that the inertial regularisation vanishes:
//!
//! ```text
//! min Ψ + loads + joints + Σ m/(2h²) |x − x_k − h² g|²,      h = 1/20 s, 1/4 s, 5/4 s, …
//! ```
//!
//! The gradient without the inertial term measures the distance from equilibrium.

use super::Solver;
use super::newton::Newton;
use super::problem::{Gradient, Problem};
use super::settings::{ExactMethod, ImplicitSettings};
use crate::NodeEnergy;
use crate::SolveReport;
use crate::constraint_forces::{ConstraintEnergy, ConstraintStep};
use crate::contact::{ContactEnergy, Contacts};
use crate::custom_bodies::CustomBodies;
use crate::muscle_energy::MuscleEnergy;
use crate::step_model::with_numbers;
use crate::substep::Substep;
use crate::{Control, Model, State};
use sinew_math::Vec3;

/// Result of a search for static equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettleReport {
    /// Whether the gradient norm fell to the tolerance.
    pub converged: bool,
    /// Norm of the remaining static gradient relative to the weight.
    pub residual: f64,
    /// Number of continuation steps.
    pub rounds: usize,
    /// Total work of all continuation steps.
    pub work: SolveReport,
}

/// A static solve failed. The state is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettleError {
    /// The control does not match the model.
    #[error("{0}")]
    BadControl(String),
    /// A body has generalised coordinates, which are not supported.
    #[error(
        "settling moves nodes, joints and obstacles only, but body '{0}' has generalised coordinates: simulate until it rests"
    )]
    OwnCoordinates(String),
    /// Flesh that rests at its skinned shape hangs on joints that forces move.
    #[error(
        "skeleton '{0}' has limp or driven joints, and flesh that rests at its skinned shape settles only where all joints follow a motion: use `shape = \"physical\"`"
    )]
    FreeHome(String),
    /// The solution contains NaN or infinite values.
    #[error(
        "no static equilibrium was found: positions are not finite after {rounds} rounds; look for very large loads"
    )]
    NotFinite {
        /// Number of continuation steps up to the failure.
        rounds: usize,
    },
}

/// Maximum number of continuation steps.
const MAX_ROUNDS: usize = 40;
/// First pseudo time step (s), and the factor between successive ones.
const FIRST_STEP: f64 = 0.05;
const GROWTH: f64 = 5.0;
/// Largest pseudo time step (s) if no joint is unknown: inertia is then negligible.
const MAX_STEP: f64 = 1e3;
/// Largest pseudo time step (s) with unknown joints or dynamic obstacles: the second derivative of a swinging bone's height is neglected in the Hessian, and inertia regularises it.
const MAX_STEP_WITH_JOINTS: f64 = 1.0;

/// Finds static equilibrium under a control: pins and joints with prescribed motion are at the end of their paths, all other joints, nodes and dynamic obstacles in equilibrium. Velocities become 0.
pub fn settle(model: &Model, control: &Control, state: &mut State) -> Result<SettleReport, SettleError> {
    settle_with(model, control, &ImplicitSettings::ACCURATE, &mut [], state)
}

/// [`settle`] with the given tolerance and additional node energies.
pub fn settle_with(
    model: &Model,
    control: &Control,
    settings: &ImplicitSettings,
    extras: &mut [&mut dyn NodeEnergy],
    state: &mut State,
) -> Result<SettleReport, SettleError> {
    check(model, control)?;
    if !control.changes(model) {
        return settle_in(model, control, settings, extras, state);
    }
    let report = settle_in(&with_numbers(model, control), control, settings, extras, state)?;
    // the energy account refers to the gravity of the model itself
    state.restart(model);
    Ok(report)
}

/// Settles under the gravity of a model.
fn settle_in(
    model: &Model,
    control: &Control,
    settings: &ImplicitSettings,
    extras: &mut [&mut dyn NodeEnergy],
    state: &mut State,
) -> Result<SettleReport, SettleError> {
    // the unknowns, and the energies besides elasticity
    let (mut problem, mut newton) = (Problem::default(), Newton::default());
    newton.is_settling = true;
    let mut now = state.clone();
    let mut report =
        SettleReport { converged: false, residual: f64::INFINITY, rounds: 0, work: SolveReport::CONVERGED };
    let (mut custom_bodies, mut muscles) = (CustomBodies::of(model), MuscleEnergy::at_end(model, control));
    custom_bodies.see_start(&[], state.time);
    let (mut constraint_energy, mut contact_energy) = (ConstraintEnergy::default(), ContactEnergy::default());
    let can_collide = Contacts::can_collide_in(model, control);

    // contacts are detected only after a round has begun, and its residual is relative to the whole weight
    let round = ImplicitSettings { tolerance: 0.5 * settings.tolerance, ..*settings };
    let mut h = FIRST_STEP;
    let mut joints_before: Vec<Vec<f64>> = Vec::new();
    while report.rounds < MAX_ROUNDS && !report.converged {
        // the static problem, regularised with a pseudo time step
        report.rounds += 1;
        stop(&mut now);
        problem.uses_multipliers = settings.exact == ExactMethod::Multipliers;
        problem.begin_static(model, control, h, &now);
        let bones = &problem.start_frames;
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
        muscles.join(&mut all);

        // its minimum, and the residual without the regularisation
        newton.start(&mut problem, model, &mut all);
        let found = newton.minimise(&mut problem, model, &round, &mut all);
        if !found.residual.is_finite() {
            return Err(SettleError::NotFinite { rounds: report.rounds });
        }
        report.work = report.work.and(found);
        let gradient = static_gradient(&problem, &newton, &now);
        let weight = problem.small_gradient(model).max(problem.weight(model));
        report.residual = problem.norm(&gradient) / weight;

        // joints must be stationary as well
        report.converged = report.residual <= settings.tolerance
            && joints_stay(&problem, &newton, &joints_before, settings.tolerance);
        joints_before = newton.point().rigs.iter().map(|rig| rig.q.clone()).collect();

        // next round from there, with a longer pseudo time step
        move_to(model, &problem, &newton, &mut now);
        if can_collide {
            contact_energy.finish(model, &mut now);
        }
        h = (h * GROWTH).min(max_step(&problem));
    }
    stop(&mut now);
    now.restart(model);
    *state = now;
    Ok(report)
}

/// Whether no joint coordinate that is sought has moved since the round before.
fn joints_stay(problem: &Problem, newton: &Newton, before: &[Vec<f64>], tolerance: f64) -> bool {
    let rigs = &newton.point().rigs;
    let stays = |(found, before): (&sinew_skeleton::SkeletonState, &Vec<f64>)| {
        found.q.iter().zip(before).all(|(q, before)| (q - before).abs() <= tolerance)
    };
    !problem.bones.any_sought() || (before.len() == rigs.len() && rigs.iter().zip(before).all(stays))
}

/// Moves nodes, joints and obstacles to the minimum that was found.
fn move_to(model: &Model, problem: &Problem, newton: &Newton, state: &mut State) {
    let found = newton.point();
    state.node_x.clone_from(&found.x);
    for (own, found) in state.rigs.iter_mut().zip(&found.rigs) {
        own.q.clone_from(&found.q);
    }
    problem.obstacles.write(model, &found.obstacles, [Vec3::zeros(); 2], state);
}

fn max_step(problem: &Problem) -> f64 {
    let has_rigid_bodies = problem.bones.any_sought() || problem.obstacles.any_sought();
    if has_rigid_bodies { MAX_STEP_WITH_JOINTS } else { MAX_STEP }
}

/// Sets all velocities to 0.
fn stop(state: &mut State) {
    state.node_v.iter_mut().for_each(|v| *v = Vec3::zeros());
    state.rigs.iter_mut().for_each(|rig| rig.v.fill(0.0));
    for obstacle in &mut state.obstacles {
        (obstacle.linear, obstacle.angular) = (Vec3::zeros(), Vec3::zeros());
    }
}

/// Rejects a control that does not match the model, and models that settling does not support.
fn check(model: &Model, control: &Control) -> Result<(), SettleError> {
    if let Some(fault) = control.fault(model) {
        return Err(SettleError::BadControl(fault));
    }
    if let Some(name) = control.free_home(model) {
        return Err(SettleError::FreeHome(name.to_owned()));
    }
    let reduced = model.reduced_body().map(|body| SettleError::OwnCoordinates(body.name.clone()));
    reduced.map_or(Ok(()), Err)
}

/// The static gradient: that of the step without the inertial term m (x − x_k)/h².
fn static_gradient(problem: &Problem, newton: &Newton, before: &State) -> Gradient {
    let mut gradient = newton.gradient().clone();
    for (node, gradient) in gradient.nodes.iter_mut().enumerate() {
        *gradient -= problem.inertia[node] * (newton.point().x[node] - before.node_x[node]);
    }
    if !problem.uses_multipliers {
        problem.exact.project(&mut gradient.nodes);
    }
    problem.obstacles.subtract_inertia(&newton.point().obstacles, &mut gradient.obstacles);
    // the inertial term of joints vanishes as their increments do
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
