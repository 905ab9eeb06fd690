//! Two-way coupling of bones and flesh.

use sinew::math::{Isometry, real};
use sinew::prelude::*;
use sinew::sim::Rig;

const LENGTH: f64 = 0.6;
const WIDTH: f64 = 0.1;
pub(crate) const FRAME: f64 = 1.0 / 60.0;

/// A bar of flesh along x with a chain of bones on its axis.
pub(crate) struct Worm {
    pub(crate) bones: usize,
    pub(crate) root: JointKind,
    /// Density of the bones (kg/m³).
    pub(crate) density: f64,
    pub(crate) damping: f64,
    pub(crate) gravity: Vec3,
}

impl Default for Worm {
    fn default() -> Worm {
        Worm { bones: 3, root: JointKind::Free, density: 1500.0, damping: 0.2, gravity: Vec3::zeros() }
    }
}

impl Worm {
    pub(crate) fn model(&self) -> Model {
        Model::build(&self.world()).expect("a sound world")
    }

    pub(crate) fn world(&self) -> WorldDesc {
        let segment = LENGTH / self.bones as f64;
        let shape = SolidShape::Capsule {
            from: Vec3::x() * 0.15 * segment,
            to: Vec3::x() * 0.85 * segment,
            radius: 0.02,
        };
        let bone = |i: usize| BoneDesc {
            name: format!("bone {i}"),
            parent: if i == 0 { Parent::World } else { Parent::Index(i - 1) },
            parent_from_joint: Isometry::translation(if i == 0 { 0.0 } else { segment }, 0.0, 0.0),
            joint: JointDesc::of(if i == 0 { self.root.clone() } else { JointKind::Ball }),
            mass: MassDesc::Solid { shape: shape.clone(), density: self.density },
        };
        let bones = (0..self.bones).map(bone).collect();
        let rig = RigDesc { name: "worm".into(), skeleton: SkeletonDesc { bones } };
        let mesh = sinew::mesh::shapes::beam(4, [LENGTH, WIDTH, WIDTH]);
        let material = Material::soft_solid(1e4, 0.4, 1000.0, self.damping);
        let body = BodyDesc {
            attachment: Some(AttachmentDesc::by_shape("worm")),
            sag: Sag::Free,
            ..super::bodies::loose(mesh, material)
        };
        WorldDesc { gravity: self.gravity, bodies: vec![body], rigs: vec![rig], ..WorldDesc::default() }
    }
}

/// The state with joints bent about given axes by given angles (rad) at given rates (rad/s), and the root at rest.
fn bent(rig: &Rig, bends: &[(Vec3, f64, f64)]) -> SkeletonState {
    let mut state = SkeletonState::at_rest(&rig.skeleton);
    for (i, (axis, angle, rate)) in bends.iter().enumerate() {
        let bone = BoneId(i as u32 + 1);
        state.set_chart_of(&rig.skeleton, bone, (axis * *angle).as_slice());
        let v = rig.skeleton.bone(bone).joint.v();
        state.v[v].copy_from_slice((axis * *rate).as_slice());
    }
    state
}

/// A wriggling motion with a smooth start.
pub(crate) fn wriggle(rig: &Rig, t: f64) -> SkeletonState {
    let bend = |axis: Vec3, phase: f64| {
        let (s, c) = (real::sin(9.0 * t + phase), real::cos(9.0 * t + phase));
        let grown = 1.0 - real::exp(-t * t);
        (axis, 0.5 * grown * s, 0.5 * (2.0 * t * (1.0 - grown) * s + 9.0 * grown * c))
    };
    bent(rig, &[bend(Vec3::z(), 0.0), bend(Vec3::new(0.0, 0.8, 0.6), 1.0)])
}

/// Simulates a number of frames with a free root and joints along a path.
pub(crate) fn play(
    model: &Model,
    state: &mut State,
    frames: usize,
    pose: impl Fn(&Rig, f64) -> SkeletonState,
) {
    let mut stepper = Stepper::default();
    let mut control = Control::still(model);
    control.rigs[0].drives[0] = DriveKind::Torque;
    for _ in 0..frames {
        control.rigs[0].from = pose(&model.rigs()[0], state.time);
        control.rigs[0].to = pose(&model.rigs()[0], state.time + FRAME);
        let report = stepper.step(model, &control, FRAME, state).expect("holds");
        assert_eq!((report.retries, report.max_inverted), (0, 0));
    }
}

