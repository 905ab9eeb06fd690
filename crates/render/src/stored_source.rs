//! Frames in memory as a frame source.

use crate::frame_source::{FrameCallback, FrameSource, PictureError};
use crate::look::Look;
use crate::obstacles::{ObstacleInfo, ObstacleSurfaces};
use crate::render_frame::RenderFrame;
use sinew_mesh::TriMesh;
use sinew_take::{Frame, SurfaceInfo, Up};

/// A few frames in memory. Their rate is one per second, whatever their times.
pub struct StoredFrameSource {
    surfaces: Vec<SurfaceInfo>,
    looks: Vec<Look>,
    frames: Vec<RenderFrame>,
    up: Up,
    ground: Option<f64>,
    followed: Vec<usize>,
    framed_count: usize,
}

impl StoredFrameSource {
    /// Frames of bodies with these surfaces and looks, and the axis that points up. Obstacles are those of the frames.
    pub fn new(bodies: &[SurfaceInfo], looks: Vec<Look>, frames: Vec<Frame>, up: Up) -> StoredFrameSource {
        let first = frames.first().map_or(&[][..], |frame| &frame.obstacles);
        let moves = |i: usize| {
            frames.iter().any(|frame| frame.obstacles.get(i).is_some_and(|now| now.pose != first[i].pose))
        };
        let infos = first.iter().enumerate().map(|(i, obstacle)| ObstacleInfo {
            name: &obstacle.name,
            surface: &obstacle.surface,
            start: obstacle.pose,
            moves: moves(i),
            is_glass: obstacle.is_glass,
        });
        let obstacles = ObstacleSurfaces::of(infos, up);
        let surfaces = bodies.iter().cloned().chain(obstacles.infos()).collect();
        let looks = looks.into_iter().chain(obstacles.looks()).collect();
        let drawn = |frame: &Frame| {
            let poses = obstacles.vertices(|i| frame.obstacles.get(i).map(|obstacle| obstacle.pose));
            let surfaces = frame.surfaces.iter().cloned().chain(poses).collect();
            RenderFrame { time: frame.time, surfaces, ..RenderFrame::default() }
        };
        let frames = frames.iter().map(drawn).collect();
        let framed_count = bodies.len() + obstacles.moving_count();
        StoredFrameSource {
            ground: obstacles.ground,
            framed_count,
            followed: (0..framed_count).collect(),
            ..StoredFrameSource::of_frames(surfaces, looks, frames, up)
        }
    }

    /// Frames as they are drawn, of these surfaces and looks, and the axis that points up.
    pub fn of_frames(
        surfaces: Vec<SurfaceInfo>,
        looks: Vec<Look>,
        frames: Vec<RenderFrame>,
        up: Up,
    ) -> StoredFrameSource {
        let framed_count = surfaces.len();
        let followed = (0..framed_count).collect();
        StoredFrameSource { surfaces, looks, frames, up, ground: None, followed, framed_count }
    }

    /// The same with a camera that follows only these surfaces, by their indices; all bodies and what moves if there are none.
    pub fn following(mut self, surfaces: &[usize]) -> StoredFrameSource {
        if !surfaces.is_empty() {
            self.followed = surfaces.to_vec();
        }
        self
    }

    /// One frame of meshes (m, y up), in the default colours.
    pub fn of_meshes(meshes: &[TriMesh]) -> StoredFrameSource {
        let info = |(i, mesh): (usize, &TriMesh)| SurfaceInfo {
            name: format!("mesh {i}"),
            triangles: mesh.triangles.clone(),
            rest: mesh.vertices.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect(),
        };
        let bodies: Vec<SurfaceInfo> = meshes.iter().enumerate().map(info).collect();
        let frame =
            Frame { surfaces: bodies.iter().map(|body| body.rest.clone()).collect(), ..Frame::default() };
        StoredFrameSource::new(&bodies, Look::palette(bodies.len()), vec![frame], Up::Y)
    }

    fn render_frame(&self, index: usize) -> RenderFrame {
        self.frames[index.min(self.frames.len() - 1)].clone()
    }
}

impl FrameSource for StoredFrameSource {
    fn surfaces(&self) -> &[SurfaceInfo] {
        &self.surfaces
    }

    fn framed_count(&self) -> usize {
        self.framed_count
    }

    fn followed(&self) -> Vec<usize> {
        self.followed.clone()
    }

    fn ground(&self) -> Option<f64> {
        self.ground
    }

    fn looks(&self) -> &[Look] {
        &self.looks
    }

    fn up(&self) -> Up {
        self.up
    }

    fn fps(&self) -> f64 {
        1.0
    }

    fn frame_count(&self) -> usize {
        self.frames.len()
    }

    fn visit(&self, positions: &[f64], callback: &mut FrameCallback) -> Result<(), PictureError> {
        for position in positions {
            let (before, fraction) = (*position as usize, position.fract());
            let frame = self.render_frame(before);
            callback(if fraction > 0.0 {
                frame.interpolate(&self.render_frame(before + 1), fraction)
            } else {
                frame
            })?;
        }
        Ok(())
    }
}
