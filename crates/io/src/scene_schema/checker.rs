//! Validates the text of a scene file against the schema: unknown keys, wrong types, numbers out of range, missing keys, and keys that cannot
//! be combined.
//!
//! All errors are reported together, each with its line. Old names of keys are replaced by the new ones.

use super::expectation::{Expectation, Range, whole_words};
use super::json_schema::{resolved, scene_json_schema};
use super::renamed_key::{RemovedKey, RenamedKey, find_removed, find_renamed};
use super::toml_value::{is_of_kind, kind_of, number_of, shortened};
use super::{NUMBER_LIMIT, ScenePart};
use serde_json::Value;
use sinew_character::nearest;
use sinew_files::{Place, ReadError, ReadErrors};
use std::borrow::Cow;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// The largest scene file (bytes): no scene written by hand is larger.
const TEXT_LIMIT: usize = 16 << 20;

/// The text of a scene file and its tables, which conform to the schema.
pub(crate) struct SceneDocument<'a> {
    /// The text.
    pub(crate) text: &'a str,
    /// Its tables, with the positions of all keys and values.
    pub(crate) table: DeTable<'a>,
    /// Notes about old names.
    pub(crate) notes: Vec<String>,
}

/// Parses a text and validates it.
pub(crate) fn checked_document(text: &str) -> Result<SceneDocument<'_>, ReadErrors> {
    if text.len() > TEXT_LIMIT {
        let message = format!(
            "the scene file has {} bytes, which is too large: put meshes and motions into files of their own",
            text.len()
        );
        return Err(ReadError::whole(message).into());
    }

    // parse
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        ReadError::line(line, format!("not valid TOML: {}", error.message()))
    })?;

    // validate
    let mut table = parsed.into_inner();
    let mut checker = Checker { text, errors: Vec::new(), notes: Vec::new() };
    checker.check_table(scene_json_schema(), ScenePart::Scene, &mut table, 0);
    let Checker { mut errors, notes, .. } = checker;
    if errors.is_empty() {
        return Ok(SceneDocument { text, table, notes });
    }
    errors.sort_by_key(|error| match error.place {
        Place::Line(line) => line,
        _ => 0,
    });
    Err(ReadErrors { errors, notes })
}

/// The line of a byte, counted from 1.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|&&byte| byte == b'\n').count()
}

struct Checker<'a> {
    text: &'a str,
    errors: Vec<ReadError>,
    notes: Vec<String>,
}

impl<'a> Checker<'a> {
    fn error(&mut self, offset: usize, message: impl Into<String>) {
        self.errors.push(ReadError::line(line_of(self.text, offset), message));
    }

    /// Checks a table that begins at byte `start` of the text.
    fn check_table(&mut self, schema: &Value, part: ScenePart, table: &mut DeTable<'a>, start: usize) {
        self.rename_keys(part, table);
        self.drop_removed_keys(part, table);
        let properties = &schema["properties"];
        let mut all_known = true;
        for (key, value) in table.iter_mut() {
            let name = key.get_ref().as_ref();
            match properties.get(name) {
                Some(property) => self.check_value(property, name, value),
                None => {
                    all_known = false;
                    self.error(key.span().start, unknown_key(part, name));
                }
            }
        }
        // an unknown key may be the one that is missing
        if all_known {
            self.check_needed(schema, part, table, start);
        }
        self.check_exclusive(schema, part, table, start, all_known);
    }

    fn check_needed(&mut self, schema: &Value, part: ScenePart, table: &DeTable<'a>, start: usize) {
        for key in texts(schema.get("required")).filter(|key| !table.contains_key(*key)) {
            self.error(start, format!("{} needs `{key}`", part.heading()));
        }
    }

