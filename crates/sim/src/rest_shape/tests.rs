//! Rest shapes that sag to the drawn shape.

use crate::desc::{BodyDesc, Hold, PinDesc, Region, Sag, ShapeDesc, WorldDesc};
use crate::implicit::tests::arm_world;
use crate::implicit::{ImplicitSettings, settle_with};
use crate::{Control, Model, RigControl, State};
use sinew_flesh::{Law, Material};
use sinew_math::Vec3;
use sinew_mesh::{TetMesh, shapes};

const G: f64 = 9.81;
/// Constitutive laws with their stiffness.
const LAWS: [Law; 2] = [Law::StableNeoHookean, Law::Corotational];

/// A beam of 0.4 m along x, pinned at its near end.
#[derive(Clone)]
struct Beam {
    young: f64,
    poisson: f64,
    gravity: Vec3,
    law: Law,
    sag: Sag,
}

impl Default for Beam {
    fn default() -> Beam {
        let law = Law::StableNeoHookean;
        Beam { young: 1e6, poisson: 0.4, gravity: -G * Vec3::z(), law, sag: Sag::RestShape }
    }
}

impl Beam {
    fn world_of(&self, mesh: TetMesh) -> WorldDesc {
        let material = Material::soft_solid(self.young, self.poisson, 1000.0, 0.1);
        let body = BodyDesc {
            name: "beam".into(),
            shape: ShapeDesc::Tets(mesh),
            material: Material { law: self.law, ..material },
            velocity: Vec3::zeros(),
            pins: vec![PinDesc { region: Region::End { direction: -Vec3::x(), fraction: 1e-6 } }],
            loads: Vec::new(),
            attachment: None,
            sag: self.sag,
            ..BodyDesc::default()
        };
        WorldDesc { gravity: self.gravity, bodies: vec![body], ..WorldDesc::default() }
    }

    fn model(&self) -> Model {
        Model::build(&self.world_of(shapes::beam(2, [0.4, 0.1, 0.1]))).expect("sound")
    }
}

