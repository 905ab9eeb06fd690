//! Reader of rigged characters in glTF 2.0 (`.glb`, `.gltf`, `.vrm`): nodes, skins, surfaces with their weights, and animations.
//!
//! The file is checked as a whole: all errors are reported together, and what was repaired or chosen is noted. Vertices stay in the order of
//! the file and its bytes are kept, so that a take can be written back into it. Counts, offsets and indices are checked against the bytes
//! that are there before anything is read or allocated, and memory is bounded by a multiple of the file's size. Textures, cameras and
//! lights are ignored.

mod accessor;
mod animation;
mod attributes;
mod buffers;
mod container;
mod document_reader;
mod extensions;
mod findings;
mod finer;
mod human_bones;
mod matrix;
mod mesh;
mod meshopt;
mod node;
mod painting;
mod skin;
mod triangles;
mod uri;
mod weights;

pub use container::{CharacterSource, SourceForm};

use buffers::{Buffers, Stored};
use document_reader::DocumentReader;
use findings::Findings;
use serde_json::Value;
use sinew_character::RiggedCharacter;
use sinew_files::{Loaded, ReadError, ReadErrors, read_bytes_after};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The extensions of character files.
pub const CHARACTER_EXTENSIONS: [&str; 3] = ["glb", "gltf", "vrm"];

/// A rigged character, and the glTF file it came from. Indices of nodes, skins, meshes, primitives, materials and animations are those
/// of the file. Lengths are in the file's unit (m by the standard), y is up, times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterFile {
    /// The character.
    pub rigged: Arc<RiggedCharacter>,
    /// Every byte of the file.
    pub source: CharacterSource,
    stored: Vec<Stored>,
    folder: Option<PathBuf>,
}

/// Reads a character from the bytes of a file that needs no other.
pub fn read_character(bytes: Vec<u8>) -> Result<Loaded<CharacterFile>, ReadErrors> {
    read(bytes, None)
}

/// Reads a character and the buffers beside it.
pub fn open_character(path: &Path) -> Result<Loaded<CharacterFile>, ReadErrors> {
    let bytes = read_bytes_after(path, container::check_start)?;
    // a bare name is in the folder we are in
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    read(bytes, Some(folder)).map_err(|errors| errors.within(path))
}

/// The JSON of a glTF file as it is, whatever its buffers hold.
pub(crate) fn open_document(path: &Path) -> Result<Value, ReadErrors> {
    let bytes = read_bytes_after(path, container::check_start)?;
    let within = |error: ReadError| ReadErrors::from(error).within(path);
    let (source, _) = CharacterSource::split(bytes).map_err(within)?;
    parse(&source).map_err(within)
}

fn read(bytes: Vec<u8>, folder: Option<&Path>) -> Result<Loaded<CharacterFile>, ReadErrors> {
    let (source, notes) = CharacterSource::split(bytes)?;
    let mut findings = Findings::default();
    notes.into_iter().for_each(|note| findings.note(note));
    let root = parse(&source)?;
    buffers::register_images(&root, folder);
    let (source, root) = match unpack(source, root, folder, &mut findings)? {
        Some(unpacked) => unpacked,
        None => return findings.conclude(None),
    };
    let buffers = Buffers::find(&source, &root, folder, &mut findings);
    let size = source.bytes().len() as u64 + buffers.outside_size();
    let document = DocumentReader::new(&root, &buffers, size);
    let rigged = read_parts(&document, &mut findings);
    let meshes = rigged.as_ref().map_or(&[][..], |rigged| &rigged.meshes);
    let repaired = attributes::repair(&document, meshes, &mut findings);
    let mut stored = buffers.stored;
    repaired.into_iter().for_each(|(buffer, bytes)| stored[buffer] = bytes);
    let file = rigged.map(|rigged| CharacterFile {
        rigged: Arc::new(rigged),
        source,
        stored,
        folder: folder.map(Path::to_owned),
    });
    findings.conclude(file)
}

fn parse(source: &CharacterSource) -> Result<Value, ReadError> {
    serde_json::from_slice(source.json()).map_err(|error| {
        ReadError::whole(format!("the JSON cannot be read ({error}): export the file again"))
    })
}

