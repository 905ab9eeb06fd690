//! Limit on the compression of elements: flesh is never squeezed below a fraction of its volume, however hard it is struck.
//!
//! A body that falls from half its size L lands with ρ v² = ρ g L, for soft flesh as much as its Young's modulus: elasticity alone stops it only after elements have passed through themselves. Real flesh is nearly
//! incompressible and locks. An element with the volume ratio J below the limit J_c, or about to pass it, therefore compresses no further. Over a step of h, to first order in the motion,
//!
//! ```text
//! J + h Σᵢ gᵢ · vᵢ ≥ min(J_c, J),     gᵢ = ∂J/∂xᵢ
//! ```
//!
//! Where that does not hold, an inelastic impulse restores it: the projection onto the half-space in the norm of the masses,
//!
//! ```text
//! vᵢ ← vᵢ + λ gᵢ/mᵢ,     λ = ((min(J_c, J) − J)/h − Σ gᵢ · vᵢ)/Σ gᵢ²/mᵢ
//! ```
//!
//! Half-spaces contain rest, v = 0, so that projections never add kinetic energy, for any step and in any number: alternating projections over all elements in a fixed order are unconditionally stable. J depends on
//! relative positions and no rotation, so Σ gᵢ = 0 and Σ xᵢ × gᵢ = 0: momentum and angular momentum are conserved. Elements above the limit are left alone.
//!
//! A load that lasts presses what has passed the limit further from step to step, by what the projections leave of it, until the skin itself is inverted and contact no longer knows where its outside is. Elements at
//! J < J_u therefore turn back within a time τ, by half-spaces that do not contain rest:
//!
//! ```text
//! Σᵢ gᵢ · vᵢ ≥ (J_u − J)/τ
//! ```

use crate::elements::Elements;
use crate::forces::CornerForces;
use sinew_math::Vec3;

/// J_c: in ordinary motion nearly incompressible flesh stays well above it.
const LIMIT: f64 = 0.3;
/// J_u: below it elements are all but inverted.
const UPRIGHT: f64 = 0.05;
/// τ (s), as long as surfaces that overlap take to come apart.
const TURNING_TIME: f64 = 0.02;
/// Projections of each element in a step, in alternating order, since each passes a push on to the next. On a cow that lies on the edge of a stair four left 0.8 % of the tets
/// inverted at once, sixteen 0.2 %.
const SWEEPS: usize = 16;

/// Scratch: what may not come closer, and the impulses on its nodes.
#[derive(Clone, Debug, Default)]
pub struct CompressionLimit {
    stops: Vec<Stop>,
    /// Nodes with gᵢ (1/m for elements, none for points), those of a stop together.
    parts: Vec<(u32, Vec3)>,
    /// The nodes of all stops, each once.
    nodes: Vec<u32>,
    /// For each node whether it is among them.
    is_near: Vec<bool>,
    /// For each node the impulse of the last projection (N s), 0 for all others.
    impulse: Vec<Vec3>,
}

/// A half-space of velocities.
#[derive(Clone, Copy, Debug)]
struct Stop {
    /// The end of its parts.
    end: u32,
    /// min(J_c, J) − J, or 0 for points.
    room: f64,
    /// (J_u − J)/τ for what is inverted, else 0 (1/s).
    recovery: f64,
}

impl CompressionLimit {
    /// Begins a step of bodies of some nodes, without anything near the limit, and reserves memory for a number of stops.
    pub fn begin(&mut self, node_count: usize, stop_count: usize) {
        for node in self.nodes.drain(..) {
            self.is_near[node as usize] = false;
            self.impulse[node as usize] = Vec3::zeros();
        }
        self.stops.clear();
        self.parts.clear();
        self.is_near.resize(node_count, false);
        self.impulse.resize(node_count, Vec3::zeros());
        self.nodes.reserve(node_count);
        self.stops.reserve(stop_count);
        // elements have four nodes, pairs of points up to sixteen
        self.parts.reserve(8 * stop_count);
    }

