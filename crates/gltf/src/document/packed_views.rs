//! Views of the buffer as `EXT_meshopt_compression` packs them.

use super::vertex_encoder::encode;
use super::{Document, FLOAT, INDEX_BUFFER, SHORT, UNSIGNED_BYTE, UNSIGNED_INT, UNSIGNED_SHORT, width};
use serde_json::{Value, json};

const EXTENSION: &str = "EXT_meshopt_compression";
/// Views of fewer elements stay as they are: what describes the packing would take more.
const FEWEST: usize = 32;

impl Document {
    /// Packs the views whose elements are vertices, morph targets or keys; indices and images stay as they are.
    pub(crate) fn pack_views(&mut self) {
        let strides = self.strides();
        let views = self.json.get("bufferViews").and_then(Value::as_array).cloned().unwrap_or_default();
        let (mut bytes, mut unpacked) = (Vec::new(), 0);
        for (index, (view, stride)) in views.iter().zip(&strides).enumerate() {
            // what the view holds, packed if that is less
            let number = |name: &str| view[name].as_u64().unwrap_or(0) as usize;
            let (offset, length) = (number("byteOffset"), number("byteLength"));
            let Some(own) = self.buffer.get(offset..offset + length) else { return };
            let packed = stride
                .filter(|stride| length.is_multiple_of(*stride) && length >= FEWEST * stride)
                .map(|stride| (stride, encode(own, stride)))
                .filter(|(_, packed)| packed.len() < length);

            // where it is now
            bytes.resize(usize::next_multiple_of(bytes.len(), 4), 0);
            let entry = &mut self.json["bufferViews"][index];
            if let Some((stride, packed)) = packed {
                entry["extensions"][EXTENSION] = json!({
                    "buffer": 0,
                    "byteOffset": bytes.len(),
                    "byteLength": packed.len(),
                    "byteStride": stride,
                    "count": length / stride,
                    "mode": "ATTRIBUTES",
                });
                (entry["buffer"], entry["byteOffset"]) = (json!(1), json!(unpacked));
                unpacked = usize::next_multiple_of(unpacked + length, 4);
                bytes.extend(packed);
            } else {
                entry["byteOffset"] = json!(bytes.len());
                bytes.extend(own);
            }
        }
        if unpacked > 0 {
            self.require(EXTENSION);
            let fallback =
                json!({ "byteLength": unpacked, "extensions": { EXTENSION: { "fallback": true } } });
            (self.buffer, self.fallback) = (bytes, Some(fallback));
        }
    }

    /// For each view the bytes from one element to the next, if it can be packed: all its accessors agree about them, and none is an index.
    fn strides(&self) -> Vec<Option<usize>> {
        let list = |name: &str| self.json.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let views = list("bufferViews");
        let mut found: Vec<Option<usize>> = vec![None; views.len()];
        let mut is_refused: Vec<bool> = views
            .iter()
            .map(|view| {
                view["target"].as_u64() == Some(u64::from(INDEX_BUFFER)) || view.get("extensions").is_some()
            })
            .collect();
        let mut use_view = |place: &Value, kind: &Value, elements: usize| {
            let Some(view) =
                place["bufferView"].as_u64().map(|view| view as usize).filter(|view| *view < views.len())
            else {
                return;
            };
            let size = match kind.as_u64().map(|kind| kind as u32) {
                Some(FLOAT | UNSIGNED_INT) => 4,
                Some(SHORT | UNSIGNED_SHORT) => 2,
                Some(UNSIGNED_BYTE | 5120) => 1,
                _ => 0,
            };
            let stride = views[view]["byteStride"].as_u64().map_or(size * elements, |stride| stride as usize);
            let fits = stride > 0 && stride.is_multiple_of(4) && stride <= 256;
            is_refused[view] |= !fits || found[view].is_some_and(|other| other != stride);
            found[view] = Some(stride);
        };
        for accessor in list("accessors") {
            let kind = &accessor["componentType"];
            let elements = accessor["type"].as_str().map_or(0, width);
            use_view(accessor, kind, elements);
            use_view(&accessor["sparse"]["values"], kind, elements);
            use_view(&accessor["sparse"]["indices"], &accessor["sparse"]["indices"]["componentType"], 1);
        }
        let indices =
            list("meshes").iter().flat_map(|mesh| mesh["primitives"].as_array().into_iter().flatten());
        for accessor in indices.filter_map(|primitive| primitive["indices"].as_u64()) {
            let view =
                list("accessors").get(accessor as usize).and_then(|accessor| accessor["bufferView"].as_u64());
            if let Some(refused) = view.and_then(|view| is_refused.get_mut(view as usize)) {
                *refused = true;
            }
        }
        found.into_iter().zip(is_refused).map(|(stride, is_refused)| stride.filter(|_| !is_refused)).collect()
    }
}
