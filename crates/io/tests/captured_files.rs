//! A take can hold all that its scene was made of.

use sinew_io::{CapturedFiles, open_scene, read_surface};
use std::fs;
use std::path::Path;

const TRIANGLES: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

#[test]
fn a_scene_is_read_again_from_what_was_kept_when_its_files_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere.obj");
    let scenes = folder.path().join("scenes");
    fs::create_dir_all(scenes.join("meshes")).unwrap();
    fs::write(scenes.join("meshes/a.obj"), TRIANGLES).unwrap();
    fs::write(&elsewhere, TRIANGLES).unwrap();
    let text = format!(
        "[[body]]\nname = 'a'\nsurface = './meshes/a.obj'\n[[body]]\nname = 'b'\nsurface = 'meshes/a.obj'\n\
         [[body]]\nname = 'c'\nsurface = '{}'\n",
        elsewhere.display()
    );
    fs::write(scenes.join("s.toml"), text).unwrap();
    let (first, kept) = CapturedFiles::keep(&scenes, || open_scene(&scenes.join("s.toml")));
    let names: Vec<&str> = kept.files().iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["s.toml", "meshes/a.obj", elsewhere.to_str().unwrap()]);

    drop(folder);
    let again = kept.serve(|| open_scene(Path::new("s.toml"))).unwrap();
    assert_eq!(format!("{again:?}"), format!("{:?}", first.unwrap()));
    let other = kept.serve(|| read_surface(Path::new("b.obj"))).unwrap_err().to_string();
    assert!(other.contains("b.obj") && other.contains("not among the files"), "{other}");
    // and afterwards the disk is there again
    assert!(read_surface(&elsewhere).unwrap_err().message.contains("no such file"));
}
