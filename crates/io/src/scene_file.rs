//! Scene files: TOML that a person can write and diff, read into a [`Scene`].
//!
//! `scene_schema` has the keys and checks that a file keeps to them; here its tables become what they mean, and the files they name are
//! read. Paths are relative to the scene file. Units become SI here.

mod body;
mod bone;
mod bone_motion;
mod character;
mod constraint;
mod contact;
mod material;
mod motion;
mod obstacle;
mod performance;
mod region;
mod rigged;
mod section;
mod solver;

use crate::Up;
pub(crate) use crate::nearest::nearest;
use crate::scene_schema::{AngleUnit, SceneDocument, SceneFile, UpAxis, checked_document, line_of};
use crate::scene_source::{CharacterChoice, SceneSource};
pub(crate) use body::DEFAULT_TETS;
pub(crate) use bone_motion::DEFAULT_SMOOTHING;
pub(crate) use character::{DEFAULT_CORE, DEFAULT_SAG};
pub(crate) use performance::find_bone;
use section::Section;
use serde::Deserialize;
use sinew_control::Motion;
use sinew_files::read_bytes;
use sinew_files::{Loaded, ReadError, ReadErrors};
use sinew_math::Vec3;
use sinew_sim::desc::{ContactDesc, ObstacleDesc};
use sinew_sim::{Solver, WorldDesc};
use sinew_take::Scene;
use std::path::Path;
use toml::Spanned;
use toml::de::Deserializer;

/// Free fall on Earth (m/s²).
pub(crate) const EARTH_GRAVITY: f64 = 9.81;
/// What is played when nothing is said (s).
pub(crate) const DEFAULT_SECONDS: f64 = 5.0;
/// Frames per second when nothing is said.
pub(crate) const DEFAULT_FPS: f64 = 60.0;

/// What stands at the top of a scene file.
struct SceneTop {
    name: String,
    gravity: Vec3,
    seconds: Option<f64>,
    fps: Option<f64>,
    preroll: Option<f64>,
    solver: Solver,
}

/// What all tables of a file are read with.
struct Reading<'a> {
    /// The axis that points up.
    up: Up,
    /// The unit of angles (rad).
    radians: f64,
    /// Where files are looked for.
    folder: &'a Path,
}

impl SceneFile {
    /// Reads the tables of a text and checks them against the schema; files that they name are not opened. Notes tell which keys have
    /// another name now.
    pub fn of_text(text: &str) -> Result<Loaded<SceneFile>, ReadErrors> {
        let document = checked_document(text)?;
        let value = deserialize(&document)?;
        Ok(Loaded { value, notes: document.notes })
    }

    /// The scene of these tables; the files they name are looked for from `folder`.
    pub fn to_scene(&self, name: &str, folder: &Path) -> Result<Loaded<Scene>, ReadErrors> {
        read_scene_text(&self.to_text(), name, folder)
    }
}

fn deserialize(document: &SceneDocument) -> Result<SceneFile, ReadErrors> {
    let table = Spanned::new(0..document.text.len(), document.table.clone());
    SceneFile::deserialize(Deserializer::from(table)).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(document.text, span.start));
        ReadError::line(line, error.message()).into()
    })
}

/// Reads a scene file and the files it names.
pub fn read_scene(path: &Path) -> Result<Loaded<Scene>, ReadErrors> {
    Ok(read_scene_file(path, &CharacterChoice::default())?.map(SceneSource::into_scene))
}

/// Reads a scene from its text; the files it names are looked for from `folder`.
pub fn read_scene_text(text: &str, name: &str, folder: &Path) -> Result<Loaded<Scene>, ReadErrors> {
    Ok(read_source(text, name, folder, &CharacterChoice::default())?.map(SceneSource::into_scene))
}

/// Reads a scene file, with what is chosen for this take about a character in it.
pub(crate) fn read_scene_file(
    path: &Path,
    choice: &CharacterChoice,
) -> Result<Loaded<SceneSource>, ReadErrors> {
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
) -> Result<Loaded<SceneSource>, ReadErrors> {
    let document = checked_document(text)?;
    let file = deserialize(&document)?;
    let scene = Section::top(document.text, &document.table, &file);
    let mut notes = document.notes.clone();

    // what holds for all of it
    let up = match file.up {
        Some(UpAxis::Z) => Up::Z,
        _ => Up::Y,
    };
    let radians = match file.angles {
        Some(AngleUnit::Radians) => 1.0,
        _ => core::f64::consts::PI / 180.0,
    };
    let reading = Reading { up, radians, folder };
    let top = read_top(&scene, name, up)?;

    // a character from a file is all there is
    let characters = scene.items("character", &file.character);
    if let ([only], true) = (&characters[..], file.body.is_empty())
        && only.file.is_some()
    {
        let Loaded { value: mut character, notes: found } =
            rigged::read_rigged(only, &top, &reading, choice)?;
        notes.extend(found);
        let played = &mut character.scene;
        let own = played.world.bodies.iter().map(|body| body.name.clone());
        let self_contact = if only.self_contact == Some(true) { own.collect() } else { Vec::new() };
        (played.world.obstacles, played.obstacle_motions, played.world.contact) =
            read_contact_parts(&scene, self_contact, &reading, &mut notes)?;
        let constraints = scene.items("constraint", &file.constraint);
        (played.world.constraints, played.constraint_motions) =
            constraint::read_constraints(&constraints, &played.world, up)?;
        return Ok(Loaded { value: SceneSource::Character(Box::new(character)), notes });
    }
    let value = read_parts(&scene, top, &reading, &mut notes)?;
    Ok(Loaded { value: SceneSource::Scene(Box::new(value)), notes })
}

