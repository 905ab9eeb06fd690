//! Contact of bodies with few vertices: edges meet edges, and faces rest on what is smaller than they are.

use super::bodies::loose;
use super::contact::{G, center, run, world};
use sinew::contact::TriangleSolid;
use sinew::prelude::*;

/// A rubber bar of eight vertices with its centre at a height (m).
fn bar(name: &str, half: [f64; 3], height: f64) -> BodyDesc {
    let mut surface = shapes::cuboid(half.map(|half| 2.0 * half));
    assert_eq!((surface.vertices.len(), surface.triangles.len()), (8, 12));
    surface.vertices.iter_mut().for_each(|v| v.y += height);
    BodyDesc {
        name: name.into(),
        shape: ShapeDesc::Surface { surface, cage: CageSize::Tets(600) },
        ..loose(TetMesh::default(), Material::soft_solid(1e6, 0.4, 1000.0, 0.3))
    }
}

fn height_of(model: &Model, state: &State, body: usize) -> f64 {
    let nodes = model.bodies()[body].nodes.clone();
    let mass: f64 = model.node_mass()[nodes.clone()].iter().sum();
    let sum: f64 = nodes.clone().map(|node| model.node_mass()[node] * state.node_x[node].y).sum();
    sum / mass
}

/// Two crossed bars, dropped by a centimetre, in explicit and in implicit steps: the upper one comes to rest on the lower one, a bar's thickness above it. No vertex of either is near the other.
#[test]
fn crossed_bars_rest_on_each_other() {
    for solver in [Solver::Explicit, Solver::Implicit(ImplicitSettings::ACCURATE)] {
        let lower = bar("lower", [0.15, 0.03, 0.03], 0.03);
        let upper = bar("upper", [0.03, 0.03, 0.15], 0.1);
        let mut desc = world(vec![lower, upper], vec![ObstacleDesc::ground(0.0)]);
        desc.contact.between_bodies = true;
        let model = Model::build(&desc).expect("sound");
        let mut state = State::at_rest(&model);
        let mut stepper = Stepper::with_solver(solver);
        for _ in 0..120 {
            stepper.step(&model, &Control::still(&model), 1.0 / 60.0, &mut state).expect("holds");
        }
        // 90 mm, less what the ends hang down (ρ g L⁴ A/(20 E I) = 0.8 mm on average for L = 150 mm) and what both are compressed by, more or less the gap of about a millimetre
        let height = height_of(&model, &state, 1);
        assert!((height - 0.09).abs() < 0.004, "{height}");
    }
}

/// A bar on a box, a ball, a cylinder and a mesh that are all between its vertices.
#[test]
fn bar_rests_on_obstacles_between_its_vertices() {
    let ball = Shape::Mesh(TriangleSolid::build(shapes::sphere(0.04, 2)).expect("closed"));
    let obstacles = [
        ("box", Shape::Cuboid { half: Vec3::repeat(0.04) }),
        ("ball", Shape::Sphere { radius: 0.04 }),
        ("cylinder", Shape::Cylinder { half_length: 0.04, radius: 0.04 }),
        ("mesh", ball),
    ];
    for (name, shape) in obstacles {
        let obstacle = ObstacleDesc::fixed(name, shape, Isometry::translation(0.0, 0.0, 0.0));
        let model =
            Model::build(&world(vec![bar("bar", [0.15, 0.03, 0.06], 0.08)], vec![obstacle])).expect("sound");
        let mut state = State::at_rest(&model);
        run(&model, &mut state, 0.5);
        // 70 mm, less what it penetrates and is compressed by: it may have begun to roll off the round ones
        let height = center(&model, &state).y;
        assert!(height > 0.055 && height < 0.075, "{name}: {height}");
    }
}

/// A cube of eight vertices stays on a rail a fifth as wide.
#[test]
fn cube_of_eight_vertices_stays_on_a_thin_rail() {
    let rail = Shape::Cuboid { half: Vec3::new(0.5, 0.01, 0.02) };
    let rail = ObstacleDesc::fixed("rail", rail, Isometry::translation(0.0, -0.01, 0.0));
    let mut desc = world(vec![bar("cube", [0.1, 0.1, 0.1], 0.105)], vec![rail]);
    desc.contact.friction = 1.0;
    let model = Model::build(&desc).expect("sound");
    let mut state = State::at_rest(&model);
    run(&model, &mut state, 1.0);
    let height = center(&model, &state).y;
    // free fall would have taken it g/2 = 4.9 m down; it penetrates and is compressed by a few millimetres
    assert!(height > 0.09 && height < 0.105, "{height} of {}", -0.5 * G);
}

/// A bar of eight vertices on two rods, wherever they are between its vertices, in explicit and in implicit steps: what rests on a rod is one vertex or a few wide. Rods of 6 mm are left to explicit steps: at 1/60 s the bar falls by 7 mm
/// in the step that it lands in, and implicit springs see its end alone.
#[test]
fn bar_rests_on_thin_rods_between_its_vertices() {
    for solver in [Solver::Explicit, Solver::Implicit(ImplicitSettings::ACCURATE)] {
        let thin = if solver == Solver::Explicit { 3e-3 } else { 5e-3 };
        for (radius, shift) in [(5e-3, 0.0), (5e-3, 5e-3), (5e-3, 9e-3), (thin, 4e-3)] {
            let rod = |name: &str, x: f64| {
                // along z
                let turn = sinew::math::so3::exp(&(Vec3::x() * core::f64::consts::FRAC_PI_2));
                let pose = Isometry::from_parts(Vec3::new(x, -radius, 0.0).into(), turn);
                ObstacleDesc::fixed(name, Shape::Capsule { half_length: 0.2, radius }, pose)
            };
            let rods = vec![rod("left", -0.08 + shift), rod("right", 0.08 + shift)];
            let model =
                Model::build(&world(vec![bar("bar", [0.15, 0.03, 0.06], 0.04)], rods)).expect("sound");
            let mut state = State::at_rest(&model);
            let mut stepper = Stepper::with_solver(solver);
            for _ in 0..30 {
                stepper.step(&model, &Control::still(&model), 1.0 / 60.0, &mut state).expect("holds");
            }
            // 30 mm, less what it sags between the rods and what they press in: a few millimetres of the 60 it is thick
            let height = center(&model, &state).y;
            assert!(height > 0.022 && height < 0.032, "{radius} {shift}: {height}");
        }
    }
}
