//! Air inside a closed surface.                                            \[TurnerThalmann1993, eq. 6\]
//!
//! ```text
//! Ψ = −N R T ln V,      V = ⅙ Σ x₀ · (x₁ × x₂)          ∂Ψ/∂x = −p ∂V/∂x,   p = N R T / V
//! ∂²Ψ/∂x² = (p/V) ∂V/∂x ∂V/∂xᵀ − p ∂²V/∂x²
//! ```
//!
//! The gradient is pressure times area times normal, N R T/V · a n of the source. The second term of the Hessian turns the pressure with its triangles; it is indefinite, and left out of the one for solvers, which is then positive
//! semi-definite: tension across the surface, which the membrane keeps, is what balances it.

use sinew_math::Vec3;
use sinew_math::parallel::for_each_part;

/// The air in a closed surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pressure {
    /// The surface, triangles facing outwards.
    triangles: Vec<[u32; 3]>,
    /// For each node the triangles at it and its place in them.
    offsets: Vec<u32>,
    corners: Vec<(u32, u32)>,
    /// N R T (J)
    pub amount: f64,
    /// The volume at which the energy counts as zero (m³): above all that occur, so that the energy is never negative, as energy checks assume.
    empty: f64,
}

/// That volume, as a multiple of the one at rest.
const EMPTY: f64 = 20.0;

/// Triangles or nodes per parallel task, and per partial sum.
const CHUNK: usize = 512;

impl Pressure {
    /// Air that has a pressure (Pa) with the nodes at rest (m); `None` if the surface contains no volume.
    pub fn build(triangles: &[[u32; 3]], rest: &[Vec3], pressure: f64) -> Option<Pressure> {
        let mut offsets = vec![0u32; rest.len() + 1];
        triangles.iter().flatten().for_each(|node| offsets[*node as usize + 1] += 1);
        (0..rest.len()).for_each(|node| offsets[node + 1] += offsets[node]);
        let mut next = offsets.clone();
        let mut corners = vec![(0, 0); 3 * triangles.len()];
        for (t, nodes) in triangles.iter().enumerate() {
            for (place, node) in nodes.iter().enumerate() {
                let slot = &mut next[*node as usize];
                corners[*slot as usize] = (t as u32, place as u32);
                *slot += 1;
            }
        }
        let mut own = Pressure { triangles: triangles.to_vec(), offsets, corners, amount: 0.0, empty: 0.0 };
        let volume = own.volume(rest);
        own.amount = pressure * volume;
        own.empty = EMPTY * volume;
        (volume > 0.0 && own.amount.is_finite()).then_some(own)
    }

