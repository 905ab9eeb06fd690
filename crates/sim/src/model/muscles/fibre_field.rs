//! Fibre directions from a harmonic potential between origin and insertion.
//!
//! ```text
//! ∫ w ∇φ · ∇ψ = 0 for all ψ,    φ = 0 at the origin, 1 at the insertion,    d = ∇φ/|∇φ|
//! ```
//!
//! over the tets of the muscle, weighted by how much of each is muscle: linear elements, conjugate gradients with the diagonal as preconditioner.

use sinew_math::{Mat3, Vec3};

/// The residual at which the solution ends, relative to that at the start: directions are right to a thousandth of a radian long before.
const TOLERANCE: f64 = 1e-8;
/// Iterations at most: the number of nodes along the muscle times a few is usual.
const MAX_ITERATIONS: usize = 2000;

/// The tets of a muscle with the gradients of their shape functions.
struct Potential {
    /// Corners by place in the muscle's own list of nodes, gradients (1/m) and weights (m³).
    tets: Vec<([usize; 4], [Vec3; 4], f64)>,
    /// Whether each node is at an end.
    fixed: Vec<bool>,
}

/// The fibre direction of each tet of a muscle; `axis` where the potential is even. `ends` are nodes, in `tets` tets with fractions.
pub(super) fn fibre_directions(
    (rest, corners): (&[Vec3], &[[u32; 4]]),
    tets: &[(u32, f64)],
    ends: &[Vec<u32>; 2],
    axis: &Vec3,
) -> Vec<Vec3> {
    // the nodes of the muscle
    let mut nodes: Vec<u32> = tets.iter().flat_map(|(tet, _)| corners[*tet as usize]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let place = |node: u32| nodes.partition_point(|own| *own < node);
    let own = tets.iter().map(|(tet, fraction)| {
        let own = corners[*tet as usize];
        let (gradients, volume) = shape_gradients(&own.map(|node| rest[node as usize]));
        (own.map(place), gradients, fraction * volume)
    });
    let is_end = |node: &u32| ends.iter().any(|end| end.contains(node));
    let potential = Potential { tets: own.collect(), fixed: nodes.iter().map(is_end).collect() };

    // start from the distance along the axis
    let middle =
        |end: &[u32]| end.iter().map(|node| rest[*node as usize]).sum::<Vec3>() / end.len().max(1) as f64;
    let (from, to) = (middle(&ends[0]), middle(&ends[1]));
    let length = (to - from).norm().max(f64::MIN_POSITIVE);
    let start = |node: &u32| match () {
        () if ends[0].contains(node) => 0.0,
        () if ends[1].contains(node) => 1.0,
        () => ((rest[*node as usize] - from).dot(axis) / length).clamp(0.0, 1.0),
    };
    let mut phi: Vec<f64> = nodes.iter().map(start).collect();
    potential.solve(&mut phi);
    let direction = |(own, gradients, _): &([usize; 4], [Vec3; 4], f64)| {
        let gradient: Vec3 = own.iter().zip(gradients).map(|(node, g)| phi[*node] * g).sum();
        // a thousandth of the mean gradient has no direction to speak of
        if gradient.norm() * length > 1e-3 { gradient.normalize() } else { *axis }
    };
    potential.tets.iter().map(direction).collect()
}

/// ∇φᵢ of a tet, and its volume (m³); zero for a flat one.
fn shape_gradients([a, b, c, d]: &[Vec3; 4]) -> ([Vec3; 4], f64) {
    let edges = Mat3::from_columns(&[b - a, c - a, d - a]);
    let Some(inverse) = edges.try_inverse() else { return ([Vec3::zeros(); 4], 0.0) };
    let [g1, g2, g3] = [0, 1, 2].map(|k| inverse.row(k).transpose());
    ([-(g1 + g2 + g3), g1, g2, g3], edges.determinant() / 6.0)
}

impl Potential {
    /// K φ without the rows of ends.
    fn multiply(&self, phi: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (nodes, gradients, weight) in &self.tets {
            let flux: Vec3 = nodes.iter().zip(gradients).map(|(node, g)| phi[*node] * g).sum();
            for (node, g) in nodes.iter().zip(gradients) {
                out[*node] += weight * g.dot(&flux);
            }
        }
        out.iter_mut().zip(&self.fixed).filter(|(_, fixed)| **fixed).for_each(|(out, _)| *out = 0.0);
    }

    fn solve(&self, phi: &mut [f64]) {
        let n = phi.len();
        let mut diagonal = vec![0.0; n];
        for (nodes, gradients, weight) in &self.tets {
            for (node, g) in nodes.iter().zip(gradients) {
                diagonal[*node] += weight * g.norm_squared();
            }
        }
        let scaled = |r: &[f64]| -> Vec<f64> {
            r.iter().zip(&diagonal).map(|(r, d)| if *d > 0.0 { r / d } else { 0.0 }).collect()
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut residual = vec![0.0; n];
        self.multiply(phi, &mut residual);
        residual.iter_mut().for_each(|r| *r = -*r);
        let mut z = scaled(&residual);
        let mut p = z.clone();
        let mut rz = dot(&residual, &z);
        let enough = TOLERANCE * TOLERANCE * rz;
        let mut product = vec![0.0; n];
        for _ in 0..MAX_ITERATIONS {
            self.multiply(&p, &mut product);
            let curvature = dot(&p, &product);
            if rz <= enough || curvature <= 0.0 {
                return;
            }
            let step = rz / curvature;
            for i in 0..n {
                phi[i] += step * p[i];
                residual[i] -= step * product[i];
            }
            z = scaled(&residual);
            let next = dot(&residual, &z);
            for i in 0..n {
                p[i] = z[i] + next / rz * p[i];
            }
            rz = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    /// Between two opposite faces of a box the potential is linear, which linear elements hold exactly: directions are right to the tolerance of the solution.
    #[test]
    fn fibres_between_the_faces_of_a_box_are_parallel() {
        let mesh = shapes::beam(2, [0.4, 0.1, 0.1]);
        let far = |sign: f64| {
            let extent = mesh.nodes.iter().map(|x| sign * x.x).fold(f64::MIN, f64::max);
            let is_there = |node: &u32| sign * mesh.nodes[*node as usize].x > extent - 1e-9;
            (0..mesh.nodes.len() as u32).filter(is_there).collect::<Vec<u32>>()
        };
        let tets: Vec<(u32, f64)> = (0..mesh.tets.len() as u32).map(|tet| (tet, 1.0)).collect();
        let ends = [far(-1.0), far(1.0)];
        let found = fibre_directions((&mesh.nodes, &mesh.tets), &tets, &ends, &Vec3::y());
        assert!(found.iter().all(|d| (d - Vec3::x()).norm() < 1e-5));
    }
}
