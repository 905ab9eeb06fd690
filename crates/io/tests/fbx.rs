//! Characters in FBX: what is in the file arrives, whatever its unit, axes and encoding; damaged files are refused and never crash.

#[path = "fbx/bar.rs"]
mod bar;
#[path = "fbx/document.rs"]
mod document;

use bar::Form;
use document::{ascii, binary};
use proptest::prelude::*;
use sinew_character::{CapturedMotion, RiggedCharacter, SurfaceId};
use sinew_gltf::CharacterFile;
use sinew_io::{CharacterChoice, open_character, open_source, read_fbx};
use sinew_math::Vec3;

/// Single precision of a metre, three products in a row.
const ROUND_OFF: f64 = 1e-5;

fn bar(form: Form) -> RiggedCharacter {
    read_fbx(&ascii(&form.document()), None).unwrap().value.rigged
}

const PLAIN: Form = Form { unit: 1.0, up: 1 };

#[test]
fn a_bar_arrives_with_its_joints_weights_shapes_and_take() {
    let rigged = bar(PLAIN);
    let names: Vec<&str> = rigged.nodes.iter().map(|node| node.label.as_str()).collect();
    assert_eq!(names, ["Bar", "lower", "upper"]);
    let (skin, mesh) = (&rigged.skins[0], &rigged.meshes[0]);
    assert_eq!(
        (skin.joints.as_slice(), mesh.target_names.as_slice()),
        (&[1, 2][..], &["Swell".to_owned()][..])
    );
    assert_eq!(rigged.materials[0].base_color, [0.8, 0.4, 0.2, 1.0]);
    let primitive = &mesh.primitives[0];
    // a vertex for each corner of each face, since faces have hard edges
    assert_eq!((primitive.positions.len(), primitive.triangles.len()), (24, 12));
    assert_eq!(primitive.targets[0].vertices.len(), 3);
    for (vertex, position) in primitive.positions.iter().enumerate() {
        let entry = primitive.weights.as_ref().unwrap().of(vertex)[0];
        assert_eq!((entry.joint, entry.weight), (u32::from(position.y > 0.0), 1.0));
    }
    let wave = &rigged.animations[0];
    assert_eq!((wave.name.as_deref(), wave.duration), (Some("Wave"), 1.0));
}

#[test]
fn units_and_axes_become_metres_with_y_up() {
    for form in [PLAIN, Form { unit: 100.0, up: 1 }, Form { unit: 2.54, up: 2 }, Form { unit: 1.0, up: 2 }] {
        let rigged = bar(form);
        let surface = SurfaceId { node: 0, primitive: 0 };
        let at = |time: f64| {
            let pose = rigged.pose_at(0, time).unwrap();
            let places = rigged.world_vertices(surface, &pose).unwrap();
            let extent =
                places.iter().fold((places[0], places[0]), |(low, high), p| (low.inf(p), high.sup(p)));
            (pose.world_from_node[2].fixed_view::<3, 1>(0, 3).into_owned(), extent)
        };

        // at first as it was bound
        let (upper, (low, high)) = at(0.0);
        assert!(upper.norm() < ROUND_OFF, "{form:?}: {upper}");
        assert!((low - Vec3::new(-0.1, -0.5, -0.1)).norm() < ROUND_OFF, "{form:?}: {low}");
        assert!((high - Vec3::new(0.1, 0.5, 0.1)).norm() < ROUND_OFF, "{form:?}: {high}");

        // at last a metre along x, with the upper half to the left: the corner at (0.1, 0.5) is at (−0.5, 0.1) about the joint
        let (upper, (low, high)) = at(1.0);
        assert!((upper - Vec3::x()).norm() < ROUND_OFF, "{form:?}: {upper}");
        assert!((low - Vec3::new(0.5, -0.5, -0.1)).norm() < ROUND_OFF, "{form:?}: {low}");
        assert!((high - Vec3::new(1.1, 0.1, 0.1)).norm() < ROUND_OFF, "{form:?}: {high}");
    }
}

#[test]
fn ascii_and_binary_say_the_same() {
    let document = PLAIN.document();
    let [text, bytes] =
        [ascii(&document), binary(&document)].map(|file| read_fbx(&file, None).unwrap().value);
    assert_eq!(text, bytes);
}

#[test]
fn the_glb_of_an_fbx_reads_as_the_same_character() {
    let fbx = read_fbx(&binary(&PLAIN.document()), None).unwrap().value;
    let file = CharacterFile::of_rigged(&fbx.rigged, &fbx.look).unwrap().value;
    let (made, read) = (&fbx.rigged, file.rigged.as_ref());
    assert_eq!(made.order, read.order);
    assert_eq!(made.meshes[0].primitives[0].triangles, read.meshes[0].primitives[0].triangles);
    assert_eq!(made.meshes[0].primitives[0].weights, read.meshes[0].primitives[0].weights);
    for time in [0.0, 0.3, 1.0] {
        let [a, b] = [made, read].map(|rigged| {
            let pose = rigged.pose_at(0, time).unwrap();
            rigged.world_vertices(SurfaceId { node: 0, primitive: 0 }, &pose).unwrap()
        });
        a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).norm() < ROUND_OFF));
    }
}

#[test]
fn an_fbx_file_is_a_scene_and_a_motion() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bar.FBX");
    std::fs::write(&path, binary(&PLAIN.document())).unwrap();
    let opened = open_source(&path, &CharacterChoice::default()).unwrap().value;
    assert_eq!(opened.scene.seconds, 1.0);
    assert_eq!(opened.scene.world.rigs.len(), 1);
    let captured = CapturedMotion::of_animation(&open_character(&path).unwrap().value.rigged, 0).unwrap();
    assert_eq!(captured.skeleton.bones.len(), 2);
}

#[test]
fn what_is_no_fbx_is_refused_with_words() {
    let whole = binary(&PLAIN.document());
    let message = |bytes: &[u8]| read_fbx(bytes, None).map(|_| ()).unwrap_err().to_string();
    assert!(message(&[0; 4000]).contains("is no FBX file"), "{}", message(&[0; 4000]));
    assert!(
        message(&whole[..whole.len() / 2]).contains("cut off or damaged"),
        "{}",
        message(&whole[..whole.len() / 2])
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Files with some bytes changed, or cut off, are read or refused; what is read can be written as glTF or is refused.
    #[test]
    fn damaged_files_never_crash(
        is_text: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        end in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let document = PLAIN.document();
        let mut bytes = if is_text { ascii(&document) } else { binary(&document) };
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Some(end) = end {
            bytes.truncate(end.index(bytes.len()));
        }
        if let Ok(read) = read_fbx(&bytes, None) {
            let _ = CharacterFile::of_rigged(&read.value.rigged, &read.value.look);
        }
    }
}
