//! A forearm that muscle of flesh lifts: no joint torque.

use crate::line::two_bones;
use sinew_flesh::{ForceLength, Law, Material};
use sinew_math::{Vec3, real};
use sinew_mesh::shapes;
use sinew_sim::desc::{
    AttachmentDesc, BodyDesc, CoreDesc, FibreField, FleshMuscleDesc, Hold, MuscleDesc, MuscleKind,
    MuscleTissue, MuscleVolume, Region, ShapeDesc, TieDesc, WorldDesc,
};
use sinew_sim::implicit::settle;
use sinew_sim::{Control, Model, RigControl, State, Stepper};

const YOUNG: f64 = 3e3;
const STRESS: f64 = 200e3;
const LENGTH: f64 = 0.169;
const SIDE: f64 = 0.013;
/// Where the muscle begins on the upper arm and ends on the forearm (m).
const ORIGIN: Vec3 = Vec3::new(0.045, 0.174, 0.0);
const INSERTION: Vec3 = Vec3::new(0.045, 0.005, 0.0);

/// At rest on the ascending limb of its curve, so that force falls as the forearm rises. Otherwise weight and moment arm, which fall together, leave the angle all but open.
fn curve() -> ForceLength {
    ForceLength { max_stress: STRESS, optimal_stretch: 1.3, passive: 1.0 }
}

/// A slender muscle beside the upper arm, both of its ends fixed to bones.
fn world() -> WorldDesc {
    let mut mesh = shapes::beam(2, [LENGTH, SIDE, SIDE]);
    let (low, high) =
        mesh.nodes.iter().fold((mesh.nodes[0], mesh.nodes[0]), |(l, h), x| (l.inf(x), h.sup(x)));
    let middle = 0.5 * (low + high);
    // its length along −y
    for x in &mut mesh.nodes {
        let own = *x - middle;
        *x = 0.5 * (ORIGIN + INSERTION) + Vec3::new(own.y, -own.x, own.z);
    }
    let end = |bone: &str, low: f64, high: f64| TieDesc {
        bone: Some(bone.into()),
        hold: Hold::Region(Region::Box { min: Vec3::new(-1.0, low, -1.0), max: Vec3::new(1.0, high, 1.0) }),
    };
    let body = BodyDesc {
        name: "muscle".into(),
        shape: ShapeDesc::Tets(mesh),
        material: Material {
            law: Law::StableNeoHookean,
            poisson: 0.45,
            ..Material::soft_solid(YOUNG, 0.4, 1000.0, 0.5)
        },
        attachment: Some(AttachmentDesc {
            rig: "arm".into(),
            ties: vec![end("upper", ORIGIN.y - 1e-6, 1.0), end("lower", -1.0, INSERTION.y + 1e-6)],
            skin_weights: Vec::new(),
            core: CoreDesc::EVEN,
            anchored: false,
            home: None,
        }),
        ..BodyDesc::default()
    };
    let flesh = FleshMuscleDesc {
        body: "muscle".into(),
        volume: MuscleVolume::Body,
        ends: None,
        fibres: FibreField::Along(Vec3::y()),
        tissue: Some(MuscleTissue { young: YOUNG, poisson: 0.45 }),
    };
    let muscle =
        MuscleDesc { name: "biceps".into(), kind: MuscleKind::Flesh(Box::new(flesh)), curve: curve() };
    WorldDesc { bodies: vec![body], muscles: vec![muscle], ..two_bones(0.3) }
}

/// From origin to insertion at an elbow angle (m).
fn length(angle: f64) -> f64 {
    let (s, c) = (real::sin(angle), real::cos(angle));
    let end = Vec3::new(c * INSERTION.x - s * INSERTION.y, s * INSERTION.x + c * INSERTION.y, 0.0);
    (ORIGIN - end).norm()
}

/// Where the muscle's moment and that of weights balance, from its force-length curve, its moment arm and the linear elasticity of its tissue.
fn balanced_angle(model: &Model, activation: f64) -> f64 {
    let bone = &model.rigs()[0].skeleton.bones()[1].mass;
    let moment = |angle: f64| {
        let arm = (length(angle + 1e-6) - length(angle - 1e-6)) / 2e-6;
        let stretch = length(angle) / LENGTH;
        let tension = SIDE * SIDE * (curve().stress(stretch, activation) + YOUNG * (stretch - 1.0));
        -tension * arm - 9.81 * (bone.mass * bone.center.x * real::cos(angle))
    };
    let (mut low, mut high) = (-1.3, 1.5);
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

/// What the calculation leaves out: bending of the muscle where it is clamped to bones, its own weight, and contraction across. 3 % of a right angle, the range of the elbow.
#[test]
#[expect(clippy::print_stdout, reason = "docs/layers.md and decision 028 have numbers of it")]
fn activation_lifts_a_forearm_to_the_angle_of_its_moment_arm() {
    let model = Model::build(&world()).expect("sound");
    for activation in [0.5, 0.75, 1.0] {
        let mut state = State::at_rest(&model);
        settle(&model, &limp(&model, activation), &mut state).expect("rest");
        let (found, exact) =
            (state.rigs[0].q[0].to_degrees(), balanced_angle(&model, activation).to_degrees());
        println!("activation {activation}: {found:.2}°, {exact:.2}° by moment arm");
        assert!((found - exact).abs() < 0.03 * 90.0, "{activation}: {found} {exact}");
    }
}

/// Explicit steps, from a relaxed arm that hangs: muscle force moves the bone, and no joint torque does.
#[test]
#[expect(clippy::print_stdout, reason = "docs/layers.md and decision 028 have numbers of it")]
fn the_forearm_rises_when_the_muscle_is_activated_and_sinks_when_it_is_not() {
    let model = Model::build(&world()).expect("sound");
    let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
    let mut angles = Vec::new();
    for (activation, frames) in [(0.0, 60), (1.0, 120), (0.0, 120)] {
        for _ in 0..frames {
            stepper.step(&model, &limp(&model, activation), 1.0 / 60.0, &mut state).expect("no divergence");
        }
        angles.push(state.rigs[0].q[0]);
    }
    println!("relaxed {:.3}, activated {:.3}, relaxed {:.3} rad", angles[0], angles[1], angles[2]);
    assert!(angles[1] > angles[0] + 0.3 && angles[1] > angles[2] + 0.3, "{angles:?}");
}
