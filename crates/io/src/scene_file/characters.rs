//! Reads all `[[character]]`s of a scene file and adds them to the scene, one after the other.

use super::Reading;
use super::character::read_character;
use super::rigged::read_rigged;
use super::section::Section;
use crate::opened_scene::CharacterChoice;
use crate::scene_schema::{CharacterTable, SceneFile};
use sinew_files::{ReadError, ReadErrors};
use sinew_gltf::FileCharacter;
use sinew_take::Scene;

/// The characters of a scene while it is read.
pub(super) struct Characters<'a> {
    scene: &'a mut Scene,
    choice: &'a CharacterChoice,
    reading: &'a Reading<'a>,
    /// Whether notes must name their character.
    are_several: bool,
    /// Characters from rigged files.
    pub(super) from_files: Vec<FileCharacter>,
    /// The longest motion of a character from a file (s).
    pub(super) longest: Option<f64>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

impl<'a> Characters<'a> {
    /// Begins without characters. Fails if `choice` is ambiguous because the file has several characters.
    pub(super) fn new(
        file: &Section<SceneFile>,
        choice: &'a CharacterChoice,
        scene: &'a mut Scene,
        reading: &'a Reading<'a>,
    ) -> Result<Characters<'a>, ReadError> {
        let tables = &file.table().character;
        let from_files = tables.iter().filter(|table| table.file.is_some()).count();
        if from_files > 1 && choice.names_motion() {
            return Err(ReadError::whole(
                "--animation and --motion apply to one character, but the scene has several: write the motions into the scene file",
            ));
        }
        let are_several = tables.len() + scene.world.bodies.len() > 1;
        Ok(Characters {
            scene,
            choice,
            reading,
            are_several,
            from_files: Vec::new(),
            longest: None,
            notes: Vec::new(),
        })
    }

    /// Reads a character, adds it to the scene, and returns its name.
    pub(super) fn read(&mut self, section: &Section<CharacterTable>) -> Result<String, ReadErrors> {
        if section.file.is_some() { self.read_file(section) } else { Ok(self.read_bones(section)?) }
    }

    fn read_file(&mut self, section: &Section<CharacterTable>) -> Result<String, ReadErrors> {
        let bodies = &self.scene.world.bodies;
        let read = read_rigged(section, bodies, self.reading, self.choice)?;
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

    fn read_bones(&mut self, section: &Section<CharacterTable>) -> Result<String, ReadError> {
        let read = read_character(section, &self.scene.world.bodies, self.reading)?;
        self.notes.extend(read.notes);
        let character = read.value;
        let name = character.body.name.clone();
        self.scene.world.bodies.push(character.body);
        self.scene.world.rigs.push(character.rig);
        self.scene.pin_motions.push(character.pin_motions);
        self.scene.performances.push(character.performance);
        self.scene.preroll = self.scene.preroll.max(character.preroll);
        Ok(name)
    }
}
