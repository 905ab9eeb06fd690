//! Typed access to the JSON of a glTF file, with errors that say where, and a limit on the memory that the file may ask for.

use super::buffers::Buffers;
use serde_json::Value;
use sinew_files::quote;
use std::cell::Cell;

/// Memory that a file may ask for, as a multiple of its own size. Small weights grow most: a byte for the joint and one for the
/// weight become sixteen; the rest is for what is shared or sparse.
const GROWTH: u64 = 64;
/// Memory that even the smallest file may ask for (bytes).
const ALWAYS: u64 = 16 << 20;

/// A document, its buffers, and what is left of the memory it may ask for.
pub(super) struct DocumentReader<'a> {
    root: &'a Value,
    pub(super) buffers: &'a Buffers<'a>,
    left: Cell<u64>,
}

impl<'a> DocumentReader<'a> {
    /// A document whose file, buffers included, has a given size (bytes).
    pub(super) fn new(root: &'a Value, buffers: &'a Buffers<'a>, size: u64) -> DocumentReader<'a> {
        DocumentReader { root, buffers, left: Cell::new(size.saturating_mul(GROWTH).saturating_add(ALWAYS)) }
    }

    /// The document itself.
    pub(super) fn root(&self) -> Part<'a> {
        Part { value: self.root, path: String::new() }
    }

    /// One of the lists of the document; empty if there is none.
    pub(super) fn list(&self, name: &str) -> &'a [Value] {
        self.root.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// An entry of one of the lists.
    pub(super) fn entry(&self, list: &str, index: usize) -> Result<Part<'a>, String> {
        let entries = self.list(list);
        let value = entries.get(index).ok_or_else(|| {
            format!("{list}[{index}] does not exist, there are {}: export the file again", entries.len())
        })?;
        Ok(Part { value, path: format!("{list}[{index}]") })
    }

    /// The bytes that a view of a buffer, or another part with the members of one, stands for.
    pub(super) fn view_bytes(&self, view: &Part) -> Result<&'a [u8], String> {
        let buffer = view
            .index("buffer")?
            .ok_or_else(|| format!("{} names no buffer: export the file again", view.path))?;
        let bytes = self.buffers.bytes(buffer);
        let bytes =
            bytes.ok_or_else(|| format!("{} needs buffers[{buffer}], which is missing", view.path))?;
        let start = view.index("byteOffset")?.unwrap_or(0);
        let length = view.index("byteLength")?;
        let length = length
            .ok_or_else(|| format!("{} does not say its byteLength: export the file again", view.path))?;
        let end = start.checked_add(length).filter(|end| *end <= bytes.len());
        end.map(|end| &bytes[start..end]).ok_or_else(|| {
            let (path, has) = (&view.path, bytes.len());
            format!("{path} wants {length} bytes from {start} of buffers[{buffer}], which has {has}: export the file again")
        })
    }

    /// Takes from the memory the file may ask for, before it is reserved.
    pub(super) fn charge(&self, count: usize, each: usize, what: &str) -> Result<(), String> {
        let bytes = (count as u64).saturating_mul(each as u64);
        let left = self.left.get().checked_sub(bytes).ok_or_else(|| {
            format!(
                "{what} with {count} entries asks for more memory than {GROWTH} times the size of the file: export it again"
            )
        })?;
        self.left.set(left);
        Ok(())
    }
}

/// A value of the document and how to find it.
#[derive(Clone)]
pub(super) struct Part<'a> {
    pub(super) value: &'a Value,
    pub(super) path: String,
}

