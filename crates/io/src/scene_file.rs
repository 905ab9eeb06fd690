//! Reads scene files (TOML) into a [`Scene`].
//!
//! `scene_schema` defines the keys and checks a file against them. Here the tables become bodies, characters, obstacles and constraints, the
//! files that they name are read, and units are converted to SI. Paths are relative to the scene file.

mod body;
mod bone;
mod bone_motion;
mod character;
mod characters;
mod constraint;
mod contact;
mod edit;
mod goal;
mod material;
mod metaphor;
mod motion;
mod muscle;
mod network;
mod number;
mod obstacle;
mod painted;
mod performance;
mod region;
mod rigged;
mod section;
mod skin;
mod solver;

use crate::Up;
use crate::opened_scene::{CharacterChoice, OpenedScene};
use crate::scene_schema::{
    AngleUnit, EditTable, SceneDocument, SceneFile, UpAxis, checked_document, line_of,
};
use characters::Characters;
use contact::BodyContacts;
use section::Section;
use serde::Deserialize;
use sinew_character::{DEFAULT_FPS, DEFAULT_SECONDS, EARTH_GRAVITY, empty_scene};
use sinew_control::{Curve, Factor, Motion, VectorCurve};
use sinew_files::read_bytes;
use sinew_files::{Loaded, ReadError, ReadErrors};
use sinew_gltf::FileCharacter;
use sinew_math::Vec3;
use sinew_sim::desc::{ContactDesc, ObstacleDesc};
use sinew_take::{Scene, SceneEdit};
use std::path::Path;
use toml::Spanned;
use toml::de::Deserializer;

/// What the readers of all tables need to know.
struct Reading<'a> {
    /// The axis that points up.
    up: Up,
    /// Radians per unit of angle.
    radians: f64,
    /// The folder that paths are relative to.
    folder: &'a Path,
}

impl SceneFile {
    /// Reads the tables of a text and checks them against the schema. The files that they name are not opened. Notes tell of renamed
    /// keys.
    pub fn of_text(text: &str) -> Result<Loaded<SceneFile>, ReadErrors> {
        let document = checked_document(text)?;
        let value = deserialize(&document)?;
        Ok(Loaded { value, notes: document.notes })
    }

    /// The scene of these tables; paths are relative to `folder`.
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

/// Reads a scene file and the files that it names.
pub fn read_scene(path: &Path) -> Result<Loaded<Scene>, ReadErrors> {
    Ok(read_scene_file(path, &CharacterChoice::default())?.map(|opened| opened.scene))
}

/// Reads a scene from its text; paths are relative to `folder`.
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
        ReadError::byte(error.valid_up_to(), "the scene file is not UTF-8 text: save it as UTF-8")
            .within(path)
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
    let document = checked_document(text)?;
    let file = deserialize(&document)?;
    let fps = file.fps.unwrap_or(DEFAULT_FPS);
    let scene = Section::top(document.text, &document.table, &file, fps);
    let mut notes = document.notes.clone();

    // axes and units
    let up = file.up_axis();
    let radians = match file.angles {
        Some(AngleUnit::Radians) => 1.0,
        _ => core::f64::consts::PI / 180.0,
    };
    let reading = Reading { up, radians, folder };

    // bodies and characters
    let mut played = read_top(&scene, name, up)?;
    let mut contacts = read_bodies(&scene, &reading, &mut played, &mut notes)?;
    let mut keyed_of = Vec::new();
    let mut characters = Characters::new(&scene, choice, &mut played, &reading)?;
    for section in scene.items("character", &file.character) {
        let name = characters.read(&section)?;
        contacts.add(&name, section.table());
        let (table, forces) = (section.table(), section.items("load", &section.table().load));
        let numbers = [&table.stiffness_factor, &table.damping_factor, &table.friction_factor];
        let factors = number::read_factors(&section, numbers)?;
        keyed_of.push((name, body::read_forces(&forces)?, factors));
    }
    let character_names: Vec<String> = keyed_of.iter().map(|(name, ..)| name.clone()).collect();
    let Characters { from_files, longest, notes: found, .. } = characters;
    notes.extend(found);
    for (name, forces, factors) in keyed_of {
        if let Some(i) = played.world.bodies.iter().position(|body| body.name == name) {
            key_loads(&mut played, i, forces);
            key_factors(&mut played, i, factors);
        }
    }
    if played.world.bodies.is_empty() {
        let message =
            "the scene has no body: add one as [[body]] with surface = \"FILE\", or a [[character]]";
        return Err(ReadError::whole(message).into());
    }

    // obstacles, contact, constraints and metaphors
    (played.world.obstacles, played.obstacle_motions, played.world.contact) =
        read_contact_parts(&scene, contacts, &reading, &mut notes)?;
    for (i, section) in scene.items("obstacle", &file.obstacle).iter().enumerate() {
        let number = section.table().friction_factor.as_ref();
        played.curves.factors.set_obstacle(i, number::read_factor(section, Factor::Friction, number)?);
    }
    let constraints = scene.items("constraint", &file.constraint);
    (played.world.constraints, played.constraint_motions) =
        constraint::read_constraints(&constraints, &played.world, up)?;
    let metaphors = metaphor::read_metaphors(&scene.items("metaphor", &file.metaphor), &played.world)?;
    (played.world.metaphors, played.curves.metaphors) = metaphors.into_iter().unzip();

