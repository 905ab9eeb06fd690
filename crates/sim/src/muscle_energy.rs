//! Energy and forces of muscles in time steps.
//!
//! ```text
//! fibres:  E = Σ V Ψ(|F d|, a)                                                       see `sinew_flesh::Fibre`
//! lines:   E = L₀ Ψ(L/L₀, a),     L = Σ |pₖ₊₁ − pₖ|,     force on point k: −Ψ' ∂L/∂pₖ,   pₖ = R P + o on a bone
//! ```
//!
//! At a given activation muscles are elastic. What activation changes is work from outside: it is supplied as it changes, and the energy of muscles is otherwise kept out of the account of a [`State`](crate::State), like that
//! of constraints.

use crate::control::Control;
use crate::model::Model;
use crate::muscle::{LineOfAction, Muscles};
use crate::node_energy::NodeEnergy;
use sinew_flesh::{Fibre, ForceLength};
use sinew_math::nalgebra::{Matrix3x6, Matrix6};
use sinew_math::parallel::for_each_part;
use sinew_math::sparse::Row;
use sinew_math::spatial::{Frame, Twist, Wrench, cross_matrix};
use sinew_math::{Mat3, Vec3};
use std::sync::Arc;

/// Fibres per parallel task.
const CHUNK: usize = 512;

/// Workspace of muscles.
#[derive(Clone, Debug, Default)]
pub(crate) struct MuscleEnergy {
    muscles: Arc<Muscles>,
    /// Activation of each muscle.
    activations: Vec<f64>,
    /// Energy and pull of each fibre.
    pulls: Vec<(f64, Vec3)>,
    /// Blocks of the Hessian of each fibre.
    blocks: Vec<Mat3>,
    lines: Vec<LineState>,
    /// Poses of bones, the world first.
    frames: Vec<Frame>,
}

/// A line of action at the current poses.
#[derive(Clone, Debug, Default)]
struct LineState {
    muscle: usize,
    length: f64,
    /// Positions (m), gradients of the length, and velocities of its points.
    points: Vec<Vec3>,
    gradients: Vec<Vec3>,
    motion: Vec<Vec3>,
    /// Tension (N), and its derivative by the length (N/m).
    tension: f64,
    growth: f64,
}

impl MuscleEnergy {
    /// Prepares for the muscles of a model with the activations after a fraction of the step.
    pub(crate) fn begin(&mut self, model: &Model, control: &Control, fraction: f64) {
        if !Arc::ptr_eq(&self.muscles, model.muscle_store()) {
            self.muscles = model.muscle_store().clone();
            let lines = self.muscles.all.iter().enumerate().filter(|(_, muscle)| muscle.line.is_some());
            self.lines = lines.map(|(muscle, _)| LineState { muscle, ..LineState::default() }).collect();
        }
        self.activations.clear();
        let count = self.muscles.all.len();
        self.activations.extend((0..count).map(|i| control.activation_at(i, fraction)));
    }

    /// Muscles with the activations at the end of the step.
    pub(crate) fn at_end(model: &Model, control: &Control) -> MuscleEnergy {
        let mut muscles = MuscleEnergy::default();
        muscles.begin(model, control, 1.0);
        muscles
    }

