//! Sheets in contact: with obstacles, with flesh on either side, and with themselves.

use crate::sheets::{G, cloth, world};
use sinew_flesh::{Fabric, Material};
use sinew_math::{Isometry, Vec3};
use sinew_mesh::{CageSize, shapes};
use sinew_sim::desc::{BodyDesc, ContactDesc, ObstacleDesc, PinDesc, Region, Shape, ShapeDesc};
use sinew_sim::implicit::{SolverKind, SolverReason};
use sinew_sim::{Control, ImplicitContact, ImplicitSettings, Model, Solver, State, Stepper, WorldDesc};

const RADIUS: f64 = 0.12;

/// A sheet of 0.5 m above a ball about the origin.
fn over_a_ball() -> WorldDesc {
    let mut surface = shapes::sheet([0.5, 0.5], [16, 16]);
    surface.vertices.iter_mut().for_each(|x| *x += Vec3::new(0.01, 0.15, 0.005));
    let fabric = Fabric { stretch: 200.0, damping: 4.0, ..Fabric::default() };
    let mut world = world(vec![cloth(surface, fabric)]);
    let ball = Shape::Sphere { radius: RADIUS };
    world.obstacles.push(ObstacleDesc::fixed("ball", ball, Isometry::translation(0.0, 0.0, 0.0)));
    world
}

/// A sheet that falls on a ball is stopped by it at every frame, and comes to rest draped over it, in both solvers. It may sink in by what its weight presses the springs of contact: no deeper than half of its thickness, which it
/// keeps from the ball. Its free sides hang down beside the ball, and do not slide off: friction is 0.6.
#[test]
fn a_sheet_dropped_on_a_ball_drapes_over_it() {
    for solver in [Solver::Explicit, Solver::Implicit(ImplicitSettings::INTERACTIVE)] {
        let world = over_a_ball();
        let model = Model::build(&world).expect("sound");
        let (mut state, mut stepper) = (State::at_rest(&model), Stepper::with_solver(solver));
        let mut nearest = f64::INFINITY;
        for _ in 0..100 {
            stepper.step(&model, &Control::still(&model), 1.0 / 50.0, &mut state).expect("holds");
            let now = state.node_x.iter().map(Vec3::norm).fold(f64::INFINITY, f64::min);
            nearest = nearest.min(now);
        }
        let thickness = model.bodies()[0].thickness().expect("a sheet");
        assert!(nearest > RADIUS - 0.5 * thickness, "{:?}: {nearest} {thickness}", solver);
        let speed = state.node_v.iter().map(Vec3::norm).fold(0.0, f64::max);
        assert!(speed < 0.15, "{solver:?}: {speed}");
        let (low, high) = state
            .node_x
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (x.y.min(low), x.y.max(high)));
        // a wrinkle of a few millimetres may stand on top
        assert!(high > RADIUS && high < RADIUS + 0.01 && low < -0.05, "{low} {high}");
    }
}

/// Sheets that may come into contact are stepped explicitly, however many sub-steps that takes; alone, or with barriers, they are not.
#[test]
fn auto_steps_sheets_in_contact_explicitly() {
    let pick = |world: &WorldDesc, contact: ImplicitContact| {
        let model = Model::build(world).expect("sound");
        let settings = ImplicitSettings { contact, ..ImplicitSettings::INTERACTIVE };
        Solver::Auto(settings).pick(&model, 1.0).expect("a pick")
    };
    let with_ball = over_a_ball();
    let mut alone = over_a_ball();
    alone.obstacles.clear();
    let mut with_itself = alone.clone();
    with_itself.contact.self_contact.push("sheet".into());
    for world in [&with_ball, &with_itself] {
        let found = pick(world, ImplicitContact::Springs);
        assert_eq!((found.kind(), found.reason), (SolverKind::Explicit, SolverReason::SheetInContact));
        assert_eq!(pick(world, ImplicitContact::Barrier).kind(), SolverKind::Implicit);
    }
    assert_eq!(pick(&alone, ImplicitContact::Springs).kind(), SolverKind::Implicit);
}

