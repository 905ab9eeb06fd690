//! Writes edits as `[[edit]]`, one table for each change, so that changes of one edit keep their order.

use super::body::{load_tables, material_choice};
use super::constraint::moved_constraint_table;
use super::goal::goal_table;
use super::metaphor::metaphor_table;
use super::number::{keyed_number, keyed_vector};
use super::obstacle::contact_table;
use super::performance::drive_mode;
use super::region::motion_table;
use super::skin::bands_table;
use super::solver::solver_table;
use crate::scene_schema::{
    BodyEditTable, CharacterEditTable, EditTable, GoalTable, ObstacleEditTable, PinEditTable, SolverChoice,
    SolverTable,
};
use sinew_control::{Factor, Goal, Motion};
use sinew_skeleton::Skeleton;
use sinew_take::{Scene, SceneChange};

/// The tables of all edits of a scene.
///
/// # Errors
/// The first part of an edit that scene files have no keys for.
pub fn edit_tables(scene: &Scene) -> Result<Vec<EditTable>, String> {
    let edits = scene.edits.iter().flat_map(|edit| edit.changes.iter().map(|change| (edit.time, change)));
    edits.map(|(time, change)| edit_table(scene, time, change)).collect()
}

fn edit_table(scene: &Scene, time: f64, change: &SceneChange) -> Result<EditTable, String> {
    let mut table = EditTable { time, ..EditTable::default() };
    let body = |name: &str| BodyEditTable { name: name.to_owned(), ..BodyEditTable::default() };
    let character = |name: &str| CharacterEditTable { name: name.to_owned(), ..Default::default() };
    let obstacle = |name: &str| ObstacleEditTable { name: name.to_owned(), ..ObstacleEditTable::default() };
    match change {
        // the whole world
        SceneChange::Gravity(gravity) => table.gravity = Some(keyed_vector(gravity)?),
        SceneChange::Contact(contact) => table.contact = contact_table(contact, false),
        SceneChange::Solver(solver) => {
            let explicit = SolverTable { kind: Some(SolverChoice::Explicit), ..SolverTable::default() };
            table.solver = Some(solver_table(solver).unwrap_or(explicit));
        }

        // bodies and characters
        SceneChange::Material { body: name, material } => {
            table.body.push(BodyEditTable { material: Some(material_choice(material)), ..body(name) });
        }
        SceneChange::Loads { body: name, loads, forces } => {
            table.body.push(BodyEditTable { load: Some(load_tables(loads, forces)?), ..body(name) });
        }
        SceneChange::AirDrag { body: name, rate } => {
            table.body.push(BodyEditTable { air_drag: Some(keyed_number(rate)?), ..body(name) });
        }
        SceneChange::BodyFactor { body: name, factor, curve } => {
            let (number, mut own) = (Some(keyed_number(curve)?), body(name));
            match factor {
                Factor::Stiffness => own.stiffness_factor = number,
                Factor::Damping => own.damping_factor = number,
                Factor::Friction => own.friction_factor = number,
            }
            table.body.push(own);
        }
        SceneChange::Bands { body: name, bands } => {
            table.body.push(BodyEditTable { bands: Some(bands_table(bands)), ..body(name) });
        }
        SceneChange::PinMotion { body: name, pin, motion } => {
            let pin = PinEditTable { number: Some(pin + 1), motion: motion_table(motion)? };
            table.body.push(BodyEditTable { pin: vec![pin], ..body(name) });
        }
        SceneChange::Drive { rig, mode } => {
            table.character.push(CharacterEditTable { mode: Some(drive_mode(*mode)), ..character(rig) });
        }
        SceneChange::Goal { rig, goal } => {
            let goal = vec![begun_goal(scene, rig, goal)?];
            table.character.push(CharacterEditTable { goal, ..character(rig) });
        }
        SceneChange::RemoveGoal { rig, goal } => {
            table.character.push(CharacterEditTable { remove_goal: vec![goal.clone()], ..character(rig) });
        }

        // obstacles, constraints and metaphors
        SceneChange::ObstacleMotion { obstacle: name, motion } => {
            let still = (*motion == Motion::Still).then_some(true);
            table.obstacle.push(ObstacleEditTable { motion: motion_table(motion)?, still, ..obstacle(name) });
        }
        SceneChange::ObstacleFriction { obstacle: name, friction } => {
            table.obstacle.push(ObstacleEditTable { friction: Some(*friction), ..obstacle(name) });
        }
        SceneChange::ObstacleFrictionFactor { obstacle: name, curve } => {
            let friction_factor = Some(keyed_number(curve)?);
            table.obstacle.push(ObstacleEditTable { friction_factor, ..obstacle(name) });
        }
        SceneChange::Constraint { constraint, motion } => {
            table.constraint.push(moved_constraint_table(constraint, motion)?);
        }
        SceneChange::RemoveConstraint(name) => table.remove.push(name.clone()),
        SceneChange::Metaphor { metaphor, magnitude } => {
            table.metaphor.push(metaphor_table(metaphor, magnitude)?);
        }
        SceneChange::RemoveMetaphor(name) => table.remove_metaphor.push(name.clone()),
        SceneChange::Activation { muscle, curve } => {
            let activations = table.activation.get_or_insert_default();
            activations.insert(muscle.clone(), keyed_number(curve)?);
        }
    }
    Ok(table)
}

