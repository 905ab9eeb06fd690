//! Nodes of the hierarchy: names, parents, and where they stand at rest.

use crate::transform::{Mat4, NodeTransform, is_moderate};
use crate::{CharacterError, FaultyPart};
use std::collections::BTreeSet;

/// Longer names are truncated in reports (characters).
const LABEL_LENGTH: usize = 64;

/// A node of the hierarchy.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterNode {
    /// Its name, which may be missing or shared with other nodes.
    pub name: Option<String>,
    /// A name for reports that no other node has.
    pub label: String,
    /// Its parent, by its index.
    pub parent: Option<usize>,
    /// Its children.
    pub children: Vec<usize>,
    /// How many ancestors it has.
    pub depth: usize,
    /// How many descendants it has.
    pub below: usize,
    /// Where it stands in its parent at rest.
    pub rest: NodeTransform,
    /// Where it stands in the world at rest.
    pub world_from_node: Mat4,
    /// The mesh it shows.
    pub mesh: Option<usize>,
    /// The skin that deforms the mesh.
    pub skin: Option<usize>,
    /// Weights of morph targets that replace the mesh's own.
    pub morph_weights: Option<Vec<f64>>,
    /// Whether it belongs to the scene that is shown first.
    pub in_scene: bool,
}

impl Default for CharacterNode {
    /// A node without a name, a parent or a mesh, at the origin.
    fn default() -> CharacterNode {
        CharacterNode {
            name: None,
            label: String::new(),
            parent: None,
            children: Vec::new(),
            depth: 0,
            below: 0,
            rest: NodeTransform::identity(),
            world_from_node: Mat4::identity(),
            mesh: None,
            skin: None,
            morph_weights: None,
            in_scene: true,
        }
    }
}

impl CharacterNode {
    /// A node of a name that stands at `rest` in its parent, with the given children.
    pub fn new(name: impl Into<String>, rest: NodeTransform, children: Vec<usize>) -> CharacterNode {
        CharacterNode { name: Some(name.into()), rest, children, ..CharacterNode::default() }
    }
}

/// All nodes, and an order in which parents come before children.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeTree {
    /// The nodes.
    pub nodes: Vec<CharacterNode>,
    /// All nodes, parents before children.
    pub order: Vec<usize>,
}

impl NodeTree {
    /// Links nodes whose names, children and rest transforms are given: finds labels, parents, the order and the rest pose in the
    /// world. Returns the tree, unless a node is its own ancestor, and everything that is wrong with it.
    pub fn build(mut nodes: Vec<CharacterNode>) -> (Option<NodeTree>, Vec<CharacterError>) {
        let mut errors = Vec::new();
        let mut labels = BTreeSet::new();
        for (index, node) in nodes.iter_mut().enumerate() {
            node.label = unique_label(node.name.as_deref(), index, &mut labels);
        }
        link_parents(&mut nodes, &mut errors);
        let Some(order) = find_order(&mut nodes, &mut errors) else { return (None, errors) };
        place_at_rest(&mut nodes, &order, &mut errors);
        (Some(NodeTree { nodes, order }), errors)
    }
}

/// The name itself, or with the index behind it where it is missing or taken; on one line and of limited length.
fn unique_label(name: Option<&str>, index: usize, taken: &mut BTreeSet<String>) -> String {
    let printable = |name: &str| -> String {
        name.chars().take(LABEL_LENGTH).map(|c| if c.is_control() { ' ' } else { c }).collect()
    };
    let name = name.filter(|name| !name.is_empty()).map(printable);
    let mut label = name.clone().unwrap_or_else(|| format!("node {index}"));
    let name = name.as_deref().unwrap_or("node");
    let mut tries = 0;
    while taken.contains(&label) {
        label = match tries {
            0 => format!("{name} #{index}"),
            again => format!("{name} #{index}.{again}"),
        };
        tries += 1;
    }
    taken.insert(label.clone());
    label
}

fn link_parents(nodes: &mut [CharacterNode], errors: &mut Vec<CharacterError>) {
    for parent in 0..nodes.len() {
        for place in 0..nodes[parent].children.len() {
            let child = nodes[parent].children[place];
            match nodes[child].parent {
                None => nodes[child].parent = Some(parent),
                Some(first) => errors.push(error_at(
                    &nodes[child],
                    format!(
                        "(nodes[{child}]) hangs from nodes[{first}] and nodes[{parent}]: leave it one parent"
                    ),
                )),
            }
        }
    }
}

/// Parents before children; nothing if some node is its own ancestor.
fn find_order(nodes: &mut [CharacterNode], errors: &mut Vec<CharacterError>) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&node| nodes[node].parent.is_none()).collect();
    let mut seen = vec![false; nodes.len()];
    let mut at = 0;

    // breadth first from the roots
    while at < order.len() {
        let node = order[at];
        seen[node] = true;
        for place in 0..nodes[node].children.len() {
            let child = nodes[node].children[place];
            // a child with a second parent is visited from its first only
            if nodes[child].parent == Some(node) && !seen[child] {
                seen[child] = true;
                nodes[child].depth = nodes[node].depth + 1;
                order.push(child);
            }
        }
        at += 1;
    }

    // what no root reaches is a cycle
    if let Some(node) = seen.iter().position(|seen| !seen) {
        let count = seen.iter().filter(|seen| !**seen).count();
        let message = format!(
            "(nodes[{node}]) is above or below itself, as are {count} nodes in all: break the circle"
        );
        errors.push(error_at(&nodes[node], message));
        return None;
    }

    // descendants are counted from the leaves
    for &node in order.iter().rev() {
        if let Some(parent) = nodes[node].parent {
            nodes[parent].below += nodes[node].below + 1;
        }
    }
    Some(order)
}

fn place_at_rest(nodes: &mut [CharacterNode], order: &[usize], errors: &mut Vec<CharacterError>) {
    for &node in order {
        let local = nodes[node].rest.matrix();
        let world = nodes[node].parent.map_or(local, |parent| nodes[parent].world_from_node * local);
        if !is_moderate(&world) {
            let message = format!("(nodes[{node}]) stands beyond all numbers: check the scales above it");
            errors.push(error_at(&nodes[node], message));
            return;
        }
        nodes[node].world_from_node = world;
    }
}

fn error_at(node: &CharacterNode, message: String) -> CharacterError {
    let label = &node.label;
    CharacterError::of(FaultyPart::Joint(label.clone()), format!("node '{label}' {message}"))
}
