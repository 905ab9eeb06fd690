//! Bending of triangle meshes without rotational degrees of freedom: the curvature of each triangle is that of the quadratic which its hinge angles fit.
//!
//! ```text
//! θ = M κ,   κ = (K₁₁, K₂₂, K₁₂)        Ψ = A/2 κᵀ P κ,   P = B (1 ν 0; ν 1 0; 0 0 2(1 − ν))
//! Ψ = ½ (θ − θ₀)ᵀ D (θ − θ₀),           D = A (M P⁻¹ Mᵀ)⁻¹
//! ```
//!
//! M takes the curvature of a quadratic surface z = ½ xᵀ K x to the angles between the triangle and its neighbours, unfolded into its plane. At a border a hinge is missing, its row of M too, and D is that of the softest
//! curvature with the other angles: the moment of a free border vanishes. A sheet of constant curvature so has its energy on any mesh (the patch test of rotation-free shells, \[OnateZarate2000\]); one weight per hinge
//! (\[Grinspun2003\]) is wrong by up to a factor of three, depending on the direction of the edges.
//!
//! The Hessian is that of Gauss and Newton, Jᵀ D J with J = ∂θ/∂x: it leaves out moment times ∂²θ/∂x², which vanishes at rest and is never positive definite.

use crate::Fabric;
use sinew_math::Vec3;
use sinew_math::arctangent::atan2;
use sinew_math::columns::{Vector, cross, dot, scale};
use sinew_math::lanes::Real;
use sinew_math::nalgebra::{DMatrix, Matrix3, RowVector3};

/// Two triangles with a common edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge {
    /// The ends of the edge, then the third corners: of the triangle that has the edge from the first end to the second, and of the other.
    pub nodes: [u32; 4],
    /// θ₀ (rad)
    pub rest_angle: f64,
}

/// The hinges of a triangle, with the energy of their angles.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CurvaturePatch {
    /// Up to three hinges, [`NONE`] at borders.
    hinges: [u32; 3],
    /// D (N m), rows and columns of missing hinges are zero. It includes the sense of each angle as the triangle sees it.
    stiffness: Matrix3<f64>,
}

/// Bending of a triangle mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bending {
    /// All hinges.
    pub hinges: Vec<Hinge>,
    patches: Vec<CurvaturePatch>,
    rows: Vec<StiffnessRow>,
}

/// The row of D of a hinge: it is coupled with itself and the other hinges of its two triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct StiffnessRow {
    /// The coupled hinges, padded with any hinge and a stiffness of 0.
    hinges: [u32; 5],
    /// Entries of D (N m).
    stiffness: [f64; 5],
}

/// No hinge, or no patch.
const NONE: u32 = u32::MAX;
/// Six points near a conic fit every quadratic on it: below this determinant of the normalised M P⁻¹ Mᵀ (1 for independent angles, 0.44 for squares that are divided by a diagonal) each hinge has a weight of its own.
const MIN_DETERMINANT: f64 = 0.02;

impl Hinge {
    /// θ (rad) and ∂θ/∂x (1/m) of one hinge, or of several in lanes: θ is 0 if flat, positive if the edge is a ridge on the side of the normals; derivatives are zero where a triangle has no area.
    ///
    /// ```text
    /// ∂θ/∂x₂ = −|e| n/|n|²  with n = e × (x₂ − x₀),   likewise x₃,   and the ends of the edge balance them by the levers of x₂ and x₃
    /// ```
    #[inline(always)]
    pub fn angle_and_gradients<T: Real>(x: &[Vector<T>; 4]) -> (T, [Vector<T>; 4]) {
        let (zero, one, tiny) = (T::splat(0.0), T::splat(1.0), T::splat(T::TINY));
        let minus = |a: &Vector<T>, b: &Vector<T>| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
        let plus = |a: &Vector<T>, b: &Vector<T>| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];

        // normals as long as twice the areas, and the edge
        let [edge, to_second] = [minus(&x[1], &x[0]), minus(&x[2], &x[0])];
        let (ahead, back) = (cross(edge, to_second), cross(minus(&x[3], &x[1]), edge));
        let [p, q] = [dot(ahead, ahead), dot(back, back)];
        let squared = dot(edge, edge);
        let length = squared.sqrt();

