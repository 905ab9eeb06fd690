//! What is wanted of a picture: its kind, its size, where it is taken from and what is in it.

use crate::frame_source::{FrameSource, PictureError};
use crate::view::View;

/// A picture beyond this is a slip of the keyboard (pixels).
const PIXEL_LIMIT: usize = 100_000_000;
/// The longest side of a picture that moves; players take no more (pixels).
const CLIP_SIDE_LIMIT: usize = 8192;
/// The most pictures of a clip: an hour at 60 a second.
const SHOT_LIMIT: f64 = 216_000.0;
/// The most earlier moments that are of any use in one picture.
const GHOST_LIMIT: usize = 32;
/// Between two of them (s).
const GHOST_SPACING: f64 = 0.15;

/// How moments are laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layout {
    /// One moment.
    Still,
    /// Moments side by side.
    Sheet {
        /// Pictures side by side.
        columns: usize,
        /// Rows of pictures.
        rows: usize,
    },
    /// One after the other, so many a second.
    Clip {
        /// Pictures per second.
        fps: f64,
    },
}

/// What is wanted of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureOptions {
    /// How moments are laid out.
    pub layout: Layout,
    /// The width of one picture, of a sheet of one tile (pixels).
    pub width: usize,
    /// Its height.
    pub height: usize,
    /// From when to when (s); all of the frame source if not given.
    pub span: Option<[f64; 2]>,
    /// The one moment to be seen (s); if not given a still shows the start, and everything else passes through the span.
    pub held: Option<f64>,
    /// Where the camera stands.
    pub view: View,
    /// How long the camera takes to go round the bodies once (s); it stands still if not given.
    pub turntable: Option<f64>,
    /// Plain skinning on the left, flesh on the right.
    pub compare: bool,
    /// How many earlier moments are seen faintly.
    pub ghosts: usize,
}

impl Default for PictureOptions {
    fn default() -> PictureOptions {
        PictureOptions {
            layout: Layout::Sheet { columns: 3, rows: 2 },
            width: 480,
            height: 400,
            span: None,
            held: None,
            view: View::default(),
            turntable: None,
            compare: false,
            ghosts: 0,
        }
    }
}

/// One picture of a plan.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shot {
    /// Which moment, in frames.
    pub(crate) place: f64,
    /// How far the camera has gone round (degrees).
    pub(crate) turn: f64,
    /// Earlier moments, the earliest first.
    pub(crate) ghosts: Vec<f64>,
}

impl PictureOptions {
    /// All pictures that are to be taken of a frame source, or what is wrong with what is wanted.
    pub(crate) fn plan(&self, frame_source: &dyn FrameSource) -> Result<Vec<Shot>, PictureError> {
        self.check()?;
        let fps = frame_source.fps();
        let end = frame_source.frame_count().saturating_sub(1) as f64 / fps;
        if frame_source.frame_count() == 0 {
            return Err(PictureError("there are no frames to be seen".into()));
        }
        let [from, to] = self.span.unwrap_or([0.0, end]);
        // half a frame of slack: times are written with few digits
        let within = |time: f64| time >= -0.5 / fps && time <= end + 0.5 / fps;
        for time in [from, to].into_iter().chain(self.held) {
            if !within(time) {
                return Err(PictureError(format!(
                    "there is nothing at {time} s: times from 0 to {:.3} s are there",
                    end
                )));
            }
        }
        if from > to {
            return Err(PictureError(format!("from {from} s to {to} s is backwards: begin before the end")));
        }
        let render_frames = self.render_frames(from, to, frame_source.is_cycle() && self.span.is_none())?;
        let last = (frame_source.frame_count() - 1) as f64;
        let place = |time: f64| snapped((time * fps).clamp(0.0, last));
        let shot = |(time, turned): (f64, f64)| Shot {
            place: place(time),
            turn: self.view.turn + turned,
            ghosts: (1..=self.ghosts)
                .rev()
                .map(|i| time - GHOST_SPACING * i as f64)
                .filter(|earlier| *earlier > from - 1e-9)
                .map(place)
                .collect(),
        };
        Ok(render_frames.into_iter().map(shot).collect())
    }

