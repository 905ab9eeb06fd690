//! Factors of stiffness, damping and friction that change from step to step: explicit and implicit, flesh, springs and cloth.

use sinew_flesh::{Fabric, Material};
use sinew_math::{Vec3, real};
use sinew_mesh::{CageSize, TriMesh, shapes};
use sinew_sim::desc::{BodyDesc, NetworkDesc, NetworkKind, ObstacleDesc, PinDesc, Region, ShapeDesc};
use sinew_sim::implicit::settle;
use sinew_sim::{
    Control, FrictionFactors, ImplicitContact, ImplicitSettings, Model, Solver, State, StepError, StepOrder,
    Stepper, WorldDesc,
};

const DT: f64 = 1.0 / 120.0;
const SECOND_ORDER: ImplicitSettings =
    ImplicitSettings { order: StepOrder::Second, ..ImplicitSettings::ACCURATE };

/// A bar of 40 × 10 × 10 cm along x, pinned at x = 0, that starts with a velocity.
fn bar(material: Material, velocity: Vec3, gravity: Vec3) -> Model {
    let end = Region::End { direction: -Vec3::x(), fraction: 0.01 };
    let body = BodyDesc {
        shape: ShapeDesc::Tets(shapes::beam(2, [0.4, 0.1, 0.1])),
        material,
        velocity,
        pins: vec![PinDesc { region: end }],
        ..BodyDesc::default()
    };
    Model::build(&WorldDesc { gravity, bodies: vec![body], ..WorldDesc::default() }).expect("sound")
}

fn stiff(factor: f64) -> Control {
    Control { stiffness: vec![factor], ..Control::default() }
}

fn damped(factor: f64) -> Control {
    Control { damping: vec![factor], ..Control::default() }
}

/// Takes steps of `dt` (s) under the control of each.
fn run(
    model: &Model,
    solver: Solver,
    (dt, steps): (f64, usize),
    control: impl Fn(usize) -> Control,
) -> State {
    let (mut state, mut stepper) = (State::at_rest(model), Stepper::with_solver(solver));
    for i in 0..steps {
        let report = stepper.step(model, &control(i), dt, &mut state).expect("no divergence");
        assert_eq!(report.retries, 0, "step {i}");
    }
    state
}

/// The displacement of the free end along an axis (m).
fn tip(model: &Model, state: &State, axis: usize) -> f64 {
    let ends = (0..model.node_count()).filter(|node| model.node_rest()[*node].x > 0.399);
    let moved: Vec<f64> = ends.map(|node| (state.node_x[node] - model.node_rest()[node])[axis]).collect();
    moved.iter().sum::<f64>() / moved.len() as f64
}

/// Without gravity, M ẍ = −k f(x) has the solutions x(√k t): a quarter of the stiffness is the same motion at half the speed, whatever the law, damping included. Sub-steps are twice as long, and all factors are powers of two,
/// so the bits are the same. Implicit solves stop at a gradient that is not scaled, 1e-6 of forces: 1e-5 of the displacement of some cm.
#[test]
fn a_quarter_of_the_stiffness_is_slow_motion() {
    for material in [Material::soft_solid(3e4, 0.4, 1000.0, 0.05), Material::tissue(3e4, 0.49, 1000.0, 0.05)]
    {
        let fast = bar(material, Vec3::new(0.2, 1.0, 0.0), Vec3::zeros());
        let slow = bar(material, Vec3::new(0.1, 0.5, 0.0), Vec3::zeros());
        for solver in [Solver::Explicit, Solver::Implicit(SECOND_ORDER)] {
            let of_fast = run(&fast, solver, (DT, 24), |_| Control::default());
            let of_slow = run(&slow, solver, (2.0 * DT, 24), |_| stiff(0.25));
            let moved = tip(&fast, &of_fast, 1);
            assert!(moved.abs() > 0.005, "{moved}");
            if solver == Solver::Explicit {
                assert_eq!(of_fast.node_x, of_slow.node_x);
            }
            for (a, b) in of_fast.node_x.iter().zip(&of_slow.node_x) {
                assert!((a - b).norm() < 1e-5 * moved.abs(), "{solver:?}: {a} {b}");
            }
        }
    }
}

