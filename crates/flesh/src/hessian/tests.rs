//! Compact tangents equal the full ones, viscous or not, also with some elements beyond the limits of their law.

use super::*;
use crate::law::tangent::add_strain_law;
use crate::law::{LaneLame, squared_stretch};
use crate::{ElementDesc, Material, StretchLimits};
use sinew_math::lanes::{InstructionSet, dispatch_to};
use sinew_math::{Mat9, nalgebra};
use sinew_mesh::shapes;

const LIMITS: StretchLimits = StretchLimits { lower: 0.75, upper: 1.4 };
const LAWS: [Law; 3] = [Law::StVenantKirchhoff(LIMITS), Law::Corotational, Law::StableNeoHookean];
const STEP: f64 = 1.0 / 60.0;

struct Body {
    elements: Elements,
    tets: Vec<[u32; 4]>,
    material: Material,
    viscosity: f64,
    rest: Vec<Vec3>,
}

fn body(law: Law, viscosity: f64) -> Body {
    let mesh = shapes::beam(3, [0.4, 0.1, 0.1]);
    let material = Material { law, ..Material::soft_solid(5e4, 0.4, 1000.0, 0.0) };
    let desc = |nodes: &[u32; 4]| ElementDesc { nodes: *nodes, material, fill: 1.0, viscosity };
    let elements: Vec<ElementDesc> = mesh.tets.iter().map(desc).collect();
    let elements = Elements::build(&mesh.nodes, &elements);
    Body { elements, tets: mesh.tets, material, viscosity, rest: mesh.nodes }
}

fn field(seed: usize, count: usize, size: f64) -> Vec<Vec3> {
    let wave = |i: usize| ((i * 7919 + seed * 104_729) % 2003) as f64 / 1001.5 - 1.0;
    (0..count).map(|i| size * Vec3::new(wave(3 * i), wave(3 * i + 1), wave(3 * i + 2))).collect()
}

impl Body {
    /// Nodes displaced by up to `size` (m); edges are 33 mm long.
    fn moved(&self, seed: usize, size: f64) -> Vec<Vec3> {
        self.rest.iter().zip(field(seed, self.rest.len(), size)).map(|(x, u)| x + u).collect()
    }

    fn potential(&self, start: &[Vec3]) -> ElasticPotential {
        let mut potential = ElasticPotential::default();
        potential.begin_step(&self.elements, start, STEP);
        potential
    }

    /// V (∂P/∂F) of an element in double precision: the derivative of the law plus that of viscosity, as 45 numbers.
    fn whole_tangent(&self, tet: usize, start: &[Vec3], x: &[Vec3]) -> Mat9 {
        let f = self.elements.deformation_gradient(x, tet);
        let before = squared_stretch::<f64>(&self.elements.deformation_gradient(start, tet).data.0);
        let mut tangent = self.material.stress_derivative(&f);
        let rate = self.viscosity * (3.0 / (before[0] + before[1] + before[2]).max(3.0)) / STEP;
        let lame = self.material.lame();
        let lame = LaneLame { mu: rate * lame.mu, lambda: rate * lame.lambda };
        let now = squared_stretch::<f64>(&f.data.0);
        let pressure = 0.5 * lame.lambda * (0..3).map(|k| now[k] - before[k]).sum::<f64>();
        let stress =
            core::array::from_fn(|k| lame.mu * (now[k] - before[k]) + if k < 3 { pressure } else { 0.0 });
        let mut viscous = [0.0; 45];
        add_strain_law(&mut viscous, &f.data.0, &stress, lame);
        for r in 0..9 {
            for c in 0..9 {
                let (high, low) = (r.max(c), r.min(c));
                tangent[(r, c)] += viscous[high * (high + 1) / 2 + low];
            }
        }
        tangent
    }

    /// The product with displacements of nodes, element by element from full tangents.
    fn whole_product(&self, start: &[Vec3], x: &[Vec3], u: &[Vec3]) -> Vec<Vec3> {
        let mut sums = vec![Vec3::zeros(); x.len()];
        for (tet, nodes) in self.tets.iter().enumerate() {
            let [a, b, c, d] = nodes.map(|node| node as usize);
            let edges = |x: &[Vec3]| Mat3::from_columns(&[x[b] - x[a], x[c] - x[a], x[d] - x[a]]);
            let rest = edges(&self.rest);
            let inverse = rest.try_inverse().expect("a tet with a volume");
            let change = edges(u) * inverse;
            let stress =
                self.whole_tangent(tet, start, x) * nalgebra::SVector::from_column_slice(change.as_slice());
            let stress = Mat3::from_column_slice(stress.as_slice());
            let pulls = rest.determinant() / 6.0 * stress * inverse.transpose();
            for (corner, node) in [b, c, d].into_iter().enumerate() {
                sums[node] += pulls.column(corner);
                sums[a] -= pulls.column(corner);
            }
        }
        sums
    }
}

