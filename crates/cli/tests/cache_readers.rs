//! Caches and USD of a textured character, as other people's programs read them. Each test needs one of them, which `.ci/readers` installs and a
//! variable names.

mod reader_programs;
mod textured_bar;

use reader_programs::{named_by, run, script};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A take of the textured bar, in these formats.
fn take(outputs: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("bar.glb"), textured_bar::glb()).expect("the bar");
    let sinew = |arguments: &[&str]| run(env!("CARGO_BIN_EXE_sinew"), arguments, folder.path());
    sinew(&["simulate", "bar.glb", "-o", "t.take", "--seconds", "0.4", "--no-preview"]);
    for output in outputs {
        sinew(&["bake", "t.take", "-o", output, "--no-preview"]);
    }
    folder
}

/// The vertices of the named object in every frame of an OBJ sequence.
fn obj_frames(folder: &Path, object: &str) -> Vec<Vec<f64>> {
    let entries = fs::read_dir(folder).expect("frames").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "obj")).collect();
    files.sort();
    let numbers = |file: &PathBuf| {
        let text = fs::read_to_string(file).expect("text");
        let object = text.lines().skip_while(|line| *line != format!("o {object}")).skip(1);
        let vertices =
            object.take_while(|line| !line.starts_with("o ")).filter_map(|line| line.strip_prefix("v "));
        vertices
            .flat_map(|line| line.split(' ').map(|x| x.parse().expect("a number")).collect::<Vec<f64>>())
            .collect()
    };
    files.iter().map(numbers).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

fn gap(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The vertices of both primitives that triangles use, each in increasing order: the order of the object.
fn object_vertices() -> Vec<usize> {
    let file = sinew_gltf::read_character(textured_bar::glb()).expect("the bar").value;
    let used = |primitive: &sinew_character::CharacterPrimitive| {
        let mut used: Vec<usize> = primitive.triangles.as_flattened().iter().map(|v| *v as usize).collect();
        used.sort_unstable();
        used.dedup();
        used
    };
    file.rigged.meshes[0].primitives.iter().flat_map(used).collect()
}

/// What Blender shows of a cache on an object of the original: lines of numbers by their first word.
fn cached(folder: &Path, object: &str, format: &str) -> impl Fn(&str) -> Vec<Vec<f64>> {
    let cache = folder.join(format!("c-{object}.{format}"));
    let cache = cache.to_str().expect("a path");
    let arguments = [&script("blender_cache.py"), "bar.glb", object, cache, "60", "0", "7", "24"];
    let text = run(named_by("SINEW_BLENDER_PYTHON"), &arguments, folder);
    move |word| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
        lines.map(|line| line.split(' ').map(|x| x.parse().expect("a number")).collect()).collect()
    }
}

/// Blender's vertices are in single precision, as those of the cache are, up to 8 m from the origin of a space that is scaled by 2: 10⁻⁵ m is ten times
/// the rounding of that.
#[test]
fn a_cache_fits_the_original_that_blender_imports() {
    let folder = take(&["c.pc2", "c.mdd", "frames"]);
    let expected = obj_frames(&folder.path().join("frames"), "bar");
    for format in ["pc2", "mdd"] {
        // skinned, both primitives one object
        let lines = cached(folder.path(), "bar", format);
        assert_eq!(lines("original")[0].len(), 3 * object_vertices().len());
        assert_eq!(lines("world").len(), 3);
        for (found, frame) in lines("world").iter().zip([0, 7, 24]) {
            let gap = gap(found, &expected[frame]);
            assert!(gap < 1e-5, "{format}, frame {frame}: {gap} m");
        }

        // without skin: its node moves it, and nothing else does
        let lines = cached(folder.path(), "prop", format);
        assert_eq!(lines("own").len(), 3);
        for found in lines("own") {
            assert!(gap(&found, &lines("original")[0]) < 1e-6, "{format}");
        }
    }
    assert!(object_vertices().len() > textured_bar::VERTICES, "no vertex is in both primitives");
}

#[test]
fn open_usd_reads_texture_coordinates_normals_and_materials() {
    let folder = take(&["t.usda"]);
    let text = run(named_by("SINEW_USD_PYTHON"), &[&script("usd_looks.py"), "t.usda"], folder.path());
    let meshes: Value = serde_json::from_str(&text).expect("JSON");
    let bar = &meshes[0];
    assert_eq!((&bar["name"], meshes.as_array().map(Vec::len)), (&Value::from("bar"), Some(2)));

    // normals, in every frame
    assert_eq!((&bar["normal_interpolation"], &bar["normal_samples"]), (&"vertex".into(), &25.into()));
    let normals = numbers(&bar["normals"]);
    assert_eq!(Some(normals.len() as u64), bar["points"].as_u64().map(|count| 3 * count));
    for normal in normals.as_chunks::<3>().0 {
        let length = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
        // three components that are rounded to 10⁻⁴
        assert!((length - 1.0).abs() < 1e-4, "{length}");
    }

    // texture coordinates, v upwards
    assert_eq!(bar["uv_interpolation"], "vertex");
    let uvs = object_vertices().into_iter().map(textured_bar::uv);
    let expected: Vec<f64> = uvs.flat_map(|[u, v]| [f64::from(u), 1.0 - f64::from(v)]).collect();
    assert_eq!(numbers(&bar["uvs"]), expected);

    // materials of both primitives
    let [front, back] = textured_bar::TRIANGLES;
    assert_eq!((&bar["faces"], &bar["subset_faces"]), (&(front + back).into(), &(front + back).into()));
    let [skin, clay] = bar["materials"].as_array().expect("materials").as_slice() else { panic!("{bar}") };
    assert_eq!((&skin["name"], &clay["name"]), (&"skin___bones".into(), &"clay".into()));
    let image = &skin["inputs"]["diffuseColor"];
    assert_eq!(
        (&image["exists"], &image["primvar"], &image["channel"]),
        (&true.into(), &"st".into(), &"rgb".into())
    );
    assert_eq!((&image["file"], &skin["inputs"]["metallic"]), (&"___skin_colours.png".into(), &0.25.into()));
    let color = numbers(&clay["inputs"]["diffuseColor"]);
    assert!(gap(&color, &[0.8, 0.4, 0.2]) < 1e-7, "{color:?}");
}

