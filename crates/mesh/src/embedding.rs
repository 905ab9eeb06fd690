//! Linear embedding of points in a mesh: each point is a fixed weighted sum of a few nodes.
//!
//! y = J x with a sparse matrix J of shape-function values. Positions and velocities are interpolated by J and forces are
//! distributed by Jᵀ, so both sides do the same work. The transpose is stored too, so that each node sums its forces in a fixed
//! order on any number of threads.

use crate::TetMesh;
use rayon::prelude::*;
use sinew_math::Vec3;

/// The sparse matrix J, one row of (node, weight) per point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embedding {
    rows: Rows,
    /// The transpose: rows of (point, weight), one per node.
    columns: Rows,
}

/// Compressed sparse rows.
#[derive(Clone, Debug, Default, PartialEq)]
struct Rows {
    offsets: Vec<u32>,
    indices: Vec<u32>,
    weights: Vec<f64>,
}

/// The minimum number of rows per parallel task.
const ROWS_PER_THREAD: usize = 2048;

impl Embedding {
    /// Points given by four nodes and their barycentric weights each, in a mesh of `node_count` nodes.
    pub fn from_barycentric(node_count: usize, points: &[([u32; 4], [f64; 4])]) -> Self {
        Self::from_rows(
            node_count,
            points.iter().map(|(nodes, weights)| {
                core::iter::zip(*nodes, *weights).filter(|&(_, weight)| weight != 0.0).collect()
            }),
        )
    }

    /// Points that coincide with nodes, such as the boundary of a tet mesh with the second list of [`TetMesh::boundary`].
    pub fn of_nodes(mesh: &TetMesh, point_node: &[u32]) -> Self {
        Self::from_rows(mesh.nodes.len(), point_node.iter().map(|&node| vec![(node, 1.0)]))
    }

    /// The first points only.
    pub fn of_first_points(&self, count: usize) -> Self {
        let rows = (0..count).map(|i| self.point(i).collect());
        Self::from_rows(self.node_count(), rows)
    }

    /// Points that are the nodes, each its own.
    pub fn identity(count: usize) -> Self {
        Self::from_rows(count, (0..count as u32).map(|node| vec![(node, 1.0)]))
    }

    fn from_rows(node_count: usize, points: impl Iterator<Item = Vec<(u32, f64)>>) -> Self {
        let mut rows = Rows { offsets: vec![0], ..Rows::default() };
        for point in points {
            rows.indices.extend(point.iter().map(|p| p.0));
            rows.weights.extend(point.iter().map(|p| p.1));
            rows.offsets.push(rows.indices.len() as u32);
        }
        let columns = rows.transpose(node_count);
        Self { rows, columns }
    }

    /// The number of embedded points.
    pub fn point_count(&self) -> usize {
        self.rows.count()
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.columns.count()
    }

    /// The nodes of point `i` with their weights φ (sum 1).
    pub fn point(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.rows.row(i)
    }

    /// The points that node `i` contributes to, with its weight φ in each.
    pub fn node(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.columns.row(i)
    }

    /// The mean of a value per point over the points that node `i` contributes to with a positive weight; `None` where there are none:
    ///
    /// ```text
    /// Σ_p φ_pi y_p / Σ_p φ_pi,   φ_pi > 0
    /// ```
    pub fn mean_at_node(&self, i: usize, value: impl Fn(usize) -> f64) -> Option<f64> {
        let (mut sum, mut whole) = (0.0, 0.0);
        for (point, weight) in self.node(i).filter(|(_, weight)| *weight > 0.0) {
            (sum, whole) = (sum + weight * value(point as usize), whole + weight);
        }
        (whole > 0.0).then_some(sum / whole)
    }

    /// Interpolates positions (m) or velocities (m/s) of the nodes at the points:
    ///
    /// ```text
    /// y = Σᵢ φᵢ xᵢ                                                    [KimPollard2011, eq. 8]
    /// ```
    pub fn interpolate(&self, node_x: &[Vec3], out: &mut [Vec3]) {
        assert!(
            node_x.len() == self.node_count() && out.len() == self.point_count(),
            "array lengths match the embedding"
        );
        out.par_iter_mut().with_min_len(ROWS_PER_THREAD).enumerate().for_each(|(i, y)| {
            *y = self.rows.sum(i, node_x);
        });
    }

    /// [`Self::interpolate`] rounded to single precision, for rendering.
    pub fn interpolate_f32(&self, node_x: &[Vec3], out: &mut [[f32; 3]]) {
        assert!(
            node_x.len() == self.node_count() && out.len() == self.point_count(),
            "array lengths match the embedding"
        );
        out.par_iter_mut().with_min_len(ROWS_PER_THREAD).enumerate().for_each(|(i, y)| {
            let p = self.rows.sum(i, node_x);
            *y = [p.x as f32, p.y as f32, p.z as f32];
        });
    }

