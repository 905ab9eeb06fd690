//! What solves with a matrix nearly or exactly: a factor, or a cycle over coarser grids with a factor at the bottom.
//!
//! The cycle: one Gauss-Seidel sweep forward, the rest of the right-hand side solved on a grid twice as coarse (Pᵀ A P), one sweep backward. The two sweeps are each
//! other's transpose, so the cycle is symmetric and positive definite, as conjugate gradients ask of a preconditioner.

use super::block_matrix::BlockMatrix;
use super::cholesky::Plan;
use super::transfer::{ScaledTransfer, Transfer};
use super::{BlockCsr, Cholesky, Row};
use crate::Vec3;

/// How a [`Solver`] solves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolverChoice {
    /// By a factor where it is small, by a cycle where it is not.
    #[default]
    BySize,
    /// By a factor.
    Factor,
    /// By a cycle over coarser grids.
    Cycle,
}

/// Solves with one matrix, nearly or exactly.
#[derive(Clone, Debug)]
pub struct Solver {
    levels: Vec<Level>,
    bottom: Cholesky,
}

/// One grid and the way to the next coarser one.
#[derive(Clone, Debug)]
struct Level {
    matrix: BlockMatrix,
    transfer: ScaledTransfer,
    r: Vec<Row>,
    z: Vec<Row>,
    left: Vec<Row>,
    coarse_r: Vec<Row>,
    coarse_z: Vec<Row>,
}

/// A factor with no more numbers than this is applied directly: at two bytes each it stays near one core and costs less than a cycle of the same matrix, which needs more
/// iterations of the caller. The clamped beam of 10,240 tets has 457,440 on its first coarse grid; a factor there instead of one more grid saves a sixth of the iterations.
const SMALL_FACTOR: usize = 600_000;

/// The coarse grid's width in mean edges of the matrix's graph. Cubes of width w that are cut into five tets have a mean edge of (1 + √2)/2 w: two widths of that lattice. Grids below
/// are twice as wide each.
const COARSENING: f64 = 4.0 / (1.0 + core::f64::consts::SQRT_2);

/// Grids of fewer nodes are not made coarser.
const FEW_NODES: usize = 60;

/// Coarse corners that too few nodes carry depend on each other; this much more on the diagonal keeps their factor sound.
const COARSE_SHIFT: f64 = 1.0 + 1e-5;

impl Solver {
    /// Prepares for a matrix whose nodes stand at `places`; none if it is not positive definite.
    ///
    /// Grids are laid from the corner `low` on (m) or from below it. If that is the corner of the mesh with its fixed nodes, nodes of a lattice stand on the planes of the grids; then
    /// they have few weights and the coarser matrices few blocks.
    pub fn build(matrix: &BlockCsr, places: &[Vec3], low: Vec3, choice: SolverChoice) -> Option<Solver> {
        let mut levels = Vec::new();
        let low = places.iter().fold(low, |low, x| low.inf(x));
        let mut width = first_width(places, low, COARSENING * mean_edge(matrix, places));
        let (mut matrix, mut places) = (matrix.clone(), places.to_vec());
        loop {
            let plan = Plan::find(&matrix, &places);
            let is_bottom = match choice {
                SolverChoice::Factor => true,
                SolverChoice::BySize => plan.entries <= SMALL_FACTOR,
                SolverChoice::Cycle => !levels.is_empty() && plan.entries <= SMALL_FACTOR,
            };
            if is_bottom || matrix.row_count() < FEW_NODES {
                return Some(Solver { levels, bottom: Cholesky::build_planned(&matrix, plan)? });
            }
            let transfer = Transfer::find(&places, low, width);
            let mut coarse = transfer.galerkin(&matrix);
            coarse.scale_diagonal(COARSE_SHIFT);
            let count = coarse.row_count();
            let next_places = transfer.places.clone();
            if count >= matrix.row_count() {
                // nothing gained: the nodes are too few and too far apart
                return Some(Solver { levels, bottom: Cholesky::build_planned(&matrix, plan)? });
            }
            let fine = BlockMatrix::of(&matrix)?;
            let rows = vec![[0.0; 4]; fine.place_count()];
            levels.push(Level {
                transfer: transfer.between(&fine),
                matrix: fine,
                r: rows.clone(),
                z: rows.clone(),
                left: rows,
                coarse_r: vec![[0.0; 4]; count],
                coarse_z: vec![[0.0; 4]; count],
            });
            (matrix, places) = (coarse, next_places);
            width *= 2.0;
        }
    }

