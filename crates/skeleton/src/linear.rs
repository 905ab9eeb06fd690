//! Dense symmetric matrix with a damped Cholesky solve, in reused memory.

/// The lower triangle of a symmetric matrix, row by row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symmetric {
    count: usize,
    entries: Vec<f64>,
    factor: Vec<f64>,
}

impl Symmetric {
    /// Resets to the zero matrix of a size.
    pub(crate) fn reset(&mut self, count: usize) {
        self.count = count;
        self.entries.clear();
        self.entries.resize(count * (count + 1) / 2, 0.0);
    }

    /// Adds to entry (i, j), j ≤ i.
    #[inline]
    pub(crate) fn add(&mut self, i: usize, j: usize, value: f64) {
        self.entries[i * (i + 1) / 2 + j] += value;
    }

    /// Zeroes row and column i off the diagonal.
    pub(crate) fn isolate(&mut self, i: usize) {
        for j in (0..self.count).filter(|&j| j != i) {
            let (low, high) = (i.min(j), i.max(j));
            self.entries[high * (high + 1) / 2 + low] = 0.0;
        }
    }

    /// The mean of the diagonal; 0 for an empty matrix.
    pub(crate) fn mean_diagonal(&self) -> f64 {
        let sum: f64 = (0..self.count).map(|i| self.entries[i * (i + 1) / 2 + i]).sum();
        sum / self.count.max(1) as f64
    }
}

/// The largest magnitude.
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// x ← (A + λ 1)⁻¹ x by Cholesky; false if the matrix is not positive definite.
pub(crate) fn solve_damped(a: &mut Symmetric, damping: f64, x: &mut [f64]) -> bool {
    let Symmetric { count, entries, factor } = a;
    factor.clone_from(entries);
    let l = factor;

    // factor A + λ 1 = L Lᵀ
    for i in 0..*count {
        let row = i * (i + 1) / 2;
        for j in 0..=i {
            let other = j * (j + 1) / 2;
            let mut sum = l[row + j];
            for k in 0..j {
                sum -= l[row + k] * l[other + k];
            }
            if i > j {
                l[row + j] = sum / l[other + j];
            } else if sum + damping > 0.0 && (sum + damping).is_finite() {
                l[row + j] = (sum + damping).sqrt();
            } else {
                return false;
            }
        }
    }

    // forward and backward substitution
    for i in 0..*count {
        let row = i * (i + 1) / 2;
        for k in 0..i {
            x[i] -= l[row + k] * x[k];
        }
        x[i] /= l[row + i];
    }
    for i in (0..*count).rev() {
        x[i] /= l[i * (i + 1) / 2 + i];
        for k in 0..i {
            x[k] -= l[i * (i + 1) / 2 + k] * x[i];
        }
    }
    x[..*count].iter().all(|x| x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_damped_solve_inverts_the_damped_product() {
        let mut a = Symmetric::default();
        a.reset(3);
        for (i, j, value) in [(0, 0, 2.0), (1, 0, -1.0), (1, 1, 3.0), (2, 1, 0.5), (2, 2, 1.0)] {
            a.add(i, j, value);
        }
        // (A + 0.5) (1, 2, 3)
        let mut x = [2.5 - 2.0, -1.0 + 7.0 + 1.5, 1.0 + 4.5];
        assert!(solve_damped(&mut a, 0.5, &mut x));
        for (found, wanted) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - wanted).abs() < 1e-14);
        }
        assert!(!solve_damped(&mut a, -5.0, &mut x));
    }
}
