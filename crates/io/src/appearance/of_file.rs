//! Reads the appearance of a character's surfaces from its glTF file.
//!
//! Texture transforms (`KHR_texture_transform`) are applied to the coordinates, so that every format can use them: each combination of a set
//! of coordinates and a transform that a material uses becomes a set of its own. What cannot be read is left out.

use super::accessor::{number, read, view};
use super::{
    Alpha, Appearance, MaterialGroup, SurfaceAppearance, SurfaceMaterial, TextureImage, TextureSlot,
    TextureWrap,
};
use crate::distinct_names::file_names;
use serde_json::Value;
use sinew_character::SurfaceId;
use sinew_gltf::CharacterFile;
use sinew_math::real;

/// The first bytes of kinds of images, where they begin, and their extensions.
const KINDS: [(&[u8], usize, &str); 5] = [
    (b"\x89PNG\r\n\x1a\n", 0, "png"),
    (b"\xff\xd8\xff", 0, "jpg"),
    (b"WEBP", 8, "webp"),
    (b"\xabKTX 20\xbb", 0, "ktx2"),
    (b"DDS ", 0, "dds"),
];

/// Reads the appearance of a file.
pub(crate) struct FileAppearance<'f> {
    file: &'f CharacterFile,
    root: Value,
    appearance: Appearance,
    /// For each material its sets of coordinates: the attribute and the transform.
    uv_sources: Vec<Vec<(usize, Value)>>,
    /// For each image of the file its index among those that could be read.
    images: Vec<Option<usize>>,
}

impl<'f> FileAppearance<'f> {
    /// The appearance of the surfaces of a file.
    pub(crate) fn read(file: &'f CharacterFile, ids: &[SurfaceId]) -> Appearance {
        let root: Value = serde_json::from_slice(file.source.json()).unwrap_or(Value::Null);
        let (uv_sources, images) = (Vec::new(), Vec::new());
        let mut reader = FileAppearance { file, root, appearance: Appearance::default(), uv_sources, images };
        reader.read_images();
        reader.read_materials();
        reader.appearance.surfaces = ids.iter().map(|id| reader.surface(*id)).collect();
        reader.appearance
    }

    fn list(&self, key: &str) -> &[Value] {
        self.root[key].as_array().map_or(&[], Vec::as_slice)
    }

    // images

    fn read_images(&mut self) {
        // names of the file, or of the files beside it, or numbers
        let name = |(index, image): (usize, &Value)| {
            let uri = image["uri"].as_str().filter(|uri| !uri.starts_with("data:"));
            let stem = uri.and_then(|uri| std::path::Path::new(uri).file_stem()?.to_str());
            let named = image["name"].as_str().filter(|name| !name.is_empty()).or(stem);
            named.map_or_else(|| format!("image-{}", index + 1), String::from)
        };
        let names: Vec<String> = self.list("images").iter().enumerate().map(name).collect();
        let names = file_names(names.iter().map(String::as_str));

        // their bytes
        for (index, name) in names.into_iter().enumerate() {
            let found = self.image_bytes(index).and_then(|bytes| Some((extension_of(&bytes)?, bytes)));
            self.images.push(found.map(|(extension, bytes)| {
                let name = format!("{name}.{extension}");
                self.appearance.images.push(TextureImage { name, bytes: bytes.into() });
                self.appearance.images.len() - 1
            }));
        }
    }

    fn image_bytes(&self, index: usize) -> Option<Vec<u8>> {
        let image = &self.root["images"][index];
        match number(&image["bufferView"]) {
            Some(index) => Some(view(self.file, &self.root, index)?.0.to_vec()),
            None => self.file.read_uri(image["uri"].as_str()?).ok(),
        }
    }

    // materials

    fn read_materials(&mut self) {
        for index in 0..self.list("materials").len() {
            let (material, sets) = self.material(index);
            self.appearance.materials.push(material);
            self.uv_sources.push(sets);
        }
    }

    fn material(&self, index: usize) -> (SurfaceMaterial, Vec<(usize, Value)>) {
        let value = &self.root["materials"][index];
        let surface = &value["pbrMetallicRoughness"];
        let mut sets = Vec::new();
        let mut texture = |slot: &Value| self.slot(slot, &mut sets);
        let name = value["name"].as_str().map_or_else(|| format!("material-{}", index + 1), String::from);
        let strength = &value["extensions"]["KHR_materials_emissive_strength"]["emissiveStrength"];
        let material = SurfaceMaterial {
            name,
            base_color: colors(&surface["baseColorFactor"], [1.0; 4]),
            base_color_texture: texture(&surface["baseColorTexture"]),
            metallic: factor(&surface["metallicFactor"], 1.0).clamp(0.0, 1.0),
            roughness: factor(&surface["roughnessFactor"], 1.0).clamp(0.0, 1.0),
            metallic_roughness_texture: texture(&surface["metallicRoughnessTexture"]),
            normal_texture: texture(&value["normalTexture"]),
            normal_scale: factor(&value["normalTexture"]["scale"], 1.0),
            occlusion_texture: texture(&value["occlusionTexture"]),
            emissive: colors(&value["emissiveFactor"], [0.0; 3]).map(|c| c * factor(strength, 1.0)),
            emissive_texture: texture(&value["emissiveTexture"]),
            alpha: match value["alphaMode"].as_str() {
                Some("MASK") => Alpha::Mask(factor(&value["alphaCutoff"], 0.5)),
                Some("BLEND") => Alpha::Blend,
                _ => Alpha::Opaque,
            },
        };
        (material, sets)
    }

