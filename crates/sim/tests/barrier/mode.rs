//! Which contact steps use, and that barriers give the same bits on any number of threads.

use super::bodies::{BARRIER, intersections, tet_box, world};
use sinew_math::Vec3;
use sinew_sim::desc::ObstacleDesc;
use sinew_sim::{Control, ImplicitContact, ImplicitSettings, Model, Solver, State, StepError, Stepper};

const DT: f64 = 1.0 / 60.0;

fn two_boxes(apart: f64) -> Model {
    let boxes = vec![
        tet_box("lower", 2, [0.1; 3], Vec3::new(0.0, 0.051, 0.0), 1e5),
        tet_box("upper", 2, [0.1; 3], Vec3::new(0.02, 0.151 + apart, 0.01), 1e5),
    ];
    Model::build(&world(boxes, vec![ObstacleDesc::ground(0.0)])).expect("sound")
}

fn stepper(contact: ImplicitContact) -> Stepper {
    Stepper::with_solver(Solver::Implicit(ImplicitSettings { contact, ..BARRIER }))
}

#[test]
fn a_tangled_start_is_an_error_for_barriers_and_left_to_springs_otherwise() {
    let model = two_boxes(-0.02);
    let mut state = State::at_rest(&model);
    let before = state.hash();
    let control = Control::still(&model);
    let error =
        stepper(ImplicitContact::Barrier).step(&model, &control, DT, &mut state).expect_err("tangled");
    assert!(matches!(error, StepError::Intersecting { .. }));
    let said = error.to_string();
    assert!(said.contains("'lower' and 'upper' intersect in") && said.contains("pairs"), "{said}");
    assert_eq!(state.hash(), before);
    let report = stepper(ImplicitContact::Auto).step(&model, &control, DT, &mut state).expect("springs");
    assert_eq!((report.barrier_substeps, report.barrier_fallbacks), (0, 0));
}

#[test]
fn a_clean_start_has_barriers_unless_springs_are_asked_for() {
    let model = two_boxes(0.01);
    for (contact, expected) in
        [(ImplicitContact::Auto, 1), (ImplicitContact::Barrier, 1), (ImplicitContact::Springs, 0)]
    {
        let mut state = State::at_rest(&model);
        let report = stepper(contact).step(&model, &Control::still(&model), DT, &mut state).expect("holds");
        assert_eq!(report.barrier_substeps, expected, "{contact:?}");
    }
}

#[test]
fn bits_are_the_same_on_any_number_of_threads_and_by_another_stepper() {
    let model = two_boxes(0.05);
    let run = |threads: usize, is_fresh: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let mut state = State::at_rest(&model);
            let mut kept = stepper(ImplicitContact::Barrier);
            for _ in 0..30 {
                if is_fresh {
                    kept = stepper(ImplicitContact::Barrier);
                }
                kept.step(&model, &Control::still(&model), DT, &mut state).expect("holds");
            }
            assert_eq!(intersections(&model, &state), 0);
            state.hash()
        })
    };
    let one = run(1, false);
    assert_eq!(one, run(2, false));
    assert_eq!(one, run(3, true));
}
