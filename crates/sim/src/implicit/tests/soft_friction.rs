//! Friction between soft bodies in implicit steps.

use super::free_obstacles::{G, block, implicit, run_with, world};
use crate::desc::{PinDesc, Region, ShapeDesc};
use crate::implicit::StepOrder;
use crate::{Model, State};
use sinew_flesh::Material;
use sinew_math::{Vec3, real};
use sinew_mesh::shapes;

/// A soft box on a soft slab that is pinned below, on an incline of an angle (rad): gravity is rotated instead of the slab.
fn on_soft_incline(angle: f64, friction: f64) -> (Model, State) {
    let mut mesh = shapes::beam(1, [0.6, 0.03, 0.24]);
    let middle = mesh.nodes.iter().sum::<Vec3>() / mesh.nodes.len() as f64;
    mesh.nodes.iter_mut().for_each(|x| *x += Vec3::new(0.2, -0.015, 0.0) - middle);
    let mut slab = block("slab", 1e5, [0.0, 0.0]);
    slab.material = Material::soft_solid(1e5, 0.3, 1000.0, 0.2);
    slab.shape = ShapeDesc::Tets(mesh);
    slab.pins.push(PinDesc { region: Region::End { direction: -Vec3::y(), fraction: 0.1 } });
    let mut desc = world(vec![slab, block("box", 1e5, [0.0, 0.002])], Vec::new());
    desc.gravity = G * Vec3::new(real::sin(angle), -real::cos(angle), 0.0);
    desc.contact.between_bodies = true;
    desc.contact.friction = friction;
    let model = Model::build(&desc).expect("sound");
    let state = State::at_rest(&model);
    (model, state)
}

fn speed(model: &Model, state: &State) -> f64 {
    let nodes = model.bodies()[1].nodes.clone();
    let own = state.node_v[nodes.clone()].iter().zip(&model.node_mass()[nodes.clone()]);
    own.map(|(v, m)| m * v.x).sum::<f64>() / model.node_mass()[nodes].iter().sum::<f64>()
}

/// v' = g (sin θ − μ cos θ), for a box that already slides. Friction limits are within a hundredth of their normal forces, and vertices at the leading edge of the box may push it along the slab a little: at 24 Hz it slides
/// over one or two rows of them in a step.
#[test]
fn soft_boxes_slide_on_soft_slabs_by_coulombs_law() {
    let (friction, angle) = (0.3, 0.5);
    for rate in [24.0, 60.0, 240.0] {
        let (model, mut state) = on_soft_incline(angle, friction);
        let mut stepper = implicit(StepOrder::First);
        run_with(&mut stepper, &model, &mut state, 1.0 / 240.0, 0.25);
        let before = speed(&model, &state);
        run_with(&mut stepper, &model, &mut state, 1.0 / rate, 0.25);
        let gained = speed(&model, &state) - before;
        let found = (0.25 * G * real::sin(angle) - gained) / (0.25 * G * friction * real::cos(angle));
        assert!((found - 1.0).abs() < 0.02, "{rate} Hz: {found}");
    }
}
