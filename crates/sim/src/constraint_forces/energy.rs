//! Constraint energies over nodes, bones and dynamic obstacles, for implicit steps and settling.
//!
//! ```text
//! E = Σ spring(d) + c/(2h) |d − d₀|²,     d = Σ φᵢ xᵢ ± (R p + o) − target
//! ```
//!
//! d₀ is the gap at the beginning of the step. Damping over a step of h acts on all components for a point with a target, along the axis for two points, and on the length for a belt. The rotation of a bone's point is linearised,
//! as are all terms of bones. For projection as in [Capell2004, §4.8], the rows here are the columns of C.

use crate::NodeEnergy;
use crate::constraint::{Anchor, Asked, Hold, NodeRow, belt, combined, sum};
use crate::substep::Substep;
use crate::{Control, Model, State};
use sinew_math::nalgebra::{Matrix3x6, Matrix6};
use sinew_math::sparse::Row;
use sinew_math::spatial::{Frame, Twist, Wrench, cross_matrix};
use sinew_math::{Mat3, Vec3};

/// All constraints of a model in one implicit step.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConstraintEnergy {
    gaps: Vec<ConstraintGap>,
    belts: Vec<ConstraintBelt>,
}

/// A spring over a gap.
#[derive(Clone, Debug)]
struct ConstraintGap {
    row: NodeRow,
    bones: Vec<BonePoint>,
    /// Offset subtracted from the row's sum (m).
    place: Vec3,
    asked: Asked,
    /// c/h over the gap (N/m), and d₀.
    damper: Mat3,
    start: Vec3,
    /// Gradient at the last evaluation (N), and Hessian (N/m).
    gap_gradient: Vec3,
    hessian: Mat3,
}

/// A point of a bone or dynamic obstacle at one end of a gap.
#[derive(Clone, Copy, Debug)]
struct BonePoint {
    /// The rigid body: the world, then the bones of all rigs, then all obstacles.
    bone: usize,
    /// Position in the bone's frame (m).
    place: Vec3,
    /// +1 at the first end of the gap, −1 at the second.
    sign: f64,
    /// Its world position (m), and its velocity.
    at: Vec3,
    motion: Vec3,
}

/// A belt.
#[derive(Clone, Debug)]
struct ConstraintBelt {
    rows: Vec<NodeRow>,
    asked: Asked,
    /// c/h (N/m), and the length at the beginning of the step (m).
    damper: f64,
    start: f64,
    points: Vec<Vec3>,
    /// Tension including damping (N), and its derivative with respect to the length (N/m).
    tension: f64,
    growth: f64,
}

/// A sub-step, whether damping acts, and the poses of bones at its beginning.
#[derive(Clone, Copy)]
pub(crate) struct ConstraintStep<'a> {
    pub(crate) substep: Substep,
    pub(crate) is_damped: bool,
    pub(crate) bones: &'a [Frame],
}

impl ConstraintEnergy {
    /// Prepares for a sub-step that begins at a state.
    pub(crate) fn begin(&mut self, model: &Model, control: &Control, step: ConstraintStep, state: &State) {
        self.gaps.clear();
        self.belts.clear();
        for (i, constraint) in model.constraints().iter().enumerate() {
            let path = control.constraint(i);
            let Substep { from, to, h, .. } = step.substep;
            let [before, asked] = [from, to].map(|fraction| path.asks(constraint, fraction));
            let rate = if step.is_damped { asked.damping / h } else { 0.0 };
            match &constraint.hold {
                // a point with a target
                Hold::Place { anchor, .. } => {
                    let mut gap = ConstraintGap::between(model, state, &[(anchor, 1.0)], asked);
                    gap.see_bones(step.bones);
                    // damping is relative to a moving target
                    gap.start = gap.at(&state.node_x) - before.place;
                    gap.place += asked.place;
                    gap.damper = Mat3::from_diagonal_element(rate);
                    self.gaps.push(gap);
                }

                // two points
                Hold::Between([a, b]) => {
                    let mut gap = ConstraintGap::between(model, state, &[(a, 1.0), (b, -1.0)], asked);
                    gap.see_bones(step.bones);
                    gap.start = gap.at(&state.node_x);
                    let is_taut = gap.start.norm() > 0.0 && asked.spring.is_taut(&gap.start);
                    let n = if is_taut { gap.start.normalize() } else { Vec3::zeros() };
                    gap.damper = n * n.transpose() * rate;
                    self.gaps.push(gap);
                }

                // no energy, see `exact_constraints`
                Hold::Exact { .. } => {}

                // a belt
                Hold::Around(rows) => {
                    let points: Vec<Vec3> = rows.iter().map(|row| sum(row, &state.node_x)).collect();
                    let start = belt::length(&points);
                    let damper = if start > asked.spring.length { rate } else { 0.0 };
                    let (rows, tension, growth) = (rows.clone(), 0.0, 0.0);
                    self.belts.push(ConstraintBelt { rows, asked, damper, start, points, tension, growth });
                }
            }
        }
    }

