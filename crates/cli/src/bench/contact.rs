//! Looking for surfaces that touch themselves, and what obstacles add to a step.

use crate::failure::Failure;
use cpu_time::ProcessTime;
use serde::Serialize;
use sinew_contact::{PairSurface, SurfacePairs};
use sinew_math::{Isometry, Vec3};
use sinew_mesh::shapes;
use sinew_sim::desc::{ObstacleDesc, Shape};
use sinew_take::{Player, Scene};
use std::time::Instant;

/// One line of the tables.
#[derive(Serialize)]
pub(super) struct Row {
    bench: &'static str,
    what: &'static str,
    vertices: usize,
    /// Candidates found, or points that touched at the end.
    found: usize,
    milliseconds: f64,
}

pub(super) fn run() -> Result<Vec<Row>, Failure> {
    say!("contact: one pass of looking for a torus, squeezed until its hole closes, touching itself");
    say!("{:>10} {:>10} {:>10} {:>12}", "vertices", "found", "ms/pass", "ns/vertex");
    let mut rows = Vec::new();
    for around in [130, 260, 520, 1000] {
        let row = pass(around);
        let each = row.milliseconds * 1e6 / row.vertices as f64;
        say!("{:>10} {:>10} {:>10.3} {:>12.1}", row.vertices, row.found, row.milliseconds, each);
        rows.push(row);
    }
    say!("contact: frames of a limp starfish that falls, the mean of a second, processor time of all cores");
    say!("{:>20} {:>10} {:>10}", "", "touching", "ms/frame");
    for (what, obstacles, itself) in
        [("nothing", 0, false), ("ground", 1, false), ("stairs", 7, false), ("stairs and itself", 7, true)]
    {
        let row = frames(what, obstacles, itself)?;
        say!("{:>20} {:>10} {:>10.3}", row.what, row.found, row.milliseconds);
        rows.push(row);
    }
    Ok(rows)
}

fn pass(around: u32) -> Row {
    let torus = shapes::torus(0.5, 0.15, around, around / 2);
    let spacing = core::f64::consts::PI / f64::from(around);
    let surface = PairSurface {
        triangles: &torus.triangles,
        rest: &torus.vertices,
        touches_itself: true,
        touches_others: false,
    };
    let mut pairs = SurfacePairs::build(&[surface], 0.1 * spacing, 0.5 * spacing);
    let x: Vec<Vec3> = torus.vertices.iter().map(|v| Vec3::new(0.3 * v.x, v.y, v.z)).collect();
    let v = vec![Vec3::zeros(); x.len()];
    let mut best = f64::INFINITY;
    for _ in 0..10 {
        let start = Instant::now();
        pairs.refit(&x, &v);
        pairs.find(&x, &v, 1.0 / 60.0, 0.25 * spacing);
        best = best.min(start.elapsed().as_secs_f64());
    }
    let (vertices, found) = (x.len(), pairs.pairs().len());
    Row { bench: "contact", what: "self-contact pass", vertices, found, milliseconds: 1e3 * best }
}

fn frames(what: &'static str, obstacles: usize, itself: bool) -> Result<Row, Failure> {
    let mut scene: Scene = sinew_zoo::starfish(3400);
    scene.world.gravity = Vec3::new(0.0, -9.81, 0.0);
    scene.performances.iter_mut().for_each(|performance| performance.lead_by(sinew_control::Lead::Ragdoll));
    scene.warm_up = 0.0;
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
    let mut player = Player::build(&scene).map_err(Failure::input)?;
    let (mut found, mut sum) = (0, 0.0);
    for _ in 0..6 {
        let start = ProcessTime::now();
        for _ in 0..10 {
            found = player.advance().map_err(Failure::input)?.touching;
        }
        sum += start.elapsed().as_secs_f64() / 60.0;
    }
    let vertices = player.model.bodies[0].surface.vertices.len();
    Ok(Row { bench: "contact", what, vertices, found, milliseconds: 1e3 * sum })
}
