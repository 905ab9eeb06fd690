//! Edits: changes of a scene from a frame of its take on.
//!
//! An edit is a list of changes of plain values: gravity, materials, loads, motions, constraints, contact, the solver, or who drives a skeleton. Bodies, skeletons and obstacles
//! stay what they are, so that the state at the frame of the edit is also a state of the changed scene.

use crate::Scene;
use sinew_control::{ConstraintMotion, DriveMode, Motion};
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_sim::Solver;
use sinew_sim::desc::{BodyDesc, ConstraintDesc, ContactDesc, LoadDesc, Mobility, ObstacleDesc};

/// A change of a scene from a time of its take on.
#[derive(Clone, Debug, Default)]
pub struct SceneEdit {
    /// When it takes effect (s); rounded to the nearest frame, whose state is the last one without it.
    pub time: f64,
    /// What changes, in order.
    pub changes: Vec<SceneChange>,
}

/// One change of a scene. Bodies, skeletons, obstacles and constraints are given by their names.
#[derive(Clone, Debug)]
pub enum SceneChange {
    /// Gravitational acceleration (m/s²). Stress-free shapes stay as they were found under the first gravity.
    Gravity(Vec3),
    /// The material of a body.
    Material {
        /// The body.
        body: String,
        /// Its material from then on.
        material: Material,
    },
    /// All external forces on a body.
    Loads {
        /// The body.
        body: String,
        /// Its loads from then on, in place of those before.
        loads: Vec<LoadDesc>,
    },
    /// The air drag of a body without bones.
    AirDrag {
        /// The body.
        body: String,
        /// The rate at which the air slows its motion (1/s).
        rate: f64,
    },
    /// The motion of a pin. It begins at the edit, from where the pin is then.
    PinMotion {
        /// The body.
        body: String,
        /// The pin, by its index among those of the body.
        pin: usize,
        /// Its motion from then on; [`Motion::Still`] stops it there.
        motion: Motion,
    },
    /// The motion of a fixed or kinematic obstacle. It begins at the edit, from where the obstacle is then.
    ObstacleMotion {
        /// The obstacle.
        obstacle: String,
        /// Its motion from then on; [`Motion::Still`] stops it there.
        motion: Motion,
    },
    /// Coulomb's coefficient of friction against an obstacle.
    ObstacleFriction {
        /// The obstacle.
        obstacle: String,
        /// The coefficient.
        friction: f64,
    },
    /// A new constraint, or another one in place of that of the same name.
    Constraint {
        /// The constraint.
        constraint: ConstraintDesc,
        /// Its animation, over the time of the take.
        motion: ConstraintMotion,
    },
    /// The end of a constraint.
    RemoveConstraint(String),
    /// Contact parameters. Friction begins anew.
    Contact(ContactDesc),
    /// The solver.
    Solver(Solver),
    /// Who drives a skeleton, in place of its cues up to then.
    Drive {
        /// The skeleton.
        rig: String,
        /// Who drives it from then on.
        mode: DriveMode,
    },
}

impl SceneEdit {
    /// The frame at which it takes effect: the last one without it.
    pub fn frame(&self, fps: f64) -> usize {
        (self.time * fps).round().max(0.0) as usize
    }

    /// Changes a scene. Edits of the scene stay as they are.
    ///
    /// # Errors
    /// What is not in the scene, or cannot be changed.
    pub fn apply(&self, scene: &mut Scene) -> Result<(), String> {
        // at the very time of the frame, so that cues begin with it
        let time = self.frame(scene.fps) as f64 / scene.fps;
        let applied = self.changes.iter().try_for_each(|change| change.apply(scene, time));
        applied.map_err(|what| format!("the edit at {} s: {what}", self.time))
    }
}

impl SceneChange {
    /// Whether it changes the world that a model is built from, not only its motions.
    pub(crate) fn is_of_world(&self) -> bool {
        match self {
            SceneChange::PinMotion { .. } | SceneChange::Solver(_) | SceneChange::Drive { .. } => false,
            SceneChange::Gravity(_)
            | SceneChange::Material { .. }
            | SceneChange::Loads { .. }
            | SceneChange::AirDrag { .. }
            // a fixed obstacle becomes a kinematic one
            | SceneChange::ObstacleMotion { .. }
            | SceneChange::ObstacleFriction { .. }
            | SceneChange::Constraint { .. }
            | SceneChange::RemoveConstraint(_)
            | SceneChange::Contact(_) => true,
        }
    }

