//! Files that are stored: made by this code once, so that a change to the code that makes them cannot hide a change to the reader.
//! `SINEW_WRITE_CORPUS=1` writes them anew.

use crate::bar::{BEND, Document, F32, PLAIN, ROOT, bars};
use crate::{errors, read};
use serde_json::json;
use sinew_character::SurfaceId;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// A faulty file and what must be said about it.
fn faulty() -> Vec<(&'static str, Document, &'static str)> {
    let edited = |edit: &dyn Fn(&mut Document)| {
        let mut document = PLAIN.document();
        edit(&mut document);
        document
    };
    vec![
        (
            "faulty_circle",
            edited(&|d| d.json["nodes"][BEND]["children"] = json!([0])),
            "above or below itself",
        ),
        ("faulty_parents", edited(&|d| d.json["nodes"][0]["children"] = json!([ROOT, BEND])), "hangs from"),
        ("faulty_joint", edited(&|d| d.json["skins"][0]["joints"] = json!([ROOT])), "follow joint 1"),
        (
            "faulty_count",
            edited(&|d| {
                d.json["accessors"][0] = json!({ "componentType": F32, "type": "VEC3", "count": 1u64 << 40 })
            }),
            "more memory",
        ),
        ("faulty_range", edited(&|d| d.json["bufferViews"][0]["byteOffset"] = json!(u64::MAX)), "wants"),
    ]
}

fn stored(name: &str, made: &[u8]) -> Vec<u8> {
    let path = folder().join(format!("{name}.glb"));
    if std::env::var_os("SINEW_WRITE_CORPUS").is_some() {
        std::fs::write(&path, made).unwrap();
    }
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn stored_bars_stand_where_those_made_now_stand() {
    for (name, document) in bars() {
        let (old, new) = (read(stored(&format!("bar_{name}"), &document.to_glb())), read(document.to_glb()));
        assert_eq!(old.notes, new.notes);
        let surface = SurfaceId { node: 3, primitive: 0 };
        let vertices = |character: &sinew_gltf::CharacterFile| {
            character.rigged.world_vertices(surface, &character.rigged.pose_at(0, 0.7).unwrap()).unwrap()
        };
        assert_eq!(vertices(&old.value), vertices(&new.value), "{name}");
    }
}

#[test]
fn stored_faults_are_found() {
    for (name, document, words) in faulty() {
        let error = errors(stored(name, &document.to_glb()));
        assert!(error.contains(words), "{name}: {error}");
    }
}

/// However a bar is stored, divided it has the same nodes, joints and animations, four triangles for each, the same vertices first, and moves as before: each new vertex stands in the middle of an edge at rest, and its weights sum to 1.
#[test]
fn finer_bars_are_the_same_bars() {
    for (name, document) in bars() {
        let coarse = read(document.to_glb()).value;
        let fine = coarse.finer().unwrap().value;
        let (old, new) = (&coarse.rigged, &fine.rigged);
        assert_eq!(
            (&old.nodes, &old.skins, &old.animations),
            (&new.nodes, &new.skins, &new.animations),
            "{name}"
        );
        let (old, new) = (&old.meshes[0].primitives[0], &new.meshes[0].primitives[0]);
        assert_eq!(new.triangles.len(), 4 * old.triangles.len(), "{name}");
        assert_eq!(new.positions[..old.positions.len()], old.positions[..], "{name}");
        for (t, own) in old.triangles.iter().enumerate() {
            let [ab, bc, ca] = new.triangles[4 * t + 3];
            for (middle, [a, b]) in [ab, bc, ca].into_iter().zip([[0, 1], [1, 2], [2, 0]]) {
                let ends = 0.5 * (old.positions[own[a] as usize] + old.positions[own[b] as usize]);
                // rounded to single precision
                assert!(
                    (new.positions[middle as usize] - ends).norm() < 1e-6 * ends.norm().max(1.0),
                    "{name}"
                );
            }
        }
        let weights = new.weights.as_ref().expect("weights");
        for vertex in 0..new.positions.len() {
            let sum: f64 = weights.of(vertex).iter().map(|own| own.weight).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{name}: {sum}");
        }
    }
}
