//! A bar of fibres along x, held at one end.

use sinew_flesh::{ForceLength, Law, Material};
use sinew_math::Vec3;
use sinew_mesh::shapes;
use sinew_sim::desc::{
    BodyDesc, FibreField, FleshMuscleDesc, MuscleDesc, MuscleKind, MuscleTissue, MuscleVolume, PinDesc,
    Region, ShapeDesc, WorldDesc,
};
use sinew_sim::implicit::settle;
use sinew_sim::{Control, Model, State, Stepper};

const YOUNG: f64 = 40e3;

/// A bar of 20 cm and 4 cm across, of a Poisson ratio, that fills with fibres along x or from end to end.
pub(crate) fn bar(poisson: f64, damping: f64, fibres: FibreField) -> WorldDesc {
    bar_of(Law::Corotational, poisson, damping, fibres)
}

fn bar_of(law: Law, poisson: f64, damping: f64, fibres: FibreField) -> WorldDesc {
    let material = Material { poisson, law, ..Material::soft_solid(YOUNG, 0.0, 1000.0, damping) };
    let body = BodyDesc {
        name: "bar".into(),
        shape: ShapeDesc::Tets(shapes::beam(2, [0.2, 0.04, 0.04])),
        material,
        pins: vec![PinDesc { region: Region::End { direction: -Vec3::x(), fraction: 0.01 } }],
        ..BodyDesc::default()
    };
    let flesh = FleshMuscleDesc {
        body: "bar".into(),
        volume: MuscleVolume::Body,
        ends: None,
        fibres,
        tissue: (poisson > 0.0).then_some(MuscleTissue { young: YOUNG, poisson }),
    };
    let curve = ForceLength { max_stress: 30e3, ..ForceLength::default() };
    let muscle = MuscleDesc { name: "muscle".into(), kind: MuscleKind::Flesh(Box::new(flesh)), curve };
    WorldDesc { bodies: vec![body], muscles: vec![muscle], ..WorldDesc::default() }
}

pub(crate) fn activated(by: f64) -> Control {
    Control { activations: vec![[by; 2]], ..Control::default() }
}

/// Where the active and passive stress of fibres and the linear stress E (λ − 1) of a bar that does not contract across balance, by bisection.
fn closed_form(activation: f64) -> f64 {
    let curve = ForceLength { max_stress: 30e3, ..ForceLength::default() };
    let (mut low, mut high) = (0.3, 1.2);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let stress = curve.stress(middle, activation) + YOUNG * (middle - 1.0);
        if stress > 0.0 { high = middle } else { low = middle }
    }
    low
}

/// The length of the bar relative to rest.
fn stretch(model: &Model, state: &State) -> f64 {
    let length = |x: &[Vec3]| {
        let (low, high) = x.iter().fold((x[0].x, x[0].x), |(low, high), x| (low.min(x.x), high.max(x.x)));
        high - low
    };
    length(&state.node_x) / length(model.node_rest())
}

/// With ν = 0 the deformation is homogeneous, which linear elements hold exactly: the solver's tolerance of 10⁻⁵ of the largest force, over a stiffness of about the same, is left.
#[test]
fn a_bar_without_load_shortens_to_where_its_stresses_balance() {
    let model = Model::build(&bar(0.0, 0.2, FibreField::Along(Vec3::x()))).expect("sound");
    for activation in [0.0, 0.25, 0.6, 1.0] {
        let mut state = State::at_rest(&model);
        let report = settle(&model, &activated(activation), &mut state).expect("rest");
        assert!(report.converged);
        let (found, exact) = (stretch(&model, &state), closed_form(activation));
        assert!((found - exact).abs() < 1e-4, "{activation}: {found} {exact}");
    }
}

