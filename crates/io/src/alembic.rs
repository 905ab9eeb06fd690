//! Writes a take as an Alembic archive (`.abc`, Ogawa): one polygon mesh per body, with points and normals for every frame.
//!
//! Blender, Houdini, Maya, Unreal and Unity read it. Y is up, as is usual there. Frames are written as they come; the tables that tell
//! where they are follow at the end. Alembic has no materials. Layouts are those of the Ogawa backend of Alembic 1.8, version 0 of its files.

mod mesh;
mod object;
mod ogawa;
mod property;

use crate::Up;
use crate::appearance::Appearance;
use crate::distinct_names::file_names;
use mesh::PolyMesh;
use object::Object;
use ogawa::{Child, OgawaWriter};
use property::MetadataTable;
use sinew_files::signature::{PROGRAM, WRITTEN_BY};
use sinew_take::{
    Frame, FrameSink, SinkError, Smoothing, SurfaceInfo, check_frame, check_time, check_written_rest,
};
use std::io;
use std::path::PathBuf;

/// The version of the layout, and that of the library whose layout it is.
const FILE_VERSION: i32 = 0;
const LIBRARY_VERSION: i32 = 10_800;

/// Writes an Alembic archive.
pub struct AlembicSink {
    target: PathBuf,
    up: Up,
    appearance: Appearance,
    take: Option<Take>,
}

struct Take {
    writer: OgawaWriter,
    surfaces: Vec<SurfaceInfo>,
    meshes: Vec<PolyMesh>,
    description: Child,
    fps: f64,
    first_time: Option<f64>,
    last_time: Option<f64>,
    frame_count: u32,
}

impl AlembicSink {
    /// A file that appears as `target` at the end of the take; `up` is the up axis of the frames.
    pub fn new(target: impl Into<PathBuf>, up: Up) -> AlembicSink {
        AlembicSink { target: target.into(), up, appearance: Appearance::default(), take: None }
    }

    /// The same with texture coordinates and the creases of the surfaces.
    #[must_use]
    pub fn with_appearance(mut self, appearance: Appearance) -> AlembicSink {
        self.appearance = appearance;
        self
    }

    fn start(&self, surfaces: &[SurfaceInfo], fps: f64) -> io::Result<Take> {
        let mut writer = OgawaWriter::create(&self.target)?;
        // near the start, where the signature is looked for
        let description = format!("DCC_FPS={fps};_ai_Application={PROGRAM};_ai_Description={WRITTEN_BY}");
        let description = writer.data(&[description.as_bytes()])?;
        let mut meshes = Vec::new();
        for (index, surface) in surfaces.iter().enumerate() {
            meshes.push(PolyMesh::begin(surface, self.appearance.surface(index), &mut writer)?);
        }
        let surfaces = surfaces.to_vec();
        let (first_time, last_time, frame_count) = (None, None, 0);
        Ok(Take { writer, surfaces, meshes, description, fps, first_time, last_time, frame_count })
    }
}

impl FrameSink for AlembicSink {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        check_written_rest(surfaces)?;
        if !(fps.is_finite() && fps > 0.0) {
            return Err(SinkError(format!("the frame rate is {fps}: it must be finite and above 0")));
        }
        self.take = Some(self.start(surfaces, fps).map_err(sink_error)?);
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let take = self.take.as_mut().ok_or_else(not_begun)?;
        check_frame(&take.surfaces, frame)?;
        check_time(take.last_time, frame.time)?;
        take.last_time = Some(frame.time);
        take.first_time.get_or_insert(frame.time);
        take.frame(&frame.surfaces, self.up, &self.appearance).map_err(sink_error)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        let mut take = self.take.take().ok_or_else(not_begun)?;
        if take.frame_count == 0 {
            let rest: Vec<_> = take.surfaces.iter().map(|surface| surface.rest.clone()).collect();
            take.frame(&rest, self.up, &self.appearance).map_err(sink_error)?;
        }
        take.finish().map_err(sink_error)
    }
}

impl Take {
    fn frame(&mut self, surfaces: &[Vec<[f32; 3]>], up: Up, appearance: &Appearance) -> io::Result<()> {
        for (index, (mesh, points)) in self.meshes.iter_mut().zip(surfaces).enumerate() {
            let smoothing =
                Smoothing::with_creases(&self.surfaces[index], &appearance.surface(index).normals);
            let points: Vec<[f32; 3]> = points.iter().map(|point| y_up(*point, up)).collect();
            mesh.frame(&points, &smoothing, &mut self.writer)?;
        }
        self.frame_count += 1;
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        // objects
        let Take { mut writer, surfaces, meshes, description, fps, first_time, frame_count, .. } = self;
        let mut table = MetadataTable::default();
        let names = file_names(surfaces.iter().map(|surface| surface.name.as_str()));
        let mut objects = Vec::new();
        for (mesh, name) in meshes.into_iter().zip(&names) {
            objects.push(mesh.finish(name, &mut table, &mut writer)?);
        }
        let (name, children) = ("ABC".to_owned(), &objects[..]);
        let top = Object { name, metadata: "", properties: &[], children, hash: 0 }
            .write(&mut table, &mut writer)?;

        // time: once for what stays the same, then every frame
        let sampling = |samples: u32, cycle: f64, start: f64| {
            [&samples.to_le_bytes()[..], &cycle.to_le_bytes(), &1_u32.to_le_bytes(), &start.to_le_bytes()]
                .concat()
        };
        let once = sampling(1, 1.0, 0.0);
        let frames = sampling(frame_count, 1.0 / fps, first_time.unwrap_or(0.0));

        // the root
        let version = writer.data(&[&FILE_VERSION.to_le_bytes()])?;
        let library = writer.data(&[&LIBRARY_VERSION.to_le_bytes()])?;
        let times = writer.data(&[&once, &frames])?;
        let metadata = writer.data(&[&table.bytes()])?;
        let root = writer.group(&[version, library, top.group(), description, times, metadata])?;
        writer.finish(root)?.commit()
    }
}

fn y_up([x, y, z]: [f32; 3], up: Up) -> [f32; 3] {
    match up {
        Up::Y => [x, y, z],
        Up::Z => [x, z, -y],
    }
}

fn sink_error(error: io::Error) -> SinkError {
    SinkError(error.to_string())
}

fn not_begun() -> SinkError {
    SinkError("the Alembic archive received a frame before `begin` or after `finish`".into())
}
