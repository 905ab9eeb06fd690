//! What a take amounts to, for machines and for people.

use serde::Serialize;
use sinew_take::Player;
use std::fmt;

/// Clocks of a run (s).
#[derive(Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) build_seconds: f64,
    pub(crate) wall_seconds: f64,
}

/// The object that `--stats` writes.
#[derive(Serialize)]
pub(crate) struct Stats {
    bodies: Vec<BodyStats>,
    bones: usize,
    /// Coordinates that are free to move.
    dof: usize,
    frames: usize,
    steps: usize,
    stable_step_seconds: f64,
    simulated_seconds: f64,
    build_seconds: f64,
    wall_seconds: f64,
    realtime_factor: f64,
    solver: &'static str,
    threads: usize,
    max_inverted: usize,
    diagonalised_share: f64,
    retries: usize,
    state_hash: String,
}

#[derive(Serialize)]
struct BodyStats {
    name: String,
    tets: usize,
    nodes: usize,
    surface_vertices: usize,
    mass: f64,
    volume: f64,
}

impl Stats {
    pub(crate) fn of(player: &Player, timing: Timing) -> Stats {
        let (model, summary) = (&player.model, &player.summary);
        let bodies = model.bodies.iter().map(|body| BodyStats {
            name: body.name.clone(),
            tets: body.tets.len(),
            nodes: body.nodes.len(),
            surface_vertices: body.surface.vertices.len(),
            mass: body.mass,
            volume: body.volume,
        });
        let element_steps = (summary.steps * model.elements.count()).max(1);
        Stats {
            bodies: bodies.collect(),
            bones: 0,
            dof: 3 * model.node_inverse_mass.iter().filter(|&&m| m > 0.0).count(),
            frames: summary.frames,
            steps: summary.steps,
            stable_step_seconds: model.stable_step.seconds,
            simulated_seconds: player.state.time,
            build_seconds: timing.build_seconds,
            wall_seconds: timing.wall_seconds,
            realtime_factor: player.state.time / timing.wall_seconds.max(1e-9),
            solver: "explicit",
            threads: rayon::current_num_threads(),
            max_inverted: summary.max_inverted,
            diagonalised_share: summary.diagonalised as f64 / element_steps as f64,
            retries: summary.retries,
            state_hash: format!("{:016x}", player.state.hash()),
        }
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for body in &self.bodies {
            writeln!(
                f,
                "{}: {:.4} kg, {:.6} m³, {} tets, {} nodes, {} surface vertices",
                body.name, body.mass, body.volume, body.tets, body.nodes, body.surface_vertices
            )?;
        }
        write!(
            f,
            "{:.2} s in {:.2} s ({:.1} × real time), {} steps of at most {:.2} ms on {} threads, built in {:.2} s",
            self.simulated_seconds,
            self.wall_seconds,
            self.realtime_factor,
            self.steps,
            1e3 * self.stable_step_seconds,
            self.threads,
            self.build_seconds
        )?;
        if self.retries > 0 {
            write!(f, "\n{} times a frame diverged and was taken again with smaller steps", self.retries)?;
        }
        if self.max_inverted > 0 {
            write!(f, "\nup to {} tets were turned inside out at one time", self.max_inverted)?;
        }
        Ok(())
    }
}
