//! Vectors of vertices as a document stores them: single precision or normalised whole numbers, read back and written.
//!
//! Whole numbers of morph targets are those of `KHR_mesh_quantization`: c from −c_max to c_max stands for c/c_max, elements begin at multiples of four bytes.
//! Where few vectors differ from zero they are stored as a sparse accessor, whose vectors are close together.

use super::{Document, FLOAT, VERTEX_BUFFER};
use serde_json::{Value, json};

const BYTE: u32 = 5120;
const UNSIGNED_BYTE: u32 = 5121;
const SHORT: u32 = 5122;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
/// The extension that allows whole numbers in morph targets.
const QUANTIZATION: &str = "KHR_mesh_quantization";
/// Sparse accessors are taken where they need less than this fraction of the bytes: readers find the others faster.
const SPARSE: f64 = 0.75;

/// How the numbers of vectors are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Single precision.
    Float,
    /// Sixteen bits from −1 to 1.
    Short,
    /// Eight bits from −1 to 1.
    Byte,
}

impl Storage {
    /// The largest whole number; `None` for floats.
    fn largest(self) -> Option<f32> {
        match self {
            Storage::Float => None,
            Storage::Short => Some(32767.0),
            Storage::Byte => Some(127.0),
        }
    }

    /// The bytes of a number.
    fn size(self) -> usize {
        match self {
            Storage::Float => 4,
            Storage::Short => 2,
            Storage::Byte => 1,
        }
    }

    /// The bytes of a vector of three, which begins at a multiple of four.
    pub(crate) fn vector_size(self) -> usize {
        (3 * self.size()).next_multiple_of(4)
    }

    fn component(self) -> u32 {
        match self {
            Storage::Float => FLOAT,
            Storage::Short => SHORT,
            Storage::Byte => BYTE,
        }
    }

    /// A number as it is read again.
    pub(crate) fn rounded(self, number: f32) -> f32 {
        self.largest().map_or(number, |largest| (number * largest).round().clamp(-largest, largest) / largest)
    }

    /// A number as it is stored.
    fn stored(self, number: f32) -> f32 {
        self.largest().map_or(number, |largest| (number * largest).round().clamp(-largest, largest))
    }

    fn write(self, vector: [f32; 3], bytes: &mut Vec<u8>) {
        for number in vector {
            let number = self.stored(number);
            match self {
                Storage::Float => bytes.extend(number.to_le_bytes()),
                Storage::Short => bytes.extend((number as i16).to_le_bytes()),
                Storage::Byte => bytes.extend((number as i8).to_le_bytes()),
            }
        }
    }
}

impl Document {
    /// Adds vectors of vertices, as deltas of a morph target, and returns their accessor. It has bounds, which glTF wants of positions.
    pub(crate) fn add_vectors(&mut self, vectors: &[[f32; 3]], storage: Storage) -> usize {
        // what differs from zero
        let filled: Vec<usize> =
            (0..vectors.len()).filter(|i| vectors[*i].iter().any(|c| storage.stored(*c) != 0.0)).collect();
        if filled.is_empty() {
            return self.add_zeros(vectors.len());
        }
        if storage != Storage::Float {
            self.require(QUANTIZATION);
        }

        // all of them, or only those
        let stride = (3 * storage.size()).next_multiple_of(4);
        let index_size = if vectors.len() <= 65536 { 2 } else { 4 };
        let sparse_size = filled.len() * (3 * storage.size() + index_size);
        let mut accessor =
            json!({ "componentType": storage.component(), "count": vectors.len(), "type": "VEC3" });
        if (sparse_size as f64) < SPARSE * (stride * vectors.len()) as f64 {
            accessor["sparse"] = self.add_sparse(vectors, &filled, storage);
        } else {
            accessor["bufferView"] = json!(self.add_strided(vectors, storage, stride));
        }
        if storage != Storage::Float {
            accessor["normalized"] = json!(true);
        }
        let fold = |pick: fn(f32, f32) -> f32| {
            let all = vectors.iter().map(|v| v.map(|c| storage.stored(c)));
            all.reduce(|a, b| [0, 1, 2].map(|i| pick(a[i], b[i])))
        };
        accessor["min"] = json!(fold(f32::min));
        accessor["max"] = json!(fold(f32::max));
        self.push("accessors", accessor)
    }

