//! Custom bodies in time stepping: energies of their points, and integration of their generalised coordinates.

use crate::body_kind::{BodyKind, Coordinates, CustomBody, PointsOut};
use crate::coupling::Field;
use crate::model::ModelId;
use crate::node_energy::{LayerMotion, LayerStep};
use crate::{Body, Control, Energies, Model, NodeEnergy, State};
use core::ops::Range;
use sinew_math::sparse::Row;
use sinew_math::spatial::{Frame, Twist, Wrench};
use sinew_math::{Mat3, Vec3};
use sinew_skeleton::Momentum;

/// Workspace of custom bodies; a clone starts empty.
#[derive(Debug, Default)]
pub(crate) struct CustomBodies {
    made_for: Option<ModelId>,
    energies: Vec<BodyEnergy>,
    gradient: Vec<Vec3>,
    forces: Vec<f64>,
    /// Poses and twists of all bones, the world first.
    frames: Vec<Frame>,
    twists: Vec<Twist>,
    /// What nodes do to bones directly (N m, N), about the origin of the world; empty if nothing.
    wrenches: Vec<Wrench>,
}

/// The energy of the points of one body.
#[derive(Debug)]
struct BodyEnergy {
    nodes: Range<usize>,
    energy: Box<dyn NodeEnergy + Send + Sync>,
}

impl Clone for CustomBodies {
    fn clone(&self) -> Self {
        CustomBodies::default()
    }
}

/// The custom bodies of a model.
fn custom(model: &Model) -> impl Iterator<Item = (&Body, &CustomBody)> {
    model.bodies().iter().filter_map(|body| match &body.kind {
        BodyKind::Tets => None,
        BodyKind::Custom(own) => Some((body, own)),
    })
}

/// Those with generalised coordinates.
fn reduced(model: &Model) -> impl Iterator<Item = (&Body, &CustomBody, &dyn Coordinates)> {
    custom(model).filter_map(|(body, own)| Some((body, own, own.kind.coordinates()?)))
}

impl CustomBodies {
    /// The energies of a model.
    pub(crate) fn of(model: &Model) -> CustomBodies {
        let mut own = CustomBodies::default();
        own.prepare(model);
        own
    }

    /// Creates the energies of a model unless they exist already, and sets the factors of its bodies.
    pub(crate) fn prepare(&mut self, model: &Model) {
        if self.made_for.as_ref() != Some(model.id()) {
            let energy = |(body, own): (&Body, &CustomBody)| {
                Some(BodyEnergy { nodes: body.nodes.clone(), energy: own.kind.energy()? })
            };
            self.energies = custom(model).filter_map(energy).collect();
            self.made_for = Some(model.id().clone());
        }
        let mut bodies = custom(model);
        for own in &mut self.energies {
            if let Some((body, _)) = bodies.find(|(body, _)| body.nodes == own.nodes) {
                own.energy.set_factors(body.factors.stiffness, body.factors.of_viscosity());
            }
        }
    }

    /// Adds the forces of the energies to the forces on nodes (N), for nodes at positions (m) with velocities (m/s).
    pub(crate) fn push(&mut self, (node_x, node_v): (&[Vec3], &[Vec3]), node_force: &mut [Vec3]) {
        for BodyEnergy { nodes, energy } in &mut self.energies {
            self.gradient.clear();
            self.gradient.resize(nodes.len(), Vec3::zeros());
            energy.refresh(&node_x[nodes.clone()], 0);
            energy.evaluate_moving(&node_x[nodes.clone()], &node_v[nodes.clone()], &mut self.gradient);
            for (force, gradient) in node_force[nodes.clone()].iter_mut().zip(&self.gradient) {
                *force -= gradient;
            }
        }
    }

    /// Shows energies over layers on bones where those are, `lasted` (s) after the last time; 0 for a new start.
    pub(crate) fn see_layers(&mut self, fields: &[Field], time: f64, lasted: f64) {
        if !self.has_energies() {
            return;
        }
        self.frames.clear();
        // the world has no field of its own
        self.frames.push(Frame::default());
        let bones = fields.iter().skip(1);
        self.frames.extend(bones.map(|field| Frame { rotation: field.rotation, origin: field.origin }));
        self.twists.clear();
        self.twists.extend(fields.iter().map(|field| Twist::new(field.angular, field.at_origin)));
        let motion = LayerMotion { frames: &self.frames, twists: &self.twists, time, lasted };
        self.energies.iter_mut().for_each(|own| own.energy.see_layer(&motion));
    }

