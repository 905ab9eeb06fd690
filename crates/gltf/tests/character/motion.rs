//! Where nodes and vertices are over time.

use crate::bar::{ARMATURE, BEND, Document, F32, PLAIN, PROP, ROOT, SHOWN, bars, floats};
use crate::naive::Naive;
use crate::{notes_say, read};
use serde_json::json;
use sinew_character::{Mat4, SurfaceId};
use sinew_gltf::CharacterFile;
use sinew_math::Vec3;

const SHOWN_BAR: SurfaceId = SurfaceId { node: SHOWN, primitive: 0 };
const SHOWN_PROP: SurfaceId = SurfaceId { node: PROP, primitive: 0 };

/// Positions are of order 10 and pass through four products; both paths work in double precision.
const ROUND_OFF: f64 = 1e-13;

fn largest_gap(found: &[Vec3], expected: &[[f64; 3]]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(a, b)| (a - Vec3::from(*b)).amax()).fold(0.0, f64::max)
}

fn compare(name: &str, document: &Document) {
    let character = read(document.to_glb()).value;
    let naive = Naive::of_glb(&document.to_glb());
    for surface in [SHOWN_BAR, SHOWN_PROP] {
        let rest = character.rigged.world_vertices(surface, &character.rigged.rest_pose()).unwrap();
        assert!(largest_gap(&rest, &naive.vertices(surface.node, 0, None)) < ROUND_OFF, "{name}");
        for time in [-1.0, 0.0, 0.1, 0.25, 0.3, 0.5, 0.77, 1.0, 1.1, 1.25, 9.0] {
            let pose = character.rigged.pose_at(0, time).unwrap();
            let found = character.rigged.world_vertices(surface, &pose).unwrap();
            let gap = largest_gap(&found, &naive.vertices(surface.node, 0, Some((0, time))));
            assert!(gap < ROUND_OFF, "{name} at {time}: {gap}");
        }
    }
}

#[test]
fn skinned_and_carried_vertices_agree_with_the_naive_evaluation_in_every_packing() {
    for (name, document) in bars() {
        compare(name, &document);
    }
}

#[test]
fn all_packings_of_the_bar_move_alike() {
    let surface = |document: &Document| {
        let character = read(document.to_glb()).value;
        let pose = character.rigged.pose_at(0, 0.4).unwrap();
        character.rigged.world_vertices(SHOWN_BAR, &pose).unwrap()
    };
    let plain = surface(&PLAIN.document());
    for name in ["sparse", "strip", "two_sets"] {
        let (_, document) = bars().into_iter().find(|(kind, _)| *kind == name).unwrap();
        let gap = plain.iter().zip(surface(&document)).map(|(a, b)| (a - b).amax()).fold(0.0, f64::max);
        assert!(gap < ROUND_OFF, "{name}: {gap}");
    }
}

/// The bend turns a quarter about z at 0.5 s and the top ring, which follows it alone, lies to the left of it.
#[test]
fn the_top_of_the_bar_bows_by_hand_calculation() {
    let character = read(PLAIN.document().to_glb()).value;
    let pose = character.rigged.pose_at(0, 0.5).unwrap();
    let top = character.rigged.world_vertices(SHOWN_BAR, &pose).unwrap()[16];
    // the root's cubic at s = 1/3 of 0.75 s, component by component
    let (s, span) = (1.0 / 3.0, 0.75);
    let (out, next, into) = (s * s * s - 2.0 * s * s + s, 3.0 * s * s - 2.0 * s * s * s, s * s * s - s * s);
    let root = Vec3::new(span * out + span * into * 0.5, span * out * 2.0 + next, span * into + 0.5 * next);
    // (0.25, 1.25, −0.25) in the bend, the morph target being full at 0.5 s, turns to (−1.25, 0.25, −0.25)
    let in_armature = root + Vec3::new(-1.25, 1.25, -0.25);
    let expected = Vec3::new(3.0, 1.0, 0.0) + 0.5 * Vec3::new(in_armature.x, -in_armature.z, in_armature.y);
    // the quarter turn is stored in single precision: half an ulp of 0.7 on lengths of one
    assert!((top - expected).amax() < 1e-7, "{top} {expected}");
}

#[test]
fn joint_matrices_are_poses_times_inverse_binds() {
    let character = read(PLAIN.document().to_glb()).value;
    let pose = character.rigged.pose_at(0, 0.3).unwrap();
    let matrices = character.rigged.joint_matrices(0, &pose).unwrap();
    let mut inverse_bind = Mat4::identity();
    inverse_bind[(1, 3)] = -1.0;
    assert_eq!(matrices, [pose.world_from_node[ROOT], pose.world_from_node[BEND] * inverse_bind]);
    assert!(
        character.rigged.joint_matrices(1, &pose).is_none() && character.rigged.pose_at(1, 0.0).is_none()
    );
}

fn spread(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).amax()).fold(0.0, f64::max)
}

fn bar_at_rest(character: &CharacterFile) -> Vec<Vec3> {
    character.rigged.world_vertices(SHOWN_BAR, &character.rigged.rest_pose()).unwrap()
}

#[test]
fn where_rest_is_bind_both_are_the_same_surface() {
    let read = read(PLAIN.document().to_glb());
    assert!(!notes_say(&read, &["elsewhere at rest"]));
    let character = read.value;
    assert!(
        spread(&character.rigged.bind_vertices(SHOWN_BAR).unwrap(), &bar_at_rest(&character)) < ROUND_OFF
    );
    let skin = &character.rigged.skins[0];
    for (joint, pose) in skin.joints.iter().zip(&skin.bind_pose) {
        assert!((pose - character.rigged.nodes[*joint].world_from_node).amax() < ROUND_OFF);
    }
}

