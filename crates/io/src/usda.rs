//! Writes a take as a USD ASCII file (`.usda`): one mesh per body, with time samples of its points.
//!
//! Blender, Houdini, Maya and usdview read it. Time codes count frames from 0. USD stores all time samples of an attribute together, so
//! frames are buffered on disk until the take ends, and one body of one frame is in memory at a time. Numbers read back bit for bit. Axes are
//! those of the frames, and the file states the up axis.

use crate::Up;
use crate::distinct_names::identifiers;
use crate::frame_spill::{FrameSpill, SpilledFrames};
use rayon::prelude::*;
use sinew_files::AtomicFile;
use sinew_files::signature::WRITTEN_BY;
use sinew_take::{
    Frame, FrameSink, SinkError, SurfaceInfo, body_color, check_frame, check_time, check_written_rest,
};
use std::io::{self, Write};
use std::path::PathBuf;

/// Writes a USD ASCII file.
#[derive(Debug)]
pub struct UsdaSink {
    target: PathBuf,
    up: Up,
    take: Option<Take>,
}

#[derive(Debug)]
struct Take {
    file: AtomicFile,
    surfaces: Vec<SurfaceInfo>,
    spill: FrameSpill,
    fps: f64,
    last_time: Option<f64>,
}

impl UsdaSink {
    /// A file that appears as `target` at the end of the take; `up` is the up axis of the frames.
    pub fn new(target: impl Into<PathBuf>, up: Up) -> UsdaSink {
        UsdaSink { target: target.into(), up, take: None }
    }

    /// The name of the root prim: that of the file.
    fn root_name(&self) -> String {
        let stem = self.target.file_stem().unwrap_or_default().to_string_lossy();
        identifiers([stem.as_ref()]).remove(0)
    }
}

impl FrameSink for UsdaSink {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        check_written_rest(surfaces)?;
        if !(fps.is_finite() && fps > 0.0) {
            return Err(SinkError(format!("the frame rate is {fps}: it must be finite and above 0")));
        }
        let file = AtomicFile::create(&self.target).map_err(sink_error)?;
        let spill = FrameSpill::create(&self.target, surfaces).map_err(sink_error)?;
        self.take = Some(Take { file, surfaces: surfaces.to_vec(), spill, fps, last_time: None });
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let take = self.take.as_mut().ok_or_else(not_begun)?;
        check_frame(&take.surfaces, frame)?;
        check_time(take.last_time, frame.time)?;
        take.last_time = Some(frame.time);
        take.spill.push(frame).map_err(sink_error)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        let Take { mut file, surfaces, spill, fps, .. } = self.take.take().ok_or_else(not_begun)?;
        let root = self.root_name();
        let write = || {
            let mut frames = spill.into_frames()?;
            write_head(&mut file, &root, self.up, fps, frames.count())?;
            let names = identifiers(surfaces.iter().map(|surface| surface.name.as_str()));
            for (index, (surface, name)) in surfaces.iter().zip(&names).enumerate() {
                write_mesh(&mut file, &Body { index, surface, name }, &mut frames)?;
            }
            file.write_all(b"}\n")
        };
        write().and_then(|()| file.commit()).map_err(sink_error)
    }
}

struct Body<'a> {
    /// Its index in the scene.
    index: usize,
    surface: &'a SurfaceInfo,
    /// Its identifier.
    name: &'a str,
}

fn write_head(file: &mut AtomicFile, root: &str, up: Up, fps: f64, frame_count: usize) -> io::Result<()> {
    let end = frame_count.saturating_sub(1);
    let up = match up {
        Up::Y => "Y",
        Up::Z => "Z",
    };
    write!(
        file,
        r#"#usda 1.0
(
    defaultPrim = "{root}"
    doc = "{WRITTEN_BY}"
    endTimeCode = {end}
    framesPerSecond = {fps}
    metersPerUnit = 1
    startTimeCode = 0
    timeCodesPerSecond = {fps}
    upAxis = "{up}"
)

def Xform "{root}" (
    kind = "component"
)
{{
"#
    )
}

fn write_mesh(file: &mut AtomicFile, body: &Body, frames: &mut SpilledFrames) -> io::Result<()> {
    // the prim
    let Body { index, surface, name } = *body;
    let own_name = quoted(&surface.name);
    write!(
        file,
        r#"    def Mesh "{name}" (
        customData = {{
            string name = {own_name}
        }}
    )
    {{
        uniform bool doubleSided = 1
        uniform token orientation = "rightHanded"
        uniform token subdivisionScheme = "none"
"#
    )?;

    // colour and topology
    let (color, triangles) = (point_list(&[body_color(index)]), &surface.triangles);
    write!(
        file,
        r#"        color3f[] primvars:displayColor = {color} (
            interpolation = "constant"
        )
        int[] faceVertexCounts = {}
        int[] faceVertexIndices = {}
"#,
        list(triangles, |_| "3".into()),
        list(triangles, |[a, b, c]| format!("{a}, {b}, {c}"))
    )?;

    // what moves
    write_samples(file, "float3[] extent", body, frames, |points| point_list(&extent(points)))?;
    write_samples(file, "point3f[] points", body, frames, point_list)?;
    writeln!(file, "    }}")
}

/// Writes an attribute computed from the points: its value at rest and in every frame.
fn write_samples(
    file: &mut AtomicFile,
    attribute: &str,
    body: &Body,
    frames: &mut SpilledFrames,
    value: fn(&[[f32; 3]]) -> String,
) -> io::Result<()> {
    writeln!(file, "        {attribute} = {}", value(&body.surface.rest))?;
    if frames.count() == 0 {
        return Ok(());
    }
    writeln!(file, "        {attribute}.timeSamples = {{")?;
    let mut points = Vec::new();
    for frame in 0..frames.count() {
        frames.read(frame, body.index, &mut points)?;
        writeln!(file, "            {frame}: {},", value(&points))?;
    }
    writeln!(file, "        }}")
}

/// Points as `[(x, y, z), …]`, in the fewest digits that read back bit for bit. Each number has a decimal point or an exponent: `-0` would be
/// read as an integer and lose its sign.
fn point_list(points: &[[f32; 3]]) -> String {
    list(points, |[x, y, z]| format!("({x:?}, {y:?}, {z:?})"))
}

/// Items as `[a, b, …]`, formatted in parallel: formatting takes most of the time of this sink.
fn list<T: Sync>(items: &[T], text: fn(&T) -> String) -> String {
    let joined = |items: &[T]| items.iter().map(text).collect::<Vec<_>>().join(", ");
    let parts: Vec<String> = items.par_chunks(1024).map(joined).collect();
    format!("[{}]", parts.join(", "))
}

/// The bounding box of points (m).
fn extent(points: &[[f32; 3]]) -> [[f32; 3]; 2] {
    let Some(&first) = points.first() else { return [[0.0; 3]; 2] };
    points.iter().fold([first; 2], |[low, high], point| {
        [[0, 1, 2].map(|i| low[i].min(point[i])), [0, 1, 2].map(|i| high[i].max(point[i]))]
    })
}

/// A USD string; control characters become spaces.
fn quoted(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}

fn sink_error(error: io::Error) -> SinkError {
    SinkError(error.to_string())
}

fn not_begun() -> SinkError {
    SinkError("the USD file received a frame before `begin` or after `finish`".into())
}
