//! Barriers around flesh on bones: limp arms, whose nodes move on arcs, and arms that are bent.

use super::arm::arm_world;
use crate::contact::find_intersections;
use crate::desc::{ObstacleDesc, Sag, WorldDesc};
use crate::implicit::{ImplicitContact, ImplicitSettings, Solver, StepOrder};
use crate::{Control, Model, RigControl, State, StepReport, Stepper};
use sinew_contact::Shape;
use sinew_math::{Isometry, Vec3};
use sinew_skeleton::DriveKind;

const DT: f64 = 1.0 / 60.0;

/// The arm above a ridge, and with contact with itself.
fn world() -> WorldDesc {
    let mut world = arm_world(0.0, 0.1, Sag::Free);
    let half = Vec3::new(0.01, 0.3, 0.05);
    let at = Isometry::translation(0.33, 0.05, -0.12);
    world.obstacles = vec![ObstacleDesc::fixed("ridge", Shape::Cuboid { half }, at)];
    world.contact.self_contact = vec!["flesh".into()];
    world
}

fn settings(order: StepOrder) -> ImplicitSettings {
    ImplicitSettings { contact: ImplicitContact::Barrier, order, ..ImplicitSettings::INTERACTIVE }
}

/// Takes steps, none of which may end with an intersection.
fn run(
    world: &WorldDesc,
    order: StepOrder,
    steps: usize,
    control: impl Fn(&Model, usize) -> Control,
) -> State {
    let model = Model::build(world).expect("sound");
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::with_solver(Solver::Implicit(settings(order)));
    for step in 0..steps {
        let report: StepReport =
            stepper.step(&model, &control(&model, step), DT, &mut state).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(report.barrier_fallbacks, 0, "step {step}");
        assert_eq!(find_intersections(&model, &state), None, "step {step}: {report:?}");
    }
    state
}

/// A limp arm swings onto a ridge and stays above it: its joints are unknowns.
#[test]
fn limp_arm_rests_on_a_ridge() {
    for order in [StepOrder::First, StepOrder::Second] {
        let state = run(&world(), order, 60, |model, _| Control::still(model));
        assert!(state.node_v.iter().all(|v| v.norm() < 5.0));
    }
}

/// An elbow that is bent by 2.4 rad folds flesh onto itself: its joints are prescribed.
#[test]
fn bent_elbow_folds_without_intersections() {
    let mut world = world();
    world.obstacles.clear();
    run(&world, StepOrder::First, 40, |model, step| {
        let skeleton = &model.rigs()[0].skeleton;
        let at = |step: usize| {
            let mut state = sinew_skeleton::SkeletonState::at_rest(skeleton);
            (state.q[1], state.v[1]) = (0.06 * step as f64, 0.06 / DT);
            state
        };
        let rig = RigControl {
            drives: vec![DriveKind::Motion; 2],
            from: at(step),
            to: at(step + 1),
            torque: vec![0.0; 2],
            ..RigControl::default()
        };
        Control { rigs: vec![rig], ..Control::default() }
    });
}
