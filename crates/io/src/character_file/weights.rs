//! Which joints move a vertex, and by what fraction.

use super::accessor::{Accessor, Component};
use super::document::{Document, Part};
use super::findings::Findings;

/// A joint's share in the motion of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointWeight {
    /// The joint, by its place in the skin's list of joints.
    pub joint: u32,
    /// Its share, above 0; the fractions of a vertex sum to 1.
    pub weight: f64,
}

/// The joints of every vertex of a primitive: each vertex has at least one, in increasing order.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinWeights {
    starts: Vec<u32>,
    entries: Vec<JointWeight>,
    joint_bound: usize,
}

impl SkinWeights {
    /// The joints of a vertex and their shares.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn of(&self, vertex: usize) -> &[JointWeight] {
        &self.entries[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// One more than the last joint that any vertex follows.
    pub fn joint_bound(&self) -> usize {
        self.joint_bound
    }

    /// The most joints that one vertex follows.
    pub fn max_joints(&self) -> usize {
        self.starts.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(0)
    }
}

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
    document: &Document,
    sets: &Sets,
    vertex_count: usize,
    fallback: u32,
    path: &str,
    findings: &mut Findings,
) -> Result<SkinWeights, String> {
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
    // a rounded weight is off by half a step of its kind, four in each set
    let step = |accessor: &Accessor| accessor.component.largest().map_or(1e-3, |largest| 4.0 / largest);
    let tolerance = pairs.iter().map(|(_, weights)| step(weights)).sum();
    let mut merger = Merger::new(vertex_count, fallback, tolerance);
    let mut scratch = Vec::new();
    for vertex in 0..vertex_count {
        scratch.clear();
        for (joints, weights) in &pairs {
            gather(joints, weights, vertex, &mut scratch);
        }
        merger.add(vertex, &mut scratch).map_err(|message| format!("{path}: {message}"))?;
    }
    merger.report(path, findings);
    Ok(merger.weights)
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

/// Puts the joints of vertex after vertex in order, and counts what had to be mended.
struct Merger {
    weights: SkinWeights,
    fallback: u32,
    negative: usize,
    without: usize,
    /// How far a sum may be from 1 without a word.
    tolerance: f64,
    off: usize,
    largest_gap: f64,
}

impl Merger {
    fn new(vertex_count: usize, fallback: u32, tolerance: f64) -> Merger {
        let mut starts = Vec::with_capacity(vertex_count + 1);
        starts.push(0);
        let weights = SkinWeights { starts, entries: Vec::new(), joint_bound: 0 };
        Merger { weights, fallback, negative: 0, without: 0, tolerance, off: 0, largest_gap: 0.0 }
    }

    fn add(&mut self, vertex: usize, found: &mut Vec<JointWeight>) -> Result<(), String> {
        if let Some(entry) = found.iter().find(|entry| !entry.weight.is_finite()) {
            return Err(format!("vertex {vertex} has the weight {}: paint its weights again", entry.weight));
        }
        if found.iter().any(|entry| entry.weight < 0.0) {
            self.negative += 1;
            found.retain(|entry| entry.weight > 0.0);
        }
        found.sort_by_key(|entry| entry.joint);
        found.dedup_by(|later, first| {
            let same = later.joint == first.joint;
            first.weight += if same { later.weight } else { 0.0 };
            same
        });
        let sum: f64 = found.iter().map(|entry| entry.weight).sum();
        if sum > 0.0 && sum.is_finite() {
            found.iter_mut().for_each(|entry| entry.weight /= sum);
            found.retain(|entry| entry.weight > 0.0);
            let gap = (sum - 1.0).abs();
            self.largest_gap = self.largest_gap.max(gap);
            self.off += usize::from(gap > self.tolerance);
        } else {
            self.without += 1;
            found.clear();
            found.push(JointWeight { joint: self.fallback, weight: 1.0 });
        }
        let bound = found.last().map_or(0, |entry| entry.joint as usize + 1);
        self.weights.joint_bound = self.weights.joint_bound.max(bound);
        self.weights.entries.extend_from_slice(found);
        let end = u32::try_from(self.weights.entries.len());
        self.weights.starts.push(end.map_err(|_| "more than four thousand million weights: split the mesh")?);
        Ok(())
    }

    fn report(&self, path: &str, findings: &mut Findings) {
        if self.off > 0 {
            findings.note(format!(
                "{path}: the weights of {} vertices do not sum to 1 (off by up to {:.2e}): scaled so that they do",
                self.off, self.largest_gap
            ));
        }
        if self.negative > 0 {
            findings.note(format!("{path}: {} vertices have negative weights: left out", self.negative));
        }
        if self.without > 0 {
            findings.note(format!(
                "{path}: {} vertices have no weights: they follow the topmost joint of the skin",
                self.without
            ));
        }
    }
}
