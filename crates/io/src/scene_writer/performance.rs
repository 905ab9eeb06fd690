//! Writes what a skeleton does: its motion as a table of frames, its preroll and its cues.

use super::goal::goal_table;
use super::number::keyed_number;
use crate::scene_schema::{
    BoneChoice, BoneGroup, BoneMotionTable, CharacterTable, CueTable, Curve, DriveMode, JointDriver,
};
use sinew_control::{
    Approach, BoneSelection, Cue, CueDrive, DriveMode as Mode, Extrapolation, Interpolation, PathFollower,
    Performance, SkeletonMotion,
};
use sinew_skeleton::{BoneId, Skeleton};

/// A motion that is written to a file of its own.
pub(super) struct WrittenMotion<'a> {
    pub(super) motion: &'a SkeletonMotion,
    pub(super) skeleton: Skeleton,
    /// The table, without the name of the file.
    pub(super) table: BoneMotionTable,
}

impl WrittenMotion<'_> {
    pub(super) fn of(motion: &SkeletonMotion, skeleton: Skeleton) -> WrittenMotion<'_> {
        let table = BoneMotionTable {
            frame_seconds: Some(motion.frame_seconds()),
            is_loop: (motion.extrapolation == Extrapolation::Loop).then_some(true),
            interpolation: Some(curve(motion.interpolation)),
            ..BoneMotionTable::default()
        };
        WrittenMotion { motion, skeleton, table }
    }
}

/// Converts an interpolation to a curve.
pub(super) fn curve(interpolation: Interpolation) -> Curve {
    match interpolation {
        Interpolation::KochanekBartels => Curve::KochanekBartels,
        Interpolation::BSpline => Curve::BSpline,
        Interpolation::Linear => Curve::Linear,
        Interpolation::Step => Curve::Step,
    }
}

/// Sets preroll, drive mode and cues of a table; returns the preroll that the reader computes for the character (s). `scene_preroll` is that
/// of the scene (s).
pub(super) fn apply_performance(
    performance: &Performance,
    scene_preroll: f64,
    skeleton: &Skeleton,
    table: &mut CharacterTable,
) -> Result<f64, String> {
    let preroll = apply_preroll(performance, scene_preroll, table)?;
    let follow = performance.follow;
    table.return_time = (follow != PathFollower::default()).then_some(follow.time_constant);
    let mut cues = &performance.cues[..];
    if let Some((mode, count)) = Mode::of_cues(cues) {
        table.mode = Some(drive_mode(mode));
        cues = &cues[count..];
    }
    table.cue = cues.iter().map(|cue| cue_table(cue, skeleton)).collect::<Result<_, _>>()?;
    table.goal = performance.goals.iter().map(|goal| goal_table(goal, skeleton)).collect::<Result<_, _>>()?;
    table.max_torque = performance.max_torque;
    Ok(preroll)
}

/// Sets the times of the preroll so that their sums, as the reader computes them, are the given ones bit for bit.
fn apply_preroll(
    performance: &Performance,
    scene_preroll: f64,
    table: &mut CharacterTable,
) -> Result<f64, String> {
    let cycles = performance.loop_preroll;
    let (approach, hold) = match performance.approach {
        Some(Approach { begin, end }) => {
            let hold = summand(-end, cycles);
            let approach = summand(-begin, -end).filter(|approach| *approach > 0.0);
            approach.zip(hold).ok_or_else(|| {
                format!(
                    "has a preroll from {begin} s to {end} s with cycles of {cycles} s, whose times do not add up exactly"
                )
            })?
        }
        None => (0.0, summand(scene_preroll, cycles).unwrap_or(0.0)),
    };
    table.preroll_approach = Some(approach);
    table.preroll_hold = Some(hold);
    table.preroll_loop = (cycles != 0.0).then_some(cycles);
    Ok(approach + (hold + cycles))
}

/// A number x ≥ 0 with x + `other` = `sum`, bit for bit.
fn summand(sum: f64, other: f64) -> Option<f64> {
    let near = sum - other;
    let candidates = [near, near.next_up(), near.next_down()];
    candidates.into_iter().find(|x| *x >= 0.0 && x + other == sum).map(|x| x + 0.0)
}

/// The word for a drive mode.
pub(super) fn drive_mode(mode: Mode) -> DriveMode {
    match mode {
        Mode::OneWay => DriveMode::OneWay,
        Mode::TwoWay => DriveMode::TwoWay,
        Mode::Ragdoll => DriveMode::Ragdoll,
        Mode::Reach => DriveMode::Reach,
        Mode::Servo => DriveMode::Servo,
        Mode::Direct => DriveMode::Direct,
    }
}

fn cue_table(cue: &Cue, skeleton: &Skeleton) -> Result<CueTable, String> {
    // whose joints
    let name = |bone: &BoneId| skeleton.bones().get(bone.index()).map(|bone| bone.name.clone());
    let bones = match &cue.bones {
        BoneSelection::All => None,
        BoneSelection::Roots => Some(BoneChoice::Group(BoneGroup::Roots)),
        BoneSelection::These(bones) if bones.is_empty() => return Err("has a cue without bones".into()),
        BoneSelection::These(bones) => {
            let names: Option<Vec<String>> = bones.iter().map(name).collect();
            Some(BoneChoice::Named(names.ok_or("has a cue for a bone that does not exist")?))
        }
    };

    // what drives them
    let mut table = CueTable { time: cue.time, bones, ..CueTable::default() };
    match &cue.drive {
        CueDrive::Motion => table.drive = Some(JointDriver::Motion),
        CueDrive::Limp => table.drive = Some(JointDriver::Limp),
        CueDrive::Reach => table.drive = Some(JointDriver::Reach),
        CueDrive::Servo => table.drive = Some(JointDriver::Servo),
        CueDrive::Direct => table.drive = Some(JointDriver::Direct),
        CueDrive::Torque(values) => {
            let dofs = match &cue.bones {
                BoneSelection::These(bones) if bones.len() == 1 => {
                    Some(skeleton.bone(bones[0]).joint.v_count)
                }
                _ => None,
            };
            if dofs != Some(values.len()) {
                return Err(
                    "has a cue with a torque on several bones, or with a wrong number of torques".into()
                );
            }
            table.torque = Some(values.iter().map(keyed_number).collect::<Result<_, _>>()?);
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_exact() {
        for (sum, other) in [(1.4, 0.8), (0.8, 0.4), (1.5, 0.7), (0.3, 0.1), (7.4, 6.0), (0.4, 0.0)] {
            assert_eq!(summand(sum, other).unwrap() + other, sum);
        }
        assert_eq!(summand(0.4, 0.8), None);
    }
}
