//! Descriptions of obstacles and of contact.

use sinew_contact::{ContactMaterial, Shape};
use sinew_math::{Isometry, Vec3};

/// A rigid obstacle.
#[derive(Clone, Debug)]
pub struct ObstacleDesc {
    /// Its name in reports and images, unique among obstacles.
    pub name: String,
    /// Its shape, in its own frame.
    pub shape: Shape,
    /// Its initial pose: transforms points of the shape to the world.
    pub pose: Isometry,
    /// How it moves.
    pub mobility: Mobility,
    /// Coulomb friction coefficient, if it has one of its own, see [`ContactDesc::bodies`].
    pub friction: Option<f64>,
    /// Contact stiffness relative to the default; values above 1 shorten the step.
    pub stiffness: f64,
    /// Whether it is rendered as transparent.
    pub is_glass: bool,
}

impl Default for ObstacleDesc {
    /// The ground: a fixed plane through the origin, y up.
    fn default() -> ObstacleDesc {
        ObstacleDesc::fixed("ground", Shape::Plane { normal: Vec3::y() }, Isometry::identity())
    }
}

/// How an obstacle moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mobility {
    /// It does not move.
    Fixed,
    /// Kinematic: the `Control` of each step prescribes its motion.
    Kinematic,
    /// Dynamic: it moves under gravity and contact forces.
    Free {
        /// Mass per volume (kg/m³).
        density: f64,
        /// Initial velocity of its centre of mass (m/s).
        velocity: Vec3,
        /// Initial angular velocity (rad/s).
        spin: Vec3,
    },
    /// It is part of an earlier obstacle in the list and moves with it. If that one is dynamic, its density applies to this part as well.
    PartOf(usize),
}

/// Contact parameters of one body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyContactDesc {
    /// The name of the body.
    pub body: String,
    /// Its friction and the factor on the stiffness of its contacts; values above 1 shorten the step.
    pub material: ContactMaterial,
}

/// Contact parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactDesc {
    /// Coulomb friction coefficient of surfaces that have none of their own.
    pub friction: f64,
    /// Contact stiffness relative to the default; values above 1 shorten the step.
    pub stiffness: f64,
    /// Names of the bodies with self-contact.
    pub self_contact: Vec<String>,
    /// Whether bodies collide with each other.
    pub between_bodies: bool,
    /// Upper limit of the step of a world with contact (s), so that slow, soft bodies do not sink in.
    pub longest_step: f64,
    /// Bodies with contact parameters of their own. Those of two surfaces in contact combine as in [`ContactMaterial::with`].
    pub bodies: Vec<BodyContactDesc>,
}

impl ContactDesc {
    /// The contact parameters of a body.
    pub fn material(&self, body: &str) -> ContactMaterial {
        let own = self.bodies.iter().find(|own| own.body == body);
        own.map_or(ContactMaterial::default(), |own| own.material)
    }
}

impl ObstacleDesc {
    /// Its contact parameters.
    pub fn material(&self) -> ContactMaterial {
        ContactMaterial { friction: self.friction, stiffness: self.stiffness }
    }

    /// An obstacle that does not move.
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

    /// Level ground at a height along y (m).
    pub fn ground(height: f64) -> ObstacleDesc {
        let plane = Shape::Plane { normal: Vec3::y() };
        ObstacleDesc::fixed("ground", plane, Isometry::translation(0.0, height, 0.0))
    }
}

impl Default for ContactDesc {
    fn default() -> Self {
        ContactDesc {
            friction: 0.6,
            stiffness: 1.0,
            self_contact: Vec::new(),
            between_bodies: false,
            longest_step: 2e-3,
            bodies: Vec::new(),
        }
    }
}
