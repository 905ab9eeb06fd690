//! The Hessian over nodes and joints together.

use super::arm::arm;
use crate::implicit::problem::{Gradient, Motion, Problem};
use crate::substep::Substep;
use crate::{Control, Model, RigControl, State};
use sinew_math::Vec3;
use sinew_math::nalgebra::DMatrix;

/// An arm rotated at the shoulder and slightly bent, its flesh perturbed by up to 0.2 mm: strains of one or two hundredths.
fn shaken(model: &Model, mut seed: u64) -> State {
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut state = State::at_rest(model);
    state.rigs[0].q.copy_from_slice(&[2.0 * random(), 0.02 * random()]);
    state.carry_flesh(model);
    for node in (0..model.node_count()).filter(|&node| model.node_inverse_mass()[node] > 0.0) {
        state.node_x[node] += 2e-4 * Vec3::new(random(), random(), random());
    }
    state
}

/// At small strain the elastic Hessian is positive definite, and the terms of bones preserve that: the whole matrix, column by column, is
/// symmetric to single precision and has a Cholesky factor. The smallest eigenvalues are those of inertia, some 10 N/m, far above the round-off of
/// entries of 10⁴ N/m.
#[test]
fn nodes_and_joints_together_curve_up() {
    let model = arm(1.0, 0.1);
    let control = Control { rigs: vec![RigControl::limp(&model.rigs()[0])], ..Control::still(&model) };
    for seed in 1..=3 {
        // the Hessian at a perturbed state
        let state = shaken(&model, seed);
        let mut problem = Problem::default();
        let h = 1.0 / 60.0;
        problem.begin(&model, &control, Substep::whole(h), &state);
        let mut point = problem.onward.clone();
        problem.place_bones(&model, &mut point);
        problem.evaluate(&model, &point, &mut [], &mut Gradient::default());
        problem.update_hessian(&model, &point, &mut []);

        // its dense matrix, column by column
        let free: Vec<usize> = (0..model.node_count()).filter(|&node| problem.inertia[node] > 0.0).collect();
        let joints = problem.bones.is_sought.len();
        assert_eq!(joints, 2);
        let size = 3 * free.len() + joints;
        let mut matrix = DMatrix::<f64>::zeros(size, size);
        for column in 0..size {
            let zero = Motion {
                nodes: vec![[0.0; 4]; model.node_count()],
                joints: vec![0.0; joints],
                obstacles: Vec::new(),
            };
            let (mut motion, mut out) = (zero.clone(), zero);
            match free.get(column / 3) {
                Some(node) => motion.nodes[*node][column % 3] = 1.0,
                None => motion.joints[column - 3 * free.len()] = 1.0,
            }
            problem.multiply(&model, &point, &mut [], &mut motion, &mut out);
            for (i, node) in free.iter().enumerate() {
                (0..3).for_each(|k| matrix[(3 * i + k, column)] = f64::from(out.nodes[*node][k]));
            }
            (0..joints).for_each(|j| matrix[(3 * free.len() + j, column)] = out.joints[j]);
        }

        // symmetric positive definite
        let skew = (&matrix - matrix.transpose()).amax();
        assert!(skew < 1e-5 * matrix.amax(), "{skew} of {}", matrix.amax());
        let symmetric = (&matrix + matrix.transpose()) * 0.5;
        assert!(symmetric.cholesky().is_some(), "seed {seed}: the Hessian is not positive definite");
    }
}
