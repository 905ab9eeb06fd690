//! Whatever the bytes, a reader answers: with a mesh or with an error, soon, and without taking more
//! memory than the bytes can fill.

use proptest::prelude::*;
use sinew_io::{
    BvhBody, BvhOptions, PointSamples, read_bvh, read_mdd, read_obj, read_pc2, read_ply, read_stl,
    read_tetgen,
};
use sinew_skeleton::Skeleton;

const OBJ: &str = "# a\nv 0 0 0\nv 1 0 0 1 1 1\nv 1 1 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\nf -4 -3 -2 -1\n";
const PLY: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
    element face 2\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n4 0 1 2 3\n";
const STL: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n\
    endfacet\nendsolid a\n";
const NODE: &str = "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";
const BVH: &str = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n\
    JOINT b { OFFSET 0 1 0\nCHANNELS 3 Zrotation Yrotation Xrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n}\nMOTION\n\
    Frames: 2\nFrame Time: 0.1\n0 1 2 10 20 30 4 5 6\n0 1 2 10 20 30 4 5 6\n";
const ELE: &str = "1 4 0\n1 1 2 3 4\n";

fn binary_ply() -> Vec<u8> {
    let mut bytes =
        b"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
        property float z\nelement face 1\nproperty list uchar uint vertex_indices\nend_header\n"
            .to_vec();
    [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().for_each(|c| bytes.extend(c.to_le_bytes()));
    bytes.push(3);
    [0u32, 1, 2].iter().for_each(|c| bytes.extend(c.to_le_bytes()));
    bytes
}

fn binary_stl() -> Vec<u8> {
    let mut bytes = vec![b's'; 80];
    bytes.extend(1u32.to_le_bytes());
    bytes.extend([0; 12]);
    [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().for_each(|c| bytes.extend(c.to_le_bytes()));
    bytes.extend([0; 2]);
    bytes
}

/// Two frames of two points.
fn pc2() -> Vec<u8> {
    let mut bytes = b"POINTCACHE2\0".to_vec();
    [1i32, 2].iter().for_each(|count| bytes.extend(count.to_le_bytes()));
    [0.0f32, 1.0].iter().for_each(|frame| bytes.extend(frame.to_le_bytes()));
    bytes.extend(2i32.to_le_bytes());
    (0..12).for_each(|i| bytes.extend((i as f32).to_le_bytes()));
    bytes
}

/// Two frames of two points.
fn mdd() -> Vec<u8> {
    let mut bytes = Vec::new();
    [2i32, 2].iter().for_each(|count| bytes.extend(count.to_be_bytes()));
    (0..14).for_each(|i| bytes.extend((i as f32).to_be_bytes()));
    bytes
}

fn seeds() -> Vec<Vec<u8>> {
    let texts = [OBJ, PLY, STL, NODE, ELE, BVH].map(|text| text.as_bytes().to_vec());
    texts.into_iter().chain([binary_ply(), binary_stl(), pc2(), mdd()]).collect()
}

/// Every reader on the same bytes; a mesh that comes out must be one.
fn read_all(bytes: &[u8]) {
    for read in [read_obj, read_ply, read_stl] {
        if let Ok(mesh) = read(bytes) {
            let count = mesh.value.vertices.len();
            assert!(mesh.value.triangles.iter().flatten().all(|&v| (v as usize) < count));
            assert!(mesh.value.vertices.iter().all(|v| v.iter().all(|c| c.is_finite())));
            assert!(!mesh.value.triangles.is_empty());
        }
    }
    if let Ok(bvh) = read_bvh(bytes, &BvhOptions::default()) {
        let bvh = bvh.value;
        assert_eq!(bvh.frames.len(), bvh.frame_count * bvh.channel_count);
        assert!(bvh.frames.iter().all(|x| x.is_finite()));
        assert!(bvh.joints.iter().enumerate().all(|(i, joint)| joint.parent.is_none_or(|parent| parent < i)));
        (0..bvh.frame_count)
            .for_each(|i| assert_eq!(bvh.world_from_joints(i).unwrap().len(), bvh.joints.len()));
        // lengths may be too small or large for a mass; what is built must move
        if let Ok(skeleton) = Skeleton::build(&bvh.to_skeleton(&BvhBody::default())) {
            assert_eq!(bvh.to_motion(&skeleton).is_ok(), bvh.frame_count > 0 || bvh.channel_count == 0);
        }
    }
    let samples = [
        read_pc2(bytes).ok().map(|read| read.value.samples),
        read_mdd(bytes).ok().map(|read| read.value.samples),
    ];
    for PointSamples { point_count, sample_count, positions } in samples.into_iter().flatten() {
        assert_eq!(positions.len(), point_count * sample_count);
        assert!(positions.as_flattened().iter().all(|x| x.is_finite()));
        assert!(size_of_val(positions.as_slice()) <= bytes.len());
    }
    for (node, ele) in [(bytes, ELE.as_bytes()), (NODE.as_bytes(), bytes)] {
        if let Ok(mesh) = read_tetgen(node, ele) {
            assert!((0..mesh.value.tets.len()).all(|t| mesh.value.tet_volume(t) >= 0.0));
        }
    }
}

/// A change to a file: some bytes overwritten, a piece doubled or removed.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let seed = prop::sample::select(seeds());
    let pokes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
    let piece = (any::<prop::sample::Index>(), 0usize..40, 0usize..4);
    (seed, pokes, piece).prop_map(|(mut bytes, pokes, (at, length, copies))| {
        for (index, byte) in pokes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        let start = at.index(bytes.len());
        let piece = bytes[start..(start + length).min(bytes.len())].to_vec();
        bytes.splice(start..start + piece.len(), piece.repeat(copies));
        bytes
    })
}

/// Words that mean something to a reader, in any order.
fn word_salad() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "v",
        "f",
        "vertex",
        "face",
        "element",
        "property",
        "list",
        "uchar",
        "int",
        "float",
        "x",
        "y",
        "z",
        "ply",
        "format",
        "ascii",
        "1.0",
        "end_header",
        "solid",
        "endloop",
        "endsolid",
        "facet",
        "0",
        "1",
        "2",
        "3",
        "-1",
        "4000000000",
        "1e400",
        "nan",
        "-inf",
        "1/2/3",
        "//",
        "\\\n",
        "\n",
        "\n",
        "\n",
        "\r",
        "#",
        "vertex_indices",
        "HIERARCHY",
        "ROOT a {",
        "JOINT",
        "End Site {",
        "OFFSET 0 1 0",
        "CHANNELS",
        "Xrotation",
        "Yposition",
        "{",
        "}",
        "MOTION\nFrames:",
        "Frame Time: 1",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..120)
        .prop_map(|words| words.join(" ").into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_all(&bytes);
        let prefixed = [&b"ply\nformat binary_big_endian 1.0\nelement vertex 9\nproperty double x\nproperty char y\n\
            property ushort z\nelement face 9\nproperty list uchar int vertex_index\nend_header\n"[..], &bytes].concat();
        read_all(&prefixed);
    }

    #[test]
    fn changed_files(bytes in mutated()) {
        read_all(&bytes);
    }

    #[test]
    fn cut_files(seed in prop::sample::select(seeds()), at in any::<prop::sample::Index>()) {
        read_all(&seed[..at.index(seed.len())]);
    }

    #[test]
    fn words_in_any_order(bytes in word_salad()) {
        read_all(&bytes);
    }

    /// Counts that promise any number of vertices, faces and corners are found out by the end of the file.
    #[test]
    fn lying_headers(vertices in any::<u64>(), faces in any::<u64>(), corners in any::<u32>(), triangles in any::<u32>()) {
        let ply = PLY
            .replace("vertex 4", &format!("vertex {vertices}"))
            .replace("face 2", &format!("face {faces}"))
            .replace("3 0 1 2", &format!("{corners} 0 1 2"));
        read_all(ply.as_bytes());
        let mut binary = binary_ply();
        let at = binary.len() - 13;
        binary[at] = corners as u8;
        read_all(&binary);
        let mut stl = binary_stl();
        stl[80..84].copy_from_slice(&triangles.to_le_bytes());
        read_all(&stl);
        for at in [16, 28] {
            let mut pc2 = pc2();
            pc2[at..at + 4].copy_from_slice(&triangles.to_le_bytes());
            read_all(&pc2);
            pc2[44 - at..48 - at].copy_from_slice(&corners.to_le_bytes());
            read_all(&pc2);
        }
        for at in [0, 4] {
            let mut mdd = mdd();
            mdd[at..at + 4].copy_from_slice(&triangles.to_be_bytes());
            read_all(&mdd);
            mdd[4 - at..8 - at].copy_from_slice(&corners.to_be_bytes());
            read_all(&mdd);
        }
        let bvh = BVH
            .replace("Frames: 2", &format!("Frames: {vertices}"))
            .replace("CHANNELS 3", &format!("CHANNELS {corners}"));
        read_all(bvh.as_bytes());
        read_all(NODE.replacen('4', &vertices.to_string(), 1).as_bytes());
        read_all(ELE.replacen('1', &faces.to_string(), 1).as_bytes());
    }

    /// Each coordinate that Rust prints is read back to the bit.
    #[test]
    fn coordinates_survive_text(x in -1e9..1e9f64, y in -1e-9..1e-9f64, z in -1.0..1.0f64) {
        let text = format!("v {x} {y:e} {z}\nv 0 0 0\nv 1 1 1\nf 1 2 3\n");
        let mesh = read_obj(text.as_bytes()).unwrap().value;
        prop_assert_eq!(mesh.vertices[0].as_slice(), &[x, y, z]);
    }
}

