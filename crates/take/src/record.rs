//! Recording of states, and replay of recorded states without simulation.

use crate::sink_group::SinkGroup;
use crate::{FrameSink, Player, SinkError};
use sinew_sim::{Model, State};

/// A recorder: receives the whole state of a take at every frame, not only what a picture needs.
pub trait StateSink {
    /// Called for every frame in order, including the one at which the take starts or resumes.
    fn frame(&mut self, player: &Player) -> Result<(), SinkError>;
    /// Called once after the last frame of a complete take.
    fn finish(&mut self, player: &Player) -> Result<(), SinkError>;
    /// Called instead of `finish` if the take fails, with the player at the last good frame: the recorder must write what it still buffers.
    /// The player's caller receives the error itself.
    fn interrupt(&mut self, player: &Player);
}

/// Sends recorded states to the sinks without simulation. Calls `watch` after every frame with the index of the frame.
pub fn replay<E: From<SinkError>>(
    model: &Model,
    fps: f64,
    states: impl IntoIterator<Item = Result<State, E>>,
    sinks: &mut [&mut dyn FrameSink],
    mut watch: impl FnMut(usize),
) -> Result<(), E> {
    let mut sink_group = SinkGroup::begin(model, fps, sinks)?;
    for (frame, state) in states.into_iter().enumerate() {
        sink_group.frame(model, &state?)?;
        watch(frame);
    }
    Ok(sink_group.finish()?)
}
