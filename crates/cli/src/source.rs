//! What is to be simulated: a scene file, a mesh file, or a name from the zoo.

use crate::failure::Failure;
use sinew_flesh::{Law, StretchLimits};
use sinew_io::{CHARACTER_EXTENSIONS, CharacterOptions, CharacterScene, Read, open_scene};
use sinew_take::Scene;
use sinew_zoo::{Beam, beam, jelly_torus, starfish};
use std::path::Path;

/// The scenes that ship with Sinew, by name.
pub(crate) const ZOO: [&str; 3] = ["starfish", "jelly-torus", "beam"];

/// What a user named: a scene, or a character that a scene was made of.
pub(crate) enum Source {
    Scene(Box<Scene>),
    Character(Box<CharacterScene>),
}

impl Source {
    pub(crate) fn scene(&self) -> &Scene {
        match self {
            Source::Scene(scene) => scene,
            Source::Character(character) => &character.scene,
        }
    }

    pub(crate) fn scene_mut(&mut self) -> &mut Scene {
        match self {
            Source::Scene(scene) => scene,
            Source::Character(character) => &mut character.scene,
        }
    }

    /// The character, if it is one.
    pub(crate) fn character(&self) -> Option<&CharacterScene> {
        match self {
            Source::Scene(_) => None,
            Source::Character(character) => Some(character),
        }
    }
}

/// Finds what the user named: a character file, or a scene.
pub(crate) fn open(input: Option<&Path>, options: &CharacterOptions) -> Result<Read<Source>, Failure> {
    let extension = input.and_then(Path::extension).map(|e| e.to_string_lossy().to_lowercase());
    match (input, extension) {
        (Some(path), Some(extension)) if CHARACTER_EXTENSIONS.contains(&extension.as_str()) => {
            let read = CharacterScene::open(path, options).map_err(Failure::input)?;
            Ok(read.map(|character| Source::Character(Box::new(character))))
        }
        _ => Ok(open_scene_or_name(input)?.map(|scene| Source::Scene(Box::new(scene)))),
    }
}

/// A file of that name comes before the zoo; nothing named is the jelly torus.
fn open_scene_or_name(input: Option<&Path>) -> Result<Read<Scene>, Failure> {
    let Some(path) = input else { return Ok(built_in(jelly_torus())) };
    if !path.exists() {
        match path.to_str() {
            Some("starfish") => return Ok(built_in(starfish(9_000))),
            Some("jelly-torus") => return Ok(built_in(jelly_torus())),
            Some("beam") => return Ok(built_in(beam_to_look_at())),
            Some(name) if path.extension().is_none() && path.components().count() == 1 => {
                return Err(Failure::input(format!(
                    "there is no file '{name}', and the zoo knows only {}",
                    ZOO.join(", ")
                )));
            }
            _ => {}
        }
    }
    Ok(open_scene(path)?)
}

fn built_in(scene: Scene) -> Read<Scene> {
    Read { value: scene, notes: Vec::new() }
}

fn beam_to_look_at() -> Scene {
    let law = Law::StVenantKirchhoff(StretchLimits::default());
    Scene { seconds: 3.0, ..beam(Beam { cubes_across: 4, law, damping_ratio: 0.02 }) }
}
