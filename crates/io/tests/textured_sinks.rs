//! Sinks with an appearance: texture coordinates, normals, materials and copies of images, in USD, rest meshes and OBJ sequences.

mod moving_bodies;

use moving_bodies::{bits, frames, names_in, two_bodies, write};
use sinew_files::{Replace, plan_outputs};
use sinew_io::{
    Alpha, Appearance, MaterialGroup, ObjSequence, PointCacheFormat, PointCacheSink, SurfaceAppearance,
    SurfaceMaterial, TextureImage, TextureSlot, TextureWrap, Up, UsdaSink, read_obj,
};
use sinew_take::FrameSink;
use std::fs;
use std::path::Path;

/// What an image file may contain: copies do not care.
const PIXELS: &[u8] = b"\x89PNG\r\n\x1a\n...";

/// The first body has two materials, one of them with all kinds of textures, and the second none.
fn appearance() -> Appearance {
    let slot =
        |uv_set| Some(TextureSlot { image: 0, uv_set, wrap: [TextureWrap::Clamp, TextureWrap::Mirror] });
    let plain = SurfaceMaterial {
        name: "plain".into(),
        base_color: [0.5, 0.25, 0.125, 1.0],
        base_color_texture: None,
        metallic: 0.0,
        roughness: 0.5,
        metallic_roughness_texture: None,
        normal_texture: None,
        normal_scale: 0.5,
        occlusion_texture: None,
        emissive: [0.0; 3],
        emissive_texture: None,
        alpha: Alpha::Opaque,
    };
    let painted = SurfaceMaterial {
        name: "1 \"skin\"".into(),
        base_color_texture: slot(0),
        metallic_roughness_texture: slot(1),
        normal_texture: slot(1),
        alpha: Alpha::Mask(0.25),
        ..plain.clone()
    };
    let group = |material, triangle_count| MaterialGroup { material: Some(material), triangle_count };
    let uvs: Vec<[f32; 2]> = (0..5).map(|v| [0.125 * v as f32, 0.25]).collect();
    let first = SurfaceAppearance {
        groups: vec![group(1, 3), group(0, 1)],
        uv_sets: vec![uvs.clone(), uvs],
        ..SurfaceAppearance::default()
    };
    let images = vec![TextureImage { name: "skin.png".into(), bytes: PIXELS.into() }];
    Appearance { surfaces: vec![first], materials: vec![plain, painted], images }
}

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn a_stage_has_materials_texture_coordinates_and_normals() {
    let folder = tempfile::tempdir().unwrap();
    let surfaces = two_bodies();
    let mut sink = UsdaSink::new(folder.path().join("a@b.usda"), Up::Y).with_appearance(appearance());
    let files = sink.files();
    write(&mut sink, &surfaces, &frames(&surfaces, 2), folder.path());
    assert_eq!(files, ["a@b.usda", "a@b-textures"].map(|name| folder.path().join(name)));
    assert_eq!(names_in(folder.path()), ["a@b-textures", "a@b.usda"]);
    assert_eq!(names_in(&folder.path().join("a@b-textures")), ["sinew.json", "skin.png"]);
    assert_eq!(fs::read(folder.path().join("a@b-textures/skin.png")).unwrap(), PIXELS);

    let text = text(folder.path(), "a@b.usda");
    assert_eq!(count(&text, "def Material "), 2);
    assert_eq!(count(&text, "def GeomSubset "), 2);
    for line in [
        "int[] indices = [0, 1, 2]\n            rel material:binding = </a_b/Materials/_1__skin_>",
        "int[] indices = [3]\n            rel material:binding = </a_b/Materials/plain>",
        "texCoord2f[] primvars:st = [(0.0, 0.75), (0.125, 0.75), (0.25, 0.75), (0.375, 0.75), (0.5, 0.75)] (\n            interpolation = \"vertex\"",
        "texCoord2f[] primvars:st1 = ",
        "asset inputs:file = @@@./a@b-textures/skin.png@@@",
        "float4 inputs:scale = (1, 1, 2, 1)\n                float4 inputs:bias = (-0.5, -0.5, -1, 0)",
        "float4 inputs:scale = (1, 0.5, 0, 1)",
        "float inputs:opacityThreshold = 0.25",
        "color3f inputs:diffuseColor = (0.5, 0.25, 0.125)",
        "token inputs:wrapS = \"clamp\"\n                token inputs:wrapT = \"mirror\"",
        "string name = \"1 \\\"skin\\\"\"",
    ] {
        assert!(text.contains(line), "{line}");
    }
    // for both bodies, at rest and over time
    assert_eq!(count(&text, "normal3f[] normals = "), 2);
    assert_eq!(count(&text, "normal3f[] normals.timeSamples = "), 2);
    assert_eq!(count(&text, "{"), count(&text, "}"));
    assert_eq!(count(&text, "primvars:st ="), 1);
}

