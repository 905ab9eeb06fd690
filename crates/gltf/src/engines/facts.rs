//! What of a glTF file meets the limits of engines, read from its JSON.

use crate::character_file::open_document;
use serde_json::Value;
use sinew_files::ReadErrors;
use std::collections::BTreeSet;
use std::path::Path;

/// What of a file meets the limits of engines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileFacts {
    /// Every mesh.
    pub meshes: Vec<MeshFacts>,
    /// Joints of the largest skin.
    pub joints: usize,
    /// Extensions that a reader must know.
    pub required: Vec<String>,
    /// Types of images, each once.
    pub images: Vec<String>,
    /// Every animation.
    pub clips: Vec<ClipFacts>,
}

/// A mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFacts {
    /// Its name, or its number.
    pub name: String,
    /// Its morph targets.
    pub targets: usize,
    /// Joints per vertex, four for each set of attributes.
    pub influences: usize,
    /// Vertices of its largest primitive.
    pub vertices: usize,
}

/// An animation.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipFacts {
    /// Its name, or its number.
    pub name: String,
    /// The highest mean rate of keys of transforms (1/s).
    pub rate: f64,
    /// Whether any channel is a cubic spline.
    pub is_cubic: bool,
}

impl FileFacts {
    /// The facts of a file, compressed as it may be.
    ///
    /// # Errors
    /// A file that cannot be read, or whose JSON cannot.
    pub fn open(path: &Path) -> Result<FileFacts, ReadErrors> {
        open_document(path).map(|document| FileFacts::of(&document))
    }

    /// The facts of a document.
    pub fn of(document: &Value) -> FileFacts {
        let list = |name| entries(document, name);
        let required = list("extensionsRequired").filter_map(Value::as_str).map(str::to_owned).collect();
        let kinds: BTreeSet<String> = list("images").filter_map(image_kind).collect();
        FileFacts {
            meshes: list("meshes")
                .enumerate()
                .map(|(index, mesh)| mesh_facts(document, index, mesh))
                .collect(),
            joints: list("skins").map(|skin| entries(skin, "joints").count()).max().unwrap_or(0),
            required,
            images: kinds.into_iter().collect(),
            clips: list("animations")
                .enumerate()
                .map(|(index, clip)| clip_facts(document, index, clip))
                .collect(),
        }
    }
}

fn entries<'a>(holder: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    holder.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn label(index: usize, entry: &Value) -> String {
    entry.get("name").and_then(Value::as_str).map_or_else(|| index.to_string(), str::to_owned)
}

fn mesh_facts(document: &Value, index: usize, mesh: &Value) -> MeshFacts {
    let largest = |of: &dyn Fn(&Value) -> usize| entries(mesh, "primitives").map(of).max().unwrap_or(0);
    let sets = |primitive: &Value| {
        let attributes = primitive.get("attributes").and_then(Value::as_object);
        attributes.map_or(0, |all| all.keys().filter(|name| name.starts_with("JOINTS_")).count())
    };
    let vertices = |primitive: &Value| {
        let accessor = primitive
            .get("attributes")
            .and_then(|attributes| accessor(document, attributes.get("POSITION")?));
        accessor.and_then(|accessor| accessor.get("count")?.as_u64()).unwrap_or(0) as usize
    };
    MeshFacts {
        name: label(index, mesh),
        targets: largest(&|primitive| entries(primitive, "targets").count()),
        influences: 4 * largest(&sets),
        vertices: largest(&vertices),
    }
}