    /// A texture of a material, whose coordinates become one of its sets.
    fn slot(&self, slot: &Value, sets: &mut Vec<(usize, Value)>) -> Option<TextureSlot> {
        // the image
        let texture = self.list("textures").get(number(&slot["index"])?)?;
        let image = (*self.images.get(number(&texture["source"])?)?)?;
        let sampler = number(&texture["sampler"]).and_then(|sampler| self.list("samplers").get(sampler));
        let wrap = |key: &str| match sampler.and_then(|sampler| sampler[key].as_u64()) {
            Some(33_071) => TextureWrap::Clamp,
            Some(33_648) => TextureWrap::Mirror,
            _ => TextureWrap::Repeat,
        };

        // its coordinates
        let transform = &slot["extensions"]["KHR_texture_transform"];
        let attribute = number(&transform["texCoord"]).or_else(|| number(&slot["texCoord"])).unwrap_or(0);
        let source = (attribute, transform.clone());
        let uv_set = sets.iter().position(|set| *set == source).unwrap_or_else(|| {
            sets.push(source);
            sets.len() - 1
        });
        Some(TextureSlot { image, uv_set, wrap: [wrap("wrapS"), wrap("wrapT")] })
    }

    // surfaces

    fn surface(&self, id: SurfaceId) -> SurfaceAppearance {
        // what there is
        let Some(primitive) = self.file.rigged.primitive(id) else { return SurfaceAppearance::default() };
        let mesh = self.file.rigged.nodes[id.node].mesh.unwrap_or_default();
        let attributes = &self.root["meshes"][mesh]["primitives"][id.primitive]["attributes"];
        let (material, vertex_count) = (primitive.material, primitive.positions.len());

        // texture coordinates: those of the material, or else the first of the file
        let first = [(0, Value::Null)];
        let sources =
            material.and_then(|material| self.uv_sources.get(material)).map_or(&[][..], Vec::as_slice);
        let sources = if sources.is_empty() { &first[..] } else { sources };
        let uvs = |(attribute, transform): &(usize, Value)| {
            let stored = self.attribute::<2>(attributes, &format!("TEXCOORD_{attribute}"), vertex_count);
            stored.into_iter().map(|uv| transformed(transform, uv)).collect::<Vec<_>>()
        };
        let mut uv_sets: Vec<Vec<[f32; 2]>> = sources.iter().map(uvs).collect();
        if uv_sets.iter().all(Vec::is_empty) {
            uv_sets.clear();
        }
        // a set that is missing must not take the place of another
        uv_sets.iter_mut().for_each(|set| set.resize(vertex_count, [0.0; 2]));

        SurfaceAppearance {
            groups: vec![MaterialGroup { material, triangle_count: primitive.triangles.len() }],
            uv_sets,
            normals: self.attribute(attributes, "NORMAL", vertex_count),
            colors: self.attribute(attributes, "COLOR_0", vertex_count),
        }
    }

    /// An attribute with finite numbers for all vertices; else none.
    fn attribute<const N: usize>(
        &self,
        attributes: &Value,
        name: &str,
        vertex_count: usize,
    ) -> Vec<[f32; N]> {
        let read = number(&attributes[name]).and_then(|accessor| read::<N>(self.file, &self.root, accessor));
        let is_sound = |list: &Vec<[f32; N]>| {
            list.len() == vertex_count && list.as_flattened().iter().all(|number| number.is_finite())
        };
        read.filter(is_sound).unwrap_or_default()
    }
}

/// The extension of the kind that an image is of.
fn extension_of(bytes: &[u8]) -> Option<&'static str> {
    let matches = |magic: &[u8], at: usize| bytes.get(at..).is_some_and(|rest| rest.starts_with(magic));
    KINDS.iter().find(|(magic, at, _)| matches(magic, *at)).map(|(.., extension)| *extension)
}

fn factor(value: &Value, default: f32) -> f32 {
    value.as_f64().map(|number| number as f32).filter(|number| number.is_finite()).unwrap_or(default)
}

fn colors<const N: usize>(value: &Value, default: [f32; N]) -> [f32; N] {
    std::array::from_fn(|i| factor(&value[i], default[i]).clamp(0.0, 1.0))
}

/// Where a texture is moved, turned and scaled to; quantised coordinates are brought back so.
///
/// ```text
/// u' = o + R(r) S u,   R(r) = (cos r, sin r; −sin r, cos r)      [KHR_texture_transform]
/// ```
fn transformed(transform: &Value, [u, v]: [f32; 2]) -> [f32; 2] {
    if transform.is_null() {
        return [u, v];
    }
    let pair = |key: &str, default: f64| [0, 1].map(|i| transform[key][i].as_f64().unwrap_or(default));
    let ([x, y], [u_scale, v_scale]) = (pair("offset", 0.0), pair("scale", 1.0));
    let angle = transform["rotation"].as_f64().unwrap_or(0.0);
    let (sine, cosine) = (real::sin(angle), real::cos(angle));
    let (u, v) = (u_scale * f64::from(u), v_scale * f64::from(v));
    [(x + cosine * u + sine * v) as f32, (y - sine * u + cosine * v) as f32]
}
