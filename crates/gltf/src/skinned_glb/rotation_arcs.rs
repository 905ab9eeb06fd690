//! Further keys on the arcs between keys of rotations that are far apart.
//!
//! Between linear keys glTF turns nodes along the shorter arc at constant speed (slerp). Blender, and any player that interpolates quaternions by components and normalises them, turns them along the same arc unevenly. With keys an
//! angle θ (rad) apart, a fraction (1 + u)/2 of the way it is off by
//!
//! ```text
//! δ(u) = 2 (atan(u tan(θ/4)) − u θ/4) = ⅔ (θ/4)³ (u − u³) + O(θ⁵),   max |δ| = θ³/(144 √3) at u = 1/√3
//! ```
//!
//! A key on the arc changes nothing for players that do as glTF says, and in the middle of the arc it divides δ by eight.

use super::clip::Clip;
use crate::document::{Document, push};
use serde_json::{Value, json};
use sinew_character::{AnimationChannel, ChannelInterpolation, ChannelPath, RiggedCharacter};
use sinew_math::real;
use std::collections::{BTreeMap, BTreeSet};

/// The part of the error of flesh that the interpolation of one joint may add at a distance of the whole size: all of it with ten such joints in a chain.
const PART_OF_ERROR: f64 = 0.1;
/// Keys so near (rad) are near enough for any error: 5°, where δ ≤ 2.7e-6 is as small as the round-off of single precision in a chain of joints.
const MIN_ANGLE: f64 = 0.0873;
/// Keys farther apart (rad) always get others between them: 45°, up to which the first term of δ is right within 4 %.
const MAX_ANGLE: f64 = 0.785;
/// The bytes of a key: its time and its quaternion, in single precision.
const KEY: usize = 20;
/// The bytes that describe the times and values of a channel, at most.
const DESCRIPTION: usize = 320;

/// The largest angle between keys (rad) for an error that is a fraction of the size: the θ of θ³/(144 √3) = [`PART_OF_ERROR`] · `error_fraction`.
pub(super) fn max_angle(error_fraction: f64) -> f64 {
    real::cbrt(144.0 * 3.0_f64.sqrt() * PART_OF_ERROR * error_fraction).clamp(MIN_ANGLE, MAX_ANGLE)
}

/// What turns: the clips of a character.
#[derive(Clone, Copy)]
pub(super) struct Turned<'a> {
    pub(super) character: &'a RiggedCharacter,
    pub(super) clips: &'a [Clip],
    /// The number of the file's own nodes. Helper bones come behind them: they have keys at every frame, and where one turns far from a frame to the next, what hangs on it is near its axis, or it would move as far.
    pub(super) node_count: usize,
}

/// Rotations of the file's own joints that get further keys in the clips that have flesh.
#[derive(Debug)]
pub(super) struct RotationArcs {
    /// No two keys are farther apart (rad).
    pub(super) max_angle: f64,
    /// By animation and node.
    tracks: BTreeMap<(usize, usize), ArcKeys>,
}

/// The keys of a rotation, old and new; neighbours are on the same side.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ArcKeys {
    /// Their times (s).
    pub(super) times: Vec<f32>,
    /// x, y, z and w of key after key.
    pub(super) values: Vec<f32>,
}

impl RotationArcs {
    /// The arcs of all clips, but of nodes whose rotations are keyed anew.
    pub(super) fn find(of: Turned, max_angle: f64) -> RotationArcs {
        let Turned { character, clips, node_count } = of;
        let mut tracks = BTreeMap::new();
        for clip in clips {
            let Some(animation) = clip.animation else { continue };
            let moved = clip.joint_keys.moved().filter(|(_, path)| *path == ChannelPath::Rotation);
            let replaced: BTreeSet<usize> = moved.map(|(node, _)| node).collect();
            let channels = character.animations[animation].channels.iter();
            let is_own = |node: usize| node < node_count && !replaced.contains(&node);
            for channel in channels.filter(|channel| is_own(channel.node)) {
                let keys = ArcKeys::find(channel, max_angle);
                tracks.extend(keys.map(|keys| ((animation, channel.node), keys)));
            }
        }
        RotationArcs { max_angle, tracks }
    }

