//! Reads `[[edit]]` of a scene file: changes of the scene during the take.

use super::body::{read_air_drag, read_forces, read_loads};
use super::constraint::read_constraints;
use super::contact::contact_from;
use super::goal::read_goals;
use super::material::read_material_from;
use super::metaphor::read_metaphors;
use super::motion::read_motion;
use super::number::{read_factor, read_factors, read_number, read_vector};
use super::performance::read_mode;
use super::section::Section;
use super::skin::read_bands;
use super::solver::read_solver;
use crate::Up;
use crate::scene_schema::{BodyEditTable, CharacterEditTable, EditTable, ObstacleEditTable};
use sinew_control::{Factor, Motion};
use sinew_files::ReadError;
use sinew_flesh::Material;
use sinew_skeleton::Skeleton;
use sinew_take::{Scene, SceneChange, SceneEdit};

/// Reads edits of a scene and tries them on it, in the order of their times. Each may name everything in the scene.
pub(super) fn read_edits(
    sections: &[Section<EditTable>],
    scene: &Scene,
    up: Up,
) -> Result<Vec<SceneEdit>, ReadError> {
    if sections.is_empty() {
        return Ok(Vec::new());
    }
    let mut edited = Scene { edits: Vec::new(), ..scene.clone() };
    let mut order: Vec<&Section<EditTable>> = sections.iter().collect();
    order.sort_by(|a, b| a.time.total_cmp(&b.time));
    let mut edits = Vec::new();
    for section in order {
        let edit = read_edit(section, &edited, up)?;
        edit.apply(&mut edited).map_err(|what| section.error("time", what))?;
        edits.push(edit);
    }
    Ok(edits)
}

/// Reads an edit of a scene as it is then.
fn read_edit(section: &Section<EditTable>, scene: &Scene, up: Up) -> Result<SceneEdit, ReadError> {
    let table = section.table();
    let mut changes = Vec::new();
    if let Some(gravity) = &table.gravity {
        changes.push(SceneChange::Gravity(read_vector(section, "gravity", gravity)?));
    }

    // bodies, characters and obstacles
    for body in section.items("body", &table.body) {
        read_body(&body, scene, up, &mut changes)?;
    }
    for character in section.items("character", &table.character) {
        read_character(&character, scene, &mut changes)?;
    }
    for obstacle in section.items("obstacle", &table.obstacle) {
        read_obstacle(&obstacle, &mut changes)?;
    }

    // constraints that end, then those that begin
    changes.extend(section.remove.iter().cloned().map(SceneChange::RemoveConstraint));
    let sections = section.items("constraint", &table.constraint);
    if let Some(constraint) = sections.iter().find(|constraint| constraint.name.is_none()) {
        let message = "[[edit.constraint]] needs `name`, by which a later edit can change it or end it";
        return Err(constraint.error("name", message));
    }
    let (constraints, motions) = read_constraints(&sections, &scene.world, up)?;
    let begun = constraints.into_iter().zip(motions);
    changes.extend(begun.map(|(constraint, motion)| SceneChange::Constraint { constraint, motion }));

    // metaphors that end, then those that begin
    changes.extend(section.remove_metaphor.iter().cloned().map(SceneChange::RemoveMetaphor));
    let sections = section.items("metaphor", &table.metaphor);
    if let Some(metaphor) = sections.iter().find(|metaphor| metaphor.name.is_none()) {
        let message = "[[edit.metaphor]] needs `name`, by which a later edit can change it or end it";
        return Err(metaphor.error("name", message));
    }
    let begun = read_metaphors(&sections, &scene.world)?.into_iter();
    changes.extend(begun.map(|(metaphor, magnitude)| SceneChange::Metaphor { metaphor, magnitude }));

    // muscles
    for (muscle, number) in table.activation.iter().flatten() {
        let curve = read_number(section, "activation", number)?;
        changes.push(SceneChange::Activation { muscle: muscle.clone(), curve });
    }

    // contact and the solver
    if let Some(contact) = section.optional("contact", &table.contact) {
        changes.push(SceneChange::Contact(contact_from(&contact, &scene.world.contact)));
    }
    if let Some(solver) = section.optional("solver", &table.solver) {
        changes.push(SceneChange::Solver(read_solver(Some(&solver))?));
    }
    Ok(SceneEdit { time: section.time, changes })
}

