//! Takes of an FBX file, sampled to straight lines between keys.
//!
//! FBX turns nodes by Euler angles on cubic curves, in layers. The library evaluates them at the keys, and between keys that are far apart
//! at the rate below, so that straight lines and arcs are near the curves.

use super::surfaces::channels_of;
use super::{Budget, memory, named, vec3};
use sinew_character::{
    AnimationChannel, ChannelInterpolation, ChannelPath, CharacterAnimation, CharacterMesh, CharacterNode,
};
use sinew_files::ReadError;
use sinew_math::{Rotation, Vec3, nalgebra::Quaternion};
use std::collections::BTreeMap;
use std::sync::Arc;
use ufbx::{BakeOpts, BakedAnim, BakedQuat, BakedVec3};

/// Curves that are not straight are sampled this often (Hz).
const RATE: f64 = 60.0;
/// Keys that stay this near to the rest pose (m, rad, 1) say nothing.
const STILL: f64 = 1e-9;

/// Reads the takes of a scene whose nodes and meshes were read.
pub(super) struct TakeReader<'a> {
    pub(super) scene: &'a ufbx::Scene,
    /// For each node of the file its place among `nodes`.
    pub(super) places: &'a [Option<usize>],
    pub(super) nodes: &'a [CharacterNode],
    pub(super) meshes: &'a [CharacterMesh],
    /// The size of the file (bytes).
    pub(super) size: usize,
}

impl TakeReader<'_> {
    /// Reads all takes in which something moves.
    pub(super) fn read(
        &self,
        budget: &mut Budget,
        notes: &mut Vec<String>,
    ) -> Result<Vec<CharacterAnimation>, ReadError> {
        let mut animations = Vec::new();
        for stack in &self.scene.anim_stacks {
            // samples of all curves
            let name = super::quoted(&stack.element.name);
            let options = BakeOpts {
                temp_allocator: memory(self.size),
                result_allocator: memory(self.size),
                trim_start_time: true,
                resample_rate: RATE,
                ..BakeOpts::default()
            };
            let baked = ufbx::bake_anim(self.scene, &stack.anim, options).map_err(|error| {
                let why = error.description;
                ReadError::whole(format!(
                    "take {name} cannot be sampled ({why}): look for stray keys, export again"
                ))
            })?;

            // what they move
            let mut channels = self.node_channels(&baked);
            self.add_blend_channels(&baked, budget, &mut channels)?;
            if channels.is_empty() {
                notes.push(format!("take {name} moves nothing: left out"));
                continue;
            }

            // up to the last key
            let last = |channel: &AnimationChannel| channel.times.last().copied().unwrap_or(0.0);
            let duration = channels.iter().map(last).fold(0.0, f64::max);
            animations.push(CharacterAnimation { name: named(&stack.element.name), duration, channels });
        }
        Ok(animations)
    }

    /// What moves nodes.
    fn node_channels(&self, baked: &BakedAnim) -> Vec<AnimationChannel> {
        let mut channels = Vec::new();
        for moved in &baked.nodes {
            let Some(node) = self.places.get(moved.typed_id as usize).copied().flatten() else { continue };
            let rest = &self.nodes[node].rest;
            let rotation = rotation_keys(&moved.rotation_keys);
            let is_turned = |key: &(f64, Rotation)| key.1.angle_to(&rest.rotation) > STILL;
            if rotation.iter().any(is_turned) {
                let values = rotation.iter().map(|(_, value)| <[f64; 4]>::from(value.coords));
                channels.push(channel(node, ChannelPath::Rotation, 4, &rotation, values.flatten().collect()));
            }
            for (path, keys, still) in [
                (ChannelPath::Translation, &moved.translation_keys, rest.translation),
                (ChannelPath::Scale, &moved.scale_keys, rest.scale()),
            ] {
                let keys = vector_keys(keys);
                if keys.iter().any(|(_, value)| (value - still).amax() > STILL) {
                    let values = keys.iter().flat_map(|(_, value)| <[f64; 3]>::from(*value)).collect();
                    channels.push(channel(node, path, 3, &keys, values));
                }
            }
        }
        channels
    }

    /// What moves blend shapes: all weights of a mesh at every time at which one of them has a key.
    fn add_blend_channels(
        &self,
        baked: &BakedAnim,
        budget: &mut Budget,
        channels: &mut Vec<AnimationChannel>,
    ) -> Result<(), ReadError> {
        let elements =
            baked.elements.iter().map(|element| (element.element_id, element)).collect::<BTreeMap<_, _>>();
        let keys_of = |id: u32| {
            let prop = elements.get(&id)?.props.iter().find(|prop| prop.name == "DeformPercent");
            prop.map(|prop| prop.keys.as_ref())
        };
        let nodes = self.scene.nodes.iter().zip(self.places);
        for (node, shown) in nodes.filter_map(|(node, place)| Some(((*place)?, node))) {
            let (Some(mesh), Some(own)) = (&shown.mesh, self.nodes[node].mesh) else { continue };
            let shapes = channels_of(mesh);
            let keys: Vec<Option<&[BakedVec3]>> =
                shapes.iter().map(|shape| keys_of(shape.element.element_id)).collect();

            // at all times of all shapes
            let all = keys.iter().flatten().flat_map(|keys| keys.iter()).map(|key| key.time);
            let mut times: Vec<f64> = all.collect();
            times.sort_by(f64::total_cmp);
            let times: Vec<(f64, ())> = increasing(times.into_iter().map(|time| (time, ())));
            budget.charge(times.len() * shapes.len(), 8, "the animation of blend shapes")?;
            let weight = |shape: usize, time: f64| match keys[shape] {
                // in percent
                Some(keys) => 0.01 * ufbx::evaluate_baked_vec3(keys, time).x,
                None => self.meshes[own].morph_weights[shape],
            };
            let at = |time: f64| (0..shapes.len()).map(move |shape| weight(shape, time));
            let values: Vec<f64> = times.iter().flat_map(|(time, ())| at(*time)).collect();
            if !values.is_empty() && values.iter().all(|value| value.is_finite()) {
                channels.push(channel(node, ChannelPath::Weights, shapes.len(), &times, values));
            }
        }
        Ok(())
    }
}

