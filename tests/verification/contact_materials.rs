//! Friction of pairs of surfaces that have coefficients of their own: the geometric mean, whatever the steps and the kind of contact.

use super::contact::{G, block, world};
use super::contact_bodies::{soft_box, soft_incline};
use sinew::math::real;
use sinew::prelude::*;
use sinew::sim::contact::ContactMaterial;
use sinew::sim::desc::BodyContactDesc;

const ANGLE: f64 = 0.5;
/// 0.3 = √(0.9 · 0.1).
const COEFFICIENTS: [f64; 2] = [0.9, 0.1];

fn with_friction(body: &str, friction: f64) -> BodyContactDesc {
    let material = ContactMaterial { friction: Some(friction), ..ContactMaterial::default() };
    BodyContactDesc { body: body.into(), material }
}

/// The coefficient of friction by which the last body of a world slides down an incline: μ = (g sin θ − v')/(g cos θ).
fn friction_of(mut desc: WorldDesc, solver: Solver, dt: f64) -> f64 {
    // nothing has the coefficient of the scene
    desc.contact.friction = 5.0;
    desc.gravity = G * Vec3::new(real::sin(ANGLE), -real::cos(ANGLE), 0.0);
    let model = Model::build(&desc).expect("sound");
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::with_solver(solver);
    let mut run = |state: &mut State| {
        for _ in 0..(0.25 / dt).round() as usize {
            stepper.step(&model, &Control::still(&model), dt, state).expect("holds");
        }
        let nodes = model.bodies().last().expect("one").nodes.clone();
        state.node_v[nodes.clone()].iter().map(|v| v.x).sum::<f64>() / nodes.len() as f64
    };
    let before = run(&mut state);
    let gained = run(&mut state) - before;
    (G * real::sin(ANGLE) - gained / 0.25) / (G * real::cos(ANGLE))
}

/// A block on the ground, by explicit steps, implicit springs and barriers. Blocks chatter and creep by some per cent in explicit steps and barriers, see `contact.rs`.
#[test]
fn blocks_slide_on_the_ground_by_the_geometric_mean() {
    let implicit = ImplicitSettings::ACCURATE;
    let barrier = ImplicitSettings { contact: ImplicitContact::Barrier, ..implicit };
    for solver in [Solver::Explicit, Solver::Implicit(implicit), Solver::Implicit(barrier)] {
        let [own, of_ground] = COEFFICIENTS;
        // barriers begin apart
        let ground = ObstacleDesc { friction: Some(of_ground), ..ObstacleDesc::ground(-1e-4) };
        let mut desc = world(vec![block(2e5)], vec![ground]);
        desc.contact.bodies = vec![with_friction("body", own)];
        let found = friction_of(desc.clone(), solver, 1.0 / 120.0);
        assert!((found - 0.3).abs() < 0.015, "{solver:?}: {found}");

        // one coefficient alone counts
        desc.obstacles[0].friction = None;
        desc.contact.bodies = vec![with_friction("body", 0.2)];
        let found = friction_of(desc, solver, 1.0 / 120.0);
        assert!((found - 0.2).abs() < 0.015, "{solver:?}: {found}");
    }
}

/// A soft box on a soft slab.
#[test]
fn soft_bodies_slide_on_each_other_by_the_geometric_mean() {
    for (solver, dt) in
        [(Solver::Explicit, 1.0 / 60.0), (Solver::Implicit(ImplicitSettings::ACCURATE), 1.0 / 240.0)]
    {
        let mut desc = soft_incline();
        desc.contact.bodies =
            vec![with_friction("slab", COEFFICIENTS[0]), with_friction("box", COEFFICIENTS[1])];
        let found = friction_of(desc, solver, dt);
        assert!((found - 0.3).abs() < 0.02, "{solver:?}: {found}");
    }
}

/// A stiffer body sinks in less: penetration at rest is inversely proportional to the stiffness, that of the body times that of the ground.
#[test]
fn stiffness_factors_of_both_sides_multiply() {
    let depth = |own: f64, of_ground: f64| {
        let ground = ObstacleDesc { stiffness: of_ground, ..ObstacleDesc::ground(0.0) };
        let mut desc = world(vec![block(2e5)], vec![ground]);
        let material = ContactMaterial { stiffness: own, ..ContactMaterial::default() };
        desc.contact.bodies = vec![BodyContactDesc { body: "body".into(), material }];
        let model = Model::build(&desc).expect("sound");
        let mut state = State::at_rest(&model);
        let mut stepper = Stepper::with_solver(Solver::Implicit(ImplicitSettings::ACCURATE));
        for _ in 0..120 {
            stepper.step(&model, &Control::still(&model), 1.0 / 60.0, &mut state).expect("holds");
        }
        // mean over the lower face, whose forces are proportional to their depths
        let low: Vec<f64> = model
            .node_rest()
            .iter()
            .zip(&state.node_x)
            .filter(|(rest, _)| rest.y < 1e-9)
            .map(|(_, x)| -x.y)
            .collect();
        low.iter().sum::<f64>() / low.len() as f64
    };
    let plain = depth(1.0, 1.0);
    assert!(plain > 1e-6, "{plain}");
    // stiffer springs share the load less evenly over the face
    for (own, of_ground) in [(4.0, 1.0), (2.0, 2.0), (1.0, 4.0)] {
        let ratio = plain / depth(own, of_ground);
        assert!((ratio - 4.0).abs() < 0.4, "{own} {of_ground}: {ratio}");
    }
}

/// Bodies that do not exist, and impossible values, are named.
#[test]
fn wrong_contact_parameters_of_bodies_are_rejected() {
    let mut desc = world(vec![soft_box("box", 0.0)], vec![ObstacleDesc::ground(0.0)]);
    let stiff = ContactMaterial { stiffness: 0.0, ..ContactMaterial::default() };
    desc.contact.bodies = vec![
        with_friction("bax", 0.5),
        with_friction("box", -1.0),
        BodyContactDesc { body: "box".into(), material: stiff },
    ];
    let error = Model::build(&desc).expect_err("wrong").to_string();
    for said in ["'bax'", "friction of body 'box' is -1", "stiffness of body 'box' is 0", "twice"] {
        assert!(error.contains(said), "{said}: {error}");
    }
}
