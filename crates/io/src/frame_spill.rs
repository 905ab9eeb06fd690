//! Buffers frames in a temporary file, for formats that state the number of frames first or store all frames of one body together.
//!
//! The file is on the disk of the target and has no name, so that the system removes it however the program ends. Only one body of one
//! frame is in memory at a time.

use sinew_files::{parent_of, refused};
use sinew_take::{Frame, SurfaceInfo};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const POSITION_BYTES: usize = 12;

/// Writes frames that all have the same bodies and vertex counts.
#[derive(Debug)]
pub(crate) struct FrameSpill {
    writer: BufWriter<File>,
    layout: Layout,
    bytes: Vec<u8>,
}

/// Reads written frames in any order.
pub(crate) struct SpilledFrames {
    file: File,
    layout: Layout,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Layout {
    /// The output file, named in errors.
    target: PathBuf,
    /// The number of vertices of each body.
    counts: Vec<usize>,
    frame_count: usize,
}

impl FrameSpill {
    /// An empty buffer in the folder of the target.
    pub(crate) fn create(target: &Path, surfaces: &[SurfaceInfo]) -> io::Result<FrameSpill> {
        let file = tempfile::tempfile_in(parent_of(target)?).map_err(|error| refused(target, &error))?;
        let counts = surfaces.iter().map(|surface| surface.rest.len()).collect();
        let layout = Layout { target: target.to_owned(), counts, frame_count: 0 };
        Ok(FrameSpill { writer: BufWriter::with_capacity(1 << 18, file), layout, bytes: Vec::new() })
    }

    /// Appends a frame, whose vertex counts the caller has checked.
    pub(crate) fn push(&mut self, frame: &Frame) -> io::Result<()> {
        for positions in &frame.surfaces {
            self.bytes.clear();
            self.bytes.extend(positions.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
            self.writer.write_all(&self.bytes).map_err(|error| refused(&self.layout.target, &error))?;
        }
        self.layout.frame_count += 1;
        Ok(())
    }

    /// Ends writing and begins reading.
    pub(crate) fn into_frames(self) -> io::Result<SpilledFrames> {
        let FrameSpill { writer, layout, bytes } = self;
        let file = writer.into_inner().map_err(|error| refused(&layout.target, error.error()))?;
        Ok(SpilledFrames { file, layout, bytes })
    }
}

impl SpilledFrames {
    /// The number of frames.
    pub(crate) fn count(&self) -> usize {
        self.layout.frame_count
    }

    /// Reads one body of one frame into `positions`, which is resized to its vertex count.
    pub(crate) fn read(
        &mut self,
        frame: usize,
        body: usize,
        positions: &mut Vec<[f32; 3]>,
    ) -> io::Result<()> {
        let Layout { target, counts, .. } = &self.layout;
        let vertices_before = frame * counts.iter().sum::<usize>() + counts[..body].iter().sum::<usize>();
        self.bytes.resize(counts[body] * POSITION_BYTES, 0);
        self.file
            .seek(SeekFrom::Start((vertices_before * POSITION_BYTES) as u64))
            .and_then(|_| self.file.read_exact(&mut self.bytes))
            .map_err(|error| refused(target, &error))?;
        positions.clear();
        let numbers = self.bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        positions.resize(counts[body], [0.0; 3]);
        positions.as_flattened_mut().iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::names_in;

    #[test]
    fn frames_come_back_in_any_order_and_no_file_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let info =
            |count: usize| SurfaceInfo { name: "a".into(), triangles: vec![], rest: vec![[0.0; 3]; count] };
        let frame = |f: f32| Frame {
            time: 0.0,
            surfaces: vec![vec![[f, -0.0, 1e-42]; 2], vec![], vec![[f + 0.1, f32::MAX, f32::MIN]]],
            ..Frame::default()
        };
        let mut spill =
            FrameSpill::create(&folder.path().join("a.mdd"), &[info(2), info(0), info(1)]).unwrap();
        (0..3).for_each(|f| spill.push(&frame(f as f32)).unwrap());
        assert!(names_in(folder.path()).is_empty());
        let mut frames = spill.into_frames().unwrap();
        assert_eq!(frames.count(), 3);
        let mut positions = vec![[7.0; 3]; 9];
        for body in [2, 0, 1] {
            for f in [1, 0, 2] {
                frames.read(f, body, &mut positions).unwrap();
                let bits =
                    |points: &[[f32; 3]]| points.iter().map(|p| p.map(f32::to_bits)).collect::<Vec<_>>();
                assert_eq!(bits(&positions), bits(&frame(f as f32).surfaces[body]));
            }
        }
    }
}
