//! Shells: the connected pieces of a surface.

use sinew_math::Vec3;
use sinew_mesh::{DisjointSets, TriMesh};
use std::collections::HashMap;

/// Vertices closer than this fraction of the surface's size are one: seams of materials and meshes repeat them, with the round-off of their own
/// bind matrices.
const WELDED: f64 = 1e-6;

/// A connected piece of surface.
#[derive(Clone, Default)]
pub(crate) struct Shell {
    /// Its area (m²).
    pub(crate) area: f64,
    /// The volume it encloses (m³), with the sign of its orientation.
    pub(crate) volume: f64,
    /// Its vertices, in increasing order.
    pub(crate) vertices: Vec<u32>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

/// For each vertex the first one at its place.
pub(crate) fn welded(surface: &TriMesh) -> Vec<u32> {
    let (low, high) = surface.bounds().unwrap_or_default();
    let cell = (WELDED * (high - low).norm()).max(f64::MIN_POSITIVE);
    let mut first_in: HashMap<[i64; 3], u32> = HashMap::new();
    let mut welded = Vec::with_capacity(surface.vertices.len());
    for (i, v) in (0u32..).zip(&surface.vertices) {
        let at = (v - low) / cell;
        // the eight cells that reach within half a cell of the vertex
        let near = (0..8).find_map(|corner: u32| {
            let shift = Vec3::from_fn(|axis, _| if corner >> axis & 1 == 0 { -0.5 } else { 0.5 });
            first_in.get(&cell_of(&(at + shift))).copied()
        });
        welded.push(near.unwrap_or_else(|| *first_in.entry(cell_of(&at)).or_insert(i)));
    }
    welded
}

fn cell_of(at: &Vec3) -> [i64; 3] {
    [at.x, at.y, at.z].map(|x| x.floor() as i64)
}

/// The shells of a surface, in the order of their first triangles.
pub(crate) fn shells_of(surface: &TriMesh) -> Vec<Shell> {
    // which vertices hang together
    let welded = welded(surface);
    let mut sets = DisjointSets::new(surface.vertices.len());
    for triangle in &surface.triangles {
        let [a, b, c] = triangle.map(|v| welded[v as usize] as usize);
        sets.join(a, b);
        sets.join(a, c);
    }

    // triangles and vertices of each
    let mut shell_of: HashMap<usize, usize> = HashMap::new();
    let mut shells: Vec<Shell> = Vec::new();
    for triangle in &surface.triangles {
        let root = sets.find(welded[triangle[0] as usize] as usize);
        let index = *shell_of.entry(root).or_insert_with(|| {
            shells.push(Shell::default());
            shells.len() - 1
        });
        let [a, b, c] = triangle.map(|v| surface.vertices[v as usize]);
        let shell = &mut shells[index];
        // about a vertex of its own, so that far from the origin nothing cancels
        let origin = surface.vertices[root];
        shell.volume += (a - origin).cross(&(b - origin)).dot(&(c - origin)) / 6.0;
        shell.area += 0.5 * (b - a).cross(&(c - a)).norm();
        shell.triangles.push(*triangle);
    }
    for vertex in 0..surface.vertices.len() as u32 {
        let root = sets.find(welded[vertex as usize] as usize);
        if let Some(&shell) = shell_of.get(&root) {
            shells[shell].vertices.push(vertex);
        }
    }
    shells
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    /// The two halves of a box whose seam is repeated, off by the round-off of single precision, are one shell; a box beside it is another.
    #[test]
    fn seams_of_materials_are_welded_and_gaps_are_not() {
        let whole = shapes::cuboid([1.0, 2.0, 1.0]);
        let mut split = TriMesh::default();
        for triangle in &whole.triangles {
            let first = split.vertices.len() as u32;
            let off = 1e-7 * f64::from(first % 5);
            split.vertices.extend(triangle.map(|v| whole.vertices[v as usize] * (1.0 + off)));
            split.triangles.push([first, first + 1, first + 2]);
        }
        let first = split.vertices.len() as u32;
        split.vertices.extend(whole.vertices.iter().map(|v| v + Vec3::x() * 1.01));
        split.triangles.extend(whole.triangles.iter().map(|t| t.map(|v| v + first)));
        let shells = shells_of(&split);
        assert_eq!(shells.len(), 2);
        assert!(
            shells.iter().all(|shell| (shell.volume - 2.0).abs() < 1e-5 && (shell.area - 10.0).abs() < 1e-5)
        );
    }
}
