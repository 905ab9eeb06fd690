//! Texts, numbers and lists as TOML has them.

use sinew_math::Vec3;

/// A text in quotes.
pub(super) fn text(plain: &str) -> String {
    let escaped: String = plain
        .chars()
        .map(|c| match c {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

/// A number in the fewest digits that read back as the same one.
pub(super) fn number(x: f64) -> String {
    // −0 is 0
    format!("{}", x + 0.0)
}

/// A number with so many places after the point.
pub(super) fn rounded(x: f64, places: i32) -> f64 {
    let scale = 10f64.powi(places);
    (x * scale).round() / scale
}

/// Numbers in brackets.
pub(super) fn list(numbers: &[f64]) -> String {
    format!("[{}]", numbers.iter().map(|x| number(*x)).collect::<Vec<_>>().join(", "))
}

/// Three numbers in brackets.
pub(super) fn vector(v: &Vec3) -> String {
    list(v.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_control_characters_are_escaped() {
        assert_eq!(text("a \"b\" \\ \n"), "\"a \\\"b\\\" \\\\ \\u000A\"");
        assert_eq!(list(&[-0.0, 0.1, 8.0]), "[0, 0.1, 8]");
    }
}
