//! Virtual node algorithm (Molino2004): the fragments of neighbouring tets merged into one mesh.
//!
//! Every fragment starts with its own four corners, and fragments that share material across a face share its three corners. The
//! cage is connected exactly where the solid is, however coarse the lattice.

use super::cells::{CellKind, Cells};
use super::fragments::{CellFragments, face_points};
use super::lattice::{LatticeTet, TetKey, to_vec};
use crate::disjoint_sets::DisjointSets;
use crate::{Solid, TetMesh};
use rayon::prelude::*;

/// The corners of all fragments, merged where fragments are adjacent. Corner `i` of fragment `p` is element 4p + i of the
/// disjoint sets.
pub(crate) struct VirtualNodes<'a> {
    solid: &'a Solid,
    cells: &'a Cells,
    fragments: &'a [CellFragments],
    /// The index of the first fragment of each cell.
    first: Vec<usize>,
    corners: DisjointSets,
    /// The number of fragments merged afterwards, so that no shell is disconnected.
    pub(crate) glued: usize,
}

/// Pairs of corners of two tets at a common face.
type CornerPairs = [(usize, usize); 3];

/// Two adjacent fragments, and the pairs of corners they share.
type SharedFace = (usize, usize, CornerPairs);

/// The cage mesh, and the tet of every fragment.
pub(crate) struct MergedMesh {
    pub(crate) mesh: TetMesh,
    pub(crate) fragment_tet: Vec<u32>,
    pub(crate) component_count: usize,
    /// Lattice tets that were duplicated, and the number of copies beyond the first.
    pub(crate) copied_count: usize,
    pub(crate) copy_count: usize,
}

impl<'a> VirtualNodes<'a> {
    pub(crate) fn build(solid: &'a Solid, cells: &'a Cells, fragments: &'a [CellFragments]) -> Self {
        let mut first = vec![0];
        for p in fragments {
            first.push(first.last().copied().unwrap_or(0) + p.fragments.len());
        }
        let corner_count = 4 * first.last().copied().unwrap_or(0);
        let mut this =
            Self { solid, cells, fragments, first, corners: DisjointSets::new(corner_count), glued: 0 };
        let shared_faces: Vec<SharedFace> = (0..cells.count())
            .into_par_iter()
            .with_min_len(256)
            .flat_map_iter(|c| {
                let this = &this;
                (0..4).flat_map(move |i| this.shared_faces(c, i))
            })
            .collect();
        for shared in shared_faces {
            this.merge(&shared);
        }
        this
    }

    /// The global index of fragment `p` of cell `c`.
    pub(crate) fn fragment(&self, c: usize, p: u32) -> usize {
        self.first[c] + p as usize
    }

    fn merge(&mut self, (p, q, pairs): &SharedFace) {
        for (i, j) in pairs {
            self.corners.join(4 * p + i, 4 * q + j);
        }
    }

    /// The fragments of cell `c` that are adjacent to fragments of the cell across face `i`; each pair of cells is visited once.
    fn shared_faces(&self, c: usize, i: usize) -> Vec<SharedFace> {
        let Some((d, j, pairs)) = self.across(c, i) else { return Vec::new() };
        let mut met = self.adjacent_fragments(c, i, d, j);
        met.sort_unstable();
        met.dedup();
        met.into_iter().map(|(p, q)| (self.fragment(c, p), self.fragment(d, q), pairs)).collect()
    }

    /// The cell across face `i` of cell `c` if its index is larger, its corner opposite the face, and the pairs of corners at the
    /// face.
    fn across(&self, c: usize, i: usize) -> Option<(usize, usize, CornerPairs)> {
        let key: TetKey = self.cells.keys[c];
        let d = self.cells.cell(key.neighbour(i)).filter(|&d| d > c)?;
        let (mine, theirs) = (LatticeTet::of(key).corners(), LatticeTet::of(self.cells.keys[d]).corners());
        let opposite = (0..4).find(|&j| !mine.contains(&theirs[j]))?;
        let mut pairs = [(0, 0); 3];
        for (slot, a) in core::iter::zip(&mut pairs, (0..4).filter(|&a| a != i)) {
            *slot = (a, theirs.iter().position(|corner| *corner == mine[a])?);
        }
        Some((d, opposite, pairs))
    }

