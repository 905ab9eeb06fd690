//! Self-contact of skin folds: each point stays on its side of the plane halfway between it and the fold that faces it.
//!
//! ```text
//! m = ½ (x + q),    (x − m)·n ≥ t/2
//! ```
//!
//! with q the nearest point of the facing fold and n its outward normal. Points of both folds find planes halfway between the same places, so that neither crosses the other while planes last, a frame, and folds that have crossed
//! part in their middle. Two points face each other if their normals are opposed, and if they were farther apart at rest than folds are looked for: both sides of a finger do not.

use sinew_contact::nearest_on_triangle;
use sinew_math::Vec3;
use sinew_math::parallel::for_each_part;

/// Points in cells of a grid, by hashing, and the planes that were found.
#[derive(Debug)]
pub(super) struct Folds {
    /// How far from each point folds are looked for (m).
    range: Vec<f64>,
    /// Length of a cell (m).
    cell: f64,
    /// The slot of each relaxed point, the first of the items of each slot, and these points slot by slot, all by their places in the list.
    slots: Vec<u32>,
    offsets: Vec<u32>,
    items: Vec<u32>,
    /// A point and a unit normal per relaxed point; no normal where nothing faces it.
    pub(super) planes: Vec<[Vec3; 2]>,
}

/// The sheet as folds see it.
pub(super) struct FoldedSheet<'a> {
    /// The points that are relaxed, and the plane of the flesh below each of them, whose normal is outwards.
    pub(super) nodes: &'a [u32],
    pub(super) flesh: &'a [[Vec3; 2]],
    /// All points, now and at rest (m).
    pub(super) x: &'a [Vec3],
    pub(super) rest: &'a [Vec3],
    /// Triangles of points, and the corners at each point.
    pub(super) triangles: &'a [[u32; 3]],
    pub(super) offsets: &'a [u32],
    pub(super) around: &'a [u32],
}

/// Folds are looked for as far as so many edges of a point, and no farther than so many mean ones: what is deeper in each other is hidden.
const RANGE: f64 = 1.0;
/// Points face each other that were at least so many ranges apart at rest,
const MIN_REST: f64 = 3.0;
/// and whose normals have at most this cosine.
const MAX_COSINE: f64 = -0.2;
/// What is kept between folds, as a fraction of the range (t/2).
const HALF_GAP: f64 = 0.02;
/// Points per parallel task.
const CHUNK: usize = 256;

impl Folds {
    /// The folds of a sheet whose points have edges of some lengths, with their mean (m).
    pub(super) fn new(edges: &[f64], mean: f64) -> Folds {
        let count = edges.len();
        let slots = (2 * count).next_power_of_two();
        Folds {
            range: edges.iter().map(|edge| RANGE * edge.min(mean)).collect(),
            cell: RANGE * mean,
            slots: Vec::with_capacity(count),
            offsets: vec![0; slots + 1],
            items: Vec::with_capacity(count),
            planes: Vec::with_capacity(count),
        }
    }

    /// Finds the planes of a frame.
    pub(super) fn find(&mut self, sheet: &FoldedSheet) {
        self.sort(sheet.nodes, sheet.x);
        self.planes.resize(sheet.nodes.len(), [Vec3::zeros(); 2]);
        let mut planes = core::mem::take(&mut self.planes);
        let own = &*self;
        for_each_part(planes.as_mut_slice(), CHUNK, |first, planes| {
            for (i, plane) in planes.iter_mut().enumerate() {
                *plane = own.plane(first + i, sheet).unwrap_or_default();
            }
        });
        self.planes = planes;
    }

    /// Sorts the points into slots by counting.
    fn sort(&mut self, nodes: &[u32], x: &[Vec3]) {
        let mask = self.offsets.len() as u32 - 2;
        let cell = self.cell;
        self.slots.clear();
        self.slots.extend(nodes.iter().map(|node| hash(cell_of(&x[*node as usize], cell)) & mask));
        self.items.resize(nodes.len(), 0);
        self.offsets.fill(0);
        self.slots.iter().for_each(|slot| self.offsets[*slot as usize + 1] += 1);
        for slot in 1..self.offsets.len() {
            self.offsets[slot] += self.offsets[slot - 1];
        }
        // from the last to the first, each in front of those before it; the beginnings come back in the end
        for (node, slot) in self.slots.iter().enumerate().rev() {
            let end = &mut self.offsets[*slot as usize + 1];
            *end -= 1;
            self.items[*end as usize] = node as u32;
        }
        // offsets[slot + 1] is now where the slot begins
        self.offsets.rotate_left(1);
        let last = self.offsets.len() - 1;
        self.offsets[last] = self.items.len() as u32;
    }

