//! Reads the motion of a character in a scene file: key poses, a table of frames (CSV), or captured motion (BVH).

use super::Reading;
use super::bone::pose_units;
use super::section::Section;
use crate::bvh::{Bvh, BvhBody, read_bvh_in};
use crate::motion_frames::read_motion_frames;
use crate::scene_schema::{BoneMotionTable, CharacterTable, Curve, KeyTable};
use sinew_character::{DEFAULT_SMOOTHING, find_bone};
use sinew_control::{
    BoneMap, Extrapolation, Humanoid, Interpolation, Key, KeyShape, Retarget, RetargetOptions, SkeletonMotion,
};
use sinew_files::{Loaded, ReadError, read_bytes};
use sinew_math::{Rotation, Vec3};
use sinew_skeleton::{Skeleton, SkeletonState};
use std::path::Path;

/// The duration of the frames into which keys are sampled (s).
const KEY_FRAME: f64 = 1.0 / 120.0;

/// The skeleton that performs a motion.
pub(super) struct Performer<'a> {
    /// The name of the character.
    pub(super) name: &'a str,
    pub(super) skeleton: &'a Skeleton,
    /// The BVH file that the skeleton comes from, if it does.
    pub(super) own: Option<&'a Bvh>,
    /// Rotation from the axes of motion files to those of the world.
    pub(super) world_from_file: Rotation,
}

/// Reads a BVH file; `unit` is the length of its unit (m), by default found by the length of the figure's legs.
pub(super) fn read_motion_file(file: &Path, unit: Option<f64>) -> Result<Loaded<Bvh>, ReadError> {
    read_bvh_in(&read_bytes(file)?, unit).map_err(|error| error.within(file))
}

/// Adds the line of the scene to an error in a file that the scene names.
pub(super) fn named_in_line(mut error: ReadError, line: usize) -> ReadError {
    error.message += &format!(" (line {line} of the scene)");
    error
}

/// Reads the motion: key poses, a table of frames, or captured motion.
pub(super) fn read_bone_motion(
    character: &Section<CharacterTable>,
    performer: &Performer,
    reading: &Reading,
) -> Result<Loaded<Option<SkeletonMotion>>, ReadError> {
    let section = character.optional("motion", &character.table().motion);
    let section = section.as_ref();
    let still = |value| Ok(Loaded { value, notes: Vec::new() });

    // key poses
    let keys = character.items("key", &character.table().key);
    if !keys.is_empty() {
        if let Some(key) = section.and_then(|section| section.first_of(&["bvh", "frames"])) {
            return Err(
                character.error("key", format!("`key` and `motion.{key}` cannot be combined: keep one"))
            );
        }
        let motion = read_keys(character, section, &keys, performer.skeleton, reading.radians)?;
        return still(Some(match section {
            Some(section) => cut(section, motion, 0)?,
            None => motion,
        }));
    }

    // a table of frames
    if let Some((section, file)) = section.and_then(|section| Some((section, section.frames.as_ref()?))) {
        let seconds = section.needed("frame_seconds", section.frame_seconds)?;
        let file = reading.folder.join(file);
        let motion = read_motion_frames(&file, seconds, performer.skeleton)
            .map_err(|error| named_in_line(error, section.line("frames")))?;
        let motion =
            cut(section, motion.with(interpolation_of(section, Curve::BSpline), Extrapolation::Hold), 0)?;
        let smoothing = section.smooth.unwrap_or(0.0);
        return still(Some(if smoothing > 0.0 { motion.smoothed(smoothing) } else { motion }));
    }

    // captured motion, or none
    read_captured(character, section, performer, reading)
}

/// Captured motion: retargeted from a file of its own, or that of the skeleton's file.
fn read_captured(
    character: &Section<CharacterTable>,
    section: Option<&Section<BoneMotionTable>>,
    performer: &Performer,
    reading: &Reading,
) -> Result<Loaded<Option<SkeletonMotion>>, ReadError> {
    // the file
    let mut notes = Vec::new();
    let faulty = |error: sinew_control::MotionError| character.error("skeleton", error.to_string());
    let named = section.and_then(|section| Some((section, section.bvh.as_ref()?)));
    let (motion, calibration) = match (named, performer.own) {
        (Some((section, file)), _) => {
            let read = read_motion_file(&reading.folder.join(file), section.unit)
                .map_err(|error| named_in_line(error, section.line("bvh")))?;
            notes.extend(read.notes);
            (retargeted(section, &read.value, performer)?, read.value.first_motion_frame())
        }
        (None, Some(bvh)) => (bvh.to_motion(performer.skeleton).map_err(faulty)?, bvh.first_motion_frame()),
        (None, None) => return Ok(Loaded { value: None, notes }),
    };

    // interpolation, and the frames to play
    let beyond = motion.extrapolation;
    let curve = section.map_or(Interpolation::BSpline, |section| interpolation_of(section, Curve::BSpline));
    let motion = motion.with(curve, beyond);
    let motion = match section {
        Some(section) => cut(section, motion, calibration)?,
        None if calibration > 0 => motion.cut(calibration..motion.frame_count()).map_err(faulty)?,
        None => motion,
    };
    if calibration > 0 && section.is_none_or(|section| section.first.is_none()) {
        notes.push("frame 0 is a calibration pose: the motion begins with frame 1".to_owned());
    }

    // captured motion has jitter, unlike keys made by hand
    let frequency = section.and_then(|section| section.smooth).unwrap_or(DEFAULT_SMOOTHING);
    let motion = if frequency > 0.0 { motion.smoothed(frequency) } else { motion };
    notes.extend(motion.cut_note(performer.skeleton));
    Ok(Loaded { value: Some(motion), notes })
}

