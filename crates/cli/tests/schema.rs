//! `sinew schema` as a user meets it.

use std::process::{Command, Output};

fn sinew(folder: &std::path::Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.current_dir(folder).args(arguments).output().expect("sinew runs")
}

#[test]
fn the_schema_is_printed_or_written_and_replaces_nothing_unasked() {
    let folder = tempfile::tempdir().expect("a folder");
    let printed = sinew(folder.path(), &["schema"]);
    assert!(printed.status.success());
    let schema: serde_json::Value = serde_json::from_slice(&printed.stdout).expect("JSON");
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    assert_eq!(schema["properties"]["fps"]["default"], 60);

    let write = ["schema", "-o", "sinew.schema.json"];
    assert!(sinew(folder.path(), &write).status.success());
    let written = std::fs::read(folder.path().join("sinew.schema.json")).expect("a file");
    assert_eq!(written, printed.stdout);
    assert_eq!(sinew(folder.path(), &write).status.code(), Some(2));
    assert!(sinew(folder.path(), &[&write[..], &["--force"]].concat()).status.success());
}
