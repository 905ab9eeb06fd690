//! Reads `[[character]]` of a scene file from a rigged file (`file = "hero.glb"`), with the options that the scene gives.

use super::Reading;
use super::body::{read_cage, read_loads, read_name};
use super::character::{read_core, read_sag, read_ties, turned};
use super::material::read_material;
use super::painted::read_painted;
use super::performance::{read_drives, read_mode};
use super::section::Section;
use crate::opened_scene::CharacterChoice;
use crate::rigged_file::{CaptureFile, RiggedOptions, open_rigged};
use crate::scene_schema::{CharacterTable, ShapeMode};
use crate::softness_points::SoftnessPoints;
use crate::softness_texture::read_softness_texture;
use sinew_character::{
    Character, CharacterOptions, ColorChannel, FleshShape, JointOptions, Placement, SoftnessOptions,
};
use sinew_control::{DriveMode, HumanBone};
use sinew_files::{Loaded, ReadError, ReadErrors};
use sinew_gltf::CharacterFile;
use sinew_math::{Vec3, so3};
use sinew_sim::desc::BodyDesc;
use sinew_skeleton::Skeleton;
use std::path::Path;

/// Keys of characters whose bones or surface are given in the scene.
const NOT_WITH_FILE: [&str; 10] =
    ["skeleton", "unit", "bone", "surface", "tets", "fullness", "velocity", "pin", "key", "preroll_loop"];

/// Reads a character from its file. `earlier` are the bodies above it in the scene.
pub(super) fn read_rigged(
    section: &Section<CharacterTable>,
    earlier: &[BodyDesc],
    reading: &Reading,
    choice: &CharacterChoice,
) -> Result<Loaded<(CharacterFile, Character)>, ReadErrors> {
    // everything cheap is checked before the file is read
    if let Some(key) = section.first_of(&NOT_WITH_FILE) {
        let message =
            format!("`{key}` has no meaning with `file`: the file has its own skeleton and surfaces");
        return Err(section.error(key, message).into());
    }
    let file = reading.folder.join(section.needed("file", section.file.as_ref())?);
    let name =
        read_name(section.name.as_deref(), &file, earlier).map_err(|what| section.error("name", what))?;
    let mut options = read_options(section, reading.folder, choice)?;
    options.character.name = Some(name);
    options.character.placement = read_placement(section, reading);
    let loads = read_loads(&section.items("load", &section.table().load), reading.up)?;

    // the file
    let mut read = open_rigged(&file, options).map_err(|mut errors| {
        for error in &mut errors.errors {
            error.message += &format!(" (line {} of the scene)", section.line("file"));
        }
        errors
    })?;

    // options that need its skeleton
    let character = &mut read.value.1;
    let skeleton = Skeleton::build(&character.rig.skeleton.with_plain_masses())
        .map_err(|error| section.error("file", format!("skeleton: {error}")))?;
    character.body.loads = loads;
    if let Some(attachment) = character.body.attachment.as_mut().filter(|_| section.has("tie")) {
        attachment.ties = read_ties(section, &skeleton, reading.up)?;
    }
    let name = character.body.name.clone();
    read_drives(section, &name, &skeleton, &mut character.performance)?;
    Ok(read)
}

/// The placement of the character in the scene.
fn read_placement(section: &Section<CharacterTable>, reading: &Reading) -> Placement {
    let rotation = match section.turn {
        Some(turned_by) => so3::exp(&(Vec3::from(turned_by) * reading.radians)) * turned(reading.up),
        None => turned(reading.up),
    };
    let translation = section.translate.map_or(Vec3::zeros(), Vec3::from);
    Placement { translation, rotation, scale: section.scale.unwrap_or(1.0) }
}

