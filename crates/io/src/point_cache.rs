//! Writes and reads point caches (PC2, MDD): the position of every vertex in every frame, for a mesh that the user already has.
//!
//! A cache holds one body. A take of one body is written as `NAME.pc2` (or `.mdd`) and the body's surface at rest, `NAME-rest.obj`, with the
//! same vertex order and the same axes. Of several bodies, each is written as `NAME-BODY.pc2` and `NAME-BODY-rest.obj`. The headers state the
//! number of frames, so frames are buffered on disk until the take ends. Surfaces with an appearance have texture coordinates, normals and
//! materials (`NAME-rest.mtl`), with images in `NAME-textures`.

mod mdd;
mod pc2;
mod samples;

pub use mdd::{Mdd, read_mdd};
pub use pc2::{Pc2, read_pc2};
pub use samples::PointSamples;

use crate::appearance::Appearance;
use crate::distinct_names::file_names;
use crate::frame_spill::{FrameSpill, SpilledFrames};
use crate::mtl::write_mtl;
use crate::obj_writer::ObjWriter;
use crate::texture_folder::TextureFolder;
use sinew_files::AtomicFile;
use sinew_take::{
    Frame, FrameSink, SinkError, SurfaceInfo, check_frame, check_time, check_written_rest, signed_count,
};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The format of a point cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointCacheFormat {
    /// PC2 of 3ds Max and Blender: little-endian, one sample per frame from frame 0.
    Pc2,
    /// MDD of LightWave, Blender and others: big-endian, a time for each frame (s).
    Mdd,
}

/// Writes a point cache for each body, and its surface at rest as OBJ.
#[derive(Debug)]
pub struct PointCacheSink {
    target: PathBuf,
    format: PointCacheFormat,
    appearance: Appearance,
    take: Option<Take>,
}

#[derive(Debug)]
struct Take {
    surfaces: Vec<SurfaceInfo>,
    caches: Vec<AtomicFile>,
    rests: Vec<AtomicFile>,
    /// The materials of the surfaces at rest.
    library: Option<AtomicFile>,
    textures: Option<TextureFolder>,
    spill: FrameSpill,
    times: Vec<f64>,
}

/// The contents of a header.
struct Head<'a> {
    point_count: i32,
    frame_count: i32,
    times: &'a [f64],
}

impl PointCacheSink {
    /// A sink whose cache appears as `target`, or under longer names beside it if there are several bodies.
    pub fn new(target: impl Into<PathBuf>, format: PointCacheFormat) -> PointCacheSink {
        PointCacheSink { target: target.into(), format, appearance: Appearance::default(), take: None }
    }

    /// The same with materials, texture coordinates and normals for the surfaces at rest.
    #[must_use]
    pub fn with_appearance(mut self, appearance: Appearance) -> PointCacheSink {
        self.appearance = appearance;
        self
    }

