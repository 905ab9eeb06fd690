//! Opens any file that a user gives as the source of a take: a scene, a rigged character, a captured motion or a mesh.

use crate::bare_character::scene_of_character;
use crate::bare_mesh::scene_of_mesh;
use crate::bare_motion::scene_of_motion;
use crate::character_file::is_character_file;
use crate::opened_scene::{CharacterChoice, OpenedScene};
use crate::scene_file::read_scene_file;
use crate::softness_points::SoftnessPoints;
use sinew_files::{Loaded, ReadError, ReadErrors};
use sinew_take::Scene;
use std::path::Path;

/// Opens a rigged character (.glb, .gltf, .vrm, .fbx), a scene file (.toml), a motion (.bvh) or a mesh. `choice` overrides what a scene says about
/// its character.
pub fn open_source(path: &Path, choice: &CharacterChoice) -> Result<Loaded<OpenedScene>, ReadErrors> {
    // by extension
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let is_bare_mesh = !is_character_file(path) && !matches!(extension.as_deref(), Some("toml" | "bvh"));
    if choice.cloth.is_some() && !is_bare_mesh {
        let message =
            "--cloth makes cloth of a bare mesh: write kind = \"cloth\" into the [[body]] of a scene file";
        return Err(ReadError::whole(message).within(path).into());
    }
    let mut opened = match extension.as_deref() {
        _ if is_character_file(path) => return scene_of_character(path, choice),
        Some("toml") => read_scene_file(path, choice)?,
        Some("bvh") if choice.animation.is_none() && choice.motion.is_none() => {
            return Ok(scene_of_motion(path, choice.motion_scale)?.map(OpenedScene::from));
        }
        Some("bvh") => scene_of_motion(path, choice.motion_scale)?.map(OpenedScene::from),
        _ if path.is_dir() => {
            let message = "this is a folder: give a character, scene, motion or mesh file";
            return Err(ReadError::whole(message).within(path).into());
        }
        _ => scene_of_mesh(path, choice.cloth.as_deref())
            .map_err(|mut error| {
                error.message = error.message.replace(
                    "convert it to one of",
                    "give a character (.glb, .gltf, .vrm, .fbx), a .toml scene, a .bvh motion or one of",
                );
                error
            })?
            .map(OpenedScene::from),
    };

    // softness of bodies that are not from character files
    if let Some(file) = &choice.softness {
        let points = SoftnessPoints::read(file)?;
        points.paint(&mut opened.value.scene).map_err(|error| ReadError::whole(error).within(file))?;
    }

    // a choice needs a character
    if opened.value.characters.is_empty() && choice.names_character() {
        let message = "--animation, --motion and --jiggle need a character file (.glb, .gltf, .vrm, .fbx) or a scene with one: write other motions and materials into the scene file";
        return Err(ReadError::whole(message).within(path).into());
    }
    Ok(opened)
}

/// Opens a file as [`open_source`] does, and returns only the scene.
pub fn open_scene(path: &Path) -> Result<Loaded<Scene>, ReadErrors> {
    Ok(open_source(path, &CharacterChoice::default())?.map(|opened| opened.scene))
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
        assert!(error.contains(".abc files are not supported: give a character (.glb"), "{error}");
        let error = open_scene(folder.path()).unwrap_err().to_string();
        assert!(error.contains("this is a folder"), "{error}");
        let choice = CharacterChoice { animation: Some("walk".into()), ..CharacterChoice::default() };
        let error = open_source(&scene, &choice).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("write other motions and materials into the scene file"), "{error}");
    }
}
