//! What a character does: its motion from a file or from keys, and cues.

use super::bone::pose_unit;
use super::keys::ScenePart;
use super::section::Section;
use crate::bare_motion::first_frame;
use crate::bvh::{Bvh, BvhBody, BvhOptions, CMU_METRES, read_bvh};
use sinew_character::{DEFAULT_SMOOTHING, find_bone, retarget_motion};
use sinew_control::{
    Approach, BoneMap, BoneSelection, Cue, CueDrive, DriveMode, Extrapolation, Humanoid, Interpolation, Key,
    KeyShape, PathFollower, Performance, RetargetOptions, SkeletonMotion,
};
use sinew_files::read_bytes;
use sinew_files::{Loaded, ReadError};
use sinew_math::{Rotation, Vec3};
use sinew_skeleton::{Skeleton, SkeletonState};
use std::path::Path;

/// From rest to the first pose, and how long flesh settles there, when nothing is said (s).
const DEFAULT_APPROACH: f64 = 0.7;
const DEFAULT_HOLD: f64 = 0.8;
/// Keys are filled up to frames this long (s).
const KEY_FRAME: f64 = 1.0 / 120.0;

/// Reads a BVH file that a key of a section names.
pub(super) fn read_motion_file(
    section: &Section,
    key: &str,
    folder: &Path,
) -> Result<Loaded<Bvh>, ReadError> {
    let file = folder.join(section.needed(key, section.text(key)?)?);
    let unit = section.number("unit", "above 0", |unit| unit > 0.0)?.unwrap_or(CMU_METRES);
    let named = |mut error: ReadError| {
        error.message += &format!(" (named in line {} of the scene)", section.line(key));
        error
    };
    let options = BvhOptions { metres_per_unit: unit, ..BvhOptions::default() };
    let bytes = read_bytes(&file).map_err(named)?;
    read_bvh(&bytes, &options).map_err(|error| named(error.within(&file)))
}

/// Reads what a character does. `own` is the file that its skeleton came from, `world_from_file` how the axes of such files stand in the world.
pub(super) fn read_performance(
    character: &Section,
    skeleton: &Skeleton,
    own: Option<&Bvh>,
    world_from_file: Rotation,
    folder: &Path,
) -> Result<Loaded<(Performance, f64)>, ReadError> {
    let mut notes = Vec::new();
    let keys = character.sections("key", ScenePart::Key)?;
    let section = character.section("motion", ScenePart::BoneMotion)?;
    let mut calibration = 0;
    let motion = match (&section, own) {
        _ if !keys.is_empty() => Some(read_keys(character, section.as_ref(), &keys, skeleton)?),
        (Some(section), _) if section.has("bvh") => {
            let read = read_motion_file(section, "bvh", folder)?;
            notes.extend(read.notes);
            calibration = first_frame(&read.value);
            Some(retargeted(section, &read.value, skeleton, world_from_file)?)
        }
        (_, Some(bvh)) => {
            let faulty = |error: sinew_control::MotionError| character.error("skeleton", error.to_string());
            calibration = first_frame(bvh);
            Some(bvh.to_motion(skeleton).map_err(faulty)?)
        }
        _ => None,
    };
    let motion = match motion {
        // keys have become frames on their curve already
        Some(motion) if keys.is_empty() => {
            let given = section.as_ref().map(read_interpolation).transpose()?.flatten();
            let beyond = motion.extrapolation;
            Some(motion.with(given.unwrap_or(Interpolation::BSpline), beyond))
        }
        motion => motion,
    };
    let motion = match (motion, &section) {
        (Some(motion), Some(section)) => Some(cut(section, motion, calibration)?),
        (Some(motion), None) if calibration > 0 => {
            let frames = calibration..motion.frame_count();
            Some(motion.cut(frames).map_err(|error| character.error("skeleton", error.to_string()))?)
        }
        (motion, _) => motion,
    };
    if calibration > 0 && !section.as_ref().is_some_and(|section| section.has("first")) {
        notes.push("frame 0 is a pose for calibration: the motion begins with frame 1".to_owned());
    }
    // keys are drawn by hand and captured motion is not: only the latter shakes
    let motion = match motion {
        Some(motion) if keys.is_empty() => {
            let given = match &section {
                Some(section) => {
                    section.number("smooth", "from 0 to 1000", |f| (0.0..=1000.0).contains(&f))?
                }
                None => None,
            };
            let frequency = given.unwrap_or(DEFAULT_SMOOTHING);
            Some(if frequency > 0.0 { motion.smoothed(frequency) } else { motion })
        }
        motion => motion,
    };
    let time = |key: &str, defaults: f64| {
        Ok(character.number(key, "from 0 to 600", |s| (0.0..=600.0).contains(&s))?.unwrap_or(defaults))
    };
    let approach = time("run_up", if motion.is_some() { DEFAULT_APPROACH } else { 0.0 })?;
    let hold = time("settle", DEFAULT_HOLD)?;
    let mut performance = Performance::of(motion);
    performance.follow =
        PathFollower { time_constant: time("return", PathFollower::default().time_constant)? };
    if approach > 0.0 {
        performance.approach = Some(Approach { begin: -(approach + hold), end: -hold });
    }
    performance.set_drive_mode(read_mode(character)?);
    performance.cues.extend(read_cues(character, skeleton)?);
    Ok(Loaded { value: (performance, approach + hold), notes })
}

