//! Reads `[[character.goal]]` of a scene file: where points of a character are to be.

use super::bone_motion::{beyond_of, interpolation};
use super::section::Section;
use crate::scene_schema::{Curve, GoalTable, Vector};
use sinew_character::find_bone;
use sinew_control::{DEFAULT_BLEND, DEFAULT_REACH_TIME, Goal, GoalPoint, Key, Keyframes};
use sinew_files::ReadError;
use sinew_math::Vec3;
use sinew_skeleton::Skeleton;

/// Reads the goals of a character, whose flesh has its name.
pub(super) fn read_goals(
    sections: &[Section<GoalTable>],
    character: &str,
    skeleton: &Skeleton,
) -> Result<Vec<Goal>, ReadError> {
    let mut goals: Vec<Goal> = Vec::new();
    for section in sections {
        let name = section.name.clone().unwrap_or_else(|| format!("goal-{}", goals.len() + 1));
        if goals.iter().any(|other| other.name == name) {
            return Err(section.error("name", format!("a goal above is also named `{name}`: rename one")));
        }
        goals.push(read_goal(section, name, character, skeleton)?);
    }
    Ok(goals)
}

fn read_goal(
    section: &Section<GoalTable>,
    name: String,
    character: &str,
    skeleton: &Skeleton,
) -> Result<Goal, ReadError> {
    // the point
    let point = match (&section.bone, section.skin) {
        (Some(bone), _) => {
            let bone = find_bone(skeleton, bone).map_err(|message| section.error("bone", message))?;
            GoalPoint::Bone { bone, place: section.point.map(Vec3::from) }
        }
        (None, skin) => {
            let place = Vec3::from(section.needed("skin", skin)?);
            let body = section.body.clone().unwrap_or_else(|| character.to_owned());
            GoalPoint::Skin { body, place }
        }
    };

    // where it is to be, and when
    let place = section.needed("place", read_keys(section, "path", section.place, &section.path)?)?;
    let turn = read_keys(section, "turns", section.turn, &section.turns)?;
    Ok(Goal {
        name,
        point,
        place,
        turn,
        begin: section.begin.unwrap_or(0.0),
        end: section.end.unwrap_or(f64::INFINITY),
        priority: section.priority.unwrap_or(1) as u32,
        reach_time: section.reach_time.unwrap_or(DEFAULT_REACH_TIME),
        blend: section.blend.unwrap_or(DEFAULT_BLEND),
        replaced: None,
    })
}

/// The curve of rows under `key`, or one value that stays.
fn read_keys(
    section: &Section<GoalTable>,
    key: &str,
    still: Option<Vector>,
    rows: &Option<Vec<[f64; 4]>>,
) -> Result<Option<Keyframes<Vec3>>, ReadError> {
    let keys: Vec<Key<Vec3>> = match (rows, still) {
        (Some(rows), _) => rows.iter().map(|[t, x, y, z]| Key::at(*t, Vec3::new(*x, *y, *z))).collect(),
        (None, Some(still)) => vec![Key::at(0.0, Vec3::from(still))],
        (None, None) => return Ok(None),
    };
    let curve = interpolation(section.interpolation.unwrap_or(Curve::KochanekBartels));
    let built = Keyframes::build(keys, curve, beyond_of(section.is_loop));
    built.map(Some).map_err(|error| section.error(key, format!("`{key}`: {}", error.faults.join("; "))))
}
