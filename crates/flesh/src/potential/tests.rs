//! Derivative tests of energy, gradient and Hessian products for every law, at small and large deformation, viscous and not.

use crate::{ElasticHessian, ElasticPotential, ElementDesc, Elements, Law, Material, StretchLimits};
use sinew_math::{Mat3, Vec3};
use sinew_mesh::shapes;

const LAWS: [Law; 3] = [
    Law::StVenantKirchhoff(StretchLimits { lower: 0.75, upper: 1.4 }),
    Law::Corotational,
    Law::StableNeoHookean,
];

fn wave(seed: usize, i: usize) -> f64 {
    ((i * 7919 + seed * 104_729) % 2003) as f64 / 1001.5 - 1.0
}

fn field(seed: usize, count: usize, size: f64) -> Vec<Vec3> {
    (0..count)
        .map(|i| size * Vec3::new(wave(seed, 3 * i), wave(seed, 3 * i + 1), wave(seed, 3 * i + 2)))
        .collect()
}

struct Body {
    elements: Elements,
    rest: Vec<Vec3>,
}

fn body(law: Law, viscosity: f64) -> Body {
    body_of(Material { law, ..Material::soft_solid(5e4, 0.4, 1000.0, 0.0) }, viscosity)
}

fn body_of(material: Material, viscosity: f64) -> Body {
    let mesh = shapes::beam(2, [0.4, 0.1, 0.1]);
    let desc = |nodes: &[u32; 4]| ElementDesc { nodes: *nodes, material, fill: 1.0, viscosity };
    let elements: Vec<ElementDesc> = mesh.tets.iter().map(desc).collect();
    Body { elements: Elements::build(&mesh.nodes, &elements), rest: mesh.nodes }
}

impl Body {
    /// Rotated, with each node displaced by up to `size` (m): 0.05 m is the length of an edge.
    fn deformed(&self, size: f64) -> Vec<Vec3> {
        let turn = Mat3::new(0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0);
        let moved = field(1, self.rest.len(), size);
        self.rest.iter().zip(moved).map(|(x, u)| turn * x + u).collect()
    }
}

fn moved(x: &[Vec3], u: &[Vec3], by: f64) -> Vec<Vec3> {
    x.iter().zip(u).map(|(x, u)| x + by * u).collect()
}

