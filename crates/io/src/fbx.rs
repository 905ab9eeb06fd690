//! Rigged characters in Autodesk FBX 7.x and 6.x, binary or ASCII, read by the library ufbx.
//!
//! Lengths become metres and y points up, whatever the file's unit and axes. Corners of polygons become vertices as glTF has them, one for
//! each set of position, normal, texture coordinates and colour; takes become animations sampled at the file's own keys. Geometry that is
//! moved against its node, and scales that children do not inherit, get nodes of their own where plain transforms cannot say the same.
//! Memory is bounded by a multiple of the file's size. Lights, cameras, constraints and NURBS are ignored.

mod animations;
mod corners;
mod materials;
mod skins;
mod surfaces;

use animations::TakeReader;
use materials::Materials;
use sinew_character::{CharacterNode, Mat4, NodeTransform, NodeTree, RiggedCharacter};
use sinew_files::{Loaded, ReadError, ReadErrors};
use sinew_gltf::CharacterLook;
use sinew_math::{Mat3, Rotation, Vec3, nalgebra::Quaternion};
use std::path::Path;
use surfaces::Surfaces;
use ufbx::{
    AllocatorOpts, CoordinateAxes, ErrorType, FileFormat, GeometryTransformHandling, InheritModeHandling,
    LoadOpts, SpaceConversion,
};

/// Memory that a file may ask for, as a multiple of its size: arrays are deflated, often to a tenth, and single precision becomes double.
const GROWTH: usize = 128;
/// Memory that even the smallest file may ask for (bytes).
const ALWAYS: usize = 64 << 20;

/// The deepest hierarchy: real ones have dozens of levels.
const MAX_DEPTH: u32 = 1000;

/// What is left of the memory that a file may ask for beyond what the library uses.
struct Budget {
    left: usize,
}

impl Budget {
    fn of(size: usize) -> Budget {
        Budget { left: limit(size) }
    }

    /// Takes from it, before it is reserved.
    fn charge(&mut self, count: usize, each: usize, what: &str) -> Result<(), ReadError> {
        let left = count.checked_mul(each).and_then(|bytes| self.left.checked_sub(bytes));
        self.left = left.ok_or_else(|| {
            ReadError::whole(format!(
                "{what} asks for more memory than {GROWTH} times the size of the file: export it again"
            ))
        })?;
        Ok(())
    }
}

/// A character and its look, as they were read.
#[derive(Clone, Debug, PartialEq)]
pub struct FbxCharacter {
    /// The character, in metres, with y up.
    pub rigged: RiggedCharacter,
    /// Normals, texture coordinates, colours and images.
    pub look: CharacterLook,
}

/// Reads a character from the bytes of an FBX file. Textures that are not within it are looked for in `folder`; without one they are
/// left out.
///
/// # Errors
/// If the bytes are no FBX file, are cut off, or ask for far more memory than they have; if nodes or vertices are not finite.
pub fn read_fbx(bytes: &[u8], folder: Option<&Path>) -> Result<Loaded<FbxCharacter>, ReadErrors> {
    let scene = load(bytes)?;
    let mut notes = warnings(&scene);
    let mut budget = Budget::of(bytes.len());

    // what stands where
    let (tree, places) = read_nodes(&scene)?;
    let NodeTree { mut nodes, order } = tree;
    let skins = skins::read(&scene, &nodes, &places, &mut notes);

    // what it carries, and how it moves
    let Materials { materials, textures, images } = materials::read(&scene, folder, &mut notes);
    let Surfaces { meshes, looks, place: mesh_place } =
        surfaces::read(&scene, &skins, &mut budget, &mut notes)?;
    for (node, place) in scene.nodes.iter().zip(&places) {
        let Some(place) = place else { continue };
        nodes[*place].mesh = node.mesh.as_ref().and_then(|mesh| mesh_place[mesh.element.typed_id as usize]);
        nodes[*place].skin =
            node.mesh.as_ref().and_then(|mesh| skins.of_mesh[mesh.element.typed_id as usize]);
        if nodes[*place].mesh.is_none() {
            nodes[*place].skin = None;
        }
    }
    let take_reader =
        TakeReader { scene: &scene, places: &places, nodes: &nodes, meshes: &meshes, size: bytes.len() };
    let animations = take_reader.read(&mut budget, &mut notes)?;

    let skins = skins.skins;
    let rigged = RiggedCharacter { nodes, order, skins, meshes, materials, animations, human_bones: None };
    let look = CharacterLook { surfaces: looks, textures, images };
    Ok(Loaded { value: FbxCharacter { rigged, look }, notes })
}

/// How much memory a file of this size may ask for (bytes).
fn limit(size: usize) -> usize {
    size.saturating_mul(GROWTH).saturating_add(ALWAYS)
}

/// The same, for the library.
fn memory(size: usize) -> AllocatorOpts {
    AllocatorOpts { memory_limit: limit(size), ..AllocatorOpts::default() }
}

