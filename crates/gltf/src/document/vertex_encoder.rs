//! The vertex codec of meshoptimizer, version 0, as it is written: see `character_file/meshopt/vertices.rs` for how it is read.
//!
//! Of every byte of a vertex a block of up to 256 vertices has a column of differences from vertex to vertex, signs folded into the lowest bit. Groups of 16 are packed with 0, 2, 4 or 8 bits, whichever takes least; the largest packed number says that the
//! byte follows in full. The vertex that differences begin with comes last.

/// The largest size of a block (bytes), and of a column.
const BLOCK_BYTES: usize = 8192;
const COLUMN: usize = 256;
/// Bytes that are packed together.
const GROUP: usize = 16;
/// The first byte: the codec, and version 0.
const HEADER: u8 = 0xa0;
/// The smallest size of what stands behind the last block (bytes).
const TAIL: usize = 32;
/// How many bits each kind of group has.
const BITS: [usize; 4] = [0, 2, 4, 8];

/// Encodes vertices of so many bytes each, a multiple of four up to 256.
pub(super) fn encode(vertices: &[u8], stride: usize) -> Vec<u8> {
    debug_assert!(
        stride > 0 && stride.is_multiple_of(4) && stride <= 256 && vertices.len().is_multiple_of(stride)
    );
    let mut encoded = vec![HEADER];
    let first = vertices.get(..stride).map_or_else(|| vec![0; stride], <[u8]>::to_vec);
    let mut last = first.clone();
    let block = ((BLOCK_BYTES / stride) & !(GROUP - 1)).min(COLUMN);
    for vertices in vertices.chunks(block * stride) {
        let count = vertices.len() / stride;
        for byte in 0..stride {
            let mut column = [0; COLUMN];
            for (slot, vertex) in column.iter_mut().zip(vertices.chunks_exact(stride)) {
                *slot = fold(vertex[byte].wrapping_sub(last[byte]));
                last[byte] = vertex[byte];
            }
            write_groups(&column[..count.next_multiple_of(GROUP)], &mut encoded);
        }
    }
    encoded.resize(encoded.len() + TAIL.saturating_sub(stride), 0);
    encoded.extend(first);
    encoded
}

/// A difference with its sign in the lowest bit.
fn fold(difference: u8) -> u8 {
    (difference << 1) ^ if difference & 0x80 == 0 { 0 } else { 0xff }
}

fn write_groups(column: &[u8], encoded: &mut Vec<u8>) {
    let kinds = encoded.len();
    encoded.resize(kinds + (column.len() / GROUP).div_ceil(4), 0);
    for (place, group) in column.chunks_exact(GROUP).enumerate() {
        let kind =
            (0..BITS.len()).min_by_key(|kind| packed_size(group, BITS[*kind])).unwrap_or(BITS.len() - 1);
        encoded[kinds + place / 4] |= (kind as u8) << (2 * (place % 4));
        write_group(group, BITS[kind], encoded);
    }
}

/// The bytes of a group with so many bits each.
fn packed_size(group: &[u8], bits: usize) -> usize {
    match bits {
        0 if group.iter().all(|byte| *byte == 0) => 0,
        0 => usize::MAX,
        8 => GROUP,
        bits => GROUP * bits / 8 + group.iter().filter(|byte| **byte >= (1 << bits) - 1).count(),
    }
}

fn write_group(group: &[u8], bits: usize, encoded: &mut Vec<u8>) {
    match bits {
        0 => {}
        8 => encoded.extend(group),
        bits => {
            let largest = (1u8 << bits) - 1;
            let pack =
                |bytes: &[u8]| bytes.iter().fold(0u8, |packed, byte| packed << bits | (*byte).min(largest));
            encoded.extend(group.chunks_exact(8 / bits).map(pack));
            encoded.extend(group.iter().filter(|byte| **byte >= largest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded<const N: usize>(encoded: &[u8], count: usize) -> Vec<u8> {
        // the reference decoder fills elements of a type of the size
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct Element<const N: usize>([u8; N]);
        impl<const N: usize> Default for Element<N> {
            fn default() -> Self {
                Element([0; N])
            }
        }
        let elements: Vec<Element<N>> = meshopt::decode_vertex_buffer(encoded, count).unwrap();
        elements.iter().flat_map(|element| element.0).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        /// Vertices whose bytes change little, much or not at all come back from the reference library.
        #[test]
        fn the_reference_decoder_reads_what_is_written(count in 1usize..700, largest in 1u16..=255, seed in any::<u64>(), wide in any::<bool>()) {
            let stride = if wide { 64 } else { 12 };
            let mut state = seed;
            let mut vertex = vec![0u8; stride];
            let mut bytes = Vec::new();
            for _ in 0..count {
                for byte in &mut vertex {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    *byte = byte.wrapping_add(((state >> 40) % u64::from(largest)) as u8);
                }
                bytes.extend(&vertex);
            }
            let encoded = encode(&bytes, stride);
            let found = if wide { decoded::<64>(&encoded, count) } else { decoded::<12>(&encoded, count) };
            prop_assert_eq!(found, bytes);
        }
    }
}