fn clip_facts(document: &Value, index: usize, clip: &Value) -> ClipFacts {
    let samplers: Vec<&Value> = entries(clip, "samplers").collect();
    let is_transform = |channel: &&Value| {
        let path = channel.get("target").and_then(|target| target.get("path")?.as_str());
        path.is_some_and(|path| path != "weights")
    };
    let rate = |channel: &Value| {
        let sampler = samplers.get(channel.get("sampler")?.as_u64()? as usize)?;
        key_rate(accessor(document, sampler.get("input")?)?)
    };
    let is_cubic =
        |sampler: &&Value| sampler.get("interpolation").and_then(Value::as_str) == Some("CUBICSPLINE");
    ClipFacts {
        name: label(index, clip),
        rate: entries(clip, "channels").filter(is_transform).filter_map(rate).fold(0.0, f64::max),
        is_cubic: samplers.iter().any(is_cubic),
    }
}

fn accessor<'a>(document: &'a Value, index: &Value) -> Option<&'a Value> {
    document.get("accessors")?.get(index.as_u64()? as usize)
}

/// The mean rate of key times (1/s), by the bounds that glTF wants of them.
fn key_rate(times: &Value) -> Option<f64> {
    let bound = |name: &str| times.get(name)?.get(0)?.as_f64();
    let (count, span) = (times.get("count")?.as_u64()?, bound("max")? - bound("min")?);
    (count > 1 && span > 0.0).then(|| (count - 1) as f64 / span)
}

/// The type of an image, as it says itself or by the name of its file.
fn image_kind(image: &Value) -> Option<String> {
    if let Some(kind) = image.get("mimeType").and_then(Value::as_str) {
        return Some(kind.to_owned());
    }
    let uri = image.get("uri")?.as_str()?;
    if let Some(data) = uri.strip_prefix("data:") {
        return data.split([';', ',']).next().map(str::to_owned);
    }
    let extension = uri.rsplit('.').next()?.to_lowercase();
    Some(format!("image/{}", if extension == "jpg" { "jpeg" } else { &extension }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn facts_are_those_of_the_document() {
        let document = json!({
            "extensionsRequired": ["KHR_mesh_quantization"],
            "accessors": [
                { "count": 500 },
                { "count": 61, "min": [0.5], "max": [1.5] },
                { "count": 121, "min": [0.0], "max": [1.0] }
            ],
            "meshes": [
                { "name": "body", "primitives": [
                    { "attributes": { "POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 1, "JOINTS_1": 1 }, "targets": [{}, {}, {}] },
                    { "attributes": {} }
                ] },
                {}
            ],
            "skins": [{ "joints": [1, 2] }, { "joints": [1, 2, 3] }],
            "images": [{ "uri": "a.JPG" }, { "mimeType": "image/png" }, { "uri": "data:image/webp;base64,AA" }, { "uri": "b.jpeg" }],
            "animations": [{
                "samplers": [{ "input": 1 }, { "input": 2, "interpolation": "CUBICSPLINE" }],
                "channels": [
                    { "sampler": 0, "target": { "path": "rotation" } },
                    { "sampler": 1, "target": { "path": "weights" } }
                ]
            }]
        });
        let mesh = |name: &str, targets, influences, vertices| MeshFacts {
            name: name.into(),
            targets,
            influences,
            vertices,
        };
        let expected = FileFacts {
            meshes: vec![mesh("body", 3, 8, 500), mesh("1", 0, 0, 0)],
            joints: 3,
            required: vec!["KHR_mesh_quantization".into()],
            images: ["image/jpeg", "image/png", "image/webp"].map(Into::into).to_vec(),
            clips: vec![ClipFacts { name: "0".into(), rate: 60.0, is_cubic: true }],
        };
        assert_eq!(FileFacts::of(&document), expected);
    }

    /// What is not as it should be counts as nothing; readers say what is wrong.
    #[test]
    fn nonsense_has_no_facts() {
        for document in [
            json!(null),
            json!([]),
            json!({ "meshes": 3, "skins": [null], "images": [{}], "animations": [{ "channels": [{}] }] }),
        ] {
            let facts = FileFacts::of(&document);
            assert_eq!((facts.joints, facts.meshes.len(), facts.images.len()), (0, 0, 0));
        }
    }
}
