//! Rigged characters from glTF 2.0 (`.glb`, `.gltf`, `.vrm`): nodes, skins, surfaces with their weights, and animations.
//!
//! The file is checked as a whole: all errors come together, and what was mended or chosen is noted. Vertices keep their order and the
//! bytes of the file are kept, so that a take can be written back into it. Counts, offsets and indices are checked against the bytes
//! that are there before anything is read or reserved, and memory is bounded by a multiple of the file's size. Textures, cameras and
//! lights are not looked at.

mod accessor;
mod animation;
mod buffers;
mod channel;
mod container;
mod document;
mod extensions;
mod findings;
mod human_bones;
mod joint;
mod mesh;
mod node;
mod pose;
mod skin;
mod stretch;
mod transform;
mod triangles;
mod uri;
mod weights;

pub use animation::CharacterAnimation;
pub use channel::{AnimationChannel, ChannelInterpolation, ChannelPath};
pub use container::{CharacterSource, SourceForm};
pub use human_bones::{HumanBones, VrmEdition};
pub use joint::CharacterJoint;
pub use mesh::{CharacterMaterial, CharacterMesh, CharacterPrimitive, MorphTarget};
pub use node::CharacterNode;
pub use pose::CharacterPose;
pub use skin::CharacterSkin;
pub use transform::{Mat4, NodeTransform};
pub use weights::{JointWeight, SkinWeights};

use buffers::{Buffers, Stored};
use document::Document;
use findings::Findings;
use serde_json::Value;
use sinew_files::read_bytes;
use sinew_files::{Loaded, ReadError, ReadErrors};
use std::path::{Path, PathBuf};

/// The extensions of character files.
pub const CHARACTER_EXTENSIONS: [&str; 3] = ["glb", "gltf", "vrm"];

/// A rigged character as its file has it. Indices of nodes, skins, meshes, primitives, materials and animations are those of the
/// file. Lengths are in the file's unit (m by the standard), y is up, times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterFile {
    /// Every byte of the file.
    pub source: CharacterSource,
    /// The hierarchy.
    pub nodes: Vec<CharacterNode>,
    /// All nodes, parents before children.
    pub order: Vec<usize>,
    /// Joints and how surfaces are bound to them.
    pub skins: Vec<CharacterSkin>,
    /// Surfaces.
    pub meshes: Vec<CharacterMesh>,
    /// What surfaces are made of.
    pub materials: Vec<CharacterMaterial>,
    /// Motions.
    pub animations: Vec<CharacterAnimation>,
    /// Which nodes are which human bones, in VRM files.
    pub human_bones: Option<HumanBones>,
    stored: Vec<Stored>,
    folder: Option<PathBuf>,
}

/// A primitive as one node shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SurfaceId {
    /// The node, by its index in the file.
    pub node: usize,
    /// The primitive, by its index in the node's mesh.
    pub primitive: usize,
}

/// Reads a character from the bytes of a file that needs no other.
pub fn read_character(bytes: Vec<u8>) -> Result<Loaded<CharacterFile>, ReadErrors> {
    read(bytes, None)
}

/// Reads a character and the buffers beside it.
pub fn open_character(path: &Path) -> Result<Loaded<CharacterFile>, ReadErrors> {
    let bytes = read_bytes(path)?;
    // a bare name is in the folder we are in
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    read(bytes, Some(folder)).map_err(|errors| errors.within(path))
}

fn read(bytes: Vec<u8>, folder: Option<&Path>) -> Result<Loaded<CharacterFile>, ReadErrors> {
    let (source, notes) = CharacterSource::split(bytes)?;
    let mut findings = Findings::default();
    notes.into_iter().for_each(|note| findings.note(note));
    let root: Value = serde_json::from_slice(source.json()).map_err(|error| {
        ReadError::whole(format!("the JSON cannot be read ({error}): export the file again"))
    })?;
    buffers::register_images(&root, folder);
    let parts = read_parts(&source, &root, folder, &mut findings);
    let character = parts.map(|parts| CharacterFile { source, ..parts });
    findings.conclude(character)
}

