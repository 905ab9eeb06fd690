//! Steps that learn from those before them.
//!
//! Of a fixed point sought by steps gₖ from Xₖ, the last changes ΔX and ΔG tell where the steps would vanish if they were linear:   `[Anderson1965]`
//!
//! ```text
//! γ = argmin |gₖ − ΔG γ|,      Xₖ₊₁ = Xₖ + gₖ − (ΔX + ΔG) γ
//! ```

use sinew_math::Vec3;
use sinew_math::nalgebra::{DMatrix, DVector};

/// What is kept of earlier steps.
#[derive(Default)]
pub(super) struct Acceleration {
    last: Option<(Vec<Vec3>, Vec<Vec3>)>,
    /// Changes of places and of steps, the oldest first.
    changes: Vec<(Vec<Vec3>, Vec<Vec3>)>,
}

/// How many changes are kept: more are too old to be told by the same line.
const MAX_CHANGES: usize = 5;
/// Changes that depend on each other are told apart down to this fraction of their size.
const LEAST: f64 = 1e-10;

impl Acceleration {
    /// Forgets all changes up to the last place.
    pub(super) fn forget(&mut self) {
        self.changes.clear();
    }

    /// Where to go from a place whose own step is given; nothing before the second.
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
        let shift = LEAST * matrix.trace();
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
