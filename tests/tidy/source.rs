//! A Rust source split into code, comments and strings: enough of a lexer for checks of style.

use std::fs;
use std::path::{Path, PathBuf};

/// What a piece of a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Code,
    Comment,
    Text,
}

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// All files below a folder with an extension, except what a build has put there.
pub(crate) fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if !path.ends_with("target") {
                files(&path, extension, found);
            }
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}

/// Every Rust source of the project.
pub(crate) fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["crates", "src", "tests", "benches", "examples", "engines"] {
        files(&root().join(folder), "rs", &mut found);
    }
    found.sort();
    found
}

/// Splits a source into its pieces, in order; together they are the source.
pub(crate) fn pieces(source: &str) -> Vec<(Kind, &str)> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < source.len() {
        let Some((kind, length)) = special(source, at) else {
            at += source[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        if start < at {
            pieces.push((Kind::Code, &source[start..at]));
        }
        pieces.push((kind, &source[at..at + length]));
        at += length;
        start = at;
    }
    if start < source.len() {
        pieces.push((Kind::Code, &source[start..]));
    }
    pieces
}

/// The comment, string or character that begins at a byte, with its length.
fn special(source: &str, at: usize) -> Option<(Kind, usize)> {
    let rest = &source[at..];
    if rest.starts_with("//") {
        return Some((Kind::Comment, rest.find('\n').unwrap_or(rest.len())));
    }
    if rest.starts_with("/*") {
        return Some((Kind::Comment, rest.find("*/").map_or(rest.len(), |end| end + 2)));
    }
    let follows_word = source[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if rest.starts_with('r') && !follows_word {
        let marks = rest[1..].bytes().take_while(|b| *b == b'#').count();
        if rest[1 + marks..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(marks));
            let end = rest[2 + marks..].find(&close)?;
            return Some((Kind::Text, 2 + marks + end + close.len()));
        }
    }
    if rest.starts_with('"') {
        return Some((Kind::Text, quoted(rest, b'"')?));
    }
    // a character, unless it is a lifetime
    if let Some(quoted_text) = rest.strip_prefix('\'') {
        let inner = quoted_text.chars().next()?;
        let is_character = inner == '\\' || quoted_text[inner.len_utf8()..].starts_with('\'');
        return if is_character { Some((Kind::Text, quoted(rest, b'\'')?)) } else { None };
    }
    None
}

/// The length of a quoted text, its quotes included.
fn quoted(rest: &str, quote: u8) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b if b == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// The source with every comment and string blanked out, line by line as before.
pub(crate) fn code_only(source: &str) -> String {
    let blank = |text: &str| text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect::<String>();
    pieces(source)
        .into_iter()
        .map(|(kind, text)| if kind == Kind::Code { text.to_owned() } else { blank(text) })
        .collect()
}

#[test]
fn pieces_are_told_apart_and_add_up() {
    let source =
        "let a = 'x'; // it's \"so\"\nlet b: &'static str = r#\"// \"no\"\"#; /* c */ let d = \"\\\"\";";
    let found = pieces(source);
    assert_eq!(found.iter().map(|(_, text)| *text).collect::<String>(), source);
    let texts: Vec<&str> =
        found.iter().filter(|(kind, _)| *kind == Kind::Text).map(|(_, text)| *text).collect();
    assert_eq!(texts, ["'x'", "r#\"// \"no\"\"#", "\"\\\"\""]);
    let comments: Vec<&str> =
        found.iter().filter(|(kind, _)| *kind == Kind::Comment).map(|(_, text)| *text).collect();
    assert_eq!(comments, ["// it's \"so\"", "/* c */"]);
}
