//! A table of a scene file together with its place in the text, so that errors can give their line.

use crate::scene_schema::{ScenePart, field_names, line_of};
use core::ops::Deref;
use schemars::JsonSchema;
use serde::Deserialize;
use sinew_files::ReadError;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table and its place in the text.
pub(super) struct Section<'a, T> {
    table: &'a T,
    text: &'a str,
    spans: Option<&'a DeTable<'a>>,
    start: usize,
    fps: f64,
}

impl<T> Deref for Section<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.table
    }
}

impl<'a, T> Section<'a, T> {
    /// The top level of a file, for a scene with so many frames per second.
    pub(super) fn top(text: &'a str, spans: &'a DeTable<'a>, table: &'a T, fps: f64) -> Section<'a, T> {
        Section { table, text, spans: Some(spans), start: 0, fps }
    }

    /// Frames per second of the scene.
    pub(super) fn fps(&self) -> f64 {
        self.fps
    }

    /// The table itself, with the lifetime of the file.
    pub(super) fn table(&self) -> &'a T {
        self.table
    }

    fn at<U>(&self, table: &'a U, value: Option<&'a Spanned<DeValue<'a>>>) -> Section<'a, U> {
        let spans = value.and_then(|value| match value.get_ref() {
            DeValue::Table(spans) => Some(spans),
            _ => None,
        });
        let start = value.map_or(self.start, |value| value.span().start);
        Section { table, text: self.text, spans, start, fps: self.fps }
    }

    fn line_at(&self, offset: usize) -> usize {
        line_of(self.text, offset)
    }
}

impl<'a, T: JsonSchema + for<'de> Deserialize<'de>> Section<'a, T> {
    /// An error about the value of a key, or about the table if the key is absent.
    pub(super) fn error(&self, key: &str, message: impl Into<String>) -> ReadError {
        ReadError::line(self.line(key), message)
    }

    /// The line of a key's value, or of the table if the key is absent.
    pub(super) fn line(&self, key: &str) -> usize {
        self.line_at(self.value(key).map_or(self.start, |value| value.span().start))
    }

    /// The line of a name in a table with arbitrary names.
    pub(super) fn line_of_name(&self, key: &str, name: &str) -> usize {
        let names = self.value(key).and_then(|value| match value.get_ref() {
            DeValue::Table(names) => names.get(name),
            _ => None,
        });
        names.map_or_else(|| self.line(key), |value| self.line_at(value.span().start))
    }

    /// Whether a key is given.
    pub(super) fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// The first of some keys that is given.
    pub(super) fn first_of<'k>(&self, keys: &[&'k str]) -> Option<&'k str> {
        keys.iter().copied().find(|key| self.has(key))
    }

    /// Fails if a required key is absent.
    pub(super) fn needed<U>(&self, key: &str, value: Option<U>) -> Result<U, ReadError> {
        value.ok_or_else(|| {
            let heading = ScenePart::of_type(&T::schema_name()).map_or("the scene", ScenePart::heading);
            self.error(key, format!("{heading} needs `{key}`"))
        })
    }

    /// A table inside this one.
    pub(super) fn child<U>(&self, key: &str, table: &'a U) -> Section<'a, U> {
        self.at(table, self.value(key))
    }

    /// A table inside this one that may be absent.
    pub(super) fn optional<U>(&self, key: &str, table: &'a Option<U>) -> Option<Section<'a, U>> {
        table.as_ref().map(|table| self.child(key, table))
    }

    /// A list of tables inside this one.
    pub(super) fn items<U>(&self, key: &str, tables: &'a [U]) -> Vec<Section<'a, U>> {
        let values = self.value(key).and_then(|value| match value.get_ref() {
            DeValue::Array(values) => Some(values),
            _ => None,
        });
        let item = |(i, table)| self.at(table, values.and_then(|values| values.get(i)));
        tables.iter().enumerate().map(item).collect()
    }

    fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        debug_assert!(field_names::<T>().contains(&key), "{key} is not a key of this table");
        self.spans?.get(key)
    }
}
