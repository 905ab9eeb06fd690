//! Explicit stepping: symplectic Euler in sub-steps that stay stable by themselves.
//!
//! ```text
//! vₙ₊₁ = ṗ + (vₙ + h (f(xₙ)/m + g) − ṗ) e^(−c h),     xₙ₊₁ = xₙ + h vₙ₊₁            [KimPollard2011, §5]
//! ```
//!
//! ṗ is the velocity of the bone that the node is damped by, or 0 for the world. What bones bear of its weight is taken from g. Bones move after the nodes (see [`crate::coupling`]).
//!
//! A step that diverges is taken again from its start with twice the sub-steps, and again; if that does not help, the state before it is
//! kept and the error says where it happened. The next steps begin with as many, and try fewer after a while.

use crate::body::decay;
use crate::constraint_forces::{ConstraintForces, Surroundings};
use crate::contact::Contacts;
use crate::coupling::{BoneCoupling, Pushes};
use crate::custom_bodies::CustomBodies;
use crate::energy_check::{EnergyCheck, worst_node};
use crate::substep::Substep;
use crate::{BoneError, Control, Model, State, StepError, StepReport, SubstepBackoff};
use sinew_flesh::{CornerForces, Diagonalise, ForceReport, NodeMotion};
use sinew_math::Vec3;
use sinew_math::lanes::{Kernel, Lanes, dispatch};
use sinew_math::parallel::for_each_part;

/// Scratch of explicit stepping: dropping it costs time, never a different answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Explicit {
    corner_forces: CornerForces,
    /// Forces of loads per node (N); empty without loads.
    load: Vec<Vec3>,
    /// All outside forces but gravity, per node (N): those of loads, contacts, constraints and custom bodies; empty without any.
    outside: Vec<Vec3>,
    contacts: Contacts,
    constraint_forces: ConstraintForces,
    /// Velocity left after a sub-step, per body.
    decay: Vec<f64>,
    /// What each node's bone bears in a sub-step: what dampers took, and what balances it (N); not kept for those damped by the world.
    drag: Vec<Vec3>,
    coupling: BoneCoupling,
    custom_bodies: CustomBodies,
    before: State,
}

/// More sub-steps than this in one step are taken for a mistake.
const MAX_SUBSTEPS: f64 = 1e6;

/// Nodes that one task works through.
const CHUNK: usize = 512;

