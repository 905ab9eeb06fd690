//! A scene together with the characters in it that came from rigged files.
//!
//! Every reader of scenes returns one; sinks and frame sources take it, because they write and draw the surfaces of those files in place
//! of the flesh around them.

use crate::appearance::{Appearance, FileAppearance};
use crate::distinct_names::file_names;
use crate::file_looks;
use crate::rigged_file::CaptureFile;
use sinew_character::{CharacterBinding, ObjectSpace, ShownObjects, ShownSurfaces, lowest_height};
use sinew_control::DriveMode;
use sinew_gltf::FileCharacter;
use sinew_render::Look;
use sinew_sim::desc::{BodyDesc, ShapeDesc};
use sinew_sim::{Body, Model};
use sinew_take::{Scene, SceneParts};
use std::path::{Path, PathBuf};

/// A scene and its characters from rigged files, into which takes can be written back.
#[derive(Clone, Debug)]
pub struct OpenedScene {
    /// The scene to simulate.
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
    /// The bindings of the characters from files to the scene.
    pub fn bindings(&self) -> impl Iterator<Item = &CharacterBinding> {
        self.characters.iter().map(|character| &character.binding)
    }

    /// The distances from its skinned place that no vertex of a character exceeds (m); empty if there are no such limits.
    pub fn limits_of(&self, binding: &CharacterBinding) -> &[f64] {
        let attachment = self.scene.world.bodies.get(binding.body).and_then(|body| body.attachment.as_ref());
        attachment.and_then(|attachment| attachment.home.as_ref()).map_or(&[], |home| &home.limit)
    }

    /// The surfaces that outputs show: those of a character's file in place of its flesh.
    pub fn shown(&self) -> ShownSurfaces<'_> {
        ShownSurfaces::new(&self.scene, self.bindings())
    }

    /// The objects that outputs write, one for each mesh of a character's file.
    pub fn objects(&self, space: ObjectSpace) -> ShownObjects<'_> {
        ShownObjects::new(&self.scene, self.bindings(), space)
    }

    /// The appearance of the shown surfaces: that of rigged files, other bodies are plain.
    pub fn appearance(&self) -> Appearance {
        let mut all = Appearance::default();
        for body in 0..self.scene.world.bodies.len() {
            match self.characters.iter().find(|character| character.binding.body == body) {
                Some(FileCharacter { file, binding }) => {
                    all.append(FileAppearance::read(file, &binding.surface_ids()));
                }
                None => all.surfaces.push(Default::default()),
            }
        }
        all
    }

    /// Which bodies are flesh, over which there can be skin.
    pub fn flesh_bodies(&self) -> Vec<bool> {
        let is_flesh = |body: &BodyDesc| matches!(body.shape, ShapeDesc::Surface { .. } | ShapeDesc::Tets(_));
        self.scene.world.bodies.iter().map(is_flesh).collect()
    }

    /// How soft the vertices of each body's surface are: 1 where nothing is said.
    pub fn softness(&self, model: &Model) -> Vec<Vec<f32>> {
        let painted = |(i, body): (usize, &Body)| match self.scene.world.bodies.get(i) {
            Some(desc) => desc.softness.at(&body.surface.vertices),
            None => vec![1.0; body.surface.vertices.len()],
        };
        let mut softness: Vec<Vec<f32>> = model.bodies().iter().enumerate().map(painted).collect();
        for binding in self.bindings() {
            softness[binding.body] = binding.softness().to_vec();
        }
        softness
    }

    /// The shown surfaces of characters, which are bodies on bones, by their indices; none if no body or every one is a character.
    pub fn character_surfaces(&self) -> Vec<usize> {
        let bodies = &self.scene.world.bodies;
        let is_character = |body: usize| bodies.get(body).is_some_and(|body| body.attachment.is_some());
        if (0..bodies.len()).all(is_character) { Vec::new() } else { self.surfaces_of(is_character) }
    }

    /// The shown surfaces of the body of a name, in upper or lower case, by their indices.
    ///
    /// # Errors
    /// If there is no such body: the names that there are.
    pub fn surfaces_named(&self, name: &str) -> Result<Vec<usize>, String> {
        let names: Vec<&str> = self.scene.world.bodies.iter().map(|body| body.name.as_str()).collect();
        let lower = name.to_lowercase();
        let found = self.surfaces_of(|body| names[body].to_lowercase() == lower);
        if found.is_empty() {
            return Err(format!("there is no body '{name}': the scene has {}", names.join(", ")));
        }
        Ok(found)
    }

    /// The shown surfaces of some bodies, by their indices.
    fn surfaces_of(&self, is_chosen: impl Fn(usize) -> bool) -> Vec<usize> {
        let bodies = self.shown().bodies();
        (0..bodies.len()).filter(|surface| is_chosen(bodies[*surface])).collect()
    }

    /// The lowest height along gravity (m) that surfaces reach when moved by skinning alone; `None` without gravity or bodies.
    pub fn lowest_height(&self) -> Option<f64> {
        lowest_height(&self.scene, &self.bindings().collect::<Vec<_>>())
    }

    /// The GLB file of each character from a file when the scene is written to `output`: `output` itself if the character is the only body,
    /// else a file with the character's name appended.
    pub fn character_targets(&self, output: &Path) -> Vec<PathBuf> {
        if self.scene.world.bodies.len() == 1 {
            return vec![output.to_path_buf(); self.characters.len()];
        }
        let stem = output.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let names = file_names(self.bindings().map(|binding| binding.name.as_str()));
        names.iter().map(|name| output.with_file_name(format!("{stem}-{name}.glb"))).collect()
    }

    /// The bodies and rigs of the scene that do not come from rigged files.
    pub fn other_parts(&self) -> SceneParts {
        let is_free = |bound: fn(&CharacterBinding) -> usize| {
            move |index: &usize| self.bindings().all(|binding| bound(binding) != *index)
        };
        SceneParts {
            bodies: (0..self.scene.world.bodies.len()).filter(is_free(|binding| binding.body)).collect(),
            rigs: (0..self.scene.world.rigs.len()).filter(is_free(|binding| binding.rig)).collect(),
        }
    }

    /// The looks of the shown surfaces: materials of rigged files, and default colours for other bodies.
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