    /// Sets the reference gaps of damping by extrapolation from those of an earlier start through its own: d₀ + s (d₁ − d₀).
    pub(crate) fn begin_beyond(&mut self, earlier: &ConstraintEnergy, s: f64) {
        for (own, earlier) in self.gaps.iter_mut().zip(&earlier.gaps) {
            own.start = earlier.start + s * (own.start - earlier.start);
        }
        for (own, earlier) in self.belts.iter_mut().zip(&earlier.belts) {
            own.start = earlier.start + s * (own.start - earlier.start);
        }
    }

    /// Appends the constraints, if a model has any, to other energies.
    pub(crate) fn beside<'a>(
        &'a mut self,
        model: &Model,
        extras: &'a mut [&mut dyn NodeEnergy],
    ) -> Vec<&'a mut dyn NodeEnergy> {
        let mut all: Vec<&'a mut dyn NodeEnergy> = Vec::with_capacity(extras.len() + 1);
        for extra in extras.iter_mut() {
            all.push(&mut **extra);
        }
        if !model.constraints().is_empty() {
            all.push(self);
        }
        all
    }
}

impl BonePoint {
    fn new(bone: usize, place: Vec3, sign: f64) -> BonePoint {
        BonePoint { bone, place, sign, at: Vec3::zeros(), motion: Vec3::zeros() }
    }
}

impl ConstraintGap {
    /// The gap from anchors of sign −1 to those of sign +1; fixed and kinematic obstacles do not move.
    fn between(model: &Model, state: &State, ends: &[(&Anchor, f64)], asked: Asked) -> ConstraintGap {
        let (mut rows, mut bones, mut place) = (Vec::new(), Vec::new(), Vec3::zeros());
        for (anchor, sign) in ends {
            match anchor {
                Anchor::Nodes(row) => rows.push((row.as_slice(), *sign)),
                Anchor::Bone { rig, bone, place } => {
                    bones.push(BonePoint::new(model.rigs()[*rig].bones.start + bone, *place, *sign));
                }
                Anchor::Obstacle { obstacle, place } if model.solid(*obstacle).is_some() => {
                    let bone = model.rigs().last().map_or(1, |rig| rig.bones.end) + obstacle;
                    bones.push(BonePoint::new(bone, *place, *sign));
                }
                Anchor::Obstacle { obstacle, place: own } => {
                    let pose = &state.obstacles[*obstacle].pose;
                    place -= *sign * (pose.rotation * own + pose.translation.vector);
                }
            }
        }
        ConstraintGap {
            row: combined(&rows),
            bones,
            place,
            asked,
            damper: Mat3::zeros(),
            start: Vec3::zeros(),
            gap_gradient: Vec3::zeros(),
            hessian: Mat3::zeros(),
        }
    }

    fn see_bones(&mut self, frames: &[Frame]) {
        for point in &mut self.bones {
            point.at = frames[point.bone].point(&point.place);
        }
    }

    fn at(&self, x: &[Vec3]) -> Vec3 {
        let bones: Vec3 = self.bones.iter().map(|point| point.sign * point.at).sum();
        sum(&self.row, x) + bones - self.place
    }

    /// The change of the gap for displacements of nodes and bones.
    fn motion(&self, u: &[Row]) -> Vec3 {
        let bones: Vec3 = self.bones.iter().map(|point| point.sign * point.motion).sum();
        moved(&self.row, u) + bones
    }

    fn add_wrenches(&self, gap_gradient: &Vec3, wrenches: &mut [Wrench]) {
        for point in &self.bones {
            let pull = point.sign * gap_gradient;
            wrenches[point.bone].force += pull;
            wrenches[point.bone].torque += point.at.cross(&pull);
        }
    }
}

impl ConstraintBelt {
    /// Updates its points and tension, and returns its energy.
    fn place(&mut self, x: &[Vec3]) -> f64 {
        let ConstraintBelt { rows, points, .. } = self;
        points.iter_mut().zip(rows).for_each(|(point, row)| *point = sum(row, x));
        let length = belt::length(&self.points);
        let spring = &self.asked.spring;
        let pull = belt::pull(length, spring.stiffness, spring.length);
        let grown = length - self.start;
        self.tension = pull.tension + self.damper * grown;
        self.growth = self.damper + if pull.tension > 0.0 { spring.stiffness } else { 0.0 };
        pull.energy + 0.5 * self.damper * grown * grown
    }
}