        let angle = atan2(dot(cross(ahead, back), edge) / length.max(tiny), dot(ahead, back));

        // zero without area
        let is_sound = zero.less(p.min(q).min(squared));
        let per = |squared: T| T::select(is_sound, one / squared.max(tiny), zero);
        let [c, d] = [scale(ahead, -length * per(p)), scale(back, -length * per(q))];
        let [s, t] = [to_second, minus(&x[3], &x[0])].map(|lever| dot(lever, edge) * per(squared));
        let first = plus(&scale(c, s - one), &scale(d, t - one));
        let second = plus(&scale(c, -s), &scale(d, -t));
        (angle, [first, second, c, d])
    }

    /// θ (rad)
    #[inline]
    pub fn angle(x: &[Vec3; 4]) -> f64 {
        Hinge::angle_and_gradients(&x.map(|x| [x.x, x.y, x.z])).0
    }

    /// ∂θ/∂x (1/m)
    #[inline]
    pub fn gradients(x: &[Vec3; 4]) -> [Vec3; 4] {
        Hinge::angle_and_gradients(&x.map(|x| [x.x, x.y, x.z])).1.map(Vec3::from)
    }
}

impl Bending {
    /// The bending of a fabric over triangles between nodes at rest (m). Where more than two triangles meet at an edge, the first two make a hinge.
    pub fn build(triangles: &[[u32; 3]], rest: &[Vec3], fabric: &Fabric) -> Bending {
        let mut bending = Bending::default();
        if fabric.bending == 0.0 {
            return bending;
        }
        let mut hinges_of = vec![[(NONE, 1.0); 3]; triangles.len()];
        for pair in edges_with_two(triangles) {
            let [(first, i), (second, j)] = pair;
            let [a, b] = [triangles[first][(i + 1) % 3], triangles[first][(i + 2) % 3]];
            let nodes = [a, b, triangles[first][i], triangles[second][j]];
            let number = bending.hinges.len() as u32;
            // a neighbour of opposite winding sees the same angle from the other side
            let is_alike = triangles[second][(j + 1) % 3] == b;
            hinges_of[first][i] = (number, 1.0);
            hinges_of[second][j] = (number, if is_alike { 1.0 } else { -1.0 });
            let rest_angle = Hinge::angle(&nodes.map(|node| rest[node as usize]));
            bending.hinges.push(Hinge { nodes, rest_angle });
        }

        // the energy of each triangle
        bending.rows = vec![StiffnessRow::default(); bending.hinges.len()];
        for (triangle, own) in triangles.iter().zip(&hinges_of) {
            let Some(stiffness) = patch_stiffness(triangle, own, &bending.hinges, rest, fabric) else {
                continue;
            };
            bending.patches.push(CurvaturePatch { hinges: own.map(|(hinge, _)| hinge), stiffness });
        }
        let mut rows = core::mem::take(&mut bending.rows);
        bending.for_each_coupling(|i, j, stiffness| rows[i].add(j as u32, stiffness));
        bending.rows = rows;
        bending
    }

    /// The moment of a hinge (N m): its row of D times angles of all hinges, or changes of them.
    #[inline]
    pub fn moment(&self, hinge: usize, angles: &[f64]) -> f64 {
        let StiffnessRow { hinges, stiffness } = &self.rows[hinge];
        (0..5).map(|k| stiffness[k] * angles[hinges[k] as usize]).sum()
    }

    /// Number of triangles with an energy.
    pub fn patch_count(&self) -> usize {
        self.patches.len()
    }

    /// ½ θᵀ D θ of one triangle (J), for angles of hinges.
    #[inline]
    pub fn patch_energy(&self, patch: usize, angle: impl Fn(usize) -> f64) -> f64 {
        let CurvaturePatch { hinges, stiffness } = &self.patches[patch];
        let own = Vec3::from(hinges.map(|hinge| if hinge == NONE { 0.0 } else { angle(hinge as usize) }));
        0.5 * own.dot(&(stiffness * own))
    }

