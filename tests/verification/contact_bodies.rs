//! Contact of bodies with dynamic obstacles, with each other and with themselves.

use super::bodies::loose;
use super::contact::{G, Run, block, center, run, world};
use sinew::math::real;
use sinew::mesh::shapes;
use sinew::prelude::*;

const DT: f64 = 1.0 / 60.0;

pub(crate) fn free(name: &str, shape: Shape, at: Vec3, density: f64, velocity: Vec3) -> ObstacleDesc {
    ObstacleDesc {
        mobility: Mobility::Free { density, velocity, spin: Vec3::zeros() },
        ..ObstacleDesc::fixed(name, shape, Isometry::translation(at.x, at.y, at.z))
    }
}

/// A ball of wood, then one of lead, hits a block without gravity. The contact forces are exactly opposite: linear and angular momentum change only by the round-off of some ten
/// thousand sums. Elements compute their forces in single precision, so their torques cancel to seven digits.
#[test]
fn contact_with_a_dynamic_obstacle_conserves_momentum() {
    for density in [100.0, 3000.0] {
        let shape = Shape::Sphere { radius: 0.04 };
        let bullet = free("bullet", shape, Vec3::new(-0.2, 0.07, 0.01), density, Vec3::new(2.0, 0.0, 0.0));
        let mut desc = world(vec![block(5e4)], vec![bullet]);
        desc.gravity = Vec3::zeros();
        desc.bodies[0].material.damping_ratio = 0.0;
        let model = Model::build(&desc).expect("sound");
        let mut state = State::at_rest(&model);
        let (linear, angular) = (state.momentum(&model), state.angular_momentum(&model));
        let flesh =
            |state: &State| -> Vec3 { state.node_v.iter().zip(model.node_mass()).map(|(v, m)| *m * v).sum() };
        let start = flesh(&state);
        run(&model, &mut state, 0.3);
        assert!((flesh(&state) - start).norm() > 0.3 * linear.norm(), "they met");
        assert!((state.momentum(&model) - linear).norm() < 1e-11 * linear.norm());
        assert!((state.angular_momentum(&model) - angular).norm() < 1e-7 * linear.norm());
    }
}

/// Boxes and balls that fall on the ground and on each other come to rest at the expected heights.
#[test]
fn dynamic_obstacles_stack_and_come_to_rest() {
    let cube = |name: &str, y: f64| {
        free(name, Shape::Cuboid { half: Vec3::repeat(0.05) }, Vec3::new(0.5, y, 0.0), 500.0, Vec3::zeros())
    };
    let ball = free("ball", Shape::Sphere { radius: 0.05 }, Vec3::new(-0.5, 0.2, 0.0), 500.0, Vec3::zeros());
    let model = Model::build(&world(
        vec![block(1e5)],
        vec![ObstacleDesc::ground(0.0), cube("lower", 0.06), cube("upper", 0.2), ball],
    ))
    .expect("sound");
    let mut state = State::at_rest(&model);
    run(&model, &mut state, 3.0);
    let height = |i: usize| state.obstacles[i].pose.translation.vector.y;
    for (i, expected) in [(1, 0.05), (2, 0.15), (3, 0.05)] {
        // each penetrates by g h² m Σ(1/m + r²/I)/(κ/2), a millimetre or two, and carries those above
        assert!((height(i) - expected).abs() < 5e-3, "{i}: {}", height(i));
        assert!(state.obstacles[i].linear.norm() < 0.02, "{i}: {:?}", state.obstacles[i]);
    }
}

/// A heavy box compresses a block and is supported by it.
#[test]
fn flesh_supports_a_heavy_box() {
    let shape = Shape::Cuboid { half: Vec3::new(0.08, 0.02, 0.08) };
    let load = free("load", shape, Vec3::new(0.0, 0.125, 0.0), 2000.0, Vec3::zeros());
    let model = Model::build(&world(vec![block(1e5)], vec![ObstacleDesc::ground(0.0), load])).expect("sound");
    let mut state = State::at_rest(&model);
    run(&model, &mut state, 4.0);
    let y = state.obstacles[1].pose.translation.vector.y;
    assert!((0.1..0.122).contains(&y), "{y}");
    assert!(state.obstacles[1].linear.norm() < 0.02, "{:?}", state.obstacles[1]);
}

pub(crate) fn soft_box(name: &str, y: f64) -> BodyDesc {
    let mut body = block(1e5);
    body.name = name.into();
    if let ShapeDesc::Tets(mesh) = &mut body.shape {
        mesh.nodes.iter_mut().for_each(|x| x.y += y);
    }
    body
}

