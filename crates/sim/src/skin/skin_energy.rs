//! The forces of skin in time stepping.                                                    \[TurnerThalmann1993, §4\]
//!
//! Implicit steps see one energy: of the sheet, of the air inside, of bands, and of a unilateral spring against the fat,
//!
//! ```text
//! Ψ = Ψ_sheet + Ψ_air + Σ ½ kₛ ⟨|x − a| − x₀⟩² + Σ ½ m ω² ⟨t − d(x)⟩² + Σ m c/(2h) |x − x_carried|² + D
//! ```
//!
//! with ⟨ ⟩ the positive part, and the friction D of `fat_friction`. Explicit steps know all forces on a point, so that the reaction of the fat is exact: it takes what presses inwards and nothing else, and skin that is too deep returns critically damped (eq. 8, 9),
//!
//! ```text
//! R = m (v* − v)/h − f·n ≥ 0,      v* = (v·n − h ω₀² x₀)/(1 + h ω₀)²,   x₀ = d − t
//! ```
//!
//! where v* is the backward Euler step of the critically damped motion, which does not overshoot whatever h.

use super::fat_friction::{FatFriction, NodeFriction, StepStart};
use super::muscle_layer::{LayerPoint, MuscleLayer};
use super::{Band, Skin};
use crate::network::NetworkEnergy;
use crate::node_energy::{LayerMotion, LayerStep, NodeEnergy};
use sinew_math::parallel::for_each_part;
use sinew_math::sparse::Row;
use sinew_math::spatial::{Frame, Twist, Wrench};
use sinew_math::{Mat3, Vec3, real};
use std::sync::Arc;

/// Points per parallel task.
const CHUNK: usize = 128;
/// Implicit steps hold skin on the fat by a spring of this frequency times the step, so that it sinks in by a 64th of what a free point falls in a step.
const REACTION_STEPS: f64 = 8.0;
/// And as if steps were no longer than this (s).
const MAX_REACTION_STEP: f64 = 1.0 / 60.0;
/// Limits of friction are updated in this many first iterations of an implicit step.
const MAX_TURNS: usize = 4;
/// Rounds of moving skin out of all muscles at the end of a step; more than one is needed in creases only.
const LIFT_ROUNDS: usize = 3;
/// Skin that is deeper by less than this fraction of the fat is on it.
const ON_FAT: f64 = 1e-6;
/// Skin that is deeper than this fraction of the fat as a step begins, between two muscles, was left there by [`SkinEnergy::lift_out`].
const PINCHED: f64 = 0.01;

/// The forces of a skin, with workspace.
#[derive(Debug)]
pub(super) struct SkinEnergy {
    skin: Arc<Skin>,
    network: NetworkEnergy,
    layer: MuscleLayer,
    twists: Vec<Twist>,
    /// The nearest point of the layer to each node, if it is near.
    near: Vec<Option<LayerPoint>>,
    /// Whether each node was left inside of the fat as the step began, between two muscles without room for the fat of both.
    is_pinched: Vec<bool>,
    /// What the layer does to each node (N).
    layer_force: Vec<Vec3>,
    /// What skin does to bones; empty without feedback.
    wrenches: Vec<Wrench>,
    /// Poses of bones, and those at the start of an implicit step.
    frames: Vec<Frame>,
    start_frames: Vec<Frame>,
    start_x: Vec<Vec3>,
    friction: FatFriction,
    /// e^(−c h) per node, and the sub-step of which it is (s).
    decay: Vec<f64>,
    decay_h: f64,
    time: f64,
    h: f64,
    stiffness: f64,
    /// Diagonal blocks of the layer in the Hessian, and ∂V/∂x with its factor.
    blocks: Vec<Mat3>,
    area: Vec<Vec3>,
    air: f64,
}

