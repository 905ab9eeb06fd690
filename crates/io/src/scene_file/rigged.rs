//! A `[[character]]` that is a rigged file (`file = "hero.glb"`): what the scene says about it holds instead of what is usual.

use super::SceneTop;
use super::body::{read_cage, read_loads, read_material, read_name};
use super::character::{read_core, read_sag, read_ties};
use super::keys::ScenePart;
use super::performance::{read_cues, read_mode};
use super::section::Section;
use crate::Up;
use crate::character_scene::{Capture, CharacterOptions, CharacterScene};
use crate::scene_source::CharacterChoice;
use sinew_control::{HumanBone, PathFollower};
use sinew_files::{Loaded, ReadError, ReadErrors};
use sinew_skeleton::Skeleton;
use std::path::Path;

/// Keys that only make sense for a character with bones or a surface of its own.
const NOT_WITH_FILE: [&str; 8] =
    ["skeleton", "unit", "bone", "surface", "scale", "translate", "fullness", "key"];

/// Reads the character of a scene that has nothing else.
pub(super) fn read_rigged(
    section: &Section,
    top: &SceneTop,
    folder: &Path,
    choice: &CharacterChoice,
) -> Result<Loaded<CharacterScene>, ReadErrors> {
    if let Some(key) = NOT_WITH_FILE.into_iter().find(|key| section.has(key)) {
        let message = format!("`{key}` does not go with `file`: the file has its own skeleton and surfaces");
        return Err(section.error(key, message).into());
    }
    if top.up == Up::Z {
        return Err(section.error("file", "characters from files have y up: remove `up = \"z\"`").into());
    }
    let file = folder.join(section.needed("file", section.text("file")?)?);
    let options = read_options(section, &file, folder, choice)?;
    let loads = read_loads(section, top.up)?;

    let read = CharacterScene::open(&file, &options).map_err(|mut errors| {
        for error in &mut errors.errors {
            error.message += &format!(" (named in line {} of the scene)", section.line("file"));
        }
        errors
    })?;
    let Loaded { value: mut character, notes } = read;
    let scene = &mut character.scene;
    let skeleton = Skeleton::build(&scene.world.rigs[0].skeleton.with_plain_masses())
        .map_err(|error| section.error("file", format!("skeleton: {error}")))?;
    let body = &mut scene.world.bodies[0];
    body.loads = loads;
    if let Some(attachment) = body.attachment.as_mut().filter(|_| section.has("tie")) {
        attachment.ties = read_ties(section, &skeleton, top.up)?;
    }
    let performance = &mut scene.performances[0];
    let hold = section.number("return", "from 0 to 600", |s| (0.0..=600.0).contains(&s))?;
    performance.follow =
        PathFollower { time_constant: hold.unwrap_or(PathFollower::default().time_constant) };
    performance.set_drive_mode(read_mode(section)?);
    performance.cues.extend(read_cues(section, &skeleton)?);
    scene.name = top.name.clone();
    scene.world.gravity = top.gravity;
    scene.seconds = top.seconds.unwrap_or(scene.seconds);
    scene.fps = top.fps.unwrap_or(scene.fps);
    scene.solver = top.solver;
    Ok(Loaded { value: character, notes })
}

fn read_options(
    section: &Section,
    file: &Path,
    folder: &Path,
    choice: &CharacterChoice,
) -> Result<CharacterOptions, ReadError> {
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
        motion = choice.motion.clone().map(Capture::of);
    }
    Ok(CharacterOptions {
        name: Some(read_name(section, file, &[])?),
        animation,
        motion,
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
    })
}

/// The captured motion that a character plays instead of its own animation.
fn read_capture(character: &Section, folder: &Path) -> Result<Option<Capture>, ReadError> {
    let Some(section) = character.section("motion", ScenePart::BoneMotion)? else { return Ok(None) };
    let defaults = Capture::of(folder.join(section.needed("bvh", section.text("bvh")?)?));
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
    Ok(Some(Capture {
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
