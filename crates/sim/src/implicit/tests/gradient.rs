//! Gradient and Hessian of the incremental potential over nodes and joints, against finite differences.

use super::arm::arm_world;
use crate::desc::Sag;
use crate::implicit::problem::{Gradient, Motion, Point, Problem, row};
use crate::substep::Substep;
use crate::{Control, Model, RigControl, State};
use sinew_math::Vec3;

const H: f64 = 1.0 / 60.0;

/// Numbers between −1 and 1 from a fixed pseudo-random sequence.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(super) fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
}

pub(super) fn limp(model: &Model) -> Control {
    Control { rigs: vec![RigControl::limp(&model.rigs()[0])], ..Control::still(model) }
}

/// A limp swinging arm with its flesh perturbed by up to `size` (m), and the potential of its next step.
fn moving(model: &Model, size: f64, random: &mut Random) -> Problem {
    let mut state = State::at_rest(model);
    state.rigs[0].q.copy_from_slice(&[random.next(), 0.3 * random.next()]);
    state.rigs[0].v.copy_from_slice(&[3.0 * random.next(), 3.0 * random.next()]);
    state.carry_flesh(model);
    for x in &mut state.node_x {
        *x += size * random.vector();
    }
    let mut problem = Problem::default();
    problem.begin(model, &limp(model), Substep::whole(H), &state);
    problem
}

fn random_motion(model: &Model, problem: &Problem, random: &mut Random) -> Motion {
    let free = |node: usize| problem.inertia[node] > 0.0;
    let nodes = (0..model.node_count())
        .map(|node| if free(node) { row(&random.vector()) } else { [0.0; 4] })
        .collect();
    Motion { nodes, joints: vec![random.next(), random.next()], obstacles: Vec::new() }
}

/// A point displaced along a motion.
fn moved(model: &Model, problem: &mut Problem, from: &Point, motion: &Motion, by: f64) -> Point {
    let mut point = from.clone();
    for (x, u) in point.x.iter_mut().zip(&motion.nodes) {
        *x += by * Vec3::new(f64::from(u[0]), f64::from(u[1]), f64::from(u[2]));
    }
    problem.bones.moved(model, &from.rigs, &motion.joints, by, &mut point.rigs);
    problem.place_bones(model, &mut point);
    point
}

fn gradient_at(
    model: &Model,
    problem: &mut Problem,
    from: &Point,
    motion: &Motion,
    by: f64,
) -> (f64, Gradient) {
    let point = moved(model, problem, from, motion, by);
    let mut gradient = Gradient::default();
    let (energy, _) = problem.evaluate(model, &point, &mut [], &mut gradient);
    (energy, gradient)
}

/// With inertia of bones and nodes, elasticity, damping, joints and gravity compensation. Central differences over ±ε have an error of ε²/6 times the third derivative: (ε/edge)² = 10⁻⁸ for 2.5 µm of 25 mm.
#[test]
fn the_gradient_is_that_of_the_potential() {
    for sag in [Sag::Free, Sag::Balanced, Sag::RestShape] {
        let model = Model::build(&arm_world(2.0, 0.3, sag)).expect("sound");
        let mut random = Random(11);
        for size in [0.0, 2e-3, 2e-2] {
            let mut problem = moving(&model, size, &mut random);
            let from = problem.onward.clone();
            let motion = random_motion(&model, &problem, &mut random);
            let epsilon = 2.5e-6;
            let (high, _) = gradient_at(&model, &mut problem, &from, &motion, epsilon);
            let (low, _) = gradient_at(&model, &mut problem, &from, &motion, -epsilon);
            let (_, gradient) = gradient_at(&model, &mut problem, &from, &motion, 0.0);
            let nodes = gradient.nodes.iter().zip(&motion.nodes);
            let nodes: f64 = nodes.map(|(g, u)| (0..3).map(|i| g[i] * f64::from(u[i])).sum::<f64>()).sum();
            let joints: f64 = gradient.joints.iter().zip(&motion.joints).map(|(g, u)| g * u).sum();
            let (found, wanted) = ((high - low) / (2.0 * epsilon), nodes + joints);
            let scale = gradient.nodes.iter().map(Vec3::norm_squared).sum::<f64>().sqrt()
                * (motion.nodes.len() as f64).sqrt();
            assert!((found - wanted).abs() < 1e-6 * scale, "{size}: {found} {wanted} of {scale}");
        }
    }
}

/// Relative deviation of Hessian products from differences of gradients: in rows of nodes, and in rows of joints.
fn product_error(model: &Model, problem: &mut Problem, from: &Point, random: &mut Random) -> [f64; 2] {
    let mut motion = random_motion(model, problem, random);
    let epsilon = 2e-7;
    let (_, high) = gradient_at(model, problem, from, &motion, epsilon);
    let (_, low) = gradient_at(model, problem, from, &motion, -epsilon);
    let point = moved(model, problem, from, &motion, 0.0);
    problem.evaluate(model, &point, &mut [], &mut Gradient::default());
    problem.update_hessian(model, &point, &mut []);
    let mut out = motion.clone();
    problem.multiply(model, &point, &mut [], &mut motion, &mut out);
    let (mut nodes, mut joints, mut size, mut joint_size) = (0.0, 0.0, 0.0, 0.0);
    for (node, out) in out.nodes.iter().enumerate().filter(|(node, _)| problem.inertia[*node] > 0.0) {
        let wanted = (high.nodes[node] - low.nodes[node]) / (2.0 * epsilon);
        size += wanted.norm_squared();
        nodes += (0..3).map(|i| (wanted[i] - f64::from(out[i])).powi(2)).sum::<f64>();
    }
    for dof in 0..out.joints.len() {
        let wanted = (high.joints[dof] - low.joints[dof]) / (2.0 * epsilon);
        joint_size += wanted * wanted;
        joints += (wanted - out.joints[dof]).powi(2);
    }
    [(nodes / size).sqrt(), (joints / joint_size).sqrt()]
}

