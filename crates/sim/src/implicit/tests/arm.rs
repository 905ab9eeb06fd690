//! Two links in flesh, with two-way coupling.

use crate::desc::{
    AttachmentDesc, BodyDesc, CoreDesc, Hold, Region, RigDesc, Sag, ShapeDesc, TieDesc, WorldDesc,
};
use crate::implicit::{ImplicitSettings, Solver, settle};
use crate::{Control, Model, RigControl, State, Stepper};
use sinew_flesh::{Law, Material};
use sinew_math::{Isometry, Vec3};
use sinew_mesh::shapes;
use sinew_skeleton::{
    BoneDesc, DofDesc, DriveKind, Feedback, JointDesc, JointKind, MassDesc, Parent, SkeletonDesc, SolidShape,
};

/// 0.4 m of flesh around two bones of 0.2 m with hinges about y.
pub(super) fn arm(spring: f64, damping: f64) -> Model {
    Model::build(&arm_world(spring, damping, Sag::Free)).expect("sound")
}

pub(crate) fn arm_world(spring: f64, damping: f64, sag: Sag) -> WorldDesc {
    // two bones with hinges
    let bone = |name: &str, parent, at: f64| BoneDesc {
        name: name.into(),
        parent,
        parent_from_joint: Isometry::translation(
            at,
            0.05 * f64::from(at == 0.0),
            0.05 * f64::from(at == 0.0),
        ),
        joint: JointDesc {
            dofs: vec![DofDesc { stiffness: spring, damping: 0.1 * spring, ..DofDesc::default() }],
            ..JointDesc::of(JointKind::Revolute(Vec3::y()))
        },
        mass: MassDesc::Solid {
            shape: SolidShape::Capsule {
                from: Vec3::new(0.03, 0.0, 0.0),
                to: Vec3::new(0.17, 0.0, 0.0),
                radius: 0.01,
            },
            density: 2000.0,
        },
    };
    let skeleton =
        SkeletonDesc { bones: vec![bone("upper", Parent::World, 0.0), bone("lower", Parent::Index(0), 0.2)] };

    // flesh, fixed to the bones in a box around each
    let tie = |bone: &str, from: f64| TieDesc {
        bone: Some(bone.into()),
        hold: Hold::Region(Region::Box {
            min: Vec3::new(from + 0.02, 0.02, 0.02),
            max: Vec3::new(from + 0.18, 0.08, 0.08),
        }),
    };
    let mut mesh = shapes::beam(4, [0.4, 0.1, 0.1]);
    let low = mesh.nodes.iter().fold(Vec3::repeat(f64::INFINITY), |low, x| low.inf(x));
    mesh.nodes.iter_mut().for_each(|x| *x -= low);
    let body = BodyDesc {
        name: "flesh".into(),
        shape: ShapeDesc::Tets(mesh),
        material: Material { law: Law::StableNeoHookean, ..Material::soft_solid(5e4, 0.4, 1000.0, damping) },
        velocity: Vec3::zeros(),
        pins: Vec::new(),
        loads: Vec::new(),
        attachment: Some(AttachmentDesc {
            rig: "arm".into(),
            ties: vec![tie("upper", 0.0), tie("lower", 0.2)],
            skin_weights: Vec::new(),
            core: CoreDesc::EVEN,
            anchored: false,
            home: None,
        }),
        sag,
        ..BodyDesc::default()
    };

    // the world
    let rig = RigDesc { name: "arm".into(), skeleton };
    WorldDesc {
        gravity: Vec3::new(0.0, 0.0, -9.81),
        bodies: vec![body],
        rigs: vec![rig],
        ..WorldDesc::default()
    }
}

/// Balanced flesh stays where it was drawn, to the tolerance: 10⁻⁵ of its weight bends this arm by less than a micrometre.
#[test]
fn balanced_flesh_does_not_sag() {
    let model = Model::build(&arm_world(0.0, 0.5, Sag::Balanced)).expect("sound");
    let mut state = State::at_rest(&model);
    step_all(&model, &Control::still(&model), 5, &mut state);
    let off =
        state.node_x.iter().zip(model.node_rest()).map(|(x, rest)| (x - rest).norm()).fold(0.0, f64::max);
    assert!(off < 1e-6, "{off}");
}

/// The moment of the total weight about the shoulder (N m), along the joint's axis.
pub(super) fn gravity_moment(model: &Model, state: &State) -> f64 {
    let shoulder = Vec3::new(0.0, 0.05, 0.05);
    let flesh: Vec3 = (0..model.node_count())
        .filter(|&node| model.node_inverse_mass()[node] > 0.0)
        .map(|node| (state.node_x[node] - shoulder).cross(&(model.node_mass()[node] * model.gravity())))
        .sum();
    let mut kinematics = sinew_skeleton::Kinematics::default();
    let rig = &model.rigs()[0];
    kinematics.update(&rig.skeleton, &state.rigs[0]);
    let bones: Vec3 = (rig.skeleton.bones().iter().zip(kinematics.world_frames()))
        .map(|(bone, frame)| {
            (frame.point(&bone.mass.center) - shoulder).cross(&(bone.mass.mass * model.gravity()))
        })
        .sum();
    (flesh + bones).y
}

