//! Initial states: the world at rest, or with positions and velocities set by the caller.

use crate::body_kind::BodyKind;
use crate::coupling::{BoneCoupling, HomePose};
use crate::rig::Rig;
use crate::{Control, Energies, Model, State, custom_bodies};
use sinew_math::Vec3;
use sinew_skeleton::{Kinematics, SkeletonState};

impl State {
    /// The world at rest, with its initial velocities.
    pub fn at_rest(model: &Model) -> State {
        State::from_motion(model, model.node_rest().to_vec(), model.node_start_v().to_vec())
    }

    /// The initial state with nodes at the given positions (m) and velocities (m/s). Bodies with generalised coordinates begin at their initial coordinates.
    pub fn from_motion(model: &Model, node_x: Vec<Vec3>, node_v: Vec<Vec3>) -> State {
        let rigs = model.rigs().iter().map(|rig| SkeletonState::at_rest(&rig.skeleton)).collect();
        let obstacles = model.obstacles().iter().map(|obstacle| obstacle.start).collect();
        let (body_q, body_v) = (model.body_start().q.clone(), model.body_start().v.clone());
        let mut state = State { node_x, node_v, rigs, body_q, body_v, obstacles, ..State::default() };
        for &node in model.pins().iter().flat_map(|pin| &pin.nodes) {
            state.node_v[node as usize] = Vec3::zeros();
        }
        state.restart(model);
        state
    }

    /// Makes a state whose positions and velocities were changed by the caller a valid initial state: moves nodes that are fixed to bones or driven by generalised coordinates
    /// to match them, and resets the energy balance.
    pub fn restart(&mut self, model: &Model) {
        let coupling = BoneCoupling::of(model, self);
        coupling.place_fixed_nodes(model, self);
        custom_bodies::place_points(model, self);
        let Energies { kinetic, elastic, potential } = self.energies(model);
        self.supplied_energy = kinetic + elastic + potential;
    }

    /// Moves all flesh attached to bones to the current pose of the bones by linear blend skinning, and resets the energy balance.
    /// As usual for linear blending, flesh loses volume at sharply bent joints until it settles.
    ///
    /// ```text
    /// x = Σ_b w_b T_b X,    T_b maps the rest pose of bone b to its current pose
    /// ```
    pub fn carry_flesh(&mut self, model: &Model) {
        // bones now and at rest
        let frames = |rig: &Rig, state: &SkeletonState| {
            let mut kinematics = Kinematics::default();
            kinematics.update(&rig.skeleton, state);
            kinematics.world_frames().to_vec()
        };
        let mut world_from_rest = vec![None];
        for (rig, state) in model.rigs().iter().zip(&self.rigs) {
            let rest = SkeletonState::at_rest(&rig.skeleton);
            let pairs = frames(rig, state).into_iter().zip(frames(rig, &rest));
            world_from_rest.extend(pairs.map(Some));
        }

        // nodes: home, or where the bones carry them
        let coupling = BoneCoupling::of(model, self);
        let mut homes = HomePose::default();
        homes.place(model, &coupling.fields);
        for (node, bones) in model.fixed_nodes().blended_weights(model.tets()).iter().enumerate() {
            if model.homes().holds(node) {
                self.node_x[node] = homes.nodes[node].place;
                continue;
            }
            let is_pinned = model.node_inverse_mass()[node] == 0.0 && !model.fixed_nodes().holds(node);
            if is_pinned || bones.is_empty() {
                continue;
            }
            let carried = |(bone, weight): &(u32, f64)| {
                let (now, rest) = world_from_rest[*bone as usize].as_ref()?;
                Some(*weight * now.point(&rest.point_back(&model.node_rest()[node])))
            };
            self.node_x[node] = bones.iter().filter_map(carried).sum();
        }
        self.restart(model);
    }

