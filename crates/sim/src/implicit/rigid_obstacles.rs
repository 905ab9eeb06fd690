//! Dynamic obstacles as unknowns of an implicit step, with six degrees of freedom each: the displacement of the centre of mass and a rotation vector about it.
//!
//! ```text
//! U = m/(2h²) |c − ĉ|² + ‖R − R̂‖²_M/(2h²),      ĉ = cₙ + h vₙ + h² g,     R̂ = Φ_h(Rₙ, Lₙ),      M = ∫ ρ x xᵀ about the centre of mass
//! v' = (c − cₙ)/h,      L' = Lₙ + (R M R̂ᵀ − R̂ M Rᵀ)ᵛ/h,      ω' = (R I Rᵀ)⁻¹ L'
//! ```
//!
//! Φ_h is the free rotation with constant angular momentum L. At the minimum the gradient (R M R̂ᵀ − R̂ M Rᵀ)ᵛ/h² of the second term balances the torque τ of all others, so L' = L + h τ exactly: a body that nothing pushes
//! keeps its angular momentum to round-off at any step, and rotates as accurately as Φ. Iterates move by c ← c + u, R ← exp(θ) R.
//!
//! The stages of SDIRK2 extrapolate momenta and the rotation θ₁ = log(R₁ R̂₁ᵀ) that torques caused in the first stage η, κ = (1 − γ)/γ:
//!
//! ```text
//! L* = Lₙ + κ (L₁ − Lₙ),      R̂₂ = exp(2 κ θ₁) Φ_h(Rₙ, Lₙ)
//! ```
//!
//! which for small rotations is x̂₂ = xₙ + h vₙ + 2 κ η² a₁ of `second_order`. Parts of an obstacle move with it.

use super::second_order::EXTRAPOLATION;
use crate::contact::Contacts;
use crate::obstacle::ObstacleState;
use crate::{Control, Model, NodeEnergy, State};
use sinew_contact::SolidMass;
use sinew_math::nalgebra::{Matrix6, Quaternion, Unit};
use sinew_math::spatial::{Frame, Twist, Wrench, cross_matrix};
use sinew_math::{Isometry, Mat3, Rotation, Vec3, so3};

/// Orientation and centre of mass of a dynamic obstacle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RigidPose {
    pub(super) rotation: Rotation,
    /// Centre of mass (m).
    pub(super) center: Vec3,
}

/// All dynamic obstacles of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct RigidObstacles {
    /// Those that are unknowns: all but those that wait.
    bodies: Vec<RigidBody>,
    /// What the second of two stages needs from the first.
    earlier: Vec<FirstStage>,
    /// Poses of all obstacles at the current iterate, and at the beginning of the step; empty if none is dynamic.
    frames: Vec<Frame>,
    pub(super) start_frames: Vec<Frame>,
    /// Diagonal blocks of extra energies, by rigid body.
    blocks: Vec<Matrix6<f64>>,
    /// Which of them nothing but gravity acts on at the end of this solve, and of the first of two stages.
    is_flying: Vec<bool>,
    was_flying: Vec<bool>,
    node_gradient: Vec<Vec3>,
    wrenches: Vec<Wrench>,
    h: f64,
}

/// A dynamic obstacle that is an unknown.
#[derive(Clone, Copy, Debug)]
struct RigidBody {
    obstacle: usize,
    solid: SolidMass,
    /// M in the axes of its shape (kg m²).
    moments: Mat3,
    /// cₙ, Rₙ, vₙ and Lₙ.
    start: RigidPose,
    velocity: Vec3,
    momentum: Vec3,
    /// ĉ and R̂.
    aim: RigidPose,
    /// Whether it was in contact at the beginning.
    is_touching: bool,
    /// Radius at which torques are converted to forces (m): the radius of gyration.
    reach: f64,
}

/// The beginning of a second-order step and the prediction of its first stage.
#[derive(Clone, Copy, Debug)]
struct FirstStage {
    center: Vec3,
    velocity: Vec3,
    momentum: Vec3,
    aim: Rotation,
    /// Φ_h(Rₙ, Lₙ) over the whole step.
    free_end: Rotation,
}

