//! Small dense least squares with linear inequalities, by non-negative least squares (Lawson and Hanson's active-set method).
//!
//! ```text
//! min ‖E x − f‖   subject to   G x ≥ h                                     [LawsonHanson1974, ch. 23]
//! ```
//!
//! With E = Q R and y = R x − Qᵀf it is the problem of least distance, min ‖y‖ subject to A y ≥ b, A = G R⁻¹, b = h − A Qᵀf. Its solution follows
//! from the residual r of the non-negative least squares problem
//!
//! ```text
//! min ‖[Aᵀ; bᵀ] u − (0, …, 0, 1)‖   subject to   u ≥ 0,          y = −r₁…ₙ / rₙ₊₁
//! ```
//!
//! which vanishes if the inequalities contradict each other. For tens of unknowns: matrices are dense, and every solve starts anew, so that equal inputs give equal bits.

/// A dense matrix, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    width: usize,
    entries: Vec<f64>,
}

impl Rows {
    /// A matrix without rows, of so many columns.
    pub fn new(width: usize) -> Rows {
        Rows { width, entries: Vec::new() }
    }

    /// Removes all rows and sets the number of columns.
    pub fn reset(&mut self, width: usize) {
        self.width = width;
        self.entries.clear();
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn count(&self) -> usize {
        self.entries.len().checked_div(self.width).unwrap_or(0)
    }

    /// One row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.width..(i + 1) * self.width]
    }

    /// Appends a row.
    ///
    /// # Panics
    /// If its length is not the number of columns.
    pub fn push(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.width, "a row of another length");
        self.entries.extend_from_slice(row);
    }

    /// Appends a row of zeros, and returns it.
    pub fn push_zeros(&mut self) -> &mut [f64] {
        let start = self.entries.len();
        self.entries.resize(start + self.width, 0.0);
        &mut self.entries[start..]
    }
}

/// The sum of products.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Inequalities that are violated by less than this, relative to the distance of the plane from the origin, hold.
const FEASIBLE: f64 = 1e-9;
/// A column whose part beside the others is smaller than this fraction of it depends on them.
const DEPENDENT: f64 = 1e-11;

/// Minimises ‖E x − f‖ subject to G x ≥ h. E must have full column rank. None if the inequalities contradict each other, E is rank-deficient, or a number is not finite.
pub fn solve_with_inequalities(e: &Rows, f: &[f64], g: &Rows, h: &[f64]) -> Option<Vec<f64>> {
    let n = e.width();
    let (r, d) = triangularise(e, f)?;
    let unbounded = solve_upper(&r, n, &d);
    let all_finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
    if !all_finite(&unbounded) || !all_finite(h) || !all_finite(&g.entries) {
        return None;
    }

    // the problem of least distance, its rows scaled to unit length
    let mut system: Vec<Vec<f64>> = Vec::new();
    let mut is_met = true;
    for (i, h) in h.iter().enumerate() {
        let mut a = solve_upper_transposed(&r, n, g.row(i));
        let mut b = h - dot(&a, &d);
        let size = dot(&a, &a).sqrt();
        if size == 0.0 {
            continue;
        }
        a.iter_mut().for_each(|a| *a /= size);
        b /= size;
        is_met &= b <= FEASIBLE * (h.abs() / size).max(1.0);
        a.push(b);
        system.push(a);
    }
    if is_met {
        return Some(unbounded);
    }

    // its dual, and back
    let mut target = vec![0.0; n + 1];
    target[n] = 1.0;
    let residual = non_negative(&system, &target);
    let last = residual[n];
    if dot(&residual, &residual).sqrt() < FEASIBLE || last >= 0.0 {
        return None;
    }
    let y: Vec<f64> = residual[..n].iter().zip(&d).map(|(r, d)| -r / last + d).collect();
    let x = solve_upper(&r, n, &y);
    all_finite(&x).then_some(x)
}