    /// Adds to the velocity of each free node the velocity of its home, or of its reference bone at the node's position, so that flesh starts moving together with its bones.
    pub fn move_along(&mut self, model: &Model) {
        let coupling = BoneCoupling::of(model, self);
        let mut homes = HomePose::default();
        homes.place(model, &coupling.fields);
        for (node, bone) in model.fixed_nodes().node_reference.iter().enumerate() {
            if model.homes().holds(node) {
                self.node_v[node] += homes.nodes[node].velocity;
            } else if model.node_inverse_mass()[node] > 0.0 {
                self.node_v[node] += coupling.fields[*bone as usize].at(&self.node_x[node]);
            }
        }
        self.restart(model);
    }

    /// Stops all that nothing holds, no bone, pin or constraint, for it to wait until [`State::release_unheld`].
    pub fn stop_unheld(&mut self, model: &Model) {
        self.set_unheld_velocities(model, 0.0);
    }

    /// Gives all that nothing holds the velocities that it starts with, and opens a new account of the energy.
    pub fn release_unheld(&mut self, model: &Model) {
        self.set_unheld_velocities(model, 1.0);
        self.restart(model);
    }

    /// Sets velocities of all that nothing holds to a fraction of those it starts with.
    fn set_unheld_velocities(&mut self, model: &Model, fraction: f64) {
        let unheld = model.unheld();
        for (body, _) in model.bodies().iter().zip(&unheld.bodies).filter(|(_, is_unheld)| **is_unheld) {
            for node in body.nodes.clone() {
                self.node_v[node] = fraction * model.node_start_v()[node];
            }
            if let BodyKind::Custom(own) = &body.kind {
                let start = model.body_start().v[own.v.clone()].iter();
                self.body_v[own.v.clone()].iter_mut().zip(start).for_each(|(v, start)| *v = fraction * start);
            }
        }
        let obstacles = self.obstacles.iter_mut().zip(model.obstacles()).zip(&unheld.obstacles);
        for ((own, obstacle), _) in obstacles.filter(|(_, is_unheld)| **is_unheld) {
            own.linear = fraction * obstacle.start.linear;
            own.angular = fraction * obstacle.start.angular;
        }
    }

    /// Takes bones across the sudden cuts of a control, to where their paths begin, with all flesh that hangs on them, and opens a new account of the energy. Flesh keeps its
    /// displacement from where the bones alone carry it, and its velocity against them, both turned with its bone by R:
    ///
    /// ```text
    /// x' = c' + R (x − c),   v' = ṗ'(x') + R (v − ṗ(x)),    c = Σ_b w_b T_b X
    /// ```
    ///
    /// Friction begins anew.
    pub(crate) fn carry_across_cuts(&mut self, model: &Model, control: &Control) {
        // bones
        let mut carried = self.clone();
        carried.carry_flesh(model);
        let bones = BoneCoupling::of(model, self);
        for ((rig, own), control) in model.rigs().iter().zip(&mut self.rigs).zip(&control.rigs) {
            for bone in &control.cuts {
                let joint = &rig.skeleton.bone(*bone).joint;
                own.q[joint.q()].copy_from_slice(&control.from.q[joint.q()]);
                own.v[joint.v()].copy_from_slice(&control.from.v[joint.v()]);
            }
        }

        // the flesh of rigs that jump
        let mut carried_on = self.clone();
        carried_on.carry_flesh(model);
        let bones_on = BoneCoupling::of(model, self);
        for (rig, _) in model.rigs().iter().zip(&control.rigs).filter(|(_, own)| !own.cuts.is_empty()) {
            for (node, bone) in model.fixed_nodes().node_reference.iter().enumerate() {
                if !rig.bones.contains(&(*bone as usize)) || model.node_inverse_mass()[node] == 0.0 {
                    continue;
                }
                let (field, field_on) = (&bones.fields[*bone as usize], &bones_on.fields[*bone as usize]);
                let turn = field_on.rotation * field.rotation.transpose();
                let (x, v) = (self.node_x[node], self.node_v[node]);
                let x_on = carried_on.node_x[node] + turn * (x - carried.node_x[node]);
                self.node_x[node] = x_on;
                self.node_v[node] = field_on.at(&x_on) + turn * (v - field.at(&x));
            }
        }
        self.anchors.clear();
        self.pair_anchors.clear();
        self.restart(model);
    }
}
