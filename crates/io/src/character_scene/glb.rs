//! A take of a character, written into its own file.

use super::CharacterScene;
use crate::character_file::{CharacterFile, SurfaceId};
use crate::skinned_glb::{SkinnedGlb, SkinnedGlbOptions, SkinnedGlbReport};
use sinew_math::Vec3;
use sinew_take::{Frame, FrameSink, SinkError, SurfaceInfo};
use std::path::PathBuf;

/// Writes the flesh of a character as morph targets under its own skinning; see [`SkinnedGlb`].
pub struct CharacterGlb<'a> {
    character: &'a CharacterScene,
    target: PathBuf,
    options: SkinnedGlbOptions,
    writer: Option<SkinnedGlb<&'a CharacterFile>>,
    report: Option<SkinnedGlbReport>,
}

impl<'a> CharacterGlb<'a> {
    /// Writes a character to a target; the animation and the rate are those of the take.
    pub fn new(
        character: &'a CharacterScene,
        target: impl Into<PathBuf>,
        options: SkinnedGlbOptions,
    ) -> CharacterGlb<'a> {
        CharacterGlb { character, target: target.into(), options, writer: None, report: None }
    }

    /// What was written, after the end.
    pub fn report(&self) -> Option<&SkinnedGlbReport> {
        self.report.as_ref()
    }
}

impl FrameSink for CharacterGlb<'_> {
    fn begin(&mut self, _: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        let options = SkinnedGlbOptions { animation: self.character.animation, fps, ..self.options };
        self.writer = Some(SkinnedGlb::new(self.target.clone(), &self.character.file, options)?);
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let pose = self.character.pose_in(frame);
        let parts = self.character.parts_in(frame, &pose);
        let flesh: Vec<(SurfaceId, &[Vec3])> = parts
            .iter()
            .filter(|part| part.is_flesh)
            .map(|part| (part.id, part.vertices.as_slice()))
            .collect();
        let writer = self.writer.as_mut().ok_or_else(|| SinkError("a frame before the first".into()))?;
        writer.frame(&pose, &flesh)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        let writer = self.writer.take().ok_or_else(|| SinkError("an end without a start".into()))?;
        self.report = Some(writer.finish()?);
        Ok(())
    }
}
