//! The same character stored otherwise: other units, axes, names and keys. Plain data in, plain data out.
//!
//! With nodes G_n, inverse bind matrices B_j and vertices v, skinning is x = Σ w_j G_j B_j v. Each rewriting below states what it does to that.

use sinew_character::transform::{affine, linear, translation};
use sinew_character::{
    AnimationChannel, ChannelInterpolation, ChannelPath, CharacterNode, CharacterPrimitive, MorphTarget,
    NodeTransform, RiggedCharacter,
};
use sinew_math::{Mat3, Rotation, Vec3};
use std::sync::Arc;

/// The file in another unit: every length s times as large, so that x becomes s x.
///
/// ```text
/// v' = s v,   G' = S G S⁻¹,   B' = S B S⁻¹,   S x = s x
/// ```
pub(super) fn scaled(rigged: &RiggedCharacter, s: f64) -> RiggedCharacter {
    let mut scaled = rigged.clone();
    for primitive in primitives(&mut scaled) {
        move_vertices(primitive, |point| s * point);
    }
    for node in &mut scaled.nodes {
        node.rest.translation *= s;
    }
    for skin in &mut scaled.skins {
        skin.inverse_bind.iter_mut().for_each(|bind| *bind = affine(&linear(bind), &(s * translation(bind))));
    }
    for channel in channels(&mut scaled).filter(|channel| channel.path == ChannelPath::Translation) {
        channel.values.iter_mut().for_each(|value| *value *= s);
    }
    scaled
}

/// The file with its data turned by Q below a new root that turns it back, as exporters of programs whose up axis is z write it: x stays.
///
/// ```text
/// v' = Q v,   B' = B Q⁻¹,   G'_root = Q⁻¹,   G'_old root in it = Q G_old root
/// ```
pub(super) fn turned_below_root(rigged: &RiggedCharacter, q: &Rotation) -> RiggedCharacter {
    let mut turned = rigged.clone();
    let back = affine(&matrix(&q.inverse()), &Vec3::zeros());
    let is_skinned: Vec<bool> = (0..turned.meshes.len())
        .map(|mesh| turned.nodes.iter().any(|node| node.mesh == Some(mesh) && node.skin.is_some()))
        .collect();
    for (mesh, _) in turned.meshes.iter_mut().zip(&is_skinned).filter(|(_, is_skinned)| **is_skinned) {
        let skinned = mesh.primitives.iter_mut().filter(|primitive| primitive.weights.is_some());
        skinned.for_each(|primitive| move_vertices(primitive, |point| q * point));
    }
    for skin in &mut turned.skins {
        skin.inverse_bind.iter_mut().for_each(|bind| *bind *= back);
    }
    let roots: Vec<usize> =
        (0..turned.nodes.len()).filter(|node| turned.nodes[*node].parent.is_none()).collect();
    for &root in &roots {
        let rest = &mut turned.nodes[root].rest;
        (rest.translation, rest.rotation) = (q * rest.translation, q * rest.rotation);
    }
    for channel in channels(&mut turned).filter(|channel| roots.contains(&channel.node)) {
        turn_channel(channel, q);
    }
    with_root(&turned, &q.inverse())
}

/// The file below a new root that turns it: x becomes R x.
pub(super) fn with_root(rigged: &RiggedCharacter, rotation: &Rotation) -> RiggedCharacter {
    let mut below = rigged.clone();
    let top = below.nodes.len();
    let roots: Vec<usize> = (0..top).filter(|node| below.nodes[*node].parent.is_none()).collect();
    roots.iter().for_each(|root| below.nodes[*root].parent = Some(top));
    let rest = NodeTransform { rotation: *rotation, ..NodeTransform::identity() };
    below.nodes.push(CharacterNode::new("turned", rest, roots));
    below
}

/// The file with noise for the names of all nodes that show no surface: x stays.
pub(super) fn renamed(rigged: &RiggedCharacter) -> RiggedCharacter {
    let mut renamed = rigged.clone();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for node in renamed.nodes.iter_mut().filter(|node| node.mesh.is_none()) {
        // a linear congruential generator, of which the upper half is used
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        node.name = Some(format!("{:08x}", state >> 32));
    }
    renamed
}

