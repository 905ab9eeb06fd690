//! The damping potential of bodies without bones: derivatives, and what it does not resist.

use super::beam::{beam_world, rubber};
use crate::Model;
use crate::desc::{PinDesc, Region};
use crate::implicit::deformation_damping::DeformationDamping;
use crate::implicit::problem::{row, vector};
use crate::pseudo_random::pseudo_random_vectors;
use sinew_math::{Mat3, Vec3, so3};

const H: f64 = 1.0 / 60.0;

/// A beam that is free, or held at a corner, an edge or a face.
fn beam(held: Option<Vec3>) -> Model {
    let mut world = beam_world(2, rubber(1e4, 0.3, 0.2), false);
    if let Some(high) = held {
        world.bodies[0].pins.push(PinDesc { region: Region::Box { min: Vec3::repeat(-1e-9), max: high } });
    }
    Model::build(&world).expect("sound")
}

fn models() -> [Model; 4] {
    let (thin, wide) = (1e-9, 1.0);
    let held = [[thin; 3], [thin, thin, wide], [thin, wide, wide]].map(|high| Some(Vec3::from(high)));
    [None, held[0], held[1], held[2]].map(beam)
}

fn begun(model: &Model) -> DeformationDamping {
    let mut damping = DeformationDamping::default();
    damping.begin(model, H, model.node_rest(), |node| model.node_inverse_mass()[node] > 0.0);
    damping
}

fn random_vectors(model: &Model, size: f64) -> Vec<Vec3> {
    pseudo_random_vectors().take(model.node_count()).map(|v| size * v).collect()
}

/// A large rigid motion about the first node, with noise on free nodes of the given size (m).
fn moved(model: &Model, noise: f64) -> Vec<Vec3> {
    let turn = so3::exp(&Vec3::new(0.3, -0.5, 0.9));
    let pivot = model.node_rest()[0];
    let rest = model.node_rest().iter().zip(random_vectors(model, noise)).enumerate();
    let is_held = |node: usize| model.node_inverse_mass()[node] == 0.0;
    rest.map(|(node, (x, noise))| {
        pivot + turn * (x - pivot) + if is_held(node) { Vec3::zeros() } else { noise }
    })
    .collect()
}