    /// Distributes forces on the points (N) to the nodes by the transpose, adding to `node_f`:
    ///
    /// ```text
    /// fᵢ += Σ φᵢ f                                                    [KimPollard2011, eq. 13]
    /// ```
    pub fn apply_transpose(&self, point_f: &[Vec3], node_f: &mut [Vec3]) {
        assert!(
            point_f.len() == self.point_count() && node_f.len() == self.node_count(),
            "array lengths match the embedding"
        );
        node_f.par_iter_mut().with_min_len(ROWS_PER_THREAD).enumerate().for_each(|(i, f)| {
            *f += self.columns.sum(i, point_f);
        });
    }
}

impl Rows {
    fn count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn range(&self, i: usize) -> core::ops::Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }

    fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.range(i).map(|k| (self.indices[k], self.weights[k]))
    }

    fn sum(&self, i: usize, values: &[Vec3]) -> Vec3 {
        self.row(i).fold(Vec3::zeros(), |sum, (j, weight)| sum + weight * values[j as usize])
    }

    fn transpose(&self, column_count: usize) -> Self {
        let mut offsets = vec![0u32; column_count + 1];
        for &j in &self.indices {
            offsets[j as usize + 1] += 1;
        }
        for j in 0..column_count {
            offsets[j + 1] += offsets[j];
        }
        let mut next = offsets.clone();
        let (mut indices, mut weights) = (vec![0; self.indices.len()], vec![0.0; self.indices.len()]);
        for i in 0..self.count() {
            for (j, weight) in self.row(i) {
                let slot = &mut next[j as usize];
                (indices[*slot as usize], weights[*slot as usize]) = (i as u32, weight);
                *slot += 1;
            }
        }
        Self { offsets, indices, weights }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;
    use sinew_math::{Mat3, real};

    /// Points at fixed weights in each tet of a small beam.
    fn embedded_points() -> (TetMesh, Embedding) {
        let beam = shapes::beam(2, [0.3, 0.1, 0.1]);
        let points: Vec<_> = beam.tets.iter().map(|&tet| (tet, [0.1, 0.2, 0.3, 0.4])).collect();
        let embedding = Embedding::from_barycentric(beam.nodes.len(), &points);
        (beam, embedding)
    }

    fn waves(count: usize, seed: f64) -> Vec<Vec3> {
        let value = |i: usize, k: f64| real::sin(seed + 1.3 * k * i as f64 + k);
        (0..count).map(|i| Vec3::new(value(i, 1.0), value(i, 2.0), value(i, 3.0))).collect()
    }

    /// ⟨f, J v⟩ = ⟨Jᵀ f, v⟩ up to the round-off of a few hundred terms of size one.
    #[test]
    fn apply_transpose_is_the_adjoint_of_interpolate() {
        let (beam, embedding) = embedded_points();
        let (v, f) = (waves(beam.nodes.len(), 0.3), waves(beam.tets.len(), 0.7));
        let (mut out, mut back) = (vec![Vec3::zeros(); f.len()], vec![Vec3::zeros(); v.len()]);
        embedding.interpolate(&v, &mut out);
        embedding.apply_transpose(&f, &mut back);
        let dot = |a: &[Vec3], b: &[Vec3]| core::iter::zip(a, b).map(|(a, b)| a.dot(b)).sum::<f64>();
        assert!((dot(&f, &out) - dot(&back, &v)).abs() < 1e-12);
    }

    #[test]
    fn interpolation_reproduces_affine_motions() {
        let (beam, embedding) = embedded_points();
        let (linear, shift) =
            (Mat3::new(1.0, 0.2, 0.0, -0.3, 0.9, 0.1, 0.0, 0.4, 1.1), Vec3::new(1.0, 2.0, 3.0));
        let moved: Vec<Vec3> = beam.nodes.iter().map(|x| linear * x + shift).collect();
        let (mut rest, mut after) =
            (vec![Vec3::zeros(); beam.tets.len()], vec![Vec3::zeros(); beam.tets.len()]);
        embedding.interpolate(&beam.nodes, &mut rest);
        embedding.interpolate(&moved, &mut after);
        let mut single = vec![[0.0; 3]; beam.tets.len()];
        embedding.interpolate_f32(&moved, &mut single);
        for i in 0..rest.len() {
            assert!((linear * rest[i] + shift - after[i]).norm() < 1e-14);
            assert_eq!(single[i][1], after[i].y as f32);
        }
    }

    #[test]
    fn a_boundary_coincides_with_its_nodes() {
        let beam = shapes::beam(2, [0.3, 0.1, 0.1]);
        let (surface, vertex_node) = beam.boundary();
        let embedding = Embedding::of_nodes(&beam, &vertex_node);
        let mut out = vec![Vec3::zeros(); surface.vertices.len()];
        embedding.interpolate(&beam.nodes, &mut out);
        assert_eq!(out, surface.vertices);
    }
}
