//! The clamped beam that soft bodies are compared on, stepped by rapier's finite elements in single precision.
//!
//! Settings are those that came nearest to the right answer per second: corotational, one sub-step, conjugate gradients to a thousandth with room for a thousand iterations. With its defaults
//! (four sub-steps of at most twenty iterations) the larger beams hang too deep, and nothing says so. Lengths are in tenths of a metre: tets below 1.2e-7 of a unit of volume are left out silently in single precision,
//! and those of the largest beam have 7e-8 m³.

use cpu_time::ThreadTime;
use rapier3d::prelude::{
    PhysicsWorld, Real, SoftBodyBuilder, SoftBodyCellModel, SoftBodyMaterial, SoftBodySolver, Vector,
};
use sinew_mesh::shapes;
use std::time::Instant;

const SIZE: [f64; 3] = [0.4, 0.1, 0.1];
const DENSITY: f64 = 1000.0;
/// Units of length in a metre.
const SCALE: f64 = 10.0;
const DT: f64 = 1.0 / 60.0;
/// Seconds that are simulated, and that it may take.
const SECONDS: f64 = 2.0;
const MAX_SECONDS: f64 = 60.0;

/// Steps a beam of 1k, 10k or 50k tets, and tells of it in a line.
pub fn row(size: &str) -> Result<String, String> {
    let across = match size {
        "1k" => 4,
        "10k" => 8,
        "50k" => 14,
        _ => return Err(format!("beams of 1k, 10k and 50k tets are known, not of `{size}`")),
    };
    let mesh = shapes::beam(across, SIZE);
    let mut masses = vec![0.0; mesh.nodes.len()];
    for tet in &mesh.tets {
        let [a, b, c, d] = tet.map(|node| mesh.nodes[node as usize]);
        let fraction = DENSITY * (b - a).cross(&(c - a)).dot(&(d - a)).abs() / 24.0;
        tet.iter().for_each(|node| masses[*node as usize] += fraction);
    }
    let held = (0..mesh.nodes.len() as u32).filter(|node| mesh.nodes[*node as usize].x < 1e-9);
    let tip: Vec<usize> = (0..mesh.nodes.len()).filter(|node| mesh.nodes[*node].x > SIZE[0] - 1e-9).collect();
    let material = SoftBodyMaterial {
        young_modulus: (5e5 / SCALE) as Real,
        poisson_ratio: 0.4,
        elastic_damping_ratio: 0.0,
        ..SoftBodyMaterial::default()
    };
    let places =
        mesh.nodes.iter().map(|x| x * SCALE).map(|x| Vector::new(x.x as Real, x.y as Real, x.z as Real));
    let body = SoftBodyBuilder::new(places.collect())
        .masses(masses.iter().map(|mass| *mass as Real).collect())
        .cells(mesh.tets.clone())
        .material(material)
        .cell_model(SoftBodyCellModel::Corotational)
        .solver(SoftBodySolver::Fem)
        .no_surface_collider()
        .can_sleep(false)
        .pinned_particles(held);

    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, 0.0, (-9.81 * SCALE) as Real);
    world.integration_parameters.length_unit = SCALE as Real;
    world.integration_parameters.dt = DT as Real;
    world.integration_parameters.num_solver_iterations = 1;
    world.integration_parameters.soft_bodies.fem.max_linear_iterations = 1000;
    world.integration_parameters.soft_bodies.fem.linear_tolerance = 1e-3;
    let handle = world.insert_soft_body(body);

    let (begin, wall, mut sags) = (ThreadTime::now(), Instant::now(), Vec::new());
    while (sags.len() as f64) < SECONDS / DT - 0.5 && wall.elapsed().as_secs_f64() < MAX_SECONDS {
        world.step();
        let height = |node: &usize| f64::from(world.soft_bodies[handle].particle_position(*node).z) / SCALE;
        let rest: f64 = tip.iter().map(|node| mesh.nodes[*node].z).sum();
        sags.push((rest - tip.iter().map(height).sum::<f64>()) / tip.len() as f64);
    }
    let simulated = sags.len() as f64 * DT;
    let cpu = begin.elapsed().as_secs_f64() / simulated;
    let late = &sags[sags.len() / 2..];
    let mean = 1e3 * late.iter().sum::<f64>() / late.len() as f64;
    let peak = 1e3 * sags.iter().copied().fold(0.0, f64::max);
    Ok(format!(
        "rapier3d {size} dt={DT:.7} sim={simulated:.2} cpu/ss={cpu:.3} peak={peak:.1} half2={mean:.1}"
    ))
}
