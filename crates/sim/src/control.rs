//! Inputs of one time step.

use crate::body_kind::BodyKind;
use crate::contact_surface::Surface;
use crate::factors::Factors;
use crate::{ConstraintPath, Metaphor, Model, Muscle, Rig};
use sinew_math::{Isometry, Vec3, so3};
use sinew_skeleton::{BoneId, DriveKind, Drives, Feedback, SkeletonState};

/// Inputs of one time step: paths of pins and constraints, gravity, air drag, loads and factors of materials, and joint drives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Control {
    /// One path per pin of the model. Pins beyond the end of the list stay at rest.
    pub pins: Vec<PinPath>,
    /// Gravitational acceleration of the step (m/s²); `None` for that of the model. Rest shapes, homes of flesh and its support by bones stay those that the model was built with.
    pub gravity: Option<Vec3>,
    /// For each body the rate at which the air slows its motion (1/s); `None`, and bodies beyond the end of the list, have that of the model.
    pub air_drag: Vec<Option<f64>>,
    /// For each body what its stiffness is multiplied by, above 0; bodies beyond the end of the list have their own. Damping ratios stay as they are: it is as if Young's modulus were multiplied.
    pub stiffness: Vec<f64>,
    /// For each body what its damping is multiplied by, 0 or more; bodies beyond the end of the list have their own.
    pub damping: Vec<f64>,
    /// What friction is multiplied by.
    pub friction: FrictionFactors,
    /// The total force of each load of the model (N); `None`, and loads beyond the end of the list, have their own.
    pub load_forces: Vec<Option<Vec3>>,
    /// One per rig of the model. Rigs beyond the end of the list have no joint torques.
    pub rigs: Vec<RigControl>,
    /// One path per obstacle of the model, as a rigid motion relative to its initial pose; only kinematic obstacles follow it. Obstacles beyond the end of the list do not move.
    pub obstacles: Vec<PinPath>,
    /// Which part of a run the step belongs to.
    pub phase: Phase,
    /// One per constraint of the model. Constraints beyond the end of the list are fully active and do not move.
    pub constraints: Vec<ConstraintPath>,
    /// Magnitudes of the model's metaphors at the beginning and at the end of the step, between which they change linearly. Metaphors beyond the end of the list do not act.
    pub metaphors: Vec<[f64; 2]>,
    /// Activation of each muscle of the model at the beginning and at the end of the step, from 0 to 1, between which it changes linearly. Muscles beyond the end of the list are relaxed.
    pub activations: Vec<[f64; 2]>,
}

/// What the friction of surfaces is multiplied by: that of a pair by the factors of both, and of a surface that is in contact with itself by its own. Surfaces beyond the end of a list have 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrictionFactors {
    /// One per body of the model, 0 or more.
    pub bodies: Vec<f64>,
    /// One per obstacle of the model, 0 or more.
    pub obstacles: Vec<f64>,
}

impl FrictionFactors {
    /// The factor of a surface.
    pub(crate) fn of(&self, surface: Surface) -> f64 {
        let found = match surface {
            Surface::Body(i) => self.bodies.get(i),
            Surface::Obstacle(i) => self.obstacles.get(i),
        };
        found.copied().unwrap_or(1.0)
    }

    /// Whether all factors are 1.
    pub(crate) fn are_one(&self) -> bool {
        self.bodies.iter().chain(&self.obstacles).all(|factor| *factor == 1.0)
    }
}

/// The part of a run that a step belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Characters are put into their first pose: nothing is in contact, and bodies and obstacles that nothing holds wait where they are.
    Placing,
    /// The flesh of characters settles; bodies and obstacles that nothing holds still wait, as if they were fixed.
    Settling,
    /// Everything moves.
    #[default]
    Take,
}

/// Joint drives of a rig during a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigControl {
    /// For each bone, in the order of the skeleton, whether its joint is driven by torque or by prescribed motion.
    pub drives: Vec<DriveKind>,
    /// Torques of torque-driven joints, one value per degree of freedom (N m or N).
    pub torque: Vec<f64>,
    /// Feedback of torque-driven joints towards their path, one per degree of freedom; empty without any.
    pub feedback: Vec<Feedback>,
    /// Bones whose joints jump as the step begins, to where their path begins; flesh is carried with them as if it were rigid.
    pub cuts: Vec<BoneId>,
    /// Joint coordinates and velocities at the beginning of the step, for joints with prescribed motion or feedback.
    pub from: SkeletonState,
    /// Joint coordinates and velocities at the end of the step, for joints with prescribed motion or feedback.
    pub to: SkeletonState,
}

