//! Edits of takes: from their frame on the scene is another one, before it nothing changes, and it does not matter when they were made.

use sinew_control::{
    BezierKey, ConstraintMotion, Curve, Extrapolation, Factor, KeyedMotion, Motion, PlaceMotion, VectorCurve,
    WorldCurves,
};
use sinew_flesh::Material;
use sinew_math::{Isometry, Vec3};
use sinew_mesh::shapes;
use sinew_sim::desc::{
    BodyDesc, ConstraintDesc, ConstraintKind, ContactDesc, LoadDesc, MetaphorDesc, MetaphorKind, Mobility,
    ObstacleDesc, PinDesc, PointDesc, Region, Shape, ShapeDesc, WidgetDesc, WorldDesc,
};
use sinew_sim::{Control, ImplicitSettings, Model, Solver, State, Stepper};
use sinew_take::{Bookmark, Player, Scene, SceneChange, SceneEdit};
use std::sync::Arc;

/// The frame of the edit, and the number of frames.
const EDIT: usize = 50;
const FRAMES: usize = 100;
const FPS: f64 = 60.0;

/// A soft bar that hangs from its shaken end, over a ball that glides below it, and a drag.
fn scene() -> Scene {
    let end = |direction: Vec3| Region::End { direction, fraction: 0.2 };
    let bar = BodyDesc {
        name: "bar".into(),
        shape: ShapeDesc::Tets(shapes::beam(2, [0.4, 0.1, 0.1])),
        material: Material::soft_solid(20e3, 0.4, 1000.0, 0.1),
        pins: vec![PinDesc { region: end(-Vec3::x()) }],
        ..BodyDesc::default()
    };
    let ball = ObstacleDesc {
        mobility: Mobility::Kinematic,
        ..ObstacleDesc::fixed("ball", Shape::Sphere { radius: 0.08 }, Isometry::translation(0.4, -0.3, 0.0))
    };
    Scene {
        name: "bar".into(),
        world: WorldDesc {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            bodies: vec![bar],
            obstacles: vec![ball],
            constraints: vec![drag("drag")],
            metaphors: vec![twist("twist")],
            ..WorldDesc::default()
        },
        pin_motions: vec![vec![Motion::Shake { amplitude: Vec3::new(0.0, 0.03, 0.0), frequency: 2.0 }]],
        curves: WorldCurves { metaphors: vec![Curve::Constant(0.3)], ..WorldCurves::default() },
        obstacle_motions: vec![Motion::Glide { velocity: Vec3::new(0.0, 0.1, 0.0) }],
        seconds: FRAMES as f64 / FPS,
        fps: FPS,
        ..Scene::default()
    }
}

fn drag(name: &str) -> ConstraintDesc {
    let point = PointDesc::Surface { body: "bar".into(), place: Vec3::new(0.4, 0.05, 0.05) };
    let kind = ConstraintKind::Drag { point, place: Some(Vec3::new(0.4, 0.05, 0.2)) };
    ConstraintDesc { name: name.into(), kind, stiffness: Some(20.0), damping: None, is_exact: false }
}

/// A curve from 0 up to 5 and back, over the first second of the take.
fn swing() -> Curve {
    let keys =
        vec![BezierKey::auto(0.0, 0.0), BezierKey::smooth(0.3, 5.0, [0.2, 1.0]), BezierKey::auto(1.0, 0.0)];
    Curve::build(keys, Extrapolation::Hold).unwrap()
}

fn keyed_motion() -> Motion {
    let small = |to: f64| {
        let keys = vec![BezierKey::auto(0.0, 0.0), BezierKey::auto(0.5, to)];
        Curve::build(keys, Extrapolation::Hold).unwrap()
    };
    Motion::Keyed(Arc::new(KeyedMotion {
        translation: VectorCurve([small(-0.02), 0.0.into(), small(0.05)]),
        turns: VectorCurve([0.0.into(), small(0.03), 0.0.into()]),
        center: Vec3::zeros(),
    }))
}

/// A factor of the bar that changes from 0.3 to 2 during the take.
fn factor(factor: Factor) -> SceneChange {
    let keys = vec![BezierKey::auto(0.5, 0.3), BezierKey::auto(1.5, 2.0)];
    let curve = Curve::build(keys, Extrapolation::Hold).unwrap();
    SceneChange::BodyFactor { body: "bar".into(), factor, curve }
}

