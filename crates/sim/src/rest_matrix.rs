//! The assembled stiffness matrix of flesh at rest, for preconditioners.

use sinew_flesh::Elements;
use sinew_math::Mat3;
use sinew_math::sparse::BlockCsr;

/// The stiffness matrix at rest over the free nodes, with additional diagonal terms (N/m).
pub(crate) fn rest_matrix(elements: &Elements, own: &[f64], free: &[u32]) -> BlockCsr {
    let mut place = vec![u32::MAX; own.len()];
    free.iter().enumerate().for_each(|(i, node)| place[*node as usize] = i as u32);
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); free.len()];
    elements.for_each_rest_stiffness(|nodes, _| {
        for a in nodes.iter().map(|node| place[*node as usize]).filter(|a| *a != u32::MAX) {
            let beside = nodes.iter().map(|node| place[*node as usize]).filter(|b| *b != u32::MAX);
            neighbours[a as usize].extend(beside);
        }
    });
    let mut matrix = BlockCsr::with_pattern(neighbours);
    elements.for_each_rest_stiffness(|nodes, blocks| {
        for (a, row) in nodes.iter().zip(blocks.chunks_exact(nodes.len())) {
            for (b, block) in nodes.iter().zip(row) {
                let (a, b) = (place[*a as usize], place[*b as usize]);
                if a != u32::MAX && b != u32::MAX {
                    matrix.add(a as usize, b as usize, block);
                }
            }
        }
    });
    for (i, node) in free.iter().enumerate() {
        matrix.add(i, i, &Mat3::from_diagonal_element(own[*node as usize]));
    }
    matrix
}
