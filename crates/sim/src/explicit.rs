//! Symplectic Euler time integration in sub-steps within the stability limit.
//!
//! ```text
//! vₙ₊₁ = ṗ + (vₙ + h (f(xₙ)/m + g) − ṗ) e^(−c h),     xₙ₊₁ = xₙ + h vₙ₊₁            [KimPollard2011, §5]
//! ```
//!
//! ṗ is the velocity at the node of the bone it is damped against. The part of the node's weight that is carried by bones is subtracted from g. Bones move after the nodes (see [`crate::coupling`]). Bodies without bones
//! are damped against their own rigid motion, see `part_motion`.
//!
//! A step that diverges is repeated from its start with twice the sub-steps, up to a limit; beyond that limit the initial state is restored and the error
//! reports where the step diverged. Later steps start with the same number of sub-steps and reduce it after a run of successful steps.

mod part_motion;
mod squeezed_flesh;

use crate::body::decay;
use crate::constraint_forces::{ConstraintForces, Surroundings};
use crate::contact::Contacts;
use crate::coupling::{BoneCoupling, HomePose, Pushes};
use crate::custom_bodies::CustomBodies;
use crate::energy_check::{EnergyCheck, worst_node};
use crate::exact_constraints::{DroppedConstraint, ExactConstraints};
use crate::metaphor_forces::MetaphorForces;
use crate::muscle_energy::MuscleEnergy;
use crate::node_energy::NodeEnergy;
use crate::substep::Substep;
use crate::{BoneError, Control, Energies, Model, State, StepError, StepReport, SubstepBackoff};
use part_motion::{MoveKernel, PartMotion};
use sinew_flesh::{CompressionLimit, CornerForces, Diagonalise, ForceReport, NodeMotion};
use sinew_math::Vec3;
use sinew_math::lanes::{Kernel, Lanes, dispatch};
use sinew_math::parallel::for_each_part;
use sinew_math::spatial::Wrench;

/// Workspace of explicit steps: dropping it costs time but never changes a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Explicit {
    corner_forces: CornerForces,
    compression: CompressionLimit,
    /// Load forces per node (N); empty if there are no loads.
    load: Vec<Vec3>,
    /// External forces except gravity, per node (N): loads, metaphors, contacts, constraints and custom bodies; empty if there are none.
    outside: Vec<Vec3>,
    contacts: Contacts,
    constraint_forces: ConstraintForces,
    metaphor_forces: MetaphorForces,
    muscles: MuscleEnergy,
    /// Activations of muscles in the sub-step before.
    activations_before: Vec<f64>,
    /// Velocity damping factor e^(−c h) of a sub-step, per body; unused for bodies without bones.
    decay: Vec<f64>,
    /// How bodies without bones move.
    part_motion: PartMotion,
    /// Reaction force on each node's bone in a sub-step: from damping and from gravity compensation (N); unused for nodes of bodies without bones.
    drag: Vec<Vec3>,
    /// For each free node with a home the fraction ρ of a change of its bones' velocity that it takes over within a sub-step.
    follow: Vec<f64>,
    coupling: BoneCoupling,
    homes: HomePose,
    custom_bodies: CustomBodies,
    /// Wrenches of constraints and of layers under skin on all bones; empty if there are none.
    bone_wrenches: Vec<Wrench>,
    exact: ExactConstraints,
    /// Exact constraints that could not be held in the last step.
    pub(crate) dropped: Vec<DroppedConstraint>,
    before: State,
}

/// Limit on the number of sub-steps in one step; more indicate an error in the input.
const MAX_SUBSTEPS: f64 = 1e6;

/// Nodes per parallel task.
const CHUNK: usize = 512;

