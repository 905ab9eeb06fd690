//! Writes goals as `[[character.goal]]`.

use super::performance::curve;
use super::vector;
use crate::scene_schema::GoalTable;
use sinew_control::{DEFAULT_BLEND, DEFAULT_REACH_TIME, Extrapolation, Goal, GoalPoint, KeyShape, Keyframes};
use sinew_math::Vec3;
use sinew_skeleton::Skeleton;

/// The table of a goal.
pub(super) fn goal_table(goal: &Goal, skeleton: &Skeleton) -> Result<GoalTable, String> {
    let mut table = GoalTable { name: Some(goal.name.clone()), ..GoalTable::default() };
    match &goal.point {
        GoalPoint::Bone { bone, place } => {
            let bone =
                skeleton.bones().get(bone.index()).ok_or("has a goal for a bone that does not exist")?;
            (table.bone, table.point) = (Some(bone.name.clone()), place.as_ref().map(vector));
        }
        GoalPoint::Skin { body, place } => {
            (table.body, table.skin) = (Some(body.clone()), Some(vector(place)));
        }
    }

    // one kind of curve for place and turn
    let kind = |keys: &Keyframes<Vec3>| (keys.interpolation(), keys.extrapolation());
    if goal.turn.as_ref().is_some_and(|turn| kind(turn) != kind(&goal.place)) {
        return Err("has a goal along curves of different kinds".into());
    }
    table.path = Some(rows(&goal.place)?);
    table.turns = goal.turn.as_ref().map(rows).transpose()?;
    table.interpolation = Some(curve(goal.place.interpolation()));
    table.is_loop = (goal.place.extrapolation() == Extrapolation::Loop).then_some(true);

    // when, and how
    table.begin = (goal.begin != 0.0).then_some(goal.begin);
    table.end = goal.end.is_finite().then_some(goal.end);
    table.priority = (goal.priority != 1).then_some(goal.priority as usize);
    table.reach_time = (goal.reach_time != DEFAULT_REACH_TIME).then_some(goal.reach_time);
    table.blend = (goal.blend != DEFAULT_BLEND).then_some(goal.blend);
    Ok(table)
}

fn rows(keys: &Keyframes<Vec3>) -> Result<Vec<[f64; 4]>, String> {
    if keys.keys().iter().any(|key| key.shape != KeyShape::default()) {
        return Err("has a goal along keys with tension, continuity or bias".into());
    }
    let row = |key: &sinew_control::Key<Vec3>| [key.time, key.value.x, key.value.y, key.value.z];
    Ok(keys.keys().iter().map(row).collect())
}
