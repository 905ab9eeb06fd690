//! Geometric multigrid V-cycle with a sparse Cholesky factor on the coarsest grid, or that factor alone for small matrices.
//!
//! The V-cycle: one forward Gauss-Seidel sweep, coarse-grid correction of the residual on a grid twice as wide (Galerkin operator Pᵀ A P), one backward sweep.
//! The two sweeps are adjoint, so the cycle is symmetric positive definite, as conjugate gradients require of a preconditioner.

use super::block_matrix::BlockMatrix;
use super::cholesky::Plan;
use super::transfer::{ScaledTransfer, Transfer};
use super::{BlockCsr, Cholesky, Row};
use crate::Vec3;

/// The method of a [`Solver`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolverChoice {
    /// A Cholesky factor where it is small, a multigrid V-cycle where it is not.
    #[default]
    BySize,
    /// A Cholesky factor of the matrix itself.
    Cholesky,
    /// A multigrid V-cycle.
    Multigrid,
}

/// An exact or approximate inverse of one symmetric positive definite matrix.
#[derive(Clone, Debug)]
pub struct Solver {
    levels: Vec<Level>,
    bottom: Cholesky,
}

/// One grid of the hierarchy and the transfer to the next coarser one.
#[derive(Clone, Debug)]
struct Level {
    matrix: BlockMatrix,
    transfer: ScaledTransfer,
    r: Vec<Row>,
    z: Vec<Row>,
    residual: Vec<Row>,
    coarse_r: Vec<Row>,
    coarse_z: Vec<Row>,
}

/// The largest factor, in stored entries, that is applied directly: at two bytes per entry it fits the cache of one core and costs less than a V-cycle of the same matrix,
/// which needs more iterations of the caller. The clamped beam of 10,240 tets has 457,440 on its first coarse grid; a factor there instead of one more grid saves a sixth of the iterations.
const SMALL_FACTOR: usize = 600_000;

/// The cell width of the first coarse grid in mean edge lengths of the matrix graph. Cubes of width w divided into five tets have a mean edge of (1 + √2)/2 w, so this is two
/// widths of that lattice. Each further grid is twice as wide.
const COARSENING: f64 = 4.0 / (1.0 + core::f64::consts::SQRT_2);

/// Grids with fewer nodes are not coarsened.
const MIN_NODES_TO_COARSEN: usize = 60;

/// Coarse corners that interpolate to too few nodes are linearly dependent; this factor on the diagonal keeps their matrix positive definite.
const COARSE_SHIFT: f64 = 1.0 + 1e-5;

impl Solver {
    /// Builds the solver of a matrix whose nodes are at `positions` (m); `None` if the matrix is not positive definite.
    ///
    /// The grids start at the corner `low` (m), or at the lowest node if that is lower. If `low` is the lower corner of the whole mesh, fixed nodes included, the nodes of a
    /// lattice mesh lie on planes of the grids; then they have few interpolation weights and the coarse matrices few blocks.
    pub fn build(matrix: &BlockCsr, positions: &[Vec3], low: Vec3, choice: SolverChoice) -> Option<Solver> {
        // cell width and origin of the grids
        let mut levels = Vec::new();
        let low = positions.iter().fold(low, |low, x| low.inf(x));
        let mut width = first_width(positions, low, COARSENING * mean_edge(matrix, positions));
        let (mut matrix, mut positions) = (matrix.clone(), positions.to_vec());
        loop {
            // stop where the factor is small enough
            let plan = Plan::find(&matrix, &positions);
            let is_bottom = match choice {
                SolverChoice::Cholesky => true,
                SolverChoice::BySize => plan.entries <= SMALL_FACTOR,
                SolverChoice::Multigrid => !levels.is_empty() && plan.entries <= SMALL_FACTOR,
            };
            if is_bottom || matrix.row_count() < MIN_NODES_TO_COARSEN {
                return Some(Solver { levels, bottom: Cholesky::build_planned(&matrix, plan)? });
            }

            // the next coarser grid
            let transfer = Transfer::find(&positions, low, width);
            let mut coarse = transfer.galerkin(&matrix);
            coarse.scale_diagonal(COARSE_SHIFT);
            let count = coarse.row_count();
            let coarse_positions = transfer.positions.clone();
            if count >= matrix.row_count() {
                // no reduction: the nodes are too few and too far apart
                return Some(Solver { levels, bottom: Cholesky::build_planned(&matrix, plan)? });
            }

            // smoother and work vectors of this grid
            let fine = BlockMatrix::of(&matrix)?;
            let rows = vec![[0.0; 4]; fine.place_count()];
            levels.push(Level {
                transfer: transfer.scaled_for(&fine),
                matrix: fine,
                r: rows.clone(),
                z: rows.clone(),
                residual: rows,
                coarse_r: vec![[0.0; 4]; count],
                coarse_z: vec![[0.0; 4]; count],
            });
            (matrix, positions) = (coarse, coarse_positions);
            width *= 2.0;
        }
    }

    /// The number of grids above the factored one: zero if the factor is of the matrix itself.
    pub fn level_count(&self) -> usize {
        self.levels.len()
    }

    /// The number of stored entries of the Cholesky factor.
    pub fn factor_entries(&self) -> usize {
        self.bottom.entry_count()
    }

    /// z ≈ A⁻¹ r
    pub fn solve(&mut self, r: &[Row], z: &mut [Row]) {
        v_cycle(&mut self.levels, &mut self.bottom, r, z);
    }
}