impl Explicit {
    /// Advances the state by `dt` (s) in as many sub-steps as stability requires.
    pub(crate) fn step(
        &mut self,
        model: &Model,
        control: &Control,
        diagonalise: Diagonalise,
        dt: f64,
        state: &mut State,
    ) -> Result<StepReport, StepError> {
        // the fewest sub-steps within the stability limit
        let stable = model.stable_step().seconds;
        let fewest = (dt / stable).ceil().max(1.0);
        if fewest > MAX_SUBSTEPS {
            return Err(StepError::TooManySubsteps { dt, stable, substeps: fewest });
        }
        Contacts::make_room(model, state);
        self.before.copy_from(state);
        self.gather_loads(model, control);

        // retry with twice the sub-steps until the energy check passes
        let backoff = state.backoff;
        let (mut worst, mut substeps, mut bone_error) = (0, 0, None);
        for doublings in backoff.doublings..=SubstepBackoff::MAX_DOUBLINGS {
            substeps = self.contacts.prepare(model, control, state, dt, fewest as usize) << doublings;
            let found = self.substeps(model, control, diagonalise, (dt, substeps), state);
            bone_error = match found {
                Ok(report) if EnergyCheck::of(model, &self.coupling, &self.homes, state).is_sound() => {
                    state.supplied_energy -= self.constraint_energy(model, control, 1.0, state);
                    state.supplied_energy -= self.muscle_energy(model, control, 1.0, state);
                    if !model.homes().is_empty() {
                        state.supplied_energy = self.stored_energy(model, state);
                    }
                    state.backoff = backoff.after(doublings);
                    return Ok(StepReport { retries: (doublings - backoff.doublings) as usize, ..report });
                }
                Ok(_) => None,
                Err(error) => Some(error),
            };
            worst = worst_node(model, state);
            state.copy_from(&self.before);
        }

        // all attempts diverged
        if let Some(error) = bone_error {
            return Err(StepError::Bones { time: state.time, error });
        }
        Err(StepError::Diverged {
            body: model.body_of_node(worst).name.clone(),
            time: state.time,
            place: model.node_rest()[worst].into(),
            substeps,
            substep: dt / substeps as f64,
        })
    }

    /// Torques of all drives of a rig in the last completed step (N m or N).
    pub(crate) fn torques(&self, rig: usize) -> &[f64] {
        self.coupling.torques(rig)
    }

    fn gather_loads(&mut self, model: &Model, control: &Control) {
        self.load.clear();
        self.outside.clear();
        if has_outside_forces(model, control) {
            self.outside.resize(model.node_count(), Vec3::zeros());
        }
        if model.loads().is_empty() {
            return;
        }
        self.load.resize(model.node_count(), Vec3::zeros());
        for (i, load) in model.loads().iter().enumerate() {
            let force = control.load_force(model, i);
            for (node, fraction) in &load.node_fractions {
                self.load[*node as usize] += *fraction * force;
            }
        }
        self.outside.clone_from(&self.load);
    }

