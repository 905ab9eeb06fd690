//! Trial displacements of a metaphor, whose energy gives the force of magnitude 1 (Rayleigh's method).
//!
//! With a displacement u of the size that is wanted, the energy W(u) and a pattern of forces f of amplitude 1, an elastic body that deforms by u takes the amplitude
//!
//! ```text
//! F = 2 W(u)/Σ f · u
//! ```
//!
//! In control coordinates x, y, z, with s from −1 at the left set to 1 at the right one, half their distance ℓ, and arms of length a:
//!
//! ```text
//! stretch   u = ε ℓ s x̂
//! twist     u = θ/2 s (x̂ × p)
//! bend      u = v(x) ŷ − y v'(x) x̂,    v' = 2 α (|x|/a − x²/(2 a²)) sgn x    (the curvature under forces at both ends and in the middle)
//! push      u = δ (ρ₀ (x̂/2 + r (r · x̂)/(2 ρ²))/ρ + ρ₀³ x̂/(2 ρ³)),   ρ² = r² + ρ₀²       (regularised Kelvin solution, incompressible) [deGoesJames2017]
//! ```
//!
//! Outside of the radius, and beyond both sets where they end before the body does, the displacement falls off to zero; or one side stays where it is, as a head does below an ear. Flesh takes the energy density of uniaxial stress, which is exact for stretch, bend and shear alike:
//!
//! ```text
//! w = μ (ε : ε + ν (tr ε)²),      ε = sym ∇u
//! ```

use crate::desc::MetaphorKind;
use sinew_math::{Mat3, Vec3};

/// The displacement that a metaphor of magnitude 1 is to cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TrialField {
    pub(crate) kind: MetaphorKind,
    /// The control frame at rest.
    pub(crate) origin: Vec3,
    pub(crate) axes: Mat3,
    /// Positions of the left and the right set along the axis (m).
    pub(crate) ends: [f64; 2],
    /// Distance at which both sets end (m), infinite if beyond the body.
    pub(crate) far: f64,
    /// Radius of the widget (m), infinite for none.
    pub(crate) radius: f64,
    /// The side that stays where it is, while the other moves twice as far; none for both alike.
    pub(crate) still: Option<Side>,
}

/// One of the two sides of a widget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// What magnitude 1 does to a body that follows the trial field: strain of a stretch, angle of a twist and tilt of either arm of a bend (rad), and depth of a push in radii.
const STRAIN: f64 = 0.15;
const TWIST: f64 = 0.5;
const TILT: f64 = 0.25;
const DEPTH: f64 = 0.4;

impl TrialField {
    /// The displacement of a point at rest (m).
    pub(crate) fn at(&self, rest: &Vec3) -> Vec3 {
        let r = self.axes.transpose() * (rest - self.origin);
        let [left, right] = self.ends;
        let half = 0.5 * (right - left);
        let middle = 0.5 * (left + right);
        let s = ((r.x - middle) / half).clamp(-1.0, 1.0) + self.shift();
        let u = match self.kind {
            MetaphorKind::Stretch => Vec3::new(STRAIN * half * s, 0.0, 0.0),
            MetaphorKind::Twist => 0.5 * TWIST * s * Vec3::new(0.0, -r.z, r.y),
            MetaphorKind::Bend => {
                let arm = if r.x < 0.0 { -left } else { right };
                let (tilt, height) = bend(r.x.abs(), arm);
                let part = 1.0 + r.x.signum() * self.shift();
                part * Vec3::new(-r.y * tilt * r.x.signum(), height, 0.0)
            }
            MetaphorKind::Push => return self.axes * self.dent(&r),
        };
        self.axes * (u * self.falloff(&r))
    }

    /// What is added to s, so that it is zero on the side that stays.
    fn shift(&self) -> f64 {
        match self.still {
            Some(Side::Left) => 1.0,
            Some(Side::Right) => -1.0,
            None => 0.0,
        }
    }

    /// The response to expect of a body that deforms so, as [`super::Metaphor::response`] measures it.
    pub(crate) fn response(&self) -> f64 {
        let [left, right] = self.ends;
        match self.kind {
            MetaphorKind::Stretch => STRAIN * (right - left),
            MetaphorKind::Twist => TWIST,
            MetaphorKind::Bend => 0.5 * (bend(-left, -left).1 + bend(right, right).1),
            MetaphorKind::Push => DEPTH * self.radius,
        }
    }

    /// The energy density of isotropic flesh at a point at rest (J/m³).
    pub(crate) fn density(&self, rest: &Vec3, mu: f64, poisson: f64, size: f64) -> f64 {
        // central differences: their error is of second order in a step of 1e-4 of the size
        let step = 1e-4 * size;
        let mut gradient = Mat3::zeros();
        for axis in 0..3 {
            let mut by = Vec3::zeros();
            by[axis] = step;
            gradient.set_column(axis, &((self.at(&(rest + by)) - self.at(&(rest - by))) / (2.0 * step)));
        }
        let strain = 0.5 * (gradient + gradient.transpose());
        mu * (strain.norm_squared() + poisson * strain.trace() * strain.trace())
    }

    /// 1 within the radius and up to where the sets end, and 0 at twice that.
    fn falloff(&self, r: &Vec3) -> f64 {
        let fade = |distance: f64, reach: f64| {
            let t = if reach.is_finite() { (distance / reach - 1.0).clamp(0.0, 1.0) } else { 0.0 };
            1.0 - t * t * (3.0 - 2.0 * t)
        };
        fade(r.yz().norm(), self.radius) * fade(r.x.abs(), self.far)
    }

    /// The regularised Kelvin solution.
    fn dent(&self, r: &Vec3) -> Vec3 {
        let size = self.radius;
        let squared = r.norm_squared() + size * size;
        let rho = squared.sqrt();
        let along = size * (0.5 + 0.5 * size * size / squared) / rho;
        DEPTH * size * (Vec3::x() * along + r * (0.5 * size * r.x / (squared * rho)))
    }
}

/// Tilt and height of a bent arm of a length at a distance from the joint.
fn bend(distance: f64, arm: f64) -> (f64, f64) {
    let t = (distance / arm).min(1.0);
    let tilt = 2.0 * TILT * (t - 0.5 * t * t);
    let height = 2.0 * TILT * arm * (0.5 * t * t - t * t * t / 6.0);
    (tilt, height + tilt * (distance - arm).max(0.0))
}
