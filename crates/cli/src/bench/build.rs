//! The time to build a model from a finely triangulated surface: inside test, cage, fill, embedding, masses and stable step.

use crate::failure::Failure;
use serde::Serialize;
use sinew_mesh::shapes;
use sinew_sim::Model;
use sinew_sim::desc::{CageSize, ShapeDesc};
use sinew_zoo::jelly_torus;
use std::time::Instant;

/// One line of the table.
#[derive(Serialize)]
pub(super) struct Row {
    bench: &'static str,
    triangles: usize,
    tets: usize,
    build_seconds: f64,
}

pub(super) fn run(max_tets: usize) -> Result<Vec<Row>, Failure> {
    say!("build: a torus of 102,400 triangles, all cores");
    say!("{:>10} {:>9} {:>9}", "triangles", "tets", "seconds");
    let surface = shapes::torus(0.14, 0.055, 320, 160);
    let mut rows = Vec::new();
    for size in [9_000, 40_000, 150_000].into_iter().filter(|&size| size <= max_tets) {
        let mut world = jelly_torus().world;
        world.bodies[0].shape = ShapeDesc::Surface { surface: surface.clone(), cage: CageSize::Tets(size) };
        let start = Instant::now();
        let model = Model::build(&world).map_err(Failure::input)?;
        let build_seconds = start.elapsed().as_secs_f64();
        let (triangles, tets) = (surface.triangles.len(), model.tets().len());
        say!("{triangles:>10} {tets:>9} {build_seconds:>9.2}");
        rows.push(Row { bench: "build", triangles, tets, build_seconds });
    }
    Ok(rows)
}
