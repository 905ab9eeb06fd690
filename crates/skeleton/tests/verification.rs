//! Closed forms and conservation laws.

mod common;

use common::{Random, bone, particle};
use core::f64::consts::PI;
use sinew_math::{Mat3, Vec3, real};
use sinew_skeleton::*;

const DOWN: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// The right-hand side of the equations of motion.
fn accelerations(skeleton: &Skeleton, state: &SkeletonState, gravity: Vec3, dynamics: &mut Dynamics) {
    let mut kinematics = Kinematics::default();
    kinematics.update(skeleton, state);
    let loads = Loads { gravity, ..Loads::default() };
    dynamics.solve(skeleton, &kinematics, state, &Drives::limp(skeleton), &loads).unwrap();
}

fn energies(skeleton: &Skeleton, state: &SkeletonState, gravity: Vec3) -> Energies {
    let mut kinematics = Kinematics::default();
    kinematics.update(skeleton, state);
    Energies::of(skeleton, &kinematics, state, &gravity)
}

fn run(skeleton: &Skeleton, state: &mut SkeletonState, gravity: Vec3, h: f64, steps: usize) {
    let mut dynamics = Dynamics::default();
    for _ in 0..steps {
        accelerations(skeleton, state, gravity, &mut dynamics);
        state.advance(skeleton, &dynamics.acceleration, h);
    }
}

/// Free motion by fourth-order Runge-Kutta, for joints without quaternions.
fn runge_kutta(skeleton: &Skeleton, state: &mut SkeletonState, gravity: Vec3, h: f64) {
    let mut dynamics = Dynamics::default();
    let start = state.clone();
    let (mut dq, mut dv) = (vec![0.0; start.v.len()], vec![0.0; start.v.len()]);
    let mut at = start.clone();
    for (fraction, weight) in [(0.5, 1.0), (0.5, 2.0), (1.0, 2.0), (0.0, 1.0)] {
        accelerations(skeleton, &at, gravity, &mut dynamics);
        for i in 0..dq.len() {
            dq[i] += weight * at.v[i] / 6.0;
            dv[i] += weight * dynamics.acceleration[i] / 6.0;
        }
        for i in 0..dq.len() {
            let v = at.v[i];
            at.q[i] = start.q[i] + fraction * h * v;
            at.v[i] = start.v[i] + fraction * h * dynamics.acceleration[i];
        }
    }
    for i in 0..dq.len() {
        state.q[i] = start.q[i] + h * dq[i];
        state.v[i] = start.v[i] + h * dv[i];
    }
}

/// A particle on a massless rod of length l on a hinge: θ̈ = −g/l sin θ.
#[test]
fn a_pendulum_obeys_its_equation() {
    let (l, mass) = (0.7, 2.0);
    let hung = bone(
        "rod",
        Parent::World,
        Vec3::zeros(),
        JointKind::Revolute(Vec3::z()),
        particle(mass, -Vec3::y() * l),
    );
    let skeleton = Skeleton::build(&SkeletonDesc { bones: vec![hung] }).unwrap();
    let mut dynamics = Dynamics::default();
    for angle in [0.0, 0.3, -1.2, 2.9] {
        let state = SkeletonState { q: vec![angle], v: vec![1.7] };
        accelerations(&skeleton, &state, DOWN, &mut dynamics);
        // the torque about the hinge is that of gravity only: round-off
        assert!((dynamics.acceleration[0] + 9.81 / l * real::sin(angle)).abs() < 1e-13);
    }
}

/// A torque against acceleration adds to the inertia of the joint alone: (m l² + D) θ̈ = −m g l sin θ.
#[test]
fn added_drag_is_inertia_of_a_joint() {
    let (l, mass, drag) = (0.7, 2.0, 5.0);
    let hung = bone(
        "rod",
        Parent::World,
        Vec3::zeros(),
        JointKind::Revolute(Vec3::z()),
        particle(mass, -Vec3::y() * l),
    );
    let skeleton = Skeleton::build(&SkeletonDesc { bones: vec![hung] }).unwrap();
    let mut dynamics = Dynamics::default();
    dynamics.added_drag.push(drag);
    for angle in [0.3, -1.2, 2.9] {
        let state = SkeletonState { q: vec![angle], v: vec![1.7] };
        accelerations(&skeleton, &state, DOWN, &mut dynamics);
        let exact = -mass * 9.81 * l * real::sin(angle) / (mass * l * l + drag);
        assert!((dynamics.acceleration[0] - exact).abs() < 1e-13);
    }
}

