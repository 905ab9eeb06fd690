//! Reads the `MOTION` section of a BVH file: the channel values of every frame.

use super::tokens::{Tokens, finite};
use super::{BvhChannel, BvhJoint};
use crate::text::{number, words};
use sinew_files::ReadError;

/// The frames of a file, in metres and radians.
pub(super) struct Motion {
    pub(super) frame_seconds: f64,
    pub(super) frame_count: usize,
    pub(super) values: Vec<f64>,
}

/// Reads everything after the keyword `MOTION`.
pub(super) fn read(tokens: &mut Tokens, joints: &[BvhJoint], scale: f64) -> Result<Motion, ReadError> {
    // the header of the section
    let stated = read_count(tokens)?;
    let count_line = tokens.line();
    let frame_seconds = read_frame_seconds(tokens)?;
    let units = joints.iter().flat_map(|joint| &joint.channels).map(|channel| match channel {
        BvhChannel::Position(_) => scale,
        BvhChannel::Rotation(_) => core::f64::consts::PI / 180.0,
    });
    let units: Vec<f64> = units.collect();

    // one line per frame
    let (mut values, mut frame_count) = (Vec::new(), 0);
    while let Some((line, text)) = tokens.next_line() {
        if text.trim_ascii().is_empty() {
            continue;
        }
        read_frame(text, line, &units, &mut values)?;
        frame_count += 1;
    }

    // without channels a frame has no numbers, and so no line
    if units.is_empty() {
        return Ok(Motion { frame_seconds, frame_count: 0, values });
    }
    if frame_count as u64 != stated {
        return Err(ReadError::line(
            count_line,
            format!(
                "the file states {stated} frames but has {frame_count}: correct the count, or export the file again"
            ),
        ));
    }
    Ok(Motion { frame_seconds, frame_count, values })
}

/// `Frames: n`, with or without a space before the number.
fn read_count(tokens: &mut Tokens) -> Result<u64, ReadError> {
    let word = after_colon(tokens, "FRAMES")?;
    number(word, tokens.line(), "the number of frames")
}

fn read_frame_seconds(tokens: &mut Tokens) -> Result<f64, ReadError> {
    tokens.expect("FRAME")?;
    let word = after_colon(tokens, "TIME")?;
    let line = tokens.line();
    let seconds = finite(word, line, "the frame time")?;
    if seconds > 0.0 {
        Ok(seconds)
    } else {
        Err(ReadError::line(
            line,
            format!("the frame time is {seconds} s: it must be above 0, for example 0.008333 or 0.033333"),
        ))
    }
}

/// The word after `KEY:`, `KEY :` or in `KEY:word`.
fn after_colon<'a>(tokens: &mut Tokens<'a>, key: &str) -> Result<&'a [u8], ReadError> {
    let word = tokens.need(&format!("`{key}:`"))?;
    let wrong = |tokens: &Tokens, word: &[u8]| {
        let found = crate::text::quote(word);
        ReadError::line(tokens.line(), format!("expected `{key}:`, found `{found}`"))
    };
    let (name, value) = match word.iter().position(|b| *b == b':') {
        Some(colon) => (&word[..colon], &word[colon + 1..]),
        None => {
            let colon = tokens.need("`:`")?;
            (word, colon.strip_prefix(b":").ok_or_else(|| wrong(tokens, colon))?)
        }
    };
    if !name.eq_ignore_ascii_case(key.as_bytes()) {
        return Err(wrong(tokens, word));
    }
    if value.is_empty() { tokens.need("a number") } else { Ok(value) }
}

fn read_frame(text: &[u8], line: usize, units: &[f64], values: &mut Vec<f64>) -> Result<(), ReadError> {
    let (count, start) = (units.len(), values.len());
    for (word, unit) in words(text).zip(units) {
        let value = finite(word, line, "a channel value")? * unit;
        if !value.is_finite() {
            return Err(ReadError::line(line, "a channel value is too large"));
        }
        values.push(value);
    }
    let found = words(text).count();
    if found == count && values.len() == start + count {
        return Ok(());
    }
    let before = start.checked_div(count).unwrap_or(0);
    Err(ReadError::line(
        line,
        format!(
            "this frame has {found} numbers, but the joints have {count} channels ({before} complete frames precede it)"
        ),
    ))
}
