//! Carriers of vertices: what moves them. Two primitives with a carrier in common move together and never collide.

/// The carriers of each vertex, such as the nodes of the element that it is embedded in, as compressed rows.
#[derive(Clone, Copy, Debug)]
pub struct CarrierRows<'a> {
    /// The first entry of each vertex, and the end of the last.
    pub offsets: &'a [u32],
    /// The carriers, with the same numbers for all surfaces.
    pub carriers: &'a [u32],
}

/// The carriers of all vertices and triangles.
#[derive(Clone, Debug, Default)]
pub(super) struct Carriers {
    vertices: Rows,
    /// Sorted, each once.
    triangles: Rows,
}

#[derive(Clone, Debug)]
struct Rows {
    offsets: Vec<u32>,
    entries: Vec<u32>,
}

impl Default for Rows {
    fn default() -> Rows {
        Rows { offsets: vec![0], entries: Vec::new() }
    }
}

impl Rows {
    fn push(&mut self, row: impl Iterator<Item = u32>) {
        self.entries.extend(row);
        self.offsets.push(self.entries.len() as u32);
    }

    #[inline]
    fn row(&self, i: u32) -> &[u32] {
        &self.entries[self.offsets[i as usize] as usize..self.offsets[i as usize + 1] as usize]
    }
}

impl Carriers {
    /// Adds the vertices of a surface, then its triangles by global vertices.
    pub(super) fn add(&mut self, rows: CarrierRows, triangles: &[[u32; 3]]) {
        for row in rows.offsets.windows(2) {
            self.vertices.push(rows.carriers[row[0] as usize..row[1] as usize].iter().copied());
        }
        for corners in triangles {
            let mut own: Vec<u32> = corners.iter().flat_map(|v| self.vertices.row(*v)).copied().collect();
            own.sort_unstable();
            own.dedup();
            self.triangles.push(own.into_iter());
        }
    }

    /// The carriers of a vertex.
    pub(super) fn of_vertex(&self, vertex: u32) -> &[u32] {
        self.vertices.row(vertex)
    }

    /// Whether a vertex moves together with a triangle.
    #[inline]
    pub(super) fn vertex_meets_triangle(&self, vertex: u32, triangle: u32) -> bool {
        have_common(self.vertices.row(vertex), self.triangles.row(triangle))
    }

    /// Whether two edges move together.
    #[inline]
    pub(super) fn edges_meet(&self, ours: [u32; 2], theirs: [u32; 2]) -> bool {
        let theirs = theirs.map(|end| self.vertices.row(end));
        let own = ours.map(|end| self.vertices.row(end));
        own.iter().any(|own| theirs.iter().any(|other| have_common(own, other)))
    }
}

#[inline]
fn have_common(few: &[u32], many: &[u32]) -> bool {
    few.iter().any(|carrier| many.contains(carrier))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primitives_with_a_common_carrier_move_together() {
        let rows = CarrierRows { offsets: &[0, 2, 4, 5, 6, 7], carriers: &[0, 1, 1, 2, 3, 9, 2] };
        let mut carriers = Carriers::default();
        carriers.add(rows, &[[0, 1, 2], [2, 3, 3]]);
        assert!(carriers.vertex_meets_triangle(4, 0) && !carriers.vertex_meets_triangle(4, 1));
        assert!(carriers.edges_meet([0, 3], [1, 2]) && !carriers.edges_meet([0, 3], [4, 2]));
    }
}