/// T = 4 √(l/g) K(sin(θ₀/2)), with K by the arithmetic-geometric mean: T = 2π √(l/g) / agm(1, cos(θ₀/2)). Symplectic Euler
/// changes the period by a relative (ω h)²/24, 2·10⁻⁹ here; interpolation locates the crossing to h².
#[test]
fn a_pendulum_swings_with_the_period_of_the_elliptic_integral() {
    let (l, h) = (1.0, 5e-5);
    let hung = bone(
        "rod",
        Parent::World,
        Vec3::zeros(),
        JointKind::Revolute(Vec3::x()),
        particle(1.0, -Vec3::y() * l),
    );
    let skeleton = Skeleton::build(&SkeletonDesc { bones: vec![hung] }).unwrap();

    // exact period
    let start = 2.0;
    let (mut a, mut g) = (1.0, real::cos(start / 2.0));
    for _ in 0..6 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    let period = 2.0 * PI * (l / 9.81f64).sqrt() / a;

    let mut state = SkeletonState { q: vec![start], v: vec![0.0] };
    // symplectic Euler's velocity lags its angle by half a step: start it there
    let mut dynamics = Dynamics::default();
    accelerations(&skeleton, &state, DOWN, &mut dynamics);
    state.v[0] = -0.5 * h * dynamics.acceleration[0];

    // period from zero crossings
    let (mut crossings, mut steps) = (Vec::new(), 0);
    while crossings.len() < 5 {
        let before = state.q[0];
        run(&skeleton, &mut state, DOWN, h, 1);
        if before > 0.0 && state.q[0] <= 0.0 {
            crossings.push((f64::from(steps) + before / (before - state.q[0])) * h);
        }
        steps += 1;
    }
    let found = (crossings[4] - crossings[0]) / 4.0;
    assert!((found / period - 1.0).abs() < 1e-8, "{found} {period}");
}

/// Symplectic Euler keeps the energy within a band of width h; it does not drift out of it over a hundred swings.
#[test]
fn the_energy_error_of_a_pendulum_is_bounded() {
    let hung =
        bone("rod", Parent::World, Vec3::zeros(), JointKind::Revolute(Vec3::x()), particle(1.0, -Vec3::y()));
    let skeleton = Skeleton::build(&SkeletonDesc { bones: vec![hung] }).unwrap();
    let h = 1e-3;
    let mut state = SkeletonState { q: vec![1.5], v: vec![0.0] };
    let start = energies(&skeleton, &state, DOWN).total();
    for _ in 0..200 {
        run(&skeleton, &mut state, DOWN, h, 1000);
        // the band: h/2 |θ̇ V′| m l² ≤ h/2 · √(2 g) · g
        let drift = (energies(&skeleton, &state, DOWN).total() - start).abs();
        assert!(drift < 0.5 * h * (2.0 * 9.81f64).sqrt() * 9.81, "{drift}");
    }
}