    /// Appends itself to other energies if there are muscles.
    pub(crate) fn join<'a>(&'a mut self, all: &mut Vec<&'a mut dyn NodeEnergy>) {
        if !self.muscles.is_empty() {
            all.push(self);
        }
    }

    /// The energy (J) for nodes at positions (m) and the poses of bones that were set last.
    pub(crate) fn energy(&mut self, x: &[Vec3]) -> f64 {
        self.pull(|fibre, curve, activation| fibre.evaluate(curve, activation, x));
        self.pull_lines();
        self.sum()
    }

    /// The energy that a change of activations since `earlier` supplies (J).
    pub(crate) fn change_from(&self, earlier: &[f64], x: &[Vec3]) -> f64 {
        let mut sum = 0.0;
        for (i, muscle) in self.muscles.all.iter().enumerate() {
            let (before, now) = (earlier[i], self.activations[i]);
            if before == now {
                continue;
            }
            let change =
                |stretch: f64| muscle.curve.energy(stretch, now) - muscle.curve.energy(stretch, before);
            for fibre in &self.muscles.fibres[muscle.fibres.clone()] {
                sum += fibre.volume * change(fibre.direction(x).norm());
            }
            if let Some(line) = self.lines.iter().find(|line| line.muscle == i) {
                sum += muscle.length * change(line.length / muscle.length);
            }
        }
        sum
    }

    /// Current activations.
    pub(crate) fn activations(&self) -> &[f64] {
        &self.activations
    }

    /// Adds the forces on nodes (N), and on bones about the origin of the world.
    pub(crate) fn push(&mut self, x: &[Vec3], node_force: &mut [Vec3], wrenches: &mut [Wrench]) {
        // energies cost as much again, and sub-steps do without
        self.pull(|fibre, curve, activation| (0.0, fibre.pull(curve, activation, x)));
        for (fibre, (_, pull)) in self.muscles.fibres.iter().zip(&self.pulls) {
            for (node, g) in fibre.nodes.iter().zip(&fibre.gradients) {
                node_force[*node as usize] -= *g * pull;
            }
        }
        self.pull_lines();
        self.add_wrenches(-1.0, wrenches);
    }

    /// Energies and pulls of all fibres.
    fn pull(&mut self, evaluate: impl Fn(&Fibre, &ForceLength, f64) -> (f64, Vec3) + Sync) {
        let MuscleEnergy { muscles, activations, pulls, .. } = self;
        pulls.resize(muscles.fibres.len(), (0.0, Vec3::zeros()));
        for (muscle, &activation) in muscles.all.iter().zip(&*activations) {
            let fibres = &muscles.fibres[muscle.fibres.clone()];
            for_each_part(&mut pulls[muscle.fibres.clone()], CHUNK, |first, part| {
                for (pull, fibre) in part.iter_mut().zip(&fibres[first..]) {
                    *pull = evaluate(fibre, &muscle.curve, activation);
                }
            });
        }
    }

    /// Lengths and tensions of all lines.
    fn pull_lines(&mut self) {
        let MuscleEnergy { muscles, activations, lines, frames, .. } = self;
        for line in lines.iter_mut() {
            let muscle = &muscles.all[line.muscle];
            let Some(path) = &muscle.line else { continue };
            line.place(path, frames);
            line.pull(&muscle.curve, activations[line.muscle], muscle.length);
        }
    }

    fn sum(&self) -> f64 {
        let lines = self.lines.iter().map(|line| {
            let muscle = &self.muscles.all[line.muscle];
            muscle.length * muscle.curve.energy(line.length / muscle.length, self.activations[line.muscle])
        });
        self.pulls.iter().map(|(energy, _)| energy).sum::<f64>() + lines.sum::<f64>()
    }

    /// Adds the gradients of lines, times a factor, as wrenches about the origin.
    fn add_wrenches(&self, factor: f64, wrenches: &mut [Wrench]) {
        for line in &self.lines {
            self.add_line(line, wrenches, |k| factor * line.tension * line.gradients[k]);
        }
    }

    fn add_line(&self, line: &LineState, wrenches: &mut [Wrench], force: impl Fn(usize) -> Vec3) {
        let Some(path) = &self.muscles.all[line.muscle].line else { return };
        for (k, (bone, _)) in path.points.iter().enumerate() {
            let force = force(k);
            wrenches[*bone].force += force;
            wrenches[*bone].torque += line.points[k].cross(&force);
        }
    }
}

impl LineState {
    /// Where its points are, how long it is, and ∂L/∂pₖ = nₖ₋₁ − nₖ.
    fn place(&mut self, path: &LineOfAction, frames: &[Frame]) {
        self.points.clear();
        self.points.extend(path.points.iter().map(|(bone, place)| frames[*bone].point(place)));
        self.gradients.clear();
        self.gradients.resize(self.points.len(), Vec3::zeros());
        self.length = 0.0;
        for k in 1..self.points.len() {
            let side = self.points[k] - self.points[k - 1];
            let length = side.norm();
            self.length += length;
            // points at one place have no direction
            let n = if length > 0.0 { side / length } else { Vec3::zeros() };
            self.gradients[k] += n;
            self.gradients[k - 1] -= n;
        }
    }

