//! Contact response: penalty springs with damping, and Coulomb friction with an elastic anchor.
//!
//! A spring and a damper along the normal, and a tangential spring that slips. The coefficients are relative to the mass m of a contact point and the step h: stiffness κ m/h², damping γ m/h. \[KimPollard2011, §5\]

use sinew_math::Vec3;

/// The force law of one contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty {
    /// Stiffness k of both springs (N/m).
    pub stiffness: f64,
    /// Damping c of both (N s/m). The normal force never becomes attractive.
    pub damping: f64,
    /// Coulomb friction coefficient μ.
    pub friction: f64,
    /// The normal spring force saturates at this depth (m).
    pub max_depth: f64,
    /// The normal spring does not push surfaces apart faster than this (m/s): its force falls to zero there.
    pub recovery_speed: f64,
}

/// The force of a contact and the state of its friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce {
    /// The force on the point (N).
    pub force: Vec3,
    /// The tangential stretch of the friction spring after slipping (m).
    pub stretch: Vec3,
    /// Whether it slips.
    pub slips: bool,
}

/// Stiffness and damping, for a contact point of mass m and a step h.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// Stiffness κ, in units of m/h².
    pub stiffness: f64,
    /// Damping γ, in units of m/h.
    pub damping: f64,
}

impl Penalty {
    /// Springs soft enough not to reduce the stable step.
    ///
    /// Symplectic Euler is stable while the sum of κ + 2γ over all springs and dampers that act on a mass is below 4. A step that is a fraction s of the longest stable one uses up to 4 s² of it for
    /// elasticity (more with viscosity, whose part is linear in s): at s = 0.9 and a viscosity of a tenth of critical at the highest frequency 0.65 is left. κ = 0.35, γ = 0.15 use all of it.
    pub const STRENGTH: Strength = Strength { stiffness: 0.35, damping: 0.15 };

    /// The law for a contact point of mass m (kg) and a step h (s).
    #[inline]
    pub fn stable(mass: f64, h: f64, friction: f64, max_depth: f64) -> Penalty {
        let Strength { stiffness, damping } = Penalty::STRENGTH;
        Penalty {
            stiffness: stiffness * mass / (h * h),
            damping: damping * mass / h,
            friction,
            max_depth,
            recovery_speed: f64::INFINITY,
        }
    }

    /// ```text
    /// fₙ = max(0, k min(δ, δ_max) r − c vₙ),    f_t = −k s − c v_t,  but |f_t| ≤ μ fₙ         [Faloutsos1995, eq. 4.24, 4.25]
    /// r = 1 − vₙ/v_r,  from 0 to 1
    /// ```
    ///
    /// `velocity` is that of the point relative to the obstacle (m/s), `stretch` the tangential offset from the friction anchor (m). Beyond Coulomb's limit the anchor slips until the force is at the
    /// limit, so that nothing creeps at rest.
    // inlined: vectors that are passed in memory cost half as much as the force
    #[inline(always)]
    pub fn force(&self, depth: f64, normal: &Vec3, velocity: &Vec3, stretch: &Vec3) -> ContactForce {
        let speed = velocity.dot(normal);
        let spring = self.stiffness * depth.min(self.max_depth);
        let is_limited = self.recovery_speed != f64::INFINITY;
        let recovery = if is_limited { (1.0 - speed / self.recovery_speed).clamp(0.0, 1.0) } else { 1.0 };
        let normal_force = (spring * recovery - self.damping * speed).max(0.0);
        let (tangential, stretch) = (velocity - speed * normal, stretch - stretch.dot(normal) * normal);
        if self.friction == 0.0 || normal_force == 0.0 {
            return ContactForce { force: normal_force * normal, stretch: Vec3::zeros(), slips: true };
        }
        let friction = -self.stiffness * stretch - self.damping * tangential;
        let (size, limit) = (friction.norm(), self.friction * normal_force);
        if size <= limit {
            return ContactForce { force: normal_force * normal + friction, stretch, slips: false };
        }
        let friction = friction * (limit / size);
        // k s + c v = −f
        let stretch = -(friction + self.damping * tangential) / self.stiffness;
        let longest = limit / self.stiffness;
        let stretch = if stretch.norm() > longest { stretch * (longest / stretch.norm()) } else { stretch };
        ContactForce { force: normal_force * normal + friction, stretch, slips: true }
    }

