//! Who keeps the states of a take, and how they are played again without simulating.

use crate::sink_group::SinkGroup;
use crate::{FrameSink, Player, SinkError, Stopped, WatchAnswer, watch};
use sinew_sim::{Model, State};

/// Something that wants the whole of a take at every frame, not only its picture: a recorder.
pub trait StateSink {
    /// Called for every frame, in order, the one where the take is begun or resumed included.
    fn frame(&mut self, player: &Player) -> Result<(), SinkError>;
    /// Called once, after the last frame of a take that is complete.
    fn finish(&mut self, player: &Player) -> Result<(), SinkError>;
    /// Called instead if the take cannot go on, with the last frame that was reached: what is not yet kept must be kept now. Why the take
    /// ended is told elsewhere.
    fn interrupt(&mut self, player: &Player);
}

/// Plays recorded states into the sinks, without simulating. `watch` is called after every frame with how many followed the first, and may stop it.
pub fn replay<E: From<SinkError> + From<Stopped>, Answer: WatchAnswer>(
    model: &Model,
    fps: f64,
    states: impl IntoIterator<Item = Result<State, E>>,
    sinks: &mut [&mut dyn FrameSink],
    mut watch: impl FnMut(usize) -> Answer,
) -> Result<(), E> {
    let mut sink_group = SinkGroup::gather(model, fps, sinks)?;
    for (frame, state) in states.into_iter().enumerate() {
        sink_group.show(model, &state?)?;
        watch::check(watch(frame))?;
    }
    Ok(sink_group.dismiss()?)
}