/// One of every change.
fn changes() -> Vec<(&'static str, SceneChange)> {
    let body = || "bar".to_owned();
    let region = Region::End { direction: Vec3::x(), fraction: 0.3 };
    vec![
        ("gravity", SceneChange::Gravity(Vec3::new(1.0, 4.0, 0.0).into())),
        (
            "softer",
            SceneChange::Material { body: body(), material: Material::soft_solid(6e3, 0.3, 1000.0, 0.1) },
        ),
        (
            "stiffer",
            SceneChange::Material { body: body(), material: Material::soft_solid(2e5, 0.4, 700.0, 0.02) },
        ),
        (
            "loads",
            SceneChange::Loads {
                body: body(),
                loads: vec![LoadDesc { region: region.clone(), force: Vec3::new(0.0, 5.0, 2.0) }],
                forces: Vec::new(),
            },
        ),
        ("stiffness factor", factor(Factor::Stiffness)),
        ("damping factor", factor(Factor::Damping)),
        ("friction factor", factor(Factor::Friction)),
        (
            "friction factor of an obstacle",
            SceneChange::ObstacleFrictionFactor { obstacle: "ball".into(), curve: 0.0.into() },
        ),
        ("keyed gravity", SceneChange::Gravity(VectorCurve([0.0.into(), swing(), Curve::constant(1.0)]))),
        (
            "keyed loads",
            SceneChange::Loads {
                body: body(),
                loads: vec![LoadDesc { region, force: Vec3::zeros() }],
                forces: vec![Some(VectorCurve([0.0.into(), swing(), swing()]))],
            },
        ),
        ("keyed air", SceneChange::AirDrag { body: body(), rate: swing() }),
        ("keyed pin", SceneChange::PinMotion { body: body(), pin: 0, motion: keyed_motion() }),
        ("keyed ball", SceneChange::ObstacleMotion { obstacle: "ball".into(), motion: keyed_motion() }),
        ("air", SceneChange::AirDrag { body: body(), rate: 3.0.into() }),
        (
            "pin",
            SceneChange::PinMotion {
                body: body(),
                pin: 0,
                motion: Motion::Glide { velocity: Vec3::new(-0.2, 0.0, 0.0) },
            },
        ),
        ("ball", SceneChange::ObstacleMotion { obstacle: "ball".into(), motion: Motion::Still }),
        ("friction", SceneChange::ObstacleFriction { obstacle: "ball".into(), friction: 0.0 }),
        ("constraint", SceneChange::Constraint { constraint: drag("other"), motion: moved() }),
        ("replaced", SceneChange::Constraint { constraint: drag("drag"), motion: moved() }),
        ("let go", SceneChange::RemoveConstraint("drag".into())),
        ("metaphor", SceneChange::Metaphor { metaphor: twist("other"), magnitude: Curve::Constant(0.5) }),
        ("turned back", SceneChange::Metaphor { metaphor: twist("twist"), magnitude: Curve::Constant(-0.5) }),
        ("untwisted", SceneChange::RemoveMetaphor("twist".into())),
        ("contact", SceneChange::Contact(ContactDesc { stiffness: 0.5, ..ContactDesc::default() })),
        ("solver", SceneChange::Solver(Solver::Implicit(ImplicitSettings::INTERACTIVE))),
    ]
}

/// Twists the free end of the bar against its middle.
fn twist(name: &str) -> MetaphorDesc {
    let widget = WidgetDesc {
        origin: Some(Vec3::new(0.25, 0.05, 0.05)),
        axis: Some(Vec3::x()),
        ..WidgetDesc::default()
    };
    MetaphorDesc { widget, ..MetaphorDesc::new(name, "bar", MetaphorKind::Twist) }
}

fn moved() -> ConstraintMotion {
    let motion = Motion::Shake { amplitude: Vec3::new(0.0, 0.1, 0.0), frequency: 1.0 };
    ConstraintMotion { place: PlaceMotion::Moved(motion), ..ConstraintMotion::default() }
}

fn with_edits(changes: &[SceneChange]) -> Scene {
    let time = EDIT as f64 / FPS + 0.004;
    Scene { edits: vec![SceneEdit { time, changes: changes.to_vec() }], ..scene() }
}

/// The bookmarks of all frames from the current one to the end.
fn bookmarks(player: &mut Player) -> Vec<Bookmark> {
    let mut all = vec![player.bookmark()];
    while player.frame() < player.frame_count() {
        player.advance().expect("a sound take");
        all.push(player.bookmark());
    }
    all
}

