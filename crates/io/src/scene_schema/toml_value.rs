//! Kinds and numbers of the values of a parsed TOML document.

use super::expectation::Expectation;
use toml::de::DeValue;

/// Whether a value is of the expected kind, whatever its contents.
pub(super) fn is_of_kind(expectation: &Expectation, value: &DeValue) -> bool {
    match expectation {
        Expectation::Number(_) | Expectation::Whole(_) | Expectation::WholeOf(_) => {
            matches!(value, DeValue::Integer(_) | DeValue::Float(_))
        }
        Expectation::Text | Expectation::Path | Expectation::Words(_) => matches!(value, DeValue::String(_)),
        Expectation::Flag => matches!(value, DeValue::Boolean(_)),
        Expectation::List { .. } => matches!(value, DeValue::Array(_)),
        Expectation::Table(_) | Expectation::Map(_) => matches!(value, DeValue::Table(_)),
        Expectation::Choice(choices) => {
            choices.iter().any(|choice| is_of_kind(&Expectation::of(choice), value))
        }
    }
}

/// The number of an integer or float value.
pub(super) fn number_of(value: &DeValue) -> Option<f64> {
    match value {
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|integer| integer as f64)
        }
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    }
}

/// The kind of a value, for messages.
pub(super) fn kind_of(value: &DeValue) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{}\"", shortened(text)),
        DeValue::Integer(_) => "a whole number".to_owned(),
        DeValue::Float(_) => "a number".to_owned(),
        DeValue::Boolean(value) => format!("{value}"),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// The start of a text, escaped for messages.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_debug).collect()
}
