//! `sinew view` and `sinew inspect --for`, without a browser: what is written, where, and what is refused.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn sinew(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(arguments).current_dir(folder).output().expect("the program starts")
}

/// What a call prints, which must succeed.
fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = sinew(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a call complains of, which must be bad input.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = sinew(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with a rigged bar of the glTF corpus.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bar = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gltf/tests/corpus/bar_plain.glb");
    fs::copy(bar, folder.path().join("bar.glb")).expect("a copy");
    folder
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// How many files a page shows, and how many without flesh.
fn models_of(page: &Path) -> (usize, usize) {
    let text = fs::read_to_string(page).expect("a page");
    let count = |id: &str| text.matches(&format!("base64\" id=\"{id}-")).count();
    (count("glb"), count("skinning"))
}

#[test]
fn a_file_is_shown_beside_itself_byte_by_byte() {
    let folder = folder();
    let text = said(folder.path(), &["view", "bar.glb", "--no-open"]);
    assert!(text.contains("wrote bar.html"), "{text}");
    assert_eq!(names_in(folder.path()), ["bar.glb", "bar.html"]);
    assert_eq!(models_of(&folder.path().join("bar.html")), (1, 0));

    // written again in place of itself, and with a file for skinning
    said(folder.path(), &["view", "bar.glb", "--skinning", "bar.glb", "--no-open"]);
    assert_eq!(models_of(&folder.path().join("bar.html")), (1, 1));
}

#[test]
fn a_take_and_a_scene_of_several_characters_are_baked_into_the_page() {
    let folder = folder();
    said(folder.path(), &["simulate", "bar.glb", "-o", "a.take", "--seconds", "0.1", "--no-preview"]);
    said(folder.path(), &["view", "a.take", "--no-open"]);
    assert_eq!(models_of(&folder.path().join("a.html")), (1, 0));

    let scene = "seconds = 0.1\n[[character]]\nname = \"one\"\nfile = \"bar.glb\"\n\
                 [[character]]\nname = \"two\"\nfile = \"bar.glb\"\ntranslate = [3, 0, 0]\n";
    fs::write(folder.path().join("two.toml"), scene).expect("a scene");
    said(folder.path(), &["view", "two.toml", "--no-open"]);
    let page = folder.path().join("two.html");
    assert_eq!(models_of(&page), (2, 0));
    assert!(fs::read_to_string(page).expect("a page").contains("3.0,0.0,0.0,1.0]"));
    // nothing but the pages is left
    assert_eq!(names_in(folder.path()), ["a.html", "a.take", "bar.glb", "two.html", "two.toml"]);
}

#[test]
fn what_may_not_be_written_is_refused_before_any_work() {
    let folder = folder();
    fs::write(folder.path().join("bar.html"), "<!doctype html><p>mine</p>").expect("a page");
    assert!(refused(folder.path(), &["view", "bar.glb", "--no-open"]).contains("Sinew did not write it"));
    assert!(
        refused(folder.path(), &["view", "bar.glb", "--no-open", "-o", "bar.glb"])
            .contains("must be an .html file")
    );
    assert!(refused(folder.path(), &["view", "missing.glb", "--no-open"]).contains("missing.glb"));
    assert!(fs::read_to_string(folder.path().join("bar.html")).expect("a page").contains("mine"));
    said(folder.path(), &["view", "bar.glb", "--no-open", "--force"]);
    assert_eq!(models_of(&folder.path().join("bar.html")), (1, 0));
}

#[test]
fn engines_say_what_they_would_make_of_a_file() {
    let folder = folder();
    let text = said(folder.path(), &["inspect", "bar.glb", "--for", "Godot,bevy,web"]);
    assert_eq!(text.matches("plays as it is").count(), 2, "{text}");
    assert!(text.contains("changed: clip 'bow' has cubic splines"), "{text}");

    // a take at 60 frames per second has keys for its joints, which Godot resamples
    said(
        folder.path(),
        &["simulate", "bar.glb", "-o", "limp.glb", "--seconds", "0.2", "--ragdoll", "--no-preview"],
    );
    let text = said(folder.path(), &["inspect", "limp.glb", "--for", "godot"]);
    assert!(text.contains("changed: clip") && text.contains("60 per second"), "{text}");

    assert!(
        refused(folder.path(), &["inspect", "bar.glb", "--for", "quake"])
            .contains("the engines are godot, unity")
    );
    assert!(refused(folder.path(), &["inspect", "a.take", "--for", "web"]).contains("bake a.take first"));
}