/// Retargets the motion of another skeleton by the names of bones.
fn retargeted(
    section: &Section<BoneMotionTable>,
    bvh: &Bvh,
    performer: &Performer,
) -> Result<SkeletonMotion, ReadError> {
    let skeleton = performer.skeleton;
    let at = |what: String| section.error("bvh", what);
    let source =
        Skeleton::build(&bvh.to_skeleton(&BvhBody::default())).map_err(|error| at(error.to_string()))?;
    let motion = bvh.to_motion(&source).map_err(|error| at(error.to_string()))?;
    let (source_rest, rest) = (SkeletonState::at_rest(&source), SkeletonState::at_rest(skeleton));
    let (source_map, map) = (BoneMap::find_in(&source), BoneMap::find_in(skeleton));
    let from = Humanoid { skeleton: &source, rest: &source_rest, bones: &source_map };
    let to = Humanoid { skeleton, rest: &rest, bones: &map };
    let options = RetargetOptions { up: performer.world_from_file * Vec3::y(), ..RetargetOptions::default() };
    let retarget = Retarget::build(&from, &to, &options).map_err(|error| at(error.to_string()))?;
    retarget.motion(&source, skeleton, &motion).map_err(|error| at(error.to_string()))
}

/// Cuts a motion to the frames to play, and sets its extrapolation.
fn cut(
    section: &Section<BoneMotionTable>,
    motion: SkeletonMotion,
    default_first: usize,
) -> Result<SkeletonMotion, ReadError> {
    let last_frame = motion.frame_count() - 1;
    let frame = |key: &str, given: Option<usize>, default: usize| match given {
        Some(frame) if frame > last_frame => {
            let message = format!("`{key}` is {frame}: it must be a frame from 0 to {last_frame}");
            Err(section.error(key, message))
        }
        given => Ok(given.unwrap_or(default)),
    };
    let first = frame("first", section.first, default_first.min(last_frame))?;
    let last = frame("last", section.last, last_frame)?;
    let cut = motion.cut(first..last + 1).map_err(|error| section.error("first", error.to_string()))?;
    let interpolation = cut.interpolation;
    Ok(cut.with(interpolation, beyond_of(section.is_loop)))
}

/// The extrapolation after the last frame or key.
pub(super) fn beyond_of(is_loop: Option<bool>) -> Extrapolation {
    if is_loop.unwrap_or(false) { Extrapolation::Loop } else { Extrapolation::Hold }
}

fn interpolation_of(section: &BoneMotionTable, default: Curve) -> Interpolation {
    interpolation(section.interpolation.unwrap_or(default))
}

/// Converts a curve to an interpolation.
pub(super) fn interpolation(curve: Curve) -> Interpolation {
    match curve {
        Curve::KochanekBartels => Interpolation::KochanekBartels,
        Curve::BSpline => Interpolation::BSpline,
        Curve::Linear => Interpolation::Linear,
        Curve::Step => Interpolation::Step,
    }
}

/// Reads key poses. Joints that a key does not name keep the coordinates of the key before.
fn read_keys(
    character: &Section<CharacterTable>,
    motion: Option<&Section<BoneMotionTable>>,
    sections: &[Section<KeyTable>],
    skeleton: &Skeleton,
    radians: f64,
) -> Result<SkeletonMotion, ReadError> {
    // poses, each built on the one before
    let mut pose = SkeletonState::at_rest(skeleton);
    let mut keys: Vec<Key<Vec<f64>>> = Vec::new();
    for section in sections {
        let time = section.time;
        if let Some(last) = keys.last().filter(|last| last.time >= time) {
            let message = format!(
                "this key is at {time} s, but the one above it is at {} s: sort the keys by time",
                last.time
            );
            return Err(section.error("time", message));
        }
        apply_pose(section, skeleton, radians, &mut pose)?;
        let shape = KeyShape {
            tension: section.tension.unwrap_or(0.0),
            continuity: section.continuity.unwrap_or(0.0),
            bias: section.bias.unwrap_or(0.0),
        };
        keys.push(Key { time, value: pose.q.clone(), shape });
    }

    // the take begins in the first pose
    if let Some(first) = keys.first().filter(|first| first.time > 0.0) {
        let start = Key { time: 0.0, ..first.clone() };
        keys.insert(0, start);
    }

    // the curve through them
    let curve = motion
        .map_or(Interpolation::KochanekBartels, |section| interpolation_of(section, Curve::KochanekBartels));
    SkeletonMotion::from_key_poses(skeleton, KEY_FRAME, &keys, curve)
        .map_err(|error| character.error("key", error.to_string()))
}

/// Sets the joints that a key names.
fn apply_pose(
    section: &Section<KeyTable>,
    skeleton: &Skeleton,
    radians: f64,
    pose: &mut SkeletonState,
) -> Result<(), ReadError> {
    for (name, values) in section.pose.iter().flatten() {
        let at = |message: String| ReadError::line(section.line_of_name("pose", name), message);
        let bone = find_bone(skeleton, name).map_err(at)?;
        let (values, units) =
            (values.as_slice(), pose_units(skeleton.parts(&skeleton.bone(bone).joint), radians));
        if values.len() != units.len() {
            let message =
                format!("bone `{name}` takes {} numbers, but {} are given", units.len(), values.len());
            return Err(at(message));
        }
        let chart: Vec<f64> = values.iter().zip(&units).map(|(value, unit)| value * unit).collect();
        pose.set_chart_of(skeleton, bone, &chart);
    }
    Ok(())
}
