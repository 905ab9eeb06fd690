//! The graph of modules of a crate: who names whom, and whether anybody names himself in the end.
//!
//! A reader who takes up a module reads those it names first; where these form a cycle there is no first. The check sees the top-level modules of a
//! crate, each with all files below it: `crate::a::…` and `super::…` paths, and names that the root of the crate re-exports, which count as the
//! module that they come from. Comments, strings and `#[cfg(test)]` items are left out. Methods are not seen: an `impl` of another module's type hides
//! no arrow as long as it is not called from below.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A word or a mark of Rust, as far as paths need them.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    /// `::`
    Path,
    Mark(char),
}

/// Which module names which other, and in which file.
type Arrows = BTreeMap<String, BTreeMap<String, PathBuf>>;

#[test]
fn no_crate_has_a_cycle_of_modules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut crates: Vec<PathBuf> = fs::read_dir(root.join("crates"))
        .expect("the crates")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("Cargo.toml").exists())
        .collect();
    crates.push(root.to_path_buf());
    crates.sort();
    let mut cycles = Vec::new();
    for folder in crates {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let arrows = find_arrows(&folder.join("src"));
        if let Some(cycle) = find_cycle(&arrows) {
            let arrow = |pair: &[String]| {
                format!("  {} uses {} in {}", pair[0], pair[1], arrows[&pair[0]][&pair[1]].display())
            };
            let arrows: Vec<String> = cycle.windows(2).map(arrow).collect();
            cycles.push(format!("{name}: {}\n{}", cycle.join(" → "), arrows.join("\n")));
        }
    }
    assert!(cycles.is_empty(), "modules form cycles:\n{}", cycles.join("\n"));
}

/// The arrows between the top-level modules of a crate.
fn find_arrows(source: &Path) -> Arrows {
    let modules = find_modules(source);
    let root = ["lib.rs", "main.rs"].map(|file| source.join(file)).into_iter().find(|path| path.exists());
    let root = root.map(|path| tokens(&read(&path))).unwrap_or_default();
    let exports = find_exports(&root, &modules);
    let mut arrows = Arrows::new();
    for module in &modules {
        let mut files = Vec::new();
        let own = source.join(format!("{module}.rs"));
        collect(if own.exists() { own } else { source.join(module).join("mod.rs") }, &mut files);
        for path in files {
            let place = path.strip_prefix(source).unwrap_or(&path).with_extension("");
            let depth = place.components().count() - usize::from(place.ends_with("mod"));
            for name in root_names(&without_tests(&tokens(&read(&path))), depth) {
                let target = if modules.contains(&name) { Some(&name) } else { exports.get(&name) };
                if let Some(target) = target.filter(|target| *target != module) {
                    let own = arrows.entry(module.clone()).or_default();
                    own.entry(target.clone()).or_insert_with(|| path.clone());
                }
            }
        }
    }
    arrows
}

/// The modules that have a file or a folder of their own right below the root.
fn find_modules(source: &Path) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for entry in fs::read_dir(source).expect("sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_module = path.join("mod.rs").exists() || path.extension().is_some_and(|e| e == "rs");
        if is_module && !["lib", "main"].contains(&name.as_str()) {
            modules.insert(name);
        }
    }
    modules
}

/// A file and all files of its modules, but for those of tests.
fn collect(path: PathBuf, files: &mut Vec<PathBuf>) {
    let tokens = without_tests(&tokens(&read(&path)));
    let folder = if path.ends_with("mod.rs") { path.parent().map(Path::to_path_buf) } else { None };
    let folder = folder.unwrap_or_else(|| path.with_extension(""));
    files.push(path);
    for window in tokens.windows(3) {
        if let [Token::Word(keyword), Token::Word(name), Token::Mark(';')] = window
            && keyword == "mod"
        {
            let candidates = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
            candidates.into_iter().filter(|path| path.exists()).for_each(|path| collect(path, files));
        }
    }
}

