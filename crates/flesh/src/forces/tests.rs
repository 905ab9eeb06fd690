//! Tests of the batched forces against reference stress, conservation laws and energy, for every law.

use super::*;
use crate::elements::ElementDesc;
use crate::law::{squared_stretch, st_venant_kirchhoff};
use crate::material::{Material, StretchLimits};
use sinew_math::Mat3;
use sinew_mesh::{TetMesh, shapes};

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn random_vector(seed: &mut u64) -> Vec3 {
    Vec3::new(random(seed), random(seed), random(seed))
}

const LAWS: [Law; 3] = [
    Law::StVenantKirchhoff(StretchLimits { lower: 0.75, upper: 1.4 }),
    Law::Corotational,
    Law::StableNeoHookean,
];

fn material(law: Law) -> Material {
    Material { law, ..Material::soft_solid(1.0, 0.4, 1.0, 0.0) }
}

/// A beam of unit cubes with nodes displaced at random, so that no two tets are congruent.
fn irregular_beam(seed: &mut u64) -> TetMesh {
    let mut beam = shapes::beam(3, [9.0, 3.0, 3.0]);
    for x in &mut beam.nodes {
        *x += 0.12 * random_vector(seed);
    }
    beam
}

fn elements_of(mesh: &TetMesh, law: Law) -> Elements {
    let describe =
        |&nodes: &[u32; 4]| ElementDesc { nodes, material: material(law), fill: 0.75, viscosity: 0.0 };
    Elements::build(&mesh.nodes, &mesh.tets.iter().map(describe).collect::<Vec<_>>())
}

fn forces(elements: &Elements, x: &[Vec3], diagonalise: Diagonalise) -> (Vec<Vec3>, ForceReport) {
    let mut corner_forces = CornerForces::default();
    let still = vec![Vec3::zeros(); x.len()];
    let report = corner_forces.update(elements, NodeMotion { x, v: &still }, diagonalise);
    ((0..x.len()).map(|node| corner_forces.on_node(elements, node)).collect(), report)
}

/// The forces in double precision, element by element from the reference stress.
fn reference_forces(mesh: &TetMesh, x: &[Vec3], law: Law, fill: f64) -> Vec<Vec3> {
    let mut f = vec![Vec3::zeros(); x.len()];
    for (t, tet) in mesh.tets.iter().enumerate() {
        let inverse = mesh.edges(t).try_inverse().expect("upright");
        let [a, b, c, d] = tet.map(|n| x[n as usize]);
        let gradient = Mat3::from_columns(&[b - a, c - a, d - a]) * inverse;
        let pull = material(law).stress(&gradient) * inverse.transpose() * (fill * mesh.tet_volume(t));
        for k in 0..3 {
            f[tet[k + 1] as usize] -= pull.column(k);
            f[tet[0] as usize] += pull.column(k);
        }
    }
    f
}

/// Single precision rounds F, P and the product with Dm⁻ᵀ, about 40 roundings of 2⁻²⁴ in numbers of order (λ + 2μ) × area ≈ 2 N, summed
/// over some 24 tets that meet in a node with random signs.
const SINGLE_PRECISION: f64 = 40.0 * 6e-8 * 2.0 * 5.0;

#[test]
fn lanes_agree_with_double_precision_for_small_large_and_inverted_deformations() {
    let mut seed = 1;
    let mesh = irregular_beam(&mut seed);
    for law in LAWS {
        let elements = elements_of(&mesh, law);
        for size in [0.05, 0.3, 0.8] {
            let x: Vec<Vec3> = mesh.nodes.iter().map(|x| x + size * random_vector(&mut seed)).collect();
            let (found, _) = forces(&elements, &x, Diagonalise::Selectively);
            let expected = reference_forces(&mesh, &x, law, 0.75);
            // forces grow with the deformation, and the neo-Hookean pressure with its square
            let bound = SINGLE_PRECISION * (1.0 + 10.0 * size).powi(2);
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).amax() < bound, "{law:?} {size}: {a} {b}");
            }
        }
    }
}