#[test]
fn stack_of_three_soft_boxes_is_stable() {
    let boxes = vec![soft_box("low", 0.0), soft_box("middle", 0.105), soft_box("high", 0.21)];
    let mut desc = world(boxes, vec![ObstacleDesc::ground(0.0)]);
    desc.contact.between_bodies = true;
    let model = Model::build(&desc).expect("sound");
    let mut state = State::at_rest(&model);
    run(&model, &mut state, 4.0);
    for (i, body) in model.bodies().iter().enumerate() {
        let middle = state.node_x[body.nodes.clone()].iter().sum::<Vec3>() / body.nodes.len() as f64;
        let expected = 0.05 + 0.1 * i as f64;
        assert!((middle.y - expected).abs() < 0.02 && middle.x.hypot(middle.z) < 0.01, "{i}: {middle:?}");
    }
    assert!(state.momentum(&model).norm() < 0.02 * model.mass());
}

/// A soft box on a soft slab of 60 cm that is pinned below.
pub(crate) fn soft_incline() -> WorldDesc {
    let mut slab = plate("slab", 0.0, 0.0);
    slab.material = Material::soft_solid(1e5, 0.3, 1000.0, 0.2);
    slab.pins.push(PinDesc { region: Region::End { direction: -Vec3::y(), fraction: 0.1 } });
    let mut mesh = shapes::beam(1, [0.6, 0.03, 0.24]);
    mesh.nodes.iter_mut().for_each(|x| *x -= Vec3::new(0.1, 0.015, 0.0));
    slab.shape = ShapeDesc::Tets(mesh);
    let mut desc = world(vec![slab, soft_box("box", 0.002)], Vec::new());
    desc.contact.between_bodies = true;
    desc
}

/// The same on an incline of an angle (rad): gravity is rotated instead of the slab.
pub(crate) fn on_soft_incline(angle: f64, friction: f64) -> (Model, State) {
    let mut desc = soft_incline();
    desc.gravity = G * Vec3::new(real::sin(angle), -real::cos(angle), 0.0);
    desc.contact.friction = friction;
    let model = Model::build(&desc).expect("sound");
    let state = State::at_rest(&model);
    (model, state)
}

/// Mean of a quantity along the incline over the nodes of the box.
pub(crate) fn along_incline(model: &Model, values: &[Vec3]) -> f64 {
    let nodes = model.bodies()[1].nodes.clone();
    values[nodes.clone()].iter().map(|v| v.x).sum::<f64>() / nodes.len() as f64
}

/// Below the angle of friction the box sticks: once its vibration has decayed it does not move by a hundredth of a millimetre in three seconds, as on hard ground. If the friction
/// anchors are cleared in every step, it creeps, slowed by damping only.
#[test]
fn soft_bodies_stick_to_each_other_below_the_angle_of_friction() {
    let drift = |forgets: bool| {
        let (model, mut state) = on_soft_incline(real::atan2(0.4, 1.0), 0.5);
        run(&model, &mut state, 2.0);
        let settled = along_incline(&model, &state.node_x);
        for _ in 0..180 {
            if forgets {
                state.pair_anchors.clear();
            }
            run(&model, &mut state, DT);
        }
        assert!(!state.pair_anchors.is_empty());
        along_incline(&model, &state.node_x) - settled
    };
    let (holds, forgets) = (drift(false), drift(true));
    assert!(holds.abs() < 1e-5, "{holds}");
    assert!(forgets > 1e-3, "{forgets}");
}

/// Above the angle of friction it slides with a = g (sin θ − μ cos θ). The box sways and chatters: 10 % is allowed over a quarter of a
/// second.
#[test]
fn soft_bodies_slide_on_each_other_above_the_angle_of_friction() {
    let (friction, angle) = (0.3, 0.5);
    let (model, mut state) = on_soft_incline(angle, friction);
    run(&model, &mut state, 0.2);
    let before = along_incline(&model, &state.node_v);
    run(&model, &mut state, 0.25);
    let after = along_incline(&model, &state.node_v);
    let a = G * (real::sin(angle) - friction * real::cos(angle));
    let expected = before + 0.25 * a;
    assert!((after - expected).abs() < 0.1 * expected, "{after} {expected}");
}

/// Two colliding bodies conserve linear and angular momentum, with friction across the gap between them and without.
#[test]
fn colliding_bodies_conserve_momentum() {
    [0.0, 0.8].into_iter().for_each(assert_momentum_conserved);
}

