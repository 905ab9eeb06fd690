//! What is asked of a picture: layout, size, camera and what is drawn, with the checks of all numbers.

use crate::frame_source::PictureError;
use crate::view::View;

/// The most pixels of a picture; more is taken for a typing error.
const PIXEL_LIMIT: usize = 100_000_000;
/// The longest side of a clip (pixels); players accept no more.
const CLIP_SIDE_LIMIT: usize = 8192;
/// The most earlier or later frames that can be told apart in one picture.
pub const GHOST_LIMIT: usize = 32;
/// The time between two ghosts (s), if nothing else is asked for.
const GHOST_SPACING: f64 = 0.15;

/// How frames are arranged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layout {
    /// One frame.
    Still,
    /// A contact sheet: frames side by side in one picture.
    Sheet {
        /// Frames per row.
        columns: usize,
        /// Rows of frames.
        rows: usize,
    },
    /// A clip: frames one after the other.
    Clip {
        /// Pictures per second.
        fps: f64,
    },
}

/// What is asked of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureOptions {
    /// How frames are arranged.
    pub layout: Layout,
    /// The width of the picture, or of one tile of a sheet (pixels).
    pub width: usize,
    /// The height of the picture, or of one tile of a sheet (pixels).
    pub height: usize,
    /// The first and last time to draw (s); `None` draws the whole frame source.
    pub span: Option<[f64; 2]>,
    /// The one time to draw (s). `None` draws the start in a still and runs through the span otherwise.
    pub time: Option<f64>,
    /// Where the camera stands.
    pub view: View,
    /// The time in which the camera goes around the bodies once (s); `None` lets it stand still.
    pub turntable: Option<f64>,
    /// Draws plain skinning on the left and flesh on the right.
    pub compare: bool,
    /// How many earlier frames are drawn faintly, behind the picture.
    pub ghosts: usize,
    /// How many later frames are drawn faintly, over the picture.
    pub later_ghosts: usize,
    /// The time between two ghosts (s).
    pub ghost_spacing: f64,
    /// A GIF that would be larger (bytes) is drawn smaller than `width` × `height`; `None` never shrinks it.
    pub max_gif_bytes: Option<u64>,
}

impl Default for PictureOptions {
    fn default() -> PictureOptions {
        PictureOptions {
            layout: Layout::Sheet { columns: 3, rows: 2 },
            width: 480,
            height: 400,
            span: None,
            time: None,
            view: View::default(),
            turntable: None,
            compare: false,
            ghosts: 0,
            later_ghosts: 0,
            ghost_spacing: GHOST_SPACING,
            max_gif_bytes: None,
        }
    }
}

impl PictureOptions {
    /// The size of a GIF (bytes) that web pages load at once.
    pub const WEB_GIF_BYTES: u64 = 3_000_000;

    /// Checks all numbers, whatever is drawn.
    pub fn check(&self) -> Result<(), PictureError> {
        if let Some(fault) = self.view.fault() {
            return Err(PictureError(fault));
        }
        self.check_size()?;
        if self.turntable.is_some_and(|seconds| !(seconds > 0.0 && seconds <= 3600.0)) {
            return Err(PictureError(
                "the camera cannot go round in that time: give above 0 and up to 3600 s".into(),
            ));
        }
        for (count, when) in [(self.ghosts, "earlier"), (self.later_ghosts, "later")] {
            if count > GHOST_LIMIT {
                return Err(PictureError(format!(
                    "{count} {when} frames are too many to be told apart: up to {GHOST_LIMIT} are accepted"
                )));
            }
        }
        if !(self.ghost_spacing > 0.0 && self.ghost_spacing.is_finite()) {
            return Err(PictureError(format!("ghosts {} s apart: give a time above 0", self.ghost_spacing)));
        }
        if self.compare && self.width < 2 {
            return Err(PictureError("a picture one pixel wide cannot show two side by side".into()));
        }
        Ok(())
    }

    fn check_size(&self) -> Result<(), PictureError> {
        let (width, height) = (self.width, self.height);
        let [columns, rows] = match self.layout {
            Layout::Sheet { columns, rows } => [columns, rows],
            Layout::Still | Layout::Clip { .. } => [1, 1],
        };
        let pixels = [columns, rows, width, height].iter().fold(1usize, |all, n| all.saturating_mul(*n));
        if pixels == 0 || pixels > PIXEL_LIMIT {
            return Err(PictureError(format!(
                "{columns} × {rows} pictures of {width} × {height} pixels cannot be drawn: 1 to {PIXEL_LIMIT} pixels in all are accepted"
            )));
        }
        let Layout::Clip { fps } = self.layout else { return Ok(()) };
        if width.max(height) > CLIP_SIDE_LIMIT {
            return Err(PictureError(format!(
                "{width} × {height} pixels are too many for a clip: up to {CLIP_SIDE_LIMIT} along each side are accepted"
            )));
        }
        if !(fps > 0.0 && fps <= 240.0) {
            return Err(PictureError(format!("{fps} pictures per second are not above 0 and up to 240")));
        }
        Ok(())
    }
}