/// Long runs that a careless reader answers in square time.
#[test]
fn long_runs_take_time_in_proportion() {
    let begun = std::time::Instant::now();
    read_all("\\\n".repeat(500_000).as_bytes());
    read_all("v 0 0 0 \\\n".repeat(100_000).as_bytes());
    let corners: String = (1..=200_000).map(|i| format!(" {i}")).collect();
    let vertices: String = (0..200_000).map(|i| format!("v {} {} 0\n", i % 17, i % 13)).collect();
    read_all(format!("{vertices}f{corners}\n").as_bytes());
    let polygon: String = (1..=500).map(|i| format!(" {i}")).collect();
    read_all(format!("{vertices}{}", format!("f{polygon}\n").repeat(200)).as_bytes());
    read_all(format!("HIERARCHY\n{}", "ROOT a { OFFSET 0 1 0 CHANNELS 0 }\n".repeat(100_000)).as_bytes());
    read_all(BVH.replace("JOINT b", &"JOINT b {".repeat(200_000)).as_bytes());
    read_all(
        BVH.replace("CHANNELS 3", &format!("CHANNELS 4000000 {}", "Xrotation ".repeat(300_000))).as_bytes(),
    );
    // square time would be hours; a busy machine is allowed a minute
    assert!(begun.elapsed().as_secs() < 60);
}