fn gradient(damping: &mut DeformationDamping, model: &Model, x: &[Vec3]) -> (f64, Vec<Vec3>) {
    let mut gradient = vec![Vec3::zeros(); x.len()];
    let energy = damping.evaluate(model, x, &mut gradient);
    (energy, gradient)
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

/// A displacement of the free nodes.
fn direction(model: &Model) -> Vec<Vec3> {
    let mut u = random_vectors(model, 1.0);
    u.rotate_left(7);
    u.iter_mut()
        .zip(model.node_inverse_mass())
        .filter(|(_, m)| **m == 0.0)
        .for_each(|(u, _)| *u = Vec3::zeros());
    u
}

/// Central differences over ±ε have an error of (ε/size)² = 10⁻⁸ of the third derivative, and round-off of 10⁻¹⁶ size²/(noise ε); with pinned nodes, whose weight is 10⁶ masses, 10⁻⁵.
#[test]
fn the_gradient_is_the_slope_of_the_energy() {
    for model in models() {
        let mut damping = begun(&model);
        let (x, u, step) = (moved(&model, 5e-3), direction(&model), 1e-5);
        let at = |s: f64| -> Vec<Vec3> { x.iter().zip(&u).map(|(x, u)| x + s * u).collect() };
        let derivative = (gradient(&mut damping, &model, &at(step)).0
            - gradient(&mut damping, &model, &at(-step)).0)
            / (2.0 * step);
        let wanted = dot(&gradient(&mut damping, &model, &x).1, &u);
        assert!((derivative - wanted).abs() < 1e-5 * wanted.abs(), "{derivative} {wanted}");
    }
}

/// At a rigid motion, where the Gauss-Newton Hessian is exact; displacements are in single precision: 10⁻⁶.
#[test]
fn the_hessian_is_the_slope_of_the_gradient_at_rigid_motions() {
    for model in models() {
        let mut damping = begun(&model);
        let (x, u, step) = (moved(&model, 0.0), direction(&model), 1e-5);
        let at = |s: f64| -> Vec<Vec3> { x.iter().zip(&u).map(|(x, u)| x + s * u).collect() };
        let (ahead, behind) =
            (gradient(&mut damping, &model, &at(step)).1, gradient(&mut damping, &model, &at(-step)).1);
        let product = product(&mut damping, &model, &x, &u);
        let size = dot(&product, &product).sqrt();
        for ((ahead, behind), product) in ahead.iter().zip(&behind).zip(&product) {
            let derivative = (ahead - behind) / (2.0 * step);
            assert!((derivative - product).norm() < 1e-5 * size, "{derivative} {product}");
        }
    }
}

fn product(damping: &mut DeformationDamping, model: &Model, x: &[Vec3], u: &[Vec3]) -> Vec<Vec3> {
    gradient(damping, model, x);
    let rows: Vec<_> = u.iter().map(row).collect();
    let mut out: Vec<_> = (0..u.len()).map(|node| row(&(damping.diagonal[node] * u[node]))).collect();
    damping.multiply_rigid(model, &rows, &mut out);
    out.iter().map(vector).collect()
}

/// The Hessian is an orthogonal projection times κ M: never negative, to single precision, wherever nodes are, and zero for rigid motions.
#[test]
fn the_hessian_is_never_negative() {
    for model in models() {
        let mut damping = begun(&model);
        for noise in [1e-3, 2e-2, 0.2] {
            let (x, u) = (moved(&model, noise), direction(&model));
            let own = dot(&product(&mut damping, &model, &x, &u), &u);
            let whole: f64 = u.iter().zip(&damping.diagonal).map(|(u, k)| k * u.norm_squared()).sum();
            assert!(own > -1e-6 * whole && own < whole * (1.0 + 1e-6), "{own} {whole}");
        }
    }
}

/// A rigid motion, however large, costs nothing: the energy is round-off of squares.
#[test]
fn rigid_motions_are_not_damped() {
    for model in models().iter().filter(|model| model.pins().is_empty()) {
        let (energy, gradient) = gradient(&mut begun(model), model, &moved(model, 0.0));
        assert!(energy < 1e-20 && gradient.iter().all(|g| g.norm() < 1e-10), "{energy}");
    }
}

/// Forces of a free body have neither resultant nor moment at the end of the step, however far it has turned.
#[test]
fn damping_forces_of_a_free_body_have_no_resultant_and_no_moment() {
    let model = beam(None);
    let x = moved(&model, 1e-2);
    let (_, forces) = gradient(&mut begun(&model), &model, &x);
    let size: f64 = forces.iter().map(|force| force.norm()).sum();
    let moment: Vec3 = x.iter().zip(&forces).map(|(x, force)| x.cross(force)).sum();
    assert!(size > 1.0 && forces.iter().sum::<Vec3>().norm() < 1e-12 * size && moment.norm() < 1e-12 * size);
}

/// From a shape through the same shape turned lies that shape, whatever the factor.
#[test]
fn extrapolation_leaves_rotation_out() {
    let model = beam(None);
    let mut damping = begun(&model);
    let earlier = damping.shape.clone();
    let turn: Mat3 = so3::exp(&Vec3::new(0.2, 0.4, -0.3)).to_rotation_matrix().into_inner();
    damping.shape.iter_mut().for_each(|y| *y = turn * *y);
    damping.begin_beyond(&model, &earlier, 2.4);
    for (own, earlier) in damping.shape.iter().zip(&earlier) {
        assert!((own - earlier).norm() < 1e-12);
    }
}