impl SkinEnergy {
    pub(super) fn new(skin: Arc<Skin>) -> SkinEnergy {
        let count = skin.network.node_count;
        SkinEnergy {
            network: NetworkEnergy::new(skin.network.clone()),
            layer: skin.layer.clone(),
            twists: Vec::new(),
            near: vec![None; count],
            is_pinched: vec![false; count],
            layer_force: vec![Vec3::zeros(); count],
            wrenches: Vec::new(),
            frames: Vec::new(),
            start_frames: Vec::new(),
            start_x: Vec::new(),
            friction: FatFriction::default(),
            decay: Vec::with_capacity(count),
            decay_h: 0.0,
            time: 0.0,
            h: MAX_REACTION_STEP,
            stiffness: 1.0,
            blocks: vec![Mat3::zeros(); count],
            area: Vec::new(),
            air: 0.0,
            skin,
        }
    }

    /// ω² of the unilateral spring of implicit steps (1/s²).
    fn reaction_rate(&self) -> f64 {
        let omega = REACTION_STEPS / self.h.min(MAX_REACTION_STEP);
        omega * omega
    }

    /// The energy of the layer at node positions, without that of dampers if `is_stored`: adds its gradient.
    fn add_layer(&mut self, x: &[Vec3], is_stored: bool, gradient: &mut [Vec3]) -> f64 {
        let mut sum = 0.0;
        let skin = self.skin.clone();
        self.wrenches.iter_mut().for_each(|wrench| *wrench = Wrench::default());

        // what keeps skin out
        let rate = self.reaction_rate();
        let layer = &self.layer;
        for_each_part((self.near.as_mut_slice(), x), CHUNK, |first, (near, x)| {
            for (i, (near, x)) in near.iter_mut().zip(x).enumerate() {
                let fat = skin.fat[first + i];
                *near = layer.nearest(x, fat);
            }
        });
        for (node, near) in self.near.iter().enumerate() {
            let Some(near) = near else { continue };
            let deep = skin.fat[node] - near.distance;
            let k = skin.mass[node] * rate;
            sum += 0.5 * k * deep * deep;
            let force = -k * deep * near.normal;
            gradient[node] += force;
            if let Some(wrench) = self.wrenches.get_mut(self.layer.bone(near.muscle) as usize) {
                *wrench += Wrench::of_force_at(-force, &x[node]);
            }
        }

        // what pulls it in
        for band in &skin.bands {
            let node = band.node as usize;
            let anchor = self.layer.carried(band.muscle, &band.undeformed);
            let off = x[node] - anchor;
            let length = off.norm();
            let over = length - band.length;
            if over <= 0.0 || length == 0.0 {
                continue;
            }
            sum += 0.5 * band.stiffness * over * over;
            let force = (band.stiffness * over / length) * off;
            gradient[node] += force;
            if let Some(wrench) = self.wrenches.get_mut(self.layer.bone(band.muscle) as usize) {
                *wrench += Wrench::of_force_at(-force, &anchor);
            }
        }
        if is_stored || self.start_x.len() != x.len() {
            return sum;
        }

        // damping against the bones
        for node in 0..x.len() {
            let off = x[node] - self.start().carried(node, skin.node_bone[node]);
            let k = skin.mass[node] * skin.damping[node] / self.h;
            sum += 0.5 * k * off.norm_squared();
            gradient[node] += k * off;
        }
        sum + self.add_friction(x, gradient)
    }

    /// The friction of the fat: returns its energy and adds its gradient.
    fn add_friction(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        if self.friction.is_empty() {
            return 0.0;
        }
        let mut sum = 0.0;
        for (node, x) in x.iter().enumerate() {
            let Some((energy, force, bone)) = self.friction.evaluate(node, x, &self.start()) else {
                continue;
            };
            sum += energy;
            gradient[node] += force;
            if let Some(wrench) = self.wrenches.get_mut(bone as usize) {
                *wrench += Wrench::of_force_at(-force, x);
            }
        }
        sum
    }