/// What the root of a crate re-exports, with the module that it comes from.
fn find_exports(root: &[Token], modules: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for (i, token) in root.iter().enumerate() {
        let [Token::Word(module), Token::Path] = root.get(i + 1..i + 3).unwrap_or_default() else { continue };
        if *token != Token::Word("use".into()) || !modules.contains(module) {
            continue;
        }
        let until =
            root[i..].iter().position(|token| *token == Token::Mark(';')).map_or(root.len(), |n| i + n);
        for (j, token) in root[..until].iter().enumerate().skip(i + 3) {
            let ends = matches!(root.get(j + 1), Some(Token::Mark(',' | '}' | ';')));
            if let (Token::Word(name), true) = (token, ends) {
                exports.insert(name.clone(), module.clone());
            }
        }
    }
    exports
}

/// The first names of all paths of a file that begin at the root of the crate; the file lies `depth` modules below it.
fn root_names(tokens: &[Token], depth: usize) -> Vec<String> {
    let mut names = Vec::new();
    // where inline modules end
    let (mut braces, mut inline) = (0, Vec::new());
    let mut i = 0;
    while i < tokens.len() {
        match &tokens[i] {
            Token::Mark('{') => {
                let before = tokens[..i].iter().rev().nth(1);
                if before == Some(&Token::Word("mod".into())) {
                    inline.push(braces);
                }
                braces += 1;
            }
            Token::Mark('}') => {
                braces -= 1;
                if inline.last() == Some(&braces) {
                    inline.pop();
                }
            }
            Token::Word(word) if word == "crate" && tokens.get(i + 1) == Some(&Token::Path) => {
                add_names(tokens, i + 2, &mut names);
            }
            Token::Word(word) if word == "super" => {
                let mut ups = 1;
                while tokens.get(i + 1) == Some(&Token::Path)
                    && tokens.get(i + 2) == Some(&Token::Word("super".into()))
                {
                    ups += 1;
                    i += 2;
                }
                if ups == depth + inline.len() && tokens.get(i + 1) == Some(&Token::Path) {
                    add_names(tokens, i + 2, &mut names);
                }
            }
            _ => {}
        }
        i += 1;
    }
    names
}

/// The name at a place, or those of a group in braces.
fn add_names(tokens: &[Token], at: usize, names: &mut Vec<String>) {
    match tokens.get(at) {
        Some(Token::Word(name)) => names.push(name.clone()),
        Some(Token::Mark('{')) => {
            let mut depth = 0;
            for (i, token) in tokens.iter().enumerate().skip(at) {
                match token {
                    Token::Mark('{') => depth += 1,
                    Token::Mark('}') => depth -= 1,
                    Token::Word(name)
                        if depth == 1 && matches!(tokens[i - 1], Token::Mark('{') | Token::Mark(',')) =>
                    {
                        names.push(name.clone());
                    }
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
        }
        _ => {}
    }
}

/// All but items under `#[cfg(test)]`.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let attribute: Vec<Token> = self::tokens("#[cfg(test)]");
    let mut left = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        if !tokens[i..].starts_with(&attribute) {
            left.push(tokens[i].clone());
            i += 1;
            continue;
        }
        // the item ends with its block or its semicolon
        let mut depth = 0;
        i += attribute.len();
        while i < tokens.len() {
            match tokens[i] {
                Token::Mark('{') => depth += 1,
                Token::Mark('}') => depth -= 1,
                _ => {}
            }
            let ends = depth == 0 && matches!(tokens[i], Token::Mark('}' | ';'));
            i += 1;
            if ends {
                break;
            }
        }
    }
    left
}

