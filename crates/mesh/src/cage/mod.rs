//! Embedding cage: a coarse tetrahedral mesh around a solid, in which its fine surface is embedded.
//!
//! The tets come from a regular lattice, so they are well shaped whatever the surface is like. What the lattice does not resolve
//! is stored with it: the fill of each tet, corner volumes, and duplicated tets where separate parts of the solid are close
//! (KimPollard2011, §4).

mod anchors;
mod cells;
mod clip;
mod fill_sampling;
mod finding;
mod fragments;
pub(crate) mod lattice;
mod patch_connectivity;
mod sizing;
mod tet_fill;
mod tet_locator;
mod virtual_nodes;
mod visibility;

pub use fill_sampling::full_fill;
pub use finding::CageFinding;
pub use sizing::CageSize;

use crate::{Embedding, Solid, TetMesh};
use cells::Cells;
use fragments::CellFragments;
use rayon::prelude::*;
use sinew_math::Vec3;
use tet_locator::TetLocator;
use virtual_nodes::VirtualNodes;

/// A tetrahedral cage: the simulation mesh of a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Cage {
    /// Lattice tets, sorted along the longest side; every node is used. Nodes on anchors are off the lattice.
    pub mesh: TetMesh,
    /// The fraction of each tet that is solid, in (0, 1] (KimPollard2011, eq. 11).
    pub fill: Vec<f64>,
    /// ∫ φᵢ dV over the solid in each tet, per corner (m³): times the density and summed over tets, the mass of a node
    /// (KimPollard2011, eq. 10). The four sum to fill × volume of the tet.
    pub corner_volume: Vec<[f64; 4]>,
    /// The vertices of the surface, in the caller's order, as weighted sums of cage nodes.
    pub embedding: Embedding,
    /// Edge of the lattice cubes (m).
    pub edge: f64,
    /// The number of connected components.
    pub component_count: usize,
    /// The node of each anchor, if it got one; its position is exactly the anchor's.
    pub anchor_nodes: Vec<Option<u32>>,
    /// Diagnostics of the build.
    pub findings: Vec<CageFinding>,
}

/// Why no cage can be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CageError {
    /// The edge is not positive or too large.
    #[error(
        "the cage edge is {edge:.2e} m: give one above zero and up to {widest:.2e} m, four times the size of the solid"
    )]
    Edge {
        /// The requested edge (m).
        edge: f64,
        /// The largest edge accepted (m).
        widest: f64,
    },
    /// Zero tets were requested.
    #[error("the cage has 0 tets: ask for at least 1, a few thousand are usual")]
    NoTets,
    /// The cage would exceed the limit on tets.
    #[error(
        "the cage would take about {count:.0} tets (edge {edge:.2e} m), more than {limit}: \
         an edge of {coarsest:.2e} m would do"
    )]
    TooManyTets {
        /// Tets estimated or requested.
        count: f64,
        /// The requested edge (m), 0 if a number of tets was requested.
        edge: f64,
        /// The limit.
        limit: usize,
        /// An edge (m) that stays below the limit.
        coarsest: f64,
    },
}

/// The maximum number of tets of a cage: some 7 GB while building.
pub(crate) const TET_LIMIT: usize = 20_000_000;

/// A relative error of the number of tets below this is not reported.
const COUNT_TOLERANCE: f64 = 0.05;

/// The maximum number of rebuilds because duplicated tets changed the count.
const MAX_REBUILDS: usize = 2;

impl Cage {
    /// Builds a cage around a solid.
    pub fn build(solid: &Solid, size: CageSize) -> Result<Self, CageError> {
        Self::build_with_anchors(solid, size, &[])
    }

    /// Builds a cage around a solid with nodes exactly on given points (m), such as joints of bones.
    ///
    /// The nearest node moves onto each anchor, the nearest pair first, if it is an interior node of the cage and no tet falls
    /// below a fifth of its regular quality (volume over cubed longest edge). [`Self::findings`] reports how many anchors got no
    /// node; anchors at least one and a half edges apart rarely compete. A node that moves the farthest leaves a tet a quarter of
    /// its height, which may make the stable step four times shorter.
    pub fn build_with_anchors(solid: &Solid, size: CageSize, anchors: &[Vec3]) -> Result<Self, CageError> {
        let mut best = Self::around(solid, sizing::cells_of(solid, size)?, anchors);
        if let CageSize::Tets(asked) = size {
            // duplicated tets count too, and are only known afterwards
            for _ in 0..MAX_REBUILDS {
                if best.count_error(asked) <= COUNT_TOLERANCE {
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
            if best.count_error(asked) > COUNT_TOLERANCE {
                best.findings.insert(0, CageFinding::Count { asked, built: best.mesh.tets.len() });
            }
        }
        Ok(best)
    }

    fn around(solid: &Solid, cells: Cells, anchors: &[Vec3]) -> Self {
        // the fragments of the solid in each lattice tet
        let fragments: Vec<CellFragments> = (0..cells.count())
            .into_par_iter()
            .with_min_len(16)
            .map(|c| CellFragments::find(solid, &cells, c))
            .collect();

        // the mesh, connected where the solid is
        let mut virtual_nodes = VirtualNodes::build(solid, &cells, &fragments);
        virtual_nodes.glue_shells();
        let glued = virtual_nodes.glued;
        let mut joined = virtual_nodes.into_mesh();

        // fills, embedded vertices and anchors
        let mut fills = tet_fill::find(&cells, &fragments, &joined);
        let locator = TetLocator::new(solid, &cells, &fragments, &joined.fragment_tet);
        let mut embedded = locator.embed_vertices();
        let anchor_nodes =
            anchors::move_nodes(&locator, anchors, &mut joined.mesh, &mut embedded, &mut fills);
        let scaled = tet_fill::scale_to_volume(solid, &cells, &mut fills);
        let (embedding, outside) = tet_locator::embed(&joined, &embedded);

        let mut findings = finding::find(&joined, glued, outside, scaled);
        findings.extend(finding::of_anchors(&anchor_nodes));
        let tet_volume = cells.lattice.tet_volume();
        Self {
            findings,
            fill: fills.iter().map(|f| f.fragment.fill).collect(),
            corner_volume: fills
                .iter()
                .map(|f| f.fragment.corner_volume(f.relative_volume * tet_volume))
                .collect(),
            mesh: joined.mesh,
            embedding,
            edge: cells.lattice.edge,
            component_count: joined.component_count,
            anchor_nodes,
        }
    }

    /// The relative error of the number of tets.
    fn count_error(&self, asked: usize) -> f64 {
        (self.mesh.tets.len() as f64 / asked as f64 - 1.0).abs()
    }

    /// The volume of the solid in the cage (m³).
    pub fn solid_volume(&self) -> f64 {
        self.corner_volume.iter().map(|c| c.iter().sum::<f64>()).sum()
    }

    /// The volume of solid of each node (m³): times the density, its mass.
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
