//! A take of a character, written into the character's own file.

use crate::character_file::CharacterFile;
use crate::skinned_glb::{SkinnedGlb, SkinnedGlbOptions, SkinnedGlbReport};
use sinew_character::{CharacterBinding, Placement, PlayedCharacter, SurfaceId};
use sinew_math::Vec3;
use sinew_take::{Frame, FrameSink, Scene, SinkError, SurfaceInfo};
use std::path::PathBuf;

/// A character of a scene, and the file it came from, which a take can be written back into.
#[derive(Clone, Debug)]
pub struct FileCharacter {
    /// The file.
    pub file: CharacterFile,
    /// How the character belongs to the scene.
    pub binding: CharacterBinding,
}

/// Whether a take is all of a file, or one clip of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClipPlace {
    /// The last clip, or the only one: the file appears when the take ends.
    #[default]
    Last,
    /// Other clips follow: the file stays open.
    Earlier,
}

/// Writes the flesh of a character as morph targets under its own skinning; see [`SkinnedGlb`].
#[derive(Debug)]
pub struct CharacterGlb<'a> {
    file: &'a CharacterFile,
    character: PlayedCharacter<'a>,
    target: PathBuf,
    options: SkinnedGlbOptions,
    writer: Option<SkinnedGlb>,
    clip: ClipPlace,
    report: Option<SkinnedGlbReport>,
}

impl<'a> CharacterGlb<'a> {
    /// Writes a character of a scene to a target; the animation and the rate are those of the take.
    pub fn new(
        scene: &'a Scene,
        character: &'a FileCharacter,
        target: impl Into<PathBuf>,
        options: SkinnedGlbOptions,
    ) -> CharacterGlb<'a> {
        CharacterGlb {
            file: &character.file,
            character: character.binding.played(scene),
            target: target.into(),
            options,
            writer: None,
            clip: ClipPlace::Last,
            report: None,
        }
    }

    /// The take as one clip of several: behind those that are in `before`, and in front of others if it is not the last.
    pub fn with_clip(self, before: Option<SkinnedGlb>, clip: ClipPlace) -> CharacterGlb<'a> {
        CharacterGlb { writer: before, clip, ..self }
    }

    /// The file that later clips go into; `None` after the last.
    pub fn into_writer(self) -> Option<SkinnedGlb> {
        self.writer
    }

    /// The name of the character in the scene.
    pub fn name(&self) -> &str {
        &self.character.binding.name
    }

    /// What was written; `None` before `finish`.
    pub fn report(&self) -> Option<&SkinnedGlbReport> {
        self.report.as_ref()
    }
}

impl FrameSink for CharacterGlb<'_> {
    fn begin(&mut self, _: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        let animation = self.character.binding.animation;
        if let Some(writer) = &mut self.writer {
            return writer.begin_clip(animation, fps, 0.0);
        }
        let options = SkinnedGlbOptions { animation, fps, ..self.options };
        self.writer = Some(SkinnedGlb::new(self.target.clone(), self.file, options)?);
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        // the character in the scene
        let pose = self.character.pose_in(frame);
        let mut parts = self.character.parts_in(frame, &pose);
        parts.retain(|part| part.is_flesh);

        // the same in its file
        let placement: &Placement = &self.character.binding.placement;
        let pose = placement.file_pose(&self.file.rigged, &pose);
        if !placement.is_identity() {
            let vertices = parts.iter_mut().flat_map(|part| &mut part.vertices);
            vertices.for_each(|vertex| *vertex = placement.file_from_scene(vertex));
        }
        let flesh: Vec<(SurfaceId, &[Vec3])> =
            parts.iter().map(|part| (part.id, part.vertices.as_slice())).collect();
        let writer = self.writer.as_mut().ok_or_else(|| SinkError("a frame before the first".into()))?;
        writer.frame(&pose, &flesh)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        if self.clip == ClipPlace::Earlier {
            return Ok(());
        }
        let writer = self.writer.take().ok_or_else(|| SinkError("an end without a start".into()))?;
        self.report = Some(writer.finish()?);
        Ok(())
    }
}
