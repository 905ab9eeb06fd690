//! No function is longer than a screen.

use crate::source::{code_only, read, root, sources};

/// The most lines from `fn` to the closing brace.
const MAX_LINES: usize = 80;

/// A function of a source.
struct Function {
    name: String,
    /// Where it begins, counted from 1.
    line: usize,
    lines: usize,
}

/// Every function with a body.
fn functions(source: &str) -> Vec<Function> {
    let code = code_only(source);
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let starts_word = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let name: String = code[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if !starts_word || name.is_empty() {
            continue;
        }
        let Some(length) = body_end(&code[at..]) else { continue };
        let line = code[..at].matches('\n').count() + 1;
        found.push(Function { name, line, lines: code[at..at + length].matches('\n').count() + 1 });
    }
    found
}

/// Bytes from `fn` to the brace that closes its body; none for a declaration.
fn body_end(code: &str) -> Option<usize> {
    // the `;` of an array type such as `[u8; 4]` does not end the signature
    let mut brackets = 0;
    let ends = |c: char| {
        brackets += i32::from(matches!(c, '[' | '(')) - i32::from(matches!(c, ']' | ')'));
        brackets == 0 && matches!(c, '{' | ';')
    };
    let open = code.find(ends)?;
    if code.as_bytes()[open] == b';' {
        return None;
    }
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

#[test]
fn no_function_is_longer_than_a_screen() {
    let mut long = Vec::new();
    for path in sources() {
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        for function in functions(&read(&path)).iter().filter(|function| function.lines > MAX_LINES) {
            long.push(format!("{name}:{}: {} has {} lines", function.line, function.name, function.lines));
        }
    }
    assert!(long.is_empty(), "give names to the parts of these:\n{}", long.join("\n"));
}

#[test]
fn the_lines_of_a_function_are_counted_to_its_closing_brace() {
    let found = functions(
        "fn a(x: [u8; 4]) {\n    if x {\n    }\n}\ntrait T {\n    fn b(&self, x: [u8; 4]) -> [u8; 2];\n}\n",
    );
    let found: Vec<(&str, usize, usize)> = found.iter().map(|f| (f.name.as_str(), f.line, f.lines)).collect();
    assert_eq!(found, [("a", 1, 4)]);
}