/// A soft ball thrown at a sheet with pinned sides is caught by it, from above and from below: both sides collide. In explicit steps, and in implicit ones.
#[test]
fn both_sides_of_a_sheet_catch_a_ball() {
    for (side, solver) in [
        (1.0, Solver::Explicit),
        (-1.0, Solver::Explicit),
        (1.0, Solver::Implicit(ImplicitSettings::INTERACTIVE)),
        (-1.0, Solver::Implicit(ImplicitSettings::INTERACTIVE)),
    ] {
        let fabric = Fabric { areal_density: 0.4, stretch: 400.0, damping: 1.0, ..Fabric::default() };
        let mut sheet = cloth(shapes::sheet([0.4, 0.4], [16, 16]), fabric);
        for direction in [Vec3::x(), -Vec3::x(), Vec3::z(), -Vec3::z()] {
            sheet.pins.push(PinDesc { region: Region::End { direction, fraction: 1e-3 } });
        }
        let mut surface = shapes::sphere(0.06, 3);
        surface.vertices.iter_mut().for_each(|x| x.y += side * 0.09);
        let ball = BodyDesc {
            name: "ball".into(),
            shape: ShapeDesc::Surface { surface, cage: CageSize::Tets(300) },
            material: Material::soft_solid(2e4, 0.4, 300.0, 0.2),
            velocity: Vec3::new(0.0, -side * 1.5, 0.0),
            ..BodyDesc::default()
        };
        let mut world = world(vec![sheet, ball]);
        world.gravity = Vec3::new(0.0, -side * G, 0.0);
        world.contact = ContactDesc { between_bodies: true, ..ContactDesc::default() };
        let model = Model::build(&world).expect("sound");
        let (mut state, mut stepper) = (State::at_rest(&model), Stepper::with_solver(solver));
        let own = model.bodies()[1].nodes.clone();
        for _ in 0..100 {
            stepper.step(&model, &Control::still(&model), 1.0 / 200.0, &mut state).expect("holds");
        }
        let count = own.len() as f64;
        let middle = state.node_x[own].iter().map(|x| side * x.y).sum::<f64>() / count;
        assert!(middle > -0.12, "{side} {solver:?}: {middle}");
    }
}

/// A strip folded over itself, one half falling on the other, keeps its halves apart by half of its thickness at least, where they lie on each other.
#[test]
fn a_folded_strip_does_not_pass_through_itself() {
    let mut surface = shapes::sheet([0.4, 0.1], [32, 8]);
    // the half at positive x stands up and leans over the other
    for x in &mut surface.vertices {
        if x.x > 0.0 {
            *x = Vec3::new(-0.5 * x.x, 0.866 * x.x, x.z);
        }
    }
    let fabric = Fabric { stretch: 200.0, bending: 1e-6, damping: 5.0, ..Fabric::default() };
    let mut body = cloth(surface, fabric);
    body.pins.push(PinDesc {
        region: Region::Box { min: Vec3::new(-1.0, -0.01, -1.0), max: Vec3::new(1e-6, 1e-6, 1.0) },
    });
    let mut world = world(vec![body]);
    world.contact = ContactDesc { self_contact: vec!["sheet".into()], ..ContactDesc::default() };
    let model = Model::build(&world).expect("sound");
    let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
    for _ in 0..60 {
        stepper.step(&model, &Control::still(&model), 1.0 / 60.0, &mut state).expect("holds");
    }
    let thickness = model.bodies()[0].thickness().expect("a sheet");
    let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
    for (rest, x) in model.node_rest().iter().zip(&state.node_x).filter(|(rest, _)| rest.y > 0.06) {
        assert!(x.x < 0.05, "{rest:?} {x:?}");
        (lowest, highest) = (lowest.min(x.y), highest.max(x.y));
    }
    assert!(lowest > 0.5 * thickness && highest < 0.08, "{lowest} {highest} {thickness}");
}
