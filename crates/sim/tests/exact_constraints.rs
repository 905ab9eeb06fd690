//! Points of flesh held exactly: explicit and implicit, by projection and by multipliers, against springs, and where they contradict each other.

use sinew_flesh::Material;
use sinew_math::{Vec3, real};
use sinew_mesh::shapes;
use sinew_sim::desc::{BodyDesc, ConstraintDesc, ConstraintKind, PointDesc, Sag, ShapeDesc};
use sinew_sim::implicit::settle_with;
use sinew_sim::{
    ConstraintPath, Control, ExactMethod, ImplicitSettings, Model, Solver, State, StepOrder, Stepper,
    WorldDesc, constraint_forces,
};

const DT: f64 = 1.0 / 60.0;

/// A beam of 40 × 10 × 10 cm along x from the origin on.
fn beam(constraints: Vec<ConstraintDesc>) -> WorldDesc {
    let body = BodyDesc {
        name: "beam".into(),
        shape: ShapeDesc::Tets(shapes::beam(3, [0.4, 0.1, 0.1])),
        material: Material::soft_solid(3e4, 0.4, 1000.0, 0.3),
        velocity: Vec3::zeros(),
        pins: Vec::new(),
        loads: Vec::new(),
        attachment: None,
        sag: Sag::Free,
        ..BodyDesc::default()
    };
    let gravity = Vec3::new(0.0, -9.81, 0.0);
    WorldDesc { gravity, bodies: vec![body], constraints, ..WorldDesc::default() }
}

/// A pin of the point of the surface nearest to a place; inside of faces, so that several nodes carry it.
fn pin(name: &str, place: Vec3) -> ConstraintDesc {
    let point = PointDesc::surface("beam", place);
    ConstraintDesc::new(name, ConstraintKind::Pin { point, place: None })
}

const HELD: [Vec3; 4] = [
    Vec3::new(0.021, 0.05, -0.037),
    Vec3::new(0.034, 0.05, 0.031),
    Vec3::new(0.0, -0.02, -0.003),
    Vec3::new(0.377, 0.05, 0.002),
];

fn pins() -> Vec<ConstraintDesc> {
    HELD.iter().enumerate().map(|(i, place)| pin(&format!("pin {i}"), *place)).collect()
}

fn exact_pins() -> Vec<ConstraintDesc> {
    pins().into_iter().map(ConstraintDesc::exact).collect()
}

fn settings(exact: ExactMethod) -> ImplicitSettings {
    ImplicitSettings { exact, ..ImplicitSettings::ACCURATE }
}

/// The largest distance of a point from its target (m).
fn largest_gap(model: &Model, control: &Control, state: &State) -> f64 {
    let forces = constraint_forces(model, control, state);
    forces.iter().map(|force| (force.points[0] - force.points[1]).norm()).fold(0.0, f64::max)
}

