//! Scales of joints and their ancestors: bones are rigid, so the surface takes what it can of a scale, and the rest is lost.
//!
//! A joint with the world pose G(t) = R(t) S(t) (rotation and stretch) moves its vertices by G(t) G(0)⁻¹. That is rigid while S
//! stays as it was at bind: a scale that is constant, and either the same along all axes or below every joint that turns, is in the
//! surface already. A scale that is animated, or one that differs by axis above a joint that turns, shears what hangs below.

use crate::{AnimationChannel, ChannelPath, RiggedCharacter};
use sinew_math::svd::Svd;
use sinew_math::{Mat3, Vec3};

/// Scales that differ by less are round-off of exporters.
const NOTABLE: f64 = 1e-3;

impl RiggedCharacter {
    /// Notes on the scales of joints that rigid bones cannot follow, one sentence each.
    pub fn scale_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        note_rest(self, &mut notes);
        note_animated(self, &carriers(self), &mut notes);
        notes
    }
}

fn note_rest(character: &RiggedCharacter, notes: &mut Vec<String>) {
    // what kind of scale each joint has
    let carries = carriers(character);
    let turns = turning_below(character);
    let (mut scaled, mut mirrored, mut sheared, mut baked) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (index, node) in character.nodes.iter().enumerate().filter(|(index, _)| carries[*index]) {
        let sigma = Svd::of(&node.rest.stretch).sigma;
        if sigma.z < 0.0 {
            mirrored.push(index);
        }
        if sigma.x - sigma.z.abs() > NOTABLE * sigma.x {
            if turns[index] { &mut sheared } else { &mut baked }.push(index);
        } else if (sigma.x - 1.0).abs() > NOTABLE {
            scaled.push(index);
        }
    }

    // one sentence for each kind
    let mut note = |found: &[usize], message: &str| {
        if let Some(first) = found.first() {
            let label = &character.nodes[*first].label;
            notes.push(format!("{} joints or nodes above them (first '{label}') {message}", found.len()));
        }
    };
    note(&scaled, "are scaled alike along all axes: the surface takes the scale, bones have none");
    note(
        &baked,
        "are scaled differently by axis, with no turning joint below: the surface takes the scale, bones have none",
    );
    note(
        &sheared,
        "are scaled differently by axis above joints that turn, which shears what hangs below: bones take the nearest \
         rotation; apply the scale to see the same",
    );
    note(&mirrored, "are mirrored: bones take the nearest rotation");
}

fn note_animated(character: &RiggedCharacter, carries: &[bool], notes: &mut Vec<String>) {
    for (index, animation) in character.animations.iter().enumerate() {
        let scales = animation
            .channels
            .iter()
            .filter(|channel| channel.path == ChannelPath::Scale && carries[channel.node]);
        let changes: Vec<(usize, f64)> = scales
            .map(|channel| {
                (channel.node, largest_change(channel, &character.nodes[channel.node].rest.stretch))
            })
            .filter(|(_, change)| *change > NOTABLE)
            .collect();
        let Some(first) = changes.first() else { continue };
        let largest = changes.iter().map(|(_, change)| *change).fold(0.0, f64::max);
        notes.push(format!(
            "animations[{index}] scales {} joints or nodes above them (first '{}', by up to {:.1} %): bones keep their size",
            changes.len(),
            character.nodes[first.0].label,
            100.0 * largest
        ));
    }
}

/// The largest difference between a scale at a key and at rest, as a fraction of the latter.
fn largest_change(channel: &AnimationChannel, rest: &Mat3) -> f64 {
    let size = rest.norm().max(f64::MIN_POSITIVE);
    let change = |key: usize| {
        let value = channel.value(key);
        (Mat3::from_diagonal(&Vec3::new(value[0], value[1], value[2])) - rest).norm() / size
    };
    (0..channel.times.len()).map(change).fold(0.0, f64::max)
}

/// Which nodes are joints or above one.
fn carriers(character: &RiggedCharacter) -> Vec<bool> {
    let mut carries = vec![false; character.nodes.len()];
    for joint in character.skins.iter().flat_map(|skin| &skin.joints) {
        carries[*joint] = true;
    }
    for &node in character.order.iter().rev() {
        if let (true, Some(parent)) = (carries[node], character.nodes[node].parent) {
            carries[parent] = true;
        }
    }
    carries
}

/// Which nodes have a node below them that any animation turns.
fn turning_below(character: &RiggedCharacter) -> Vec<bool> {
    let count = character.nodes.len();
    let (mut turns, mut below) = (vec![false; count], vec![false; count]);
    for channel in character.animations.iter().flat_map(|animation| &animation.channels) {
        let moves = |key: usize| channel.value(key) != channel.value(0);
        turns[channel.node] |= channel.path == ChannelPath::Rotation && (1..channel.times.len()).any(moves);
    }
    for &node in character.order.iter().rev() {
        if let (true, Some(parent)) = (turns[node] || below[node], character.nodes[node].parent) {
            below[parent] = true;
        }
    }
    below
}
