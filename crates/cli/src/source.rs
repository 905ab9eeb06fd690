//! What is to be simulated: a scene file, a mesh file, or a name from the zoo.

use crate::failure::Failure;
use sinew_character::TakeSettings;
use sinew_io::{CapturedFiles, CharacterChoice, Loaded, OpenedScene, TakeFile, TakeOrigin, open_source};
use sinew_take::Scene;
use std::path::{Path, PathBuf};

/// The character of the zoo that is simulated when nothing is named.
const USUAL: &str = "dancer";

/// Finds what the user named: a file of that name comes before the zoo; nothing named is the dancer.
pub(crate) fn open(input: Option<&Path>, choice: &CharacterChoice) -> Result<Loaded<OpenedScene>, Failure> {
    let path = input.unwrap_or(Path::new(USUAL));
    let built_in = |scene: Scene| Loaded { value: OpenedScene::from(scene), notes: Vec::new() };
    let found = if path.exists() { None } else { path.to_str().and_then(find_in_zoo) };
    match (found, path.to_str()) {
        (Some(_), _) if *choice != CharacterChoice::default() => {
            Err(Failure::input("--animation and --motion are for character files (.glb, .gltf, .vrm)"))
        }
        (Some(scene), _) => Ok(built_in(scene)),
        (None, Some(name))
            if !path.exists() && path.extension().is_none() && path.components().count() == 1 =>
        {
            Err(Failure::input(format!("there is no file '{name}', {}", crate::zoo::unknown(name))))
        }
        (None, _) => open_source(path, choice).map_err(Failure::input),
    }
}

/// Opens what the user named as [`open`] does, and keeps all that is needed to open the same again.
pub(crate) fn open_to_record(
    input: Option<&Path>,
    choice: &CharacterChoice,
) -> Result<(Loaded<OpenedScene>, TakeOrigin, CapturedFiles), Failure> {
    let folder = input.and_then(Path::parent).unwrap_or(Path::new(""));
    let (opened, files) = CapturedFiles::keep(folder, || open(input, choice));
    let origin = match input {
        Some(path) if !files.files().is_empty() => TakeOrigin::File(CapturedFiles::name_of(folder, path)),
        Some(path) => TakeOrigin::BuiltIn(path.to_string_lossy().into_owned()),
        None => TakeOrigin::BuiltIn(USUAL.into()),
    };
    Ok((opened?, origin, files))
}

/// The scene of a take, from what the take itself holds.
pub(crate) fn reopen(take: &TakeFile) -> Result<OpenedScene, Failure> {
    let recipe = take.recipe();
    let TakeSettings { animation, motion, .. } = recipe.settings.clone();
    let choice = CharacterChoice { animation, motion: motion.map(PathBuf::from) };
    let mut source = match &recipe.origin {
        TakeOrigin::File(name) => recipe.files.serve(|| open(Some(Path::new(name)), &choice))?.value,
        TakeOrigin::BuiltIn(name) => find_in_zoo(name).map(|scene| OpenedScene::from(scene)).ok_or_else(|| {
            Failure::input(format!(
                "{}: was recorded by sinew {} from its built-in scene '{name}', which this version does not have: use that version",
                take.path().display(),
                recipe.sinew
            ))
        })?,
    };
    recipe.settings.apply(&mut source.scene);
    let faults = source.scene.faults();
    if !faults.is_empty() {
        return Err(Failure::input(format!("{}: {}", take.path().display(), faults.join("\n"))));
    }
    Ok(source)
}

fn find_in_zoo(name: &str) -> Option<Scene> {
    sinew_zoo::find(name).map(|character| (character.build)())
}
