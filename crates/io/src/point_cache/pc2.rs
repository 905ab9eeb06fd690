//! PC2, of 3ds Max and Blender, read and headed.
//!
//! Little-endian: `POINTCACHE2` and a zero, version 1, the number of points, the frame of the first sample,
//! frames per sample, the number of samples; then x, y, z of every point of every sample as `f32`.

use super::Head;
use super::samples::{Claim, PointSamples, count};
use sinew_files::{Loaded, ReadError};

const SIGNATURE: &[u8; 12] = b"POINTCACHE2\0";
const HEADER_BYTES: usize = 32;

/// A PC2 file as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Pc2 {
    /// The frame that the first sample belongs to.
    pub start_frame: f32,
    /// Frames from one sample to the next.
    pub frames_per_sample: f32,
    /// The positions, in the file's unit and axes.
    pub samples: PointSamples,
}

/// Reads a point cache from the bytes of a PC2 file.
pub fn read_pc2(bytes: &[u8]) -> Result<Loaded<Pc2>, ReadError> {
    if !bytes.starts_with(SIGNATURE) {
        return Err(ReadError::whole("the file does not begin with `POINTCACHE2`: is it a PC2 file?"));
    }
    let Some(header) = bytes.get(SIGNATURE.len()..HEADER_BYTES) else {
        let size = bytes.len();
        return Err(ReadError::whole(format!(
            "{size} bytes are less than a PC2 header, {HEADER_BYTES}: it is cut short"
        )));
    };
    let word = |i: usize| header.as_chunks::<4>().0[i];
    let version = i32::from_le_bytes(word(0));
    if version != 1 {
        return Err(ReadError::byte(12, format!("version {version} of PC2: only version 1 is known")));
    }
    let [start_frame, frames_per_sample] = [word(2), word(3)].map(f32::from_le_bytes);
    if !(start_frame.is_finite() && frames_per_sample.is_finite()) {
        let message =
            format!("starts at frame {start_frame} with {frames_per_sample} frames per sample: not finite");
        return Err(ReadError::byte(20, message));
    }
    let claim = Claim {
        point_count: count(bytes, 16, i32::from_le_bytes(word(1)), "points")?,
        sample_count: count(bytes, 28, i32::from_le_bytes(word(4)), "samples")?,
        start: HEADER_BYTES,
        from_bytes: f32::from_le_bytes,
    };
    Ok(claim.read(bytes)?.map(|samples| Pc2 { start_frame, frames_per_sample, samples }))
}

/// The bytes before the positions: one sample per frame, from frame 0.
pub(super) fn header(head: &Head) -> Vec<u8> {
    let (start_frame, frames_per_sample) = (0.0f32, 1.0f32);
    let mut bytes = SIGNATURE.to_vec();
    bytes.extend(1i32.to_le_bytes());
    bytes.extend(head.point_count.to_le_bytes());
    bytes.extend(start_frame.to_le_bytes());
    bytes.extend(frames_per_sample.to_le_bytes());
    bytes.extend(head.frame_count.to_le_bytes());
    bytes
}
