//! Writes a take as a USD ASCII file (`.usda`): one mesh per body, with time samples of its points and normals, texture coordinates and
//! `UsdPreviewSurface` materials, whose images are in `NAME-textures`.
//!
//! Blender, Houdini, Maya and usdview read it. Time codes count frames from 0. USD stores all time samples of an attribute together, so
//! frames are buffered on disk until the take ends, and one body of one frame is in memory at a time. Numbers read back bit for bit. Axes are
//! those of the frames, and the file states the up axis.

mod material;
mod mesh;
mod text;

use crate::Up;
use crate::appearance::Appearance;
use crate::distinct_names::identifiers;
use crate::frame_spill::FrameSpill;
use crate::texture_folder::TextureFolder;
use material::StageMaterials;
use mesh::MeshPrim;
use sinew_files::AtomicFile;
use sinew_files::signature::WRITTEN_BY;
use sinew_take::{Frame, FrameSink, SinkError, SurfaceInfo, check_frame, check_time, check_written_rest};
use std::io::{self, Write};
use std::path::PathBuf;

/// Writes a USD ASCII file.
#[derive(Debug)]
pub struct UsdaSink {
    target: PathBuf,
    up: Up,
    appearance: Appearance,
    take: Option<Take>,
}

#[derive(Debug)]
struct Take {
    file: AtomicFile,
    textures: Option<TextureFolder>,
    surfaces: Vec<SurfaceInfo>,
    spill: FrameSpill,
    fps: f64,
    last_time: Option<f64>,
}

impl UsdaSink {
    /// A file that appears as `target` at the end of the take; `up` is the up axis of the frames.
    pub fn new(target: impl Into<PathBuf>, up: Up) -> UsdaSink {
        UsdaSink { target: target.into(), up, appearance: Appearance::default(), take: None }
    }

    /// The same with materials, texture coordinates and the creases of the surfaces.
    #[must_use]
    pub fn with_appearance(mut self, appearance: Appearance) -> UsdaSink {
        self.appearance = appearance;
        self
    }

    /// The stage, and the folder of its images if there are any.
    pub fn files(&self) -> Vec<PathBuf> {
        let textures = (!self.appearance.images.is_empty()).then(|| TextureFolder::path(&self.target));
        [self.target.clone()].into_iter().chain(textures).collect()
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
        let textures = TextureFolder::create(&self.target, &self.appearance.images).map_err(sink_error)?;
        self.take = Some(Take { file, textures, surfaces: surfaces.to_vec(), spill, fps, last_time: None });
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
        let mut take = self.take.take().ok_or_else(not_begun)?;
        let textures = take.textures.take();
        let file = self.write(take).map_err(sink_error)?;
        textures.map_or(Ok(()), TextureFolder::commit).and_then(|()| file.commit()).map_err(sink_error)
    }
}

impl UsdaSink {
    /// Writes all of the stage.
    fn write(&self, take: Take) -> io::Result<AtomicFile> {
        // names
        let Take { mut file, surfaces, spill, fps, .. } = take;
        let root = self.root_name();
        let names = identifiers(surfaces.iter().map(|surface| surface.name.as_str()));
        let mut scope = "Materials".to_owned();
        while names.iter().any(|name| name.eq_ignore_ascii_case(&scope)) {
            scope.push('_');
        }
        let folder = TextureFolder::path(&self.target);
        let folder = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let materials = StageMaterials::new(&self.appearance, format!("/{root}/{scope}"), folder);

        // prims
        let mut frames = spill.into_frames()?;
        write_head(&mut file, &root, self.up, fps, frames.count())?;
        file.write_all(materials.text().as_bytes())?;
        for (index, (surface, name)) in surfaces.iter().zip(&names).enumerate() {
            let (appearance, materials) = (&self.appearance, &materials);
            MeshPrim { index, surface, name, appearance, materials }.write(&mut frames, &mut file)?;
        }
        file.write_all(b"}\n")?;
        Ok(file)
    }
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

fn sink_error(error: io::Error) -> SinkError {
    SinkError(error.to_string())
}

fn not_begun() -> SinkError {
    SinkError("the USD file received a frame before `begin` or after `finish`".into())
}