fn gradient(potential: &ElasticPotential, body: &Body) -> Vec<Vec3> {
    (0..body.rest.len()).map(|node| potential.gradient_of(&body.elements, node)).collect()
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

/// Calls `check` for all cases; viscous potentials start from another configuration.
fn each_case(mut check: impl FnMut(&Body, &mut ElasticPotential, Vec<Vec3>, &str)) {
    for law in LAWS {
        for size in [0.002, 0.012, 0.05] {
            for (viscosity, poisson) in [(0.0, 0.4), (0.01, 0.4), (0.0, 0.49), (0.01, 0.47)] {
                let body =
                    body_of(Material { law, ..Material::soft_solid(5e4, poisson, 1000.0, 0.0) }, viscosity);
                let mut potential = ElasticPotential::default();
                let start = moved(&body.deformed(size), &field(5, body.rest.len(), 0.003), 1.0);
                potential.begin_step(&body.elements, &start, 1.0 / 60.0);
                let x = body.deformed(size);
                check(
                    &body,
                    &mut potential,
                    x,
                    &format!("{law:?}, {size} m, viscosity {viscosity}, ν {poisson}"),
                );
            }
        }
    }
}

/// The reference is the energy of each law in principal stretches, element by element; both agree to round-off.
#[test]
fn energy_equals_the_reference_in_principal_stretches() {
    for (law, poisson) in LAWS.into_iter().flat_map(|law| [(law, 0.4), (law, 0.49)]) {
        let body = body_of(Material { law, ..Material::soft_solid(5e4, poisson, 1000.0, 0.0) }, 0.0);
        for size in [0.002, 0.012, 0.05] {
            let x = body.deformed(size);
            let found = ElasticPotential::default().evaluate(&body.elements, &x);
            let known = body.elements.energy(&x);
            assert!((found.energy / known - 1.0).abs() < 1e-11, "{law:?}: {} {known}", found.energy);
        }
    }
}

/// The error of central differences over ±ε u is ε² times the third derivative: about (ε/edge)² = 10⁻⁸ of the derivative for ε u of 5 µm, and more where
/// a stretch crosses a limit.
#[test]
fn gradient_matches_differences_of_the_energy() {
    each_case(|body, potential, x, case| {
        let u = field(2, x.len(), 1.0);
        let epsilon = 5e-6;
        let high = potential.evaluate(&body.elements, &moved(&x, &u, epsilon)).energy;
        let low = potential.evaluate(&body.elements, &moved(&x, &u, -epsilon)).energy;
        potential.evaluate(&body.elements, &x);
        let g = gradient(potential, body);
        let derivative = (high - low) / (2.0 * epsilon);
        let scale = dot(&g, &g).sqrt() * dot(&u, &u).sqrt();
        assert!((derivative - dot(&g, &u)).abs() < 1e-6 * scale, "{case}: {derivative} {}", dot(&g, &u));
    });
}

/// Single precision gives an error of 10⁻⁶ of the largest entries. Where a law is not smooth (a stretch at its limit, an element at inversion) the two sides of the
/// difference have different stiffness: few elements do so here, and the largest deformation is tested for smooth laws only.
#[test]
fn hessian_products_match_differences_of_the_gradient() {
    each_case(|body, potential, x, case| {
        if case.contains("0.05 m") && !case.contains("NeoHookean") {
            return;
        }
        let u = field(3, x.len(), 1.0);
        let epsilon = 2e-7;
        potential.evaluate(&body.elements, &moved(&x, &u, epsilon));
        let high = gradient(potential, body);
        potential.evaluate(&body.elements, &moved(&x, &u, -epsilon));
        let low = gradient(potential, body);
        let mut hessian = ElasticHessian::default();
        hessian.update(&body.elements, potential, &x);
        let single: Vec<[f32; 4]> = u.iter().map(|u| [u.x as f32, u.y as f32, u.z as f32, 0.0]).collect();
        hessian.multiply(&body.elements, &single);
        let (mut error, mut size) = (0.0, 0.0);
        for node in 0..x.len() {
            let derivative = (high[node] - low[node]) / (2.0 * epsilon);
            let found = hessian.on_node(&body.elements, node).map(f64::from);
            error += (derivative - Vec3::new(found[0], found[1], found[2])).norm_squared();
            size += derivative.norm_squared();
        }
        assert!(error.sqrt() < 2e-4 * size.sqrt(), "{case}: {}", (error / size).sqrt());
    });
}

/// For a rotating body the extrapolated start of the step equals the current C, so the viscous potential vanishes to the round-off of C.
#[test]
fn extrapolated_start_of_a_rotation_has_no_viscous_energy() {
    let body = body(Law::StableNeoHookean, 0.01);
    let turned = |by: f64| -> Vec<Vec3> {
        let turn = sinew_math::so3::exp(&Vec3::new(0.0, by, 0.3 * by));
        body.rest.iter().map(|x| turn * x).collect()
    };
    let mut potential = ElasticPotential::default();
    potential.begin_step(&body.elements, &turned(0.1), 1.0 / 60.0);
    potential.begin_beyond(&body.elements, &turned(0.4), 2.4);
    let found = potential.evaluate(&body.elements, &turned(0.9)).energy;
    assert!(found.abs() < 1e-9, "{found}");
    // the same for a uniform stretch
    let stretched = |by: f64| -> Vec<Vec3> { body.rest.iter().map(|x| x * (1.0 + by).sqrt()).collect() };
    potential.begin_step(&body.elements, &stretched(0.0), 1.0 / 60.0);
    potential.begin_beyond(&body.elements, &stretched(0.01), 2.5);
    let viscous = potential.evaluate(&body.elements, &stretched(0.025)).energy;
    let elastic = ElasticPotential::default().evaluate(&body.elements, &stretched(0.025)).energy;
    assert!((viscous / elastic - 1.0).abs() < 1e-9, "{viscous} {elastic}");
}

/// The diagonal block of a node is the product with unit displacements of that node, for elements within the limits of their law and beyond.
#[test]
fn diagonal_blocks_match_the_products() {
    for (law, poisson) in LAWS.into_iter().flat_map(|law| [(law, 0.4), (law, 0.49)]) {
        let body = body_of(Material { law, ..Material::soft_solid(5e4, poisson, 1000.0, 0.0) }, 0.01);
        let x = body.deformed(0.012);
        let mut potential = ElasticPotential::default();
        potential.begin_step(&body.elements, &body.rest, 1.0 / 60.0);
        let mut hessian = ElasticHessian::default();
        hessian.update(&body.elements, &potential, &x);
        let mut blocks = vec![Mat3::zeros(); x.len()];
        hessian.add_diagonal(&body.elements, &mut blocks);
        for node in [0, 7, 20] {
            for axis in 0..3 {
                let mut u = vec![[0.0f32; 4]; x.len()];
                u[node][axis] = 1.0;
                hessian.multiply(&body.elements, &u);
                let found = hessian.on_node(&body.elements, node).map(f64::from);
                let wanted = blocks[node].column(axis);
                let off = (0..3).map(|i| (found[i] - wanted[i]).abs()).fold(0.0, f64::max);
                // sums of some twenty terms in single precision, in another order
                assert!(off < 1e-5 * blocks[node].amax(), "{law:?} {node} {axis}: {off}");
            }
        }
    }
}

/// The stiffness matrix at rest agrees with the products at rest.
#[test]
fn rest_stiffness_matches_the_products_of_every_law() {
    for (law, poisson) in LAWS.into_iter().flat_map(|law| [(law, 0.4), (law, 0.49)]) {
        let body = body_of(Material { law, ..Material::soft_solid(5e4, poisson, 1000.0, 0.0) }, 0.0);
        let mut hessian = ElasticHessian::default();
        hessian.update(&body.elements, &ElasticPotential::default(), &body.rest);
        let u = field(4, body.rest.len(), 1.0);
        let single: Vec<[f32; 4]> = u.iter().map(|u| [u.x as f32, u.y as f32, u.z as f32, 0.0]).collect();
        hessian.multiply(&body.elements, &single);
        let mut wanted = vec![Vec3::zeros(); u.len()];
        body.elements.for_each_rest_stiffness(|nodes, blocks| {
            for (a, row) in nodes.iter().zip(blocks.chunks_exact(nodes.len())) {
                for (b, block) in nodes.iter().zip(row) {
                    wanted[*a as usize] += block * u[*b as usize];
                }
            }
        });
        for node in 0..u.len() {
            let found = hessian.on_node(&body.elements, node).map(f64::from);
            let off = (Vec3::new(found[0], found[1], found[2]) - wanted[node]).norm();
            assert!(off < 1e-4 * wanted[node].norm(), "{law:?} {node}: {off} {}", wanted[node].norm());
        }
    }
}

/// For a rotated and slightly sheared body the node rotations equal the rotation; the shear enters in second order.
#[test]
fn node_rotations_follow_the_body() {
    let body = body(Law::StableNeoHookean, 0.0);
    let turn = sinew_math::so3::exp(&Vec3::new(0.7, -1.9, 0.4)).to_rotation_matrix().into_inner();
    let shear = Mat3::new(1.02, 0.01, 0.0, 0.01, 0.99, 0.0, 0.0, 0.0, 1.0);
    let x: Vec<Vec3> = body.rest.iter().map(|x| turn * shear * x).collect();
    let mut turns = Vec::new();
    body.elements.find_node_turns(&x, &mut turns);
    for found in turns {
        let found = Mat3::from_fn(|i, j| f64::from(found[j][i]));
        assert!((found - turn).amax() < 1e-5, "{found} {turn}");
    }
}

/// The same bits on one thread and on four, viscous and not, with some elements beyond the limits of their law.
#[test]
fn potential_has_the_same_bits_on_any_number_of_threads() {
    let mesh = shapes::beam(6, [0.4, 0.1, 0.1]);
    for (law, viscosity) in LAWS.into_iter().flat_map(|law| [(law, 0.0), (law, 0.01)]) {
        let material = Material { law, ..Material::soft_solid(5e4, 0.47, 1000.0, 0.0) };
        let desc = |nodes: &[u32; 4]| ElementDesc { nodes: *nodes, material, fill: 1.0, viscosity };
        let elements = Elements::build(&mesh.nodes, &mesh.tets.iter().map(desc).collect::<Vec<_>>());
        let x = moved(&mesh.nodes, &field(1, mesh.nodes.len(), 0.004), 1.0);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| {
                let mut potential = ElasticPotential::default();
                potential.begin_step(&elements, &mesh.nodes, 1.0 / 60.0);
                let energy = potential.evaluate(&elements, &x).energy;
                let mut hessian = ElasticHessian::default();
                hessian.update(&elements, &potential, &x);
                hessian.multiply(&elements, &vec![[0.5, -0.25, 1.0, 0.0]; x.len()]);
                let rows: Vec<[f32; 4]> = (0..x.len()).map(|node| hessian.on_node(&elements, node)).collect();
                let derivatives: Vec<Vec3> =
                    (0..x.len()).map(|n| potential.gradient_of(&elements, n)).collect();
                (energy.to_bits(), derivatives, rows)
            })
        };
        assert_eq!(run(1), run(4), "{law:?}, viscosity {viscosity}");
    }
}