    fn pull(&mut self, curve: &ForceLength, activation: f64, rest: f64) {
        self.tension = curve.stress(self.length / rest, activation);
        self.growth = curve.tangent(self.length / rest, activation).max(0.0) / rest;
    }

    /// The product of its Hessian over points with their motion: growth g gᵀ, and T (1 − n nᵀ)/|p| over sides.
    fn product(&self, motion: &[Vec3]) -> Vec<Vec3> {
        let rate: f64 = self.gradients.iter().zip(motion).map(|(g, v)| g.dot(v)).sum();
        let mut out: Vec<Vec3> = self.gradients.iter().map(|g| self.growth * rate * g).collect();
        for k in 1..self.points.len() {
            let side = self.points[k] - self.points[k - 1];
            let length = side.norm();
            if length == 0.0 {
                continue;
            }
            let (n, apart) = (side / length, motion[k] - motion[k - 1]);
            let across = (apart - n * n.dot(&apart)) * (self.tension / length);
            out[k] += across;
            out[k - 1] -= across;
        }
        out
    }
}

impl NodeEnergy for MuscleEnergy {
    fn evaluate(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        self.pull(|fibre, curve, activation| fibre.evaluate(curve, activation, x));
        for (fibre, (_, pull)) in self.muscles.fibres.iter().zip(&self.pulls) {
            for (node, g) in fibre.nodes.iter().zip(&fibre.gradients) {
                gradient[*node as usize] += *g * pull;
            }
        }
        self.pull_lines();
        self.sum()
    }

    /// Fibres have no resultant on any part, and lines pull on bones only.
    fn is_internal(&self) -> bool {
        true
    }

    fn update(&mut self, x: &[Vec3]) {
        let MuscleEnergy { muscles, activations, blocks, .. } = self;
        blocks.resize(muscles.fibres.len(), Mat3::zeros());
        for (muscle, &activation) in muscles.all.iter().zip(&*activations) {
            let fibres = &muscles.fibres[muscle.fibres.clone()];
            for_each_part(&mut blocks[muscle.fibres.clone()], CHUNK, |first, part| {
                for (block, fibre) in part.iter_mut().zip(&fibres[first..]) {
                    *block = fibre.tangent(&muscle.curve, activation, x).block;
                }
            });
        }
        self.pull_lines();
    }

    fn multiply(&self, u: &[Row], out: &mut [Row]) {
        let vector = |[x, y, z, _]: Row| Vec3::new(f64::from(x), f64::from(y), f64::from(z));
        for (fibre, block) in self.muscles.fibres.iter().zip(&self.blocks) {
            let moved = fibre.nodes.iter().zip(&fibre.gradients);
            let motion: Vec3 = moved.clone().map(|(node, g)| *g * vector(u[*node as usize])).sum();
            let pull = block * motion;
            for (node, g) in moved {
                let row = &mut out[*node as usize];
                (0..3).for_each(|k| row[k] += (*g * pull[k]) as f32);
            }
        }
    }

    fn add_diagonal(&self, blocks: &mut [Mat3]) {
        for (fibre, block) in self.muscles.fibres.iter().zip(&self.blocks) {
            for (node, g) in fibre.nodes.iter().zip(&fibre.gradients) {
                blocks[*node as usize] += block * (g * g);
            }
        }
    }

    fn see_bones(&mut self, frames: &[Frame]) {
        if !self.lines.is_empty() {
            self.frames.clear();
            self.frames.extend_from_slice(frames);
        }
    }

    fn add_bone_gradients(&self, wrenches: &mut [Wrench]) {
        self.add_wrenches(1.0, wrenches);
    }

    fn move_bones(&mut self, twists: &[Twist]) {
        let MuscleEnergy { muscles, lines, .. } = self;
        for line in lines.iter_mut() {
            let Some(path) = &muscles.all[line.muscle].line else { continue };
            let velocity = |(k, (bone, _)): (usize, &(usize, Vec3))| {
                let twist = twists.get(*bone);
                twist.map_or(Vec3::zeros(), |twist| twist.linear + twist.angular.cross(&line.points[k]))
            };
            line.motion = path.points.iter().enumerate().map(velocity).collect();
        }
    }

