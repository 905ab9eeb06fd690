//! Tests of the grouping, energy and forces of patches, for explicit and implicit steps.

use super::{MovingVolumeKernel, VolumeKernel};
use crate::gather::pad;
use crate::{
    CornerForces, Diagonalise, ElasticPotential, ElementDesc, Elements, Law, Material, NodeMotion, PatchList,
};
use sinew_math::lanes::{InstructionSet, dispatch_to};
use sinew_math::{Mat3, Vec3};
use sinew_mesh::{TetMesh, shapes};

const NEARLY_INCOMPRESSIBLE: Material = Material::tissue(5e4, 0.49, 1000.0, 0.0);

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn field(seed: u64, count: usize, size: f64) -> Vec<Vec3> {
    let mut seed = seed;
    (0..count).map(|_| size * Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed))).collect()
}

fn moved(x: &[Vec3], u: &[Vec3]) -> Vec<Vec3> {
    x.iter().zip(u).map(|(x, u)| x + u).collect()
}

fn descriptions(mesh: &TetMesh, material: Material, viscosity: f64) -> Vec<ElementDesc> {
    mesh.tets.iter().map(|&nodes| ElementDesc { nodes, material, fill: 0.75, viscosity }).collect()
}

/// Cubes of 0.05 m with nodes displaced at random by up to a tenth of that.
fn irregular_beam() -> TetMesh {
    let mut mesh = shapes::beam(2, [0.4, 0.1, 0.1]);
    mesh.nodes = moved(&mesh.nodes, &field(1, mesh.nodes.len(), 0.005));
    mesh
}

#[test]
fn patches_of_a_lattice_are_its_cubes() {
    let mesh = shapes::beam(4, [0.4, 0.1, 0.1]);
    let list = PatchList::group(&descriptions(&mesh, NEARLY_INCOMPRESSIBLE, 0.0));
    assert_eq!(list.count(), 16 * 4 * 4);
    let cube = |tet: u32| {
        let middle = mesh.tets[tet as usize].iter().map(|n| mesh.nodes[*n as usize]).sum::<Vec3>() / 4.0;
        (middle / 0.025).map(|number| number.floor() as i32)
    };
    for patch in list.iter() {
        assert_eq!(patch.len(), 5);
        assert!(patch.iter().all(|tet| cube(*tet) == cube(patch[0])), "{patch:?}");
    }
}

/// In a mesh with holes and with elements of small ν, every element of large ν is in exactly one patch, and patches are connected.
#[test]
fn every_nearly_incompressible_element_is_in_one_patch() {
    let mut seed = 3;
    let mut mesh = shapes::beam(4, [0.4, 0.1, 0.1]);
    mesh.tets.retain(|_| random(&mut seed) > -0.6);
    let mut elements = descriptions(&mesh, NEARLY_INCOMPRESSIBLE, 0.0);
    for element in elements.iter_mut().step_by(7) {
        element.material.poisson = 0.4;
    }
    let list = PatchList::group(&elements);
    let mut seen = vec![0; elements.len()];
    for patch in list.iter() {
        patch.iter().for_each(|tet| seen[*tet as usize] += 1);
        let shares_face = |a: u32, b: u32| {
            let (a, b) = (elements[a as usize].nodes, elements[b as usize].nodes);
            a.iter().filter(|node| b.contains(node)).count() == 3
        };
        let takes_part = |other: &u32| elements[*other as usize].material.poisson > 0.4;
        for &tet in patch {
            let joins = patch.iter().any(|other| shares_face(tet, *other));
            // only an element without neighbours is a patch by itself
            let has_neighbours =
                || (0..seen.len() as u32).filter(takes_part).any(|other| shares_face(tet, other));
            assert!(joins || (patch.len() == 1 && !has_neighbours()), "{patch:?}");
        }
        // an element, four neighbours, and at most as many again that joined later
        assert!(patch.len() <= 9, "{}", patch.len());
    }
    for (element, seen) in elements.iter().zip(&seen) {
        assert_eq!(*seen, i32::from(element.material.poisson > 0.4));
    }
}

/// Under an affine map all volume ratios are equal, and the patches' energy density is (λ − 9μ)/2 (J − 1)². Moduli and Dm⁻¹ are in single precision.
#[test]
fn affine_map_gives_the_energy_of_the_full_law() {
    let mesh = irregular_beam();
    let elements = Elements::build(&mesh.nodes, &descriptions(&mesh, NEARLY_INCOMPRESSIBLE, 0.0));
    let map = Mat3::new(1.1, 0.05, 0.0, -0.1, 0.95, 0.2, 0.0, 0.1, 1.05);
    let x: Vec<Vec3> = mesh.nodes.iter().map(|x| map * x).collect();
    let volume: f64 = 0.75 * (0..mesh.tets.len()).map(|tet| mesh.tet_volume(tet)).sum::<f64>();
    let found = ElasticPotential::default().evaluate(&elements, &x).energy;
    // the law is linear in λ, with the factor (J − 1)²/2
    let wanted = volume * NEARLY_INCOMPRESSIBLE.energy_density(&map);
    assert!((found / wanted - 1.0).abs() < 1e-5, "{found} {wanted}");
}

