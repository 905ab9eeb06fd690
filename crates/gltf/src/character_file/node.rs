//! The nodes of a file: names, children, transforms, and what belongs to the scene.

use super::document_reader::{DocumentReader, Part};
use super::findings::Findings;
use super::matrix::affine_of;
use sinew_character::{CharacterNode, NodeTransform, NodeTree};
use sinew_math::{Mat3, Rotation, Vec3, nalgebra::Quaternion};

/// A rotation whose length is further from one is worth a note: single precision and the shortest whole numbers stay below.
const UNIT_TOLERANCE: f64 = 1e-2;

/// Reads the hierarchy; nothing if a node is its own ancestor.
pub(super) fn read(document: &DocumentReader, findings: &mut Findings) -> Option<NodeTree> {
    let entries = document.list("nodes");
    // each node, its place in orders and lists, and its joint matrix
    findings.accept(document.charge(entries.len(), size_of::<CharacterNode>() + 64, "nodes"))?;
    let mut nodes = Vec::with_capacity(entries.len());
    for (index, value) in entries.iter().enumerate() {
        let part = Part { value, path: format!("nodes[{index}]") };
        let node = read_node(document, &part, index, findings);
        nodes.push(findings.accept(node).unwrap_or_default());
    }
    let (tree, errors) = NodeTree::build(nodes);
    let nodes = tree.as_ref().map_or(&[][..], |tree| &tree.nodes);
    let renamed = nodes.iter().filter(|node| node.name.as_deref() != Some(&node.label)).count();
    if renamed > 0 {
        findings.note(format!(
            "{renamed} of {} nodes have no name of their own: reports call them by their number too",
            nodes.len()
        ));
    }
    errors.into_iter().for_each(|error| findings.error(error.message));
    let mut tree = tree?;
    mark_scene(document, &mut tree, findings);
    Some(tree)
}

fn read_node(
    document: &DocumentReader,
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
        in_scene: false,
        ..CharacterNode::default()
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

/// Marks what belongs to the scene that is shown first; everything if the file has no scenes.
fn mark_scene(document: &DocumentReader, tree: &mut NodeTree, findings: &mut Findings) {
    let NodeTree { nodes, order } = tree;
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
    for &node in order.iter() {
        nodes[node].in_scene |= nodes[node].parent.is_some_and(|parent| nodes[parent].in_scene);
    }
    let left_out = nodes.iter().filter(|node| !node.in_scene && node.mesh.is_some()).count();
    if left_out > 0 {
        findings.note(format!(
            "{left_out} nodes with meshes are not in the scene that is shown first: listed, and marked"
        ));
    }
}
