//! Two characters of bones and flesh that bump into each other: contact exchanges momentum and creates none.

use super::coupling::{FRAME, Worm, wriggle};
use super::home::painted_world;
use sinew::prelude::*;

/// Whose bones decide their motion.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Drive {
    /// All joints are limp.
    Limp,
    /// The root is dynamic, the other joints follow a motion.
    TwoWay,
}

/// Where flesh is at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rest {
    /// Its elasticity alone decides.
    Elastic,
    /// Springs hold it at its skinned shape.
    Home,
}

/// How far the second worm is above the first, whose thickness is 0.1 m, and aside, and turned about the vertical by a quarter (m).
const APART: Vec3 = Vec3::new(0.07, 0.13, 0.02);
/// Velocity of the second worm (m/s).
const VELOCITY: Vec3 = Vec3::new(0.1, -1.5, 0.2);

/// Two worms, the second across the first.
fn world(rest: Rest) -> WorldDesc {
    let mut worms = ["first", "second"].map(|name| {
        let worm = Worm::default();
        let mut world = if rest == Rest::Home { painted_world(worm) } else { worm.world() };
        world.rigs[0].name = name.into();
        world.bodies[0].name = name.into();
        if let Some(attachment) = &mut world.bodies[0].attachment {
            attachment.rig = name.into();
        }
        world
    });

    // the second one turned and displaced, with its bones
    let turn = sinew::math::so3::exp(&(Vec3::y() * core::f64::consts::FRAC_PI_2));
    let middle = 0.3 * Vec3::x();
    let place = Isometry::from_parts((middle + APART - turn * middle).into(), turn);
    let [_, second] = &mut worms;
    if let ShapeDesc::Tets(mesh) = &mut second.bodies[0].shape {
        mesh.nodes.iter_mut().for_each(|x| *x = place.translation.vector + turn * *x);
    }
    let root = &mut second.rigs[0].skeleton.bones[0].parent_from_joint;
    *root = place * *root;

    // one world
    let [mut world, second] = worms;
    world.bodies.extend(second.bodies);
    world.rigs.extend(second.rigs);
    world.contact.between_bodies = true;
    world
}

/// Momentum and angular momentum of each worm: of its free nodes, and of its bones with the nodes fixed to them.
fn momentum_of_flesh(model: &Model, state: &State, body: usize) -> Vec3 {
    let nodes = model.bodies()[body].nodes.clone();
    nodes.map(|node| model.node_mass()[node] * state.node_v[node]).sum()
}

/// Forces of contact are equal and opposite on one line of action, and so are those between flesh and bones, so that total momentum and angular momentum stay what they were: to double round-off of some 10⁶ sums, and in
/// rotation to that of element torques in single precision, as those of one worm (`coupling.rs`). The bump takes the first worm along, which was at rest.
#[test]
fn characters_that_bump_exchange_momentum() {
    for (drive, rest) in [
        (Drive::Limp, Rest::Elastic),
        (Drive::Limp, Rest::Home),
        (Drive::TwoWay, Rest::Elastic),
        (Drive::TwoWay, Rest::Home),
    ] {
        let model = Model::build(&world(rest)).expect("a sound world");
        let mut state = State::at_rest(&model);
        state.rigs[1].v[..3].copy_from_slice(VELOCITY.as_slice());
        state.node_v[model.bodies()[1].nodes.clone()].fill(VELOCITY);
        state.restart(&model);
        let start = (state.momentum(&model), state.angular_momentum(&model));
        let mut control = Control::still(&model);
        let mut stepper = Stepper::default();
        let mut max_anchors = 0;
        for _ in 0..30 {
            for (rig, own) in model.rigs().iter().zip(&mut control.rigs) {
                match drive {
                    Drive::Limp => *own = RigControl::limp(rig),
                    Drive::TwoWay => {
                        own.drives[0] = DriveKind::Torque;
                        own.from = wriggle(rig, state.time);
                        own.to = wriggle(rig, state.time + FRAME);
                    }
                }
            }
            let report = stepper.step(&model, &control, FRAME, &mut state).expect("holds");
            assert_eq!(report.retries, 0);
            max_anchors = max_anchors.max(state.pair_anchors.len());
        }
        let taken = momentum_of_flesh(&model, &state, 0).norm() / start.0.norm();
        assert!(taken > 0.2 && max_anchors > 4, "{drive:?} {rest:?}: {taken} {max_anchors}");
        let linear = (state.momentum(&model) - start.0).norm();
        let angular = (state.angular_momentum(&model) - start.1).norm();
        assert!(linear < 1e-12 * start.0.norm(), "{drive:?} {rest:?}: {linear:e}");
        assert!(angular < 1e-8, "{drive:?} {rest:?}: {angular:e}");
    }
}
