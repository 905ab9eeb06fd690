//! Gathering of element edges from nodes into SIMD lanes.

use sinew_math::Vec3;
use sinew_math::columns::Columns;
use sinew_math::lanes::{BLOCK, Lanes, WideLanes};

/// The edges from corner 0 to the others, subtracted in double precision, so that a body far from the origin loses no accuracy.
#[inline(always)]
pub(crate) fn edges<L: Lanes>(nodes: &[[u32; 4]], x: &[[f64; 4]]) -> Columns<L> {
    let mut rows = [[[0.0; 4]; BLOCK]; 3];
    for (lane, nodes) in nodes.iter().enumerate() {
        let origin = x[nodes[0] as usize];
        for k in 0..3 {
            let corner = x[nodes[k + 1] as usize];
            for i in 0..4 {
                rows[k][lane][i] = (corner[i] - origin[i]) as f32;
            }
        }
    }
    [L::from_rows(&rows[0]), L::from_rows(&rows[1]), L::from_rows(&rows[2])]
}

/// Differences of node velocities or displacements along those edges, in single precision.
#[inline(always)]
pub(crate) fn edge_rates<L: Lanes>(nodes: &[[u32; 4]], v: &[[f32; 4]]) -> Columns<L> {
    let origin = L::gather_rows(v, nodes, 0);
    let mut rates = [origin; 3];
    for k in 0..3 {
        let corner = L::gather_rows(v, nodes, k + 1);
        for i in 0..3 {
            rates[k][i] = corner[i] - origin[i];
        }
    }
    rates
}

/// The edges in double precision.
#[inline(always)]
pub(crate) fn wide_edges<W: WideLanes>(nodes: &[[u32; 4]], x: &[[f64; 4]]) -> Columns<W> {
    let origin = W::gather_rows(x, nodes, 0);
    let mut edges = [origin; 3];
    for k in 0..3 {
        let corner = W::gather_rows(x, nodes, k + 1);
        for i in 0..3 {
            edges[k][i] = corner[i] - origin[i];
        }
    }
    edges
}

/// Positions with a fourth number beside each.
pub(crate) fn pad(x: &[Vec3], padded: &mut Vec<[f64; 4]>) {
    padded.clear();
    padded.extend(x.iter().map(|x| [x.x, x.y, x.z, 0.0]));
}
