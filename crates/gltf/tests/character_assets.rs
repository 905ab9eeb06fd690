//! Characters that other people made, from the folder that `SINEW_ASSETS` names. They are not part of the project; the feature `assets`
//! turns this target on.

#[path = "character/baked.rs"]
mod baked;
#[path = "character/naive.rs"]
mod naive;

use baked::{bake, pose_of_file, wobble};
use naive::Naive;
use sinew_character::SurfaceId;
use sinew_files::Loaded;
use sinew_gltf::{CharacterFile, SkinnedGlbOptions, open_character, read_character};
use sinew_math::Vec3;
use std::path::PathBuf;

/// What is known of a file, counted and measured apart from the reader.
struct Known {
    file: &'static str,
    nodes: usize,
    joints: usize,
    vertices: usize,
    triangles: usize,
    channels: usize,
    /// The time of the last key (s).
    duration: f64,
    /// Sides of the box around the surface at bind (m), in the world.
    size: [f64; 3],
}

const CHARACTERS: [Known; 3] = [
    Known {
        file: "RiggedSimple.glb",
        nodes: 5,
        joints: 2,
        vertices: 160,
        triangles: 188,
        channels: 3,
        duration: 2.083333,
        size: [2.0, 9.1502, 2.0],
    },
    Known {
        file: "RiggedFigure.glb",
        nodes: 22,
        joints: 19,
        vertices: 370,
        triangles: 256,
        channels: 57,
        duration: 1.25,
        size: [1.1789, 1.4499, 0.3259],
    },
    Known {
        file: "CesiumMan.glb",
        nodes: 22,
        joints: 19,
        vertices: 3273,
        triangles: 4672,
        channels: 57,
        duration: 2.0,
        size: [1.1383, 1.5066, 0.312],
    },
];

fn path(file: &str) -> PathBuf {
    let folder = std::env::var_os("SINEW_ASSETS").expect("SINEW_ASSETS names the folder of the characters");
    PathBuf::from(folder).join(file)
}

fn open(file: &str) -> Loaded<CharacterFile> {
    open_character(&path(file)).unwrap_or_else(|errors| panic!("{errors}"))
}

fn read(bytes: Vec<u8>) -> Loaded<CharacterFile> {
    read_character(bytes).unwrap_or_else(|errors| panic!("{errors}"))
}

fn shown(character: &CharacterFile) -> SurfaceId {
    character.rigged.surfaces().next().expect("a surface")
}

fn sides(vertices: &[Vec3]) -> Vec3 {
    let low = vertices.iter().fold(Vec3::repeat(f64::MAX), |low, x| low.inf(x));
    vertices.iter().fold(Vec3::repeat(f64::MIN), |high, x| high.sup(x)) - low
}

#[test]
fn counts_and_sizes_are_those_that_are_known() {
    for known in CHARACTERS {
        let read = open(known.file);
        let character = read.value;
        let surface = shown(&character);
        let primitive = character.rigged.primitive(surface).unwrap();
        let animation = &character.rigged.animations[0];
        assert_eq!(character.rigged.nodes.len(), known.nodes, "{}", known.file);
        assert_eq!(character.rigged.skins[0].joints.len(), known.joints, "{}", known.file);
        assert_eq!(primitive.positions.len(), known.vertices, "{}", known.file);
        assert_eq!(primitive.triangles.len(), known.triangles, "{}", known.file);
        assert_eq!(animation.channels.len(), known.channels, "{}", known.file);
        assert!((animation.duration - known.duration).abs() < 1e-6, "{}: {}", known.file, animation.duration);
        assert!(character.rigged.is_skinned(surface) && character.rigged.surfaces().count() == 1);
        assert_eq!(character.source.bytes(), std::fs::read(path(known.file)).unwrap());
        let found = sides(&character.rigged.bind_vertices(surface).unwrap());
        // the sizes are written to a millimetre
        assert!((found - Vec3::from(known.size)).amax() < 1e-3, "{}: {found:?} {:?}", known.file, read.notes);
    }
}

#[test]
fn skinned_vertices_agree_with_the_naive_evaluation() {
    for known in CHARACTERS {
        let character = open(known.file).value;
        let naive = Naive::of_glb(character.source.bytes());
        let surface = shown(&character);
        for fraction in [None, Some(0.0), Some(0.1), Some(0.33), Some(0.5), Some(0.77), Some(1.0), Some(1.5)]
        {
            let played = fraction.map(|fraction| (0, fraction * known.duration));
            let pose = played.map_or(character.rigged.rest_pose(), |(animation, time)| {
                character.rigged.pose_at(animation, time).unwrap()
            });
            let found = character.rigged.world_vertices(surface, &pose).unwrap();
            let expected = naive.vertices(surface.node, surface.primitive, played);
            let gap =
                found.iter().zip(&expected).map(|(a, b)| (a - Vec3::from(*b)).amax()).fold(0.0, f64::max);
            // lengths up to 10 through twelve products in double precision
            assert!(gap < 1e-12 && found.len() == known.vertices, "{} at {played:?}: {gap}", known.file);
        }
    }
}

#[test]
fn flesh_in_the_file_plays_as_it_was_given_and_all_else_stays() {
    for known in CHARACTERS {
        let character = open(known.file).value;
        let original = Naive::of_glb(character.source.bytes());
        for animation in [Some(0), None] {
            let options = SkinnedGlbOptions { animation, is_compact: false, ..SkinnedGlbOptions::default() };
            let surfaces = [shown(&character)];
            let pose = |time| pose_of_file(&character, &options, time);
            let baked = bake(&character, options, &surfaces, pose, wobble);
            let body = &baked.report.bodies[0];
            assert!(body.is_met() && body.components > 0, "{}: {body}", known.file);
            assert_eq!(
                baked.json()["animations"].as_array().unwrap().len(),
                character.rigged.animations.len() + usize::from(options.animation.is_none())
            );
            baked.assert_plays(known.file);
            let buffer = character.buffer(0).unwrap();
            // the clip with flesh may have further keys on the arcs of its rotations, with which it plays as before
            let clip = options.animation.map_or("/buffers/0/byteLength", |_| "/animations/0/samplers/");
            baked.assert_keeps(&original, buffer, &["/buffers/0/byteLength", clip]);
        }
    }
}
