//! Turns body names into unique file names and identifiers.

use std::collections::HashSet;

/// A part of a file name for each name: letters, digits, `-` and `_`.
pub(crate) fn file_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    distinct(names, |name| replaced(name, |c| c.is_alphanumeric() || c == '-'))
}

/// An identifier for each name: ASCII letters, digits and `_`, not beginning with a digit.
pub(crate) fn identifiers<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    distinct(names, |name| {
        let name = replaced(name, |c| c.is_ascii_alphanumeric());
        if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
    })
}

/// Replaces forbidden characters with `_`, and an empty name with `body`.
fn replaced(name: &str, is_allowed: fn(char) -> bool) -> String {
    let name: String = name.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect();
    if name.is_empty() { "body".into() } else { name }
}

/// Appends its position in the list to a name that is taken; upper and lower case count as equal.
fn distinct<'a>(names: impl IntoIterator<Item = &'a str>, clean: fn(&str) -> String) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut distinct = Vec::new();
    for (place, name) in (1..).zip(names) {
        let mut name = clean(name);
        while !taken.insert(name.to_lowercase()) {
            name = format!("{name}_{place}");
        }
        distinct.push(name);
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_ascii_and_do_not_begin_with_a_digit() {
        let names = ["arm", "left arm", "2nd", "bœuf/\"x\"", "", "\n"];
        assert_eq!(identifiers(names), ["arm", "left_arm", "_2nd", "b_uf__x_", "body", "_"]);
    }

    #[test]
    fn names_that_differ_only_in_case_are_made_distinct() {
        assert_eq!(identifiers(["a", "A", "a", "a_3", ""]), ["a", "A_2", "a_3", "a_3_4", "body"]);
        assert_eq!(
            file_names(["Bœuf-1", "../etc", "a.b", "a b", "bœuf-1"]),
            ["Bœuf-1", "___etc", "a_b", "a_b_4", "bœuf-1_5"]
        );
    }
}