fn channel<T>(
    node: usize,
    path: ChannelPath,
    width: usize,
    keys: &[(f64, T)],
    values: Vec<f64>,
) -> AnimationChannel {
    let times: Arc<[f64]> = keys.iter().map(|(time, _)| *time).collect();
    AnimationChannel { node, path, interpolation: ChannelInterpolation::Linear, times, width, values }
}

fn vector_keys(keys: &[BakedVec3]) -> Vec<(f64, Vec3)> {
    let sound =
        keys.iter().map(|key| (key.time, vec3(&key.value))).filter(|(_, value)| is_sound(value.as_slice()));
    increasing(sound)
}

fn rotation_keys(keys: &[BakedQuat]) -> Vec<(f64, Rotation)> {
    let given = keys
        .iter()
        .map(|key| (key.time, Quaternion::new(key.value.w, key.value.x, key.value.y, key.value.z)));
    let sound = given.filter(|(_, value)| is_sound(value.coords.as_slice()) && value.norm() > 1e-6);
    increasing(sound.map(|(time, value)| (time, Rotation::new_normalize(value))))
}

/// Whether numbers are finite in single precision, in which they are kept.
fn is_sound(numbers: &[f64]) -> bool {
    numbers.iter().all(|number| (*number as f32).is_finite())
}

/// The keys from time 0 on whose times increase in single precision. Of those before 0 the last counts as one at 0.
fn increasing<T>(keys: impl Iterator<Item = (f64, T)>) -> Vec<(f64, T)> {
    let mut kept: Vec<(f64, T)> = Vec::new();
    for (time, value) in keys.filter(|(time, _)| (*time as f32).is_finite()) {
        let time = f64::from(time.max(0.0) as f32);
        match kept.last_mut() {
            Some(last) if time <= last.0 => {
                if last.0 == 0.0 {
                    last.1 = value;
                }
            }
            _ => kept.push((time, value)),
        }
    }
    kept
}
