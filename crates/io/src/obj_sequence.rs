//! Writes a take as a folder of Wavefront OBJ files, one per frame.
//!
//! `frame_0001.obj` is the first frame. Each body is one object. Vertices and faces have the order of the body's surface in every frame, so
//! that tools can match vertices by index. Materials are in `materials.mtl`, their images are `texture_NAME` beside it.

use crate::appearance::Appearance;
use crate::mtl::write_mtl;
use crate::obj_writer::ObjWriter;
use crate::texture_folder::{is_texture_name, write_textures};
use sinew_files::{AtomicFolder, MANIFEST_NAME};
use sinew_take::{Frame, FrameSink, SinkError, SurfaceInfo, check_frame, check_surfaces};
use std::io;
use std::path::PathBuf;

/// The file of the materials.
const LIBRARY: &str = "materials.mtl";
/// What the names of images begin with.
const TEXTURE_START: &str = "texture_";

/// Writes a folder of OBJ files, one per frame.
#[derive(Debug)]
pub struct ObjSequence {
    target: PathBuf,
    appearance: Appearance,
    take: Option<Take>,
}

#[derive(Debug)]
struct Take {
    folder: AtomicFolder,
    surfaces: Vec<SurfaceInfo>,
    frame_count: usize,
}

impl ObjSequence {
    /// A sequence that appears as the folder `target` at the end of the take. A folder of an earlier sequence is replaced.
    pub fn new(target: impl Into<PathBuf>) -> ObjSequence {
        ObjSequence { target: target.into(), appearance: Appearance::default(), take: None }
    }

    /// The same with materials, texture coordinates and normals.
    #[must_use]
    pub fn with_appearance(mut self, appearance: Appearance) -> ObjSequence {
        self.appearance = appearance;
        self
    }

    /// Writes materials and images, if there are any.
    fn write_materials(&self, folder: &AtomicFolder) -> io::Result<()> {
        if !self.appearance.materials.is_empty() {
            write_mtl(&self.appearance, TEXTURE_START, folder.file(LIBRARY)?)?;
        }
        write_textures(folder, &self.appearance.images, TEXTURE_START)
    }
}

impl FrameSink for ObjSequence {
    fn begin(&mut self, surfaces: &[SurfaceInfo], _fps: f64) -> Result<(), SinkError> {
        check_surfaces(surfaces)?;
        let folder = AtomicFolder::create(&self.target, is_frame_name).map_err(sink_error)?;
        self.write_materials(&folder).map_err(sink_error)?;
        self.take = Some(Take { folder, surfaces: surfaces.to_vec(), frame_count: 0 });
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let take = self.take.as_mut().ok_or_else(not_begun)?;
        check_frame(&take.surfaces, frame)?;
        take.frame_count += 1;
        let file = take.folder.file(&format!("frame_{:04}.obj", take.frame_count)).map_err(sink_error)?;
        let (surfaces, appearance) = (&take.surfaces, &self.appearance);
        ObjWriter { surfaces, appearance, first: 0, library: LIBRARY }
            .write(&frame.surfaces, &format!("{} s", frame.time), file)
            .map_err(|error| SinkError(format!("cannot write into {}: {error}", self.target.display())))
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        let take = self.take.take().ok_or_else(not_begun)?;
        take.folder.commit().map_err(sink_error)
    }
}

/// Whether a file of this name may be one of an earlier sequence.
fn is_frame_name(name: &str) -> bool {
    if matches!(name, LIBRARY | MANIFEST_NAME) {
        return true;
    }
    if name.starts_with(TEXTURE_START) {
        return is_texture_name(name);
    }
    let number = name.strip_prefix("frame_").and_then(|name| name.strip_suffix(".obj"));
    number.is_some_and(|number| number.len() >= 4 && number.bytes().all(|b| b.is_ascii_digit()))
}

fn sink_error(error: io::Error) -> SinkError {
    SinkError(error.to_string())
}

fn not_begun() -> SinkError {
    SinkError("the OBJ sequence received a frame before `begin` or after `finish`".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_obj;
    use crate::tests::names_in;

    fn two_bodies() -> (Vec<SurfaceInfo>, Frame) {
        let rest = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let info =
            |name: &str| SurfaceInfo { name: name.into(), triangles: vec![[0, 1, 2]], rest: rest.clone() };
        let second = vec![[0.1, 0.25, 1e-9], [1.0 / 3.0, 0.0, 0.0], [0.0, -7.5e8, 0.0]];
        (
            vec![info("a"), info("b c")],
            Frame { time: 0.5, surfaces: vec![rest.clone(), second], ..Frame::default() },
        )
    }

    #[test]
    fn a_frame_reads_back_bit_for_bit_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        let (infos, frame) = two_bodies();
        let mut sink = ObjSequence::new(&target);
        sink.begin(&infos, 60.0).unwrap();
        sink.frame(&frame).unwrap();
        sink.frame(&frame).unwrap();
        assert!(!target.exists());
        sink.finish().unwrap();
        assert_eq!(names_in(&target), ["frame_0001.obj", "frame_0002.obj"]);
        let mesh = read_obj(&std::fs::read(target.join("frame_0002.obj")).unwrap()).unwrap().value;
        let written: Vec<[f32; 3]> =
            mesh.vertices.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
        assert_eq!(written, frame.surfaces.concat());
        assert_eq!(mesh.triangles, [[0, 1, 2], [3, 4, 5]]);
    }

    #[test]
    fn a_dropped_sequence_leaves_nothing_and_a_bad_target_is_rejected_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let (infos, frame) = two_bodies();
        let mut sink = ObjSequence::new(folder.path().join("out"));
        sink.begin(&infos, 60.0).unwrap();
        sink.frame(&frame).unwrap();
        drop(sink);
        assert!(names_in(folder.path()).is_empty());

        std::fs::write(folder.path().join("file"), "").unwrap();
        for target in ["file", "file/out", "missing/out"] {
            assert!(ObjSequence::new(folder.path().join(target)).begin(&infos, 60.0).is_err(), "{target}");
        }
    }

    #[test]
    fn a_frame_with_other_vertex_counts_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let (infos, mut frame) = two_bodies();
        let mut sink = ObjSequence::new(folder.path().join("out"));
        assert!(sink.frame(&frame).is_err());
        sink.begin(&infos, 60.0).unwrap();
        frame.surfaces[1].pop();
        assert!(sink.frame(&frame).unwrap_err().to_string().contains("b c"));
    }
}