    /// The start of an implicit step.
    fn start(&self) -> StepStart<'_> {
        StepStart {
            frames: &self.frames,
            start_frames: &self.start_frames,
            start_x: &self.start_x,
            h: self.h,
        }
    }

    /// Updates the limits of friction at node positions; returns whether they changed.
    fn update_friction(&mut self, x: &[Vec3]) -> bool {
        if self.skin.friction == 0.0 || self.start_x.len() != x.len() {
            return false;
        }
        let (skin, layer, rate) = (&self.skin, &self.layer, self.reaction_rate());
        for_each_part((self.near.as_mut_slice(), x), CHUNK, |first, (near, x)| {
            for (i, (near, x)) in near.iter_mut().zip(x).enumerate() {
                *near = layer.nearest(x, skin.fat[first + i]);
            }
        });
        self.friction.update(&self.near, |node, near| NodeFriction {
            limit: skin.friction * skin.mass[node] * rate * (skin.fat[node] - near.distance),
            normal: near.normal,
            bone: layer.bone(near.muscle),
        })
    }

    /// Moves a node out of all muscles onto the fat, and takes its velocity into them. Between two muscles that leave no room for the fat of both it goes to the middle, and along with them: lifted out of one after the other it
    /// would shake.
    fn lift_out(&self, node: usize, x: &mut Vec3, v: &mut Vec3) {
        let fat = self.skin.fat[node];
        let mut before: Option<LayerPoint> = None;
        for _ in 0..LIFT_ROUNDS {
            let Some(near) = self.layer.nearest_from(x, fat, self.near[node].as_ref()) else { return };
            // what is far inside returns by its reaction
            let depth = (fat - near.distance).min(fat);
            let own = self.velocity_of(&near);
            if depth > ON_FAT * fat && before.as_ref().is_some_and(|before| faces(before, &near)) {
                *x += 0.5 * depth * near.normal;
                *v = own;
                return;
            }
            *x += depth * near.normal;
            let inwards = (*v - own).dot(&near.normal);
            if inwards < 0.0 {
                *v -= inwards * near.normal;
            }
            if depth < ON_FAT * fat {
                return;
            }
            before = Some(near);
        }
    }

    /// Finds by which factor motion against the bones decays in a sub-step of `h` (s).
    fn find_decay(&mut self, h: f64) {
        if self.decay_h == h {
            return;
        }
        self.decay_h = h;
        self.decay.clear();
        self.decay.extend(self.skin.damping.iter().map(|rate| real::exp(-rate * h)));
    }

    /// The velocity of a point of the layer (m/s).
    #[inline]
    fn velocity_of(&self, near: &LayerPoint) -> Vec3 {
        let twist = self.twists.get(self.layer.bone(near.muscle) as usize);
        twist.map_or(Vec3::zeros(), |twist| twist.at(&near.point))
            + self.layer.deformation_velocity(near.muscle, &near.local)
    }
}

/// Whether two points are of two muscles that face each other.
fn faces(a: &LayerPoint, b: &LayerPoint) -> bool {
    a.muscle != b.muscle && a.normal.dot(&b.normal) < 0.0
}

/// Whether a position in the fat of the nearest muscle is in that of another one that faces it, once it is out of the first.
fn is_pinched_at(layer: &MuscleLayer, near: &LayerPoint, x: &Vec3, fat: f64) -> bool {
    let depth = fat - near.distance;
    let other = || layer.nearest_from(&(x + depth * near.normal), (1.0 - PINCHED) * fat, Some(near));
    depth > PINCHED * fat && other().is_some_and(|other| faces(near, &other))
}