/// Longest rotation per step of the Runge–Kutta method for free rotation (rad): its local error is of the fifth order, some 1e-9 rad.
const FREE_STEP: f64 = 0.05;
/// Maximum number of these steps: at 10,000 rad per step nothing is resolved anyway.
const MAX_FREE_STEPS: f64 = 1e4;

impl RigidPose {
    fn of(state: &ObstacleState, solid: &SolidMass) -> RigidPose {
        RigidPose { rotation: state.pose.rotation, center: state.center(solid) }
    }

    /// The pose of the shape.
    pub(super) fn isometry(&self, solid: &SolidMass) -> Isometry {
        Isometry::from_parts((self.center - self.rotation * solid.center).into(), self.rotation)
    }

    fn moved(&self, twist: &Twist, fraction: f64) -> RigidPose {
        let mut rotation = so3::exp(&(fraction * twist.angular)) * self.rotation;
        rotation.renormalize();
        RigidPose { rotation, center: self.center + fraction * twist.linear }
    }
}

impl RigidBody {
    fn begin(model: &Model, obstacle: usize, solid: &SolidMass, h: f64, state: &ObstacleState) -> RigidBody {
        let start = RigidPose::of(state, solid);
        let momentum = inertia(&start.rotation, solid) * state.angular;
        let aim = RigidPose {
            rotation: rotate_freely(start.rotation, solid, &momentum, h),
            center: start.center + h * state.linear + h * h * model.gravity(),
        };
        let moments = Mat3::from_diagonal_element(0.5 * solid.inertia.trace()) - solid.inertia;
        let reach = (solid.inertia.trace() / (3.0 * solid.mass)).sqrt();
        let (velocity, solid, is_touching) = (state.linear, *solid, false);
        RigidBody { obstacle, solid, moments, start, velocity, momentum, aim, is_touching, reach }
    }

    /// (R M R̂ᵀ − R̂ M Rᵀ)ᵛ: the angular impulse times h that leads from R̂ to R.
    fn turning(&self, rotation: &Rotation) -> Vec3 {
        let (now, aim) = (matrix(rotation), matrix(&self.aim.rotation));
        let w = now * self.moments * aim.transpose();
        Vec3::new(w[(2, 1)] - w[(1, 2)], w[(0, 2)] - w[(2, 0)], w[(1, 0)] - w[(0, 1)])
    }

    /// The inertial potential (J) at a pose.
    fn energy(&self, pose: &RigidPose, h: f64) -> f64 {
        let turned = matrix(&pose.rotation) - matrix(&self.aim.rotation);
        let moved = pose.center - self.aim.center;
        let sum = (turned * self.moments).dot(&turned) + self.solid.mass * moved.norm_squared();
        0.5 * sum / (h * h)
    }

    /// Its gradient about the centre of mass.
    fn gradient(&self, pose: &RigidPose, h: f64) -> Wrench {
        let force = self.solid.mass * (pose.center - self.aim.center);
        Wrench::new(self.turning(&pose.rotation), force) * (1.0 / (h * h))
    }
}

impl RigidObstacles {
    /// Sets up a sub-step; returns nothing to solve for if obstacles do not move in it.
    pub(super) fn begin(&mut self, model: &Model, control: &Control, h: f64, state: &State) {
        self.bodies.clear();
        self.frames.clear();
        self.start_frames.clear();
        self.h = h;
        if !model.has_free_obstacles() {
            return;
        }
        let can_move = Contacts::can_collide_in(model, control);
        for (i, (obstacle, now)) in model.obstacles().iter().zip(&state.obstacles).enumerate() {
            self.frames.push(Frame::from(&now.pose));
            if let Some(solid) =
                obstacle.solid.as_ref().filter(|_| can_move && !control.obstacle_waits(model, i))
            {
                self.bodies.push(RigidBody::begin(model, i, solid, h, now));
            }
        }
        self.start_frames.clone_from(&self.frames);
        self.find_touching(model, state);
    }