    /// Calls `visit` with each pair of hinges that D couples, and its entry (N m).
    pub fn for_each_coupling(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for CurvaturePatch { hinges, stiffness } in &self.patches {
            for (i, first) in hinges.iter().enumerate().filter(|(_, hinge)| **hinge != NONE) {
                for (j, second) in hinges.iter().enumerate().filter(|(_, hinge)| **hinge != NONE) {
                    visit(*first as usize, *second as usize, stiffness[(i, j)]);
                }
            }
        }
    }
}

impl StiffnessRow {
    /// Adds an entry of D: to that of the same hinge, or in the next free place.
    fn add(&mut self, hinge: u32, stiffness: f64) {
        let is_free = |k: &usize| self.stiffness[*k] == 0.0;
        let place = (0..5).find(|k| !is_free(k) && self.hinges[*k] == hinge).or_else(|| (0..5).find(is_free));
        if let Some(k) = place {
            self.hinges[k] = hinge;
            self.stiffness[k] += stiffness;
        }
    }
}

/// Pairs of triangles with a common edge, each with the corner opposite of it.
fn edges_with_two(triangles: &[[u32; 3]]) -> Vec<[(usize, usize); 2]> {
    let mut halves: Vec<([u32; 2], usize, usize)> = Vec::with_capacity(3 * triangles.len());
    for (t, corners) in triangles.iter().enumerate() {
        for i in 0..3 {
            let [a, b] = [corners[(i + 1) % 3], corners[(i + 2) % 3]];
            halves.push(([a.min(b), a.max(b)], t, i));
        }
    }
    halves.sort_unstable();
    let pair = |group: &[([u32; 2], usize, usize)]| match group {
        [(_, t, i), (_, u, j), ..] => Some([(*t, *i), (*u, *j)]),
        _ => None,
    };
    halves.chunk_by(|a, b| a.0 == b.0).filter_map(pair).collect()
}

/// D of a triangle; `None` if it has no area or no hinge.
fn patch_stiffness(
    triangle: &[u32; 3],
    hinges: &[(u32, f64); 3],
    all: &[Hinge],
    rest: &[Vec3],
    fabric: &Fabric,
) -> Option<Matrix3<f64>> {
    let x = triangle.map(|node| rest[node as usize]);
    let area = 0.5 * (x[1] - x[0]).cross(&(x[2] - x[0])).norm();
    let along = (x[1] - x[0]).try_normalize(0.0)?;
    let across = (x[1] - x[0]).cross(&(x[2] - x[0])).try_normalize(0.0)?.cross(&along);
    let flat = x.map(|p| [along.dot(&(p - x[0])), across.dot(&(p - x[0]))]);

    // rows of M, and the weight of each hinge by itself
    let present: Vec<usize> = (0..3).filter(|i| hinges[*i].0 != NONE).collect();
    let mut rows = Vec::new();
    let mut weights = Vec::new();
    for &i in &present {
        let hinge = &all[hinges[i].0 as usize];
        let wing = *hinge.nodes[2..].iter().find(|node| **node != triangle[i])?;
        let [a, b] = [(i + 1) % 3, (i + 2) % 3];
        let [p, q] = [rest[triangle[a] as usize], rest[triangle[b] as usize]];
        let edge = (q - p).norm();
        let own = 2.0 * area / edge;
        let off = rest[wing as usize] - p;
        let tangential = off.dot(&(q - p)) / edge;
        let height = (off - (q - p) * (tangential / edge)).norm();
        if height == 0.0 {
            return None;
        }
        rows.push(angle_row([flat[a], flat[b], flat[i]], [own, height, tangential / edge]) * hinges[i].1);
        weights.push(0.5 * fabric.bending * edge * edge / (area + 0.5 * edge * height));
    }
    if present.is_empty() {
        return None;
    }

    // A (M P⁻¹ Mᵀ)⁻¹, or those weights
    let nu = fabric.poisson;
    let scale = 1.0 / (fabric.bending * (1.0 - nu * nu));
    let compliance = Matrix3::new(
        scale,
        -nu * scale,
        0.0,
        -nu * scale,
        scale,
        0.0,
        0.0,
        0.0,
        0.5 / (fabric.bending * (1.0 - nu)),
    );
    let matrix = DMatrix::from_fn(present.len(), present.len(), |i, j| {
        (rows[i] * compliance * rows[j].transpose())[0]
    });
    let diagonal: f64 = (0..present.len()).map(|i| matrix[(i, i)]).product();
    let is_sound = matrix.determinant() > MIN_DETERMINANT * diagonal && diagonal > 0.0;
    let inverse = if is_sound { matrix.try_inverse().map(|inverse| inverse * area) } else { None };
    let mut stiffness = Matrix3::zeros();
    for (i, row) in present.iter().enumerate() {
        for (j, column) in present.iter().enumerate() {
            let alone = if i == j { weights[i] } else { 0.0 };
            stiffness[(*row, *column)] = inverse.as_ref().map_or(alone, |inverse| inverse[(i, j)]);
        }
    }
    Some(0.5 * (stiffness + stiffness.transpose()))
}