    /// Shows energies over layers the bones at the start of an implicit step, and the time at its end (s).
    pub(crate) fn see_start(&mut self, frames: &[Frame], time: f64) {
        let motion = LayerMotion { frames, twists: &[], time, lasted: 0.0 };
        self.energies.iter_mut().for_each(|own| own.energy.see_layer(&motion));
    }

    /// Finds what of layers is near, before an explicit step.
    pub(crate) fn find_layers(&mut self, node_x: &[Vec3]) {
        self.energies.iter_mut().for_each(|own| own.energy.find_layer(&node_x[own.nodes.clone()]));
    }

    /// Adds what layers do to nodes to all other forces on them (N), in a sub-step of `h` (s). Returns the wrenches on bones, empty if they feel nothing.
    pub(crate) fn push_layers(
        &mut self,
        model: &Model,
        (node_x, node_v): (&[Vec3], &[Vec3]),
        h: f64,
        node_force: &mut [Vec3],
    ) -> &[Wrench] {
        self.wrenches.clear();
        for BodyEnergy { nodes, energy } in &mut self.energies {
            let step = LayerStep {
                x: &node_x[nodes.clone()],
                v: &node_v[nodes.clone()],
                inverse_mass: &model.node_inverse_mass()[nodes.clone()],
                gravity: model.gravity(),
                h,
            };
            energy.push_layer(&step, &mut node_force[nodes.clone()]);
            let own = energy.layer_wrenches();
            self.wrenches.resize(own.len().max(self.wrenches.len()), Wrench::default());
            self.wrenches.iter_mut().zip(own).for_each(|(sum, own)| *sum += *own);
        }
        &self.wrenches
    }

    /// The power of layers at velocities of nodes (W).
    pub(crate) fn layer_power(&self, node_v: &[Vec3]) -> f64 {
        self.energies.iter().map(|own| own.energy.layer_power(&node_v[own.nodes.clone()])).sum()
    }

    /// Moves nodes that a step has left in a layer out of it.
    pub(crate) fn lift_from_layers(&mut self, model: &Model, state: &mut State) {
        if !self.has_energies() {
            return;
        }
        for BodyEnergy { nodes, energy } in &mut self.energies {
            let inverse_mass = &model.node_inverse_mass()[nodes.clone()];
            energy.lift_from_layer(
                &mut state.node_x[nodes.clone()],
                &mut state.node_v[nodes.clone()],
                inverse_mass,
            );
        }
    }

    /// Advances generalised coordinates by a sub-step of `h` (s) under forces on their points (N), and moves the points.
    pub(crate) fn advance(
        &mut self,
        model: &Model,
        control: &Control,
        (node_force, h): (&[Vec3], f64),
        state: &mut State,
    ) {
        let waits = |body: &Body| {
            let place = model.bodies().iter().position(|other| other.nodes == body.nodes);
            place.is_some_and(|i| control.body_waits(model, i))
        };
        for (body, own, coordinates) in reduced(model).filter(|(body, ..)| !waits(body)) {
            let (q, v) = (&mut state.body_q[own.q.clone()], &mut state.body_v[own.v.clone()]);
            self.forces.clear();
            self.forces.resize(v.len(), 0.0);
            coordinates.apply_transpose(q, &node_force[body.nodes.clone()], &mut self.forces);
            coordinates.advance(&self.forces, &model.gravity(), h, q, v);
        }
        place_points(model, state);
    }

    /// The energy of all points (J).
    pub(crate) fn energy(&mut self, node_x: &[Vec3]) -> f64 {
        self.energies.iter_mut().map(|own| own.energy.stored_energy(&node_x[own.nodes.clone()])).sum()
    }

    /// Whether any body lies over a layer of solids.
    pub(crate) fn has_layers(&self) -> bool {
        self.energies.iter().any(|own| own.energy.is_over_layer())
    }

    /// Whether any body has an energy of points.
    pub(crate) fn has_energies(&self) -> bool {
        !self.energies.is_empty()
    }
}

