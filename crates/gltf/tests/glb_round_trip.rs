//! A GLB, read back by an independent reader and evaluated by hand, is the take it was made of.

use sinew_gltf::{GlbOptions, GlbSink};
use sinew_mesh::shapes;
use sinew_take::Up;
use sinew_take::{Frame, FrameSink, SurfaceInfo};
use std::path::Path;

fn surface(name: &str, mesh: sinew_mesh::TriMesh) -> SurfaceInfo {
    let rest = mesh.vertices.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
    SurfaceInfo { name: name.into(), triangles: mesh.triangles, rest }
}

/// A ball that wobbles and falls, a ring that turns right round, and a box that stays.
fn take() -> (Vec<SurfaceInfo>, Vec<Frame>) {
    let surfaces = vec![
        surface("ball", shapes::sphere(0.5, 3)),
        surface("ring", shapes::torus(0.3, 0.1, 24, 12)),
        surface("box", shapes::cuboid([0.1, 0.2, 0.3])),
    ];
    let frame = |f: usize| {
        let t = f as f32 / 30.0;
        let wobble = |p: &[f32; 3]| {
            let squeeze = 1.0 + 0.2 * (6.0 * t).sin() * (4.0 * p[0] + t).cos();
            [p[0] / squeeze, p[1] * squeeze + 3.0 - 2.0 * t * t, p[2] / squeeze]
        };
        let turn = |p: &[f32; 3]| {
            let (sin, cos) = (3.0 * t).sin_cos();
            [cos * p[0] - sin * p[1] + 10.0 * t, sin * p[0] + cos * p[1], p[2]]
        };
        let moved = vec![
            surfaces[0].rest.iter().map(wobble).collect(),
            surfaces[1].rest.iter().map(turn).collect(),
            surfaces[2].rest.clone(),
        ];
        Frame { time: f64::from(t), surfaces: moved, ..Frame::default() }
    };
    let frames = (0..60).map(frame).collect();
    (surfaces, frames)
}

fn write(target: &Path, options: GlbOptions, surfaces: &[SurfaceInfo], frames: &[Frame]) -> GlbSink {
    let mut sink = GlbSink::new(target, options);
    sink.begin(surfaces, 30.0).unwrap();
    frames.iter().for_each(|frame| sink.frame(frame).unwrap());
    assert!(!target.exists());
    sink.finish().unwrap();
    sink
}

#[test]
fn every_frame_comes_back_within_the_stated_error() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("take.glb");
    let (surfaces, frames) = take();
    let sink = write(&target, GlbOptions::default(), &surfaces, &frames);
    let report = sink.report().unwrap();
    let bytes = std::fs::read(&target).unwrap();
    assert_eq!(report.bytes, bytes.len() as u64);

    let gltf = gltf::Gltf::from_slice(&bytes).unwrap();
    let binary = gltf.blob.as_deref().unwrap();
    let animation = gltf.animations().next().unwrap();
    for (b, (info, body)) in surfaces.iter().zip(&report.bodies).enumerate() {
        assert!(body.is_met(), "{body}");
        let node = gltf.nodes().nth(b).unwrap();
        let mesh = node.mesh().unwrap();
        let reader = mesh.primitives().next().unwrap();
        let reader = reader.reader(|_| Some(binary));
        let base: Vec<[f32; 3]> = reader.read_positions().unwrap().collect();
        let triangles: Vec<u32> = reader.read_indices().unwrap().into_u32().collect();
        assert_eq!(triangles, info.triangles.concat());
        assert!(
            reader.read_normals().unwrap().all(|n| (n.iter().map(|c| c * c).sum::<f32>() - 1.0).abs() < 1e-5)
        );
        let targets: Vec<Vec<[f32; 3]>> =
            reader.read_morph_targets().map(|(positions, _, _)| positions.unwrap().collect()).collect();
        assert_eq!(targets.len(), body.components);
        if targets.is_empty() {
            assert_eq!(base, info.rest);
            continue;
        }
        let channel = animation.channels().find(|c| c.target().node().index() == node.index()).unwrap();
        let reader = channel.reader(|_| Some(binary));
        let times: Vec<f32> = reader.read_inputs().unwrap().collect();
        let Some(gltf::animation::util::ReadOutputs::MorphTargetWeights(weights)) = reader.read_outputs()
        else {
            panic!("no weights");
        };
        let weights: Vec<f32> = weights.into_f32().collect();
        assert_eq!((times.len(), weights.len()), (frames.len(), frames.len() * targets.len()));
        let mut largest: f64 = 0.0;
        for ((frame, time), weights) in frames.iter().zip(&times).zip(weights.chunks(targets.len())) {
            assert_eq!(frame.time as f32, *time);
            for v in 0..base.len() {
                let played = [0, 1, 2].map(|i| {
                    f64::from(base[v][i])
                        + targets
                            .iter()
                            .zip(weights)
                            .map(|(d, w)| f64::from(d[v][i]) * f64::from(*w))
                            .sum::<f64>()
                });
                let apart =
                    (0..3).map(|i| (played[i] - f64::from(frame.surfaces[b][v][i])).powi(2)).sum::<f64>();
                largest = largest.max(apart.sqrt());
            }
        }
        // the sink adds up in single precision: positions up to 20 m, 64 terms, half a unit in the last place each
        let round_off = 20.0 * 64.0 * 0.5 * f64::from(f32::EPSILON);
        assert!((largest - body.largest_error).abs() < round_off, "{largest} against {}", body.largest_error);
    }
}