/// The force of a band on its node (N), pulled from an anchor that moves with a velocity.
fn band_force(band: &Band, (x, v): (&Vec3, &Vec3), (anchor, velocity): (&Vec3, &Vec3)) -> Vec3 {
    let off = x - anchor;
    let length = off.norm();
    let over = length - band.length;
    if over <= 0.0 || length == 0.0 {
        return Vec3::zeros();
    }
    let along = off / length;
    let tension = band.stiffness * over + band.damping * (v - velocity).dot(&along);
    -tension.max(0.0) * along
}

impl NodeEnergy for SkinEnergy {
    fn evaluate(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        let mut sum = self.network.evaluate(x, gradient);
        if let Some(air) = &self.skin.air {
            sum += air.add_gradient(x, gradient);
        }
        sum + self.add_layer(x, false, gradient)
    }

    fn evaluate_moving(&mut self, x: &[Vec3], v: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        let sum = self.network.evaluate_moving(x, v, gradient);
        sum + self.skin.air.as_ref().map_or(0.0, |air| air.add_gradient(x, gradient))
    }

    /// Without the layer, whose forces count as forces from outside.
    fn stored_energy(&mut self, x: &[Vec3]) -> f64 {
        self.network.stored_energy(x) + self.skin.air.as_ref().map_or(0.0, |air| air.energy(x))
    }

    fn set_factors(&mut self, stiffness: f64, viscosity: f64) {
        self.stiffness = stiffness;
        self.network.set_factors(stiffness, viscosity);
    }

    fn begin_step(&mut self, x: &[Vec3], h: f64) {
        self.h = h;
        self.start_x.clear();
        self.start_x.extend_from_slice(x);
        self.start_frames.clone_from(&self.frames);
        self.friction.clear();
        self.network.begin_step(x, h);
    }

    fn begin_beyond(&mut self, x: &[Vec3], s: f64) {
        self.network.begin_beyond(x, s);
    }

    fn see_bones(&mut self, frames: &[Frame]) {
        self.frames.clear();
        self.frames.extend_from_slice(frames);
        if self.skin.feedback {
            self.wrenches.resize(frames.len(), Wrench::default());
        }
        self.layer.place(frames, self.time, 0.0);
    }

    fn add_bone_gradients(&self, wrenches: &mut [Wrench]) {
        wrenches.iter_mut().zip(&self.wrenches).for_each(|(sum, own)| *sum += *own);
    }

    fn is_over_layer(&self) -> bool {
        !self.layer.is_empty()
    }

    fn see_layer(&mut self, motion: &LayerMotion) {
        self.time = motion.time;
        self.frames.clear();
        self.frames.extend_from_slice(motion.frames);
        self.twists.clear();
        self.twists.extend_from_slice(motion.twists);
        self.layer.place(motion.frames, motion.time, motion.lasted);
        if self.skin.feedback {
            self.wrenches.resize(motion.frames.len(), Wrench::default());
        }
    }

    fn find_layer(&mut self, x: &[Vec3]) {
        if self.layer.is_empty() {
            return;
        }
        let (skin, layer) = (&self.skin, &self.layer);
        let parts = ((self.near.as_mut_slice(), self.is_pinched.as_mut_slice()), x);
        for_each_part(parts, CHUNK, |first, ((near, is_pinched), x)| {
            for (i, ((near, is_pinched), x)) in near.iter_mut().zip(is_pinched).zip(x).enumerate() {
                let fat = skin.fat[first + i];
                *near = layer.nearest_from(x, skin.reach + fat, near.as_ref());
                *is_pinched = near.as_ref().is_some_and(|near| is_pinched_at(layer, near, x, fat));
            }
        });
    }

