//! A copy of the open scene in the folder of the studio, to which obstacles are added, and whose muscles and skin are changed.

use crate::folders::{absolute, file_stem, write_text};
use crate::session::{Document, OpenRequest};
use sinew_io::tables::{CharacterTable, MuscleTable, SkinTable};
use sinew_io::{SceneFile, SceneFiles, is_character_file};
use std::path::{Path, PathBuf};
use toml::Value;

/// Keys whose values are paths, relative to the scene file.
const PATHS: [&str; 11] = [
    "file",
    "surface",
    "tets",
    "skeleton",
    "bvh",
    "softness_texture",
    "softness_points",
    "fat_points",
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
        } else if document.opened.characters.is_empty() && !is_scene_file(input) {
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

    /// The skin of a body.
    pub(crate) fn skin(&mut self, body: &str) -> Result<&mut SkinTable, String> {
        let bodies = self.scene.body.iter_mut().map(|table| (&table.name, &mut table.skin));
        let characters = self.scene.character.iter_mut().map(|table| (&table.name, &mut table.skin));
        let mut all: Vec<_> =
            bodies.chain(characters).filter_map(|(name, skin)| Some((name, skin.as_mut()?))).collect();
        // the only one need not have a name
        let found = all.iter().position(|(name, _)| name.as_deref() == Some(body));
        let found = found.or((all.len() == 1).then_some(0));
        match found {
            Some(i) => Ok(all.swap_remove(i).1),
            None => Err(format!("'{body}' has no skin table of its own in the scene file")),
        }
    }

    /// Lets the fat of all skin be what a table of points says.
    pub(crate) fn paint_fat(&mut self, points: &Path) -> Result<(), String> {
        let bodies = self.scene.body.iter_mut().filter_map(|table| table.skin.as_mut());
        let characters = self.scene.character.iter_mut().filter_map(|table| table.skin.as_mut());
        let points = absolute(points);
        bodies.chain(characters).for_each(|skin| skin.fat_points = Some(points.clone()));
        Ok(())
    }

    /// The table of a muscle, which is the `index`-th of the model.
    pub(crate) fn muscle(&mut self, name: &str, index: usize) -> Result<&mut MuscleTable, String> {
        let characters = self.scene.character.iter_mut().flat_map(|table| &mut table.muscle);
        let mut all: Vec<&mut MuscleTable> = self.scene.muscle.iter_mut().chain(characters).collect();
        let found = all.iter().position(|table| table.name.as_deref() == Some(name));
        let found = found.or(all.get(index).filter(|table| table.name.is_none()).map(|_| index));
        match found {
            Some(i) => Ok(all.swap_remove(i)),
            None => Err(format!(
                "'{name}' is laid out by `human_muscles`, and has no table of its own to change: its activation can be edited"
            )),
        }
    }

    /// Writes the scene file.
    pub(crate) fn write(&self) -> Result<(), String> {
        write_text(&self.path, &self.scene.to_text())
    }
}

fn is_scene_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
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