    /// Times (s) and how far the camera has turned by then (degrees).
    fn render_frames(&self, from: f64, to: f64, is_cycle: bool) -> Result<Vec<(f64, f64)>, PictureError> {
        let length = to - from;
        let fraction = |i: usize, count: usize| i as f64 / count as f64;
        match self.layout {
            Layout::Still => Ok(vec![(self.held.unwrap_or(from), 0.0)]),
            Layout::Sheet { columns, rows } => {
                let count = columns * rows;
                let time = |i| self.held.unwrap_or(from + length * fraction(i, (count - 1).max(1)));
                let turn = |i| if self.turntable.is_some() { 360.0 * fraction(i, count) } else { 0.0 };
                Ok((0..count).map(|i| (time(i), turn(i))).collect())
            }
            Layout::Clip { fps } => {
                let count = match self.turntable {
                    Some(seconds) => (seconds * fps).round().max(1.0),
                    None if self.held.is_some() => 1.0,
                    None if is_cycle => (length * fps).round().max(1.0),
                    None => (length * fps + 1e-6).floor() + 1.0,
                };
                if count > SHOT_LIMIT {
                    return Err(PictureError(format!(
                        "{count} pictures are more than the {SHOT_LIMIT} of an hour at 60 a second: show less of it, or with fewer pictures per second"
                    )));
                }
                let count = count as usize;
                let time = |i: usize| {
                    let passed = i as f64 / fps;
                    let wrapped = if length > 0.0 && passed > length + 1e-9 {
                        passed % length
                    } else {
                        passed.min(length)
                    };
                    self.held.unwrap_or(from + wrapped)
                };
                let turn = |i| if self.turntable.is_some() { 360.0 * fraction(i, count) } else { 0.0 };
                Ok((0..count).map(|i| (time(i), turn(i))).collect())
            }
        }
    }

    /// What is wrong with what is wanted, whatever it is wanted of.
    pub fn check(&self) -> Result<(), PictureError> {
        if let Some(fault) = self.view.fault() {
            return Err(PictureError(fault));
        }
        let (width, height) = (self.width, self.height);
        let pixels = match self.layout {
            Layout::Sheet { columns, rows } => [columns, rows, width, height],
            Layout::Still | Layout::Clip { .. } => [1, 1, width, height],
        };
        let count = pixels.iter().fold(1usize, |all, n| all.saturating_mul(*n));
        if count == 0 || count > PIXEL_LIMIT {
            let [columns, rows, ..] = pixels;
            return Err(PictureError(format!(
                "{columns} × {rows} pictures of {width} × {height} pixels cannot be drawn: 1 to {PIXEL_LIMIT} pixels in all are accepted"
            )));
        }
        if let Layout::Clip { fps } = self.layout {
            if width.max(height) > CLIP_SIDE_LIMIT {
                return Err(PictureError(format!(
                    "{width} × {height} pixels are too many for pictures that move: up to {CLIP_SIDE_LIMIT} along each side are accepted"
                )));
            }
            if !(fps > 0.0 && fps <= 240.0) {
                return Err(PictureError(format!("{fps} pictures per second are not above 0 and up to 240")));
            }
        }
        if self.turntable.is_some_and(|seconds| !(seconds > 0.0 && seconds <= 3600.0)) {
            return Err(PictureError(
                "the camera cannot go round in that time: give above 0 and up to 3600 s".into(),
            ));
        }
        if self.ghosts > GHOST_LIMIT {
            return Err(PictureError(format!(
                "{} earlier moments are too many to be told apart: up to {GHOST_LIMIT} are accepted",
                self.ghosts
            )));
        }
        if self.compare && width < 2 {
            return Err(PictureError("a picture one pixel wide cannot show two side by side".into()));
        }
        Ok(())
    }
}

/// A place that is a frame but for rounding is that frame.
fn snapped(place: f64) -> f64 {
    if (place - place.round()).abs() < 1e-4 { place.round() } else { place }
}
