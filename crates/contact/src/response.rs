//! What a touch does: forces along and across the way out.
//!
//! All answers are one law, a spring and a damper along the normal and a spring across it that slips, with other numbers. They are given in parts of what moves
//! the mass m that stands behind a touching point in a step of h: stiffness κ m/h², damping γ m/h.

use sinew_math::Vec3;

/// How touches are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Response {
    /// Springs: soft enough to leave the stable step as it is.                            [KimPollard2011, §5]
    ///
    /// Symplectic Euler stays stable while κ + 2γ of all springs and dampers that act on a mass together is below 4. A step that is a fraction s
    /// of the longest one uses up to 4 s² of it for elasticity (more where there is viscosity, whose part falls with s only): at s = 0.9 and a
    /// viscosity of a tenth of critical at the highest frequency 0.65 are left. κ = 0.35, γ = 0.15 take them all.
    #[default]
    Penalty,
    /// The deepest point of each cell is put onto the surface by the end of the step: κ = γ = 1.     [KimPollard2011, §5]
    Projection,
    /// The velocity into the obstacle is turned round at once, and a fifth of the depth is taken back in each step.    [Transue2014, §III]
    Impulse {
        /// Which fraction of the velocity comes back, from 0 to 1.
        restitution: f64,
    },
}

/// The law of one touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty {
    /// Stiffness k of both springs (N/m).
    pub stiffness: f64,
    /// Damping c of both (N s/m); along the normal while the point comes nearer, and as far as it does not pull.
    pub damping: f64,
    /// Coulomb's coefficient μ.
    pub friction: f64,
    /// The spring along the normal grows no further than at this depth (m).
    pub deepest: f64,
}

/// What a touch does to the point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// The force on the point (N).
    pub force: Vec3,
    /// How far the spring across is stretched after slipping (m).
    pub stretch: Vec3,
    /// Whether it slipped.
    pub slips: bool,
}

/// How strong a response is in a step h, for a mass m behind a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// Stiffness κ, in parts of m/h².
    pub stiffness: f64,
    /// Damping γ, in parts of m/h.
    pub damping: f64,
}

impl Response {
    /// How strong it is beside the mass behind a point.
    pub fn strength(&self) -> Strength {
        match self {
            Response::Penalty => Strength { stiffness: 0.35, damping: 0.15 },
            Response::Projection => Strength { stiffness: 1.0, damping: 1.0 },
            Response::Impulse { restitution } => Strength { stiffness: 0.2, damping: 1.0 + restitution },
        }
    }

    /// The law for a mass m (kg) behind a point and a step h (s).
    pub fn law(&self, mass: f64, h: f64, friction: f64, deepest: f64) -> Penalty {
        let Strength { stiffness, damping } = self.strength();
        Penalty { stiffness: stiffness * mass / (h * h), damping: damping * mass / h, friction, deepest }
    }
}

impl Penalty {
    /// ```text
    /// fₙ = max(0, k min(δ, δ_max) − c vₙ),      f_t = −k s − c v_t,  but |f_t| ≤ μ fₙ         [Faloutsos1995, eq. 4.24, 4.25]
    /// ```
    ///
    /// `velocity` is that of the point against the obstacle (m/s), `stretch` the way across from where friction holds it. Where Coulomb's limit is
    /// passed, the hold slips until the force is at the limit: at rest nothing creeps.
    #[inline]
    pub fn push(&self, depth: f64, normal: &Vec3, velocity: &Vec3, stretch: &Vec3) -> Push {
        let speed = velocity.dot(normal);
        let normal_force = (self.stiffness * depth.min(self.deepest) - self.damping * speed).max(0.0);
        let (across, stretch) = (velocity - speed * normal, stretch - stretch.dot(normal) * normal);
        if self.friction == 0.0 || normal_force == 0.0 {
            return Push { force: normal_force * normal, stretch: Vec3::zeros(), slips: true };
        }
        let hold = -self.stiffness * stretch - self.damping * across;
        let (size, limit) = (hold.norm(), self.friction * normal_force);
        if size <= limit {
            return Push { force: normal_force * normal + hold, stretch, slips: false };
        }
        let hold = hold * (limit / size);
        // k s + c v = −f
        let stretch = -(hold + self.damping * across) / self.stiffness;
        let longest = limit / self.stiffness;
        let stretch = if stretch.norm() > longest { stretch * (longest / stretch.norm()) } else { stretch };
        Push { force: normal_force * normal + hold, stretch, slips: true }
    }