#[test]
fn a_rest_mesh_has_materials_texture_coordinates_and_normals() {
    let folder = tempfile::tempdir().unwrap();
    let surfaces = two_bodies();
    let mut sink =
        PointCacheSink::new(folder.path().join("t.pc2"), PointCacheFormat::Pc2).with_appearance(appearance());
    let mut files = sink.files(surfaces.iter().map(|surface| surface.name.as_str()));
    write(&mut sink, &surfaces, &frames(&surfaces, 2), folder.path());
    files.sort();
    let there: Vec<_> = names_in(folder.path()).iter().map(|name| folder.path().join(name)).collect();
    assert_eq!(there, files);

    // the first body, as text and read back
    let rest = text(folder.path(), "t-left_arm-rest.obj");
    assert!(rest.contains("\nmtllib t-rest.mtl\n"));
    assert!(rest.contains("\nvt 0.125 0.75\n"));
    assert_eq!((count(&rest, "\nv "), count(&rest, "\nvt "), count(&rest, "\nvn ")), (5, 5, 5));
    let faces: Vec<&str> =
        rest.lines().filter(|line| line.starts_with('f') || line.starts_with("usemtl")).collect();
    let expected = [
        "usemtl 1__skin_",
        "f 1/1/1 3/3/3 2/2/2",
        "f 1/1/1 2/2/2 4/4/4",
        "f 2/2/2 3/3/3 4/4/4",
        "usemtl plain",
        "f 3/3/3 1/1/1 4/4/4",
    ];
    assert_eq!(faces, expected);
    let read = read_obj(rest.as_bytes()).unwrap().value;
    assert_eq!(read.triangles, surfaces[0].triangles);
    let vertices: Vec<[f32; 3]> =
        read.vertices.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
    assert_eq!(bits(&vertices), bits(&surfaces[0].rest));

    // the second, without appearance
    let rest = text(folder.path(), "t-b-rest.obj");
    assert_eq!((count(&rest, "\nvt "), count(&rest, "\nvn "), count(&rest, "usemtl")), (0, 0, 0));

    // materials
    let materials = text(folder.path(), "t-rest.mtl");
    assert!(materials.starts_with("# Sinew, "));
    assert!(materials.contains("newmtl plain\nKd 0.5 0.25 0.125\n"), "{materials}");
    assert!(
        materials
            .contains("\nmap_Kd t-textures/skin.png\nmap_d t-textures/skin.png\nnorm t-textures/skin.png\n")
    );
}

#[test]
fn a_sequence_has_its_materials_and_images_within() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    let surfaces = two_bodies();
    for _ in 0..2 {
        let mut sink = ObjSequence::new(&target).with_appearance(appearance());
        sink.begin(&surfaces, 30.0).unwrap();
        frames(&surfaces, 2).iter().for_each(|frame| sink.frame(frame).unwrap());
        sink.finish().unwrap();
        // the second time it replaces its own
        plan_outputs([&*target], Replace::Ours).unwrap();
    }
    let names = ["frame_0001.obj", "frame_0002.obj", "materials.mtl", "sinew.json", "texture_skin.png"];
    assert_eq!(names_in(&target), names);
    assert!(text(&target, "materials.mtl").contains("map_Kd texture_skin.png"));
    let frame = text(&target, "frame_0002.obj");
    assert!(frame.contains("mtllib materials.mtl"));
    let second: Vec<&str> = frame.lines().filter(|line| line.starts_with("f 9")).collect();
    assert_eq!(second, ["f 9 6 7"]);
}

#[test]
fn what_cannot_be_written_leaves_no_images() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("take.usda");
    let sink = || UsdaSink::new(&target, Up::Y).with_appearance(appearance());
    moving_bodies::check_refusals(sink, &two_bodies(), folder.path());

    // a folder with other files in it is in the way
    let textures = folder.path().join("take-textures");
    fs::create_dir(&textures).unwrap();
    fs::write(textures.join("notes.txt"), "mine").unwrap();
    assert!(sink().begin(&two_bodies(), 30.0).unwrap_err().to_string().contains("notes.txt"));
    assert_eq!(names_in(&textures), ["notes.txt"]);
}

#[test]
fn images_that_were_painted_on_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let surfaces = two_bodies();
    let sink = || UsdaSink::new(folder.path().join("t.usda"), Up::Y).with_appearance(appearance());
    let plan = || {
        let files = sink().files();
        plan_outputs(files.iter().map(|file| file.as_path()), Replace::Ours)
    };
    write(&mut sink(), &surfaces, &frames(&surfaces, 1), folder.path());
    plan().unwrap();
    let image = folder.path().join("t-textures/skin.png");
    fs::write(&image, "painted").unwrap();
    assert!(plan().unwrap_err().to_string().contains("t-textures"));

    // nor is it when the take begins
    assert!(sink().begin(&surfaces, 30.0).unwrap_err().to_string().contains("t-textures"));
    assert_eq!(fs::read(&image).unwrap(), b"painted");
}
