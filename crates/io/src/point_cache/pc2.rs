//! Reads PC2 point caches (3ds Max, Blender) and makes their headers.
//!
//! Little-endian: `POINTCACHE2` and a zero byte, version 1 and number of points as `i32`, frame of the first sample and frames per sample as
//! `f32`, number of samples as `i32`; then x, y, z of every point of every sample as `f32`.

use super::Head;
use super::samples::{Claim, PointSamples, count};
use sinew_files::{Loaded, ReadError};

const SIGNATURE: &[u8; 12] = b"POINTCACHE2\0";
const HEADER_BYTES: usize = 32;

/// The contents of a PC2 file.
#[derive(Clone, Debug, PartialEq)]
pub struct Pc2 {
    /// The frame of the first sample.
    pub start_frame: f32,
    /// Frames from one sample to the next.
    pub frames_per_sample: f32,
    /// The positions, in the file's unit and axes.
    pub samples: PointSamples,
}

/// Reads a point cache from the bytes of a PC2 file.
pub fn read_pc2(bytes: &[u8]) -> Result<Loaded<Pc2>, ReadError> {
    // signature and version
    if !bytes.starts_with(SIGNATURE) {
        return Err(ReadError::whole("the file does not begin with `POINTCACHE2`: is this a PC2 file?"));
    }
    let Some(header) = bytes.get(SIGNATURE.len()..HEADER_BYTES) else {
        let size = bytes.len();
        return Err(ReadError::whole(format!(
            "the file has {size} bytes, fewer than a PC2 header ({HEADER_BYTES}): it is cut short"
        )));
    };
    let word = |i: usize| header.as_chunks::<4>().0[i];
    let version = i32::from_le_bytes(word(0));
    if version != 1 {
        return Err(ReadError::byte(
            12,
            format!("PC2 version {version} is not supported: only version 1 is"),
        ));
    }

    // timing
    let [start_frame, frames_per_sample] = [word(2), word(3)].map(f32::from_le_bytes);
    if !(start_frame.is_finite() && frames_per_sample.is_finite()) {
        let message = format!(
            "the start frame ({start_frame}) and the frames per sample ({frames_per_sample}) must be finite: export the file again"
        );
        return Err(ReadError::byte(20, message));
    }

    // positions
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
