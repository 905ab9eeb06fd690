//! Nodes moved onto given points.
//!
//! The one idea: a node with tets all around it can move anywhere its tets stay upright, and they still fill the same space: the
//! faces opposite the node do not move, and from its new place it still sees all of them. So no vertex that was
//! in the cage drops out of it, and none has to look for its new tet farther than around the node. A node at the outside of the cage is
//! not inside the solid; drawing it in would draw the cage off the surface, so it stays.

use super::cells::CellKind;
use super::filling::samples;
use super::fills::TetFill;
use super::lattice::TetKey;
use super::pieces::Piece;
use super::riders::{Places, Rider};
use crate::TetMesh;
use rayon::prelude::*;
use sinew_math::{Mat3, Vec3};

/// The least volume / longest edge³ of a tet with a moved node, as a fraction of that of an undisturbed one (1/12).
///
/// A node alone that moves to a point nearest to it, so by no more than √5/4 of an edge, keeps all its tets above it: at the
/// worst place, a corner of the node's fraction of space at (½, ¼, 0) edges, a tet keeps a quarter of its volume. So an anchor is
/// left out only where the node is at the outside of the cage or other anchors are close.
const MIN_QUALITY: f64 = 0.2;

/// Tets around a node inside the lattice.
const TETS_AROUND: usize = 24;

/// Moves nodes of a cage onto points.
pub(crate) struct Anchoring<'a> {
    places: &'a Places<'a>,
    mesh: &'a mut TetMesh,
    riders: &'a mut [Rider],
    /// The tets at each node that may move.
    around: Vec<Vec<u32>>,
    /// Riders of each tet.
    riders_of: Vec<Vec<u32>>,
    /// Whether a tet has a moved node.
    is_touched: Vec<bool>,
}

/// The node that each anchor got. Moves the nodes there, and brings riders and fills up to date.
pub(crate) fn move_nodes(
    places: &Places<'_>,
    anchors: &[Vec3],
    mesh: &mut TetMesh,
    riders: &mut [Rider],
    fills: &mut [TetFill],
) -> Vec<Option<u32>> {
    if anchors.is_empty() {
        return Vec::new();
    }
    let mut anchoring = Anchoring::new(places, mesh, riders);
    let node_of = anchoring.assign(anchors);
    anchoring.fill(fills);
    node_of
}

impl<'a> Anchoring<'a> {
    fn new(places: &'a Places<'a>, mesh: &'a mut TetMesh, riders: &'a mut [Rider]) -> Self {
        let mut riders_of = vec![Vec::new(); mesh.tets.len()];
        for (v, rider) in riders.iter().enumerate() {
            riders_of[rider.tet as usize].push(v as u32);
        }
        let (around, is_touched) = (vec![Vec::new(); mesh.nodes.len()], vec![false; mesh.tets.len()]);
        Self { places, mesh, riders, around, riders_of, is_touched }
    }

    /// Gives anchors the nodes nearest to them, the nearest pair first, and moves these there. The node nearest to a
    /// point is a corner of the tet that holds it; if that is taken or cannot move, the other corners are tried.
    fn assign(&mut self, anchors: &[Vec3]) -> Vec<Option<u32>> {
        let mut pairs: Vec<(f64, u32, u32)> = Vec::new();
        for (i, anchor) in anchors.iter().enumerate() {
            let p = self.places.cells.lattice.lattice_from_space(anchor);
            let Some((tet, _)) = self.places.tet_holding(&p) else { continue };
            let distance = |n: u32| (self.mesh.nodes[n as usize] - anchor).norm();
            pairs.extend(self.mesh.tets[tet as usize].map(|n| (distance(n), i as u32, n)));
        }
        pairs.sort_by(|p, q| p.0.total_cmp(&q.0).then((p.1, p.2).cmp(&(q.1, q.2))));
        self.find_around(pairs.iter().map(|p| p.2));

        let mut node_of = vec![None; anchors.len()];
        let mut is_taken = vec![false; self.mesh.nodes.len()];
        for (_, anchor, node) in pairs {
            let (a, n) = (anchor as usize, node as usize);
            if node_of[a].is_none() && !is_taken[n] && self.may_move(node, &anchors[a]) {
                self.move_node(node, &anchors[a]);
                (node_of[a], is_taken[n]) = (Some(node), true);
            }
        }
        node_of
    }

