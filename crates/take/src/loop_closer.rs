//! Loop closing: distributes the mismatch between the last and the first frame over the cycle.
//!
//! Flesh driven by a cyclic motion need not return to the same place after each cycle, even when the transient has decayed. The remaining
//! difference is blended in with a smoothstep, so that the loop has no jump:
//!
//! ```text
//! x'(s) = x(s) + s² (3 − 2 s) (x(0) − x(1)),   0 ≤ s ≤ 1
//! ```

use crate::{Frame, FrameSink, SinkError, SurfaceInfo};

/// A sink that buffers the frames of a cycle in memory, closes the loop and forwards them.
pub struct LoopCloser<S> {
    sink: S,
    /// Number of frames of the cycle after the first.
    frame_count: usize,
    frames: Vec<Frame>,
    gap: f64,
}

impl<S: FrameSink> LoopCloser<S> {
    /// A cycle that ends `frame_count` frames after it began.
    pub fn new(sink: S, frame_count: usize) -> LoopCloser<S> {
        LoopCloser { sink, frame_count, frames: Vec::new(), gap: 0.0 }
    }

    /// The largest distance of a vertex from its start at the end of the cycle (m); 0 before the last frame.
    pub fn gap(&self) -> f64 {
        self.gap
    }

    /// The sink that receives the closed cycle.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// The same, without the cycle.
    pub fn into_sink(self) -> S {
        self.sink
    }

    fn close(&mut self) {
        let Some((first, last)) = self.frames.first().cloned().zip(self.frames.last().cloned()) else {
            return;
        };
        let count = (self.frames.len() - 1).max(1) as f64;
        let end = self.frames.len() - 1;
        for (i, frame) in self.frames.iter_mut().enumerate() {
            let s = i as f64 / count;
            let fraction = (s * s * (3.0 - 2.0 * s)) as f32;
            for ((points, first), last) in frame.surfaces.iter_mut().zip(&first.surfaces).zip(&last.surfaces)
            {
                for ((point, first), last) in points.iter_mut().zip(first).zip(last) {
                    if i == end {
                        let squared: f64 = (0..3).map(|k| f64::from(first[k] - last[k])).map(|d| d * d).sum();
                        self.gap = self.gap.max(squared.sqrt());
                        // to the bit
                        *point = *first;
                    } else {
                        (0..3).for_each(|k| point[k] += fraction * (first[k] - last[k]));
                    }
                }
            }
        }
    }
}

impl<S: FrameSink> FrameSink for LoopCloser<S> {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        (self.frames, self.gap) = (Vec::new(), 0.0);
        self.sink.begin(surfaces, fps)
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.frames.push(frame.clone());
        if self.frames.len() != self.frame_count + 1 {
            return Ok(());
        }
        self.close();
        for frame in core::mem::take(&mut self.frames) {
            self.sink.frame(&frame)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.sink.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct FrameList(Vec<Frame>);

    impl FrameSink for FrameList {
        fn begin(&mut self, _: &[SurfaceInfo], _: f64) -> Result<(), SinkError> {
            Ok(())
        }
        fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
            self.0.push(frame.clone());
            Ok(())
        }
        fn finish(&mut self) -> Result<(), SinkError> {
            Ok(())
        }
    }

    #[test]
    fn last_frame_equals_the_first_and_the_correction_is_smooth() {
        let mut kept = FrameList(Vec::new());
        let mut loop_closer = LoopCloser::new(&mut kept, 4);
        loop_closer.begin(&[], 10.0).unwrap();
        for (i, x) in [0.0, 2.0, 4.0, 2.0, 0.5].into_iter().enumerate() {
            let frame =
                Frame { time: 0.1 * i as f64, surfaces: vec![vec![[x, 0.0, 0.0]]], ..Frame::default() };
            loop_closer.frame(&frame).unwrap();
        }
        assert_eq!(loop_closer.gap(), 0.5);
        let xs: Vec<f32> = kept.0.iter().map(|frame| frame.surfaces[0][0][0]).collect();
        // the correction is −0.5 times 0, 5/32, 1/2, 27/32 and 1
        assert_eq!(xs, [0.0, 2.0 - 0.078_125, 3.75, 2.0 - 0.421_875, 0.0]);
        assert!((kept.0[4].time - 0.4).abs() < 1e-12);
    }
}
