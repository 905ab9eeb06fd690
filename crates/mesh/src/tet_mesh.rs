//! Tetrahedral mesh, with its faults and its boundary surface.

use crate::{TriMesh, tri_mesh::bounds};
use sinew_math::{Mat3, Vec3};

/// A tetrahedral mesh. The corners (a, b, c, d) of a tet are ordered so that (b − a) · ((c − a) × (d − a)) is positive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Node positions at rest (m).
    pub nodes: Vec<Vec3>,
    /// Four node indices per tet.
    pub tets: Vec<[u32; 4]>,
}

/// The faces of a tet, each counter-clockwise seen from outside, face `i` opposite corner `i`.
pub(crate) const TET_FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// One fault of a tet mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TetFault {
    /// There are no tets.
    #[error("the mesh has no tets: give it at least one")]
    NoTets,
    /// A coordinate is not finite.
    #[error("node {node} is at {position:?}: give it finite coordinates")]
    NodeNotFinite {
        /// The node.
        node: usize,
        /// Its position (m).
        position: [f64; 3],
    },
    /// A tet refers to a node that does not exist.
    #[error("tet {tet} uses node {node}, but there are only {nodes}: correct or remove the tet")]
    NodeOutOfRange {
        /// The tet.
        tet: usize,
        /// The node it refers to.
        node: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A tet with negative volume: its corners are in the wrong order.
    #[error("tet {tet} is inverted at rest (volume {volume:.1e} m³): swap two of its corners")]
    Inverted {
        /// The tet.
        tet: usize,
        /// Its volume (m³).
        volume: f64,
    },
    /// A tet whose corners are coplanar.
    #[error("tet {tet} is flat at rest (volume {volume:.1e} m³): move a corner or remove the tet")]
    Flat {
        /// The tet.
        tet: usize,
        /// Its volume (m³).
        volume: f64,
    },
    /// Nodes that belong to no tet and have no mass.
    #[error("{count} nodes belong to no tet, the first is node {first}: remove them")]
    UnusedNodes {
        /// How many nodes.
        count: usize,
        /// The first of them.
        first: usize,
    },
}

impl TetMesh {
    /// The corners of tet `t` (m).
    pub fn corners(&self, t: usize) -> [Vec3; 4] {
        self.tets[t].map(|n| self.nodes[n as usize])
    }

    /// The three edges from the first corner of tet `t`, as columns (m).
    pub fn edges(&self, t: usize) -> Mat3 {
        let [a, b, c, d] = self.corners(t);
        Mat3::from_columns(&[b - a, c - a, d - a])
    }

    /// The volume of tet `t` (m³); negative if its corners are in the wrong order.
    pub fn tet_volume(&self, t: usize) -> f64 {
        self.edges(t).determinant() / 6.0
    }

    /// The sum of the volumes of the tets (m³).
    pub fn volume(&self) -> f64 {
        (0..self.tets.len()).map(|t| self.tet_volume(t)).sum()
    }

    /// The smallest and largest coordinates of the nodes (m); `None` without nodes.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        bounds(&self.nodes)
    }

    /// All faults of the mesh, in order; empty for a valid mesh.
    pub fn find_faults(&self) -> Vec<TetFault> {
        // coordinates of nodes
        let mut faults = Vec::new();
        let is_non_finite = |p: &Vec3| p.iter().any(|x| !x.is_finite());
        for (node, p) in self.nodes.iter().enumerate().filter(|(_, p)| is_non_finite(p)) {
            faults.push(TetFault::NodeNotFinite { node, position: (*p).into() });
        }
        if self.tets.is_empty() {
            faults.push(TetFault::NoTets);
        }

        // each tet: indices, coordinates, volume
        let mut used = vec![false; self.nodes.len()];
        for (tet, corners) in self.tets.iter().enumerate() {
            if let Some(&node) = corners.iter().find(|&&n| n as usize >= self.nodes.len()) {
                faults.push(TetFault::NodeOutOfRange { tet, node, nodes: self.nodes.len() });
                continue;
            }
            corners.iter().for_each(|&n| used[n as usize] = true);
            if corners.iter().any(|&n| is_non_finite(&self.nodes[n as usize])) {
                continue;
            }
            let volume = self.tet_volume(tet);
            let edge = self.edges(tet).column_iter().map(|e| e.norm()).fold(0.0, f64::max);
            // flat to round-off
            if volume.abs() <= 1e-14 * edge * edge * edge {
                faults.push(TetFault::Flat { tet, volume });
            } else if volume < 0.0 {
                faults.push(TetFault::Inverted { tet, volume });
            }
        }

        // nodes without tets
        let unused: Vec<usize> = (0..used.len()).filter(|&n| !used[n]).collect();
        if let Some(&first) = unused.first() {
            faults.push(TetFault::UnusedNodes { count: unused.len(), first });
        }
        faults
    }

    /// The boundary: the faces that belong to one tet only, with the nodes they use. The second list is the node of each surface
    /// vertex.
    pub fn boundary(&self) -> (TriMesh, Vec<u32>) {
        let mut faces: Vec<([u32; 3], [u32; 3])> = Vec::with_capacity(4 * self.tets.len());
        for tet in &self.tets {
            for face in TET_FACES {
                let corners = face.map(|i| tet[i]);
                let mut key = corners;
                key.sort_unstable();
                faces.push((key, corners));
            }
        }
        faces.sort_unstable();
        let lone = faces.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1).map(|same| same[0].1);

        let mut vertex_of_node = vec![u32::MAX; self.nodes.len()];
        let mut surface = TriMesh::default();
        let mut vertex_node = Vec::new();
        for face in lone {
            surface.triangles.push(face.map(|node| {
                let vertex = &mut vertex_of_node[node as usize];
                if *vertex == u32::MAX {
                    *vertex = vertex_node.len() as u32;
                    vertex_node.push(node);
                    surface.vertices.push(self.nodes[node as usize]);
                }
                *vertex
            }));
        }
        (surface, vertex_node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    #[test]
    fn every_fault_is_reported_and_a_valid_mesh_has_none() {
        let mut beam = shapes::beam(1, [0.2, 0.1, 0.1]);
        assert_eq!(beam.find_faults(), []);
        beam.tets[2].swap(0, 1);
        beam.tets[3][2] = 99;
        beam.tets[4] = [0, 0, 1, 2];
        beam.nodes.push(Vec3::new(0.0, f64::NAN, 0.0));
        let said: Vec<String> = beam.find_faults().iter().map(ToString::to_string).collect();
        let expected = [
            "node 12 is at [0.0, NaN, 0.0]: give it finite coordinates",
            "tet 2 is inverted at rest (volume -1.7e-4 m³): swap two of its corners",
            "tet 3 uses node 99, but there are only 13: correct or remove the tet",
            "tet 4 is flat at rest (volume 0.0e0 m³): move a corner or remove the tet",
            "1 nodes belong to no tet, the first is node 12: remove them",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn the_boundary_of_a_beam_is_closed_and_encloses_its_volume() {
        let beam = shapes::beam(2, [0.4, 0.1, 0.1]);
        let (surface, vertex_node) = beam.boundary();
        assert!((surface.signed_volume() - beam.volume()).abs() < 1e-15);
        assert_eq!(surface.vertices.len(), vertex_node.len());
        // Euler: V − E + F = 2 with E = 3F/2 for a closed surface without handles
        assert_eq!(surface.vertices.len() as i64 - surface.triangles.len() as i64 / 2, 2);
    }
}
