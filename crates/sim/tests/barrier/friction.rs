//! Coulomb's law on inclines, at any frame rate.

use super::bodies::{G, stepper, tet_box, world};
use sinew_math::{Vec3, real};
use sinew_sim::desc::ObstacleDesc;
use sinew_sim::{Control, Model, State};

/// The speed along the incline (m/s) of a block after two seconds, at an angle given by its tangent relative to the coefficient of friction.
fn speed(relative: f64, rate: f64) -> f64 {
    let friction = 0.5;
    let angle = real::atan2(relative * friction, 1.0);
    let block = tet_box("block", 1, [0.2, 0.05, 0.2], Vec3::new(0.0, 0.0255, 0.0), 5e5);
    let ground = ObstacleDesc { friction: Some(friction), ..ObstacleDesc::ground(0.0) };
    let mut world = world(vec![block], vec![ground]);
    world.gravity = G * Vec3::new(real::sin(angle), -real::cos(angle), 0.0);
    world.contact.self_contact.clear();
    let model = Model::build(&world).expect("sound");
    let (mut state, mut stepper) = (State::at_rest(&model), stepper());
    for _ in 0..(2.0 * rate) as usize {
        stepper.step(&model, &Control::still(&model), 1.0 / rate, &mut state).expect("holds");
    }
    state.momentum(&model).x / model.mass()
}

/// Two per cent below the angle of friction a block creeps by less than a millimetre per second; two per cent above it slides with g (sin θ − μ cos θ) for two seconds.
#[test]
fn blocks_slide_above_the_angle_of_friction_and_not_below() {
    for rate in [24.0, 60.0, 240.0] {
        let below = speed(0.98, rate);
        assert!(below.abs() < 1e-3, "{below} m/s at {rate} Hz");
        let angle = real::atan2(1.02 * 0.5, 1.0);
        let expected = 2.0 * G * (real::sin(angle) - 0.5 * real::cos(angle));
        let above = speed(1.02, rate);
        assert!((above - expected).abs() < 0.25 * expected, "{above} of {expected} m/s at {rate} Hz");
    }
}
