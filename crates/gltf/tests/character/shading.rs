//! Normals of flesh: what a viewer shows is the normal of the moved surface, and hard edges stay hard.

use crate::baked::{Baked, bake, pose_of_file, wobble};
use crate::bar::{Document, F32, I8, I16, PLAIN, SHOWN, Stringing, floats, positions, triangles};
use crate::naive::Naive;
use crate::read;
use serde_json::json;
use sinew_character::SurfaceId;
use sinew_gltf::{Quantization, SkinnedGlbOptions};
use sinew_math::{Mat3, Vec3, real};

const BAR: SurfaceId = SurfaceId { node: SHOWN, primitive: 0 };

/// Unit normals of a surface, the mean of the triangles around weighted by area, where vertices of one group share their triangles.
fn area_normals(x: &[Vec3], triangles: &[[usize; 3]], group: &[usize]) -> Vec<Vec3> {
    let mut sums = vec![Vec3::zeros(); x.len()];
    for [a, b, c] in triangles {
        let doubled_area = (x[*b] - x[*a]).cross(&(x[*c] - x[*a]));
        [a, b, c].iter().for_each(|v| sums[group[**v]] += doubled_area);
    }
    group.iter().map(|first| sums[*first].normalize()).collect()
}

/// Every vertex for itself.
fn single() -> Vec<usize> {
    (0..positions().len()).collect()
}

fn corners() -> Vec<[usize; 3]> {
    triangles().iter().map(|triangle| triangle.map(usize::from)).collect()
}

/// A bar with smooth normals, as an exporter would write them.
fn smooth_bar() -> Document {
    let mut document = PLAIN.document();
    let at: Vec<Vec3> = positions().into_iter().map(Vec3::from).collect();
    let normals = area_normals(&at, &corners(), &single());
    let numbers: Vec<f64> = normals.iter().flat_map(|n| [n.x, n.y, n.z]).collect();
    let accessor = document.accessor(&floats(&numbers), F32, "VEC3", normals.len());
    document.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(accessor);
    document
}

fn played(quantization: Quantization) -> SkinnedGlbOptions {
    SkinnedGlbOptions { animation: Some(0), quantization, is_compact: false, ..SkinnedGlbOptions::default() }
}

fn baked(document: &Document, options: SkinnedGlbOptions) -> Baked {
    let character = read(document.to_glb()).value;
    bake(&character, options, &[BAR], |time| pose_of_file(&character, &options, time), wobble)
}

/// The mean angle (rad) between shown normals, with and without what morph targets add to them, and those of the moved surface.
fn mean_angles(baked: &Baked, corners: &[[usize; 3]], group: &[usize]) -> [f64; 2] {
    let (character, naive) = (baked.character().rigged, Naive::of_glb(&baked.bytes));
    let primitive = &naive.json["meshes"][0]["primitives"][0];
    let base = naive.elements(&primitive["attributes"]["NORMAL"]);
    let targets = primitive["targets"].as_array().unwrap();
    let deltas: Vec<Vec<Vec<f64>>> = targets.iter().map(|target| naive.elements(&target["NORMAL"])).collect();
    let weights = character.primitive(BAR).unwrap().weights.clone().unwrap();
    let (mut sums, mut count) = ([0.0; 2], 0.0);
    for (time, moved) in baked.moments(BAR) {
        let pose = character.pose_at(0, time).unwrap();
        let joints = character.joint_matrices(0, &pose).unwrap();
        let own = pose.morph_weights[SHOWN].as_ref().unwrap();
        for (vertex, wanted) in area_normals(&moved, corners, group).iter().enumerate() {
            let linear = |matrix: usize| joints[matrix].fixed_view::<3, 3>(0, 0).into_owned();
            let entries = weights.of(vertex).iter();
            let map: Mat3 = entries.map(|entry| entry.weight * linear(entry.joint as usize)).sum();
            let at_rest = Vec3::from_row_slice(&base[vertex]);
            let added = deltas.iter().zip(own).map(|(delta, w)| *w * Vec3::from_row_slice(&delta[vertex]));
            for (sum, normal) in sums.iter_mut().zip([at_rest + added.sum::<Vec3>(), at_rest]) {
                *sum += real::acos((map * normal).normalize().dot(wanted).clamp(-1.0, 1.0));
            }
            count += 1.0;
        }
    }
    sums.map(|sum| sum / count)
}

#[test]
fn shown_normals_are_those_of_the_moved_surface() {
    for quantization in [Quantization::Quantized, Quantization::Floats] {
        let options = SkinnedGlbOptions { error_fraction: 1e-4, ..played(quantization) };
        let baked = baked(&smooth_bar(), options);
        baked.assert_plays("with normals");
        let [with, without] = mean_angles(&baked, &corners(), &single());
        let told = baked.report.bodies[0].normal_angle.unwrap();
        // the told mean is weighted by area, and rings of the bar have equal areas but for the ends
        assert!(
            with < 3f64.to_radians() && with < 0.3 * without && told < 3f64.to_radians(),
            "{with} {without} {told}"
        );
    }
}

