//! What the house rules promise about the sources.

#[path = "tidy/examples.rs"]
mod examples;
#[path = "tidy/functions.rs"]
mod functions;
#[path = "tidy/module_cycles.rs"]
mod module_cycles;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/words.rs"]
mod words;

use source::{read, root, sources};
use std::fs;

/// The crates by layer: each may use those of earlier layers only.
const LAYERS: [&[&str]; 11] = [
    &["files", "math"],
    &["mesh"],
    &["flesh", "skeleton", "contact"],
    &["sim"],
    &["control"],
    &["take"],
    &["character"],
    &["gltf", "render"],
    &["io"],
    &["zoo"],
    &["cli", "studio"],
];

#[test]
fn no_source_file_has_a_thousand_lines() {
    for path in sources() {
        let lines = read(&path).lines().count();
        assert!(lines < 1000, "{} has {lines} lines: look for the second noun", path.display());
    }
}

#[test]
fn crates_use_only_crates_above_them() {
    for (layer, names) in LAYERS.iter().enumerate() {
        for name in *names {
            let manifest = read(&root().join("crates").join(name).join("Cargo.toml"));
            let dependencies = manifest.split("[dev-dependencies]").next().unwrap_or_default();
            let above: Vec<&str> = LAYERS[..layer].iter().flat_map(|names| names.iter().copied()).collect();
            for line in dependencies.lines().filter_map(|line| line.strip_prefix("sinew-")) {
                let used = line.split(['.', ' ', '=']).next().unwrap_or_default();
                assert!(above.contains(&used), "{name} uses {used}, which is not above it");
            }
        }
    }
}

#[test]
fn every_crate_is_on_the_map() {
    let map = read(&root().join("ARCHITECTURE.md"));
    for entry in fs::read_dir(root().join("crates")).expect("the crates") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(map.contains(&format!("`{name}`")), "ARCHITECTURE.md does not mention {name}");
        assert!(LAYERS.iter().any(|layer| layer.contains(&name.as_str())), "{name} has no layer");
    }
}

/// Words in brackets or beside a section sign that look like a key, such as Irving2004.
fn cited_keys(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_key = |word: &&str| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.len() == letters.len() + 4
            && letters.len() > 2
            && letters.starts_with(|c: char| c.is_ascii_uppercase())
            && letters.chars().all(|c| c.is_ascii_alphabetic())
            && ["19", "20"].contains(&&word[letters.len()..letters.len() + 2])
    };
    words.filter(is_key).map(String::from).collect()
}

#[test]
fn every_cited_source_is_in_the_bibliography() {
    let bibliography = read(&root().join("docs/references.bib"));
    for path in sources().iter().filter(|path| !path.ends_with("tests/tidy.rs")) {
        for key in cited_keys(&read(path)) {
            assert!(bibliography.contains(&format!("{{{key},")), "{} cites {key}", path.display());
        }
    }
}

#[test]
fn the_scene_documentation_has_the_table_of_all_keys() {
    let page = read(&root().join("docs/scenes.md"));
    assert!(
        page.contains(sinew::io::scene_keys_table().trim()),
        "docs/scenes.md is stale; its table should be:\n{}",
        sinew::io::scene_keys_table()
    );
}
