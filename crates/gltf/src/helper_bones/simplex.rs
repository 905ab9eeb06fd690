//! The point of least norm in a convex hull: an active-set method on the Gram matrix.
//!
//! ```text
//! minimise ½ wᵀ G w   subject to   Σ w = 1,   w ≥ 0                       [Wolfe1976]
//! ```
//!
//! At the minimum (G w)ⱼ ≥ wᵀ G w for all j, with equality where w_j > 0. On a set S of positive weights w_S ∝ G_S⁻¹ 1. A non-negative
//! least-squares fit Σ w_j a_j ≈ x with Σ w = 1 is this problem with G_jk = (a_j − x)·(a_k − x), since x − Σ w a = Σ w (x − a).

/// The most candidates of one problem.
pub(super) const MAX_CANDIDATES: usize = 32;
/// Added to the diagonal, as a fraction of its mean: what single precision leaves uncertain of a Gram matrix.
const RIDGE: f64 = 1e-7;
/// How far below the objective (G w)ⱼ must be for j to enter, as a fraction: round-off of a Cholesky solve with the ridge.
const ENTER: f64 = 1e-9;

/// A symmetric positive semidefinite matrix of up to [`MAX_CANDIDATES`] rows.
#[derive(Clone, Debug)]
pub(super) struct Gram {
    count: usize,
    values: Vec<f64>,
}

/// Positive weights, by candidate, and the objective wᵀ G w.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct HullPoint {
    pub(super) weights: Vec<(usize, f64)>,
    pub(super) value: f64,
}

impl Gram {
    /// The matrix of entries G_jk, asked for k ≤ j only, with the ridge.
    pub(super) fn of(count: usize, entry: impl Fn(usize, usize) -> f64) -> Gram {
        debug_assert!(count <= MAX_CANDIDATES);
        let mut values = vec![0.0; count * count];
        for j in 0..count {
            for k in 0..=j {
                values[j * count + k] = entry(j, k);
                values[k * count + j] = values[j * count + k];
            }
        }
        let trace: f64 = (0..count).map(|j| values[j * count + j]).sum();
        let ridge = RIDGE * trace / count.max(1) as f64;
        (0..count).for_each(|j| values[j * count + j] += ridge);
        Gram { count, values }
    }

    #[inline]
    fn at(&self, j: usize, k: usize) -> f64 {
        self.values[j * self.count + k]
    }

    /// wᵀ G w.
    pub(super) fn value(&self, weights: &[(usize, f64)]) -> f64 {
        weights.iter().map(|(j, w)| w * self.directional(*j, weights)).sum()
    }

    /// (G w)ⱼ, half the derivative of the objective along candidate j.
    #[inline]
    pub(super) fn directional(&self, j: usize, weights: &[(usize, f64)]) -> f64 {
        weights.iter().map(|(k, w)| self.at(j, *k) * w).sum()
    }

    /// The minimum over the candidates of a list, which is not empty.
    pub(super) fn minimise(&self, among: &[usize]) -> HullPoint {
        let first = among.iter().copied().min_by(|a, b| self.at(*a, *a).total_cmp(&self.at(*b, *b)));
        let mut weights: Vec<(usize, f64)> = first.map(|first| (first, 1.0)).into_iter().collect();
        // each round adds one candidate; the objective falls, so no set of them returns
        for _ in 0..4 * among.len() {
            let value = self.value(&weights);
            let outside = among.iter().filter(|j| weights.iter().all(|(k, _)| k != *j));
            let products = outside.map(|j| (*j, self.directional(*j, &weights)));
            let Some((enters, product)) = products.min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
            // the comparison is false for NaN too
            let falls = product < value * (1.0 - ENTER);
            if !falls {
                break;
            }
            let before = weights.clone();
            weights.push((enters, 0.0));
            self.descend(&mut weights);
            let better = self.value(&weights) < value;
            if !better {
                weights = before;
                break;
            }
        }
        weights.sort_by_key(|(j, _)| *j);
        let value = self.value(&weights);
        HullPoint { weights, value }
    }

