//! Skinning weights: the sets of joints and weights of a primitive, merged.

use super::accessor::{Accessor, Component};
use super::document_reader::{DocumentReader, Part};
use super::findings::Findings;
use sinew_character::{JointWeight, SkinWeights, SkinWeightsBuilder};

/// The accessors of all sets: (`JOINTS_n`, `WEIGHTS_n`).
pub(super) type Sets = Vec<(usize, usize)>;

/// Finds all sets among the attributes of a primitive.
pub(super) fn find_sets(attributes: &Part) -> Result<Sets, String> {
    let Some(members) = attributes.value.as_object() else { return Ok(Vec::new()) };
    let mut sets = Vec::new();
    for key in members.keys() {
        let missing = |key: String| format!("{} has {key} missing: export the file again", attributes.path);
        if let Some(number) = key.strip_prefix("JOINTS_") {
            let weights = format!("WEIGHTS_{number}");
            if let Some(joints) = attributes.index(key)? {
                sets.push((joints, attributes.index(&weights)?.ok_or_else(|| missing(weights))?));
            }
        } else if let Some(number) = key.strip_prefix("WEIGHTS_") {
            let joints = format!("JOINTS_{number}");
            attributes.index(&joints)?.ok_or_else(|| missing(joints))?;
        }
    }
    Ok(sets)
}

/// Reads and merges all sets. Vertices without weights follow the joint `fallback`.
pub(super) fn read(
    document: &DocumentReader,
    sets: &Sets,
    vertex_count: usize,
    fallback: u32,
    path: &str,
    findings: &mut Findings,
) -> Result<SkinWeights, String> {
    // the sets, all as long as the vertices
    let mut pairs = Vec::with_capacity(sets.len());
    for (joints, weights) in sets {
        let (joints, weights) = (Accessor::find(document, *joints)?, Accessor::find(document, *weights)?);
        joints.expect("VEC4", &[Component::U8, Component::U16], "joints of vertices")?;
        weights.expect("VEC4", &[Component::F32, Component::U8, Component::U16], "weights of vertices")?;
        for accessor in [&joints, &weights] {
            if accessor.count != vertex_count {
                let (path, count) = (&accessor.path, accessor.count);
                return Err(format!(
                    "{path} has {count} elements for {vertex_count} vertices: export the file again"
                ));
            }
        }
        pairs.push((joints, weights));
    }
    document.charge(vertex_count, 4 + 4 * pairs.len() * size_of::<JointWeight>(), path)?;

    // the sum of all sets, vertex by vertex
    // a rounded weight is off by half a step of its kind, four in each set
    let step = |accessor: &Accessor| accessor.component.largest().map_or(1e-3, |largest| 4.0 / largest);
    let tolerance = pairs.iter().map(|(_, weights)| step(weights)).sum();
    let mut merger = SkinWeightsBuilder::new(vertex_count, fallback, tolerance);
    let mut scratch = Vec::new();
    for vertex in 0..vertex_count {
        scratch.clear();
        for (joints, weights) in &pairs {
            gather(joints, weights, vertex, &mut scratch);
        }
        merger.add(&mut scratch).map_err(|message| format!("{path}: {message}"))?;
    }
    report(&merger, path, findings);
    Ok(merger.finish())
}

/// Adds the four joints of a vertex in one set.
fn gather(joints: &Accessor, weights: &Accessor, vertex: usize, found: &mut Vec<JointWeight>) {
    let (mut joint, mut weight) = ([0.0; 4], [0.0; 4]);
    joints.read_raw(vertex, &mut joint);
    weights.read_raw(vertex, &mut weight);
    // whole numbers are fractions of the largest whether they say so or not
    let largest = weights.component.largest().unwrap_or(1.0);
    for (joint, weight) in joint.into_iter().zip(weight).filter(|(_, weight)| *weight != 0.0) {
        found.push(JointWeight { joint: joint as u32, weight: weight / largest });
    }
}

/// Notes what was repaired.
fn report(merged: &SkinWeightsBuilder, path: &str, findings: &mut Findings) {
    let SkinWeightsBuilder { off, largest_gap, negative, without, .. } = merged;
    if *off > 0 {
        findings.note(format!(
            "{path}: the weights of {off} vertices do not sum to 1 (off by up to {largest_gap:.2e}): scaled so that they do"
        ));
    }
    if *negative > 0 {
        findings.note(format!("{path}: {negative} vertices have negative weights: left out"));
    }
    if *without > 0 {
        findings.note(format!(
            "{path}: {without} vertices have no weights: they follow the topmost joint of the skin"
        ));
    }
}