/// What is chosen for the characters of one take, in place of what the scene says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CharacterChoice {
    /// An animation of the character's file, by name or index.
    pub animation: Option<String>,
    /// Other animations of the file, likewise, that softness fits too, so that flesh is the same in all of them.
    pub fitted: Vec<String>,
    /// A captured motion (.bvh, or another character file whose first animation is taken).
    pub motion: Option<PathBuf>,
    /// The length of the unit of that motion, or of a bare one that is opened (m); by default found by the length of its legs.
    pub motion_scale: Option<f64>,
    /// How much flesh swings: 0 hardly, 1 as flesh does, 2 as in a cartoon.
    pub jiggle: Option<f64>,
    /// Painted softness (.csv), which every kind of flesh has.
    pub softness: Option<PathBuf>,
    /// The fabric that a bare mesh is made of, by name; none for jelly.
    pub cloth: Option<String>,
    /// Who drives skeletons. Where forces move bones, rigid parts weigh and collide too.
    pub lead: Option<DriveMode>,
}

impl CharacterChoice {
    /// Whether it says anything of character files.
    pub fn names_character(&self) -> bool {
        let (lead, cloth, softness) = (self.lead, self.cloth.clone(), self.softness.clone());
        *self != CharacterChoice { lead, cloth, softness, ..CharacterChoice::default() }
    }

    /// Whether forces move bones: by what is chosen, or by the scene.
    pub(crate) fn moves_bones(&self, in_scene: bool) -> bool {
        in_scene || self.lead.is_some_and(|lead| lead != DriveMode::OneWay)
    }

    /// The captured motion that was chosen.
    pub(crate) fn capture(&self) -> Option<CaptureFile> {
        let file = self.motion.clone()?;
        Some(CaptureFile { metres_per_unit: self.motion_scale, ..CaptureFile::of(file) })
    }

    /// Whether it chooses a motion, which fits one character only.
    pub(crate) fn names_motion(&self) -> bool {
        self.animation.is_some() || self.motion.is_some()
    }
}
