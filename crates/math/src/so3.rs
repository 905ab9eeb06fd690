//! Exponential and logarithmic map of SO(3), and the right Jacobian of the exponential with its inverse.
//!
//! ```text
//! exp θ = (sin(|θ|/2) θ/|θ|, cos(|θ|/2))        as a unit quaternion
//! log (exp θ) = θ                               for |θ| ≤ π
//! ```
//!
//! The functions use only [`crate::real`] and exactly rounded operations, so the bits agree on every platform.

use crate::{Mat3, Rotation, Vec3, nalgebra::Quaternion, nalgebra::Unit, real};

/// Below this squared angle (rad²) two terms of the Taylor series are exact to round-off: the third is under x²/1920 < 10⁻¹⁶.
const SMALL_SQUARED: f64 = 1e-7;

/// The rotation by |θ| (rad) about θ.
#[inline]
pub fn exp(theta: &Vec3) -> Rotation {
    let squared = theta.norm_squared();
    let (sinc, w) = if squared < SMALL_SQUARED {
        (0.5 - squared / 48.0, 1.0 - squared / 8.0)
    } else {
        let angle = squared.sqrt();
        (real::sin(0.5 * angle) / angle, real::cos(0.5 * angle))
    };
    Unit::new_normalize(Quaternion::new(w, sinc * theta.x, sinc * theta.y, sinc * theta.z))
}

/// The shortest rotation vector θ (rad) with exp θ equal to the rotation, |θ| ≤ π.
#[inline]
pub fn log(rotation: &Rotation) -> Vec3 {
    let q = rotation.quaternion();
    let (axis, w) = if q.w < 0.0 { (-q.imag(), -q.w) } else { (q.imag(), q.w) };
    let sine = axis.norm();
    // atan(s/w)/s = 1/w (1 − (s/w)²/3 + …)
    let scale = if sine < 1e-4 {
        2.0 / w * (1.0 - sine * sine / (3.0 * w * w))
    } else {
        2.0 * real::atan2(sine, w) / sine
    };
    axis * scale
}

/// Rodrigues' formula: the rotation matrix for an angle φ (rad) about a unit axis a, `R = 1 + sin φ [a] + (1 − cos φ) [a]²`.
#[inline]
pub fn axis_angle(axis: &Vec3, angle: f64) -> Mat3 {
    let (s, c) = (real::sin(angle), real::cos(angle));
    let t = 1.0 - c;
    let Vec3 { data, .. } = *axis;
    let [x, y, z] = data.0[0];
    Mat3::new(
        c + t * x * x,
        t * x * y - s * z,
        t * x * z + s * y,
        t * x * y + s * z,
        c + t * y * y,
        t * y * z - s * x,
        t * x * z - s * y,
        t * y * z + s * x,
        c + t * z * z,
    )
}

/// Jr⁻ᵀ g, with the right Jacobian Jr of exp at θ: maps a gradient ∂E/∂θ to the work-conjugate torque in body axes.
///
/// ```text
/// θ̇ = Jr⁻¹ ω,   Jr⁻ᵀ = 1 − [θ]/2 + γ [θ]²,   γ = (1 − (|θ|/2) cot(|θ|/2)) / |θ|²
/// ```
#[inline]
pub fn torque_of_gradient(theta: &Vec3, gradient: &Vec3) -> Vec3 {
    let squared = theta.norm_squared();
    let gamma = if squared < SMALL_SQUARED {
        1.0 / 12.0 + squared / 720.0
    } else {
        let half = 0.5 * squared.sqrt();
        (1.0 - half * real::cos(half) / real::sin(half)) / squared
    };
    let once = theta.cross(gradient);
    gradient - 0.5 * once + gamma * theta.cross(&once)
}

/// θ̇ = Jr⁻¹ ω: the rate of the rotation vector θ of a frame with angular velocity ω (rad/s) in body axes. Jr⁻¹(θ) is Jr⁻ᵀ(−θ).
#[inline]
pub fn rate_of_log(theta: &Vec3, omega: &Vec3) -> Vec3 {
    torque_of_gradient(&-theta, omega)
}

