//! Consistent orientation of a triangle soup.
//!
//! Vertices at the same position are welded, the two triangles at an edge must agree, and each connected sheet then has one free
//! sign, which its volume decides. Shells that face inwards inside another shell are cavities and stay. Holes are not filled
//! here.

use crate::disjoint_sets::DisjointSets;
use sinew_math::Vec3;

/// A consistently oriented surface. Arrays over triangles have the caller's order and length.
#[derive(Clone, Debug)]
pub(crate) struct Orientation {
    /// Triangles over the caller's vertices, flipped where needed.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The first vertex at the position of each vertex.
    pub(crate) welded: Vec<u32>,
    /// Whether a triangle has area and is the first with its corners.
    pub(crate) active: Vec<bool>,
    /// Triangles without area, and triangles that repeat others.
    pub(crate) degenerate: usize,
    pub(crate) duplicate: usize,
    /// Triangles flipped against the majority of their sheet.
    pub(crate) flipped: usize,
    /// Whether the surface faced inwards as a whole.
    pub(crate) inside_out: bool,
    /// Edges of more than two triangles.
    pub(crate) non_manifold_edges: usize,
}

/// A half-edge: the lower and the higher vertex, the triangle, and whether it runs from the lower to the higher.
type EdgeUse = (u32, u32, u32, bool);

impl Orientation {
    pub(crate) fn find(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let welded = weld(vertices);
        let mut this = Self {
            triangles: triangles.to_vec(),
            active: vec![true; triangles.len()],
            welded,
            degenerate: 0,
            duplicate: 0,
            flipped: 0,
            inside_out: false,
            non_manifold_edges: 0,
        };
        this.deactivate_degenerate(vertices);
        this.deactivate_duplicates();
        let (sheet, sheet_count, closed) = this.agree_with_neighbours(vertices);
        this.face_outwards(vertices, &sheet, sheet_count, &closed);
        this
    }

    /// The welded corners of triangle `t`.
    pub(crate) fn welded_corners(&self, t: usize) -> [u32; 3] {
        self.triangles[t].map(|v| self.welded[v as usize])
    }

    fn deactivate_degenerate(&mut self, vertices: &[Vec3]) {
        for t in 0..self.triangles.len() {
            let [a, b, c] = self.triangles[t].map(|v| vertices[v as usize]);
            let (ab, ac) = (b - a, c - a);
            let longest = ab.norm_squared().max(ac.norm_squared()).max((c - b).norm_squared());
            // twice the area relative to the square of the longest edge: below this it is round-off
            if ab.cross(&ac).norm() <= 1e-12 * longest {
                self.active[t] = false;
                self.degenerate += 1;
            }
        }
    }

    fn deactivate_duplicates(&mut self) {
        let mut keys: Vec<([u32; 3], u32)> = (0..self.triangles.len())
            .filter(|&t| self.active[t])
            .map(|t| {
                let mut key = self.welded_corners(t);
                key.sort_unstable();
                (key, t as u32)
            })
            .collect();
        keys.sort_unstable();
        for same in keys.chunk_by(|a, b| a.0 == b.0) {
            for &(_, t) in &same[1..] {
                self.active[t as usize] = false;
                self.duplicate += 1;
            }
        }
    }