    /// Takes a step in the given number of sub-steps; `dt` is the whole step (s).
    fn substeps(
        &mut self,
        model: &Model,
        control: &Control,
        diagonalise: Diagonalise,
        (dt, substeps): (f64, usize),
        state: &mut State,
    ) -> Result<StepReport, BoneError> {
        let fraction = |i: usize| i as f64 / substeps as f64;
        let h = dt / substeps as f64;
        let part = |substep: usize| Substep { from: fraction(substep - 1), to: fraction(substep), h, dt };

        // quantities that are constant during the step
        self.custom_bodies.prepare(model);
        self.coupling.begin(model, control, dt, state);
        let prescribed_energy = self.coupling.prescribed_energy(model, state);
        self.drag.resize(model.node_count(), Vec3::zeros());
        self.follow.resize(model.node_count(), 0.0);
        self.decay.clear();
        self.decay.extend(model.bodies().iter().map(|body| decay(body.damping_rate, h)));
        self.part_motion.prepare(model, h);
        self.metaphor_forces.begin(model, control, &state.node_x);
        if self.custom_bodies.has_layers() {
            self.custom_bodies.see_layers(&self.coupling.fields, state.time, 0.0);
            self.custom_bodies.find_layers(&state.node_x);
        }
        let can_collide = Contacts::can_collide_in(model, control);
        if can_collide {
            self.contacts.begin(model, control, part(1), state);
        }
        // elastic energy of constraints is credited during the step and debited at its end, see `crate::constraint`
        state.supplied_energy += self.constraint_energy(model, control, 0.0, state);
        // and so is that of muscles
        state.supplied_energy += self.muscle_energy(model, control, 0.0, state);

        // the sub-steps
        let mut report = StepReport { substeps, ..StepReport::default() };
        for substep in 1..=substeps {
            let forces = self.substep(model, control, diagonalise, part(substep), state)?;
            report.diagonalised += forces.diagonalised;
            report.max_inverted = report.max_inverted.max(forces.inverted);
        }

        // what lies over layers ends outside of them
        if self.custom_bodies.has_layers() {
            self.custom_bodies.see_layers(&self.coupling.fields, state.time + dt, 0.0);
            state.supplied_energy -= self.point_energy(model, state);
            self.custom_bodies.lift_from_layers(model, state);
            state.supplied_energy += self.point_energy(model, state);
        }

        // contact history, and the work of prescribed motion
        if can_collide {
            self.contacts.keep_anchors(state);
            report.in_contact = self.contacts.in_contact();
        }
        state.supplied_energy += self.coupling.prescribed_energy(model, state) - prescribed_energy;
        state.time = self.before.time + dt;
        self.dropped.clone_from(&self.exact.dropped);
        Ok(report)
    }

    fn substep(
        &mut self,
        model: &Model,
        control: &Control,
        diagonalise: Diagonalise,
        substep: Substep,
        state: &mut State,
    ) -> Result<ForceReport, BoneError> {
        // forces on the nodes
        let can_collide = Contacts::can_collide_in(model, control);
        let has_homes = !model.homes().is_empty();
        if has_homes {
            self.homes.update(model, &self.coupling.fields, state);
        }
        // flesh with a home deforms as bind space sees it
        let motion = if has_homes {
            NodeMotion { x: &self.homes.bind_x, v: &self.homes.bind_v }
        } else {
            NodeMotion { x: &state.node_x, v: &state.node_v }
        };
        let forces = self.corner_forces.update(model.elements(), motion, diagonalise);
        self.corner_forces.damp_inverted(model.elements(), motion, substep.h);
        if has_outside_forces(model, control) {
            self.gather_outside(model, control, substep, state);
        }
        self.find_squeezed(model, control, state);

        let is_free = |node: usize| model.node_inverse_mass()[node] > 0.0 && !control.node_waits(model, node);
        self.exact.begin(model, control, substep, state, is_free);

        // motion of nodes, pins and coordinates
        self.move_free_nodes(model, control, substep.h, state);
        if !self.compression.is_empty() {
            self.limit_compression(model, control, substep.h, state);
        }
        if has_homes {
            state.supplied_energy += substep.h * self.homes.lift_power(model, state);
        }
        charge_loads(model, control, substep.h, state);
        if !model.metaphors().is_empty() {
            state.supplied_energy += self.metaphor_forces.work(substep.h, &state.node_v);
        }
        state.supplied_energy += substep.h * self.custom_bodies.layer_power(&state.node_v);
        self.move_pins(model, control, substep, state);
        self.custom_bodies.advance(model, control, (&self.outside, substep.h), state);

        // motion of bones and obstacles under the reactions
        let pushes = Pushes {
            corner_forces: &self.corner_forces,
            load: &self.outside,
            drag: &self.drag,
            squeezed: if self.compression.is_empty() { &[] } else { self.compression.impulses() },
            follow: &self.follow,
            bones: &self.bone_wrenches,
            cores_collide: can_collide,
        };
        self.coupling.move_bones(model, control, &pushes, substep, state)?;
        if has_homes {
            self.follow_bones(model, control, substep.h, state);
        }
        if can_collide {
            self.contacts.move_obstacles(model, control, substep, state);
        }

        // points that are held exactly
        state.supplied_energy += self.exact.restore(model, substep.h, state);
        Ok(forces)
    }

