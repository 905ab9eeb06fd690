//! The shot list: which frame each picture shows, from which azimuth, with which ghosts.

use crate::frame_source::{FrameSource, PictureError};
use crate::options::{Layout, PictureOptions};

/// The most pictures of a clip: an hour at 60 per second.
const SHOT_LIMIT: f64 = 216_000.0;

/// One picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shot {
    /// The frame, counted from the first; may be fractional.
    pub(crate) position: f64,
    /// The azimuth of the camera (degrees).
    pub(crate) azimuth: f64,
    /// Positions of earlier frames, the earliest first.
    pub(crate) ghosts: Vec<f64>,
    /// Positions of later frames, the latest first.
    pub(crate) later: Vec<f64>,
}

impl Shot {
    /// The positions of all frames in the picture, the ghosts first.
    pub(crate) fn positions(&self) -> impl Iterator<Item = f64> + '_ {
        self.ghosts.iter().chain(&self.later).copied().chain([self.position])
    }

    /// The last of these positions.
    pub(crate) fn last_position(&self) -> f64 {
        self.positions().fold(self.position, f64::max)
    }
}

/// Lists the pictures of a frame source, or says what is wrong with the options.
pub(crate) fn list(source: &dyn FrameSource, options: &PictureOptions) -> Result<Vec<Shot>, PictureError> {
    options.check()?;
    let fps = source.fps();
    let end = source.frame_count().saturating_sub(1) as f64 / fps;
    if source.frame_count() == 0 {
        return Err(PictureError("there are no frames to draw".into()));
    }
    let [from, to] = options.span.unwrap_or([0.0, end]);
    check_times(options, from, to, [fps, end])?;

    // from times to positions in frames
    let times = times(options, from, to, source.is_cycle() && options.span.is_none())?;
    let last = (source.frame_count() - 1) as f64;
    let position = |time: f64| snapped((time * fps).clamp(0.0, last));
    let shot = |(time, azimuth): (f64, f64)| Shot {
        position: position(time),
        azimuth: options.view.azimuth + azimuth,
        ghosts: (1..=options.ghosts)
            .rev()
            .map(|i| time - options.ghost_spacing * i as f64)
            .filter(|earlier| *earlier > from - 1e-9)
            .map(position)
            .collect(),
        later: (1..=options.later_ghosts)
            .rev()
            .map(|i| time + options.ghost_spacing * i as f64)
            .filter(|later| *later < to + 1e-9)
            .map(position)
            .collect(),
    };
    Ok(times.into_iter().map(shot).collect())
}

/// Checks the times of the options against a source with a frame rate (1/s) and an end (s).
fn check_times(
    options: &PictureOptions,
    from: f64,
    to: f64,
    [fps, end]: [f64; 2],
) -> Result<(), PictureError> {
    // half a frame of tolerance: times are often given with few digits
    let within = |time: f64| time >= -0.5 / fps && time <= end + 0.5 / fps;
    for time in [from, to].into_iter().chain(options.time) {
        if !within(time) {
            return Err(PictureError(format!(
                "there is no frame at {time} s: give times from 0 to {end:.3} s"
            )));
        }
    }
    if from > to {
        return Err(PictureError(format!("from {from} s to {to} s is backwards: begin before the end")));
    }
    Ok(())
}

/// The time of each picture (s) and how far the turntable has rotated by then (degrees).
fn times(
    options: &PictureOptions,
    from: f64,
    to: f64,
    is_cycle: bool,
) -> Result<Vec<(f64, f64)>, PictureError> {
    let length = to - from;
    let fraction = |i: usize, count: usize| i as f64 / count as f64;
    let rotation =
        |i: usize, count: usize| if options.turntable.is_some() { 360.0 * fraction(i, count) } else { 0.0 };
    match options.layout {
        Layout::Still => Ok(vec![(options.time.unwrap_or(from), 0.0)]),
        Layout::Sheet { columns, rows } => {
            let count = columns * rows;
            let time = |i| options.time.unwrap_or(from + length * fraction(i, (count - 1).max(1)));
            Ok((0..count).map(|i| (time(i), rotation(i, count))).collect())
        }
        Layout::Clip { fps } => {
            let count = clip_length(options, fps, length, is_cycle)?;
            let time = |i: usize| {
                // a turntable that outlasts the take plays it again
                let passed = i as f64 / fps;
                let wrapped =
                    if length > 0.0 && passed > length + 1e-9 { passed % length } else { passed.min(length) };
                options.time.unwrap_or(from + wrapped)
            };
            Ok((0..count).map(|i| (time(i), rotation(i, count))).collect())
        }
    }
}

/// The number of pictures of a clip of a span of this length (s).
fn clip_length(
    options: &PictureOptions,
    fps: f64,
    length: f64,
    is_cycle: bool,
) -> Result<usize, PictureError> {
    let count = match options.turntable {
        Some(seconds) => (seconds * fps).round().max(1.0),
        None if options.time.is_some() => 1.0,
        // the last frame of a cycle is its first
        None if is_cycle => (length * fps).round().max(1.0),
        None => (length * fps + 1e-6).floor() + 1.0,
    };
    if count > SHOT_LIMIT {
        return Err(PictureError(format!(
            "{count} pictures are more than the {SHOT_LIMIT} of an hour at 60 per second: draw a shorter span, or fewer pictures per second"
        )));
    }
    Ok(count as usize)
}

/// Rounds a position to a whole frame if it differs by rounding errors only.
fn snapped(position: f64) -> f64 {
    if (position - position.round()).abs() < 1e-4 { position.round() } else { position }
}
