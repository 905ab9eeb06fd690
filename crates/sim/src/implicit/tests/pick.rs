//! Choice between explicit and implicit steps.

use super::beam::{beam_world, rubber};
use crate::desc::{CageSize, Mobility, ObstacleDesc, ShapeDesc, WorldDesc};
use crate::implicit::{ImplicitSettings, Solver, SolverKind, SolverReason, StepOrder};
use crate::{Control, Model, State, Stepper};
use sinew_contact::Shape;
use sinew_math::{Isometry, Vec3};

const DT: f64 = 1.0 / 60.0;

/// Stiff flesh is stepped implicitly, soft flesh explicitly, and both give the reason.
#[test]
fn auto_picks_what_costs_less() {
    let auto = Solver::Auto(ImplicitSettings::INTERACTIVE);
    let pick = |young: f64| {
        let model = Model::build(&beam_world(2, rubber(young, 0.3, 0.0), true)).expect("sound");
        auto.pick(&model, DT).expect("a pick")
    };
    let (soft, stiff) = (pick(1e3), pick(1e8));
    assert_eq!((soft.kind(), stiff.kind()), (SolverKind::Explicit, SolverKind::Implicit));
    assert!(matches!(soft.reason, SolverReason::FewSubsteps(n) if n < Solver::MANY_SUBSTEPS), "{soft:?}");
    assert!(matches!(stiff.reason, SolverReason::ManySubsteps(n) if n > Solver::MANY_SUBSTEPS), "{stiff:?}");
}

/// Second-order steps cost twice as much, and are chosen above twice as many sub-steps.
#[test]
fn auto_knows_that_second_order_costs_more() {
    let model = Model::build(&beam_world(2, rubber(1e5, 0.3, 0.0), true)).expect("sound");
    let dt = 1.5 * Solver::MANY_SUBSTEPS * model.stable_step().seconds;
    let pick = |order| {
        let settings = ImplicitSettings { order, ..ImplicitSettings::INTERACTIVE };
        Solver::Auto(settings).pick(&model, dt).expect("a pick").kind()
    };
    assert_eq!(pick(StepOrder::First), SolverKind::Implicit);
    assert_eq!(pick(StepOrder::Second), SolverKind::Explicit);
}

/// A fine surface in a coarse cage: self-contact of its vertices dominates the cost of explicit steps.
#[test]
fn auto_counts_surfaces_that_touch() {
    let mut world = beam_world(2, rubber(1e5, 0.3, 0.0), false);
    let (surface, cage) = (sinew_mesh::shapes::sphere(0.1, 5), CageSize::Tets(150));
    world.bodies[0].shape = ShapeDesc::Surface { surface, cage };
    let pick = |world: &WorldDesc| {
        let model = Model::build(world).expect("sound");
        Solver::Auto(ImplicitSettings::ACCURATE).pick(&model, DT).expect("a pick")
    };
    let alone = pick(&world);
    world.contact.self_contact.push(world.bodies[0].name.clone());
    let in_contact = pick(&world);
    assert!(matches!(alone.reason, SolverReason::FewSubsteps(n) if n > 4.0), "{alone:?}");
    assert!(matches!(in_contact.reason, SolverReason::ManySubsteps(n) if n < 25.0), "{in_contact:?}");
}

/// A dynamic obstacle does not affect the choice.
#[test]
fn free_obstacles_are_stepped_either_way() {
    let mut world = beam_world(2, rubber(1e8, 0.3, 0.0), false);
    world.gravity = Vec3::new(0.0, -9.81, 0.0);
    let ball = Shape::Sphere { radius: 0.1 };
    world.obstacles.push(ObstacleDesc {
        mobility: Mobility::Free { density: 100.0, velocity: Vec3::zeros(), spin: Vec3::zeros() },
        ..ObstacleDesc::fixed("ball", ball, Isometry::translation(0.0, 1.0, 0.0))
    });
    let model = Model::build(&world).expect("sound");
    for (solver, kind) in [
        (Solver::Auto(ImplicitSettings::INTERACTIVE), SolverKind::Implicit),
        (Solver::Explicit, SolverKind::Explicit),
    ] {
        let mut state = State::at_rest(&model);
        let mut stepper = Stepper::with_solver(solver);
        stepper.step(&model, &Control::still(&model), DT, &mut state).expect("holds");
        assert_eq!(solver.pick(&model, DT).expect("a pick").kind(), kind);
        let fallen = 1.0 - state.obstacles[0].pose.translation.vector.y;
        assert!((fallen - 0.5 * 9.81 * DT * DT).abs() < 1e-12, "{kind:?} {fallen}");
    }
}