/// The words and marks of a source, without comments, strings and characters.
fn tokens(source: &str) -> Vec<Token> {
    let text: Vec<char> = source.chars().collect();
    let mut found = Vec::new();
    let mut i = 0;
    let at = |i: usize| text.get(i).copied().unwrap_or('\0');
    while i < text.len() {
        let c = text[i];
        if c == '/' && at(i + 1) == '/' {
            while i < text.len() && text[i] != '\n' {
                i += 1;
            }
        } else if c == 'r' && (at(i + 1) == '"' || (at(i + 1) == '#' && matches!(at(i + 2), '"' | '#'))) {
            i = after_raw_string(&text, i + 1);
        } else if c == '"' {
            i += 1;
            while i < text.len() && text[i] != '"' {
                i += if text[i] == '\\' { 2 } else { 1 };
            }
            i += 1;
        } else if c == '\'' && at(i + 1) == '\\' {
            i += 3;
            while i < text.len() && text[i] != '\'' {
                i += 1;
            }
            i += 1;
        } else if c == '\'' && at(i + 2) == '\'' {
            i += 3;
        } else if c.is_alphanumeric() || c == '_' {
            let start = i;
            while at(i).is_alphanumeric() || at(i) == '_' {
                i += 1;
            }
            found.push(Token::Word(text[start..i].iter().collect()));
        } else if c == ':' && at(i + 1) == ':' {
            found.push(Token::Path);
            i += 2;
        } else {
            if !c.is_whitespace() {
                found.push(Token::Mark(c));
            }
            i += 1;
        }
    }
    found
}

/// Behind a raw string whose first hash or quote is at a place.
fn after_raw_string(text: &[char], start: usize) -> usize {
    let hashes = text[start..].iter().take_while(|c| **c == '#').count();
    let mut i = start + hashes + 1;
    while i < text.len() {
        let closes =
            text[i] == '"' && text[i + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes;
        i += 1;
        if closes {
            return i + hashes;
        }
    }
    i
}

/// A cycle of arrows, its first module again at the end; none if there is none.
fn find_cycle(arrows: &Arrows) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    arrows.keys().find_map(|module| walk(arrows, module, &mut Vec::new(), &mut done))
}

fn walk(
    arrows: &Arrows,
    module: &str,
    path: &mut Vec<String>,
    done: &mut BTreeSet<String>,
) -> Option<Vec<String>> {
    if let Some(start) = path.iter().position(|own| own == module) {
        let mut cycle = path[start..].to_vec();
        cycle.push(module.into());
        return Some(cycle);
    }
    if done.contains(module) {
        return None;
    }
    path.push(module.into());
    let targets = arrows.get(module).into_iter().flat_map(BTreeMap::keys);
    let found = targets.into_iter().find_map(|target| walk(arrows, target, path, done));
    path.pop();
    done.insert(module.into());
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn arrows_are_seen_through_groups_re_exports_and_supers_and_not_in_tests() {
    let file = "use crate::{a::X, B, c::{self, D}}; // crate::e\nuse super::f; fn g() { crate::h::i(\"crate::j\") }\n\
                #[cfg(test)]\nmod tests { use crate::k; }\nmod inner { use super::l; use super::super::m; }";
    let names = root_names(&without_tests(&tokens(file)), 1);
    assert_eq!(names, ["a", "B", "c", "f", "h", "m"]);
    let modules: BTreeSet<String> = ["a", "b"].map(String::from).into();
    let exports = find_exports(&tokens("pub use b::{B, C as D, e::F};\nuse other::G;"), &modules);
    assert_eq!(exports.keys().collect::<Vec<_>>(), ["B", "D", "F"]);
}

#[test]
fn a_cycle_is_found_with_its_way_round() {
    let to = |names: &[&str]| names.iter().map(|name| (name.to_string(), PathBuf::new())).collect();
    let arrows =
        Arrows::from([("a".into(), to(&["b"])), ("b".into(), to(&["c", "d"])), ("d".into(), to(&["b"]))]);
    assert_eq!(find_cycle(&arrows), Some(["b", "d", "b"].map(String::from).to_vec()));
    assert_eq!(find_cycle(&Arrows::from([("a".into(), to(&["b", "c"])), ("c".into(), to(&["b"]))])), None);
}
