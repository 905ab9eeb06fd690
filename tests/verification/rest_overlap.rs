//! Bodies that overlap as drawn: they do so as long as they are where they overlap, and collide as usual elsewhere.

use super::bodies::loose;
use super::contact::{G, world};
use super::contact_bodies::soft_box;
use sinew::prelude::*;

/// How deep the box is in the slab at rest (m).
const DEPTH: f64 = 4e-3;

/// A box of 10 cm whose lower face is in a slab that is pinned below and ends at y = 0.
fn overlapping() -> Model {
    let mut mesh = shapes::beam(1, [0.6, 0.03, 0.24]);
    let middle = mesh.nodes.iter().sum::<Vec3>() / mesh.nodes.len() as f64;
    mesh.nodes.iter_mut().for_each(|x| *x += Vec3::new(0.1, -0.015, 0.0) - middle);
    let mut slab = loose(mesh, Material::soft_solid(1e5, 0.3, 1000.0, 0.5));
    slab.name = "slab".into();
    slab.pins.push(PinDesc { region: Region::End { direction: -Vec3::y(), fraction: 0.1 } });
    let mut desc = world(vec![slab, soft_box("box", -DEPTH)], Vec::new());
    desc.bodies[1].material.damping_ratio = 0.5;
    desc.contact.between_bodies = true;
    Model::build(&desc).expect("sound")
}

/// The height of the lower face of the box after a second, from a place above the slab (m).
fn height_after(model: &Model, solver: Solver, at: Vec3) -> f64 {
    let mut state = State::at_rest(model);
    let nodes = model.bodies()[1].nodes.clone();
    state.node_x[nodes.clone()].iter_mut().for_each(|x| *x += at);
    state.restart(model);
    let mut stepper = Stepper::with_solver(solver);
    for _ in 0..60 {
        stepper.step(model, &Control::still(model), 1.0 / 60.0, &mut state).expect("holds");
    }
    let lower = nodes.filter(|node| model.node_rest()[*node].y < -DEPTH + 1e-9);
    let heights: Vec<f64> = lower.map(|node| state.node_x[node].y).collect();
    heights.iter().sum::<f64>() / heights.len() as f64
}

/// Where it was drawn it rests in the slab as deep as drawn and by its weight deeper, wherever it comes from above; 15 cm aside it rests on it, at a gap of some millimetres.
#[test]
fn boxes_drawn_into_a_slab_rest_on_it_elsewhere() {
    let model = overlapping();
    // the slab yields by the weight per area of the box: ρ g 0.1 m · 0.03 m/E = 0.3 mm, and contact springs by less than that
    let yields = 1000.0 * G * 0.1 * 0.03 / 1e5 + 3e-4;
    for solver in [Solver::Explicit, Solver::Implicit(ImplicitSettings::ACCURATE)] {
        for above in [0.0, 0.02] {
            let height = height_after(&model, solver, Vec3::y() * above);
            assert!(height < -DEPTH && height > -DEPTH - 2.5e-3 - yields, "{solver:?}: {height}");
        }
        let height = height_after(&model, solver, Vec3::new(0.15, 0.02, 0.0));
        assert!(height > 0.0 && height < 4e-3, "{solver:?}: {height}");
    }
}