    fn add_strided(&mut self, vectors: &[[f32; 3]], storage: Storage, stride: usize) -> usize {
        let mut bytes = Vec::with_capacity(stride * vectors.len());
        for (i, vector) in vectors.iter().enumerate() {
            storage.write(*vector, &mut bytes);
            bytes.resize(stride * (i + 1), 0);
        }
        let view = self.add_view(bytes.into_iter());
        let entry = &mut self.json["bufferViews"][view];
        entry["target"] = json!(VERTEX_BUFFER);
        if storage != Storage::Float {
            entry["byteStride"] = json!(stride);
        }
        view
    }

    fn add_sparse(&mut self, vectors: &[[f32; 3]], filled: &[usize], storage: Storage) -> Value {
        let wide = vectors.len() > 65536;
        let index = |i: &usize| {
            let bytes = (*i as u32).to_le_bytes();
            bytes.into_iter().take(if wide { 4 } else { 2 })
        };
        let indices = self.add_view(filled.iter().flat_map(index));
        let mut bytes = Vec::new();
        filled.iter().for_each(|i| storage.write(vectors[*i], &mut bytes));
        let values = self.add_view(bytes.into_iter());
        let component = if wide { UNSIGNED_INT } else { UNSIGNED_SHORT };
        json!({
            "count": filled.len(),
            "indices": { "bufferView": indices, "componentType": component },
            "values": { "bufferView": values }
        })
    }

    /// Adds numbers from 0 to 1 as sixteen bits each, and returns their accessor.
    pub(crate) fn add_fractions(&mut self, values: &[f32]) -> usize {
        let stored = |value: &f32| (value * 65535.0).round().clamp(0.0, 65535.0) as u16;
        let view = self.add_view(values.iter().flat_map(|value| stored(value).to_le_bytes()));
        self.push(
            "accessors",
            json!({
                "bufferView": view, "componentType": UNSIGNED_SHORT, "normalized": true,
                "count": values.len(), "type": "SCALAR"
            }),
        )
    }

    /// Says that a reader must know an extension.
    pub(super) fn require(&mut self, extension: &str) {
        for list in ["extensionsUsed", "extensionsRequired"] {
            let named = self.json.get(list).and_then(Value::as_array);
            if !named.is_some_and(|all| all.iter().any(|name| name == extension)) {
                self.push(list, json!(extension));
            }
        }
    }

    /// The first three numbers of every element of an accessor; `None` where they are stored in a way that is not read here, as in sparse accessors.
    pub(crate) fn read_vectors(&self, accessor: &Value) -> Option<Vec<[f32; 3]>> {
        // what its elements are
        let accessor = self.json.get("accessors")?.get(accessor.as_u64()? as usize)?;
        let whole = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64).map(|n| n as usize);
        let count = whole(accessor, "count")?;
        let width = match accessor["type"].as_str()? {
            "VEC3" => 3,
            "VEC4" => 4,
            _ => return None,
        };
        let component = whole(accessor, "componentType")? as u32;
        let normalized = accessor["normalized"] == true;
        let (size, largest) = match component {
            FLOAT => (4, 1.0),
            BYTE if normalized => (1, 127.0),
            UNSIGNED_BYTE if normalized => (1, 255.0),
            SHORT if normalized => (2, 32767.0),
            UNSIGNED_SHORT if normalized => (2, 65535.0),
            _ => return None,
        };
        if accessor.get("sparse").is_some() {
            return None;
        }

