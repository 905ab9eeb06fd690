//! Alembic archives, read back by a reader made from the layout of Ogawa files alone, are the take they were made of.

mod alembic_reader;
mod moving_bodies;

use alembic_reader::{Archive, Node};
use moving_bodies::{bits, frames, two_bodies, write};
use sinew_io::{AlembicSink, Appearance, SurfaceAppearance, Up};
use sinew_take::{FrameSink, SurfaceInfo};
use std::fs;

/// The archive of a take of a sink.
fn written(surfaces: &[SurfaceInfo], frame_count: usize, up: Up, appearance: Appearance) -> Archive {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("take.abc");
    let mut sink = AlembicSink::new(&target, up).with_appearance(appearance);
    write(&mut sink, surfaces, &frames(surfaces, frame_count), folder.path());
    Archive::read(fs::read(target).unwrap())
}

fn vectors(bytes: &[u8]) -> Vec<[f32; 3]> {
    let numbers: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    numbers.as_chunks::<3>().0.to_vec()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// The mesh below a transform.
fn mesh<'a>(archive: &'a Archive, name: &str) -> &'a Node {
    let transform = archive.top.child(name);
    assert!(transform.metadata.contains("AbcGeom_Xform_v3"), "{}", transform.metadata);
    let mesh = transform.child(&format!("{name}Shape"));
    assert!(mesh.metadata.contains("schema=AbcGeom_PolyMesh_v1;"), "{}", mesh.metadata);
    mesh
}

#[test]
fn every_point_of_every_frame_comes_back_to_the_bit() {
    let surfaces = two_bodies();
    let archive = written(&surfaces, 4, Up::Y, Appearance::default());
    assert!(archive.description.contains("_ai_Description=Written by Sinew"));
    assert_eq!(archive.samplings, [(1, 1.0, 0.0), (4, 1.0 / 30.0, 0.0)]);
    for (body, name) in ["left_arm", "b"].iter().enumerate() {
        let mesh = mesh(&archive, name);
        let points = mesh.property("P");
        assert_eq!((points.count, points.sampling, points.pod, points.extent), (4, 1, 10, 3));
        assert_eq!(points.metadata, "geoScope=vtx;interpretation=point");
        let normals = mesh.property("N");
        let bounds = mesh.property(".selfBnds");
        for (f, frame) in frames(&surfaces, 4).iter().enumerate() {
            let there = vectors(points.sample(f));
            assert_eq!(bits(&there), bits(&frame.surfaces[body]), "{name}, frame {f}");
            let lengths =
                vectors(normals.sample(f)).into_iter().map(|n| n.iter().map(|x| x * x).sum::<f32>());
            assert!(
                lengths.clone().count() == there.len()
                    && lengths.clone().all(|length| (length - 1.0).abs() < 1e-5)
            );
            let box_of: Vec<f64> =
                bounds.sample(f).as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
            for axis in 0..3 {
                let along = || there.iter().map(|p| f64::from(p[axis]));
                assert_eq!(box_of[axis], along().fold(f64::INFINITY, f64::min));
                assert_eq!(box_of[axis + 3], along().fold(f64::NEG_INFINITY, f64::max));
            }
        }

        // clockwise faces
        let corners = words(mesh.property(".faceIndices").sample(0));
        let expected: Vec<u32> = surfaces[body].triangles.iter().flat_map(|[a, b, c]| [*c, *b, *a]).collect();
        assert_eq!(corners, expected);
        assert_eq!(words(mesh.property(".faceCounts").sample(3)), vec![3; surfaces[body].triangles.len()]);
        assert!(mesh.properties.iter().all(|property| property.name != "uv"));
    }
}

#[test]
fn corners_have_texture_coordinates_with_v_upwards() {
    let surfaces = two_bodies();
    let uvs = vec![(0..5).map(|v| [0.125 * v as f32, 0.25]).collect()];
    let first = SurfaceAppearance { uv_sets: uvs, ..SurfaceAppearance::default() };
    let archive = written(&surfaces, 1, Up::Y, Appearance { surfaces: vec![first], ..Appearance::default() });
    let uv = mesh(&archive, "left_arm").property("uv");
    assert_eq!((uv.count, uv.extent, uv.sampling), (1, 2, 0));
    assert!(uv.metadata.contains("geoScope=fvr;"));
    let found: Vec<f32> =
        uv.sample(0).as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let corners = surfaces[0].triangles.iter().flat_map(|[a, b, c]| [*c, *b, *a]);
    let expected: Vec<f32> = corners.flat_map(|v| [0.125 * v as f32, 0.75]).collect();
    assert_eq!(found, expected);
}

#[test]
fn y_is_up_and_a_take_without_frames_is_at_rest() {
    let surfaces = two_bodies();
    let archive = written(&surfaces, 0, Up::Z, Appearance::default());
    let points = mesh(&archive, "b").property("P");
    assert_eq!(points.count, 1);
    let expected: Vec<[f32; 3]> = surfaces[1].rest.iter().map(|[x, y, z]| [*x, *z, -y]).collect();
    assert_eq!(bits(&vectors(points.sample(0))), bits(&expected));
}

/// Readers share samples of equal digests.
#[test]
fn different_samples_have_different_digests() {
    let archive = written(&two_bodies(), 4, Up::Y, Appearance::default());
    let points = mesh(&archive, "left_arm").property("P");
    assert_eq!(points.digests.len(), 4);
    assert!((1..4).all(|f| points.digests[f] != points.digests[f - 1]));
}

#[test]
fn what_cannot_be_written_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("take.abc");
    moving_bodies::check_refusals(|| AlembicSink::new(&target, Up::Y), &two_bodies(), folder.path());
    for fps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = AlembicSink::new(&target, Up::Y).begin(&two_bodies(), fps).unwrap_err().to_string();
        assert!(error.contains("the frame rate is"), "{error}");
    }
}
