//! Takes for tests of sinks: few vertices, with the numbers that are hard to write.

use sinew_take::{Frame, FrameSink, SurfaceInfo};
use std::path::Path;

/// A tetrahedron and a triangle, with a loose vertex each.
pub(crate) fn two_bodies() -> Vec<SurfaceInfo> {
    let rest = vec![[0.0, -0.0, 0.1], [1.0, 0.0, 0.0], [0.0, 1.0 / 3.0, 0.0], [1e-42, 0.0, 1e9], [7.0; 3]];
    let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    let second = vec![[0.5; 3], [0.25, 0.0, 0.0], [f32::MIN_POSITIVE, 1e9, 0.0], [0.0; 3]];
    vec![
        SurfaceInfo { name: "left arm".into(), triangles, rest },
        SurfaceInfo { name: "b".into(), triangles: vec![[3, 0, 1]], rest: second },
    ]
}

/// Frames in which every vertex is somewhere else.
pub(crate) fn frames(surfaces: &[SurfaceInfo], count: usize) -> Vec<Frame> {
    // up to 3e38, near the largest number there is
    let moved = |p: &[f32; 3], f: usize| [p[0] + 0.1 * f as f32, p[1] * -3e29, p[2] * (1.0 - 0.3 * f as f32)];
    let frame = |f: usize| Frame {
        time: f as f64 / 30.0,
        surfaces: surfaces.iter().map(|info| info.rest.iter().map(|p| moved(p, f)).collect()).collect(),
        ..Frame::default()
    };
    (0..count).map(frame).collect()
}

/// Positions as bits, which tell zeros apart.
pub(crate) fn bits(points: &[[f32; 3]]) -> Vec<[u32; 3]> {
    points.iter().map(|p| p.map(f32::to_bits)).collect()
}

/// The names in a folder, in order; what a sink is still writing is not counted.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !(name.starts_with(".sinew-") && name.ends_with(".part")));
    names.sort();
    names
}

/// Writes a take into an empty folder, where nothing may appear before the end.
pub(crate) fn write(sink: &mut dyn FrameSink, surfaces: &[SurfaceInfo], frames: &[Frame], folder: &Path) {
    sink.begin(surfaces, 30.0).unwrap();
    frames.iter().for_each(|frame| sink.frame(frame).unwrap());
    assert!(names_in(folder).is_empty());
    sink.finish().unwrap();
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), names_in(folder).len());
}

/// Wrong takes and dropped sinks: the first are refused in words, and nothing is left of any.
pub(crate) fn check_refusals<Sink: FrameSink>(
    sink: impl Fn() -> Sink,
    surfaces: &[SurfaceInfo],
    folder: &Path,
) {
    let good = &frames(surfaces, 2)[1];
    let begun = || {
        let mut sink = sink();
        sink.begin(surfaces, 30.0).unwrap();
        sink
    };
    assert!(sink().frame(good).is_err());
    assert!(sink().finish().is_err());

    // frames
    type Spoil = fn(&mut Frame);
    let spoils: [(Spoil, &str); 5] = [
        (|frame| frame.surfaces[1][2][1] = f32::NAN, "vertex 2 of `b` is not finite"),
        (|frame| frame.surfaces[0][0][0] = f32::INFINITY, "vertex 0 of `left arm` is not finite"),
        (|frame| frame.surfaces[1].truncate(3), "`b` has 3 vertices"),
        (|frame| frame.surfaces.truncate(1), "has 1 surfaces"),
        (|frame| frame.time = f64::NAN, "time must grow"),
    ];
    for (spoil, words) in spoils {
        let mut frame = good.clone();
        spoil(&mut frame);
        let error = begun().frame(&frame).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let mut twice = begun();
    twice.frame(good).unwrap();
    assert!(twice.frame(good).unwrap_err().to_string().contains("time must grow"));

    // surfaces
    let mut bad = surfaces.to_vec();
    bad[1].rest[2][0] = f32::NAN;
    assert!(sink().begin(&bad, 30.0).unwrap_err().to_string().contains("not finite at rest"));
    let mut bad = surfaces.to_vec();
    bad[1].triangles.push([0, 1, 4]);
    assert!(sink().begin(&bad, 30.0).unwrap_err().to_string().contains("beyond its 4"));

    drop(twice);
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
}