#[test]
fn blender_shows_the_texture_of_a_stage_and_of_a_rest_mesh() {
    let python = named_by("SINEW_BLENDER_PYTHON");
    let folder = take(&["t.usda", "c.pc2"]);
    for file in ["t.usda", "c-bar-rest.obj"] {
        let path = folder.path().join(file);
        let text =
            run(&python, &[&script("blender_looks.py"), path.to_str().expect("a path")], folder.path());
        let json = text.lines().find_map(|line| line.strip_prefix("json ")).expect("JSON");
        let meshes: Value = serde_json::from_str(json).expect("JSON");
        let bar =
            meshes.as_array().expect("meshes").iter().find(|mesh| mesh["name"] == "bar").expect("the bar");
        assert_eq!(bar["vertices"], object_vertices().len(), "{file}");
        assert_eq!(bar["material_faces"], serde_json::json!([0, 1]), "{file}");
        let image = &bar["images"][0];
        assert_eq!(
            (&image[0], &image[1]),
            (&"___skin_colours.png".into(), &serde_json::json!([2, 2])),
            "{file}"
        );

        // the coordinates of every corner are those of its vertex
        let (uvs, vertices) = (numbers(&bar["uvs"]), object_vertices());
        let corners = numbers(&bar["corners"]);
        assert_eq!(uvs.len(), 2 * corners.len(), "{file}");
        for (found, corner) in uvs.as_chunks::<2>().0.iter().zip(corners) {
            let [u, v] = textured_bar::uv(vertices[corner as usize]).map(f64::from);
            assert!(gap(found, &[u, 1.0 - v]) < 1e-6, "{file}: {found:?}");
        }
    }
}

/// The normals of the last frame of an object, by the numbers of its vertices, as an OBJ has them.
fn obj_normals(folder: &Path, object: &str) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(folder.join("frame_0025.obj")).expect("text");
    let object = text.lines().skip_while(|line| *line != format!("o {object}")).skip(1);
    let normals =
        object.take_while(|line| !line.starts_with("o ")).filter_map(|line| line.strip_prefix("vn "));
    normals.map(|line| line.split(' ').map(|x| x.parse().expect("a number")).collect()).collect()
}

/// Points of archives are in single precision, as those of OBJ are. Blender stores normals of corners as angles of 16 bits relative to its own
/// normals: 10⁻³.
#[test]
fn blender_plays_an_alembic_archive() {
    let folder = take(&["t.abc", "frames"]);
    let path = folder.path().join("t.abc");
    let arguments = [&script("blender_abc.py"), path.to_str().expect("a path"), "60", "0", "7", "24"];
    let text = run(named_by("SINEW_BLENDER_PYTHON"), &arguments, folder.path());
    let json = text.lines().find_map(|line| line.strip_prefix("json ")).expect("JSON");
    let meshes: Value = serde_json::from_str(json).expect("JSON");
    assert_eq!(meshes.as_array().map(Vec::len), Some(2));
    for mesh in meshes.as_array().expect("meshes") {
        let name = mesh["name"].as_str().expect("a name");
        let expected = obj_frames(&folder.path().join("frames"), name);
        for (place, frame) in [0, 7, 24].into_iter().enumerate() {
            let gap = gap(&numbers(&mesh["frames"][place]), &expected[frame]);
            assert!(gap < 2e-6, "{name}, frame {frame}: {gap} m");
        }

        // outward normals, and the texture coordinates of every corner
        let (corners, normals) =
            (numbers(&mesh["corners"]), obj_normals(&folder.path().join("frames"), name));
        for (found, corner) in numbers(&mesh["normals"]).as_chunks::<3>().0.iter().zip(&corners) {
            let gap = gap(found, &normals[*corner as usize]);
            assert!(gap < 1e-3, "{name}: {gap}");
        }
        if name == "bar" {
            let (uvs, vertices) = (numbers(&mesh["uvs"]), object_vertices());
            assert_eq!(uvs.len(), 2 * corners.len());
            for (found, corner) in uvs.as_chunks::<2>().0.iter().zip(&corners) {
                let [u, v] = textured_bar::uv(vertices[*corner as usize]).map(f64::from);
                assert!(gap(found, &[u, 1.0 - v]) < 1e-6, "{found:?}");
            }
        }
    }
}
