//! Anderson acceleration of a fixed-point iteration.
//!
//! For a fixed-point iteration with increments gₖ at Xₖ, the last differences ΔX and ΔG predict where the increments would vanish if they were linear:   `[Anderson1965]`
//!
//! ```text
//! γ = argmin |gₖ − ΔG γ|,      Xₖ₊₁ = Xₖ + gₖ − (ΔX + ΔG) γ
//! ```

use sinew_math::Vec3;
use sinew_math::nalgebra::{DMatrix, DVector};

/// History of the iteration.
#[derive(Default)]
pub(super) struct Acceleration {
    last: Option<(Vec<Vec3>, Vec<Vec3>)>,
    /// Differences of iterates and of increments, the oldest first.
    changes: Vec<(Vec<Vec3>, Vec<Vec3>)>,
}

/// Length of the history: older differences are outside the range of linearity.
const MAX_CHANGES: usize = 5;
/// Relative Tikhonov regularisation of the least-squares problem, for nearly dependent differences.
const REGULARISATION: f64 = 1e-10;

impl Acceleration {
    /// Clears the history up to the last iterate.
    pub(super) fn forget(&mut self) {
        self.changes.clear();
    }

    /// The next iterate from the current one and its increment; none at the first.
    pub(super) fn next(&mut self, x: &[Vec3], step: &[Vec3]) -> Option<Vec<Vec3>> {
        let difference = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<Vec3>>();
        if let Some((last_x, last_step)) = &self.last {
            self.changes.push((difference(x, last_x), difference(step, last_step)));
            if self.changes.len() > MAX_CHANGES {
                self.changes.remove(0);
            }
        }
        self.last = Some((x.to_vec(), step.to_vec()));
        let n = self.changes.len();
        if n == 0 {
            return None;
        }
        let mut matrix = DMatrix::from_fn(n, n, |i, j| dot(&self.changes[i].1, &self.changes[j].1));
        let shift = REGULARISATION * matrix.trace();
        (0..n).for_each(|i| matrix[(i, i)] += shift);
        let right = DVector::from_fn(n, |i, _| dot(&self.changes[i].1, step));
        let gamma = matrix.cholesky()?.solve(&right);
        let mut next: Vec<Vec3> = x.iter().zip(step).map(|(x, step)| x + step).collect();
        for ((moved, changed), gamma) in self.changes.iter().zip(gamma.iter()) {
            for (next, (moved, changed)) in next.iter_mut().zip(moved.iter().zip(changed)) {
                *next -= *gamma * (moved + changed);
            }
        }
        Some(next)
    }
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}
