//! Free fall: damping acts on deformation only, and gravity alone is integrated exactly.

use super::bodies::{loose, random_vector, world};
use sinew::mesh::shapes;
use sinew::prelude::*;

const GRAVITY: f64 = 9.81;

/// All integrators with the settings they have by default, and implicit ones of second order.
fn solvers() -> [(&'static str, Solver); 4] {
    let second = ImplicitSettings { order: StepOrder::Second, ..ImplicitSettings::default() };
    [
        ("explicit", Solver::Explicit),
        ("implicit", Solver::Implicit(ImplicitSettings::default())),
        ("implicit, accurate", Solver::Implicit(ImplicitSettings::ACCURATE)),
        ("implicit, second order", Solver::Implicit(second)),
    ]
}

fn center(model: &Model, x: &[Vec3]) -> Vec3 {
    let mass: f64 = model.node_mass().iter().sum();
    x.iter().zip(model.node_mass()).map(|(x, m)| *m * x).sum::<Vec3>() / mass
}

/// How far a body has fallen after a second at 60 frames per second (m).
fn fallen(model: &Model, solver: Solver) -> f64 {
    let mut state = State::at_rest(model);
    let mut stepper = Stepper::with_solver(solver);
    for _ in 0..60 {
        stepper.step(model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds");
    }
    center(model, model.node_rest()).z - center(model, &state.node_x).z
}

/// x(t) = g t²/2, whatever the damping. The elastic forces of an undeformed body are round-off of single precision, and conserve momentum. Implicit steps end at a thousandth of their initial gradient by default, which is the weight.
#[test]
fn every_material_falls_by_half_g_t_squared() {
    for (name, material) in Material::NAMED {
        let model = world(Vec3::new(0.0, 0.0, -GRAVITY), loose(shapes::beam(2, [0.2, 0.2, 0.2]), material));
        assert!(model.bodies()[0].damping_rate > 0.0);
        for (kind, solver) in solvers() {
            let ratio = fallen(&model, solver) / (0.5 * GRAVITY);
            let allowed = if kind == "explicit" { 1e-6 } else { 1e-3 };
            assert!((ratio - 1.0).abs() < allowed, "{name}, {kind}: {ratio}");
        }
    }
}

/// A body in several parts, of which one is pinned: the others fall, each by itself, and the pinned one stays.
#[test]
fn parts_fall_one_by_one() {
    let mut mesh = shapes::beam(1, [0.1, 0.1, 0.1]);
    let count = mesh.nodes.len();
    let copy = mesh.clone();
    mesh.nodes.extend(copy.nodes.iter().map(|x| x + Vec3::x()));
    mesh.tets.extend(copy.tets.iter().map(|tet| tet.map(|node| node + count as u32)));
    let mut body = loose(mesh, Material::soft_solid(1e4, 0.4, 1000.0, 0.3));
    let region = Region::Box { min: Vec3::repeat(-1.0), max: Vec3::new(0.5, 1.0, 1e-9) };
    body.pins.push(PinDesc { region });
    let model = world(Vec3::new(0.0, 0.0, -GRAVITY), body);
    for (kind, solver) in solvers() {
        let mut state = State::at_rest(&model);
        let mut stepper = Stepper::with_solver(solver);
        for _ in 0..30 {
            stepper.step(&model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds");
        }
        for (node, rest) in model.node_rest().iter().enumerate() {
            let fallen = rest.z - state.node_x[node].z;
            let wanted = if node < count { 0.0 } else { 0.125 * GRAVITY };
            // the pinned part sags: q L²/(2 E) is 5 mm
            assert!(
                (fallen - wanted).abs() < if node < count { 0.02 } else { 1e-3 * wanted },
                "{kind}: {fallen}"
            );
        }
    }
}

/// Momentum and angular momentum of a damped body that flies, spins and wobbles are those of an undamped one. They change by the round-off of forces in single precision: 10⁻⁷ of
/// what elastic forces transfer in a second between nodes, some tens of N s here. Implicit steps converge to a thousandth or less of each step's gradient, and first-order ones lose spin numerically.
#[test]
fn damping_keeps_momentum_and_angular_momentum() {
    let material = Material::soft_solid(1e4, 0.4, 1000.0, 0.3);
    let model = world(Vec3::zeros(), loose(shapes::beam(2, [0.4, 0.1, 0.1]), material));
    let second = ImplicitSettings { order: StepOrder::Second, ..ImplicitSettings::ACCURATE };
    for (solver, tolerance) in [(Solver::Explicit, 1e-5), (Solver::Implicit(second), 2e-3)] {
        let mut seed = 5;
        let mut wobble = |x: &Vec3| {
            Vec3::new(1.0, 2.0, 3.0) + Vec3::new(0.0, 0.0, 3.0).cross(x) + 0.2 * random_vector(&mut seed)
        };
        let v = model.node_rest().iter().map(&mut wobble).collect();
        let mut state = State::from_motion(&model, model.node_rest().to_vec(), v);
        let (linear, angular) = (state.momentum(&model), state.angular_momentum(&model));
        let deformation = state.energies(&model).kinetic;
        let mut stepper = Stepper::with_solver(solver);
        for _ in 0..60 {
            stepper.step(&model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds");
        }
        let off = (state.momentum(&model) - linear).norm() / linear.norm();
        assert!(off < tolerance, "{solver:?}: momentum {off}");
        let off = (state.angular_momentum(&model) - angular).norm() / angular.norm();
        assert!(off < tolerance, "{solver:?}: angular momentum {off}");
        assert!(state.energies(&model).kinetic < deformation, "something was damped");
    }
}

/// With drag of the air at rate a the speed tends to g/a.
#[test]
fn air_drag_gives_the_terminal_speed() {
    let rate = 3.0;
    let material = Material::soft_solid(1e4, 0.4, 1000.0, 0.1);
    let body = BodyDesc { air_drag: rate, ..loose(shapes::beam(2, [0.4, 0.1, 0.1]), material) };
    let model = world(Vec3::new(0.0, 0.0, -GRAVITY), body);
    for (kind, solver) in solvers() {
        let mut state = State::at_rest(&model);
        let mut stepper = Stepper::with_solver(solver);
        for _ in 0..300 {
            stepper.step(&model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds");
        }
        let speed = -state.momentum(&model).z / model.bodies()[0].mass;
        // after 15 time constants only the first-order error a h of the schemes remains
        assert!((speed / (GRAVITY / rate) - 1.0).abs() < rate / 60.0, "{kind}: {speed}");
    }
}

/// A dynamic obstacle falls as a soft body does.
#[test]
fn an_obstacle_falls_by_half_g_t_squared() {
    let body = loose(shapes::beam(1, [0.1, 0.1, 0.1]), Material::default());
    let ball = ObstacleDesc {
        mobility: Mobility::Free { density: 1000.0, velocity: Vec3::zeros(), spin: Vec3::z() },
        ..ObstacleDesc::fixed("ball", Shape::Sphere { radius: 0.05 }, Isometry::translation(2.0, 0.0, 0.0))
    };
    let world = WorldDesc {
        gravity: Vec3::new(0.0, 0.0, -GRAVITY),
        bodies: vec![body],
        obstacles: vec![ball],
        ..WorldDesc::default()
    };
    let model = Model::build(&world).expect("a sound world");
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::default();
    for _ in 0..60 {
        stepper.step(&model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds");
    }
    let fallen = -state.obstacles[0].pose.translation.z;
    assert!((fallen / (0.5 * GRAVITY) - 1.0).abs() < 1e-9, "{fallen}");
}