/// Node positions of the model in equilibrium, with its bones as drawn (m).
fn settled(model: &Model) -> Vec<Vec3> {
    let mut state = State::at_rest(model);
    let mut control = Control::still(model);
    control.rigs = model.rigs().iter().map(RigControl::hold).collect();
    // tight enough that the remaining gradient moves nothing by a measurable distance
    let settings = ImplicitSettings { tolerance: 1e-6, ..ImplicitSettings::ACCURATE };
    settle_with(model, &control, &settings, &mut [], &mut state).expect("has a rest");
    state.node_x
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// The search ends at 10⁻⁵ of the sag in the mean, several times that at the farthest node; settling itself ends at 10⁻⁶ of the weight. For a sag of 20 to 30 mm that is at most a
/// micrometre, and the report agrees with it to first order, here to a tenth.
#[test]
fn a_pinned_beam_stays_where_it_is_drawn() {
    for (law, poisson) in LAWS.into_iter().flat_map(|law| [(law, 0.4), (law, 0.47)]) {
        let beam = Beam { law, poisson, ..Beam::default() };
        let free = Beam { sag: Sag::Free, ..beam.clone() }.model();
        let model = beam.model();
        let sag = farthest(&settled(&free), free.node_rest());
        let off = farthest(&settled(&model), model.node_rest());
        let report = model.bodies()[0].rest_shape.expect("sought");
        assert!(sag > 0.02 && off < 1e-4 * sag, "{law:?}, ν {poisson}: {off:e} of {sag}");
        assert!((off - report.farthest).abs() < 0.1 * off + 1e-7, "{off:e} {report:?}");
        assert_eq!(report.carried, 1.0);
        assert!(model.bodies()[0].notes.is_empty(), "{:?}", model.bodies()[0].notes);
    }
}

/// Flesh on bones that are fixed as drawn: like the beam.
#[test]
fn an_arm_stays_where_it_is_drawn() {
    for poisson in [0.4, 0.47] {
        let mut world = arm_world(0.0, 0.5, Sag::Free);
        world.bodies[0].material.young = 5e3;
        world.bodies[0].material.poisson = poisson;
        let free = Model::build(&world).expect("sound");
        world.bodies[0].sag = Sag::RestShape;
        let model = Model::build(&world).expect("sound");
        let sag = farthest(&settled(&free), free.node_rest());
        let off = farthest(&settled(&model), model.node_rest());
        assert!(sag > 1e-3 && off < 1e-4 * sag, "ν {poisson}: {off:e} of {sag}");
        assert!(model.node_lift().is_empty(), "stress carries it alone");
    }
}

/// Inverse and forward problem agree: the rest shape, taken as the drawn shape of a body that sags freely, settles to the shape it was computed for. Its masses are those of its own, smaller or larger
/// volume: at ν = 0.4 some 10⁻³ of the bending strain of 0.02, so that 10⁻³ of the sag is allowed.
#[test]
fn what_is_found_sags_to_the_drawn_shape() {
    for law in LAWS {
        let beam = Beam { law, ..Beam::default() };
        let drawn = beam.model();
        let mesh = TetMesh { nodes: drawn.node_unstressed().to_vec(), tets: drawn.tets().to_vec() };
        let mut world = Beam { sag: Sag::Free, ..beam }.world_of(mesh);
        // the rest shape is not a box, but its pinned end does not move
        world.bodies[0].pins[0].region =
            Region::Box { min: Vec3::new(-1e-9, -1.0, -1.0), max: Vec3::new(1e-9, 1.0, 1.0) };
        let found = Model::build(&world).expect("sound");
        assert_eq!(found.pins()[0].nodes, drawn.pins()[0].nodes);
        let sag = farthest(found.node_rest(), drawn.node_rest());
        let off = farthest(&settled(&found), drawn.node_rest());
        assert!(sag > 0.02 && off < 1e-3 * sag, "{law:?}: {off:e} of {sag}");
    }
}

/// Upside down, flesh sags like a body whose stress-free drawn shape is the rest shape, with the same nodes on the same bones. The masses of the two differ by
/// the difference in volume, some 10⁻³.
#[test]
fn upside_down_it_hangs_from_its_rest_shape() {
    let mut world = arm_world(0.0, 0.5, Sag::RestShape);
    world.bodies[0].material.young = 1e4;
    let turned = Model::build(&world).expect("sound").under_gravity(-world.gravity);
    let hangs = settled(&turned);

    world.gravity = -world.gravity;
    world.bodies[0].sag = Sag::Free;
    world.bodies[0].shape =
        ShapeDesc::Tets(TetMesh { nodes: turned.node_unstressed().to_vec(), tets: turned.tets().to_vec() });
    let ties = &mut world.bodies[0].attachment.as_mut().expect("on bones").ties;
    for (i, tie) in ties.iter_mut().enumerate() {
        let nodes = turned.fixed_nodes().ties_of_bone(1 + i).iter().map(|tie| tie.node);
        tie.hold = Hold::Nodes(nodes.collect());
    }
    let other = Model::build(&world).expect("sound");
    assert_eq!(other.fixed_nodes().node_bone, turned.fixed_nodes().node_bone);
    let (gap, sag) = (farthest(&hangs, &settled(&other)), farthest(&hangs, turned.node_rest()));
    assert!(sag > 2e-3 && gap < 5e-3 * sag, "{gap:e} of {sag}");
}

/// A bar that hangs from its top has the stress ρ g (L − s) at a distance s below it, and without lateral strain (ν = 0) is elongated by
///
/// ```text
/// u(s) = ρ g/E (L s − s²/2)
/// ```
///
/// so that X = x − u up to the square of the strain, ρ g L/E = 3.9 10⁻³ of u. Linear tets reproduce u exactly at the nodes of a bar under evenly distributed weights; the end
/// tets are an exception: one part in the number of nodes along it squared, 1/64.
#[test]
fn a_hanging_bar_was_shorter_by_its_stretch() {
    let (young, length) = (1e6, 0.4);
    let bar = Beam { young, poisson: 0.0, gravity: G * Vec3::x(), ..Beam::default() };
    let model = bar.model();
    let most = 1000.0 * G / young * 0.5 * length * length;
    for (x, rest) in model.node_rest().iter().zip(model.node_unstressed()) {
        let u = 1000.0 * G / young * (length * x.x - 0.5 * x.x * x.x);
        assert!(
            (rest.x - (x.x - u)).abs() < most * (3.9e-3 + 1.0 / 64.0),
            "{x:?} {rest:?} {u:e} of {most:e}"
        );
    }
    // the pinned end keeps its width, and at ν = 0 only shear near it changes the width elsewhere
    let wide = model.node_rest().iter().zip(model.node_unstressed());
    assert!(wide.map(|(x, rest)| (rest - x).yz().norm()).fold(0.0, f64::max) < 0.05 * most);
}

/// Without weight the rest shape is the drawn one, to the bit.
#[test]
fn without_gravity_nothing_changes() {
    let beam = Beam { gravity: Vec3::zeros(), ..Beam::default() };
    let (model, free) = (beam.model(), Beam { sag: Sag::Free, ..beam }.model());
    assert_eq!(model.node_unstressed(), model.node_rest());
    assert_eq!(model.stable_step(), free.stable_step());
    assert_eq!(model.bodies()[0].rest_shape.expect("sought").newton, 0);
}

/// 300 Pa carry a column of 3 cm of this flesh, not an arm of 40: no tet degenerates during the search, and bones balance the residual, so that the arm still stays as drawn.
#[test]
fn flesh_too_soft_for_a_rest_shape_is_borne_by_bones() {
    let mut world = arm_world(0.0, 0.5, Sag::RestShape);
    world.bodies[0].material.young = 300.0;
    let model = Model::build(&world).expect("sound");
    let report = model.bodies()[0].rest_shape.expect("sought");
    assert!(report.carried < 1.0, "{report:?}");
    assert!(
        model.bodies()[0].notes.iter().any(|note| note.contains("too soft")),
        "{:?}",
        model.bodies()[0].notes
    );
    for (tet, nodes) in model.tets().iter().enumerate() {
        let volume = |x: &[Vec3]| {
            let [a, b, c, d] = nodes.map(|node| x[node as usize]);
            (b - a).cross(&(c - a)).dot(&(d - a))
        };
        let ratio = volume(model.node_unstressed()) / volume(model.node_rest());
        assert!((super::VOLUMES[0]..=super::VOLUMES[1]).contains(&ratio), "tet {tet}: {ratio}");
    }
    // 10⁻⁶ of the weight bends even this arm by no more than micrometres
    let off = farthest(&settled(&model), model.node_rest());
    assert!(off < 1e-5, "{off:e}");
}

/// A beam of jelly has no bones to balance the residual: it reports how far it sags.
#[test]
fn a_pinned_body_that_is_too_soft_says_so() {
    let model = Beam { young: 2e4, ..Beam::default() }.model();
    assert!(model.bodies()[0].rest_shape.expect("sought").carried < 1.0);
    assert!(
        model.bodies()[0].notes.iter().any(|note| note.contains("sags by")),
        "{:?}",
        model.bodies()[0].notes
    );
    assert!(model.node_lift().is_empty());
}

#[test]
fn what_hangs_on_nothing_has_no_rest_shape() {
    let mut world = Beam::default().world_of(shapes::beam(1, [0.4, 0.1, 0.1]));
    world.bodies[0].pins.clear();
    let error = Model::build(&world).expect_err("it falls").to_string();
    assert!(error.contains("nothing to hang on"), "{error}");
    world.bodies[0].sag = Sag::Balanced;
    let error = Model::build(&world).expect_err("it has no bones").to_string();
    assert!(error.contains("it is attached to none"), "{error}");
}

#[test]
fn it_has_the_same_bits_on_one_and_two_threads() {
    let found = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let beam = Beam { poisson: 0.47, ..Beam::default() };
            let model = Model::build(&beam.world_of(shapes::beam(6, [0.4, 0.1, 0.1])));
            let model = model.expect("sound");
            (model.node_unstressed().to_vec(), model.hash())
        })
    };
    assert_eq!(found(1), found(2));
}

/// The hash covers the rest shape: states of one model are invalid for the other.
#[test]
fn a_model_with_a_rest_shape_is_another_one() {
    let hash = |sag| Beam { sag, ..Beam::default() }.model().hash();
    assert_ne!(hash(Sag::Free), hash(Sag::RestShape));
}

/// A column that stands on its end buckles when ρ g L³ exceeds 7.84 times E I/A, with I/A = b²/12: this one exceeds it several times. Its straight shape is an equilibrium of some rest shape, but not a stable one, so stress
/// must not carry all of it.
#[test]
fn a_column_past_buckling_has_no_rest_shape() {
    let (length, width) = (0.4, 0.1);
    let limit = 1000.0 * G * length * length * length * 12.0 / (7.84 * width * width);
    for (young, is_stable) in [(4.0 * limit, true), (0.4 * limit, false)] {
        let model = Beam { young, gravity: -G * Vec3::x(), ..Beam::default() }.model();
        let report = model.bodies()[0].rest_shape.expect("sought");
        assert_eq!(report.carried == 1.0, is_stable, "E = {young} Pa: {report:?}");
    }
}
