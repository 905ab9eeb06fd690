//! FBX documents made by code, written as ASCII or as binary.

/// A record of a document.
pub(crate) struct Record {
    name: &'static str,
    values: Vec<Value>,
    records: Vec<Record>,
}

/// A value of a record.
pub(crate) enum Value {
    Int(i32),
    Long(i64),
    Float(f64),
    Text(&'static str),
    /// The name and the class of an object.
    Object(&'static str, &'static str),
    Ints(Vec<i32>),
    Longs(Vec<i64>),
    Floats(Vec<f64>),
}

/// A record with values and records below it.
pub(crate) fn record(name: &'static str, values: Vec<Value>, records: Vec<Record>) -> Record {
    Record { name, values, records }
}

/// A record of one value.
pub(crate) fn leaf(name: &'static str, value: Value) -> Record {
    record(name, vec![value], Vec::new())
}

/// The version of all documents.
const VERSION: u32 = 7400;

/// The document as text.
pub(crate) fn ascii(records: &[Record]) -> Vec<u8> {
    let mut text = String::from("; FBX 7.4.0 project file\n");
    records.iter().for_each(|record| write_text(record, 0, &mut text));
    text.into_bytes()
}

fn write_text(record: &Record, depth: usize, text: &mut String) {
    let indent = "\t".repeat(depth);
    let list = |numbers: Vec<String>| {
        format!("*{} {{\n{indent}\ta: {}\n{indent}}}", numbers.len(), numbers.join(","))
    };
    let spelt = record.values.iter().map(|value| match value {
        Value::Int(number) => number.to_string(),
        Value::Long(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Text(text) => format!("\"{text}\""),
        Value::Object(name, class) => format!("\"{class}::{name}\""),
        Value::Ints(numbers) => list(numbers.iter().map(i32::to_string).collect()),
        Value::Longs(numbers) => list(numbers.iter().map(i64::to_string).collect()),
        Value::Floats(numbers) => list(numbers.iter().map(|number| format!("{number:?}")).collect()),
    });
    let values = spelt.collect::<Vec<String>>().join(", ");
    text.push_str(&format!("{indent}{}: {values}", record.name));
    if !record.records.is_empty() {
        text.push_str(" {\n");
        record.records.iter().for_each(|below| write_text(below, depth + 1, text));
        text.push_str(&format!("{indent}}}"));
    }
    text.push('\n');
}

/// The document as binary.
pub(crate) fn binary(records: &[Record]) -> Vec<u8> {
    let mut bytes = b"Kaydara FBX Binary  \0\x1a\0".to_vec();
    bytes.extend(VERSION.to_le_bytes());
    records.iter().for_each(|record| write_binary(record, &mut bytes));
    bytes.extend([0; 13]);
    bytes
}

fn write_binary(record: &Record, bytes: &mut Vec<u8>) {
    // the lengths are known at the end
    let start = bytes.len();
    bytes.extend([0; 12]);
    bytes.push(record.name.len() as u8);
    bytes.extend(record.name.as_bytes());
    let values = bytes.len();
    record.values.iter().for_each(|value| write_value(value, bytes));
    let values = bytes.len() - values;
    if !record.records.is_empty() {
        record.records.iter().for_each(|below| write_binary(below, bytes));
        bytes.extend([0; 13]);
    }
    let words = [bytes.len(), record.values.len(), values].map(|word| (word as u32).to_le_bytes());
    bytes[start..start + 12].copy_from_slice(words.as_flattened());
}

fn write_value(value: &Value, bytes: &mut Vec<u8>) {
    let text = |bytes: &mut Vec<u8>, text: &[u8]| {
        bytes.push(b'S');
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
    };
    let list = |bytes: &mut Vec<u8>, kind: u8, size: usize, numbers: Vec<u8>| {
        bytes.push(kind);
        for word in [numbers.len() / size, 0, numbers.len()] {
            bytes.extend((word as u32).to_le_bytes());
        }
        bytes.extend(numbers);
    };
    match value {
        Value::Int(number) => {
            bytes.push(b'I');
            bytes.extend(number.to_le_bytes());
        }
        Value::Long(number) => {
            bytes.push(b'L');
            bytes.extend(number.to_le_bytes());
        }
        Value::Float(number) => {
            bytes.push(b'D');
            bytes.extend(number.to_le_bytes());
        }
        Value::Text(words) => text(bytes, words.as_bytes()),
        Value::Object(name, class) => {
            text(bytes, [name.as_bytes(), b"\0\x01", class.as_bytes()].concat().as_slice())
        }
        Value::Ints(numbers) => list(bytes, b'i', 4, numbers.iter().flat_map(|n| n.to_le_bytes()).collect()),
        Value::Longs(numbers) => list(bytes, b'l', 8, numbers.iter().flat_map(|n| n.to_le_bytes()).collect()),
        Value::Floats(numbers) => {
            list(bytes, b'd', 8, numbers.iter().flat_map(|n| n.to_le_bytes()).collect())
        }
    }
}
