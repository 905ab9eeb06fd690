//! Gaussian low-pass filter for captured motion.
//!
//! Optical markers swap and jitter, and flesh responds to accelerations: at 120 frames per second, a joint that is off by one degree in a
//! single frame accelerates a point half a metre away by a thousand metres per second squared. The filter averages each frame with its
//! neighbours in the tangent space of the joint coordinates:
//!
//! ```text
//! q'(t) = q(t) · exp(Σₖ wₖ log(q(t)⁻¹ q(tₖ))),   wₖ ∝ exp(−(tₖ − t)²/(2σ²)),   σ = √(ln 2)/(2π f)
//! ```
//!
//! f is the cutoff frequency: the filter halves the power of a vibration at f. Frames beyond a sudden cut do not count.

use crate::SkeletonMotion;
use core::f64::consts::{LN_2, TAU};
use sinew_math::{Vec3, real};

/// Half-width of the window in units of σ: the weights beyond it sum to less than 0.3 %.
const REACH: f64 = 3.0;

impl SkeletonMotion {
    /// Returns the motion low-pass filtered at a cutoff frequency (Hz), where half the power remains. The frame times and the first and last
    /// frame stay as they are.
    pub fn smoothed(&self, frequency: f64) -> SkeletonMotion {
        let sigma = LN_2.sqrt() / (TAU * frequency) / self.frame_seconds();
        let reach = (REACH * sigma).ceil();
        // below a fifth of a frame the neighbours' weight is less than 10⁻⁵
        if !(sigma > 0.2 && reach.is_finite()) {
            return self.clone();
        }
        let weight = |offset: f64| real::exp(-0.5 * (offset / sigma) * (offset / sigma));
        let count = self.frame_count();
        let mut frames = Vec::with_capacity(count * self.frame(0).len());
        for i in 0..count {
            // a symmetric window, so that the ends stay and the average has no bias towards the middle
            let reach = (reach as usize).min(i).min(count - 1 - i);
            let mut smooth = self.frame(i).to_vec();
            for (index, slot) in self.slots().iter().enumerate() {
                // and none across a cut
                let is_cut =
                    |offset: &usize| self.is_cut(index, i - offset) || self.is_cut(index, i + offset - 1);
                let reach = (1..=reach).find(is_cut).map_or(reach, |cut| cut - 1);
                let own = &self.frame(i)[slot.q.clone()];
                let (mut sum, mut whole) = (Vec3::zeros(), 1.0);
                for offset in 1..=reach {
                    let w = weight(offset as f64);
                    for other in [i - offset, i + offset] {
                        sum += w * slot.part.difference(own, &self.frame(other)[slot.q.clone()]);
                        whole += w;
                    }
                }
                slot.part.integrate(own, &(sum / whole), &mut smooth[slot.q.clone()]);
            }
            frames.extend_from_slice(&smooth);
        }
        self.with_frames(frames)
    }
}

#[cfg(test)]
mod tests {
    use crate::SkeletonMotion;
    use crate::skeleton_motion::tests::limb;
    use sinew_math::real;
    use sinew_skeleton::{BoneId, Skeleton, SkeletonState};

    fn nodding(skeleton: &Skeleton, frequency: f64) -> SkeletonMotion {
        let mut frames = Vec::new();
        for i in 0..240 {
            let mut state = SkeletonState::at_rest(skeleton);
            let angle = 0.2 * real::sin(core::f64::consts::TAU * frequency * f64::from(i) / 120.0);
            state.set_chart_of(skeleton, BoneId(1), &[angle, 0.0, 0.0]);
            frames.extend(state.q);
        }
        SkeletonMotion::build(skeleton, 1.0 / 120.0, frames).unwrap()
    }

    fn swing(skeleton: &Skeleton, motion: &SkeletonMotion) -> f64 {
        let angle = |i: usize| {
            let mut state = SkeletonState::at_rest(skeleton);
            state.q.copy_from_slice(motion.frame(i));
            state.chart_of(skeleton, BoneId(1))[0].abs()
        };
        (60..180).map(angle).fold(0.0, f64::max)
    }

    /// The amplitude response is exp(−(2π f σ)²/2): 1/√2 at the cutoff, 0.99 at a sixth of it, 0.06 at 2.83 times it. Samples at 120 Hz miss
    /// the peak of a 20 Hz wave by a factor of cos(π/12) at worst.
    #[test]
    fn filter_passes_low_frequencies_and_removes_jitter() {
        let skeleton = limb();
        for (frequency, left) in
            [(8.0 / 6.0, 0.990), (8.0, core::f64::consts::FRAC_1_SQRT_2), (22.63, 0.0625)]
        {
            let motion = nodding(&skeleton, frequency);
            let ratio = swing(&skeleton, &motion.smoothed(8.0)) / swing(&skeleton, &motion);
            assert!((ratio - left).abs() < 0.01, "{frequency} Hz: {ratio}");
        }
    }

    #[test]
    fn first_and_last_frame_and_frame_count_are_unchanged() {
        let skeleton = limb();
        let motion = nodding(&skeleton, 3.0);
        let smooth = motion.smoothed(8.0);
        assert_eq!(smooth.frame_count(), motion.frame_count());
        for i in [0, 239] {
            // quaternions are normalised again
            let pairs = smooth.frame(i).iter().zip(motion.frame(i));
            assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 4.0 * f64::EPSILON), "frame {i}");
        }
        // a cutoff far above the Nyquist frequency changes nothing
        assert_eq!(motion.smoothed(1e4), motion);
    }
}