    /// Adds the forces of metaphors, custom bodies, contacts and constraints to the load forces.
    fn gather_outside(&mut self, model: &Model, control: &Control, substep: Substep, state: &mut State) {
        if self.load.is_empty() {
            self.outside.fill(Vec3::zeros());
        } else {
            self.outside.copy_from_slice(&self.load);
        }
        self.metaphor_forces.push(model, control, substep.to, &state.node_x, &mut self.outside);
        self.custom_bodies.push((&state.node_x, &state.node_v), &mut self.outside);
        if Contacts::can_collide_in(model, control) {
            self.contacts.push(model, control, substep, state, &mut self.outside);
        } else {
            self.contacts.stand_still(model, state);
        }
        if !model.constraints().is_empty() {
            let now = Surroundings {
                node_x: &state.node_x,
                node_v: &state.node_v,
                coupling: &self.coupling,
                obstacles: &state.obstacles,
                motions: self.contacts.motions(),
            };
            let given = self.constraint_forces.pull(model, control, substep, &now, &mut self.outside);
            state.supplied_energy += given;
            self.contacts.pull(&self.constraint_forces.applied.obstacles);
        }
        if !model.muscles().is_empty() {
            self.contract_muscles(model, control, substep, state);
        }

        // what lies over layers on bones answers to all of this
        self.bone_wrenches.clear();
        if !model.constraints().is_empty() || model.muscle_store().has_lines() {
            self.bone_wrenches.extend_from_slice(&self.constraint_forces.applied.bones);
        }
        if self.custom_bodies.has_layers() {
            let (time, h) = (state.time + substep.from * substep.dt, substep.h);
            self.custom_bodies.see_layers(
                &self.coupling.fields,
                time,
                if substep.from > 0.0 { h } else { 0.0 },
            );
            let nodes = (state.node_x.as_slice(), state.node_v.as_slice());
            let own = self.custom_bodies.push_layers(model, nodes, h, &mut self.outside);
            self.bone_wrenches.resize(own.len().max(self.bone_wrenches.len()), Wrench::default());
            self.bone_wrenches.iter_mut().zip(own).for_each(|(sum, own)| *sum += *own);
        }
    }

    /// Adds the forces of muscles, and what their activation supplies.
    fn contract_muscles(&mut self, model: &Model, control: &Control, substep: Substep, state: &mut State) {
        let Explicit { muscles, activations_before, constraint_forces, coupling, outside, .. } = self;
        activations_before.clear();
        activations_before.extend_from_slice(muscles.activations());
        muscles.begin(model, control, substep.to);
        muscles.see_bones(&coupling.world_frames(model));
        let applied = &mut constraint_forces.applied;
        if model.constraints().is_empty() {
            applied.clear(model);
        }
        muscles.push(&state.node_x, outside, &mut applied.bones);
        state.supplied_energy += muscles.change_from(activations_before, &state.node_x);
    }

    /// Energy stored in muscles after a fraction of the step (J).
    fn muscle_energy(&mut self, model: &Model, control: &Control, fraction: f64, state: &State) -> f64 {
        if model.muscles().is_empty() {
            return 0.0;
        }
        self.muscles.begin(model, control, fraction);
        self.muscles.see_bones(&self.coupling.world_frames(model));
        self.muscles.energy(&state.node_x)
    }

    /// The energy of points without elements, and of the motion of all (J).
    fn point_energy(&mut self, model: &Model, state: &State) -> f64 {
        let moving = state.node_kinetic_energy(model) + state.node_potential_energy(model);
        moving + self.custom_bodies.energy(&state.node_x)
    }

