//! A motion as the key postures that it goes through.
//!
//! Scene files draw a Catmull-Rom curve through keys and take it at 120 frames a second. Here the fewest even keys are found whose
//! curve is the motion again. A cycle is written with the keys before its start and after its end, so that its ends are as smooth as the rest
//! of it, and is cut to its length by `first` and `last`.

use super::words::{list, number, rounded, text};
use core::ops::RangeInclusive;
use sinew_control::{Approach, Extrapolation, Interpolation, Key, Performance, SkeletonMotion};
use sinew_skeleton::{BoneId, JointPrimitive, Skeleton, SkeletonState};

/// Frames a second that scene files fill keys up to.
const FRAMES_PER_SECOND: f64 = 120.0;
/// Keys beyond either end that the curve at the end looks at.
const BEYOND: usize = 2;
/// How far the curve through fewer keys may be from the motion, in any coordinate (m, rad, or a part of a quaternion): below
/// what is lost when degrees and metres are written with six places.
const SAME: f64 = 1e-9;

/// Writes what a skeleton does.
pub(super) fn write(
    performance: Option<&Performance>,
    preroll: f64,
    skeleton: &Skeleton,
) -> Result<String, String> {
    let Some(performance) = performance else { return Ok("run_up = 0\nsettle = 0\n".into()) };
    if performance.loop_preroll != 0.0 {
        return Err("its cycle is played before the start, which is not written".into());
    }
    let Approach { begin, end } = performance.approach.unwrap_or(Approach { begin: -preroll, end: -preroll });
    let mut page =
        format!("run_up = {}\nsettle = {}\n", number(rounded(end - begin, 9)), number(rounded(-end, 9)));
    let Some(motion) = &performance.motion else { return Ok(page) };
    let frames_per_frame = FRAMES_PER_SECOND * motion.frame_seconds();
    let frames_in_one = frames_per_frame.round();
    if (frames_per_frame - frames_in_one).abs() > 1e-9 || frames_in_one < 1.0 {
        return Err(format!(
            "its motion has frames of {} s, which are no whole number of frames of 1/{FRAMES_PER_SECOND} s",
            motion.frame_seconds()
        ));
    }
    let last = motion.frame_count() - 1;
    let keys = match motion.extrapolation {
        Extrapolation::Loop => {
            let apart = widest(motion, skeleton);
            let first = BEYOND * apart * frames_in_one as usize;
            let end = first + last * frames_in_one as usize;
            page += &format!("motion = {{ loop = true, first = {first}, last = {end} }}\n");
            cycle_keys(motion, apart)
        }
        Extrapolation::Hold => keys_at(motion, (0..=last).map(|i| (i, i))),
    };
    Ok(page + &write_keys(&keys, skeleton))
}

/// How many frames apart keys of a cycle can be.
fn widest(motion: &SkeletonMotion, skeleton: &Skeleton) -> usize {
    let last = motion.frame_count() - 1;
    let fits = |apart: &usize| last.is_multiple_of(*apart) && is_same(motion, skeleton, *apart);
    // at least four keys: fewer are no wave
    (2..=last / 4).rev().find(fits).unwrap_or(1)
}

/// Whether the curve through keys so many frames apart is the motion again.
fn is_same(motion: &SkeletonMotion, skeleton: &Skeleton, apart: usize) -> bool {
    let (keys, seconds) = (cycle_keys(motion, apart), motion.frame_seconds());
    let curve = SkeletonMotion::from_key_poses(skeleton, seconds, &keys, Interpolation::KochanekBartels);
    let Ok(curve) = curve else { return false };
    let frames: RangeInclusive<usize> = 0..=motion.frame_count() - 1;
    frames.into_iter().all(|i| distance(skeleton, motion.frame(i), curve.frame(i + BEYOND * apart)) < SAME)
}

/// The largest difference of two postures in any coordinate; a quaternion is the same with all signs changed.
fn distance(skeleton: &Skeleton, a: &[f64], b: &[f64]) -> f64 {
    let mut largest = 0.0f64;
    for bone in skeleton.bones() {
        let mut at = bone.joint.q_offset;
        for part in skeleton.parts(&bone.joint) {
            let q = at..at + part.q_count();
            at = q.end;
            let apart = |sign: f64| {
                a[q.clone()].iter().zip(&b[q.clone()]).map(|(x, y)| (x - sign * y).abs()).fold(0.0, f64::max)
            };
            largest = largest.max(if *part == JointPrimitive::Ball {
                apart(1.0).min(apart(-1.0))
            } else {
                apart(1.0)
            });
        }
    }
    largest
}

/// Keys so many frames apart, from before the cycle to after it.
fn cycle_keys(motion: &SkeletonMotion, apart: usize) -> Vec<Key<Vec<f64>>> {
    let last = motion.frame_count() - 1;
    let count = last / apart + 2 * BEYOND;
    let frame = |i: usize| (i * apart + BEYOND * last * apart - BEYOND * apart) % last;
    keys_at(motion, (0..=count).map(|i| (i * apart, frame(i))))
}

/// Keys at times counted in frames, with the postures of frames.
fn keys_at(
    motion: &SkeletonMotion,
    times_and_frames: impl Iterator<Item = (usize, usize)>,
) -> Vec<Key<Vec<f64>>> {
    let key = |(time, frame): (usize, usize)| {
        Key::at(time as f64 * motion.frame_seconds(), motion.frame(frame).to_vec())
    };
    times_and_frames.map(key).collect()
}

/// A key names the bones that have moved since the one before it.
fn write_keys(keys: &[Key<Vec<f64>>], skeleton: &Skeleton) -> String {
    let mut page = "key = [\n".to_owned();
    let mut before: Vec<Vec<f64>> =
        skeleton.bones().iter().map(|bone| vec![0.0; bone.joint.v_count]).collect();
    for key in keys {
        let state = SkeletonState { q: key.value.clone(), v: vec![0.0; skeleton.v_count()] };
        let mut pose = Vec::new();
        for (i, bone) in skeleton.bones().iter().enumerate() {
            let numbers = in_degrees(skeleton, &state, BoneId(i as u32));
            if numbers != before[i] {
                pose.push(format!("{} = {}", text(&bone.name), list(&numbers)));
                before[i] = numbers;
            }
        }
        page += &format!(
            "    {{ time = {}, pose = {{ {} }} }},\n",
            number(rounded(key.time, 9)),
            pose.join(", ")
        );
    }
    page + "]\n"
}

/// The coordinates of a joint in degrees and metres.
fn in_degrees(skeleton: &Skeleton, state: &SkeletonState, bone: BoneId) -> Vec<f64> {
    let parts = skeleton.parts(&skeleton.bone(bone).joint);
    let turns = parts.iter().flat_map(|part| {
        let turns = matches!(part, JointPrimitive::Revolute(_) | JointPrimitive::Ball);
        core::iter::repeat_n(turns, part.v_count())
    });
    let coordinates = state.chart_of(skeleton, bone);
    let plain = |(x, turns): (&f64, bool)| rounded(if turns { x.to_degrees() } else { *x }, 6);
    coordinates.iter().zip(turns).map(plain).collect()
}
