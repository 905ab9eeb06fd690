//! The field's words: a short list of those that are not used, each with the one that is.

use crate::source::{Kind, files, pieces, read, root, sources};
use std::path::{Path, PathBuf};

/// Words that a reader of the literature would have to decode, and what to write. An entry ending in `_` is the beginning of an identifier.
const DENIED: &[(&str, &str)] = &[
    ("slope", "gradient or derivative"),
    ("slopes", "gradients or derivatives"),
    ("most_", "max_"),
    ("least_", "min_"),
    ("usual_", "default_"),
    ("grip", "friction anchor"),
    ("grips", "friction anchors"),
    ("warm_up", "preroll"),
    ("lead_in", "preroll"),
    ("run_in", "preroll"),
    ("warm-up", "preroll"),
    ("run-up", "preroll"),
    ("lead-in", "preroll"),
    ("footage", "frame source"),
    ("blob", "implicit surface"),
    ("lump", "primitive"),
    ("lumps", "primitives"),
    ("numbers that are none", "NaN or non-finite"),
    ("no number", "NaN or non-finite"),
    ("inside out", "inverted"),
    ("way down", "descent direction"),
    ("pendingfile", "AtomicFile"),
    ("keptfiles", "CapturedFiles"),
];

/// Places where a denied word is right, with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("tests/tidy/words.rs", "", "the list itself"),
    ("crates/gltf/tests/glb_round_trip.rs", "blob", "the binary chunk of a file, as the gltf crate calls it"),
    ("crates/control/src/bezier", "slope", "of a curve at a key, as curve editors call it"),
    ("crates/control/src/bezier", "slopes", "of a curve at its keys"),
    ("crates/control/src/curve.rs", "slope", "of a curve"),
    ("crates/io/src/scene_schema/number.rs", "slope", "the key of scene files"),
    ("crates/studio/src/panels/inspector.rs", "slope", "the key of scene files"),
    ("crates/io/src/scene_file/number.rs", "slope", "the key of scene files"),
    ("crates/io/src/scene_writer/number.rs", "slope", "the key of scene files"),
    ("crates/io/src/metaphor_edits.rs", "slope", "the key of scene files"),
    ("crates/io/tests/random_scene/", "slope", "the key of scene files"),
    ("crates/io/tests/keyed_numbers.rs", "slope", "the key of scene files"),
    ("docs/scenes.md", "slope", "the key of scene files"),
    ("docs/decisions/024", "slope", "of a curve at a key"),
    ("docs/decisions/024", "slopes", "of a curve at its keys"),
];

fn is_excepted(file: &str, word: &str) -> bool {
    EXCEPTIONS
        .iter()
        .any(|(path, excepted, _)| file.starts_with(path) && (excepted.is_empty() || *excepted == word))
}

/// Where a word stands in a text, as a word or as the beginning of an identifier.
fn finds<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = text[..*at].ends_with(is_letter);
        let after = text[at + word.len()..].starts_with(is_letter);
        !before && (word.ends_with('_') == after)
    })
}

/// Denied words in a text, as messages.
fn faults(file: &str, text: &str, found: &mut Vec<String>) {
    let lower = text.to_lowercase();
    for (word, instead) in DENIED.iter().filter(|(word, _)| !is_excepted(file, word)) {
        for at in finds(&lower, word) {
            let line = lower[..at].matches('\n').count() + 1;
            found.push(format!("{file}:{line}: `{word}`: write {instead}"));
        }
    }
}

fn name_of(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[test]
fn sources_and_pages_use_the_fields_words() {
    let mut found = Vec::new();
    for path in sources() {
        // code and comments; texts are commands, keys and messages of others as well
        let source = read(&path);
        let words: String =
            pieces(&source)
                .into_iter()
                .map(|(kind, text)| {
                    if kind == Kind::Text { "\n".repeat(text.matches('\n').count()) } else { text.to_owned() }
                })
                .collect();
        faults(&name_of(&path), &words, &mut found);
    }
    let mut pages: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|page| root().join(page)).into();
    files(&root().join("docs"), "md", &mut pages);
    for path in pages {
        faults(&name_of(&path), &read(&path), &mut found);
    }
    assert!(found.is_empty(), "{} words of our own:\n{}", found.len(), found.join("\n"));
}

#[test]
fn words_are_found_whole_and_as_beginnings() {
    let at = |text, word| finds(text, word).count();
    assert_eq!((at("the slope is", "slope"), at("on_slope slopes", "slope")), (1, 0));
    assert_eq!((at("most_steps", "most_"), at("utmost_steps most_", "most_")), (1, 0));
}
