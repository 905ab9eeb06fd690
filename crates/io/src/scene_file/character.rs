//! One `[[character]]` of a scene file: a skeleton, the flesh on it, and what it does.

use super::body::{read_cage, read_loads, read_material, read_name};
use super::bone::{Bones, read_bones};
use super::keys::ScenePart;
use super::performance::{read_motion_file, read_performance};
use super::region::read_region;
use super::section::Section;
use crate::Up;
use crate::bvh::{Bvh, BvhBody};
use crate::mesh_file::read_surface;
use sinew_character::{DEFAULT_CORE, DEFAULT_SAG, figure_flesh, find_bone, flesh_around};
use sinew_control::Performance;
use sinew_files::{Loaded, ReadError};
use sinew_math::{Rotation, Vec3};
use sinew_mesh::TriMesh;
use sinew_sim::desc::{AttachmentDesc, BodyDesc, CoreDesc, Hold, RigDesc, Sag, ShapeDesc, TieDesc};
use sinew_skeleton::Skeleton;
use std::path::Path;

/// A character, ready to join a scene.
pub(super) struct Character {
    pub(super) body: BodyDesc,
    pub(super) rig: RigDesc,
    pub(super) performance: Performance,
    /// How long it needs before the take begins (s).
    pub(super) preroll: f64,
}

/// Reads a character. `earlier` are the bodies above it in the file.
pub(super) fn read_character(
    section: &Section,
    earlier: &[BodyDesc],
    up: Up,
    folder: &Path,
) -> Result<Loaded<Character>, ReadError> {
    let mut notes = Vec::new();
    let file = section.text("surface")?.map(|file| folder.join(file));
    let name = read_name(section, file.as_deref().unwrap_or(Path::new("character")), earlier)?;
    let material = read_material(section, "fat")?;
    let cage = read_cage(section, "surface")?;
    let loads = read_loads(section, up)?;
    let core = read_core(section)?;
    for key in ["animation", "skinned", "fleshy", "human", "turn"] {
        if section.has(key) {
            return Err(section.error(key, format!("`{key}` goes with `file`, a rigged character")));
        }
    }

    let source = section.one_of(&["skeleton", "bone", "file"])?;
    let mut own: Option<Bvh> = None;
    let mut bones = Bones::default();
    if source == "bone" {
        bones = read_bones(&section.sections("bone", ScenePart::Bone)?)?;
    } else {
        let read = read_motion_file(section, "skeleton", folder)?;
        notes.extend(read.notes);
        bones.skeleton =
            read.value.to_skeleton(&BvhBody { world_from_file: turned(up), ..BvhBody::default() });
        own = Some(read.value);
    }
    let skeleton = Skeleton::build(&bones.skeleton.with_plain_masses())
        .map_err(|error| section.error(source, format!("skeleton of '{name}': {error}")))?;
    if own.is_some() {
        let fullness =
            section.number("fullness", "from 0.1 to 5", |f| (0.1..=5.0).contains(&f))?.unwrap_or(1.0);
        bones.flesh = figure_flesh(&mut bones.skeleton, &skeleton, fullness);
    }

    let ties = read_ties(section, &skeleton, up)?;
    let performance = read_performance(section, &skeleton, own.as_ref(), turned(up), folder)?;
    notes.extend(performance.notes);
    let surface = match &file {
        Some(file) => placed_surface(section, file, &mut notes)?,
        None => flesh_around(&bones.flesh).map_err(|error| {
            let message =
                format!("flesh around the bones: {error}; give a `surface`, or `flesh` to the bones");
            section.error(source, message)
        })?,
    };
    let notes = notes.iter().map(|note| format!("{name}: {note}")).collect();
    let body = BodyDesc {
        name: name.clone(),
        shape: ShapeDesc::Surface { surface, cage },
        material,
        velocity: Vec3::zeros(),
        pins: Vec::new(),
        loads,
        attachment: Some(AttachmentDesc {
            ties,
            core,
            anchored: section.flag("anchored")?,
            ..AttachmentDesc::by_shape(name.clone())
        }),
        sag: read_sag(section)?,
    };
    let (performance, preroll) = performance.value;
    let rig = RigDesc { name, skeleton: bones.skeleton };
    Ok(Loaded { value: Character { body, rig, performance, preroll }, notes })
}

