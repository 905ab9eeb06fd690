//! The model of a step whose control changes numbers of the world: gravity, air drag, stiffness, damping and friction.
//!
//! A model never changes, and every part of a step reads these numbers from it. A step with other ones therefore uses a copy of the model that differs in them only. The copy
//! is made once, and is scratch like everything of a stepper.
//!
//! The energy account of a state refers to the gravity g₀ and the elastic energy E₀ of its model. A difference Δg = g − g₀ in a step is a force from outside, whose work is supplied, and so is what it takes to make a
//! deformed body stiffer as the step begins, and what is gained by making it softer again as it ends:
//!
//! ```text
//! W = V(x₀) − V(x₁),   V(x) = −Δg · Σ m x + E(x) − E₀(x)
//! ```
//!
//! V is a function of the state and of the control of one step, so that the account does not depend on where a take was resumed. Worlds with homes start a new account after every step, which is granted what stiffening takes
//! in addition.

use crate::coupling::{BoneCoupling, HomePose};
use crate::custom_bodies::CustomBodies;
use crate::{Control, Model, State, contact, custom_bodies};
use sinew_flesh::ElasticPotential;
use sinew_math::Vec3;
use sinew_skeleton::{Energies as BoneEnergies, Kinematics};

/// A copy of a model with the numbers of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepModel {
    /// The copy; `None` until a step needs it.
    copy: Option<Box<Model>>,
    kinematics: Kinematics,
    elastic: ElasticPotential,
    custom_bodies: CustomBodies,
    coupling: BoneCoupling,
    homes: HomePose,
}

impl StepModel {
    /// Takes a step: calls `step` with the model that the control asks for, which is `model` itself if it changes nothing. A failed step leaves the energy account as it was.
    pub(crate) fn step<T, E>(
        &mut self,
        model: &Model,
        control: &Control,
        state: &mut State,
        step: impl FnOnce(&Model, &mut State) -> Result<T, E>,
    ) -> Result<T, E> {
        if !control.changes(model) {
            return step(model, state);
        }
        // the copy, with the numbers of this step
        let mut copy = match self.copy.take() {
            Some(copy) if copy.id() == model.id() => copy,
            _ => Box::new(model.clone()),
        };
        set_numbers(&mut copy, model, control);
        let change = copy.gravity() - model.gravity();

        // the work of the changes of gravity and stiffness
        let (supplied, has_homes) = (state.supplied_energy, !model.homes().is_empty());
        let stiffened = self.stiffening(&copy, model, control, state);
        state.supplied_energy += self.potential(&mut copy, change, state);
        state.supplied_energy += if has_homes { stiffened.max(0.0) } else { stiffened };
        let stepped = step(&copy, state);
        match &stepped {
            Ok(_) => {
                state.supplied_energy -= self.potential(&mut copy, change, state);
                if !has_homes {
                    state.supplied_energy -= self.stiffening(&copy, model, control, state);
                }
            }
            Err(_) => state.supplied_energy = supplied,
        }
        self.copy = Some(copy);
        stepped
    }

    /// The elastic energy of a copy of a model beyond that of the model itself (J).
    fn stiffening(&mut self, copy: &Model, model: &Model, control: &Control, state: &State) -> f64 {
        if !control.changes_stiffness() {
            return 0.0;
        }
        // E = k E₀ where all bodies have one factor
        let mut factors = copy.bodies().iter().map(|body| body.factors.stiffness);
        let first = factors.next().unwrap_or(1.0);
        let own = self.elastic_energy(copy, state);
        if factors.all(|factor| factor == first) {
            own - own / first
        } else {
            own - self.elastic_energy(model, state)
        }
    }

    /// The elastic energy of flesh, springs towards home and custom bodies (J).
    fn elastic_energy(&mut self, model: &Model, state: &State) -> f64 {
        let StepModel { elastic, custom_bodies, coupling, homes, .. } = self;
        custom_bodies.prepare(model);
        let points = custom_bodies.energy(&state.node_x);
        if model.homes().is_empty() {
            return points + elastic.evaluate(model.elements(), &state.node_x).energy;
        }
        coupling.prepare(model);
        coupling.refresh(model, state);
        homes.update(model, &coupling.fields, state);
        points + elastic.evaluate(model.elements(), &homes.bind_x).energy + homes.spring_energy(model, state)
    }

    /// The potential of all that moves under a gravity (J), up to a constant.
    fn potential(&mut self, copy: &mut Model, gravity: Vec3, state: &State) -> f64 {
        if gravity == Vec3::zeros() {
            return 0.0;
        }
        let usual = copy.replace_gravity(gravity);
        let mut sum = state.node_potential_energy(copy)
            + contact::energies(copy, state).potential
            + custom_bodies::energies(copy, state).potential;
        for (rig, state) in copy.rigs().iter().zip(&state.rigs) {
            self.kinematics.update(&rig.skeleton, state);
            sum += BoneEnergies::of(&rig.skeleton, &self.kinematics, state, &gravity).gravity;
        }
        copy.replace_gravity(usual);
        sum
    }
}