    /// Energy stored in the constraints after a fraction of the step (J).
    fn constraint_energy(&mut self, model: &Model, control: &Control, fraction: f64, state: &State) -> f64 {
        if model.constraints().is_empty() {
            return 0.0;
        }
        let (node_x, node_v) = (state.node_x.as_slice(), state.node_v.as_slice());
        let now = Surroundings {
            node_x,
            node_v,
            coupling: &self.coupling,
            obstacles: &state.obstacles,
            motions: &[],
        };
        self.constraint_forces.energy(model, control, fraction, &now)
    }

    fn move_free_nodes(&mut self, model: &Model, control: &Control, h: f64, state: &mut State) {
        // bodies on bones and custom ones
        let mut all_drag = core::mem::take(&mut self.drag);
        let mut all_follow = core::mem::take(&mut self.follow);
        for (i, (body, &decay)) in model.bodies().iter().zip(&self.decay).enumerate() {
            if control.body_waits(model, i) || !model.parts().of_body(i).is_empty() {
                continue;
            }
            let first = body.nodes.start;
            let x = &mut state.node_x[body.nodes.clone()];
            let v = &mut state.node_v[body.nodes.clone()];
            let drag = &mut all_drag[body.nodes.clone()];
            let follow = &mut all_follow[body.nodes.clone()];
            let stepper = &*self;
            for_each_part(((x, v), (drag, follow)), CHUNK, |from, ((x, v), (drag, follow))| {
                dispatch(NodeKernel { stepper, model, first: first + from, h, decay, x, v, drag, follow });
            });
        }
        (self.drag, self.follow) = (all_drag, all_follow);
        if !model.parts().all().is_empty() {
            self.move_parts(model, control, h, state);
        }
    }

    /// Moves the free nodes of bodies without bones.
    fn move_parts(&mut self, model: &Model, control: &Control, h: f64, state: &mut State) {
        let moves = |i: usize| !control.body_waits(model, i) && !model.parts().of_body(i).is_empty();
        let bodies = || model.bodies().iter().enumerate().filter(|(i, _)| moves(*i)).map(|(_, body)| body);

        // what forces do to velocities
        for body in bodies() {
            let first = body.nodes.start;
            let stepper = &*self;
            for_each_part(&mut state.node_v[body.nodes.clone()], CHUNK, |from, v| {
                dispatch(KickKernel { stepper, model, first: first + from, h, v });
            });
        }

        if !self.exact.is_empty() {
            state.supplied_energy += self.exact.push(model, h, state);
        }

        // damping of what is left of them beside rigid motion, then positions
        self.part_motion.fit(model, (&self.outside, &self.exact), (&state.node_x, &state.node_v));
        for body in bodies() {
            let first = body.nodes.start;
            let x = &mut state.node_x[body.nodes.clone()];
            let v = &mut state.node_v[body.nodes.clone()];
            let motion = &self.part_motion;
            for_each_part((x, v), CHUNK, |from, (x, v)| {
                dispatch(MoveKernel { motion, model, first: first + from, h, x, v });
            });
        }
    }

    /// Energy at the end of a step in a world with homes (J). Elastic energy of flesh with a home is less than the swing that it is granted, and costs a decomposition of every element: it is left out where all
    /// bodies are such.
    fn stored_energy(&self, model: &Model, state: &State) -> f64 {
        if model.homes().bodies.len() < model.bodies().len() || model.can_collide() {
            let Energies { kinetic, elastic, potential } = state.energies(model);
            return kinetic + elastic + potential;
        }
        let bones = self.coupling.energies(model, state);
        let nodes = state.node_kinetic_energy(model) + state.node_potential_energy(model);
        nodes + bones.kinetic + bones.potential + bones.elastic
    }