/// Rows of nodes are exact everywhere, for displacements of nodes and of joints: products are in single precision, whose sums of some twenty stiff terms have an error of 10⁻⁵.
#[test]
fn rows_of_nodes_are_the_gradient_of_the_gradient() {
    let model = Model::build(&arm_world(2.0, 0.3, Sag::Free)).expect("sound");
    let mut random = Random(5);
    for size in [0.0, 2e-3, 2e-2] {
        let mut problem = moving(&model, size, &mut random);
        let from = problem.onward.clone();
        let [nodes, _] = product_error(&model, &mut problem, &from, &mut random);
        assert!(nodes < 1e-4, "{size}: {nodes}");
    }
}

/// Rows of joints neglect the second derivatives of fixed nodes and frames with respect to the joints, times the forces there. At rest without weight there are no forces, and they are exact.
#[test]
fn rows_of_joints_are_exact_where_nothing_pushes() {
    let mut world = arm_world(2.0, 0.3, Sag::Free);
    world.gravity = Vec3::zeros();
    let model = Model::build(&world).expect("sound");
    let mut problem = Problem::default();
    problem.begin(&model, &limp(&model), Substep::whole(H), &State::at_rest(&model));
    let from = problem.onward.clone();
    let mut random = Random(7);
    for _ in 0..3 {
        let [nodes, joints] = product_error(&model, &mut problem, &from, &mut random);
        assert!(nodes < 1e-4 && joints < 1e-4, "{nodes} {joints}");
    }
}

/// Flesh with a home, on joints along a path: the gradient is that of the potential with its springs, and the products are those of its gradient, up to what the other tests of this file argue. The spring's third derivative is
/// 2 k/L (1 − r/L)⁻³, which at displacements of a tenth of the limit of 0.1 m is less than that of elasticity over an edge of 25 mm.
#[test]
fn gradient_and_products_hold_with_a_home() {
    // an arm whose paint blends from one bone to the other
    let mut world = arm_world(2.0, 0.3, Sag::Free);
    let bare = Model::build(&world).expect("sound");
    let surface = &bare.bodies()[0].surface.vertices;
    let (low, high) = bare.bodies()[0].surface.bounds().expect("points");
    let middle = 0.5 * (low + high);
    let axis = (high - low).imax();
    let attachment = world.bodies[0].attachment.as_mut().expect("on bones");
    attachment.skin_weights = surface
        .iter()
        .map(|v| {
            let blend = (0.5 + (v[axis] - middle[axis]) / (high - low)[axis]).clamp(0.0, 1.0) as f32;
            vec![(0, 1.0 - blend), (1, blend)]
        })
        .collect();
    attachment.home = Some(crate::desc::HomeDesc::even(surface.len(), 20.0, 0.1));
    let model = Model::build(&world).expect("sound");
    let mut random = Random(3);
    for size in [0.0, 2e-3, 1e-2] {
        // prescribed joints: the potential is over nodes alone
        let mut state = State::at_rest(&model);
        state.rigs[0].q.copy_from_slice(&[0.4, -0.3]);
        state.carry_flesh(&model);
        state.node_x.iter_mut().for_each(|x| *x += size * random.vector());
        let mut control = Control::still(&model);
        (control.rigs[0].from, control.rigs[0].to) = (state.rigs[0].clone(), state.rigs[0].clone());
        control.rigs[0].to.q[0] += 0.05;
        let mut problem = Problem::default();
        problem.begin(&model, &control, Substep::whole(H), &state);
        let from = problem.onward.clone();
        let mut motion = random_motion(&model, &problem, &mut random);
        motion.joints.fill(0.0);

        // central differences, and products
        let epsilon = 2.5e-6;
        let (over, _) = gradient_at(&model, &mut problem, &from, &motion, epsilon);
        let (under, _) = gradient_at(&model, &mut problem, &from, &motion, -epsilon);
        let (_, gradient) = gradient_at(&model, &mut problem, &from, &motion, 0.0);
        let nodes = gradient.nodes.iter().zip(&motion.nodes);
        let wanted: f64 = nodes.map(|(g, u)| (0..3).map(|i| g[i] * f64::from(u[i])).sum::<f64>()).sum();
        let scale = gradient.nodes.iter().map(Vec3::norm_squared).sum::<f64>().sqrt()
            * (motion.nodes.len() as f64).sqrt();
        let found = (over - under) / (2.0 * epsilon);
        assert!((found - wanted).abs() < 1e-6 * scale, "{size}: {found} {wanted} of {scale}");
        let [products, _] = product_error(&model, &mut problem, &from, &mut random);
        assert!(products < 1e-4, "{size}: {products}");
    }
}