fn read_top(scene: &Section<SceneFile>, name: &str, up: Up) -> Result<SceneTop, ReadError> {
    let down = match up {
        Up::Y => -Vec3::y(),
        Up::Z => -Vec3::z(),
    };
    Ok(SceneTop {
        name: name.to_owned(),
        gravity: scene.gravity.map_or(down * EARTH_GRAVITY, Vec3::from),
        seconds: scene.seconds,
        fps: scene.fps,
        preroll: scene.preroll,
        solver: solver::read_solver(scene.optional("solver", &scene.table().solver).as_ref())?,
    })
}

/// Reads bodies and characters, obstacles and constraints.
fn read_parts(
    scene: &Section<SceneFile>,
    top: SceneTop,
    reading: &Reading,
    notes: &mut Vec<String>,
) -> Result<Scene, ReadError> {
    // bodies without bones
    let (mut bodies, mut pin_motions, mut self_contact) = (Vec::new(), Vec::new(), Vec::new());
    for section in scene.items("body", &scene.table().body) {
        let read = body::read_body(&section, &bodies, reading.up, reading.folder)?;
        notes.extend(read.notes);
        let (body, motions) = read.value;
        if section.self_contact == Some(true) {
            self_contact.push(body.name.clone());
        }
        bodies.push(body);
        pin_motions.push(motions);
    }

    // characters
    let (mut rigs, mut performances, mut preroll) = (Vec::new(), Vec::new(), 0.0f64);
    for section in scene.items("character", &scene.table().character) {
        let read = character::read_character(&section, &bodies, reading)?;
        notes.extend(read.notes);
        let character = read.value;
        if section.self_contact == Some(true) {
            self_contact.push(character.body.name.clone());
        }
        bodies.push(character.body);
        pin_motions.push(character.pin_motions);
        rigs.push(character.rig);
        performances.push(character.performance);
        preroll = preroll.max(character.preroll);
    }
    if bodies.is_empty() {
        let message =
            "the scene has no body: add one as [[body]] with surface = \"FILE\", or a [[character]]";
        return Err(ReadError::whole(message));
    }

    // what they collide with and what holds them
    let (obstacles, obstacle_motions, contact) = read_contact_parts(scene, self_contact, reading, notes)?;
    let gravity = top.gravity;
    let mut world = WorldDesc { gravity, bodies, rigs, obstacles, contact, constraints: Vec::new() };
    let constraints = scene.items("constraint", &scene.table().constraint);
    let (constraints, constraint_motions) = constraint::read_constraints(&constraints, &world, reading.up)?;
    world.constraints = constraints;
    Ok(Scene {
        name: top.name,
        world,
        pin_motions,
        performances,
        obstacle_motions,
        constraint_motions,
        solver: top.solver,
        preroll: top.preroll.unwrap_or(preroll),
        seconds: top.seconds.unwrap_or(DEFAULT_SECONDS),
        fps: top.fps.unwrap_or(DEFAULT_FPS),
    })
}

/// What bodies collide with: obstacles, how they move, and how contact is resolved.
fn read_contact_parts(
    scene: &Section<SceneFile>,
    self_contact: Vec<String>,
    reading: &Reading,
    notes: &mut Vec<String>,
) -> Result<(Vec<ObstacleDesc>, Vec<Motion>, ContactDesc), ReadError> {
    let (mut obstacles, mut motions) = (Vec::new(), Vec::new());
    for section in scene.items("obstacle", &scene.table().obstacle) {
        let read = obstacle::read_obstacle(&section, &obstacles, reading.radians, reading.folder)?;
        notes.extend(read.notes);
        obstacles.push(read.value.0);
        motions.push(read.value.1);
    }
    let contact = scene.optional("contact", &scene.table().contact);
    let contact = contact::read_contact(contact.as_ref(), !obstacles.is_empty(), self_contact)?;
    Ok((obstacles, motions, contact))
}