/// Explicit steps come to rest there as well: after two seconds, ζ = 0.7 of some 1.5 Hz leaves e^(−13).
#[test]
fn explicit_steps_shorten_it_to_the_same_length() {
    let model = Model::build(&bar(0.0, 0.7, FibreField::Along(Vec3::x()))).expect("sound");
    let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
    for i in 0..120 {
        let ramp = |i: usize| (i as f64 / 20.0).min(1.0) * 0.6;
        let control = Control { activations: vec![[ramp(i), ramp(i + 1)]], ..Control::default() };
        let report = stepper.step(&model, &control, 1.0 / 60.0, &mut state).expect("no divergence");
        assert_eq!(report.retries, 0);
    }
    let (found, exact) = (stretch(&model, &state), closed_form(0.6));
    assert!((found - exact).abs() < 1e-3, "{found} {exact}");
}

/// ΔV/V = (1 − 2ν) (λ − 1) to first order, and about twice that at a strain of a quarter, where tissue stiffens: half a percent with the default ν = 0.495. Fibres from the harmonic field between both ends, which are not parallel near them.
#[test]
#[expect(clippy::print_stdout, reason = "docs/layers.md and decision 028 have numbers of it")]
fn an_activated_muscle_keeps_its_volume_within_one_percent_and_bulges() {
    let model =
        Model::build(&bar_of(Law::StableNeoHookean, 0.495, 0.2, FibreField::Harmonic)).expect("sound");
    for activation in [0.3, 1.0] {
        let mut state = State::at_rest(&model);
        settle(&model, &activated(activation), &mut state).expect("rest");
        let volume = |x: &[Vec3]| -> f64 {
            let of = |tet: &[u32; 4]| {
                let [a, b, c, d] = tet.map(|node| x[node as usize]);
                (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
            };
            model.tets().iter().map(of).sum()
        };
        let change = volume(&state.node_x) / volume(model.node_rest()) - 1.0;
        let shortened = 1.0 - stretch(&model, &state);
        println!("activation {activation}: shorter by {shortened:.3}, volume {change:+.5}");
        assert!(shortened > 0.05, "{shortened}");
        assert!(change.abs() < 0.01, "{change}");
        let width = |x: &[Vec3]| {
            x.iter().map(|x| x.y).fold(f64::MIN, f64::max) - x.iter().map(|x| x.y).fold(f64::MAX, f64::min)
        };
        assert!(width(&state.node_x) > 1.02 * width(model.node_rest()));
    }
}

/// A free bar that contracts drifts and turns nowhere: forces inside it have no resultant. Round-off of a thousand sub-steps of speeds up to 1 m/s.
#[test]
fn contraction_keeps_momentum() {
    let mut world = bar(0.3, 0.1, FibreField::Harmonic);
    world.bodies[0].pins.clear();
    let model = Model::build(&world).expect("sound");
    let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
    for _ in 0..10 {
        stepper.step(&model, &activated(1.0), 1.0 / 60.0, &mut state).expect("no divergence");
    }
    assert!(stretch(&model, &state) < 0.95);
    assert!(state.momentum(&model).norm() < 1e-6 * model.mass(), "{}", state.momentum(&model));
}

/// A state is all that must be saved: activation ramps on, and a new stepper takes the same steps.
#[test]
fn a_step_resumed_from_a_saved_state_has_the_same_bits() {
    let model = Model::build(&bar(0.3, 0.1, FibreField::Harmonic)).expect("sound");
    let control = |i: usize| Control {
        activations: vec![[0.1 * i as f64, 0.1 * (i + 1) as f64]],
        ..Control::default()
    };
    let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
    for i in 0..4 {
        stepper.step(&model, &control(i), 1.0 / 60.0, &mut state).expect("no divergence");
    }
    let mut resumed = state.clone();
    let mut fresh = Stepper::default();
    for i in 4..8 {
        stepper.step(&model, &control(i), 1.0 / 60.0, &mut state).expect("no divergence");
        fresh.step(&model, &control(i), 1.0 / 60.0, &mut resumed).expect("no divergence");
    }
    assert_eq!(state.hash(), resumed.hash());
}
