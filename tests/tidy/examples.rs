//! Every example runs to its end.

use crate::source::{files, root};
use std::process::Command;

#[test]
fn every_example_runs() {
    let mut examples = Vec::new();
    files(&root().join("examples"), "rs", &mut examples);
    examples.sort();
    assert!(!examples.is_empty(), "examples/*.rs are gone");
    // this test lies in target/PROFILE/deps, examples in target/PROFILE/examples
    let test = std::env::current_exe().expect("a test program");
    let built = test.parent().and_then(|deps| deps.parent()).expect("a target folder").join("examples");
    for example in examples {
        let name = example.file_stem().expect("a name");
        let folder = std::env::temp_dir().join(format!("sinew-example-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let output = Command::new(built.join(name)).current_dir(&folder).output();
        let output = output.unwrap_or_else(|e| panic!("{}: {e}", example.display()));
        std::fs::remove_dir_all(&folder).expect("the folder is emptied");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} fails:\n{said}", example.display());
    }
}
