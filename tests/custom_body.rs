//! A body of a kind that the library does not know: it lives in its own file and is registered as a `ShapeDesc::Custom`, and falls, collides, is recorded, resumed and baked
//! as any other.

#[path = "custom_body/springs.rs"]
mod springs;
#[path = "custom_body/squash.rs"]
mod squash;

use sinew::character::TakeSettings;
use sinew::gltf::{GlbOptions, GlbSink};
use sinew::io::{
    CapturedFiles, Existing, PointCacheFormat, PointCacheSink, TakeFile, TakeOrigin, TakeRecipe,
    TakeRecorder, read_pc2,
};
use sinew::math::so3;
use sinew::mesh::shapes;
use sinew::prelude::*;
use sinew::sim::implicit::settle;
use sinew::sim::{CoordinateState, Coordinates, KindDesc, PointsOut, SolverKind, StepError};
use springs::SpringsDesc;
use squash::SquashDesc;
use std::sync::Arc;

const G: f64 = 9.81;

fn ball(height: f64) -> SquashDesc {
    let place = Vec3::new(0.1, height, -0.2);
    let mut surface = shapes::sphere(0.1, 3);
    surface.vertices.iter_mut().for_each(|x| *x += place);
    SquashDesc {
        surface,
        place,
        volume: 4e-3,
        spin: Vec3::zeros(),
        squash_rate: 0.0,
        frequency: 60.0,
        damping_ratio: 0.05,
    }
}

fn body(kind: impl KindDesc + 'static) -> BodyDesc {
    BodyDesc {
        name: "odd".into(),
        shape: ShapeDesc::Custom(Arc::new(kind)),
        material: Material::soft_solid(1e4, 0.4, 1000.0, 0.1),
        velocity: Vec3::zeros(),
        pins: Vec::new(),
        loads: Vec::new(),
        attachment: None,
        sag: Sag::Free,
        ..BodyDesc::default()
    }
}

fn world(kind: impl KindDesc + 'static) -> WorldDesc {
    WorldDesc { gravity: Vec3::new(0.0, -G, 0.0), bodies: vec![body(kind)], ..WorldDesc::default() }
}

/// A ball that falls on the ground spinning, bounces and is squashed.
fn drop_scene() -> Scene {
    let ball = SquashDesc { spin: Vec3::new(3.0, 0.5, 5.0), ..ball(0.3) };
    let mut world = world(ball);
    world.obstacles.push(ObstacleDesc::ground(0.0));
    Scene {
        name: "drop".into(),
        world,
        pin_motions: Vec::new(),
        performances: Vec::new(),
        obstacle_motions: Vec::new(),
        constraint_motions: Vec::new(),
        curves: Default::default(),
        solver: Solver::Auto(ImplicitSettings::INTERACTIVE),
        preroll: 0.0,
        seconds: 1.0,
        fps: 30.0,
        edits: Vec::new(),
    }
}

/// Coordinates and velocities far from rest: shifted, turned, squashed and moving in every way.
fn anywhere() -> CoordinateState {
    let turn = so3::exp(&Vec3::new(0.7, -1.1, 0.4)).coords;
    CoordinateState {
        q: vec![0.3, -0.2, 0.5, turn.x, turn.y, turn.z, turn.w, 0.2],
        v: vec![0.4, 0.1, -0.6, 1.5, -2.0, 0.7, 0.9],
    }
}

fn placed(coordinates: &dyn Coordinates, state: &CoordinateState, count: usize) -> [Vec<Vec3>; 2] {
    let (mut x, mut v) = (vec![Vec3::zeros(); count], vec![Vec3::zeros(); count]);
    coordinates.place_points(&state.q, &state.v, PointsOut { x: &mut x, v: &mut v });
    [x, v]
}