    /// Checks keys of which one is needed, keys that cannot be combined, and keys that need others.
    fn check_exclusive(
        &mut self,
        schema: &Value,
        part: ScenePart,
        table: &DeTable<'a>,
        start: usize,
        all_known: bool,
    ) {
        // exactly one of several
        let group = one_of_keys(schema);
        let given: Vec<&str> = group.iter().copied().filter(|key| table.contains_key(*key)).collect();
        match given[..] {
            [] if !group.is_empty() && all_known => {
                self.error(start, format!("{} needs one of `{}`", part.heading(), group.join("`, `")));
            }
            [first, second, ..] => self.exclude(table, first, second),
            _ => {}
        }
        // not both of two
        for rule in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            let pair: Vec<&str> = texts(rule.get("not").and_then(|not| not.get("required"))).collect();
            if let [first, second] = pair[..]
                && table.contains_key(first)
                && table.contains_key(second)
            {
                self.exclude(table, first, second);
            }
        }
        // one needs another
        for (key, others) in schema.get("dependencies").and_then(Value::as_object).into_iter().flatten() {
            let missing = texts(Some(others)).find(|other| !table.contains_key(*other));
            if let (Some(value), Some(other)) = (table.get(key.as_str()), missing) {
                self.error(value.span().start, format!("`{key}` needs `{other}`"));
            }
        }
    }

    fn exclude(&mut self, table: &DeTable<'a>, first: &str, second: &str) {
        let offset = table.get(second).map_or(0, |value| value.span().start);
        self.error(offset, format!("`{first}` and `{second}` cannot be combined: keep one"));
    }

    /// Checks the value of a key.
    fn check_value(&mut self, schema: &Value, key: &str, value: &mut Spanned<DeValue<'a>>) {
        let expectation = Expectation::of(schema);
        let offset = value.span().start;
        match (&expectation, value.get_mut()) {
            // numbers
            (Expectation::Number(range), found) => self.check_number(key, range, &expectation, found, offset),
            (Expectation::Whole(range), found) => {
                let is_accepted = |x: f64| x.fract() == 0.0 && x >= 0.0 && range.accepts(x);
                match number_of(found) {
                    Some(x) if is_accepted(x) => {}
                    Some(x) => {
                        self.error(offset, format!("`{key}` is {x}: it must be {}", whole_words(range)))
                    }
                    None => self.wrong_type(key, found, &expectation, offset),
                }
            }
            (Expectation::WholeOf(numbers), found) => match number_of(found) {
                Some(x) if numbers.iter().any(|number| *number as f64 == x) => {}
                Some(x) => self.error(offset, format!("`{key}` is {x}: it must be {}", expectation.asked())),
                None => self.wrong_type(key, found, &expectation, offset),
            },
            // words and flags
            (Expectation::Text | Expectation::Path, DeValue::String(_)) => {}
            (Expectation::Flag, DeValue::Boolean(_)) => {}
            (Expectation::Words(known), DeValue::String(word)) => {
                if !known.contains(&word.as_ref()) {
                    self.error(offset, unknown_word(key, word, known));
                }
            }
            // containers
            (Expectation::Table(part), DeValue::Table(table)) => {
                self.check_table(resolved(schema), *part, table, offset);
            }
            (Expectation::Map(items), DeValue::Table(table)) => {
                table.iter_mut().for_each(|(name, value)| self.check_value(items, name.get_ref(), value));
            }
            (Expectation::List { items, length }, DeValue::Array(_)) => {
                self.check_list(items, *length, key, value, &expectation);
            }
            (Expectation::Choice(choices), found) => {
                match choices.iter().find(|choice| is_of_kind(&Expectation::of(choice), found)) {
                    Some(choice) => self.check_value(choice, key, value),
                    None => self.wrong_type(key, found, &expectation, offset),
                }
            }
            (_, found) => self.wrong_type(key, found, &expectation, offset),
        }
    }

    fn check_number(
        &mut self,
        key: &str,
        range: &Range,
        expectation: &Expectation,
        found: &DeValue,
        offset: usize,
    ) {
        match number_of(found) {
            Some(x) if range.accepts(x) => {}
            Some(x) => self.error(offset, format!("`{key}` is {x}: it must be {}", range.words())),
            None => self.wrong_type(key, found, expectation, offset),
        }
    }

    /// Checks a list and its items, and reports the first error only: a list of numbers may have thousands.
    fn check_list(
        &mut self,
        items: &Value,
        length: Option<usize>,
        key: &str,
        list: &mut Spanned<DeValue<'a>>,
        expectation: &Expectation,
    ) {
        let offset = list.span().start;
        let DeValue::Array(values) = list.get_mut() else { return };
        let inner = Expectation::of(items);
        if length.is_some_and(|length| length != values.len()) {
            let things = if matches!(inner, Expectation::Table(_)) { "tables" } else { "numbers" };
            let message = format!("`{key}` has {} {things}: it takes {}", values.len(), expectation.asked());
            self.error(offset, message);
            return;
        }
        for item in values.iter_mut() {
            if let Some(message) = item_fault(&inner, key, item.get_ref(), expectation) {
                self.error(item.span().start, message);
                return;
            }
            if !matches!(inner, Expectation::Number(_)) {
                self.check_value(items, key, item);
            }
        }
    }

    fn wrong_type(&mut self, key: &str, found: &DeValue, expectation: &Expectation, offset: usize) {
        self.error(offset, format!("`{key}` is {}: it takes {}", kind_of(found), expectation.asked()));
    }

    /// Renames keys with old names, with a note.
    fn rename_keys(&mut self, part: ScenePart, table: &mut DeTable<'a>) {
        let old_keys: Vec<(&RenamedKey, usize)> = table
            .keys()
            .filter_map(|key| Some((find_renamed(part, key.get_ref())?, key.span().start)))
            .collect();
        for (renamed, offset) in old_keys {
            let RenamedKey { old, new, .. } = renamed;
            if table.contains_key(*new) {
                let message = format!(
                    "`{new}` and `{old}` cannot be combined: `{old}` is the old name of `{new}`; remove it"
                );
                self.error(offset, message);
                table.remove(*old);
                continue;
            }
            let Some((key, value)) = table.remove_entry(*old) else { continue };
            let value = self.renamed_value(renamed, value);
            table.insert(Spanned::new(key.span(), DeString::from(*new)), value);
            self.notes.push(format!(
                "line {}: `{old}` has been renamed to `{new}`; the old name still works",
                line_of(self.text, offset)
            ));
        }
    }

    /// Drops keys that have been removed, with a note where they ask for what is done anyway and an error otherwise.
    fn drop_removed_keys(&mut self, part: ScenePart, table: &mut DeTable<'a>) {
        let removed: Vec<(&RemovedKey, usize)> = table
            .keys()
            .filter_map(|key| Some((find_removed(part, key.get_ref())?, key.span().start)))
            .collect();
        for (RemovedKey { name, usual, why, .. }, offset) in removed {
            let value = table.remove(*name);
            let is_usual = match value.as_ref().map(Spanned::get_ref) {
                Some(DeValue::String(word)) => Some(word.as_ref()) == *usual,
                _ => false,
            };
            if is_usual {
                let line = line_of(self.text, offset);
                self.notes.push(format!("line {line}: `{name}` has been removed and can be left out"));
            } else {
                self.error(offset, format!("`{name}` has been removed: {why}"));
            }
        }
    }

    fn renamed_value(&mut self, renamed: &RenamedKey, value: Spanned<DeValue<'a>>) -> Spanned<DeValue<'a>> {
        let Some(words) = &renamed.flag_words else { return value };
        let DeValue::Boolean(flag) = value.get_ref() else {
            let message =
                format!("`{}` is {}: it takes true or false", renamed.old, kind_of(value.get_ref()));
            self.error(value.span().start, message);
            return Spanned::new(value.span(), DeValue::String(Cow::Borrowed(words.no)));
        };
        let word = if *flag { words.yes } else { words.no };
        Spanned::new(value.span(), DeValue::String(Cow::Borrowed(word)))
    }
}

