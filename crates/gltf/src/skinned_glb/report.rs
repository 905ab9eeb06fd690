//! What a take in a character's file holds, and its largest error.

use std::fmt;

/// An error so many times the aim of a compact file is far: half a percent of the size.
const FAR: f64 = 5.0;

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
    /// The number of helper bones that were added.
    pub helpers: usize,
    /// The number of morph targets that were added.
    pub components: usize,
    /// The largest distance in the world between a vertex of any frame and the same vertex as played, measured on the numbers as
    /// written (m). Between frames too, at every quarter: there the skinned surface is that of the file, and what flesh adds to it a spline through the frames.
    pub largest_error: f64,
    /// The same for each clip, in their order.
    pub clips: Vec<SkinnedClipReport>,
    /// The mean angle between the normals of the moved surface and those that are shown, over frames and area (rad); `None` without normals in the file.
    pub normal_angle: Option<f64>,
    /// Its area at bind (m²).
    pub area: f64,
    /// The error that was asked for (m); the limit on morph targets, or damping, may have kept it from being met.
    pub allowed_error: f64,
    /// Whether the size of the file came before that error ([`SkinnedGlbOptions::is_compact`](crate::SkinnedGlbOptions::is_compact)).
    pub is_compact: bool,
    /// Vertices whose joints turn against each other so far, in some frame, that their skinning is flat. No morph target can move them
    /// along what was lost, and the way back is damped there.
    pub damped_vertices: usize,
}

/// The errors of one clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinnedClipReport {
    /// Its animation in the file that was read; `None` for one that was added.
    pub animation: Option<usize>,
    /// How many frames it has.
    pub frames: usize,
    /// The largest error at frames (m).
    pub error_at_frames: f64,
    /// The largest error at quarters between frames (m).
    pub error_between: f64,
}

impl SkinnedBodyReport {
    /// Whether the error asked for was met.
    pub fn is_met(&self) -> bool {
        self.largest_error <= self.allowed_error
    }

    /// Whether the error is larger than who reads the report expects: than was asked for, or far beyond the aim of a compact file.
    pub fn is_too_far(&self) -> bool {
        let expected = if self.is_compact { FAR * self.allowed_error } else { self.allowed_error };
        self.largest_error > expected
    }
}

impl fmt::Display for SkinnedBodyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (largest, allowed) = (1e3 * self.largest_error, 1e3 * self.allowed_error);
        write!(f, "{}: ", self.name)?;
        if self.helpers > 0 {
            write!(f, "{} helper bones, ", self.helpers)?;
        }
        if self.components > 0 || self.helpers == 0 {
            write!(f, "{} morph targets, ", self.components)?;
        }
        write!(f, "largest error {largest:.3} mm")?;
        if let Some(angle) = self.normal_angle.filter(|_| self.components + self.helpers > 0) {
            write!(f, ", normals within {:.1}° on average", angle.to_degrees())?;
        }
        if self.damped_vertices > 0 {
            write!(f, ", {} vertices where skinning is flat", self.damped_vertices)?;
        }
        if self.is_met() {
            return Ok(());
        }
        if self.is_compact {
            return write!(
                f,
                " in a file of at most three times its size: --error 0.1 keeps it within {allowed:.3} mm, if it can, in a larger one; .pc2, .mdd and .usda lose nothing"
            );
        }
        let more = if self.helpers > 0 { "--helpers or --bake bones+morphs" } else { "--morph-targets" };
        write!(
            f,
            " where {allowed:.3} mm were asked for: allow more with {more} or play less of it; .pc2, .mdd and .usda lose nothing"
        )
    }
}