/// How the file becomes a character: the options of its table, and those chosen for one take.
fn read_options(
    section: &Section<CharacterTable>,
    folder: &Path,
    choice: &CharacterChoice,
) -> Result<RiggedOptions, ReadError> {
    let defaults = CharacterOptions::default();

    // what is chosen for one take overrides the scene
    let mut motion = read_capture(section, folder)?;
    let mut animation = section.animation.clone();
    if choice.animation.is_some() || choice.motion.is_some() {
        animation = choice.animation.clone();
        motion = choice.capture();
    }

    // the other options
    let material =
        section.material.as_ref().map(|_| read_material(section, &section.table().material, "fat"));
    let character = CharacterOptions {
        animation,
        cage: read_cage(section.cage_tets, section.cage_edge),
        approach: section.preroll_approach,
        hold: section.preroll_hold,
        material: material.transpose()?,
        shape: section.shape.map_or(defaults.shape, shape_of),
        has_solid_parts: choice.moves_bones(moves_bones(section)),
        jiggle: choice.jiggle.or(section.jiggle).unwrap_or(defaults.jiggle),
        limit: section.limit.unwrap_or(defaults.limit),
        core: read_core(section),
        anchored: section.anchored.unwrap_or(defaults.anchored),
        sag: read_sag(section.sag),
        skinned: section.skinned.clone().unwrap_or_default(),
        fleshy: section.fleshy.clone().unwrap_or_default(),
        softness: read_softness(section, folder, choice)?,
        human: read_human(section)?,
        joints: read_joints(section),
        ..defaults
    };
    Ok(RiggedOptions { character, motion })
}

/// Whether forces move bones of the character from the start or by a cue.
fn moves_bones(section: &Section<CharacterTable>) -> bool {
    read_mode(section.mode) != DriveMode::OneWay || !section.cue.is_empty()
}

fn read_joints(section: &Section<CharacterTable>) -> JointOptions {
    let defaults = JointOptions::default();
    JointOptions {
        limits: section.joint_limits.unwrap_or(defaults.limits),
        damping: section.joint_damping.unwrap_or(defaults.damping),
    }
}

fn shape_of(mode: ShapeMode) -> FleshShape {
    match mode {
        ShapeMode::Artist => FleshShape::Artist,
        ShapeMode::Physical => FleshShape::Physical,
    }
}

/// The captured motion that a character plays in place of an animation of its file.
fn read_capture(
    character: &Section<CharacterTable>,
    folder: &Path,
) -> Result<Option<CaptureFile>, ReadError> {
    let Some(section) = character.optional("motion", &character.table().motion) else { return Ok(None) };
    if let Some(key) = section.first_of(&["frames", "interpolation"]) {
        let message = format!(
            "`{key}` has no meaning with `file`: captured motion (`bvh`) is interpolated by a B-spline"
        );
        return Err(section.error(key, message));
    }
    let defaults = CaptureFile::of(folder.join(section.needed("bvh", section.bvh.as_ref())?));
    Ok(Some(CaptureFile {
        metres_per_unit: section.unit.or(defaults.metres_per_unit),
        smoothing: section.smooth.or(defaults.smoothing),
        first: section.first,
        last: section.last,
        is_cycle: section.is_loop.unwrap_or(false),
        ..defaults
    }))
}

/// How soft parts of the character are.
fn read_softness(
    section: &Section<CharacterTable>,
    folder: &Path,
    choice: &CharacterChoice,
) -> Result<SoftnessOptions, ReadError> {
    let color = section.softness_color.as_deref().map(ColorChannel::parse).transpose();
    let color = color.map_err(|message| section.error("softness_color", message))?;
    let texture = section.softness_texture.as_ref().map(|path| read_softness_texture(&folder.join(path)));
    let texture =
        texture.transpose().map_err(|error| section.error("softness_texture", error.to_string()))?;
    let factors = section.softness.iter().flatten().map(|(name, factor)| (name.clone(), *factor)).collect();
    let points = match &choice.softness {
        Some(file) => SoftnessPoints::read(file)?.of_body(&body_name(section)),
        None => read_painted(section, &section.softness_points, &body_name(section), folder)?,
    };
    Ok(SoftnessOptions { color, texture, points, factors })
}

/// The name of the flesh: that of the character, or of its file.
fn body_name(section: &Section<CharacterTable>) -> String {
    let stem = |file: &String| Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    section.name.clone().or_else(|| section.file.as_ref().and_then(stem)).unwrap_or_default()
}

/// Reads which joints are which human bones.
fn read_human(section: &Section<CharacterTable>) -> Result<Vec<(HumanBone, String)>, ReadError> {
    let bone = |(name, joint): (&String, &String)| {
        let human = HumanBone::of_name(name).ok_or_else(|| {
            let names = HumanBone::ALL.map(HumanBone::name);
            let message = format!("`{name}` is not a human bone: use one of {}", names.join(", "));
            ReadError::line(section.line_of_name("human", name), message)
        })?;
        Ok((human, joint.clone()))
    };
    section.human.iter().flatten().map(bone).collect()
}
