//! Frames that are kept in memory, to be looked at.

use crate::frame_source::{FrameCallback, FrameSource, PictureError};
use crate::look::Look;
use crate::obstacles::{Obstacles, ShownObstacle};
use crate::render_frame::RenderFrame;
use sinew_take::{Frame, SurfaceInfo, Up};

/// A few frames in memory.
pub struct StoredFrameSource<'a> {
    surfaces: Vec<SurfaceInfo>,
    looks: Vec<Look>,
    frames: Vec<&'a Frame>,
    up: Up,
    obstacles: Obstacles,
    body_count: usize,
}

impl<'a> StoredFrameSource<'a> {
    /// Frames with their surfaces, the look of each, and the axis that points up.
    pub fn new(
        bodies: &[SurfaceInfo],
        looks: Vec<Look>,
        frames: Vec<&'a Frame>,
        up: Up,
    ) -> StoredFrameSource<'a> {
        let first = frames.first().map_or(&[][..], |frame| &frame.obstacles);
        let moves = |i: usize| {
            frames.iter().any(|frame| frame.obstacles.get(i).is_some_and(|now| now.pose != first[i].pose))
        };
        let shown = first.iter().enumerate().map(|(i, obstacle)| ShownObstacle {
            name: &obstacle.name,
            surface: &obstacle.surface,
            start: obstacle.pose,
            moves: moves(i),
            is_glass: obstacle.is_glass,
        });
        let obstacles = Obstacles::of(shown, up);
        let surfaces = bodies.iter().cloned().chain(obstacles.infos()).collect();
        let looks = looks.into_iter().chain(obstacles.looks()).collect();
        StoredFrameSource { surfaces, looks, frames, up, obstacles, body_count: bodies.len() }
    }
}

impl FrameSource for StoredFrameSource<'_> {
    fn surfaces(&self) -> &[SurfaceInfo] {
        &self.surfaces
    }

    fn framed_count(&self) -> usize {
        self.body_count + self.obstacles.moving()
    }

    fn ground(&self) -> Option<f64> {
        self.obstacles.ground
    }

    fn looks(&self) -> &[Look] {
        &self.looks
    }

    fn up(&self) -> Up {
        self.up
    }

    /// One: the frames are counted, whenever they were.
    fn fps(&self) -> f64 {
        1.0
    }

    fn frame_count(&self) -> usize {
        self.frames.len()
    }

    fn show(&self, places: &[f64], see: &mut FrameCallback) -> Result<(), PictureError> {
        for place in places {
            let render_frame = |index: usize| {
                let frame = self.frames[index.min(self.frames.len() - 1)];
                let mut surfaces = frame.surfaces.clone();
                surfaces.extend(self.obstacles.place(|i| frame.obstacles.get(i).map(|o| o.pose)));
                RenderFrame { time: frame.time, surfaces, ..RenderFrame::default() }
            };
            let (before, fraction) = (*place as usize, place.fract());
            see(if fraction > 0.0 {
                render_frame(before).towards(&render_frame(before + 1), fraction)
            } else {
                render_frame(before)
            })?;
        }
        Ok(())
    }
}