/// How much stiffer flesh is at the bones.
pub(super) fn read_core(section: &Section) -> Result<CoreDesc, ReadError> {
    let positive = |key: &str| section.number(key, "above 0 and at most 1e4", |x| x > 0.0 && x <= 1e4);
    Ok(CoreDesc {
        stiffness: positive("core_stiffness")?.unwrap_or(DEFAULT_CORE.stiffness),
        reach: positive("core_reach")?.unwrap_or(DEFAULT_CORE.reach),
    })
}

/// What keeps flesh from sagging from its shape: [`DEFAULT_SAG`] when nothing is said.
pub(super) fn read_sag(section: &Section) -> Result<Sag, ReadError> {
    match (section.has("sag"), section.has("balanced")) {
        (true, true) => Err(section.error("balanced", "`sag` and `balanced` exclude each other: keep `sag`")),
        (true, false) => super::body::read_sag(section),
        (false, true) => Ok(if section.flag("balanced")? { Sag::Balanced } else { Sag::Free }),
        (false, false) => Ok(DEFAULT_SAG),
    }
}

/// BVH and glTF files have y up.
pub(super) fn turned(up: Up) -> Rotation {
    match up {
        Up::Y => Rotation::identity(),
        Up::Z => Rotation::from_axis_angle(&Vec3::x_axis(), core::f64::consts::FRAC_PI_2),
    }
}

fn placed_surface(section: &Section, file: &Path, notes: &mut Vec<String>) -> Result<TriMesh, ReadError> {
    let scale = section.number("scale", "above 0 and at most 1e6", |s| s > 0.0 && s <= 1e6)?.unwrap_or(1.0);
    let translate = section.vector("translate")?.unwrap_or(Vec3::zeros());
    let read = read_surface(file).map_err(|mut error| {
        error.message += &format!(" (named in line {} of the scene)", section.line("surface"));
        error
    })?;
    notes.extend(read.notes);
    let mut surface = read.value;
    surface.vertices.iter_mut().for_each(|p| *p = *p * scale + translate);
    Ok(surface)
}

/// Which nodes are fixed to which bones; what is inside of bones when nothing is said.
pub(super) fn read_ties(character: &Section, skeleton: &Skeleton, up: Up) -> Result<Vec<TieDesc>, ReadError> {
    let mut ties = Vec::new();
    for section in character.sections("tie", ScenePart::Tie)? {
        let bone = section.text("bone")?;
        if let Some(name) = bone {
            find_bone(skeleton, name).map_err(|message| section.error("bone", message))?;
        }
        let hold = match section.one_of(&["inside", "near", "region", "nodes"])? {
            "inside" => {
                let margin = section.number("inside", "from -1e3 to 1e3", |x| x.abs() <= 1e3)?;
                Hold::Inside { margin: margin.unwrap_or(0.0) }
            }
            "near" => {
                let distance = section.number("near", "above 0", |x| x > 0.0)?;
                Hold::Near { distance: distance.unwrap_or(0.0) }
            }
            "region" => Hold::Region(read_region(&section, up)?),
            _ => Hold::Nodes(section.whole_numbers("nodes")?),
        };
        if bone.is_none() && matches!(hold, Hold::Region(_) | Hold::Nodes(_)) {
            return Err(section.error("bone", "nodes chosen by hand need a `bone` to be fixed to"));
        }
        ties.push(TieDesc { bone: bone.map(str::to_owned), hold });
    }
    if ties.is_empty() {
        ties.push(TieDesc { bone: None, hold: Hold::Inside { margin: 0.0 } });
    }
    Ok(ties)
}
