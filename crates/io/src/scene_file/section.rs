//! One table of a scene file, whose keys are all known and whose values are checked as they are taken.

use super::keys::{ScenePart, scene_keys};
use sinew_character::nearest;
use sinew_files::ReadError;
use sinew_math::Vec3;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Extrapolation this no length, speed or force of a scene makes sense.
const VECTOR_LIMIT: f64 = 1e9;

/// One table of a scene file.
pub(super) struct Section<'a> {
    text: &'a str,
    part: ScenePart,
    table: &'a DeTable<'a>,
    start: usize,
}

impl<'a> Section<'a> {
    /// A table that begins at byte `start` of the text; a key that its part does not have is an error.
    pub(super) fn open(
        text: &'a str,
        part: ScenePart,
        table: &'a DeTable<'a>,
        start: usize,
    ) -> Result<Section<'a>, ReadError> {
        for key in table.keys() {
            let name = key.get_ref().as_ref();
            if !scene_keys().any(|known| known.part == part && known.name == name) {
                return Err(ReadError::line(line_of(text, key.span().start), unknown_key(part, name)));
            }
        }
        Ok(Section { text, part, table, start })
    }

    /// An error about the value of a key, or about the table if the key is absent.
    pub(super) fn error(&self, key: &str, message: impl Into<String>) -> ReadError {
        let offset = self.value(key).map_or(self.start, |value| value.span().start);
        ReadError::line(self.line_at(offset), message)
    }

    /// The line a key's value stands in.
    pub(super) fn line(&self, key: &str) -> usize {
        self.line_at(self.value(key).map_or(self.start, |value| value.span().start))
    }

    /// Fails if a key that is needed is absent.
    pub(super) fn needed<T>(&self, key: &str, value: Option<T>) -> Result<T, ReadError> {
        value.ok_or_else(|| self.error(key, format!("{} needs `{key}`", self.part.heading())))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// A number that `accepts`, which `words` describe.
    pub(super) fn number(
        &self,
        key: &str,
        words: &str,
        accepts: impl Fn(f64) -> bool,
    ) -> Result<Option<f64>, ReadError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match number(value.get_ref()) {
            Some(number) if number.is_finite() && accepts(number) => Ok(Some(number)),
            Some(number) => Err(self.error(key, format!("`{key}` is {number}: it must be {words}"))),
            None => Err(self.wrong_type(key, value.get_ref(), &format!("a number {words}"))),
        }
    }

    /// Three numbers.
    pub(super) fn vector(&self, key: &str) -> Result<Option<Vec3>, ReadError> {
        Ok(self.numbers::<3>(key)?.map(Vec3::from))
    }

    /// A list of numbers of a given length.
    pub(super) fn numbers<const N: usize>(&self, key: &str) -> Result<Option<[f64; N]>, ReadError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let wanted = format!("a list of {N} numbers");
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong_type(key, value.get_ref(), &wanted));
        };
        if items.len() != N {
            return Err(self.error(key, format!("`{key}` has {} numbers: it takes {wanted}", items.len())));
        }
        let mut numbers = [0.0; N];
        for (slot, item) in numbers.iter_mut().zip(items.iter()) {
            *slot = number(item.get_ref()).ok_or_else(|| self.wrong_type(key, item.get_ref(), &wanted))?;
            if !slot.is_finite() || slot.abs() > VECTOR_LIMIT {
                let message =
                    format!("`{key}` holds {slot}: numbers here are finite and at most {VECTOR_LIMIT:e}");
                return Err(self.error(key, message));
            }
        }
        Ok(Some(numbers))
    }

    /// One number, meant twice, or two numbers, each of which `accepts`.
    pub(super) fn number_or_pair(
        &self,
        key: &str,
        words: &str,
        accepts: impl Fn(f64) -> bool + Copy,
    ) -> Result<Option<[f64; 2]>, ReadError> {
        if !matches!(self.value(key).map(Spanned::get_ref), Some(DeValue::Array(_))) {
            return Ok(self.number(key, words, accepts)?.map(|number| [number; 2]));
        }
        let pair = self.numbers::<2>(key)?;
        match pair.iter().flatten().find(|number| !accepts(**number)) {
            Some(number) => Err(self.error(key, format!("`{key}` holds {number}: it must be {words}"))),
            None => Ok(pair),
        }
    }

    /// A list of numbers of any length.
    pub(super) fn number_list(&self, key: &str) -> Result<Option<Vec<f64>>, ReadError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        self.list_of_numbers(key, value).map(Some)
    }

    /// A list of lists of N numbers; empty if absent.
    pub(super) fn number_rows<const N: usize>(&self, key: &str) -> Result<Vec<[f64; N]>, ReadError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = value.get_ref() else {
            let wanted = format!("a list of lists of {N} numbers");
            return Err(self.wrong_type(key, value.get_ref(), &wanted));
        };
        let row = |item: &Spanned<DeValue>| {
            let numbers = self.list_of_numbers(key, item)?;
            let line = self.line_at(item.span().start);
            let message = format!("a list in `{key}` has {} numbers: it takes {N}", numbers.len());
            <[f64; N]>::try_from(numbers).map_err(|_| ReadError::line(line, message))
        };
        items.iter().map(row).collect()
    }

    /// A list of whole numbers from 0 on; empty if absent.
    pub(super) fn whole_numbers(&self, key: &str) -> Result<Vec<u32>, ReadError> {
        let numbers = self.number_list(key)?.unwrap_or_default();
        if let Some(number) =
            numbers.iter().find(|n| n.fract() != 0.0 || **n < 0.0 || **n > f64::from(u32::MAX))
        {
            return Err(self.error(key, format!("`{key}` holds {number}: it takes whole numbers from 0")));
        }
        Ok(numbers.into_iter().map(|number| number as u32).collect())
    }

    /// A table whose keys are names and whose values are lists of numbers, each with its line; empty if absent.
    pub(super) fn number_lists(&self, key: &str) -> Result<Vec<(String, Vec<f64>, usize)>, ReadError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.wrong_type(key, value.get_ref(), "a table of names and lists of numbers"));
        };
        let entry = |(name, value): (&Spanned<std::borrow::Cow<'a, str>>, &Spanned<DeValue<'a>>)| {
            let line = self.line_at(value.span().start);
            let numbers = match number(value.get_ref()).filter(|number| number.is_finite()) {
                Some(number) => vec![number],
                None => self
                    .list_of_numbers(name.get_ref(), value)
                    .map_err(|error| ReadError::line(line, error.message))?,
            };
            Ok((name.get_ref().to_string(), numbers, line))
        };
        table.iter().map(entry).collect()
    }

    fn list_of_numbers(&self, key: &str, value: &Spanned<DeValue>) -> Result<Vec<f64>, ReadError> {
        let line = self.line_at(value.span().start);
        let DeValue::Array(items) = value.get_ref() else {
            return Err(ReadError::line(line, format!("`{key}` takes a list of numbers")));
        };
        let sound = |item: &Spanned<DeValue>| {
            let found = number(item.get_ref()).filter(|n| n.is_finite() && n.abs() <= VECTOR_LIMIT);
            let message = format!("`{key}` takes numbers that are finite and at most {VECTOR_LIMIT:e}");
            found.ok_or_else(|| ReadError::line(self.line_at(item.span().start), message))
        };
        items.iter().map(sound).collect()
    }

    /// A list of texts; empty if absent.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<&'a str>, ReadError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let wanted = "a list of texts in quotes";
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong_type(key, value.get_ref(), wanted));
        };
        let text = |item: &'a Spanned<DeValue<'a>>| match item.get_ref() {
            DeValue::String(text) => Ok(text.as_ref()),
            other => Err(self.wrong_type(key, other, wanted)),
        };
        items.iter().map(text).collect()
    }

    /// Names and texts of a table, with their lines; none if absent.
    pub(super) fn named_texts(&self, key: &str) -> Result<Vec<(String, String, usize)>, ReadError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let wanted = "a table of names and texts in quotes";
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.wrong_type(key, value.get_ref(), wanted));
        };
        let mut entries = Vec::new();
        for (name, value) in table.iter() {
            let line = self.line_at(value.span().start);
            match value.get_ref() {
                DeValue::String(text) => entries.push((name.get_ref().to_string(), text.to_string(), line)),
                other => return Err(self.wrong_type(key, other, wanted)),
            }
        }
        Ok(entries)
    }

    /// Yes or no; no if absent.
    pub(super) fn flag(&self, key: &str) -> Result<bool, ReadError> {
        match self.value(key).map(Spanned::get_ref) {
            None => Ok(false),
            Some(DeValue::Boolean(flag)) => Ok(*flag),
            Some(other) => Err(self.wrong_type(key, other, "true or false")),
        }
    }

    /// A text.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, ReadError> {
        match self.value(key).map(Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong_type(key, other, "a text in quotes")),
        }
    }

    /// One of the known words.
    pub(super) fn choice(&self, key: &str, known: &[&str]) -> Result<Option<&'a str>, ReadError> {
        let Some(word) = self.text(key)? else { return Ok(None) };
        if known.contains(&word) {
            return Ok(Some(word));
        }
        let meant = nearest(word, known).map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
        let known = known.join("\", \"");
        let word = shortened(word);
        Err(self.error(key, format!("`{key}` is \"{word}\": it must be one of \"{known}\"{meant}")))
    }

    /// Whether a key's value is a text rather than something else.
    pub(super) fn is_text(&self, key: &str) -> bool {
        matches!(self.value(key).map(Spanned::get_ref), Some(DeValue::String(_)))
    }

    /// A table inside this one.
    pub(super) fn section(&self, key: &str, part: ScenePart) -> Result<Option<Section<'a>>, ReadError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Table(table) => Section::open(self.text, part, table, value.span().start).map(Some),
            other => Err(self.wrong_type(key, other, &format!("a table: {}", part.heading()))),
        }
    }

    /// A list of tables inside this one; empty if absent.
    pub(super) fn sections(&self, key: &str, part: ScenePart) -> Result<Vec<Section<'a>>, ReadError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let wanted = format!("a list of tables, each begun with {}", part.heading());
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong_type(key, value.get_ref(), &wanted));
        };
        let open = |item: &'a Spanned<DeValue<'a>>| match item.get_ref() {
            DeValue::Table(table) => Section::open(self.text, part, table, item.span().start),
            other => Err(self.wrong_type(key, other, &wanted)),
        };
        items.iter().map(open).collect()
    }

    /// The one key of several that is given; none or more than one is an error.
    pub(super) fn one_of(&self, keys: &[&'static str]) -> Result<&'static str, ReadError> {
        let given: Vec<&'static str> = keys.iter().copied().filter(|key| self.has(key)).collect();
        match given[..] {
            [one] => Ok(one),
            [] => {
                let message = format!("{} needs one of `{}`", self.part.heading(), keys.join("`, `"));
                Err(self.error(keys[0], message))
            }
            [first, second, ..] => {
                let message = format!("`{first}` and `{second}` exclude each other: keep one");
                Err(self.error(second, message))
            }
        }
    }

    fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        debug_assert!(
            scene_keys().any(|known| known.part == self.part && known.name == key),
            "{key} is asked for but not in the table of keys"
        );
        self.table.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(_, value)| value)
    }

    fn wrong_type(&self, key: &str, value: &DeValue, wanted: &str) -> ReadError {
        let found = match value {
            DeValue::String(text) => format!("the text \"{}\"", shortened(text)),
            DeValue::Integer(_) => "a whole number".to_owned(),
            DeValue::Float(_) => "a number".to_owned(),
            DeValue::Boolean(value) => format!("{value}"),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        self.error(key, format!("`{key}` is {found}: it takes {wanted}"))
    }

    fn line_at(&self, offset: usize) -> usize {
        line_of(self.text, offset)
    }
}

/// The line of a byte, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|&&byte| byte == b'\n').count()
}

fn number(value: &DeValue) -> Option<f64> {
    match value {
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|integer| integer as f64)
        }
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    }
}

fn unknown_key(part: ScenePart, name: &str) -> String {
    let known: Vec<&str> = scene_keys().filter(|key| key.part == part).map(|key| key.name).collect();
    let heading = part.heading();
    let start = format!("`{}` is no key of {heading}", shortened(name));
    if let Some(near) = nearest(name, &known) {
        return format!("{start}: did you mean `{near}`?");
    }
    if let Some(elsewhere) = scene_keys().find(|key| key.name == name) {
        return format!("{start}: it belongs in {}", elsewhere.part.heading());
    }
    format!("{start}, which has `{}`", known.join("`, `"))
}

fn shortened(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_debug).collect()
}
