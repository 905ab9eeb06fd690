//! Reads MDD point caches (LightWave, Blender and others) and makes their headers.
//!
//! Big-endian: number of frames and number of points as `i32`, time of each frame (s) as `f32`; then x, y, z of every point of every frame as
//! `f32`.

use super::Head;
use super::samples::{Claim, PointSamples, count};
use sinew_files::{Loaded, ReadError};

const COUNT_BYTES: usize = 8;

/// The contents of an MDD file.
#[derive(Clone, Debug, PartialEq)]
pub struct Mdd {
    /// The time of each frame (s).
    pub times: Vec<f32>,
    /// The positions, in the file's unit and axes.
    pub samples: PointSamples,
}

/// Reads a point cache from the bytes of an MDD file.
pub fn read_mdd(bytes: &[u8]) -> Result<Loaded<Mdd>, ReadError> {
    // counts
    let [frames, points] = match bytes.as_chunks::<4>().0 {
        [frames, points, ..] => [*frames, *points].map(i32::from_be_bytes),
        _ => {
            let size = bytes.len();
            return Err(ReadError::whole(format!(
                "the file has {size} bytes, fewer than an MDD header ({COUNT_BYTES}): it is cut short"
            )));
        }
    };

    // times
    let sample_count = count(bytes, 0, frames, "frames")?;
    let point_count = count(bytes, 4, points, "points")?;
    let room = (bytes.len() - COUNT_BYTES) / 4;
    if sample_count > room {
        let message = format!(
            "the file states {sample_count} frames but ends after the times of {room}: it is cut short, or not an MDD file"
        );
        return Err(ReadError::byte(COUNT_BYTES, message));
    }
    let start = COUNT_BYTES + 4 * sample_count;
    let words = bytes[COUNT_BYTES..start].as_chunks::<4>().0;
    let times: Vec<f32> = words.iter().map(|word| f32::from_be_bytes(*word)).collect();
    if let Some(frame) = times.iter().position(|time| !time.is_finite()) {
        let message = format!("the time of frame {frame} is not finite: export the file again");
        return Err(ReadError::byte(COUNT_BYTES + 4 * frame, message));
    }

    // positions
    let claim = Claim { point_count, sample_count, start, from_bytes: f32::from_be_bytes };
    Ok(claim.read(bytes)?.map(|samples| Mdd { times, samples }))
}

/// The bytes before the positions.
pub(super) fn header(head: &Head) -> Vec<u8> {
    let mut bytes = head.frame_count.to_be_bytes().to_vec();
    bytes.extend(head.point_count.to_be_bytes());
    bytes.extend(head.times.iter().flat_map(|time| (*time as f32).to_be_bytes()));
    bytes
}
