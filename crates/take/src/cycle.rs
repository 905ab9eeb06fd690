//! Periodic response: whether flesh under a cyclic motion returns to where it was a cycle before.
//!
//! The preroll of a loop is repeated cycle by cycle until the largest distance between a node and its place one cycle earlier is within a tolerance, or the cycles allowed are used up.

use crate::Scene;
use sinew_math::Vec3;

/// The distance at which a cycle is closed, as a fraction of the size of all bodies: half the error that files are written with.
pub(crate) const TOLERANCE: f64 = 5e-4;
/// The longest preroll of a loop (s): flesh that has not closed its cycle by then swings with another period than its bones.
pub(crate) const LONGEST: f64 = 30.0;

/// The cycle of a take that is one period of its motions.
#[derive(Clone, Debug)]
pub(crate) struct Cycle {
    /// Its frames.
    frames: usize,
    /// Cycles that may still be added to the preroll.
    left: usize,
    /// Where nodes were at the end of the last cycle.
    last: Option<Vec<Vec3>>,
}

impl Cycle {
    /// The cycle of a scene; `None` unless every motion plays cycles before the take, and the take is one of them.
    pub(crate) fn of(scene: &Scene) -> Option<Cycle> {
        let is_cycle = |period: Option<f64>| {
            period.is_some_and(|period| (period - scene.seconds).abs() <= 1e-6 * period)
        };
        let performances = &scene.performances;
        let loops = performances
            .iter()
            .all(|performance| performance.loop_preroll > 0.0 && is_cycle(performance.period()));
        let frames = scene.frame_count();
        let left = (LONGEST / scene.seconds.max(1e-9)).floor().min(1e6) as usize;
        (loops && !performances.is_empty() && frames > 0).then_some(Cycle { frames, left, last: None })
    }

    /// Looks at the nodes with so many frames of preroll to come, and returns how many are to be added to them: a cycle if this one has not closed.
    pub(crate) fn frames_to_add(&mut self, frames_to_come: usize, nodes: &[Vec3]) -> usize {
        if !frames_to_come.is_multiple_of(self.frames) {
            return 0;
        }
        let before = self.last.replace(nodes.to_vec());
        let is_closed = before.is_some_and(|before| gap(&before, nodes) <= TOLERANCE * size(nodes));
        if frames_to_come > 0 || is_closed || self.left == 0 {
            return 0;
        }
        self.left -= 1;
        self.frames
    }
}

/// The largest distance of a node from where it was (m).
fn gap(before: &[Vec3], now: &[Vec3]) -> f64 {
    before.iter().zip(now).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// The diagonal of the box around all nodes (m).
fn size(nodes: &[Vec3]) -> f64 {
    let empty = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    let (low, high) = nodes.iter().fold(empty, |(low, high), x| (low.inf(x), high.sup(x)));
    if low.x <= high.x { (high - low).norm() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the cycles until one closes, if the distance to the last shrinks by a factor each time.
    fn cycles(factor: f64) -> usize {
        let mut cycle = Cycle { frames: 10, left: 50, last: None };
        let mut offset = 0.1;
        let mut count = 0;
        loop {
            let nodes = [Vec3::zeros(), Vec3::new(1.0 + offset, 0.0, 0.0)];
            assert_eq!(cycle.frames_to_add(3, &nodes), 0);
            count += 1;
            if cycle.frames_to_add(0, &nodes) == 0 {
                return count;
            }
            offset *= factor;
        }
    }

    #[test]
    fn cycles_are_added_until_one_closes_or_there_are_enough() {
        // the first has none before it; the others differ by 0.1 (1 − f) fⁿ⁻² from the one before
        let expected = |f: f64| {
            2 + (0..).find(|n| 0.1 * (1.0 - f) * f.powi(*n) <= 5e-4 * (1.0 + 0.1 * f.powi(*n + 1))).unwrap()
                as usize
        };
        for factor in [0.0, 0.3, 0.8] {
            assert_eq!(cycles(factor), expected(factor), "{factor}");
        }
        // one that swings to and fro never does
        assert_eq!(cycles(-1.0), 51);
    }
}
