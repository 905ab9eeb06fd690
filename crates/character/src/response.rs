//! Shock response spectrum: the largest swing of a damped oscillator whose base follows a path.
//!
//! ```text
//! ü + 2 ζ ω u̇ + ω² u = −p̈                                           [HarrisPiersol2002, ch. 23]
//! ```
//!
//! integrated by Newmark's method with constant average acceleration, which is stable for any ω.

use sinew_math::Vec3;

/// The fraction of the time whose larger swings are left out: a pop in the motion is not what flesh is made for.
const PEAKS_LEFT_OUT: f64 = 0.02;

/// The swing |u| (m) of an oscillator of frequency ω (rad/s) and damping ratio ζ that is exceeded in a fiftieth of the time. The base is at `path` (m) every `dt` (s); the oscillator starts at rest on it.
pub(crate) fn peak_swing(path: &[Vec3], dt: f64, omega: f64, damping_ratio: f64) -> f64 {
    let (c, k) = (2.0 * damping_ratio * omega, omega * omega);
    let (mut u, mut v, mut a) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
    let mut swings = Vec::with_capacity(path.len());
    for i in 1..path.len().saturating_sub(1) {
        let base = (path[i + 1] - 2.0 * path[i] + path[i - 1]) / (dt * dt);
        let (v_half, u_half) = (v + 0.5 * dt * a, u + dt * v + 0.25 * dt * dt * a);
        let next = (-base - c * v_half - k * u_half) / (1.0 + 0.5 * dt * c + 0.25 * dt * dt * k);
        (u, v, a) = (u_half + 0.25 * dt * dt * next, v_half + 0.5 * dt * next, next);
        swings.push(u.norm());
    }
    swings.sort_unstable_by(f64::total_cmp);
    let place = ((1.0 - PEAKS_LEFT_OUT) * swings.len() as f64) as usize;
    swings.get(place.min(swings.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A base that shakes slowly moves the oscillator by p̈/ω² (1 + O((Ω/ω)²)); with Ω/ω = 1/20 the correction is below 1 %.
    #[test]
    fn slow_shaking_swings_by_acceleration_over_frequency_squared() {
        let (dt, omega, shake, amplitude) = (1.0 / 240.0, 40.0, 2.0, 0.3);
        let path: Vec<Vec3> = (0..4000)
            .map(|i| Vec3::x() * amplitude * sinew_math::real::sin(shake * dt * f64::from(i)))
            .collect();
        let swing = peak_swing(&path, dt, omega, 0.3);
        let wanted = amplitude * shake * shake / (omega * omega);
        assert!((swing / wanted - 1.0).abs() < 0.01, "{swing} {wanted}");
    }

    /// At resonance the amplitude is 1/(2 ζ) times that of the base.
    #[test]
    fn resonance_is_limited_by_damping() {
        let (dt, omega, amplitude) = (1.0 / 960.0, 10.0, 0.01);
        let path: Vec<Vec3> = (0..40_000)
            .map(|i| Vec3::y() * amplitude * sinew_math::real::sin(omega * dt * f64::from(i)))
            .collect();
        let swing = peak_swing(&path, dt, omega, 0.2);
        assert!((swing / (amplitude / 0.4) - 1.0).abs() < 0.01, "{swing}");
    }

    #[test]
    fn a_still_base_and_no_base_swing_nothing() {
        assert_eq!(peak_swing(&[Vec3::x(); 10], 0.1, 5.0, 0.2), 0.0);
        assert_eq!(peak_swing(&[], 0.1, 5.0, 0.2), 0.0);
    }
}