fn largest_difference(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// The last pin lifts the end of the beam by 5 cm and swings it, as a function of time (s).
fn swing(time: f64) -> Vec3 {
    HELD[3] + Vec3::new(0.0, 0.05 * (1.0 - real::cos(6.0 * time)), 0.03 * real::sin(9.0 * time))
}

fn control_at(model: &Model, time: f64) -> Control {
    let mut control = Control::still(model);
    let path = ConstraintPath { place: Some([swing(time), swing(time + DT)]), ..ConstraintPath::default() };
    *control.constraints.last_mut().expect("pins") = path;
    control
}

/// At rest springs of stiffness k let points yield by their load over k, so that what they differ from exact ones falls as 1/k. Projection and multipliers minimise the same energy to a
/// gradient of 1e-5 of the weight: some micrometres of a beam that sags by centimetres.
#[test]
fn projection_and_multipliers_are_the_limit_of_stiff_springs() {
    let settled = |pins: Vec<ConstraintDesc>, exact: ExactMethod| {
        let model = Model::build(&beam(pins)).expect("sound");
        let mut control = Control::still(&model);
        control.constraints[3] = ConstraintPath::at(HELD[3] + Vec3::new(0.01, 0.06, 0.0));
        let mut state = State::at_rest(&model);
        let report = settle_with(&model, &control, &settings(exact), &mut [], &mut state).expect("rests");
        assert!(report.converged, "{report:?}");
        (state, model, control)
    };
    let (projected, model, control) = settled(exact_pins(), ExactMethod::Projection);
    assert!(largest_gap(&model, &control, &projected) < 1e-12);
    let (multiplied, model, control) = settled(exact_pins(), ExactMethod::Multipliers);
    let gap = largest_gap(&model, &control, &multiplied);
    let apart = largest_difference(&projected.node_x, &multiplied.node_x);
    assert!(gap < 1e-6 && apart < 2e-5, "{gap:e} {apart:e}");

    let apart = |stiffness: f64| {
        let pins = pins().into_iter().map(|pin| ConstraintDesc { stiffness: Some(stiffness), ..pin });
        let (state, ..) = settled(pins.collect(), ExactMethod::Projection);
        largest_difference(&projected.node_x, &state.node_x)
    };
    let found = [1e3, 1e4, 1e5].map(apart);
    for pair in found.windows(2) {
        assert!(pair[1] < 0.15 * pair[0], "{found:?}");
    }
}

/// A point that is grabbed 3 cm off a hand that swings comes to it like e (1 + t/τ) exp(−t/τ), whatever the hand's acceleration a: after 1.5 s, 30 τ, nothing is left of it, and in the two stages of a
/// second-order step, which decay more slowly, 2 nm. Against the velocity of the hand within a step it would stay a τ² behind, 0.05 · 36 · 0.05² = 4.5 mm.
#[test]
fn a_point_grabbed_off_its_target_comes_to_a_hand_that_accelerates() {
    let model = Model::build(&beam(exact_pins())).expect("sound");
    let implicit = |order| Solver::Implicit(ImplicitSettings { order, ..settings(ExactMethod::Projection) });
    for solver in [Solver::Explicit, implicit(StepOrder::First), implicit(StepOrder::Second)] {
        let mut stepper = Stepper::with_solver(solver);
        let mut state = State::at_rest(&model);
        let mut gap = 0.0f64;
        for step in 0..120 {
            let hand = |step: i32| swing(DT * f64::from(step)) + 0.03 * Vec3::y();
            let mut control = Control::still(&model);
            *control.constraints.last_mut().expect("pins") = ConstraintPath {
                place: Some([hand(step), hand(step + 1)]),
                place_before: Some(hand((step - 1).max(0))),
                ..ConstraintPath::default()
            };
            stepper.step(&model, &control, DT, &mut state).expect("a step");
            if step >= 90 {
                gap = gap.max(largest_gap(&model, &control, &state));
            }
        }
        assert!(gap < 1e-7, "{gap:e} m off");
    }
}

/// Both methods solve the same step, so that they agree to the tolerance of solves over the steps of a swing; with projection points are at their targets to round-off.
#[test]
fn projection_and_multipliers_take_the_same_steps() {
    let model = Model::build(&beam(exact_pins())).expect("sound");
    for order in [StepOrder::First, StepOrder::Second] {
        let run = |exact: ExactMethod| {
            let mut stepper =
                Stepper::with_solver(Solver::Implicit(ImplicitSettings { order, ..settings(exact) }));
            let (mut state, mut gap) = (State::at_rest(&model), 0.0f64);
            for step in 0..40 {
                let control = control_at(&model, DT * f64::from(step));
                let report = stepper.step(&model, &control, DT, &mut state).expect("a step");
                assert!(
                    report.solve.is_some_and(|solve| solve.converged),
                    "{order:?} {exact:?} {step}: {report:?}"
                );
                gap = gap.max(largest_gap(&model, &control, &state));
            }
            (state, gap)
        };
        let ((projected, exact), (multiplied, gap)) =
            (run(ExactMethod::Projection), run(ExactMethod::Multipliers));
        let apart = largest_difference(&projected.node_x, &multiplied.node_x);
        assert!(exact < 1e-12 && gap < 1e-6 && apart < 1e-4, "{exact:e} {gap:e} {apart:e}");
    }
}

/// Explicit sub-steps end with every point at its target, do not diverge, and come to rest in the air where static equilibrium is.
#[test]
fn explicit_steps_hold_points_exactly() {
    let mut world = beam(exact_pins());
    world.bodies[0].air_drag = 4.0;
    let model = Model::build(&world).expect("sound");
    let (mut stepper, mut state) = (Stepper::default(), State::at_rest(&model));
    for step in 0..60 {
        let control = control_at(&model, DT * f64::from(step));
        let report = stepper.step(&model, &control, DT, &mut state).expect("a step");
        assert_eq!(report.retries, 0, "step {step}");
        let gap = largest_gap(&model, &control, &state);
        assert!(gap < 1e-13, "step {step}: {gap:e}");
    }
    let mut control = Control::still(&model);
    control.constraints[3] = ConstraintPath::at(swing(1.0));
    for _ in 0..400 {
        stepper.step(&model, &control, DT, &mut state).expect("a step");
    }
    let mut settled = State::at_rest(&model);
    let settings = settings(ExactMethod::Projection);
    assert!(settle_with(&model, &control, &settings, &mut [], &mut settled).expect("rests").converged);
    let apart = largest_difference(&state.node_x, &settled.node_x);
    // element forces in single precision, of a body of 4 kg
    assert!(apart < 2e-4, "{apart:e}");
}

/// A point that is grabbed 5 cm away from the hand comes to it within some tenths of a second, without a jump: faster than 5 cm in a time constant it never is.
#[test]
fn a_point_off_its_target_returns_smoothly() {
    for solver in [
        Solver::Explicit,
        Solver::Implicit(settings(ExactMethod::Projection)),
        Solver::Implicit(settings(ExactMethod::Multipliers)),
    ] {
        let model = Model::build(&beam(exact_pins())).expect("sound");
        let (mut stepper, mut state) = (Stepper::with_solver(solver), State::at_rest(&model));
        let mut control = Control::still(&model);
        control.constraints[3] = ConstraintPath::at(HELD[3] + Vec3::new(0.0, 0.05, 0.0));
        let mut last = 0.05;
        for step in 0..60 {
            let report = stepper.step(&model, &control, DT, &mut state).expect("a step");
            assert_eq!(report.max_inverted, 0, "step {step}");
            let gap = largest_gap(&model, &control, &state);
            assert!(gap <= last + 1e-6 && last - gap < 0.05 * DT / 0.05, "step {step}: {last} to {gap}");
            last = gap;
        }
        assert!(last < 1e-6, "{last:e}");
    }
}

/// The same point twice, and a point between two others on the same face, are held by the others: dropped without a word where targets agree, named where they do not.
#[test]
fn constraints_that_contradict_others_are_named_and_dropped() {
    let [a, b] = [Vec3::new(0.2, 0.05, 0.004), Vec3::new(0.205, 0.05, 0.006)];
    let descs = [("a", a), ("b", b), ("between", 0.5 * (a + b)), ("again", a)];
    let exact = descs.map(|(name, place)| pin(name, place).exact());
    let model = Model::build(&beam(exact.to_vec())).expect("sound");
    for solver in [Solver::Explicit, Solver::Implicit(settings(ExactMethod::Projection))] {
        let (mut stepper, mut state) = (Stepper::with_solver(solver), State::at_rest(&model));
        let mut control = Control::still(&model);
        stepper.step(&model, &control, DT, &mut state).expect("a step");
        assert_eq!(stepper.dropped_constraints(), [], "they agree");
        control.constraints[3] = ConstraintPath::at(a + Vec3::new(0.0, 0.03, 0.0));
        stepper.step(&model, &control, DT, &mut state).expect("a step");
        let dropped = stepper.dropped_constraints();
        assert_eq!(dropped.len(), 1);
        assert_eq!((dropped[0].constraint, dropped[0].beside.as_slice()), (3, &[0][..]));
        assert!((dropped[0].distance - 0.03).abs() < 0.02, "{dropped:?}");
        // the others are held
        let forces = constraint_forces(&model, &control, &state);
        assert!(forces[..3].iter().all(|force| (force.points[0] - force.points[1]).norm() < 1e-12));

        // released, it contradicts nothing
        control.constraints[3] = ConstraintPath::released();
        stepper.step(&model, &control, DT, &mut state).expect("a step");
        assert_eq!(stepper.dropped_constraints(), []);
    }
}

#[test]
fn what_cannot_be_exact_is_refused() {
    let belt = ConstraintKind::Join {
        points: [PointDesc::surface("beam", HELD[0]), PointDesc::surface("beam", HELD[3])],
        length: None,
        is_unilateral: false,
    };
    let join = ConstraintDesc::new("rope", belt).exact();
    let stiff = ConstraintDesc { stiffness: Some(3.0), ..pin("stiff", HELD[0]).exact() };
    let error = Model::build(&beam(vec![join, stiff])).unwrap_err().to_string();
    assert!(error.contains("only drags and pins hold exactly"), "{error}");
    assert!(error.contains("no stiffness or damping"), "{error}");
}