/// Without gravity and with internal joint drives only, linear and angular momentum are conserved. Bones and dampers conserve them to double round-off.
/// Elements are computed in single precision: their forces sum to zero exactly, their torques to 6e-8 of force times size. Some 2000
/// elements of up to 1 N and 0.025 m, at random, over 600 sub-steps a second, give 2000^½ · 600^½ · 6e-8 · 0.025 · 1.7e-3 s = 3e-9 N m s.
#[test]
fn floating_worm_conserves_momentum() {
    let model = Worm::default().model();
    let mut state = State::at_rest(&model);
    state.node_v.iter_mut().for_each(|v| *v = Vec3::new(0.3, -0.2, 0.1));
    state.rigs[0].v[..3].copy_from_slice(&[0.3, -0.2, 0.1]);
    state.restart(&model);
    let start = (state.momentum(&model), state.angular_momentum(&model));
    play(&model, &mut state, 180, wriggle);
    let speed = state.node_v.iter().map(|v| (v - Vec3::new(0.3, -0.2, 0.1)).norm()).fold(0.0, f64::max);
    assert!(speed > 0.5, "the worm moves at {speed} m/s against itself");
    let linear = (state.momentum(&model) - start.0).norm() / 3.0;
    let angular = (state.angular_momentum(&model) - start.1).norm() / 3.0;
    // 1,800 sub-steps of sums over 600 nodes, each with a random error of ε of a momentum of 5 kg m/s: 1000 · 2e-16 · 5
    assert!(linear < 1e-12, "{linear:e}");
    assert!(angular < 1e-8, "{angular:e}");
}

/// The mass of nodes fixed to bones is counted once.
#[test]
fn total_mass_is_that_of_bones_and_flesh() {
    let worm = Worm::default();
    let model = worm.model();
    let free: f64 = (0..model.node_count())
        .filter(|node| model.bone_of_node(*node).is_none())
        .map(|node| model.node_mass()[node])
        .sum();
    let counted = free + model.rigs()[0].skeleton.mass();
    let capsule = core::f64::consts::PI * 0.02 * 0.02 * (0.7 * LENGTH / 3.0 + 4.0 / 3.0 * 0.02);
    let given = 1000.0 * LENGTH * WIDTH * WIDTH + 3.0 * worm.density * capsule;
    // sums of some hundred terms, a few ε each
    assert!((counted - given).abs() < 1e-13 * given, "{counted} {given}");
    assert!((model.mass() - given).abs() < 1e-13 * given);
    assert!(model.rigs()[0].skeleton.mass() > 1.01 * model.rigs()[0].bone_mass, "flesh is fixed to bones");
}

/// The flesh on a heavy dynamic bone moves like that on a kinematic bone: the effect of the flesh on the bone is inversely proportional to the bone's
/// mass.
#[test]
fn two_way_coupling_tends_to_one_way_for_heavy_bones() {
    let play = |density: f64, free: bool| {
        let model = Worm { bones: 1, density, ..Worm::default() }.model();
        let mut state = State::at_rest(&model);
        // an initial vibration of the flesh pulls the bone to one side
        for (x, v) in state.node_x.iter().zip(&mut state.node_v) {
            *v = Vec3::new(0.0, 1.0 + 2.0 * x.x, 0.0);
        }
        state.restart(&model);
        let mut control = Control::still(&model);
        if free {
            control.rigs[0] = RigControl::limp(&model.rigs()[0]);
        }
        let mut stepper = Stepper::default();
        for _ in 0..30 {
            stepper.step(&model, &control, FRAME, &mut state).expect("holds");
        }
        state.node_x
    };
    let prescribed = play(1e3, false);
    let off = |density: f64| {
        let free = play(density, true);
        free.iter().zip(&prescribed).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
    };
    let (heavy, heavier) = (off(1e7), off(1e8));
    assert!(heavy > 1e-6 && heavy < 1e-2, "{heavy}");
    // the next term is the square of the mass ratio, under 1 % here
    assert!((heavy / heavier - 10.0).abs() < 0.2, "{heavy:e} {heavier:e}");
}

