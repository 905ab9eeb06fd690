//! Stages of implicit steps whose contact is a barrier: they begin where the state has everything, and no part of them leads through anything.
//!
//! The initial guess of a stage may lie on the other side of a surface, and so may what is prescribed: obstacles, pins and kinematic bones. Everything first goes towards the guess as far as nothing meets; then what is
//! prescribed goes on alone, in parts between which flesh gives way, until it is where it must be `[Li2020, §3.3]`. If it cannot, springs take the stage.

use super::deadline::Budget;
use super::energy_limit;
use super::newton::Newton;
use super::problem::{Point, Problem, vector};
use super::{Implicit, ImplicitContact, ImplicitSettings, Stage, Task};
use crate::constraint_forces::ConstraintEnergy;
use crate::contact::{BarrierContact, Contacts};
use crate::custom_bodies::CustomBodies;
use crate::muscle_energy::MuscleEnergy;
use crate::{Constraint, Control, Model, NodeEnergy, SolveReport, State, StepError};
use sinew_math::Vec3;
use sinew_math::sparse::Row;
use sinew_skeleton::SkeletonState;

/// Largest number of parts of prescribed motion in a stage.
const MAX_PARTS: usize = 200;
/// Newton iterations between two parts.
const ITERATIONS_PER_PART: usize = 3;
/// Prescribed motion that advances by less than this in a part is stuck: flesh has no room.
const MIN_PART: f64 = 1e-5;
/// Newton iterations of a stage relative to those of the settings: the first ones only lead up to contacts.
const MORE_ITERATIONS: usize = 5;
/// Attempts to shorten a motion along curves.
const MAX_ATTEMPTS: usize = 12;

impl Implicit {
    /// Whether a step from a state keeps surfaces apart by barriers.
    ///
    /// # Errors
    /// If barriers are asked for and the state has intersections, or obstacles that they do not support.
    pub(super) fn choose_contact(
        &mut self,
        Task { model, control, settings }: Task,
        state: &State,
    ) -> Result<bool, StepError> {
        if settings.contact == ImplicitContact::Springs || !Contacts::can_collide_in(model, control) {
            return Ok(false);
        }
        let is_asked = settings.contact == ImplicitContact::Barrier;
        if model.constraints().iter().any(Constraint::is_exact) {
            return if is_asked { Err(StepError::ExactWithBarrier) } else { Ok(false) };
        }
        if !BarrierContact::supports(model) {
            return if is_asked { Err(StepError::NoBarrier) } else { Ok(false) };
        }
        match self.barrier.intersections(model, state) {
            Some(intersections) if is_asked => {
                Err(StepError::Intersecting { time: state.time, intersections: intersections.to_string() })
            }
            found => Ok(found.is_none()),
        }
    }

    /// Solves a stage whose problem has been set up; none if prescribed motion leaves no room for flesh.
    pub(super) fn solve_with_barrier(
        &mut self,
        Task { model, control, settings }: Task,
        stage: Stage,
        extras: &mut [&mut dyn NodeEnergy],
        (budget, solves_left): (&mut Budget, usize),
        state: &State,
    ) -> Option<SolveReport> {
        // the initial guess and the reference gradient, without contact
        let Implicit { problem, newton, demoted, barrier, constraint_energy, custom_bodies, muscles, .. } =
            self;
        let newton = if stage.is_demoted { demoted } else { newton };
        barrier.begin(model, control, stage.substep, state);
        barrier.checks_path = problem.bones.any_sought();
        let mut all = energies(constraint_energy, (custom_bodies, muscles), model, extras);
        newton.start(problem, model, &mut all);
        newton.deadline = budget.begin(solves_left);
        newton.is_stiff = true;

        // the energy at the start, which may not rise if nothing does work from outside
        let mut way = Way::begin(problem, newton, barrier);
        if extras.is_empty() && !way.is_prescribed && energy_limit::is_closed(model) {
            let mut contact = barrier.on(model);
            newton.restart(problem, model, &mut [&mut contact]);
            let moving = state.node_kinetic_energy(model) + state.node_potential_energy(model);
            self.energy_limit = Some(moving + problem.elastic_energy() + barrier.energy());
        }

        // towards it, as far as nothing meets
        way.go(model, control, Movers::All, (problem, newton, barrier));
        newton.raise_reference(problem);
        if way.fraction < 1.0 {
            way.go(model, control, Movers::Prescribed, (problem, newton, barrier));
        }
        let mut report = SolveReport::CONVERGED;
        let some = ImplicitSettings { max_newton: ITERATIONS_PER_PART, ..*settings };
        while way.fraction < 1.0 {
            // flesh gives way to first order
            let before = way.fraction;
            barrier.begin_carrying(model, control);
            {
                let mut contact = barrier.on(model);
                let mut all = energies(constraint_energy, (custom_bodies, muscles), model, extras);
                all.push(&mut contact);
                way.displace(newton, problem, model, &mut all);
            }
            barrier.end_carrying();
            {
                let mut contact = barrier.on(model);
                let mut all = energies(constraint_energy, (custom_bodies, muscles), model, extras);
                all.push(&mut contact);
                way.response = newton.respond(problem, model, settings, &mut all).nodes.clone();
            }
            way.go(model, control, Movers::Response, (problem, newton, barrier));
            if way.fraction >= 1.0 {
                break;
            }
            way.parts += 1;
            if way.parts > MAX_PARTS || (way.parts > 4 && way.fraction - before < MIN_PART) {
                budget.end();
                return None;
            }
            let mut contact = barrier.on(model);
            let mut all = energies(constraint_energy, (custom_bodies, muscles), model, extras);
            all.push(&mut contact);
            newton.restart(problem, model, &mut all);
            report = report.and(newton.minimise(problem, model, &some, &mut all));
        }

        // the minimum, with everything that is prescribed in its place
        let mut contact = barrier.on(model);
        let mut all = energies(constraint_energy, (custom_bodies, muscles), model, extras);
        all.push(&mut contact);
        newton.restart(problem, model, &mut all);
        let settings = ImplicitSettings { max_newton: MORE_ITERATIONS * settings.max_newton, ..*settings };
        let found = newton.minimise(problem, model, &settings, &mut all);
        budget.end();
        self.flight.find(model, problem, (&newton.point().x, stage.ahead(model)), &mut all);
        Some(SolveReport { converged: found.converged, residual: found.residual, ..report.and(found) })
    }
}

