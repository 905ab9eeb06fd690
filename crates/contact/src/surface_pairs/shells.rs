//! Shells: connected components of surfaces, across seams.

use sinew_math::Vec3;
use sinew_mesh::DisjointSets;

/// Numbers the connected components of triangles, given by vertices from `first` on; vertices at the same place at rest are connected. Numbers begin at `first`.
pub(super) fn find_shells(triangles: &[[u32; 3]], first: u32, rest: &[Vec3]) -> Vec<u32> {
    // vertices at the same place, by the bits of their coordinates
    let key = |v: usize| [0, 1, 2].map(|k| (rest[v][k] + 0.0).to_bits());
    let mut order: Vec<usize> = (0..rest.len()).collect();
    order.sort_unstable_by_key(|v| (key(*v), *v));
    let mut sets = DisjointSets::new(rest.len());
    order.windows(2).filter(|pair| key(pair[0]) == key(pair[1])).for_each(|pair| sets.join(pair[0], pair[1]));

    // triangles connect their corners
    for corners in triangles {
        let [a, b, c] = corners.map(|v| (v - first) as usize);
        sets.join(a, b);
        sets.join(a, c);
    }
    triangles.iter().map(|corners| first + sets.find((corners[0] - first) as usize) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles that share an edge by place only, and one apart.
    #[test]
    fn seams_connect_and_gaps_do_not() {
        let (x, y, z) = (Vec3::x(), Vec3::y(), Vec3::z());
        let rest = [Vec3::zeros(), x, y, x, y, x + y, z, z + x, z + y];
        let triangles = [[10, 11, 12], [13, 15, 14], [16, 17, 18]];
        assert_eq!(find_shells(&triangles, 10, &rest), [10, 10, 16]);
    }
}
