//! Skinning weights: which joints move a vertex, and by what fraction.

/// The weight of a joint at a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointWeight {
    /// The joint, by its index in the skin's list of joints.
    pub joint: u32,
    /// Its weight, above 0; the weights of a vertex sum to 1.
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
    /// The joints of a vertex and their weights.
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

    /// The largest number of joints that one vertex follows.
    pub fn max_joints(&self) -> usize {
        self.starts.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(0)
    }
}

/// Collects the joints of vertex after vertex: merges repeated joints, normalises sums to 1, and counts what had to be repaired.
#[derive(Clone, Debug)]
pub struct SkinWeightsBuilder {
    weights: SkinWeights,
    fallback: u32,
    tolerance: f64,
    /// Vertices with negative weights, which are dropped.
    pub negative: usize,
    /// Vertices without weights, which follow the fallback joint.
    pub without: usize,
    /// Vertices whose weights are further from a sum of 1 than the tolerance.
    pub off: usize,
    /// The largest distance of a sum from 1.
    pub largest_gap: f64,
}

impl SkinWeightsBuilder {
    /// No vertices so far. Vertices without weights follow the joint `fallback`; sums that are `tolerance` or less from 1 are not
    /// counted as off.
    pub fn new(vertex_count: usize, fallback: u32, tolerance: f64) -> SkinWeightsBuilder {
        let mut starts = Vec::with_capacity(vertex_count + 1);
        starts.push(0);
        let weights = SkinWeights { starts, entries: Vec::new(), joint_bound: 0 };
        SkinWeightsBuilder { weights, fallback, tolerance, negative: 0, without: 0, off: 0, largest_gap: 0.0 }
    }

    /// Adds the next vertex; `found` is used as scratch. Fails if a weight is not finite.
    pub fn add(&mut self, found: &mut Vec<JointWeight>) -> Result<(), String> {
        let vertex = self.weights.vertex_count();
        if let Some(entry) = found.iter().find(|entry| !entry.weight.is_finite()) {
            return Err(format!("vertex {vertex} has the weight {}: paint its weights again", entry.weight));
        }

        // one entry per joint, in increasing order
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

        // a sum of 1
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

        // behind those of the vertices before
        let bound = found.last().map_or(0, |entry| entry.joint as usize + 1);
        self.weights.joint_bound = self.weights.joint_bound.max(bound);
        self.weights.entries.extend_from_slice(found);
        let end = u32::try_from(self.weights.entries.len());
        self.weights.starts.push(end.map_err(|_| "more than four thousand million weights: split the mesh")?);
        Ok(())
    }

    /// The weights of all vertices.
    pub fn finish(self) -> SkinWeights {
        self.weights
    }
}
