//! Frames that are kept in memory, to be looked at.

use super::footage::{Footage, PictureError, See};
use super::look::Look;
use super::moment::Moment;
use crate::Up;
use sinew_take::{Frame, SurfaceInfo};

/// A few frames in memory.
pub(crate) struct StoredFootage<'a> {
    pub(crate) surfaces: &'a [SurfaceInfo],
    pub(crate) looks: Vec<Look>,
    pub(crate) frames: Vec<&'a Frame>,
    pub(crate) up: Up,
}

impl Footage for StoredFootage<'_> {
    fn surfaces(&self) -> &[SurfaceInfo] {
        self.surfaces
    }

    fn looks(&self) -> &[Look] {
        &self.looks
    }

    fn up(&self) -> Up {
        self.up
    }

    /// One: the frames are counted, whenever they were.
    fn fps(&self) -> f64 {
        1.0
    }

    fn frame_count(&self) -> usize {
        self.frames.len()
    }

    fn show(&self, places: &[f64], see: &mut See) -> Result<(), PictureError> {
        for place in places {
            let moment = |index: usize| {
                let frame = self.frames[index.min(self.frames.len() - 1)];
                Moment { time: frame.time, surfaces: frame.surfaces.clone(), ..Moment::default() }
            };
            let (before, share) = (*place as usize, place.fract());
            see(if share > 0.0 {
                moment(before).towards(&moment(before + 1), share)
            } else {
                moment(before)
            })?;
        }
        Ok(())
    }
}
