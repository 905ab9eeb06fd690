//! Makes a scene of a rigged character file that is given without a scene file.

use crate::opened_scene::{CharacterChoice, OpenedScene};
use crate::rigged_file::{RiggedOptions, open_rigged};
use crate::softness_points::SoftnessPoints;
use sinew_character::{CharacterOptions, SoftnessOptions, empty_scene};
use sinew_files::{Loaded, ReadError, ReadErrors};
use sinew_gltf::FileCharacter;
use std::path::Path;

/// The scene of a rigged character file: the character alone, y up, as long as its motion.
pub(crate) fn scene_of_character(
    path: &Path,
    choice: &CharacterChoice,
) -> Result<Loaded<OpenedScene>, ReadErrors> {
    let name = path.file_stem().map_or("character".into(), |stem| stem.to_string_lossy().into_owned());
    let defaults = CharacterOptions::default();
    let mut softness = SoftnessOptions::default();
    if let Some(file) = &choice.softness {
        softness.points = SoftnessPoints::read(file)?.of_body(&name);
        if softness.points.is_empty() {
            let message = format!("nothing is painted on '{name}': the points are of other bodies");
            return Err(ReadError::whole(message).within(file).into());
        }
    }
    let options = RiggedOptions {
        character: CharacterOptions {
            name: Some(name.clone()),
            animation: choice.animation.clone(),
            fitted: choice.fitted.clone(),
            has_solid_parts: choice.moves_bones(false),
            jiggle: choice.jiggle.unwrap_or(defaults.jiggle),
            softness,
            ..defaults
        },
        motion: choice.capture(),
    };
    let Loaded { value: (file, character), notes } = open_rigged(path, options)?;
    let mut scene = empty_scene(&format!("{name}_flesh"));
    scene.seconds = character.seconds.unwrap_or(scene.seconds);
    let binding = character.join(&mut scene);
    let characters = vec![FileCharacter { file, binding }];
    Ok(Loaded { value: OpenedScene { scene, characters }, notes })
}