    /// Finds those with friction anchors, on them or on their samples.
    fn find_touching(&mut self, model: &Model, state: &State) {
        for held in &state.anchors {
            let owners = model.obstacles().partition_point(|obstacle| obstacle.first_sample <= held.point);
            let sides = [Some(held.obstacle as usize), owners.checked_sub(1)];
            for side in sides.into_iter().flatten().map(|side| model.obstacles()[side].carrier) {
                if let Ok(i) = self.bodies.binary_search_by_key(&side, |body| body.obstacle) {
                    self.bodies[i].is_touching = true;
                }
            }
        }
    }

    /// Whether any is unknown.
    pub(super) fn any_sought(&self) -> bool {
        !self.bodies.is_empty()
    }

    /// Whether the model has any, unknown or not.
    pub(super) fn any(&self) -> bool {
        !self.frames.is_empty()
    }

    /// Masses of the unknown ones (kg).
    pub(super) fn masses(&self) -> impl Iterator<Item = f64> + '_ {
        self.bodies.iter().map(|body| body.solid.mass)
    }

    /// Initial guess: free flight, or for those in contact constant velocity.
    pub(super) fn extrapolate(&self, out: &mut Vec<RigidPose>) {
        out.clear();
        out.extend(self.bodies.iter().map(|body| {
            let onward = body.start.center + self.h * body.velocity;
            RigidPose { center: if body.is_touching { onward } else { body.aim.center }, ..body.aim }
        }));
    }

    /// Places all obstacles at an iterate and appends their poses to those of bones, the world first.
    pub(super) fn append_frames(&mut self, poses: &[RigidPose], frames: &mut Vec<Frame>) {
        for (body, pose) in self.bodies.iter().zip(poses) {
            self.frames[body.obstacle] = Frame::from(&pose.isometry(&body.solid));
        }
        frames.extend_from_slice(&self.frames);
    }

    /// The inertial potential (J) and the gradient about the centres of mass, given the wrenches of all other energies on obstacles about the origin of the world.
    pub(super) fn evaluate(
        &self,
        poses: &[RigidPose],
        wrenches: &[Wrench],
        gradient: &mut Vec<Wrench>,
    ) -> f64 {
        gradient.clear();
        let mut sum = 0.0;
        for (body, pose) in self.bodies.iter().zip(poses) {
            sum += body.energy(pose, self.h);
            gradient.push(body.gradient(pose, self.h) + about(&wrenches[body.obstacle], &pose.center));
        }
        sum
    }

    /// The inertial part of the gradient at a pose, which static equilibrium does not have: all but gravity.
    pub(super) fn subtract_inertia(&self, poses: &[RigidPose], gradient: &mut [Wrench]) {
        for ((body, pose), gradient) in self.bodies.iter().zip(poses).zip(gradient) {
            let moved = body.solid.mass * (pose.center - body.start.center);
            *gradient =
                *gradient - Wrench::new(body.turning(&pose.rotation), moved) * (1.0 / (self.h * self.h));
        }
    }

    /// Σ of squared gradients (N²), torques divided by the radius of gyration.
    pub(super) fn norm_squared<'a>(&self, gradient: impl Iterator<Item = (&'a Vec3, &'a Vec3)>) -> f64 {
        let own = |(body, (torque, force)): (&RigidBody, (&Vec3, &Vec3))| {
            torque.norm_squared() / (body.reach * body.reach) + force.norm_squared()
        };
        self.bodies.iter().zip(gradient).map(own).sum()
    }

    /// Appends the twists of all obstacles about the origin of the world, for motions about the centres of mass.
    pub(super) fn append_twists(&self, poses: &[RigidPose], motion: &[Twist], twists: &mut Vec<Twist>) {
        let first = twists.len();
        twists.resize(first + self.frames.len(), Twist::default());
        for ((body, pose), motion) in self.bodies.iter().zip(poses).zip(motion) {
            let linear = motion.linear - motion.angular.cross(&pose.center);
            twists[first + body.obstacle] = Twist::new(motion.angular, linear);
        }
    }

    /// Products of the Hessian with a motion, given the wrenches of all other energies on obstacles.
    pub(super) fn multiply(
        &self,
        poses: &[RigidPose],
        motion: &[Twist],
        wrenches: &[Wrench],
        out: &mut [Twist],
    ) {
        let rate = 1.0 / (self.h * self.h);
        for (((body, pose), motion), out) in self.bodies.iter().zip(poses).zip(motion).zip(out) {
            let wrench = about(&wrenches[body.obstacle], &pose.center);
            let turned = rate * (inertia(&pose.rotation, &body.solid) * motion.angular);
            *out = Twist::new(turned + wrench.torque, rate * body.solid.mass * motion.linear + wrench.force);
        }
    }

    /// Inverse diagonal blocks of the Hessian: inertia, and the blocks of extra energies, which see obstacles after `bones` other rigid bodies.
    pub(super) fn inverse_blocks(
        &mut self,
        poses: &[RigidPose],
        (bones, extras): (usize, &[&mut dyn NodeEnergy]),
        out: &mut Vec<Matrix6<f64>>,
    ) {
        out.clear();
        self.blocks.clear();
        self.blocks.resize(bones + self.frames.len(), Matrix6::zeros());
        extras.iter().for_each(|extra| extra.add_bone_blocks(&mut self.blocks));
        let rate = 1.0 / (self.h * self.h);
        for (body, pose) in self.bodies.iter().zip(poses) {
            // a motion about the centre as a twist about the origin
            let mut twist = Matrix6::identity();
            twist.fixed_view_mut::<3, 3>(3, 0).copy_from(&cross_matrix(&pose.center));
            let mut block = twist.transpose() * self.blocks[bones + body.obstacle] * twist;
            let turned = rate * inertia(&pose.rotation, &body.solid);
            let mut view = block.fixed_view_mut::<3, 3>(0, 0);
            view += turned;
            (3..6).for_each(|i| block[(i, i)] += rate * body.solid.mass);
            let symmetric = (block + block.transpose()) * 0.5;
            out.push(symmetric.cholesky().map_or_else(Matrix6::zeros, |factor| factor.inverse()));
        }
    }

    /// Poses after a displacement along a motion.
    pub(super) fn moved(&self, from: &[RigidPose], motion: &[Twist], fraction: f64, to: &mut Vec<RigidPose>) {
        to.clear();
        to.extend(from.iter().zip(motion).map(|(pose, twist)| pose.moved(twist, fraction)));
    }

    /// Finds out on which of them nothing but gravity acts at node positions `x` (m), with extra energies that see their poses already.
    pub(super) fn find_flying(&mut self, bones: usize, x: &[Vec3], extras: &mut [&mut dyn NodeEnergy]) {
        self.is_flying.clear();
        if !self.any_sought() {
            return;
        }
        self.node_gradient.clear();
        self.node_gradient.resize(x.len(), Vec3::zeros());
        self.wrenches.clear();
        self.wrenches.resize(bones + self.frames.len(), Wrench::default());
        for extra in extras.iter_mut() {
            extra.evaluate(x, &mut self.node_gradient);
            extra.add_bone_gradients(&mut self.wrenches);
        }
        let flies = |body: &RigidBody| self.wrenches[bones + body.obstacle] == Wrench::default();
        self.is_flying.extend(self.bodies.iter().map(flies));
    }

    /// Turns a problem set up for the first of two stages of a step of `whole` (s) into it.
    pub(super) fn begin_first(&mut self, whole: f64) {
        self.earlier.clear();
        self.earlier.extend(self.bodies.iter().map(|body| FirstStage {
            center: body.start.center,
            velocity: body.velocity,
            momentum: body.momentum,
            aim: body.aim.rotation,
            free_end: rotate_freely(body.start.rotation, &body.solid, &body.momentum, whole),
        }));
    }

    /// Turns a problem set up at the end of the first stage into the second one; also places the initial guess.
    pub(super) fn begin_second(&mut self, model: &Model, onward: &mut [RigidPose]) {
        let h = self.h;
        for ((body, earlier), onward) in self.bodies.iter_mut().zip(&self.earlier).zip(onward) {
            // initial guess from the end of the first stage
            let center = body.start.center + EXTRAPOLATION * h * body.velocity;

            // extrapolation of positions and momenta
            let caused = so3::log(&(body.start.rotation * earlier.aim.inverse()));
            body.start.center = earlier.center + EXTRAPOLATION * (body.start.center - earlier.center);
            body.velocity = earlier.velocity + EXTRAPOLATION * (body.velocity - earlier.velocity);
            body.momentum = earlier.momentum + EXTRAPOLATION * (body.momentum - earlier.momentum);
            body.aim = RigidPose {
                rotation: so3::exp(&(2.0 * EXTRAPOLATION * caused)) * earlier.free_end,
                center: body.start.center + h * body.velocity + h * h * model.gravity(),
            };
            *onward =
                RigidPose { center: if body.is_touching { center } else { body.aim.center }, ..body.aim };
        }
    }

    /// Remembers which of them flew in the first of two stages.
    pub(super) fn keep_flying(&mut self) {
        core::mem::swap(&mut self.was_flying, &mut self.is_flying);
    }

    /// Writes poses and velocities at the end of a solve to a state. Those that fly move back by the first of two vectors (m), and those that flew in the first of two stages by the second.
    pub(super) fn write(&self, model: &Model, poses: &[RigidPose], backs: [Vec3; 2], state: &mut State) {
        for (i, (body, pose)) in self.bodies.iter().zip(poses).enumerate() {
            let own = &mut state.obstacles[body.obstacle];
            own.linear = (pose.center - body.start.center) / self.h;
            let momentum = body.momentum + body.turning(&pose.rotation) / self.h;
            own.angular = solve(&inertia(&pose.rotation, &body.solid), &momentum);
            let flying = [&self.is_flying, &self.was_flying].map(|flags| flags.get(i) == Some(&true));
            let back = flying.iter().zip(&backs).filter(|(flies, _)| **flies).map(|(_, back)| back);
            let center = back.fold(pose.center, |center, back| center - back);
            own.pose = RigidPose { center, ..*pose }.isometry(&body.solid);
        }
        for (i, obstacle) in model.obstacles().iter().enumerate().filter(|_| self.any_sought()) {
            if obstacle.carrier != i && model.solid(i).is_some() {
                state.obstacles[i].pose =
                    state.obstacles[obstacle.carrier].pose * obstacle.carrier_from_shape;
            }
        }
    }
}

