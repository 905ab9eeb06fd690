//! Reads `[[character]]` of a scene file with bones of its own: skeleton, flesh and motion.

use super::Reading;
use super::body::{MeshSource, Placing, read_cage, read_loads, read_name, read_pins, surface_of};
use super::bone::{Bones, read_bones};
use super::bone_motion::{Performer, named_in_line, read_motion_file};
use super::material::{read_material, sag_of};
use super::painted::read_painted;
use super::performance::read_performance;
use super::region::read_region;
use super::section::Section;
use super::skin::{SkinPlace, read_skin};
use crate::Up;
use crate::bvh::{Bvh, BvhBody};
use crate::scene_schema::{CharacterTable, SagMode, TieTable};
use sinew_character::{DEFAULT_CORE, DEFAULT_SAG, figure_flesh, find_bone, flesh_around};
use sinew_control::{Motion, Performance};
use sinew_files::{Loaded, ReadError};
use sinew_math::{Rotation, Vec3};
use sinew_sim::desc::{AttachmentDesc, BodyDesc, CoreDesc, Hold, RigDesc, Sag, ShapeDesc, TieDesc};
use sinew_skeleton::Skeleton;
use std::path::Path;

/// A character that can be added to a scene.
pub(super) struct Character {
    pub(super) body: BodyDesc,
    pub(super) pin_motions: Vec<Motion>,
    pub(super) rig: RigDesc,
    pub(super) performance: Performance,
    /// The preroll that it needs (s).
    pub(super) preroll: f64,
}

/// Keys that need a rigged file.
const FILE_ONLY: [&str; 13] = [
    "animation",
    "skinned",
    "fleshy",
    "softness",
    "softness_color",
    "softness_texture",
    "shape",
    "jiggle",
    "limit",
    "joint_limits",
    "joint_damping",
    "human",
    "turn",
];

/// Reads a character. `earlier` are the bodies above it in the file.
pub(super) fn read_character(
    section: &Section<CharacterTable>,
    earlier: &[BodyDesc],
    reading: &Reading,
) -> Result<Loaded<Character>, ReadError> {
    // everything cheap is checked before a file is read
    if let Some(key) = section.first_of(&FILE_ONLY) {
        return Err(section.error(key, format!("`{key}` needs `file`, a rigged character")));
    }
    let file = section.surface.as_deref().or(section.tets.as_deref()).unwrap_or("character");
    let name = read_name(section.name.as_deref(), Path::new(file), earlier)
        .map_err(|what| section.error("name", what))?;
    let material = read_material(section, &section.table().material, "fat")?;
    let (pins, pin_motions) = read_pins(&section.items("pin", &section.table().pin), reading.up)?;
    let loads = read_loads(&section.items("load", &section.table().load), reading.up)?;

    // bones and their motion
    let mut notes = Vec::new();
    let Frame { bones, skeleton, own } = read_frame(section, &name, reading, &mut notes)?;
    let ties = read_ties(section, &skeleton, reading.up)?;
    let world_from_file = turned(reading.up);
    let performer = Performer { name: &name, skeleton: &skeleton, own: own.as_ref(), world_from_file };
    let performance = read_performance(section, &performer, reading)?;
    notes.extend(performance.notes);

    // flesh
    let skin = section.optional("skin", &section.table().skin);
    let is_wrapped = skin.as_ref().is_some_and(|skin| skin.wrap.is_some()) && section.surface.is_none();
    let shape = if is_wrapped {
        Loaded { value: ShapeDesc::default(), notes: Vec::new() }
    } else {
        read_flesh(section, &bones, reading.folder)?
    };
    notes.extend(shape.notes);
    let place = SkinPlace { name: &name, has_bones: true, up: reading.up, folder: reading.folder };
    let skin = skin.map(|skin| read_skin(&skin, surface_of(shape.value.clone()), &place)).transpose()?;
    let is_skin = skin.is_some();
    let softness = read_painted(section, &section.softness_points, &name, reading.folder)?;
    let notes = notes.iter().map(|note| format!("{name}: {note}")).collect();
    let body = BodyDesc {
        name: name.clone(),
        shape: skin.map_or(shape.value, |skin| ShapeDesc::Skin(Box::new(skin))),
        material,
        velocity: section.velocity.map_or(Vec3::zeros(), Vec3::from),
        pins,
        loads,
        attachment: (!is_skin).then(|| AttachmentDesc {
            ties,
            core: read_core(section),
            anchored: section.anchored.unwrap_or(false),
            ..AttachmentDesc::by_shape(name.clone())
        }),
        sag: if is_skin { Sag::Free } else { read_sag(section.sag) },
        air_drag: 0.0,
        softness,
    };

    // what joins the scene
    let (performance, preroll) = performance.value;
    let rig = RigDesc { name, skeleton: bones.skeleton };
    Ok(Loaded { value: Character { body, pin_motions, rig, performance, preroll }, notes })
}

/// The bones of a character.
struct Frame {
    bones: Bones,
    skeleton: Skeleton,
    /// The BVH file that they come from, if they do.
    own: Option<Bvh>,
}

