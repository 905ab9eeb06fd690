//! The lowest frequency of deformation of a part at rest, by locally optimal preconditioned conjugate gradients (LOBPCG).   `[Knyazev2001]`
//!
//! The Rayleigh quotient of A = M^(−1/2) K M^(−1/2) is minimised over displacements without rigid motion, each iterate over the span of the last one, the preconditioned residual and the last change.
//! The preconditioner is an approximate inverse of K + σ M.

use super::BodyNodes;
use crate::pseudo_random::pseudo_random_vectors;
use crate::rest_matrix::rest_matrix;
use sinew_flesh::{ElementDesc, Elements};
use sinew_math::nalgebra::{Matrix3x6, Matrix6, Vector6};
use sinew_math::sparse::{BlockCsr, Row, Solver, SolverChoice};
use sinew_math::spatial::cross_matrix;
use sinew_math::{Mat3, Vec3};

/// The shift σ in squares of the quarter-wave shear frequency of the longest side, which beams a hundred times as long as they are thick approach as their lowest frequency.
const SHIFT: f64 = 1e-3;

/// Iterations end when the square of the frequency changes by less than this fraction, and the frequency by half of it.
const TOLERANCE: f64 = 1e-4;

/// Maximum number of iterations. Bodies tried take 5 to 30.
const MAX_ITERATIONS: usize = 100;

/// Rigid motions of unit speed whose mean square at the pinned nodes is below this leave them where they are.
const PINNED: f64 = 1e-9;

/// The lowest frequency of deformation (rad/s) of the elements of a part with the given nodes; 0 if no node is free.
pub(super) fn lowest_frequency(members: &[u32], nodes: &BodyNodes, elements: &[ElementDesc]) -> f64 {
    let mut problem = Problem::new(members, nodes, elements);
    if problem.root_mass.is_empty() {
        return 0.0;
    }
    problem.lowest_eigenvalue().max(0.0).sqrt()
}

/// A vector over the free nodes.
type Field = Vec<Vec3>;

struct Problem {
    stiffness: BlockCsr,
    preconditioner: Option<Solver>,
    /// √m of the free nodes.
    root_mass: Vec<f64>,
    /// Orthonormal rigid motions that leave pinned nodes where they are, times √m.
    rigid: Vec<Field>,
}

impl Problem {
    fn new(members: &[u32], nodes: &BodyNodes, elements: &[ElementDesc]) -> Problem {
        // nodes numbered within the part
        let x: Vec<Vec3> = members.iter().map(|node| nodes.unstressed[*node as usize]).collect();
        let place = |node: u32| members.binary_search(&node).expect("elements of the part") as u32;
        let local = |element: &ElementDesc| ElementDesc { nodes: element.nodes.map(place), ..*element };
        let local: Vec<ElementDesc> = elements.iter().map(local).collect();
        let is_free = |i: &u32| nodes.inverse_mass[members[*i as usize] as usize] > 0.0;
        let free: Vec<u32> = (0..members.len() as u32).filter(is_free).collect();
        let mass = |i: &u32| nodes.mass[members[*i as usize] as usize];

        // stiffness, and an approximate inverse of it with a shift
        let rest = Elements::build(&x, &local);
        let stiffness = rest_matrix(&rest, &vec![0.0; members.len()], &free);
        let low = x.iter().fold(x[0], |low, x| low.inf(x));
        let high = x.iter().fold(x[0], |high, x| high.sup(x));
        let material = elements[0].material;
        let quarter_wave = core::f64::consts::FRAC_PI_2 / (high - low).amax();
        let shift = SHIFT * material.lame().mu / material.density * quarter_wave * quarter_wave;
        let shifts: Vec<f64> = (0..members.len() as u32).map(|i| shift * mass(&i)).collect();
        let places: Vec<Vec3> = free.iter().map(|i| x[*i as usize]).collect();
        let shifted = rest_matrix(&rest, &shifts, &free);
        let preconditioner =
            if free.is_empty() { None } else { Solver::build(&shifted, &places, low, SolverChoice::BySize) };

        // rigid motions
        let pinned: Vec<Vec3> =
            (0..members.len() as u32).filter(|i| !is_free(i)).map(|i| x[i as usize]).collect();
        let root_mass: Vec<f64> = free.iter().map(|i| mass(i).sqrt()).collect();
        let rigid = rigid_motions(&places, &root_mass, &pinned, 0.5 * (high - low).amax());
        Problem { stiffness, preconditioner, root_mass, rigid }
    }

