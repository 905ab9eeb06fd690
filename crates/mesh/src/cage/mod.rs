//! A coarse cage of tets around a solid, in which its fine surface rides.
//!
//! The one idea: tets come from a regular lattice, so they are well shaped whatever the surface is
//! like, and what the lattice cannot see (how much of a tet is solid, which parts of the solid only
//! seem to touch) is kept beside it: fills, corner volumes and copies of tets. KimPollard2011, §4.

mod cells;
mod clip;
mod filling;
mod finding;
mod joining;
pub(crate) mod lattice;
mod links;
mod pieces;
mod sight;
mod sizing;

pub use filling::filling_full;
pub use finding::CageFinding;
pub use sizing::CageSize;

use crate::{Embedding, Solid, TetMesh};
use cells::{CellKind, Cells};
use joining::{Joined, Joining};
use lattice::{Frame, TetKey};
use pieces::{Piece, Pieces};
use rayon::prelude::*;
use sinew_math::Vec3;

/// A cage: what is simulated in place of the surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Cage {
    /// Lattice tets, each node used, ordered by place.
    pub mesh: TetMesh,
    /// The share of each tet that is solid, in (0, 1] (KimPollard2011, eq. 11).
    pub fill: Vec<f64>,
    /// ∫ φᵢ dV over the solid in each tet, per corner (m³): times the density, summed over tets, the
    /// mass of a node (KimPollard2011, eq. 10). The four sum to fill × volume of the tet.
    pub corner_volume: Vec<[f64; 4]>,
    /// The surface's vertices, in the caller's order, in the cage's nodes.
    pub embedding: Embedding,
    /// Edge of the lattice's cubes (m).
    pub edge: f64,
    /// How many parts hang together.
    pub component_count: usize,
    /// What is worth knowing about the build.
    pub findings: Vec<CageFinding>,
}

/// Why no cage can be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CageError {
    /// The edge makes no sense.
    #[error(
        "a cage edge of {edge:.2e} m is asked for: give one above zero and up to {widest:.2e} m, four times the solid"
    )]
    Edge {
        /// The edge asked for (m).
        edge: f64,
        /// The largest that is taken (m).
        widest: f64,
    },
    /// No tets are asked for.
    #[error("a cage of 0 tets is asked for: give at least 1, a few thousand are usual")]
    NoTets,
    /// More tets than fit in memory.
    #[error(
        "the cage would take about {count:.0} tets (edge {edge:.2e} m), more than {limit}: \
         an edge of {coarsest:.2e} m would do"
    )]
    TooManyTets {
        /// Tets foretold or asked for.
        count: f64,
        /// The edge asked for (m), 0 if a count was.
        edge: f64,
        /// The most that are built.
        limit: usize,
        /// An edge (m) that stays below the limit.
        coarsest: f64,
    },
}

/// The most tets of a cage: some 7 GB while building.
pub(crate) const TET_LIMIT: usize = 20_000_000;

/// A count this near the one asked for (as a share of it) is not worth a word.
const COUNT_SLACK: f64 = 0.05;

/// Times a cage is built anew because copies took its count off.
const COPY_ROUNDS: usize = 2;

impl Cage {
    /// Builds a cage around a solid.
    pub fn build(solid: &Solid, size: CageSize) -> Result<Self, CageError> {
        let mut best = Self::around(solid, sizing::cells_of(solid, size)?);
        if let CageSize::Tets(asked) = size {
            // copies of tets count too, and are only known afterwards
            for _ in 0..COPY_ROUNDS {
                if best.count_error(asked) <= COUNT_SLACK {
                    break;
                }
                let fewer = (asked as f64 * asked as f64 / best.mesh.tets.len() as f64).max(1.0);
                let cage = Self::around(solid, sizing::cells_of(solid, CageSize::Tets(fewer as usize))?);
                if cage.count_error(asked) >= best.count_error(asked) {
                    break;
                }
                best = cage;
            }
            if best.count_error(asked) > COUNT_SLACK {
                best.findings.insert(0, CageFinding::Count { asked, built: best.mesh.tets.len() });
            }
        }
        Ok(best)
    }

    fn around(solid: &Solid, cells: Cells) -> Self {
        // what is in each tet of the lattice
        let pieces: Vec<Pieces> = (0..cells.count())
            .into_par_iter()
            .with_min_len(16)
            .map(|c| Pieces::find(solid, &cells, c))
            .collect();

        // what hangs together
        let mut joining = Joining::build(solid, &cells, &pieces);
        joining.glue_shells();
        let glued = joining.glued;
        let joined = joining.into_mesh();

        // what it weighs, and what rides in it
        let mut fills = tet_fills(&pieces, &joined);
        let scaled = scale_to_volume(solid, &cells, &pieces, &joined, &mut fills);
        let (embedding, outside) = embed(solid, &cells, &pieces, &joined);

        Self {
            findings: finding::find(&joined, glued, outside, scaled),
            fill: fills.iter().map(|p| p.fill).collect(),
            corner_volume: fills.iter().map(|p| p.corner_volume(cells.lattice.tet_volume())).collect(),
            mesh: joined.mesh,
            embedding,
            edge: cells.lattice.edge,
            component_count: joined.component_count,
        }
    }