/// The patch test: an affine map gives the same stress in every tet of an irregular mesh, so inner nodes are in equilibrium.
#[test]
fn patch_test_affine_map_gives_uniform_stress() {
    let mut seed = 2;
    let mesh = irregular_beam(&mut seed);
    let affine = Mat3::identity() + 0.15 * Mat3::from_fn(|_, _| random(&mut seed));
    let x: Vec<Vec3> = mesh.nodes.iter().map(|x| affine * x).collect();
    let (_, surface_nodes) = mesh.boundary();
    for law in LAWS {
        let elements = elements_of(&mesh, law);
        for tet in 0..mesh.tets.len() {
            let error = (elements.deformation_gradient(&x, tet) - affine).amax();
            // Dm⁻¹ is stored in single precision, the tets have aspect ratios up to about ten
            assert!(error < 10.0 * 2.0 * 6e-8, "{error}");
        }
        let (found, _) = forces(&elements, &x, Diagonalise::Selectively);
        for node in (0..x.len()).filter(|node| !surface_nodes.contains(&(*node as u32))) {
            assert!(found[node].amax() < SINGLE_PRECISION, "{law:?} {}", found[node]);
        }
    }
}

#[test]
fn rigid_motion_gives_no_force() {
    let mut seed = 3;
    let mesh = irregular_beam(&mut seed);
    let turn = sinew_math::Rotation::from_scaled_axis(Vec3::new(0.7, -1.9, 0.4));
    let x: Vec<Vec3> = mesh.nodes.iter().map(|x| turn * x + Vec3::new(300.0, -50.0, 10.0)).collect();
    for law in LAWS {
        let (found, report) = forces(&elements_of(&mesh, law), &x, Diagonalise::Selectively);
        assert!(found.iter().all(|f| f.amax() < SINGLE_PRECISION));
        assert_eq!(report.inverted, 0);
    }
}

/// The force on corner 0 is minus the sum of the others in double precision, so only double round-off remains.
#[test]
fn elastic_forces_sum_to_zero() {
    let mut seed = 4;
    let mesh = irregular_beam(&mut seed);
    let x: Vec<Vec3> = mesh.nodes.iter().map(|x| x + 0.4 * random_vector(&mut seed)).collect();
    for law in LAWS {
        let (found, _) = forces(&elements_of(&mesh, law), &x, Diagonalise::Selectively);
        let total: Vec3 = found.iter().sum();
        let size: f64 = found.iter().map(|f| f.norm()).sum();
        assert!(total.norm() < 1e-14 * size, "{}", total.norm() / size);
    }
}

#[test]
fn forces_are_minus_the_gradient_of_the_energy() {
    let mut seed = 5;
    let mesh = irregular_beam(&mut seed);
    let x: Vec<Vec3> = mesh.nodes.iter().map(|x| x + 0.2 * random_vector(&mut seed)).collect();
    let dx: Vec<Vec3> = x.iter().map(|_| random_vector(&mut seed)).collect();
    for law in LAWS {
        let elements = elements_of(&mesh, law);
        let (found, _) = forces(&elements, &x, Diagonalise::Selectively);
        let step = 1e-5;
        let moved =
            |sign: f64| -> Vec<Vec3> { x.iter().zip(&dx).map(|(x, d)| x + sign * step * d).collect() };
        let derivative = (elements.energy(&moved(1.0)) - elements.energy(&moved(-1.0))) / (2.0 * step);
        let work: f64 = found.iter().zip(&dx).map(|(f, d)| f.dot(d)).sum();
        assert!(
            (derivative + work).abs() < SINGLE_PRECISION * (x.len() as f64).sqrt() * 3.0,
            "{law:?} {derivative} {work}"
        );
    }
}

/// Both are computed in single precision by different formulas; the extrapolated law coincides with the plain one inside the limits.
#[test]
fn selective_decomposition_gives_the_same_forces() {
    let mut seed = 6;
    let mesh = irregular_beam(&mut seed);
    let elements = elements_of(&mesh, LAWS[0]);
    for size in [0.02, 0.1, 0.3, 1.0] {
        let x: Vec<Vec3> = mesh.nodes.iter().map(|x| x + size * random_vector(&mut seed)).collect();
        let (some, some_report) = forces(&elements, &x, Diagonalise::Selectively);
        let (all, all_report) = forces(&elements, &x, Diagonalise::Always);
        assert_eq!(all_report.diagonalised, mesh.tets.len());
        assert_eq!(some_report.inverted, all_report.inverted);
        assert!(some_report.diagonalised <= all_report.diagonalised);
        for (a, b) in some.iter().zip(&all) {
            assert!((a - b).amax() < 3.0 * SINGLE_PRECISION * (1.0 + 10.0 * size).powi(2));
        }
    }
}