/// All energies besides contact.
fn energies<'a>(
    constraint_energy: &'a mut ConstraintEnergy,
    (custom_bodies, muscles): (&'a mut CustomBodies, &'a mut MuscleEnergy),
    model: &Model,
    extras: &'a mut [&mut dyn NodeEnergy],
) -> Vec<&'a mut dyn NodeEnergy> {
    custom_bodies.prepare(model);
    let mut all = constraint_energy.beside(model, extras);
    if custom_bodies.has_energies() {
        all.push(custom_bodies);
    }
    muscles.join(&mut all);
    all
}

/// What moves towards the guess.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Movers {
    All,
    Prescribed,
    /// What is prescribed, and free nodes by their response to its remaining motion.
    Response,
}

/// The way of a stage from its start to its initial guess.
struct Way {
    /// The end of the way: the initial guess, with all that is prescribed in its place.
    end: Point,
    /// How much of the prescribed motion has been carried out.
    fraction: f64,
    /// Parts of it so far.
    parts: usize,
    /// Whether anything is prescribed to move.
    is_prescribed: bool,
    /// Displacement of free nodes in response to the remaining prescribed motion.
    response: Vec<Row>,
}

impl Way {
    /// Puts the current point back to the start of the stage.
    fn begin(problem: &mut Problem, newton: &mut Newton, barrier: &BarrierContact) -> Way {
        let end = newton.point().clone();
        let fixed = (0..end.x.len()).filter(|node| problem.inertia[*node] == 0.0);
        let moves = fixed.into_iter().any(|node| end.x[node] != problem.start.x[node]);
        newton.point_mut().clone_from(&problem.start);
        let is_prescribed = moves || barrier.obstacles_move();
        Way { end, fraction: 0.0, parts: 0, is_prescribed, response: Vec::new() }
    }

    /// Displaces nodes that are not free by the rest of their way.
    fn displace(
        &self,
        newton: &mut Newton,
        problem: &mut Problem,
        model: &Model,
        all: &mut [&mut dyn NodeEnergy],
    ) {
        let rest: Vec<Vec3> = self.end.x.iter().zip(&newton.point().x).map(|(end, x)| end - x).collect();
        newton.displace(problem, model, all, |node| rest[node]);
    }

    /// Moves the current point, and obstacles, on towards the end as far as nothing meets.
    fn go(
        &mut self,
        model: &Model,
        control: &Control,
        movers: Movers,
        (problem, newton, barrier): (&mut Problem, &mut Newton, &mut BarrierContact),
    ) {
        let mut fraction = 1.0;
        for _ in 0..MAX_ATTEMPTS {
            let next = self.point_at(model, problem, newton.point(), movers, fraction);
            let free = barrier.free_fraction(model, control, (&newton.point().x, &next.x), fraction);
            if free >= 1.0 {
                *newton.point_mut() = next;
                self.fraction = if self.is_prescribed { fraction } else { 1.0 };
                barrier.advance(model, control, &newton.point().x, self.fraction);
                return;
            }
            // what keeps a fifth of every gap along a line also does so over a part of it; curves may need another attempt
            fraction = self.fraction + 0.99 * free * (fraction - self.fraction);
        }
    }

    /// The point with everything that moves at a fraction of its way.
    fn point_at(
        &self,
        model: &Model,
        problem: &mut Problem,
        now: &Point,
        movers: Movers,
        fraction: f64,
    ) -> Point {
        let (start, end, mut next) = (&problem.start, &self.end, now.clone());
        if movers == Movers::Response {
            let part = (fraction - self.fraction) / (1.0 - self.fraction);
            let free = (0..next.x.len()).filter(|node| problem.inertia[*node] > 0.0);
            free.for_each(|node| next.x[node] += part * vector(&self.response[node]));
        }
        for node in 0..next.x.len() {
            if movers == Movers::All || problem.inertia[node] == 0.0 {
                let (from, to) = (start.x[node], end.x[node]);
                next.x[node] = if fraction == 1.0 { to } else { from + fraction * (to - from) };
            }
        }
        for (i, rig) in model.rigs().iter().enumerate() {
            let between = joints_between(&rig.skeleton, &start.rigs[i], &end.rigs[i], fraction);
            for bone in rig.skeleton.bones() {
                let is_sought =
                    bone.joint.v().any(|dof| problem.bones.is_sought[problem.bones.rig_dofs[i] + dof]);
                if movers == Movers::All || !is_sought {
                    let q = bone.joint.q();
                    next.rigs[i].q[q.clone()].copy_from_slice(&between.q[q]);
                }
            }
        }
        problem.place_bones(model, &mut next);
        next
    }
}

/// Joint coordinates at a fraction of the displacement between two states.
fn joints_between(
    skeleton: &sinew_skeleton::Skeleton,
    start: &SkeletonState,
    end: &SkeletonState,
    fraction: f64,
) -> SkeletonState {
    if fraction == 1.0 {
        return end.clone();
    }
    let mut between = start.clone();
    end.difference_from(skeleton, start, &mut between.v);
    between.move_along_velocity(skeleton, fraction);
    between
}
