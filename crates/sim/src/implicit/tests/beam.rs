//! A clamped beam, and free bodies.

use crate::desc::{BodyDesc, PinDesc, Region, Sag, ShapeDesc, WorldDesc};
use crate::implicit::{ImplicitSettings, Solver, settle};
use crate::{Control, Model, State, Stepper};
use crate::{NodeEnergy, PointSprings};
use sinew_flesh::{Law, Material};
use sinew_math::Vec3;
use sinew_mesh::shapes;

const SIZE: [f64; 3] = [0.4, 0.1, 0.1];

pub(super) fn beam(cubes: usize, material: Material, is_held: bool) -> Model {
    Model::build(&beam_world(cubes, material, is_held)).expect("sound")
}

pub(super) fn beam_world(cubes: usize, material: Material, is_held: bool) -> WorldDesc {
    let held = Region::Box { min: Vec3::new(-1e-9, -1.0, -1.0), max: Vec3::new(1e-9, 1.0, 1.0) };
    let body = BodyDesc {
        name: "beam".into(),
        shape: ShapeDesc::Tets(shapes::beam(cubes, SIZE)),
        material,
        velocity: Vec3::zeros(),
        pins: if is_held { vec![PinDesc { region: held }] } else { Vec::new() },
        loads: Vec::new(),
        attachment: None,
        sag: Sag::Free,
        ..BodyDesc::default()
    };
    WorldDesc { gravity: Vec3::new(0.0, 0.0, -9.81), bodies: vec![body], ..WorldDesc::default() }
}

pub(super) fn rubber(young: f64, poisson: f64, damping: f64) -> Material {
    Material { law: Law::StableNeoHookean, ..Material::soft_solid(young, poisson, 1000.0, damping) }
}

pub(super) fn tip(model: &Model, state: &State) -> f64 {
    let tip = || (0..model.node_count()).filter(|&node| model.node_rest()[node].x > SIZE[0] - 1e-9);
    tip().map(|node| model.node_rest()[node].z - state.node_x[node].z).sum::<f64>() / tip().count() as f64
}

pub(super) fn inverted(model: &Model, state: &State) -> usize {
    (0..model.tets().len())
        .filter(|&tet| model.elements().deformation_gradient(&state.node_x, tet).determinant() <= 0.0)
        .count()
}

pub(super) fn run(
    model: &Model,
    settings: ImplicitSettings,
    dt: f64,
    seconds: f64,
    state: &mut State,
) -> usize {
    let mut stepper = Stepper::with_solver(Solver::Implicit(settings));
    let control = Control::still(model);
    let mut unsolved = 0;
    for _ in 0..(seconds / dt).round() as usize {
        let report = stepper.step(model, &control, dt, state).expect("a step");
        unsolved += usize::from(!report.solve.expect("implicit").converged);
    }
    unsolved
}

/// The reference is a Newton solve of the same mesh and law by an independent code, which gives 65.58 mm; its law differs in terms of second order in the strain, which
/// is up to a fifth here, and our other laws give 65.5 to 65.6 mm.
#[test]
fn the_beam_settles_where_others_found_it() {
    let model = beam(4, rubber(5e5, 0.4, 0.0), true);
    let mut state = State::at_rest(&model);
    let report = settle(&model, &Control::still(&model), &mut state).expect("rest");
    assert!(report.converged && report.residual < 1e-5, "{report:?}");
    let hangs = 1e3 * tip(&model, &state);
    assert!((hangs - 65.58).abs() < 0.1, "{hangs} mm, {report:?}");
}

/// A short, stiff beam follows beam theory up to what the theory neglects: shear and the coarse mesh. Twice the weight gives twice the deflection, to the ratio of
/// deflection to length.
#[test]
fn a_stiff_beam_sags_in_proportion() {
    let sag = |young: f64| {
        let model = beam(2, rubber(young, 0.3, 0.0), true);
        let mut state = State::at_rest(&model);
        let report = settle(&model, &Control::still(&model), &mut state).expect("rest");
        assert!(report.converged, "{report:?}");
        tip(&model, &state)
    };
    let (soft, stiff) = (sag(1e8), sag(2e8));
    assert!((soft / stiff - 2.0).abs() < 2e-3, "{soft} {stiff}");
}

/// Damped explicit steps reach the same equilibrium: both minimise the same energy, to the explicit solver's single precision.
#[test]
fn explicit_and_implicit_rest_are_one() {
    for law in [Law::StVenantKirchhoff(Default::default()), Law::Corotational, Law::StableNeoHookean] {
        let material = Material { law, ..rubber(5e5, 0.4, 0.5) };
        let model = beam(2, material, true);
        let mut settled = State::at_rest(&model);
        assert!(settle(&model, &Control::still(&model), &mut settled).expect("rest").converged);
        let mut stepped = State::at_rest(&model);
        let mut stepper = Stepper::default();
        for _ in 0..300 {
            stepper.step(&model, &Control::still(&model), 1.0 / 60.0, &mut stepped).expect("a step");
        }
        let off = (tip(&model, &settled) - tip(&model, &stepped)).abs();
        assert!(off < 2e-5, "{law:?}: {off} m");
    }
}

