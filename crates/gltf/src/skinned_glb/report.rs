//! What a take in a character's file holds, and its largest error.

use std::fmt;

/// What was written, and its largest error.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinnedGlbReport {
    /// One entry per node that shows flesh, in their order.
    pub bodies: Vec<SkinnedBodyReport>,
    /// How many nodes stood elsewhere than the animation puts them and got keys of their own.
    pub keyed_nodes: usize,
    /// The size of the file (bytes).
    pub bytes: u64,
    /// How much of it morph targets and keys are, without their descriptions (bytes).
    pub bytes_added: u64,
    /// What could not be kept or packed, one sentence each.
    pub notes: Vec<String>,
}

/// How the flesh of one node was compressed.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinnedBodyReport {
    /// The node.
    pub node: usize,
    /// Its name for reports.
    pub name: String,
    /// The number of morph targets that were added.
    pub components: usize,
    /// The largest distance in the world between a vertex of any frame and the same vertex as played, measured on the numbers as
    /// written (m).
    pub largest_error: f64,
    /// The error that was asked for (m); the limit on morph targets, or damping, may have kept it from being met.
    pub allowed_error: f64,
    /// Vertices whose joints turn against each other so far, in some frame, that their skinning is flat. No morph target can move them
    /// along what was lost, and the way back is damped there.
    pub damped_vertices: usize,
}

impl SkinnedBodyReport {
    /// Whether the error asked for was met.
    pub fn is_met(&self) -> bool {
        self.largest_error <= self.allowed_error
    }
}

impl fmt::Display for SkinnedBodyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (largest, allowed) = (1e3 * self.largest_error, 1e3 * self.allowed_error);
        write!(f, "{}: {} morph targets, largest error {largest:.3} mm", self.name, self.components)?;
        if self.damped_vertices > 0 {
            write!(f, ", {} vertices where skinning is flat", self.damped_vertices)?;
        }
        if self.is_met() {
            return Ok(());
        }
        write!(
            f,
            " where {allowed:.3} mm were asked for: allow more with --morph-targets or play less of it; .pc2, .mdd and .usda lose nothing"
        )
    }
}