    /// Finds the tets around some nodes.
    fn find_around(&mut self, nodes: impl Iterator<Item = u32>) {
        let mut is_wanted = vec![false; self.mesh.nodes.len()];
        nodes.for_each(|n| is_wanted[n as usize] = true);
        for (t, tet) in self.mesh.tets.iter().enumerate() {
            for &n in tet.iter().filter(|&&n| is_wanted[n as usize]) {
                self.around[n as usize].push(t as u32);
            }
        }
    }

    /// Whether the node has tets all around it and these stay well shaped with it at `place`.
    fn may_move(&self, node: u32, place: &Vec3) -> bool {
        let around = &self.around[node as usize];
        around.len() == TETS_AROUND
            && self.is_closed_around(node)
            && around.iter().all(|&t| {
                let corner = |n: u32| if n == node { *place } else { self.mesh.nodes[n as usize] };
                quality(&self.mesh.tets[t as usize].map(corner)) >= MIN_QUALITY
            })
    }

    /// Whether each face at the node has a tet on both sides. Across a face at a node there is one lattice tet only, so 24 tets without
    /// open faces are the 24 around a lattice point, each once.
    fn is_closed_around(&self, node: u32) -> bool {
        let mut pairs = Vec::with_capacity(3 * TETS_AROUND);
        for &t in &self.around[node as usize] {
            let others: Vec<u32> = self.mesh.tets[t as usize].into_iter().filter(|&n| n != node).collect();
            for i in 0..others.len() {
                let (a, b) = (others[i], others[(i + 1) % others.len()]);
                pairs.push((a.min(b), a.max(b)));
            }
        }
        pairs.sort_unstable();
        pairs.chunk_by(|a, b| a == b).all(|same| same.len() == 2)
    }

    /// Moves a node and puts the vertices around it in the tets that hold them now.
    fn move_node(&mut self, node: u32, place: &Vec3) {
        self.mesh.nodes[node as usize] = *place;
        let around = core::mem::take(&mut self.around[node as usize]);
        let mut moving: Vec<u32> =
            around.iter().flat_map(|&t| core::mem::take(&mut self.riders_of[t as usize])).collect();
        moving.sort_unstable();
        let shapes: Vec<(u32, Vec3, Mat3)> =
            around.iter().filter_map(|&t| self.weigher(t).map(|(a, inverse)| (t, a, inverse))).collect();
        for v in moving {
            let p = self.places.solid.vertices[v as usize];
            let rider = &mut self.riders[v as usize];
            let (stays, is_held) = (rider.tet, rider.is_held);
            // a vertex outside the cage stays with its tet
            let weighed = shapes.iter().filter(|(t, ..)| is_held || *t == stays);
            let weighed = weighed.map(|(t, a, inverse)| (*t, weights(a, inverse, &p)));
            if let Some((tet, weights)) = weighed.max_by(|(_, x), (_, y)| least(x).total_cmp(&least(y))) {
                (rider.tet, rider.weights) = (tet, weights);
            }
            self.riders_of[rider.tet as usize].push(v);
        }
        around.iter().for_each(|&t| self.is_touched[t as usize] = true);
        self.around[node as usize] = around;
    }

    /// The first corner of a tet and the inverse of its edges.
    fn weigher(&self, t: u32) -> Option<(Vec3, Mat3)> {
        Some((self.mesh.corners(t as usize)[0], self.mesh.edges(t as usize).try_inverse()?))
    }

