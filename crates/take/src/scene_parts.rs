//! A selection of the bodies and rigs of a scene, for sinks that write them apart from the others.

use crate::{Frame, FrameSink, SinkError, SurfaceInfo};
use sinew_sim::Model;

/// Some bodies and rigs of a scene, by their indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SceneParts {
    /// The bodies, in increasing order.
    pub bodies: Vec<usize>,
    /// The rigs, in increasing order.
    pub rigs: Vec<usize>,
}

impl SceneParts {
    /// All bodies and rigs of a model.
    pub fn all(model: &Model) -> SceneParts {
        SceneParts { bodies: (0..model.bodies().len()).collect(), rigs: (0..model.rigs().len()).collect() }
    }

    /// The surfaces of the selected bodies, out of those of all bodies.
    pub fn surfaces(&self, all: &[SurfaceInfo]) -> Vec<SurfaceInfo> {
        self.bodies.iter().filter_map(|body| all.get(*body)).cloned().collect()
    }

    /// The part of a frame that belongs to the selected bodies and rigs; obstacles are left out.
    pub fn frame(&self, frame: &Frame) -> Frame {
        Frame {
            time: frame.time,
            surfaces: self.bodies.iter().filter_map(|body| frame.surfaces.get(*body)).cloned().collect(),
            bones: self.rigs.iter().filter_map(|rig| frame.bones.get(*rig)).cloned().collect(),
            obstacles: Vec::new(),
        }
    }
}

/// Hands the selected bodies and rigs of every frame on to a sink.
#[derive(Debug)]
pub struct PartsSink<S> {
    parts: SceneParts,
    sink: S,
}

impl<S: FrameSink> PartsSink<S> {
    /// Hands `parts` of every frame on to `sink`.
    pub fn new(parts: SceneParts, sink: S) -> PartsSink<S> {
        PartsSink { parts, sink }
    }

    /// The sink that receives the parts.
    pub fn sink(&self) -> &S {
        &self.sink
    }
}

impl<S: FrameSink> FrameSink for PartsSink<S> {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        self.sink.begin(&self.parts.surfaces(surfaces), fps)
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.sink.frame(&self.parts.frame(frame))
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.sink.finish()
    }
}