impl NodeEnergy for ConstraintEnergy {
    fn evaluate(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        let mut energy = 0.0;
        for held in &mut self.gaps {
            let gap = held.at(x);
            let moved = gap - held.start;
            let damped = held.damper * moved;
            energy += held.asked.spring.energy(&gap) + 0.5 * moved.dot(&damped);
            held.gap_gradient = held.asked.spring.gradient(&gap) + damped;
            held.row
                .iter()
                .for_each(|(node, weight)| gradient[*node as usize] += *weight * held.gap_gradient);
        }
        for held in &mut self.belts {
            energy += held.place(x);
            for (i, row) in held.rows.iter().enumerate() {
                let gap_gradient = held.tension * belt::length_gradient(&held.points, i);
                row.iter().for_each(|(node, weight)| gradient[*node as usize] += *weight * gap_gradient);
            }
        }
        energy
    }

    fn update(&mut self, x: &[Vec3]) {
        for held in &mut self.gaps {
            held.hessian = held.asked.spring.hessian(&held.at(x)) + held.damper;
        }
        for held in &mut self.belts {
            held.place(x);
        }
    }

    fn multiply(&self, u: &[Row], out: &mut [Row]) {
        for held in &self.gaps {
            let pull = held.hessian * held.motion(u);
            held.row.iter().for_each(|(node, weight)| add(&mut out[*node as usize], &(*weight * pull)));
        }
        for held in &self.belts {
            let motion: Vec<Vec3> = held.rows.iter().map(|row| moved(row, u)).collect();
            let grows = held.growth * belt::length_rate(&held.points, &motion);
            let gap_gradient = |i: usize| grows * belt::length_gradient(&held.points, i);
            let mut product: Vec<Vec3> = (0..held.rows.len()).map(gap_gradient).collect();
            // damping may cause compression, whose geometric stiffness is negative
            belt::add_turning(&held.points, held.tension.max(0.0), &motion, &mut product);
            for (row, product) in held.rows.iter().zip(&product) {
                row.iter().for_each(|(node, weight)| add(&mut out[*node as usize], &(*weight * product)));
            }
        }
    }

    fn add_diagonal(&self, blocks: &mut [Mat3]) {
        for held in &self.gaps {
            let own = |weight: f64| held.hessian * (weight * weight);
            held.row.iter().for_each(|(node, weight)| blocks[*node as usize] += own(*weight));
        }
        for held in &self.belts {
            for (i, row) in held.rows.iter().enumerate() {
                let gap_gradient = belt::length_gradient(&held.points, i);
                let before = (i + held.rows.len() - 1) % held.rows.len();
                let mut own = gap_gradient * gap_gradient.transpose() * held.growth;
                for side in [before, i] {
                    let length = belt::side(&held.points, side).norm();
                    let n = belt::direction(&held.points, side);
                    if length > 0.0 {
                        own += (Mat3::identity() - n * n.transpose()) * (held.tension.max(0.0) / length);
                    }
                }
                row.iter().for_each(|(node, weight)| blocks[*node as usize] += own * (weight * weight));
            }
        }
    }

    fn see_bones(&mut self, frames: &[Frame]) {
        self.gaps.iter_mut().for_each(|held| held.see_bones(frames));
    }

    fn add_bone_gradients(&self, wrenches: &mut [Wrench]) {
        self.gaps.iter().for_each(|held| held.add_wrenches(&held.gap_gradient, wrenches));
    }

    fn move_bones(&mut self, twists: &[Twist]) {
        for point in self.gaps.iter_mut().flat_map(|held| &mut held.bones) {
            let twist = twists.get(point.bone);
            point.motion = twist.map_or(Vec3::zeros(), |twist| twist.linear + twist.angular.cross(&point.at));
        }
    }

    fn add_bone_products(&self, u: &[Row], wrenches: &mut [Wrench]) {
        for held in &self.gaps {
            held.add_wrenches(&(held.hessian * held.motion(u)), wrenches);
        }
    }

    fn add_bone_blocks(&self, blocks: &mut [Matrix6<f64>]) {
        for (held, point) in
            self.gaps.iter().flat_map(|held| held.bones.iter().map(move |point| (held, point)))
        {
            let mut jacobian = Matrix3x6::zeros();
            jacobian.fixed_view_mut::<3, 3>(0, 0).copy_from(&-cross_matrix(&point.at));
            jacobian.fixed_view_mut::<3, 3>(0, 3).copy_from(&Mat3::identity());
            blocks[point.bone] += jacobian.transpose() * held.hessian * jacobian;
        }
    }
}

fn moved(row: &[(u32, f64)], u: &[Row]) -> Vec3 {
    let vector = |[x, y, z, _]: Row| Vec3::new(f64::from(x), f64::from(y), f64::from(z));
    row.iter().fold(Vec3::zeros(), |sum, (node, weight)| sum + *weight * vector(u[*node as usize]))
}

fn add(out: &mut Row, by: &Vec3) {
    (0..3).for_each(|i| out[i] += by[i] as f32);
}
