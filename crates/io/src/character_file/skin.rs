//! Skins: which nodes are joints, and where they stood when the surface was bound to them.
//!
//! A skin stores for every joint the matrix from bind space (that of the stored vertices) to the joint, and so knows how joints stood
//! to each other; it does not say where in the world. Here the topmost joint is taken to have stood where it stands at rest:
//!
//! ```text
//! W = G_top B_top,   world_from_joint at bind = W B_j⁻¹,   vertices at bind = W v
//! ```
//!
//! with G the rest pose in the world and B the inverse bind matrices. Where the rest pose is the bind pose, G_j B_j = W for all j.

use super::accessor::{Accessor, Component};
use super::document::{Document, Part};
use super::findings::Findings;
use super::node::{CharacterNode, Nodes};
use super::transform::{Mat4, affine_of, inverse, is_moderate, linear, translation};
use sinew_math::Vec3;
use std::collections::{BTreeMap, BTreeSet};

/// Joints that differ by less than this, as a fraction of the skeleton's size or of their axes, count as the same.
const SAME: f64 = 0.01;

/// Joints and how a surface is bound to them.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterSkin {
    /// Its name in the file.
    pub name: Option<String>,
    /// The nodes that are joints; weights count them by their place here.
    pub joints: Vec<usize>,
    /// Maps bind space into each joint at bind: B.
    pub inverse_bind: Vec<Mat4>,
    /// The node that the file names as the root of the skeleton.
    pub skeleton: Option<usize>,
    /// The topmost joint, by its place in `joints`: the one with the most nodes below.
    pub top: usize,
    /// Maps bind space into the world: W.
    pub world_from_bind: Mat4,
    /// Where each joint stood in the world when the surface was bound: W B⁻¹.
    pub bind_pose: Vec<Mat4>,
}

/// Reads all skins.
pub(super) fn read(
    document: &Document,
    nodes: Option<&Nodes>,
    findings: &mut Findings,
) -> Vec<CharacterSkin> {
    let mut skins = Vec::new();
    for (index, value) in document.list("skins").iter().enumerate() {
        let part = Part { value, path: format!("skins[{index}]") };
        let skin = read_skin(document, &part, findings);
        // a blank one holds the place of one that cannot be read, so that later ones keep their numbers
        let mut skin = findings.accept(skin).unwrap_or_else(CharacterSkin::blank);
        if let Some(nodes) = nodes.filter(|_| !skin.joints.is_empty()) {
            bind(&mut skin, &nodes.nodes, &part.path, findings);
        }
        skins.push(skin);
    }
    if let Some(nodes) = nodes {
        compare(&skins, &nodes.nodes, findings);
    }
    skins
}

impl CharacterSkin {
    fn blank() -> CharacterSkin {
        CharacterSkin {
            name: None,
            joints: Vec::new(),
            inverse_bind: Vec::new(),
            skeleton: None,
            top: 0,
            world_from_bind: Mat4::identity(),
            bind_pose: Vec::new(),
        }
    }
}

fn read_skin(document: &Document, part: &Part, findings: &mut Findings) -> Result<CharacterSkin, String> {
    let path = &part.path;
    let count = document.list("nodes").len();
    document.charge(part.list("joints")?.len(), 8 + 2 * size_of::<Mat4>(), path)?;
    let joints = part.indices_below("joints", count, "nodes")?;
    if joints.is_empty() {
        return Err(format!(
            "{path} has no joints: bind the mesh to a skeleton, or export it without the skin"
        ));
    }
    let repeated = joints.len() - joints.iter().collect::<BTreeSet<_>>().len();
    if repeated > 0 {
        findings.note(format!("{path} names {repeated} joints again: each place keeps its own binding"));
    }
    let inverse_bind = match part.index("inverseBindMatrices")? {
        Some(index) => read_matrices(document, index, joints.len(), path)?,
        None => {
            findings.note(format!(
                "{path} has no inverse bind matrices: taken as identities, as the standard says"
            ));
            vec![Mat4::identity(); joints.len()]
        }
    };
    let skeleton = part.index("skeleton")?;
    if let Some(node) = skeleton.filter(|node| *node >= count) {
        findings.note(format!("{path}.skeleton is {node} and there are {count} nodes: not looked at"));
    }
    Ok(CharacterSkin {
        name: part.text("name").map(String::from),
        joints,
        inverse_bind,
        skeleton: skeleton.filter(|node| *node < count),
        ..CharacterSkin::blank()
    })
}

