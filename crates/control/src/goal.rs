//! Goals: points of bones or skin that are to be at a place, and bones that are to be turned, over time.
//!
//! What a goal does depends on what drives the joints ([`crate::CueDrive`]): inverse kinematics bends the motion so that it is met, a servo tracks that motion by torques, and
//! direct control finds joint accelerations that bring its point there as well as physics allows. Goals of higher priority are met first; the others as well as those leave room for.

use crate::Keyframes;
use sinew_math::spatial::Frame;
use sinew_math::{Rotation, Vec3, so3};
use sinew_sim::{Model, State, SurfacePoint};
use sinew_skeleton::{BoneId, Kinematics, Skeleton, SkeletonState};

/// Where a point of a character is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Its name, unique among those of its character.
    pub name: String,
    /// The point.
    pub point: GoalPoint,
    /// Where it is to be (m, world).
    pub place: Keyframes<Vec3>,
    /// How its bone is to be turned from its rest orientation, as a rotation vector (rad, world); `None` leaves that open.
    pub turn: Option<Keyframes<Vec3>>,
    /// From when on it is wanted (s).
    pub begin: f64,
    /// Until when (s).
    pub end: f64,
    /// Goals of higher priority are met first.
    pub priority: u32,
    /// Time constant with which direct control approaches it (s), like a critically damped spring.
    pub reach_time: f64,
    /// How long inverse kinematics takes to bend the motion towards it as it begins, and back as it ends (s).
    pub blend: f64,
    /// The goal that it has replaced during the take, from which it is approached.
    pub replaced: Option<Box<Goal>>,
}

/// A point of a character, selected at rest.
#[derive(Clone, Debug, PartialEq)]
pub enum GoalPoint {
    /// A point of a bone.
    Bone {
        /// The bone.
        bone: BoneId,
        /// Its position at rest (m, world); the origin of the bone if not given.
        place: Option<Vec3>,
    },
    /// The point of the skin nearest to a position at rest; the bone that carries most of it moves it.
    Skin {
        /// The body.
        body: String,
        /// The position (m, world).
        place: Vec3,
    },
}

/// What a goal asks for at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GoalTarget {
    /// Place (m) and velocity (m/s) of the point.
    pub(crate) place: Vec3,
    pub(crate) velocity: Vec3,
    /// Orientation of the bone, and its angular velocity in the world (rad/s).
    pub(crate) orientation: Option<(Rotation, Vec3)>,
}

/// A goal point of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GoalAnchor {
    pub(crate) bone: BoneId,
    /// The point at rest, in the frame of the bone (m).
    pub(crate) place: Vec3,
    /// The orientation of the bone at rest.
    rest: Rotation,
    /// The point of the skin, if it is one.
    pub(crate) skin: Option<SurfacePoint>,
}

/// The default time constant of direct control (s).
pub const DEFAULT_REACH_TIME: f64 = 0.12;
/// The default time within which inverse kinematics bends a motion (s): a hand that goes 30 cm is accelerated by 2 g.
pub const DEFAULT_BLEND: f64 = 0.3;

impl Goal {
    /// A goal for a bone's origin that holds during the whole take, of priority 1.
    pub fn of_bone(name: impl Into<String>, bone: BoneId, place: Keyframes<Vec3>) -> Goal {
        Goal {
            name: name.into(),
            point: GoalPoint::Bone { bone, place: None },
            place,
            turn: None,
            begin: 0.0,
            end: f64::INFINITY,
            priority: 1,
            reach_time: DEFAULT_REACH_TIME,
            blend: DEFAULT_BLEND,
            replaced: None,
        }
    }

    /// Takes the place of another goal of the same point at a time (s) of the take, or begins then.
    pub fn begin_at(&mut self, time: f64, other: Option<&Goal>) {
        self.begin = self.begin.max(time);
        let felt = other.filter(|other| other.point == self.point && other.is_felt(time));
        self.replaced = felt.map(|other| {
            let mut other = Box::new(other.clone());
            other.end_at(time);
            other
        });
    }

    /// Ends it at a time (s) of the take.
    pub fn end_at(&mut self, time: f64) {
        self.end = self.end.min(time);
    }

    /// How far its point is from where it is to be, for a rig in a state of a model (m); none when it is not wanted.
    pub fn gap(&self, model: &Model, rig: usize, state: &State) -> Option<f64> {
        let anchor = self.is_wanted(state.time).then(|| GoalAnchor::find(model, rig, self).ok())??;
        let x = anchor.skin.as_ref().map_or_else(
            || {
                let mut kinematics = Kinematics::default();
                kinematics.update(&model.rigs()[rig].skeleton, &state.rigs[rig]);
                kinematics.point(anchor.bone, &anchor.place)
            },
            |skin| skin.at(&state.node_x),
        );
        Some((x - self.target(&anchor, state.time).place).norm())
    }

    /// Whether its target stays where it is.
    pub(crate) fn stays(&self) -> bool {
        self.place.keys().len() == 1
    }

    /// Whether it is wanted in the step that begins at a time (s). Times are compared with a tolerance for round-off.
    pub(crate) fn is_wanted(&self, time: f64) -> bool {
        time >= 0.0 && self.begin <= time + 1e-9 && time < self.end - 1e-9
    }

    /// Whether it bends a motion in the step that begins at a time (s): also while the motion bends back.
    pub(crate) fn is_felt(&self, time: f64) -> bool {
        time >= 0.0 && self.begin <= time + 1e-9 && time < self.end + self.blend - 1e-9
    }