        // where they are
        let view = self.json.get("bufferViews")?.get(whole(accessor, "bufferView")?)?;
        let offset =
            whole(view, "byteOffset").unwrap_or(0).checked_add(whole(accessor, "byteOffset").unwrap_or(0))?;
        let stride = whole(view, "byteStride").filter(|stride| *stride > 0).unwrap_or(width * size);
        let number = |at: usize| -> Option<f32> {
            let bytes = self.buffer.get(at..at.checked_add(size)?)?;
            let stored = match component {
                BYTE => f32::from(bytes[0] as i8),
                UNSIGNED_BYTE => f32::from(bytes[0]),
                SHORT => f32::from(i16::from_le_bytes([bytes[0], bytes[1]])),
                UNSIGNED_SHORT => f32::from(u16::from_le_bytes([bytes[0], bytes[1]])),
                _ => f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            };
            Some((stored / largest).max(if normalized { -1.0 } else { f32::NEG_INFINITY }))
        };
        // a count that the buffer cannot hold reserves nothing
        if count > self.buffer.len() {
            return None;
        }
        let element = |i: usize| {
            let at = offset.checked_add(i.checked_mul(stride)?)?;
            Some([number(at)?, number(at + size)?, number(at + 2 * size)?])
        };
        (0..count).map(element).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(count: usize) -> Vec<[f32; 3]> {
        (0..count).map(|i| [0.9 - 0.01 * i as f32, -0.5, 1.0 / (1 + i) as f32]).collect()
    }

    #[test]
    fn vectors_come_back_within_half_a_step() {
        for (storage, step) in
            [(Storage::Float, 0.0), (Storage::Short, 1.0 / 32767.0), (Storage::Byte, 1.0 / 127.0)]
        {
            let (mut document, given) = (Document::new(), vectors(50));
            let accessor = document.add_vectors(&given, storage);
            let found = document.read_vectors(&json!(accessor)).unwrap();
            for (found, given) in found.as_flattened().iter().zip(given.as_flattened()) {
                // single precision rounds numbers up to 1 by 6e-8
                assert!((found - given).abs() <= 0.5 * step + 2e-7, "{storage:?}: {found} {given}");
                assert!((found - storage.rounded(*given)).abs() <= 2e-7);
            }
            let stride = &document.json["bufferViews"][0]["byteStride"];
            assert!(stride.as_u64().is_none_or(|stride| stride % 4 == 0), "{stride}");
        }
    }

    #[test]
    fn few_vectors_that_differ_from_zero_are_sparse_and_none_need_no_bytes() {
        let mut document = Document::new();
        let mut given = vec![[0.0; 3]; 100];
        let zeros = document.add_vectors(&given, Storage::Short);
        assert_eq!(
            (document.buffer_length(), document.json["accessors"][zeros].get("bufferView")),
            (0, None)
        );
        assert!(document.json.get("extensionsRequired").is_none());
        given[7] = [0.5, 0.0, 0.0];
        // less than half a step is nothing
        given[8] = [1e-5, 0.0, 0.0];
        let sparse = document.add_vectors(&given, Storage::Short);
        let entry = &document.json["accessors"][sparse];
        assert_eq!((&entry["sparse"]["count"], &entry["max"]), (&json!(1), &json!([16384.0, 0.0, 0.0])));
        assert_eq!(document.json["extensionsRequired"], json!([QUANTIZATION]));
        assert_eq!(document.read_vectors(&json!(sparse)), None);
    }

    #[test]
    fn what_the_buffer_does_not_hold_is_not_read() {
        let mut document = Document::new();
        let accessor = document.add_vectors(&vectors(5), Storage::Float);
        for (key, value) in [
            ("count", json!(6)),
            ("byteOffset", json!(u64::MAX)),
            ("bufferView", json!(9)),
            ("type", json!("MAT4")),
        ] {
            let mut broken = document.clone();
            broken.json["accessors"][accessor][key] = value;
            assert_eq!(broken.read_vectors(&json!(accessor)), None, "{key}");
        }
        assert_eq!(document.read_vectors(&json!(99)), None);
    }
}
