//! Metaphors that are too strong for a body.

use crate::bodies::{FPS, cloth, cylinder, ear, model_with, on_all, on_ear, world};
use sinew_math::Vec3;
use sinew_sim::desc::{BodyDesc, MetaphorDesc, MetaphorKind, WidgetDesc};
use sinew_sim::{Control, ImplicitSettings, Model, Solver, State, StepError, Stepper, WorldDesc};

/// Twenty frames of a magnitude, which begins at once. Checks that a failed step leaves the state as it was.
fn pull(body: &BodyDesc, kind: MetaphorKind, solver: Solver, magnitude: f64) -> Result<(), StepError> {
    let model = model_with(body.clone(), on_all(kind));
    let (mut state, mut stepper) = (State::at_rest(&model), Stepper::with_solver(solver));
    let control = Control { metaphors: vec![[magnitude; 2]], ..Control::still(&model) };
    for _ in 0..20 {
        let before = state.clone();
        if let Err(error) = stepper.step(&model, &control, 1.0 / FPS, &mut state) {
            assert_eq!(state, before);
            return Err(error);
        }
    }
    Ok(())
}

const KINDS: [MetaphorKind; 4] =
    [MetaphorKind::Stretch, MetaphorKind::Bend, MetaphorKind::Twist, MetaphorKind::Push];

#[test]
fn what_no_body_survives_is_an_error_that_names_the_metaphor() {
    let solvers = [Solver::Explicit, Solver::Implicit(ImplicitSettings::INTERACTIVE)];
    for (solver, kind) in solvers.into_iter().flat_map(|solver| KINDS.map(|kind| (solver, kind))) {
        for magnitude in [-1e5, 1e5] {
            let error = pull(&cylinder(), kind, solver, magnitude).expect_err("too strong");
            assert!(
                matches!(&error, StepError::TooStrong { metaphor, body, .. } if metaphor == "all" && body == "body"),
                "{kind:?}: {error}"
            );
        }
        pull(&cylinder(), kind, solver, 1.5).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
    }
    let error = pull(&cloth(), MetaphorKind::Stretch, Solver::Explicit, 1e4).expect_err("too strong");
    assert!(error.to_string().contains("times its size"), "{error}");
}

/// An ear is a seventh of its body: that it is wrung is told, although 1 % of all elements are inverted, and the metaphor that does it is named, not the one that the head bears, even if that is the stronger one.
#[test]
fn a_metaphor_is_judged_by_its_own_region() {
    let widget = WidgetDesc {
        origin: Some(Vec3::new(0.0, 0.0, 0.12)),
        axis: Some(-Vec3::z()),
        radius: Some(0.05),
        ..WidgetDesc::default()
    };
    let head = MetaphorDesc { widget, ..MetaphorDesc::new("head", "body", MetaphorKind::Stretch) };
    let crush = MetaphorDesc { name: "crush".into(), ..on_ear(MetaphorKind::Twist) };
    let desc = WorldDesc { metaphors: vec![head, crush], ..world(ear()) };
    let model = Model::build(&desc).expect("a sound world");
    // ends of ramps over two seconds: the first frame that fails
    let ramp = |ends: [f64; 2]| {
        let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
        (0..120).find_map(|frame| {
            let times = [frame, frame + 1].map(|frame| frame as f64 / 120.0);
            let metaphors = ends.map(|end| times.map(|at| end * at)).to_vec();
            let control = Control { metaphors, ..Control::still(&model) };
            stepper.step(&model, &control, 1.0 / FPS, &mut state).err()
        })
    };
    assert_eq!(ramp([12.5, 0.0]), None, "the head bears its stretch");
    for head in [1.0, 12.5] {
        // the ear turns by more than half a turn at 6, and passes through itself at 12
        let error = ramp([head, 12.0]).expect("an ear is crushed");
        assert!(matches!(&error, StepError::TooStrong { metaphor, .. } if metaphor == "crush"), "{error}");
    }
}