    fn adjacent_fragments(&self, c: usize, i: usize, d: usize, j: usize) -> Vec<(u32, u32)> {
        let (here, there) = (&self.fragments[c], &self.fragments[d]);
        let mut met = self.fragments_sharing_triangles(c, i, d, j);
        match (here.face_fragment.get(i), there.face_fragment.get(j)) {
            (None, None) => {
                if met.is_empty() && self.solid_passes(c, i, d) {
                    met.push((0, 0));
                }
            }
            (Some(mine), None) => met.extend(mine.iter().flatten().map(|&p| (p, 0))),
            (None, Some(theirs)) => met.extend(theirs.iter().flatten().map(|&q| (0, q))),
            (Some(mine), Some(theirs)) => {
                met.extend(core::iter::zip(mine, theirs).filter_map(|(p, q)| p.zip(*q)))
            }
        }
        if met.is_empty() && !self.both_cut(c, d) {
            met.push((here.largest(), there.largest()));
        }
        met
    }

    /// Whether the surface cuts both cells; an uncut cell is connected to all its neighbours.
    fn both_cut(&self, c: usize, d: usize) -> bool {
        self.cells.kinds[c] == CellKind::Cut && self.cells.kinds[d] == CellKind::Cut
    }

    /// Fragments whose surfaces cross the face in a common triangle.
    fn fragments_sharing_triangles(&self, c: usize, i: usize, d: usize, j: usize) -> Vec<(u32, u32)> {
        let (mine, theirs) = (self.cells.cuts(c), self.cells.cuts(d));
        let (mut a, mut b) = (0, 0);
        let mut met = Vec::new();
        while a < mine.len() && b < theirs.len() {
            let (s, t) = (mine[a], theirs[b]);
            if s.triangle == t.triangle && (s.faces >> i & 1 == 1 || t.faces >> j & 1 == 1) {
                met.push((self.fragments[c].cut_fragment[a], self.fragments[d].cut_fragment[b]));
            }
            a += usize::from(s.triangle <= t.triangle);
            b += usize::from(t.triangle <= s.triangle);
        }
        met
    }

    /// Whether the solid passes through a face that no triangle crosses. Such a face is inside or outside as a whole, except at
    /// openings, where one inside sample is enough.
    fn solid_passes(&self, c: usize, i: usize, d: usize) -> bool {
        if !self.both_cut(c, d) {
            return true;
        }
        let points = face_points(&LatticeTet::of(self.cells.keys[c]), i);
        let asked = if self.solid.closed { 1 } else { points.len() };
        points[..asked].iter().any(|p| self.solid.contains(&self.cells.lattice.space_from_lattice(p)))
    }

    /// The connected component of each fragment, and the number of components.
    fn components(&mut self) -> (Vec<u32>, usize) {
        let mut sets = self.corners.clone();
        let fragment_count = self.first.last().copied().unwrap_or(0);
        for p in 0..fragment_count {
            (1..4).for_each(|i| sets.join(4 * p, 4 * p + i));
        }
        let (of, count) = sets.number();
        ((0..fragment_count).map(|p| of[4 * p]).collect(), count)
    }

    /// Merges fragments of one surface shell that are in several components: first within a tet, then, if that is not enough,
    /// across faces.
    pub(crate) fn glue_shells(&mut self) {
        for across_faces in [false, true, true] {
            let (component, count) = self.components();
            if count <= 1 {
                return;
            }
            let shells = self.fragments_of_shells();
            let disconnected: Vec<(u32, usize)> = shells
                .chunk_by(|a, b| a.0 == b.0)
                .filter(|shell| shell.iter().any(|s| component[s.1] != component[shell[0].1]))
                .flatten()
                .copied()
                .collect();
            if disconnected.is_empty() {
                return;
            }
            self.glue(&disconnected, &component, across_faces);
        }
    }