fn step_all(model: &Model, control: &Control, steps: usize, state: &mut State) -> Stepper {
    let mut stepper = Stepper::with_solver(Solver::Implicit(ImplicitSettings::ACCURATE));
    for _ in 0..steps {
        stepper.step(model, control, 1.0 / 60.0, state).expect("a step");
    }
    stepper
}

/// The driving torques of joints held still equal the moment of the weight they carry, to the tolerance of the step.
#[test]
fn holding_torque_is_the_moment_of_gravity() {
    let model = arm(0.0, 0.5);
    let control = Control::still(&model);
    let mut state = State::at_rest(&model);
    assert!(settle(&model, &control, &mut state).expect("rest").converged);
    let stepper = step_all(&model, &control, 1, &mut state);
    let (found, wanted) = (stepper.torques(0)[0], -gravity_moment(&model, &state));
    assert!((found / wanted - 1.0).abs() < 1e-3, "{found} {wanted}");
}

/// Springs in free joints carry the same moment at rest: the weight of the flesh acts through the fixed nodes.
#[test]
fn springs_carry_the_moment_of_gravity_both_ways() {
    let model = arm(40.0, 0.5);
    let control = Control { rigs: vec![RigControl::limp(&model.rigs()[0])], ..Control::still(&model) };
    let mut state = State::at_rest(&model);
    step_all(&model, &control, 400, &mut state);
    let (found, wanted) = (-40.0 * state.rigs[0].q[0], -gravity_moment(&model, &state));
    assert!((found / wanted - 1.0).abs() < 1e-3, "{found} {wanted}");
    let mut settled = State::at_rest(&model);
    let report = settle(&model, &control, &mut settled).expect("rest");
    assert!(report.converged, "{report:?}");
    assert!(
        (settled.rigs[0].q[0] - state.rigs[0].q[0]).abs() < 1e-4,
        "{report:?} {:?} {:?}",
        settled.rigs,
        state.rigs
    );
}

/// A prescribed torque accelerates the arm by Newton's law: from rest, without weight, the shoulder starts with τ over the moment of inertia of the arm; the stiff
/// arm is nearly rigid. The first step of backward Euler is then exact to second order.
#[test]
fn given_torques_accelerate_bones_and_flesh() {
    let model = arm(0.0, 0.0);
    let mut control = Control { rigs: vec![RigControl::limp(&model.rigs()[0])], ..Control::still(&model) };
    control.rigs[0].torque[0] = 3.0;
    control.rigs[0].drives[1] = DriveKind::Motion;
    let (mut implicit, mut explicit) = (State::at_rest(&model), State::at_rest(&model));
    let mut stepper = Stepper::with_solver(Solver::Implicit(ImplicitSettings::ACCURATE));
    let dt = 1.0 / 960.0;
    for _ in 0..48 {
        stepper.step(&model, &control, dt, &mut implicit).expect("a step");
    }
    let mut stepper = Stepper::default();
    for _ in 0..48 {
        stepper.step(&model, &control, dt, &mut explicit).expect("a step");
    }
    // first order in h: h/t of the displacement
    let (a, b) = (implicit.rigs[0].q[0], explicit.rigs[0].q[0]);
    assert!((a / b - 1.0).abs() < 0.06 && b.abs() > 0.01, "{a} {b}");
}

/// Feedback holds the arm at the angles of its path against its weight, as a spring does: in explicit and in implicit steps it comes to rest where the torque is k times the deviation, which with d times the speed is the torque that is reported. Half a newton metre of weight against a swing of 0.1 s has decayed to
/// less than a thousandth after two seconds. With gains a thousand times as large, far beyond what the inertia of the bones bears in a frame, it is on its path to a thousandth of the deviation before.
#[test]
fn feedback_holds_joints_at_their_path() {
    let model = arm(0.0, 0.1);
    let path = [-0.3, 0.5];
    let rest = |solver: Solver, gain: f64| {
        let mut control =
            Control { rigs: vec![RigControl::limp(&model.rigs()[0])], ..Control::still(&model) };
        let rig = &mut control.rigs[0];
        let own = |k: f64| Feedback { stiffness: gain * k, damping: gain * 0.2 * k, ..Feedback::default() };
        rig.feedback = vec![own(60.0), own(15.0)];
        rig.from.q.copy_from_slice(&path);
        rig.to.q.copy_from_slice(&path);
        let (mut state, mut stepper) = (State::at_rest(&model), Stepper::with_solver(solver));
        for _ in 0..150 {
            stepper.step(&model, &control, 1.0 / 60.0, &mut state).expect("a step");
        }
        let off = [0, 1].map(|i| path[i] - state.rigs[0].q[i]);
        for (i, k) in [60.0, 15.0].into_iter().enumerate() {
            // what is left of the speed is slow, but dampers are stiff
            let expected = gain * k * (off[i] - 0.2 * state.rigs[0].v[i]);
            let torque = stepper.torques(0)[i];
            assert!((torque - expected).abs() < 1e-4 * expected.abs(), "{i}: {torque} {expected}");
        }
        off
    };
    let explicit = rest(Solver::Explicit, 1.0);
    assert!(explicit[0].abs() > 0.05, "the weight is felt: {explicit:?}");
    for settings in [ImplicitSettings::INTERACTIVE, ImplicitSettings::ACCURATE] {
        let implicit = rest(Solver::Implicit(settings), 1.0);
        let apart = [0, 1].map(|i| (explicit[i] - implicit[i]).abs());
        assert!(apart.iter().all(|apart| *apart < 2e-3), "{explicit:?} {implicit:?}");
        let stiff = rest(Solver::Implicit(settings), 1e3);
        assert!(stiff.iter().all(|off| off.abs() < 2e-3), "{stiff:?}");
    }
    let stiff = rest(Solver::Explicit, 1e3);
    assert!(stiff.iter().all(|off| off.abs() < 2e-3), "{stiff:?}");
}

