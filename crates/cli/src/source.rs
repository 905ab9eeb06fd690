//! What is to be simulated: a scene file, a mesh file, or a name from the zoo.

use crate::failure::Failure;
use sinew_io::{
    CHARACTER_EXTENSIONS, CharacterOptions, CharacterScene, KeptFiles, Read, TakeFile, TakeOrigin,
    TakeSettings, open_scene,
};
use sinew_take::Scene;
use std::path::{Path, PathBuf};

/// The character of the zoo that is simulated when nothing is named.
const USUAL: &str = "dancer";

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

/// What was chosen about a character beside its file.
#[derive(Clone, Default)]
pub(crate) struct CharacterChoice {
    pub(crate) animation: Option<String>,
    pub(crate) motion: Option<PathBuf>,
}

/// Finds what the user named: a character file, or a scene.
pub(crate) fn open(input: Option<&Path>, choice: &CharacterChoice) -> Result<Read<Source>, Failure> {
    let extension = input.and_then(Path::extension).map(|e| e.to_string_lossy().to_lowercase());
    match (input, extension) {
        (Some(path), Some(extension)) if CHARACTER_EXTENSIONS.contains(&extension.as_str()) => {
            let CharacterChoice { animation, motion } = choice.clone();
            let options = CharacterOptions { animation, motion, ..CharacterOptions::default() };
            let read = CharacterScene::open(path, &options).map_err(Failure::input)?;
            Ok(read.map(|character| Source::Character(Box::new(character))))
        }
        _ if choice.animation.is_some() || choice.motion.is_some() => Err(Failure::input(
            "--animation and --motion are for character files (.glb, .gltf, .vrm): write other motions into the scene",
        )),
        _ => Ok(open_scene_or_name(input)?.map(|scene| Source::Scene(Box::new(scene)))),
    }
}

/// A file of that name comes before the zoo; nothing named is the dancer.
fn open_scene_or_name(input: Option<&Path>) -> Result<Read<Scene>, Failure> {
    let path = input.unwrap_or(Path::new(USUAL));
    if !path.exists() {
        if let Some(scene) = path.to_str().and_then(find_in_zoo) {
            return Ok(built_in(scene));
        }
        match path.to_str() {
            Some(name) if path.extension().is_none() && path.components().count() == 1 => {
                return Err(Failure::input(format!(
                    "there is no file '{name}', {}",
                    crate::zoo::unknown(name)
                )));
            }
            _ => {}
        }
    }
    Ok(open_scene(path)?)
}

/// Opens what the user named as [`open`] does, and keeps all that is needed to open the same again.
pub(crate) fn open_to_record(
    input: Option<&Path>,
    choice: &CharacterChoice,
) -> Result<(Read<Source>, TakeOrigin, KeptFiles), Failure> {
    let folder = input.and_then(Path::parent).unwrap_or(Path::new(""));
    let (opened, files) = KeptFiles::keep(folder, || open(input, choice));
    let origin = match input {
        Some(path) if !files.files().is_empty() => TakeOrigin::File(KeptFiles::name_of(folder, path)),
        Some(path) => TakeOrigin::BuiltIn(path.to_string_lossy().into_owned()),
        None => TakeOrigin::BuiltIn(USUAL.into()),
    };
    Ok((opened?, origin, files))
}

/// The scene of a take, from what the take itself holds.
pub(crate) fn reopen(take: &TakeFile) -> Result<Source, Failure> {
    let recipe = take.recipe();
    let TakeSettings { animation, motion, .. } = recipe.settings.clone();
    let choice = CharacterChoice { animation, motion: motion.map(PathBuf::from) };
    let mut source = match &recipe.origin {
        TakeOrigin::File(name) => recipe.files.serve(|| open(Some(Path::new(name)), &choice))?.value,
        TakeOrigin::BuiltIn(name) => find_in_zoo(name).map(|scene| Source::Scene(Box::new(scene))).ok_or_else(|| {
            Failure::input(format!(
                "{}: was recorded by sinew {} from its built-in scene '{name}', which this version does not have: use that version",
                take.path().display(),
                recipe.sinew
            ))
        })?,
    };
    recipe.settings.apply(source.scene_mut());
    let faults = source.scene().faults();
    if !faults.is_empty() {
        return Err(Failure::input(format!("{}: {}", take.path().display(), faults.join("\n"))));
    }
    Ok(source)
}

fn find_in_zoo(name: &str) -> Option<Scene> {
    sinew_zoo::find(name).map(|character| (character.build)())
}

fn built_in(scene: Scene) -> Read<Scene> {
    Read { value: scene, notes: Vec::new() }
}
