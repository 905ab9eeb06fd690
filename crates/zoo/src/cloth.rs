//! Sheets of cloth: hung by two corners, and dropped over a ball.

use sinew_flesh::Fabric;
use sinew_math::{Isometry, Vec3};
use sinew_mesh::{TriMesh, shapes};
use sinew_sim::desc::{
    BodyDesc, CageSize, ContactDesc, NetworkDesc, ObstacleDesc, PinDesc, Region, Shape, ShapeDesc, WorldDesc,
};
use sinew_sim::{ImplicitSettings, Solver};
use sinew_take::Scene;

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
        pin_motions: vec![vec![sinew_control::Motion::Still; pins]],
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
