//! What a picture needs, and who wants it.

use thiserror::Error;

/// The surfaces at one moment, in the order of the model's bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// When (s).
    pub time: f64,
    /// For each body the positions of its surface vertices (m).
    pub surfaces: Vec<Vec<[f32; 3]>>,
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