    /// The minimum over the affine hull of the candidates that have a place in `weights`, those that would become negative left out.
    fn descend(&self, weights: &mut Vec<(usize, f64)>) {
        loop {
            let Some(wanted) = self.affine_minimum(weights) else { return };
            // as far as all stay non-negative
            let step = weights.iter().zip(&wanted).filter(|(_, wanted)| **wanted <= 0.0);
            let step =
                step.map(|((_, w), wanted)| w / (w - wanted)).fold(1.0f64, |a, b| if b < a { b } else { a });
            let step = if step.is_finite() { step } else { 0.0 };
            for ((_, w), wanted) in weights.iter_mut().zip(&wanted) {
                *w += step * (wanted - *w);
            }
            if step >= 1.0 {
                return;
            }
            // the one that met its bound leaves; there is one, since the step was cut by it
            let left = (0..weights.len()).filter(|k| wanted[*k] <= 0.0);
            let Some(left) = left.min_by(|a, b| weights[*a].1.total_cmp(&weights[*b].1)) else { return };
            weights.remove(left);
            if weights.len() == 1 {
                weights[0].1 = 1.0;
                return;
            }
        }
    }

    /// G_S⁻¹ 1, scaled to a sum of 1, by a Cholesky factorisation; `None` where G_S is singular.
    fn affine_minimum(&self, weights: &[(usize, f64)]) -> Option<Vec<f64>> {
        // few are the rule
        match weights.len() {
            n if n <= 8 => self.affine_minimum_with(&mut [0.0; 8 * 8], weights),
            _ => self.affine_minimum_with(&mut [0.0; MAX_CANDIDATES * MAX_CANDIDATES], weights),
        }
    }

    /// The same, with room for the factor.
    fn affine_minimum_with(&self, factor: &mut [f64], weights: &[(usize, f64)]) -> Option<Vec<f64>> {
        let n = weights.len();
        let mut solution = vec![1.0; n];
        for j in 0..n {
            for k in 0..=j {
                let known: f64 = (0..k).map(|m| factor[j * n + m] * factor[k * n + m]).sum();
                let rest = self.at(weights[j].0, weights[k].0) - known;
                let is_positive = rest > 0.0;
                if j == k && !is_positive {
                    return None;
                }
                factor[j * n + k] = if j == k { rest.sqrt() } else { rest / factor[k * n + k] };
            }
            let known: f64 = (0..j).map(|m| factor[j * n + m] * solution[m]).sum();
            solution[j] = (solution[j] - known) / factor[j * n + j];
        }
        for j in (0..n).rev() {
            let known: f64 = (j + 1..n).map(|m| factor[m * n + j] * solution[m]).sum();
            solution[j] = (solution[j] - known) / factor[j * n + j];
        }
        let sum: f64 = solution.iter().sum();
        solution.iter_mut().for_each(|w| *w /= sum);
        (sum.is_finite() && sum > 0.0).then_some(solution)
    }

    /// The minimum with at most `limit` positive weights, by backward elimination and swaps: from the minimum over all candidates the one
    /// that costs least is left out until few enough remain; then each is exchanged for any other candidate while that lowers the objective.
    /// Never worse than the minimum over `current`, a list of at most `limit`.
    pub(super) fn minimise_sparse(&self, limit: usize, current: &[usize]) -> HullPoint {
        // backward elimination
        let all: Vec<usize> = (0..self.count).collect();
        let mut best = self.minimise(&all);
        while best.weights.len() > limit {
            let support: Vec<usize> = best.weights.iter().map(|(j, _)| *j).collect();
            let without = |left: usize| {
                let rest: Vec<usize> = support.iter().copied().filter(|j| *j != left).collect();
                self.minimise(&rest)
            };
            let tried = support.iter().map(|left| without(*left));
            let Some(next) = tried.min_by(|a, b| a.value.total_cmp(&b.value)) else { break };
            best = next;
        }
        if !current.is_empty() {
            let kept = self.minimise(current);
            best = if kept.value < best.value { kept } else { best };
        }

        // swaps
        for _ in 0..self.count {
            let support: Vec<usize> = best.weights.iter().map(|(j, _)| *j).collect();
            let outside = || all.iter().copied().filter(|j| !support.contains(j));
            let mut swapped: Option<HullPoint> = None;
            let mut consider = |set: &[usize]| {
                let found = self.minimise(set);
                if found.value < swapped.as_ref().map_or(best.value * (1.0 - 1e-6), |best| best.value) {
                    swapped = Some(found);
                }
            };
            for enters in outside() {
                // with one that does not lower the objective beside all others, no fewer of them do
                if self.directional(enters, &best.weights) >= best.value {
                    continue;
                }
                if support.len() < limit {
                    let set: Vec<usize> = support.iter().copied().chain([enters]).collect();
                    consider(&set);
                    continue;
                }
                for leaves in 0..support.len() {
                    let mut set = support.clone();
                    set[leaves] = enters;
                    consider(&set);
                }
            }
            match swapped {
                Some(found) => best = found,
                None => break,
            }
        }
        best
    }
}
