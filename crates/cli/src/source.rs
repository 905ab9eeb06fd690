//! What is to be simulated: a scene file, a mesh file, or a name from the zoo.

use crate::failure::Failure;
use sinew_flesh::{Law, StretchLimits};
use sinew_io::{
    CharacterChoice, KeptFiles, Read, SceneSource, TakeFile, TakeOrigin, TakeSettings, open_source,
};
use sinew_take::Scene;
use sinew_zoo::{Beam, beam, jelly_torus, starfish};
use std::path::{Path, PathBuf};

/// The scenes that ship with Sinew, by name.
pub(crate) const ZOO: [&str; 3] = ["jelly-torus", "starfish", "beam"];

/// Finds what the user named: a file of that name comes before the zoo; nothing named is the jelly torus.
pub(crate) fn open(input: Option<&Path>, choice: &CharacterChoice) -> Result<Read<SceneSource>, Failure> {
    let built_in = |scene: Scene| Read { value: SceneSource::Scene(Box::new(scene)), notes: Vec::new() };
    let found = match input {
        None => Some(jelly_torus()),
        Some(path) if path.exists() => None,
        Some(path) => path.to_str().and_then(find_in_zoo),
    };
    match (found, input) {
        (Some(_), _) if *choice != CharacterChoice::default() => {
            Err(Failure::input("--animation and --motion are for character files (.glb, .gltf, .vrm)"))
        }
        (Some(scene), _) => Ok(built_in(scene)),
        (None, Some(name))
            if !name.exists() && name.extension().is_none() && name.components().count() == 1 =>
        {
            Err(Failure::input(format!(
                "there is no file '{}', and the zoo knows only {}",
                name.display(),
                ZOO.join(", ")
            )))
        }
        (None, path) => open_source(path.unwrap_or(Path::new("")), choice).map_err(Failure::input),
    }
}

/// Opens what the user named as [`open`] does, and keeps all that is needed to open the same again.
pub(crate) fn open_to_record(
    input: Option<&Path>,
    choice: &CharacterChoice,
) -> Result<(Read<SceneSource>, TakeOrigin, KeptFiles), Failure> {
    let folder = input.and_then(Path::parent).unwrap_or(Path::new(""));
    let (opened, files) = KeptFiles::keep(folder, || open(input, choice));
    let origin = match input {
        Some(path) if !files.files().is_empty() => TakeOrigin::File(KeptFiles::name_of(folder, path)),
        Some(path) => TakeOrigin::BuiltIn(path.to_string_lossy().into_owned()),
        None => TakeOrigin::BuiltIn(ZOO[0].into()),
    };
    Ok((opened?, origin, files))
}

/// The scene of a take, from what the take itself holds.
pub(crate) fn reopen(take: &TakeFile) -> Result<SceneSource, Failure> {
    let recipe = take.recipe();
    let TakeSettings { animation, motion, .. } = recipe.settings.clone();
    let choice = CharacterChoice { animation, motion: motion.map(PathBuf::from) };
    let mut source = match &recipe.origin {
        TakeOrigin::File(name) => recipe.files.serve(|| open(Some(Path::new(name)), &choice))?.value,
        TakeOrigin::BuiltIn(name) => find_in_zoo(name).map(|scene| SceneSource::Scene(Box::new(scene))).ok_or_else(|| {
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
    match name {
        "jelly-torus" => Some(jelly_torus()),
        "starfish" => Some(starfish(9_000)),
        "beam" => Some(beam_to_look_at()),
        _ => None,
    }
}

fn beam_to_look_at() -> Scene {
    let law = Law::StVenantKirchhoff(StretchLimits::default());
    Scene { seconds: 3.0, ..beam(Beam { cubes_across: 4, law, damping_ratio: 0.02 }) }
}
