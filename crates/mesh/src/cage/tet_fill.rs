//! Fill fractions of the tets of a cage, scaled to the volume of a closed surface.
//!
//! The fill of a tet is the sum over its fragments. For a closed surface the volume is known exactly, and the sampled fills of cut tets are
//! scaled to match it.

use super::cells::{CellKind, Cells};
use super::fill_sampling;
use super::fragments::{CellFragments, Fragment};
use super::virtual_nodes::MergedMesh;
use crate::Solid;

/// The fill of one tet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TetFill {
    pub(crate) fragment: Fragment,
    /// Whether the tet lies inside the solid; then scaling leaves it unchanged.
    pub(crate) is_full: bool,
    /// The volume of the tet relative to a lattice tet.
    pub(crate) relative_volume: f64,
}

/// The fill of each tet: the sum over its fragments, at most 1.
pub(crate) fn find(cells: &Cells, fragments: &[CellFragments], joined: &MergedMesh) -> Vec<TetFill> {
    let empty = TetFill { fragment: Fragment::default(), is_full: false, relative_volume: 1.0 };
    let mut fills = vec![empty; joined.mesh.tets.len()];
    let mut at = 0;
    for (c, cell) in fragments.iter().enumerate() {
        for fragment in &cell.fragments {
            let sum = &mut fills[joined.fragment_tet[at] as usize];
            sum.fragment.fill += fragment.fill;
            sum.fragment.corners = [0, 1, 2, 3].map(|i| sum.fragment.corners[i] + fragment.corners[i]);
            sum.is_full = cells.kinds[c] == CellKind::Full;
            at += 1;
        }
    }
    fills.iter_mut().for_each(|f| f.fragment.scale(1.0));
    fills
}

impl Fragment {
    /// The corner volumes (m³) in a tet of the given volume (m³), bounded from below.
    pub(crate) fn corner_volume(&self, tet_volume: f64) -> [f64; 4] {
        let mut corners = self.corners.map(|c| c * tet_volume);
        fill_sampling::raise_light_corners(&mut corners);
        corners
    }

    /// Scales the fill, to at most 1.
    fn scale(&mut self, factor: f64) {
        let factor = factor.min(1.0 / self.fill);
        self.fill *= factor;
        self.corners = self.corners.map(|c| factor * c);
    }
}

/// Scales the fills of cut tets so that all fills sum to the volume of a closed surface; returns the factor. Where shells overlap or holes
/// are open, the surface does not determine the volume, and the sampled fills stay.
pub(crate) fn scale_to_volume(solid: &Solid, cells: &Cells, fills: &mut [TetFill]) -> Option<f64> {
    if !solid.is_closed() || solid.overlaps() {
        return None;
    }
    let full: f64 = fills.iter().filter(|f| f.is_full).map(|f| f.relative_volume).sum();
    let wanted = solid.volume() / cells.lattice.tet_volume() - full;
    let mut factor = 1.0;
    // tets that reach 1 pass the excess on to the others
    for _ in 0..4 {
        let cut: f64 = fills.iter().filter(|f| !f.is_full).map(|f| f.relative_volume * f.fragment.fill).sum();
        if !(wanted > 0.0 && cut > 0.0) || (wanted / cut - 1.0).abs() < 1e-12 {
            break;
        }
        factor *= wanted / cut;
        fills.iter_mut().filter(|f| !f.is_full).for_each(|f| f.fragment.scale(wanted / cut));
    }
    Some(factor)
}
