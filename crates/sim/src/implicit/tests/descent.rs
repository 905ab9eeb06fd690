//! Descent where the potential is not convex: crushed flesh has negative curvature, and every search direction is still a descent direction.

use super::arm::arm;
use super::beam::{BAD_STARTS, bad_start, beam, rubber};
use super::gradient::{Random, limp};
use crate::implicit::ImplicitSettings;
use crate::implicit::deadline::Deadline;
use crate::implicit::linear_system::System;
use crate::implicit::minres::Minres;
use crate::implicit::newton::Newton;
use crate::implicit::pcg::Pcg;
use crate::implicit::preconditioner::Preconditioner;
use crate::implicit::problem::{Gradient, Motion, Point, Problem, row};
use crate::substep::Substep;
use crate::{Control, Model, State};

const H: f64 = 1.0 / 60.0;

/// The potential of a step, and its extrapolation at constant velocity.
fn begin(model: &Model, control: &Control, state: &State) -> (Problem, Point) {
    let mut problem = Problem::default();
    problem.begin(model, control, Substep::whole(H), state);
    let mut point = problem.onward.clone();
    problem.place_bones(model, &mut point);
    problem.set_joint_reach(model);
    (problem, point)
}

fn dot(a: &Motion, b: &Motion) -> f64 {
    let nodes =
        a.nodes.iter().zip(&b.nodes).flat_map(|(a, b)| (0..3).map(|i| f64::from(a[i]) * f64::from(b[i])));
    nodes.sum::<f64>() + a.joints.iter().zip(&b.joints).map(|(a, b)| a * b).sum::<f64>()
}

fn random_gradient(model: &Model, problem: &Problem, random: &mut Random) -> Motion {
    let node = |node: usize| if problem.inertia[node] > 0.0 { row(&random.vector()) } else { [0.0; 4] };
    let nodes = (0..model.node_count()).map(node).collect();
    let joints = problem.bones.is_sought.iter().map(|_| random.next()).collect();
    Motion { nodes, joints, obstacles: Vec::new() }
}

/// States from slightly to strongly perturbed: limp arms, and beams that are flat, scrambled and mirrored.
fn each_state(mut check: impl FnMut(&Model, &Control, &State, &str)) {
    let model = arm(1.0, 0.1);
    let mut random = Random(3);
    for size in [1e-3, 1e-2, 1e-1] {
        let mut state = State::at_rest(&model);
        state.rigs[0].q.copy_from_slice(&[random.next(), random.next()]);
        state.carry_flesh(&model);
        state.node_x.iter_mut().for_each(|x| *x += size * random.vector());
        check(&model, &limp(&model), &state, &format!("arm shaken by {size} m"));
    }
    let model = beam(2, rubber(5e5, 0.4, 0.1), true);
    for start in BAD_STARTS {
        check(&model, &Control::still(&model), &bad_start(&model, start), start);
    }
}

/// Both preconditioners are symmetric and positive definite in every state: (a, M b) = (b, M a) to single precision and the sixteen bits of factors, and (a, M a) > 0. Conjugate gradients
/// stop at negative curvature, so every direction is a descent direction. The test also checks that some states do have negative curvature.
#[test]
fn directions_go_down_though_flesh_curves_down() {
    let mut curved_down = 0;
    each_state(|model, control, state, name| {
        for falls_back in [false, true] {
            // the system at a state, with either preconditioner
            let (mut problem, point) = begin(model, control, state);
            let mut preconditioner = Preconditioner::default();
            preconditioner.prepare(model, &problem);
            preconditioner.begin(model, &mut problem, &point);
            if falls_back {
                preconditioner.fall_back();
            }
            let mut gradient = Gradient::default();
            problem.evaluate(model, &point, &mut [], &mut gradient);
            problem.update_hessian(model, &point, &mut []);
            preconditioner.update(model, &mut problem, &point, &[]);

            // symmetry and positivity of the preconditioner
            let mut random = Random(17);
            for _ in 0..5 {
                let (a, b) = (
                    random_gradient(model, &problem, &mut random),
                    random_gradient(model, &problem, &mut random),
                );
                let (mut ma, mut mb) = (a.clone(), b.clone());
                preconditioner.apply(&problem, &point, &a, &mut ma);
                preconditioner.apply(&problem, &point, &b, &mut mb);
                let (aa, bb) = (dot(&a, &ma), dot(&b, &mb));
                assert!(aa > 0.0 && bb > 0.0, "{name}: {aa} {bb}");
                let skew = dot(&a, &mb) - dot(&b, &ma);
                assert!(skew.abs() < 1e-3 * (aa * bb).sqrt(), "{name}: {skew} of {aa} {bb}");
            }

            // descent direction of conjugate gradients
            let mut pcg = Pcg::default();
            let mut system = System {
                model,
                problem: &mut problem,
                preconditioner: &mut preconditioner,
                point: &point,
                extras: &mut [],
                deadline: &Deadline::default(),
            };
            let found = pcg.solve(&mut system, &Minres::default(), &gradient, (0.1, 40));
            curved_down += usize::from(found.curves_down);
            let nodes = gradient.nodes.iter().zip(&pcg.direction.nodes);
            let nodes = nodes.flat_map(|(g, d)| (0..3).map(|i| g[i] * f64::from(d[i]))).sum::<f64>();
            let along =
                nodes + gradient.joints.iter().zip(&pcg.direction.joints).map(|(g, d)| g * d).sum::<f64>();
            assert!(along < 0.0, "{name}, {falls_back}: {along}");
        }
    });
    assert!(curved_down > 0, "no state had negative curvature");
}

/// The potential decreases in every iteration, from any state: one more iteration never ends higher.
#[test]
fn iterations_never_raise_the_potential() {
    each_state(|model, control, state, name| {
        let mut before = f64::INFINITY;
        for max_newton in [0, 1, 2, 3, 5, 8, 12] {
            let (mut problem, _) = begin(model, control, state);
            let mut newton = Newton::default();
            newton.start(&mut problem, model, &mut []);
            let settings = ImplicitSettings { max_newton, tolerance: 0.0, ..ImplicitSettings::ACCURATE };
            newton.minimise(&mut problem, model, &settings, &mut []);
            let mut point = newton.point().clone();
            problem.place_bones(model, &mut point);
            let (energy, _) = problem.evaluate(model, &point, &mut [], &mut Gradient::default());
            // round-off of the terms that cancel: E V of all flesh is at most 2000 J
            assert!(energy <= before + 1e-9, "{name}, {max_newton}: {energy} {before}");
            before = energy;
        }
    });
}
