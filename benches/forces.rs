//! Elastic forces of the three laws on the 10k beam: `cargo bench`. `sinew bench` has the tables of whole steps.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use sinew::flesh::{CornerForces, Diagonalise, ElementDesc, Elements, NodeMotion};
use sinew::mesh::shapes;
use sinew::prelude::*;
use std::time::Instant;

fn main() {
    let mesh = shapes::beam(8, [0.4, 0.1, 0.1]);
    let x: Vec<Vec3> = mesh.nodes.iter().map(|p| Vec3::new(1.01 * p.x, p.y + 0.1 * p.x * p.x, p.z)).collect();
    let v = vec![Vec3::zeros(); x.len()];
    let laws = [Law::StVenantKirchhoff(StretchLimits::default()), Law::Corotational, Law::StableNeoHookean];
    for law in laws {
        for viscosity in [0.0, 1e-4] {
            let material = Material { law, ..Material::soft_solid(5e5, 0.4, 1000.0, 0.0) };
            let describe = |&nodes: &[u32; 4]| ElementDesc { nodes, material, fill: 1.0, viscosity };
            let elements = Elements::build(&mesh.nodes, &mesh.tets.iter().map(describe).collect::<Vec<_>>());
            let mut corner_forces = CornerForces::default();
            let mut node_force = vec![Vec3::zeros(); x.len()];
            let best = (0..200)
                .map(|_| {
                    let start = Instant::now();
                    corner_forces.update(&elements, NodeMotion { x: &x, v: &v }, Diagonalise::Selectively);
                    corner_forces.on_nodes(&elements, &mut node_force);
                    start.elapsed().as_secs_f64()
                })
                .fold(f64::INFINITY, f64::min);
            let speed = mesh.tets.len() as f64 / best / 1e6;
            println!(
                "{law:?}, viscosity {viscosity:.0e} s: {speed:.1} M elements/s on {} threads",
                rayon::current_num_threads()
            );
        }
    }
}
