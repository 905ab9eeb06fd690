//! What is worth knowing about a cage that was built: where it departs from what was asked, and what
//! was done to keep the solid's parts apart or together. None of it is an error; each says how much.

use super::joining::Joined;
use core::fmt;

/// Something worth knowing about how a cage was built.
#[derive(Clone, Debug, PartialEq)]
pub enum CageFinding {
    /// Tets were copied because several separate pieces of the solid share them.
    CopiedTets {
        /// Lattice tets that were copied.
        tets: usize,
        /// Copies beyond the first.
        copies: usize,
    },
    /// Pieces were glued so that a connected shell has a connected cage.
    GluedPieces {
        /// How many pieces.
        pieces: usize,
    },
    /// The count of tets is off what was asked by more than a twentieth.
    Count {
        /// Tets asked for.
        asked: usize,
        /// Tets built.
        built: usize,
    },
    /// Fills were scaled so that they sum to the volume of the surface.
    Scaled {
        /// The factor on the fills of cut tets.
        factor: f64,
    },
    /// Vertices of no triangle that lie outside the cage ride on a tet near them, extrapolated.
    Outside {
        /// How many vertices.
        vertices: usize,
    },
    /// Some anchors got no node: only nodes at the outside of the cage are near them, or other anchors are.
    Anchors {
        /// How many got none.
        left_out: usize,
        /// How many were asked for.
        asked: usize,
    },
}

/// A scaling of fills nearer to one than this is the error of the samples and not worth a word.
const SCALE_SLACK: f64 = 0.02;

pub(crate) fn find(joined: &Joined, glued: usize, outside: usize, scaled: Option<f64>) -> Vec<CageFinding> {
    let mut findings = Vec::new();
    if joined.copy_count > 0 {
        findings.push(CageFinding::CopiedTets { tets: joined.copied_count, copies: joined.copy_count });
    }
    if glued > 0 {
        findings.push(CageFinding::GluedPieces { pieces: glued });
    }
    if let Some(factor) = scaled.filter(|f| (f - 1.0).abs() > SCALE_SLACK) {
        findings.push(CageFinding::Scaled { factor });
    }
    if outside > 0 {
        findings.push(CageFinding::Outside { vertices: outside });
    }
    findings
}

/// What there is to say about anchors, given the node of each.
pub(crate) fn of_anchors(nodes: &[Option<u32>]) -> Option<CageFinding> {
    let left_out = nodes.iter().filter(|n| n.is_none()).count();
    (left_out > 0).then_some(CageFinding::Anchors { left_out, asked: nodes.len() })
}

impl fmt::Display for CageFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CopiedTets { tets, copies } => {
                write!(
                    f,
                    "{tets} lattice tets hold separate parts of the solid: {copies} copies keep them apart"
                )
            }
            Self::GluedPieces { pieces } => {
                write!(f, "{pieces} pieces of connected shells had come apart: glued to their neighbours")
            }
            Self::Count { asked, built } => {
                write!(f, "{asked} tets were asked for and {built} built: the lattice comes no closer")
            }
            Self::Scaled { factor } => {
                write!(f, "fills at the surface were scaled by {factor:.4} to the volume of the surface")
            }
            Self::Outside { vertices } => {
                write!(
                    f,
                    "{vertices} vertices of no triangle lie outside the cage: they follow a tet near them"
                )
            }
            Self::Anchors { left_out, asked } => {
                write!(
                    f,
                    "{left_out} of {asked} anchors got no node of their own, for lack of room between the outside of the \
                     cage and other anchors: a finer cage has more"
                )
            }
        }
    }
}