    /// Moves a free node that has a home: damped against the motion of its home, and pulled there by a proximal step, which is stable and keeps to the limit for any step.
    ///
    /// ```text
    /// v* = w + (v − w) κ + h (R f/m + g − g_b + lift),   w = ṡ + ω × (x − s)
    /// x' = s + h ṡ + h² g_b + prox(x + h v* − s − h ṡ),   v' = (x' − x)/h
    /// ```
    ///
    /// with κ such that motion decays as it should ([`HomeSpring::slip_fraction`](crate::home::HomeSpring::slip_fraction)), and g_b the gravity under which
    /// its bones fall: g, or 0 where all joints are prescribed. If the velocity of its home is to change by δ in the sub-step as well, the node changes by
    ///
    /// ```text
    /// ∂v'/∂ṡ δ = ρ δ,   ρ = 1 − κ/(1 + h² ψ''/m)
    /// ```
    ///
    /// which the bones need to know before they move ([`crate::coupling`]).
    #[inline(always)]
    fn move_at_home(
        &self,
        model: &Model,
        node: usize,
        h: f64,
        (x, v): (&mut Vec3, &mut Vec3),
        (drag, follow): (&mut Vec3, &mut f64),
    ) {
        let (home, spring) = (&self.homes.nodes[node], &model.homes().springs[node]);
        let (mass, inverse_mass) = (model.node_mass()[node], model.node_inverse_mass()[node]);
        let outside = self.outside.get(node).copied().unwrap_or_default();
        let force = home.rotation * self.corner_forces.on_node(model.elements(), node) + outside;
        let off = *x - home.place;
        let carried = home.velocity + home.angular.cross(&off);
        let acceleration = force * inverse_mass + model.gravity() + home.lift - home.fall;
        let keep = spring.slip_fraction(off.norm(), h);
        let free = off + h * (carried + (*v - carried) * keep + h * acceleration - home.velocity);
        let distance = free.norm();
        let fraction = spring.proximal_fraction(distance, h);
        let next = home.place + h * home.velocity + free * fraction + h * h * home.fall;
        let velocity = (next - *x) / h;
        // all of its force but gravity and what comes from outside is borne by its bones
        *drag = outside + mass * (model.gravity() - (velocity - *v) / h);
        *follow = 1.0 - keep / (1.0 + h * h * spring.tangent(fraction * distance));
        *v = velocity;
        *x = next;
    }

    /// Gives free nodes with homes their part ρ of what the velocities of their bones have changed by in the sub-step; see [`crate::coupling`].
    fn follow_bones(&self, model: &Model, control: &Control, h: f64, state: &mut State) {
        for body in &model.homes().bodies {
            if control.body_waits(model, body.body)
                || !self.coupling.is_moved_by_flesh(model, body.bones.start)
            {
                continue;
            }
            let first = body.nodes.start;
            let x = &mut state.node_x[body.nodes.clone()];
            let v = &mut state.node_v[body.nodes.clone()];
            for_each_part((x, v), CHUNK, |from, (x, v)| {
                for (i, (x, v)) in x.iter_mut().zip(v).enumerate() {
                    let node = first + from + i;
                    if model.node_inverse_mass()[node] == 0.0 {
                        continue;
                    }
                    let change =
                        h * self.coupling.taken_over(model, (node, self.follow[node]), h, &(*x - h * *v));
                    *v += change;
                    *x += h * change;
                }
            });
        }
    }

    /// Moves pinned nodes to the pose of their pin at the end of the sub-step. Work done by pins against elastic forces is counted as energy
    /// supplied to the world.
    fn move_pins(&self, model: &Model, control: &Control, substep: Substep, state: &mut State) {
        for (i, pin) in model.pins().iter().enumerate() {
            let pose = control.pin(i).pose(substep.to, &pin.center);
            for &node in &pin.nodes {
                let node = node as usize;
                let target = pose.rotation * model.node_rest()[node] + pose.translation.vector;
                let moved = target - state.node_x[node];
                if moved != Vec3::zeros() {
                    let mut force = self.corner_forces.on_node(model.elements(), node);
                    if has_outside_forces(model, control) {
                        force += self.outside[node] - self.load.get(node).copied().unwrap_or_default();
                    }
                    state.supplied_energy -= force.dot(&moved);
                }
                state.node_x[node] = target;
                state.node_v[node] = moved / substep.h;
            }
        }
    }
}

