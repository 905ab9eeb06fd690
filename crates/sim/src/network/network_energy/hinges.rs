//! Hinges of a sheet, whose angles have a common energy ([`Bending`]).

use super::super::node_sums::NodeSums;
use super::CHUNK;
use super::strains::{Rates, gather};
use sinew_flesh::network::{Bending, Hinge};
use sinew_math::parallel::for_each_part;
use sinew_math::{Mat3, Vec3};

/// The hinges of a sheet, with workspace.
#[derive(Debug)]
pub(super) struct Hinges {
    pub(super) sums: NodeSums,
    /// θₙ − θ₀ at the reference.
    reference: Vec<f64>,
    /// θ − θ₀ with its rate, and without.
    effective: Vec<f64>,
    angles: Vec<f64>,
    gradients: Vec<[Vec3; 4]>,
    corners: Vec<Vec3>,
    /// Gradients of angles at the last update.
    rows: Vec<[Vec3; 4]>,
}

impl Hinges {
    pub(super) fn new(bending: &Bending, node_count: usize) -> Hinges {
        let count = bending.hinges.len();
        let nodes = bending.hinges.iter().flat_map(|hinge| hinge.nodes);
        Hinges {
            sums: NodeSums::build(node_count, nodes),
            reference: vec![0.0; count],
            effective: vec![0.0; count],
            angles: vec![0.0; count],
            gradients: vec![[Vec3::zeros(); 4]; count],
            corners: vec![Vec3::zeros(); 4 * count],
            rows: Vec::new(),
        }
    }

    /// Computes the gradients of all corners at node positions (m); returns the energy (J).
    pub(super) fn evaluate(&mut self, bending: &Bending, x: &[Vec3], rates: Rates) -> f64 {
        let Hinges { reference, effective, angles, gradients, corners, .. } = self;

        // angles, and what their rates add
        let all = (effective.as_mut_slice(), (angles.as_mut_slice(), gradients.as_mut_slice()));
        for_each_part(all, CHUNK, |first, (effective, (angles, gradients))| {
            for (i, hinge) in bending.hinges[first..].iter().take(angles.len()).enumerate() {
                let corners = gather(&hinge.nodes, x);
                angles[i] = Hinge::angle(&corners) - hinge.rest_angle;
                gradients[i] = Hinge::gradients(&corners);
                effective[i] = angles[i]
                    + match rates {
                        Rates::SinceReference { growth } => growth * (angles[i] - reference[first + i]),
                        Rates::OfVelocities { v, viscosity } => {
                            let v = gather(&hinge.nodes, v);
                            viscosity * (0..4).map(|n| gradients[i][n].dot(&v[n])).sum::<f64>()
                        }
                    };
            }
        });

        // moments
        let (effective, gradients) = (&*effective, &*gradients);
        for_each_part(corners.as_chunks_mut::<4>().0, CHUNK, |first, corners| {
            for (i, corners) in corners.iter_mut().enumerate() {
                let moment = bending.moment(first + i, effective);
                *corners = gradients[first + i].map(|gradient| moment * gradient);
            }
        });

        // the energy
        let growth = if let Rates::SinceReference { growth } = rates { growth } else { 0.0 };
        let mut sum = 0.0;
        bending.for_each_coupling(|i, j, stiffness| {
            let change = growth * (angles[i] - reference[i]) * (angles[j] - reference[j]);
            sum += 0.5 * stiffness * (angles[i] * angles[j] + change);
        });
        sum
    }

    /// The gradient of a node (N).
    #[inline]
    pub(super) fn gradient_at(&self, node: usize) -> Vec3 {
        self.sums.at(node, &self.corners)
    }

    /// Sets θₙ to the angles at node positions (m).
    pub(super) fn set_reference(&mut self, bending: &Bending, x: &[Vec3]) {
        for (own, hinge) in self.reference.iter_mut().zip(&bending.hinges) {
            *own = Hinge::angle(&gather(&hinge.nodes, x)) - hinge.rest_angle;
        }
    }

    /// Extrapolates θₙ through the angles at node positions (m).
    pub(super) fn extrapolate_reference(&mut self, bending: &Bending, x: &[Vec3], s: f64) {
        for (own, hinge) in self.reference.iter_mut().zip(&bending.hinges) {
            let next = Hinge::angle(&gather(&hinge.nodes, x)) - hinge.rest_angle;
            *own += s * (next - *own);
        }
    }

    /// Computes J at node positions (m).
    pub(super) fn update(&mut self, bending: &Bending, x: &[Vec3]) {
        self.rows.resize(bending.hinges.len(), [Vec3::zeros(); 4]);
        for (row, hinge) in self.rows.iter_mut().zip(&bending.hinges) {
            *row = Hinge::gradients(&gather(&hinge.nodes, x));
        }
    }

    /// Corners of Jᵀ D J u, with D scaled by 1 + β/h.
    pub(super) fn multiply(
        &self,
        bending: &Bending,
        (u, growth): (&[Vec3], f64),
        changes: &mut [f64],
        corners: &mut [Vec3],
    ) {
        let rows = &self.rows;
        for_each_part(&mut *changes, CHUNK, |first, changes| {
            for (i, change) in changes.iter_mut().enumerate() {
                let u = gather(&bending.hinges[first + i].nodes, u);
                *change = growth * (0..4).map(|n| rows[first + i][n].dot(&u[n])).sum::<f64>();
            }
        });
        let changes = &*changes;
        for_each_part(corners.as_chunks_mut::<4>().0, CHUNK, |first, corners| {
            for (i, corners) in corners.iter_mut().enumerate() {
                let moment = bending.moment(first + i, changes);
                *corners = rows[first + i].map(|row| moment * row);
            }
        });
    }

    /// Calls `visit` with the blocks of Jᵀ D J.
    pub(super) fn for_each_block(
        &self,
        bending: &Bending,
        growth: f64,
        visit: &mut dyn FnMut(u32, u32, &Mat3),
    ) {
        bending.for_each_coupling(|i, j, stiffness| {
            let [first, second] = [i, j].map(|hinge| bending.hinges[hinge].nodes);
            for (a, left) in first.iter().zip(&self.rows[i]) {
                for (b, right) in second.iter().zip(&self.rows[j]) {
                    visit(*a, *b, &((growth * stiffness * left) * right.transpose()));
                }
            }
        });
    }
}
