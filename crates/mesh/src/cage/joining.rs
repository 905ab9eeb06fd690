//! Pieces of neighbouring tets made into one mesh.
//!
//! The one idea (virtual nodes, Molino2004): every piece brings its own four corners, and pieces that
//! meet at a face share the three corners of it. What hangs together in the solid hangs together in
//! the cage, and what does not, does not, however coarse the lattice.

use super::cells::{CellKind, Cells};
use super::lattice::{Frame, TetKey, to_vec};
use super::pieces::{Pieces, face_points};
use crate::disjoint_sets::DisjointSets;
use crate::{Solid, TetMesh};
use rayon::prelude::*;

/// The corners of all pieces, merged where pieces meet. Corner `i` of piece `p` is member 4p + i.
pub(crate) struct Joining<'a> {
    solid: &'a Solid,
    cells: &'a Cells,
    pieces: &'a [Pieces],
    /// The number of each cell's first piece.
    first: Vec<usize>,
    corners: DisjointSets,
    /// Pieces glued after the fact, so that no shell falls apart.
    pub(crate) glued: usize,
}

/// Pairs of corners of two tets at a common face.
type CornerPairs = [(usize, usize); 3];

/// Two pieces that meet, and the pairs of corners they share.
type Meeting = (usize, usize, CornerPairs);

/// The mesh, and the tet of every piece.
pub(crate) struct Joined {
    pub(crate) mesh: TetMesh,
    pub(crate) piece_tet: Vec<u32>,
    pub(crate) component_count: usize,
    /// Lattice tets with copies, and all copies beyond the first.
    pub(crate) copied_count: usize,
    pub(crate) copy_count: usize,
}

impl<'a> Joining<'a> {
    pub(crate) fn build(solid: &'a Solid, cells: &'a Cells, pieces: &'a [Pieces]) -> Self {
        let mut first = vec![0];
        for p in pieces {
            first.push(first.last().copied().unwrap_or(0) + p.pieces.len());
        }
        let corner_count = 4 * first.last().copied().unwrap_or(0);
        let mut this =
            Self { solid, cells, pieces, first, corners: DisjointSets::new(corner_count), glued: 0 };
        let meetings: Vec<Meeting> = (0..cells.count())
            .into_par_iter()
            .with_min_len(256)
            .flat_map_iter(|c| {
                let this = &this;
                (0..4).flat_map(move |i| this.meetings(c, i))
            })
            .collect();
        for meeting in meetings {
            this.merge(&meeting);
        }
        this
    }

    /// The number of piece `p` of cell `c` among all pieces.
    pub(crate) fn piece(&self, c: usize, p: u32) -> usize {
        self.first[c] + p as usize
    }

    fn merge(&mut self, (p, q, pairs): &Meeting) {
        for (i, j) in pairs {
            self.corners.join(4 * p + i, 4 * q + j);
        }
    }

    /// The pieces of cell `c` that meet pieces of the cell across face `i`, each pair of cells once.
    fn meetings(&self, c: usize, i: usize) -> Vec<Meeting> {
        let Some((d, j, pairs)) = self.across(c, i) else { return Vec::new() };
        let mut met = self.pieces_met(c, i, d, j);
        met.sort_unstable();
        met.dedup();
        met.into_iter().map(|(p, q)| (self.piece(c, p), self.piece(d, q), pairs)).collect()
    }

    /// The cell across face `i` of cell `c` if it comes later, its corner opposite the face, and the
    /// pairs of corners at the face.
    fn across(&self, c: usize, i: usize) -> Option<(usize, usize, CornerPairs)> {
        let key: TetKey = self.cells.keys[c];
        let d = self.cells.cell(key.neighbour(i)).filter(|&d| d > c)?;
        let (mine, theirs) = (Frame::of(key).corners(), Frame::of(self.cells.keys[d]).corners());
        let opposite = (0..4).find(|&j| !mine.contains(&theirs[j]))?;
        let mut pairs = [(0, 0); 3];
        for (slot, a) in core::iter::zip(&mut pairs, (0..4).filter(|&a| a != i)) {
            *slot = (a, theirs.iter().position(|corner| *corner == mine[a])?);
        }
        Some((d, opposite, pairs))
    }