/// The motion of a pin during a step: a rigid motion from one pose to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PinPath {
    /// Pose at the beginning of the step, relative to rest.
    pub from: Isometry,
    /// Pose at the end of the step, relative to rest.
    pub to: Isometry,
}

impl Default for PinPath {
    fn default() -> Self {
        PinPath { from: Isometry::identity(), to: Isometry::identity() }
    }
}

impl PinPath {
    /// The pose after a fraction of the step, between 0 and 1. The point that starts at `center` (m) moves on a straight line, and the body rotates about it at constant
    /// angular velocity:
    ///
    /// ```text
    /// x ↦ c + s (T c₀ − c) + exp(s log R) (x − c),    R = R₁ R₀⁻¹
    /// ```
    ///
    /// The result is independent of the origin of the world.
    pub fn pose(&self, fraction: f64, center: &Vec3) -> Isometry {
        let (start, end) = (carry(&self.from, center), carry(&self.to, center));
        let turned = so3::exp(&(fraction * so3::log(&(self.to.rotation * self.from.rotation.inverse()))));
        let rotation = turned * self.from.rotation;
        Isometry::from_parts((start + fraction * (end - start) - rotation * center).into(), rotation)
    }
}

fn carry(pose: &Isometry, point: &Vec3) -> Vec3 {
    pose.rotation * point + pose.translation.vector
}