fn single(u: &[Vec3]) -> Vec<[f32; 4]> {
    u.iter().map(|u| [u.x as f32, u.y as f32, u.z as f32, 0.0]).collect()
}

/// Number of St. Venant-Kirchhoff elements beyond their limits.
fn strong_count(hessian: &ElasticHessian) -> usize {
    let count = |tangents: &GroupTangents| match tangents {
        GroupTangents::Strain(_, strong) => {
            strong.iter().flat_map(StrongLanes::blocks).map(|(_, _, places)| places.len()).sum()
        }
        _ => 0,
    };
    hessian.tangents.iter().map(count).sum()
}

/// Single precision leaves an error of some 10⁻⁷ of the largest terms in each of some twenty elements around a node, and ten times that where the difference of two stretches is a divisor. A
/// viscosity of 10 ms, more than half a step, makes both the elastic and the viscous terms significant.
#[test]
fn products_equal_those_of_full_tangents() {
    for law in LAWS {
        for viscosity in [0.0, 0.01] {
            for size in [0.001, 0.008, 0.02] {
                let body = body(law, viscosity);
                let (start, x) = (body.moved(5, size), body.moved(1, size));
                let u = field(3, x.len(), 1.0);
                let mut hessian = ElasticHessian::default();
                hessian.update(&body.elements, &body.potential(&start), &x);
                hessian.multiply(&body.elements, &single(&u));
                let wanted = body.whole_product(&start, &x, &u);
                let (mut error, mut all) = (0.0, 0.0);
                for (node, wanted) in wanted.iter().enumerate() {
                    let found = hessian.on_node(&body.elements, node).map(f64::from);
                    error += (Vec3::new(found[0], found[1], found[2]) - wanted).norm_squared();
                    all += wanted.norm_squared();
                }
                let fraction = (error / all).sqrt();
                assert!(fraction < 1e-5, "{law:?}, viscosity {viscosity}, {size} m: {fraction}");
                // at the middle size some elements are beyond the limits and some are not
                let strong = strong_count(&hessian);
                let is_mixed = strong > 20 && strong < body.tets.len() - 20;
                assert_eq!(is_mixed, size == 0.008 && law == LAWS[0], "{strong} of {}", body.tets.len());
            }
        }
    }
}

/// An update after elements returned within the limits gives the same products as a fresh Hessian.
#[test]
fn update_does_not_depend_on_previous_configurations() {
    let body = body(LAWS[0], 0.01);
    let u = single(&field(3, body.rest.len(), 1.0));
    let rows = |hessian: &mut ElasticHessian, size: f64| -> Vec<[f32; 4]> {
        hessian.update(&body.elements, &body.potential(&body.moved(5, 0.004)), &body.moved(1, size));
        hessian.multiply(&body.elements, &u);
        (0..body.rest.len()).map(|node| hessian.on_node(&body.elements, node)).collect()
    };
    let mut used = ElasticHessian::default();
    for size in [0.02, 0.001, 0.008, 0.02] {
        assert_eq!(rows(&mut used, size), rows(&mut ElasticHessian::default(), size), "{size}");
    }
}

/// Tangents and products have the same bits for every width of lanes.
#[test]
fn hessian_kernels_agree_on_all_instruction_sets() {
    // a viscous body with some elements beyond the limits
    let body = body(LAWS[0], 0.01);
    let potential = body.potential(&body.moved(5, 0.008));
    let (mut x, u) = (Vec::new(), single(&field(3, body.rest.len(), 1.0)));
    pad(&body.moved(1, 0.008), &mut x);
    let blocks = &body.elements.groups[0].blocks[..CHUNK.min(body.elements.groups[0].blocks.len())];

    // its tangents and products on one instruction set
    let products = |set: InstructionSet| {
        let mut tangents = vec![StrainBlock::ZERO; blocks.len()];
        let mut strong = StrongLanes::default();
        let to = StrainTangents { limits: LIMITS, tangents: &mut tangents, strong: &mut strong };
        dispatch_to(set, UpdateKernel { blocks, starts: &potential.starts, x: &x, to });
        assert!(strong.blocks().count() > 1);
        let mut corners = vec![[0.0; 4]; 3 * BLOCK * blocks.len()];
        let strong = Some(&strong);
        dispatch_to(
            set,
            MultiplyKernel {
                blocks,
                tangents: &tangents,
                strong,
                patches: PatchProduct::default(),
                u: &u,
                corners: &mut corners,
            },
        );
        corners.iter().flatten().map(|x: &f32| x.to_bits()).collect::<Vec<u32>>()
    };
    let known = products(InstructionSet::Baseline);
    for &set in InstructionSet::available() {
        assert_eq!(products(set), known, "{set:?}");
    }
}