/// A copy of a model with the numbers of a control.
pub(crate) fn with_numbers(model: &Model, control: &Control) -> Model {
    let mut copy = model.clone();
    set_numbers(&mut copy, model, control);
    copy
}

/// Sets the numbers of a copy of a model to those of a control.
fn set_numbers(copy: &mut Model, model: &Model, control: &Control) {
    copy.replace_gravity(control.gravity.unwrap_or(model.gravity()));
    copy.set_air_drag(model, |body| control.air_drag.get(body).copied().flatten());
    copy.set_factors(model, |body| control.factors(body));
    if model.can_collide() {
        copy.scale_friction(model, |surface| control.friction.of(surface));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desc::{BodyDesc, ShapeDesc, WorldDesc};
    use crate::implicit::{ImplicitSettings, Solver};
    use crate::{StepError, Stepper};
    use sinew_flesh::Material;
    use sinew_mesh::shapes;

    fn block() -> Model {
        let body = BodyDesc {
            shape: ShapeDesc::Tets(shapes::beam(2, [0.2, 0.1, 0.1])),
            material: Material::soft_solid(1e4, 0.4, 1000.0, 0.0),
            ..BodyDesc::default()
        };
        let world = WorldDesc { gravity: -Vec3::y(), bodies: vec![body], ..WorldDesc::default() };
        Model::build(&world).expect("sound")
    }

    fn gravity_at(step: usize) -> Vec3 {
        Vec3::new(step as f64, 20.0 - 3.0 * step as f64, -9.0)
    }

    /// Free fall under a gravity g_k in step k: v = Σ g_k dt. The account of supplied energy refers to the model's own gravity, so it is the kinetic energy plus the potential
    /// under that one. Explicitly, values of order 1 have the round-off of some hundred sub-steps; implicit solves leave up to 1e-5 of the weight, over 0.1 s at 20 m/s².
    #[test]
    fn changing_gravity_accelerates_and_its_work_is_supplied() {
        let (model, dt) = (block(), 0.01);
        let implicit = Solver::Implicit(ImplicitSettings::ACCURATE);
        for (solver, tolerance) in [(Solver::Explicit, 1e-12), (implicit, 2e-5)] {
            let (mut state, mut stepper) = (State::at_rest(&model), Stepper::with_solver(solver));
            let mut velocity = Vec3::zeros();
            for k in 0..10 {
                let control = Control { gravity: Some(gravity_at(k)), ..Control::default() };
                let report = stepper.step(&model, &control, dt, &mut state).expect("no divergence");
                assert_eq!(report.retries, 0);
                velocity += dt * gravity_at(k);
            }
            let found = state.momentum(&model) / model.mass();
            assert!((found - velocity).norm() < tolerance, "{solver:?}: {found} is not {velocity}");
            if solver == Solver::Explicit {
                let energies = state.energies(&model);
                let total = energies.kinetic + energies.potential;
                assert!((state.supplied_energy - total).abs() < 1e-12, "{} {total}", state.supplied_energy);
            }
        }
    }

    #[test]
    fn the_gravity_of_the_model_itself_gives_the_same_bits() {
        let model = block();
        let run = |control: Control| {
            let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
            for _ in 0..5 {
                stepper.step(&model, &control, 0.01, &mut state).expect("sound");
            }
            state.hash()
        };
        let own = run(Control { gravity: Some(model.gravity()), ..Control::default() });
        assert_eq!(run(Control::default()), own);
        assert_eq!(run(Control { air_drag: vec![Some(0.0)], ..Control::default() }), own);
        assert_ne!(run(Control { air_drag: vec![Some(0.5)], ..Control::default() }), own);
    }

    #[test]
    fn numbers_that_are_not_possible_are_refused_and_change_nothing() {
        let model = block();
        let controls = [
            Control { gravity: Some(Vec3::new(f64::NAN, 0.0, 0.0)), ..Control::default() },
            Control { air_drag: vec![Some(-1.0)], ..Control::default() },
        ];
        for control in controls {
            let mut state = State::at_rest(&model);
            let before = state.hash();
            let error = Stepper::default().step(&model, &control, 0.01, &mut state).expect_err("refused");
            assert!(matches!(error, StepError::BadControl(_)), "{error}");
            assert_eq!(state.hash(), before);
        }
        // a step that diverges leaves the energy account as it was
        let mut state = State::at_rest(&model);
        let before = state.clone();
        let control = Control { gravity: Some(Vec3::new(0.0, 1e200, 0.0)), ..Control::default() };
        Stepper::default().step(&model, &control, 0.01, &mut state).expect_err("diverges");
        assert_eq!(state.supplied_energy.to_bits(), before.supplied_energy.to_bits());
    }
}
