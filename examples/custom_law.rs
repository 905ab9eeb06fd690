//! An elastic law of one's own: compressible neo-Hookean tets, given by their energy, gradient and Hessian, as a kind of body.
//!
//! ```text
//! Ψ = μ/2 (tr FᵀF − 3) − μ ln J + λ/2 ln²J,    P = μ (F − F⁻ᵀ) + λ ln J F⁻ᵀ
//! ```
//!
//! The laws that ship run in lanes and are registered in `sinew::flesh`; this way needs no change to the library and costs speed.

#![expect(clippy::print_stdout, reason = "an example tells what it did")]

use sinew::math::Mat3;
use sinew::math::sparse::Row;
use sinew::mesh::Embedding;
use sinew::prelude::*;
use sinew::sim::{CustomKind, KindDesc, KindParts, NodeEnergy};
use std::sync::Arc;

/// A beam of tets of the law.
#[derive(Debug)]
struct NeoHookeanDesc {
    mesh: TetMesh,
    surface: TriMesh,
    /// The mesh node of each surface vertex.
    surface_nodes: Vec<u32>,
    mu: f64,
    lambda: f64,
}

/// One tet: its nodes, Dm⁻¹ (1/m) and its volume (m³).
#[derive(Clone, Debug)]
struct Tet {
    nodes: [usize; 4],
    inverse_rest: Mat3,
    volume: f64,
}

#[derive(Clone, Debug)]
struct NeoHookean {
    tets: Vec<Tet>,
    mu: f64,
    lambda: f64,
    /// An upper bound on the stiffness of a node, as the Hessian of a solver that needs no more (N/m).
    stiffness: f64,
}

impl NeoHookean {
    /// Ψ (J/m³) and P (Pa).
    fn energy_and_stress(&self, f: &Mat3) -> (f64, Mat3) {
        let volume = f.determinant();
        let Some(inverse) = f.try_inverse().filter(|_| volume > 0.0) else {
            return (f64::INFINITY, Mat3::zeros());
        };
        let (log, inverse_transposed) = (sinew::math::real::ln(volume), inverse.transpose());
        let energy = 0.5 * self.mu * (f.norm_squared() - 3.0) - self.mu * log + 0.5 * self.lambda * log * log;
        (energy, self.mu * (f - inverse_transposed) + self.lambda * log * inverse_transposed)
    }
}

impl Tet {
    fn edges(&self, x: &[Vec3]) -> Mat3 {
        let [a, b, c, d] = self.nodes.map(|node| x[node]);
        Mat3::from_columns(&[b - a, c - a, d - a])
    }
}

impl NodeEnergy for NeoHookean {
    fn evaluate(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        let mut sum = 0.0;
        for tet in &self.tets {
            let (energy, stress) = self.energy_and_stress(&(tet.edges(x) * tet.inverse_rest));
            sum += tet.volume * energy;
            // forces on corners 1 to 3 are the columns of V P Dm⁻ᵀ, corner 0 has minus their sum
            let forces = tet.volume * stress * tet.inverse_rest.transpose();
            for corner in 0..3 {
                gradient[tet.nodes[corner + 1]] += forces.column(corner);
                gradient[tet.nodes[0]] -= forces.column(corner);
            }
        }
        sum
    }

    fn update(&mut self, _x: &[Vec3]) {}

    fn multiply(&self, u: &[Row], out: &mut [Row]) {
        let stiffness = self.stiffness as f32;
        u.iter().zip(out).for_each(|(u, out)| (0..3).for_each(|i| out[i] += stiffness * u[i]));
    }

    fn add_diagonal(&self, blocks: &mut [Mat3]) {
        blocks.iter_mut().for_each(|block| *block += Mat3::from_diagonal_element(self.stiffness));
    }
}

impl CustomKind for NeoHookean {
    fn energy(&self) -> Option<Box<dyn NodeEnergy + Send + Sync>> {
        Some(Box::new(self.clone()))
    }
}

impl KindDesc for NeoHookeanDesc {
    fn surface(&self) -> &TriMesh {
        &self.surface
    }

    fn build(&self, material: &Material, _velocity: &Vec3) -> Result<KindParts, Vec<String>> {
        // tets at rest, and their masses lumped to nodes
        let x = &self.mesh.nodes;
        let mut point_mass = vec![0.0; x.len()];
        let mut tets = Vec::new();
        for (i, nodes) in self.mesh.tets.iter().enumerate() {
            let mut tet = Tet { nodes: nodes.map(|n| n as usize), inverse_rest: Mat3::zeros(), volume: 0.0 };
            let edges = tet.edges(x);
            tet.volume = edges.determinant() / 6.0;
            tet.inverse_rest = edges.try_inverse().ok_or_else(|| vec![format!("tet {i} has no volume")])?;
            tet.nodes.iter().for_each(|node| point_mass[*node] += 0.25 * material.density * tet.volume);
            tets.push(tet);
        }

        // ω² ≤ (λ + 2μ)/ρ Σ |∇φ|² over the corners of a tet: the bound that explicit steps keep
        let modulus = self.lambda + 2.0 * self.mu;
        let steepest = |tet: &Tet| 4.0 * tet.inverse_rest.norm_squared();
        let largest = tets.iter().map(steepest).fold(0.0, f64::max);
        let stiffness = modulus * tets.iter().map(|tet| tet.volume * steepest(tet)).fold(0.0, f64::max);
        Ok(KindParts {
            points: x.clone(),
            embedding: Embedding::of_nodes(&self.mesh, &self.surface_nodes),
            volume: tets.iter().map(|tet| tet.volume).sum(),
            max_frequency: (4.0 * modulus * largest / material.density).sqrt(),
            point_mass,
            kind: Arc::new(NeoHookean { tets, mu: self.mu, lambda: self.lambda, stiffness }),
        })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mesh = shapes::beam(2, [0.2, 0.05, 0.05]);
    let (surface, surface_nodes) = mesh.boundary();
    let lame = Material { young: 2e4, ..Material::default() }.lame();
    let desc = NeoHookeanDesc { mesh, surface, surface_nodes, mu: lame.mu, lambda: lame.lambda };
    let body =
        BodyDesc { name: "beam".into(), shape: ShapeDesc::Custom(Arc::new(desc)), ..BodyDesc::default() };

    // it falls flat on the ground from 5 cm
    let mut ground = ObstacleDesc::default();
    ground.pose.translation.vector.y = -0.075;
    let mut scene = Scene { name: "neo_hookean".into(), seconds: 0.5, ..Scene::default() };
    scene.world.bodies.push(body);
    scene.world.obstacles.push(ground);

    let mut player = Player::build(&scene)?;
    let start = player.state.energies(&player.model);
    player.play(&mut [], |_| {})?;
    let end = player.state.energies(&player.model);
    println!("elastic energy: {:.4} J at the start, {:.4} J at the end", start.elastic, end.elastic);
    let lowest = player.state.node_x.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    assert!(lowest > -0.1 && lowest < 0.0, "it lies on the ground: {lowest}");
    Ok(())
}
