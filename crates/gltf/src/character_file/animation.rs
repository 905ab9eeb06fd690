//! Animations: which nodes move, and their keys.

use super::accessor::{Accessor, Component};
use super::document_reader::{DocumentReader, Part};
use super::findings::Findings;
use super::node::unit;
use sinew_character::{
    AnimationChannel, ChannelInterpolation, ChannelPath, CharacterAnimation, CharacterMesh, CharacterNode,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What keys may be stored as.
const VALUES: [Component; 5] = [Component::F32, Component::I8, Component::U8, Component::I16, Component::U16];

/// Reads all animations.
pub(super) fn read(
    document: &DocumentReader,
    nodes: &[CharacterNode],
    meshes: &[CharacterMesh],
    findings: &mut Findings,
) -> Vec<CharacterAnimation> {
    let mut reader = AnimationReader { document, nodes, meshes, times: BTreeMap::new() };
    let mut animations = Vec::new();
    for (index, value) in document.list("animations").iter().enumerate() {
        let part = Part { value, path: format!("animations[{index}]") };
        let animation = reader.read(&part, findings);
        animations.extend(findings.accept(animation));
    }
    animations
}

struct AnimationReader<'a> {
    document: &'a DocumentReader<'a>,
    nodes: &'a [CharacterNode],
    meshes: &'a [CharacterMesh],
    times: BTreeMap<usize, Arc<[f64]>>,
}