/// Every kind of change at frame 50 of 100: frames 0 to 50 keep every bit, the next one differs, and a run that was recorded without the edit and continued with it is
/// the run that had it from the start, with statistics.
#[test]
fn an_edit_leaves_the_frames_before_it_and_continues_as_if_it_had_always_been_there() {
    let unedited = bookmarks(&mut Player::build(&scene()).expect("sound"));
    for (name, change) in changes() {
        let edited_scene = with_edits(&[change]);
        let edited = bookmarks(&mut Player::build(&edited_scene).expect(name));
        assert_eq!(edited.len(), FRAMES + 1);
        assert_eq!(edited[..=EDIT], unedited[..=EDIT], "{name}");
        assert_ne!(edited[EDIT + 1].checkpoint, unedited[EDIT + 1].checkpoint, "{name}");

        let mut resumed = Player::build(&edited_scene).expect(name);
        resumed.resume_from(&unedited[EDIT]).expect("a state of the same layout");
        assert_eq!(bookmarks(&mut resumed)[..], edited[EDIT..], "{name}");
    }
}

/// From any frame on, before or after edits, and back again: a player that jumps is where one that never jumped is.
#[test]
fn a_player_resumes_at_any_frame_of_a_take_with_several_edits() {
    let mut edited = scene();
    for (i, (_, change)) in changes().into_iter().enumerate() {
        // two by two at the same frame
        edited.edits.push(SceneEdit { time: (10 * (i / 2)) as f64 / FPS, changes: vec![change] });
    }
    let mut player = Player::build(&edited).expect("sound");
    let all = bookmarks(&mut player);
    for frame in [95, 3, 20, 21, 0, 60, 59, 61] {
        player.resume_from(&all[frame]).expect("a state of the take");
        for next in frame + 1..(frame + 4).min(all.len()) {
            player.advance().expect("a sound take");
            assert_eq!(player.bookmark(), all[next], "frame {next} from {frame}");
        }
    }
}

/// A motion that replaces another begins where the other has come: the ball stops, glides on in another direction, and never jumps.
#[test]
fn edited_motions_begin_where_things_are() {
    let glide = |x: f64| Motion::Glide { velocity: Vec3::new(x, 0.0, 0.0) };
    let motion = |motion: Motion| SceneChange::ObstacleMotion { obstacle: "ball".into(), motion };
    let mut edited = scene();
    edited.edits = vec![
        SceneEdit { time: 0.5, changes: vec![motion(Motion::Still)] },
        SceneEdit { time: 1.0, changes: vec![motion(glide(-0.6))] },
    ];
    let mut player = Player::build(&edited).expect("sound");
    let place = |player: &Player| player.state.obstacles[0].pose.translation.vector;
    let mut before = place(&player);
    while player.frame() < player.frame_count() {
        player.advance().expect("a sound take");
        let step = FPS * (place(&player) - before);
        let expected = match player.frame() {
            0..=30 => Vec3::new(0.0, 0.1, 0.0),
            31..=60 => Vec3::zeros(),
            _ => Vec3::new(-0.6, 0.0, 0.0),
        };
        // round-off of positions near 1, times the frame rate
        assert!((step - expected).norm() < 1e-12, "frame {}: {step:?}", player.frame());
        before = place(&player);
    }
}

/// Flesh whose rest shape carries its weight keeps that rest shape: without gravity it rises.
#[test]
fn stress_free_shapes_outlast_gravity() {
    let mut hung = scene();
    hung.world.constraints.clear();
    hung.world.metaphors.clear();
    hung.world.obstacles.clear();
    hung.world.bodies[0].sag = sinew_sim::desc::Sag::RestShape;
    hung.world.bodies[0].material = Material::soft_solid(300e3, 0.4, 1000.0, 0.3);
    hung.pin_motions = vec![vec![Motion::Still]];
    hung.edits = vec![SceneEdit { time: 0.2, changes: vec![SceneChange::Gravity(Vec3::zeros().into())] }];
    let mut player = Player::build(&hung).expect("sound");
    let tip = (0..player.model.node_count()).max_by(|a, b| {
        let x = |node: usize| player.model.node_rest()[node].x;
        x(*a).total_cmp(&x(*b))
    });
    let tip = tip.expect("a node");
    let start = player.state.node_x[tip].y;
    for _ in 0..12 {
        player.advance().expect("a sound take");
    }
    // at rest to the tolerance of the rest shape, where it would otherwise sag by millimetres
    assert!((player.state.node_x[tip].y - start).abs() < 1e-4);
    for _ in 0..12 {
        player.advance().expect("a sound take");
    }
    assert!(player.state.node_x[tip].y > start + 1e-3);
}

