//! Writes a scene file as readable TOML: the tables of the scene under headings, nested tables inline.
//!
//! Numbers are written in the fewest digits that read back bit for bit.

use super::{EditTable, SceneFile};
use std::fmt::Write;
use toml::{Table, Value};

/// Lists of tables that are longer than this have one line per table (characters).
const LINE: usize = 100;

impl SceneFile {
    /// The text of the file. Reading it gives the same tables, and numbers bit for bit.
    ///
    /// # Panics
    /// If a whole number is 2⁶³ or more, which TOML does not have.
    pub fn to_text(&self) -> String {
        let table = Table::try_from(self)
            .unwrap_or_else(|error| panic!("the tables cannot be written as TOML: {error}"));
        let mut text = String::new();
        for (key, value) in table.iter().filter(|(_, value)| !is_heading(value)) {
            write_line(&mut text, key, value);
        }
        for (key, value) in table.iter().filter(|(_, value)| is_heading(value)) {
            match value {
                Value::Table(table) => write_section(&mut text, &format!("[{key}]"), table),
                Value::Array(tables) => {
                    for table in tables.iter().filter_map(Value::as_table) {
                        write_section(&mut text, &format!("[[{key}]]"), table);
                    }
                }
                _ => {}
            }
        }
        text
    }
}

impl EditTable {
    /// The edit in one line: its keys, separated by commas.
    ///
    /// # Panics
    /// As [`SceneFile::to_text`].
    pub fn to_line(&self) -> String {
        let table = Table::try_from(self)
            .unwrap_or_else(|error| panic!("the tables cannot be written as TOML: {error}"));
        joined(table.iter().map(|(key, value)| format!("{} = {}", key_text(key), inline(value))))
    }
}

/// Whether a value at the top level has a heading of its own.
fn is_heading(value: &Value) -> bool {
    value.is_table() || is_list_of_tables(value)
}

fn is_list_of_tables(value: &Value) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_table))
}

fn write_section(text: &mut String, heading: &str, table: &Table) {
    let gap = if text.is_empty() { "" } else { "\n" };
    let _ = writeln!(text, "{gap}{heading}");
    for (key, value) in table {
        write_line(text, key, value);
    }
}

fn write_line(text: &mut String, key: &str, value: &Value) {
    let (key, line) = (key_text(key), inline(value));
    match value {
        Value::Array(items) if is_list_of_tables(value) && (items.len() > 2 || line.len() > LINE) => {
            let _ = writeln!(text, "{key} = [");
            for item in items {
                let _ = writeln!(text, "    {},", inline(item));
            }
            let _ = writeln!(text, "]");
        }
        _ => {
            let _ = writeln!(text, "{key} = {line}");
        }
    }
}

/// A value in one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", joined(items.iter().map(inline))),
        Value::Table(table) if table.is_empty() => "{}".into(),
        Value::Table(table) => {
            let entry = |(key, value): (&String, &Value)| format!("{} = {}", key_text(key), inline(value));
            format!("{{ {} }}", joined(table.iter().map(entry)))
        }
        Value::Float(number) => float_text(*number),
        other => other.to_string(),
    }
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

/// The fewest digits that read back bit for bit; whole numbers have no decimal point, except −0, which would lose its sign.
fn float_text(number: f64) -> String {
    let is_negative_zero = number == 0.0 && number.is_sign_negative();
    if number.fract() == 0.0 && number.abs() < 1e15 && !is_negative_zero {
        return format!("{number:.0}");
    }
    let plain = format!("{number}");
    if number.is_finite() && plain.len() > 22 {
        format!("{number:e}")
    } else {
        Value::Float(number).to_string()
    }
}

/// A key, in quotes if TOML needs them.
fn key_text(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(is_bare) {
        key.to_owned()
    } else {
        Value::String(key.to_owned()).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_read_back_bit_for_bit() {
        for (number, text) in
            [(8.0, "8"), (0.1, "0.1"), (-0.0, "-0.0"), (1e300, "1e300"), (-2.5e-12, "-0.0000000000025")]
        {
            assert_eq!(float_text(number), text);
            let read: f64 = text.parse().unwrap();
            assert_eq!(read.to_bits(), number.to_bits());
        }
    }

    /// Lists of tables take several lines in a file, and one here, with no comma too many.
    #[test]
    fn an_edit_is_one_line() {
        let text = "[[edit]]\ntime = 1\nremove = ['hand']\n[[edit.body]]\nname = 'a'\nmaterial = { young = 2e5 }\n\
                    [[edit.body]]\nname = 'b'\nair_drag = 1\n[[edit.body]]\nname = 'c'\nair_drag = 2\n";
        let file = SceneFile::of_text(text).expect("sound").value;
        assert_eq!(
            file.edit[0].to_line(),
            "time = 1, body = [{ name = \"a\", material = { young = 200000 } }, { name = \"b\", air_drag = 1 }, \
             { name = \"c\", air_drag = 2 }], remove = [\"hand\"]"
        );
    }

    #[test]
    fn keys_are_quoted_where_they_must_be() {
        assert_eq!(key_text("left-arm_1"), "left-arm_1");
        assert_eq!(key_text("left arm"), "\"left arm\"");
        assert_eq!(key_text(""), "\"\"");
    }
}