/// The criterion of eq. (6)-(7) agrees with the singular values.
#[test]
fn stretch_limit_criterion_is_exact() {
    let mut seed = 7;
    let limits = StretchLimits { lower: 0.75, upper: 1.4 };
    let mut counts = [0; 2];
    for _ in 0..20_000 {
        let f = Mat3::identity() + 0.35 * Mat3::from_fn(|_, _| random(&mut seed));
        let sigma = sinew_math::svd::Svd::of(&f).sigma;
        let within = sigma.z > limits.lower && sigma.x < limits.upper;
        let nearest = (sigma.z - limits.lower).abs().min((sigma.x - limits.upper).abs());
        if nearest > 1e-9 {
            let c = squared_stretch::<f64>(&f.data.0);
            let margin = st_venant_kirchhoff::margin(&c, f.determinant(), limits);
            assert_eq!(margin > 0.0, within, "{f}");
            counts[usize::from(within)] += 1;
        }
    }
    assert!(counts.iter().all(|&n| n > 1000), "{counts:?}");
}

#[test]
fn forces_have_the_same_bits_on_any_number_of_threads() {
    let mut seed = 8;
    let mesh = shapes::beam(6, [0.4, 0.1, 0.1]);
    let x: Vec<Vec3> = mesh.nodes.iter().map(|x| x + 0.01 * random_vector(&mut seed)).collect();
    for law in LAWS {
        let elements = elements_of(&mesh, law);
        let mut hashes = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let (found, _) = pool.install(|| forces(&elements, &x, Diagonalise::Selectively));
            found.iter().flat_map(|f| [f.x.to_bits(), f.y.to_bits(), f.z.to_bits()]).collect::<Vec<_>>()
        });
        let first = hashes[0].clone();
        assert!(hashes.iter_mut().all(|h| *h == first));
    }
}

#[test]
fn elements_of_several_laws_can_be_mixed() {
    let mut seed = 9;
    let mesh = irregular_beam(&mut seed);
    let x: Vec<Vec3> = mesh.nodes.iter().map(|x| x + 0.2 * random_vector(&mut seed)).collect();
    let describe = |(t, &nodes): (usize, &[u32; 4])| ElementDesc {
        nodes,
        material: material(LAWS[t % 3]),
        fill: 1.0,
        viscosity: 0.0,
    };
    let elements =
        Elements::build(&mesh.nodes, &mesh.tets.iter().enumerate().map(describe).collect::<Vec<_>>());
    let (found, _) = forces(&elements, &x, Diagonalise::Selectively);
    let mut expected = vec![Vec3::zeros(); x.len()];
    for (i, law) in LAWS.into_iter().enumerate() {
        let tets = mesh.tets.iter().copied().enumerate().filter(|(t, _)| t % 3 == i).map(|(_, tet)| tet);
        let part = TetMesh { nodes: mesh.nodes.clone(), tets: tets.collect() };
        for (sum, f) in expected.iter_mut().zip(reference_forces(&part, &x, law, 1.0)) {
            *sum += f;
        }
    }
    for (a, b) in found.iter().zip(&expected) {
        assert!((a - b).amax() < SINGLE_PRECISION * 9.0);
    }
}

/// The viscous part of the forces.
fn viscous_forces(mesh: &TetMesh, law: Law, x: &[Vec3], v: &[Vec3]) -> Vec<Vec3> {
    let build = |viscosity: f64| {
        let describe =
            |&nodes: &[u32; 4]| ElementDesc { nodes, material: material(law), fill: 1.0, viscosity };
        Elements::build(&mesh.nodes, &mesh.tets.iter().map(describe).collect::<Vec<_>>())
    };
    let [viscous, plain] = [0.3, 0.0].map(|viscosity| {
        let elements = build(viscosity);
        let mut corner_forces = CornerForces::default();
        corner_forces.update(&elements, NodeMotion { x, v }, Diagonalise::Selectively);
        (0..x.len()).map(|node| corner_forces.on_node(&elements, node)).collect::<Vec<_>>()
    });
    viscous.iter().zip(&plain).map(|(a, b)| a - b).collect()
}