    /// The half-edges of all active triangles, sorted by edge.
    pub(crate) fn edge_uses(&self) -> Vec<EdgeUse> {
        let mut uses = Vec::with_capacity(3 * self.triangles.len());
        for t in (0..self.triangles.len()).filter(|&t| self.active[t]) {
            let corners = self.welded_corners(t);
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                uses.push((a.min(b), a.max(b), t as u32, a < b));
            }
        }
        uses.sort_unstable();
        uses
    }

    /// Flips triangles so that neighbours agree, each sheet to the side that most of its area faced. Returns the sheet of each
    /// triangle, the number of sheets, and which sheets are closed.
    fn agree_with_neighbours(&mut self, vertices: &[Vec3]) -> (Vec<u32>, usize, Vec<bool>) {
        // sheets: triangles connected by manifold edges
        let uses = self.edge_uses();
        let mut sheets = DisjointSets::new(self.triangles.len());
        let mut neighbours: Vec<(u32, u32, bool)> = Vec::with_capacity(uses.len());
        let mut open = Vec::new();
        for edge in uses.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            if let [p, q] = edge {
                sheets.join(p.2 as usize, q.2 as usize);
                let disagree = p.3 == q.3;
                neighbours.extend([(p.2, q.2, disagree), (q.2, p.2, disagree)]);
            } else {
                self.non_manifold_edges += usize::from(edge.len() > 2);
                open.extend(edge.iter().map(|e| e.2));
            }
        }
        let (sheet, sheet_count) = sheets.number();
        let mut closed = vec![true; sheet_count];
        for t in open {
            closed[sheet[t as usize] as usize] = false;
        }

        // each sheet keeps the orientation of most of its area
        let is_flipped = propagate_flips(self.triangles.len(), neighbours);
        let mut flipped_area = vec![0.0; sheet_count];
        let mut area = vec![0.0; sheet_count];
        for t in 0..is_flipped.len() {
            let [a, b, c] = self.triangles[t].map(|v| vertices[v as usize]);
            let a = (b - a).cross(&(c - a)).norm();
            area[sheet[t] as usize] += a;
            flipped_area[sheet[t] as usize] += if is_flipped[t] { a } else { 0.0 };
        }
        for t in 0..is_flipped.len() {
            let s = sheet[t] as usize;
            if is_flipped[t] != (flipped_area[s] > 0.5 * area[s]) {
                self.triangles[t].swap(1, 2);
                self.flipped += usize::from(self.active[t]);
            }
        }
        (sheet, sheet_count, closed)
    }

    /// Flips the whole surface if its volume is negative, then each closed sheet that faces inwards and lies in no other: inside
    /// another it is a cavity.
    fn face_outwards(&mut self, vertices: &[Vec3], sheet: &[u32], sheet_count: usize, closed: &[bool]) {
        // the active triangles of each sheet
        let mut members = vec![Vec::new(); sheet_count];
        for t in (0..sheet.len()).filter(|&t| self.active[t]) {
            members[sheet[t] as usize].push(t);
        }

        // the surface as a whole
        let centre = self.area_centre(vertices);
        let volume_of = |triangles: &[[u32; 3]], members: &[usize], origin: Vec3| -> f64 {
            let corner = |v: u32| vertices[v as usize] - origin;
            members.iter().map(|&t| triangles[t].map(corner)).map(|[a, b, c]| a.dot(&b.cross(&c)) / 6.0).sum()
        };
        let whole: f64 = members.iter().map(|m| volume_of(&self.triangles, m, centre)).sum();
        if whole < 0.0 {
            self.inside_out = true;
            self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }

        // closed sheets by decreasing volume, so that a sheet comes after those around it
        let mut order: Vec<(usize, f64)> = (0..sheet_count)
            .filter(|&s| closed[s] && !members[s].is_empty())
            .map(|s| (s, volume_of(&self.triangles, &members[s], centre)))
            .collect();
        order.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        let boxes: Vec<(Vec3, Vec3)> =
            order.iter().map(|&(s, _)| self.bounds(vertices, &members[s])).collect();

        // flip inward-facing sheets that are no cavities
        for i in 0..order.len() {
            let (s, volume) = order[i];
            if volume >= 0.0 {
                continue;
            }
            let p = vertices[self.triangles[members[s][0]][0] as usize];
            let around = (0..i)
                .filter(|&j| (0..3).all(|k| boxes[j].0[k] <= p[k] && p[k] <= boxes[j].1[k]))
                .map(|j| self.winding_number(vertices, &members[order[j].0], &p));
            if around.sum::<f64>() < 0.5 {
                for &t in &members[s] {
                    self.triangles[t].swap(1, 2);
                    self.flipped += 1;
                }
            }
        }
    }

    fn winding_number(&self, vertices: &[Vec3], members: &[usize], p: &Vec3) -> f64 {
        let corners = |&t: &usize| self.triangles[t].map(|v| vertices[v as usize]);
        members.iter().map(corners).map(|t| crate::winding::solid_angle(&t, p)).sum::<f64>()
            / (4.0 * core::f64::consts::PI)
    }

    fn bounds(&self, vertices: &[Vec3], members: &[usize]) -> (Vec3, Vec3) {
        let none = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
        let corners = members.iter().flat_map(|&t| self.triangles[t]).map(|v| vertices[v as usize]);
        corners.fold(none, |(lo, hi), c| (lo.inf(&c), hi.sup(&c)))
    }

    fn area_centre(&self, vertices: &[Vec3]) -> Vec3 {
        let (mut area, mut sum) = (0.0, Vec3::zeros());
        for t in (0..self.triangles.len()).filter(|&t| self.active[t]) {
            let [a, b, c] = self.triangles[t].map(|v| vertices[v as usize]);
            let fraction = (b - a).cross(&(c - a)).norm();
            area += fraction;
            sum += fraction * (a + b + c) / 3.0;
        }
        if area > 0.0 { sum / area } else { Vec3::zeros() }
    }
}

