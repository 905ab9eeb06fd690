//! Keys of flesh and joints in the animations of a file.

use super::body::Body;
use super::clip::Clip;
use super::compression::Flesh;
use super::rotation_arcs::ArcKeys;
use crate::document::{Document, push};
use serde_json::{Value, json};
use sinew_character::{AnimationChannel, ChannelInterpolation, ChannelPath, RiggedCharacter};
use std::collections::BTreeMap;

/// How long flesh takes to fade out where an animation goes on after the last frame (s).
pub(super) const FADE: f64 = 0.25;
/// Keys of a fade; between them it is a straight line.
const FADE_KEYS: usize = 8;

/// Writes the keys of one clip.
pub(super) struct KeyWriter<'a> {
    character: &'a RiggedCharacter,
    clip: &'a Clip,
    /// The largest angle between keys of joints (rad).
    max_angle: f64,
    /// The animation of the clip, or the one that was added.
    animation: usize,
    /// The times of the frames (s).
    times: Vec<f64>,
    times_accessor: Option<usize>,
    /// Accessors of the times of flesh, by their bits.
    flesh_times: BTreeMap<Vec<u32>, usize>,
}

impl<'a> KeyWriter<'a> {
    /// Keys in the animation of a clip, or in a new one.
    pub(super) fn new(
        document: &mut Document,
        character: &'a RiggedCharacter,
        clip: &'a Clip,
        max_angle: f64,
    ) -> KeyWriter<'a> {
        let animation = clip.animation.unwrap_or_else(|| {
            document.push("animations", json!({ "name": "flesh", "channels": [], "samplers": [] }))
        });
        let times = (0..clip.frames.len()).map(|frame| clip.time(frame, 0.0)).collect();
        let flesh_times = BTreeMap::new();
        KeyWriter { character, clip, max_angle, animation, times, times_accessor: None, flesh_times }
    }

    /// The animation that is written to.
    pub(super) fn animation(&self) -> usize {
        self.animation
    }

    /// Keys of the morph targets of a body: those of the file with its weights, then those of flesh.
    pub(super) fn add_flesh(&mut self, document: &mut Document, body: &Body, flesh: &Flesh) {
        // the keys of the clip
        let Some(mesh) = self.character.nodes[body.node].mesh else { return };
        let own = self.character.meshes[mesh].target_count();
        let channel = channel(self.character, self.animation, body.node);
        let of_clip = flesh.keys.iter().zip(&flesh.weights);
        let keys: Vec<(f64, &[f32])> = of_clip
            .filter(|(key, _)| self.clip.frames.contains(&key.frame))
            .map(|(key, weights)| (self.clip.time_of(key), weights.as_slice()))
            .collect();
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return };

        // beyond them the file's own targets go on, and flesh fades out
        let beyond = |time: f64| (time as f32) < first.0 as f32 || (time as f32) > last.0 as f32;
        let others = channel.map_or(&[][..], |channel| &channel.times).iter().copied();
        let mut times: Vec<f64> = others.filter(|time| beyond(*time)).collect();
        if self.fades_out() {
            times.extend((1..=FADE_KEYS).map(|i| last.0 + FADE * i as f64 / FADE_KEYS as f64));
        }
        times.extend(keys.iter().map(|(time, _)| *time));
        times.sort_by(f64::total_cmp);
        times.dedup_by(|later, first| *later as f32 <= *first as f32);

        // their values
        let mut values = Vec::with_capacity(times.len() * (own + flesh.deltas.len()));
        for time in &times {
            let mut weights = own_weights(self.character, body.node, channel, *time);
            weights.resize(own, 0.0);
            values.extend(weights);
            let key = keys.partition_point(|(of_key, _)| of_key <= time).saturating_sub(1);
            let fraction = if self.fades_out() { remaining((time - last.0) / FADE) } else { 1.0 };
            values.extend(keys[key].1.iter().map(|weight| weight * fraction as f32));
        }
        let input = self.times_of(document, &times);
        // those of the file keep their precision
        let is_fraction = flesh.has_fractions && own == 0;
        let output = if is_fraction {
            document.add_fractions(&values)
        } else {
            document.add_floats(&values, "SCALAR")
        };
        let animation = &mut document.json["animations"][self.animation];
        *sampler(animation, body.node, "weights") =
            json!({ "input": input, "output": output, "interpolation": "LINEAR" });
    }

    /// How long the animation goes on after the last frame (s); nothing if it ends with it.
    pub(super) fn seconds_after(&self) -> Option<f64> {
        let duration = self.clip.animation.map(|animation| self.character.animations[animation].duration)?;
        let rest = duration - self.times.last()?;
        (rest > self.clip.time(1, 0.0) - self.clip.time(0, 0.0)).then_some(rest)
    }

    fn fades_out(&self) -> bool {
        self.seconds_after().is_some()
    }

    fn times_of(&mut self, document: &mut Document, times: &[f64]) -> usize {
        let bits = times.iter().map(|time| (*time as f32).to_bits()).collect();
        *self.flesh_times.entry(bits).or_insert_with(|| document.add_times(times))
    }

    /// Keys of nodes that stood elsewhere than the file puts them.
    pub(super) fn add_joints(&mut self, document: &mut Document) {
        let keys = &self.clip.joint_keys;
        for (node, path) in keys.moved() {
            let (name, kind) = match path {
                ChannelPath::Translation => ("translation", "VEC3"),
                ChannelPath::Rotation => ("rotation", "VEC4"),
                ChannelPath::Scale => ("scale", "VEC3"),
                ChannelPath::Weights => continue,
            };
            let values = keys.values(node, path);
            let (input, output) = match self.arc_keys(node, path, &values) {
                Some(ArcKeys { times, values }) => {
                    let times: Vec<f64> = times.into_iter().map(f64::from).collect();
                    (self.times_of(document, &times), document.add_floats(&values, kind))
                }
                None => (self.frame_times(document), document.add_floats(&values, kind)),
            };
            let animation = &mut document.json["animations"][self.animation];
            *sampler(animation, node, name) =
                json!({ "input": input, "output": output, "interpolation": "LINEAR" });
            self.take_matrix_apart(document, node);
        }
    }

    /// The keys of a rotation that turns far from a frame to the next, with others between.
    fn arc_keys(&self, node: usize, path: ChannelPath, values: &[f32]) -> Option<ArcKeys> {
        let channel = AnimationChannel {
            node,
            path,
            interpolation: ChannelInterpolation::Linear,
            times: self.times.iter().map(|time| f64::from(*time as f32)).collect(),
            width: 4,
            values: values.iter().map(|x| f64::from(*x)).collect(),
        };
        ArcKeys::find(&channel, self.max_angle)
    }

    /// A node with keys must not have a matrix.
    fn take_matrix_apart(&self, document: &mut Document, node: usize) {
        let Some(members) = document.json["nodes"][node].as_object_mut() else { return };
        if members.remove("matrix").is_none() {
            return;
        }
        let rest = &self.character.nodes[node].rest;
        members.insert("translation".into(), json!(rest.translation.as_slice()));
        members.insert("rotation".into(), json!(rest.rotation.coords.as_slice()));
        members.insert("scale".into(), json!(rest.scale().as_slice()));
    }

    fn frame_times(&mut self, document: &mut Document) -> usize {
        *self.times_accessor.get_or_insert_with(|| document.add_times(&self.times))
    }
}

