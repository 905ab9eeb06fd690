//! The energy of a network in time stepping: value, gradient and Hessian products, with workspace.
//!
//! Elements write what they do to their corners, side by side on all threads; nodes then sum their corners in a fixed order.

mod hinges;
mod strains;

use super::Network;
use crate::node_energy::NodeEnergy;
use hinges::Hinges;
use sinew_flesh::network::{Membrane, Spring};
use sinew_math::parallel::for_each_part;
use sinew_math::sparse::Row;
use sinew_math::{Mat3, Vec3};
use std::sync::{Arc, Mutex, MutexGuard};
use strains::{Rates, Strains};

/// Elements or nodes per parallel task.
const CHUNK: usize = 256;

/// The energy of a network.
#[derive(Debug)]
pub(crate) struct NetworkEnergy {
    network: Arc<Network>,
    membranes: Strains<Membrane, 3, 3>,
    springs: Strains<Spring, 2, 1>,
    hinges: Hinges,
    /// β/h of an implicit step; 0 without damping.
    growth: f64,
    /// What the energy is multiplied by.
    stiffness: f64,
    /// β (s)
    viscosity: f64,
    /// Workspace of products.
    product: Mutex<ProductSpace>,
}

/// Workspace of products of the Hessian.
#[derive(Debug, Default)]
struct ProductSpace {
    u: Vec<Vec3>,
    membranes: Vec<Vec3>,
    springs: Vec<Vec3>,
    hinges: Vec<Vec3>,
    changes: Vec<f64>,
}

impl NetworkEnergy {
    pub(crate) fn new(network: Arc<Network>) -> NetworkEnergy {
        let count = network.node_count;
        let product = ProductSpace {
            u: vec![Vec3::zeros(); count],
            membranes: vec![Vec3::zeros(); 3 * network.membranes.len()],
            springs: vec![Vec3::zeros(); 2 * network.springs.len()],
            hinges: vec![Vec3::zeros(); 4 * network.bending.hinges.len()],
            changes: vec![0.0; network.bending.hinges.len()],
        };
        NetworkEnergy {
            membranes: Strains::new(&network.membranes, count),
            springs: Strains::new(&network.springs, count),
            hinges: Hinges::new(&network.bending, count),
            growth: 0.0,
            stiffness: 1.0,
            viscosity: network.viscosity,
            product: Mutex::new(product),
            network,
        }
    }

    /// Evaluates all elements and adds the gradient.
    fn evaluate_with(&mut self, x: &[Vec3], rates: Rates, gradient: &mut [Vec3]) -> f64 {
        let factor = self.stiffness;
        let NetworkEnergy { network, membranes, springs, hinges, .. } = self;
        let sum = membranes.evaluate(&network.membranes, x, rates)
            + springs.evaluate(&network.springs, x, rates)
            + hinges.evaluate(&network.bending, x, rates);
        let (membranes, springs, hinges) = (&*membranes, &*springs, &*hinges);
        for_each_part(gradient, CHUNK, |first, part| {
            for (i, gradient) in part.iter_mut().enumerate() {
                let node = first + i;
                let own = membranes.gradient_at(node) + springs.gradient_at(node) + hinges.gradient_at(node);
                *gradient += factor * own;
            }
        });
        factor * sum
    }

    fn workspace(&self) -> MutexGuard<'_, ProductSpace> {
        // a panic in a product leaves nothing that a later one would read
        self.product.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The product of the Hessian with displacements of nodes: calls `write` with each node and its row.
    fn product(&self, space: &mut ProductSpace, mut write: impl FnMut(usize, Vec3)) {
        let ProductSpace { u, membranes, springs, hinges, changes } = space;
        self.membranes.multiply(&self.network.membranes, u, membranes);
        self.springs.multiply(&self.network.springs, u, springs);
        self.hinges.multiply(&self.network.bending, (u, 1.0 + self.growth), changes, hinges);
        for node in 0..u.len() {
            let sum = self.membranes.sums.at(node, membranes)
                + self.springs.sums.at(node, springs)
                + self.hinges.sums.at(node, hinges);
            write(node, self.stiffness * sum);
        }
    }

    /// The same in double precision.
    pub(super) fn multiply_exactly(&self, u: &[Vec3], out: &mut [Vec3]) {
        let mut space = self.workspace();
        space.u.copy_from_slice(u);
        self.product(&mut space, |node, sum| out[node] = sum);
    }
}

impl NodeEnergy for NetworkEnergy {
    fn evaluate(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        let rates = Rates::SinceReference { growth: self.growth };
        self.evaluate_with(x, rates, gradient)
    }