/// Backward Euler is first-order accurate: half the step gives half the error. Its extrapolated limit is that of fine explicit steps, which are of first order
/// as well: both limits agree to the remaining second-order term, some hundredths of the first.
#[test]
fn shorter_steps_come_closer_to_explicit_ones_at_first_order() {
    let model = beam(2, rubber(2e5, 0.3, 0.0), true);
    let seconds = 0.1;
    let explicit = |steps: usize| {
        let mut state = State::at_rest(&model);
        let mut stepper = Stepper::default();
        for _ in 0..steps {
            stepper
                .step(&model, &Control::still(&model), seconds / steps as f64, &mut state)
                .expect("a step");
        }
        tip(&model, &state)
    };
    let implicit = |steps: f64| {
        let mut state = State::at_rest(&model);
        run(&model, ImplicitSettings::ACCURATE, seconds / steps, seconds, &mut state);
        tip(&model, &state)
    };
    let (coarse, middle, fine) = (implicit(50.0), implicit(100.0), implicit(200.0));
    let ratio = (coarse - middle) / (middle - fine);
    assert!((1.8..2.2).contains(&ratio), "{ratio}");
    let (limit, exact) = (2.0 * fine - middle, 2.0 * explicit(2000) - explicit(1000));
    assert!((limit - exact).abs() < 0.05 * (coarse - exact).abs(), "{limit} {exact} {coarse}");
}

/// Flat, scrambled (±0.2 m) and mirrored beams recover within three seconds, with no inverted element, to the equilibrium of an undisturbed beam: velocities are damped by 10/s, which leaves
/// e⁻¹⁵ of any oscillation by then, and a thousandth of the last gradients.
#[test]
fn beams_recover_from_bad_starts() {
    let model = beam(2, rubber(5e5, 0.4, 0.1), true);
    let mut settled = State::at_rest(&model);
    assert!(settle(&model, &Control::still(&model), &mut settled).expect("rest").converged);
    for start in BAD_STARTS {
        let mut state = bad_start(&model, start);
        assert!(inverted(&model, &state) > 0 || start == "flat", "{start}");
        run(&model, ImplicitSettings::INTERACTIVE, 1.0 / 60.0, 3.0, &mut state);
        assert_eq!(inverted(&model, &state), 0, "{start}");
        let off = state.node_x.iter().zip(&settled.node_x).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(off < 1e-4, "{start}: {off} m from rest");
    }
}

pub(super) const BAD_STARTS: [&str; 3] = ["flat", "scrambled", "mirrored"];

/// A clamped beam pressed flat, scrambled by up to 0.2 m, or inverted.
pub(super) fn bad_start(model: &Model, start: &str) -> State {
    let mut seed = 12345u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut x = model.node_rest().to_vec();
    for node in (0..x.len()).filter(|node| model.node_inverse_mass()[*node] > 0.0) {
        match start {
            "flat" => x[node].z = 0.0,
            "scrambled" => x[node] += 0.2 * Vec3::new(random(), random(), random()),
            _ => x[node].x = -x[node].x,
        }
    }
    State::from_motion(model, x, vec![Vec3::zeros(); model.node_count()])
}

/// No stiffness between jelly and bone requires a shorter step.
#[test]
fn any_stiffness_is_stable_at_sixty_hertz() {
    let all = [1e3, 1e5, 1e7, 1e9].into_iter().flat_map(|young| [0.3, 0.45, 0.49].map(|nu| (young, nu)));
    for (young, poisson) in all {
        let model = beam(2, rubber(young, poisson, 0.0), true);
        let mut state = State::at_rest(&model);
        let unsolved = run(&model, ImplicitSettings::INTERACTIVE, 1.0 / 60.0, 0.5, &mut state);
        // the centre falls no farther than in free fall, and no node is farther from it than the length of the beam
        let weighed = state.node_x.iter().zip(model.node_mass()).map(|(x, m)| x * *m);
        let middle = weighed.sum::<Vec3>() / model.mass();
        let (t, dt) = (0.5, 1.0 / 60.0);
        assert!(-middle.z < 0.5 * 9.81 * t * (t + dt), "{young}: {middle} m");
        assert!(-middle.z > -1e-3, "{young}: {middle} m");
        let far = state.node_x.iter().map(|x| (x - middle).norm()).fold(0.0, f64::max);
        assert!(far < 1.5, "{young}: {far} m");
        assert!(unsolved <= 2, "{young} {poisson}: {unsolved} steps unsolved");
    }
}