/// The residual M u − t of the non-negative least squares problem over columns: min ‖M u − t‖, u ≥ 0.
fn non_negative(columns: &[Vec<f64>], target: &[f64]) -> Vec<f64> {
    let mut u = vec![0.0; columns.len()];
    let mut passive: Vec<usize> = Vec::new();
    let mut residual: Vec<f64> = target.iter().map(|t| -t).collect();
    for _ in 0..3 * columns.len() + 10 {
        // the column along which the residual decreases most
        let gain = |j: &usize| -dot(&columns[*j], &residual);
        let outside = (0..columns.len()).filter(|j| !passive.contains(j));
        let Some(next) = outside.max_by(|a, b| gain(a).total_cmp(&gain(b))) else { break };
        if gain(&next) <= 1e-12 {
            break;
        }
        passive.push(next);

        // the solution over the chosen columns, without those that it would make negative
        loop {
            let found = fit_columns(columns, &passive, target);
            if found.iter().all(|s| *s > 0.0) {
                passive.iter().zip(&found).for_each(|(j, s)| u[*j] = *s);
                break;
            }
            let ratio = |(j, s): (&usize, &f64)| u[*j] / (u[*j] - s);
            let negative = passive.iter().zip(&found).filter(|(_, s)| **s <= 0.0);
            let fraction = negative.map(ratio).fold(1.0, f64::min);
            for (j, s) in passive.iter().zip(&found) {
                u[*j] += fraction * (s - u[*j]);
            }
            let smallest = passive.iter().copied().min_by(|a, b| u[*a].total_cmp(&u[*b]));
            passive.retain(|j| u[*j] > 1e-14 && Some(*j) != smallest);
            (0..u.len()).filter(|j| !passive.contains(j)).for_each(|j| u[j] = 0.0);
            if passive.is_empty() {
                break;
            }
        }
        residual.iter_mut().zip(target).for_each(|(r, t)| *r = -t);
        for j in &passive {
            residual.iter_mut().zip(&columns[*j]).for_each(|(r, c)| *r += u[*j] * c);
        }
    }
    residual
}

/// The least-squares combination of some columns, by modified Gram-Schmidt; a column that depends on those before it has the factor 0.
fn fit_columns(columns: &[Vec<f64>], chosen: &[usize], target: &[f64]) -> Vec<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut factors: Vec<Vec<f64>> = Vec::new();
    let (mut left, mut along) = (target.to_vec(), Vec::new());
    for j in chosen {
        // its part beside the others; taken twice, it is orthogonal to round-off
        let mut own = columns[*j].clone();
        let mut factor = vec![0.0; chosen.len()];
        for _ in 0..2 {
            for (i, unit) in basis.iter().enumerate() {
                let part = dot(unit, &own);
                factor[i] += part;
                own.iter_mut().zip(unit).for_each(|(own, unit)| *own -= part * unit);
            }
        }
        let size = dot(&own, &own).sqrt();
        let is_new = size > DEPENDENT * dot(&columns[*j], &columns[*j]).sqrt();
        own.iter_mut().for_each(|x| *x = if is_new { *x / size } else { 0.0 });
        factor[basis.len()] = if is_new { size } else { 1.0 };
        let part = dot(&own, &left);
        left.iter_mut().zip(&own).for_each(|(left, own)| *left -= part * own);
        along.push(part);
        basis.push(own);
        factors.push(factor);
    }

    // back substitution
    let n = chosen.len();
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| factors[j][i] * x[j]).sum();
        x[i] = (along[i] - known) / factors[i][i];
    }
    x
}

/// R (row by row) and the first entries of Qᵀf of E = Q R by Householder reflections; none if E is rank-deficient.
fn triangularise(e: &Rows, f: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let (n, m) = (e.width(), e.count());
    if m < n {
        return None;
    }
    // the columns, and the right-hand side as the last of them
    let mut columns: Vec<Vec<f64>> = (0..n).map(|j| (0..m).map(|i| e.row(i)[j]).collect()).collect();
    columns.push(f.to_vec());
    for k in 0..n {
        let size = columns[k][k..].iter().map(|x| x * x).sum::<f64>().sqrt();
        let whole = columns[k].iter().map(|x| x * x).sum::<f64>().sqrt();
        let is_new = size > 1e-14 * whole && size.is_finite();
        if !is_new {
            return None;
        }
        let alpha = if columns[k][k] > 0.0 { -size } else { size };
        let mut mirror = columns[k][k..].to_vec();
        mirror[0] -= alpha;
        let squared = dot(&mirror, &mirror);
        for column in &mut columns[k..] {
            let factor = 2.0 * dot(&mirror, &column[k..]) / squared;
            column[k..].iter_mut().zip(&mirror).for_each(|(x, v)| *x -= factor * v);
        }
    }
    let mut r = vec![0.0; n * n];
    for (j, column) in columns[..n].iter().enumerate() {
        (0..=j).for_each(|i| r[i * n + j] = column[i]);
    }
    Some((r, columns[n][..n].to_vec()))
}

/// R⁻¹ b
fn solve_upper(r: &[f64], n: usize, b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| r[i * n + j] * x[j]).sum();
        x[i] = (x[i] - known) / r[i * n + i];
    }
    x
}

