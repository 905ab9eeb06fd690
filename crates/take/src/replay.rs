//! How recorded states are played again without simulating.

use crate::sink_group::SinkGroup;
use crate::{FrameSink, SinkError, Stopped, WatchAnswer, watch};
use sinew_sim::{Model, State};

/// Plays recorded states into the sinks, without simulating. `watch` is called after every frame with how many followed the first; its answer may stop the replay.
pub fn replay<E: From<SinkError> + From<Stopped>, Answer: WatchAnswer>(
    model: &Model,
    fps: f64,
    states: impl IntoIterator<Item = Result<State, E>>,
    sinks: &mut [&mut dyn FrameSink],
    mut watch: impl FnMut(usize) -> Answer,
) -> Result<(), E> {
    let mut sink_group = SinkGroup::begin(model, fps, sinks)?;
    for (frame, state) in states.into_iter().enumerate() {
        sink_group.frame(model, &state?)?;
        watch::check(watch(frame))?;
    }
    Ok(sink_group.finish()?)
}
