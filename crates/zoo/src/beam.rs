//! Cantilever beam under gravity, the benchmark for solvers.

use sinew_control::Motion;
use sinew_flesh::{Law, Material};
use sinew_math::Vec3;
use sinew_mesh::shapes;
use sinew_sim::desc::{BodyDesc, PinDesc, Region, Sag, ShapeDesc, WorldDesc};
use sinew_sim::{Solver, State};
use sinew_take::Scene;

/// A beam of 0.4 × 0.1 × 0.1 m, five tets per cube, E = 5e5 Pa, ν = 0.4, ρ = 1000 kg/m³, clamped at x = 0, gravity along −z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    /// Number n of cubes across its thickness; the beam has 20 n³ tets.
    pub cubes_across: usize,
    /// The constitutive law.
    pub law: Law,
    /// Damping of its first mode as a fraction of critical damping.
    pub damping_ratio: f64,
}

/// Length, width and height (m).
const SIZE: [f64; 3] = [0.4, 0.1, 0.1];

/// Builds the scene of a beam, one second long.
pub fn beam(Beam { cubes_across, law, damping_ratio }: Beam) -> Scene {
    // a beam clamped at x = 0
    let material = Material { law, ..Material::soft_solid(5e5, 0.4, 1000.0, damping_ratio) };
    let clamped = Region::Box { min: Vec3::new(-1e-9, -1.0, -1.0), max: Vec3::new(1e-9, 1.0, 1.0) };
    let body = BodyDesc {
        name: "beam".into(),
        shape: ShapeDesc::Tets(shapes::beam(cubes_across, SIZE)),
        material,
        velocity: Vec3::zeros(),
        pins: vec![PinDesc { region: clamped }],
        loads: Vec::new(),
        attachment: None,
        sag: Sag::Free,
        ..BodyDesc::default()
    };

    // gravity only
    Scene {
        name: "beam".into(),
        world: WorldDesc {
            gravity: Vec3::new(0.0, 0.0, -9.81),
            bodies: vec![body],
            rigs: Vec::new(),
            ..WorldDesc::default()
        },
        pin_motions: vec![vec![Motion::Still]],
        performances: Vec::new(),
        obstacle_motions: Vec::new(),
        constraint_motions: Vec::new(),
        curves: Default::default(),
        solver: Solver::default(),
        preroll: 0.0,
        seconds: 1.0,
        fps: 60.0,
        edits: Vec::new(),
    }
}

impl Beam {
    /// Deflection of the free end below its rest position (m), averaged over its nodes.
    pub fn tip_deflection(node_rest: &[Vec3], state: &State) -> f64 {
        let tip = || (0..node_rest.len()).filter(|&node| node_rest[node].x > SIZE[0] - 1e-9);
        tip().map(|node| node_rest[node].z - state.node_x[node].z).sum::<f64>() / tip().count() as f64
    }
}
