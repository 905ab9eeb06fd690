//! Opens inputs by their names: a scene, character, motion or mesh file, or a built-in character; and the scenes of recorded takes.

use crate::{Character, catalog};
use sinew_character::TakeSettings;
use sinew_io::{
    CapturedFiles, CharacterChoice, EditTable, Loaded, OpenedScene, SoftnessPoints, TakeFile, TakeOrigin, Up,
    open_source, read_edits,
};
use sinew_take::Scene;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Why an input could not be opened, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);

impl SourceError {
    fn of(what: impl Display) -> SourceError {
        SourceError(what.to_string())
    }
}

/// The character of the zoo that is simulated if no input is given.
const DEFAULT_INPUT: &str = "dancer";

/// The built-in character that an input names, if there is no file of that name. A folder of that name, such as one that it was exported to, is not opened and does not hide it.
pub fn built_in(path: &Path) -> Option<&'static Character> {
    let has_file = path.exists() && !path.is_dir();
    path.to_str().filter(|_| !has_file).and_then(crate::find)
}

/// Opens an input by its name: a file if there is one, otherwise a character of the zoo. `None` opens the dancer.
pub fn open(input: Option<&Path>, choice: &CharacterChoice) -> Result<Loaded<OpenedScene>, SourceError> {
    let path = input.unwrap_or(Path::new(DEFAULT_INPUT));
    let found = built_in(path).map(|character| (character.build)());
    match (found, path.to_str()) {
        (Some(_), _) if choice.names_character() => Err(SourceError::of(
            "--animation, --motion and --jiggle are for character files (.glb, .gltf, .vrm, .fbx)",
        )),
        (Some(_), _) if choice.cloth.is_some() => {
            Err(SourceError::of("--cloth makes cloth of a bare mesh (.obj, .ply, .stl)"))
        }
        (Some(mut scene), _) => {
            if let Some(path) = &choice.softness {
                paint(&mut scene, path)?;
            }
            Ok(Loaded { value: OpenedScene::from(scene), notes: Vec::new() })
        }
        (None, Some(name))
            if !path.exists() && path.extension().is_none() && path.components().count() == 1 =>
        {
            Err(SourceError::of(format!(
                "there is no file and no built-in character '{name}': {}",
                unknown_name(name)
            )))
        }
        (None, _) => open_source(path, choice).map_err(SourceError::of),
    }
}

/// Paints the softness of a file on the bodies of a scene.
fn paint(scene: &mut Scene, path: &Path) -> Result<(), SourceError> {
    let points = SoftnessPoints::read(path).map_err(SourceError::of)?;
    points.paint(scene).map_err(|error| SourceError::of(format!("{}: {error}", path.display())))
}

/// Opens an input as [`open`] does, and captures every file it reads, so that a take can be opened without them.
pub fn open_to_record(
    input: Option<&Path>,
    choice: &CharacterChoice,
) -> Result<(Loaded<OpenedScene>, TakeOrigin, CapturedFiles), SourceError> {
    let folder = input.and_then(Path::parent).unwrap_or(Path::new(""));
    let (opened, files) = CapturedFiles::keep(folder, || open(input, choice));
    let is_read =
        |path: &Path| files.files().iter().any(|file| file.name == CapturedFiles::name_of(folder, path));
    let origin = match input {
        Some(path) if is_read(path) => TakeOrigin::File(CapturedFiles::name_of(folder, path)),
        Some(path) => TakeOrigin::BuiltIn(path.to_string_lossy().into_owned()),
        None => TakeOrigin::BuiltIn(DEFAULT_INPUT.into()),
    };
    Ok((opened?, origin, files))
}

/// Opens the scene of a take from the files captured in it, with the settings it was recorded with, and with the edits and the length of its current version.
pub fn reopen(take: &TakeFile) -> Result<OpenedScene, SourceError> {
    reopen_edited(take, &take.history().head().edits)
}

/// The same with other edits.
pub fn reopen_edited(take: &TakeFile, edits: &[EditTable]) -> Result<OpenedScene, SourceError> {
    reopen_with(take, edits, &take.recipe().settings)
}

/// The same with other settings too.
pub fn reopen_with(
    take: &TakeFile,
    edits: &[EditTable],
    settings: &TakeSettings,
) -> Result<OpenedScene, SourceError> {
    // the scene as it was opened for recording
    let recipe = take.recipe();
    let TakeSettings { animation, motion, softness, motion_scale, jiggle, cloth, lead, .. } =
        settings.clone();
    let (motion, softness) = (motion.map(PathBuf::from), softness.map(PathBuf::from));
    let fitted = Vec::new();
    let choice = CharacterChoice { animation, fitted, motion, motion_scale, jiggle, softness, cloth, lead };
    let mut source = match &recipe.origin {
        TakeOrigin::File(name) => recipe.files.serve(|| open(Some(Path::new(name)), &choice))?.value,
        TakeOrigin::BuiltIn(name) => {
            let mut scene = find_in_zoo(name).ok_or_else(|| {
                SourceError::of(format!(
                    "{}: recorded by sinew {} from its built-in character '{name}', which this version does not have: use that version",
                    take.path().display(),
                    recipe.sinew
                ))
            })?;
            if let Some(path) = &choice.softness {
                recipe.files.serve(|| paint(&mut scene, path))?;
            }
            OpenedScene::from(scene)
        }
    };

    // the settings of the take, then its edits
    check_loop(settings.is_loop, !edits.is_empty())?;
    settings.apply(&mut source.scene);
    source.scene.seconds = take.history().head().seconds;
    let up =
        recipe.scene_file().map_or_else(|| Up::against(source.scene.world.gravity), |file| file.up_axis());
    source.scene.edits = read_edits(edits, &source.scene, up).map_err(SourceError::of)?;
    let faults = source.scene.faults();
    if !faults.is_empty() {
        return Err(SourceError::of(format!("{}: {}", take.path().display(), faults.join("\n"))));
    }
    Ok(source)
}

/// Refuses a loop with edits.
pub fn check_loop(is_loop: bool, has_edits: bool) -> Result<(), SourceError> {
    if is_loop && has_edits {
        return Err(SourceError::of(
            "a loop cannot have edits, after which no cycle is like the one before: remove them, or record without --loop",
        ));
    }
    Ok(())
}

fn find_in_zoo(name: &str) -> Option<Scene> {
    crate::find(name).map(|character| (character.build)())
}

/// The hint for a name that the zoo does not have; it continues a sentence.
pub fn unknown_name(name: &str) -> String {
    match crate::nearest(name) {
        Some(near) => format!("did you mean '{near}'?"),
        None => {
            let names: Vec<&str> = catalog().iter().map(|character| character.name).collect();
            format!("the built-in characters are {}", names.join(", "))
        }
    }
}
