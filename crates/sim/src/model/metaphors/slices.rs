//! Slices of a body across the axis of a twist.

use super::widget::Widget;
use crate::metaphor::{NodeSet, Slice};
use crate::model::Model;
use sinew_math::Vec3;

/// The number of slices, and the fewest nodes of one. Twists are followed as far as neighbouring slices turn by less than half a turn against each other.
const SLICES: usize = 16;
const MIN_NODES: usize = 6;

/// Slices along the axis through the left and the right set and all nodes of the region between them, in order.
pub(super) fn slices(model: &Model, widget: &Widget, sets: &[NodeSet], region: &[u32]) -> Vec<Slice> {
    let [left, right] = sets else { return Vec::new() };
    let mut nodes: Vec<(f64, u32)> = left
        .nodes
        .iter()
        .chain(&right.nodes)
        .chain(region)
        .map(|node| (widget.coordinates(&model.node_rest[*node as usize]).x, *node))
        .collect();
    nodes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    nodes.dedup();
    let (Some((low, _)), Some((high, _))) = (nodes.first(), nodes.last()) else { return Vec::new() };
    let width = (high - low).max(f64::MIN_POSITIVE) / SLICES as f64;

    // cuts at equal distances, but where a slice would have too few nodes
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for (x, node) in &nodes {
        if *x >= end && groups.last().is_none_or(|group| group.len() >= MIN_NODES) {
            groups.push(Vec::new());
            end = low + width * (((x - low) / width).floor() + 1.0);
        }
        if let Some(group) = groups.last_mut() {
            group.push(*node);
        }
    }
    if let Some(group) = groups.pop_if(|group| group.len() < MIN_NODES) {
        match groups.last_mut() {
            Some(last) => last.extend(group),
            None => groups.push(group),
        }
    }
    let mut slices: Vec<Slice> =
        groups.into_iter().map(|group| slice(model, group, [left, right], widget)).collect();
    for side in 0..2 {
        let sum: f64 = slices.iter().map(|slice| slice.fractions[side]).sum();
        slices.iter_mut().for_each(|slice| slice.fractions[side] /= sum.max(f64::MIN_POSITIVE));
    }
    slices
}

/// A slice, with second moments of both sets in place of fractions.
fn slice(model: &Model, mut nodes: Vec<u32>, sides: [&NodeSet; 2], widget: &Widget) -> Slice {
    nodes.sort_unstable();
    let mass = |node: u32| model.node_mass[node as usize].max(f64::MIN_POSITIVE);
    let total: f64 = nodes.iter().map(|node| mass(*node)).sum();
    let weights: Vec<f64> = nodes.iter().map(|node| mass(*node) / total).collect();
    let rest_center: Vec3 =
        nodes.iter().zip(&weights).map(|(node, weight)| *weight * model.node_rest[*node as usize]).sum();
    let fractions = sides.map(|side| {
        let own = side.nodes.iter().filter(|node| nodes.binary_search(node).is_ok());
        let squared = |node: u32| {
            (widget.axes.transpose() * (model.node_rest[node as usize] - rest_center)).yz().norm_squared()
        };
        own.map(|node| mass(*node) * squared(*node)).sum()
    });
    Slice { set: NodeSet { nodes, weights, places: Vec::new(), rest_center }, fractions }
}