    fn push_layer(&mut self, step: &LayerStep, force: &mut [Vec3]) {
        let LayerStep { x, v, inverse_mass, gravity, h } = *step;
        if self.layer.is_empty() {
            return;
        }
        let skin = self.skin.clone();
        self.find_decay(h);

        // bands
        self.layer_force.fill(Vec3::zeros());
        self.wrenches.iter_mut().for_each(|wrench| *wrench = Wrench::default());
        for band in &skin.bands {
            let node = band.node as usize;
            let anchor = self.layer.carried(band.muscle, &band.undeformed);
            let bone = self.layer.bone(band.muscle) as usize;
            let velocity = self.twists.get(bone).map_or(Vec3::zeros(), |twist| twist.at(&anchor));
            let pull = band_force(band, (&x[node], &v[node]), (&anchor, &velocity));
            self.layer_force[node] += pull;
            if let Some(wrench) = self.wrenches.get_mut(bone) {
                *wrench += Wrench::of_force_at(-pull, &anchor);
            }
        }

        // damping, and the reaction to all forces together
        let mut near = core::mem::take(&mut self.near);
        let mut layer_force = core::mem::take(&mut self.layer_force);
        let own = &*self;
        let parts = ((&mut *force, layer_force.as_mut_slice()), (near.as_mut_slice(), (x, v)));
        for_each_part(parts, CHUNK, |first, ((force, layer), (near, (x, v)))| {
            for i in 0..x.len() {
                let node = first + i;
                if inverse_mass[node] == 0.0 {
                    layer[i] = Vec3::zeros();
                    continue;
                }
                let mass = 1.0 / inverse_mass[node];
                let bone = own.twists.get(skin.node_bone[node] as usize);
                let carried = bone.map_or(Vec3::zeros(), |twist| twist.at(&x[i]));
                layer[i] += (mass * (own.decay[node] - 1.0) / h) * (v[i] - carried);
                if let Some(near) = &mut near[i] {
                    *near = own.layer.follow(near.muscle, &x[i], &near.local);
                    let below = own.velocity_of(near);
                    let input = force[i] + layer[i] + mass * gravity;
                    let gap = near.distance - skin.fat[node];
                    let relative = v[i] - below;
                    if own.is_pinched[node] {
                        // held between both, it moves along
                        layer[i] -= input + (mass / h) * relative;
                        force[i] += layer[i];
                        continue;
                    }
                    layer[i] += reaction(&Reaction {
                        mass,
                        h,
                        gap,
                        relative,
                        input,
                        normal: near.normal,
                        rate: skin.return_rate,
                        friction: skin.friction,
                    });
                }
                force[i] += layer[i];
            }
        });
        (self.near, self.layer_force) = (near, layer_force);

        // what bones feel of it, beside bands
        if skin.feedback {
            for (node, near) in self.near.iter().enumerate() {
                let Some(near) = near else { continue };
                let bone = self.layer.bone(near.muscle) as usize;
                let push = self.layer_force[node].dot(&near.normal).max(0.0) * near.normal;
                if let Some(wrench) = self.wrenches.get_mut(bone) {
                    *wrench += Wrench::of_force_at(-push, &near.point);
                }
            }
        }
    }

    fn layer_power(&self, v: &[Vec3]) -> f64 {
        self.layer_force.iter().zip(v).map(|(force, v)| force.dot(v)).sum()
    }

    fn layer_wrenches(&self) -> &[Wrench] {
        &self.wrenches
    }

    fn lift_from_layer(&mut self, x: &mut [Vec3], v: &mut [Vec3], inverse_mass: &[f64]) {
        if self.layer.is_empty() {
            return;
        }
        let own = &*self;
        for_each_part((x, (v, inverse_mass)), CHUNK, |first, (x, (v, inverse_mass))| {
            for (i, (x, v)) in x.iter_mut().zip(v).enumerate() {
                if inverse_mass[i] > 0.0 {
                    own.lift_out(first + i, x, v);
                }
            }
        });
    }

    fn refresh(&mut self, x: &[Vec3], round: usize) -> bool {
        round < MAX_TURNS && self.update_friction(x)
    }

    fn correct(&mut self, x: &[Vec3]) -> bool {
        self.update_friction(x)
    }

