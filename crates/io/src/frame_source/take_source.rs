//! Frame source of a recorded take.

use crate::{OpenedScene, TakeEnding, TakeFile};
use sinew_character::ShownSurfaces;
use sinew_render::{
    FrameCallback, FrameSource, Look, ModelOverlays, ObstacleInfo, ObstacleSurfaces, Overlays, PictureError,
    RenderFrame, Scalar,
};
use sinew_sim::{Model, State};
use sinew_take::{Frame, SurfaceInfo, Up};

/// Renders a recorded take.
pub struct TakeFrameSource<'a> {
    take: &'a TakeFile,
    model: &'a Model,
    shown: ShownSurfaces<'a>,
    overlays: Overlays,
    model_overlays: ModelOverlays<'a>,
    surfaces: Vec<SurfaceInfo>,
    looks: Vec<Look>,
    obstacles: ObstacleSurfaces,
    body_count: usize,
    /// How soft every vertex of each body is, if that is drawn.
    softness: Option<Vec<Vec<f32>>>,
    followed: Vec<usize>,
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

        // overlays; characters have skinning weights of their own
        let skinned = overlays.skinned && !opened.other_parts().bodies.is_empty();
        let mut model_overlays = ModelOverlays::build(model, Overlays { skinned, ..overlays })?;
        if model_overlays.draws_forces() {
            for state in take.states(model)? {
                model_overlays.scale_forces(&state?);
            }
        }

        // surfaces of the bodies, then of the obstacles
        let shown = opened.shown();
        let bodies: Vec<SurfaceInfo> = model.bodies().iter().map(SurfaceInfo::of).collect();
        let (mut surfaces, mut looks) = (shown.infos(&bodies), opened.looks());
        let body_count = surfaces.len();
        let obstacles = obstacle_surfaces(model);
        surfaces.extend(obstacles.infos());
        looks.extend(obstacles.looks());
        Ok(TakeFrameSource {
            take,
            model,
            shown,
            overlays,
            model_overlays,
            surfaces,
            looks,
            body_count,
            softness: overlays.softness.then(|| opened.softness(model)),
            followed: opened.character_surfaces(),
            obstacles,
        })
    }

    /// Replaces the looks of the first surfaces.
    pub fn with_looks(mut self, looks: impl IntoIterator<Item = Look>) -> TakeFrameSource<'a> {
        self.looks.iter_mut().zip(looks).for_each(|(own, look)| *own = look);
        self
    }

    /// The same with a camera that follows only these surfaces, by their indices.
    pub fn following(self, followed: Vec<usize>) -> TakeFrameSource<'a> {
        TakeFrameSource { followed, ..self }
    }

    fn render_frame(&self, state: &State) -> RenderFrame {
        let mut frame = Frame::default();
        frame.update(self.model, state);
        let mut render_frame = RenderFrame { time: frame.time, ..RenderFrame::default() };
        self.model_overlays.add_to(&mut render_frame, state, &frame);

        // surfaces of rigged files in place of their flesh
        render_frame.surfaces = self.shown.positions(&frame);
        if let Some(softness) = &self.softness {
            render_frame.strain.clone_from(softness);
        }
        render_frame.strain = self.shown.values(render_frame.strain);
        if self.overlays.skinned {
            render_frame.skinned = self.shown.skinned(&frame, &render_frame.skinned);
        }

        // obstacles have no strain, and are not skinned
        let vertices = self.obstacles.vertices(|i| state.obstacles.get(i).map(|obstacle| obstacle.pose));
        if self.overlays.strain || self.overlays.softness {
            render_frame.strain.extend(vertices.iter().map(|points| vec![f32::NAN; points.len()]));
        }
        if self.overlays.skinned {
            render_frame.skinned.extend(vertices.iter().cloned());
        }
        render_frame.surfaces.extend(vertices);
        render_frame
    }
}

impl FrameSource for TakeFrameSource<'_> {
    fn surfaces(&self) -> &[SurfaceInfo] {
        &self.surfaces
    }

    fn looks(&self) -> &[Look] {
        &self.looks
    }

    fn framed_count(&self) -> usize {
        self.body_count + self.obstacles.moving_count()
    }

    fn followed(&self) -> Vec<usize> {
        if self.followed.is_empty() { (0..self.framed_count()).collect() } else { self.followed.clone() }
    }

    fn ground(&self) -> Option<f64> {
        self.obstacles.ground
    }

    fn cage(&self) -> &[[u32; 3]] {
        self.model_overlays.cage()
    }

    fn scalar(&self) -> Scalar {
        if self.softness.is_some() { Scalar::Softness } else { Scalar::Strain }
    }

    fn up(&self) -> Up {
        Up::against(self.model.gravity())
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
                    let render_frame = self.render_frame(&state);
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

fn obstacle_surfaces(model: &Model) -> ObstacleSurfaces {
    let infos = model.obstacles().iter().enumerate().map(|(i, obstacle)| ObstacleInfo {
        name: &obstacle.name,
        surface: &obstacle.surface,
        start: obstacle.start.pose,
        moves: model.obstacle_moves(i),
        is_glass: obstacle.is_glass,
    });
    ObstacleSurfaces::of(infos, Up::against(model.gravity()))
}