fn assert_momentum_conserved(friction: f64) {
    let mut desc = world(vec![soft_box("still", 0.0), soft_box("flying", 0.13)], Vec::new());
    desc.gravity = Vec3::zeros();
    desc.contact.between_bodies = true;
    desc.contact.friction = friction;
    desc.bodies.iter_mut().for_each(|body| body.material.damping_ratio = 0.0);
    desc.bodies[1].velocity = Vec3::new(0.2, -1.0, 0.0);
    let model = Model::build(&desc).expect("sound");
    let mut state = State::at_rest(&model);
    let (linear, angular) = (state.momentum(&model), state.angular_momentum(&model));
    run(&model, &mut state, 0.3);
    let still: Vec3 = model.bodies()[0].nodes.clone().map(|n| model.node_mass()[n] * state.node_v[n]).sum();
    assert!(still.y < -0.2, "they met: {still:?}");
    assert!((state.momentum(&model) - linear).norm() < 1e-11 * linear.norm());
    assert!((state.angular_momentum(&model) - angular).norm() < 1e-7 * linear.norm());
}

/// A plate of 24 × 24 × 3 cm at a height (m), in tets of 3 cm.
pub(crate) fn plate(name: &str, y: f64, speed: f64) -> BodyDesc {
    let mut mesh = shapes::beam(1, [0.24, 0.03, 0.24]);
    let middle = mesh.nodes.iter().sum::<Vec3>() / mesh.nodes.len() as f64;
    mesh.nodes.iter_mut().for_each(|x| *x += Vec3::new(0.0, y, 0.0) - middle);
    let mut body = loose(mesh, Material::soft_solid(5e6, 0.3, 1000.0, 0.05));
    (body.name, body.velocity) = (name.into(), Vec3::new(0.0, speed, 0.0));
    body
}

/// Two plates thrown at each other at 10 m/s, an eighth of the speed of sound, and at 50 m/s rebound. Momentum is conserved to round-off.
#[test]
fn fast_plates_do_not_tunnel_through_each_other() {
    [5.0, 25.0].into_iter().for_each(assert_plates_rebound);
}

fn assert_plates_rebound(speed: f64) {
    let mut desc = world(vec![plate("low", 0.0, speed), plate("high", 0.1, -speed)], Vec::new());
    desc.gravity = Vec3::zeros();
    desc.contact.between_bodies = true;
    let model = Model::build(&desc).expect("sound");
    let mut state = State::at_rest(&model);
    run(&model, &mut state, 3.0 * DT);
    let mean = |values: &[Vec3], body: usize| {
        let nodes = model.bodies()[body].nodes.clone();
        values[nodes.clone()].iter().map(|v| v.y).sum::<f64>() / nodes.len() as f64
    };
    let [low, high] = [0, 1].map(|body| (mean(&state.node_x, body), mean(&state.node_v, body)));
    assert!(low.0 < high.0 && low.1 < -0.5 && high.1 > 0.5, "{low:?} {high:?}");
    assert!(state.momentum(&model).norm() < 1e-10 * speed * model.mass());
}

/// A fork with two prongs, 1 cm apart, joined below.
fn fork() -> TriMesh {
    let finger = |x: f64| {
        sinew::mesh::Primitive::round_cone([Vec3::new(x, 0.0, 0.0), Vec3::new(x, 0.2, 0.0)], [0.02, 0.02])
            .blended(0.005)
    };
    let joint = sinew::mesh::Primitive::round_cone(
        [Vec3::new(-0.03, 0.0, 0.0), Vec3::new(0.03, 0.0, 0.0)],
        [0.025, 0.025],
    );
    let primitives = [finger(-0.025), finger(0.025), joint.blended(0.005)];
    sinew::mesh::ImplicitSurface::build(&primitives)
        .and_then(|implicit| implicit.surface(0.008))
        .expect("a fork")
}

fn fork_world(self_contact: bool, push: f64) -> Model {
    let shape = ShapeDesc::Surface { surface: fork(), cage: CageSize::Edge(0.01) };
    let material = Material::soft_solid(2e4, 0.4, 1000.0, 0.2);
    let mut body = BodyDesc { shape, name: "fork".into(), ..loose(shapes::beam(1, [0.1; 3]), material) };
    body.pins.push(PinDesc { region: Region::End { direction: -Vec3::y(), fraction: 0.15 } });
    for side in [-1.0, 1.0] {
        let region = Region::Ball { center: Vec3::new(0.025 * side, 0.2, 0.0), radius: 0.03 };
        body.loads.push(LoadDesc { region, force: Vec3::new(-side * push, 0.0, 0.0) });
    }
    let mut desc = world(vec![body], Vec::new());
    desc.gravity = Vec3::zeros();
    if self_contact {
        desc.contact.self_contact.push("fork".into());
    }
    Model::build(&desc).expect("sound")
}