fn read_body(
    section: &Section<BodyEditTable>,
    scene: &Scene,
    up: Up,
    changes: &mut Vec<SceneChange>,
) -> Result<(), ReadError> {
    let (table, body) = (section.table(), &section.name);
    if let Some(choice) = &table.material {
        let before = scene.world.bodies.iter().find(|other| other.name == *body);
        let before = before.map_or_else(Material::default, |body| body.material);
        let material = read_material_from(section, choice, before)?;
        changes.push(SceneChange::Material { body: body.clone(), material });
    }
    if let Some(loads) = &table.load {
        let sections = section.items("load", loads);
        let (loads, forces) = (read_loads(&sections, up)?, read_forces(&sections)?);
        changes.push(SceneChange::Loads { body: body.clone(), loads, forces });
    }
    let rate = read_air_drag(section, &table.air_drag)?;
    changes.extend(rate.map(|rate| SceneChange::AirDrag { body: body.clone(), rate }));
    let numbers = [&table.stiffness_factor, &table.damping_factor, &table.friction_factor];
    for (factor, curve) in Factor::ALL.into_iter().zip(read_factors(section, numbers)?) {
        changes.extend(curve.map(|curve| SceneChange::BodyFactor { body: body.clone(), factor, curve }));
    }
    let bands = table.bands.as_ref().map(read_bands);
    changes.extend(bands.map(|bands| SceneChange::Bands { body: body.clone(), bands }));
    for pin in section.items("pin", &table.pin) {
        let motion = read_motion(pin.optional("motion", &pin.table().motion).as_ref())?;
        let pin = pin.number.unwrap_or(1).saturating_sub(1);
        changes.push(SceneChange::PinMotion { body: body.clone(), pin, motion });
    }
    Ok(())
}

fn read_character(
    section: &Section<CharacterEditTable>,
    scene: &Scene,
    changes: &mut Vec<SceneChange>,
) -> Result<(), ReadError> {
    // goals that end, then those that begin
    let (table, rig) = (section.table(), || section.name.clone());
    let ended = section.remove_goal.iter().cloned();
    changes.extend(ended.map(|goal| SceneChange::RemoveGoal { rig: rig(), goal }));
    let goals = section.items("goal", &table.goal);
    if let Some(goal) = goals.iter().find(|goal| goal.name.is_none()) {
        let message = "[[edit.character.goal]] needs `name`, by which a later edit can change it or end it";
        return Err(goal.error("name", message));
    }
    if !goals.is_empty() {
        let found = scene.world.rigs.iter().find(|rig| rig.name == section.name);
        let skeleton = found.and_then(|rig| Skeleton::build(&rig.skeleton.with_plain_masses()).ok());
        let skeleton = skeleton.ok_or_else(|| {
            section.error("name", format!("there is no character \"{}\"", section.name.escape_debug()))
        })?;
        let goals = read_goals(&goals, &section.name, &skeleton)?;
        changes.extend(goals.into_iter().map(|goal| SceneChange::Goal { rig: rig(), goal }));
    }

    // who drives it
    changes.extend(section.mode.map(|mode| SceneChange::Drive { rig: rig(), mode: read_mode(Some(mode)) }));
    Ok(())
}

fn read_obstacle(
    section: &Section<ObstacleEditTable>,
    changes: &mut Vec<SceneChange>,
) -> Result<(), ReadError> {
    let name = &section.name;
    let motion = match section.optional("motion", &section.table().motion) {
        Some(motion) => Some(read_motion(Some(&motion))?),
        None => section.still.unwrap_or(false).then_some(Motion::Still),
    };
    changes.extend(motion.map(|motion| SceneChange::ObstacleMotion { obstacle: name.clone(), motion }));
    let friction = section.friction;
    changes
        .extend(friction.map(|friction| SceneChange::ObstacleFriction { obstacle: name.clone(), friction }));
    let factor = read_factor(section, Factor::Friction, section.table().friction_factor.as_ref())?;
    let change = |curve| SceneChange::ObstacleFrictionFactor { obstacle: name.clone(), curve };
    changes.extend(factor.map(change));
    Ok(())
}
