//! The nodes of a file: names, parents, and where they stand at rest.

use super::document::{Document, Part};
use super::findings::Findings;
use super::transform::{Mat4, NodeTransform, affine_of, is_moderate};
use sinew_math::{Mat3, Rotation, Vec3, nalgebra::Quaternion};
use std::collections::BTreeSet;

/// A rotation whose length is further from one is worth a note: single precision and the shortest whole numbers stay below.
const UNIT_TOLERANCE: f64 = 1e-2;

/// Longer names are cut in reports (characters).
const LABEL_LENGTH: usize = 64;

/// A node of the hierarchy.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterNode {
    /// Its name in the file, which may be missing or not the only one of its kind.
    pub name: Option<String>,
    /// A name for reports that no other node has.
    pub label: String,
    /// The node it hangs from, by its index in the file.
    pub parent: Option<usize>,
    /// The nodes that hang from it.
    pub children: Vec<usize>,
    /// How many nodes are above it.
    pub depth: usize,
    /// How many nodes are below it.
    pub below: usize,
    /// Where it stands in its parent at rest.
    pub rest: NodeTransform,
    /// Where it stands in the world at rest.
    pub world_from_node: Mat4,
    /// The mesh it shows.
    pub mesh: Option<usize>,
    /// The skin that bends the mesh.
    pub skin: Option<usize>,
    /// Weights of morph targets that stand in for the mesh's own.
    pub morph_weights: Option<Vec<f64>>,
    /// Whether it belongs to the scene that is shown first.
    pub in_scene: bool,
}

/// All nodes, and an order in which parents come before children.
pub(super) struct Nodes {
    pub(super) nodes: Vec<CharacterNode>,
    pub(super) order: Vec<usize>,
}

/// Reads the hierarchy; nothing if it is none.
pub(super) fn read(document: &Document, findings: &mut Findings) -> Option<Nodes> {
    let entries = document.list("nodes");
    // each node, its place in orders and lists, and its joint matrix
    findings.accept(document.charge(entries.len(), size_of::<CharacterNode>() + 64, "nodes"))?;
    let mut nodes = Vec::with_capacity(entries.len());
    let mut labels = BTreeSet::new();
    for (index, value) in entries.iter().enumerate() {
        let part = Part { value, path: format!("nodes[{index}]") };
        let node = read_node(document, &part, index, findings);
        let mut node = findings.accept(node).unwrap_or_else(CharacterNode::blank);
        node.label = unique_label(node.name.as_deref(), index, &mut labels);
        nodes.push(node);
    }
    let renamed = nodes.iter().filter(|node| node.name.as_deref() != Some(&node.label)).count();
    if renamed > 0 {
        findings.note(format!(
            "{renamed} of {} nodes have no name of their own: reports call them by their number too",
            nodes.len()
        ));
    }
    link_parents(&mut nodes, findings);
    let order = find_order(&mut nodes, findings)?;
    place_at_rest(&mut nodes, &order, findings);
    mark_scene(document, &mut nodes, &order, findings);
    Some(Nodes { nodes, order })
}

impl CharacterNode {
    fn blank() -> CharacterNode {
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
            in_scene: false,
        }
    }
}

fn read_node(
    document: &Document,
    part: &Part,
    index: usize,
    findings: &mut Findings,
) -> Result<CharacterNode, String> {
    let count = document.list("nodes").len();
    let weights = part.all_numbers("weights")?;
    let children = part.indices_below("children", count, "nodes")?;
    if children.contains(&index) {
        return Err(format!("nodes[{index}] is its own child: export the file again"));
    }
    Ok(CharacterNode {
        name: part.text("name").map(String::from),
        children,
        rest: read_transform(part, findings)?,
        mesh: part.index_below("mesh", document.list("meshes").len(), "meshes")?,
        skin: part.index_below("skin", document.list("skins").len(), "skins")?,
        morph_weights: weights,
        ..CharacterNode::blank()
    })
}