    /// What the springs hold (J).
    pub fn energy(&self, depth: f64, stretch: &Vec3) -> f64 {
        let sprung = depth.min(self.deepest);
        let normal = self.stiffness * sprung * (0.5 * sprung + (depth - sprung));
        let across = if self.friction == 0.0 { 0.0 } else { 0.5 * self.stiffness * stretch.norm_squared() };
        normal + across
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: Penalty = Penalty { stiffness: 200.0, damping: 1.5, friction: 0.4, deepest: 0.05 };

    /// Without slip and motion the force is the derivative of the energy: both springs, before and beyond the deepest point.
    #[test]
    fn the_force_is_the_derivative_of_the_energy() {
        let law = Penalty { friction: f64::INFINITY, ..LAW };
        let normal = Vec3::new(0.6, 0.8, 0.0);
        for depth in [0.01, 0.04, 0.08] {
            let stretch = Vec3::new(-0.008, 0.006, 0.003);
            let force = law.push(depth, &normal, &Vec3::zeros(), &stretch).force;
            // along the normal the depth falls, across it the stretch grows
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
    fn friction_never_passes_its_limit_and_never_pushes_along() {
        for (speed, stretch) in [(0.0, 0.0), (0.3, 0.0), (0.0, 0.2), (-2.0, 0.01), (1e6, 1.0)] {
            let (velocity, stretch) = (Vec3::new(speed, 0.0, 0.1 * speed), Vec3::new(stretch, 0.0, 0.0));
            let push = LAW.push(0.02, &Vec3::y(), &velocity, &stretch);
            let across = Vec3::new(push.force.x, 0.0, push.force.z);
            assert!(across.norm() <= 0.4 * push.force.y * (1.0 + 1e-12));
            assert!(push.stretch.norm() * LAW.stiffness <= 0.4 * push.force.y * (1.0 + 1e-12) || !push.slips);
        }
        let free = Penalty { friction: 0.0, ..LAW }.push(0.02, &Vec3::y(), &Vec3::x(), &Vec3::x());
        assert_eq!(free.force, Vec3::y() * 4.0);
        let stuck =
            Penalty { friction: f64::INFINITY, ..LAW }.push(0.02, &Vec3::y(), &Vec3::zeros(), &Vec3::x());
        assert!(!stuck.slips && (stuck.force.x + 200.0).abs() < 1e-9);
    }

    #[test]
    fn touches_never_pull() {
        let leaving = LAW.push(0.001, &Vec3::y(), &(Vec3::y() * 10.0), &Vec3::zeros());
        assert_eq!(leaving.force, Vec3::zeros());
    }

    /// A mass on its own: springs of every response bring it to rest or send it back, and no response gives it energy.
    #[test]
    fn a_mass_that_falls_onto_a_floor_gains_nothing() {
        let (mass, h) = (0.3, 1e-3);
        for response in [Response::Penalty, Response::Projection, Response::Impulse { restitution: 0.5 }] {
            let law = response.law(mass, h, 0.0, 1.0);
            let (mut x, mut v) = (0.01, -2.0f64);
            for _ in 0..2000 {
                let force = if x < 0.0 {
                    law.push(-x, &Vec3::y(), &(Vec3::y() * v), &Vec3::zeros()).force.y
                } else {
                    0.0
                };
                v += h * force / mass;
                x += h * v;
            }
            assert!(v.abs() <= 2.0 * 1.15, "{response:?} {v}");
            assert!(x > -0.01, "{response:?} {x}");
            if let Response::Impulse { restitution } = response {
                // the way back adds a fifth of a step's depth per step
                assert!((v - 2.0 * restitution).abs() < 0.5, "{v}");
            }
        }
    }
}