/// What is wrong with an item of a list, not counting its contents.
fn item_fault(inner: &Expectation, key: &str, item: &DeValue, list: &Expectation) -> Option<String> {
    match (inner, item) {
        (Expectation::Number(range), found) => match number_of(found) {
            Some(x) if range.accepts(x) && x.abs() <= NUMBER_LIMIT => None,
            Some(x) if x.is_finite() && x.abs() <= NUMBER_LIMIT => {
                Some(format!("`{key}` contains {x}: its numbers must be {}", range.words()))
            }
            Some(x) => {
                Some(format!("`{key}` contains {x}: its numbers must be finite and at most {NUMBER_LIMIT:e}"))
            }
            None => Some(format!("`{key}` contains {}: it takes {}", kind_of(found), list.asked())),
        },
        (Expectation::Choice(_), DeValue::Integer(_) | DeValue::Float(_)) => match number_of(item) {
            Some(x) if !(x.abs() <= NUMBER_LIMIT) => {
                Some(format!("`{key}` contains {x}: its numbers must be finite and at most {NUMBER_LIMIT:e}"))
            }
            _ => None,
        },
        (Expectation::List { length: Some(length), .. }, DeValue::Array(row)) if row.len() != *length => {
            Some(format!("a list in `{key}` has {} numbers: it takes {length}", row.len()))
        }
        (inner, found) if !is_of_kind(inner, found) => {
            Some(format!("`{key}` contains {}: it takes {}", kind_of(found), list.asked()))
        }
        _ => None,
    }
}

/// The keys of a schema of which exactly one is needed.
pub(super) fn one_of_keys(schema: &Value) -> Vec<&str> {
    let choices = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    choices.filter_map(|choice| texts(choice.get("required")).next()).collect()
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn unknown_key(part: ScenePart, name: &str) -> String {
    let known = part.keys();
    let start = format!("`{}` is not a key of {}", shortened(name), part.heading());
    if let Some(near) = nearest(name, known) {
        return format!("{start}: did you mean `{near}`?");
    }
    if let Some(elsewhere) = ScenePart::ALL.iter().find(|part| part.keys().contains(&name)) {
        return format!("{start}: it belongs in {}", elsewhere.heading());
    }
    format!("{start}, which has `{}`", known.join("`, `"))
}

fn unknown_word(key: &str, word: &str, known: &[&str]) -> String {
    let meant = nearest(word, known).map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
    let (word, known) = (shortened(word), known.join("\", \""));
    format!("`{key}` is \"{word}\": it must be one of \"{known}\"{meant}")
}