    fn apply(&self, scene: &mut Scene, time: f64) -> Result<(), String> {
        match self {
            SceneChange::Gravity(gravity) => scene.world.gravity = *gravity,
            SceneChange::Contact(contact) => scene.world.contact = contact.clone(),
            SceneChange::Solver(solver) => scene.solver = *solver,
            SceneChange::Material { body, material } => body_of(scene, body)?.1.material = *material,
            SceneChange::Loads { body, loads } => body_of(scene, body)?.1.loads.clone_from(loads),
            SceneChange::AirDrag { body, rate } => body_of(scene, body)?.1.air_drag = *rate,
            SceneChange::PinMotion { body, pin, motion } => set_pin_motion(scene, body, *pin, *motion)?,
            SceneChange::ObstacleMotion { obstacle, motion } => {
                set_obstacle_motion(scene, obstacle, *motion)?;
            }
            SceneChange::ObstacleFriction { obstacle, friction } => {
                obstacle_of(scene, obstacle)?.1.friction = Some(*friction);
            }
            SceneChange::Constraint { constraint, motion } => set_constraint(scene, constraint, motion),
            SceneChange::RemoveConstraint(name) => remove_constraint(scene, name)?,
            SceneChange::Drive { rig, mode } => set_drive(scene, rig, *mode, time)?,
        }
        Ok(())
    }
}

/// A body by its name, with its index.
fn body_of<'a>(scene: &'a mut Scene, name: &str) -> Result<(usize, &'a mut BodyDesc), String> {
    let bodies = &mut scene.world.bodies;
    match bodies.iter().position(|body| body.name == name) {
        Some(i) => Ok((i, &mut bodies[i])),
        None => Err(unknown("body", name, bodies.iter().map(|body| body.name.as_str()))),
    }
}

/// An obstacle by its name, with its index.
fn obstacle_of<'a>(scene: &'a mut Scene, name: &str) -> Result<(usize, &'a mut ObstacleDesc), String> {
    let obstacles = &mut scene.world.obstacles;
    match obstacles.iter().position(|obstacle| obstacle.name == name) {
        Some(i) => Ok((i, &mut obstacles[i])),
        None => Err(unknown("obstacle", name, obstacles.iter().map(|obstacle| obstacle.name.as_str()))),
    }
}

fn set_pin_motion(scene: &mut Scene, body: &str, pin: usize, motion: Motion) -> Result<(), String> {
    let (i, desc) = body_of(scene, body)?;
    let count = desc.pins.len();
    if pin >= count {
        return Err(format!("body '{body}' has {count} pins, so there is no pin {}", pin + 1));
    }
    scene.pin_motions.resize(scene.pin_motions.len().max(i + 1), Vec::new());
    let motions = &mut scene.pin_motions[i];
    motions.resize(count, Motion::Still);
    motions[pin] = motion;
    Ok(())
}

fn set_obstacle_motion(scene: &mut Scene, name: &str, motion: Motion) -> Result<(), String> {
    let (i, obstacle) = obstacle_of(scene, name)?;
    match obstacle.mobility {
        Mobility::Fixed => obstacle.mobility = Mobility::Kinematic,
        Mobility::Kinematic => {}
        Mobility::Free { .. } => {
            return Err(format!("obstacle '{name}' is dynamic: contact moves it, and no motion can"));
        }
        Mobility::PartOf(_) => {
            return Err(format!("obstacle '{name}' is part of another one and moves with it: move that one"));
        }
    }
    let motions = &mut scene.obstacle_motions;
    motions.resize(motions.len().max(i + 1), Motion::Still);
    motions[i] = motion;
    Ok(())
}

fn set_constraint(scene: &mut Scene, constraint: &ConstraintDesc, motion: &ConstraintMotion) {
    let constraints = &mut scene.world.constraints;
    scene.constraint_motions.resize(constraints.len(), ConstraintMotion::default());
    match constraints.iter().position(|other| other.name == constraint.name) {
        Some(i) => (constraints[i], scene.constraint_motions[i]) = (constraint.clone(), motion.clone()),
        None => {
            constraints.push(constraint.clone());
            scene.constraint_motions.push(motion.clone());
        }
    }
}

fn remove_constraint(scene: &mut Scene, name: &str) -> Result<(), String> {
    let constraints = &mut scene.world.constraints;
    let names = constraints.iter().map(|constraint| constraint.name.as_str());
    let Some(i) = constraints.iter().position(|constraint| constraint.name == name) else {
        return Err(unknown("constraint", name, names));
    };
    constraints.remove(i);
    if i < scene.constraint_motions.len() {
        scene.constraint_motions.remove(i);
    }
    Ok(())
}

fn set_drive(scene: &mut Scene, name: &str, mode: DriveMode, time: f64) -> Result<(), String> {
    let rigs = &scene.world.rigs;
    let Some(i) = rigs.iter().position(|rig| rig.name == name) else {
        return Err(unknown("skeleton", name, rigs.iter().map(|rig| rig.name.as_str())));
    };
    scene.performances.resize(scene.performances.len().max(i + 1), Default::default());
    scene.performances[i].set_drive_mode_from(time, mode);
    Ok(())
}

/// The error for a name that the scene does not have.
fn unknown<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.is_empty() {
        true => format!("there is no {what} '{name}': the scene has none"),
        false => format!("there is no {what} '{name}': the scene has {}", names.join(", ")),
    }
}
