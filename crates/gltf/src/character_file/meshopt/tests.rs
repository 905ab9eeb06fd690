//! Our decoders against the encoders and the decoders of the reference library, and against any bytes.

use super::filters::Filter;
use super::{indices, vertices};
use proptest::prelude::*;

/// Vertices of N bytes each, packed by the reference library.
fn encoded<const N: usize>(bytes: &[u8], level: i32, version: i32) -> Vec<u8> {
    meshopt::encode_vertex_buffer_level(bytes.as_chunks::<N>().0, level, Some(version)).unwrap()
}

fn encoded_with(stride: usize, bytes: &[u8], level: i32, version: i32) -> Vec<u8> {
    match stride {
        4 => encoded::<4>(bytes, level, version),
        12 => encoded::<12>(bytes, level, version),
        16 => encoded::<16>(bytes, level, version),
        _ => encoded::<256>(bytes, level, version),
    }
}

const STRIDES: [usize; 4] = [4, 12, 16, 256];

/// Bytes that change little from vertex to vertex, as real ones do, or not at all alike.
fn vertex_bytes() -> impl Strategy<Value = (usize, Vec<u8>)> {
    let steps = prop_oneof![Just(1u8), Just(3), Just(17), Just(255)];
    (prop::sample::select(STRIDES.to_vec()), 1usize..700, steps, any::<u64>()).prop_map(
        |(stride, count, largest, seed)| {
            let mut state = seed;
            let mut vertex = vec![0u8; stride];
            let mut bytes = Vec::with_capacity(stride * count);
            for _ in 0..count {
                for byte in &mut vertex {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let step = (state >> 56) as u8 % largest;
                    *byte = byte.wrapping_add(step);
                }
                bytes.extend(&vertex);
            }
            (stride, bytes)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn vertices_come_back((stride, bytes) in vertex_bytes(), level in 0..4, version in 0..2) {
        let packed = encoded_with(stride, &bytes, level, version);
        prop_assert_eq!(vertices::decode(&packed, bytes.len() / stride, stride), Some(bytes));
    }

    #[test]
    fn triangles_come_back(corners in prop::collection::vec(0u32..2000, 0..400)) {
        let corners = &corners[..corners.len() / 3 * 3];
        let packed = meshopt::encode_index_buffer(corners, 2000).unwrap();
        let decoded = indices::decode_triangles(&packed, corners.len()).unwrap();
        // a triangle may begin with another of its corners
        for (a, b) in corners.chunks_exact(3).zip(decoded.chunks_exact(3)) {
            prop_assert!((0..3).any(|turn| (0..3).all(|i| a[i] == b[(i + turn) % 3])), "{:?} {:?}", a, b);
        }
        prop_assert_eq!(meshopt::decode_index_buffer::<u32>(&packed, corners.len()).unwrap(), decoded);
    }

    #[test]
    fn strips_of_neighbours_come_back(count in 0u32..300) {
        let corners: Vec<u32> = (0..count).flat_map(|i| [i, i + 1, i + 2]).collect();
        let packed = meshopt::encode_index_buffer(&corners, count as usize + 2).unwrap();
        let reference = meshopt::decode_index_buffer::<u32>(&packed, corners.len()).unwrap();
        prop_assert_eq!(indices::decode_triangles(&packed, corners.len()), Some(reference));
    }

    #[test]
    fn sequences_come_back(numbers in prop::collection::vec(any::<u32>(), 0..400)) {
        let numbers: Vec<u32> = numbers.iter().map(|number| number >> 2).collect();
        let packed = meshopt::encode_index_sequence(&numbers, 1 << 30).unwrap();
        prop_assert_eq!(indices::decode_sequence(&packed, numbers.len()), Some(numbers));
    }

    #[test]
    fn filters_agree(seed in prop::collection::vec(any::<[f32; 4]>(), 1..40), bits in 2..=16i32) {
        // unit vectors of any direction
        let unit = |v: [f32; 4]| {
            let v = v.map(|c| if c.is_finite() { (c % 8.0).clamp(-8.0, 8.0) } else { 1.0 });
            let norm = v.iter().map(|c| c * c).sum::<f32>().sqrt();
            if norm > 1e-3 { v.map(|c| c / norm) } else { [0.0, 0.0, 0.0, 1.0] }
        };
        let vectors: Vec<[f32; 4]> = seed.into_iter().map(unit).collect();
        let near = |a: &[i16], b: &[i16]| a.iter().zip(b).all(|(a, b)| (i32::from(*a) - i32::from(*b)).abs() <= 1);
        let check = |filter: Filter, given: Vec<[i16; 4]>, expected: Vec<[i16; 4]>| {
            let mut bytes: Vec<u8> = given.as_flattened().iter().flat_map(|c| c.to_le_bytes()).collect();
            filter.apply(&mut bytes, 8);
            let found: Vec<i16> = bytes.as_chunks::<2>().0.iter().map(|c| i16::from_le_bytes(*c)).collect();
            // the reference library may use approximate square roots: the last digit may differ
            assert!(near(&found, expected.as_flattened()), "{filter:?}");
        };

        let mut decoded = meshopt::encode_filter_quat(&vectors, bits.max(4));
        let given = decoded.clone();
        meshopt::decode_filter_quat(&mut decoded);
        check(Filter::Quaternion, given, decoded);

        let mut exponentials = meshopt::encode_filter_exp(&vectors, bits, meshopt::EncodeExpMode::Separate);
        let mut bytes: Vec<u8> = exponentials.as_flattened().iter().flat_map(|c| c.to_le_bytes()).collect();
        meshopt::decode_filter_exp(&mut exponentials);
        Filter::Exponential.apply(&mut bytes, 16);
        let expected: Vec<u8> = exponentials.as_flattened().iter().flat_map(|c| c.to_le_bytes()).collect();
        prop_assert_eq!(bytes, expected);
    }

    /// Nothing but an answer, whatever the bytes: reads are bounded.
    #[test]
    fn any_bytes_are_decoded_or_refused(
        mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        header in prop::sample::select(vec![0xa0u8, 0xa1, 0xe0, 0xe1, 0xd0, 0xd1]),
        count in 0usize..300,
        stride in prop::sample::select(STRIDES.to_vec()),
    ) {
        if let Some(first) = bytes.first_mut() {
            *first = header;
        }
        let _ = vertices::decode(&bytes, count, stride);
        let _ = indices::decode_triangles(&bytes, count / 3 * 3);
        let _ = indices::decode_sequence(&bytes, count);
    }

    #[test]
    fn damaged_data_is_decoded_or_refused(
        (stride, bytes) in vertex_bytes(),
        version in 0..2,
        place: prop::sample::Index,
        byte: u8,
        end: prop::sample::Index,
    ) {
        let mut packed = encoded_with(stride, &bytes, 2, version);
        let place = place.index(packed.len());
        packed[place] = byte;
        let count = bytes.len() / stride;
        let _ = vertices::decode(&packed, count, stride);
        let cut = &packed[..end.index(packed.len())];
        prop_assert_eq!(vertices::decode(cut, count, stride).filter(|_| place < cut.len()).map(|_| ()), None);
    }
}

/// Octahedral normals and colours of eight bits, whose values are those of the extension's own formulas.
#[test]
fn octahedral_and_color_filters_bring_back_axes_and_greys() {
    let mut normals = [127i8, 0, 127, 5, 0, 0, 127, 0, 0, -127, 127, 0].map(|c| c as u8);
    Filter::Octahedral.apply(&mut normals, 4);
    assert_eq!(normals.map(|c| c as i8), [127, 0, 0, 5, 0, 0, 127, 0, 0, -127, 0, 0]);
    // full luma, no chroma, full opacity in seven bits with the high bit as the scale
    let mut colors = [255u8, 0, 0, 255, 0, 0, 0, 255];
    Filter::Color.apply(&mut colors, 4);
    assert_eq!(colors, [255, 255, 255, 255, 0, 0, 0, 255]);
}
