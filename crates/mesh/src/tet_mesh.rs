//! A solid of tetrahedra.

use crate::{TriMesh, tri_mesh::bounds};
use sinew_math::{Mat3, Vec3};

/// A solid of tetrahedra. The corners (a, b, c, d) of a tet are ordered so that
/// (b − a) · ((c − a) × (d − a)) is positive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Node positions at rest (m).
    pub nodes: Vec<Vec3>,
    /// Four node indices per tet.
    pub tets: Vec<[u32; 4]>,
}

/// The faces of a tet, each counter-clockwise seen from outside, face `i` opposite corner `i`.
pub(crate) const TET_FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

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

    /// The volume of tet `t` (m³); negative when its corners are in the wrong order.
    pub fn tet_volume(&self, t: usize) -> f64 {
        self.edges(t).determinant() / 6.0
    }

    /// The sum of the tets' volumes (m³).
    pub fn volume(&self) -> f64 {
        (0..self.tets.len()).map(|t| self.tet_volume(t)).sum()
    }

    /// The smallest and largest coordinates of the nodes (m); `None` without nodes.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        bounds(&self.nodes)
    }

    /// The faces that belong to one tet only, with the nodes they use. The second list names the
    /// node of each surface vertex.
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
    use crate::shapes;

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
