//! Lagged contact energy: the energy of one contact with normal and friction limit fixed at the last update.
//!
//! ```text
//! E = k φ(δ) + k ψ(s),     δ = δ₀ − n · (g − g₀),     s = s₀ + (1 − n nᵀ)(g − g₀)
//! φ = δ²/2;  0 for δ < 0
//! ψ = |s|²/2, a straight line beyond |s| = μ λ/k                                    (λ = k φ′(δ₀))
//! ```
//!
//! g is the position of the point relative to the contact surface. Both terms are convex, so their sum never makes the system indefinite. Where ψ is linear, friction slips: its force is Coulomb's limit.

use sinew_contact::Penalty;
use sinew_math::{Mat3, Vec3};

/// A contact as of its last update.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaggedContact {
    /// k (N/m).
    pub(super) stiffness: f64,
    /// n, the outward normal.
    pub(super) normal: Vec3,
    /// g₀, δ₀ and s₀ (m).
    pub(super) gap: Vec3,
    pub(super) depth: f64,
    pub(super) stretch: Vec3,
    /// μ λ (N), and μ.
    pub(super) max_friction: f64,
    pub(super) friction: f64,
}

impl LaggedContact {
    /// A contact with the given law at its update.
    pub(super) fn new(law: &Penalty, normal: Vec3, gap: Vec3, depth: f64, stretch: &Vec3) -> LaggedContact {
        let max_friction = limit(law.friction, law.stiffness * depth);
        let stretch = stretch - stretch.dot(&normal) * normal;
        let (stiffness, friction) = (law.stiffness, law.friction);
        LaggedContact { stiffness, normal, gap, depth, stretch, max_friction, friction }
    }

    /// The friction limit for the normal force at a gap (N); unchanged where friction sticks either way.
    pub(super) fn limit_at(&self, gap: &Vec3) -> f64 {
        let (depth, stretch) = self.at(gap);
        let next = limit(self.friction, self.stiffness * depth);
        let sticks = stretch.norm() * self.stiffness <= next.min(self.max_friction);
        if sticks { self.max_friction } else { next }
    }

    /// δ and s at a gap.
    fn at(&self, gap: &Vec3) -> (f64, Vec3) {
        let moved = gap - self.gap;
        let out = moved.dot(&self.normal);
        (self.depth - out, self.stretch + moved - out * self.normal)
    }

    /// Whether it is in contact at a gap.
    pub(super) fn is_touching(&self, gap: &Vec3) -> bool {
        self.at(gap).0 > 0.0
    }

    /// The energy (J) and its gradient with respect to the gap (N).
    pub(super) fn evaluate(&self, gap: &Vec3) -> (f64, Vec3) {
        let (depth, stretch) = self.at(gap);
        let k = self.stiffness;
        let sprung = depth.max(0.0);
        let mut energy = 0.5 * k * sprung * sprung;
        let mut gradient = -k * sprung * self.normal;
        if self.max_friction > 0.0 {
            let (size, longest) = (stretch.norm(), self.max_friction / k);
            let held = size.min(longest);
            energy += k * held * (size - 0.5 * held);
            if size > 0.0 {
                gradient += stretch * (k * held / size);
            }
        }
        (energy, gradient)
    }

    /// The Hessian with respect to the gap (N/m).
    pub(super) fn hessian(&self, gap: &Vec3) -> Mat3 {
        let (depth, stretch) = self.at(gap);
        let along = self.normal * self.normal.transpose();
        let mut sum = Mat3::zeros();
        if depth > 0.0 {
            sum += self.stiffness * along;
        }
        if self.max_friction > 0.0 {
            let (size, longest) = (stretch.norm(), self.max_friction / self.stiffness);
            let across = Mat3::identity() - along;
            if size <= longest {
                sum += self.stiffness * across;
            } else {
                let way = stretch / size;
                sum += (self.max_friction / size) * (across - way * way.transpose());
            }
        }
        sum
    }

    /// The point of the contact surface that a point at a gap is projected to (m).
    pub(super) fn surface(&self, gap: &Vec3) -> Vec3 {
        gap + self.at(gap).0 * self.normal
    }

