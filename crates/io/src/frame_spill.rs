//! Frames on disk until the take is over, for formats that begin with how many there are or want all
//! moments of one body together.
//!
//! The file has no name, so that nothing is left of it whatever happens, and stands on the target's disk.
//! Only one body of one frame is in memory at a time.

use sinew_files::{parent_of, refused};
use sinew_take::{Frame, SurfaceInfo};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const POSITION_BYTES: usize = 12;

/// Frames of one shape, written one after the other.
#[derive(Debug)]
pub(crate) struct FrameSpill {
    writer: BufWriter<File>,
    layout: Layout,
    bytes: Vec<u8>,
}

/// Frames that were written, to be read in any order.
pub(crate) struct SpilledFrames {
    file: File,
    layout: Layout,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Layout {
    /// What all of this is for, named in errors.
    target: PathBuf,
    /// For each body its number of vertices.
    counts: Vec<usize>,
    frame_count: usize,
}

impl FrameSpill {
    /// An empty spill beside the target.
    pub(crate) fn create(target: &Path, surfaces: &[SurfaceInfo]) -> io::Result<FrameSpill> {
        let file = tempfile::tempfile_in(parent_of(target)?).map_err(|error| refused(target, &error))?;
        let counts = surfaces.iter().map(|surface| surface.rest.len()).collect();
        let layout = Layout { target: target.to_owned(), counts, frame_count: 0 };
        Ok(FrameSpill { writer: BufWriter::with_capacity(1 << 18, file), layout, bytes: Vec::new() })
    }

    /// Adds a frame, whose shape was checked.
    pub(crate) fn push(&mut self, frame: &Frame) -> io::Result<()> {
        for positions in &frame.surfaces {
            self.bytes.clear();
            self.bytes.extend(positions.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
            self.writer.write_all(&self.bytes).map_err(|error| refused(&self.layout.target, &error))?;
        }
        self.layout.frame_count += 1;
        Ok(())
    }

    /// The frames, to be read.
    pub(crate) fn into_frames(self) -> io::Result<SpilledFrames> {
        let FrameSpill { writer, layout, bytes } = self;
        let file = writer.into_inner().map_err(|error| refused(&layout.target, error.error()))?;
        Ok(SpilledFrames { file, layout, bytes })
    }
}

impl SpilledFrames {
    /// How many frames there are.
    pub(crate) fn count(&self) -> usize {
        self.layout.frame_count
    }

    /// Reads one body of one frame into `positions`, which becomes as long as the body has vertices.
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
