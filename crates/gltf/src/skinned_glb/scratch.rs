//! Frames on disk until the end: records of equal length in an anonymous file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Mutex;

/// Records of single-precision numbers.
#[derive(Debug)]
pub(super) struct Scratch {
    file: Mutex<File>,
    /// Numbers of a record.
    length: usize,
}

impl Scratch {
    /// Records of so many numbers, none so far.
    pub(super) fn new(file: File, length: usize) -> Scratch {
        Scratch { file: Mutex::new(file), length }
    }

    /// Writes a record; what was there before is replaced, so a failed write may be tried again.
    pub(super) fn write(&self, record: usize, numbers: &[f32]) -> io::Result<()> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let mut file = self.file.lock().map_err(|_| io::Error::other("a reader of frames has failed"))?;
        file.seek(SeekFrom::Start(self.offset(record, 0)))?;
        file.write_all(&bytes)
    }

    /// A part of a record.
    pub(super) fn read(&self, record: usize, part: Range<usize>) -> io::Result<Vec<f32>> {
        let mut bytes = vec![0; size_of::<f32>() * part.len()];
        {
            let mut file = self.file.lock().map_err(|_| io::Error::other("a writer of frames has failed"))?;
            file.seek(SeekFrom::Start(self.offset(record, part.start)))?;
            file.read_exact(&mut bytes)?;
        }
        Ok(bytes.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }

    fn offset(&self, record: usize, number: usize) -> u64 {
        (record as u64 * self.length as u64 + number as u64) * size_of::<f32>() as u64
    }
}