/// ⟨f, J v⟩ = ⟨Jᵀ f, v⟩, and J v is how points move: to the second order of the motion over 1e-6 s, some 1e-5 m/s.
#[test]
fn the_embedding_carries_motion_out_and_forces_back() {
    let parts = ball(0.0).build(&Material::soft_solid(1e4, 0.4, 1000.0, 0.1), &Vec3::zeros()).unwrap();
    let coordinates = parts.kind.coordinates().expect("it has some");
    let (state, count) = (anywhere(), parts.points.len());
    let [x, v] = placed(coordinates, &state, count);
    let forces: Vec<Vec3> =
        x.iter().enumerate().map(|(i, x)| Vec3::new(x.y, (i % 7) as f64, x.x - 0.3)).collect();
    let mut back = vec![0.0; 7];
    coordinates.apply_transpose(&state.q, &forces, &mut back);
    let outside: f64 = forces.iter().zip(&v).map(|(f, v)| f.dot(v)).sum();
    let inside: f64 = back.iter().zip(&state.v).map(|(f, v)| f * v).sum();
    assert!((outside - inside).abs() < 1e-12 * outside.abs().max(1.0), "{outside} {inside}");

    let (step, mut later) = (1e-6, state.clone());
    (0..3).for_each(|k| later.q[k] += step * state.v[k]);
    let turned = so3::exp(&(step * Vec3::new(state.v[3], state.v[4], state.v[5])));
    let own = sinew::math::nalgebra::Quaternion::new(state.q[6], state.q[3], state.q[4], state.q[5]);
    let turned = turned * sinew::math::Rotation::new_unchecked(own);
    later.q[3..7].copy_from_slice(turned.coords.as_slice());
    later.q[7] += step * state.v[6];
    let [next, _] = placed(coordinates, &later, count);
    for i in 0..count {
        let found = (next[i] - x[i]) / step;
        assert!((found - v[i]).norm() < 1e-5, "point {i}: {found:?} {:?}", v[i]);
    }
}

/// Free fall by symplectic Euler: y(t) = −g t (t + h)/2 to round-off, while it spins and is squashed.
#[test]
fn it_falls_freely() {
    let ball = SquashDesc { spin: Vec3::new(2.0, 0.0, 4.0), squash_rate: 3.0, ..ball(1.0) };
    let model = Model::build(&world(ball)).expect("sound");
    let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
    let (dt, steps) = (1.0 / 60.0, 30);
    let mut substeps = 0;
    for _ in 0..steps {
        substeps = stepper.step(&model, &Control::still(&model), dt, &mut state).expect("holds").substeps;
    }
    let (t, h) = (dt * f64::from(steps), dt / substeps as f64);
    let fallen = state.body_q[1] - 1.0;
    assert!((fallen + 0.5 * G * t * (t + h)).abs() < 1e-12 * G, "{fallen}");
    let middle = state.node_x.iter().sum::<Vec3>() / state.node_x.len() as f64;
    assert!((middle.y - state.body_q[1]).abs() < 1e-12);
}

/// Without forces neither momentum changes, and energy only as much as symplectic Euler lets that of an undamped mode swing, h ω/2 of what the mode has at most.
#[test]
fn momenta_stay_where_nothing_acts() {
    let (spin, squash_rate) = (Vec3::new(2.0, 1.0, -4.0), 6.0);
    let ball = SquashDesc { spin, squash_rate, damping_ratio: 0.0, ..ball(0.5) };
    let mut world = WorldDesc { gravity: Vec3::zeros(), ..world(ball) };
    world.bodies[0].velocity = Vec3::new(0.3, -0.1, 0.2);
    world.max_step = Some(1e-3);
    let model = Model::build(&world).expect("sound");
    let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
    let linear = state.momentum(&model);
    assert!((linear - model.mass() * world.bodies[0].velocity).norm() < 1e-12 * linear.norm());
    let angular = state.angular_momentum(&model);
    let total = |state: &State| {
        let energies = state.energies(&model);
        energies.kinetic + energies.elastic + energies.potential
    };
    let start = total(&state);
    for _ in 0..60 {
        stepper.step(&model, &Control::still(&model), 1.0 / 60.0, &mut state).expect("holds");
        assert!((state.momentum(&model) - linear).norm() < 1e-12 * linear.norm());
        assert!((state.angular_momentum(&model) - angular).norm() < 1e-11 * angular.norm());
        assert!((total(&state) / start - 1.0).abs() < 0.03, "{}", total(&state) / start);
    }
}

