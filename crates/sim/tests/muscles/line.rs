//! Lines of action: virtual work against moment arms.

use sinew_flesh::{ForceLength, Material};
use sinew_math::{Isometry, Vec3, real};
use sinew_mesh::shapes;
use sinew_sim::desc::{
    BodyDesc, LineMuscleDesc, MuscleDesc, MuscleKind, PinDesc, Region, RigDesc, ShapeDesc, WorldDesc,
};
use sinew_sim::implicit::settle;
use sinew_sim::{Control, ImplicitSettings, Model, RigControl, Solver, State, Stepper};
use sinew_skeleton::{BoneDesc, DofDesc, JointDesc, JointKind, MassDesc, Parent, SkeletonDesc, SolidShape};

/// A fixed upper arm that hangs down to an elbow at the origin, and a forearm along x that turns about z, damped; a block of jelly is elsewhere.
pub(crate) fn two_bones(damping: f64) -> WorldDesc {
    let capsule = |from: Vec3, to: Vec3| MassDesc::Solid {
        shape: SolidShape::Capsule { from, to, radius: 0.02 },
        density: 1500.0,
    };
    let upper = BoneDesc {
        name: "upper".into(),
        parent: Parent::World,
        parent_from_joint: Isometry::translation(0.0, 0.3, 0.0),
        joint: JointDesc::of(JointKind::Fixed),
        mass: capsule(Vec3::zeros(), Vec3::new(0.0, -0.28, 0.0)),
    };
    let lower = BoneDesc {
        name: "lower".into(),
        parent: Parent::Index(0),
        parent_from_joint: Isometry::translation(0.0, -0.3, 0.0),
        joint: JointDesc {
            dofs: vec![DofDesc { damping, ..DofDesc::default() }],
            ..JointDesc::of(JointKind::Revolute(Vec3::z()))
        },
        mass: capsule(Vec3::new(0.02, 0.0, 0.0), Vec3::new(0.25, 0.0, 0.0)),
    };
    let block = BodyDesc {
        name: "block".into(),
        shape: ShapeDesc::Tets(shapes::beam(1, [0.1, 0.1, 0.1])),
        material: Material::soft_solid(1e5, 0.3, 1000.0, 0.2),
        pins: vec![PinDesc { region: Region::End { direction: -Vec3::y(), fraction: 1.0 } }],
        ..BodyDesc::default()
    };
    WorldDesc {
        gravity: Vec3::new(0.0, -9.81, 0.0),
        bodies: vec![block],
        rigs: vec![RigDesc { name: "arm".into(), skeleton: SkeletonDesc { bones: vec![upper, lower] } }],
        ..WorldDesc::default()
    }
}

const FORCE: f64 = 400.0;
/// Origin, via point and insertion.
const POINTS: [(&str, [f64; 3]); 3] =
    [("upper", [0.02, 0.28, 0.0]), ("upper", [0.03, 0.1, 0.0]), ("lower", [0.045, 0.01, 0.0])];

fn world(damping: f64) -> WorldDesc {
    let points = POINTS.iter().map(|(bone, at)| ((*bone).to_string(), Vec3::from(*at))).collect();
    let line = LineMuscleDesc { rig: "arm".into(), points };
    let curve = ForceLength { max_stress: FORCE, optimal_stretch: 0.9, passive: 1.0 };
    let muscle = MuscleDesc { name: "biceps".into(), kind: MuscleKind::Line(line), curve };
    WorldDesc { muscles: vec![muscle], ..two_bones(damping) }
}

/// Length of the line at an elbow angle (m).
fn length(angle: f64) -> f64 {
    let points = POINTS.map(|(bone, at)| {
        let at = Vec3::from(at);
        let (s, c) = (real::sin(angle), real::cos(angle));
        if bone == "lower" { Vec3::new(c * at.x - s * at.y, s * at.x + c * at.y, at.z) } else { at }
    });
    (points[1] - points[0]).norm() + (points[2] - points[1]).norm()
}

/// Where the moment of the line and that of the forearm's weight balance: −T dL/dθ = m g r cos θ, by bisection from a hanging arm up.
fn balanced_angle(model: &Model, activation: f64) -> f64 {
    let curve = ForceLength { max_stress: FORCE, optimal_stretch: 0.9, passive: 1.0 };
    let bone = &model.rigs()[0].skeleton.bones()[1].mass;
    let moment = |angle: f64| {
        let arm = (length(angle + 1e-6) - length(angle - 1e-6)) / 2e-6;
        let tension = curve.stress(length(angle) / length(0.0), activation);
        -tension * arm - bone.mass * 9.81 * bone.center.x * real::cos(angle)
    };
    let (mut low, mut high) = (-1.2, 1.5);
    assert!(moment(low) > 0.0 && moment(high) < 0.0, "{} {}", moment(low), moment(high));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if moment(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

fn limp(model: &Model, activation: f64) -> Control {
    let rigs = model.rigs().iter().map(RigControl::limp).collect();
    Control { activations: vec![[activation; 2]], rigs, ..Control::default() }
}

/// Static equilibrium is solved to 10⁻⁵ of the weight.
#[test]
fn a_line_of_action_holds_a_forearm_where_its_moment_arm_says() {
    let model = Model::build(&world(0.2)).expect("sound");
    for activation in [0.05, 0.1] {
        let mut state = State::at_rest(&model);
        settle(&model, &limp(&model, activation), &mut state).expect("rest");
        let (found, exact) = (state.rigs[0].q[0], balanced_angle(&model, activation));
        assert!((found - exact).abs() < 1e-3, "{activation}: {found} {exact}");
    }
}

/// Both integrators swing to the same angle; c/(2I) of 10 per second leaves nothing after three seconds.
#[test]
fn steps_come_to_rest_at_the_same_angle() {
    let model = Model::build(&world(0.2)).expect("sound");
    let exact = balanced_angle(&model, 0.1);
    for solver in [Solver::Explicit, Solver::Implicit(ImplicitSettings::ACCURATE)] {
        let (mut state, mut stepper) = (State::at_rest(&model), Stepper::with_solver(solver));
        for _ in 0..180 {
            stepper.step(&model, &limp(&model, 0.1), 1.0 / 60.0, &mut state).expect("no divergence");
        }
        let found = state.rigs[0].q[0];
        assert!((found - exact).abs() < 0.01, "{found} {exact}");
    }
}