/// The first vertex at the position of each vertex.
fn weld(vertices: &[Vec3]) -> Vec<u32> {
    // adding zero gives −0 and 0 the same bits
    let position = |v: u32| {
        let p = vertices[v as usize];
        [p.x + 0.0, p.y + 0.0, p.z + 0.0].map(f64::to_bits)
    };
    let mut order: Vec<([u64; 3], u32)> = (0..vertices.len() as u32).map(|v| (position(v), v)).collect();
    order.sort_unstable();
    let mut welded: Vec<u32> = (0..vertices.len() as u32).collect();
    for same in order.chunk_by(|a, b| a.0 == b.0) {
        for &(_, v) in same {
            welded[v as usize] = same[0].1;
        }
    }
    welded
}

/// Depth-first traversal over neighbours: which triangles must flip to agree with the first of their sheet.
fn propagate_flips(count: usize, mut neighbours: Vec<(u32, u32, bool)>) -> Vec<bool> {
    neighbours.sort_unstable();
    let of = |t: u32| {
        let first = neighbours.partition_point(|n| n.0 < t);
        neighbours[first..].iter().take_while(move |n| n.0 == t)
    };
    let (mut is_flipped, mut seen) = (vec![false; count], vec![false; count]);
    let mut stack = Vec::new();
    for start in 0..count {
        if !seen[start] {
            seen[start] = true;
            stack.push(start as u32);
        }
        while let Some(t) = stack.pop() {
            for &(_, next, disagree) in of(t) {
                if !seen[next as usize] {
                    seen[next as usize] = true;
                    is_flipped[next as usize] = is_flipped[t as usize] != disagree;
                    stack.push(next);
                }
            }
        }
    }
    is_flipped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    #[test]
    fn flipped_triangles_are_flipped_back() {
        let ball = shapes::sphere(1.0, 2);
        let mut broken = ball.clone();
        for t in [3, 50, 51, 200] {
            broken.triangles[t].swap(1, 2);
        }
        let found = Orientation::find(&broken.vertices, &broken.triangles);
        assert_eq!((found.flipped, found.inside_out), (4, false));
        let mended = crate::TriMesh { vertices: ball.vertices.clone(), triangles: found.triangles };
        assert!((mended.signed_volume() - ball.signed_volume()).abs() < 1e-12);
    }

    #[test]
    fn a_cavity_stays_and_an_inside_out_shell_is_flipped() {
        let mut scene = shapes::sphere(1.0, 2);
        let shell_size = scene.triangles.len();
        for (scale, shift) in [(0.5, 0.0), (0.4, 5.0)] {
            let base = scene.vertices.len() as u32;
            let inner = shapes::sphere(scale, 2);
            scene.vertices.extend(inner.vertices.iter().map(|v| v + Vec3::new(shift, 0.0, 0.0)));
            scene.triangles.extend(inner.triangles.iter().map(|t| [t[0] + base, t[2] + base, t[1] + base]));
        }
        let found = Orientation::find(&scene.vertices, &scene.triangles);
        assert_eq!(found.flipped, shell_size);
        assert_eq!(found.triangles[shell_size], scene.triangles[shell_size]);
        assert_ne!(found.triangles[2 * shell_size], scene.triangles[2 * shell_size]);
    }

    #[test]
    fn vertices_at_one_position_are_welded() {
        let [a, b] = [Vec3::new(0.0, 1.0, 2.0), Vec3::new(-0.0, 1.0, 2.0)];
        assert_eq!(weld(&[a, Vec3::zeros(), b]), [0, 1, 0]);
    }
}