    fn evaluate_moving(&mut self, x: &[Vec3], v: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        let rates = Rates::OfVelocities { v, viscosity: self.viscosity };
        self.evaluate_with(x, rates, gradient)
    }

    fn stored_energy(&mut self, x: &[Vec3]) -> f64 {
        let NetworkEnergy { network, membranes, springs, hinges, .. } = self;
        let rates = Rates::SinceReference { growth: 0.0 };
        let sum = membranes.evaluate(&network.membranes, x, rates)
            + springs.evaluate(&network.springs, x, rates)
            + hinges.evaluate(&network.bending, x, rates);
        self.stiffness * sum
    }

    fn set_factors(&mut self, stiffness: f64, viscosity: f64) {
        self.stiffness = stiffness;
        self.viscosity = viscosity * self.network.viscosity;
    }

    fn begin_step(&mut self, x: &[Vec3], h: f64) {
        self.growth = self.viscosity / h;
        self.membranes.set_reference(&self.network.membranes, x);
        self.springs.set_reference(&self.network.springs, x);
        self.hinges.set_reference(&self.network.bending, x);
    }

    fn begin_beyond(&mut self, x: &[Vec3], s: f64) {
        self.membranes.extrapolate_reference(&self.network.membranes, x, s);
        self.springs.extrapolate_reference(&self.network.springs, x, s);
        self.hinges.extrapolate_reference(&self.network.bending, x, s);
    }

    fn update(&mut self, x: &[Vec3]) {
        let NetworkEnergy { network, membranes, springs, hinges, growth, .. } = self;
        membranes.update(&network.membranes, x, *growth);
        springs.update(&network.springs, x, *growth);
        hinges.update(&network.bending, x);
    }

    fn multiply(&self, u: &[Row], out: &mut [Row]) {
        let mut space = self.workspace();
        for (own, u) in space.u.iter_mut().zip(u) {
            *own = Vec3::new(f64::from(u[0]), f64::from(u[1]), f64::from(u[2]));
        }
        self.product(&mut space, |node, sum| (0..3).for_each(|k| out[node][k] += sum[k] as f32));
    }

    fn add_diagonal(&self, blocks: &mut [Mat3]) {
        self.for_each_block(&mut |a, b, block| {
            if a == b {
                blocks[a as usize] += block;
            }
        });
    }

    fn for_each_block(&self, visit: &mut dyn FnMut(u32, u32, &Mat3)) {
        let visit = &mut |a: u32, b: u32, block: &Mat3| visit(a, b, &(self.stiffness * block));
        self.membranes.for_each_block(&self.network.membranes, visit);
        self.springs.for_each_block(&self.network.springs, visit);
        self.hinges.for_each_block(&self.network.bending, 1.0 + self.growth, visit);
    }

