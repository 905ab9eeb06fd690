//! A sink of one's own: it sees every frame of a take and writes the height of a body over time as a table.

#![expect(clippy::print_stdout, reason = "an example tells what it did")]

use sinew::prelude::*;
use std::fmt::Write;

/// Collects the lowest and the highest vertex of every body.
#[derive(Default)]
struct Heights {
    names: Vec<String>,
    table: String,
}

impl FrameSink for Heights {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        self.names = surfaces.iter().map(|surface| surface.name.clone()).collect();
        self.table = format!("# {fps} frames per second: time (s), body, lowest, highest (m)\n");
        Ok(())
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        for (name, vertices) in self.names.iter().zip(&frame.surfaces) {
            let low = vertices.iter().map(|v| v[1]).fold(f32::INFINITY, f32::min);
            let high = vertices.iter().map(|v| v[1]).fold(f32::NEG_INFINITY, f32::max);
            writeln!(self.table, "{:.4} {name} {low:.4} {high:.4}", frame.time)
                .map_err(|error| SinkError(error.to_string()))?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        std::fs::write("heights.txt", &self.table).map_err(|error| SinkError(format!("heights.txt: {error}")))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // any scene: here the jelly torus of the zoo, half a second of it
    let mut scene = sinew::zoo::jelly_torus();
    scene.seconds = 0.5;

    let mut heights = Heights::default();
    Player::build(&scene)?.play(&mut [&mut heights], |_| {})?;
    println!("{} lines in heights.txt", heights.table.lines().count());
    assert_eq!(heights.table.lines().count(), 1 + 31, "a header, the start and 30 frames");
    Ok(())
}
