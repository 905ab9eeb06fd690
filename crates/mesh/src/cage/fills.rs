//! How full each tet of a cage is.
//!
//! The one idea: pieces say which fractions of their tets are solid; for a closed surface the volume is known, and the fractions of the
//! tets it cuts are scaled to it.

use super::cells::{CellKind, Cells};
use super::filling;
use super::joining::Joined;
use super::pieces::{Piece, Pieces};
use crate::Solid;

/// How full a tet is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TetFill {
    pub(crate) piece: Piece,
    /// Whether the tet lies inside, and scaling leaves it alone.
    pub(crate) is_full: bool,
    /// The volume of the tet in units of an undisturbed one's.
    pub(crate) bulk: f64,
}

/// The fill of each tet: the sum over its pieces, no more than full.
pub(crate) fn find(cells: &Cells, pieces: &[Pieces], joined: &Joined) -> Vec<TetFill> {
    let empty = TetFill { piece: Piece::default(), is_full: false, bulk: 1.0 };
    let mut fills = vec![empty; joined.mesh.tets.len()];
    let mut at = 0;
    for (c, cell) in pieces.iter().enumerate() {
        for piece in &cell.pieces {
            let sum = &mut fills[joined.piece_tet[at] as usize];
            sum.piece.fill += piece.fill;
            sum.piece.corners = [0, 1, 2, 3].map(|i| sum.piece.corners[i] + piece.corners[i]);
            sum.is_full = cells.kinds[c] == CellKind::Full;
            at += 1;
        }
    }
    fills.iter_mut().for_each(|f| f.piece.scale(1.0));
    fills
}

impl Piece {
    /// The corners' volumes (m³) in a tet of the given volume (m³), none too light.
    pub(crate) fn corner_volume(&self, tet_volume: f64) -> [f64; 4] {
        let mut corners = self.corners.map(|c| c * tet_volume);
        filling::raise_light_corners(&mut corners);
        corners
    }

    /// Scales the fill, up to full at most.
    fn scale(&mut self, factor: f64) {
        let factor = factor.min(1.0 / self.fill);
        self.fill *= factor;
        self.corners = self.corners.map(|c| factor * c);
    }
}

/// Scales the fills of cut tets so that all fills sum to the volume of a closed surface. Where parts
/// overlap, or holes are open, the surface does not tell the volume and samples have the last word.
pub(crate) fn scale_to_volume(solid: &Solid, cells: &Cells, fills: &mut [TetFill]) -> Option<f64> {
    if !solid.is_closed() || solid.overlaps() {
        return None;
    }
    let full: f64 = fills.iter().filter(|f| f.is_full).map(|f| f.bulk).sum();
    let wanted = solid.volume() / cells.lattice.tet_volume() - full;
    let mut factor = 1.0;
    // tets that become full pass the rest on to the others
    for _ in 0..4 {
        let cut: f64 = fills.iter().filter(|f| !f.is_full).map(|f| f.bulk * f.piece.fill).sum();
        if !(wanted > 0.0 && cut > 0.0) || (wanted / cut - 1.0).abs() < 1e-12 {
            break;
        }
        factor *= wanted / cut;
        fills.iter_mut().filter(|f| !f.is_full).for_each(|f| f.piece.scale(wanted / cut));
    }
    Some(factor)
}
