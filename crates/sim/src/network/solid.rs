//! Springs along the edges of tets, as stiff as the solid that the tets fill.
//!
//! ```text
//! k = E Σ V/ℓ²     over the tets at an edge of length ℓ                                  [VanGelder1998]
//! ```
//!
//! A uniform strain ε then stores ½ E Σ V (nᵀεn)² over the edges of each tet; for edges in all directions the mean of (nᵀεn)² is (2 tr ε² + tr² ε)/15, which is the energy of a solid with Young's modulus E and Poisson's ratio 1/4.

use super::highest_frequency::Frequency;
use super::{Network, NetworkBody};
use crate::body_kind::KindParts;
use sinew_flesh::Material;
use sinew_flesh::network::Spring;
use sinew_math::Vec3;
use sinew_mesh::{Embedding, TetMesh};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The parts of a body of springs: of tets that are filled to a fraction, with masses of nodes (kg), the embedding of its surface, and the rate at which its deformation decays (1/s).
pub(crate) fn tet_springs(
    (mesh, fill): (&TetMesh, &[f64]),
    material: &Material,
    (point_mass, embedding): (Vec<f64>, Embedding),
    damping_rate: f64,
) -> KindParts {
    // the volume at each edge
    let mut volumes: BTreeMap<[u32; 2], f64> = BTreeMap::new();
    let mut volume = 0.0;
    for (tet, fill) in mesh.tets.iter().zip(fill) {
        let [a, b, c, d] = tet.map(|node| mesh.nodes[node as usize]);
        let own = fill * (b - a).cross(&(c - a)).dot(&(d - a)).abs() / 6.0;
        volume += own;
        for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            let ends = [tet[i].min(tet[j]), tet[i].max(tet[j])];
            *volumes.entry(ends).or_default() += own;
        }
    }

    // springs
    let spring = |(nodes, volume): (&[u32; 2], &f64)| {
        let [a, b] = nodes.map(|node| mesh.nodes[node as usize]);
        let length = (b - a).norm();
        Spring { nodes: *nodes, length, stiffness: material.young * volume / (length * length) }
    };
    let network = Network {
        node_count: mesh.nodes.len(),
        springs: volumes.iter().map(spring).collect(),
        damping_rate,
        ..Network::default()
    };
    parts(network, mesh.nodes.clone(), point_mass, embedding, volume)
}

/// The parts of a network.
fn parts(
    network: Network,
    points: Vec<Vec3>,
    point_mass: Vec<f64>,
    embedding: Embedding,
    volume: f64,
) -> KindParts {
    network_and_parts(network, points, point_mass, embedding, volume).1
}

/// A network with its viscosity, and its parts.
pub(super) fn network_and_parts(
    mut network: Network,
    points: Vec<Vec3>,
    point_mass: Vec<f64>,
    embedding: Embedding,
    volume: f64,
) -> (Arc<Network>, KindParts) {
    let Frequency { viscosity, effective } = Frequency::of(&network, &points, &point_mass);
    network.viscosity = viscosity;
    let network = Arc::new(network);
    let kind = Arc::new(NetworkBody(network.clone()));
    (network, KindParts { points, point_mass, embedding, volume, max_frequency: effective, kind })
}
