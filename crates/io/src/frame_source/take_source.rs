//! Frame source of a recorded take.

use crate::frame_source::SceneSurfaces;
use crate::{OpenedScene, TakeEnding, TakeFile};
use sinew_render::{FrameCallback, FrameSource, Look, Overlays, PictureError, RenderFrame, Scalar};
use sinew_sim::Model;
use sinew_take::{SurfaceInfo, Up};

/// Renders a recorded take.
pub struct TakeFrameSource<'a> {
    take: &'a TakeFile,
    model: &'a Model,
    scene: SceneSurfaces<'a>,
}

impl<'a> TakeFrameSource<'a> {
    /// A take, the model it was recorded with, and the scene of that model.
    pub fn new(
        take: &'a TakeFile,
        model: &'a Model,
        opened: &'a OpenedScene,
        overlays: Overlays,
    ) -> Result<TakeFrameSource<'a>, PictureError> {
        // frames of this model
        take.check_model(model)?;
        if take.frame_count() == 0 {
            return Err(PictureError(format!(
                "{}: the take has no frames: simulate again, or continue it with `sinew simulate --resume`",
                take.path().display()
            )));
        }

        // arrows as long as the largest force of all frames allows
        let mut scene = SceneSurfaces::build(model, opened, overlays)?;
        if scene.model_overlays.draws_forces() {
            for state in take.states(model)? {
                scene.model_overlays.scale_forces(&state?);
            }
        }
        Ok(TakeFrameSource { take, model, scene })
    }

    /// Replaces the looks of the first surfaces.
    pub fn with_looks(mut self, looks: impl IntoIterator<Item = Look>) -> TakeFrameSource<'a> {
        self.scene.looks.iter_mut().zip(looks).for_each(|(own, look)| *own = look);
        self
    }

    /// The same with a camera that follows only these surfaces, by their indices.
    pub fn following(mut self, followed: Vec<usize>) -> TakeFrameSource<'a> {
        self.scene.followed = followed;
        self
    }
}

impl FrameSource for TakeFrameSource<'_> {
    fn surfaces(&self) -> &[SurfaceInfo] {
        &self.scene.surfaces
    }

    fn looks(&self) -> &[Look] {
        &self.scene.looks
    }

    fn framed_count(&self) -> usize {
        self.scene.framed_count()
    }

    fn followed(&self) -> Vec<usize> {
        let followed = &self.scene.followed;
        if followed.is_empty() { (0..self.framed_count()).collect() } else { followed.clone() }
    }

    fn ground(&self) -> Option<f64> {
        self.scene.ground()
    }

    fn cage(&self) -> &[[u32; 3]] {
        self.scene.cage()
    }

    fn scalar(&self) -> Scalar {
        self.scene.scalar()
    }

    fn up(&self) -> Up {
        self.scene.up()
    }

    fn fps(&self) -> f64 {
        self.take.recipe().settings.fps
    }

    fn frame_count(&self) -> usize {
        self.take.frame_count()
    }

    fn is_cycle(&self) -> bool {
        self.take.recipe().settings.is_loop && *self.take.ending() == TakeEnding::Complete
    }

    fn visit(&self, positions: &[f64], callback: &mut FrameCallback) -> Result<(), PictureError> {
        // the two frames around a position are cached, in the slots of even and odd indices
        let first = positions.iter().fold(f64::INFINITY, |first, position| first.min(*position));
        let mut states = self.take.states_from(first as usize, self.model)?;
        let mut cached: [Option<(usize, RenderFrame)>; 2] = [None, None];
        let mut find = |index: usize| -> Result<RenderFrame, PictureError> {
            if let Some((_, render_frame)) = cached.iter().flatten().find(|(known, _)| *known == index) {
                return Ok(render_frame.clone());
            }
            for found in states.by_ref() {
                let (found, state) = found?;
                if found == index {
                    let render_frame = self.scene.render_frame(&state);
                    cached[index % 2] = Some((index, render_frame.clone()));
                    return Ok(render_frame);
                }
            }
            Err(PictureError(format!("frame {index} is missing: was the file changed while it was read?")))
        };
        for position in positions {
            let (before, fraction) = (*position as usize, position.fract());
            let first = find(before)?;
            callback(if fraction > 0.0 { first.interpolate(&find(before + 1)?, fraction) } else { first })?;
        }
        Ok(())
    }
}