#[test]
fn what_an_edit_cannot_change_is_said() {
    let fails =
        |change: SceneChange| Player::build(&with_edits(&[change])).err().expect("a fault").to_string();
    let said = fails(SceneChange::RemoveConstraint("rope".into()));
    assert!(said.contains("there is no constraint 'rope': the scene has drag"), "{said}");
    let material = Material { young: -1.0, ..Material::default() };
    let said = fails(SceneChange::Material { body: "bar".into(), material });
    assert!(said.contains("material"), "{said}");
    let said = fails(SceneChange::PinMotion { body: "bar".into(), pin: 1, motion: Motion::Still });
    assert!(said.contains("has 1 pins, so there is no pin 2"), "{said}");
    let late = Scene { edits: vec![SceneEdit { time: -1.0, changes: Vec::new() }], ..scene() };
    assert!(Player::build(&late).err().expect("a fault").to_string().contains("an edit at -1 s"));

    // the layout of a take never changes
    let mut other = scene();
    other.world.obstacles.clear();
    let model = sinew_sim::Model::build(&scene().world).expect("sound");
    let said = model.revise(&other.world).expect_err("other obstacles").to_string();
    assert!(said.contains("they were [\"ball\"] and would be []"), "{said}");
}

/// The stability limit of the stiffened flesh is kept, and its energy is no divergence.
#[test]
fn flesh_that_is_stiffened_a_hundredfold_while_it_is_deformed_does_not_diverge() {
    let material = Material::soft_solid(2e6, 0.4, 1000.0, 0.1);
    let mut player =
        Player::build(&with_edits(&[SceneChange::Material { body: "bar".into(), material }])).expect("sound");
    let end = bookmarks(&mut player).pop().expect("frames");
    assert_eq!((end.summary.frames, end.summary.retries), (FRAMES, 0));
}

/// What a revised model keeps of the one before is what building anew would give: the same hash, and the same bits of twenty frames in contact.
#[test]
fn a_revised_model_is_the_one_that_would_be_built() {
    let model = Model::build(&scene().world).unwrap();
    let same_mass = Material::soft_solid(6e3, 0.3, 1000.0, 0.1);
    let heavier = Material::soft_solid(6e3, 0.3, 1500.0, 0.1);
    let stiffer_contact = |scene: &mut Scene| scene.world.contact.stiffness = 0.5;
    let changes: [&dyn Fn(&mut Scene); 4] = [
        &|scene| scene.world.bodies[0].material = same_mass,
        &|scene| scene.world.bodies[0].material = heavier,
        &stiffer_contact,
        &|scene| scene.world.obstacles[0].friction = Some(0.1),
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut changed = scene();
        changed.world.contact.self_contact.push("bar".into());
        let model = if i == 2 { &model } else { &Model::build(&changed.world).unwrap() };
        change(&mut changed);
        let revised = model.revise(&changed.world).unwrap();
        let built = Model::build(&changed.world).unwrap();
        assert_eq!(revised.hash(), built.hash(), "change {i}");
        let run = |model: &Model| {
            let (mut state, mut stepper) = (State::at_rest(model), Stepper::default());
            for _ in 0..20 {
                stepper.step(model, &Control::still(model), 1.0 / FPS, &mut state).unwrap();
            }
            state.hash()
        };
        assert_eq!(run(&revised), run(&built), "change {i}");
    }
}

/// Models of earlier edits are kept where they fit, and leave nothing else: a player whose edits are replaced again and again plays what a new one would.
#[test]
fn edits_that_replace_others_are_played_as_if_they_were_the_first() {
    let mut player = Player::build(&scene()).expect("sound");
    let start = player.bookmark();
    let growing = [0.1, 0.3, 0.3].map(|seconds| {
        let motion =
            ConstraintMotion { place: PlaceMotion::Moved(glide(seconds)), ..ConstraintMotion::default() };
        ("a path that grows", SceneChange::Constraint { constraint: drag("drag"), motion })
    });
    let mut models = Vec::new();
    for (name, change) in changes().into_iter().chain(growing) {
        let edited = with_edits(&[change]);
        player.resume_from(&start).expect("its start");
        player.edit(&edited).expect(name);
        let mut fresh = Player::build(&edited).expect(name);
        for _ in 0..EDIT + 3 {
            player.advance().expect("a sound take");
            fresh.advance().expect("a sound take");
        }
        assert_eq!(player.bookmark(), fresh.bookmark(), "{name}");
        models.push(player.model.clone());
    }
    // a path is no part of a model
    let last = models.len() - 1;
    assert!(Arc::ptr_eq(&models[last], &models[last - 2]) && !Arc::ptr_eq(&models[last], &models[0]));
}

/// A motion to the side that lasts for a time (s) from the edit on.
fn glide(seconds: f64) -> Motion {
    let keys = vec![BezierKey::auto(0.0, 0.0), BezierKey::auto(seconds, 0.5 * seconds)];
    let along = Curve::build(keys, Extrapolation::Hold).unwrap();
    Motion::Keyed(Arc::new(KeyedMotion {
        translation: VectorCurve([0.0.into(), 0.0.into(), along]),
        turns: VectorCurve([0.0.into(), 0.0.into(), 0.0.into()]),
        center: Vec3::zeros(),
    }))
}