impl<'a> Part<'a> {
    /// A member; nothing if it is not there or null.
    pub(super) fn get(&self, key: &str) -> Option<Part<'a>> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(Part { value, path: self.at(key) })
    }

    /// An entry of a list within this one.
    pub(super) fn item(&self, key: &str, index: usize, value: &'a Value) -> Part<'a> {
        Part { value, path: format!("{}[{index}]", self.at(key)) }
    }

    /// The path of a member.
    pub(super) fn at(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) }
    }

    /// A member that is a list; empty if it is not there.
    pub(super) fn list(&self, key: &str) -> Result<&'a [Value], String> {
        match self.get(key) {
            None => Ok(&[]),
            Some(part) => part.value.as_array().map(Vec::as_slice).ok_or_else(|| part.wrong("a list")),
        }
    }

    /// A member that is a whole number from 0.
    pub(super) fn whole(&self, key: &str) -> Result<Option<u64>, String> {
        self.get(key)
            .map(|part| whole(part.value).ok_or_else(|| part.wrong("a whole number from 0")))
            .transpose()
    }

    /// A member that says which entry of a list is meant.
    pub(super) fn index(&self, key: &str) -> Result<Option<usize>, String> {
        let found = self.whole(key)?;
        found
            .map(|index| {
                usize::try_from(index).map_err(|_| format!("{} is {index}: no list is so long", self.at(key)))
            })
            .transpose()
    }

    /// A member that says which entry of a list of so many is meant.
    pub(super) fn index_below(&self, key: &str, count: usize, list: &str) -> Result<Option<usize>, String> {
        match self.index(key)? {
            Some(index) if index >= count => Err(format!(
                "{} is {index} and there are {count} {list}: export the file again",
                self.at(key)
            )),
            index => Ok(index),
        }
    }

    /// All whole numbers of a list, each below a count.
    pub(super) fn indices_below(&self, key: &str, count: usize, list: &str) -> Result<Vec<usize>, String> {
        let entries = self.list(key)?;
        let read = |(i, value): (usize, &Value)| {
            whole(value)
                .and_then(|index| usize::try_from(index).ok())
                .filter(|index| *index < count)
                .ok_or_else(|| {
                    let value = quote(value.to_string().as_bytes());
                    format!(
                        "{}[{i}] is {value} and there are {count} {list}: export the file again",
                        self.at(key)
                    )
                })
        };
        entries.iter().enumerate().map(read).collect()
    }

    /// A member that is so many numbers.
    pub(super) fn numbers<const N: usize>(&self, key: &str) -> Result<Option<[f64; N]>, String> {
        let Some(part) = self.get(key) else { return Ok(None) };
        let wrong = || part.wrong(&format!("{N} numbers"));
        let entries = part.value.as_array().filter(|entries| entries.len() == N).ok_or_else(wrong)?;
        let mut numbers = [0.0; N];
        for (number, entry) in numbers.iter_mut().zip(entries) {
            *number = entry.as_f64().filter(|number| number.is_finite()).ok_or_else(wrong)?;
        }
        Ok(Some(numbers))
    }

    /// A member that is any number of numbers.
    pub(super) fn all_numbers(&self, key: &str) -> Result<Option<Vec<f64>>, String> {
        let Some(part) = self.get(key) else { return Ok(None) };
        let entries = part.value.as_array().ok_or_else(|| part.wrong("a list of numbers"))?;
        let number = |entry: &Value| {
            entry.as_f64().filter(|number| number.is_finite()).ok_or_else(|| part.wrong("a list of numbers"))
        };
        entries.iter().map(number).collect::<Result<_, _>>().map(Some)
    }

    /// A member that is text.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.value.get(key).and_then(Value::as_str)
    }

    /// A member that is true; anything else counts as false.
    pub(super) fn flag(&self, key: &str) -> bool {
        self.value.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    fn wrong(&self, wanted: &str) -> String {
        let found = match self.value {
            Value::Array(entries) => format!("a list of {}", entries.len()),
            Value::Object(_) => "an object".into(),
            other => quote(other.to_string().as_bytes()),
        };
        format!("{} is {found} where {wanted} should be: export the file again", self.path)
    }
}

/// A whole number from 0; some exporters write `5.0` for it.
fn whole(value: &Value) -> Option<u64> {
    // up to here every whole number has an f64 of its own
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let of_float =
        |number: f64| (number.fract() == 0.0 && (0.0..EXACT).contains(&number)).then_some(number as u64);
    value.as_u64().or_else(|| value.as_f64().and_then(of_float))
}