/// Who leads.
pub(super) fn read_mode(character: &Section) -> Result<DriveMode, ReadError> {
    Ok(match character.choice("mode", &["one-way", "two-way", "ragdoll"])? {
        Some("two-way") => DriveMode::TwoWay,
        Some("ragdoll") => DriveMode::Ragdoll,
        _ => DriveMode::OneWay,
    })
}

/// The motion of another skeleton, carried over by the names of bones.
fn retargeted(
    section: &Section,
    bvh: &Bvh,
    skeleton: &Skeleton,
    world_from_file: Rotation,
) -> Result<SkeletonMotion, ReadError> {
    let at = |what: String| section.error("bvh", what);
    let source =
        Skeleton::build(&bvh.to_skeleton(&BvhBody::default())).map_err(|error| at(error.to_string()))?;
    let motion = bvh.to_motion(&source).map_err(|error| at(error.to_string()))?;
    let (rest, map) = (SkeletonState::at_rest(skeleton), BoneMap::find_in(skeleton));
    let target = Humanoid { skeleton, rest: &rest, bones: &map };
    let options = RetargetOptions { up: world_from_file * Vec3::y(), ..RetargetOptions::default() };
    Ok(retarget_motion(&source, &motion, &target, &options).map_err(at)?.0)
}

/// The part of a motion that is played. Without a word about it a pose for calibration is left out.
fn cut(section: &Section, motion: SkeletonMotion, default_first: usize) -> Result<SkeletonMotion, ReadError> {
    let count = motion.frame_count();
    let frame = |key: &str, defaults: usize| {
        let whole = |n: f64| n >= 0.0 && n < count as f64 && n.fract() == 0.0;
        let words = format!("a frame from 0 to {}", count - 1);
        Ok(section.number(key, &words, whole)?.map_or(defaults, |n| n as usize))
    };
    let (first, last) = (frame("first", default_first.min(count - 1))?, frame("last", count - 1)?);
    let cut = motion.cut(first..last + 1).map_err(|error| section.error("first", error.to_string()))?;
    let beyond = if section.flag("loop")? { Extrapolation::Loop } else { Extrapolation::Hold };
    let interpolation = cut.interpolation;
    Ok(cut.with(interpolation, beyond))
}

pub(super) fn read_interpolation(section: &Section) -> Result<Option<Interpolation>, ReadError> {
    let word = section.choice("interpolation", &["kochanek-bartels", "b-spline", "linear", "step"])?;
    Ok(word.map(|word| match word {
        "kochanek-bartels" => Interpolation::KochanekBartels,
        "b-spline" => Interpolation::BSpline,
        "linear" => Interpolation::Linear,
        _ => Interpolation::Step,
    }))
}

