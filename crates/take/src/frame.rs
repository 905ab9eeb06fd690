//! What a picture needs, and who wants it.

use sinew_math::Isometry;
use sinew_mesh::TriMesh;
use sinew_sim::{Body, Model, Obstacle, State};
use sinew_skeleton::Kinematics;
use std::sync::Arc;
use thiserror::Error;

/// The surfaces at one moment, in the order of the model's bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// When (s).
    pub time: f64,
    /// For each body the positions of its surface vertices (m).
    pub surfaces: Vec<Vec<[f32; 3]>>,
    /// For each rig where its bones stand in the world, in the order of its skeleton.
    pub bones: Vec<Vec<Isometry>>,
    /// The obstacles, in the order of the model's.
    pub obstacles: Vec<FrameObstacle>,
}

/// An obstacle at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameObstacle {
    /// Its name.
    pub name: Arc<str>,
    /// Whether pictures see through it.
    pub is_glass: bool,
    /// Its surface in its own frame (m): the same one in all frames.
    pub surface: Arc<TriMesh>,
    /// Where it is: takes points of the surface to the world.
    pub pose: Isometry,
}

/// What stays the same about one body's surface through a take.
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
    /// Becomes the picture of a state.
    pub fn update(&mut self, model: &Model, state: &State) {
        self.time = state.time;
        self.surfaces.resize(model.bodies.len(), Vec::new());
        for (surface, body) in self.surfaces.iter_mut().zip(&model.bodies) {
            surface.resize(body.surface.vertices.len(), [0.0; 3]);
            body.embedding.interpolate_f32(&state.node_x[body.nodes.clone()], surface);
        }
        self.update_obstacles(model, state);
        self.bones.resize(model.rigs.len(), Vec::new());
        for ((bones, rig), state) in self.bones.iter_mut().zip(&model.rigs).zip(&state.rigs) {
            let mut kinematics = Kinematics::default();
            kinematics.update(&rig.skeleton, state);
            bones.clear();
            bones.extend(kinematics.world_frames().iter().map(|frame| frame.isometry()));
        }
    }
}

impl Frame {
    fn update_obstacles(&mut self, model: &Model, state: &State) {
        if self.obstacles.len() != model.obstacles.len() {
            let new = |obstacle: &Obstacle| FrameObstacle {
                name: obstacle.name.as_str().into(),
                is_glass: obstacle.is_glass,
                surface: obstacle.surface.clone(),
                pose: obstacle.start.pose,
            };
            self.obstacles = model.obstacles.iter().map(new).collect();
        }
        for (obstacle, state) in self.obstacles.iter_mut().zip(&state.obstacles) {
            obstacle.pose = state.pose;
        }
    }
}

impl SurfaceInfo {
    /// What stays the same about a body.
    pub fn of(body: &Body) -> SurfaceInfo {
        SurfaceInfo {
            name: body.name.clone(),
            triangles: body.surface.triangles.clone(),
            rest: body.surface.vertices.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect(),
        }
    }
}

/// A sink could not take what it was given.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct SinkError(pub String);

/// Something that wants every frame of a take: a window, a recorder, an exporter.
///
/// Dropped before `finish`, a sink leaves nothing behind.
pub trait FrameSink {
    /// Called once, before the first frame.
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError>;
    /// Called for every frame, in order, the start included.
    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError>;
    /// Called once, after the last frame: only now may the output appear under its final name.
    fn finish(&mut self) -> Result<(), SinkError>;
}

/// Hands everything on to each of them.
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
