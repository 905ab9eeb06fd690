//! Applies edits to a scene.

use crate::{Scene, SceneChange, SceneEdit};
use sinew_control::{
    ConstraintMotion, Curve, DriveMode, Goal, Motion, MuscleDrive, Performance, VectorCurve,
};
use sinew_sim::desc::{
    BandsDesc, BodyDesc, ConstraintDesc, LoadDesc, MetaphorDesc, Mobility, ObstacleDesc, ShapeDesc,
};

impl SceneEdit {
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
    fn apply(&self, scene: &mut Scene, time: f64) -> Result<(), String> {
        match self {
            SceneChange::Gravity(gravity) => set_gravity(scene, gravity),
            SceneChange::Contact(contact) => scene.world.contact = contact.clone(),
            SceneChange::Solver(solver) => scene.solver = *solver,
            SceneChange::Material { body, material } => body_of(scene, body)?.1.material = *material,
            SceneChange::Loads { body, loads, forces } => set_loads(scene, body, loads, forces)?,
            SceneChange::AirDrag { body, rate } => set_air_drag(scene, body, rate)?,
            SceneChange::BodyFactor { body, factor, curve } => {
                let i = body_of(scene, body)?.0;
                scene.curves.factors.set_body(*factor, i, Some(curve.clone()));
            }
            SceneChange::ObstacleFrictionFactor { obstacle, curve } => {
                let i = obstacle_of(scene, obstacle)?.0;
                scene.curves.factors.set_obstacle(i, Some(curve.clone()));
            }
            SceneChange::Bands { body, bands } => set_bands(scene, body, bands)?,
            SceneChange::PinMotion { body, pin, motion } => set_pin_motion(scene, body, *pin, motion)?,
            SceneChange::ObstacleMotion { obstacle, motion } => {
                set_obstacle_motion(scene, obstacle, motion)?;
            }
            SceneChange::ObstacleFriction { obstacle, friction } => {
                obstacle_of(scene, obstacle)?.1.friction = Some(*friction);
            }
            SceneChange::Constraint { constraint, motion } => set_constraint(scene, constraint, motion),
            SceneChange::RemoveConstraint(name) => remove_constraint(scene, name)?,
            SceneChange::Metaphor { metaphor, magnitude } => set_metaphor(scene, metaphor, magnitude),
            SceneChange::RemoveMetaphor(name) => remove_metaphor(scene, name)?,
            SceneChange::Activation { muscle, curve } => set_activation(scene, muscle, curve)?,
            SceneChange::Drive { rig, mode } => set_drive_mode(scene, rig, *mode, time)?,
            SceneChange::Goal { rig, goal } => set_goal(scene, rig, goal, time)?,
            SceneChange::RemoveGoal { rig, goal } => end_goal(scene, rig, goal, time)?,
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

/// A constant is one of the world; a curve acts in place of it, step by step.
fn set_gravity(scene: &mut Scene, gravity: &VectorCurve) {
    if gravity.is_constant() {
        scene.world.gravity = gravity.value(0.0);
    }
    scene.curves.gravity = (!gravity.is_constant()).then(|| gravity.clone());
}

fn set_loads(
    scene: &mut Scene,
    body: &str,
    loads: &[LoadDesc],
    forces: &[Option<VectorCurve>],
) -> Result<(), String> {
    let (i, desc) = body_of(scene, body)?;
    desc.loads = loads.to_vec();
    let curves = &mut scene.curves.loads;
    curves.resize(curves.len().max(i + 1), Vec::new());
    curves[i] = forces.to_vec();
    Ok(())
}

fn set_air_drag(scene: &mut Scene, body: &str, rate: &Curve) -> Result<(), String> {
    let (i, desc) = body_of(scene, body)?;
    if desc.attachment.is_some() && !rate.is_constant() {
        return Err(format!("body '{body}' has bones: air drag is for bodies without bones"));
    }
    if let Curve::Constant(rate) = rate {
        desc.air_drag = *rate;
    }
    let curves = &mut scene.curves.air_drag;
    curves.resize(curves.len().max(i + 1), None);
    curves[i] = (!rate.is_constant()).then(|| rate.clone());
    Ok(())
}

fn set_bands(scene: &mut Scene, body: &str, bands: &BandsDesc) -> Result<(), String> {
    let ShapeDesc::Skin(skin) = &mut body_of(scene, body)?.1.shape else {
        return Err(format!("body '{body}' is no skin over muscles, and has no bands"));
    };
    skin.bands = Some(bands.clone());
    Ok(())
}

fn set_pin_motion(scene: &mut Scene, body: &str, pin: usize, motion: &Motion) -> Result<(), String> {
    let (i, desc) = body_of(scene, body)?;
    let count = desc.pins.len();
    if pin >= count {
        return Err(format!("body '{body}' has {count} pins, so there is no pin {}", pin + 1));
    }
    scene.pin_motions.resize(scene.pin_motions.len().max(i + 1), Vec::new());
    let motions = &mut scene.pin_motions[i];
    motions.resize(count, Motion::Still);
    motions[pin] = motion.clone();
    Ok(())
}

fn set_obstacle_motion(scene: &mut Scene, name: &str, motion: &Motion) -> Result<(), String> {
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
    motions[i] = motion.clone();
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

fn set_metaphor(scene: &mut Scene, metaphor: &MetaphorDesc, magnitude: &Curve) {
    let metaphors = &mut scene.world.metaphors;
    scene.curves.metaphors.resize(metaphors.len(), Curve::Constant(0.0));
    match metaphors.iter().position(|other| other.name == metaphor.name) {
        Some(i) => (metaphors[i], scene.curves.metaphors[i]) = (metaphor.clone(), magnitude.clone()),
        None => {
            metaphors.push(metaphor.clone());
            scene.curves.metaphors.push(magnitude.clone());
        }
    }
}

fn remove_metaphor(scene: &mut Scene, name: &str) -> Result<(), String> {
    let metaphors = &mut scene.world.metaphors;
    let Some(i) = metaphors.iter().position(|metaphor| metaphor.name == name) else {
        return Err(unknown("metaphor", name, metaphors.iter().map(|metaphor| metaphor.name.as_str())));
    };
    metaphors.remove(i);
    if i < scene.curves.metaphors.len() {
        scene.curves.metaphors.remove(i);
    }
    Ok(())
}

/// The joint that drives a muscle besides stays.
fn set_activation(scene: &mut Scene, name: &str, curve: &Curve) -> Result<(), String> {
    let muscles = &scene.world.muscles;
    let Some(i) = muscles.iter().position(|muscle| muscle.name == name) else {
        return Err(unknown("muscle", name, muscles.iter().map(|muscle| muscle.name.as_str())));
    };
    scene.curves.muscles.resize(muscles.len(), MuscleDrive::default());
    scene.curves.muscles[i].activation = curve.clone();
    scene.curves.muscles[i].fault().map_or(Ok(()), |fault| Err(format!("muscle '{name}': {fault}")))
}

/// Joints that go limp get ranges, stops and damping, as those of a scene that is limp from the start.
fn set_drive_mode(scene: &mut Scene, rig: &str, mode: DriveMode, time: f64) -> Result<(), String> {
    let (i, performance) = performance_of(scene, rig)?;
    performance.set_drive_mode_from(time, mode);
    if mode.has_loose_joints() {
        scene.limit_bare_joints(i);
    }
    Ok(())
}

/// The performance of a skeleton by its name, with its index.
fn performance_of<'a>(scene: &'a mut Scene, name: &str) -> Result<(usize, &'a mut Performance), String> {
    let rigs = &scene.world.rigs;
    let Some(i) = rigs.iter().position(|rig| rig.name == name) else {
        return Err(unknown("skeleton", name, rigs.iter().map(|rig| rig.name.as_str())));
    };
    scene.performances.resize(scene.performances.len().max(i + 1), Performance::default());
    Ok((i, &mut scene.performances[i]))
}

/// A goal that is new begins at the edit, and is approached from the one that it replaces.
fn set_goal(scene: &mut Scene, rig: &str, goal: &Goal, time: f64) -> Result<(), String> {
    let goals = &mut performance_of(scene, rig)?.1.goals;
    let mut goal = goal.clone();
    match goals.iter().position(|other| other.name == goal.name) {
        Some(i) => {
            goal.begin_at(time, Some(&goals[i]));
            goals[i] = goal;
        }
        None => {
            goal.begin_at(time, None);
            goals.push(goal);
        }
    }
    Ok(())
}

/// A goal that ends stays in the list, for the motion that bends back.
fn end_goal(scene: &mut Scene, rig: &str, name: &str, time: f64) -> Result<(), String> {
    let goals = &mut performance_of(scene, rig)?.1.goals;
    let Some(goal) = goals.iter_mut().find(|goal| goal.name == name && goal.end > time) else {
        let lasting = goals.iter().filter(|goal| goal.end > time);
        return Err(unknown("goal", name, lasting.map(|goal| goal.name.as_str())));
    };
    goal.end_at(time);
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