/// A bar hangs from its end, with its lower third fixed to a bone. At ν = 0 every cross-section stretches independently, and a St. Venant-Kirchhoff bar
/// carries N at the stretch λ with E/2 (λ³ − λ) A = N.
#[test]
fn bone_in_a_flesh_bar_sags_to_the_static_solution() {
    let (young, density, bone_mass) = (2e4, 1000.0, 1.5);
    let (bolted, area, g) = (0.4, WIDTH * WIDTH, 9.81);

    // a weight in the lower third of a bar that hangs along x
    let rig = RigDesc {
        name: "weight".into(),
        skeleton: SkeletonDesc {
            bones: vec![BoneDesc {
                name: "weight".into(),
                parent: Parent::World,
                parent_from_joint: Isometry::translation(0.5, 0.0, 0.0),
                joint: JointDesc::of(JointKind::Free),
                mass: MassDesc::Given(sinew::skeleton::MassProperties {
                    mass: bone_mass,
                    center: Vec3::zeros(),
                    tensor: sinew::math::Mat3::identity() * 0.01,
                }),
            }],
        },
    };
    let region = Region::Box { min: Vec3::new(bolted - 1e-6, -1.0, -1.0), max: Vec3::new(1.0, 1.0, 1.0) };
    let tie = TieDesc { bone: Some("weight".into()), hold: Hold::Region(region) };
    let body = BodyDesc {
        pins: vec![PinDesc { region: Region::End { direction: -Vec3::x(), fraction: 0.01 } }],
        attachment: Some(AttachmentDesc { ties: vec![tie], ..AttachmentDesc::by_shape("weight") }),
        sag: Sag::Free,
        ..super::bodies::loose(
            sinew::mesh::shapes::beam(4, [LENGTH, WIDTH, WIDTH]),
            Material::soft_solid(young, 0.0, density, 1.0),
        )
    };
    let world =
        WorldDesc { gravity: Vec3::x() * g, bodies: vec![body], rigs: vec![rig], ..WorldDesc::default() };

    // simulated to rest
    let model = Model::build(&world).expect("sound");
    let mut control = Control::still(&model);
    control.rigs[0] = RigControl::limp(&model.rigs()[0]);
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::default();
    for _ in 0..1500 {
        stepper.step(&model, &control, FRAME, &mut state).expect("holds");
    }
    let sunk = state.rigs[0].q[0];
    assert!(state.rigs[0].v.iter().all(|v| v.abs() < 1e-6), "at rest: {:?}", state.rigs[0].v);

    // the closed form: Newton's method for the stretch of each slice, summed
    let slices = 1000;
    let stretch = |below: f64| {
        let pull = (bone_mass + density * area * below) * g / (0.5 * young * area);
        let mut stretch = 1.0;
        for _ in 0..50 {
            stretch -= (stretch * stretch * stretch - stretch - pull) / (3.0 * stretch * stretch - 1.0);
        }
        stretch
    };
    let slice = bolted / f64::from(slices);
    let exact: f64 =
        (0..slices).map(|i| slice * (stretch(LENGTH - slice * (f64::from(i) + 0.5)) - 1.0)).sum();
    // 16 elements approximate the load piecewise, with an error of (1/16)² of its variation; single precision is far below that
    assert!((sunk - exact).abs() < 1e-3 * exact, "{sunk} {exact}");
}

/// A kinematic joint keeps an arm of bone and flesh level: at rest its torque is the moment of all weights, with the flesh where it has sagged to.
#[test]
fn torque_of_a_fixed_joint_balances_the_moment_of_all_weights() {
    let worm = Worm {
        bones: 1,
        root: JointKind::Revolute(Vec3::z()),
        damping: 1.0,
        gravity: -Vec3::y() * 9.81,
        ..Worm::default()
    };
    let model = worm.model();
    let control = Control::still(&model);
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::default();
    for _ in 0..600 {
        stepper.step(&model, &control, FRAME, &mut state).expect("holds");
    }
    let free = (0..model.node_count()).filter(|node| model.bone_of_node(*node).is_none());
    let flesh: f64 = free.map(|node| model.node_mass()[node] * state.node_x[node].x).sum();
    let bone = &model.rigs()[0].skeleton.bones()[0].mass;
    let moment = 9.81 * (flesh + bone.mass * bone.center.x);
    let torque = stepper.torques(0)[0];
    // the remaining oscillation, and single precision of some thousand forces
    assert!((torque - moment).abs() < 1e-5 * moment, "{torque} {moment}");
    let sag = state.node_x.iter().zip(model.node_rest()).map(|(x, rest)| rest.y - x.y).fold(0.0, f64::max);
    assert!(sag > 1e-3, "the flesh hangs through by {sag} m");
}