fn read_transform(part: &Part, findings: &mut Findings) -> Result<NodeTransform, String> {
    let path = &part.path;
    let parts = ["translation", "rotation", "scale"].iter().any(|key| part.get(key).is_some());
    if let Some(numbers) = part.numbers::<16>("matrix")? {
        if parts {
            findings.note(format!("{path} has a matrix and its parts: the matrix was taken"));
        }
        return Ok(NodeTransform::of_matrix(&affine_of(&numbers, &part.at("matrix"))?));
    }
    let translation = part.numbers::<3>("translation")?.unwrap_or([0.0; 3]);
    let rotation = part.numbers::<4>("rotation")?.unwrap_or([0.0, 0.0, 0.0, 1.0]);
    let scale = part.numbers::<3>("scale")?.unwrap_or([1.0; 3]);
    let (rotation, length) = unit(&rotation).ok_or_else(|| {
        format!("{path}.rotation is {rotation:?}, which is no quaternion of length 1: export the file again")
    })?;
    if (length - 1.0).abs() > UNIT_TOLERANCE {
        findings.note(format!("{path}.rotation has the length {length:.4}: brought to 1"));
    }
    Ok(NodeTransform {
        translation: translation.into(),
        rotation,
        stretch: Mat3::from_diagonal(&Vec3::from(scale)),
    })
}

/// The rotation of a quaternion (x, y, z, w) of any length but zero, and that length.
pub(super) fn unit([x, y, z, w]: &[f64; 4]) -> Option<(Rotation, f64)> {
    let quaternion = Quaternion::new(*w, *x, *y, *z);
    let length = quaternion.norm();
    (length.is_finite() && length > 1e-6).then(|| (Rotation::new_normalize(quaternion), length))
}

/// The name itself, or with the number behind where it is missing or taken; on one line and not too long.
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

fn link_parents(nodes: &mut [CharacterNode], findings: &mut Findings) {
    for parent in 0..nodes.len() {
        for place in 0..nodes[parent].children.len() {
            let child = nodes[parent].children[place];
            match nodes[child].parent {
                None => nodes[child].parent = Some(parent),
                Some(first) => findings.error(format!(
                    "node '{}' (nodes[{child}]) hangs from nodes[{first}] and nodes[{parent}]: leave it one parent",
                    nodes[child].label
                )),
            }
        }
    }
}

/// Parents before children; nothing if some node is above itself.
fn find_order(nodes: &mut [CharacterNode], findings: &mut Findings) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&node| nodes[node].parent.is_none()).collect();
    let mut seen = vec![false; nodes.len()];
    let mut at = 0;
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
    if let Some(node) = seen.iter().position(|seen| !seen) {
        let count = seen.iter().filter(|seen| !**seen).count();
        findings.error(format!(
            "node '{}' (nodes[{node}]) is above or below itself, as are {count} nodes in all: break the circle",
            nodes[node].label
        ));
        return None;
    }
    for &node in order.iter().rev() {
        if let Some(parent) = nodes[node].parent {
            nodes[parent].below += nodes[node].below + 1;
        }
    }
    Some(order)
}

fn place_at_rest(nodes: &mut [CharacterNode], order: &[usize], findings: &mut Findings) {
    for &node in order {
        let local = nodes[node].rest.matrix();
        let world = nodes[node].parent.map_or(local, |parent| nodes[parent].world_from_node * local);
        if !is_moderate(&world) {
            findings.error(format!(
                "node '{}' (nodes[{node}]) stands beyond all numbers: check the scales above it",
                nodes[node].label
            ));
            return;
        }
        nodes[node].world_from_node = world;
    }
}

/// Marks what belongs to the scene that is shown first; everything if the file has no scenes.
fn mark_scene(document: &Document, nodes: &mut [CharacterNode], order: &[usize], findings: &mut Findings) {
    let scenes = document.list("scenes");
    if scenes.is_empty() {
        nodes.iter_mut().for_each(|node| node.in_scene = true);
        return;
    }
    let root = document.root();
    let Some(scene) = findings.accept(root.index_below("scene", scenes.len(), "scenes")) else { return };
    let scene = scene.unwrap_or(0);
    let part = Part { value: &scenes[scene], path: format!("scenes[{scene}]") };
    let roots = findings.accept(part.indices_below("nodes", nodes.len(), "nodes"));
    for node in roots.unwrap_or_default() {
        nodes[node].in_scene = true;
    }
    for &node in order {
        nodes[node].in_scene |= nodes[node].parent.is_some_and(|parent| nodes[parent].in_scene);
    }
    let left_out = nodes.iter().filter(|node| !node.in_scene && node.mesh.is_some()).count();
    if left_out > 0 {
        findings.note(format!(
            "{left_out} nodes with meshes are not in the scene that is shown first: listed, and marked"
        ));
    }
}