/// Flesh that stays where it is skinned needs no targets for its vertices. Where the animation bends the bar, skinned normals are not those of the surface: targets that move nothing turn them.
#[test]
fn normals_of_bent_joints_have_targets_of_their_own() {
    let character = read(smooth_bar().to_glb()).value;
    let options = played(Quantization::Floats);
    let still = |x: &Vec3, _: f64| *x;
    let baked = bake(&character, options, &[BAR], |time| pose_of_file(&character, &options, time), still);
    baked.assert_plays("normals alone");
    let [with, without] = mean_angles(&baked, &corners(), &single());
    assert!(with < 3f64.to_radians() && without > 3f64.to_radians(), "{with} {without}");
    let json = baked.json();
    let targets = json["meshes"][0]["primitives"][0]["targets"].as_array().unwrap();
    let added = &targets[character.rigged.meshes[0].target_count()..];
    for target in added {
        let positions = &json["accessors"][target["POSITION"].as_u64().unwrap() as usize];
        assert!(positions.get("bufferView").is_none() && positions.get("sparse").is_none());
    }
    assert!(!added.is_empty());
}

#[test]
fn a_compact_file_is_three_times_as_large_or_has_a_megabyte_per_minute() {
    let bytes = smooth_bar().to_glb();
    let character = read(bytes.clone()).value;
    let [compact, full] = [true, false].map(|is_compact| {
        let options = SkinnedGlbOptions { is_compact, ..played(Quantization::Floats) };
        let pose = |time| pose_of_file(&character, &options, time);
        bake(&character, options, &[BAR], pose, wobble).report
    });
    let seconds = compact.bodies[0].clips[0].frames as f64 / SkinnedGlbOptions::default().fps;
    let most = (3.0 * bytes.len() as f64).max(seconds * 1e6 / 60.0);
    assert!(full.bytes as f64 > 1.2 * most && compact.bytes as f64 <= most, "{most} {compact:?} {full:?}");
}

#[test]
fn whole_numbers_take_fewer_bytes_and_floats_need_no_extension() {
    let character = read(smooth_bar().to_glb()).value;
    // whole numbers stand for displacements of up to one unit of the mesh
    let gentle = |x: &Vec3, time: f64| x + 0.3 * (wobble(x, time) - x);
    let [small, large] = [Quantization::Quantized, Quantization::Floats].map(|quantization| {
        let options = played(quantization);
        bake(&character, options, &[BAR], |time| pose_of_file(&character, &options, time), gentle)
    });
    assert!(small.report.bytes_added < large.report.bytes_added, "{:?} {:?}", small.report, large.report);
    for (baked, kinds) in [(&small, [I16, I8]), (&large, [F32, F32])] {
        // the first target is the file's own
        let json = baked.json();
        let target = &json["meshes"][0]["primitives"][0]["targets"][1];
        for (attribute, kind) in ["POSITION", "NORMAL"].iter().zip(kinds) {
            let accessor = &json["accessors"][target[attribute].as_u64().unwrap() as usize];
            assert_eq!(accessor["componentType"], json!(kind), "{attribute}");
        }
    }
    assert_eq!(small.json()["extensionsRequired"], json!(["KHR_mesh_quantization"]));
    assert!(large.json().get("extensionsRequired").is_none());
    for baked in [&small, &large] {
        assert!(baked.report.bodies[0].is_met(), "{}", baked.report.bodies[0]);
        baked.assert_plays("quantised or not");
    }
}

/// Keys are packed, the few vertices of the bar are not; everything plays as before.
#[test]
fn packed_files_play_alike() {
    let [plain, packed] = [false, true].map(|is_compressed| {
        let options = SkinnedGlbOptions { is_compressed, ..played(Quantization::Floats) };
        baked(&smooth_bar(), options)
    });
    assert!(packed.report.bytes < plain.report.bytes, "{} {}", packed.report.bytes, plain.report.bytes);
    assert_eq!(packed.json()["extensionsRequired"], json!(["EXT_meshopt_compression"]));
    let [plain, packed] = [plain, packed].map(|baked| baked.character().rigged);
    for time in [0.0, 0.31, 0.77] {
        let [plain, packed] =
            [&plain, &packed].map(|rigged| rigged.world_vertices(BAR, &rigged.pose_at(0, time).unwrap()));
        assert_eq!(plain, packed);
    }
}

#[test]
fn flat_faces_stay_flat() {
    // without indices every triangle has its own corners, and normals of its own
    let bar = crate::bar::Bar { stringing: Stringing::Unindexed, ..PLAIN };
    let mut document = bar.document();
    let all = positions();
    let at: Vec<Vec3> = bar.order().iter().map(|vertex| Vec3::from(all[*vertex])).collect();
    let corners: Vec<[usize; 3]> = (0..at.len() / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let own: Vec<usize> = (0..at.len()).collect();
    let normals = area_normals(&at, &corners, &own);
    let numbers: Vec<f64> = normals.iter().flat_map(|n| [n.x, n.y, n.z]).collect();
    let accessor = document.accessor(&floats(&numbers), F32, "VEC3", at.len());
    document.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(accessor);
    let options = SkinnedGlbOptions { error_fraction: 1e-4, ..played(Quantization::Quantized) };
    let baked = baked(&document, options);

    // corners at one position share the triangles of their side, and of no other
    let equal = |a: usize, b: usize| at[a] == at[b] && normals[a].dot(&normals[b]) > 0.999;
    let group: Vec<usize> = own.iter().map(|v| (0..=*v).find(|first| equal(*first, *v)).unwrap()).collect();
    let [with, without] = mean_angles(&baked, &corners, &group);
    assert!(with < 3f64.to_radians() && with < 0.3 * without, "{with} {without}");
}

#[test]
fn a_mesh_without_normals_gets_none() {
    let baked = baked(&PLAIN.document(), played(Quantization::Quantized));
    let targets = &baked.json()["meshes"][0]["primitives"][0]["targets"];
    assert!(targets.as_array().unwrap().iter().all(|target| target.get("NORMAL").is_none()));
    assert_eq!(baked.report.bodies[0].normal_angle, None);
}
