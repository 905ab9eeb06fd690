//! The seam of a cycle: its last frame is its first.

use crate::{Frame, FrameSink, SinkError, SurfaceInfo};

/// Hands frames on, the first again in place of the last, and measures what that hides.
pub struct Seam<S> {
    sink: S,
    /// Frames of the cycle, the first not counted.
    frame_count: usize,
    seen: usize,
    first: Frame,
    gap: f64,
}

impl<S: FrameSink> Seam<S> {
    /// A cycle that ends so many frames after it began.
    pub fn new(sink: S, frame_count: usize) -> Seam<S> {
        Seam { sink, frame_count, seen: 0, first: Frame::default(), gap: 0.0 }
    }

    /// Frames of the cycle, the first not counted.
    pub fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// How far any vertex of the last frame was from where it is in the first (m).
    pub fn gap(&self) -> f64 {
        self.gap
    }
}

impl<S: FrameSink> FrameSink for Seam<S> {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        self.seen = 0;
        self.sink.begin(surfaces, fps)
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.seen += 1;
        if self.seen == 1 {
            self.first.clone_from(frame);
        }
        if self.seen != self.frame_count + 1 {
            return self.sink.frame(frame);
        }
        for (first, last) in self.first.surfaces.iter().flatten().zip(frame.surfaces.iter().flatten()) {
            let squared: f64 = (0..3).map(|k| f64::from(first[k] - last[k])).map(|d| d * d).sum();
            self.gap = self.gap.max(squared.sqrt());
        }
        self.first.time = frame.time;
        self.sink.frame(&self.first)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.sink.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Kept(Vec<Frame>);

    impl FrameSink for Kept {
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
    fn the_last_frame_is_the_first_at_its_own_time() {
        let mut kept = Kept(Vec::new());
        let mut seam = Seam::new(&mut kept, 3);
        seam.begin(&[], 10.0).unwrap();
        for (i, x) in [0.0, 2.0, 4.0, 0.5].into_iter().enumerate() {
            let frame =
                Frame { time: 0.1 * i as f64, surfaces: vec![vec![[x, 0.0, 0.0]]], ..Frame::default() };
            seam.frame(&frame).unwrap();
        }
        assert_eq!(seam.gap(), 0.5);
        let xs: Vec<f32> = kept.0.iter().map(|frame| frame.surfaces[0][0][0]).collect();
        assert_eq!(xs, [0.0, 2.0, 4.0, 0.0]);
        assert!((kept.0[3].time - 0.3).abs() < 1e-12);
    }
}
