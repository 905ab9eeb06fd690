//! Feedback of torque-driven joints towards a path: a spring and a damper at the end of a step, known as stable PD control.   \[TanLiuTurk2011\]
//!
//! ```text
//! τ = τ₀ + s (k (x* − x') + d (ẋ* − ẋ')),    x' = x + h v',   v' = v + h a
//!   = τ₀ + s (k (x* − x − h v) + d (ẋ* − v)) − s h (d + h k) a
//! ```
//!
//! with x* and ẋ* of the path at the end of the step. Whatever the gains and the inertia of the joint, such as that of a thin bone in thick flesh about its own length, the step is stable: torques that are found once per
//! frame for the inertia of a limb turn its bone by far too much before the flesh follows. s ≤ 1 keeps the torque within a bound.

/// The feedback of one degree of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// k: torque per deviation from the path (N m/rad or N/m).
    pub stiffness: f64,
    /// d: torque per velocity relative to the path (N m s or N s/m).
    pub damping: f64,
    /// The largest sum of torque and feedback (N m or N); infinite for no bound.
    pub max_torque: f64,
}

impl Default for Feedback {
    /// None.
    fn default() -> Feedback {
        Feedback { stiffness: 0.0, damping: 0.0, max_torque: f64::INFINITY }
    }
}

impl Feedback {
    /// Whether it does anything.
    #[inline]
    pub fn acts(&self) -> bool {
        self.stiffness > 0.0 || self.damping > 0.0
    }

    /// Whether its gains are finite and not negative, and its bound is not negative.
    pub fn is_sound(&self) -> bool {
        let is_gain = |gain: f64| gain >= 0.0 && gain.is_finite();
        is_gain(self.stiffness) && is_gain(self.damping) && self.max_torque >= 0.0
    }

    /// s: the fraction of the feedback that is left beside a torque, for a joint at `off` from the path at the end of a step of `h` (s), x* − x, with the velocity `v` where the path has `v_path`.
    #[inline]
    pub(crate) fn kept(&self, torque: f64, off: f64, [v, v_path]: [f64; 2], h: f64) -> f64 {
        let force = self.force(off, [v, v_path], h);
        let room = if force > 0.0 { self.max_torque - torque } else { self.max_torque + torque };
        if force.abs() > room.max(0.0) { room.max(0.0) / force.abs() } else { 1.0 }
    }

    #[inline]
    fn force(&self, off: f64, [v, v_path]: [f64; 2], h: f64) -> f64 {
        self.stiffness * (off - h * v) + self.damping * (v_path - v)
    }

    /// The torque without the term in the acceleration a, and the drag D of that term: τ = τ' − D a.
    #[inline]
    pub fn at_end_of_step(&self, torque: f64, off: f64, velocities: [f64; 2], h: f64) -> (f64, f64) {
        let kept = self.kept(torque, off, velocities, h);
        let drag = h * (self.damping + h * self.stiffness);
        (torque + kept * self.force(off, velocities, h), kept * drag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A joint of inertia I without another force: τ' − D a = I a is the torque of the formula at the end of the step.
    #[test]
    fn the_torque_is_that_at_the_end_of_the_step() {
        let own = Feedback { stiffness: 40.0, damping: 3.0, max_torque: f64::INFINITY };
        let (inertia, h, x, v, goal, rate, torque) = (0.02, 0.01, 0.3, -1.0, 0.5, 0.4, 0.7);
        let (explicit, drag) = own.at_end_of_step(torque, goal - x, [v, rate], h);
        let a = explicit / (inertia + drag);
        let v_next = v + h * a;
        let expected = torque + 40.0 * (goal - x - h * v_next) + 3.0 * (rate - v_next);
        assert!((expected - inertia * a).abs() < 1e-12, "{expected} {}", inertia * a);
    }

    /// Gains a million times the inertia leave a joint that is off neither beyond the path nor faster than it was to go.
    #[test]
    fn no_gain_is_too_large_for_a_light_joint() {
        let own = Feedback { stiffness: 1e4, damping: 1e3, max_torque: f64::INFINITY };
        let (inertia, h) = (1e-3, 1e-2);
        let (mut x, mut v) = (1.0, 50.0);
        for _ in 0..100 {
            let (explicit, drag) = own.at_end_of_step(0.0, -x, [v, 0.0], h);
            v += h * explicit / (inertia + drag);
            x += h * v;
            assert!(x.abs() < 1.01 && v.abs() < 10.0, "{x} {v}");
        }
        assert!(x.abs() < 1e-3, "{x}");
    }

    #[test]
    fn the_sum_stays_within_the_bound() {
        let own = Feedback { stiffness: 40.0, damping: 3.0, max_torque: 2.0 };
        for (torque, off, v) in [(1.5, 1.0, 0.0), (-2.0, 1.0, 5.0), (2.0, 0.3, 0.0), (-1.0, -4.0, 2.0)] {
            let (found, drag) = own.at_end_of_step(torque, off, [v, 0.0], 0.01);
            assert!(found.abs() <= 2.0 + 1e-12 && drag >= 0.0, "{found} {drag}");
        }
        assert_eq!(own.at_end_of_step(2.0, 1.0, [0.0; 2], 0.01), (2.0, 0.0));
    }
}
