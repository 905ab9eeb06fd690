//! The input of the renderer: surfaces that can be evaluated at any frame, any number of times.

use crate::look::Look;
use crate::render_frame::RenderFrame;
use sinew_files::ReadError;
use sinew_take::{SinkError, SurfaceInfo, Up};

/// Why a picture could not be drawn or written, and what to do.
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

/// What surfaces are coloured by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scalar {
    /// The strain of the flesh.
    #[default]
    Strain,
    /// How soft the flesh is: 1 as chosen, 0 rigid.
    Softness,
    /// How thick the fat under skin is: 1 as chosen.
    Fat,
}

/// Receives the frames of a source one after the other.
pub type FrameCallback<'a> = dyn FnMut(RenderFrame) -> Result<(), PictureError> + 'a;

/// Something that can be drawn.
pub trait FrameSource: Sync {
    /// Its surfaces, the same in all frames.
    fn surfaces(&self) -> &[SurfaceInfo];
    /// The look of each surface.
    fn looks(&self) -> &[Look];
    /// How many surfaces, from the first, are bodies or move; the others are visible as far as they reach into the picture.
    fn framed_count(&self) -> usize {
        self.surfaces().len()
    }
    /// The surfaces that the camera is fitted to and follows, by their indices; all of the first ones by default.
    fn followed(&self) -> Vec<usize> {
        (0..self.framed_count()).collect()
    }
    /// The height of the floor above the origin (m); `None` puts the ground under the lowest point.
    fn ground(&self) -> Option<f64> {
        None
    }
    /// Boundary triangles of the cages, as indices into [`RenderFrame::cage`]; empty if they are not drawn.
    fn cage(&self) -> &[[u32; 3]] {
        &[]
    }
    /// What the numbers in [`RenderFrame::strain`] are.
    fn scalar(&self) -> Scalar {
        Scalar::Strain
    }
    /// The axis that points up.
    fn up(&self) -> Up;
    /// Frames per second.
    fn fps(&self) -> f64;
    /// The number of frames, the first included.
    fn frame_count(&self) -> usize;
    /// Whether the last frame equals the first, so that a clip repeats seamlessly.
    fn is_cycle(&self) -> bool {
        false
    }
    /// Calls `callback` with the frame at each position, in order. Positions are in frames from the first, may be fractional, and never decrease.
    fn visit(&self, positions: &[f64], callback: &mut FrameCallback) -> Result<(), PictureError>;
}
