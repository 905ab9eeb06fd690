//! The positions of the same points at several moments.

use sinew_files::{Loaded, ReadError};

/// The positions of the same points at several moments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointSamples {
    /// How many points there are.
    pub point_count: usize,
    /// How many moments there are.
    pub sample_count: usize,
    /// All points of the first moment, then all of the second, and so on.
    pub positions: Vec<[f32; 3]>,
}

impl PointSamples {
    /// The points at one moment; `None` if there are fewer moments.
    pub fn sample(&self, index: usize) -> Option<&[[f32; 3]]> {
        let start = index.checked_mul(self.point_count)?;
        let end = start.checked_add(self.point_count)?;
        if index < self.sample_count { self.positions.get(start..end) } else { None }
    }
}

/// What a cache file claims to hold, and how its numbers are laid.
pub(super) struct Claim {
    pub(super) point_count: usize,
    pub(super) sample_count: usize,
    /// Where the positions begin (bytes).
    pub(super) start: usize,
    pub(super) from_bytes: fn([u8; 4]) -> f32,
}

impl Claim {
    /// Reads the positions; a claim that the bytes cannot hold costs no memory.
    pub(super) fn read(&self, bytes: &[u8]) -> Result<Loaded<PointSamples>, ReadError> {
        let Claim { point_count, sample_count, start, from_bytes } = *self;
        let body = bytes.get(start..).unwrap_or_default();
        let (points, samples) = (point_count as u128, sample_count as u128);
        let claimed = points * samples * 12;
        if claimed > body.len() as u128 {
            let (whole, has) = (body.len() as u128 / (points * 12), body.len());
            return Err(ReadError::byte(
                start,
                format!(
                    "{sample_count} frames of {point_count} points take {claimed} bytes, but {has} follow, enough for {whole} frames: \
                     the file is cut short; write it again"
                ),
            ));
        }
        let (body, extra) = body.split_at(claimed as usize);
        let mut positions = vec![[0.0; 3]; body.len() / 12];
        let numbers = body.as_chunks::<4>().0.iter();
        for (at, (to, number)) in positions.as_flattened_mut().iter_mut().zip(numbers).enumerate() {
            *to = from_bytes(*number);
            if !to.is_finite() {
                let (frame, point) = (at / 3 / point_count, at / 3 % point_count);
                let message = format!("point {point} of frame {frame} is not finite: write the file again");
                return Err(ReadError::byte(start + 4 * at, message));
            }
        }
        let notes = if extra.is_empty() {
            Vec::new()
        } else {
            vec![format!("{} bytes after the last frame were left out", extra.len())]
        };
        Ok(Loaded { value: PointSamples { point_count, sample_count, positions }, notes })
    }
}

/// A count that a file gives as a signed number.
pub(super) fn count(bytes: &[u8], at: usize, number: i32, what: &str) -> Result<usize, ReadError> {
    usize::try_from(number).map_err(|_| {
        let size = bytes.len();
        ReadError::byte(at, format!("{number} {what} in a file of {size} bytes: is this a point cache?"))
    })
}