    fn pieces_met(&self, c: usize, i: usize, d: usize, j: usize) -> Vec<(u32, u32)> {
        let (here, there) = (&self.pieces[c], &self.pieces[d]);
        let mut met = self.pieces_met_by_triangles(c, i, d, j);
        match (here.face_piece.get(i), there.face_piece.get(j)) {
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

    /// Whether the surface passes through both cells; a cell without surface hangs on all around it.
    fn both_cut(&self, c: usize, d: usize) -> bool {
        self.cells.kinds[c] == CellKind::Cut && self.cells.kinds[d] == CellKind::Cut
    }

    /// Pieces whose surface crosses the face in one triangle.
    fn pieces_met_by_triangles(&self, c: usize, i: usize, d: usize, j: usize) -> Vec<(u32, u32)> {
        let (mine, theirs) = (self.cells.cuts(c), self.cells.cuts(d));
        let (mut a, mut b) = (0, 0);
        let mut met = Vec::new();
        while a < mine.len() && b < theirs.len() {
            let (s, t) = (mine[a], theirs[b]);
            if s.triangle == t.triangle && (s.faces >> i & 1 == 1 || t.faces >> j & 1 == 1) {
                met.push((self.pieces[c].cut_piece[a], self.pieces[d].cut_piece[b]));
            }
            a += usize::from(s.triangle <= t.triangle);
            b += usize::from(t.triangle <= s.triangle);
        }
        met
    }

    /// Whether the solid passes through a face that no triangle crosses: in or out as a whole, but
    /// for openings, where in doubt it does.
    fn solid_passes(&self, c: usize, i: usize, d: usize) -> bool {
        if !self.both_cut(c, d) {
            return true;
        }
        let points = face_points(&Frame::of(self.cells.keys[c]), i);
        let asked = if self.solid.closed { 1 } else { points.len() };
        points[..asked].iter().any(|p| self.solid.contains(&self.cells.lattice.space_from_lattice(p)))
    }

    /// The connected component of each piece, and how many there are.
    fn components(&mut self) -> (Vec<u32>, usize) {
        let mut sets = self.corners.clone();
        let piece_count = self.first.last().copied().unwrap_or(0);
        for p in 0..piece_count {
            (1..4).for_each(|i| sets.join(4 * p, 4 * p + i));
        }
        let (of, count) = sets.number();
        ((0..piece_count).map(|p| of[4 * p]).collect(), count)
    }

    /// Glues what belongs to one shell of the surface but fell into several components: first pieces
    /// within a tet, then, if that is not enough, pieces of neighbouring tets.
    pub(crate) fn glue_shells(&mut self) {
        for across_faces in [false, true, true] {
            let (component, count) = self.components();
            if count <= 1 {
                return;
            }
            let shells = self.pieces_of_shells();
            let torn: Vec<(u32, usize)> = shells
                .chunk_by(|a, b| a.0 == b.0)
                .filter(|shell| shell.iter().any(|s| component[s.1] != component[shell[0].1]))
                .flatten()
                .copied()
                .collect();
            if torn.is_empty() {
                return;
            }
            self.glue(&torn, &component, across_faces);
        }
    }

    /// (shell, piece) for all triangles, sorted, each once.
    fn pieces_of_shells(&self) -> Vec<(u32, usize)> {
        let mut found: Vec<(u32, usize)> = (0..self.cells.count())
            .flat_map(|c| {
                core::iter::zip(self.cells.cuts(c), &self.pieces[c].cut_piece).map(move |(cut, &p)| {
                    (self.solid.triangle_shell[cut.triangle as usize], self.piece(c, p))
                })
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn glue(&mut self, torn: &[(u32, usize)], component: &[u32], across_faces: bool) {
        let cell_of = |first: &[usize], p: usize| first.partition_point(|&f| f <= p) - 1;
        for k in 1..torn.len() {
            let ((shell, p), (other, q)) = (torn[k - 1], torn[k]);
            let apart = shell == other && component[p] != component[q];
            if apart && cell_of(&self.first, p) == cell_of(&self.first, q) {
                (0..4).for_each(|i| self.corners.join(4 * p + i, 4 * q + i));
                self.glued += 1;
            }
        }
        if across_faces {
            for &(shell, p) in torn {
                let c = cell_of(&self.first, p);
                for i in 0..4 {
                    let Some((d, _, pairs)) = self.across(c, i) else { continue };
                    for q in self.first[d]..self.first[d + 1] {
                        if component[p] != component[q] && torn.binary_search(&(shell, q)).is_ok() {
                            self.merge(&(p, q, pairs));
                            self.glued += 1;
                        }
                    }
                }
            }
        }
    }

    /// Numbers nodes and tets by place: a sweep along the longest side of the cage, so that working through them in order touches memory in
    /// order. (Along a Morton curve a force evaluation of a million tets took a quarter longer.) Pieces of one tet that share all corners are one
    /// tet.
    pub(crate) fn into_mesh(mut self) -> Joined {
        let (_, component_count) = self.components();
        let (node_of, node_count) = self.corners.number();
        let mut place = vec![[0; 3]; node_count];
        for c in 0..self.cells.count() {
            let corners = Frame::of(self.cells.keys[c]).corners();
            for p in self.first[c]..self.first[c + 1] {
                for i in 0..4 {
                    place[node_of[4 * p + i] as usize] = corners[i];
                }
            }
        }
        let axes = longest_first(&place);
        let mut order: Vec<u32> = (0..node_count as u32).collect();
        order.sort_by_key(|&n| (axes.map(|axis| place[n as usize][axis]), n));
        let mut number = vec![0; node_count];
        for (n, &old) in order.iter().enumerate() {
            number[old as usize] = n as u32;
        }

        let lattice = self.cells.lattice;
        let nodes = order.iter().map(|&n| lattice.space_from_lattice(&to_vec(place[n as usize]))).collect();
        let mut mesh = TetMesh { nodes, tets: Vec::new() };
        let mut piece_tet = Vec::new();
        let (mut copied_count, mut copy_count) = (0, 0);
        for c in 0..self.cells.count() {
            let first_tet = mesh.tets.len();
            for p in self.first[c]..self.first[c + 1] {
                let tet = [0, 1, 2, 3].map(|i| number[node_of[4 * p + i] as usize]);
                let same = mesh.tets[first_tet..].iter().position(|t| *t == tet);
                piece_tet.push((first_tet + same.unwrap_or(mesh.tets.len() - first_tet)) as u32);
                if same.is_none() {
                    mesh.tets.push(tet);
                }
            }
            let copies = (mesh.tets.len() - first_tet).saturating_sub(1);
            copied_count += usize::from(copies > 0);
            copy_count += copies;
        }
        sort_by_first_node(&mut mesh, &mut piece_tet);
        Joined { mesh, piece_tet, component_count, copied_count, copy_count }
    }
}

/// The axes, the one along which the places reach farthest first.
fn longest_first(places: &[[i32; 3]]) -> [usize; 3] {
    let reach = |axis: usize| {
        let along = || places.iter().map(|place| place[axis]);
        along().max().unwrap_or(0) - along().min().unwrap_or(0)
    };
    let mut axes = [0, 1, 2];
    axes.sort_by_key(|&axis| (-reach(axis), axis));
    axes
}

/// Puts tets in the order of their first nodes.
fn sort_by_first_node(mesh: &mut TetMesh, piece_tet: &mut [u32]) {
    let first_node = |tet: &[u32; 4]| tet.iter().copied().min();
    let mut order: Vec<u32> = (0..mesh.tets.len() as u32).collect();
    order.sort_by_key(|&t| (first_node(&mesh.tets[t as usize]), t));
    let mut number = vec![0; order.len()];
    for (t, &old) in order.iter().enumerate() {
        number[old as usize] = t as u32;
    }
    mesh.tets = order.iter().map(|&t| mesh.tets[t as usize]).collect();
    piece_tet.iter_mut().for_each(|t| *t = number[*t as usize]);
}