impl Explicit {
    /// Takes the state `dt` (s) further in as many sub-steps as stability asks for.
    pub(crate) fn step(
        &mut self,
        model: &Model,
        control: &Control,
        diagonalise: Diagonalise,
        dt: f64,
        state: &mut State,
    ) -> Result<StepReport, StepError> {
        let stable = model.stable_step().seconds;
        let fewest = (dt / stable).ceil().max(1.0);
        if fewest > MAX_SUBSTEPS {
            return Err(StepError::TooManySubsteps { dt, stable, substeps: fewest });
        }
        Contacts::make_room(model, state);
        self.before.copy_from(state);
        self.gather_loads(model, control);

        // until a try holds
        let backoff = state.backoff;
        let (mut worst, mut substeps, mut bone_error) = (0, 0, None);
        for doublings in backoff.doublings..=SubstepBackoff::MAX_DOUBLINGS {
            substeps = self.contacts.prepare(model, control, state, dt, fewest as usize) << doublings;
            let found = self.substeps(model, control, diagonalise, (dt, substeps), state);
            bone_error = match found {
                Ok(report) if EnergyCheck::of(model, &self.coupling, state).is_sound() => {
                    state.supplied_energy -= self.constraint_energy(model, control, 1.0, state);
                    state.backoff = backoff.after(doublings);
                    return Ok(StepReport { retries: (doublings - backoff.doublings) as usize, ..report });
                }
                Ok(_) => None,
                Err(error) => Some(error),
            };
            worst = worst_node(model, state);
            state.copy_from(&self.before);
        }

        // none did
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

    /// Torques of all drives of a rig in the last step taken (N m or N).
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
            for (node, force) in &load.node_forces {
                self.load[*node as usize] += control.load_scale(i) * force;
            }
        }
        self.outside.clone_from(&self.load);
    }

    /// Takes a step of some length (s) in so many sub-steps.
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

        // what stays as it is during the step
        self.custom_bodies.prepare(model);
        self.coupling.begin(model, control, dt, state);
        let prescribed_energy = self.coupling.prescribed_energy(model, state);
        self.drag.resize(model.node_count(), Vec3::zeros());
        self.decay.clear();
        self.decay.extend(model.bodies().iter().map(|body| decay(body.damping_rate, h)));
        let can_collide = Contacts::can_collide_in(model, control);
        if can_collide {
            self.contacts.begin(model, control, part(1), state);
        }
        // lent for the step, see `crate::constraint`
        state.supplied_energy += self.constraint_energy(model, control, 0.0, state);

        let mut report = StepReport { substeps, ..StepReport::default() };
        for substep in 1..=substeps {
            let forces = self.substep(model, control, diagonalise, part(substep), state)?;
            report.diagonalised += forces.diagonalised;
            report.max_inverted = report.max_inverted.max(forces.inverted);
        }
        if can_collide {
            self.contacts.keep_anchors(state);
            report.in_contact = self.contacts.in_contact();
        }
        state.supplied_energy += self.coupling.prescribed_energy(model, state) - prescribed_energy;
        state.time = self.before.time + dt;
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
        // what pushes on the nodes
        let can_collide = Contacts::can_collide_in(model, control);
        let motion = NodeMotion { x: &state.node_x, v: &state.node_v };
        let forces = self.corner_forces.update(model.elements(), motion, diagonalise);
        self.corner_forces.damp_inverted(model.elements(), motion, substep.h);
        if has_outside_forces(model, control) {
            self.gather_outside(model, control, substep, state);
        }

        // where they go
        self.move_free_nodes(model, control, substep.h, state);
        charge_loads(model, control, substep.h, state);
        self.move_pins(model, control, substep, state);
        self.custom_bodies.advance(model, control, (&self.outside, substep.h), state);
        let pushes = Pushes {
            corner_forces: &self.corner_forces,
            load: &self.outside,
            drag: &self.drag,
            bones: if model.constraints().is_empty() { &[] } else { &self.constraint_forces.applied.bones },
        };
        self.coupling.move_bones(model, control, &pushes, substep, state)?;
        if can_collide {
            self.contacts.move_obstacles(model, control, substep, state);
        }
        Ok(forces)
    }

    /// Adds forces of custom bodies, contacts and constraints to those of loads.
    fn gather_outside(&mut self, model: &Model, control: &Control, substep: Substep, state: &mut State) {
        if self.load.is_empty() {
            self.outside.fill(Vec3::zeros());
        } else {
            self.outside.copy_from_slice(&self.load);
        }
        self.custom_bodies.push(&state.node_x, &mut self.outside);
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
    }

    /// What constraints hold after a fraction of the step (J).
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
        let mut all_drag = core::mem::take(&mut self.drag);
        for (i, (body, &decay)) in model.bodies().iter().zip(&self.decay).enumerate() {
            if control.body_waits(model, i) {
                continue;
            }
            let first = body.nodes.start;
            let x = &mut state.node_x[body.nodes.clone()];
            let v = &mut state.node_v[body.nodes.clone()];
            let drag = &mut all_drag[body.nodes.clone()];
            let stepper = &*self;
            for_each_part((x, v, drag), CHUNK, |from, (x, v, drag)| {
                dispatch(NodeKernel { stepper, model, first: first + from, h, decay, x, v, drag });
            });
        }
        self.drag = all_drag;
    }

    /// Puts pinned nodes where their pin is at the end of the sub-step. Elastic forces that a pin works against are energy
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

/// Whether anything but gravity, flesh and loads acts on nodes in a step.
fn has_outside_forces(model: &Model, control: &Control) -> bool {
    Contacts::can_collide_in(model, control) || !model.constraints().is_empty() || model.has_custom_bodies()
}

/// The work of loads is energy supplied to the world.
fn charge_loads(model: &Model, control: &Control, h: f64, state: &mut State) {
    for (i, load) in model.loads().iter().enumerate() {
        let is_free = |node: usize| model.node_inverse_mass()[node] > 0.0 || model.is_carried(node);
        let free = load.node_forces.iter().filter(|(node, _)| is_free(*node as usize));
        let power: f64 = free.map(|(node, force)| force.dot(&state.node_v[*node as usize])).sum();
        state.supplied_energy += control.load_scale(i) * power * h;
    }
}

/// Symplectic Euler for the free nodes among those from `first` on.
struct NodeKernel<'a> {
    stepper: &'a Explicit,
    model: &'a Model,
    first: usize,
    h: f64,
    decay: f64,
    x: &'a mut [Vec3],
    v: &'a mut [Vec3],
    /// What bones bear for the nodes (N).
    drag: &'a mut [Vec3],
}

impl Kernel for NodeKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let NodeKernel { stepper, model, first, h, decay, x, v, drag } = self;
        for (i, ((x, v), drag)) in x.iter_mut().zip(v).zip(drag).enumerate() {
            let node = first + i;
            let inverse_mass = model.node_inverse_mass()[node];
            if inverse_mass == 0.0 {
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
