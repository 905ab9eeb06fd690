//! Diagnostics of a cage build: where the cage deviates from the request, and what keeps parts of the solid apart or
//! together. None of them is an error; each says how much.

use super::virtual_nodes::MergedMesh;
use core::fmt;

/// One diagnostic of a cage build.
#[derive(Clone, Debug, PartialEq)]
pub enum CageFinding {
    /// Tets were duplicated because they contain several separate fragments of the solid.
    CopiedTets {
        /// Lattice tets that were duplicated.
        tets: usize,
        /// Copies beyond the first.
        copies: usize,
    },
    /// CellFragments were glued so that a connected shell has a connected cage.
    GluedFragments {
        /// How many fragments.
        fragments: usize,
    },
    /// The number of tets differs from the requested number by more than a twentieth.
    Count {
        /// Tets requested.
        asked: usize,
        /// Tets built.
        built: usize,
    },
    /// Fills were scaled so that they sum to the volume that the surface encloses.
    Scaled {
        /// The factor on the fills of cut tets.
        factor: f64,
    },
    /// Vertices of no triangle lie outside the cage and are extrapolated from a tet near them.
    Outside {
        /// How many vertices.
        vertices: usize,
    },
    /// Some anchors got no node: only boundary nodes of the cage, or nodes of other anchors, are near them.
    Anchors {
        /// How many got none.
        left_out: usize,
        /// How many anchors were given.
        asked: usize,
    },
}

/// A scale factor closer to 1 than this is sampling error and not reported.
const SCALE_TOLERANCE: f64 = 0.02;

pub(crate) fn find(
    joined: &MergedMesh,
    glued: usize,
    outside: usize,
    scaled: Option<f64>,
) -> Vec<CageFinding> {
    let mut findings = Vec::new();
    if joined.copy_count > 0 {
        findings.push(CageFinding::CopiedTets { tets: joined.copied_count, copies: joined.copy_count });
    }
    if glued > 0 {
        findings.push(CageFinding::GluedFragments { fragments: glued });
    }
    if let Some(factor) = scaled.filter(|f| (f - 1.0).abs() > SCALE_TOLERANCE) {
        findings.push(CageFinding::Scaled { factor });
    }
    if outside > 0 {
        findings.push(CageFinding::Outside { vertices: outside });
    }
    findings
}

/// The diagnostic of the anchors, given the node of each.
pub(crate) fn of_anchors(nodes: &[Option<u32>]) -> Option<CageFinding> {
    let left_out = nodes.iter().filter(|n| n.is_none()).count();
    (left_out > 0).then_some(CageFinding::Anchors { left_out, asked: nodes.len() })
}

impl fmt::Display for CageFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // connectivity
            Self::CopiedTets { tets, copies } => {
                write!(
                    f,
                    "{tets} lattice tets contain separate parts of the solid: {copies} copies keep the parts apart"
                )
            }
            Self::GluedFragments { fragments } => {
                write!(
                    f,
                    "{fragments} fragments of connected shells were disconnected: merged with their neighbours"
                )
            }
            // resolution and volume
            Self::Count { asked, built } => {
                write!(f, "{asked} tets were requested and {built} built: the lattice comes no closer")
            }
            Self::Scaled { factor } => {
                write!(f, "fills at the surface were scaled by {factor:.4} to the volume of the surface")
            }
            // vertices and anchors
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