    /// Whether friction slips at a gap.
    pub(super) fn slips(&self, gap: &Vec3) -> bool {
        self.at(gap).1.norm() * self.stiffness > self.max_friction
    }

    /// The friction stretch at the end of the step: beyond Coulomb's limit it has slipped.
    pub(super) fn kept_stretch(&self, gap: &Vec3) -> Vec3 {
        let (_, stretch) = self.at(gap);
        let (size, longest) = (stretch.norm(), self.max_friction / self.stiffness);
        if size <= longest { stretch } else { stretch * (longest / size) }
    }
}

/// Coulomb's limit for a normal force (N).
fn limit(friction: f64, normal_force: f64) -> f64 {
    if friction > 0.0 && normal_force > 0.0 { friction * normal_force } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: Penalty = Penalty {
        stiffness: 300.0,
        damping: 0.0,
        friction: 0.5,
        max_depth: f64::INFINITY,
        recovery_speed: f64::INFINITY,
    };

    fn lagged(depth: f64, stretch: Vec3) -> LaggedContact {
        LaggedContact::new(&LAW, Vec3::new(0.48, 0.6, 0.64), Vec3::new(0.1, -0.2, 0.3), depth, &stretch)
    }

    /// Separated, in contact, deep, sticking and slipping: gradients and Hessians agree with finite differences of energies and gradients.
    #[test]
    fn gradient_and_hessian_are_gradients() {
        let step = 1e-6;
        for depth in [-0.004, 0.006, 0.03] {
            for stretch in [0.0005, 0.02] {
                let lagged = lagged(0.01, Vec3::new(stretch, -0.3 * stretch, 0.0));
                let gap = lagged.gap + (lagged.depth - depth) * lagged.normal;
                let (_, gradient) = lagged.evaluate(&gap);
                let hessian = lagged.hessian(&gap);
                for k in 0..3 {
                    let mut by = Vec3::zeros();
                    by[k] = step;
                    let ends = [lagged.evaluate(&(gap + by)), lagged.evaluate(&(gap - by))];
                    let found = (ends[0].0 - ends[1].0) / (2.0 * step);
                    let column = (ends[0].1 - ends[1].1) / (2.0 * step);
                    // energies of 0.1 J to sixteen digits over 2 µm leave 1e-9 N; the third derivative of |s| at 0.5 mm is below k/s², whose part is k step²/s²
                    assert!((found - gradient[k]).abs() < 1e-6, "{depth} {stretch}: {found} {}", gradient[k]);
                    assert!((column - hessian.column(k)).norm() < 1e-3 * LAW.stiffness, "{depth} {stretch}");
                }
            }
        }
    }

    /// The law of explicit steps without damping: the same force, and the same anchor after it.
    #[test]
    fn it_pushes_as_springs_do_in_explicit_steps() {
        for stretch in [Vec3::new(0.002, 0.001, 0.0), Vec3::new(0.1, 0.0, -0.1)] {
            let lagged = lagged(0.01, stretch);
            let push = LAW.force(0.01, &lagged.normal, &Vec3::zeros(), &stretch);
            let (_, gradient) = lagged.evaluate(&lagged.gap);
            assert!((push.force + gradient).norm() < 1e-12, "{push:?} {gradient:?}");
            assert!((push.stretch - lagged.kept_stretch(&lagged.gap)).norm() < 1e-15);
        }
    }

    #[test]
    fn nothing_slides_without_friction_and_nothing_slips_with_endless_friction() {
        let away = Vec3::new(0.3, 0.2, 0.1);
        let slides = LaggedContact { max_friction: 0.0, ..lagged(0.01, away) };
        assert!(slides.evaluate(&slides.gap).1.cross(&slides.normal).norm() < 1e-12);
        let rough = Penalty { friction: f64::INFINITY, ..LAW };
        let holds = LaggedContact::new(&rough, Vec3::y(), Vec3::zeros(), 0.01, &away);
        assert!((holds.evaluate(&Vec3::zeros()).1 - Vec3::new(90.0, -3.0, 30.0)).norm() < 1e-12);
        assert!(holds.hessian(&Vec3::zeros()).iter().all(|x| x.is_finite()));
        assert_eq!(holds.kept_stretch(&Vec3::zeros()), Vec3::new(0.3, 0.0, 0.1));
    }
}