impl AnimationReader<'_> {
    fn read(&mut self, part: &Part, findings: &mut Findings) -> Result<CharacterAnimation, String> {
        // the channels, each node and path once
        let entries = part.list("channels")?;
        self.document.charge(entries.len(), size_of::<AnimationChannel>(), &part.path)?;
        let mut channels = Vec::with_capacity(entries.len());
        let mut taken = BTreeSet::new();
        let (mut elsewhere, mut repeated) = (0, 0);
        for (index, value) in entries.iter().enumerate() {
            let channel = self.read_channel(part, &part.item("channels", index, value));
            match findings.accept(channel) {
                Some(Some(channel)) if taken.insert((channel.node, channel.path)) => channels.push(channel),
                Some(Some(_)) => repeated += 1,
                Some(None) => elsewhere += 1,
                None => {}
            }
        }

        // what was left out
        let path = &part.path;
        if elsewhere > 0 {
            findings.note(format!("{path}: {elsewhere} channels move no node or mesh: left out"));
        }
        if repeated > 0 {
            findings.note(format!(
                "{path}: {repeated} channels move what an earlier one moves: the first of each was taken"
            ));
        }

        // how long it is
        let last = |channel: &AnimationChannel| channel.times.last().copied().unwrap_or(0.0);
        let duration = channels.iter().map(last).fold(0.0, f64::max);
        let early = channels.iter().any(|channel| channel.times.first().is_some_and(|time| *time < 0.0));
        if early {
            findings.note(format!("{path} has keys before time 0: kept, and played from 0"));
        }
        Ok(CharacterAnimation { name: part.text("name").map(String::from), duration, channels })
    }

    /// Reads a channel; `None` if it moves something other than a node.
    fn read_channel(&mut self, animation: &Part, part: &Part) -> Result<Option<AnimationChannel>, String> {
        // the sampler, and what it moves
        let samplers = animation.list("samplers")?;
        let number = part.index_below("sampler", samplers.len(), "samplers")?;
        let number =
            number.ok_or_else(|| format!("{} names no sampler: export the file again", part.path))?;
        let sampler = animation.item("samplers", number, &samplers[number]);
        let Some(target) = part.get("target") else {
            return Err(format!("{} has no target: export the file again", part.path));
        };
        let node = target.index_below("node", self.nodes.len(), "nodes")?;
        let path = match target.text("path") {
            Some("translation") => ChannelPath::Translation,
            Some("rotation") => ChannelPath::Rotation,
            Some("scale") => ChannelPath::Scale,
            Some("weights") => ChannelPath::Weights,
            Some("pointer") => return Ok(None),
            _ => return Err(format!("{}.path is none that glTF knows: export the file again", target.path)),
        };
        let Some(node) = node else { return Ok(None) };

        // how it moves it
        let interpolation = match sampler.text("interpolation") {
            None | Some("LINEAR") => ChannelInterpolation::Linear,
            Some("STEP") => ChannelInterpolation::Step,
            Some("CUBICSPLINE") => ChannelInterpolation::CubicSpline,
            Some(_) => {
                return Err(format!(
                    "{}.interpolation is none that glTF knows: export the file again",
                    sampler.path
                ));
            }
        };
        let width = match path {
            ChannelPath::Translation | ChannelPath::Scale => 3,
            ChannelPath::Rotation => 4,
            ChannelPath::Weights => {
                let mesh = self.nodes[node].mesh.and_then(|mesh| self.meshes.get(mesh));
                match mesh.map_or(0, CharacterMesh::target_count) {
                    0 => return Ok(None),
                    count => count,
                }
            }
        };

        // its keys
        let wanted = |key: &str| {
            let index = sampler.index(key)?;
            index.ok_or_else(|| format!("{} has no {key}: export the file again", sampler.path))
        };
        let times = self.times(wanted("input")?)?;
        let mut channel = AnimationChannel { node, path, interpolation, times, width, values: Vec::new() };
        self.read_values(&mut channel, wanted("output")?, &part.path)?;
        Ok(Some(channel))
    }

    fn times(&mut self, index: usize) -> Result<Arc<[f64]>, String> {
        if let Some(times) = self.times.get(&index) {
            return Ok(Arc::clone(times));
        }
        let accessor = Accessor::find(self.document, index)?;
        accessor.expect("SCALAR", &[Component::F32], "times of keys")?;
        self.document.charge(accessor.count, 2 * size_of::<f64>(), &accessor.path)?;
        let mut times = Vec::with_capacity(accessor.count);
        for key in 0..accessor.count {
            let mut time = [0.0];
            accessor.read(key, &mut time);
            let [time] = time;
            let path = &accessor.path;
            if !time.is_finite() {
                return Err(format!("{path}: key {key} is at the time {time}: set it, export again"));
            }
            if let Some(last) = times.last().filter(|last| time <= **last) {
                return Err(format!(
                    "{path}: key {key} at {time} s does not come after the one at {last} s: remove one, export again"
                ));
            }
            times.push(time);
        }
        let times: Arc<[f64]> = times.into();
        self.times.insert(index, Arc::clone(&times));
        Ok(times)
    }

    fn read_values(&self, channel: &mut AnimationChannel, index: usize, path: &str) -> Result<(), String> {
        // as many values as keys need
        let accessor = Accessor::find(self.document, index)?;
        let (kind, width) = match channel.path {
            ChannelPath::Weights => ("SCALAR", 1),
            ChannelPath::Rotation => ("VEC4", 4),
            _ => ("VEC3", 3),
        };
        accessor.expect(kind, &VALUES, "values of keys")?;
        let keys = channel.times.len();
        let tripled = if channel.interpolation == ChannelInterpolation::CubicSpline { 3 } else { 1 };
        let wanted = keys.checked_mul(tripled).and_then(|n| n.checked_mul(channel.width / width));
        if wanted != Some(accessor.count) {
            let count = accessor.count;
            return Err(format!(
                "{path}: {count} values do not fit {keys} keys of {} numbers ({:?}): export the file again",
                channel.width, channel.interpolation
            ));
        }

        // all of them finite
        self.document.charge(accessor.count, 8 * width, &accessor.path)?;
        channel.values = vec![0.0; accessor.count * width];
        for (element, numbers) in channel.values.chunks_exact_mut(width).enumerate() {
            accessor.read(element, numbers);
            if let Some(bad) = numbers.iter().find(|number| !number.is_finite()) {
                return Err(format!("{path}: value {element} holds {bad}: set the key again, export again"));
            }
        }
        if channel.path == ChannelPath::Rotation {
            bring_to_length_one(channel, path)?;
        }
        Ok(())
    }
}

/// Keys of rotations to length one; tangents are left as they are.
fn bring_to_length_one(channel: &mut AnimationChannel, path: &str) -> Result<(), String> {
    for key in 0..channel.times.len() {
        let value = channel.value(key);
        let given = [value[0], value[1], value[2], value[3]];
        let (rotation, _) = unit(&given).ok_or_else(|| {
            format!("{path}: key {key} is {given:?}, no rotation: set the key again, export again")
        })?;
        let place =
            4 * if channel.interpolation == ChannelInterpolation::CubicSpline { 3 * key + 1 } else { key };
        channel.values[place..place + 4].copy_from_slice(rotation.coords.as_slice());
    }
    Ok(())
}
