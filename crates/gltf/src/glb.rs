//! A take as one GLB of morphing surfaces, which any glTF viewer plays.
//!
//! Each body is a mesh with a few morph targets, the principal components of its motion, and one
//! animation of their weights. As few are kept as meet a stated error, measured at every vertex of every
//! frame. Rigid motion costs components like any other: a body that turns by 180° takes more of them.
//! Frames stay in memory until the end, within a stated bound.

mod normals;
mod take_document;

use crate::components::{
    Components, Effort, Fitted, add_scaled, mean_shape, to_unit_shapes, to_unit_weights,
};
use normals::Normals;
use sinew_files::AtomicFile;
use sinew_take::{
    Frame, FrameSink, SinkError, Smoothing, SurfaceInfo, Up, check_frame, check_surfaces, check_time,
};
use std::fmt;
use std::path::PathBuf;
use take_document::{Body, TakeDocument};

/// Some phones and engines lose a mesh with more morph targets.
const COMPONENT_CEILING: usize = 240;

/// How a GLB is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GlbOptions {
    /// The largest error allowed at any vertex in any frame, as a fraction of the body's longest side.
    pub error_fraction: f64,
    /// The most morph targets per body; never more than 240 are written.
    pub component_limit: usize,
    /// The most memory for frames (bytes).
    pub memory_limit: usize,
    /// How many frames will come, if known: then a take that does not fit is refused at the start.
    pub frame_count: Option<usize>,
    /// The axis that points up in the frames; glTF's is y.
    pub up: Up,
}

impl Default for GlbOptions {
    fn default() -> Self {
        let (error_fraction, component_limit, memory_limit) = (1e-3, 64, 2 << 30);
        GlbOptions { error_fraction, component_limit, memory_limit, frame_count: None, up: Up::Y }
    }
}

/// What a GLB holds and how true it is.
#[derive(Clone, Debug, PartialEq)]
pub struct GlbReport {
    /// One entry per body that has a surface.
    pub bodies: Vec<GlbBodyReport>,
    /// The size of the file (bytes).
    pub bytes: u64,
}

/// How one body was compressed.
#[derive(Clone, Debug, PartialEq)]
pub struct GlbBodyReport {
    /// The body's name.
    pub name: String,
    /// Its number of morph targets.
    pub components: usize,
    /// The largest distance between a vertex of any frame and the same vertex as played (m).
    pub largest_error: f64,
    /// The error that was asked for (m); the limit on components may have kept it from being met.
    pub allowed_error: f64,
}

impl GlbBodyReport {
    /// Whether the error asked for was met.
    pub fn is_met(&self) -> bool {
        self.largest_error <= self.allowed_error
    }
}

impl fmt::Display for GlbBodyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GlbBodyReport { name, components, largest_error, allowed_error } = self;
        let (largest, allowed) = (1e3 * largest_error, 1e3 * allowed_error);
        write!(f, "{name}: {components} morph targets, largest error {largest:.3} mm")?;
        if self.is_met() {
            return Ok(());
        }
        write!(
            f,
            " where {allowed:.3} mm were asked for: allow more with --morph-targets or play less of it; .pc2, .mdd and .usda lose nothing"
        )
    }
}

/// Writes one GLB file.
#[derive(Debug)]
pub struct GlbSink {
    target: PathBuf,
    options: GlbOptions,
    take: Option<Take>,
    report: Option<GlbReport>,
}

#[derive(Debug)]
struct Take {
    file: AtomicFile,
    surfaces: Vec<SurfaceInfo>,
    times: Vec<f64>,
    /// For each body its frames.
    frames: Vec<Vec<Vec<[f32; 3]>>>,
    frame_bytes: usize,
}

impl GlbSink {
    /// A file that will appear as `target`.
    pub fn new(target: impl Into<PathBuf>, options: GlbOptions) -> GlbSink {
        GlbSink { target: target.into(), options, take: None, report: None }
    }

    /// What was written; `None` before `finish`.
    pub fn report(&self) -> Option<&GlbReport> {
        self.report.as_ref()
    }

