//! A copy of the open scene in the folder of the studio, to which obstacles are added.

use crate::folders::{file_stem, write_text};
use crate::session::{Document, OpenRequest};
use sinew_io::tables::CharacterTable;
use sinew_io::{SceneFile, SceneFiles, is_character_file};
use std::path::{Path, PathBuf};
use toml::Value;

/// Keys whose values are paths, relative to the scene file.
const PATHS: [&str; 10] = [
    "file",
    "surface",
    "tets",
    "skeleton",
    "bvh",
    "softness_texture",
    "softness_points",
    "hull",
    "mesh",
    "grid",
];

/// A scene file that can be changed, and where it is.
#[derive(Clone, Debug)]
pub(crate) struct SceneCopy {
    pub(crate) path: PathBuf,
    pub(crate) scene: SceneFile,
}

impl SceneCopy {
    /// A copy of what is open; other files that it needs are written beside it.
    pub(crate) fn of(request: &OpenRequest, document: &Document, folder: &Path) -> Result<SceneCopy, String> {
        let name = file_stem(&document.name);
        let path = folder.join(format!("{name}-scene.toml"));
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let input = &request.input;
        let scene = if is_character_file(input) {
            let file = Some(absolute(input));
            let character = vec![CharacterTable { file, ..CharacterTable::default() }];
            let (seconds, fps) = (Some(document.opened.scene.seconds), Some(document.fps));
            SceneFile { seconds, fps, character, ..SceneFile::default() }
        } else if document.opened.characters.is_empty() {
            let files = SceneFiles::of(&document.opened.scene, &format!("{name}-scene"))
                .map_err(|error| error.to_string())?;
            for (name, text) in files.texts().iter().skip(1) {
                write_text(&folder.join(name), text)?;
            }
            files.scene
        } else {
            let text =
                std::fs::read_to_string(input).map_err(|error| format!("{}: {error}", input.display()))?;
            with_absolute_paths(&text, input.parent().unwrap_or(Path::new("")))?
        };
        Ok(SceneCopy { path, scene })
    }

    /// Writes the scene file.
    pub(crate) fn write(&self) -> Result<(), String> {
        write_text(&self.path, &self.scene.to_text())
    }
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

/// A scene whose files are found from any folder.
fn with_absolute_paths(text: &str, folder: &Path) -> Result<SceneFile, String> {
    let mut table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    table.iter_mut().for_each(|(key, value)| make_absolute(key, value, folder));
    let read = SceneFile::of_text(&table.to_string()).map_err(|error| error.to_string())?;
    Ok(read.value)
}

fn make_absolute(key: &str, value: &mut Value, folder: &Path) {
    match value {
        Value::String(path) if PATHS.contains(&key) => *path = absolute(&folder.join(&*path)),
        Value::Table(table) => table.iter_mut().for_each(|(key, value)| make_absolute(key, value, folder)),
        Value::Array(values) => values.iter_mut().for_each(|value| make_absolute(key, value, folder)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_scene_are_found_from_another_folder() {
        let text = "seconds = 2\n[[character]]\nfile = 'hero.glb'\nmotion = { bvh = 'walk.bvh' }\n";
        let scene = with_absolute_paths(text, Path::new("/models")).unwrap();
        assert_eq!(scene.character[0].file.as_deref(), Some("/models/hero.glb"));
        let motion = scene.character[0].motion.as_ref().and_then(|motion| motion.bvh.as_deref());
        assert_eq!(motion, Some("/models/walk.bvh"));
    }
}