/// The file with one animation of `rate` keys per second, and one at its end: between keys x goes another way.
pub(super) fn with_sparse_keys(rigged: &RiggedCharacter, animation: usize, rate: f64) -> RiggedCharacter {
    let mut sparse = rigged.clone();
    let Some(played) = sparse.animations.get_mut(animation) else { return sparse };
    let mut times: Vec<f64> =
        (0..=(played.duration * rate) as u32).map(|key| f64::from(key) / rate).collect();
    // files keep times in single precision
    if times.last().is_some_and(|last| (*last as f32) < played.duration as f32) {
        times.push(played.duration);
    }
    let times: Arc<[f64]> = times.into();
    for channel in &mut played.channels {
        let (mut values, mut value) = (Vec::new(), Vec::new());
        for time in times.iter() {
            channel.sample(*time, &mut value);
            values.extend_from_slice(&value);
        }
        if channel.interpolation == ChannelInterpolation::CubicSpline {
            channel.interpolation = ChannelInterpolation::Linear;
        }
        (channel.times, channel.values) = (Arc::clone(&times), values);
    }
    sparse
}

/// The file with one animation played `factor` times as fast: x(t) becomes x(factor t).
pub(super) fn faster(rigged: &RiggedCharacter, animation: usize, factor: f64) -> RiggedCharacter {
    let mut faster = rigged.clone();
    let Some(played) = faster.animations.get_mut(animation) else { return faster };
    played.duration /= factor;
    for channel in &mut played.channels {
        channel.times = channel.times.iter().map(|time| time / factor).collect();
        if channel.interpolation == ChannelInterpolation::CubicSpline {
            // tangents are values per second
            let width = channel.width;
            let keys = channel.values.chunks_exact_mut(3 * width);
            keys.for_each(|key| {
                key[..width].iter_mut().for_each(|tangent| *tangent *= factor);
                key[2 * width..].iter_mut().for_each(|tangent| *tangent *= factor);
            });
        }
    }
    faster
}

fn primitives(rigged: &mut RiggedCharacter) -> impl Iterator<Item = &mut CharacterPrimitive> {
    rigged.meshes.iter_mut().flat_map(|mesh| &mut mesh.primitives)
}

fn channels(rigged: &mut RiggedCharacter) -> impl Iterator<Item = &mut AnimationChannel> {
    rigged.animations.iter_mut().flat_map(|animation| &mut animation.channels)
}

/// Moves positions, and what morph targets add to them, by a linear map.
fn move_vertices(primitive: &mut CharacterPrimitive, map: impl Fn(&Vec3) -> Vec3) {
    primitive.positions = primitive.positions.iter().map(&map).collect();
    for target in &mut primitive.targets {
        let deltas = target.deltas.iter().map(&map).collect();
        *target = Arc::new(MorphTarget { vertices: target.vertices.clone(), deltas });
    }
}

/// Turns translations and rotations of a channel, tangents included; others stay.
fn turn_channel(channel: &mut AnimationChannel, q: &Rotation) {
    match channel.path {
        ChannelPath::Translation => channel.values.chunks_exact_mut(3).for_each(|value| {
            let turned = q * Vec3::new(value[0], value[1], value[2]);
            value.copy_from_slice(turned.as_slice());
        }),
        // q ⊗ r is linear in r, so that it holds for tangents too; (x, y, z, w) is how nalgebra stores it
        ChannelPath::Rotation => channel.values.chunks_exact_mut(4).for_each(|value| {
            let given = sinew_math::nalgebra::Quaternion::new(value[3], value[0], value[1], value[2]);
            value.copy_from_slice((q.quaternion() * given).coords.as_slice());
        }),
        ChannelPath::Scale | ChannelPath::Weights => {}
    }
}

fn matrix(rotation: &Rotation) -> Mat3 {
    rotation.to_rotation_matrix().into_inner()
}
