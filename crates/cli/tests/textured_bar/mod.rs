//! A rigged bar with a texture: the bar of the glTF corpus, its triangles in two primitives of two materials, the first with a texture.
//!
//! Its armature is turned, scaled and away from the origin, and a mesh without skin hangs on a bone.

use serde_json::{Value, json};

/// The bar without a texture.
pub(crate) const BAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../gltf/tests/corpus/bar_plain.glb");

/// The number of its vertices, and of its triangles in each primitive.
pub(crate) const VERTICES: usize = 20;
pub(crate) const TRIANGLES: [usize; 2] = [12, 20];

/// An image of two by two pixels: red, green, blue and white.
pub(crate) fn png() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 2, 2);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(&[255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]).expect("pixels");
    writer.finish().expect("an end");
    bytes
}

/// Texture coordinates of a vertex, from the upper left corner: exact in single precision, as is 1 − v.
pub(crate) fn uv(vertex: usize) -> [f32; 2] {
    [vertex as f32 / 32.0, vertex as f32 / 64.0]
}

/// The file.
pub(crate) fn glb() -> Vec<u8> {
    // the parts of the plain bar
    let bytes = std::fs::read(BAR).expect("the bar of the corpus");
    let json_length = u32::from_le_bytes(bytes[12..16].try_into().expect("four bytes")) as usize;
    let mut json: Value = serde_json::from_slice(&bytes[20..20 + json_length]).expect("JSON");
    let mut binary = bytes[20 + json_length + 8..].to_vec();

    // what is added to the buffer
    let mut add = |json: &mut Value, bytes: &[u8]| {
        binary.resize(binary.len().next_multiple_of(4), 0);
        let views = json["bufferViews"].as_array_mut().expect("views");
        views.push(json!({ "buffer": 0, "byteOffset": binary.len(), "byteLength": bytes.len() }));
        binary.extend_from_slice(bytes);
        views.len() - 1
    };
    let uvs: Vec<u8> = (0..VERTICES).flat_map(uv).flat_map(f32::to_le_bytes).collect();
    let uvs = add(&mut json, &uvs);
    let image = add(&mut json, &png());

    // two primitives, whose triangles are consecutive in the indices
    let accessors = json["accessors"].as_array_mut().expect("accessors");
    let first = accessors.len();
    accessors.push(json!({ "bufferView": uvs, "componentType": 5126, "count": VERTICES, "type": "VEC2" }));
    let [front, back] = TRIANGLES;
    accessors.push(json!({ "bufferView": 4, "componentType": 5123, "count": 3 * front, "type": "SCALAR" }));
    accessors.push(json!({ "bufferView": 4, "byteOffset": 6 * front, "componentType": 5123, "count": 3 * back, "type": "SCALAR" }));
    let mut primitive = json["meshes"][0]["primitives"][0].clone();
    primitive["attributes"]["TEXCOORD_0"] = json!(first);
    let mut primitives = [primitive.clone(), primitive];
    for (index, primitive) in primitives.iter_mut().enumerate() {
        primitive["indices"] = json!(first + 1 + index);
        primitive["material"] = json!(1 - index);
    }
    json["meshes"][0]["primitives"] = json!(primitives);

    // materials
    json["images"] = json!([{ "bufferView": image, "mimeType": "image/png", "name": "../skin colours" }]);
    json["textures"] = json!([{ "source": 0 }]);
    let skin = json!({
        "name": "skin & bones",
        "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 }, "baseColorFactor": [1.0, 0.5, 1.0, 1.0], "metallicFactor": 0.25 }
    });
    json["materials"].as_array_mut().expect("materials").push(skin);
    json["buffers"][0]["byteLength"] = json!(binary.len());
    container(&json, binary)
}

/// A GLB of JSON and a buffer.
fn container(json: &Value, mut binary: Vec<u8>) -> Vec<u8> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let length = 12 + 8 + text.len() + 8 + binary.len();
    let word = |number: usize| u32::try_from(number).expect("a small file").to_le_bytes();
    [
        &b"glTF\x02\0\0\0"[..],
        &word(length),
        &word(text.len()),
        b"JSON",
        &text,
        &word(binary.len()),
        b"BIN\0",
        &binary,
    ]
    .concat()
}