/// With strain rates of order 1/s and β = 0.3 s viscous forces have the magnitude of the elastic ones, and the same round-off.
#[test]
fn viscosity_dissipates_energy_conserves_momentum_and_ignores_rigid_motion() {
    let mut seed = 10;
    let mesh = irregular_beam(&mut seed);
    let spin = Vec3::new(0.3, -0.5, 0.2);
    for law in LAWS {
        for size in [0.05, 0.4] {
            let x: Vec<Vec3> = mesh.nodes.iter().map(|x| x + size * random_vector(&mut seed)).collect();
            let v: Vec<Vec3> = x.iter().map(|_| random_vector(&mut seed)).collect();
            let found = viscous_forces(&mesh, law, &x, &v);
            let scale: f64 = found.iter().map(|f| f.norm()).sum();
            let power: f64 = found.iter().zip(&v).map(|(f, v)| f.dot(v)).sum();
            let torque: Vec3 = found.iter().zip(&x).map(|(f, x)| x.cross(f)).sum();
            assert!(power < -0.1 * scale / x.len() as f64, "{law:?}: {power}");
            assert!(found.iter().sum::<Vec3>().norm() < 1e-13 * scale);
            // arms of up to ten units, single precision
            assert!(torque.norm() < 10.0 * 1e-6 * scale, "{law:?}: {}", torque.norm() / scale);

            let rigid: Vec<Vec3> = x.iter().map(|x| Vec3::new(1.0, 2.0, 3.0) + spin.cross(x)).collect();
            let none = viscous_forces(&mesh, law, &x, &rigid);
            let bound = SINGLE_PRECISION * (1.0 + 10.0 * size).powi(2);
            assert!(none.iter().all(|f| f.amax() < bound), "{law:?}");
        }
    }
}

/// The dampers of inverted elements act along edges, so they conserve linear and angular momentum; other elements have none.
#[test]
fn inversion_damping_dissipates_energy_and_conserves_momentum() {
    let mut seed = 11;
    let mesh = irregular_beam(&mut seed);
    let x: Vec<Vec3> =
        mesh.nodes.iter().map(|x| Vec3::new(x.x, x.y, -x.z) + 0.3 * random_vector(&mut seed)).collect();
    let v: Vec<Vec3> = x.iter().map(|_| random_vector(&mut seed)).collect();
    let elements = elements_of(&mesh, LAWS[0]);
    let mut corner_forces = CornerForces::default();
    let motion = NodeMotion { x: &x, v: &v };
    let report = corner_forces.update(&elements, motion, Diagonalise::Selectively);
    assert!(report.inverted > 100);
    let sum = |corner_forces: &CornerForces| -> Vec<Vec3> {
        (0..x.len()).map(|node| corner_forces.on_node(&elements, node)).collect()
    };
    let before = sum(&corner_forces);
    corner_forces.damp_inverted(&elements, motion, 0.1);
    let dampers: Vec<Vec3> = sum(&corner_forces).iter().zip(&before).map(|(a, b)| a - b).collect();
    let scale: f64 = dampers.iter().map(|f| f.norm()).sum();
    assert!(dampers.iter().zip(&v).map(|(f, v)| f.dot(v)).sum::<f64>() < 0.0);
    assert!(dampers.iter().sum::<Vec3>().norm() < 1e-13 * scale);
    let torque: Vec3 = dampers.iter().zip(&x).map(|(f, x)| x.cross(f)).sum();
    assert!(torque.norm() < 10.0 * 1e-5 * scale, "{}", torque.norm() / scale);

    let report =
        corner_forces.update(&elements, NodeMotion { x: &mesh.nodes, v: &v }, Diagonalise::Selectively);
    assert_eq!(report.inverted, 0);
    let before = sum(&corner_forces);
    corner_forces.damp_inverted(&elements, NodeMotion { x: &mesh.nodes, v: &v }, 0.1);
    assert_eq!(sum(&corner_forces), before);
}
