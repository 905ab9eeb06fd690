//! A sitting rabbit with long ears, directed by control metaphors: an ear is twisted, and the head turns while an ear flaps.

use sinew_control::{BezierKey, Curve, Extrapolation, Motion};
use sinew_flesh::Material;
use sinew_math::{Rotation, Vec3, so3};
use sinew_mesh::{ImplicitSurface, Primitive, TriMesh};
use sinew_sim::Solver;
use sinew_sim::desc::{
    BodyDesc, CageSize, MetaphorDesc, MetaphorKind, PinDesc, Region, Sag, ShapeDesc, WidgetDesc, WorldDesc,
};
use sinew_take::{Scene, SceneChange, SceneEdit};

/// The middle of the left ear (m), and how far ears lean outwards (rad).
const EAR: Vec3 = Vec3::new(0.058, 0.405, 0.02);
const LEAN: f64 = 0.16;
/// Half the length of an ear (m).
const EAR_LENGTH: f64 = 0.115;

/// The left ear is twisted and let go.                                                          \[Transue2014, figure 12.1\]
pub fn rabbit_twist() -> Scene {
    let widget = WidgetDesc { near: Some(0.03), far: Some(0.1), ..ear_widget() };
    let twist = MetaphorDesc { widget, ..MetaphorDesc::new("ear", "rabbit", MetaphorKind::Twist) };
    let edits = vec![edit(twist, &[(0.2, 0.0), (0.9, 3.0), (1.4, 3.0), (1.7, 0.0)])];
    Scene { name: "rabbit-twist".into(), edits, seconds: 2.4, ..scene() }
}

/// The head turns from side to side by one edit, and a second one flaps the left ear.   \[Transue2014, figures 12.4 and 12.5\]
pub fn rabbit_flap() -> Scene {
    let neck = WidgetDesc {
        origin: Some(Vec3::new(0.0, 0.19, 0.02)),
        axis: Some(Vec3::y()),
        near: Some(0.03),
        // not the ears, which would be swung around
        far: Some(0.115),
        ..WidgetDesc::default()
    };
    let turn = MetaphorDesc { widget: neck, ..MetaphorDesc::new("head", "rabbit", MetaphorKind::Twist) };
    let flap = MetaphorDesc {
        widget: WidgetDesc { origin: Some(root_of_ear()), near: Some(0.025), far: Some(0.2), ..ear_widget() },
        ..MetaphorDesc::new("ear", "rabbit", MetaphorKind::Bend)
    };
    let edits = vec![
        edit(turn, &[(0.2, 0.0), (0.6, 1.1), (1.0, -1.1), (1.4, 1.1), (1.8, 0.0)]),
        edit(flap, &[(0.5, 0.0), (0.9, 2.2), (1.2, -0.6), (1.6, 2.2), (1.9, 0.0)]),
    ];
    Scene { name: "rabbit-flap".into(), edits, seconds: 2.4, ..scene() }
}

/// An edit that begins a metaphor with the first of its keys.
fn edit(metaphor: MetaphorDesc, keys: &[(f64, f64)]) -> SceneEdit {
    let bezier = keys.iter().map(|(time, value)| BezierKey::auto(*time, *value)).collect();
    // the keys are in order, so that they make a curve
    let magnitude = Curve::build(bezier, Extrapolation::Hold).unwrap_or(Curve::Constant(0.0));
    let time = keys.first().map_or(0.0, |key| key.0);
    SceneEdit { time, changes: vec![SceneChange::Metaphor { metaphor, magnitude }] }
}

/// Along the left ear; the normal points outwards.
fn ear_widget() -> WidgetDesc {
    let lean = leaning(1.0);
    WidgetDesc {
        origin: Some(EAR),
        axis: Some(lean * Vec3::y()),
        normal: Some(lean * Vec3::x()),
        radius: Some(0.045),
        ..WidgetDesc::default()
    }
}

fn root_of_ear() -> Vec3 {
    EAR - 0.6 * EAR_LENGTH * (leaning(1.0) * Vec3::y())
}

/// How an ear stands: 1 for the left one, −1 for the right one.
fn leaning(side: f64) -> Rotation {
    so3::exp(&Vec3::new(-0.08, 0.0, -side * LEAN))
}

/// The rabbit sits on its pinned base. Its rest shape carries its weight, so that the ears stand.
fn scene() -> Scene {
    let body = BodyDesc {
        name: "rabbit".into(),
        shape: ShapeDesc::Surface { surface: surface(), cage: CageSize::Tets(5000) },
        material: Material::soft_solid(150e3, 0.42, 950.0, 0.25),
        pins: vec![PinDesc { region: Region::End { direction: -Vec3::y(), fraction: 0.1 } }],
        sag: Sag::RestShape,
        ..BodyDesc::default()
    };
    Scene {
        world: WorldDesc { gravity: Vec3::new(0.0, -9.81, 0.0), bodies: vec![body], ..WorldDesc::default() },
        pin_motions: vec![vec![Motion::Still]],
        solver: Solver::Explicit,
        fps: 60.0,
        ..Scene::default()
    }
}

/// The surface of the rabbit, which faces z. The primitives are valid, so it exists; `Model::build` would reject an empty one.
fn surface() -> TriMesh {
    ImplicitSurface::build(&primitives()).and_then(|implicit| implicit.surface(0.0075)).unwrap_or_default()
}

fn primitives() -> Vec<Primitive> {
    let ellipsoid = |middle: [f64; 3], radii: [f64; 3], blend: f64| {
        Primitive::ellipsoid(middle.into(), Rotation::identity(), radii).blended(blend)
    };
    let mut all = vec![
        ellipsoid([0.0, 0.11, -0.04], [0.1, 0.115, 0.13], 0.03),
        ellipsoid([0.0, 0.17, 0.02], [0.065, 0.09, 0.07], 0.03),
        ellipsoid([0.0, 0.25, 0.05], [0.07, 0.065, 0.08], 0.02),
        ellipsoid([0.0, 0.235, 0.11], [0.042, 0.036, 0.04], 0.02),
        Primitive::sphere(Vec3::new(0.0, 0.09, -0.165), 0.04).blended(0.01),
    ];
    for side in [1.0, -1.0] {
        let middle = Vec3::new(side * EAR.x, EAR.y, EAR.z);
        all.push(Primitive::ellipsoid(middle, leaning(side), [0.032, EAR_LENGTH, 0.017]).blended(0.015));
        all.push(ellipsoid([side * 0.05, 0.028, 0.075], [0.028, 0.03, 0.055], 0.015));
        all.push(ellipsoid([side * 0.085, 0.04, -0.03], [0.035, 0.042, 0.085], 0.02));
        all.push(ellipsoid([side * 0.032, 0.222, 0.1], [0.03, 0.028, 0.03], 0.015));
    }
    all
}