    /// Adds the elements near the limit, as the last evaluation of forces listed them, at its node positions (m); only those whose nodes `is_own` accepts.
    pub fn add_elements(
        &mut self,
        elements: &Elements,
        forces: &CornerForces,
        x: &[Vec3],
        is_own: impl Fn(usize) -> bool,
    ) {
        for (nodes, inverse_rest) in forces.compressed(elements) {
            if is_own(nodes[0] as usize) {
                let (ratio, gradient) =
                    volume_ratio(nodes.map(|n| x[n as usize]), inverse_rest.determinant());
                self.add_element(nodes.into_iter().zip(gradient), ratio);
            }
        }
    }

    /// Adds an element with a volume ratio and its gradient at each node.
    fn add_element(&mut self, gradient: impl Iterator<Item = (u32, Vec3)>, ratio: f64) {
        self.add(gradient, LIMIT.min(ratio) - ratio, (UPRIGHT - ratio).max(0.0) / TURNING_TIME);
    }

    /// Keeps a point, or the distance of two, that nodes carry by their weights from moving against a direction: flesh that is squeezed against an obstacle or other flesh.
    pub fn add_stop(&mut self, carriers: impl Iterator<Item = (usize, f64)>, direction: &Vec3) {
        self.add(carriers.map(|(node, weight)| (node as u32, weight * direction)), 0.0, 0.0);
    }

    fn add(&mut self, parts: impl Iterator<Item = (u32, Vec3)>, room: f64, recovery: f64) {
        let start = self.parts.len();
        for (node, gradient) in parts {
            // a node that carries several points has one gradient
            if let Some((_, own)) = self.parts[start..].iter_mut().find(|(own, _)| *own == node) {
                *own += gradient;
                continue;
            }
            self.parts.push((node, gradient));
            if !core::mem::replace(&mut self.is_near[node as usize], true) {
                self.nodes.push(node);
            }
        }
        self.stops.push(Stop { end: self.parts.len() as u32, room, recovery });
    }

    /// Whether nothing is near the limit.
    pub fn is_empty(&self) -> bool {
        self.stops.is_empty()
    }

    /// Stops what passes the limit within a step of `h` (s), given node velocities (m/s) and inverse masses (1/kg).
    pub fn project(&mut self, v: &[Vec3], inverse_mass: impl Fn(usize) -> f64, h: f64) {
        let CompressionLimit { stops, parts, impulse, .. } = self;
        let mut project = |i: usize| {
            let start = if i == 0 { 0 } else { stops[i - 1].end as usize };
            let Stop { end, room, recovery } = stops[i];
            let own = &parts[start..end as usize];
            let (mut rate, mut yields) = (0.0, 0.0);
            for (node, g) in own {
                let (node, mobility) = (*node as usize, inverse_mass(*node as usize));
                rate += g.dot(&(v[node] + mobility * impulse[node]));
                yields += mobility * g.norm_squared();
            }
            let missing = room / h + recovery - rate;
            if missing > 0.0 && yields > 0.0 {
                let strength = missing / yields;
                own.iter().for_each(|(node, g)| impulse[*node as usize] += strength * g);
            }
        };
        // points in obstacles, which come last, have the last word
        for _ in 0..SWEEPS / 2 {
            (0..stops.len()).rev().for_each(&mut project);
            (0..stops.len()).for_each(&mut project);
        }
    }

    /// The impulses that the last projection gave to all nodes (N s).
    pub fn impulses(&self) -> &[Vec3] {
        &self.impulse
    }

    /// The nodes that are near the limit with their impulses (N s).
    pub fn node_impulses(&self) -> impl Iterator<Item = (usize, Vec3)> + '_ {
        self.nodes.iter().map(|&node| (node as usize, self.impulse[node as usize]))
    }
}