/// It comes to rest on the ground, and no energy comes from nowhere on the way. At a depth d the vertices of a cap of that height push, a fraction d/2R of all N, each with up to
/// k d: m g = k N d²/4R, where k N = κ m/h² with the step h that contact is made for. Vertices are not spread evenly: half as much again or less.
#[test]
fn it_collides_and_comes_to_rest() {
    let mut scene = Scene { seconds: 3.0, ..drop_scene() };
    scene.world.bodies = vec![body(ball(0.3))];
    let mut player = Player::build(&scene).expect("a sound scene");
    assert_eq!(player.solver().kind(), SolverKind::Explicit);
    let energy = |state: &State, model: &Model| {
        let energies = state.energies(model);
        energies.kinetic + energies.elastic + energies.potential
    };
    let (start, fallen) = (energy(&player.state, &player.model), 0.2 * G * player.model.mass());
    let mut in_contact = 0;
    for _ in 0..90 {
        in_contact += player.advance().expect("holds").in_contact;
        let now = energy(&player.state, &player.model);
        assert!(now < start + 0.02 * fallen, "{now} {start}");
    }
    assert!(in_contact > 0);
    let lowest = player.state.node_x.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    let (radius, step, stiffness) = (0.1, 2e-3, sinew::contact::Penalty::STRENGTH.stiffness);
    let depth = (4.0 * radius * G * step * step / stiffness).sqrt();
    assert!(-lowest > 0.5 * depth && -lowest < 1.5 * depth, "{lowest} {depth}");
    let kinetic = player.state.energies(&player.model).kinetic;
    // contact damps the last bounces by about 2/s, in a second and a half to a few per cent of their energy
    assert!(kinetic < 2e-2 * fallen, "{kinetic} {fallen} {:?}", player.state.body_v);
}

/// Bits are those of one thread on any number of threads, and of a run that was saved and gone on with.
#[test]
fn bits_are_the_same_on_any_threads_and_after_saving() {
    let scene = drop_scene();
    let play = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let mut player = Player::build(&scene).expect("a sound scene");
            player.play(&mut [], |_| {}).expect("plays");
            player.state.hash()
        })
    };
    let whole = play(1);
    assert_eq!(play(4), whole);

    let mut first = Player::build(&scene).expect("a sound scene");
    for _ in 0..9 {
        first.advance().expect("holds");
    }
    let saved = Checkpoint::of(&first.state).as_bytes().to_vec();
    let mut second = Player::build(&scene).expect("a sound scene");
    second.resume(9, &Checkpoint::from_bytes(saved.clone())).expect("a sound checkpoint");
    assert_eq!(second.state, first.state);
    second.play(&mut [], |_| {}).expect("plays");
    assert_eq!(second.state.hash(), whole);

    // a state without its coordinates, or of another body, is refused
    let jelly = Model::build(&sinew::zoo::jelly_torus().world).expect("sound");
    assert!(Checkpoint::from_bytes(saved.clone()).restore(&jelly).is_err());
    let mut damaged = saved;
    let last = damaged.len() - 200;
    damaged[last] ^= 1;
    assert!(Checkpoint::from_bytes(damaged).restore(&first.model).is_err());
}

