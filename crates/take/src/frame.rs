//! Frames, derived from states, and the sinks that receive them.

use sinew_math::Isometry;
use sinew_mesh::TriMesh;
use sinew_sim::{Body, Model, Obstacle, State, SurfacePlacer};
use sinew_skeleton::Kinematics;
use std::sync::Arc;
use thiserror::Error;

/// One frame of a take: all that a picture or a file format needs of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Its time (s).
    pub time: f64,
    /// For each body of the model, the positions of its surface vertices in the world (m).
    pub surfaces: Vec<Vec<[f32; 3]>>,
    /// For each rig, the poses of its bones in the world, in the order of its skeleton.
    pub bones: Vec<Vec<Isometry>>,
    /// The obstacles, in the order of the model.
    pub obstacles: Vec<FrameObstacle>,
}

/// An obstacle in one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameObstacle {
    /// Its name.
    pub name: Arc<str>,
    /// Whether pictures draw it transparent.
    pub is_glass: bool,
    /// Its surface in its body frame (m), shared by all frames.
    pub surface: Arc<TriMesh>,
    /// Its pose: the transform from the body frame to the world.
    pub pose: Isometry,
}

/// The constant part of a body's surface: name, triangles and rest positions.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceInfo {
    /// The body's name.
    pub name: String,
    /// Three vertex indices per triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Vertex positions at rest (m).
    pub rest: Vec<[f32; 3]>,
}

impl Frame {
    /// Computes the frame of a state.
    pub fn update(&mut self, model: &Model, state: &State) {
        self.time = state.time;
        self.surfaces.resize(model.bodies().len(), Vec::new());
        let mut placer = SurfacePlacer::default();
        placer.update(model, state);
        for (body, surface) in self.surfaces.iter_mut().enumerate() {
            surface.resize(model.bodies()[body].surface.vertices.len(), [0.0; 3]);
            placer.place(model, body, state, surface);
        }
        self.update_obstacles(model, state);
        self.bones.resize(model.rigs().len(), Vec::new());
        for ((bones, rig), state) in self.bones.iter_mut().zip(model.rigs()).zip(&state.rigs) {
            let mut kinematics = Kinematics::default();
            kinematics.update(&rig.skeleton, state);
            bones.clear();
            bones.extend(kinematics.world_frames().iter().map(|frame| frame.isometry()));
        }
    }
}

impl Frame {
    fn update_obstacles(&mut self, model: &Model, state: &State) {
        if self.obstacles.len() != model.obstacles().len() {
            let new = |obstacle: &Obstacle| FrameObstacle {
                name: obstacle.name.as_str().into(),
                is_glass: obstacle.is_glass,
                surface: obstacle.surface.clone(),
                pose: obstacle.start.pose,
            };
            self.obstacles = model.obstacles().iter().map(new).collect();
        }
        for (obstacle, state) in self.obstacles.iter_mut().zip(&state.obstacles) {
            obstacle.pose = state.pose;
        }
    }
}

impl SurfaceInfo {
    /// The constant part of a body's surface.
    pub fn of(body: &Body) -> SurfaceInfo {
        SurfaceInfo {
            name: body.name.clone(),
            triangles: body.surface.triangles.clone(),
            rest: body.surface.vertices.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect(),
        }
    }
}

/// The error of a sink.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct SinkError(pub String);

/// A receiver of all frames of a take: a window, an exporter, your own.
///
/// A sink that is dropped before `finish` leaves no file behind.
pub trait FrameSink {
    /// Called once before the first frame; `fps` is the frame rate (Hz).
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError>;
    /// Called for every frame in order, including the first.
    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError>;
    /// Called once after the last frame: only now may the output appear under its final name.
    fn finish(&mut self) -> Result<(), SinkError>;
}

/// Forwards every call to each sink.
impl<S: FrameSink> FrameSink for Vec<S> {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        self.iter_mut().try_for_each(|sink| sink.begin(surfaces, fps))
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.iter_mut().try_for_each(|sink| sink.frame(frame))
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.iter_mut().try_for_each(FrameSink::finish)
    }
}

impl<S: FrameSink + ?Sized> FrameSink for Box<S> {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        (**self).begin(surfaces, fps)
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        (**self).frame(frame)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        (**self).finish()
    }
}

impl<S: FrameSink + ?Sized> FrameSink for &mut S {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        (**self).begin(surfaces, fps)
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        (**self).frame(frame)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        (**self).finish()
    }
}