/// Patches never store more energy than their elements would separately, and for random displacements far less: the square of the mean of five changes is a fifth of the mean square, four fifths
/// of λ act on patches at ν = 0.49, and nearly all of the energy is volumetric, so the ratio is well below 0.7.
#[test]
fn patches_store_less_energy_than_separate_elements() {
    let mesh = irregular_beam();
    let elements = Elements::build(&mesh.nodes, &descriptions(&mesh, NEARLY_INCOMPRESSIBLE, 0.0));
    for size in [0.001, 0.01, 0.05] {
        let x = moved(&mesh.nodes, &field(2, mesh.nodes.len(), size));
        let whole: f64 = (0..mesh.tets.len())
            .map(|tet| {
                let density = NEARLY_INCOMPRESSIBLE.energy_density(&elements.deformation_gradient(&x, tet));
                0.75 * mesh.tet_volume(tet) * density
            })
            .sum();
        let found = elements.energy(&x);
        assert!(found < 0.7 * whole, "{size}: {found} {whole}");
    }
}

/// Explicit forces are minus the gradient of the implicit potential, also with viscosity and velocities: the potential is that of a step of 10⁻⁷ s that started at x − h v.
/// The tolerance is single precision, some 10⁻⁶ of the largest forces.
#[test]
fn explicit_forces_equal_the_gradient_of_the_implicit_potential() {
    // the second deformation takes some elements beyond the limits of St. Venant-Kirchhoff
    let limits = crate::StretchLimits::default();
    for law in [Law::StableNeoHookean, Law::Corotational, Law::StVenantKirchhoff(limits)] {
        for (viscosity, size) in [(0.0, 0.004), (0.01, 0.004), (0.0, 0.012)] {
            if viscosity > 0.0 && law == Law::StVenantKirchhoff(limits) {
                // within the limits, explicit steps do not reduce its viscosity at large stretch
                continue;
            }
            let mesh = irregular_beam();
            let material = Material { law, ..NEARLY_INCOMPRESSIBLE };
            let elements = Elements::build(&mesh.nodes, &descriptions(&mesh, material, viscosity));
            let x = moved(&mesh.nodes, &field(4, mesh.nodes.len(), size));
            let v = field(5, x.len(), 0.3);
            let mut forces = CornerForces::default();
            let report = forces.update(&elements, NodeMotion { x: &x, v: &v }, Diagonalise::Selectively);
            assert!(size < 0.01 || law == Law::StableNeoHookean || report.diagonalised > 10);
            let h = 1e-7;
            let mut potential = ElasticPotential::default();
            let before: Vec<Vec3> = x.iter().zip(&v).map(|(x, v)| x - h * v).collect();
            potential.begin_step(&elements, &before, h);
            potential.evaluate(&elements, &x);
            let largest = (0..x.len()).map(|n| forces.on_node(&elements, n).norm()).fold(0.0, f64::max);
            for node in 0..x.len() {
                let sum = forces.on_node(&elements, node) + potential.gradient_of(&elements, node);
                assert!(sum.norm() < 1e-5 * largest, "{law:?} {viscosity}: {} of {largest}", sum.norm());
            }
        }
    }
}

/// Rigid motion does not change volumes, and at rest all patch forces are exactly zero.
#[test]
fn rigid_motion_gives_no_patch_force() {
    let mesh = irregular_beam();
    let elements = Elements::build(&mesh.nodes, &descriptions(&mesh, NEARLY_INCOMPRESSIBLE, 0.0));
    let mut x = Vec::new();
    pad(&mesh.nodes, &mut x);
    let mut volumes = super::PatchVolumes::default();
    assert_eq!(volumes.evaluate(&elements, &x, &[]), 0.0);
    assert!(volumes.patches.iter().all(|pull| *pull == 0.0));
    let turn = sinew_math::Rotation::from_scaled_axis(Vec3::new(0.7, -1.9, 0.4));
    let turned: Vec<Vec3> = mesh.nodes.iter().map(|x| turn * x + Vec3::new(30.0, -50.0, 10.0)).collect();
    pad(&turned, &mut x);
    volumes.evaluate(&elements, &x, &[]);
    // edges of 0.05 m that are differences of numbers near 50, three of them in a volume
    assert!(volumes.patches.iter().all(|pull| pull.abs() < 1e-11));
}

/// The kernels give the same bits on every instruction set of this processor.
#[test]
fn patch_kernels_agree_on_all_instruction_sets() {
    let mesh = irregular_beam();
    let elements = Elements::build(&mesh.nodes, &descriptions(&mesh, NEARLY_INCOMPRESSIBLE, 0.01));
    let (mut x, blocks) = (Vec::new(), &elements.groups[0].blocks);
    pad(&moved(&mesh.nodes, &field(6, mesh.nodes.len(), 0.004)), &mut x);
    let v: Vec<[f32; 4]> =
        field(7, x.len(), 0.3).iter().map(|v| [v.x as f32, v.y as f32, v.z as f32, 0.0]).collect();
    let weight = &elements.patches.weight;
    let run = |set: InstructionSet| {
        let (mut still, mut moving) = (vec![0.0; weight.len()], vec![0.0; weight.len()]);
        dispatch_to(set, VolumeKernel { blocks, weight, x: &x, out: &mut still });
        dispatch_to(set, MovingVolumeKernel { blocks, weight, x: &x, v: &v, out: &mut moving });
        still.iter().chain(&moving).map(|volume| volume.to_bits()).collect::<Vec<_>>()
    };
    let found: Vec<Vec<u64>> = InstructionSet::available().iter().map(|set| run(*set)).collect();
    assert!(found.iter().all(|bits| *bits == found[0]));
}
