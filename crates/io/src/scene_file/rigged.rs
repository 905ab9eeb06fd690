//! A `[[character]]` that is a rigged file (`file = "hero.glb"`): what the scene says about it holds instead of the defaults.

use super::body::{read_cage, read_loads, read_name};
use super::character::{read_core, read_sag, read_ties};
use super::material::read_material;
use super::performance::{read_cues, read_mode};
use super::section::Section;
use super::{Reading, SceneTop};
use crate::Up;
use crate::character_scene::{Capture, CharacterOptions, CharacterScene};
use crate::scene_schema::CharacterTable;
use crate::scene_source::CharacterChoice;
use sinew_control::{Follow, HumanBone};
use sinew_files::{Loaded, ReadError, ReadErrors};
use sinew_skeleton::Skeleton;
use std::path::Path;

/// Keys that only make sense for a character with bones or a surface of its own.
const NOT_WITH_FILE: [&str; 12] = [
    "skeleton",
    "unit",
    "bone",
    "surface",
    "tets",
    "scale",
    "translate",
    "fullness",
    "velocity",
    "pin",
    "key",
    "preroll_loop",
];

/// Reads the character of a scene that has nothing else.
pub(super) fn read_rigged(
    section: &Section<CharacterTable>,
    top: &SceneTop,
    reading: &Reading,
    choice: &CharacterChoice,
) -> Result<Loaded<CharacterScene>, ReadErrors> {
    if let Some(key) = section.first_of(&NOT_WITH_FILE) {
        let message = format!("`{key}` does not go with `file`: the file has its own skeleton and surfaces");
        return Err(section.error(key, message).into());
    }
    if reading.up == Up::Z {
        return Err(section.error("file", "characters from files have y up: remove `up = \"z\"`").into());
    }
    let file = reading.folder.join(section.needed("file", section.file.as_ref())?);
    let options = read_options(section, &file, reading.folder, choice)?;
    let read = CharacterScene::open(&file, &options).map_err(|mut errors| {
        for error in &mut errors.errors {
            error.message += &format!(" (named in line {} of the scene)", section.line("file"));
        }
        errors
    })?;
    let Loaded { value: mut character, notes } = read;
    apply_scene(section, top, reading, &mut character)?;
    Ok(Loaded { value: character, notes })
}

/// What the scene says about a character beside the options it is made with.
fn apply_scene(
    section: &Section<CharacterTable>,
    top: &SceneTop,
    reading: &Reading,
    character: &mut CharacterScene,
) -> Result<(), ReadError> {
    let scene = &mut character.scene;
    let skeleton = Skeleton::build(&scene.world.rigs[0].skeleton.with_plain_masses())
        .map_err(|error| section.error("file", format!("skeleton: {error}")))?;

    // its flesh
    let body = &mut scene.world.bodies[0];
    body.loads = read_loads(&section.items("load", &section.table().load), reading.up)?;
    if let Some(attachment) = body.attachment.as_mut().filter(|_| section.has("tie")) {
        attachment.ties = read_ties(section, &skeleton, reading.up)?;
    }

    // what it does
    let performance = &mut scene.performances[0];
    if let Some(time_constant) = section.return_time {
        performance.follow = Follow { time_constant };
    }
    performance.lead_by(read_mode(section.mode));
    performance.cues.extend(read_cues(section, &skeleton)?);

    // the scene around it
    scene.name = top.name.clone();
    scene.world.gravity = top.gravity;
    scene.seconds = top.seconds.unwrap_or(scene.seconds);
    scene.fps = top.fps.unwrap_or(scene.fps);
    scene.preroll = top.preroll.unwrap_or(scene.preroll);
    scene.solver = top.solver;
    Ok(())
}

/// How the file becomes a character: all that its table says about that, with what is chosen for one take.
fn read_options(
    section: &Section<CharacterTable>,
    file: &Path,
    folder: &Path,
    choice: &CharacterChoice,
) -> Result<CharacterOptions, ReadError> {
    let defaults = CharacterOptions::default();
    let mut motion = read_capture(section, folder)?;
    let mut animation = section.animation.clone();
    // what is chosen for one take goes before what the scene says
    if choice.animation.is_some() || choice.motion.is_some() {
        animation = choice.animation.clone();
        motion = choice.motion.clone().map(Capture::of);
    }
    let name = read_name(section.name.as_deref(), file, &[]).map_err(|what| section.error("name", what))?;
    let material =
        section.material.as_ref().map(|_| read_material(section, &section.table().material, "fat"));
    Ok(CharacterOptions {
        name: Some(name),
        animation,
        motion,
        cage: read_cage(section.cage_tets, section.cage_edge),
        approach: section.preroll_approach,
        hold: section.preroll_hold,
        material: material.transpose()?,
        core: read_core(section),
        anchored: section.anchored.unwrap_or(defaults.anchored),
        sag: read_sag(section.sag),
        skinned: section.skinned.clone().unwrap_or_default(),
        fleshy: section.fleshy.clone().unwrap_or_default(),
        human: read_human(section)?,
    })
}

/// The captured motion that a character plays instead of its own animation.
fn read_capture(character: &Section<CharacterTable>, folder: &Path) -> Result<Option<Capture>, ReadError> {
    let Some(section) = character.optional("motion", &character.table().motion) else { return Ok(None) };
    if let Some(key) = section.first_of(&["frames", "interpolation"]) {
        let message =
            format!("`{key}` does not go with `file`: captured motion (`bvh`) is carried over on a b-spline");
        return Err(section.error(key, message));
    }
    let defaults = Capture::of(folder.join(section.needed("bvh", section.bvh.as_ref())?));
    Ok(Some(Capture {
        metres_per_unit: section.unit.unwrap_or(defaults.metres_per_unit),
        smoothing: section.smooth.unwrap_or(defaults.smoothing),
        first: section.first,
        last: section.last,
        is_cycle: section.is_loop.unwrap_or(false),
        ..defaults
    }))
}

/// Which joints are which bones of a human figure.
fn read_human(section: &Section<CharacterTable>) -> Result<Vec<(HumanBone, String)>, ReadError> {
    let bone = |(name, joint): (&String, &String)| {
        let human = HumanBone::of_name(name).ok_or_else(|| {
            let names = HumanBone::ALL.map(HumanBone::name);
            let message = format!("`{name}` is no bone of a human figure: give one of {}", names.join(", "));
            ReadError::line(section.line_of_name("human", name), message)
        })?;
        Ok((human, joint.clone()))
    };
    section.human.iter().flatten().map(bone).collect()
}
