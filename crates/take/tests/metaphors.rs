//! Control metaphors in takes: edits that begin and end them, magnitudes that are too strong, and magnitudes for a wanted response.

use sinew_control::{BezierKey, Curve, Extrapolation};
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_mesh::shapes;
use sinew_sim::desc::{BodyDesc, MetaphorDesc, MetaphorKind, ShapeDesc, WidgetDesc, WorldDesc};
use sinew_sim::{StepError, metaphor_response};
use sinew_take::{MagnitudeGoal, Player, Scene, SceneChange, SceneEdit};

const FPS: f64 = 60.0;

/// A free bar without gravity, and a metaphor on it from frame 6 on that rises to a magnitude within ten frames.
fn scene(kind: MetaphorKind, magnitude: f64) -> Scene {
    let bar = BodyDesc {
        name: "bar".into(),
        shape: ShapeDesc::Tets(shapes::beam(2, [0.4, 0.1, 0.1])),
        material: Material::soft_solid(20e3, 0.4, 1000.0, 0.3),
        ..BodyDesc::default()
    };
    let metaphor = MetaphorDesc::new("m", "bar", kind);
    let change = SceneChange::Metaphor { metaphor, magnitude: rise(magnitude) };
    Scene {
        world: WorldDesc { bodies: vec![bar], ..WorldDesc::default() },
        edits: vec![SceneEdit { time: 0.1, changes: vec![change] }],
        seconds: 0.5,
        fps: FPS,
        ..Scene::default()
    }
}

fn rise(magnitude: f64) -> Curve {
    let keys = vec![BezierKey::auto(0.1, 0.0), BezierKey::auto(0.1 + 10.0 / FPS, magnitude)];
    Curve::build(keys, Extrapolation::Hold).expect("sound keys")
}

fn response(player: &Player) -> f64 {
    metaphor_response(&player.model, &player.model.metaphors()[0], &player.state)
}

/// The error names the largest magnitude that held, the player stays at its last good frame, and with that magnitude the frame is reached.
#[test]
fn a_metaphor_that_is_too_strong_is_caught() {
    let mut player = Player::build(&scene(MetaphorKind::Stretch, 400.0)).expect("sound");
    let mut before = player.bookmark();
    let error = loop {
        match player.advance() {
            Ok(_) => before = player.bookmark(),
            Err(error) => break error,
        }
    };
    assert_eq!(player.bookmark(), before);
    let StepError::TooStrong { metaphor, magnitude, held: Some(held), .. } = &error else {
        panic!("{error}");
    };
    assert!(metaphor == "m" && *held > 1.0 && held < magnitude, "{error}");
    assert!(error.to_string().contains("the largest magnitude that held is"), "{error}");

    // the magnitude at the frame that failed is that of its curve
    let factor = held / magnitude;
    let mut again = Player::build(&scene(MetaphorKind::Stretch, 400.0 * factor)).expect("sound");
    while again.frame() <= player.frame() {
        again.advance().expect("this magnitude held");
    }
}

/// A twist of the end of a bar, which it bears, and a push that crushes that end: the push is named, with a magnitude of it that held, although the elements that are inverted are those of both and fewer are enough for
/// a twist to count as too strong.
#[test]
fn the_metaphor_without_which_a_body_holds_is_named() {
    let at_end = |axis: Vec3| WidgetDesc {
        origin: Some(Vec3::new(if axis.x > 0.0 { 0.3 } else { 0.4 }, 0.05, 0.05)),
        axis: Some(axis),
        radius: Some(0.12),
        ..WidgetDesc::default()
    };
    let mut scene = scene(MetaphorKind::Twist, 1.5);
    let SceneChange::Metaphor { metaphor, .. } = &mut scene.edits[0].changes[0] else {
        unreachable!("it is one")
    };
    metaphor.widget = at_end(Vec3::x());
    let play = |scene: &Scene| {
        let mut player = Player::build(scene).expect("sound");
        (0..scene.frame_count()).find_map(|_| player.advance().err())
    };
    assert_eq!(play(&scene), None, "the bar bears the twist");

    // by an edit of a take that was recorded without it
    let mut player = Player::build(&scene).expect("sound");
    while player.frame() < 12 {
        player.advance().expect("sound");
    }
    let push =
        MetaphorDesc { widget: at_end(-Vec3::x()), ..MetaphorDesc::new("push", "bar", MetaphorKind::Push) };
    let change = SceneChange::Metaphor { metaphor: push, magnitude: 40.0.into() };
    scene.edits.push(SceneEdit { time: 0.2, changes: vec![change] });
    let start = player.bookmark();
    let mut player = Player::build(&scene).expect("sound");
    player.resume_from(&start).expect("a frame of the take");
    let error = (0..18).find_map(|_| player.advance().err()).expect("too strong");
    let StepError::TooStrong { metaphor, beside, held: Some(held), .. } = &error else { panic!("{error}") };
    assert!(metaphor == "push" && *held > 0.0 && *held < 40.0, "{error}");
    assert!(beside.len() == 1 && beside[0].0 == "m", "{error}");
    assert!(error.to_string().contains("is too strong for body 'bar' together with 'm' of"), "{error}");
}

/// The factor that is found gives the response when the take is recorded with it.
#[test]
fn a_magnitude_is_found_for_a_wanted_response() {
    for (kind, wanted) in
        [(MetaphorKind::Stretch, 0.05), (MetaphorKind::Stretch, -0.03), (MetaphorKind::Twist, 1.2)]
    {
        let mut player = Player::build(&scene(kind, 1.0)).expect("sound");
        while player.frame() < 6 {
            player.advance().expect("sound");
        }
        let start = player.bookmark();
        let goal = MagnitudeGoal { metaphor: "m".into(), response: wanted, frame: 25 };
        let found = player.find_magnitude(&start, &goal).expect("an answer");
        assert!(found.is_reached && found.tries < 12, "{kind:?}: {found:?}");

        let mut again = Player::build(&scene(kind, found.factor)).expect("sound");
        while again.frame() < 25 {
            again.advance().expect("sound");
        }
        // curves are scaled before they are evaluated, which rounds otherwise
        let error = (response(&again) - wanted).abs() / wanted.abs();
        assert!(error < 0.0101, "{kind:?}: {error}");
    }
}

/// A bar cannot be stretched to five times its length: the report says so, with the largest factor that held.
#[test]
fn a_response_out_of_reach_is_told() {
    let mut player = Player::build(&scene(MetaphorKind::Stretch, 1.0)).expect("sound");
    let start = player.bookmark();
    let goal = MagnitudeGoal { metaphor: "m".into(), response: 2.0, frame: 25 };
    let found = player.find_magnitude(&start, &goal).expect("an answer");
    assert!(!found.is_reached && found.largest_held > 1.0 && found.response < 2.0, "{found:?}");
    let unknown = MagnitudeGoal { metaphor: "n".into(), ..goal };
    let error = player.find_magnitude(&start, &unknown).expect_err("no such metaphor").to_string();
    assert!(error.contains("no metaphor 'n' at frame 25: there is m"), "{error}");
}