fn v_cycle(levels: &mut [Level], bottom: &mut Cholesky, r: &[Row], z: &mut [Row]) {
    let Some((level, below)) = levels.split_first_mut() else {
        bottom.solve(r, z);
        return;
    };
    level.matrix.scale_in(r, &mut level.r);
    level.matrix.sweep_forward(&level.r, &mut level.z, &mut level.residual);
    level.transfer.restrict(&level.residual, &mut level.coarse_r);
    v_cycle(below, bottom, &level.coarse_r, &mut level.coarse_z);
    level.transfer.add_prolonged(&level.coarse_z, &mut level.z);
    level.matrix.sweep_backward(&level.r, &mut level.z);
    level.matrix.scale_out(&level.z, z);
}

/// The cell width (m) near `target` that puts most nodes on grid planes, counted from `low`, so that they have few interpolation weights; `target` itself if the nodes form no lattice.
fn first_width(nodes: &[Vec3], low: Vec3, target: f64) -> f64 {
    if !(target > 0.0 && target.is_finite()) {
        return 1.0;
    }
    // candidate widths: node coordinates near the target
    let fits = |width: &f64| *width > 0.75 * target && *width < 1.33 * target;
    let mut widths: Vec<f64> = nodes.iter().flat_map(|x| [x.x - low.x, x.y - low.y, x.z - low.z]).collect();
    widths.retain(fits);
    widths.sort_unstable_by(f64::total_cmp);
    widths.dedup_by(|a, b| (*a - *b).abs() < 1e-6 * target);

    // nodes off any lattice give as many widths as there are nodes: a subset is enough
    let widths = widths.iter().step_by(widths.len().div_ceil(64).max(1)).copied();
    let sample = nodes.iter().step_by(nodes.len().div_ceil(500).max(1));
    let weights = |width: f64| -> u32 {
        let axes = |x: &Vec3| (x - low).iter().map(|d| weight_count(d / width)).product::<u32>();
        sample.clone().map(axes).sum()
    };

    // the width with the fewest weights, the nearest to the target among equals
    widths
        .chain([target])
        .map(|width| (weights(width), width))
        .fold((u32::MAX, target), |best, found| {
            let is_nearer = (found.1 - target).abs() < (best.1 - target).abs();
            if found.0 < best.0 || found.0 == best.0 && is_nearer { found } else { best }
        })
        .1
}

/// The number of grid planes that interpolate a coordinate (in cell widths): one on a plane, two between planes.
fn weight_count(at: f64) -> u32 {
    if (at - at.round()).abs() < 1e-3 { 1 } else { 2 }
}

fn mean_edge(matrix: &BlockCsr, positions: &[Vec3]) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for row in 0..matrix.row_count() {
        for column in matrix.columns_of(row).iter().filter(|column| (**column as usize) < row) {
            sum += (positions[row] - positions[*column as usize]).norm();
            count += 1;
        }
    }
    sum / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mat3;

    /// Stiffness matrix of a lattice of springs, with a weak spring from each node to the ground.
    fn lattice(n: [usize; 3]) -> (BlockCsr, Vec<Vec3>) {
        // nodes and edges
        let id = |x: usize, y: usize, z: usize| (x * n[1] + y) * n[2] + z;
        let mut positions = Vec::new();
        let mut edges = Vec::new();
        for x in 0..n[0] {
            for y in 0..n[1] {
                for z in 0..n[2] {
                    positions.push(Vec3::new(x as f64, y as f64, z as f64));
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

        // assembly
        let mut neighbours = vec![Vec::new(); positions.len()];
        for &(a, b) in &edges {
            neighbours[a].push(b as u32);
            neighbours[b].push(a as u32);
        }
        let mut sum = BlockCsr::with_pattern(neighbours);
        for &(a, b) in &edges {
            let d = positions[b] - positions[a];
            let block = d * d.transpose() + Mat3::identity() * 0.2;
            sum.add(a, a, &block);
            sum.add(b, b, &block);
            sum.add(a, b, &-block);
            sum.add(b, a, &-block);
        }
        for i in 0..positions.len() {
            sum.add(i, i, &(Mat3::identity() * 0.05));
        }
        (sum, positions)
    }

    fn some_rows(count: usize) -> Vec<Row> {
        let wave = |i: usize| ((i * 7919 % 1009) as f32) / 1009.0 - 0.5;
        (0..count).map(|i| [wave(3 * i), wave(3 * i + 1), wave(3 * i + 2), 0.0]).collect()
    }

    fn norm(rows: &[Row]) -> f64 {
        rows.iter().flatten().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt()
    }

    /// The relative residual of a factor rounded to 2⁻¹⁶ is that times the condition number, here below 10³.
    #[test]
    fn cholesky_solves_to_its_rounding() {
        let (sum, positions) = lattice([13, 6, 5]);
        let mut factor = Cholesky::build(&sum, &positions).expect("positive definite");
        let r = some_rows(positions.len());
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
    fn v_cycle_is_symmetric_positive_definite_and_converges() {
        let (sum, positions) = lattice([24, 9, 8]);
        let n = positions.len();
        let mut solver = Solver::build(&sum, &positions, positions[0], SolverChoice::Multigrid)
            .expect("positive definite");
        assert!(solver.level_count() >= 1);
        // symmetry and definiteness
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

        // as a stationary iteration the cycle reduces the residual at least to a third each time on this lattice, as multigrid with one sweep does
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
    fn an_indefinite_matrix_has_no_cholesky_factor() {
        let (mut sum, positions) = lattice([4, 3, 3]);
        sum.add(5, 5, &(Mat3::identity() * -1e3));
        assert!(Cholesky::build(&sum, &positions).is_none());
    }
}