/// What is left of flesh a fraction of the way through a fade: 1 − 3s² + 2s³.
fn remaining(fraction: f64) -> f64 {
    let s = fraction.clamp(0.0, 1.0);
    1.0 - s * s * (3.0 - 2.0 * s)
}

/// Gives the added morph targets of a node zeros in an animation of the file that has no flesh: viewers that go from clip to clip keep weights that nothing sets.
pub(super) fn add_neutral(
    document: &mut Document,
    character: &RiggedCharacter,
    animation: usize,
    node: usize,
    added: usize,
) {
    // keys that there are get zeros behind them
    let own = character.nodes[node].mesh.map_or(0, |mesh| character.meshes[mesh].target_count());
    if let Some(channel) = channel(character, animation, node) {
        let widened: Vec<f32> = channel
            .values
            .chunks(channel.width)
            .flat_map(|key| key.iter().map(|weight| *weight as f32).chain(vec![0.0; added]))
            .collect();
        let output = document.add_floats(&widened, "SCALAR");
        sampler(&mut document.json["animations"][animation], node, "weights")["output"] = json!(output);
        return;
    }

    // else one key of what the node has
    let mut weights = own_weights(character, node, None, 0.0);
    weights.resize(own, 0.0);
    weights.resize(own + added, 0.0);
    let input = document.add_times(&[0.0_f64]);
    let output = document.add_floats(&weights, "SCALAR");
    *sampler(&mut document.json["animations"][animation], node, "weights") =
        json!({ "input": input, "output": output });
}