/// The rotation of the root about its long axis, and in total (rad), after its joint went through a closed circle of bends.
fn cat(direction: f64) -> (f64, f64) {
    let worm = Worm { bones: 2, gravity: -Vec3::y() * 9.81, ..Worm::default() };
    let model = worm.model();
    let pose = |rig: &Rig, t: f64| {
        // bends by `bend` in a direction that rotates once between 0.5 and 1.5 s
        let smooth = |s: f64| {
            let s = s.clamp(0.0, 1.0);
            (s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s))
        };
        let (up, up_rate) = smooth(t / 0.5);
        let (down, down_rate) = smooth((t - 1.5) / 0.5);
        let (round, round_rate) = smooth(t - 0.5);
        let (bend, bend_rate) = (0.8 * (up - down), 0.8 * 2.0 * (up_rate - down_rate));
        let (angle, rate) =
            (direction * core::f64::consts::TAU * round, direction * core::f64::consts::TAU * round_rate);
        let towards = Vec3::new(0.0, real::cos(angle), real::sin(angle));
        let aside = Vec3::new(0.0, -real::sin(angle), real::cos(angle));
        let theta = towards * bend;
        let theta_rate = towards * bend_rate + aside * (bend * rate);
        let mut state = SkeletonState::at_rest(&rig.skeleton);
        let bone = BoneId(1);
        state.set_chart_of(&rig.skeleton, bone, theta.as_slice());
        // ω = Jr θ̇, by a central difference of the rotation
        let h = 1e-6;
        let [before, after] = [-h, h].map(|s| sinew::math::so3::exp(&(theta + theta_rate * s)));
        let omega = sinew::math::so3::log(&(before.inverse() * after)) / (2.0 * h);
        let v = rig.skeleton.bone(bone).joint.v();
        state.v[v].copy_from_slice(omega.as_slice());
        state
    };
    let mut state = State::at_rest(&model);
    play(&model, &mut state, 150, pose);
    let center = state.momentum(&model) / model.mass();
    assert!((center - model.gravity() * state.time).norm() < 1e-12, "falls freely: {center:?}");
    let turned = Vec3::from_column_slice(&state.rigs[0].chart_of(&model.rigs()[0].skeleton, BoneId(0))[3..6]);
    (turned.x, turned.norm())
}

/// The falling cat: with zero angular momentum, a body that goes through a closed cycle of shapes ends up rotated, and oppositely for the reversed cycle
/// (geometric phase).
#[test]
fn falling_cat_rotates_by_a_cycle_of_shapes() {
    let ((there, in_all), (back, _)) = (cat(1.0), cat(-1.0));
    assert!(there.abs() > 0.3 && in_all < 1.01 * there.abs(), "{there} of {in_all}");
    // the flesh still vibrates at the end of either, by some percent of the rotation
    assert!((there + back).abs() < 0.1 * there.abs(), "{there} {back}");
}

/// Without damping, drives are the only source of energy, so their accounted work equals the total energy. With symplectic steps the energy oscillates by
/// about h ω of the elastic part, some percent for the slow motion here.
#[test]
fn work_of_joints_equals_the_total_energy() {
    let model = Worm { damping: 0.0, ..Worm::default() }.model();
    let mut state = State::at_rest(&model);
    play(&model, &mut state, 120, wriggle);
    let energies = state.energies(&model);
    let total = energies.kinetic + energies.elastic + energies.potential;
    assert!(total > 0.2, "{energies:?}");
    assert!((total - state.supplied_energy).abs() < 0.03 * total, "{total} {}", state.supplied_energy);
}

