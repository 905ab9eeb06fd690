//! What a key of a scene file takes: a classification of its JSON Schema, and its description for messages and documentation.

use super::ScenePart;
use super::json_schema::{reference, resolved};
use serde_json::Value;

/// What a key takes.
pub(super) enum Expectation<'a> {
    /// A number.
    Number(Range),
    /// A whole number.
    Whole(Range),
    /// One of these whole numbers.
    WholeOf(Vec<i64>),
    /// A text.
    Text,
    /// The path of a file.
    Path,
    /// One of these words.
    Words(Vec<&'a str>),
    /// True or false.
    Flag,
    /// A list of items of one kind, of any length or of a fixed length.
    List { items: &'a Value, length: Option<usize> },
    /// A table with keys of its own.
    Table(ScenePart),
    /// A table with arbitrary names.
    Map(&'a Value),
    /// Any of these.
    Choice(Vec<&'a Value>),
}

/// The numbers that are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Range {
    /// The smallest.
    pub(super) min: Option<f64>,
    /// All are above this.
    pub(super) above: Option<f64>,
    /// The largest.
    pub(super) max: Option<f64>,
    /// All are below this.
    pub(super) below: Option<f64>,
}

impl Range {
    fn of(schema: &Value) -> Range {
        let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
        Range {
            min: limit("minimum"),
            above: limit("exclusiveMinimum"),
            max: limit("maximum"),
            below: limit("exclusiveMaximum"),
        }
    }

    pub(super) fn accepts(&self, x: f64) -> bool {
        x.is_finite()
            && self.min.is_none_or(|limit| x >= limit)
            && self.above.is_none_or(|limit| x > limit)
            && self.max.is_none_or(|limit| x <= limit)
            && self.below.is_none_or(|limit| x < limit)
    }

    /// The range in words: "above 0 and at most 1".
    pub(super) fn words(&self) -> String {
        if let (Some(min), Some(max)) = (self.min, self.max) {
            return format!("from {} to {}", number_text(min), number_text(max));
        }
        let limits = [
            self.min.map(|limit| format!("{} or more", number_text(limit))),
            self.above.map(|limit| format!("above {}", number_text(limit))),
            self.max.map(|limit| format!("at most {}", number_text(limit))),
            self.below.map(|limit| format!("below {}", number_text(limit))),
        ];
        let words: Vec<String> = limits.into_iter().flatten().collect();
        if words.is_empty() { "finite".into() } else { words.join(" and ") }
    }
}

/// A limit in few digits.
fn number_text(x: f64) -> String {
    if x.abs() >= 1e6 { format!("{x:e}") } else { format!("{x}") }
}

impl<'a> Expectation<'a> {
    /// What a schema asks for.
    pub(super) fn of(schema: &'a Value) -> Expectation<'a> {
        // references, choices and words
        let found = resolved(schema);
        if let Some(part) = reference(schema).and_then(ScenePart::of_type) {
            return Expectation::Table(part);
        }
        if let Some(choices) = found.get("anyOf").and_then(Value::as_array) {
            return Expectation::Choice(choices.iter().collect());
        }
        if let Some(words) = words_of(found) {
            return Expectation::Words(words);
        }

        // by type
        let type_name = found.get("type").and_then(Value::as_str).unwrap_or_default();
        match type_name {
            "number" => Expectation::Number(Range::of(found)),
            "integer" => match found.get("enum").and_then(Value::as_array) {
                Some(numbers) => Expectation::WholeOf(numbers.iter().filter_map(Value::as_i64).collect()),
                None => Expectation::Whole(Range::of(found)),
            },
            "boolean" => Expectation::Flag,
            "array" => {
                let count = |key: &str| found.get(key).and_then(Value::as_u64);
                let length = count("minItems").filter(|least| count("maxItems") == Some(*least));
                Expectation::List { items: &found["items"], length: length.map(|n| n as usize) }
            }
            "object" => Expectation::Map(&found["additionalProperties"]),
            _ if found.get("format").is_some_and(|format| format == "path") => Expectation::Path,
            _ => Expectation::Text,
        }
    }

    /// The description in the documentation.
    pub(super) fn documented(schema: &Value) -> String {
        if let Some(title) = schema.get("title").and_then(Value::as_str) {
            return title.to_owned();
        }
        match Expectation::of(schema) {
            Expectation::Number(range) => ranged("number", &range),
            Expectation::Whole(range) => ranged("whole number", &range),
            Expectation::WholeOf(numbers) => listed(numbers.iter().map(ToString::to_string)),
            Expectation::Text => "text".into(),
            Expectation::Path => "path".into(),
            Expectation::Words(words) => listed(words.iter().map(|word| format!("\"{word}\""))),
            Expectation::Flag => "true or false".into(),
            Expectation::Table(_) | Expectation::Map(_) => "table".into(),
            Expectation::Choice(choices) => {
                // one list of the words of all choices
                let each =
                    choices.iter().map(|choice| Expectation::documented(choice).replacen(" or ", ", ", 1));
                listed(each)
            }
            Expectation::List { items, length } => match (Expectation::of(items), length) {
                (Expectation::Number(_), Some(3)) => "[x, y, z]".into(),
                (Expectation::Choice(_), Some(3)) => "[x, y, z], each a number or curve".into(),
                (Expectation::Number(_), _) => "list of numbers".into(),
                (Expectation::Whole(_), _) => "list of whole numbers".into(),
                (Expectation::Text, _) => "list of texts".into(),
                (_, Some(2)) => "list of two tables".into(),
                _ => "list of tables".into(),
            },
        }
    }

    /// The description in messages: "it takes …".
    pub(super) fn asked(&self) -> String {
        match self {
            // numbers
            Expectation::Number(range) if *range == Range::default() => "a number".into(),
            Expectation::Number(range) => format!("a number {}", range.words()),
            Expectation::Whole(range) => whole_words(range),
            Expectation::WholeOf(numbers) => listed(numbers.iter().map(ToString::to_string)),
            // words and flags
            Expectation::Text => "a text in quotes".into(),
            Expectation::Path => "a path in quotes".into(),
            Expectation::Words(words) => {
                format!(
                    "one of {}",
                    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
                )
            }
            Expectation::Flag => "true or false".into(),
            // containers
            Expectation::Table(part) => format!("a table: {}", part.heading()),
            Expectation::Map(_) => "a table of names and values".into(),
            Expectation::Choice(choices) => {
                listed(choices.iter().map(|choice| Expectation::of(choice).asked()))
            }
            Expectation::List { items, length } => {
                let length = length.map_or(String::new(), |length| format!("{length} "));
                match Expectation::of(items) {
                    Expectation::Number(_) => format!("a list of {length}numbers"),
                    Expectation::Whole(_) => format!("a list of {length}whole numbers, 0 or more"),
                    Expectation::Text => format!("a list of {length}texts in quotes"),
                    Expectation::List { length: Some(inner), .. } => {
                        format!("a list of lists of {inner} numbers")
                    }
                    Expectation::Choice(choices)
                        if choices
                            .iter()
                            .any(|choice| matches!(Expectation::of(choice), Expectation::Number(_))) =>
                    {
                        format!("a list of {length}numbers or curves")
                    }
                    inner @ Expectation::Choice(_) => {
                        format!("a list of {length}items, each {}", inner.asked())
                    }
                    Expectation::Table(part) if part.heading().starts_with("[[") => {
                        format!("a list of tables, each begun with {}", part.heading())
                    }
                    _ => format!("a list of {length}tables"),
                }
            }
        }
    }
}

/// "number above 0".
fn ranged(word: &str, range: &Range) -> String {
    match range.words().as_str() {
        // whole numbers are never below 0
        "finite" | "0 or more" if word == "whole number" => word.to_owned(),
        "finite" => word.to_owned(),
        words if range.min.is_some() && range.max.is_none() => format!("{word}, {words}"),
        words => format!("{word} {words}"),
    }
}

/// "a whole number from 1 to 1000".
pub(super) fn whole_words(range: &Range) -> String {
    match range.words().as_str() {
        "finite" => "a whole number, 0 or more".into(),
        words if range.max.is_none() => format!("a whole number, {words}"),
        words => format!("a whole number {words}"),
    }
}

/// The words of a schema that takes one of several words.
fn words_of(schema: &Value) -> Option<Vec<&str>> {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return words.iter().map(Value::as_str).collect();
    }
    let choices = schema.get("oneOf").and_then(Value::as_array)?;
    let mut words = Vec::new();
    for choice in choices {
        match choice.get("enum").and_then(Value::as_array) {
            Some(several) => words.extend(several.iter().filter_map(Value::as_str)),
            None => words.push(choice.get("const").and_then(Value::as_str)?),
        }
    }
    Some(words)
}

/// "a, b or c".
pub(super) fn listed(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    match &words[..] {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}