    /// Grids above the factor: none if the factor is of the matrix itself.
    pub fn level_count(&self) -> usize {
        self.levels.len()
    }

    /// Numbers of the factor at the bottom.
    pub fn factor_entries(&self) -> usize {
        self.bottom.entry_count()
    }

    /// z ≈ A⁻¹ r
    pub fn solve(&mut self, r: &[Row], z: &mut [Row]) {
        cycle(&mut self.levels, &mut self.bottom, r, z);
    }
}

fn cycle(levels: &mut [Level], bottom: &mut Cholesky, r: &[Row], z: &mut [Row]) {
    let Some((level, below)) = levels.split_first_mut() else {
        bottom.solve(r, z);
        return;
    };
    level.matrix.scale_in(r, &mut level.r);
    level.matrix.sweep_forward(&level.r, &mut level.z, &mut level.left);
    level.transfer.restrict(&level.left, &mut level.coarse_r);
    cycle(below, bottom, &level.coarse_r, &mut level.coarse_z);
    level.transfer.add_prolonged(&level.coarse_z, &mut level.z);
    level.matrix.sweep_backward(&level.r, &mut level.z);
    level.matrix.scale_out(&level.z, z);
}

/// The width (m) near `about` whose planes from `low` on most nodes stand on, so that they have few weights; `about` itself if nodes stand nowhere in rows.
fn first_width(nodes: &[Vec3], low: Vec3, about: f64) -> f64 {
    if !(about > 0.0 && about.is_finite()) {
        return 1.0;
    }
    let fits = |width: &f64| *width > 0.75 * about && *width < 1.33 * about;
    let mut widths: Vec<f64> = nodes.iter().flat_map(|x| [x.x - low.x, x.y - low.y, x.z - low.z]).collect();
    widths.retain(fits);
    widths.sort_unstable_by(f64::total_cmp);
    widths.dedup_by(|a, b| (*a - *b).abs() < 1e-6 * about);
    // nodes off any lattice give as many widths as there are nodes: some of them will do
    let widths = widths.iter().step_by(widths.len().div_ceil(64).max(1)).copied();
    let sample = nodes.iter().step_by(nodes.len().div_ceil(500).max(1));
    let weights = |width: f64| -> u32 {
        let axes = |x: &Vec3| (x - low).iter().map(|d| weight_count(d / width)).product::<u32>();
        sample.clone().map(axes).sum()
    };
    widths
        .chain([about])
        .map(|width| (weights(width), width))
        .fold((u32::MAX, about), |best, found| {
            let is_nearer = (found.1 - about).abs() < (best.1 - about).abs();
            if found.0 < best.0 || found.0 == best.0 && is_nearer { found } else { best }
        })
        .1
}

/// Corners that share a place along one axis: one on a plane, two between.
fn weight_count(at: f64) -> u32 {
    if (at - at.round()).abs() < 1e-3 { 1 } else { 2 }
}