    /// Potential energy of the springs (J).
    pub fn energy(&self, depth: f64, stretch: &Vec3) -> f64 {
        let sprung = depth.min(self.max_depth);
        let normal = self.stiffness * sprung * (0.5 * sprung + (depth - sprung));
        let tangential =
            if self.friction == 0.0 { 0.0 } else { 0.5 * self.stiffness * stretch.norm_squared() };
        normal + tangential
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: Penalty = Penalty {
        stiffness: 200.0,
        damping: 1.5,
        friction: 0.4,
        max_depth: 0.05,
        recovery_speed: f64::INFINITY,
    };

    /// Without slip and motion the force is minus the gradient of the energy: both springs, below and above the saturation depth.
    #[test]
    fn the_force_is_minus_the_gradient_of_the_energy() {
        let law = Penalty { friction: f64::INFINITY, ..LAW };
        let normal = Vec3::new(0.6, 0.8, 0.0);
        for depth in [0.01, 0.04, 0.08] {
            let stretch = Vec3::new(-0.008, 0.006, 0.003);
            let force = law.force(depth, &normal, &Vec3::zeros(), &stretch).force;
            // along the normal the depth decreases, across it the stretch grows
            let step = 1e-7;
            let energy = |moved: Vec3| {
                let out = moved.dot(&normal);
                law.energy(depth - out, &(stretch + moved - out * normal))
            };
            for k in 0..3 {
                let mut by = Vec3::zeros();
                by[k] = step;
                let derivative = (energy(by) - energy(-by)) / (2.0 * step);
                assert!((derivative + force[k]).abs() < 1e-6 * force.norm(), "{derivative} {force:?}");
            }
        }
    }

    #[test]
    fn friction_stays_within_the_coulomb_limit() {
        for (speed, stretch) in [(0.0, 0.0), (0.3, 0.0), (0.0, 0.2), (-2.0, 0.01), (1e6, 1.0)] {
            let (velocity, stretch) = (Vec3::new(speed, 0.0, 0.1 * speed), Vec3::new(stretch, 0.0, 0.0));
            let push = LAW.force(0.02, &Vec3::y(), &velocity, &stretch);
            let tangential = Vec3::new(push.force.x, 0.0, push.force.z);
            assert!(tangential.norm() <= 0.4 * push.force.y * (1.0 + 1e-12));
            assert!(push.stretch.norm() * LAW.stiffness <= 0.4 * push.force.y * (1.0 + 1e-12) || !push.slips);
        }
        let free = Penalty { friction: 0.0, ..LAW }.force(0.02, &Vec3::y(), &Vec3::x(), &Vec3::x());
        assert_eq!(free.force, Vec3::y() * 4.0);
        let stuck =
            Penalty { friction: f64::INFINITY, ..LAW }.force(0.02, &Vec3::y(), &Vec3::zeros(), &Vec3::x());
        assert!(!stuck.slips && (stuck.force.x + 200.0).abs() < 1e-9);
    }

    #[test]
    fn contacts_never_attract() {
        let leaving = LAW.force(0.001, &Vec3::y(), &(Vec3::y() * 10.0), &Vec3::zeros());
        assert_eq!(leaving.force, Vec3::zeros());
    }

    /// A single mass on a floor: symplectic Euler with the strength of the law adds no energy, and it rebounds more slowly than it fell.
    #[test]
    fn a_mass_that_falls_onto_a_floor_gains_no_energy() {
        let (mass, h) = (0.3, 1e-3);
        let law = Penalty::stable(mass, h, 0.0, 1.0);
        let (mut x, mut v) = (0.01, -2.0f64);
        for _ in 0..2000 {
            let force = if x < 0.0 {
                law.force(-x, &Vec3::y(), &(Vec3::y() * v), &Vec3::zeros()).force.y
            } else {
                0.0
            };
            v += h * force / mass;
            x += h * v;
        }
        assert!(v > 0.0 && v <= 2.0 && x > 0.0, "{v} {x}");
    }
}