/// Limp joints, then fixed at their current coordinates, then limp again, in one run: nothing jumps.
#[test]
fn drives_can_change_during_a_run() {
    let model = Worm { root: JointKind::Ball, gravity: -Vec3::y() * 9.81, ..Worm::default() }.model();
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::default();
    let mut control = Control::still(&model);
    let mut fastest = [0.0f64; 3];
    for frame in 0..90 {
        if (30..60).contains(&frame) {
            // brought to rest at their coordinates within the first of these frames
            let mut hold = RigControl::hold(&model.rigs()[0]);
            hold.from = state.rigs[0].clone();
            hold.to = state.rigs[0].clone();
            hold.to.v.fill(0.0);
            control.rigs[0] = hold;
        } else {
            control.rigs[0] = RigControl::limp(&model.rigs()[0]);
        }
        stepper.step(&model, &control, FRAME, &mut state).expect("holds");
        let phase = &mut fastest[frame / 30];
        *phase = state.node_v.iter().map(|v| v.norm()).fold(*phase, f64::max);
        if frame == 59 {
            assert!(state.rigs[0].v.iter().all(|v| v.abs() < 1e-9), "at rest");
        }
    }
    // stopping the swinging bar does not accelerate its flesh; then it falls again from there
    assert!(fastest[0] > 4.0 && fastest[1] < 1.2 * fastest[0] && fastest[2] > 1.0, "{fastest:?}");
}

/// Bones of negligible mass with all dampers of their flesh: the damping of such a bone is limited, otherwise its rotation would grow with every
/// sub-step.
#[test]
fn damping_of_very_light_bones_is_stable() {
    let model = Worm { bones: 1, density: 0.5, damping: 1.0, ..Worm::default() }.model();
    let mut state = State::at_rest(&model);
    for (x, v) in state.node_x.iter().zip(&mut state.node_v) {
        *v = Vec3::x().cross(x) * 5.0;
    }
    state.restart(&model);
    let control = Control { rigs: vec![RigControl::limp(&model.rigs()[0])], ..Control::default() };
    let mut stepper = Stepper::default();
    let start = state.angular_momentum(&model);
    for _ in 0..60 {
        let report = stepper.step(&model, &control, FRAME, &mut state).expect("holds");
        assert_eq!(report.retries, 0);
    }
    // the twist decays to a common rotation that conserves momentum; torques of elements are in single precision
    assert!((state.angular_momentum(&model) - start).norm() < 1e-6 * start.norm());
}

/// The energy of joint springs and the work of loads on nodes fixed to bones may become kinetic energy: the energy check accounts for both.
#[test]
fn energy_check_accounts_for_joint_springs_and_loads_on_bones() {
    // a bent joint with a spring
    let mut world = Worm { bones: 2, root: JointKind::Fixed, ..Worm::default() }.world();
    for bone in &mut world.rigs[0].skeleton.bones {
        bone.joint.dofs = vec![DofDesc { stiffness: 20.0, ..DofDesc::default() }];
    }
    world.rigs[0].skeleton.bones[0].joint.dofs.clear();
    let model = Model::build(&world).expect("sound");
    let mut state = State::at_rest(&model);
    state.rigs[0] = bent(&model.rigs()[0], &[(Vec3::z(), 1.2, 0.0)]);
    state.carry_flesh(&model);
    let control = Control { rigs: vec![RigControl::limp(&model.rigs()[0])], ..Control::default() };
    let mut stepper = Stepper::default();
    for _ in 0..10 {
        stepper.step(&model, &control, FRAME, &mut state).expect("the spring pulls");
    }
    assert!(state.energies(&model).kinetic > 0.1);

    // a load on nodes that are all fixed to one bone
    let mut world = Worm { bones: 1, ..Worm::default() }.world();
    let everywhere = Region::Ball { center: Vec3::zeros(), radius: 10.0 };
    world.bodies[0].loads = vec![LoadDesc { region: everywhere.clone(), force: Vec3::y() * 20.0 }];
    let tie = TieDesc { bone: Some("bone 0".into()), hold: Hold::Region(everywhere) };
    world.bodies[0].attachment.as_mut().unwrap().ties = vec![tie];
    let model = Model::build(&world).expect("sound");
    let mut state = State::at_rest(&model);
    let control = Control { rigs: vec![RigControl::limp(&model.rigs()[0])], ..Control::default() };
    for _ in 0..30 {
        stepper.step(&model, &control, FRAME, &mut state).expect("the load pushes");
    }
    // the impulse F t, all of it on the bone
    assert!((state.momentum(&model) - Vec3::y() * 10.0).norm() < 1e-9);
}