/// Reads bones that are written in the scene, or those of a motion file.
fn read_frame(
    section: &Section<CharacterTable>,
    name: &str,
    reading: &Reading,
    notes: &mut Vec<String>,
) -> Result<Frame, ReadError> {
    let build = |bones: &Bones, key: &str| {
        Skeleton::build(&bones.skeleton.with_plain_masses())
            .map_err(|error| section.error(key, format!("skeleton of '{name}': {error}")))
    };
    let Some(file) = &section.skeleton else {
        let bones = read_bones(&section.items("bone", &section.table().bone), reading.radians)?;
        let skeleton = build(&bones, "bone")?;
        return Ok(Frame { bones, skeleton, own: None });
    };
    let read = read_motion_file(&reading.folder.join(file), section.unit)
        .map_err(|error| named_in_line(error, section.line("skeleton")))?;
    notes.extend(read.notes);
    let body = BvhBody { world_from_file: turned(reading.up), ..BvhBody::default() };
    let mut bones = Bones { skeleton: read.value.to_skeleton(&body), flesh: Vec::new() };
    let skeleton = build(&bones, "skeleton")?;
    bones.flesh = figure_flesh(&mut bones.skeleton, &skeleton, section.fullness.unwrap_or(1.0));
    Ok(Frame { bones, skeleton, own: Some(read.value) })
}

/// Reads the flesh of a character: a mesh, or an implicit surface around its bones.
fn read_flesh(
    section: &Section<CharacterTable>,
    bones: &Bones,
    folder: &Path,
) -> Result<Loaded<ShapeDesc>, ReadError> {
    let cage = read_cage(section.cage_tets, section.cage_edge);
    let mesh = match (&section.surface, &section.tets) {
        (Some(file), _) => MeshSource { key: "surface", file },
        (None, Some(file)) => MeshSource { key: "tets", file },
        (None, None) => {
            let surface = flesh_around(&bones.flesh).map_err(|error| {
                let key = if section.skeleton.is_some() { "skeleton" } else { "bone" };
                let message =
                    format!("no flesh can be made around the bones: {error}; give a `surface`, or `flesh` for the bones");
                section.error(key, message)
            })?;
            return Ok(Loaded { value: ShapeDesc::Surface { surface, cage }, notes: Vec::new() });
        }
    };
    if let ("tets", Some(key)) = (mesh.key, section.first_of(&["cage_tets", "cage_edge"])) {
        return Err(section.error(key, format!("`{key}` needs `surface`: tets have no cage")));
    }
    let placing = Placing { scale: section.scale, translate: section.translate };
    mesh.read(folder, cage, &placing).map_err(|error| named_in_line(error, section.line(mesh.key)))
}

/// The stiff core of flesh around the bones.
pub(super) fn read_core(character: &CharacterTable) -> CoreDesc {
    CoreDesc {
        stiffness: character.core_stiffness.unwrap_or(DEFAULT_CORE.stiffness),
        reach: character.core_reach.unwrap_or(DEFAULT_CORE.reach),
    }
}

/// What keeps flesh from sagging; [`DEFAULT_SAG`] by default.
pub(super) fn read_sag(sag: Option<SagMode>) -> Sag {
    sag.map_or(DEFAULT_SAG, sag_of)
}

/// The rotation from BVH and glTF files, whose up axis is y, to the world.
pub(super) fn turned(up: Up) -> Rotation {
    match up {
        Up::Y => Rotation::identity(),
        Up::Z => Rotation::from_axis_angle(&Vec3::x_axis(), core::f64::consts::FRAC_PI_2),
    }
}

/// Which nodes are fixed to which bones; by default those inside bones.
pub(super) fn read_ties(
    character: &Section<CharacterTable>,
    skeleton: &Skeleton,
    up: Up,
) -> Result<Vec<TieDesc>, ReadError> {
    let ties = character.items("tie", &character.table().tie);
    if ties.is_empty() {
        return Ok(vec![TieDesc { bone: None, hold: Hold::Inside { margin: 0.0 } }]);
    }
    ties.iter().map(|tie| read_tie(tie, skeleton, up)).collect()
}

fn read_tie(tie: &Section<TieTable>, skeleton: &Skeleton, up: Up) -> Result<TieDesc, ReadError> {
    if let Some(name) = &tie.bone {
        find_bone(skeleton, name).map_err(|message| tie.error("bone", message))?;
    }
    let hold = if let Some(margin) = tie.inside {
        Hold::Inside { margin }
    } else if let Some(distance) = tie.near {
        Hold::Near { distance }
    } else if let Some(region) = tie.optional("region", &tie.table().region) {
        Hold::Region(read_region(&region, up)?)
    } else {
        Hold::Nodes(tie.nodes.clone().unwrap_or_default())
    };
    if tie.bone.is_none() && matches!(hold, Hold::Region(_) | Hold::Nodes(_)) {
        return Err(tie.error("bone", "`region` and `nodes` need a `bone` to fix the nodes to"));
    }
    Ok(TieDesc { bone: tie.bone.clone(), hold })
}