fn read_matrices(document: &Document, index: usize, count: usize, path: &str) -> Result<Vec<Mat4>, String> {
    let accessor = Accessor::find(document, index)?;
    accessor.expect("MAT4", &[Component::F32], "inverse bind matrices")?;
    if accessor.count < count {
        let has = accessor.count;
        return Err(format!(
            "{path} has {count} joints and {has} inverse bind matrices: export the file again"
        ));
    }
    let matrix = |joint: usize| {
        let mut numbers = [0.0; 16];
        accessor.read(joint, &mut numbers);
        affine_of(&numbers, &format!("inverse bind matrix {joint} of {path}"))
    };
    (0..count).map(matrix).collect()
}

/// Finds the topmost joint and puts the bind pose into the world.
fn bind(skin: &mut CharacterSkin, nodes: &[CharacterNode], path: &str, findings: &mut Findings) {
    let undone: Vec<Option<Mat4>> = skin.inverse_bind.iter().map(inverse).collect();
    // of those that can tell, the one with the most below it: never a control or an end beside the skeleton's root
    let place = |slot: &usize| (undone[*slot].is_none(), usize::MAX - nodes[skin.joints[*slot]].below);
    skin.top = (0..skin.joints.len()).min_by_key(place).unwrap_or(0);
    let rest = |slot: usize| nodes[skin.joints[slot]].world_from_node;
    skin.world_from_bind = rest(skin.top) * skin.inverse_bind[skin.top];
    skin.bind_pose = (0..undone.len())
        .map(|slot| {
            undone[slot].map_or_else(|| rest(slot), |bind_from_joint| skin.world_from_bind * bind_from_joint)
        })
        .collect();
    let flat = undone.iter().filter(|matrix| matrix.is_none()).count();
    if flat > 0 {
        findings.note(format!(
            "{path}: {flat} inverse bind matrices flatten space: the rest pose stands in for the bind pose of these joints"
        ));
    }
    if inverse(&skin.world_from_bind).is_none() {
        findings.note(format!("{path}: the skeleton is flat in its rest pose: so is the surface at bind"));
    }
    if !skin.bind_pose.iter().all(is_moderate) {
        findings.error(format!("{path}: the bind pose stands beyond all numbers: export the file again"));
    }
}

/// Says where the rest pose, or another skin, has joints elsewhere.
fn compare(skins: &[CharacterSkin], nodes: &[CharacterNode], findings: &mut Findings) {
    let mut bound: BTreeMap<usize, &Mat4> = BTreeMap::new();
    let mut at_odds = 0;
    for (index, skin) in skins.iter().enumerate() {
        let size = extent(&skin.bind_pose);
        let differs: Vec<usize> = (0..skin.joints.len())
            .filter(|slot| !same(&skin.bind_pose[*slot], &nodes[skin.joints[*slot]].world_from_node, size))
            .collect();
        if let Some(first) = differs.first() {
            findings.note(format!(
                "skins[{index}]: {} of {} joints stand elsewhere at rest than at bind (first '{}'): both poses are kept",
                differs.len(),
                skin.joints.len(),
                nodes[skin.joints[*first]].label
            ));
        }
        for (joint, pose) in skin.joints.iter().zip(&skin.bind_pose) {
            let first = *bound.entry(*joint).or_insert(pose);
            at_odds += usize::from(!same(first, pose, size));
        }
    }
    if at_odds > 0 {
        findings.note(format!(
            "{at_odds} joints were bound at another place in another skin: each skin keeps its own"
        ));
    }
}

/// The longest side of the box around all joints.
fn extent(poses: &[Mat4]) -> f64 {
    let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    for pose in poses {
        low = low.inf(&translation(pose));
        high = high.sup(&translation(pose));
    }
    (high - low).max().max(0.0)
}

fn same(a: &Mat4, b: &Mat4, size: f64) -> bool {
    let shift = (translation(a) - translation(b)).norm();
    let length = linear(a).norm().max(linear(b).norm());
    // a skeleton of one joint has no size of its own
    let size = if size > 0.0 { size } else { translation(a).norm().max(length) };
    shift <= SAME * size && (linear(a) - linear(b)).norm() <= SAME * length
}