    fn update(&mut self, x: &[Vec3]) {
        self.network.update(x);
        let rate = self.reaction_rate();
        let skin = self.skin.clone();

        // diagonal blocks of the layer
        let has_start = self.start_x.len() == x.len();
        for node in 0..x.len() {
            let damping = if has_start { skin.mass[node] * skin.damping[node] / self.h } else { 0.0 };
            self.blocks[node] = Mat3::from_diagonal_element(damping);
            if let Some(near) = self.layer.nearest(&x[node], skin.fat[node]) {
                self.blocks[node] += (skin.mass[node] * rate) * near.normal * near.normal.transpose();
            }
            if let Some(block) = self.friction.hessian(node, &x[node], &self.start()) {
                self.blocks[node] += block;
            }
        }
        for band in &skin.bands {
            let off = x[band.node as usize] - self.layer.carried(band.muscle, &band.undeformed);
            let length = off.norm();
            if length > band.length && length > 0.0 {
                let along = off / length;
                let across = band.stiffness * (1.0 - band.length / length);
                self.blocks[band.node as usize] += Mat3::from_diagonal_element(across)
                    + (band.stiffness - across) * along * along.transpose();
            }
        }

        // air
        if let Some(air) = &skin.air {
            self.area.clear();
            self.area.resize(x.len(), Vec3::zeros());
            air.add_area(x, 1.0, &mut self.area);
            self.air = air.stiffness(x);
        }
    }

    fn multiply(&self, u: &[Row], out: &mut [Row]) {
        self.network.multiply(u, out);
        let vector = |u: &Row| Vec3::new(f64::from(u[0]), f64::from(u[1]), f64::from(u[2]));
        let change: f64 = self.area.iter().zip(u).map(|(area, u)| area.dot(&vector(u))).sum();
        for (node, (u, out)) in u.iter().zip(out).enumerate() {
            let mut sum = self.blocks[node] * vector(u);
            if let Some(area) = self.area.get(node) {
                sum += (self.air * change) * area;
            }
            (0..3).for_each(|k| out[k] += sum[k] as f32);
        }
    }

    fn add_diagonal(&self, blocks: &mut [Mat3]) {
        self.network.add_diagonal(blocks);
        blocks.iter_mut().zip(&self.blocks).for_each(|(sum, own)| *sum += own);
        for (sum, area) in blocks.iter_mut().zip(&self.area) {
            *sum += self.air * area * area.transpose();
        }
    }

    fn for_each_block(&self, visit: &mut dyn FnMut(u32, u32, &Mat3)) {
        self.network.for_each_block(visit);
        for (node, block) in self.blocks.iter().enumerate() {
            visit(node as u32, node as u32, block);
        }
    }

    fn is_internal(&self) -> bool {
        self.layer.is_empty()
    }
}

/// A point on the fat in a sub-step.
struct Reaction {
    mass: f64,
    h: f64,
    /// d − t (m)
    gap: f64,
    /// Velocity against the layer (m/s).
    relative: Vec3,
    /// All other forces (N).
    input: Vec3,
    normal: Vec3,
    /// ω₀ (rad/s)
    rate: f64,
    friction: f64,
}