/// Two particles on two rods against the textbook equations, both by the same Runge-Kutta: the difference is round-off,
/// which one second of chaotic motion amplifies by less than 10³.
#[test]
fn a_double_pendulum_follows_the_textbook() {
    let (m1, m2, l1, l2, g) = (1.3, 0.8, 0.6, 0.9, 9.81);
    let kind = JointKind::Revolute(Vec3::z());
    let bones = vec![
        bone("upper", Parent::World, Vec3::zeros(), kind.clone(), particle(m1, -Vec3::y() * l1)),
        bone("lower", Parent::Index(0), -Vec3::y() * l1, kind, particle(m2, -Vec3::y() * l2)),
    ];
    let skeleton = Skeleton::build(&SkeletonDesc { bones }).unwrap();
    let mut state = SkeletonState { q: vec![1.9, 0.7], v: vec![0.0, -1.0] };

    // absolute angles (a, b) and their rates
    let textbook = |y: [f64; 4]| {
        let [a, b, u, v] = y;
        let (s, c) = (real::sin(a - b), real::cos(a - b));
        let m = m1 + m2;
        let det = l1 * l2 * (m * m2 - m2 * m2 * c * c);
        let f = -m2 * l2 * v * v * s - m * g * real::sin(a);
        let k = m2 * l1 * u * u * s - m2 * g * real::sin(b);
        [u, v, (f * m2 * l2 - m2 * l2 * c * k) / det, (m * l1 * k - m2 * l1 * c * f) / det]
    };

    // both by Runge-Kutta
    let mut y = [1.9, 2.6, 0.0, -1.0];
    let h = 1e-3;
    let plus = |y: [f64; 4], k: [f64; 4], s: f64| [0, 1, 2, 3].map(|i| y[i] + s * k[i]);
    for _ in 0..1000 {
        runge_kutta(&skeleton, &mut state, DOWN, h);
        let k1 = textbook(y);
        let k2 = textbook(plus(y, k1, h / 2.0));
        let k3 = textbook(plus(y, k2, h / 2.0));
        let k4 = textbook(plus(y, k3, h));
        y = [0, 1, 2, 3].map(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    assert!((state.q[0] - y[0]).abs() < 1e-10 && (state.q[0] + state.q[1] - y[1]).abs() < 1e-10);
}

/// A heavy top precesses steadily at Ω where (C − A) Ω² cos θ + C Ω s = m g l, with spin s about its axis in the frame that
/// precesses: then there is no nutation. Accelerations must be those of steady precession.
#[test]
fn a_spinning_top_precesses_steadily() {
    // principal moments about the tip; axis along y
    let (mass, l, axial, across) = (1.2, 0.3, 0.02, 0.15);
    let central = across - mass * l * l;
    let tensor = Mat3::from_diagonal(&Vec3::new(central, axial, central));
    let top = MassProperties { mass, center: Vec3::y() * l, tensor };
    let skeleton = Skeleton::build(&SkeletonDesc {
        bones: vec![bone("top", Parent::World, Vec3::zeros(), JointKind::Ball, top)],
    })
    .unwrap();
    let (tilt, precession): (f64, f64) = (0.6, 2.5);
    let cosine = real::cos(tilt);
    let spin = (mass * 9.81 * l - (axial - across) * precession * precession * cosine) / (axial * precession);

    // axis tilted about x; body rate = precession about the world's y plus spin about the axis
    let mut state = SkeletonState::at_rest(&skeleton);
    state.set_chart_of(&skeleton, BoneId(0), &[tilt, 0.0, 0.0]);
    let up_in_body = Vec3::new(0.0, cosine, -real::sin(tilt));
    let rate = up_in_body * precession + Vec3::y() * spin;
    state.v.copy_from_slice(rate.as_slice());
    let mut dynamics = Dynamics::default();
    accelerations(&skeleton, &state, DOWN, &mut dynamics);
    // in the body frame the vertical rotates about the axis at −spin: ẇ = −spin ŷ × Ω up
    let wanted = (Vec3::y() * -spin).cross(&(up_in_body * precession));
    assert!((Vec3::from_column_slice(&dynamics.acceleration) - wanted).norm() < 1e-11 * wanted.norm());

    // after one period of precession the axis returns; the second-order step has a relative phase error of
    // (spin h)²/12 over the 200 radians of the body, 10⁻⁵
    let h = 1e-5;
    let steps = (2.0 * PI / precession / h) as usize;
    state.v.iter_mut().zip(&dynamics.acceleration).for_each(|(v, a)| *v -= 0.5 * h * a);
    let (mut kinematics, drives) = (Kinematics::default(), Drives::limp(&skeleton));
    let loads = Loads { gravity: DOWN, ..Loads::default() };
    let mut nutation: f64 = 0.0;
    for _ in 0..steps {
        kinematics.update(&skeleton, &state);
        nutation = nutation.max((kinematics.point(BoneId(0), &Vec3::y()).y - cosine).abs());
        dynamics.solve_centered(&skeleton, &kinematics, &state, &drives, &loads, h).unwrap();
        state.advance(&skeleton, &dynamics.acceleration, h);
    }
    assert!(nutation < 1e-5, "{nutation:.1e}");
    kinematics.update(&skeleton, &state);
    let axis = kinematics.point(BoneId(0), &Vec3::y());
    assert!((axis - Vec3::new(0.0, cosine, real::sin(tilt))).norm() < 5e-5, "{axis}");
}

/// A freely tumbling rock conserves its energy for a thousand revolutions, to the square of the angle of a step.
#[test]
fn a_tumbling_rock_conserves_energy_with_centered_velocities() {
    let mass = MassProperties {
        mass: 1.0,
        center: Vec3::zeros(),
        tensor: Mat3::from_diagonal(&Vec3::new(1.0, 1.5, 2.0)),
    };
    let rock = bone("rock", Parent::World, Vec3::zeros(), JointKind::Ball, mass);
    let skeleton = Skeleton::build(&SkeletonDesc { bones: vec![rock] }).unwrap();
    let mut state = SkeletonState::at_rest(&skeleton);
    state.v.copy_from_slice(&[0.5, 6.0, 0.3]);
    let before = energies(&skeleton, &state, Vec3::zeros()).kinetic;
    let (mut kinematics, mut dynamics, drives) =
        (Kinematics::default(), Dynamics::default(), Drives::limp(&skeleton));
    let h: f64 = 1e-3;
    for _ in 0..1_000_000 {
        kinematics.update(&skeleton, &state);
        dynamics.solve_centered(&skeleton, &kinematics, &state, &drives, &Loads::default(), h).unwrap();
        state.advance(&skeleton, &dynamics.acceleration, h);
    }
    let after = energies(&skeleton, &state, Vec3::zeros()).kinetic;
    assert!((after / before - 1.0).abs() < 36.0 * h * h, "{}", after / before - 1.0);
}

/// Internal torques change neither momentum. The rate is a central difference along the computed motion, so no integration
/// error enters.
#[test]
fn internal_torques_conserve_both_momenta() {
    for seed in 0..30 {
        let mut random = Random(seed);
        let mut desc = random.tree(8);
        for (i, bone) in desc.bones.iter_mut().enumerate() {
            if bone.parent == Parent::World {
                bone.parent = Parent::Index(0);
            }
            if i == 0 {
                bone.joint = JointDesc::of(JointKind::Free);
                bone.parent = Parent::World;
            }
            // rotors would have momentum of their own
            bone.joint.dofs.iter_mut().for_each(|dof| dof.armature = 0.0);
        }
        let skeleton = Skeleton::build(&desc).unwrap();
        let state = random.state(&skeleton);
        let mut drives = common::random_drives(&mut random, &skeleton);
        drives.set(&skeleton, BoneId(0), JointDrive::Torque(&[0.0; 6])).unwrap();
        let mut kinematics = Kinematics::default();
        kinematics.update(&skeleton, &state);
        let mut dynamics = Dynamics::default();
        dynamics.solve(&skeleton, &kinematics, &state, &drives, &Loads::default()).unwrap();

        // q(t) = q exp(t v + t²/2 a) is accurate to second order in the chart, so the odd part of the momentum is too
        let momentum = |t: f64| {
            let mut moved = state.clone();
            for i in 0..moved.v.len() {
                moved.v[i] += 0.5 * t * dynamics.acceleration[i];
            }
            moved.move_along_velocity(&skeleton, t);
            for i in 0..moved.v.len() {
                moved.v[i] = state.v[i] + t * dynamics.acceleration[i];
            }
            let mut kinematics = Kinematics::default();
            kinematics.update(&skeleton, &moved);
            Momentum::of(&skeleton, &kinematics)
        };
        let h = 1e-5;
        let (ahead, behind) = (momentum(h), momentum(-h));
        // central difference: h² times third derivatives of order 10³, and round-off 10⁻¹⁴ / h
        let size = 1.0 + ahead.linear.norm() + ahead.angular.norm();
        assert!((ahead.linear - behind.linear).norm() / (2.0 * h) < 1e-6 * size, "seed {seed}");
        assert!((ahead.angular - behind.angular).norm() / (2.0 * h) < 1e-6 * size, "seed {seed}");
    }
}

/// Integration conserves momentum to first order in the step: halving it halves the drift.
#[test]
fn the_momentum_drift_of_a_floating_tree_is_first_order() {
    // a trunk with two arms
    let kind = JointKind::Ball;
    let mass =
        MassProperties { mass: 1.0, center: Vec3::x() * 0.2, tensor: Mat3::from_diagonal_element(0.02) };
    let bones = vec![
        bone("trunk", Parent::World, Vec3::zeros(), JointKind::Free, mass),
        bone("left", Parent::Index(0), Vec3::x() * 0.4, kind.clone(), mass),
        bone("right", Parent::Index(0), -Vec3::x() * 0.1, kind, mass),
    ];
    let skeleton = Skeleton::build(&SkeletonDesc { bones }).unwrap();
    let mut start = SkeletonState::at_rest(&skeleton);
    start.v.copy_from_slice(&[0.3, -0.2, 0.1, 0.5, 1.0, -0.4, 1.0, -2.0, 0.5, 0.2, 0.9, 1.1]);
    let momentum = |state: &SkeletonState| {
        let mut kinematics = Kinematics::default();
        kinematics.update(&skeleton, state);
        Momentum::of(&skeleton, &kinematics)
    };
    let before = momentum(&start);

    // with oscillating torques at one shoulder
    let drift = |h: f64, steps: usize| {
        let mut state = start.clone();
        let mut drives = Drives::limp(&skeleton);
        let (mut kinematics, mut dynamics) = (Kinematics::default(), Dynamics::default());
        for k in 0..steps {
            let swing = 0.2 * real::sin(5.0 * h * k as f64);
            drives.set(&skeleton, BoneId(1), JointDrive::Torque(&[swing, -swing, 0.5 * swing])).unwrap();
            kinematics.update(&skeleton, &state);
            dynamics.solve(&skeleton, &kinematics, &state, &drives, &Loads::default()).unwrap();
            state.advance(&skeleton, &dynamics.acceleration, h);
        }
        let after = momentum(&state);
        (after.linear - before.linear).norm() + (after.angular - before.angular).norm()
    };
    let (coarse, fine) = (drift(1e-3, 1000), drift(5e-4, 2000));
    assert!(coarse < 1e-2 && (coarse / fine - 2.0).abs() < 0.1, "{coarse:.2e} {fine:.2e}");
}

/// Each step normalises the quaternion, so errors do not accumulate: an ε or two after a million.
#[test]
fn quaternions_stay_unit_over_a_million_steps() {
    let mass = MassProperties {
        mass: 1.0,
        center: Vec3::zeros(),
        tensor: Mat3::from_diagonal(&Vec3::new(1.0, 1.5, 2.0)),
    };
    let skeleton = Skeleton::build(&SkeletonDesc {
        bones: vec![bone("rock", Parent::World, Vec3::zeros(), JointKind::Free, mass)],
    })
    .unwrap();
    let mut state = SkeletonState::at_rest(&skeleton);
    state.v.copy_from_slice(&[0.1, 0.0, 0.0, 0.5, 3.0, 0.01]);
    let (mut kinematics, mut dynamics, drives) =
        (Kinematics::default(), Dynamics::default(), Drives::limp(&skeleton));
    for _ in 0..1_000_000 {
        kinematics.update(&skeleton, &state);
        dynamics.solve(&skeleton, &kinematics, &state, &drives, &Loads::default()).unwrap();
        state.advance(&skeleton, &dynamics.acceleration, 1e-4);
    }
    let norm = state.q[3..7].iter().map(|x| x * x).sum::<f64>().sqrt();
    assert!((norm - 1.0).abs() <= 2.0 * f64::EPSILON, "{norm}");
    // the centre moves on a straight line, up to a million roundings
    assert!((state.q[0] - 10.0).abs() < 1e-9 && state.v[0] == 0.1);
}

/// A damper a thousand times stiffer than an explicit step allows: taken implicitly it brings the joint to rest.
#[test]
fn implicit_stiff_springs_and_dampers_are_stable() {
    let mut hung = bone("rod", Parent::World, Vec3::zeros(), JointKind::Ball, particle(1.0, -Vec3::y()));
    hung.mass = MassDesc::Given(MassProperties {
        mass: 1.0,
        center: -Vec3::y(),
        tensor: Mat3::from_diagonal_element(0.1),
    });
    hung.joint = hung.joint.with(DofDesc { rest: 0.2, stiffness: 1e6, damping: 1e5, ..DofDesc::default() });
    let skeleton = Skeleton::build(&SkeletonDesc { bones: vec![hung] }).unwrap();
    let mut state = SkeletonState::at_rest(&skeleton);
    state.v.copy_from_slice(&[3.0, -1.0, 2.0]);
    let (mut kinematics, mut dynamics, drives) =
        (Kinematics::default(), Dynamics::default(), Drives::limp(&skeleton));
    let h = 0.01;
    for _ in 0..1000 {
        kinematics.update(&skeleton, &state);
        let loads = Loads { gravity: DOWN, wrenches: &[], passive_step: h };
        dynamics.solve(&skeleton, &kinematics, &state, &drives, &loads).unwrap();
        state.advance(&skeleton, &dynamics.acceleration, h);
    }
    // gravity deflects the spring by m g l / k
    for x in state.chart_of(&skeleton, BoneId(0)) {
        assert!((x - 0.2).abs() < 2.0 * 9.81 / 1e6, "{x}");
    }
    assert!(state.v.iter().all(|v| v.abs() < 1e-6));
}

/// A hinge that falls onto its stop comes to rest there, deflected by the weight over the stiffness.
#[test]
fn stops_arrest_a_falling_limb() {
    let mut limb =
        bone("limb", Parent::World, Vec3::zeros(), JointKind::Revolute(Vec3::z()), particle(1.0, Vec3::x()));
    limb.joint = limb.joint.with(DofDesc {
        lower: -0.5,
        limit_stiffness: 1e4,
        limit_damping: 50.0,
        ..DofDesc::default()
    });
    let skeleton = Skeleton::build(&SkeletonDesc { bones: vec![limb] }).unwrap();
    let mut state = SkeletonState::at_rest(&skeleton);
    let (mut kinematics, mut dynamics, drives) =
        (Kinematics::default(), Dynamics::default(), Drives::limp(&skeleton));
    for _ in 0..10_000 {
        kinematics.update(&skeleton, &state);
        let loads = Loads { gravity: DOWN, wrenches: &[], passive_step: 1e-3 };
        dynamics.solve(&skeleton, &kinematics, &state, &drives, &loads).unwrap();
        state.advance(&skeleton, &dynamics.acceleration, 1e-3);
    }
    let sag = 9.81 * real::cos(0.5) / 1e4;
    assert!((state.q[0] + 0.5 + sag).abs() < 1e-2 * sag, "{}", state.q[0]);
}

/// The force of a kinematic root at rest is the weight of the tree.
#[test]
fn the_force_of_a_kinematic_root_is_the_weight() {
    let mut random = Random(8);
    let mut desc = random.tree(7);
    desc.bones.iter_mut().for_each(|bone| {
        if bone.parent == Parent::World {
            bone.parent = Parent::Index(0);
        }
    });
    desc.bones[0].joint = JointDesc::of(JointKind::Free);
    desc.bones[0].parent = Parent::World;
    desc.bones[0].parent_from_joint = sinew_math::Isometry::identity();
    let skeleton = Skeleton::build(&desc).unwrap();
    let mut state = random.state(&skeleton);
    state.v.fill(0.0);
    let mut kinematics = Kinematics::default();
    kinematics.update(&skeleton, &state);
    let mut dynamics = Dynamics::default();
    let loads = Loads { gravity: DOWN, ..Loads::default() };
    dynamics.solve(&skeleton, &kinematics, &state, &Drives::coasting(&skeleton), &loads).unwrap();
    let force = Vec3::from_column_slice(&dynamics.torque[..3]);
    assert!((force + DOWN * skeleton.mass()).norm() < 1e-12 * force.norm());
}
