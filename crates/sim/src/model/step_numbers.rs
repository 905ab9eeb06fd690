//! Numbers of a copy of a model that one step changes: gravity, air drag, stiffness, damping and friction.
//!
//! What a solver keeps for many steps must not depend on the step that it was made in, or a resumed take would differ from an uninterrupted one. It is therefore built from the model's own numbers,
//! or from factors that are rounded to powers of two ([`power_of_two`]), and made anew when these change.

use super::Model;
use crate::contact_surface::{Surface, scaled_friction};
use crate::factors::Factors;
use crate::home::HomeSpring;
use crate::stable_step::StableStep;
use sinew_flesh::Elements;
use sinew_math::Vec3;
use std::borrow::Cow;

/// What factors of stiffness and damping are relative to, in a copy of a model that has some.
#[derive(Clone, Debug)]
pub(super) struct OwnNumbers {
    elements: Elements,
    home_springs: Vec<HomeSpring>,
    stable_step: StableStep,
}

impl Model {
    /// Sets the air drag of each body of a copy of the model `own` (1/s).
    pub(crate) fn set_air_drag(&mut self, own: &Model, rate: impl Fn(usize) -> Option<f64>) {
        self.has_step_damping = false;
        for (i, (body, own)) in self.bodies.iter_mut().zip(&own.bodies).enumerate() {
            body.air_drag = rate(i).unwrap_or(own.air_drag);
            self.has_step_damping |= body.air_drag != own.air_drag;
        }
    }

    /// Replaces the gravity of a copy of a model, and returns the one before.
    pub(crate) fn replace_gravity(&mut self, gravity: Vec3) -> Vec3 {
        core::mem::replace(&mut self.gravity, gravity)
    }

    /// Multiplies stiffness and damping of each body of a copy of the model `own` by factors.
    pub(crate) fn set_factors(&mut self, own: &Model, factors: impl Fn(usize) -> Factors) {
        let mut is_changed = false;
        for body in 0..own.bodies.len() {
            let factors = factors(body);
            self.has_step_damping |= factors != Factors::default();
            if self.bodies[body].factors != factors {
                self.scale_body(own, body, factors);
                is_changed = true;
            }
        }
        if is_changed {
            self.stable_step = self.scaled_step(own);
        }
    }

    fn scale_body(&mut self, own: &Model, i: usize, factors: Factors) {
        if self.own_numbers.is_none() {
            let (elements, home_springs) = (own.elements.clone(), own.homes.springs.clone());
            let stable_step = own.stable_step;
            self.own_numbers = Some(Box::new(OwnNumbers { elements, home_springs, stable_step }));
        }
        let (rate, viscosity) = (factors.of_rate(), factors.of_viscosity());
        self.elements.scale(&own.elements, own.bodies[i].tets.clone(), factors.stiffness, viscosity);
        self.parts.scale_damping(&own.parts, i, rate);
        self.homes.scale(&own.homes, i, factors.stiffness, rate);
        let body = &mut self.bodies[i];
        body.damping_rate = rate * own.bodies[i].damping_rate;
        body.frequency = own.bodies[i].frequency.map(|frequency| frequency * factors.stiffness.sqrt());
        body.factors = factors;
    }

    /// The stable step with the factors of all bodies. Contacts, constraints and limits of the step are as before: with any of them it is only ever shortened.
    fn scaled_step(&self, own: &Model) -> StableStep {
        let steps = |scaled: bool| {
            let step = |body: &crate::Body| {
                let step = body.step.unwrap_or(StableStep::UNLIMITED);
                if scaled { step.scaled(body.factors) } else { step }
            };
            self.bodies.iter().map(step).fold(StableStep::UNLIMITED, StableStep::and)
        };
        let (before, after) = (steps(false), steps(true));
        let is_limited = own.stable_step.seconds < before.seconds;
        let ratio = if before.seconds.is_finite() { after.seconds / before.seconds } else { 1.0 };
        let has_springs = own.can_collide() || !own.constraints.is_empty();
        let ratio = if is_limited || has_springs { ratio.min(1.0) } else { ratio };
        StableStep { seconds: own.stable_step.seconds * ratio, ..after }
    }

    /// Multiplies the friction of each surface of a copy of the model `own` by a factor.
    pub(crate) fn scale_friction(&mut self, own: &Model, factor: impl Fn(Surface) -> f64) {
        self.contact_surface.materials.scale_friction(&own.contact_surface.materials, &factor);
        for (i, (obstacle, own)) in self.obstacles.iter_mut().zip(&own.obstacles).enumerate() {
            obstacle.friction = scaled_friction(own.friction, factor(Surface::Obstacle(i)));
        }
    }

    /// Factors of stiffness of all bodies, as powers of two; none in a model that is no copy with other ones.
    pub(crate) fn rounded_stiffness(&self) -> impl Iterator<Item = f64> + '_ {
        let bodies = if self.own_numbers.is_some() { self.bodies.as_slice() } else { &[] };
        bodies.iter().map(|body| power_of_two(body.factors.stiffness))
    }

    /// The elements with the model's own stiffness.
    pub(crate) fn own_elements(&self) -> &Elements {
        self.own_numbers.as_ref().map_or(&self.elements, |own| &own.elements)
    }

    /// The stability limit with the model's own stiffness.
    pub(crate) fn own_step(&self) -> StableStep {
        self.own_numbers.as_ref().map_or(self.stable_step, |own| own.stable_step)
    }

    /// Whether damping differs, or may differ, from that of the model that this is a copy of.
    pub(crate) fn changes_damping(&self) -> bool {
        self.has_step_damping
    }

    /// The elements with stiffnesses of [`Model::rounded_stiffness`], and their own viscosity.
    pub(crate) fn rounded_elements(&self) -> Cow<'_, Elements> {
        let own = self.own_elements();
        if self.rounded_stiffness().all(|factor| factor == 1.0) {
            return Cow::Borrowed(own);
        }
        let mut elements = own.clone();
        for (body, factor) in self.bodies.iter().zip(self.rounded_stiffness()) {
            elements.scale(own, body.tets.clone(), factor, 1.0);
        }
        Cow::Owned(elements)
    }

    /// ω² of the spring of a node towards its home (1/s²), with that stiffness.
    pub(crate) fn rounded_home_stiffness(&self, body: usize, node: usize) -> f64 {
        match &self.own_numbers {
            None => self.homes.springs[node].stiffness,
            Some(own) => power_of_two(self.bodies[body].factors.stiffness) * own.home_springs[node].stiffness,
        }
    }
}

/// The power of two nearest to a positive number, by ratio.
pub(crate) fn power_of_two(number: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    let below = f64::from_bits(number.to_bits() & EXPONENT);
    if number < core::f64::consts::SQRT_2 * below { below } else { 2.0 * below }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_the_nearest_power_of_two_by_ratio() {
        let pairs =
            [(1.0, 1.0), (1.41, 1.0), (1.42, 2.0), (0.71, 1.0), (0.36, 0.5), (3.0, 4.0), (100.0, 128.0)];
        for (number, power) in [(0.7, 0.5)].into_iter().chain(pairs) {
            assert_eq!(power_of_two(number), power, "{number}");
        }
    }
}