impl Control {
    /// The first skeleton that carries homes of flesh and has a joint without a prescribed motion, by name.
    pub(crate) fn free_home<'a>(&self, model: &'a Model) -> Option<&'a str> {
        let is_free = |rig: usize| {
            let control = self.rigs.get(rig);
            control.is_none_or(|control| control.drives.contains(&DriveKind::Torque))
        };
        let carries = |rig: &Rig| model.homes().bodies.iter().any(|body| body.bones == rig.bones);
        let found = model.rigs().iter().enumerate().find(|(i, rig)| carries(rig) && is_free(*i));
        found.map(|(_, rig)| rig.name.as_str())
    }

    /// Returns the path of pin `i`.
    pub(crate) fn pin(&self, i: usize) -> PinPath {
        self.pins.get(i).copied().unwrap_or_default()
    }

    /// Returns the total force of load `i` of a model (N).
    pub(crate) fn load_force(&self, model: &Model, i: usize) -> Vec3 {
        self.load_forces.get(i).copied().flatten().unwrap_or(model.loads()[i].force)
    }

    /// The factors of the stiffness and the damping of body `i`.
    pub(crate) fn factors(&self, i: usize) -> Factors {
        let of = |list: &[f64]| list.get(i).copied().unwrap_or(1.0);
        Factors { stiffness: of(&self.stiffness), damping: of(&self.damping) }
    }

    /// Whether the stiffness of any body is multiplied.
    pub(crate) fn changes_stiffness(&self) -> bool {
        self.stiffness.iter().any(|factor| *factor != 1.0)
    }

    /// Whether gravity, air drag, stiffness, damping or friction is another one than that of the model.
    pub(crate) fn changes(&self, model: &Model) -> bool {
        let drags = model.bodies().iter().zip(&self.air_drag);
        self.gravity.is_some_and(|gravity| gravity != model.gravity())
            || drags.into_iter().any(|(body, drag)| drag.is_some_and(|drag| drag != body.air_drag))
            || self.stiffness.iter().chain(&self.damping).any(|factor| *factor != 1.0)
            || !self.friction.are_one()
    }

    /// Returns the path of constraint `i`.
    pub(crate) fn constraint(&self, i: usize) -> ConstraintPath {
        self.constraints.get(i).copied().unwrap_or_default()
    }

    /// Returns the magnitudes of metaphor `i` at both ends of the step.
    pub(crate) fn metaphor(&self, i: usize) -> [f64; 2] {
        self.metaphors.get(i).copied().unwrap_or_default()
    }

    /// Returns the activation of muscle `i` after a fraction of the step.
    pub(crate) fn activation_at(&self, i: usize, fraction: f64) -> f64 {
        let [from, to] = self.activations.get(i).copied().unwrap_or_default();
        from + fraction * (to - from)
    }

    /// Whether body `i` of a model waits where it is.
    pub(crate) fn body_waits(&self, model: &Model, i: usize) -> bool {
        self.phase != Phase::Take && model.unheld().bodies[i]
    }

    /// Whether the body of a node waits where it is.
    pub(crate) fn node_waits(&self, model: &Model, node: usize) -> bool {
        let waits =
            |(i, body): (usize, &crate::Body)| body.nodes.contains(&node) && self.body_waits(model, i);
        self.phase != Phase::Take && model.bodies().iter().enumerate().any(waits)
    }

    /// Whether obstacle `i` of a model, or what it is part of, waits where it is.
    pub(crate) fn obstacle_waits(&self, model: &Model, i: usize) -> bool {
        self.phase != Phase::Take && model.unheld().obstacles[i]
    }

    /// Returns the control that keeps every pin, joint and constraint of a model at rest and applies its own gravity, air drag and loads, and no metaphor.
    pub fn still(model: &Model) -> Control {
        Control {
            pins: vec![PinPath::default(); model.pins().len()],
            gravity: None,
            air_drag: Vec::new(),
            stiffness: Vec::new(),
            damping: Vec::new(),
            friction: FrictionFactors::default(),
            load_forces: Vec::new(),
            rigs: model.rigs().iter().map(RigControl::hold).collect(),
            obstacles: vec![PinPath::default(); model.obstacles().len()],
            phase: Phase::Take,
            constraints: vec![ConstraintPath::default(); model.constraints().len()],
            metaphors: vec![[0.0; 2]; model.metaphors().len()],
            activations: vec![[0.0; 2]; model.muscles().len()],
        }
    }

    /// Describes the first mismatch with a model, if there is one.
    pub(crate) fn fault(&self, model: &Model) -> Option<String> {
        let faulty = |(rig, control): (&Rig, &RigControl)| {
            control.fault(rig).map(|what| format!("skeleton '{}': {what}", rig.name))
        };
        let held = model.constraints().iter().zip(&self.constraints);
        let mut held =
            held.filter_map(|(own, path)| Some(format!("constraint '{}': {}", own.name, path.fault()?)));
        let not_finite = |(own, ends): (&Metaphor, &[f64; 2])| {
            let magnitude = ends.iter().find(|magnitude| !magnitude.is_finite())?;
            Some(format!("metaphor '{}': its magnitude is {magnitude}: it must be finite", own.name))
        };
        let mut directed = model.metaphors().iter().zip(&self.metaphors).filter_map(not_finite);
        let is_bad = |(own, ends): (&Muscle, &[f64; 2])| {
            let activation = ends.iter().find(|activation| !(0.0..=1.0).contains(*activation))?;
            Some(format!("muscle '{}': its activation is {activation}: give a number from 0 to 1", own.name))
        };
        let mut activated = model.muscles().iter().zip(&self.activations).filter_map(is_bad);
        let rigs = model.rigs().iter().zip(&self.rigs).find_map(faulty);
        rigs.or_else(|| held.next())
            .or_else(|| directed.next())
            .or_else(|| activated.next())
            .or_else(|| self.number_fault(model))
    }

    /// Describes the first number of the world that is not possible.
    fn number_fault(&self, model: &Model) -> Option<String> {
        let finite = |v: &Vec3| v.iter().all(|x| x.is_finite());
        if let Some(gravity) = self.gravity.filter(|gravity| !finite(gravity)) {
            return Some(format!("gravity {:?} m/s² is not finite", gravity.as_slice()));
        }
        if let Some(i) = self.load_forces.iter().position(|force| force.is_some_and(|force| !finite(&force)))
        {
            return Some(format!("the force of load {} is not finite", i + 1));
        }
        let drags = model.bodies().iter().zip(&self.air_drag);
        let mut drags = drags.filter_map(|(body, drag)| Some((body, (*drag)?)));
        if let Some((body, drag)) = drags.find(|(_, drag)| !(*drag >= 0.0 && drag.is_finite())) {
            return Some(format!("body '{}': air drag {drag} 1/s is not 0 or more", body.name));
        }
        self.factor_fault(model)
    }

    /// Describes the first factor that is not possible.
    fn factor_fault(&self, model: &Model) -> Option<String> {
        for (i, body) in model.bodies().iter().enumerate() {
            let Factors { stiffness, damping } = self.factors(i);
            let scales = match &body.kind {
                BodyKind::Tets => true,
                BodyKind::Custom(own) => own.kind.takes_factors(),
            };
            let what = match () {
                _ if !(stiffness > 0.0 && stiffness.is_finite()) => {
                    format!("the factor {stiffness} of its stiffness is not above 0")
                }
                _ if !(damping >= 0.0 && damping.is_finite()) => {
                    format!("the factor {damping} of its damping is not 0 or more")
                }
                _ if !scales && (stiffness, damping) != (1.0, 1.0) => {
                    "a body of its kind has no factors of stiffness and damping".into()
                }
                _ => continue,
            };
            return Some(format!("body '{}': {what}", body.name));
        }
        let bodies = model.bodies().iter().map(|body| &body.name).zip(&self.friction.bodies);
        let obstacles = model.obstacles().iter().map(|obstacle| &obstacle.name);
        let mut all = bodies.chain(obstacles.zip(&self.friction.obstacles));
        let (name, factor) = all.find(|(_, factor)| !(**factor >= 0.0 && factor.is_finite()))?;
        Some(format!("'{name}': the factor {factor} of its friction is not 0 or more"))
    }
}

