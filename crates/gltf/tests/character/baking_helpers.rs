//! Flesh on helper bones in a character's own file: it plays as it was given, within the error that is reported.

use crate::baked::{Baked, bake, pose_of_file, wobble};
use crate::bar::{BEND, Document, PLAIN, SHOWN, bars};
use crate::naive::Naive;
use crate::read;
use serde_json::{Value, json};
use sinew_character::SurfaceId;
use sinew_gltf::{CharacterFile, FleshBake, SkinnedGlbOptions};
use sinew_math::Vec3;

const BAR: SurfaceId = SurfaceId { node: SHOWN, primitive: 0 };

fn options(bake: FleshBake, helper_limit: usize) -> SkinnedGlbOptions {
    SkinnedGlbOptions {
        animation: Some(0),
        bake,
        helper_limit: Some(helper_limit),
        error_fraction: 1e-4,
        ..SkinnedGlbOptions::default()
    }
}

fn bake_bar(document: &Document, options: SkinnedGlbOptions) -> (CharacterFile, Baked) {
    let character = read(document.to_glb()).value;
    let baked = bake(&character, options, &[BAR], |time| pose_of_file(&character, &options, time), wobble);
    (character, baked)
}

#[test]
fn helpers_play_as_they_were_fitted_in_every_packing() {
    for (name, document) in bars() {
        let (_, baked) = bake_bar(&document, options(FleshBake::Bones, 6));
        let body = &baked.report.bodies[0];
        assert!(body.helpers > 0 && body.helpers <= 6 && body.components == 0, "{name}: {body}");
        assert!(baked.report.notes.is_empty(), "{name}: {:?}", baked.report.notes);
        baked.assert_plays(name);
    }
}

#[test]
fn morph_targets_carry_what_helpers_leave() {
    let (_, bones) = bake_bar(&PLAIN.document(), options(FleshBake::Bones, 2));
    let (_, both) = bake_bar(&PLAIN.document(), options(FleshBake::BonesAndMorphs, 2));
    let (bones_only, both_of) = (&bones.report.bodies[0], &both.report.bodies[0]);
    assert!(!bones_only.is_met() && bones_only.to_string().contains("--helpers"), "{bones_only}");
    assert!(both_of.is_met() && both_of.helpers == 2 && both_of.components > 0, "{both_of}");
    both.assert_plays("bones and morphs");
}

#[test]
fn joints_of_the_file_keep_their_places_and_helpers_come_behind_them() {
    let (character, baked) = bake_bar(&PLAIN.document(), options(FleshBake::Bones, 4));
    let (before, now) = (Naive::of_glb(character.source.bytes()).json, baked.json());
    let joints = |json: &Value| json["skins"][0]["joints"].as_array().unwrap().clone();
    let (old, new) = (joints(&before), joints(&now));
    assert_eq!(&new[..old.len()], &old[..]);
    assert_eq!(new.len(), old.len() + baked.report.bodies[0].helpers);
    for node in &new[old.len()..] {
        // each is a child of a joint of the file, and has a name and no matrix
        let parents = now["nodes"].as_array().unwrap().iter().enumerate();
        let parent = parents
            .filter(|(_, other)| other["children"].as_array().is_some_and(|all| all.contains(node)))
            .map(|(parent, _)| json!(parent));
        assert!(
            parent.eq(old
                .iter()
                .filter(|joint| {
                    now["nodes"][joint.as_u64().unwrap() as usize]["children"]
                        .as_array()
                        .is_some_and(|all| all.contains(node))
                })
                .cloned())
        );
        let helper = &now["nodes"][node.as_u64().unwrap() as usize];
        assert!(
            helper["name"].as_str().unwrap().starts_with("flesh helper ") && helper.get("matrix").is_none()
        );
    }
}

/// The armature of the bar is scaled by a half, and so are its joints in the world. Blender's importer drops scales from the bones that it binds a surface to: it is right for
/// surfaces whose bones all have one scale. Inverse bind matrices are single precision, some roundings of 6e-8.
#[test]
fn helpers_are_bound_at_the_scale_of_the_joints() {
    let (character, baked) = bake_bar(&PLAIN.document(), options(FleshBake::Bones, 4));
    assert!(character.rigged.nodes[BEND].world_from_node.column(0).norm() < 0.6);
    let of_file = baked.character().rigged;
    let skin = &of_file.skins[0];
    let volume = |slot: usize| skin.inverse_bind[slot].fixed_view::<3, 3>(0, 0).determinant();
    let added = character.rigged.skins[0].joints.len()..skin.joints.len();
    assert!(!added.is_empty());
    for slot in added {
        assert!((volume(slot) / volume(0) - 1.0).abs() < 1e-6, "{}", volume(slot));
        assert!((of_file.nodes[skin.joints[slot]].rest.scale() - Vec3::repeat(1.0)).amax() < 1e-15);
    }
}

#[test]
fn weights_use_one_set_of_four_or_two() {
    for (influence_limit, sets) in [(4, 1), (8, 2)] {
        let options = SkinnedGlbOptions { influence_limit, ..options(FleshBake::Bones, 12) };
        let (_, baked) = bake_bar(&PLAIN.document(), options);
        baked.assert_plays("influences");
        let (json, naive) = (baked.json(), Naive::of_glb(&baked.bytes));
        let attributes = &json["meshes"][0]["primitives"][0]["attributes"];
        assert!(attributes.get("JOINTS_1").is_some() == (sets == 2), "{attributes}");
        let joints = naive.elements(&attributes["JOINTS_0"]);
        let weights = naive.elements(&attributes["WEIGHTS_0"]);
        for (joints, weights) in joints.iter().zip(&weights) {
            assert!(joints.iter().zip(weights).all(|(joint, weight)| *weight > 0.0 || *joint == 0.0));
        }
    }
}
