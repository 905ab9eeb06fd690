//! Self-contact detection of surfaces, and the cost that obstacles add to a frame.

use crate::failure::Failure;
use cpu_time::ProcessTime;
use serde::Serialize;
use sinew_contact::{CarrierRows, PairSurface, SurfacePairs};
use sinew_flesh::Material;
use sinew_math::{Isometry, Rotation, Vec3, real, so3};
use sinew_mesh::{TriMesh, shapes};
use sinew_sim::desc::{BodyDesc, CageSize, ObstacleDesc, Sag, Shape, ShapeDesc};
use sinew_take::{Player, Scene};
use std::time::Instant;

/// A pass is repeated at least so often, and for at least so long (s).
const MIN_PASSES: usize = 10;
const MIN_SECONDS: f64 = 0.5;
/// Cells that carry vertices, in mean edge lengths.
const CELL: f64 = 4.0;

/// One line of the tables.
#[derive(Serialize)]
pub(super) struct Row {
    bench: &'static str,
    what: &'static str,
    vertices: usize,
    /// Candidate pairs found, or points in contact at the end.
    found: usize,
    milliseconds: f64,
}

pub(super) fn run() -> Result<Vec<Row>, Failure> {
    // detection
    say!("contact: one pass of self-contact detection");
    say!("{:>28} {:>10} {:>10} {:>10} {:>12}", "", "vertices", "found", "ms/pass", "ns/vertex");
    let mut rows = Vec::new();
    for around in [130, 260, 520, 1000] {
        let torus = shapes::torus(0.5, 0.15, around, around / 2);
        let pinched: Vec<Vec3> = torus.vertices.iter().map(pinch).collect();
        rows.push(pass("pinched torus", &torus, &pinched));
    }
    let dancer = Player::build(&(sinew_zoo::catalog()[0].build)()).map_err(Failure::input)?;
    let surface = &dancer.model.bodies()[0].surface;
    rows.push(pass("dancer at rest", surface, &surface.vertices));
    for row in &rows {
        let each = row.milliseconds * 1e6 / row.vertices as f64;
        let Row { what, vertices, found, milliseconds, .. } = row;
        say!("{what:>28} {vertices:>10} {found:>10} {milliseconds:>10.3} {each:>12.1}");
    }

    // head of the table of frames
    say!("contact: mean over the frames of one second, CPU time of all cores");
    say!("{:>28} {:>10} {:>10}", "", "contacts", "ms/frame");

    // scenes; without its obstacles the cage scene keeps the same joint motion
    let starfish = [
        ("starfish, no obstacles", 0, false),
        ("starfish, ground", 1, false),
        ("starfish, stairs", 7, false),
        ("starfish, stairs and self", 7, true),
    ];
    let mut scenes: Vec<(&'static str, Scene)> =
        starfish.map(|(what, obstacles, itself)| (what, falling(obstacles, itself))).into();
    let mut alone = sinew_zoo::starfish_cage();
    alone.world.obstacles.clear();
    scenes.extend([("cage scene, no obstacles", alone), ("cage scene", sinew_zoo::starfish_cage())]);
    scenes.push(("pile of ten bodies", pile()));

    // one row per scene
    for (what, scene) in scenes {
        let row = frames(what, &scene)?;
        say!("{:>28} {:>10} {:>10.3}", row.what, row.found, row.milliseconds);
        rows.push(row);
    }
    Ok(rows)
}

/// Moves the inner walls of a torus with radii 0.5 and 0.15 m towards each other along x until they overlap by a millimetre, and leaves the rest in place.
fn pinch(v: &Vec3) -> Vec3 {
    let near = (v.z / 0.2).powi(4);
    Vec3::new(v.x - 0.3545 * v.x / (v.x * v.x + 0.0025).sqrt() / (1.0 + near), v.y, v.z)
}

/// The time of one detection pass.
fn pass(what: &'static str, mesh: &TriMesh, x: &[Vec3]) -> Row {
    // the mean edge length, which distances are measured by
    let length = |t: usize| {
        let [a, b, c] = mesh.corners(t);
        ((b - a).norm() + (c - b).norm() + (a - c).norm()) / 3.0
    };
    let spacing = (0..mesh.triangles.len()).map(length).sum::<f64>() / mesh.triangles.len() as f64;

    // carried by the cells of a grid, as surfaces are by the tets of a cage
    let count = mesh.vertices.len();
    let cell = CELL * spacing;
    let carrier = |v: &Vec3| {
        let [i, j, k] = [0, 1, 2].map(|axis| (v[axis] / cell).floor() as i64 + 512);
        move |corner: i64| {
            ((i + (corner & 1)) + 1024 * ((j + (corner >> 1 & 1)) + 1024 * (k + (corner >> 2)))) as u32
        }
    };
    let carriers: Vec<u32> = mesh.vertices.iter().flat_map(|v| (0..8).map(carrier(v))).collect();
    let offsets: Vec<u32> = (0..=count as u32).map(|i| 8 * i).collect();
    let (is_sample, gap) = (vec![true; count], vec![0.1 * spacing; count]);
    let range = vec![0.5 * spacing; mesh.triangles.len()];

    // the fastest pass; threads that wake late or are sent away cost as much as a small surface, so it has many tries
    let surface = PairSurface {
        triangles: &mesh.triangles,
        rest: &mesh.vertices,
        carriers: CarrierRows { offsets: &offsets, carriers: &carriers },
        is_sample: &is_sample,
        gap: &gap,
        range: &range,
        edges: &[],
        nominal_range: 0.5 * spacing,
        is_two_sided: false,
        collides_with_itself: true,
        collides_with_others: false,
    };
    let mut pairs = SurfacePairs::build(&[surface]);
    let v = vec![Vec3::zeros(); x.len()];
    let (mut best, mut passes) = (f64::INFINITY, 0);
    let begin = Instant::now();
    while passes < MIN_PASSES || begin.elapsed().as_secs_f64() < MIN_SECONDS {
        let start = Instant::now();
        pairs.refit(x, &v);
        pairs.find(x, &v, 1.0 / 60.0, &[0.4 * spacing]);
        best = best.min(start.elapsed().as_secs_f64());
        passes += 1;
    }
    let (vertices, found) = (x.len(), pairs.vertex_pairs().len());
    Row { bench: "contact", what, vertices, found, milliseconds: 1e3 * best }
}

/// A falling ragdoll starfish, with a ground and stairs if it has obstacles.
fn falling(obstacles: usize, itself: bool) -> Scene {
    let mut scene: Scene = sinew_zoo::starfish(3400);
    scene.world.gravity = Vec3::new(0.0, -9.81, 0.0);
    scene
        .performances
        .iter_mut()
        .for_each(|performance| performance.set_drive_mode(sinew_control::DriveMode::Ragdoll));
    scene.preroll = 0.0;
    if obstacles > 0 {
        scene.world.obstacles.push(ObstacleDesc::ground(-0.05));
    }
    for step in 1..obstacles {
        let at = Isometry::translation(0.08 * step as f64 - 0.28, -0.54 - 0.015 * step as f64, 0.0);
        let shape = Shape::Cuboid { half: Vec3::new(0.04, 0.5, 0.5) };
        scene.world.obstacles.push(ObstacleDesc::fixed(format!("step {step}"), shape, at));
    }
    if itself {
        scene.world.contact.self_contact.push("starfish".into());
    }
    scene
}

/// Balls, rings and bricks of jelly, ten in all, that fall between eight planks around a ground.
fn pile() -> Scene {
    let mut scene = Scene::default();
    let kinds =
        [shapes::sphere(0.05, 3), shapes::torus(0.05, 0.022, 40, 16), shapes::cuboid([0.09, 0.06, 0.07])];
    for i in 0..10u32 {
        let (column, row, n) = (f64::from(i % 3) - 1.0, f64::from(i / 3), f64::from(i));
        let side = if i % 2 == 0 { 1.0 } else { -1.0 };
        let place = Vec3::new(
            0.06 * column + 0.004 * n,
            0.13 + 0.13 * row + 0.01 * column,
            side * (0.11 * column - 0.025),
        );
        let turn: Rotation = so3::exp(&Vec3::new(0.3 * n, 0.7 * n, 0.2));
        let mut surface = kinds[i as usize % 3].clone();
        surface.vertices.iter_mut().for_each(|x| *x = turn * *x + place);
        scene.world.bodies.push(BodyDesc {
            name: format!("body {i}"),
            shape: ShapeDesc::Surface { surface, cage: CageSize::Tets(140) },
            material: Material::soft_solid(2e4, 0.42, 1000.0, 0.05),
            velocity: Vec3::zeros(),
            pins: Vec::new(),
            loads: Vec::new(),
            attachment: None,
            sag: Sag::Free,
            ..BodyDesc::default()
        });
    }
    scene.pin_motions.resize(scene.world.bodies.len(), Vec::new());

    // what they fall into
    scene.world.obstacles.push(ObstacleDesc::ground(0.0));
    for k in 0..8 {
        let angle = core::f64::consts::TAU * f64::from(k) / 8.0;
        let turn = so3::exp(&(-angle * Vec3::y())) * so3::exp(&(-0.5 * Vec3::z()));
        let place = Vec3::new(0.22 * real::cos(angle), 0.08, 0.22 * real::sin(angle));
        let shape = Shape::Cuboid { half: Vec3::new(0.01, 0.14, 0.12) };
        let pose = Isometry::from_parts(place.into(), turn);
        scene.world.obstacles.push(ObstacleDesc::fixed(format!("plank {k}"), shape, pose));
    }
    scene.world.contact.between_bodies = true;
    scene
}

/// The mean CPU time of a frame over one second.
fn frames(what: &'static str, scene: &Scene) -> Result<Row, Failure> {
    let mut player = Player::build(scene).map_err(Failure::input)?;
    player.preroll(|_, _| {}).map_err(Failure::input)?;
    let (mut found, mut sum) = (0, 0.0);
    for _ in 0..6 {
        let start = ProcessTime::now();
        for _ in 0..10 {
            found = player.advance().map_err(Failure::input)?.in_contact;
        }
        sum += start.elapsed().as_secs_f64() / 60.0;
    }
    let vertices = player.model.bodies()[0].surface.vertices.len();
    Ok(Row { bench: "contact", what, vertices, found, milliseconds: 1e3 * sum })
}