/// The table of a goal that begins in an edit.
fn begun_goal(scene: &Scene, rig: &str, goal: &Goal) -> Result<GoalTable, String> {
    let found = scene.world.rigs.iter().find(|own| own.name == rig);
    let skeleton = found.and_then(|own| Skeleton::build(&own.skeleton.with_plain_masses()).ok());
    let skeleton = skeleton.ok_or_else(|| format!("an edit has a goal of '{rig}', which is no character"))?;
    goal_table(goal, &skeleton).map_err(|what| format!("'{rig}' {what}"))
}

#[cfg(test)]
mod tests {
    use crate::{SceneFiles, read_scene};

    /// One of every change.
    const EDITS: &str = "seconds = 1\n[[body]]\nname = 'a'\nsurface = 'a.obj'\ncage_tets = 20\n[[body.pin]]\nregion = { end = 'top' }\n\
        [[obstacle]]\nname = 'ball'\nsphere = 0.1\nposition = [0, -2, 0]\n\
        [[constraint]]\nname = 'drag'\ndrag = { body = 'a', surface = [1, 0, 0] }\n\
        [[muscle]]\nname = 'pull'\nbody = 'a'\nfibres = [0, 1, 0]\n\
        [[body]]\nname = 'sack'\nkind = 'skin'\nsurface = 'a.obj'\nskin = { muscle = [{ radius = 0.1 }] }\n\
        [[edit]]\ntime = 0.1\ngravity = [0, 0.1, 0]\n\
        [[edit]]\ntime = 0.1\nbody = [{ name = 'a', material = { young = 2345 } }]\n\
        [[edit]]\ntime = 0.2\nbody = [{ name = 'a', load = [{ region = { end = 'top' }, force = [1, 0, 0] }] }]\n\
        [[edit]]\ntime = 0.3\nbody = [{ name = 'a', air_drag = 0.5 }]\n\
        [[edit]]\ntime = 0.3\nbody = [{ name = 'a', pin = [{ motion = { glide = { velocity = [0, 0.1, 0] } } }] }]\n\
        [[edit]]\ntime = 0.3\nbody = [{ name = 'a', pin = [{ number = 1 }] }]\n\
        [[edit]]\ntime = 0.35\nbody = [{ name = 'sack', bands = { stiffness = 300, slack = 0.02, by_hand = [[[0, 0.1, 0], [0.1, 0, 0]]] } }]\n\
        [[edit]]\ntime = 0.4\nobstacle = [{ name = 'ball', motion = { glide = { velocity = [0, 1, 0] } } }]\n\
        [[edit]]\ntime = 0.4\nobstacle = [{ name = 'ball', still = true }]\n\
        [[edit]]\ntime = 0.4\nobstacle = [{ name = 'ball', friction = 0.1 }]\n\
        [[edit]]\ntime = 0.5\nremove = ['drag']\n\
        [[edit]]\ntime = 0.5\nconstraint = [{ name = 'new', pin = { body = 'a', surface = [1, 0, 0] }, exact = true, strengths = [[0.5, 0], [0.6, 1]] }]\n\
        [[edit]]\ntime = 0.5\nmetaphor = [{ name = 'turn', body = 'a', kind = 'twist', magnitude = { keys = [[0.5, 0], [0.7, -2]] }, near = 0.01 }]\n\
        [[edit]]\ntime = 0.55\nremove_metaphor = ['turn']\n\
        [[edit]]\ntime = 0.58\nactivation = { pull = { keys = [[0.6, 0], [0.7, 1]] } }\n\
        [[edit]]\ntime = 0.6\ncontact = { friction = 0.2 }\n\
        [[edit]]\ntime = 0.7\nsolver = { kind = 'implicit', order = 2, exact = 'multipliers' }\n\
        [[edit]]\ntime = 0.8\nsolver = { kind = 'explicit' }\n";

    #[test]
    fn edits_come_back_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("a.obj"),
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",
        )
        .unwrap();
        std::fs::write(folder.path().join("s.toml"), EDITS).unwrap();
        let scene = read_scene(&folder.path().join("s.toml")).unwrap().value;
        assert_eq!(scene.edits.len(), 18);
        assert!(scene.edits.iter().all(|edit| edit.changes.len() == 1));
        let other = tempfile::tempdir().unwrap();
        SceneFiles::of(&scene, "t").unwrap().write(other.path()).unwrap();
        let again = read_scene(&other.path().join("t.toml")).unwrap().value;
        assert_eq!(format!("{:#?}", again.edits), format!("{:#?}", scene.edits));
        sinew_take::Player::build(&again).unwrap();
    }
}