/// The reaction of the fat (N): what keeps the point out, and friction.
#[inline]
fn reaction(own: &Reaction) -> Vec3 {
    let Reaction { mass, h, gap, relative, input, normal, rate, friction } = *own;
    let (velocity, force) = (relative.dot(&normal), input.dot(&normal));
    let wanted = if gap >= 0.0 {
        // at most onto the fat
        -gap / h
    } else {
        // back to it, critically damped, and never deeper
        let slower = 1.0 + rate * h;
        ((velocity - h * rate * rate * gap) / (slower * slower)).max(0.0)
    };
    let push = mass * (wanted - velocity) / h - force;
    if push <= 0.0 {
        return Vec3::zeros();
    }
    if friction == 0.0 {
        return push * normal;
    }
    // what stops the point along the surface, as far as it goes
    let stopping = -(mass / h) * (relative - velocity * normal) - (input - force * normal);
    let strength = stopping.norm();
    let limit = friction * push;
    let rub = if strength > limit { stopping * (limit / strength) } else { stopping };
    push * normal + rub
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resting(force: f64, gap: f64, velocity: f64) -> Vec3 {
        reaction(&Reaction {
            mass: 0.02,
            h: 1e-3,
            gap,
            relative: Vec3::new(0.3, velocity, 0.0),
            input: Vec3::new(0.7, force, 0.0),
            normal: Vec3::y(),
            rate: 300.0,
            friction: 0.0,
        })
    }

    /// At rest on the fat the reaction is what presses, no less and no more, whatever is tangential; it lets go of what pulls outwards, however little.
    #[test]
    fn the_reaction_balances_what_presses_and_releases_what_pulls() {
        for force in [-5.0, -1e-6] {
            assert!((resting(force, 0.0, 0.0) - Vec3::new(0.0, -force, 0.0)).norm() < 1e-15);
        }
        for force in [0.0, 1e-9, 2.0] {
            assert_eq!(resting(force, 0.0, 0.0), Vec3::zeros());
        }
    }

    /// Skin 1 mm too deep comes back as a critically damped point does, of which backward Euler has the double root 1/(1 + ω₀ h): after n steps from rest x₀ (1 + n ω₀ h/(1 + ω₀ h)) (1 + ω₀ h)^(−n).
    #[test]
    fn skin_that_is_too_deep_returns_without_overshoot() {
        let (mut gap, mut velocity, h) = (-1e-3, 0.0, 1e-3);
        let mut before = gap;
        for _ in 0..40 {
            let force = resting(-3.0, gap, velocity).y - 3.0;
            velocity += h * force / 0.02;
            gap += h * velocity;
            assert!(gap >= before && gap <= 1e-12, "{before} {gap}");
            before = gap;
        }
        let wanted = -1e-3 * (1.0 + 40.0 * 0.3 / 1.3) / 1.3f64.powi(40);
        assert!((gap - wanted).abs() < 1e-12, "{gap} {wanted}");
    }

    /// Friction holds against 0.7 N beside the velocity as long as its limit allows, and is the limit beyond.
    #[test]
    fn friction_stops_up_to_its_limit() {
        let rub = |friction: f64| {
            reaction(&Reaction {
                mass: 0.02,
                h: 1e-3,
                gap: 0.0,
                relative: Vec3::zeros(),
                input: Vec3::new(0.7, -1.0, 0.0),
                normal: Vec3::y(),
                rate: 300.0,
                friction,
            })
        };
        assert!((rub(0.8) - Vec3::new(-0.7, 1.0, 0.0)).norm() < 1e-15);
        assert!((rub(0.5) - Vec3::new(-0.5, 1.0, 0.0)).norm() < 1e-15);
    }

    /// A band shorter than its slack does nothing; beyond, it pulls with k (|x| − x₀), and never pushes, however fast it shortens.
    #[test]
    fn a_band_pulls_beyond_its_slack_only() {
        let band = Band {
            node: 0,
            muscle: 0,
            undeformed: Vec3::zeros(),
            length: 0.02,
            stiffness: 50.0,
            damping: 1.0,
        };
        let pull = |x: f64, v: f64| {
            let (x, v) = (Vec3::new(x, 0.0, 0.0), Vec3::new(v, 0.0, 0.0));
            band_force(&band, (&x, &v), (&Vec3::zeros(), &Vec3::zeros())).x
        };
        assert_eq!(pull(0.0199, 3.0), 0.0);
        assert!((pull(0.03, 0.0) + 0.5).abs() < 1e-15);
        assert!((pull(0.03, 0.2) + 0.7).abs() < 1e-15);
        assert_eq!(pull(0.03, -9.0), 0.0);
    }
}