/// For implicit steps: the sum of the energies of all bodies, each over its own points.
impl NodeEnergy for CustomBodies {
    fn evaluate(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        let own = |BodyEnergy { nodes, energy }: &mut BodyEnergy| {
            energy.evaluate(&x[nodes.clone()], &mut gradient[nodes.clone()])
        };
        self.energies.iter_mut().map(own).sum()
    }

    fn begin_step(&mut self, x: &[Vec3], h: f64) {
        self.energies.iter_mut().for_each(|own| own.energy.begin_step(&x[own.nodes.clone()], h));
    }

    fn begin_beyond(&mut self, x: &[Vec3], s: f64) {
        self.energies.iter_mut().for_each(|own| own.energy.begin_beyond(&x[own.nodes.clone()], s));
    }

    fn is_internal(&self) -> bool {
        self.energies.iter().all(|own| own.energy.is_internal())
    }

    fn for_each_block(&self, visit: &mut dyn FnMut(u32, u32, &Mat3)) {
        for BodyEnergy { nodes, energy } in &self.energies {
            let first = nodes.start as u32;
            energy.for_each_block(&mut |a, b, block| visit(first + a, first + b, block));
        }
    }

    fn refresh(&mut self, x: &[Vec3], round: usize) -> bool {
        let mut is_new = false;
        for BodyEnergy { nodes, energy } in &mut self.energies {
            is_new |= energy.refresh(&x[nodes.clone()], round);
        }
        is_new
    }

    fn correct(&mut self, x: &[Vec3]) -> bool {
        let mut is_new = false;
        for BodyEnergy { nodes, energy } in &mut self.energies {
            is_new |= energy.correct(&x[nodes.clone()]);
        }
        is_new
    }

    fn update(&mut self, x: &[Vec3]) {
        self.energies.iter_mut().for_each(|own| own.energy.update(&x[own.nodes.clone()]));
    }

    fn multiply(&self, u: &[Row], out: &mut [Row]) {
        for BodyEnergy { nodes, energy } in &self.energies {
            energy.multiply(&u[nodes.clone()], &mut out[nodes.clone()]);
        }
    }

    fn add_diagonal(&self, blocks: &mut [Mat3]) {
        self.energies.iter().for_each(|own| own.energy.add_diagonal(&mut blocks[own.nodes.clone()]));
    }

    fn see_bones(&mut self, frames: &[Frame]) {
        self.energies.iter_mut().for_each(|own| own.energy.see_bones(frames));
    }

    fn add_bone_gradients(&self, wrenches: &mut [Wrench]) {
        self.energies.iter().for_each(|own| own.energy.add_bone_gradients(wrenches));
    }

    fn max_step(&mut self, x: &[Vec3], motion: &[Vec3]) -> f64 {
        let own = |BodyEnergy { nodes, energy }: &mut BodyEnergy| {
            energy.max_step(&x[nodes.clone()], &motion[nodes.clone()])
        };
        self.energies.iter_mut().map(own).fold(1.0, f64::min)
    }
}

/// Moves the points of bodies with generalised coordinates to match them.
pub(crate) fn place_points(model: &Model, state: &mut State) {
    for (body, own, coordinates) in reduced(model) {
        let State { node_x, node_v, body_q, body_v, .. } = state;
        let points = PointsOut { x: &mut node_x[body.nodes.clone()], v: &mut node_v[body.nodes.clone()] };
        coordinates.place_points(&body_q[own.q.clone()], &body_v[own.v.clone()], points);
    }
}

/// Energies of generalised coordinates.
pub(crate) fn energies(model: &Model, state: &State) -> Energies {
    let mut sum = Energies::default();
    for (_, own, coordinates) in reduced(model) {
        let (q, v) = (&state.body_q[own.q.clone()], &state.body_v[own.v.clone()]);
        let energies = coordinates.energies(&model.gravity(), q, v);
        sum.kinetic += energies.kinetic;
        sum.elastic += energies.elastic;
        sum.potential += energies.potential;
    }
    sum
}

/// Momentum and angular momentum of generalised coordinates about the origin.
pub(crate) fn momenta(model: &Model, state: &State) -> Momentum {
    let mut sum = Momentum::default();
    for (_, own, coordinates) in reduced(model) {
        let momentum = coordinates.momentum(&state.body_q[own.q.clone()], &state.body_v[own.v.clone()]);
        sum.linear += momentum.linear;
        sum.angular += momentum.angular;
    }
    sum
}
