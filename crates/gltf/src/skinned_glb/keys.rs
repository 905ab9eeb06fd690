//! Keys of flesh and joints in the animations of a file.

use super::body::Body;
use super::joint_keys::JointKeys;
use super::residuals::Flesh;
use crate::document::{Document, push};
use serde_json::{Value, json};
use sinew_character::{AnimationChannel, ChannelPath, RiggedCharacter};

/// Writes keys into one animation, at the times of the frames.
pub(super) struct KeyWriter<'a> {
    character: &'a RiggedCharacter,
    /// The animation that was played, or the one that was added.
    animation: usize,
    /// The times of the frames (s).
    times: Vec<f64>,
    times_accessor: Option<usize>,
}

impl<'a> KeyWriter<'a> {
    /// Keys in the animation of an index, or in a new one.
    pub(super) fn new(
        document: &mut Document,
        character: &'a RiggedCharacter,
        played: Option<usize>,
        times: Vec<f64>,
    ) -> KeyWriter<'a> {
        let animation = played.unwrap_or_else(|| {
            document.push("animations", json!({ "name": "flesh", "channels": [], "samplers": [] }))
        });
        KeyWriter { character, animation, times, times_accessor: None }
    }

    /// Keys of the morph targets of a body: those of the file with its weights, then those of flesh.
    pub(super) fn add_flesh(&mut self, document: &mut Document, body: &Body, flesh: &Flesh) {
        let Some(mesh) = self.character.nodes[body.node].mesh else { return };
        let own = self.character.meshes[mesh].target_count();
        let channel = self.channel(self.animation, body.node);
        // beyond the frames the file's own targets go on, and flesh holds
        let (first, last) = (self.times[0] as f32, self.times[self.times.len() - 1] as f32);
        let others = channel.map_or(&[][..], |channel| &channel.times).iter().copied();
        let others: Vec<f64> =
            others.filter(|time| (*time as f32) < first || (*time as f32) > last).collect();
        let mut times: Vec<f64> = others.iter().chain(&self.times).copied().collect();
        times.sort_by(f64::total_cmp);
        let before = times.partition_point(|time| (*time as f32) < first);

        let mut values = Vec::with_capacity(times.len() * (own + flesh.deltas.len()));
        for (key, time) in times.iter().enumerate() {
            let mut weights = own_weights(self.character, body.node, channel, *time);
            weights.resize(own, 0.0);
            values.extend(weights);
            let frame = key.saturating_sub(before).min(self.times.len() - 1);
            values.extend(&flesh.weights[frame]);
        }
        let input = if others.is_empty() { self.frame_times(document) } else { document.add_times(&times) };
        let output = document.add_floats(&values, "SCALAR");
        let animation = &mut document.json["animations"][self.animation];
        *sampler(animation, body.node, "weights") =
            json!({ "input": input, "output": output, "interpolation": "LINEAR" });
        self.widen_others(document, body.node, own, flesh.deltas.len());
    }

    /// Keys of nodes that stood elsewhere than the file puts them.
    pub(super) fn add_joints(&mut self, document: &mut Document, keys: &JointKeys) {
        for (node, path) in keys.moved() {
            let (name, kind) = match path {
                ChannelPath::Translation => ("translation", "VEC3"),
                ChannelPath::Rotation => ("rotation", "VEC4"),
                ChannelPath::Scale => ("scale", "VEC3"),
                ChannelPath::Weights => continue,
            };
            let input = self.frame_times(document);
            let output = document.add_floats(&keys.values(node, path), kind);
            let animation = &mut document.json["animations"][self.animation];
            *sampler(animation, node, name) =
                json!({ "input": input, "output": output, "interpolation": "LINEAR" });
            self.take_matrix_apart(document, node);
        }
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

    /// Keys of a node's morph targets in all other animations get zeros for those of flesh.
    fn widen_others(&self, document: &mut Document, node: usize, own: usize, added: usize) {
        for animation in (0..self.character.animations.len()).filter(|other| *other != self.animation) {
            if !has_channel(&document.json["animations"][animation], node, "weights") {
                continue;
            }
            let Some(channel) = self.channel(animation, node) else {
                // keys for targets that there were none of
                let input = document.add_times(&[0.0_f64]);
                let output = document.add_floats(&vec![0.0; own + added], "SCALAR");
                *sampler(&mut document.json["animations"][animation], node, "weights") =
                    json!({ "input": input, "output": output });
                continue;
            };
            let widened: Vec<f32> = channel
                .values
                .chunks(channel.width)
                .flat_map(|key| key.iter().map(|weight| *weight as f32).chain(vec![0.0; added]))
                .collect();
            let output = document.add_floats(&widened, "SCALAR");
            sampler(&mut document.json["animations"][animation], node, "weights")["output"] = json!(output);
        }
    }

    /// Puts an animation that was added before those of the file: viewers and importers play the first.
    pub(super) fn put_first(&self, document: &mut Document) {
        if self.animation >= self.character.animations.len()
            && let Some(animations) = document.json["animations"].as_array_mut()
        {
            animations[..=self.animation].rotate_right(1);
        }
    }

    fn channel(&self, animation: usize, node: usize) -> Option<&'a AnimationChannel> {
        let channels = &self.character.animations.get(animation)?.channels;
        channels.iter().find(|channel| channel.node == node && channel.path == ChannelPath::Weights)
    }
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

fn has_channel(animation: &Value, node: usize, path: &str) -> bool {
    animation["channels"].as_array().is_some_and(|all| all.iter().any(|channel| moves(channel, node, path)))
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