impl RigControl {
    /// Prescribes the rest position for every joint.
    pub fn hold(rig: &Rig) -> RigControl {
        let rest = SkeletonState::at_rest(&rig.skeleton);
        RigControl {
            drives: vec![DriveKind::Motion; rig.skeleton.bones().len()],
            torque: vec![0.0; rig.skeleton.v_count()],
            feedback: Vec::new(),
            cuts: Vec::new(),
            from: rest.clone(),
            to: rest,
        }
    }

    /// Sets zero torque for every joint; joints that only allow prescribed motion stay at rest.
    pub fn limp(rig: &Rig) -> RigControl {
        RigControl { drives: Drives::limp(&rig.skeleton).kinds().to_vec(), ..RigControl::hold(rig) }
    }

    /// Describes the first mismatch with a rig, if there is one.
    pub fn fault(&self, rig: &Rig) -> Option<String> {
        // sizes
        let (bones, dofs) = (rig.skeleton.bones(), rig.skeleton.v_count());
        if self.drives.len() != bones.len() || self.torque.len() != dofs {
            return Some(format!(
                "its control has drives for {} bones and {} torques, but it has {} bones and {dofs} degrees of freedom",
                self.drives.len(),
                self.torque.len(),
                bones.len()
            ));
        }

        // torques and cuts
        if let Some(torque) = self.torque.iter().find(|torque| !torque.is_finite()) {
            return Some(format!("a torque is {torque}: torques must be finite"));
        }
        if !self.feedback.is_empty() && self.feedback.len() != dofs {
            let given = self.feedback.len();
            return Some(format!("its control has feedback for {given} of {dofs} degrees of freedom"));
        }
        if let Some(own) = self.feedback.iter().find(|own| !own.is_sound()) {
            return Some(format!(
                "the feedback of a joint has a stiffness of {}, a damping of {} and a bound of {}: give 0 or more",
                own.stiffness, own.damping, own.max_torque
            ));
        }
        if let Some(bone) = self.cuts.iter().find(|bone| bone.index() >= bones.len()) {
            return Some(format!(
                "bone {} of its {} bones is to jump: count bones from 0",
                bone.0,
                bones.len()
            ));
        }

        // drives that joints do not allow
        let stiff = |(bone, kind): (&sinew_skeleton::Bone, &DriveKind)| {
            bone.joint.drive == sinew_skeleton::DriveRule::MotionOnly && *kind == DriveKind::Torque
        };
        if let Some((bone, _)) = bones.iter().zip(&self.drives).find(|pair| stiff(*pair)) {
            return Some(format!(
                "bone '{}': its joint allows prescribed motion only, but is driven by torque",
                bone.name
            ));
        }

        // ends of the path
        let states = [&self.from, &self.to];
        states.iter().find_map(|state| state.check(&rig.skeleton).err()).map(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::Rotation;

    /// A quarter turn about a vertical axis a hundred metres away: points on the axis do not move, and half the step is half the turn.
    #[test]
    fn a_turn_about_a_distant_axis_keeps_the_axis_still() {
        let axis = Vec3::new(100.0, 0.0, -30.0);
        let turn = Rotation::from_scaled_axis(Vec3::y() * core::f64::consts::FRAC_PI_2);
        let to = Isometry::from_parts((axis - turn * axis).into(), turn);
        let path = PinPath { from: Isometry::identity(), to };
        for fraction in [0.0, 0.3, 0.5, 1.0] {
            let pose = path.pose(fraction, &axis);
            assert!((carry(&pose, &axis) - axis).norm() < 1e-12);
            let half = Rotation::from_scaled_axis(Vec3::y() * core::f64::consts::FRAC_PI_2 * fraction);
            let point = axis + Vec3::x();
            assert!((carry(&pose, &point) - (axis + half * Vec3::x())).norm() < 1e-12);
        }
    }
}
