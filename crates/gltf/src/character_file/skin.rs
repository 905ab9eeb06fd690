//! Skins: which nodes are joints, their inverse bind matrices, and notes on bind poses that differ from the rest pose.

use super::accessor::{Accessor, Component};
use super::document_reader::{DocumentReader, Part};
use super::findings::Findings;
use super::matrix::affine_of;
use sinew_character::transform::{linear, translation};
use sinew_character::{BindReport, CharacterNode, CharacterSkin, Mat4, NodeTree};
use sinew_math::Vec3;
use std::collections::{BTreeMap, BTreeSet};

/// Joints that differ by less than this, as a fraction of the skeleton's size or of their axes, count as the same.
const SAME: f64 = 0.01;

/// Reads all skins.
pub(super) fn read(
    document: &DocumentReader,
    nodes: Option<&NodeTree>,
    findings: &mut Findings,
) -> Vec<CharacterSkin> {
    let mut skins = Vec::new();
    for (index, value) in document.list("skins").iter().enumerate() {
        let part = Part { value, path: format!("skins[{index}]") };
        let skin = read_skin(document, &part, findings);
        // a blank one holds the place of one that cannot be read, so that later ones keep their numbers
        let mut skin = findings.accept(skin).unwrap_or_default();
        if let Some(nodes) = nodes.filter(|_| !skin.joints.is_empty()) {
            report_bind(skin.bind(&nodes.nodes), &part.path, findings);
        }
        skins.push(skin);
    }
    if let Some(nodes) = nodes {
        compare(&skins, &nodes.nodes, findings);
    }
    skins
}

fn read_skin(
    document: &DocumentReader,
    part: &Part,
    findings: &mut Findings,
) -> Result<CharacterSkin, String> {
    // the joints
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

    // where they stood when the surface was bound
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
        ..CharacterSkin::default()
    })
}

fn read_matrices(
    document: &DocumentReader,
    index: usize,
    count: usize,
    path: &str,
) -> Result<Vec<Mat4>, String> {
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

/// Notes what is unusual about a bind pose.
fn report_bind(report: BindReport, path: &str, findings: &mut Findings) {
    let singular = report.singular;
    if singular > 0 {
        findings.note(format!(
            "{path}: {singular} inverse bind matrices flatten space: the rest pose stands in for the bind pose of these joints"
        ));
    }
    if report.is_flat {
        findings.note(format!("{path}: the skeleton is flat in its rest pose: so is the surface at bind"));
    }
    if !report.is_moderate {
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