/// Key postures: what a key does not name keeps the coordinates of the key before it.
fn read_keys(
    character: &Section,
    motion: Option<&Section>,
    sections: &[Section],
    skeleton: &Skeleton,
) -> Result<SkeletonMotion, ReadError> {
    let mut pose = SkeletonState::at_rest(skeleton);
    let mut keys: Vec<Key<Vec<f64>>> = Vec::new();
    for section in sections {
        let time = section
            .needed("time", section.number("time", "from 0 to 86400", |t| (0.0..=86400.0).contains(&t))?)?;
        if let Some(last) = keys.last().filter(|last| last.time >= time) {
            let message = format!(
                "this key is at {time} s, the one above it at {} s: put keys in the order of time",
                last.time
            );
            return Err(section.error("time", message));
        }
        for (name, values, line) in section.number_lists("pose")? {
            let bone = find_bone(skeleton, &name).map_err(|message| ReadError::line(line, message))?;
            let units = pose_unit(skeleton.parts(&skeleton.bone(bone).joint));
            if values.len() != units.len() {
                let message =
                    format!("bone `{name}` takes {} numbers, {} are given", units.len(), values.len());
                return Err(ReadError::line(line, message));
            }
            let chart: Vec<f64> = values.iter().zip(&units).map(|(value, unit)| value * unit).collect();
            pose.set_chart_of(skeleton, bone, &chart);
        }
        let shape = |key: &str| {
            Ok(section.number(key, "from -1 to 1", |x| (-1.0..=1.0).contains(&x))?.unwrap_or(0.0))
        };
        let shape =
            KeyShape { tension: shape("tension")?, continuity: shape("continuity")?, bias: shape("bias")? };
        keys.push(Key { time, value: pose.q.clone(), shape });
    }
    if let Some(first) = keys.first().filter(|first| first.time > 0.0) {
        // the take begins in the first posture
        let start = Key { time: 0.0, ..first.clone() };
        keys.insert(0, start);
    }
    let interpolation = match motion {
        Some(section) => read_interpolation(section)?.unwrap_or(Interpolation::KochanekBartels),
        None => Interpolation::KochanekBartels,
    };
    SkeletonMotion::from_key_poses(skeleton, KEY_FRAME, &keys, interpolation)
        .map_err(|error| character.error("key", error.to_string()))
}

pub(super) fn read_cues(character: &Section, skeleton: &Skeleton) -> Result<Vec<Cue>, ReadError> {
    let mut cues = Vec::new();
    for section in character.sections("cue", ScenePart::Cue)? {
        let time = section.needed("time", section.number("time", "0 or more", |t| t >= 0.0)?)?;
        let mut bones = Vec::new();
        for name in section.texts("bones")? {
            bones.push(find_bone(skeleton, name).map_err(|message| section.error("bones", message))?);
        }
        let drive = match section.one_of(&["drive", "torque"])? {
            "drive" if section.choice("drive", &["motion", "limp"])? == Some("limp") => CueDrive::Limp,
            "drive" => CueDrive::Motion,
            _ => CueDrive::Torque(section.number_list("torque")?.unwrap_or_default()),
        };
        if let (CueDrive::Torque(values), [bone]) = (&drive, &bones[..]) {
            let dofs = skeleton.bone(*bone).joint.v_count;
            if values.len() != dofs {
                let message =
                    format!("the joint has {dofs} degrees of freedom, {} torques are given", values.len());
                return Err(section.error("torque", message));
            }
        } else if let CueDrive::Torque(_) = drive {
            return Err(section.error("torque", "a torque is for one bone: name it in `bones`"));
        }
        let bones = if bones.is_empty() { BoneSelection::All } else { BoneSelection::These(bones) };
        cues.push(Cue { time, bones, drive });
    }
    Ok(cues)
}
