//! Point caches hold each frame to the bit, for each body, beside a mesh with the same vertices.

mod moving_bodies;

use moving_bodies::{bits, frames, names_in, two_bodies, write};
use sinew_io::{PointCacheFormat, PointCacheSink, PointSamples, read_mdd, read_obj, read_pc2};
use sinew_take::{Frame, FrameSink, SurfaceInfo};
use std::fs;
use std::path::Path;

const FORMATS: [(PointCacheFormat, &str); 2] =
    [(PointCacheFormat::Pc2, "pc2"), (PointCacheFormat::Mdd, "mdd")];

/// What a cache holds, read by the reader for its name, whose header must say what the take was.
fn samples(file: &Path, frames: &[Frame]) -> PointSamples {
    let bytes = fs::read(file).unwrap();
    if file.extension().unwrap() == "pc2" {
        let read = read_pc2(&bytes).unwrap();
        assert!(read.notes.is_empty());
        assert_eq!((read.value.start_frame, read.value.frames_per_sample), (0.0, 1.0));
        return read.value.samples;
    }
    let read = read_mdd(&bytes).unwrap();
    assert!(read.notes.is_empty());
    assert_eq!(read.value.times, frames.iter().map(|frame| frame.time as f32).collect::<Vec<_>>());
    read.value.samples
}

#[test]
fn every_frame_of_every_body_comes_back_to_the_bit() {
    for (format, extension) in FORMATS {
        for (body_count, stems) in [(1, vec!["take"]), (2, vec!["take-left_arm", "take-b"])] {
            let folder = tempfile::tempdir().unwrap();
            let target = folder.path().join(format!("take.{extension}"));
            let surfaces = &two_bodies()[..body_count];
            let frames = frames(surfaces, 5);
            let mut sink = PointCacheSink::new(&target, format);
            write(&mut sink, surfaces, &frames, folder.path());

            let mut names = sink.files(surfaces.iter().map(|surface| surface.name.as_str()));
            names.sort();
            let there: Vec<_> = names_in(folder.path()).iter().map(|name| folder.path().join(name)).collect();
            assert_eq!(there, names);
            for (body, stem) in stems.iter().enumerate() {
                let samples = samples(&folder.path().join(format!("{stem}.{extension}")), &frames);
                assert_eq!((samples.sample_count, samples.point_count), (5, surfaces[body].rest.len()));
                for (f, frame) in frames.iter().enumerate() {
                    assert_eq!(bits(samples.sample(f).unwrap()), bits(&frame.surfaces[body]), "{f}");
                }
                assert!(samples.sample(5).is_none());

                let text = fs::read_to_string(folder.path().join(format!("{stem}-rest.obj"))).unwrap();
                // the loose vertex, counted from 1, without which Blender would give others its number
                let loose = ["l 5 5", "l 3 3"][body];
                assert_eq!(text.lines().filter(|line| line.starts_with('l')).collect::<Vec<_>>(), [loose]);
                let rest = read_obj(text.as_bytes()).unwrap().value;
                let vertices: Vec<[f32; 3]> =
                    rest.vertices.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
                assert_eq!(bits(&vertices), bits(&surfaces[body].rest));
                assert_eq!(rest.triangles, surfaces[body].triangles);
            }
        }
    }
}

/// The layouts byte by byte, so that no fault common to writer and reader stays hidden.
#[test]
fn the_bytes_are_those_of_the_formats() {
    let surface = SurfaceInfo { name: "a".into(), triangles: vec![], rest: vec![[0.0; 3]; 2] };
    let frame = |time: f64, x: f32| Frame {
        time,
        surfaces: vec![vec![[x, 2.0, 3.0], [4.0, 5.0, 6.0]]],
        ..Frame::default()
    };
    let frames = [frame(0.0, 1.0), frame(0.5, -1.0)];
    let written = |format, name: &str| {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join(name);
        let surfaces = std::slice::from_ref(&surface);
        write(&mut PointCacheSink::new(&target, format), surfaces, &frames, folder.path());
        fs::read(target).unwrap()
    };
    let numbers = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, -1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

    let mut pc2 = b"POINTCACHE2\0\x01\0\0\0\x02\0\0\0\0\0\0\0\0\0\x80\x3f\x02\0\0\0".to_vec();
    pc2.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    assert_eq!(written(PointCacheFormat::Pc2, "a.pc2"), pc2);

    let mut mdd = b"\0\0\0\x02\0\0\0\x02\0\0\0\0\x3f\0\0\0".to_vec();
    mdd.extend(numbers.iter().flat_map(|x| x.to_be_bytes()));
    assert_eq!(written(PointCacheFormat::Mdd, "a.mdd"), mdd);
}

