//! What pictures are taken of: something that can be shown at any of its frames, as often as asked.

use crate::look::Look;
use crate::render_frame::RenderFrame;
use sinew_files::ReadError;
use sinew_take::{SinkError, SurfaceInfo, Up};

/// A picture could not be made. Says what is wrong and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PictureError(pub String);

impl From<ReadError> for PictureError {
    fn from(error: ReadError) -> PictureError {
        PictureError(error.to_string())
    }
}

impl From<SinkError> for PictureError {
    fn from(error: SinkError) -> PictureError {
        PictureError(error.0)
    }
}

impl From<std::io::Error> for PictureError {
    fn from(error: std::io::Error) -> PictureError {
        PictureError(error.to_string())
    }
}

/// Who is shown one moment after the other.
pub type FrameCallback<'a> = dyn FnMut(RenderFrame) -> Result<(), PictureError> + 'a;

/// Something that pictures are taken of.
pub trait FrameSource: Sync {
    /// What stays the same about its surfaces.
    fn surfaces(&self) -> &[SurfaceInfo];
    /// The look of each surface.
    fn looks(&self) -> &[Look];
    /// So many surfaces, the first ones, are what pictures are fitted to; those behind them are seen as far as they come into the picture.
    fn framed_count(&self) -> usize {
        self.surfaces().len()
    }
    /// The height of the floor, up (m); without one the ground is as high as what is seen reaches down.
    fn ground(&self) -> Option<f64> {
        None
    }
    /// Triangles of the boundary of the cages, in the nodes of [`Moment::cage`]; none if they are not to be seen.
    fn cage(&self) -> &[[u32; 3]] {
        &[]
    }
    /// The axis that points up.
    fn up(&self) -> Up;
    /// Frames per second.
    fn fps(&self) -> f64;
    /// How many frames there are, the start included.
    fn frame_count(&self) -> usize;
    /// Whether it ends where it begins, so that it can be shown over and over.
    fn is_cycle(&self) -> bool {
        false
    }
    /// Shows moments in order. Places are counted in frames from the first, may lie between two, and never decrease.
    fn show(&self, places: &[f64], see: &mut FrameCallback) -> Result<(), PictureError>;
}