/// The distance of the prongs' inner sides near their ends (m); negative if they penetrate each other.
fn opening(model: &Model, state: &State) -> f64 {
    let mut frame = Frame::default();
    frame.update(model, state);
    let rest = &model.bodies()[0].surface.vertices;
    let side = |sign: f64| {
        let high = rest.iter().zip(&frame.surfaces[0]).filter(move |(v, _)| v.y > 0.12 && v.x * sign > 0.0);
        high.map(|(_, now)| sign * f64::from(now[0])).fold(f64::INFINITY, f64::min)
    };
    side(1.0) + side(-1.0)
}

#[test]
fn self_contact_keeps_prongs_pushed_together_apart() {
    assert_fingers_stay_apart(&run);
}

pub(crate) fn assert_fingers_stay_apart(run: Run) {
    let pressed = |self_contact: bool| {
        let model = fork_world(self_contact, 0.04);
        let mut state = State::at_rest(&model);
        run(&model, &mut state, 1.0);
        opening(&model, &state)
    };
    let (without, with) = (pressed(false), pressed(true));
    assert!(without < -0.01, "they would pass: {without}");
    // a gap of a tenth of the vertex spacing, and penalty springs that yield by about as much
    assert!(with > -0.002, "{with}");
}

#[test]
fn self_contact_gives_no_force_at_rest() {
    assert_nothing_at_rest(&run);
}

pub(crate) fn assert_nothing_at_rest(run: Run) {
    let model = fork_world(true, 0.0);
    let mut state = State::at_rest(&model);
    let start = state.node_x.clone();
    run(&model, &mut state, 0.2);
    assert_eq!(state.node_x, start);
}

/// Stairs of 3 cm; the limp starfish falls and comes to rest on them.
#[test]
fn limp_starfish_comes_to_rest_on_stairs() {
    let mut scene = sinew::zoo::starfish(1500);
    scene.world.gravity = Vec3::new(0.0, -G, 0.0);
    scene.performances[0].set_drive_mode(sinew::control::DriveMode::Ragdoll);
    scene.preroll = 0.0;
    for step in 0..6 {
        let half = Vec3::new(0.04, 0.5, 0.5);
        let at = Isometry::translation(-0.2 + 0.08 * f64::from(step), -0.56 - 0.03 * f64::from(step), 0.0);
        scene.world.obstacles.push(ObstacleDesc::fixed(format!("step {step}"), Shape::Cuboid { half }, at));
    }
    scene.world.obstacles.push(ObstacleDesc::ground(-0.3));
    scene.seconds = 4.0;
    let mut player = Player::build(&scene).expect("sound");
    let (mut touched, mut retries) = (0, 0);
    for _ in 0..240 {
        let report = player.advance().expect("holds");
        touched = touched.max(report.in_contact);
        retries += report.retries;
    }
    let model = &player.model;
    let center = center(model, &player.state);
    assert!(touched > 20 && retries < 10, "{touched} {retries}");
    assert!(center.y > -0.3 && center.y < 0.1, "{center:?}");
    let speed = player.state.momentum(model).norm() / model.mass();
    assert!(speed < 0.1, "{speed}");
}

#[test]
fn contact_gives_the_same_bits_on_any_number_of_threads_and_after_resuming() {
    let mut desc =
        world(vec![soft_box("low", 0.0), soft_box("high", 0.103)], vec![ObstacleDesc::ground(0.0)]);
    desc.obstacles.push(free(
        "ball",
        Shape::Sphere { radius: 0.03 },
        Vec3::new(0.02, 0.25, 0.0),
        800.0,
        Vec3::zeros(),
    ));
    desc.contact.between_bodies = true;
    desc.contact.self_contact.push("low".into());
    let model = Model::build(&desc).expect("sound");
    assert_same_bits(&model, &Stepper::default);
}

/// Two bodies and ground for half a second, on several numbers of threads, and with every step from a checkpoint with a new stepper.
pub(crate) fn assert_same_bits(model: &Model, stepper: &(dyn Fn() -> Stepper + Sync)) {
    let control = Control::still(model);
    let hash = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let (mut state, mut stepper) = (State::at_rest(model), stepper());
            for _ in 0..30 {
                stepper.step(model, &control, DT, &mut state).expect("holds");
            }
            state.hash()
        })
    };
    let first = hash(1);
    assert_eq!([hash(2), hash(5)], [first; 2]);

    let mut state = State::at_rest(model);
    for _ in 0..30 {
        let mut resumed = Checkpoint::of(&state).restore(model).expect("a sound checkpoint");
        assert_eq!(resumed, state);
        stepper().step(model, &control, DT, &mut resumed).expect("holds");
        state = resumed;
    }
    assert!(!state.anchors.is_empty() && !state.pair_anchors.is_empty());
    assert_eq!(state.hash(), first);
}
