//! Control metaphors on the bodies of the zoo: the validation of [Transue2014, X] on a belly, what magnitude 1 does to bodies of all kinds, and the takes that the thesis shows.

use sinew_control::{Curve, Extrapolation, Interpolation, Key, Keyframes};
use sinew_math::Vec3;
use sinew_sim::desc::{MetaphorDesc, MetaphorKind, WidgetDesc, WorldDesc};
use sinew_sim::{Control, Model, State, Stepper, metaphor_response};
use sinew_take::{Player, Scene};

const FPS: f64 = 60.0;

/// The belly of the penguin, in front of its hips, held by bones that do not move.
fn belly(kind: MetaphorKind) -> Model {
    let scene = sinew_zoo::penguin();
    let is_push = kind == MetaphorKind::Push;
    let widget = WidgetDesc {
        origin: Some(Vec3::new(0.0, 0.2, 0.12)),
        axis: Some(if is_push { -Vec3::z() } else { Vec3::x() }),
        normal: (!is_push).then(|| -Vec3::z()),
        near: Some(0.03),
        far: Some(0.1),
        radius: Some(0.07),
    };
    let metaphor = MetaphorDesc { widget, ..MetaphorDesc::new("belly", &scene.world.bodies[0].name, kind) };
    Model::build(&WorldDesc { gravity: Vec3::zeros(), metaphors: vec![metaphor], ..scene.world })
        .expect("a sound world")
}

/// Responses after a third, two thirds and all of a rise over 0.6 s.
fn rise(model: &Model, magnitude: f64) -> [f64; 3] {
    let (mut state, mut stepper) = (State::at_rest(model), Stepper::default());
    let mut found = Vec::new();
    for frame in 0..36 {
        let at = |frame: usize| magnitude * frame as f64 / 36.0;
        let control = Control { metaphors: vec![[at(frame), at(frame + 1)]], ..Control::still(model) };
        stepper.step(model, &control, 1.0 / FPS, &mut state).expect("a step");
        found.push(metaphor_response(model, &model.metaphors()[0], &state));
    }
    [found[11], found[23], found[35]]
}

#[test]
fn metaphors_on_a_belly_grow_with_magnitude_and_time() {
    for (_, kind) in MetaphorKind::NAMED {
        let model = belly(kind);
        for sign in [1.0, -1.0] {
            // fat gives way to bends and twists of a patch more than Rayleigh's method thinks, and a fold goes no further than its depth
            let is_soft = matches!(kind, MetaphorKind::Bend | MetaphorKind::Twist);
            let magnitudes = if is_soft { [0.08, 0.2] } else { [0.4, 1.0] };
            let found = magnitudes.map(|magnitude| rise(&model, sign * magnitude).map(|own| sign * own));
            for own in found {
                assert!(own[0] > 0.0 && own.is_sorted_by(|a, b| a < b), "{kind:?} {sign}: {found:?}");
            }
            assert!((0..3).all(|i| found[0][i] < found[1][i]), "{kind:?} {sign}: {found:?}");
        }
    }
}

/// Half a second of a scene, in which a metaphor on its first body rises to magnitude 1.
fn half_a_second(scene: &Scene, metaphor: Option<MetaphorDesc>) -> Vec<Vec3> {
    let mut scene = Scene { seconds: 0.5, preroll: 0.0, ..scene.clone() };
    let keys = vec![Key::at(0.0, 0.0), Key::at(0.4, 1.0)];
    let rise = Keyframes::build(keys, Interpolation::Linear, Extrapolation::Hold).expect("keys");
    scene.curves.metaphors = metaphor.iter().map(|_| Curve::from(rise.clone())).collect();
    scene.world.metaphors = metaphor.into_iter().collect();
    let mut player = Player::build(&scene).expect("a sound scene");
    while player.frame() < player.frame_count() {
        player.advance().expect("a frame");
    }
    player.state.node_x
}

/// Flesh with and without bones, soft and stiff, and cloth, in motion: magnitude 1 moves some node by at least 0.2 % of the size of the body, and none by more than 0.6 of it.
#[test]
fn magnitude_1_is_visible_and_sane() {
    for name in ["fish", "worm", "arm", "jelly", "jelly-torus", "cloth", "beam"] {
        let scene = (sinew_zoo::find(name).expect("in the catalog").build)();
        let body = &scene.world.bodies[0];
        let points = body.shape.points();
        let (low, high) = points.iter().fold((points[0], points[0]), |(a, b), x| (a.inf(x), b.sup(x)));
        let plain = half_a_second(&scene, None);
        for kind in [MetaphorKind::Stretch, MetaphorKind::Bend, MetaphorKind::Twist] {
            let moved = half_a_second(&scene, Some(MetaphorDesc::new("m", &body.name, kind)));
            let off = moved.iter().zip(&plain).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            let fraction = off / (high - low).amax();
            assert!((0.002..0.6).contains(&fraction), "{name} {kind:?}: {fraction}");
        }
    }
}

/// Figures 12.1, 12.2 and 12.5: the ear turns by more than 45° and comes back, the sheet is stretched and folded, and head and ear move by two edits at once.
#[test]
fn the_takes_of_the_thesis_do_what_they_show() {
    // the range of responses from a frame on, and the last one
    let response = |scene: &Scene, name: &str, frames: [usize; 2]| {
        let mut player = Player::build(scene).expect("a sound scene");
        let (mut low, mut high, mut last) = (0.0_f64, 0.0_f64, 0.0);
        while player.frame() < frames[1] {
            player.advance().expect("a frame");
            let own = player.model.metaphors().iter().find(|own| own.name == name);
            if let Some(own) = own.filter(|_| player.frame() >= frames[0]) {
                last = metaphor_response(&player.model, own, &player.state);
                (low, high) = (low.min(last), high.max(last));
            }
        }
        (low, high, last)
    };
    let (_, turned, back) = response(&sinew_zoo::rabbit_twist(), "ear", [13, 144]);
    assert!(turned > 0.8 && back.abs() < 0.2 * turned, "{turned} {back}");
    let (right, left, _) = response(&sinew_zoo::rabbit_flap(), "head", [13, 90]);
    assert!(left > 0.2 && right < -0.1, "{left} {right}");
    let (_, stretched, _) = response(&sinew_zoo::cloth_stretch(), "middle", [110, 130]);
    let (folded, _, _) = response(&sinew_zoo::cloth_fold(), "middle", [110, 130]);
    assert!(stretched > 0.02 && folded < -0.02, "{stretched} {folded}");
}