/// Times of zero crossings upwards (s), by linear interpolation.
fn crossings(values: &[f64], dt: f64) -> Vec<f64> {
    let pairs = values.windows(2).enumerate();
    let ups = pairs.filter(|(_, v)| v[0] < 0.0 && v[1] >= 0.0);
    ups.map(|(i, v)| dt * (i as f64 + v[0] / (v[0] - v[1]))).collect()
}

/// A bar swings in bending, and from 0.5 s on has a quarter of its stiffness: its frequency halves. Periods are measured over several swings, each time to the nearest 2 % for the harmonics that a uniform velocity excites
/// (the second frequency is 6.3 times the first, with a fifth of its amplitude, so a crossing is off by up to 3 % of a period, shared by two periods at least).
#[test]
fn a_bar_of_a_quarter_of_the_stiffness_swings_at_half_the_frequency() {
    let model = bar(Material::soft_solid(2e7, 0.4, 1000.0, 0.0), Vec3::new(0.0, 0.3, 0.0), Vec3::zeros());
    let mut periods = Vec::new();
    for solver in [Solver::Explicit, Solver::Implicit(SECOND_ORDER)] {
        let (mut state, mut stepper) = (State::at_rest(&model), Stepper::with_solver(solver));
        let (dt, change) = (DT / 4.0, 240);
        let mut values = Vec::new();
        for i in 0..3 * change {
            let control = if i < change { Control::default() } else { stiff(0.25) };
            stepper.step(&model, &control, dt, &mut state).expect("no divergence");
            values.push(tip(&model, &state, 1));
        }
        let period = |values: &[f64]| {
            let times = crossings(values, dt);
            assert!(times.len() > 2, "{times:?}");
            (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64
        };
        periods.push([period(&values[..change]), period(&values[change..])]);
    }
    for [before, after] in &periods {
        assert!((after / before - 2.0).abs() < 0.06, "{periods:?}");
    }
    for k in 0..2 {
        assert!((periods[0][k] / periods[1][k] - 1.0).abs() < 0.02, "{periods:?}");
    }
}

/// Sag is inverse to stiffness up to the strain, 1 % at four times the sag. Explicit and implicit steps with much damping come to the sag that settling finds: 1 % for what is left of the swing.
#[test]
fn a_bar_of_a_quarter_of_the_stiffness_sags_four_times_as_far() {
    let model = bar(Material::soft_solid(1e7, 0.4, 1000.0, 0.7), Vec3::zeros(), Vec3::new(0.0, -9.81, 0.0));
    let settled = |factor: f64| {
        let mut state = State::at_rest(&model);
        settle(&model, &stiff(factor), &mut state).expect("settles");
        tip(&model, &state, 1)
    };
    let (own, soft) = (settled(1.0), settled(0.25));
    assert!(own < 0.0 && (soft / own - 4.0).abs() < 0.04, "{own} {soft}");
    for solver in [Solver::Explicit, Solver::Implicit(ImplicitSettings::ACCURATE)] {
        // a second at the full stiffness, then a quarter
        let state = run(&model, solver, (DT, 240), |i| if i < 60 { Control::default() } else { stiff(0.25) });
        let found = tip(&model, &state, 1);
        assert!((found / soft - 1.0).abs() < 0.01, "{solver:?}: {found} {soft}");
    }
}

/// A factor of stiffness is a factor of Young's modulus, damping included; both are rounded to single precision in elements, and motions over a few periods differ by what they make of it.
#[test]
fn a_factor_of_stiffness_is_one_of_youngs_modulus() {
    let network = |young: f64| {
        let mesh = Box::new(ShapeDesc::Tets(shapes::beam(2, [0.4, 0.1, 0.1])));
        let end = Region::End { direction: -Vec3::x(), fraction: 0.01 };
        let body = BodyDesc {
            shape: ShapeDesc::Network(NetworkDesc { mesh, kind: NetworkKind::Solid }),
            material: Material::soft_solid(young, 0.25, 1000.0, 0.1),
            pins: vec![PinDesc { region: end }],
            ..BodyDesc::default()
        };
        let gravity = Vec3::new(0.0, -9.81, 0.0);
        Model::build(&WorldDesc { gravity, bodies: vec![body], ..WorldDesc::default() }).expect("sound")
    };
    let flesh = |young: f64| {
        bar(Material::tissue(young, 0.49, 1000.0, 0.1), Vec3::zeros(), Vec3::new(0.0, -9.81, 0.0))
    };
    for build in [&network as &dyn Fn(f64) -> Model, &flesh] {
        let (soft, hard) = (build(4e4), build(1.2e5));
        for solver in [Solver::Explicit, Solver::Implicit(SECOND_ORDER)] {
            let of_factor = run(&soft, solver, (DT, 30), |_| stiff(3.0));
            let of_young = run(&hard, solver, (DT, 30), |_| Control::default());
            let moved = tip(&hard, &of_young, 1).abs();
            assert!(moved > 0.002, "{moved}");
            for (a, b) in of_factor.node_x.iter().zip(&of_young.node_x) {
                assert!((a - b).norm() < 1e-4 * moved, "{solver:?}: {a} {b}, {moved}");
            }
        }
    }
}

/// Kinetic, potential and elastic energy (J).
fn energy(model: &Model, state: &State) -> f64 {
    let energies = state.energies(model);
    energies.kinetic + energies.potential + energies.elastic
}

/// Without damping a bar keeps its energy, to a few per cent that symplectic Euler lets swing. With ten times a damping ratio of 0.1 its lowest mode is critically damped, and motion is over after a few periods of 0.07 s.
#[test]
fn a_factor_of_damping_kills_vibration_and_zero_keeps_it() {
    let model = bar(Material::soft_solid(2e7, 0.4, 1000.0, 0.1), Vec3::new(0.0, 0.5, 0.0), Vec3::zeros());
    let start = energy(&model, &State::at_rest(&model));
    for (solver, kept) in [(Solver::Explicit, 0.95), (Solver::Implicit(SECOND_ORDER), 0.5)] {
        let free = energy(&model, &run(&model, solver, (DT / 4.0, 240), |_| damped(0.0)));
        assert!(free > kept * start && free < 1.05 * start, "{solver:?}: {free} of {start}");
        let own = energy(&model, &run(&model, solver, (DT / 4.0, 240), |_| Control::default()));
        let heavy = |i: usize| damped(if i < 120 { 0.0 } else { 10.0 });
        let still = energy(&model, &run(&model, solver, (DT / 4.0, 240), heavy));
        assert!(own < 0.1 * start && still < 0.01 * start, "{solver:?}: {own} {still} of {start}");
    }
}

/// The account of supplied energy includes the work of stiffening and softening, at any strain and in both directions: at the end it is the energy of the model, as far as symplectic Euler keeps it, which is some per cent at the strains here.
#[test]
fn the_work_of_a_changing_stiffness_is_supplied() {
    let model = bar(Material::soft_solid(2e5, 0.4, 1000.0, 0.0), Vec3::new(0.0, 0.4, 0.0), Vec3::zeros());
    let start = energy(&model, &State::at_rest(&model));
    for factors in [[1.0, 9.0, 30.0, 1.0], [1.0, 0.1, 0.05, 1.0], [0.2, 5.0, 0.2, 5.0]] {
        let state = run(&model, Solver::Explicit, (DT, 48), |i| stiff(factors[i / 12]));
        let found = energy(&model, &state);
        assert!((found - start).abs() > 0.2 * start, "{factors:?}: {found} {start}");
        let off = (state.supplied_energy - found).abs();
        assert!(off < 0.05 * found, "{factors:?}: {} {found}", state.supplied_energy);
    }
}

/// Cloth that hangs from two corners.
fn cloth() -> Model {
    let n = 8;
    let mut surface = TriMesh::default();
    for i in 0..=n {
        for j in 0..=n {
            surface.vertices.push(Vec3::new(f64::from(i), 0.0, f64::from(j)) * (0.3 / f64::from(n)));
        }
    }
    for i in 0..n as u32 {
        for j in 0..n as u32 {
            let a = i * 9 + j;
            surface.triangles.push([a, a + 1, a + 9]);
            surface.triangles.push([a + 1, a + 10, a + 9]);
        }
    }
    let corner = |x: f64| PinDesc { region: Region::Nearest(Vec3::new(x, 0.0, 0.0)) };
    let mesh = ShapeDesc::Surface { surface, cage: CageSize::Tets(1) };
    let fabric = Fabric { stretch: 20.0, ..Fabric::default() };
    let body = BodyDesc {
        shape: ShapeDesc::Network(NetworkDesc::cloth(mesh, fabric)),
        pins: vec![corner(0.0), corner(0.3)],
        ..BodyDesc::default()
    };
    let gravity = Vec3::new(0.0, -9.81, 0.0);
    Model::build(&WorldDesc { gravity, bodies: vec![body], ..WorldDesc::default() }).expect("sound")
}

/// The factors of a step that change all the time.
fn changing(i: usize) -> Control {
    let swing = real::sin(0.3 * i as f64);
    Control {
        stiffness: vec![1.0 + 0.6 * swing],
        damping: vec![2.0 - 2.0 * swing],
        air_drag: vec![Some(1.0 + swing)],
        friction: FrictionFactors { bodies: vec![1.0 + swing], obstacles: vec![1.0 - swing] },
        ..Control::default()
    }
}

/// What a solver keeps does not depend on the steps before: a run that is resumed with a new stepper has the same bits as one that is not, with flesh and cloth, contact and friction.
#[test]
fn resumed_runs_are_the_same_to_the_bit() {
    let fallen = block(0.2);
    for model in [bar(Material::tissue(3e4, 0.48, 1000.0, 0.2), Vec3::y(), -Vec3::y()), cloth(), fallen] {
        let implicit = ImplicitSettings::ACCURATE;
        for solver in [Solver::Explicit, Solver::Implicit(implicit), Solver::Implicit(SECOND_ORDER)] {
            let (mut state, mut stepper) = (State::at_rest(&model), Stepper::with_solver(solver));
            let mut resumed = None;
            for i in 0..24 {
                if i == 13 {
                    resumed = Some((state.clone(), Stepper::with_solver(solver)));
                }
                stepper.step(&model, &changing(i), DT, &mut state).expect("no divergence");
                if let Some((state, stepper)) = &mut resumed {
                    stepper.step(&model, &changing(i), DT, state).expect("no divergence");
                }
            }
            let (resumed, _) = resumed.expect("it was resumed");
            assert_eq!(resumed.hash(), state.hash(), "{solver:?}");
        }
    }
}

#[test]
fn factors_of_one_give_the_same_bits() {
    let ones = Control {
        stiffness: vec![1.0],
        damping: vec![1.0],
        friction: FrictionFactors { bodies: vec![1.0], obstacles: vec![1.0] },
        ..Control::default()
    };
    for model in [block(0.2), cloth()] {
        for solver in [Solver::Explicit, Solver::Implicit(ImplicitSettings::ACCURATE)] {
            let own = run(&model, solver, (DT, 12), |_| Control::default());
            assert_eq!(run(&model, solver, (DT, 12), |_| ones.clone()).hash(), own.hash());
            // a copy of the model whose factors are 1 again
            let there_and_back =
                |i: usize| Control { gravity: Some(Vec3::x() * f64::from(i == 3)), ..ones.clone() };
            let with_gravity = run(&model, solver, (DT, 12), there_and_back).hash();
            assert_ne!(with_gravity, own.hash());
        }
    }
}

/// A block of 20 × 10 × 10 cm on a plane that is tilted by an angle about z, which gravity is turned by instead.
fn block(angle: f64) -> Model {
    let mut tets = shapes::beam(2, [0.2, 0.1, 0.1]);
    tets.nodes.iter_mut().for_each(|x| x.y += 0.05);
    let body = BodyDesc {
        shape: ShapeDesc::Tets(tets),
        material: Material::soft_solid(2e5, 0.3, 1000.0, 0.3),
        ..BodyDesc::default()
    };
    let gravity = 9.81 * Vec3::new(real::sin(angle), -real::cos(angle), 0.0);
    let world = WorldDesc {
        gravity,
        bodies: vec![body],
        obstacles: vec![ObstacleDesc::default()],
        ..WorldDesc::default()
    };
    Model::build(&world).expect("sound")
}

/// On an incline of 20° with µ = 0.6, whose tangent is 0.36, a block rests. Without friction it slides with g sin θ, of which the first instants of contact may take 2 %; with friction again it brakes with g (µ cos θ − sin θ) and stops.
#[test]
fn a_factor_of_friction_lets_a_block_slide_and_stops_it() {
    let angle = 20.0f64.to_radians();
    let model = block(angle);
    let friction = |factor: f64, on_body: bool| {
        let (own, other) = (vec![factor], Vec::new());
        let (bodies, obstacles) = if on_body { (own, other) } else { (other, own) };
        Control { friction: FrictionFactors { bodies, obstacles }, ..Control::default() }
    };
    let barrier = ImplicitSettings { contact: ImplicitContact::Auto, ..ImplicitSettings::ACCURATE };
    let solvers = [Solver::Explicit, Solver::Implicit(ImplicitSettings::ACCURATE), Solver::Implicit(barrier)];
    for (solver, on_body) in solvers.into_iter().flat_map(|solver| [(solver, true), (solver, false)]) {
        let speed = |state: &State| state.momentum(&model).x / model.mass();
        let (mut state, mut stepper) = (State::at_rest(&model), Stepper::with_solver(solver));
        let mut steps = |count: usize, factor: f64| {
            for _ in 0..count {
                stepper.step(&model, &friction(factor, on_body), DT, &mut state).expect("no divergence");
            }
            speed(&state)
        };
        let resting = steps(60, 1.0);
        assert!(resting.abs() < 0.01, "{solver:?}: {resting}");
        let sliding = steps(60, 0.0) - resting;
        let expected = 60.0 * DT * 9.81 * real::sin(angle);
        assert!((sliding / expected - 1.0).abs() < 0.02, "{solver:?}: {sliding} {expected}");
        // braking at 2.2 m/s² takes 0.77 s
        let stopped = steps(140, 1.0);
        assert!(stopped.abs() < 0.02, "{solver:?}: {stopped}");
    }
}

#[test]
fn impossible_factors_are_refused_with_name_and_value() {
    let model = block(0.0);
    let obstacle = |factor: f64| Control {
        friction: FrictionFactors { bodies: Vec::new(), obstacles: vec![factor] },
        ..Control::default()
    };
    for (control, said) in [
        (stiff(0.0), "body 'body': the factor 0 of its stiffness is not above 0"),
        (stiff(f64::NAN), "the factor NaN of its stiffness"),
        (damped(-2.0), "body 'body': the factor -2 of its damping is not 0 or more"),
        (obstacle(-0.5), "'ground': the factor -0.5 of its friction is not 0 or more"),
    ] {
        let mut state = State::at_rest(&model);
        let before = state.hash();
        let error = Stepper::default().step(&model, &control, DT, &mut state).expect_err("refused");
        assert!(matches!(&error, StepError::BadControl(what) if what.contains(said)), "{error}");
        assert_eq!(state.hash(), before);
    }
}
