//! `sinew zoo` as a user meets it.

use std::path::Path;
use std::process::{Command, Output};

fn sinew(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("sinew runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}

#[test]
fn the_list_has_a_line_for_every_character() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = sinew(folder.path(), &["zoo", "list"]);
    assert!(output.status.success(), "{}", said(&output));
    let text = said(&output);
    assert_eq!(text.lines().count(), sinew_zoo::catalog().len());
    for (line, character) in text.lines().zip(sinew_zoo::catalog()) {
        assert!(line.starts_with(character.name) && line.contains(character.description), "{line}");
    }
}

#[test]
fn an_unknown_name_is_an_error_that_knows_a_better_one() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [&["zoo", "export", "dacner"][..], &["simulate", "dacner"]] {
        let output = sinew(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains("did you mean 'dancer'?"), "{}", said(&output));
    }
    let output = sinew(folder.path(), &["zoo", "export", "zebra"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("jelly-torus"), "{}", said(&output));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

/// An export without `-o` makes a folder with the name of the character; that name still means the built-in one. A file of the name comes first.
#[test]
fn a_folder_does_not_hide_the_character_that_it_is_named_after() {
    let folder = tempfile::tempdir().expect("a folder");
    let inspect = || sinew(folder.path(), &["inspect", "starfish-coarse"]);
    let before = inspect();
    assert!(before.status.success(), "{}", said(&before));
    let export = sinew(folder.path(), &["zoo", "export", "starfish-coarse"]);
    assert!(export.status.success(), "{}", said(&export));
    assert!(folder.path().join("starfish-coarse/starfish-coarse.toml").is_file());
    assert_eq!(said(&inspect()), said(&before));

    std::fs::write(folder.path().join("jelly"), "not a mesh").expect("a file");
    let of_file = sinew(folder.path(), &["inspect", "jelly"]);
    assert_eq!(of_file.status.code(), Some(2), "{}", said(&of_file));
}

#[test]
fn an_exported_character_plays_and_is_never_overwritten_unasked() {
    let folder = tempfile::tempdir().expect("a folder");
    let export = ["zoo", "export", "starfish-coarse", "-o", "kept/here"];
    let output = sinew(folder.path(), &export);
    assert!(output.status.success(), "{}", said(&output));
    let scene = folder.path().join("kept/here/starfish-coarse.toml");
    let text = std::fs::read_to_string(&scene).expect("a scene");

    // what a user changed stays
    std::fs::write(&scene, text.replace("seconds = 4", "seconds = 0.1")).expect("a file");
    let output = sinew(folder.path(), &export);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("--force"), "{}", said(&output));
    assert!(std::fs::read_to_string(&scene).expect("a scene").contains("seconds = 0.1"));

    let run = ["simulate", "kept/here/starfish-coarse.toml", "-o", "out.glb", "--no-preview", "--json"];
    let output = sinew(folder.path(), &run);
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("\"bones\": 16") || said(&output).contains("\"bones\":16"));

    let output = sinew(folder.path(), &[&export[..], &["--force"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(std::fs::read_to_string(&scene).expect("a scene"), text);
}
