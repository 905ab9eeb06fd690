//! A coarse cage of tets around a solid, in which its fine surface rides.
//!
//! The one idea: tets come from a regular lattice, so they are well shaped whatever the surface is
//! like, and what the lattice cannot see (how much of a tet is solid, which parts of the solid only
//! seem to touch) is kept beside it: fills, corner volumes and copies of tets. KimPollard2011, §4.

mod anchors;
mod cells;
mod clip;
mod filling;
mod fills;
mod finding;
mod joining;
pub(crate) mod lattice;
mod links;
mod pieces;
mod riders;
mod sizing;
mod visibility;

pub use filling::full_fill;
pub use finding::CageFinding;
pub use sizing::CageSize;

use crate::{Embedding, Solid, TetMesh};
use cells::Cells;
use joining::Joining;
use pieces::Pieces;
use rayon::prelude::*;
use riders::Places;
use sinew_math::Vec3;

/// A cage: what is simulated in place of the surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Cage {
    /// Lattice tets, each node used, ordered by place; nodes on anchors are off the lattice.
    pub mesh: TetMesh,
    /// The fraction of each tet that is solid, in (0, 1] (KimPollard2011, eq. 11).
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
    /// The node on each anchor asked for, if it got one; its position is the anchor's to the bit.
    pub anchor_nodes: Vec<Option<u32>>,
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

/// A count this near the one asked for (as a fraction of it) is not worth a word.
const COUNT_SLACK: f64 = 0.05;

/// Times a cage is built anew because copies took its count off.
const COPY_ROUNDS: usize = 2;

impl Cage {
    /// Builds a cage around a solid.
    pub fn build(solid: &Solid, size: CageSize) -> Result<Self, CageError> {
        Self::build_with_anchors(solid, size, &[])
    }

    /// Builds a cage around a solid with nodes exactly on given points (m), such as those of bones.
    ///
    /// The nearest node moves onto each anchor, the nearest pair first, if the node is not at the outside of the cage and no
    /// tet ends up below a fifth of its regular shape (volume over cubed longest edge). How many anchors got none stands in
    /// [`Self::findings`]; anchors an edge and a half apart or more are seldom in each other's way. A node that comes from farthest
    /// leaves a tet a quarter of its height, which may make the stable step four times shorter.
    pub fn build_with_anchors(solid: &Solid, size: CageSize, anchors: &[Vec3]) -> Result<Self, CageError> {
        let mut best = Self::around(solid, sizing::cells_of(solid, size)?, anchors);
        if let CageSize::Tets(asked) = size {
            // copies of tets count too, and are only known afterwards
            for _ in 0..COPY_ROUNDS {
                if best.count_error(asked) <= COUNT_SLACK {
                    break;
                }
                let fewer = (asked as f64 * asked as f64 / best.mesh.tets.len() as f64).max(1.0);
                let cage =
                    Self::around(solid, sizing::cells_of(solid, CageSize::Tets(fewer as usize))?, anchors);
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

    fn around(solid: &Solid, cells: Cells, anchors: &[Vec3]) -> Self {
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
        let mut joined = joining.into_mesh();

        // what it weighs, what rides in it, and where nodes are wanted
        let mut fills = fills::find(&cells, &pieces, &joined);
        let places = Places::new(solid, &cells, &pieces, &joined.piece_tet);
        let mut riders = places.riders();
        let anchor_nodes = anchors::move_nodes(&places, anchors, &mut joined.mesh, &mut riders, &mut fills);
        let scaled = fills::scale_to_volume(solid, &cells, &mut fills);
        let (embedding, outside) = riders::embed(&joined, &riders);

        let mut findings = finding::find(&joined, glued, outside, scaled);
        findings.extend(finding::of_anchors(&anchor_nodes));
        let tet_volume = cells.lattice.tet_volume();
        Self {
            findings,
            fill: fills.iter().map(|f| f.piece.fill).collect(),
            corner_volume: fills.iter().map(|f| f.piece.corner_volume(f.bulk * tet_volume)).collect(),
            mesh: joined.mesh,
            embedding,
            edge: cells.lattice.edge,
            component_count: joined.component_count,
            anchor_nodes,
        }
    }

    /// How far the count of tets is from the one asked for, as a fraction of it.
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
