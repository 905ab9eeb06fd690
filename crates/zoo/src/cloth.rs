//! Sheets of cloth: hung by two corners, hung between two edges and directed, and dropped over a ball.

use sinew_control::{BezierKey, Curve, Extrapolation, Motion};
use sinew_flesh::Fabric;
use sinew_math::{Isometry, Vec3};
use sinew_mesh::{TriMesh, shapes};
use sinew_sim::desc::{
    BodyDesc, CageSize, ContactDesc, MetaphorDesc, MetaphorKind, NetworkDesc, ObstacleDesc, PinDesc, Region,
    Shape, ShapeDesc, WidgetDesc, WorldDesc,
};
use sinew_sim::{ImplicitSettings, Solver};
use sinew_take::{Scene, SceneChange, SceneEdit};

/// The air slows sheets more than their own damping does (1/s): they fall at no more than 10 m/s.
const AIR_DRAG: f64 = 1.0;

/// A sheet of cotton of 1 m, held out flat by two corners, falls, swings and comes to hang.          \[Transue2014, figure 12.2\]
pub fn cloth() -> Scene {
    let side = 1.0;
    let mut body = sheet(shapes::sheet([side, side], [36, 36]), Fabric::default());
    for x in [-0.5 * side, 0.5 * side] {
        body.pins.push(PinDesc { region: Region::Nearest(Vec3::new(x, 0.0, -0.5 * side)) });
    }
    Scene { name: "cloth".into(), seconds: 4.0, ..scene(body) }
}

/// A stretchy sheet that hangs between two edges, which have come together, is stretched across.       \[Transue2014, figure 12.2 d\]
pub fn cloth_stretch() -> Scene {
    Scene { name: "cloth-stretch".into(), ..hung(4.0) }
}

/// The same metaphor with a magnitude below zero folds the sheet.                               \[Transue2014, figure 12.2 e\]
pub fn cloth_fold() -> Scene {
    Scene { name: "cloth-fold".into(), ..hung(-4.0) }
}

/// A sheet between two edges. They approach each other until an edit stops them, and another one begins the metaphor.
fn hung(magnitude: f64) -> Scene {
    let fabric = Fabric { stretch: 30.0, ..Fabric::named("jersey").unwrap_or_default() };
    let mut body = sheet(shapes::sheet([1.0, 1.0], [30, 30]), fabric);
    for direction in [-Vec3::x(), Vec3::x()] {
        body.pins.push(PinDesc { region: Region::End { direction, fraction: 0.01 } });
    }
    let glide = |x: f64| Motion::Glide { velocity: Vec3::new(x, 0.0, 0.0) };
    let stop = |pin: usize| SceneChange::PinMotion { body: "cloth".into(), pin, motion: Motion::Still };
    let widget = WidgetDesc {
        axis: Some(Vec3::z()),
        normal: Some(Vec3::y()),
        near: Some(0.12),
        far: Some(0.32),
        radius: Some(0.3),
        ..WidgetDesc::default()
    };
    let metaphor = MetaphorDesc { widget, ..MetaphorDesc::new("middle", "cloth", MetaphorKind::Stretch) };
    let keys = [(0.8, 0.0), (1.6, magnitude), (2.6, magnitude), (3.0, 0.0)];
    let keys = keys.map(|(time, value)| BezierKey::auto(time, value)).to_vec();
    // the keys are in order, so that they make a curve
    let magnitude = Curve::build(keys, Extrapolation::Hold).unwrap_or(Curve::Constant(0.0));
    Scene {
        pin_motions: vec![vec![glide(0.15), glide(-0.15)]],
        edits: vec![
            SceneEdit { time: 0.5, changes: vec![stop(0), stop(1)] },
            SceneEdit { time: 0.8, changes: vec![SceneChange::Metaphor { metaphor, magnitude }] },
        ],
        seconds: 3.5,
        ..scene(body)
    }
}

/// A sheet of silk falls on a ball and drapes over it, half on the ground, with itself in folds. Its stretch stiffness is a fraction of that of silk, which nothing here stretches: explicit steps are longer.
pub fn cloth_ball() -> Scene {
    let mut surface = shapes::sheet([0.9, 0.9], [36, 36]);
    surface.vertices.iter_mut().for_each(|x| *x += Vec3::new(0.02, 0.46, 0.01));
    let mut scene = Scene {
        name: "cloth-ball".into(),
        seconds: 2.5,
        solver: Solver::Explicit,
        ..scene(sheet(surface, Fabric { stretch: 300.0, ..Fabric::named("silk").unwrap_or_default() }))
    };
    let ball = Shape::Sphere { radius: 0.18 };
    scene.world.obstacles = vec![
        ObstacleDesc::ground(0.0),
        ObstacleDesc::fixed("ball", ball, Isometry::translation(0.0, 0.2, 0.0)),
    ];
    scene.world.contact = ContactDesc { self_contact: vec!["cloth".into()], ..ContactDesc::default() };
    scene.obstacle_motions = Vec::new();
    scene
}

fn sheet(surface: TriMesh, fabric: Fabric) -> BodyDesc {
    let mesh = ShapeDesc::Surface { surface, cage: CageSize::Tets(8000) };
    let shape = ShapeDesc::Network(NetworkDesc::cloth(mesh, fabric));
    BodyDesc { name: "cloth".into(), shape, air_drag: AIR_DRAG, ..BodyDesc::default() }
}

fn scene(body: BodyDesc) -> Scene {
    let pins = body.pins.len();
    Scene {
        name: String::new(),
        world: WorldDesc { gravity: Vec3::new(0.0, -9.81, 0.0), bodies: vec![body], ..WorldDesc::default() },
        pin_motions: vec![vec![Motion::Still; pins]],
        performances: Vec::new(),
        obstacle_motions: Vec::new(),
        constraint_motions: Vec::new(),
        curves: Default::default(),
        edits: Vec::new(),
        // snapping taut takes more iterations than flesh does
        solver: Solver::Auto(ImplicitSettings { max_newton: 40, ..ImplicitSettings::INTERACTIVE }),
        preroll: 0.0,
        seconds: 4.0,
        fps: 60.0,
    }
}
