//! All `[[character]]`s of a scene file, which join the scene one after the other.

use super::character::read_character;
use super::rigged::read_rigged;
use super::section::Section;
use crate::Up;
use crate::opened_scene::CharacterChoice;
use sinew_files::{ReadError, ReadErrors};
use sinew_gltf::FileCharacter;
use sinew_take::Scene;
use std::path::Path;

/// The characters of a scene while it is read.
pub(super) struct Characters<'a> {
    scene: &'a mut Scene,
    choice: &'a CharacterChoice,
    up: Up,
    folder: &'a Path,
    /// Whether notes must say which character they are about.
    are_several: bool,
    /// Those from files.
    pub(super) from_files: Vec<FileCharacter>,
    /// The length of the longest motion of those from files (s).
    pub(super) longest: Option<f64>,
    /// What a user should know about them.
    pub(super) notes: Vec<String>,
}

impl<'a> Characters<'a> {
    /// No character so far. Fails if `choice` is for one character and the file has several that it may be for.
    pub(super) fn new(
        file: &Section,
        choice: &'a CharacterChoice,
        scene: &'a mut Scene,
        up: Up,
        folder: &'a Path,
    ) -> Result<Characters<'a>, ReadError> {
        let sections = file.sections("character", super::ScenePart::Character)?;
        let from_files = sections.iter().filter(|section| section.has("file")).count();
        if from_files > 1 && *choice != CharacterChoice::default() {
            return Err(ReadError::whole(
                "--animation and --motion are for one character and the scene has several: write them into the scene",
            ));
        }
        let are_several = sections.len() + scene.world.bodies.len() > 1;
        Ok(Characters {
            scene,
            choice,
            up,
            folder,
            are_several,
            from_files: Vec::new(),
            longest: None,
            notes: Vec::new(),
        })
    }

    /// Reads a character, adds it to the scene, and returns its name.
    pub(super) fn read(&mut self, section: &Section) -> Result<String, ReadErrors> {
        if section.has("file") { self.read_file(section) } else { Ok(self.read_bones(section)?) }
    }

    fn read_file(&mut self, section: &Section) -> Result<String, ReadErrors> {
        let bodies = &self.scene.world.bodies;
        let read = read_rigged(section, bodies, self.up, self.folder, self.choice)?;
        let (file, character) = read.value;
        let name = character.body.name.clone();
        let named = |note: &String| if self.are_several { format!("{name}: {note}") } else { note.clone() };
        self.notes.extend(read.notes.iter().map(named));
        self.longest = self.longest.into_iter().chain(character.seconds).reduce(f64::max);
        let binding = character.join(self.scene);
        let name = binding.name.clone();
        self.from_files.push(FileCharacter { file, binding });
        Ok(name)
    }

    fn read_bones(&mut self, section: &Section) -> Result<String, ReadError> {
        let read = read_character(section, &self.scene.world.bodies, self.up, self.folder)?;
        self.notes.extend(read.notes);
        let character = read.value;
        let name = character.body.name.clone();
        self.scene.world.bodies.push(character.body);
        self.scene.world.rigs.push(character.rig);
        self.scene.pin_motions.push(Vec::new());
        self.scene.performances.push(character.performance);
        self.scene.preroll = self.scene.preroll.max(character.preroll);
        Ok(name)
    }
}
