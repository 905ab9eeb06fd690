//! Reads the positions of a point cache, which PC2 and MDD share: all points of the first sample, then of the second, and so on.

use sinew_files::{Loaded, ReadError};

/// The positions of the same points in several samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointSamples {
    /// Number of points.
    pub point_count: usize,
    /// Number of samples.
    pub sample_count: usize,
    /// All points of the first sample, then all of the second, and so on.
    pub positions: Vec<[f32; 3]>,
}

impl PointSamples {
    /// The points of a sample; `None` if there are fewer samples.
    pub fn sample(&self, index: usize) -> Option<&[[f32; 3]]> {
        let start = index.checked_mul(self.point_count)?;
        let end = start.checked_add(self.point_count)?;
        if index < self.sample_count { self.positions.get(start..end) } else { None }
    }
}

/// The counts that a cache file states, and the layout of its numbers.
pub(super) struct Claim {
    pub(super) point_count: usize,
    pub(super) sample_count: usize,
    /// The offset of the positions (bytes).
    pub(super) start: usize,
    pub(super) from_bytes: fn([u8; 4]) -> f32,
}

impl Claim {
    /// Reads the positions. Counts are compared with the size of the file before memory is reserved.
    pub(super) fn read(&self, bytes: &[u8]) -> Result<Loaded<PointSamples>, ReadError> {
        // does the file have as many?
        let Claim { point_count, sample_count, start, from_bytes } = *self;
        let body = bytes.get(start..).unwrap_or_default();
        let (points, samples) = (point_count as u128, sample_count as u128);
        let claimed = points * samples * 12;
        if claimed > body.len() as u128 {
            let (whole, has) = (body.len() as u128 / (points * 12), body.len());
            return Err(ReadError::byte(
                start,
                format!(
                    "{sample_count} frames of {point_count} points need {claimed} bytes, but the file has {has}, enough for {whole} frames: \
                     it is cut short; export it again"
                ),
            ));
        }

        // finite positions
        let (body, extra) = body.split_at(claimed as usize);
        let mut positions = vec![[0.0; 3]; body.len() / 12];
        let numbers = body.as_chunks::<4>().0.iter();
        for (at, (to, number)) in positions.as_flattened_mut().iter_mut().zip(numbers).enumerate() {
            *to = from_bytes(*number);
            if !to.is_finite() {
                let (frame, point) = (at / 3 / point_count, at / 3 % point_count);
                let message = format!("point {point} of frame {frame} is not finite: export the file again");
                return Err(ReadError::byte(start + 4 * at, message));
            }
        }

        // anything else is ignored
        let notes = if extra.is_empty() {
            Vec::new()
        } else {
            vec![format!("{} bytes after the last frame were ignored", extra.len())]
        };
        Ok(Loaded { value: PointSamples { point_count, sample_count, positions }, notes })
    }
}

/// A count that a file stores as a signed number.
pub(super) fn count(bytes: &[u8], at: usize, number: i32, what: &str) -> Result<usize, ReadError> {
    usize::try_from(number).map_err(|_| {
        let size = bytes.len();
        ReadError::byte(
            at,
            format!("the file states {number} {what} ({size} bytes in all): is this a point cache?"),
        )
    })
}