/// A recorded take gives back every frame, resumes with the same bits, and is baked into a GLB and a point cache whose points are those of the states.
#[test]
fn it_is_recorded_and_baked() {
    let folder = std::env::temp_dir().join(format!("sinew-custom-body-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let scene = drop_scene();
    let mut player = Player::build(&scene).expect("a sound scene");
    let recipe = TakeRecipe {
        sinew: "0.0.0".into(),
        origin: TakeOrigin::BuiltIn("drop".into()),
        settings: TakeSettings { seconds: scene.seconds, fps: scene.fps, ..TakeSettings::default() },
        model_hash: player.model.hash(),
        files: CapturedFiles::default(),
    };
    let path = folder.join("t.take");
    let mut recorder = TakeRecorder::create(&path, &recipe, Existing::ReplaceComplete).expect("a new file");
    player.record(&mut recorder, &mut [], |_| {}).expect("plays");
    drop(recorder);

    let take = TakeFile::open(&path).expect("a take");
    let bookmark = take.bookmark().expect("readable").expect("one");
    assert_eq!(bookmark.checkpoint.restore(&player.model).expect("its own"), player.state);
    let (glb, cache) = (folder.join("t.glb"), folder.join("t.pc2"));
    let mut sinks =
        (GlbSink::new(&glb, GlbOptions::default()), PointCacheSink::new(&cache, PointCacheFormat::Pc2));
    let states = take.states(&player.model).expect("of this model");
    let states =
        states.map(|state| state.map_err(|error| Box::<dyn std::error::Error>::from(error.to_string())));
    sinew::take::replay(&player.model, scene.fps, states, &mut [&mut sinks.0, &mut sinks.1], |_| {})
        .expect("bakes");
    assert!(sinks.0.report().expect("finished").bodies[0].is_met());
    let baked = read_pc2(&std::fs::read(&cache).expect("a cache")).expect("a sound cache");
    let baked = baked.value.samples;
    let last = baked.sample(30).expect("31 frames");
    assert_eq!(baked.sample_count, 31);
    for (found, x) in last.iter().zip(&player.state.node_x) {
        assert_eq!(*found, [x.x as f32, x.y as f32, x.z as f32]);
    }
    std::fs::remove_dir_all(&folder).expect("the folder");
}

/// What it cannot do is said: no pins, no bones, no implicit steps and no settling; and what a kind says of itself is checked.
#[test]
fn what_it_cannot_do_is_refused() {
    let model = Model::build(&drop_scene().world).expect("sound");
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::with_solver(Solver::Implicit(ImplicitSettings::INTERACTIVE));
    let before = state.clone();
    let error = stepper.step(&model, &Control::still(&model), 1e-2, &mut state).unwrap_err();
    assert_eq!(error, StepError::OwnCoordinates("odd".into()));
    assert!(settle(&model, &Control::still(&model), &mut state).unwrap_err().to_string().contains("'odd'"));
    assert_eq!(state, before);

    let faults = |change: fn(&mut BodyDesc)| {
        let mut world = drop_scene().world;
        change(&mut world.bodies[0]);
        Model::build(&world).unwrap_err().to_string()
    };
    assert!(
        faults(|body| body.pins.push(PinDesc { region: Region::Nearest(Vec3::zeros()) })).contains("pinned")
    );
    assert!(faults(|body| body.attachment = Some(AttachmentDesc::by_shape("none"))).contains("bones"));
    let lopsided = SquashDesc { place: Vec3::zeros(), ..ball(0.3) };
    assert!(Model::build(&world(lopsided)).unwrap_err().to_string().contains("symmetric"));
}

/// A net of springs, whose coordinates are its points: explicit steps of 0.1 ms and implicit ones of 1 ms agree to the first order in the longer step.
#[test]
fn an_energy_of_points_acts_in_explicit_and_implicit_steps() {
    let run = |solver: Solver, dt: f64| {
        let mut world = world(SpringsDesc::square(0.2, 40.0));
        world.bodies[0].pins.push(PinDesc { region: Region::Nearest(Vec3::zeros()) });
        let model = Model::build(&world).expect("sound");
        let (mut state, mut stepper) = (State::at_rest(&model), Stepper::with_solver(solver));
        for _ in 0..(0.2 / dt) as usize {
            stepper.step(&model, &Control::still(&model), dt, &mut state).expect("holds");
        }
        state.node_x
    };
    let explicit = run(Solver::Explicit, 1e-4);
    let implicit = run(Solver::Implicit(ImplicitSettings::ACCURATE), 1e-3);
    let fallen = explicit.iter().map(|x| -x.y).fold(0.0, f64::max);
    assert!(fallen > 0.05, "{fallen}");
    for (a, b) in explicit.iter().zip(&implicit) {
        assert!((a - b).norm() < 0.02 * fallen, "{a:?} {b:?}");
    }
}