    /// How far the count of tets is from the one asked for, as a share of it.
    fn count_error(&self, asked: usize) -> f64 {
        (self.mesh.tets.len() as f64 / asked as f64 - 1.0).abs()
    }

    /// The volume of the solid in the cage (m³).
    pub fn solid_volume(&self) -> f64 {
        self.corner_volume.iter().map(|c| c.iter().sum::<f64>()).sum()
    }

    /// The volume of solid each node carries (m³): times the density, its mass.
    pub fn node_volume(&self) -> Vec<f64> {
        let mut volume = vec![0.0; self.mesh.nodes.len()];
        for (tet, corners) in core::iter::zip(&self.mesh.tets, &self.corner_volume) {
            for i in 0..4 {
                volume[tet[i] as usize] += corners[i];
            }
        }
        volume
    }
}

/// The fill of each tet: the sum over its pieces, no more than full.
fn tet_fills(pieces: &[Pieces], joined: &Joined) -> Vec<Piece> {
    let mut fills = vec![Piece::default(); joined.mesh.tets.len()];
    for (piece, &tet) in core::iter::zip(pieces.iter().flat_map(|p| &p.pieces), &joined.piece_tet) {
        let sum = &mut fills[tet as usize];
        sum.fill += piece.fill;
        sum.corners = [0, 1, 2, 3].map(|i| sum.corners[i] + piece.corners[i]);
    }
    fills.iter_mut().for_each(|f| f.scale(1.0));
    fills
}

impl Piece {
    /// The corners' volumes (m³) in a tet of the given volume (m³), none too light.
    fn corner_volume(&self, tet_volume: f64) -> [f64; 4] {
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
fn scale_to_volume(
    solid: &Solid,
    cells: &Cells,
    pieces: &[Pieces],
    joined: &Joined,
    fills: &mut [Piece],
) -> Option<f64> {
    if !solid.is_closed() || solid.overlaps() {
        return None;
    }
    let mut is_full = vec![false; fills.len()];
    let mut at = 0;
    for (c, cell) in pieces.iter().enumerate() {
        for _ in &cell.pieces {
            is_full[joined.piece_tet[at] as usize] = cells.kinds[c] == CellKind::Full;
            at += 1;
        }
    }
    let full = is_full.iter().filter(|&&f| f).count() as f64;
    let wanted = solid.volume() / cells.lattice.tet_volume() - full;
    let mut factor = 1.0;
    // tets that become full pass the rest on to the others
    for _ in 0..4 {
        let cut: f64 =
            core::iter::zip(&*fills, &is_full).filter(|(_, full)| !**full).map(|(f, _)| f.fill).sum();
        if !(wanted > 0.0 && cut > 0.0) || (wanted / cut - 1.0).abs() < 1e-12 {
            break;
        }
        factor *= wanted / cut;
        core::iter::zip(&mut *fills, &is_full)
            .filter(|(_, full)| !**full)
            .for_each(|(f, _)| f.scale(wanted / cut));
    }
    Some(factor)
}

/// Puts every vertex in the tet that holds it, in the copy with its triangle. Also counts the
/// vertices outside the cage.
fn embed(solid: &Solid, cells: &Cells, pieces: &[Pieces], joined: &Joined) -> (Embedding, usize) {
    let mut triangle_of = vec![u32::MAX; solid.vertices.len()];
    for (t, corners) in solid.triangles.iter().enumerate().rev() {
        corners.iter().for_each(|&v| triangle_of[v as usize] = t as u32);
    }
    let mut first = vec![0];
    for p in pieces {
        first.push(first.last().copied().unwrap_or(0) + p.pieces.len());
    }
    let place = |v: usize| -> (usize, [f64; 4], bool) {
        let p = cells.vertices[v];
        let (cell, held) = match TetKey::holding(&p).and_then(|key| cells.cell(key)) {
            Some(cell) => (cell, true),
            None => (nearest_cell(cells, &p), false),
        };
        let cut = cells.cuts(cell).binary_search_by_key(&triangle_of[v], |cut| cut.triangle);
        let piece = cut.map_or(0, |k| pieces[cell].cut_piece[k] as usize);
        (first[cell] + piece, Frame::of(cells.keys[cell]).barycentric(&p), held)
    };
    let placed: Vec<(usize, [f64; 4], bool)> =
        (0..solid.vertex_count).into_par_iter().with_min_len(1024).map(place).collect();
    let outside = placed.iter().filter(|p| !p.2).count();
    let points: Vec<([u32; 4], [f64; 4])> = placed
        .into_iter()
        .map(|(piece, weights, _)| (joined.mesh.tets[joined.piece_tet[piece] as usize], weights))
        .collect();
    (Embedding::from_barycentric(joined.mesh.nodes.len(), &points), outside)
}

/// A cell near a point outside the cage: the nearest of a few hundred, for points that carry nothing.
fn nearest_cell(cells: &Cells, p: &Vec3) -> usize {
    let distance = |c: &usize| (Frame::of(cells.keys[*c]).point(&[0.25; 4]) - p).norm_squared();
    let spread = (0..cells.count()).step_by(cells.count().div_ceil(256).max(1));
    spread.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}