#[test]
fn a_deforming_body_keeps_normals_that_follow_it() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("take.glb");
    let surfaces = [surface("ball", shapes::sphere(0.5, 3))];
    // a shear along x grows with time, so the normals tilt
    let frame = |f: usize| {
        let shear = 0.4 * f as f32 / 20.0;
        let moved = surfaces[0].rest.iter().map(|[x, y, z]| [x + shear * y, *y, *z]).collect();
        Frame { time: f as f64 / 30.0, surfaces: vec![moved], ..Frame::default() }
    };
    let frames: Vec<Frame> = (0..21).map(frame).collect();
    let sink = write(&target, GlbOptions::default(), &surfaces, &frames);
    assert_eq!(sink.report().unwrap().bodies[0].components, 1);
    let gltf = gltf::Gltf::from_slice(&std::fs::read(&target).unwrap()).unwrap();
    let binary = gltf.blob.as_deref().unwrap();
    let mesh = gltf.meshes().next().unwrap();
    let weight = mesh.weights().unwrap()[0];
    let primitive = mesh.primitives().next().unwrap();
    let reader = primitive.reader(|_| Some(binary));
    let deltas: Vec<[f32; 3]> = reader.read_morph_targets().next().unwrap().1.unwrap().collect();
    for ((base, delta), rest) in reader.read_normals().unwrap().zip(&deltas).zip(&surfaces[0].rest) {
        // the first frame is the ball at rest, whose normals point away from the centre
        let normal = [0, 1, 2].map(|i| base[i] + weight * delta[i]);
        let length = normal.iter().map(|c| c * c).sum::<f32>().sqrt();
        let along: f32 = (0..3).map(|i| normal[i] * rest[i]).sum::<f32>() / (0.5 * length);
        // one component is linear in time, normals are not: a few degrees remain of the twenty
        assert!(along > 0.995, "{along}");
    }
}

#[test]
fn a_limit_that_keeps_the_error_from_being_met_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (surfaces, frames) = take();
    let options = GlbOptions { component_limit: 2, ..GlbOptions::default() };
    let sink = write(&folder.path().join("take.glb"), options, &surfaces, &frames);
    let ring = &sink.report().unwrap().bodies[1];
    assert!(ring.components == 2 && !ring.is_met());
    assert!(ring.to_string().contains("were asked for"), "{ring}");
}

#[test]
fn z_up_is_turned_to_y_up_by_a_node() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("take.glb");
    let (surfaces, frames) = take();
    write(&target, GlbOptions { up: Up::Z, ..GlbOptions::default() }, &surfaces, &frames);
    let gltf = gltf::Gltf::from_slice(&std::fs::read(&target).unwrap()).unwrap();
    let root = gltf.default_scene().unwrap().nodes().next().unwrap();
    assert_eq!(root.children().count(), 3);
    let m = root.transform().matrix();
    // the image of z is column 2
    assert!((m[2][1] - 1.0).abs() < 1e-6);
}

#[test]
fn what_does_not_fit_is_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let (surfaces, frames) = take();
    let small = GlbOptions { memory_limit: 60_000, ..GlbOptions::default() };
    let mut sink = GlbSink::new(folder.path().join("a.glb"), small);
    sink.begin(&surfaces, 30.0).unwrap();
    let refused = frames.iter().find_map(|frame| sink.frame(frame).err()).unwrap();
    assert!(refused.to_string().contains("OBJ sequence"), "{refused}");
    let known = GlbOptions { frame_count: Some(60), ..small };
    assert!(GlbSink::new(folder.path().join("a.glb"), known).begin(&surfaces, 30.0).is_err());
    drop(sink);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_target_that_cannot_be_written_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let (surfaces, frames) = take();
    for target in [folder.path().to_owned(), folder.path().join("missing/a.glb")] {
        assert!(GlbSink::new(target, GlbOptions::default()).begin(&surfaces, 30.0).is_err());
    }
    let mut sink = GlbSink::new(folder.path().join("a.glb"), GlbOptions::default());
    assert!(sink.frame(&frames[0]).is_err() && sink.finish().is_err());
    sink.begin(&surfaces, 30.0).unwrap();
    sink.frame(&frames[1]).unwrap();
    assert!(sink.frame(&frames[0]).unwrap_err().to_string().contains("time must grow"));
}

#[test]
fn a_take_of_one_frame_or_none_is_a_still_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let (surfaces, frames) = take();
    for count in [0, 1] {
        let target = folder.path().join(format!("{count}.glb"));
        write(&target, GlbOptions::default(), &surfaces, &frames[..count]);
        let gltf = gltf::Gltf::from_slice(&std::fs::read(&target).unwrap()).unwrap();
        assert_eq!((gltf.meshes().count(), gltf.animations().count()), (3, 0));
    }
}
