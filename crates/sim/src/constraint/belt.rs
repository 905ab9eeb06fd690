//! Closed belt through points, as an energy of its length.
//!
//! ```text
//! ℓ = Σ |pᵢ₊₁ − pᵢ|,    E = k/2 (ℓ − L)₊²,    T = k (ℓ − L)₊
//! ∂E/∂pᵢ = T gᵢ,        gᵢ = ∂ℓ/∂pᵢ = nᵢ₋₁ − nᵢ,    nᵢ = (pᵢ₊₁ − pᵢ)/|pᵢ₊₁ − pᵢ|
//! ∂²E/∂p² = k g gᵀ + T Σ (1 − nᵢ nᵢᵀ)/|pᵢ₊₁ − pᵢ|  over pᵢ₊₁ − pᵢ
//! ```
//!
//! Both terms of the Hessian are positive semidefinite. A segment of zero length has no direction and is skipped.

use sinew_math::Vec3;

/// Length, energy and tension of a belt.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BeltForce {
    /// ℓ (m)
    pub(crate) length: f64,
    /// E (J)
    pub(crate) energy: f64,
    /// T (N)
    pub(crate) tension: f64,
}

/// Energy and tension of a belt of stiffness k and natural length L.
pub(crate) fn pull(length: f64, stiffness: f64, own_length: f64) -> BeltForce {
    let stretch = (length - own_length).max(0.0);
    BeltForce { length, energy: 0.5 * stiffness * stretch * stretch, tension: stiffness * stretch }
}

/// ℓ of a loop of points (m).
pub(crate) fn length(points: &[Vec3]) -> f64 {
    (0..points.len()).map(|i| side(points, i).norm()).sum()
}

/// pᵢ₊₁ − pᵢ
pub(crate) fn side(points: &[Vec3], i: usize) -> Vec3 {
    points[(i + 1) % points.len()] - points[i]
}

/// nᵢ, or zero for a segment of zero length.
pub(crate) fn direction(points: &[Vec3], i: usize) -> Vec3 {
    let side = side(points, i);
    let length = side.norm();
    if length > 0.0 { side / length } else { Vec3::zeros() }
}

/// gᵢ
pub(crate) fn length_gradient(points: &[Vec3], i: usize) -> Vec3 {
    direction(points, (i + points.len() - 1) % points.len()) - direction(points, i)
}

/// Rate of elongation (m/s): Σ gᵢ · vᵢ.
pub(crate) fn length_rate(points: &[Vec3], velocities: &[Vec3]) -> f64 {
    (0..points.len()).map(|i| length_gradient(points, i).dot(&velocities[i])).sum()
}

/// Adds the geometric stiffness T Σ (1 − n nᵀ)/|p| times displacements of the points.
pub(crate) fn add_turning(points: &[Vec3], tension: f64, motion: &[Vec3], out: &mut [Vec3]) {
    for i in 0..points.len() {
        let next = (i + 1) % points.len();
        let length = side(points, i).norm();
        if length == 0.0 {
            continue;
        }
        let n = direction(points, i);
        let apart = motion[next] - motion[i];
        let across = (apart - n * n.dot(&apart)) * (tension / length);
        out[next] += across;
        out[i] -= across;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::real;

    fn loop_of(n: usize) -> Vec<Vec3> {
        let place = |i: usize| {
            let a = core::f64::consts::TAU * i as f64 / n as f64;
            Vec3::new(0.3 * real::cos(a), 0.2 * real::sin(a), 0.05 * real::sin(3.0 * a + 0.4))
        };
        (0..n).map(place).collect()
    }

    /// The energy of a belt of 500 N/m with a natural length of 0.9 m.
    fn energy(points: &[Vec3]) -> f64 {
        pull(length(points), 500.0, 0.9).energy
    }

    fn gradient(points: &[Vec3], i: usize) -> Vec3 {
        pull(length(points), 500.0, 0.9).tension * length_gradient(points, i)
    }

    /// Differences of 1e-5 m: truncation errors of their square times third derivatives (k g/|p|, some thousands), and round-off of some 1e-9.
    #[test]
    fn the_gradient_is_that_of_the_energy_and_the_hessian_that_of_the_gradient() {
        let (points, e) = (loop_of(12), 1e-5);
        assert!(length(&points) > 1.0);
        for (i, k) in [(0, 0), (3, 1), (7, 2), (11, 0)] {
            let moved = |by: f64| {
                let mut moved = points.clone();
                moved[i][k] += by;
                moved
            };
            let (ahead, back) = (moved(e), moved(-e));
            let rise = (energy(&ahead) - energy(&back)) / (2.0 * e);
            assert!((gradient(&points, i)[k] - rise).abs() < 1e-5);

            let mut motion = vec![Vec3::zeros(); points.len()];
            motion[i][k] = 1.0;
            let mut product = vec![Vec3::zeros(); points.len()];
            add_turning(&points, pull(length(&points), 500.0, 0.9).tension, &motion, &mut product);
            let grows = 500.0 * length_rate(&points, &motion);
            for j in 0..points.len() {
                let found = product[j] + grows * length_gradient(&points, j);
                let expected = (gradient(&ahead, j) - gradient(&back, j)) / (2.0 * e);
                assert!((found - expected).norm() < 1e-4 * 500.0, "{j}: {found} {expected}");
            }
        }
    }

    /// The forces of a belt have zero resultant and zero moment.
    #[test]
    fn a_belt_pushes_and_turns_nothing_as_a_whole() {
        let points = loop_of(17);
        let force: Vec3 = (0..17).map(|i| gradient(&points, i)).sum();
        let torque: Vec3 = (0..17).map(|i| points[i].cross(&gradient(&points, i))).sum();
        // rounding errors of tensions of some 70 N
        assert!(force.norm() < 1e-12 && torque.norm() < 1e-12);
    }

    #[test]
    fn a_belt_that_is_slack_does_nothing() {
        assert_eq!(pull(0.8, 500.0, 0.9), BeltForce { length: 0.8, energy: 0.0, tension: 0.0 });
    }
}
