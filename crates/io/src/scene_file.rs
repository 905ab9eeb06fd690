//! Scene files: TOML that a person can write and diff, read into a [`Scene`].
//!
//! Every key stands in the table of [`scene_keys`], which is both the reader's list of what is allowed and
//! the text of the documentation. An unknown key, a wrong type or a value out of range is an error with
//! its line. Paths are relative to the scene file. Units become SI here.

mod body;
mod bone;
mod character;
mod characters;
mod constraint;
mod keys;
mod motion;
mod obstacle;
mod performance;
mod region;
mod rigged;
mod section;
mod solver;

use crate::Up;
use crate::opened_scene::{CharacterChoice, OpenedScene};
use characters::Characters;
pub use keys::{SceneKey, ScenePart, scene_keys, scene_keys_table};
use section::Section;
use sinew_character::{DEFAULT_FPS, DEFAULT_SECONDS, EARTH_GRAVITY, empty_scene};
use sinew_control::Motion;
use sinew_files::read_bytes;
use sinew_files::{Loaded, ReadError, ReadErrors};
use sinew_math::Vec3;
use sinew_sim::desc::{ContactDesc, ObstacleDesc};
use sinew_take::Scene;
use std::path::Path;
use toml::de::DeTable;

/// No scene a person writes is larger (bytes).
const TEXT_LIMIT: usize = 16 << 20;

/// Reads a scene file and the files it names.
pub fn read_scene(path: &Path) -> Result<Loaded<Scene>, ReadErrors> {
    Ok(read_scene_file(path, &CharacterChoice::default())?.map(|opened| opened.scene))
}

/// Reads a scene from its text; the files it names are looked for from `folder`.
pub fn read_scene_text(text: &str, name: &str, folder: &Path) -> Result<Loaded<Scene>, ReadErrors> {
    Ok(read_source(text, name, folder, &CharacterChoice::default())?.map(|opened| opened.scene))
}

/// Reads a scene file, with what is chosen for this take about a character in it.
pub(crate) fn read_scene_file(
    path: &Path,
    choice: &CharacterChoice,
) -> Result<Loaded<OpenedScene>, ReadErrors> {
    let bytes = read_bytes(path)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        ReadError::byte(error.valid_up_to(), "a scene file is UTF-8 text: save it as such").within(path)
    })?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    read_source(text, &name, folder, choice).map_err(|errors| errors.within(path))
}

fn read_source(
    text: &str,
    name: &str,
    folder: &Path,
    choice: &CharacterChoice,
) -> Result<Loaded<OpenedScene>, ReadErrors> {
    // the text as a table
    if text.len() > TEXT_LIMIT {
        let message = format!("{} bytes are no scene a person wrote", text.len());
        return Err(ReadError::whole(message).into());
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| section::line_of(text, span.start));
        ReadError::line(line, format!("not TOML: {}", error.message()))
    })?;
    let scene = Section::open(text, ScenePart::Scene, document.get_ref(), 0)?;

    // what holds for the whole scene
    let up = match scene.choice("up", &["y", "z"])? {
        Some("z") => Up::Z,
        _ => Up::Y,
    };
    let down = match up {
        Up::Y => -Vec3::y(),
        Up::Z => -Vec3::z(),
    };
    let gravity = scene.vector("gravity")?.unwrap_or(down * EARTH_GRAVITY);
    let seconds = scene.number("seconds", "above 0 and at most 36000", |s| s > 0.0 && s <= 36000.0)?;
    let fps = scene.number("fps", "above 0 and at most 10000", |f| f > 0.0 && f <= 1e4)?;
    let solver = solver::read_solver(&scene)?;

    let mut played = Scene { solver, fps: fps.unwrap_or(DEFAULT_FPS), ..empty_scene(name) };
    played.world.gravity = gravity;
    let mut notes = Vec::new();
    let mut self_contact = Vec::new();

    // bodies, and characters made of bones or files
    for section in scene.sections("body", ScenePart::Body)? {
        let body = body::read_body(&section, &played.world.bodies, up, folder)?;
        notes.extend(body.notes);
        let (body, motions) = body.value;
        if section.flag("self_contact")? {
            self_contact.push(body.name.clone());
        }
        played.world.bodies.push(body);
        played.pin_motions.push(motions);
    }
    let mut characters = Characters::new(&scene, choice, &mut played, up, folder)?;
    for section in scene.sections("character", ScenePart::Character)? {
        let name = characters.read(&section)?;
        if section.flag("self_contact")? {
            self_contact.push(name);
        }
    }
    let Characters { from_files, longest, notes: found, .. } = characters;
    notes.extend(found);
    if played.world.bodies.is_empty() {
        let message =
            "the scene has no body: add one as [[body]] with surface = \"FILE\", or a [[character]]";
        return Err(ReadError::whole(message).into());
    }
    played.seconds = seconds.or(longest).unwrap_or(DEFAULT_SECONDS);

    // what they collide with and are held by
    let contact_parts = read_contact_parts(&scene, self_contact, folder, &mut notes)?;
    (played.world.obstacles, played.obstacle_motions, played.world.contact) = contact_parts;
    (played.world.constraints, played.constraint_motions) =
        constraint::read_constraints(&scene, &played.world, up)?;
    Ok(Loaded { value: OpenedScene { scene: played, characters: from_files }, notes })
}

/// What there is to touch: obstacles, how they move, and how touching is answered.
fn read_contact_parts(
    scene: &Section,
    self_contact: Vec<String>,
    folder: &Path,
    notes: &mut Vec<String>,
) -> Result<(Vec<ObstacleDesc>, Vec<Motion>, ContactDesc), ReadError> {
    let (mut obstacles, mut motions) = (Vec::new(), Vec::new());
    for section in scene.sections("obstacle", ScenePart::Obstacle)? {
        let read = obstacle::read_obstacle(&section, &obstacles, folder)?;
        notes.extend(read.notes);
        obstacles.push(read.value.0);
        motions.push(read.value.1);
    }
    let contact = obstacle::read_contact(scene, !obstacles.is_empty(), self_contact)?;
    Ok((obstacles, motions, contact))
}