/// Whether forces other than gravity, elasticity and loads act on nodes in a step.
fn has_outside_forces(model: &Model, control: &Control) -> bool {
    Contacts::can_collide_in(model, control)
        || !model.constraints().is_empty()
        || !model.metaphors().is_empty()
        || !model.muscles().is_empty()
        || model.has_custom_bodies()
}

/// Adds the work of loads to the energy supplied to the world.
fn charge_loads(model: &Model, control: &Control, h: f64, state: &mut State) {
    for (i, load) in model.loads().iter().enumerate() {
        let is_free = |node: usize| model.node_inverse_mass()[node] > 0.0 || model.is_carried(node);
        let free = load.node_fractions.iter().filter(|(node, _)| is_free(*node as usize));
        let velocity: Vec3 = free.map(|(node, fraction)| *fraction * state.node_v[*node as usize]).sum();
        state.supplied_energy += control.load_force(model, i).dot(&velocity) * h;
    }
}

/// Symplectic Euler step of the free nodes of a chunk that begins at `first`.
struct NodeKernel<'a> {
    stepper: &'a Explicit,
    model: &'a Model,
    first: usize,
    h: f64,
    decay: f64,
    x: &'a mut [Vec3],
    v: &'a mut [Vec3],
    /// Reaction forces on the nodes' bones (N).
    drag: &'a mut [Vec3],
    /// Fractions ρ of nodes with homes.
    follow: &'a mut [f64],
}

impl Kernel for NodeKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let NodeKernel { stepper, model, first, h, decay, x, v, drag, follow } = self;
        for (i, ((x, v), drag)) in x.iter_mut().zip(v).zip(drag).enumerate() {
            let node = first + i;
            let inverse_mass = model.node_inverse_mass()[node];
            if inverse_mass == 0.0 {
                continue;
            }
            if model.homes().holds(node) {
                stepper.move_at_home(model, node, h, (x, v), (drag, &mut follow[i]));
                continue;
            }
            let mut force = stepper.corner_forces.on_node(model.elements(), node);
            if let Some(outside) = stepper.outside.get(node) {
                force += outside;
            }
            let bone = model.fixed_nodes().node_reference[node] as usize;
            let field = &stepper.coupling.fields[bone];
            let carried = field.at(x);
            let lift = model.node_lift().get(node).map_or_else(Vec3::zeros, |lift| field.rotation * lift);
            let slip = *v + h * (force * inverse_mass + (model.gravity() + lift)) - carried;
            let keep = decay.max(1.0 - field.max_drag);
            if bone > 0 {
                let mass = model.node_mass()[node];
                *drag = slip * ((1.0 - keep) * mass / h) - mass * lift;
            }
            *v = carried + slip * keep;
            *x += h * *v;
        }
    }
}

/// Adds what forces and gravity do in a sub-step to the velocities of the free nodes of a chunk that begins at `first`.
struct KickKernel<'a> {
    stepper: &'a Explicit,
    model: &'a Model,
    first: usize,
    h: f64,
    v: &'a mut [Vec3],
}

impl Kernel for KickKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let KickKernel { stepper, model, first, h, v } = self;
        for (i, v) in v.iter_mut().enumerate() {
            let node = first + i;
            let inverse_mass = model.node_inverse_mass()[node];
            if inverse_mass == 0.0 {
                continue;
            }
            let mut force = stepper.corner_forces.on_node(model.elements(), node);
            if let Some(outside) = stepper.outside.get(node) {
                force += outside;
            }
            *v += h * (force * inverse_mass + model.gravity());
        }
    }
}