/// Puts some animations before the others, in their order: viewers and importers play the first.
pub(super) fn put_first(document: &mut Document, first: &[usize]) {
    if let Some(animations) = document.json["animations"].as_array_mut() {
        let mut order: Vec<usize> = first.to_vec();
        order.extend((0..animations.len()).filter(|animation| !first.contains(animation)));
        *animations = order.into_iter().map(|animation| animations[animation].take()).collect();
    }
}

fn channel(character: &RiggedCharacter, animation: usize, node: usize) -> Option<&AnimationChannel> {
    let channels = &character.animations.get(animation)?.channels;
    channels.iter().find(|channel| channel.node == node && channel.path == ChannelPath::Weights)
}

/// Weights of the file's own morph targets.
fn own_weights(
    character: &RiggedCharacter,
    node: usize,
    channel: Option<&AnimationChannel>,
    time: f64,
) -> Vec<f32> {
    let mut weights = Vec::new();
    match (channel, &character.nodes[node].morph_weights, character.nodes[node].mesh) {
        (Some(channel), ..) => channel.sample(time, &mut weights),
        (None, Some(of_node), _) => weights.clone_from(of_node),
        (None, None, Some(mesh)) => weights.clone_from(&character.meshes[mesh].morph_weights),
        (None, None, None) => {}
    }
    weights.iter().map(|weight| (*weight as f32).clamp(f32::MIN, f32::MAX)).collect()
}

fn moves(channel: &Value, node: usize, path: &str) -> bool {
    let target = &channel["target"];
    target["node"].as_f64() == Some(node as f64) && target["path"] == path
}

/// The sampler of the one channel that moves `path` of a node and of no other channel; both are made where they are missing.
fn sampler<'a>(animation: &'a mut Value, node: usize, path: &str) -> &'a mut Value {
    // one channel that moves it
    // what is no object was read as an animation of nothing
    if !animation.is_object() {
        *animation = json!({});
    }
    if let Some(channels) = animation["channels"].as_array_mut() {
        // the first counts, as it did while the file was read
        let mut seen = false;
        channels.retain(|channel| !moves(channel, node, path) || !std::mem::replace(&mut seen, true));
    }

    // its sampler, which no other channel shares
    let channels = animation["channels"].as_array().map_or(&[][..], Vec::as_slice);
    let place = channels.iter().position(|channel| moves(channel, node, path));
    let of = |channel: &Value| channel["sampler"].as_f64().map(|sampler| sampler as usize);
    let found = place.and_then(|place| of(&channels[place]));
    let is_shared = channels.iter().filter(|channel| found.is_some() && of(channel) == found).count() > 1;
    let index = match found {
        Some(index) if !is_shared => index,
        _ => {
            let copy = found.and_then(|index| animation["samplers"].get(index).cloned());
            push(&mut animation["samplers"], copy.unwrap_or_else(|| json!({})))
        }
    };
    match place {
        Some(place) => animation["channels"][place]["sampler"] = json!(index),
        None => {
            let target = json!({ "node": node, "path": path });
            push(&mut animation["channels"], json!({ "sampler": index, "target": target }));
        }
    }
    &mut animation["samplers"][index]
}