/// The momentum of a thrown body changes only by its weight, Σ m g t, and free fall follows the parabola. The residual acts as a force: the tolerance
/// times the initial gradient, in every step.
#[test]
fn a_free_body_falls_as_one() {
    let model = beam(2, rubber(1e4, 0.4, 0.0), false);
    let mut state = State::at_rest(&model);
    for (v, x) in state.node_v.iter_mut().zip(model.node_rest()) {
        *v = Vec3::new(1.0, 0.0, 0.0) + Vec3::new(0.0, 3.0, 1.0).cross(&(x - Vec3::new(0.2, 0.0, 0.0)));
    }
    let (start, spin) = (state.momentum(&model), state.angular_momentum(&model));
    let center = |state: &State| -> Vec3 {
        state.node_x.iter().zip(model.node_mass()).map(|(x, m)| x * *m).sum::<Vec3>() / model.mass()
    };
    let c0 = center(&state);
    let (dt, steps) = (1.0 / 60.0, 30);
    run(&model, ImplicitSettings::ACCURATE, dt, dt * f64::from(steps), &mut state);
    let t = dt * f64::from(steps);
    let gained = state.momentum(&model) - start - model.mass() * t * model.gravity();
    assert!(gained.norm() < 1e-4 * start.norm(), "{gained}");
    let fallen = center(&state).z - c0.z - start.z / model.mass() * t;
    assert!((fallen + 0.5 * 9.81 * t * t).abs() < 1e-4, "{fallen}");
    // backward Euler loses angular momentum, at most (h ω)² of it per step, and gains none
    let left = center(&state).cross(&state.momentum(&model));
    let own = state.angular_momentum(&model) - left;
    let began = spin - c0.cross(&start);
    assert!(
        own.norm() < began.norm() * 1.0001 && own.norm() > 0.8 * began.norm(),
        "{} {}",
        own.norm(),
        began.norm()
    );
}

/// A spring at a node exerts k times its remaining elongation: at rest it carries the weight of a free beam.
#[test]
fn point_springs_hold_what_hangs_on_them() {
    let model = beam(1, rubber(1e5, 0.3, 0.5), false);
    let mut springs = PointSprings::default();
    for node in 0..model.node_count() as u32 {
        springs.springs.push((node, model.node_rest()[node as usize], 100.0));
    }
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::default();
    let control = Control::still(&model);
    for _ in 0..240 {
        let mut extras: [&mut dyn NodeEnergy; 1] = [&mut springs];
        let settings = ImplicitSettings::ACCURATE;
        stepper.step_with(&model, &control, &settings, &mut extras, 1.0 / 60.0, &mut state).expect("a step");
    }
    let sag: f64 = (0..model.node_count()).map(|n| model.node_rest()[n].z - state.node_x[n].z).sum();
    let wanted = model.mass() * 9.81 / 100.0;
    assert!((sag / wanted - 1.0).abs() < 1e-3, "{sag} {wanted}");
}

/// An exhausted iteration limit is reported, and the state is still valid.
#[test]
fn steps_that_are_not_solved_say_so() {
    let model = beam(2, rubber(5e5, 0.4, 0.0), true);
    let few = ImplicitSettings { tolerance: 1e-9, max_newton: 1, max_inner: 1, ..ImplicitSettings::ACCURATE };
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::with_solver(Solver::Implicit(few));
    let report = stepper.step(&model, &Control::still(&model), 1.0 / 60.0, &mut state).expect("a step");
    let solve = report.solve.expect("implicit");
    assert!(!solve.converged && solve.residual > 1e-9 && solve.newton == 1, "{solve:?}");
    assert!(state.node_x.iter().all(|x| x.iter().all(|x| x.is_finite())));
}

/// Bitwise equal on one thread and on three, in one run and in one that is interrupted and resumed with a new stepper.
#[test]
fn threads_and_interruptions_change_nothing() {
    let model = beam(5, rubber(5e5, 0.4, 0.1), true);
    let dt = 1.0 / 60.0;
    let whole = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let mut state = State::at_rest(&model);
            run(&model, ImplicitSettings::INTERACTIVE, dt, 6.0 * dt, &mut state);
            state
        })
    };
    let one = whole(1);
    assert_eq!(one.hash(), whole(3).hash());
    let mut resumed = State::at_rest(&model);
    for _ in 0..2 {
        run(&model, ImplicitSettings::INTERACTIVE, dt, 3.0 * dt, &mut resumed);
    }
    assert_eq!(one.hash(), resumed.hash());
}