    /// The same in at most so many bytes: where that is too few, keys stay farther apart.
    pub(super) fn find_within(of: Turned, max_angle: f64, max_bytes: u64) -> RotationArcs {
        let mut arcs = RotationArcs::find(of, max_angle);
        while arcs.byte_count() > max_bytes {
            // beyond half a turn there are no arcs
            arcs = RotationArcs::find(of, 1.5 * arcs.max_angle);
        }
        arcs
    }

    /// Their bytes, at most.
    pub(super) fn byte_count(&self) -> u64 {
        self.tracks.values().map(|keys| KEY * keys.times.len() + DESCRIPTION).sum::<usize>() as u64
    }

    /// Writes them: accessors that are new, in samplers that no other channel has.
    pub(super) fn write(&self, document: &mut Document) {
        let times = distinct(self.tracks.values().map(|keys| keys.times.as_slice()));
        let values = distinct(self.tracks.values().map(|keys| keys.values.as_slice()));
        let inputs = document.add_lists(&times.lists, "SCALAR");
        let outputs = document.add_lists(&values.lists, "VEC4");
        for (input, times) in inputs.iter().zip(&times.lists) {
            let accessor = &mut document.json["accessors"][*input];
            (accessor["min"], accessor["max"]) = (json!([times.first()]), json!([times.last()]));
        }

        let mut samplers: BTreeMap<usize, BTreeMap<usize, [usize; 2]>> = BTreeMap::new();
        for ((animation, node), (time, value)) in
            self.tracks.keys().zip(times.places.iter().zip(&values.places))
        {
            let accessors = [inputs[*time], outputs[*value]];
            samplers.entry(*animation).or_default().insert(*node, accessors);
        }
        for (animation, rotations) in samplers {
            put(&mut document.json["animations"][animation], rotations);
        }
    }
}

impl ArcKeys {
    /// The keys of a rotation with as many more on each arc as keep neighbours within an angle (rad), evenly in time; `None` if there are no arcs, or none so long.
    pub(super) fn find(channel: &AnimationChannel, max_angle: f64) -> Option<ArcKeys> {
        let is_linear = channel.interpolation == ChannelInterpolation::Linear;
        if channel.path != ChannelPath::Rotation || !is_linear {
            return None;
        }
        let count = channel.times.len();
        let mut keys = ArcKeys { times: Vec::new(), values: Vec::new() };
        let mut value = Vec::new();
        for (key, from) in channel.times.iter().enumerate() {
            keys.push(*from as f32, channel.value(key));
            let Some(to) = channel.times.get(key + 1) else { break };
            let angle = angle_between(channel.value(key), channel.value(key + 1));
            let parts = (angle / max_angle).ceil();
            for part in 1..parts as usize {
                // the value is that of the time as it is written, which must be between its neighbours
                let time = (from + (to - from) * part as f64 / parts) as f32;
                if keys.times.last().is_some_and(|last| *last < time) && time < *to as f32 {
                    channel.sample(f64::from(time), &mut value);
                    keys.push(time, &value);
                }
            }
        }
        (keys.times.len() > count).then_some(keys)
    }

    fn push(&mut self, time: f32, rotation: &[f64]) {
        let last = self.values.len().checked_sub(4).map(|at| &self.values[at..]);
        let dot = last.map_or(1.0, |last| last.iter().zip(rotation).map(|(a, b)| f64::from(*a) * b).sum());
        let sign = if dot < 0.0 { -1.0 } else { 1.0 };
        self.times.push(time);
        self.values.extend(rotation.iter().map(|x| (sign * x) as f32));
    }
}

/// The angle of the shorter arc between two unit quaternions (rad): cos θ/2 = |a · b|.
fn angle_between(a: &[f64], b: &[f64]) -> f64 {
    let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    2.0 * real::acos(dot.abs().min(1.0))
}

/// Lists without those that are the same to the bit, and where among them each is.
struct Distinct<'a> {
    lists: Vec<&'a [f32]>,
    places: Vec<usize>,
}

fn distinct<'a>(all: impl Iterator<Item = &'a [f32]>) -> Distinct<'a> {
    let mut found = Distinct { lists: Vec::new(), places: Vec::new() };
    let mut known: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    for list in all {
        let place = *known.entry(list.iter().map(|x| x.to_bits()).collect()).or_insert_with(|| {
            found.lists.push(list);
            found.lists.len() - 1
        });
        found.places.push(place);
    }
    found
}