    fn add_bone_products(&self, _u: &[Row], wrenches: &mut [Wrench]) {
        for line in &self.lines {
            let product = line.product(&line.motion);
            self.add_line(line, wrenches, |k| product[k]);
        }
    }

    fn add_bone_blocks(&self, blocks: &mut [Matrix6<f64>]) {
        for line in &self.lines {
            let Some(path) = &self.muscles.all[line.muscle].line else { continue };
            for (k, (bone, _)) in path.points.iter().enumerate() {
                // all points of the same bone move together
                let mut jacobian = Matrix3x6::zeros();
                jacobian.fixed_view_mut::<3, 3>(0, 0).copy_from(&-cross_matrix(&line.points[k]));
                jacobian.fixed_view_mut::<3, 3>(0, 3).copy_from(&Mat3::identity());
                let g = line.gradients[k];
                let mut own = g * g.transpose() * line.growth;
                let sides = [k.checked_sub(1).map(|before| (before, k)), Some((k, k + 1))];
                for (a, b) in sides.into_iter().flatten().filter(|(_, b)| *b < line.points.len()) {
                    let side = line.points[b] - line.points[a];
                    let length = side.norm();
                    if length > 0.0 {
                        let n = side / length;
                        own += (Mat3::identity() - n * n.transpose()) * (line.tension / length);
                    }
                }
                blocks[*bone] += jacobian.transpose() * own * jacobian;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[Vec3]) -> LineState {
        let path = LineOfAction { points: points.iter().map(|x| (0, *x)).collect() };
        let mut line = LineState::default();
        line.place(&path, &[Frame::default()]);
        // on the ascending limb, where no part of the Hessian is left out
        line.pull(&ForceLength { max_stress: 500.0, optimal_stretch: 1.4, passive: 1.0 }, 0.7, 0.35);
        line
    }

    /// Central differences over 1e-6 m: right to 1e-12 of third derivatives, some 1e6 N/m², and lose 1e-8 of forces of some 100 N to round-off.
    #[test]
    fn tension_and_hessian_of_a_line_are_derivatives_of_its_energy() {
        let curve = ForceLength { max_stress: 500.0, optimal_stretch: 1.4, passive: 1.0 };
        let points = [Vec3::new(0.0, 0.3, 0.01), Vec3::new(0.03, 0.12, -0.01), Vec3::new(0.05, 0.0, 0.0)];
        let (own, e) = (line(&points), 1e-6);
        for i in 0..9 {
            let moved = |by: f64| {
                let mut moved = points;
                moved[i / 3][i % 3] += by;
                line(&moved)
            };
            let (ahead, back) = (moved(e), moved(-e));
            let energy = |line: &LineState| 0.35 * curve.energy(line.length / 0.35, 0.7);
            let derivative = (energy(&ahead) - energy(&back)) / (2.0 * e);
            let force = own.tension * own.gradients[i / 3][i % 3];
            assert!((derivative - force).abs() < 1e-5 * own.tension, "{derivative} {force}");
            let mut motion = [Vec3::zeros(); 3];
            motion[i / 3][i % 3] = 1.0;
            for (k, product) in own.product(&motion).iter().enumerate() {
                let change =
                    (ahead.tension * ahead.gradients[k] - back.tension * back.gradients[k]) / (2.0 * e);
                assert!((change - product).norm() < 1e-3 * own.growth, "{change} {product}");
            }
        }
    }

    /// Tension along the sides has neither a resultant nor a moment.
    #[test]
    fn a_line_pushes_and_turns_nothing_as_a_whole() {
        let points = [Vec3::new(0.0, 0.3, 0.01), Vec3::new(0.03, 0.12, -0.01), Vec3::new(0.05, 0.0, 0.0)];
        let line = line(&points);
        assert!(line.gradients.iter().sum::<Vec3>().norm() < 1e-14);
        let moment: Vec3 = points.iter().zip(&line.gradients).map(|(x, g)| x.cross(g)).sum();
        assert!(moment.norm() < 1e-14);
    }
}