/// Flesh stays on a limb that is swung at 20 rad/s.
#[test]
fn a_fast_limb_keeps_its_flesh() {
    let model = arm(0.0, 0.1);
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::with_solver(Solver::Implicit(ImplicitSettings::INTERACTIVE));
    let mut control = Control::still(&model);
    let dt = 1.0 / 60.0;
    let mut angle = 0.0;
    for step in 0..60 {
        let speed = 20.0 * (step as f64 / 30.0).min(1.0);
        let rig = &mut control.rigs[0];
        rig.from.q[0] = angle;
        angle += speed * dt;
        rig.to.q[0] = angle;
        (rig.from.v[0], rig.to.v[0]) = (speed, speed);
        stepper.step(&model, &control, dt, &mut state).expect("a step");
    }
    assert!((state.rigs[0].q[0] - angle).abs() < 1e-9);
    // nodes fixed to bones move with the bones, to round-off
    let mut kinematics = sinew_skeleton::Kinematics::default();
    kinematics.update(&model.rigs()[0].skeleton, &state.rigs[0]);
    for (bone, frame) in kinematics.world_frames().iter().enumerate() {
        for tie in model.fixed_nodes().ties_of_bone(model.rigs()[0].bones.start + bone) {
            let off = (frame.point(&tie.place) - state.node_x[tie.node as usize]).norm();
            assert!(off < 1e-12, "node {} is {off} m off its bone", tie.node);
        }
    }
    // the farthest flesh at rest is 0.41 m from the shoulder; centrifugal force may stretch it, not tear it away
    let shoulder = Vec3::new(0.0, 0.05, 0.05);
    let far = state.node_x.iter().map(|x| (x - shoulder).norm()).fold(0.0, f64::max);
    assert!(far < 0.55, "{far}");
}

/// A limp arm swings: joints are unknowns, momentum is transferred to the flesh, and the energy only decreases.
#[test]
fn a_limp_arm_swings_and_loses_energy_only() {
    let model = arm(0.0, 0.0);
    let control = Control { rigs: vec![RigControl::limp(&model.rigs()[0])], ..Control::still(&model) };
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::with_solver(Solver::Implicit(ImplicitSettings::INTERACTIVE));
    let mut energy = f64::INFINITY;
    let mut lowest = 0.0f64;
    for _ in 0..60 {
        let report = stepper.step(&model, &control, 1.0 / 60.0, &mut state).expect("a step");
        assert!(report.solve.expect("implicit").converged, "{report:?}");
        let energies = state.energies(&model);
        let total = energies.kinetic + energies.elastic + energies.potential;
        assert!(total < energy + 1e-2, "{total} {energy}");
        energy = total;
        lowest = lowest.max(state.rigs[0].q[0]);
    }
    // it falls from the horizontal through the lowest point
    assert!(lowest > 1.5, "{lowest}");
}

/// Bones and flesh solved together are bitwise equal on one, two and five threads, in one run and in one that is interrupted and resumed with a new stepper.
#[test]
fn threads_and_interruptions_change_nothing_with_bones() {
    let model = arm(1.0, 0.1);
    let control = Control { rigs: vec![RigControl::limp(&model.rigs()[0])], ..Control::still(&model) };
    let whole = |threads: usize, pieces: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let mut state = State::at_rest(&model);
            (0..pieces).for_each(|_| drop(step_all(&model, &control, 6 / pieces, &mut state)));
            state.hash()
        })
    };
    let one = whole(1, 1);
    for (threads, pieces) in [(2, 1), (5, 1), (1, 2), (2, 3)] {
        assert_eq!(whole(threads, pieces), one, "{threads} threads, {pieces} pieces");
    }
}
