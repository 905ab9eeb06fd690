//! Factors of stiffness, damping and friction over time.

use crate::Curve;
use sinew_sim::Control;

/// What of a body a factor multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Its elasticity, as a factor of Young's modulus.
    Stiffness,
    /// Its damping ratios and viscosity.
    Damping,
    /// Friction of its surface.
    Friction,
}

/// The largest factor: beyond it another material is meant.
const MAX_FACTOR: f64 = 1e3;

impl Factor {
    /// All of them.
    pub const ALL: [Factor; 3] = [Factor::Stiffness, Factor::Damping, Factor::Friction];

    /// Its key in scene files.
    pub fn key(self) -> &'static str {
        match self {
            Factor::Stiffness => "stiffness_factor",
            Factor::Damping => "damping_factor",
            Factor::Friction => "friction_factor",
        }
    }

    /// Its smallest and largest value. Elasticity does not vanish: flesh without any is a fluid, which elements are not.
    pub fn range(self) -> [f64; 2] {
        match self {
            Factor::Stiffness => [1.0 / MAX_FACTOR, MAX_FACTOR],
            Factor::Damping | Factor::Friction => [0.0, MAX_FACTOR],
        }
    }

    /// The first key of a curve that is out of range: its time (s) and value.
    pub fn fault(self, curve: &Curve) -> Option<(f64, f64)> {
        let [least, most] = self.range();
        curve.key_values().into_iter().find(|(_, value)| !(least..=most).contains(value))
    }

    /// The value of a curve at a time (s). Splines overshoot their keys.
    fn value(self, curve: &Curve, time: f64) -> f64 {
        let [least, most] = self.range();
        curve.value(time).clamp(least, most)
    }
}

/// Curves of factors, one per body or obstacle of a world. `None`, and those beyond the end of a list, have 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactorCurves {
    /// Of the stiffness of each body.
    pub stiffness: Vec<Option<Curve>>,
    /// Of the damping of each body.
    pub damping: Vec<Option<Curve>>,
    /// Of the friction of each body.
    pub friction: Vec<Option<Curve>>,
    /// Of the friction of each obstacle.
    pub obstacle_friction: Vec<Option<Curve>>,
}

impl FactorCurves {
    /// The curves of one factor of all bodies.
    pub fn of(&self, factor: Factor) -> &[Option<Curve>] {
        match factor {
            Factor::Stiffness => &self.stiffness,
            Factor::Damping => &self.damping,
            Factor::Friction => &self.friction,
        }
    }

    /// Sets a factor of a body.
    pub fn set_body(&mut self, factor: Factor, body: usize, curve: Option<Curve>) {
        let curves = match factor {
            Factor::Stiffness => &mut self.stiffness,
            Factor::Damping => &mut self.damping,
            Factor::Friction => &mut self.friction,
        };
        set(curves, body, curve);
    }

    /// Sets the factor of the friction of an obstacle.
    pub fn set_obstacle(&mut self, obstacle: usize, curve: Option<Curve>) {
        set(&mut self.obstacle_friction, obstacle, curve);
    }

    /// Writes the factors at a time (s).
    pub(crate) fn control(&self, time: f64, control: &mut Control) {
        let write = |factor: Factor, curves: &[Option<Curve>], out: &mut Vec<f64>| {
            out.clear();
            let value = |curve: &Option<Curve>| curve.as_ref().map_or(1.0, |curve| factor.value(curve, time));
            out.extend(curves.iter().map(value));
        };
        write(Factor::Stiffness, &self.stiffness, &mut control.stiffness);
        write(Factor::Damping, &self.damping, &mut control.damping);
        write(Factor::Friction, &self.friction, &mut control.friction.bodies);
        write(Factor::Friction, &self.obstacle_friction, &mut control.friction.obstacles);
    }

    /// Describes the first factor that is out of range.
    pub(crate) fn fault(&self) -> Option<String> {
        let bodies =
            Factor::ALL.into_iter().flat_map(|factor| self.of(factor).iter().map(move |c| (factor, c)));
        let obstacles = self.obstacle_friction.iter().map(|curve| (Factor::Friction, curve));
        let mut faults = bodies.chain(obstacles).filter_map(|(factor, curve)| {
            let (time, value) = factor.fault(curve.as_ref()?)?;
            let [least, most] = factor.range();
            Some(format!("the {} of {value} at {time} s is not from {least} to {most}", factor.key()))
        });
        faults.next()
    }
}

fn set(curves: &mut Vec<Option<Curve>>, i: usize, curve: Option<Curve>) {
    if curve.is_some() || i < curves.len() {
        curves.resize(curves.len().max(i + 1), None);
        curves[i] = curve;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Extrapolation, Interpolation, Key, Keyframes};

    /// A B-spline overshoots nothing, but Kochanek-Bartels splines do: between 0.001, 0.001 and 4 they fall below 0.
    #[test]
    fn factors_stay_in_range_between_their_keys() {
        let keys = [(0.0, 4.0), (1.0, 0.001), (2.0, 0.001), (3.0, 4.0)];
        let keys = keys.map(|(time, value)| Key { time, value, shape: Default::default() });
        let spline = Keyframes::build(keys.to_vec(), Interpolation::KochanekBartels, Extrapolation::Hold);
        let curve = Curve::from(spline.expect("sound"));
        assert!(curve.value(1.5) < 0.0);
        let mut curves = FactorCurves::default();
        curves.set_body(Factor::Stiffness, 1, Some(curve));
        let mut control = Control::default();
        curves.control(1.5, &mut control);
        assert_eq!(control.stiffness, [1.0, 0.001]);
        assert_eq!(curves.fault(), None);
        curves.set_obstacle(0, Some(Curve::Constant(-1.0)));
        assert_eq!(curves.fault().as_deref(), Some("the friction_factor of -1 at 0 s is not from 0 to 1000"));
    }
}
