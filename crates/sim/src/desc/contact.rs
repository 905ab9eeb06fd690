//! What bodies may touch, and how touching is answered.

use sinew_contact::{Response, Shape};
use sinew_math::{Isometry, Vec3};

/// Something hard that bodies touch.
#[derive(Clone, Debug)]
pub struct ObstacleDesc {
    /// Its name in reports and pictures; no other obstacle has it.
    pub name: String,
    /// Its shape, in its own frame.
    pub shape: Shape,
    /// Where it is at the start: takes points of the shape to the world.
    pub pose: Isometry,
    /// Who decides how it moves.
    pub mobility: Mobility,
    /// Coulomb's coefficient of friction against it; that of [`ContactDesc`] if not given.
    pub friction: Option<f64>,
    /// How many times as stiff as usual touching it is; above 1 steps become shorter.
    pub stiffness: f64,
    /// Whether pictures see through it.
    pub is_glass: bool,
}

impl Default for ObstacleDesc {
    /// The ground: a fixed plane through the origin, y up.
    fn default() -> ObstacleDesc {
        ObstacleDesc::fixed("ground", Shape::Plane { normal: Vec3::y() }, Isometry::identity())
    }
}

/// Who decides how an obstacle moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mobility {
    /// Nobody: it stays.
    Fixed,
    /// The `Control` of each step.
    Kinematic,
    /// Gravity and what it touches.
    Free {
        /// Mass per volume (kg/m³).
        density: f64,
        /// Velocity of its centre at the start (m/s).
        velocity: Vec3,
        /// Angular velocity at the start (rad/s).
        spin: Vec3,
    },
    /// Another obstacle, above it in the list, that it is part of. If that one is free, its density fills this part as well.
    PartOf(usize),
}

/// How touching is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactDesc {
    /// What a touch does.
    pub response: Response,
    /// Coulomb's coefficient of friction.
    pub friction: f64,
    /// How many times as stiff as usual touching is; above 1 steps become shorter.
    pub stiffness: f64,
    /// Names of the bodies whose surfaces may touch themselves.
    pub self_contact: Vec<String>,
    /// Whether bodies touch each other.
    pub between_bodies: bool,
    /// Steps of a world in which something can touch are no longer than this (s), so that slow, soft bodies do not sink in.
    pub longest_step: f64,
}

impl ObstacleDesc {
    /// An obstacle that stays where it is.
    pub fn fixed(name: impl Into<String>, shape: Shape, pose: Isometry) -> ObstacleDesc {
        ObstacleDesc {
            name: name.into(),
            shape,
            pose,
            mobility: Mobility::Fixed,
            friction: None,
            stiffness: 1.0,
            is_glass: false,
        }
    }

    /// Level ground at a height (m) along y.
    pub fn ground(height: f64) -> ObstacleDesc {
        let plane = Shape::Plane { normal: Vec3::y() };
        ObstacleDesc::fixed("ground", plane, Isometry::translation(0.0, height, 0.0))
    }
}

impl Default for ContactDesc {
    fn default() -> Self {
        ContactDesc {
            response: Response::default(),
            friction: 0.6,
            stiffness: 1.0,
            self_contact: Vec::new(),
            between_bodies: false,
            longest_step: 2e-3,
        }
    }
}
