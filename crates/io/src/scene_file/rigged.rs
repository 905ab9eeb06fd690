//! A `[[character]]` that is a rigged file (`file = "hero.glb"`): what the scene says about it replaces the defaults.

use super::body::{read_cage, read_loads, read_material, read_name};
use super::character::{read_core, read_sag, read_ties, turned};
use super::keys::ScenePart;
use super::performance::{read_cues, read_mode};
use super::section::Section;
use crate::Up;
use crate::opened_scene::CharacterChoice;
use crate::rigged_file::{CaptureFile, RiggedOptions, open_rigged};
use sinew_character::{Character, CharacterOptions, Placement};
use sinew_control::{HumanBone, PathFollower};
use sinew_files::{Loaded, ReadError, ReadErrors};
use sinew_gltf::CharacterFile;
use sinew_math::{Vec3, so3};
use sinew_sim::desc::BodyDesc;
use sinew_skeleton::Skeleton;
use std::path::Path;

/// Keys that only make sense for a character with bones or a surface of its own.
const NOT_WITH_FILE: [&str; 6] = ["skeleton", "unit", "bone", "surface", "fullness", "key"];

/// Reads a character from its file. `earlier` are the bodies above it in the scene.
pub(super) fn read_rigged(
    section: &Section,
    earlier: &[BodyDesc],
    up: Up,
    folder: &Path,
    choice: &CharacterChoice,
) -> Result<Loaded<(CharacterFile, Character)>, ReadErrors> {
    // all that costs nothing is checked before the file is read
    if let Some(key) = NOT_WITH_FILE.into_iter().find(|key| section.has(key)) {
        let message = format!("`{key}` does not go with `file`: the file has its own skeleton and surfaces");
        return Err(section.error(key, message).into());
    }
    let file = folder.join(section.needed("file", section.text("file")?)?);
    let mut options = read_options(section, folder, choice)?;
    options.character.name = Some(read_name(section, &file, earlier)?);
    options.character.placement = read_placement(section, up)?;
    let loads = read_loads(section, up)?;

    // what the file has
    let mut read = open_rigged(&file, options).map_err(|mut errors| {
        for error in &mut errors.errors {
            error.message += &format!(" (named in line {} of the scene)", section.line("file"));
        }
        errors
    })?;

    // what the scene says about its parts
    let character = &mut read.value.1;
    let skeleton = Skeleton::build(&character.rig.skeleton.with_plain_masses())
        .map_err(|error| section.error("file", format!("skeleton: {error}")))?;
    character.body.loads = loads;
    if let Some(attachment) = character.body.attachment.as_mut().filter(|_| section.has("tie")) {
        attachment.ties = read_ties(section, &skeleton, up)?;
    }
    let performance = &mut character.performance;
    let hold = section.number("return", "from 0 to 600", |s| (0.0..=600.0).contains(&s))?;
    performance.follow =
        PathFollower { time_constant: hold.unwrap_or(PathFollower::default().time_constant) };
    performance.set_drive_mode(read_mode(section)?);
    performance.cues.extend(read_cues(section, &skeleton)?);
    Ok(read)
}

/// Where the character stands in the scene.
fn read_placement(section: &Section, up: Up) -> Result<Placement, ReadError> {
    let degrees = core::f64::consts::PI / 180.0;
    let scale = section.number("scale", "above 0 and at most 1e6", |s| s > 0.0 && s <= 1e6)?;
    let rotation = match section.vector("turn")? {
        Some(turned_by) => so3::exp(&(turned_by * degrees)) * turned(up),
        None => turned(up),
    };
    let translation = section.vector("translate")?.unwrap_or(Vec3::zeros());
    Ok(Placement { translation, rotation, scale: scale.unwrap_or(1.0) })
}

fn read_options(
    section: &Section,
    folder: &Path,
    choice: &CharacterChoice,
) -> Result<RiggedOptions, ReadError> {
    let time = |key: &str| section.number(key, "from 0 to 600", |s| (0.0..=600.0).contains(&s));
    let defaults = CharacterOptions::default();
    let mut motion = read_capture(section, folder)?;
    let mut animation = section.text("animation")?.map(str::to_owned);
    if animation.is_some() && motion.is_some() {
        let message = "`animation` and `motion` exclude each other: keep one";
        return Err(section.error("animation", message));
    }
    // what is chosen for one take goes before what the scene says
    if choice.animation.is_some() || choice.motion.is_some() {
        animation = choice.animation.clone();
        motion = choice.motion.clone().map(CaptureFile::of);
    }
    let character = CharacterOptions {
        animation,
        cage: read_cage(section, "surface")?,
        approach: time("run_up")?,
        hold: time("settle")?,
        material: section.has("material").then(|| read_material(section, "fat")).transpose()?,
        core: read_core(section)?,
        anchored: if section.has("anchored") { section.flag("anchored")? } else { defaults.anchored },
        sag: read_sag(section)?,
        skinned: section.texts("skinned")?.into_iter().map(str::to_owned).collect(),
        fleshy: section.texts("fleshy")?.into_iter().map(str::to_owned).collect(),
        human: read_human(section)?,
        ..defaults
    };
    Ok(RiggedOptions { character, motion })
}

/// The captured motion that a character plays instead of its own animation.
fn read_capture(character: &Section, folder: &Path) -> Result<Option<CaptureFile>, ReadError> {
    let Some(section) = character.section("motion", ScenePart::BoneMotion)? else { return Ok(None) };
    let defaults = CaptureFile::of(folder.join(section.needed("bvh", section.text("bvh")?)?));
    if section.has("interpolation") {
        let message =
            "`interpolation` does not go with `file`: captured motion is carried over on a b-spline";
        return Err(section.error("interpolation", message));
    }
    let frame = |key: &str| {
        let whole = |n: f64| (0.0..=1e9).contains(&n) && n.fract() == 0.0;
        Ok(section.number(key, "a whole number, 0 or more", whole)?.map(|n| n as usize))
    };
    let smoothing = section.number("smooth", "from 0 to 1000", |f| (0.0..=1000.0).contains(&f))?;
    Ok(Some(CaptureFile {
        metres_per_unit: section
            .number("unit", "above 0", |unit| unit > 0.0)?
            .unwrap_or(defaults.metres_per_unit),
        smoothing: smoothing.unwrap_or(defaults.smoothing),
        first: frame("first")?,
        last: frame("last")?,
        is_cycle: section.flag("loop")?,
        ..defaults
    }))
}

/// Which joints are which bones of a human figure.
fn read_human(section: &Section) -> Result<Vec<(HumanBone, String)>, ReadError> {
    let bone = |(name, joint, line): (String, String, usize)| {
        let human = HumanBone::of_name(&name).ok_or_else(|| {
            let names = HumanBone::ALL.map(HumanBone::name);
            let message = format!("`{name}` is no bone of a human figure: give one of {}", names.join(", "));
            ReadError::line(line, message)
        })?;
        Ok((human, joint))
    };
    section.named_texts("human")?.into_iter().map(bone).collect()
}