    fn lowest_eigenvalue(&mut self) -> f64 {
        // a start with a component along every mode, and most along the lowest
        let random: Field = pseudo_random_vectors().take(self.root_mass.len()).collect();
        let mut x = self.precondition(&random);
        self.remove_rigid(&mut x);
        if !normalise(&mut x) {
            return 0.0;
        }
        let mut a_x = self.apply(&x);
        let mut lambda = dot(&x, &a_x);
        let mut change: Option<(Field, Field)> = None;

        let mut calm = 0;
        for _ in 0..MAX_ITERATIONS {
            // an orthonormal basis: the iterate, its preconditioned residual, and the last change
            let residual: Field = a_x.iter().zip(&x).map(|(a, x)| a - lambda * x).collect();
            let mut w = self.precondition(&residual);
            self.remove_rigid(&mut w);
            remove(&mut w, &x);
            remove(&mut w, &x);
            if !normalise(&mut w) {
                break;
            }
            let a_w = self.apply(&w);
            if let Some((p, a_p)) = &mut change {
                for (basis, a_basis) in [(&x, &a_x), (&w, &a_w), (&x, &a_x)] {
                    let along = dot(p, basis);
                    add(p, -along, basis);
                    add(a_p, -along, a_basis);
                }
                let length = dot(p, p).sqrt();
                if length > 1e-6 {
                    p.iter_mut().chain(a_p.iter_mut()).for_each(|p| *p /= length);
                } else {
                    change = None;
                }
            }

            // the lowest vector of their span
            let (scale, found) = lowest_of_span((&x, &a_x), (&w, &a_w), change.as_ref());
            let (mut p, mut a_p) = (vec![Vec3::zeros(); x.len()], vec![Vec3::zeros(); x.len()]);
            add(&mut p, scale.y, &w);
            add(&mut a_p, scale.y, &a_w);
            if let Some((old, a_old)) = &change {
                add(&mut p, scale.z, old);
                add(&mut a_p, scale.z, a_old);
            }
            for (own, p) in [(&mut x, &p), (&mut a_x, &a_p)] {
                own.iter_mut().for_each(|own| *own *= scale.x);
                add(own, 1.0, p);
            }
            change = Some((p, a_p));
            calm = if (lambda - found).abs() < TOLERANCE * found.abs() { calm + 1 } else { 0 };
            lambda = found;
            if calm == 2 {
                break;
            }
        }
        lambda
    }

    /// M^(−1/2) K M^(−1/2) u
    fn apply(&self, u: &[Vec3]) -> Field {
        let row = |i: usize| {
            let columns = self.stiffness.columns_of(i).iter().zip(self.stiffness.blocks_of(i));
            let sum = columns.fold(Vec3::zeros(), |sum, (&column, block)| {
                sum + block * (u[column as usize] / self.root_mass[column as usize])
            });
            sum / self.root_mass[i]
        };
        (0..u.len()).map(row).collect()
    }