    /// (shell, fragment) of all triangles, sorted and without duplicates.
    fn fragments_of_shells(&self) -> Vec<(u32, usize)> {
        let mut found: Vec<(u32, usize)> = (0..self.cells.count())
            .flat_map(|c| {
                core::iter::zip(self.cells.cuts(c), &self.fragments[c].cut_fragment).map(move |(cut, &p)| {
                    (self.solid.triangle_shell[cut.triangle as usize], self.fragment(c, p))
                })
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn glue(&mut self, disconnected: &[(u32, usize)], component: &[u32], across_faces: bool) {
        let cell_of = |first: &[usize], p: usize| first.partition_point(|&f| f <= p) - 1;
        for k in 1..disconnected.len() {
            let ((shell, p), (other, q)) = (disconnected[k - 1], disconnected[k]);
            let apart = shell == other && component[p] != component[q];
            if apart && cell_of(&self.first, p) == cell_of(&self.first, q) {
                (0..4).for_each(|i| self.corners.join(4 * p + i, 4 * q + i));
                self.glued += 1;
            }
        }
        if across_faces {
            for &(shell, p) in disconnected {
                let c = cell_of(&self.first, p);
                for i in 0..4 {
                    let Some((d, _, pairs)) = self.across(c, i) else { continue };
                    for q in self.first[d]..self.first[d + 1] {
                        if component[p] != component[q] && disconnected.binary_search(&(shell, q)).is_ok() {
                            self.merge(&(p, q, pairs));
                            self.glued += 1;
                        }
                    }
                }
            }
        }
    }

    /// Numbers nodes and tets in a sweep along the longest side of the cage, so that a pass over them accesses memory in order.
    /// (With Morton order a force evaluation of a million tets took a quarter longer.) Fragments of one cell that share all
    /// corners become one tet.
    pub(crate) fn into_mesh(mut self) -> MergedMesh {
        let (_, component_count) = self.components();
        let (node_of, node_count) = self.corners.number();

        // lattice position of each node
        let mut position = vec![[0; 3]; node_count];
        for c in 0..self.cells.count() {
            let corners = LatticeTet::of(self.cells.keys[c]).corners();
            for p in self.first[c]..self.first[c + 1] {
                for i in 0..4 {
                    position[node_of[4 * p + i] as usize] = corners[i];
                }
            }
        }

        // node numbers in sweep order
        let axes = axes_by_extent(&position);
        let mut order: Vec<u32> = (0..node_count as u32).collect();
        order.sort_by_key(|&n| (axes.map(|axis| position[n as usize][axis]), n));
        let mut number = vec![0; node_count];
        for (n, &old) in order.iter().enumerate() {
            number[old as usize] = n as u32;
        }

        let lattice = self.cells.lattice;
        let nodes =
            order.iter().map(|&n| lattice.space_from_lattice(&to_vec(position[n as usize]))).collect();

        // one tet per fragment, equal ones merged
        let mut mesh = TetMesh { nodes, tets: Vec::new() };
        let mut fragment_tet = Vec::new();
        let (mut copied_count, mut copy_count) = (0, 0);
        for c in 0..self.cells.count() {
            let first_tet = mesh.tets.len();
            for p in self.first[c]..self.first[c + 1] {
                let tet = [0, 1, 2, 3].map(|i| number[node_of[4 * p + i] as usize]);
                let same = mesh.tets[first_tet..].iter().position(|t| *t == tet);
                fragment_tet.push((first_tet + same.unwrap_or(mesh.tets.len() - first_tet)) as u32);
                if same.is_none() {
                    mesh.tets.push(tet);
                }
            }
            let copies = (mesh.tets.len() - first_tet).saturating_sub(1);
            copied_count += usize::from(copies > 0);
            copy_count += copies;
        }
        sort_by_first_node(&mut mesh, &mut fragment_tet);
        MergedMesh { mesh, fragment_tet, component_count, copied_count, copy_count }
    }
}

/// The axes by extent, the longest first.
fn axes_by_extent(positions: &[[i32; 3]]) -> [usize; 3] {
    let reach = |axis: usize| {
        let along = || positions.iter().map(|position| position[axis]);
        along().max().unwrap_or(0) - along().min().unwrap_or(0)
    };
    let mut axes = [0, 1, 2];
    axes.sort_by_key(|&axis| (-reach(axis), axis));
    axes
}

/// Sorts tets by their lowest node.
fn sort_by_first_node(mesh: &mut TetMesh, fragment_tet: &mut [u32]) {
    let first_node = |tet: &[u32; 4]| tet.iter().copied().min();
    let mut order: Vec<u32> = (0..mesh.tets.len() as u32).collect();
    order.sort_by_key(|&t| (first_node(&mesh.tets[t as usize]), t));
    let mut number = vec![0; order.len()];
    for (t, &old) in order.iter().enumerate() {
        number[old as usize] = t as u32;
    }
    mesh.tets = order.iter().map(|&t| mesh.tets[t as usize]).collect();
    fragment_tet.iter_mut().for_each(|t| *t = number[*t as usize]);
}
