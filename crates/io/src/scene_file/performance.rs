//! Reads what a character does in a scene file: its motion, its preroll and its cues.

use super::Reading;
use super::bone_motion::{Performer, read_bone_motion};
use super::goal::read_goals;
use super::number::read_number;
use super::section::Section;
use crate::scene_schema::{self, BoneChoice, BoneGroup, CharacterTable, CueTable, JointDriver};
use sinew_character::find_bone;
use sinew_control::{Approach, BoneSelection, Cue, CueDrive, DriveMode, PathFollower, Performance};
use sinew_files::{Loaded, ReadError};
use sinew_skeleton::{BoneId, Skeleton};

/// The default time from rest to the first pose, and to settle there (s).
const DEFAULT_APPROACH: f64 = 0.7;
const DEFAULT_HOLD: f64 = 0.8;

/// Reads a performance and the preroll that it needs (s).
pub(super) fn read_performance(
    character: &Section<CharacterTable>,
    performer: &Performer,
    reading: &Reading,
) -> Result<Loaded<(Performance, f64)>, ReadError> {
    let Loaded { value: motion, notes } = read_bone_motion(character, performer, reading)?;

    // the preroll
    let default_approach = if motion.is_some() { DEFAULT_APPROACH } else { 0.0 };
    let approach = character.preroll_approach.unwrap_or(default_approach);
    let hold = character.preroll_hold.unwrap_or(DEFAULT_HOLD) + character.preroll_loop.unwrap_or(0.0);
    let mut performance = Performance::of(motion);
    performance.loop_preroll = character.preroll_loop.unwrap_or(0.0);
    if approach > 0.0 {
        performance.approach = Some(Approach { begin: -(approach + hold), end: -hold });
    }
    if performance.loop_preroll > 0.0 && performance.period().is_none() {
        return Err(
            character.error("preroll_loop", "`preroll_loop` needs a motion that is a cycle (`loop = true`)")
        );
    }

    // the take
    read_drives(character, performer.name, performer.skeleton, &mut performance)?;
    Ok(Loaded { value: (performance, approach + hold), notes })
}

/// Reads what drives the joints of a character during the take: its mode, cues, goals, and how it returns to its motion. `name` is that of the character.
pub(super) fn read_drives(
    character: &Section<CharacterTable>,
    name: &str,
    skeleton: &Skeleton,
    performance: &mut Performance,
) -> Result<(), ReadError> {
    if let Some(time_constant) = character.return_time {
        performance.follow = PathFollower { time_constant };
    }
    performance.set_drive_mode(read_mode(character.mode));
    performance.cues.extend(read_cues(character, skeleton)?);
    performance.goals = read_goals(&character.items("goal", &character.table().goal), name, skeleton)?;
    performance.max_torque = character.max_torque;
    Ok(())
}

/// The drive mode at the start.
pub(super) fn read_mode(mode: Option<scene_schema::DriveMode>) -> DriveMode {
    match mode {
        None | Some(scene_schema::DriveMode::OneWay) => DriveMode::OneWay,
        Some(scene_schema::DriveMode::TwoWay) => DriveMode::TwoWay,
        Some(scene_schema::DriveMode::Ragdoll) => DriveMode::Ragdoll,
        Some(scene_schema::DriveMode::Reach) => DriveMode::Reach,
        Some(scene_schema::DriveMode::Servo) => DriveMode::Servo,
        Some(scene_schema::DriveMode::Direct) => DriveMode::Direct,
    }
}

/// Reads cues: times from which joints are driven by something else.
fn read_cues(character: &Section<CharacterTable>, skeleton: &Skeleton) -> Result<Vec<Cue>, ReadError> {
    let cues = character.items("cue", &character.table().cue);
    cues.iter().map(|cue| read_cue(cue, skeleton)).collect()
}

fn read_cue(section: &Section<CueTable>, skeleton: &Skeleton) -> Result<Cue, ReadError> {
    // whose joints
    let bones = match &section.bones {
        None => BoneSelection::All,
        Some(BoneChoice::Group(BoneGroup::Roots)) => BoneSelection::Roots,
        Some(BoneChoice::Named(names)) if names.is_empty() => BoneSelection::All,
        Some(BoneChoice::Named(names)) => {
            let found: Result<Vec<BoneId>, String> =
                names.iter().map(|name| find_bone(skeleton, name)).collect();
            BoneSelection::These(found.map_err(|message| section.error("bones", message))?)
        }
    };

    // what drives them
    let drive = match (&section.torque, section.drive) {
        (Some(torque), _) => {
            let curves = torque.iter().map(|torque| read_number(section, "torque", torque));
            CueDrive::Torque(curves.collect::<Result<_, _>>()?)
        }
        (None, Some(JointDriver::Limp)) => CueDrive::Limp,
        (None, Some(JointDriver::Reach)) => CueDrive::Reach,
        (None, Some(JointDriver::Servo)) => CueDrive::Servo,
        (None, Some(JointDriver::Direct)) => CueDrive::Direct,
        (None, _) => CueDrive::Motion,
    };

    // a torque needs one bone, and a number for each degree of freedom
    if let CueDrive::Torque(values) = &drive {
        let BoneSelection::These(one) = &bones else {
            return Err(section.error("torque", "`torque` applies to one bone: name it in `bones`"));
        };
        let [bone] = one[..] else {
            return Err(section.error("torque", "`torque` applies to one bone: name it in `bones`"));
        };
        let dofs = skeleton.bone(bone).joint.v_count;
        if values.len() != dofs {
            let message =
                format!("the joint has {dofs} degrees of freedom, but {} torques are given", values.len());
            return Err(section.error("torque", message));
        }
    }
    Ok(Cue { time: section.time, bones, drive })
}