    /// The nearest relaxed point that faces one, by their places in the list.
    fn facing(&self, place: usize, sheet: &FoldedSheet) -> Option<usize> {
        let FoldedSheet { nodes, x, rest, flesh, .. } = sheet;
        let node = nodes[place] as usize;
        let (own, normal, reach) = (x[node], flesh[place][1], self.range[node]);
        let mask = self.offsets.len() as u32 - 2;
        let low = cell_of(&own.add_scalar(-reach), self.cell);
        let high = cell_of(&own.add_scalar(reach), self.cell);
        let (mut nearest, mut bound) = (None, reach * reach);
        let far = MIN_REST * MIN_REST * reach * reach;
        for i in low[0]..=high[0] {
            for j in low[1]..=high[1] {
                for k in low[2]..=high[2] {
                    let slot = (hash([i, j, k]) & mask) as usize;
                    let (begin, end) = (self.offsets[slot] as usize, self.offsets[slot + 1] as usize);
                    for other in &self.items[begin..end] {
                        let (other, at) = (nodes[*other as usize] as usize, *other as usize);
                        let squared = (x[other] - own).norm_squared();
                        if squared < bound
                            && flesh[at][1].dot(&normal) < MAX_COSINE
                            && (rest[other] - rest[node]).norm_squared() > far
                        {
                            (nearest, bound) = (Some(other), squared);
                        }
                    }
                }
            }
        }
        nearest
    }

    /// The plane of a relaxed point, if a fold faces it.
    fn plane(&self, place: usize, sheet: &FoldedSheet) -> Option<[Vec3; 2]> {
        let other = self.facing(place, sheet)?;
        let FoldedSheet { nodes, x, flesh, triangles, offsets, around, .. } = sheet;
        let node = nodes[place] as usize;
        let mut nearest: Option<[Vec3; 2]> = None;
        let mut bound = f64::INFINITY;
        for corner in &around[offsets[other] as usize..offsets[other + 1] as usize] {
            let corners = triangles[*corner as usize / 3].map(|node| x[node as usize]);
            let found = nearest_on_triangle(&x[node], &corners);
            let squared = (x[node] - found.point).norm_squared();
            if squared < bound {
                let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
                bound = squared;
                nearest = normal.try_normalize(0.0).map(|normal| [found.point, normal]);
            }
        }
        let [q, normal] = nearest?;
        // what faces away by now is no fold
        (normal.dot(&flesh[place][1]) < MAX_COSINE)
            .then(|| [0.5 * (x[node] + q) + HALF_GAP * self.range[node] * normal, normal])
    }
}

/// The cell of a point.
#[inline]
fn cell_of(x: &Vec3, cell: f64) -> [i64; 3] {
    [x.x, x.y, x.z].map(|x| (x / cell).floor() as i64)
}

/// A slot of a cell: products with large primes.                                         \[Teschner2003\]
#[inline]
fn hash([i, j, k]: [i64; 3]) -> u32 {
    let mixed = (i.wrapping_mul(73_856_093)) ^ (j.wrapping_mul(19_349_663)) ^ (k.wrapping_mul(83_492_791));
    (mixed ^ (mixed >> 15)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every point is in the slot of its cell, once.
    #[test]
    fn points_are_in_the_slots_of_their_cells() {
        let x: Vec<Vec3> = (0..300)
            .map(|i| {
                let i = f64::from(i);
                Vec3::new((0.37 * i) % 1.0 - 0.5, (0.71 * i) % 1.0, (0.13 * i) % 1.0)
            })
            .collect();
        let mut folds = Folds::new(&vec![0.1; x.len()], 0.1);
        let nodes: Vec<u32> = (0..x.len() as u32).collect();
        folds.sort(&nodes, &x);
        let mut seen = vec![0; x.len()];
        for slot in 0..folds.offsets.len() - 1 {
            for node in &folds.items[folds.offsets[slot] as usize..folds.offsets[slot + 1] as usize] {
                seen[*node as usize] += 1;
                assert_eq!(folds.slots[*node as usize] as usize, slot);
            }
        }
        assert!(seen.iter().all(|count| *count == 1));
    }
}