/// ω = Jr θ̇: the angular velocity (rad/s) in body axes of a frame whose rotation vector θ changes at a rate; the inverse of [`rate_of_log`].
///
/// ```text
/// Jr = 1 − (1 − cos φ)/φ² [θ] + (φ − sin φ)/φ³ [θ]²,   φ = |θ|
/// ```
#[inline]
pub fn velocity_of_log(theta: &Vec3, rate: &Vec3) -> Vec3 {
    let squared = theta.norm_squared();
    let (first, second) = if squared < SMALL_SQUARED {
        (0.5 - squared / 24.0, 1.0 / 6.0 - squared / 120.0)
    } else {
        // 1 − cos φ = 2 sin² φ/2 does not cancel
        let angle = squared.sqrt();
        let half = real::sin(0.5 * angle) / angle;
        (2.0 * half * half, (1.0 - real::sin(angle) / angle) / squared)
    };
    let once = theta.cross(rate);
    rate - first * once + second * theta.cross(&once)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a central difference, whose error is h² = 10⁻¹⁰.
    #[test]
    fn rate_of_log_is_the_derivative_of_log() {
        let (theta, omega, h) = (Vec3::new(0.9, -1.4, 0.7), Vec3::new(0.2, 1.0, -0.5), 1e-5);
        let at = |t: f64| log(&(exp(&theta) * exp(&(omega * t))));
        let rate = (at(h) - at(-h)) / (2.0 * h);
        assert!((rate - rate_of_log(&theta, &omega)).norm() < 1e-9);
    }

    /// φ − sin φ loses about 6/φ² ε to cancellation, and the term it scales is φ² as large: a few ε whatever the angle.
    #[test]
    fn velocity_of_log_inverts_rate_of_log() {
        let (axis, omega) = (Vec3::new(0.5, -0.8, 0.4).normalize(), Vec3::new(0.2, 1.0, -0.5));
        for angle in [0.0, 1e-9, 3.1e-4, 3.2e-4, 0.01, 1.0, 3.1] {
            let theta = axis * angle;
            let again = velocity_of_log(&theta, &rate_of_log(&theta, &omega));
            assert!((again - omega).norm() < 64.0 * f64::EPSILON, "{angle}");
        }
    }

    #[test]
    fn log_inverts_exp_for_angles_from_zero_to_pi() {
        let axis = Vec3::new(1.0, -2.0, 0.5).normalize();
        for angle in [0.0, 1e-12, 1e-6, 1e-4, 3.1e-4, 3.2e-4, 0.1, 1.0, 3.0, 3.13] {
            let theta = axis * angle;
            // near π the scalar part w vanishes and the sine determines the angle: a few ε of error
            assert!((log(&exp(&theta)) - theta).norm() <= 8.0 * f64::EPSILON, "{angle}");
        }
    }

    #[test]
    fn rodrigues_matrix_agrees_with_the_quaternion() {
        let axis = Vec3::new(0.3, 0.4, -0.8).normalize();
        for angle in [-7.0, -1.0, 1e-9, 0.3, 2.0, 5.0] {
            let matrix = exp(&(axis * angle)).to_rotation_matrix().into_inner();
            assert!((matrix - axis_angle(&axis, angle)).amax() < 8.0 * f64::EPSILON);
        }
    }

    /// d/dt E(log(R exp(t ω))) = ω · torque for E = g · θ, against a central difference whose error is h² = 10⁻¹⁰.
    #[test]
    fn torque_of_gradient_is_work_conjugate_to_the_gradient() {
        let (theta, g, h) = (Vec3::new(0.9, -1.4, 0.7), Vec3::new(0.2, 1.0, -0.5), 1e-5);
        let torque = torque_of_gradient(&theta, &g);
        for i in 0..3 {
            let step = Vec3::ith(i, h);
            let value = |step: Vec3| g.dot(&log(&(exp(&theta) * exp(&step))));
            let derivative = (value(step) - value(-step)) / (2.0 * h);
            assert!((derivative - torque[i]).abs() < 1e-9);
        }
    }
}