    /// V (m³)
    pub fn volume(&self, x: &[Vec3]) -> f64 {
        // about a point of the surface: positions are large, the volume is not
        let Some(origin) = self.triangles.first().map(|t| x[t[0] as usize]) else { return 0.0 };
        let part = |triangles: &[[u32; 3]]| -> f64 {
            let own = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|node| x[node as usize] - origin);
                a.dot(&b.cross(&c))
            };
            triangles.iter().map(own).sum()
        };
        self.triangles.chunks(CHUNK).map(part).sum::<f64>() / 6.0
    }

    /// −N R T ln (V/V₀) (J); infinite without a volume.
    pub fn energy(&self, x: &[Vec3]) -> f64 {
        let volume = self.volume(x);
        if volume > 0.0 { -self.amount * sinew_math::real::ln(volume / self.empty) } else { f64::INFINITY }
    }

    /// p (Pa)
    pub fn pressure(&self, x: &[Vec3]) -> f64 {
        self.amount / self.volume(x)
    }

    /// Adds a factor times ∂V/∂x (m²) at each node.
    pub fn add_area(&self, x: &[Vec3], factor: f64, out: &mut [Vec3]) {
        for_each_part(out, CHUNK, |first, out| {
            for (i, out) in out.iter_mut().enumerate() {
                let node = first + i;
                let own = &self.corners[self.offsets[node] as usize..self.offsets[node + 1] as usize];
                let mut sum = Vec3::zeros();
                for (t, place) in own {
                    let nodes = &self.triangles[*t as usize];
                    let next = nodes[(*place as usize + 1) % 3];
                    let last = nodes[(*place as usize + 2) % 3];
                    // the fan around a node is closed, so that its own place cancels
                    let here = x[node];
                    sum += (x[next as usize] - here).cross(&(x[last as usize] - here));
                }
                *out += (factor / 6.0) * sum;
            }
        });
    }

    /// Adds the gradient (N); returns the energy (J).
    pub fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        self.add_area(x, -self.pressure(x), gradient);
        self.energy(x)
    }

    /// p/V (N/m⁵), the factor of the part of the Hessian that solvers see.
    pub fn stiffness(&self, x: &[Vec3]) -> f64 {
        let volume = self.volume(x);
        self.amount / (volume * volume)
    }

    /// The product of the whole Hessian with displacements of the nodes.
    pub fn multiply_whole(&self, x: &[Vec3], u: &[Vec3], out: &mut [Vec3]) {
        let mut area = vec![Vec3::zeros(); x.len()];
        self.add_area(x, 1.0, &mut area);
        let change = self.stiffness(x) * area.iter().zip(u).map(|(a, u)| a.dot(u)).sum::<f64>();
        out.iter_mut().zip(&area).for_each(|(out, area)| *out += change * area);
        let p = self.pressure(x) / 6.0;
        for nodes in &self.triangles {
            for place in 0..3 {
                let [a, b, c] = [0, 1, 2].map(|k| nodes[(place + k) % 3] as usize);
                out[a] -= p * (u[b].cross(&x[c]) + x[b].cross(&u[c]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An octahedron, dented.
    fn surface() -> (Vec<[u32; 3]>, Vec<Vec3>) {
        let x = [
            Vec3::new(0.11, 0.0, 0.01),
            Vec3::new(-0.1, 0.01, 0.0),
            Vec3::new(0.0, 0.12, 0.02),
            Vec3::new(0.01, -0.1, 0.0),
            Vec3::new(0.0, 0.03, 0.09),
            Vec3::new(0.02, 0.0, -0.11),
        ];
        let triangles =
            [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
        (triangles.to_vec(), x.to_vec())
    }

    /// Central differences over 1e-6 m of a body of 0.1 m: the second order is 1e-10 of the scale, and round-off 1e-9.
    #[test]
    fn gradient_and_whole_hessian_are_those_of_the_energy() {
        let (triangles, x) = surface();
        let air = Pressure::build(&triangles, &x, 800.0).expect("a volume");
        let gradient = |x: &[Vec3]| {
            let mut out = vec![Vec3::zeros(); 6];
            air.add_gradient(x, &mut out);
            out
        };
        let (own, h) = (gradient(&x), 1e-6);
        let scale = own.iter().map(Vec3::norm).sum::<f64>();
        for i in 0..18 {
            let (mut up, mut down) = (x.clone(), x.clone());
            up[i / 3][i % 3] += h;
            down[i / 3][i % 3] -= h;
            let derivative = (air.energy(&up) - air.energy(&down)) / (2.0 * h);
            assert!((derivative - own[i / 3][i % 3]).abs() < 1e-7 * scale);
            let mut u = vec![Vec3::zeros(); 6];
            u[i / 3][i % 3] = 1.0;
            let mut product = vec![Vec3::zeros(); 6];
            air.multiply_whole(&x, &u, &mut product);
            for ((up, down), product) in gradient(&up).iter().zip(gradient(&down)).zip(product) {
                let derivative = (up - down) / (2.0 * h);
                assert!((derivative - product).norm() < 1e-6 * scale / 0.1, "{derivative} {product}");
            }
        }
    }

    /// A cube of 1 m with 50 Pa: each face is pushed by 50 N, and all forces balance.
    #[test]
    fn the_force_is_pressure_times_area() {
        let cube = sinew_mesh::shapes::cuboid([1.0, 1.0, 1.0]);
        let air = Pressure::build(&cube.triangles, &cube.vertices, 50.0).expect("a volume");
        assert!((air.volume(&cube.vertices) - 1.0).abs() < 1e-12);
        let mut force = vec![Vec3::zeros(); cube.vertices.len()];
        air.add_gradient(&cube.vertices, &mut force);
        let outwards = |f: &Vec3, x: &Vec3| if x.x > 0.0 { -f.x } else { 0.0 };
        let face: f64 = force.iter().zip(&cube.vertices).map(|(f, x)| outwards(f, x)).sum();
        assert!((face - 50.0).abs() < 1e-9, "{face}");
        assert!(force.iter().sum::<Vec3>().norm() < 1e-9);
    }

    #[test]
    fn an_inverted_surface_holds_no_air() {
        let (mut triangles, x) = surface();
        triangles.iter_mut().for_each(|t| t.swap(0, 1));
        assert!(Pressure::build(&triangles, &x, 800.0).is_none());
    }
}
