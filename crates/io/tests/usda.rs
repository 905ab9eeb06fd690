//! USD text, read back by a naive reader, is the take it was made of.

mod moving_bodies;

use moving_bodies::{bits, frames, two_bodies, write};
use sinew_io::{Up, UsdaSink};
use sinew_take::{FrameSink, SurfaceInfo};
use std::fs;

fn written(name: &str, up: Up, surfaces: &[SurfaceInfo], frame_count: usize) -> String {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join(name);
    write(&mut UsdaSink::new(&target, up), surfaces, &frames(surfaces, frame_count), folder.path());
    fs::read_to_string(target).unwrap()
}

/// The value after the first place where a line begins with `key`.
fn value<'a>(text: &'a str, key: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(key));
    line.unwrap_or_else(|| panic!("no {key}")).trim_end_matches(',')
}

/// The numbers in a list of points.
fn points(list: &str) -> Vec<[f32; 3]> {
    let digits = |c: char| "[](), ".contains(c);
    let numbers: Vec<f32> =
        list.split(digits).filter(|word| !word.is_empty()).map(|word| word.parse().unwrap()).collect();
    numbers.as_chunks::<3>().0.to_vec()
}

/// The text between an opening line and the brace that closes it.
fn block<'a>(text: &'a str, opening: &str) -> &'a str {
    let start = text.find(opening).unwrap_or_else(|| panic!("no {opening}"));
    let indent = text[..start].len() - text[..start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[start..].find(&format!("\n{}}}", " ".repeat(indent))).unwrap();
    &text[start..start + end]
}

#[test]
fn every_point_of_every_frame_comes_back_to_the_bit() {
    let surfaces = two_bodies();
    let text = written("take.usda", Up::Y, &surfaces, 4);
    assert!(text.starts_with("#usda 1.0\n(\n"));
    for (body, name) in ["left_arm", "b"].iter().enumerate() {
        let mesh = block(&text, &format!("def Mesh \"{name}\""));
        assert_eq!(bits(&points(value(mesh, "point3f[] points = "))), bits(&surfaces[body].rest));
        let point_samples = block(mesh, "point3f[] points.timeSamples");
        let extent_samples = block(mesh, "float3[] extent.timeSamples");
        assert_eq!(point_samples.lines().count(), 1 + 4);
        for (f, frame) in frames(&surfaces, 4).iter().enumerate() {
            let there = points(value(point_samples, &format!("{f}: ")));
            assert_eq!(bits(&there), bits(&frame.surfaces[body]));
            let extent = points(value(extent_samples, &format!("{f}: ")));
            for axis in 0..3 {
                let along = || there.iter().map(|p| p[axis]);
                assert_eq!(extent[0][axis], along().fold(f32::INFINITY, f32::min));
                assert_eq!(extent[1][axis], along().fold(f32::NEG_INFINITY, f32::max));
            }
        }
        let numbers = |key| -> Vec<u32> {
            let list = value(mesh, key).trim_matches(['[', ']']);
            list.split(", ").map(|number| number.parse().unwrap()).collect()
        };
        assert_eq!(numbers("int[] faceVertexIndices = "), surfaces[body].triangles.as_flattened());
        assert_eq!(numbers("int[] faceVertexCounts = "), vec![3; surfaces[body].triangles.len()]);
    }
    assert_eq!(text.matches('{').count(), text.matches('}').count());
}

/// Digits are made in pieces of a thousand by several threads.
#[test]
fn long_lists_keep_their_order() {
    let count = 5000;
    let rest = (0..count).map(|v| [v as f32, 0.5, -1.0]).collect();
    let triangles = (2..count).map(|v| [v - 2, v - 1, v]).collect();
    let surface = SurfaceInfo { name: "strip".into(), triangles, rest };
    let text = written("take.usda", Up::Y, std::slice::from_ref(&surface), 0);
    assert_eq!(points(value(&text, "point3f[] points = ")), surface.rest);
    let indices = value(&text, "int[] faceVertexIndices = ").trim_matches(['[', ']']);
    let indices: Vec<u32> = indices.split(", ").map(|number| number.parse().unwrap()).collect();
    assert_eq!(indices, surface.triangles.as_flattened());
}

#[test]
fn the_head_says_when_how_large_and_which_way_is_up() {
    for (up, axis) in [(Up::Y, "\"Y\""), (Up::Z, "\"Z\"")] {
        let text = written("my take.usda", up, &two_bodies(), 4);
        for (key, expected) in [
            ("defaultPrim = ", "\"my_take\""),
            ("startTimeCode = ", "0"),
            ("endTimeCode = ", "3"),
            ("timeCodesPerSecond = ", "30"),
            ("framesPerSecond = ", "30"),
            ("metersPerUnit = ", "1"),
            ("upAxis = ", axis),
            ("def Xform ", "\"my_take\" ("),
            ("uniform token subdivisionScheme = ", "\"none\""),
        ] {
            assert_eq!(value(&text, key), expected, "{key}");
        }
    }
}

#[test]
fn a_take_without_frames_has_its_bodies_at_rest() {
    let surfaces = two_bodies();
    let text = written("take.usda", Up::Y, &surfaces, 0);
    assert!(!text.contains("timeSamples"));
    assert_eq!(value(&text, "endTimeCode = "), "0");
    assert_eq!(bits(&points(value(&text, "point3f[] points = "))), bits(&surfaces[0].rest));
}

#[test]
fn names_become_identifiers_and_are_kept_beside() {
    let mut surfaces = two_bodies();
    surfaces[0].name = "1 \"a\\b\"\n".into();
    surfaces[1].name = "_1__a_b__".into();
    let text = written("take.usda", Up::Y, &surfaces, 1);
    let names: Vec<&str> =
        text.lines().filter_map(|line| line.trim_start().strip_prefix("def Mesh ")).collect();
    assert_eq!(names, ["\"_1__a_b__\" (", "\"_1__a_b___2\" ("]);
    assert_eq!(value(&text, "string name = "), r#""1 \"a\\b\" ""#);
}

#[test]
fn what_cannot_be_written_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("take.usda");
    moving_bodies::check_refusals(|| UsdaSink::new(&target, Up::Y), &two_bodies(), folder.path());
    for fps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = UsdaSink::new(&target, Up::Y).begin(&two_bodies(), fps).unwrap_err().to_string();
        assert!(error.contains("the frame rate is"), "{error}");
    }
}
