//! What is to be simulated: a scene file, a mesh file, or a name from the zoo.

use crate::failure::Failure;
use sinew_flesh::{Law, StretchLimits};
use sinew_io::{KeptFiles, Read, TakeFile, TakeOrigin, open_scene};
use sinew_take::Scene;
use sinew_zoo::{Beam, beam, jelly_torus};
use std::path::Path;

/// The scenes that ship with Sinew, by name.
pub(crate) const ZOO: [&str; 2] = ["jelly-torus", "beam"];

/// Finds what the user named. A file of that name comes before the zoo; nothing named is the jelly torus.
pub(crate) fn open(input: Option<&Path>) -> Result<Read<Scene>, Failure> {
    let Some(path) = input else { return Ok(built_in(jelly_torus())) };
    if !path.exists() {
        if let Some(scene) = path.to_str().and_then(find_in_zoo) {
            return Ok(built_in(scene));
        }
        match path.to_str() {
            Some(name) if path.extension().is_none() && path.components().count() == 1 => {
                return Err(Failure::input(format!(
                    "there is no file '{name}', and the zoo knows only {}",
                    ZOO.join(" and ")
                )));
            }
            _ => {}
        }
    }
    Ok(open_scene(path)?)
}

/// Opens what the user named as [`open`] does, and keeps all that is needed to open the same again.
pub(crate) fn open_to_record(input: Option<&Path>) -> Result<(Read<Scene>, TakeOrigin, KeptFiles), Failure> {
    let folder = input.and_then(Path::parent).unwrap_or(Path::new(""));
    let (opened, files) = KeptFiles::keep(folder, || open(input));
    let origin = match input {
        Some(path) if !files.files().is_empty() => TakeOrigin::File(KeptFiles::name_of(folder, path)),
        Some(path) => TakeOrigin::BuiltIn(path.to_string_lossy().into_owned()),
        None => TakeOrigin::BuiltIn(ZOO[0].into()),
    };
    Ok((opened?, origin, files))
}

/// The scene of a take, from what the take itself holds.
pub(crate) fn reopen(take: &TakeFile) -> Result<Scene, Failure> {
    let recipe = take.recipe();
    let mut scene = match &recipe.origin {
        TakeOrigin::File(name) => recipe.files.serve(|| open(Some(Path::new(name))))?.value,
        TakeOrigin::BuiltIn(name) => find_in_zoo(name).ok_or_else(|| {
            Failure::input(format!(
                "{}: was recorded by sinew {} from its built-in scene '{name}', which this version does not have: use that version",
                take.path().display(),
                recipe.sinew
            ))
        })?,
    };
    recipe.settings.apply(&mut scene);
    let faults = scene.faults();
    if !faults.is_empty() {
        return Err(Failure::input(format!("{}: {}", take.path().display(), faults.join("\n"))));
    }
    Ok(scene)
}

fn find_in_zoo(name: &str) -> Option<Scene> {
    match name {
        "jelly-torus" => Some(jelly_torus()),
        "beam" => Some(beam_to_look_at()),
        _ => None,
    }
}

fn built_in(scene: Scene) -> Read<Scene> {
    Read { value: scene, notes: Vec::new() }
}

fn beam_to_look_at() -> Scene {
    let law = Law::StVenantKirchhoff(StretchLimits::default());
    Scene { seconds: 3.0, ..beam(Beam { cubes_across: 4, law, damping_ratio: 0.02 }) }
}