    fn check_memory(&self, frame_count: usize, frame_bytes: usize) -> Result<(), SinkError> {
        let limit = self.options.memory_limit;
        if frame_count.saturating_mul(frame_bytes) <= limit {
            return Ok(());
        }
        let fits = limit / frame_bytes.max(1);
        Err(SinkError(format!(
            "{frame_count} frames of {frame_bytes} bytes are more than the {limit} bytes kept for a GLB: \
             write at most {fits} frames, or an OBJ sequence, which keeps none"
        )))
    }
}

impl FrameSink for GlbSink {
    fn begin(&mut self, surfaces: &[SurfaceInfo], _fps: f64) -> Result<(), SinkError> {
        check_surfaces(surfaces)?;
        let frame_bytes = surfaces.iter().map(|surface| size_of_val(surface.rest.as_slice())).sum();
        self.check_memory(self.options.frame_count.unwrap_or(1), frame_bytes)?;
        let file = AtomicFile::create(&self.target).map_err(|error| SinkError(error.to_string()))?;
        let frames = vec![Vec::new(); surfaces.len()];
        self.take = Some(Take { file, surfaces: surfaces.to_vec(), times: Vec::new(), frames, frame_bytes });
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let take = self.take.as_ref().ok_or_else(not_begun)?;
        check_frame(&take.surfaces, frame)?;
        self.check_memory(take.times.len() + 1, take.frame_bytes)?;
        check_time(take.times.last().copied(), frame.time)?;
        let take = self.take.as_mut().ok_or_else(not_begun)?;
        take.times.push(frame.time);
        take.frames
            .iter_mut()
            .zip(&frame.surfaces)
            .for_each(|(frames, surface)| frames.push(surface.clone()));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        // every body with its components
        let Take { mut file, surfaces, times, frames, .. } = self.take.take().ok_or_else(not_begun)?;
        let limit = self.options.component_limit.min(COMPONENT_CEILING);
        let mut document = TakeDocument::new(self.options.up, &times);
        let mut bodies = Vec::new();
        for (index, (surface, mut frames)) in surfaces.iter().zip(frames).enumerate() {
            if surface.triangles.is_empty() {
                continue;
            }
            if frames.is_empty() {
                frames.push(surface.rest.clone());
            }
            let allowed_error = self.options.error_fraction * longest_side(&surface.rest);
            let memory = self.options.memory_limit;
            let effort = Effort { allowed: allowed_error, limit, memory, fitted: Fitted::Largest };
            let mut components = Components::find(&frames, mean_shape(&frames), effort)
                .map_err(|error| SinkError(format!("`{}` cannot be compressed: {error}", surface.name)))?;
            let ranges = to_unit_weights(&mut components.weights);
            let always = to_unit_shapes(&ranges, &mut components.deltas);
            add_scaled(1.0, always.as_flattened(), components.base.as_flattened_mut());
            // after that, so that those of the base keep their length
            let normals = Normals::fit(&components, &frames, &Smoothing::of(surface));
            drop(frames);
            bodies.push(GlbBodyReport {
                name: surface.name.clone(),
                components: components.deltas.len(),
                largest_error: components.largest_error,
                allowed_error,
            });
            document.add_body(Body { index, surface, components: &components, normals: &normals });
        }

        // the file
        let bytes = document.write(&mut file)?;
        file.commit().map_err(|error| SinkError(error.to_string()))?;
        self.report = Some(GlbReport { bodies, bytes });
        Ok(())
    }
}

fn longest_side(points: &[[f32; 3]]) -> f64 {
    let side = |axis: usize| {
        let fold = |start: f32, pick: fn(f32, f32) -> f32| points.iter().map(|p| p[axis]).fold(start, pick);
        f64::from(fold(f32::NEG_INFINITY, f32::max)) - f64::from(fold(f32::INFINITY, f32::min))
    };
    if points.is_empty() { 0.0 } else { side(0).max(side(1)).max(side(2)) }
}

fn not_begun() -> SinkError {
    SinkError("the GLB was given a frame outside of begin and finish".into())
}
