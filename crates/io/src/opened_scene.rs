//! A path that a user gave as a scene, with the characters in it that came from files.

use crate::bare_mesh::scene_of_mesh;
use crate::bare_motion::scene_of_motion;
use crate::distinct_names::file_names;
use crate::frame_source::file_looks;
use crate::rigged_file::{CaptureFile, RiggedOptions, open_rigged};
use crate::scene_file::read_scene_file;
use sinew_character::{CharacterBinding, CharacterOptions, ShownSurfaces, empty_scene, lowest_height};
use sinew_files::{Loaded, ReadError, ReadErrors};
use sinew_gltf::{CHARACTER_EXTENSIONS, FileCharacter};
use sinew_render::Look;
use sinew_take::{Scene, SceneParts};
use std::path::{Path, PathBuf};

/// A scene, and the characters in it that takes can be written back into the files of.
#[derive(Clone, Debug)]
pub struct OpenedScene {
    /// What is simulated.
    pub scene: Scene,
    /// The characters of the scene that came from files.
    pub characters: Vec<FileCharacter>,
}

impl From<Scene> for OpenedScene {
    /// A scene without characters from files.
    fn from(scene: Scene) -> OpenedScene {
        OpenedScene { scene, characters: Vec::new() }
    }
}

impl OpenedScene {
    /// How the characters from files belong to the scene.
    pub fn bindings(&self) -> impl Iterator<Item = &CharacterBinding> {
        self.characters.iter().map(|character| &character.binding)
    }

    /// The surfaces of the scene as outputs show them: those of characters' files in place of their flesh.
    pub fn shown(&self) -> ShownSurfaces<'_> {
        ShownSurfaces::new(&self.scene, self.bindings())
    }

    /// The lowest height, against gravity (m), that surfaces reach when motions alone move them; `None` without gravity or bodies.
    pub fn lowest_height(&self) -> Option<f64> {
        lowest_height(&self.scene, &self.bindings().collect::<Vec<_>>())
    }

    /// For each character from a file the GLB that it is written to when the scene is written to `output`: that file itself if the
    /// character is alone, else one with its name added.
    pub fn character_targets(&self, output: &Path) -> Vec<PathBuf> {
        if self.scene.world.bodies.len() == 1 {
            return vec![output.to_path_buf(); self.characters.len()];
        }
        let stem = output.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let names = file_names(self.bindings().map(|binding| binding.name.as_str()));
        names.iter().map(|name| output.with_file_name(format!("{stem}-{name}.glb"))).collect()
    }

    /// The bodies and rigs of the scene that are no characters from files.
    pub fn other_parts(&self) -> SceneParts {
        let is_free = |bound: fn(&CharacterBinding) -> usize| {
            move |index: &usize| self.bindings().all(|binding| bound(binding) != *index)
        };
        SceneParts {
            bodies: (0..self.scene.world.bodies.len()).filter(is_free(|binding| binding.body)).collect(),
            rigs: (0..self.scene.world.rigs.len()).filter(is_free(|binding| binding.rig)).collect(),
        }
    }

    /// The looks of the shown surfaces: those of a file as it says, others in default colours.
    pub fn looks(&self) -> Vec<Look> {
        let palette = Look::palette(self.scene.world.bodies.len());
        let mut looks = Vec::new();
        for (body, look) in palette.into_iter().enumerate() {
            match self.characters.iter().find(|character| character.binding.body == body) {
                Some(FileCharacter { file, binding }) => {
                    looks.extend(file_looks::of_surfaces(file, &binding.surface_ids()));
                }
                None => looks.push(look),
            }
        }
        looks
    }
}

/// What is chosen about the characters of a scene for one take, whatever the scene says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CharacterChoice {
    /// The animation of its file to play, by name or index.
    pub animation: Option<String>,
    /// A captured motion (.bvh) to play instead.
    pub motion: Option<PathBuf>,
}

/// Opens a path that a user gave: a character (.glb, .gltf, .vrm), a scene file (.toml), a motion (.bvh) or a bare mesh.
pub fn open_source(path: &Path, choice: &CharacterChoice) -> Result<Loaded<OpenedScene>, ReadErrors> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let opened = match extension.as_deref() {
        Some(extension) if CHARACTER_EXTENSIONS.contains(&extension) => {
            return scene_of_character(path, choice);
        }
        Some("toml") => read_scene_file(path, choice)?,
        Some("bvh") => scene_of_motion(path)?.map(OpenedScene::from),
        _ if path.is_dir() => {
            let message = "this is a folder: give a character, scene, motion or mesh file in it";
            return Err(ReadError::whole(message).within(path).into());
        }
        _ => scene_of_mesh(path)
            .map_err(|mut error| {
                error.message = error.message.replace(
                    "convert it to one of",
                    "give a character (.glb, .gltf, .vrm), a .toml scene, a .bvh motion or one of",
                );
                error
            })?
            .map(OpenedScene::from),
    };
    if opened.value.characters.is_empty() && *choice != CharacterChoice::default() {
        let message = "--animation and --motion are for character files (.glb, .gltf, .vrm) and scenes that name one: write other motions into the scene";
        return Err(ReadError::whole(message).within(path).into());
    }
    Ok(opened)
}

/// The scene of a path that a user gave, whatever it was made of.
pub fn open_scene(path: &Path) -> Result<Loaded<Scene>, ReadErrors> {
    Ok(open_source(path, &CharacterChoice::default())?.map(|opened| opened.scene))
}

/// The scene of a bare character file: the character alone, with y up, as long as its motion.
fn scene_of_character(path: &Path, choice: &CharacterChoice) -> Result<Loaded<OpenedScene>, ReadErrors> {
    let name = path.file_stem().map_or("character".into(), |stem| stem.to_string_lossy().into_owned());
    let options = RiggedOptions {
        character: CharacterOptions {
            name: Some(name.clone()),
            animation: choice.animation.clone(),
            ..CharacterOptions::default()
        },
        motion: choice.motion.clone().map(CaptureFile::of),
    };
    let Loaded { value: (file, character), notes } = open_rigged(path, options)?;
    let mut scene = empty_scene(&format!("{name}_flesh"));
    scene.seconds = character.seconds.unwrap_or(scene.seconds);
    let binding = character.join(&mut scene);
    let characters = vec![FileCharacter { file, binding }];
    Ok(Loaded { value: OpenedScene { scene, characters }, notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_opened_as_what_its_extension_says() {
        let folder = tempfile::tempdir().unwrap();
        let [mesh, scene, other] = ["a.obj", "b.toml", "c.abc"].map(|name| folder.path().join(name));
        std::fs::write(&mesh, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
            .unwrap();
        std::fs::write(&scene, "seconds = 1\n[[body]]\nsurface = 'a.obj'\n").unwrap();
        assert_eq!(open_scene(&mesh).unwrap().value.seconds, 5.0);
        assert_eq!(open_scene(&scene).unwrap().value.seconds, 1.0);
        let error = open_scene(&other).unwrap_err().to_string();
        assert!(error.contains(".abc files are not read: give a character (.glb"), "{error}");
        let error = open_scene(folder.path()).unwrap_err().to_string();
        assert!(error.contains("this is a folder"), "{error}");
        let choice = CharacterChoice { animation: Some("walk".into()), motion: None };
        let error = open_source(&scene, &choice).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("write other motions into the scene"), "{error}");
    }
}