/// R⁻ᵀ b
fn solve_upper_transposed(r: &[f64], n: usize, b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for i in 0..n {
        let known: f64 = (0..i).map(|j| r[j * n + i] * x[j]).sum();
        x[i] = (x[i] - known) / r[i * n + i];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(width: usize, all: &[&[f64]]) -> Rows {
        let mut rows = Rows::new(width);
        all.iter().for_each(|row| rows.push(row));
        rows
    }

    /// Pseudo-random numbers in −1 … 1.
    fn numbers(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    #[test]
    fn without_active_inequalities_it_is_least_squares() {
        // a line through three points: 2 + 3 t
        let e = rows(2, &[&[1.0, 0.0], &[1.0, 1.0], &[1.0, 2.0]]);
        let g = rows(2, &[&[1.0, 0.0]]);
        let x = solve_with_inequalities(&e, &[2.0, 5.0, 8.0], &g, &[-10.0]).unwrap();
        assert!((x[0] - 2.0).abs() < 1e-14 && (x[1] - 3.0).abs() < 1e-14);
    }

    /// The nearest point to (3, 1) with x + y ≤ 2 is (2, 0), where y ≥ 0 holds as well.
    #[test]
    fn the_nearest_point_of_a_wedge_is_found() {
        let e = rows(2, &[&[1.0, 0.0], &[0.0, 1.0]]);
        let g = rows(2, &[&[-1.0, -1.0], &[0.0, 1.0]]);
        let x = solve_with_inequalities(&e, &[3.0, 1.0], &g, &[-2.0, 0.0]).unwrap();
        assert!((x[0] - 2.0).abs() < 1e-12 && x[1].abs() < 1e-12, "{x:?}");
        // with y ≥ 1/2 it is (3/2, 1/2), a corner
        let x = solve_with_inequalities(&e, &[3.0, 1.0], &g, &[-2.0, 0.5]).unwrap();
        assert!((x[0] - 1.5).abs() < 1e-12 && (x[1] - 0.5).abs() < 1e-12, "{x:?}");
    }

    #[test]
    fn contradictions_and_missing_rank_are_found() {
        let e = rows(1, &[&[1.0]]);
        let g = rows(1, &[&[1.0], &[-1.0]]);
        assert_eq!(solve_with_inequalities(&e, &[0.0], &g, &[1.0, 1.0]), None);
        let flat = rows(2, &[&[1.0, 1.0], &[2.0, 2.0]]);
        assert_eq!(solve_with_inequalities(&flat, &[0.0, 0.0], &rows(2, &[]), &[]), None);
        assert_eq!(solve_with_inequalities(&e, &[f64::NAN], &g, &[0.0, 0.0]), None);
    }

    /// The conditions of Karush, Kuhn and Tucker on random problems: x is feasible, and the gradient Eᵀ(E x − f) is a combination of the normals of active inequalities with factors of the right
    /// sign. Entries are of order 1 and matrices well-conditioned, so that a thousand operations leave errors below 1e-9.
    #[test]
    fn random_solutions_are_optimal() {
        let mut seed = 7;
        for _ in 0..200 {
            let (n, m) = (8, 12);
            let mut e = Rows::new(n);
            (0..m).for_each(|_| e.push(&(0..n).map(|_| numbers(&mut seed)).collect::<Vec<_>>()));
            (0..n).for_each(|i| e.push_zeros()[i] = 0.3);
            let mut f: Vec<f64> = (0..m).map(|_| 4.0 * numbers(&mut seed)).collect();
            f.resize(m + n, 0.0);
            // a box, and two planes that leave the origin feasible
            let (mut g, mut h) = (Rows::new(n), Vec::new());
            for i in 0..n {
                for sign in [1.0, -1.0] {
                    g.push_zeros()[i] = sign;
                    h.push(-0.5 - 0.3 * numbers(&mut seed).abs());
                }
            }
            for _ in 0..2 {
                g.push(&(0..n).map(|_| numbers(&mut seed)).collect::<Vec<_>>());
                h.push(-0.2);
            }
            let x = solve_with_inequalities(&e, &f, &g, &h).unwrap();
            let slack: Vec<f64> = (0..h.len()).map(|i| dot(g.row(i), &x) - h[i]).collect();
            assert!(slack.iter().all(|s| *s > -1e-9), "{slack:?}");
            let residual: Vec<f64> = (0..m + n).map(|i| dot(e.row(i), &x) - f[i]).collect();
            let gradient: Vec<f64> =
                (0..n).map(|j| (0..m + n).map(|i| e.row(i)[j] * residual[i]).sum()).collect();
            let active: Vec<Vec<f64>> =
                (0..h.len()).filter(|i| slack[*i] < 1e-8).map(|i| g.row(i).to_vec()).collect();
            let left = non_negative(&active, &gradient);
            assert!(dot(&left, &left).sqrt() < 1e-8, "{left:?}");
        }
    }
}