fn mean_edge(matrix: &BlockCsr, places: &[Vec3]) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for row in 0..matrix.row_count() {
        for column in matrix.columns_of(row).iter().filter(|column| (**column as usize) < row) {
            sum += (places[row] - places[*column as usize]).norm();
            count += 1;
        }
    }
    sum / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mat3;

    /// Springs along the edges of a lattice of nodes, each held a little by itself.
    fn lattice(n: [usize; 3]) -> (BlockCsr, Vec<Vec3>) {
        let id = |x: usize, y: usize, z: usize| (x * n[1] + y) * n[2] + z;
        let mut places = Vec::new();
        let mut edges = Vec::new();
        for x in 0..n[0] {
            for y in 0..n[1] {
                for z in 0..n[2] {
                    places.push(Vec3::new(x as f64, y as f64, z as f64));
                    let own = id(x, y, z);
                    let steps = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1)];
                    for (a, b, c) in steps {
                        if x + a < n[0] && y + b < n[1] && z + c < n[2] {
                            edges.push((own, id(x + a, y + b, z + c)));
                        }
                    }
                }
            }
        }
        let mut neighbours = vec![Vec::new(); places.len()];
        for &(a, b) in &edges {
            neighbours[a].push(b as u32);
            neighbours[b].push(a as u32);
        }
        let mut sum = BlockCsr::with_pattern(neighbours);
        for &(a, b) in &edges {
            let d = places[b] - places[a];
            let block = d * d.transpose() + Mat3::identity() * 0.2;
            sum.add(a, a, &block);
            sum.add(b, b, &block);
            sum.add(a, b, &-block);
            sum.add(b, a, &-block);
        }
        for i in 0..places.len() {
            sum.add(i, i, &(Mat3::identity() * 0.05));
        }
        (sum, places)
    }

    fn some_rows(count: usize) -> Vec<Row> {
        let wave = |i: usize| ((i * 7919 % 1009) as f32) / 1009.0 - 0.5;
        (0..count).map(|i| [wave(3 * i), wave(3 * i + 1), wave(3 * i + 2), 0.0]).collect()
    }

    fn norm(rows: &[Row]) -> f64 {
        rows.iter().flatten().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt()
    }

    /// The residual of a rounded factor is its 2⁻¹⁶ times the condition number, here below 10³.
    #[test]
    fn the_factor_solves() {
        let (sum, places) = lattice([13, 6, 5]);
        let mut factor = Cholesky::build(&sum, &places).expect("positive definite");
        let r = some_rows(places.len());
        let (mut z, mut back) = (vec![[0.0; 4]; r.len()], vec![[0.0; 4]; r.len()]);
        factor.solve(&r, &mut z);
        sum.apply(&z, &mut back);
        for (back, r) in back.iter_mut().zip(&r) {
            (0..4).for_each(|i| back[i] -= r[i]);
        }
        assert!(norm(&back) < 1e3 / 65_536.0 * norm(&r), "{}", norm(&back) / norm(&r));
    }

    /// ⟨a, B b⟩ = ⟨B a, b⟩ up to round-off, and ⟨a, B a⟩ > 0.
    #[test]
    fn the_cycle_is_symmetric_and_shrinks_the_error() {
        let (sum, places) = lattice([24, 9, 8]);
        let n = places.len();
        let mut solver =
            Solver::build(&sum, &places, places[0], SolverChoice::Cycle).expect("positive definite");
        assert!(solver.level_count() >= 1);
        let (a, mut b) = (some_rows(n), some_rows(n));
        b.reverse();
        let dot = |u: &[Row], v: &[Row]| -> f64 {
            let pairs = u.iter().flatten().zip(v.iter().flatten());
            pairs.map(|(u, v)| f64::from(*u) * f64::from(*v)).sum()
        };
        let (mut za, mut zb) = (vec![[0.0; 4]; n], vec![[0.0; 4]; n]);
        solver.solve(&a, &mut za);
        solver.solve(&b, &mut zb);
        let (left, right) = (dot(&b, &za), dot(&zb, &a));
        assert!((left - right).abs() < 1e-4 * dot(&a, &za), "{left} {right}");
        assert!(dot(&a, &za) > 0.0);

        // as an iteration of its own the cycle takes the residual to a third at most each time on this lattice, as multigrid with one sweep does
        let mut x = vec![[0.0; 4]; n];
        let (mut r, mut z, mut ax) = (a.clone(), vec![[0.0; 4]; n], vec![[0.0; 4]; n]);
        for _ in 0..5 {
            solver.solve(&r, &mut z);
            for i in 0..n {
                (0..3).for_each(|c| x[i][c] += z[i][c]);
            }
            sum.apply(&x, &mut ax);
            for i in 0..n {
                (0..3).for_each(|c| r[i][c] = a[i][c] - ax[i][c]);
            }
        }
        assert!(norm(&r) < norm(&a) * 3f64.powi(-5), "{}", norm(&r) / norm(&a));
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        let (mut sum, places) = lattice([4, 3, 3]);
        sum.add(5, 5, &(Mat3::identity() * -1e3));
        assert!(Cholesky::build(&sum, &places).is_none());
    }
}