/// J = det(Ds) det(Dm⁻¹) and its gradient: at corner 1 it is e₂ × e₃ det(Dm⁻¹), and so on around.
fn volume_ratio([a, b, c, d]: [Vec3; 4], inverse_rest: f64) -> (f64, [Vec3; 4]) {
    let edges = [b - a, c - a, d - a];
    let g = [(1, 2), (2, 0), (0, 1)].map(|(j, k)| edges[j].cross(&edges[k]) * inverse_rest);
    (edges[0].dot(&g[0]), [-(g[0] + g[1] + g[2]), g[0], g[1], g[2]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::ElementDesc;
    use crate::forces::{Diagonalise, NodeMotion};
    use crate::material::Material;
    use sinew_mesh::{TetMesh, shapes};

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn random_vector(seed: &mut u64) -> Vec3 {
        Vec3::new(random(seed), random(seed), random(seed))
    }

    fn elements_of(mesh: &TetMesh) -> Elements {
        let material = Material::soft_solid(1.0, 0.4, 1.0, 0.0);
        let describe = |&nodes: &[u32; 4]| ElementDesc { nodes, material, fill: 1.0, viscosity: 0.0 };
        Elements::build(&mesh.nodes, &mesh.tets.iter().map(describe).collect::<Vec<_>>())
    }

    /// A beam whose nodes are moved at random, its elements and the limit there.
    fn crushed(size: f64, seed: &mut u64) -> (Vec<Vec3>, TetMesh, CompressionLimit) {
        let mesh = shapes::beam(3, [9.0, 3.0, 3.0]);
        let elements = elements_of(&mesh);
        let x: Vec<Vec3> = mesh.nodes.iter().map(|x| x + size * random_vector(seed)).collect();
        let mut forces = CornerForces::default();
        let still = vec![Vec3::zeros(); x.len()];
        forces.update(&elements, NodeMotion { x: &x, v: &still }, Diagonalise::Selectively);
        let mut limit = CompressionLimit::default();
        limit.begin(x.len(), 0);
        limit.add_elements(&elements, &forces, &x, |_| true);
        (x, mesh, limit)
    }

    /// J of each listed element changes along a random motion as its gradient says. J is a cubic of positions of order 1, so that central differences over 1e-4 have an error of 1e-8 and a rounding error of 1e-12.
    #[test]
    fn the_gradient_is_that_of_the_volume_ratio() {
        let mut seed = 1;
        let (x, mesh, limit) = crushed(0.6, &mut seed);
        let way: Vec<Vec3> = x.iter().map(|_| random_vector(&mut seed)).collect();
        assert!(limit.stops.len() > 20);
        for (stop, parts) in limit.stops.iter().zip(limit.parts.chunks(4)) {
            let nodes = [0, 1, 2, 3].map(|k| parts[k].0);
            let t = mesh.tets.iter().position(|tet| *tet == nodes).expect("of the mesh");
            let ratio = |step: f64| {
                let [a, b, c, d] = nodes.map(|n| x[n as usize] + step * way[n as usize]);
                (b - a).cross(&(c - a)).dot(&(d - a)) / (6.0 * mesh.tet_volume(t))
            };
            let derivative = (ratio(1e-4) - ratio(-1e-4)) / 2e-4;
            let found: f64 = parts.iter().map(|(node, g)| g.dot(&way[*node as usize])).sum();
            // Dm⁻¹ is stored in single precision
            assert!((derivative - found).abs() < 1e-5 * (1.0 + derivative.abs()), "{derivative} {found}");
            assert!((stop.room - (LIMIT.min(ratio(0.0)) - ratio(0.0))).abs() < 1e-5);
        }
    }

    /// Impulses sum to zero with their moments, to round-off, and never add kinetic energy where nothing turns back, however long the step and uneven the masses.
    #[test]
    fn impulses_conserve_momentum_and_add_no_energy() {
        let mut seed = 2;
        for (h, turns_back) in [1e-6, 1e-2, 10.0].into_iter().flat_map(|h| [(h, false), (h, true)]) {
            let (x, _, mut limit) = crushed(0.6, &mut seed);
            if !turns_back {
                limit.stops.iter_mut().for_each(|stop| stop.recovery = 0.0);
            }
            let v: Vec<Vec3> = x.iter().map(|_| random_vector(&mut seed)).collect();
            let mass: Vec<f64> = x.iter().map(|_| 1.001 + random(&mut seed)).collect();
            limit.project(&v, |node| 1.0 / mass[node], h);
            let (mut linear, mut angular, mut size) = (Vec3::zeros(), Vec3::zeros(), 0.0);
            let mut energy = [0.0; 2];
            for (node, impulse) in limit.node_impulses() {
                linear += impulse;
                angular += x[node].cross(&impulse);
                size += impulse.norm();
                energy[0] += mass[node] * v[node].norm_squared();
                energy[1] += mass[node] * (v[node] + impulse / mass[node]).norm_squared();
            }
            assert!(size > 0.1, "nothing acts");
            assert!(linear.norm() < 1e-12 * size && angular.norm() < 1e-11 * size, "{linear} {angular}");
            assert!(turns_back || energy[1] < energy[0], "{h} s: {energy:?}");
        }
    }

    /// An element that would be flattened in a step is stopped at the limit, to first order exactly; one that expands, and one far from the limit, are left alone.
    #[test]
    fn an_element_stops_at_the_limit() {
        let nodes = vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        let mesh = TetMesh { nodes: nodes.clone(), tets: vec![[0, 1, 2, 3]] };
        let elements = elements_of(&mesh);
        let mut forces = CornerForces::default();
        let mut limit = CompressionLimit::default();
        let still = vec![Vec3::zeros(); 4];
        let mut find = |limit: &mut CompressionLimit, height: f64| {
            let x = [nodes[0], nodes[1], nodes[2], height * nodes[3]];
            forces.update(&elements, NodeMotion { x: &x, v: &still }, Diagonalise::Selectively);
            limit.begin(4, 1);
            limit.add_elements(&elements, &forces, &x, |_| true);
            !limit.is_empty()
        };
        assert!(!find(&mut limit, 0.5));
        assert_eq!(limit.node_impulses().count(), 0);
        for (speed, height) in [(-5.0, LIMIT), (0.1, 0.36), (5.0, 0.85)] {
            assert!(find(&mut limit, 0.35));
            let v = [Vec3::zeros(), Vec3::zeros(), Vec3::zeros(), speed * Vec3::z()];
            limit.project(&v, |node| if node == 3 { 2.0 } else { 0.0 }, 0.1);
            let stopped = speed + 2.0 * limit.impulses()[3].z;
            assert!((0.35 + 0.1 * stopped - height).abs() < 1e-6, "{stopped} m/s");
        }
    }

    /// An inverted element at rest turns back at the rate (J_u − J)/τ, and one that does so faster is left alone. J is the height of its tip.
    #[test]
    fn an_inverted_element_turns_back() {
        for (height, speed, turns) in
            [(-0.5, 0.0, 27.5), (-0.5, -3.0, 27.5), (-0.5, 30.0, 30.0), (0.04, 0.0, 0.5)]
        {
            let x = [Vec3::zeros(), Vec3::x(), Vec3::y(), height * Vec3::z()];
            let (ratio, gradient) = volume_ratio(x, 1.0);
            let mut limit = CompressionLimit::default();
            limit.begin(4, 1);
            limit.add_element([0, 1, 2, 3].into_iter().zip(gradient), ratio);
            let v = [Vec3::zeros(), Vec3::zeros(), Vec3::zeros(), speed * Vec3::z()];
            limit.project(&v, |node| if node == 3 { 2.0 } else { 0.0 }, 1e-3);
            let turned = speed + 2.0 * limit.impulses()[3].z;
            assert!((turned - turns).abs() < 1e-9, "{turned} m/s");
        }
    }

    /// A point on an obstacle does not go deeper, and is free to leave.
    #[test]
    fn a_stopped_point_does_not_go_deeper() {
        for (falls, rises) in [(-1.0, 0.0), (2.0, 2.0)] {
            let mut limit = CompressionLimit::default();
            limit.begin(6, 1);
            let v = [falls * Vec3::y() + 0.3 * Vec3::x(); 6];
            // a node may carry it twice
            let weights = [(0, 0.2), (1, 0.3), (5, 0.2), (0, 0.3)];
            limit.add_stop(weights.into_iter(), &Vec3::y());
            limit.project(&v, |_| 3.0, 0.01);
            let rate: f64 = weights.iter().map(|(n, w)| w * (v[*n] + 3.0 * limit.impulses()[*n]).y).sum();
            assert!((rate - rises).abs() < 1e-12, "{rate} m/s");
        }
    }
}
