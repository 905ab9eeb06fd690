//! Cloth from the command line: a bare mesh becomes a sheet by one word, and the program speaks of it as such.

mod program;

use program::{run, sinew, words};
use std::fs;
use tempfile::TempDir;

/// A flat square of 8 × 8 cells, 0.5 m wide, upright.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (mut text, side) = (String::new(), 9);
    for i in 0..side * side {
        text += &format!("v {} {} 0\n", 0.5 * f64::from(i % side) / 8.0, 0.5 * f64::from(i / side) / 8.0);
    }
    for row in 0..side - 1 {
        for column in 0..side - 1 {
            let a = row * side + column + 1;
            text += &format!("f {a} {} {}\nf {a} {} {}\n", a + 1, a + side + 1, a + side + 1, a + side);
        }
    }
    fs::write(folder.path().join("sheet.obj"), text).unwrap();
    folder
}

#[test]
fn a_flat_mesh_is_refused_as_flesh_and_becomes_cloth_by_one_word() {
    let folder = folder();
    let at = folder.path();
    let refused = sinew(at, &["simulate", "sheet.obj", "-o", "a.take"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(words(&refused).contains("--cloth"), "{}", words(&refused));

    // a take of silk, which hangs and moves
    let simulate = ["simulate", "sheet.obj", "--cloth=silk", "--seconds", "0.2", "--no-preview"];
    let said = run(at, &[&simulate[..], &["-o", "silk.take", "--stats", "s.json"]].concat());
    assert!(said.contains("sheet: ") && said.contains("a sheet of 81 nodes"), "{said}");
    assert!(!said.contains("flesh") && !said.contains("tets"), "{said}");
    let stats: serde_json::Value =
        serde_json::from_slice(&fs::read(at.join("s.json")).unwrap()).expect("statistics");
    assert_eq!((&stats["bodies"][0]["kind"], &stats["bodies"][0]["tets"]), (&"sheet".into(), &0.into()));

    // leather is heavier than silk
    run(
        at,
        &[
            &simulate[..2],
            &["--cloth=leather", "--seconds", "0.1", "--no-preview", "-o", "l.take", "--stats", "l.json"],
        ]
        .concat(),
    );
    let leather: serde_json::Value = serde_json::from_slice(&fs::read(at.join("l.json")).unwrap()).unwrap();
    let mass = |stats: &serde_json::Value| stats["bodies"][0]["mass"].as_f64().unwrap();
    assert!(mass(&leather) > 2.0 * mass(&stats), "{} {}", mass(&leather), mass(&stats));

    // a take is inspected as what it is
    let said = run(at, &["inspect", "silk.take"]);
    assert!(!said.contains("0 tets"), "{said}");
}

#[test]
fn inspect_speaks_of_sheets_and_fabrics_that_are_not_there_are_refused() {
    let folder = folder();
    let at = folder.path();
    fs::write(at.join("s.toml"), "seconds = 0.1\n[[body]]\nsurface = 'sheet.obj'\nkind = 'cloth'\n").unwrap();
    let said = run(at, &["inspect", "s.toml"]);
    assert!(said.contains("a sheet of 81 nodes") && said.contains("m thick"), "{said}");
    assert!(!said.contains("cage") && !said.contains("ν ="), "{said}");
    let refused = sinew(at, &["simulate", "sheet.obj", "--cloth=sillk", "-o", "a.take"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(words(&refused).contains("silk"), "{}", words(&refused));
}