    fn is_internal(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_flesh::Fabric;
    use sinew_flesh::network::Bending;

    /// Four triangles around a node, folded at rest, and springs across.
    fn network(viscosity: f64) -> (Arc<Network>, Vec<Vec3>) {
        let rest = vec![
            Vec3::new(0.0, 0.02, 0.0),
            Vec3::new(0.1, 0.0, 0.01),
            Vec3::new(0.0, 0.0, 0.12),
            Vec3::new(-0.11, 0.01, 0.0),
            Vec3::new(0.02, 0.0, -0.1),
        ];
        let triangles = [[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 1, 4]];
        let fabric = Fabric { bending: 0.4, ..Fabric::default() };
        let corners = |nodes: [u32; 3]| nodes.map(|node| rest[node as usize]);
        let network = Network {
            node_count: 5,
            membranes: triangles
                .iter()
                .filter_map(|nodes| Membrane::build(*nodes, &corners(*nodes), &fabric))
                .collect(),
            springs: vec![Spring { nodes: [1, 3], length: 0.2, stiffness: 30.0 }],
            bending: Bending::build(&triangles, &rest, &fabric),
            viscosity,
            ..Network::default()
        };
        (Arc::new(network), rest)
    }

    fn moved(rest: &[Vec3]) -> Vec<Vec3> {
        let shift = |(i, x): (usize, &Vec3)| {
            1.15 * x + 0.004 * Vec3::new((i % 3) as f64, (i % 2) as f64, ((i + 1) % 3) as f64)
        };
        rest.iter().enumerate().map(shift).collect()
    }

    /// Central differences over 1e-7 m of lengths of 0.1 m: the second order is 1e-12 and round-off 1e-9 of forces of some 100 N.
    #[test]
    fn the_gradient_is_the_slope_of_the_value_with_and_without_viscosity() {
        for viscosity in [0.0, 0.01] {
            let (network, rest) = network(viscosity);
            let mut energy = NetworkEnergy::new(network);
            energy.begin_step(&rest, 0.02);
            let x = moved(&rest);
            let mut own = vec![Vec3::zeros(); 5];
            energy.evaluate(&x, &mut own);
            let scale = own.iter().map(Vec3::norm).sum::<f64>();
            let mut value = |x: &[Vec3]| energy.evaluate(x, &mut [Vec3::zeros(); 5]);
            for i in 0..15 {
                let (mut ahead, mut back) = (x.clone(), x.clone());
                ahead[i / 3][i % 3] += 1e-7;
                back[i / 3][i % 3] -= 1e-7;
                let derivative = (value(&ahead) - value(&back)) / 2e-7;
                assert!(
                    (derivative - own[i / 3][i % 3]).abs() < 1e-6 * scale,
                    "{i}: {derivative} {}",
                    own[i / 3][i % 3]
                );
            }
        }
    }

    /// At rest the Hessian is exact: there is no moment whose change of direction it would leave out. The blocks are those of the products, and all is symmetric.
    #[test]
    fn the_hessian_at_rest_is_the_slope_of_the_gradient() {
        let (network, rest) = network(0.01);
        let mut energy = NetworkEnergy::new(network);
        energy.begin_step(&rest, 0.02);
        let spring = 0.5 * 30.0;
        energy.update(&rest);
        let mut blocks = vec![Mat3::zeros(); 25];
        energy.for_each_block(&mut |a, b, block| blocks[(5 * a + b) as usize] += block);
        let scale = blocks.iter().map(|block| block.norm()).fold(spring, f64::max);
        for i in 0..15 {
            let mut u = vec![Vec3::zeros(); 5];
            u[i / 3][i % 3] = 1.0;
            let derivative = |step: f64| {
                let x: Vec<Vec3> = rest.iter().zip(&u).map(|(x, u)| x + step * u).collect();
                let mut own = vec![Vec3::zeros(); 5];
                let mut energy = NetworkEnergy::new(energy.network.clone());
                energy.begin_step(&rest, 0.02);
                energy.evaluate(&x, &mut own);
                own
            };
            let (ahead, back) = (derivative(1e-6), derivative(-1e-6));
            let mut product = vec![Vec3::zeros(); 5];
            energy.multiply_exactly(&u, &mut product);
            for n in 0..5 {
                let found = (ahead[n] - back[n]) / 2e-6;
                // the spring is shorter than its place at rest, and slack across: its share is bounded by its tension over its length
                let slack = 30.0 * 0.02 / 0.2;
                assert!(
                    (found - product[n]).norm() < 1e-5 * scale + slack,
                    "{i} {n}: {found} {}",
                    product[n]
                );
                let block = blocks[5 * n + i / 3] * u[i / 3];
                assert!((block - product[n]).norm() < 1e-9 * scale);
                assert!((blocks[5 * n + i / 3] - blocks[5 * (i / 3) + n].transpose()).norm() < 1e-9 * scale);
            }
        }
    }

    /// In any state the Hessian has no negative eigenvalue, to round-off.
    #[test]
    fn the_hessian_is_positive_semi_definite() {
        let (network, rest) = network(0.0);
        let mut energy = NetworkEnergy::new(network);
        for squeeze in [0.5, 0.9, 1.3] {
            let x: Vec<Vec3> = moved(&rest).iter().map(|x| squeeze * x).collect();
            energy.update(&x);
            let mut matrix = sinew_math::nalgebra::DMatrix::<f64>::zeros(15, 15);
            energy.for_each_block(&mut |a, b, block| {
                let mut view = matrix.view_mut((3 * a as usize, 3 * b as usize), (3, 3));
                view += block;
            });
            let values = matrix.symmetric_eigenvalues();
            assert!(values.min() > -1e-9 * values.max(), "{values}");
        }
    }

    /// Elastic and viscous forces have neither a resultant nor a moment.
    #[test]
    fn forces_keep_both_momenta() {
        let (network, rest) = network(0.01);
        let mut energy = NetworkEnergy::new(network);
        let x = moved(&rest);
        let v: Vec<Vec3> = x.iter().map(|x| Vec3::new(3.0 * x.y, -2.0 * x.z, 5.0 * x.x * x.y)).collect();
        let mut own = vec![Vec3::zeros(); 5];
        energy.evaluate_moving(&x, &v, &mut own);
        let scale = own.iter().map(Vec3::norm).sum::<f64>();
        assert!(own.iter().sum::<Vec3>().norm() < 1e-12 * scale);
        let moment: Vec3 = own.iter().zip(&x).map(|(f, x)| x.cross(f)).sum();
        assert!(moment.norm() < 1e-12 * scale);
    }
}