#[test]
fn a_take_without_frames_is_a_cache_without_samples() {
    for (format, extension) in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join(format!("take.{extension}"));
        let surfaces = &two_bodies()[..1];
        write(&mut PointCacheSink::new(&target, format), surfaces, &[], folder.path());
        let samples = samples(&target, &[]);
        assert_eq!((samples.sample_count, samples.point_count), (0, surfaces[0].rest.len()));
    }
}

#[test]
fn bodies_of_one_name_get_files_of_their_own() {
    let sink = PointCacheSink::new("out/t.v2.pc2", PointCacheFormat::Pc2);
    let files = |bodies: &[&str]| -> Vec<String> {
        let files = sink.files(bodies.iter().copied());
        files.iter().map(|file| file.to_string_lossy().replace('\\', "/")).collect()
    };
    assert_eq!(files(&["arm"]), ["out/t.v2.pc2", "out/t.v2-rest.obj"]);
    let names = ["arm", "Arm", "../arm", "arm_2"];
    let (caches, rests) = (&files(&names)[..4], &files(&names)[4..]);
    assert_eq!(
        caches,
        ["out/t.v2-arm.pc2", "out/t.v2-Arm_2.pc2", "out/t.v2-___arm.pc2", "out/t.v2-arm_2_4.pc2"]
    );
    assert_eq!(rests[1], "out/t.v2-Arm_2-rest.obj");
}

#[test]
fn what_cannot_be_written_is_refused_and_leaves_nothing() {
    for (format, extension) in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let sink = || PointCacheSink::new(folder.path().join(format!("take.{extension}")), format);
        let surfaces = two_bodies();
        moving_bodies::check_refusals(sink, &surfaces, folder.path());
        let error = sink().begin(&[], 30.0).unwrap_err().to_string();
        assert!(error.contains("no body"), "{error}");

        // one of the files is in the way: none appears
        fs::create_dir(folder.path().join("take-b-rest.obj")).unwrap();
        assert!(sink().begin(&surfaces, 30.0).unwrap_err().to_string().contains("take-b-rest.obj"));
        assert_eq!(names_in(folder.path()), ["take-b-rest.obj"]);
    }
}

#[test]
fn every_cut_is_noticed_and_claims_beyond_the_bytes_cost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let surfaces = &two_bodies()[..1];
    let frames = frames(surfaces, 3);
    for (format, extension) in FORMATS {
        let target = folder.path().join(format!("take.{extension}"));
        let mut sink = PointCacheSink::new(&target, format);
        sink.begin(surfaces, 30.0).unwrap();
        frames.iter().for_each(|frame| sink.frame(frame).unwrap());
        sink.finish().unwrap();
        let bytes = fs::read(&target).unwrap();
        let read = |bytes: &[u8]| match format {
            PointCacheFormat::Pc2 => read_pc2(bytes).map(|read| read.map(|pc2| pc2.samples)),
            PointCacheFormat::Mdd => read_mdd(bytes).map(|read| read.map(|mdd| mdd.samples)),
        };
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "{end}");
        }
        assert!(read(&[&bytes[..], b"more"].concat()).unwrap().notes[0].contains("4 bytes"));
        let mut spoilt = bytes.clone();
        let last = spoilt.len() - 4;
        spoilt[last..].fill(0xff);
        assert!(read(&spoilt).unwrap_err().message.contains("of frame 2 is not finite"));
    }
    // 2³¹ − 1 frames of 2³¹ − 1 points: more bytes than 64 bits count
    let mut pc2 = b"POINTCACHE2\0\x01\0\0\0\xff\xff\xff\x7f\0\0\0\0\0\0\x80\x3f\xff\xff\xff\x7f".to_vec();
    assert!(read_pc2(&pc2).unwrap_err().message.contains("cut short"));
    // no points in 2³¹ − 1 frames take no room
    pc2[16..20].fill(0);
    assert_eq!(read_pc2(&pc2).unwrap().value.samples.positions, Vec::<[f32; 3]>::new());
    pc2[16..20].fill(0xff);
    assert!(read_pc2(&pc2).unwrap_err().message.contains("-1 points"));
    pc2[12] = 2;
    assert!(read_pc2(&pc2).unwrap_err().message.contains("version 2"));
    assert!(read_mdd(&[0x7f; 100]).unwrap_err().message.contains("cut short"));
}