fn load(bytes: &[u8]) -> Result<ufbx::SceneRoot, ReadError> {
    // metres, y up, transforms that glTF has, and memory in proportion to the file
    let options = LoadOpts {
        temp_allocator: memory(bytes.len()),
        result_allocator: memory(bytes.len()),
        file_format: FileFormat::Fbx,
        target_axes: CoordinateAxes::right_handed_y_up(),
        target_unit_meters: 1.0,
        space_conversion: SpaceConversion::ModifyGeometry,
        geometry_transform_handling: GeometryTransformHandling::ModifyGeometry,
        inherit_mode_handling: InheritModeHandling::Compensate,
        generate_missing_normals: true,
        node_depth_limit: MAX_DEPTH,
        normalize_normals: true,
        ..LoadOpts::default()
    };

    // what is wrong, in words
    ufbx::load_memory(bytes, options).map_err(|error| {
        let is_other = error.type_ == ErrorType::Unknown && &*error.description == "Not an FBX file";
        let what = match error.type_ {
            _ if is_other => "is no FBX file: export it as FBX (binary or ASCII) or glTF".into(),
            ErrorType::TruncatedFile | ErrorType::EmptyFile | ErrorType::Io => {
                "the file ends too early: copy or export it again".into()
            }
            ErrorType::UnsupportedVersion => {
                "is an FBX of a version that is not read: export it as FBX 7.4 (2014)".into()
            }
            ErrorType::MemoryLimit | ErrorType::AllocationLimit | ErrorType::OutOfMemory => {
                format!("asks for more memory than {GROWTH} times its size: export it again")
            }
            _ => format!("cannot be read as FBX ({}): it may be cut off or damaged; copy it again, or export it as FBX 7.4 or glTF", error.description),
        };
        ReadError::whole(what)
    })
}

/// What the library repaired.
fn warnings(scene: &ufbx::Scene) -> Vec<String> {
    let said = |warning: &ufbx::Warning| match warning.count {
        0 | 1 => format!("repaired: {}", warning.description),
        count => format!("repaired {count} times: {}", warning.description),
    };
    scene.metadata.warnings.iter().map(said).collect()
}

/// The hierarchy, and for each node of the file its place in it; the root of the file, which is the world, has none unless a skin needs
/// it as the common ancestor of its joints.
fn read_nodes(scene: &ufbx::Scene) -> Result<(NodeTree, Vec<Option<usize>>), ReadError> {
    let keeps_root = needs_root(scene);
    let mut count = 0;
    let mut next = |node: &ufbx::Node| {
        let is_kept = keeps_root || !node.is_root;
        count += usize::from(is_kept);
        is_kept.then(|| count - 1)
    };
    let places: Vec<Option<usize>> = scene.nodes.iter().map(|node| next(node)).collect();
    let mut nodes = Vec::with_capacity(scene.nodes.len());
    for node in scene.nodes.iter().filter(|node| keeps_root || !node.is_root) {
        let name = match node.element.name.as_ref() {
            "" if node.is_root => Some("root".to_owned()),
            "" => None,
            name => Some(name.to_owned()),
        };
        let children = node.children.iter().filter_map(|child| places[child.element.typed_id as usize]);
        let (children, rest) = (children.collect(), transform(&node.local_transform));
        nodes.push(CharacterNode { name, children, rest, ..CharacterNode::default() });
    }
    let (tree, errors) = NodeTree::build(nodes);
    match tree.filter(|_| errors.is_empty()) {
        Some(tree) => Ok((tree, places)),
        None => {
            let messages: Vec<String> = errors.into_iter().map(|error| error.message).collect();
            Err(ReadError::whole(messages.join("; ")))
        }
    }
}

/// Whether the joints of some skin have no ancestor in common but the root of the file.
fn needs_root(scene: &ufbx::Scene) -> bool {
    let top = |node: &ufbx::Node| {
        let mut top = node.element.typed_id;
        let mut above = node.parent.as_ref();
        while let Some(parent) = above.filter(|parent| !parent.is_root) {
            top = parent.element.typed_id;
            above = parent.parent.as_ref();
        }
        top
    };
    scene.skin_deformers.iter().any(|deformer| {
        let mut tops =
            deformer.clusters.iter().filter_map(|cluster| Some(top(cluster.bone_node.as_ref()?)));
        let first = tops.next();
        tops.any(|other| Some(other) != first)
    })
}

fn transform(given: &ufbx::Transform) -> NodeTransform {
    let ufbx::Transform { translation, rotation, scale } = given;
    NodeTransform {
        translation: vec3(translation),
        rotation: Rotation::new_normalize(Quaternion::new(rotation.w, rotation.x, rotation.y, rotation.z)),
        stretch: Mat3::from_diagonal(&vec3(scale)),
    }
}

fn vec3(v: &ufbx::Vec3) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}

fn matrix(m: &ufbx::Matrix) -> Mat4 {
    Mat4::new(
        m.m00, m.m01, m.m02, m.m03, //
        m.m10, m.m11, m.m12, m.m13, //
        m.m20, m.m21, m.m22, m.m23, //
        0.0, 0.0, 0.0, 1.0,
    )
}

/// The name of a part of the file, in quotes, for messages.
fn quoted(name: &str) -> String {
    format!("'{}'", sinew_files::quote(name.as_bytes()))
}

/// The name, if it has one.
fn named(name: &str) -> Option<String> {
    (!name.is_empty()).then(|| name.to_owned())
}