#[test]
fn a_bent_rest_pose_leaves_the_bind_pose_straight_and_is_noted() {
    let mut document = PLAIN.document();
    let straight = bar_at_rest(&read(document.to_glb()).value);
    document.json["nodes"][BEND]["rotation"] = json!([0.6, 0.0, 0.0, 0.8]);
    let read = read(document.to_glb());
    assert!(notes_say(&read, &["1 of 2 joints stand elsewhere at rest", "'bend'"]), "{:?}", read.notes);
    let character = read.value;
    assert!(spread(&character.rigged.bind_vertices(SHOWN_BAR).unwrap(), &straight) < ROUND_OFF);
    assert!(spread(&bar_at_rest(&character), &straight) > 0.1);
    // one unit along the armature's y, which is the world's z at half the size
    let bend = character.rigged.skins[0].bind_pose[1];
    assert!((bend.column(3).xyz() - Vec3::new(3.0, 1.0, 0.5)).amax() < ROUND_OFF);
}

/// Controls stand beside the skeleton's root, often moved, and may come first among the joints.
#[test]
fn a_moved_control_does_not_carry_the_bind_pose_away() {
    let mut document = PLAIN.document();
    let straight = bar_at_rest(&read(document.to_glb()).value);
    let control = document.push("nodes", json!({ "name": "control", "translation": [5, 5, 5] }));
    document.json["scenes"][0]["nodes"] = json!([ARMATURE, SHOWN, control]);
    // slots are as they were, the control at their end and its matrix an identity
    document.json["skins"][0]["joints"] = json!([ROOT, BEND, control]);
    let mut matrices = [[0.0; 16]; 3];
    matrices.iter_mut().for_each(|matrix| (0..4).for_each(|i| matrix[5 * i] = 1.0));
    matrices[1][13] = -1.0;
    let accessor = document.accessor(&floats(&matrices.concat()), F32, "MAT4", 3);
    document.json["skins"][0]["inverseBindMatrices"] = json!(accessor);
    let read = read(document.to_glb());
    assert!(notes_say(&read, &["1 of 3 joints stand elsewhere", "'control'"]), "{:?}", read.notes);
    assert!(spread(&read.value.rigged.bind_vertices(SHOWN_BAR).unwrap(), &straight) < ROUND_OFF);
}

/// Exporters often store vertices a hundred times as large as they are and undo it above the joints.
#[test]
fn bind_space_of_another_scale_lands_in_the_world_at_its_true_size() {
    let mut document = PLAIN.document();
    let hundred = 100.0;
    let mut matrices = [[0.0; 16]; 2];
    // joints at the origin and a hundred units up, in units of a hundredth
    matrices.iter_mut().for_each(|matrix| [0, 5, 10].iter().for_each(|i| matrix[*i] = 1.0 / hundred));
    matrices.iter_mut().for_each(|matrix| matrix[15] = 1.0);
    matrices[1][13] = -1.0;
    let accessor = document.accessor(&floats(&matrices.concat()), F32, "MAT4", 2);
    document.json["skins"][0]["inverseBindMatrices"] = json!(accessor);
    let large: Vec<f64> = crate::bar::positions().concat().iter().map(|x| hundred * x).collect();
    let accessor = document.accessor(&floats(&large), F32, "VEC3", large.len() / 3);
    document.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(accessor);
    document.json["meshes"][0]["weights"] = json!([0.0]);
    let character = read(document.to_glb()).value;
    let bind = character.rigged.bind_vertices(SHOWN_BAR).unwrap();
    // 0.01 is rounded to single precision
    assert!(spread(&bind, &bar_at_rest(&character)) < 1e-6);
    let height =
        bind.iter().map(|x| x.z).fold(f64::MIN, f64::max) - bind.iter().map(|x| x.z).fold(f64::MAX, f64::min);
    assert!((height - 1.0).abs() < 1e-6, "{height}");
}

#[test]
fn scales_are_told_apart_by_whether_bones_can_do_without() {
    let bar = |edit: &dyn Fn(&mut serde_json::Value)| {
        let mut document = PLAIN.document();
        edit(&mut document.json);
        read(document.to_glb())
    };
    let plain = bar(&|_| {});
    assert!(notes_say(&plain, &["1 joints", "'Armature'", "alike along all axes"]), "{:?}", plain.notes);
    let uneven = bar(&|json| json["nodes"][ROOT]["scale"] = json!([1, 2, 1]));
    assert!(notes_say(&uneven, &["'root'", "shears what hangs below"]), "{:?}", uneven.notes);
    let leaf = bar(&|json| json["nodes"][BEND]["scale"] = json!([1, 2, 1]));
    assert!(notes_say(&leaf, &["'bend'", "no turning joint below"]), "{:?}", leaf.notes);
    let mirror = bar(&|json| json["nodes"][BEND]["scale"] = json!([-1, 1, 1]));
    assert!(notes_say(&mirror, &["'bend'", "mirrored"]), "{:?}", mirror.notes);
    let animated = bar(&|json| {
        json["animations"][0]["channels"][2]["target"] = json!({ "node": ROOT, "path": "scale" });
    });
    assert!(notes_say(&animated, &["animations[0] scales 1 joints", "'root'", "bones keep their size"]));
    let sheared = bar(&|json| {
        json["nodes"][ARMATURE]["matrix"] = json!([1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    });
    assert!(notes_say(&sheared, &["'Armature'", "shears"]), "{:?}", sheared.notes);
    assert!((sheared.value.rigged.nodes[ARMATURE].world_from_node[(0, 1)] - 0.5).abs() < 1e-15);
}