/// The same file without packed views of its buffers, if it has any; nothing after an error.
fn unpack(
    source: CharacterSource,
    root: Value,
    folder: Option<&Path>,
    findings: &mut Findings,
) -> Result<Option<(CharacterSource, Value)>, ReadError> {
    if !meshopt::is_used(&root) {
        return Ok(Some((source, root)));
    }
    let buffers = Buffers::find(&source, &root, folder, findings);
    let size = source.bytes().len() as u64 + buffers.outside_size();
    let Some(unpacked) = meshopt::unpack(&root, &buffers, size, findings) else { return Ok(None) };
    findings.note("meshopt compression was undone: results are written without it");
    let root = parse(&unpacked)?;
    Ok(Some((unpacked, root)))
}

/// Reads all lists of a document; nothing after an error that the rest cannot do without.
fn read_parts(document: &DocumentReader, findings: &mut Findings) -> Option<RiggedCharacter> {
    check_frame(document, findings);
    if !extensions::check(document, findings) {
        return None;
    }

    // what stands where
    let tree = node::read(document, findings);
    let skins = skin::read(document, tree.as_ref(), findings);
    let placed = tree.as_ref().map_or(&[][..], |tree| &tree.nodes);

    // what it carries, and how it moves
    let meshes = mesh::MeshReader::new(document).read(placed, &skins, findings);
    let materials = mesh::read_materials(document, findings);
    let tree = tree?;
    let animations = animation::read(document, &tree.nodes, &meshes, findings);
    let human_bones = human_bones::read(document, findings);
    if !findings.is_clean() {
        return None;
    }

    // whether all of it fits together
    let (nodes, order) = (tree.nodes, tree.order);
    let rigged = RiggedCharacter { nodes, order, skins, meshes, materials, animations, human_bones };
    check_surfaces(&rigged, findings);
    rigged.scale_notes().into_iter().for_each(|note| findings.note(note));
    Some(rigged)
}

/// The lists of a document that are read.
const LISTS: [&str; 9] =
    ["accessors", "animations", "buffers", "bufferViews", "materials", "meshes", "nodes", "scenes", "skins"];

fn check_frame(document: &DocumentReader, findings: &mut Findings) {
    for name in LISTS {
        findings.accept(document.root().list(name));
    }
    let version = document.root().get("asset").and_then(|asset| asset.text("version"));
    match version {
        Some(version) if version.starts_with("2.") => {}
        Some(version) => {
            let version = sinew_files::quote(version.as_bytes());
            findings.error(format!("is glTF version {version}: export it as glTF 2.0"));
        }
        None => findings.error("does not say its version (asset.version): export it as glTF 2.0"),
    }
}

/// Skins must have the joints that their surfaces follow.
fn check_surfaces(character: &RiggedCharacter, findings: &mut Findings) {
    for (index, node) in character.nodes.iter().enumerate() {
        let label = &node.label;
        if node.skin.is_some() && node.mesh.is_none() {
            findings.note(format!("node '{label}' has a skin and no mesh: the skin bends nothing there"));
        }
        let Some(mesh) = node.mesh.map(|mesh| &character.meshes[mesh]) else { continue };
        for (place, primitive) in mesh.primitives.iter().enumerate() {
            let joints = node.skin.map(|skin| character.skins[skin].joints.len());
            match (joints, &primitive.weights) {
                (Some(count), Some(weights)) if weights.joint_bound() > count => findings.error(format!(
                    "nodes[{index}] '{label}', primitive {place}: vertices follow joint {} of a skin with {count} joints: export \
                     the file again",
                    weights.joint_bound() - 1
                )),
                (Some(_), None) if !primitive.positions.is_empty() => findings.note(format!(
                    "node '{label}', primitive {place} has a skin and no weights: it follows its node"
                )),
                (None, Some(_)) => findings.note(format!(
                    "node '{label}', primitive {place} has weights and no skin: it follows its node"
                )),
                _ => {}
            }
        }
    }
}

impl CharacterFile {
    /// The bytes of one of the file's buffers.
    pub fn buffer(&self, index: usize) -> Option<&[u8]> {
        buffers::bytes_of(&self.source, self.stored.get(index)?)
    }

    /// What a URI in the file stands for: bytes within it, or a file beside it if the character was opened by its path.
    pub fn read_uri(&self, uri: &str) -> Result<Vec<u8>, String> {
        buffers::read_uri(self.folder.as_deref(), uri)
    }
}
