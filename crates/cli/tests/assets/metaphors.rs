//! The validation of [Transue2014, X] on the mesh that it uses: an ear of a bunny is twisted, bent, stretched and compressed.

use super::assets;
use sinew_io::{CharacterChoice, open_source};
use sinew_math::Vec3;
use sinew_sim::desc::{CageSize, MetaphorDesc, MetaphorKind, ShapeDesc, WidgetDesc, WorldDesc};
use sinew_sim::{Control, Model, State, Stepper, metaphor_response};

/// The bunny without weight and pins, with a metaphor on the ear that leans back.
fn bunny(kind: MetaphorKind) -> Model {
    let path = assets().join("stanford-bunny.obj");
    let mut world = open_source(&path, &CharacterChoice::default()).expect("a mesh").value.scene.world;
    let body = &mut world.bodies[0];
    body.pins.clear();
    body.material.damping_ratio = 0.7;
    if let ShapeDesc::Surface { cage, .. } = &mut body.shape {
        *cage = CageSize::Tets(6000);
    }
    let widget = WidgetDesc {
        origin: Some(Vec3::new(-0.068, 0.164, -0.042)),
        axis: Some(Vec3::new(0.0, 0.74, -0.67)),
        normal: Some(Vec3::new(0.0, 0.67, 0.74)),
        near: Some(0.006),
        far: Some(0.025),
        radius: Some(0.02),
    };
    let metaphors = vec![MetaphorDesc { widget, ..MetaphorDesc::new("ear", &body.name, kind) }];
    let world = WorldDesc { gravity: Vec3::zeros(), metaphors, obstacles: Vec::new(), ..world };
    Model::build(&world).expect("a sound world")
}

/// Responses after a third, two thirds and all of a rise over three quarters of a second, relative to that of magnitude 1.
fn rise(model: &Model, magnitude: f64) -> [f64; 3] {
    let (mut state, mut stepper) = (State::at_rest(model), Stepper::default());
    let mut found = Vec::new();
    for frame in 0..45 {
        let at = |frame: usize| magnitude * frame as f64 / 45.0;
        let control = Control { metaphors: vec![[at(frame), at(frame + 1)]], ..Control::still(model) };
        stepper.step(model, &control, 1.0 / 60.0, &mut state).expect("a step");
        let metaphor = &model.metaphors()[0];
        found.push(metaphor_response(model, metaphor, &state) / metaphor.expected_response);
    }
    [found[14], found[29], found[44]]
}

/// Angle, displacement and length grow with magnitude and time, compression shortens, and magnitude 1 does what it says within a factor of 2.
#[test]
fn an_ear_of_the_bunny_follows_metaphors() {
    for kind in [MetaphorKind::Twist, MetaphorKind::Bend, MetaphorKind::Stretch] {
        let model = bunny(kind);
        for sign in [1.0, -1.0] {
            let found = [0.3, 0.6, 1.0].map(|size| rise(&model, sign * size).map(|own| sign * own));
            for own in found {
                assert!(own[0] > 0.0 && own.is_sorted_by(|a, b| a < b), "{kind:?} {sign}: {found:?}");
            }
            assert!((0..3).all(|i| found.is_sorted_by(|a, b| a[i] < b[i])), "{kind:?} {sign}: {found:?}");
            assert!((0.5..2.0).contains(&found[2][2]), "{kind:?} {sign}: {found:?}");
        }
    }
}