    /// M^(1/2) (K + σ M)⁻¹ M^(1/2) r, roughly.
    fn precondition(&mut self, r: &[Vec3]) -> Field {
        let Some(solver) = &mut self.preconditioner else { return r.to_vec() };
        // single precision has a range of its own: residuals are scaled to order one
        let size = r.iter().zip(&self.root_mass).map(|(r, m)| (*m * r).amax()).fold(0.0, f64::max);
        let size = if size > 0.0 { size } else { 1.0 };
        let row = |(r, m): (&Vec3, &f64)| {
            let r = *m / size * r;
            [r.x as f32, r.y as f32, r.z as f32, 0.0]
        };
        let rows: Vec<Row> = r.iter().zip(&self.root_mass).map(row).collect();
        let mut out = vec![[0.0f32; 4]; rows.len()];
        solver.solve(&rows, &mut out);
        let back = |(z, m): (&Row, &f64)| *m * Vec3::new(z[0].into(), z[1].into(), z[2].into());
        out.iter().zip(&self.root_mass).map(back).collect()
    }

    fn remove_rigid(&self, u: &mut [Vec3]) {
        self.rigid.iter().for_each(|rigid| remove(u, rigid));
    }
}

/// The coefficients and the Rayleigh quotient of the lowest vector in the span of up to three orthonormal vectors, given with their images.
fn lowest_of_span(
    (x, a_x): (&Field, &Field),
    (w, a_w): (&Field, &Field),
    change: Option<&(Field, Field)>,
) -> (Vec3, f64) {
    let mut small = Mat3::zeros();
    let vectors = [Some((x, a_x)), Some((w, a_w)), change.map(|(p, a_p)| (p, a_p))];
    let largest = vectors.iter().flatten().map(|(v, a_v)| dot(v, a_v)).fold(0.0, f64::max);
    for i in 0..3 {
        for j in 0..3 {
            small[(i, j)] = match (vectors[i], vectors[j]) {
                (Some((v, _)), Some((_, a_v))) => dot(v, a_v),
                // a vector that is missing counts as one of a high frequency
                _ if i == j => 2.0 * largest,
                _ => 0.0,
            };
        }
    }
    let eigen = (0.5 * (small + small.transpose())).symmetric_eigen();
    let lowest = eigen.eigenvalues.imin();
    (eigen.eigenvectors.column(lowest).into_owned(), eigen.eigenvalues[lowest])
}