/// Gives the rotations of some nodes, by their number, other times and values. Whatever else their samplers hold stays, and samplers that other channels use are copied.
fn put(animation: &mut Value, mut rotations: BTreeMap<usize, [usize; 2]>) {
    let number = |value: &Value| value.as_f64().map(|number| number as usize);
    let mut samplers = animation["samplers"].take();
    let channels = animation["channels"].as_array_mut().map_or(&mut [][..], Vec::as_mut_slice);
    let mut uses: BTreeMap<usize, usize> = BTreeMap::new();
    for sampler in channels.iter().filter_map(|channel| number(&channel["sampler"])) {
        *uses.entry(sampler).or_default() += 1;
    }
    for channel in channels.iter_mut().filter(|channel| channel["target"]["path"] == "rotation") {
        // the first of a node counts, as it did while the file was read
        let found = number(&channel["target"]["node"]).and_then(|node| rotations.remove(&node));
        let (Some([input, output]), Some(own)) = (found, number(&channel["sampler"])) else { continue };
        let mut sampler = samplers[own].clone();
        (sampler["input"], sampler["output"]) = (json!(input), json!(output));
        match uses.get_mut(&own) {
            Some(uses) if *uses > 1 => {
                *uses -= 1;
                channel["sampler"] = json!(push(&mut samplers, sampler));
            }
            _ => samplers[own] = sampler,
        }
    }
    animation["samplers"] = samplers;
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::{Rotation, Vec3, nalgebra::Quaternion};

    /// A node that turns about an axis by angles (rad), with quaternions of either sign.
    fn turning(times: &[f64], angles: &[f64]) -> AnimationChannel {
        let axis = Vec3::new(0.6, 0.0, 0.8);
        let values = angles.iter().enumerate().flat_map(|(key, angle)| {
            let sign = if key % 2 == 0 { 1.0 } else { -1.0 };
            let (sine, cosine) = (real::sin(0.5 * angle), real::cos(0.5 * angle));
            [axis.x * sine, axis.y * sine, axis.z * sine, cosine].map(|x| sign * x)
        });
        AnimationChannel {
            node: 0,
            path: ChannelPath::Rotation,
            interpolation: ChannelInterpolation::Linear,
            times: times.into(),
            width: 4,
            values: values.collect(),
        }
    }

    fn channel_of(keys: &ArcKeys) -> AnimationChannel {
        let times: Vec<f64> = keys.times.iter().map(|time| f64::from(*time)).collect();
        let values = keys.values.iter().map(|x| f64::from(*x)).collect();
        AnimationChannel { values, ..turning(&times, &[]) }
    }

    /// As players do that interpolate by components.
    fn by_components(channel: &AnimationChannel, time: f64) -> Rotation {
        let later = channel.times.partition_point(|key| *key <= time).clamp(1, channel.times.len() - 1);
        let [a, b] = [later - 1, later].map(|key| {
            let value = channel.value(key);
            Quaternion::new(value[3], value[0], value[1], value[2])
        });
        let s = (time - channel.times[later - 1]) / (channel.times[later] - channel.times[later - 1]);
        let b = if a.dot(&b) < 0.0 { -b } else { b };
        Rotation::new_normalize(a * (1.0 - s) + b * s)
    }

    fn times_between(channel: &AnimationChannel) -> impl Iterator<Item = f64> {
        let (first, last) = (channel.times[0], channel.times[channel.times.len() - 1]);
        (0..=1000).map(move |i| first + (last - first) * f64::from(i) / 1000.0)
    }

    /// The largest angle between what two kinds of players show.
    fn largest_gap(
        a: impl Fn(f64) -> Rotation,
        b: impl Fn(f64) -> Rotation,
        times: impl Iterator<Item = f64>,
    ) -> f64 {
        times.map(|time| 2.0 * (a(time).inverse() * b(time)).imag().norm()).fold(0.0, f64::max)
    }

    /// The first term of δ is all of it but for 4 % up to [`MAX_ANGLE`]: the next is smaller by (θ/4)² = 0.04.
    #[test]
    fn interpolation_by_components_is_off_by_the_cube_of_the_angle() {
        for angle in [0.1, 0.3, MAX_ANGLE] {
            let channel = turning(&[0.0, 1.0], &[0.2, 0.2 + angle]);
            let exact = |time: f64| channel.rotation(time).unwrap();
            let gap = largest_gap(exact, |time| by_components(&channel, time), times_between(&channel));
            let expected = angle.powi(3) / (144.0 * 3.0_f64.sqrt());
            assert!((gap / expected - 1.0).abs() < 0.04, "{angle}: {gap} {expected}");
        }
    }

    #[test]
    fn an_error_of_a_thousandth_asks_for_keys_every_17_degrees() {
        let degrees = |error: f64| max_angle(error).to_degrees().round();
        assert_eq!([1e-3, 1e-4, 0.0, 1.0].map(degrees), [17.0, 8.0, 5.0, 45.0]);
    }

    /// Values are written in single precision, 6e-8 for each of four components, and turn by twice as much; times are exact.
    #[test]
    fn further_keys_are_on_the_arc_and_near_each_other() {
        let channel = turning(&[0.25, 0.5, 1.5, 2.0], &[0.0, 2.17, 2.2, -0.9]);
        let keys = ArcKeys::find(&channel, 0.29).unwrap();
        let more = channel_of(&keys);
        // 2.17/0.29 and 3.1/0.29 are 8 and 11 parts
        assert_eq!(keys.times.len(), 4 + 7 + 10);
        let exact = |time: f64| channel.rotation(time).unwrap();
        let again = |time: f64| more.rotation(time).unwrap();
        assert!(largest_gap(exact, again, times_between(&channel)) < 5e-7);
        let gap = largest_gap(exact, |time| by_components(&more, time), times_between(&channel));
        assert!(gap < 1.02 * 0.29_f64.powi(3) / (144.0 * 3.0_f64.sqrt()), "{gap}");
        for (a, b) in keys.values.chunks(4).zip(keys.values.chunks(4).skip(1)) {
            assert!(a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>() > 0.0);
        }
    }

    #[test]
    fn near_keys_steps_and_cubics_get_none() {
        let near = turning(&[0.0, 1.0], &[0.0, 0.28]);
        assert_eq!(ArcKeys::find(&near, 0.29), None);
        let far = turning(&[0.0, 1.0], &[0.0, 2.0]);
        let steps = AnimationChannel { interpolation: ChannelInterpolation::Step, ..far.clone() };
        assert_eq!(ArcKeys::find(&steps, 0.29), None);
        let values = [&far.values[..], &far.values[..], &far.values[..]].concat();
        let cubic =
            AnimationChannel { interpolation: ChannelInterpolation::CubicSpline, values, ..far.clone() };
        assert_eq!(ArcKeys::find(&cubic, 0.29), None);
        // nor is there room in single precision between these
        let close = AnimationChannel { times: [1.0, 1.0 + f64::from(f32::EPSILON)].into(), ..far };
        assert_eq!(ArcKeys::find(&close, 0.29), None);
    }

    /// A sampler that two nodes have and one of an array: the one that is left keeps its numbers.
    #[test]
    fn samplers_of_other_channels_stay_as_they_are() {
        let sampler = json!({ "input": 0, "output": 1, "interpolation": "LINEAR", "extras": 7 });
        let channel = |sampler: usize, node: usize, path: &str| json!({ "sampler": sampler, "target": { "node": node, "path": path } });
        let mut animation = json!({
            "samplers": [sampler, { "input": 0, "output": 2 }],
            "channels": [channel(0, 4, "rotation"), channel(0, 5, "rotation"), channel(1, 6, "rotation"), channel(1, 6, "scale")],
        });
        put(&mut animation, BTreeMap::from([(4, [8, 9]), (6, [8, 10])]));
        let expected = json!([sampler, { "input": 0, "output": 2 }, { "input": 8, "output": 9, "interpolation": "LINEAR", "extras": 7 }, { "input": 8, "output": 10 }]);
        assert_eq!(animation["samplers"], expected);
        let used: Vec<&Value> =
            animation["channels"].as_array().unwrap().iter().map(|channel| &channel["sampler"]).collect();
        assert_eq!(used, [&json!(2), &json!(0), &json!(3), &json!(1)]);
    }
}