    /// How much it bends a motion at a time (s), between 0 and 1, if joints have been driven by it since another time (s). A smoothstep, whose acceleration is at most 6 d/T² over a distance d:
    ///
    /// ```text
    /// w = s² (3 − 2 s),   s = (t − t₀)/T
    /// ```
    fn weight(&self, time: f64, since: f64) -> f64 {
        let step = |seconds: f64| {
            let s = if self.blend > 0.0 { seconds / self.blend } else { f64::from(seconds > -1e-9) };
            let s = s.clamp(0.0, 1.0);
            s * s * (3.0 - 2.0 * s)
        };
        let ended = if time > self.end { step(self.end + self.blend - time) } else { 1.0 };
        step(time - self.begin.max(since)) * ended
    }

    /// What it asks for at a time (s) on the way from what the motion does, `own`, if joints have been driven by it since another time (s).
    pub(crate) fn blended_target(
        &self,
        anchor: &GoalAnchor,
        (time, since): (f64, f64),
        own: &(Vec3, Rotation),
    ) -> GoalTarget {
        let mut target = self.target(anchor, time);
        let weight = self.weight(time, since);
        if weight == 1.0 {
            return target;
        }
        let (mut place, mut orientation) = *own;
        if let Some(replaced) = &self.replaced {
            let before = replaced.blended_target(anchor, (time, since), own);
            place = before.place;
            orientation = before.orientation.map_or(orientation, |(orientation, _)| orientation);
        }
        target.place = place + weight * (target.place - place);
        target.orientation = target.orientation.map(|(wanted, spin)| {
            let turn = so3::log(&(wanted * orientation.inverse()));
            (so3::exp(&(weight * turn)) * orientation, spin)
        });
        target
    }

    /// What it asks for at a time (s).
    pub(crate) fn target(&self, anchor: &GoalAnchor, time: f64) -> GoalTarget {
        let place = self.place.sample(time);
        let orientation = self.turn.as_ref().map(|turn| {
            let turn = turn.sample(time);
            let turned = so3::exp(&turn.value);
            (turned * anchor.rest, turned * so3::velocity_of_log(&turn.value, &turn.rate))
        });
        GoalTarget { place: place.value, velocity: place.rate, orientation }
    }

    /// Checks it against a skeleton and returns the first fault.
    pub(crate) fn fault(&self, skeleton: &Skeleton) -> Option<String> {
        let name = &self.name;
        if let GoalPoint::Bone { bone, .. } = &self.point
            && bone.index() >= skeleton.bones().len()
        {
            return Some(format!(
                "goal '{name}' is for bone {}, but the skeleton has {} bones, counted from 0",
                bone.0,
                skeleton.bones().len()
            ));
        }
        let place = match &self.point {
            GoalPoint::Bone { place, .. } => *place,
            GoalPoint::Skin { place, .. } => Some(*place),
        };
        if place.is_some_and(|place| !place.iter().all(|x| x.is_finite())) {
            return Some(format!("the point of goal '{name}' is not finite"));
        }
        if !self.begin.is_finite() || self.end.is_nan() {
            return Some(format!(
                "goal '{name}' is from {} to {} s: give finite times",
                self.begin, self.end
            ));
        }
        if !(self.blend >= 0.0 && self.blend.is_finite()) {
            return Some(format!("goal '{name}': a blend of {} s is not 0 or more", self.blend));
        }
        let is_positive = self.reach_time > 0.0 && self.reach_time.is_finite();
        (!is_positive).then(|| format!("goal '{name}': a reach time of {} s is not above 0", self.reach_time))
    }
}

impl GoalTarget {
    /// Moves it to a place within reach, which is off by a vector (m) and a rotation vector (rad, world); it rests there.
    pub(crate) fn shift(&mut self, off: &Vec3, turned: &Vec3) {
        if *off != Vec3::zeros() {
            (self.place, self.velocity) = (self.place + off, Vec3::zeros());
        }
        if let Some((orientation, spin)) = self.orientation.as_mut().filter(|_| *turned != Vec3::zeros()) {
            (*orientation, *spin) = (so3::exp(turned) * *orientation, Vec3::zeros());
        }
    }
}

impl GoalAnchor {
    /// Finds the point of a goal of a rig in a model.
    ///
    /// # Errors
    /// If the point is of another body or far from it.
    pub(crate) fn find(model: &Model, rig: usize, goal: &Goal) -> Result<GoalAnchor, String> {
        let skeleton = &model.rigs()[rig].skeleton;
        let mut kinematics = Kinematics::default();
        kinematics.update(skeleton, &SkeletonState::at_rest(skeleton));
        let at_rest = |bone: BoneId| -> Frame { kinematics.world_frames()[bone.index()] };
        match &goal.point {
            GoalPoint::Bone { bone, place } => {
                let frame = at_rest(*bone);
                let place = place.map_or(Vec3::zeros(), |place| frame.point_back(&place));
                Ok(GoalAnchor { bone: *bone, place, rest: frame.quaternion(), skin: None })
            }
            GoalPoint::Skin { body, place } => {
                let skin = model.surface_point(body, place)?;
                let (_, bone) = skin.bone.filter(|(own, _)| *own == rig).ok_or_else(|| {
                    format!("body '{body}' is not carried by '{}' there", model.rigs()[rig].name)
                })?;
                let frame = at_rest(bone);
                let place = frame.point_back(&skin.rest);
                Ok(GoalAnchor { bone, place, rest: frame.quaternion(), skin: Some(skin) })
            }
        }
    }
}