/// Orthonormal rigid motions of free nodes times √m, of those that do not move the pinned nodes.
fn rigid_motions(places: &[Vec3], root_mass: &[f64], pinned: &[Vec3], length: f64) -> Vec<Field> {
    // velocity of a point per rigid motion, about the centre of the pinned nodes or of all
    let of: &[Vec3] = if pinned.is_empty() { places } else { pinned };
    let center = of.iter().sum::<Vec3>() / of.len().max(1) as f64;
    let at = |x: &Vec3| {
        let mut motions = Matrix3x6::zeros();
        motions.fixed_columns_mut::<3>(0).copy_from(&Mat3::identity());
        motions.fixed_columns_mut::<3>(3).copy_from(&(cross_matrix(&(x - center)) / -length));
        motions
    };

    // motions that leave pinned nodes where they are
    let square = pinned.iter().fold(Matrix6::zeros(), |sum, x| sum + at(x).transpose() * at(x));
    let eigen = (square / pinned.len().max(1) as f64).symmetric_eigen();
    let still = (0..6).filter(|i| eigen.eigenvalues[*i] < PINNED);
    let mut fields: Vec<Field> = Vec::new();
    for motion in still {
        let motion: Vector6<f64> = eigen.eigenvectors.column(motion).into_owned();
        let mut field: Field = places.iter().zip(root_mass).map(|(x, m)| *m * (at(x) * motion)).collect();
        for _ in 0..2 {
            fields.iter().for_each(|other| remove(&mut field, other));
        }
        if normalise(&mut field) {
            fields.push(field);
        }
    }
    fields
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

fn add(to: &mut [Vec3], factor: f64, what: &[Vec3]) {
    to.iter_mut().zip(what).for_each(|(to, what)| *to += factor * what);
}

/// Removes the component along a unit vector.
fn remove(from: &mut [Vec3], unit: &[Vec3]) {
    let along = dot(from, unit);
    add(from, -along, unit);
}

/// Scales to unit length; false if that cannot be done.
fn normalise(u: &mut [Vec3]) -> bool {
    let length = dot(u, u).sqrt();
    let is_sound = length > 0.0 && length.is_finite();
    if is_sound {
        u.iter_mut().for_each(|u| *u /= length);
    }
    is_sound
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_flesh::Material;
    use sinew_math::nalgebra::{DMatrix, SymmetricEigen};
    use sinew_mesh::shapes;

    /// Which nodes are pinned.
    type Held = fn(&Vec3) -> bool;

    /// The frequency found, and all frequencies of the dense matrix, lowest first, for a beam with the pinned nodes that `is_held` selects.
    fn frequencies(size: [f64; 3], poisson: f64, is_held: Held) -> (f64, Vec<f64>) {
        // a beam with lumped masses
        let material = Material::tissue(2e4, poisson, 1000.0, 0.1);
        let mesh = shapes::beam(2, size);
        let mut mass = vec![0.0; mesh.nodes.len()];
        for (t, tet) in mesh.tets.iter().enumerate() {
            tet.iter().for_each(|&n| mass[n as usize] += material.density * mesh.tet_volume(t) / 4.0);
        }
        let inverse = |(x, m): (&Vec3, &f64)| if is_held(x) { 0.0 } else { 1.0 / m };
        let inverse_mass: Vec<f64> = mesh.nodes.iter().zip(&mass).map(inverse).collect();
        let element = |nodes: &[u32; 4]| ElementDesc { nodes: *nodes, material, fill: 1.0, viscosity: 0.0 };
        let elements: Vec<ElementDesc> = mesh.tets.iter().map(element).collect();
        let members: Vec<u32> = (0..mesh.nodes.len() as u32).collect();
        let nodes = BodyNodes {
            range: 0..mesh.nodes.len(),
            unstressed: &mesh.nodes,
            mass: &mass,
            inverse_mass: &inverse_mass,
        };
        let found = lowest_frequency(&members, &nodes, &elements);

        // the same by a dense decomposition
        let problem = Problem::new(&members, &nodes, &elements);
        let count = problem.root_mass.len();
        let mut dense = DMatrix::zeros(3 * count, 3 * count);
        for j in 0..3 * count {
            let mut unit = vec![Vec3::zeros(); count];
            unit[j / 3][j % 3] = 1.0;
            problem
                .apply(&unit)
                .iter()
                .enumerate()
                .for_each(|(i, u)| dense.fixed_view_mut::<3, 1>(3 * i, j).copy_from(u));
        }
        let squares = SymmetricEigen::new(dense).eigenvalues;
        let mut all: Vec<f64> = squares.iter().map(|square| square.max(0.0).sqrt()).collect();
        all.sort_by(f64::total_cmp);
        (found, all)
    }

    /// Rigid motions that pins allow have frequency zero; the frequency found is the next one, or within a tenth of a percent of it.
    #[test]
    fn it_is_the_lowest_frequency_that_is_not_of_a_rigid_motion() {
        let cases: [(Held, usize); 4] =
            [(|_| false, 6), (|x| x.norm() < 1e-9, 3), (|x| x.xy().norm() < 1e-9, 1), (|x| x.x < 1e-9, 0)];
        for (is_held, rigid) in cases {
            for (size, poisson) in [([0.4, 0.1, 0.1], 0.3), ([0.2, 0.2, 0.2], 0.47), ([0.4, 0.04, 0.04], 0.4)]
            {
                let (found, all) = frequencies(size, poisson, is_held);
                assert!(all[..rigid].iter().all(|f| *f < 1e-2 * found), "{rigid}: {:?}", &all[..rigid]);
                assert!((found / all[rigid] - 1.0).abs() < 1e-3, "{rigid}, {size:?}: {found} {}", all[rigid]);
            }
        }
    }
}