    /// Fills the tets with moved nodes anew. A sample is solid if it was in the same part of the cage, and inside.
    fn fill(&self, fills: &mut [TetFill]) {
        let volume = self.places.cells.lattice.tet_volume();
        fills.par_iter_mut().enumerate().filter(|(t, _)| self.is_touched[*t]).for_each(|(t, fill)| {
            let corners = self.mesh.corners(t);
            let mut is_full = true;
            let inside: Vec<[f64; 4]> = samples(TetKey(t as u64))
                .filter(|b| {
                    let kind = self.kind_at(&(0..4).map(|i| b[i] * corners[i]).sum());
                    is_full &= kind == Some(CellKind::Full);
                    kind.is_some()
                })
                .collect();
            let piece = if is_full {
                Piece { fill: 1.0, corners: [0.25; 4] }
            } else {
                Piece::of(&inside, || [0.25; 4])
            };
            *fill = TetFill { piece, is_full, bulk: self.mesh.tet_volume(t) / volume };
        });
    }

    /// How the cell at a point (m) meets the solid if the point is solid, and of the parts of the cage with moved nodes.
    fn kind_at(&self, p: &Vec3) -> Option<CellKind> {
        let (tet, kind) = self.places.tet_holding(&self.places.cells.lattice.lattice_from_space(p))?;
        let is_solid =
            self.is_touched[tet as usize] && (kind == CellKind::Full || self.places.solid.contains(p));
        is_solid.then_some(kind)
    }
}

/// 12 V / l³ with the longest edge l: 1 for a tet of the lattice, 0 for a flat one, negative for an inverted one.
fn quality(corners: &[Vec3; 4]) -> f64 {
    let [a, b, c, d] = corners;
    let volume = (b - a).dot(&(c - a).cross(&(d - a))) / 6.0;
    let edges = [b - a, c - a, d - a, c - b, d - b, d - c];
    let longest = edges.iter().map(|e| e.norm_squared()).fold(0.0, f64::max).sqrt();
    12.0 * volume / (longest * longest * longest)
}

/// Barycentric weights of `p`, from the first corner of a tet and the inverse of its edges.
fn weights(first: &Vec3, inverse: &Mat3, p: &Vec3) -> [f64; 4] {
    let w = inverse * (p - first);
    [1.0 - w.x - w.y - w.z, w.x, w.y, w.z]
}

fn least(weights: &[f64; 4]) -> f64 {
    weights.iter().fold(f64::INFINITY, |m, w| m.min(*w))
}

#[cfg(test)]
mod tests {
    use super::super::lattice::{Frame, to_vec};
    use super::*;

    /// The tets around a corner of the lattice, with the corner moved by `way` (in edges).
    fn star(way: Vec3) -> Vec<[Vec3; 4]> {
        let node = [20, 20, 20];
        let cubes = (0..8).map(|i| [9 + (i & 1), 9 + (i >> 1 & 1), 9 + (i >> 2)]);
        let mut keys: Vec<TetKey> = cubes.flat_map(TetKey::of_cube).collect();
        keys.sort_unstable();
        keys.dedup();
        let corners = keys.into_iter().map(|key| Frame::of(key).corners());
        let place = |c: [i32; 3]| if c == node { to_vec(node) / 2.0 + way } else { to_vec(c) / 2.0 };
        corners.filter(|tet| tet.contains(&node)).map(|tet| tet.map(place)).collect()
    }

    #[test]
    fn a_tet_of_the_lattice_has_quality_one() {
        let star = star(Vec3::zeros());
        assert_eq!(star.len(), TETS_AROUND);
        assert!(star.iter().all(|tet| (quality(tet) - 1.0).abs() < 1e-12));
    }

    /// The points nearest to a lattice point fill a truncated octahedron: |x| ≤ ½ and |x| + |y| + |z| ≤ ¾. By symmetry an eighth of it
    /// will do, on a grid that has all of its corners.
    #[test]
    fn a_node_alone_can_move_to_any_point_nearest_to_it() {
        let mut worst = f64::INFINITY;
        for i in 0..=20 {
            for j in 0..=20 {
                for k in (0..=20).filter(|k| i + j + k <= 30) {
                    let way = Vec3::new(f64::from(i), f64::from(j), f64::from(k)) / 40.0;
                    worst = star(way).iter().map(quality).fold(worst, f64::min);
                }
            }
        }
        assert!((MIN_QUALITY..1.5 * MIN_QUALITY).contains(&worst), "{worst}");
    }
}
