//! The sinks of a take as one.

use crate::{Frame, FrameSink, SinkError, SurfaceInfo};
use sinew_sim::{Model, State};

/// The sinks of a take and the frame they receive.
pub(crate) struct SinkGroup<'a, 'b> {
    sinks: &'a mut [&'b mut dyn FrameSink],
    frame: Frame,
}

impl<'a, 'b> SinkGroup<'a, 'b> {
    /// Begins all sinks.
    pub(crate) fn begin(
        model: &Model,
        fps: f64,
        sinks: &'a mut [&'b mut dyn FrameSink],
    ) -> Result<SinkGroup<'a, 'b>, SinkError> {
        let surfaces: Vec<SurfaceInfo> = model.bodies().iter().map(SurfaceInfo::of).collect();
        for sink in sinks.iter_mut() {
            sink.begin(&surfaces, fps)?;
        }
        Ok(SinkGroup { sinks, frame: Frame::default() })
    }

    /// Sends the frame of a state to all sinks.
    pub(crate) fn frame(&mut self, model: &Model, state: &State) -> Result<(), SinkError> {
        if self.sinks.is_empty() {
            return Ok(());
        }
        self.frame.update(model, state);
        self.sinks.iter_mut().try_for_each(|sink| sink.frame(&self.frame))
    }

    /// Finishes all sinks.
    pub(crate) fn finish(self) -> Result<(), SinkError> {
        self.sinks.iter_mut().try_for_each(|sink| sink.finish())
    }
}
