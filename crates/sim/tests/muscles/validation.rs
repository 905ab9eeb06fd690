//! Descriptions of muscles that cannot be meant, and what is said about them.

use crate::bar::{activated, bar};
use sinew_math::Vec3;
use sinew_sim::desc::{FibreField, MuscleEnd, MuscleKind, MuscleVolume, WorldDesc};
use sinew_sim::{Model, State, StepError, Stepper};

fn error(change: impl Fn(&mut WorldDesc)) -> String {
    let mut world = bar(0.3, 0.1, FibreField::Harmonic);
    change(&mut world);
    Model::build(&world).expect_err("refused").to_string()
}

fn flesh(world: &mut WorldDesc) -> &mut sinew_sim::desc::FleshMuscleDesc {
    match &mut world.muscles[0].kind {
        MuscleKind::Flesh(flesh) => flesh,
        MuscleKind::Line(_) => unreachable!("the bar is flesh"),
    }
}

#[test]
fn what_is_wrong_is_named_with_the_muscle() {
    let end = |x: f64, bone: Option<&str>| MuscleEnd {
        place: Vec3::new(x, 0.0, 0.0),
        radius: None,
        bone: bone.map(Into::into),
    };
    let cases = [
        (error(|world| flesh(world).body = "bra".into()), "body 'bra', which does not exist: there is bar"),
        (error(|world| world.muscles[0].curve.max_stress = -1.0), "largest stress is -1"),
        (error(|world| flesh(world).volume = MuscleVolume::Spindle(0.1)), "needs an origin and an insertion"),
        (
            error(|world| flesh(world).fibres = FibreField::Along(Vec3::zeros())),
            "fibres run along [0.0, 0.0, 0.0]",
        ),
        (
            error(|world| flesh(world).ends = Some([end(0.0, Some("upper")), end(0.1, None)])),
            "it ends at bone 'upper', but body 'bar' is attached to no skeleton",
        ),
        (
            error(|world| {
                flesh(world).volume = MuscleVolume::Spindle(0.01);
                flesh(world).ends = Some([end(10.0, None), end(10.2, None)]);
            }),
            "none of the body is in it",
        ),
        (
            error(|world| {
                let twice = world.muscles[0].clone();
                world.muscles.push(twice);
            }),
            "two muscles have this name",
        ),
    ];
    for (message, part) in cases {
        assert!(message.contains("muscle 'muscle'") && message.contains(part), "{message}");
    }
}

#[test]
fn an_activation_beyond_its_range_is_refused_and_changes_nothing() {
    let model = Model::build(&bar(0.3, 0.1, FibreField::Harmonic)).expect("sound");
    for activation in [-0.1, 1.5, f64::NAN] {
        let mut state = State::at_rest(&model);
        let before = state.hash();
        let error =
            Stepper::default().step(&model, &activated(activation), 0.01, &mut state).expect_err("refused");
        assert!(matches!(&error, StepError::BadControl(what) if what.contains("muscle 'muscle'")), "{error}");
        assert_eq!(state.hash(), before);
    }
}
