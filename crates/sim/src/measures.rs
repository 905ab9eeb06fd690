//! Energy, momentum and angular momentum of a state.

use crate::coupling::{BoneCoupling, HomePose};
use crate::custom_bodies::{self, CustomBodies};
use crate::{Energies, Model, State, contact};
use sinew_math::Vec3;
use sinew_skeleton::{Kinematics, Momentum};

impl State {
    /// Computes the energies of the state.
    pub fn energies(&self, model: &Model) -> Energies {
        let coupling = BoneCoupling::of(model, self);
        let bones = coupling.energies(model, self);
        let obstacles = contact::energies(model, self);
        let in_contact = contact::contact_energy(model, self);
        let coordinates = custom_bodies::energies(model, self);
        let flesh = if model.homes().is_empty() {
            model.elements().energy(&self.node_x)
        } else {
            let homes = HomePose::of(model, &coupling.fields, self);
            model.elements().energy(&homes.bind_x) + homes.spring_energy(model, self)
        };
        let points = CustomBodies::of(model).energy(&self.node_x);
        Energies {
            kinetic: self.node_kinetic_energy(model)
                + bones.kinetic
                + obstacles.kinetic
                + coordinates.kinetic,
            elastic: flesh + bones.elastic + in_contact + coordinates.elastic + points,
            potential: self.node_potential_energy(model)
                + bones.potential
                + obstacles.potential
                + coordinates.potential,
        }
    }

    pub(crate) fn node_kinetic_energy(&self, model: &Model) -> f64 {
        let free = model.node_inverse_mass().iter().zip(model.node_mass()).zip(&self.node_v);
        free.map(|((&inverse, mass), v)| if inverse > 0.0 { 0.5 * mass * v.norm_squared() } else { 0.0 })
            .sum()
    }

    pub(crate) fn node_potential_energy(&self, model: &Model) -> f64 {
        let lifted = |node: usize| model.gravity().dot(&(self.node_x[node] - model.node_rest()[node]));
        let free = (0..model.node_count()).filter(|&node| model.node_inverse_mass()[node] > 0.0);
        -free.map(|node| model.node_mass()[node] * lifted(node)).sum::<f64>()
    }

    /// Σ m v over nodes, bones, generalised coordinates and dynamic obstacles (kg m/s).
    pub fn momentum(&self, model: &Model) -> Vec3 {
        self.momenta(model).linear
    }

    /// Σ m x × v over nodes, bones, generalised coordinates and dynamic obstacles, about the origin (kg m²/s).
    pub fn angular_momentum(&self, model: &Model) -> Vec3 {
        self.momenta(model).angular
    }

    /// Linear and angular momentum: of bones with the nodes fixed to them, of generalised coordinates with their points, of all other nodes, and of dynamic obstacles.
    fn momenta(&self, model: &Model) -> Momentum {
        let mut sum = Momentum::default();
        for (node, mass) in model.node_mass().iter().enumerate().filter(|(node, _)| !model.is_carried(*node))
        {
            sum.linear += *mass * self.node_v[node];
            sum.angular += *mass * self.node_x[node].cross(&self.node_v[node]);
        }
        for (rig, state) in model.rigs().iter().zip(&self.rigs) {
            let mut kinematics = Kinematics::default();
            kinematics.update(&rig.skeleton, state);
            let bones = Momentum::of(&rig.skeleton, &kinematics);
            sum.linear += bones.linear;
            sum.angular += bones.angular;
        }
        for others in [contact::momenta(model, self), custom_bodies::momenta(model, self)] {
            sum.linear += others.linear;
            sum.angular += others.angular;
        }
        sum
    }
}