/// The orientation after a free rotation with constant angular momentum (kg m²/s) for a time (s): the classical Runge–Kutta method for unit quaternions, in steps of some hundredths of a radian.
///
/// ```text
/// q' = ½ ω q,     ω = (R I Rᵀ)⁻¹ L
/// ```
fn rotate_freely(rotation: Rotation, solid: &SolidMass, momentum: &Vec3, time: f64) -> Rotation {
    let inverse = solid.inertia.try_inverse().unwrap_or_else(Mat3::zeros);
    let fastest = inverse.norm() * momentum.norm();
    if !(fastest * time > 0.0 && fastest.is_finite()) {
        return rotation;
    }
    let steps = (fastest * time / FREE_STEP).ceil().min(MAX_FREE_STEPS);
    let h = time / steps;
    let rate = |q: &Quaternion<f64>| {
        let turn = Unit::new_normalize(*q);
        let spin = turn * (inverse * turn.inverse_transform_vector(momentum));
        Quaternion::from_imag(0.5 * spin) * q
    };
    let mut q = *rotation.quaternion();
    for _ in 0..steps as usize {
        let a = rate(&q);
        let b = rate(&(q + a * (0.5 * h)));
        let c = rate(&(q + b * (0.5 * h)));
        let d = rate(&(q + c * h));
        q = Unit::new_normalize(q + (a + (b + c) * 2.0 + d) * (h / 6.0)).into_inner();
    }
    Unit::new_normalize(q)
}

fn matrix(rotation: &Rotation) -> Mat3 {
    rotation.to_rotation_matrix().into_inner()
}

/// Inertia about the centre of mass in world axes (kg m²).
fn inertia(rotation: &Rotation, solid: &SolidMass) -> Mat3 {
    let turn = matrix(rotation);
    turn * solid.inertia * turn.transpose()
}

fn solve(inertia: &Mat3, momentum: &Vec3) -> Vec3 {
    inertia.try_inverse().unwrap_or_else(Mat3::zeros) * momentum
}

/// A wrench about the origin of the world, about another point.
fn about(wrench: &Wrench, center: &Vec3) -> Wrench {
    Wrench::new(wrench.torque - center.cross(&wrench.force), wrench.force)
}