    /// The files of a take with these bodies: all caches, then all surfaces at rest, their materials and the folder of their images.
    pub fn files<'a>(&self, bodies: impl IntoIterator<Item = &'a str>) -> Vec<PathBuf> {
        let mut caches: Vec<PathBuf> = file_names(bodies)
            .iter()
            .map(|name| with_name_end(&self.target, &format!("-{name}"), self.target.extension()))
            .collect();
        if let [cache] = caches.as_mut_slice() {
            cache.clone_from(&self.target);
        }
        let obj = OsString::from("obj");
        let rests: Vec<PathBuf> =
            caches.iter().map(|cache| with_name_end(cache, "-rest", Some(&obj))).collect();
        let library = (!self.appearance.materials.is_empty()).then(|| self.library());
        let textures = (!self.appearance.images.is_empty()).then(|| TextureFolder::path(&self.target));
        caches.into_iter().chain(rests).chain(library).chain(textures).collect()
    }

    /// The file of the materials.
    fn library(&self) -> PathBuf {
        with_name_end(&self.target, "-rest", Some(std::ffi::OsStr::new("mtl")))
    }

    fn start(&self, surfaces: &[SurfaceInfo]) -> Result<Take, SinkError> {
        check_written_rest(surfaces)?;
        if surfaces.is_empty() {
            let target = self.target.display();
            return Err(SinkError(format!(
                "{target} cannot be written: the scene has no body for a point cache"
            )));
        }
        // the files
        let files = self.files(surfaces.iter().map(|surface| surface.name.as_str()));
        let create = |file: &PathBuf| AtomicFile::create(file).map_err(sink_error);
        let mut caches = files[..2 * surfaces.len()].iter().map(create).collect::<Result<Vec<_>, _>>()?;
        let mut rests = caches.split_off(surfaces.len());
        let spill = FrameSpill::create(&self.target, surfaces).map_err(sink_error)?;

        // all but the caches
        for (index, rest) in rests.iter_mut().enumerate() {
            self.write_rest(surfaces, index, rest).map_err(sink_error)?;
        }
        let library = self.write_library().map_err(sink_error)?;
        let textures = TextureFolder::create(&self.target, &self.appearance.images).map_err(sink_error)?;
        Ok(Take { surfaces: surfaces.to_vec(), caches, rests, library, textures, spill, times: Vec::new() })
    }

    /// Writes a surface at rest.
    fn write_rest(&self, surfaces: &[SurfaceInfo], index: usize, file: &mut AtomicFile) -> io::Result<()> {
        let library = self.library();
        let library = library.file_name().unwrap_or_default().to_string_lossy();
        let surfaces = &surfaces[index..=index];
        ObjWriter { surfaces, appearance: &self.appearance, first: index, library: &library }.write(
            &[&surfaces[0].rest],
            "at rest, with the vertex order of the point cache",
            file,
        )
    }

    /// Writes the materials, if there are any.
    fn write_library(&self) -> io::Result<Option<AtomicFile>> {
        if self.appearance.materials.is_empty() {
            return Ok(None);
        }
        let mut file = AtomicFile::create(&self.library())?;
        let folder = TextureFolder::path(&self.target);
        let folder = folder.file_name().unwrap_or_default().to_string_lossy();
        write_mtl(&self.appearance, &format!("{folder}/"), &mut file)?;
        Ok(Some(file))
    }
}

impl FrameSink for PointCacheSink {
    fn begin(&mut self, surfaces: &[SurfaceInfo], _fps: f64) -> Result<(), SinkError> {
        self.take = Some(self.start(surfaces)?);
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let take = self.take.as_mut().ok_or_else(not_begun)?;
        check_frame(&take.surfaces, frame)?;
        check_time(take.times.last().copied(), frame.time)?;
        signed_count(take.times.len() + 1, "frames")?;
        take.times.push(frame.time);
        take.spill.push(frame).map_err(sink_error)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        let take = self.take.take().ok_or_else(not_begun)?;
        let Take { surfaces, mut caches, rests, library, textures, spill, times } = take;
        let mut frames = spill.into_frames().map_err(sink_error)?;
        let frame_count = signed_count(frames.count(), "frames")?;
        for (body, (surface, cache)) in surfaces.iter().zip(&mut caches).enumerate() {
            let point_count = signed_count(surface.rest.len(), "vertices")?;
            let head = Head { point_count, frame_count, times: &times };
            write_cache(self.format, &head, &mut frames, body, cache).map_err(sink_error)?;
        }
        textures.map_or(Ok(()), TextureFolder::commit).map_err(sink_error)?;
        AtomicFile::commit_all(caches.into_iter().chain(rests).chain(library)).map_err(sink_error)
    }
}

/// Writes all frames of one body.
fn write_cache(
    format: PointCacheFormat,
    head: &Head,
    frames: &mut SpilledFrames,
    body: usize,
    file: &mut AtomicFile,
) -> io::Result<()> {
    let to_bytes = match format {
        PointCacheFormat::Pc2 => {
            file.write_all(&pc2::header(head))?;
            f32::to_le_bytes
        }
        PointCacheFormat::Mdd => {
            file.write_all(&mdd::header(head))?;
            f32::to_be_bytes
        }
    };
    let (mut positions, mut bytes) = (Vec::new(), Vec::new());
    for frame in 0..frames.count() {
        frames.read(frame, body, &mut positions)?;
        bytes.clear();
        bytes.extend(positions.as_flattened().iter().flat_map(|x| to_bytes(*x)));
        file.write_all(&bytes)?;
    }
    Ok(())
}

/// The path with `end` appended to its file stem, and an extension.
fn with_name_end(path: &Path, end: &str, extension: Option<&std::ffi::OsStr>) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(end);
    if let Some(extension) = extension {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

fn sink_error(error: io::Error) -> SinkError {
    SinkError(error.to_string())
}

fn not_begun() -> SinkError {
    SinkError("the point cache received a frame before `begin` or after `finish`".into())
}
