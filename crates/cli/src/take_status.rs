//! How much of its planned length a recorded take holds, in words for the user.

use sinew_io::{TakeEnding, TakeFile};

/// Warns if a take is unfinished or damaged.
pub(crate) fn warn_if_incomplete(take: &TakeFile) {
    let (path, length) = (take.path().display(), recorded_length(take));
    match take.ending() {
        TakeEnding::Complete => {}
        TakeEnding::Unfinished => warn!("note: {path} is unfinished: {length}"),
        TakeEnding::Damaged { at, bytes, what } => {
            warn!(
                "note: {path} is damaged: its last {bytes} bytes, from byte {at} on, cannot be used: {what}; {length}"
            );
        }
    }
}

/// How many frames and seconds are recorded, out of how many.
pub(crate) fn recorded_length(take: &TakeFile) -> String {
    let (frames, goal) = (take.frame_count(), take.frame_goal());
    let (time, end) = (take.last_time(), take.history().head().seconds);
    format!("{frames} of {goal} frames are recorded, {time:.3} of {end} s")
}