/// Reads all lists of a document; nothing after an error that the rest cannot do without.
fn read_parts(
    source: &CharacterSource,
    root: &Value,
    folder: Option<&Path>,
    findings: &mut Findings,
) -> Option<CharacterFile> {
    let buffers = Buffers::find(source, root, folder, findings);
    let size = source.bytes().len() as u64 + buffers.outside_size();
    let document = Document::new(root, &buffers, size);
    check_frame(&document, findings);
    extensions::check(&document, findings);

    // what stands where
    let nodes = node::read(&document, findings);
    let skins = skin::read(&document, nodes.as_ref(), findings);
    let placed = nodes.as_ref().map_or(&[][..], |nodes| &nodes.nodes);

    // what it carries, and how it moves
    let meshes = mesh::MeshReader::new(&document).read(placed, &skins, findings);
    let materials = mesh::read_materials(&document, findings);
    let nodes = nodes?;
    let animations = animation::read(&document, &nodes.nodes, &meshes, findings);
    let human_bones = human_bones::read(&document, findings);
    if !findings.is_clean() {
        return None;
    }
    let character = CharacterFile {
        source: source.clone(),
        nodes: nodes.nodes,
        order: nodes.order,
        skins,
        meshes,
        materials,
        animations,
        human_bones,
        stored: buffers.stored,
        folder: folder.map(Path::to_owned),
    };
    check_surfaces(&character, findings);
    stretch::report(&character, findings);
    Some(character)
}

/// The lists of a document that are read.
const LISTS: [&str; 9] =
    ["accessors", "animations", "buffers", "bufferViews", "materials", "meshes", "nodes", "scenes", "skins"];

fn check_frame(document: &Document, findings: &mut Findings) {
    for name in LISTS {
        findings.accept(document.root().list(name));
    }
    let version = document.root().get("asset").and_then(|asset| asset.text("version"));
    match version {
        Some(version) if version.starts_with("2.") => {}
        Some(version) => {
            let version = crate::text::quote(version.as_bytes());
            findings.error(format!("is glTF version {version}: export it as glTF 2.0"));
        }
        None => findings.error("does not say its version (asset.version): export it as glTF 2.0"),
    }
}

/// Skins must have the joints that their surfaces follow.
fn check_surfaces(character: &CharacterFile, findings: &mut Findings) {
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
    /// All surfaces that nodes show, by node and primitive.
    pub fn surfaces(&self) -> impl Iterator<Item = SurfaceId> {
        let shown = self.nodes.iter().enumerate().filter_map(|(node, shown)| Some((node, shown.mesh?)));
        shown.flat_map(|(node, mesh)| {
            (0..self.meshes[mesh].primitives.len()).map(move |primitive| SurfaceId { node, primitive })
        })
    }

    /// The primitive of a surface; `None` if there is no such surface.
    pub fn primitive(&self, surface: SurfaceId) -> Option<&CharacterPrimitive> {
        Some(self.surface(surface)?.1)
    }

    /// Whether joints move a surface, rather than its node.
    pub fn is_skinned(&self, surface: SurfaceId) -> bool {
        self.surface(surface)
            .is_some_and(|(node, primitive)| self.nodes[node].skin.is_some() && primitive.weights.is_some())
    }

    /// The bytes of one of the file's buffers.
    pub fn buffer(&self, index: usize) -> Option<&[u8]> {
        buffers::bytes_of(&self.source, self.stored.get(index)?)
    }

    /// What a URI in the file stands for: bytes within it, or a file beside it if the character was opened by its path.
    pub(crate) fn read_uri(&self, uri: &str) -> Result<Vec<u8>, String> {
        buffers::read_uri(self.folder.as_deref(), uri)
    }

    fn surface(&self, surface: SurfaceId) -> Option<(usize, &CharacterPrimitive)> {
        let mesh = &self.meshes[self.nodes.get(surface.node)?.mesh?];
        Some((surface.node, mesh.primitives.get(surface.primitive)?))
    }
}