    read_muscles(&scene, (&character_names, &from_files), &reading, &mut played)?;

    // times of the scene take precedence over those of its characters
    played.seconds = file.seconds.or(longest).unwrap_or(DEFAULT_SECONDS);
    played.preroll = file.preroll.unwrap_or(played.preroll);

    // changes during the take
    played.edits = edit::read_edits(&scene.items("edit", &file.edit), &played, up)?;
    Ok(Loaded { value: OpenedScene { scene: played, characters: from_files }, notes })
}

/// Converts edits to changes of a scene and tries them on it. `up` is the axis that points up in the scene.
///
/// # Errors
/// What they name that the scene does not have, and what cannot be changed.
pub fn read_edits(edits: &[EditTable], scene: &Scene, up: Up) -> Result<Vec<SceneEdit>, ReadErrors> {
    let file = SceneFile { edit: edits.to_vec(), ..SceneFile::default() };
    let text = file.to_text();
    let document = checked_document(&text)?;
    let file = deserialize(&document)?;
    let top = Section::top(document.text, &document.table, &file, scene.fps);
    Ok(edit::read_edits(&top.items("edit", &file.edit), scene, up)?)
}

impl SceneFile {
    /// The axis that points up.
    pub fn up_axis(&self) -> Up {
        match self.up {
            Some(UpAxis::Z) => Up::Z,
            _ => Up::Y,
        }
    }
}

/// A scene without bodies, with the settings at the top of the file.
fn read_top(scene: &Section<SceneFile>, name: &str, up: Up) -> Result<Scene, ReadError> {
    let down = match up {
        Up::Y => -Vec3::y(),
        Up::Z => -Vec3::z(),
    };
    let solver = solver::read_solver(scene.optional("solver", &scene.table().solver).as_ref())?;
    let mut top = Scene { solver, fps: scene.fps.unwrap_or(DEFAULT_FPS), ..empty_scene(name) };
    top.world.gravity = down * EARTH_GRAVITY;
    if let Some(gravity) = &scene.gravity {
        let gravity = number::read_vector(scene, "gravity", gravity)?;
        top.world.gravity = gravity.value(0.0);
        top.curves.gravity = (!gravity.is_constant()).then_some(gravity);
    }
    Ok(top)
}

/// Adds the bodies without bones, and returns what they say about contact.
fn read_bodies(
    scene: &Section<SceneFile>,
    reading: &Reading,
    played: &mut Scene,
    notes: &mut Vec<String>,
) -> Result<BodyContacts, ReadError> {
    let mut contacts = BodyContacts::default();
    for section in scene.items("body", &scene.table().body) {
        let read = body::read_body(&section, &played.world.bodies, reading.up, reading.folder)?;
        notes.extend(read.notes);
        let (body, motions, air_drag) = read.value;
        contacts.add(&body.name, section.table());
        played.world.bodies.push(body);
        played.pin_motions.push(motions);
        played.curves.air_drag.push((!air_drag.is_constant()).then_some(air_drag));
        played.curves.loads.push(body::read_forces(&section.items("load", &section.table().load))?);
        let table = section.table();
        let numbers = [&table.stiffness_factor, &table.damping_factor, &table.friction_factor];
        key_factors(played, played.world.bodies.len() - 1, number::read_factors(&section, numbers)?);
    }
    Ok(contacts)
}

/// Reads muscles, those of characters first.
fn read_muscles(
    scene: &Section<SceneFile>,
    (names, from_files): (&[String], &[FileCharacter]),
    reading: &Reading,
    played: &mut Scene,
) -> Result<(), ReadError> {
    let (file, mut muscles) = (scene.table(), Vec::new());
    for (section, name) in scene.items("character", &file.character).iter().zip(names) {
        let binding = from_files.iter().find(|file| file.binding.name == *name).map(|file| &file.binding);
        muscle::read_human_muscles(section, (&played.world, name), binding, &mut muscles)?;
        let own = section.items("muscle", &section.table().muscle);
        muscle::read_muscles(&own, (&played.world, Some(name)), reading, &mut muscles)?;
    }
    let others = scene.items("muscle", &file.muscle);
    muscle::read_muscles(&others, (&played.world, None), reading, &mut muscles)?;
    (played.world.muscles, played.curves.muscles) = muscles.into_iter().unzip();
    Ok(())
}

/// Sets the curves of the factors of a body, in the order of [`Factor::ALL`].
fn key_factors(played: &mut Scene, body: usize, curves: [Option<Curve>; 3]) {
    for (factor, curve) in Factor::ALL.into_iter().zip(curves) {
        played.curves.factors.set_body(factor, body, curve);
    }
}

/// Sets the curves of the loads of a body.
fn key_loads(played: &mut Scene, body: usize, forces: Vec<Option<VectorCurve>>) {
    let all = &mut played.curves.loads;
    all.resize(all.len().max(body + 1), Vec::new());
    all[body] = forces;
}

/// Obstacles, their motions, and how contact is resolved.
fn read_contact_parts(
    scene: &Section<SceneFile>,
    contacts: BodyContacts,
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
    let contact = contact::read_contact(contact.as_ref(), contacts)?;
    Ok((obstacles, motions, contact))
}
