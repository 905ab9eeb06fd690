//! A kind of body whose coordinates are its points: a square of four points with springs along its sides and diagonals.
//!
//! ```text
//! E = Σ k/2 (|xᵢ − xⱼ| − ℓ)²
//! ```

use sinew::math::Mat3;
use sinew::math::sparse::Row;
use sinew::mesh::Embedding;
use sinew::prelude::*;
use sinew::sim::{CustomKind, KindDesc, KindParts, NodeEnergy};
use std::sync::Arc;

/// A square in the plane of x and z, one corner in the origin.
#[derive(Debug)]
pub(crate) struct SpringsDesc {
    surface: TriMesh,
    /// k (N/m)
    stiffness: f64,
}

/// The springs of a square.
#[derive(Clone, Debug)]
struct Springs {
    springs: Vec<Spring>,
    /// Of the spring at the last update (N/m), one per spring.
    hessians: Vec<Mat3>,
}

#[derive(Clone, Debug)]
struct Spring {
    ends: [usize; 2],
    /// ℓ (m)
    length: f64,
    /// k (N/m)
    stiffness: f64,
}

impl SpringsDesc {
    /// A square of a side (m) with springs of a stiffness (N/m).
    pub(crate) fn square(side: f64, stiffness: f64) -> SpringsDesc {
        let vertices = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)];
        let vertices = vertices.map(|(x, z)| Vec3::new(side * x, 0.0, side * z)).to_vec();
        SpringsDesc { surface: TriMesh { vertices, triangles: vec![[0, 1, 2], [0, 2, 3]] }, stiffness }
    }
}

impl KindDesc for SpringsDesc {
    fn surface(&self) -> &TriMesh {
        &self.surface
    }

    fn build(&self, _material: &Material, _velocity: &Vec3) -> Result<KindParts, Vec<String>> {
        let x = &self.surface.vertices;
        let pairs = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]];
        let spring = |ends: [usize; 2]| {
            let length = (x[ends[0]] - x[ends[1]]).norm();
            Spring { ends, length, stiffness: self.stiffness }
        };
        let mass = 0.01;
        Ok(KindParts {
            points: x.clone(),
            point_mass: vec![mass; 4],
            embedding: Embedding::identity(4),
            volume: 1e-6,
            // three springs meet in a point, each of which moves both of its ends: Gershgorin's bound
            max_frequency: (6.0 * self.stiffness / mass).sqrt(),
            kind: Arc::new(Springs { springs: pairs.map(spring).to_vec(), hessians: Vec::new() }),
        })
    }
}

impl CustomKind for Springs {
    fn energy(&self) -> Option<Box<dyn NodeEnergy + Send + Sync>> {
        Some(Box::new(self.clone()))
    }
}

impl NodeEnergy for Springs {
    fn evaluate(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        let mut sum = 0.0;
        for Spring { ends: [a, b], length, stiffness } in &self.springs {
            let off = x[*a] - x[*b];
            let stretch = off.norm() - length;
            sum += 0.5 * stiffness * stretch * stretch;
            let pull = off * (stiffness * stretch / off.norm());
            gradient[*a] += pull;
            gradient[*b] -= pull;
        }
        sum
    }

    fn update(&mut self, x: &[Vec3]) {
        let hessian = |spring: &Spring| {
            let off = x[spring.ends[0]] - x[spring.ends[1]];
            let (distance, n) = (off.norm(), off.normalize());
            let along = n * n.transpose();
            // across the spring it is as stiff as it is taut, and not made soft where it is slack
            let across = (1.0 - spring.length / distance).max(0.0);
            (along + (Mat3::identity() - along) * across) * spring.stiffness
        };
        self.hessians = self.springs.iter().map(hessian).collect();
    }

    fn multiply(&self, u: &[Row], out: &mut [Row]) {
        for (spring, hessian) in self.springs.iter().zip(&self.hessians) {
            let [a, b] = spring.ends;
            let apart = Vec3::from_fn(|i, _| f64::from(u[a][i] - u[b][i]));
            let force = hessian * apart;
            for i in 0..3 {
                out[a][i] += force[i] as f32;
                out[b][i] -= force[i] as f32;
            }
        }
    }

    fn add_diagonal(&self, blocks: &mut [Mat3]) {
        for (spring, hessian) in self.springs.iter().zip(&self.hessians) {
            spring.ends.iter().for_each(|end| blocks[*end] += hessian);
        }
    }
}