/// The angle at an edge from p to q of a surface z = ½ (K₁₁ x² + K₂₂ y²) + K₁₂ xy, as a row over (K₁₁, K₂₂, K₁₂): minus the change of derivative across the edge of what is linear on both sides of it. `own` and `height` are the
/// distances of both third corners from the edge, `wing` the place of the other one along it.
fn angle_row([p, q, r]: [[f64; 2]; 3], [own, height, wing]: [f64; 3]) -> RowVector3<f64> {
    let z = |x: [f64; 2]| RowVector3::new(0.5 * x[0] * x[0], 0.5 * x[1] * x[1], x[0] * x[1]);
    let edge = [q[0] - p[0], q[1] - p[1]];
    let squared = edge[0] * edge[0] + edge[1] * edge[1];
    let at = |t: f64| z(p) * (1.0 - t) + z(q) * t;
    let inside = ((r[0] - p[0]) * edge[0] + (r[1] - p[1]) * edge[1]) / squared;
    // outward, away from the third corner
    let foot = [p[0] + inside * edge[0], p[1] + inside * edge[1]];
    let out = [(foot[0] - r[0]) / own, (foot[1] - r[1]) / own];
    let other = [p[0] + wing * edge[0] + height * out[0], p[1] + wing * edge[1] + height * out[1]];
    (at(inside) - z(r)) / own - (z(other) - at(wing)) / height
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hinge() -> [Vec3; 4] {
        [
            Vec3::new(0.1, 0.02, -0.03),
            Vec3::new(0.22, 0.0, 0.01),
            Vec3::new(0.12, 0.13, 0.05),
            Vec3::new(0.2, -0.08, -0.06),
        ]
    }

    /// Central differences over 1e-6 m of lengths of 0.1 m: the second order is 1e-10 of the derivative, round-off 1e-16/1e-6.
    #[test]
    fn the_gradient_is_the_slope_of_the_angle() {
        let x = hinge();
        let own = Hinge::gradients(&x);
        for i in 0..12 {
            let (mut ahead, mut back) = (x, x);
            ahead[i / 3][i % 3] += 1e-6;
            back[i / 3][i % 3] -= 1e-6;
            let derivative = (Hinge::angle(&ahead) - Hinge::angle(&back)) / 2e-6;
            assert!((derivative - own[i / 3][i % 3]).abs() < 1e-6, "{i}: {derivative} {}", own[i / 3][i % 3]);
        }
    }

    /// A grid of squares of side h with diagonals, moved off the grid by a fraction of h.
    fn grid(count: u32, side: f64, jitter: f64) -> (Vec<[u32; 3]>, Vec<Vec3>) {
        let mut rest = Vec::new();
        for j in 0..=count {
            for i in 0..=count {
                let noise = |k: u32| {
                    let seed = (i * 7919 + j * 104_729 + k * 1299) % 1000;
                    jitter * side * (f64::from(seed) / 500.0 - 1.0)
                };
                rest.push(Vec3::new(side * f64::from(i) + noise(1), side * f64::from(j) + noise(2), 0.0));
            }
        }
        let mut triangles = Vec::new();
        for j in 0..count {
            for i in 0..count {
                let at = |i: u32, j: u32| j * (count + 1) + i;
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                // one of them is wound the other way
                triangles.push(if (i + j) % 5 == 0 { [b, a, c] } else { [a, b, c] });
                triangles.push([a, c, d]);
            }
        }
        (triangles, rest)
    }

    /// A sheet bent to a small constant curvature in any direction, on regular and irregular meshes, has the energy of the plate: to the first order on triangles with three hinges. With hinges of one weight each it would be
    /// up to three times as much. The curvature 1e-4/m of a sheet of 1 m leaves angles of 1e-5, whose squares are neglected.
    #[test]
    fn constant_curvature_has_the_energy_of_the_plate() {
        let fabric = Fabric { bending: 2.0, poisson: 0.3, ..Fabric::default() };
        for jitter in [0.0, 0.25] {
            let (triangles, rest) = grid(10, 0.1, jitter);
            let bending = Bending::build(&triangles, &rest, &fabric);
            for [xx, yy, xy] in
                [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.5], [0.5, 0.5, -0.5], [1.0, -1.0, 0.3]]
            {
                let k = 1e-4;
                let bent: Vec<Vec3> = rest
                    .iter()
                    .map(|p| {
                        let z = 0.5 * xx * p.x * p.x + 0.5 * yy * p.y * p.y + xy * p.x * p.y;
                        Vec3::new(p.x, p.y, k * z)
                    })
                    .collect();
                let angles: Vec<f64> = bending
                    .hinges
                    .iter()
                    .map(|hinge| Hinge::angle(&hinge.nodes.map(|n| bent[n as usize])) - hinge.rest_angle)
                    .collect();
                let mut energy = 0.0;
                let mut area = 0.0;
                let whole: f64 = (xx + yy) * (xx + yy) - 2.0 * (1.0 - 0.3) * (xx * yy - xy * xy);
                for (t, patch) in
                    bending.patches.iter().enumerate().filter(|(_, p)| !p.hinges.contains(&NONE))
                {
                    let theta = patch.hinges.map(|h| angles[h as usize]);
                    let theta = sinew_math::Vec3::from(theta);
                    energy += 0.5 * theta.dot(&(patch.stiffness * theta));
                    let [a, b, c] = triangles[t].map(|n| rest[n as usize]);
                    area += 0.5 * (b - a).cross(&(c - a)).norm();
                }
                let wanted = 0.5 * fabric.bending * area * k * k * whole;
                assert!((energy / wanted - 1.0).abs() < 1e-4, "{jitter} {xx} {yy} {xy}: {}", energy / wanted);
            }
        }
    }

    /// A narrow strip with free sides, bent along itself, is a beam of the stiffness B (1 − ν²) per width: its sides choose their curvature.
    #[test]
    fn free_borders_have_no_moment() {
        let fabric = Fabric { bending: 2.0, poisson: 0.3, ..Fabric::default() };
        let rest: Vec<Vec3> =
            (0..20).map(|i| Vec3::new(0.1 * f64::from(i / 2), 0.1 * f64::from(i % 2), 0.0)).collect();
        let triangles: Vec<[u32; 3]> =
            (0..9u32).flat_map(|i| [[2 * i, 2 * i + 2, 2 * i + 3], [2 * i, 2 * i + 3, 2 * i + 1]]).collect();
        let bending = Bending::build(&triangles, &rest, &fabric);
        let k = 1e-4;
        let angles: Vec<f64> = bending
            .hinges
            .iter()
            .map(|hinge| {
                Hinge::angle(&hinge.nodes.map(|n| {
                    rest[n as usize] + Vec3::z() * (0.5 * k * rest[n as usize].x * rest[n as usize].x)
                }))
            })
            .collect();
        let energy: f64 = (0..angles.len()).map(|i| 0.5 * angles[i] * bending.moment(i, &angles)).sum();
        // nine squares, of which the outer triangles of the ends have but one hinge, on the diagonal, which is not bent
        let beam = 0.5 * 2.0 * (1.0 - 0.09) * k * k * (0.9 * 0.1 - 0.01);
        assert!((energy / beam - 1.0).abs() < 1e-4, "{}", energy / beam);
    }
}
