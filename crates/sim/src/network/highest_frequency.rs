//! The highest frequency of a network at rest, by power iteration, and the viscosity and the stable step that go with it.

use super::Network;
use super::network_energy::NetworkEnergy;
use crate::node_energy::NodeEnergy;
use crate::pseudo_random::pseudo_random_vectors;
use sinew_math::Vec3;
use std::sync::Arc;

/// Iterations. Rayleigh's quotient approaches the highest eigenvalue from below: after these it is within 2 % on the sheets tried, half of that in the frequency, and the safety of the step covers more.
const ITERATIONS: usize = 60;
/// Green's strain makes triangles stiffer as they are stretched, by 3λ² − 2 along the stretch λ: half as much again at 8 %. What is stretched by more takes steps again with twice the sub-steps.
const STIFFENING: f64 = 1.5;
/// Damping ratio of the highest frequency due to viscosity, as for flesh.
const HIGHEST_DAMPING_RATIO: f64 = 0.1;

/// What the step of a network depends on.
pub(super) struct Frequency {
    /// β (s)
    pub(super) viscosity: f64,
    /// The frequency without viscosity that has the same stable step (rad/s).
    pub(super) effective: f64,
}

impl Frequency {
    /// Of a network of points at rest (m) with masses (kg).
    pub(super) fn of(network: &Network, rest: &[Vec3], mass: &[f64]) -> Frequency {
        let highest = highest(network, rest, mass);
        if highest == 0.0 {
            return Frequency { viscosity: 0.0, effective: 0.0 };
        }
        let viscosity = if network.damping_rate > 0.0 { 2.0 * HIGHEST_DAMPING_RATIO / highest } else { 0.0 };
        let stiffened = highest * STIFFENING.sqrt();
        let ratio = 0.5 * viscosity * stiffened;
        // h < 2/ω (√(1 + ξ²) − ξ)
        Frequency { viscosity, effective: stiffened / ((1.0 + ratio * ratio).sqrt() - ratio) }
    }
}

/// ω of the highest mode at rest (rad/s), by iterations with M^(−1/2) K M^(−1/2).
fn highest(network: &Network, rest: &[Vec3], mass: &[f64]) -> f64 {
    let mut energy = NetworkEnergy::new(Arc::new(network.clone()));
    energy.update(rest);
    let root: Vec<f64> = mass.iter().map(|mass| 1.0 / mass.sqrt()).collect();
    let mut u: Vec<Vec3> = pseudo_random_vectors().take(rest.len()).collect();
    let (mut out, mut value) = (u.clone(), 0.0);
    for _ in 0..ITERATIONS {
        let length = u.iter().map(Vec3::norm_squared).sum::<f64>().sqrt();
        if length == 0.0 {
            return 0.0;
        }
        u.iter_mut().zip(&root).for_each(|(u, root)| *u *= *root / length);
        energy.multiply_exactly(&u, &mut out);
        // |K u| in the norm of the iteration
        out.iter_mut().zip(&root).for_each(|(out, root)| *out *= *root);
        value = out.iter().map(Vec3::norm_squared).sum::<f64>().sqrt();
        core::mem::swap(&mut u, &mut out);
    }
    value.sqrt()
}
