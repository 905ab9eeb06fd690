//! Statistics of a simulated take, as JSON and as a summary for people.

use crate::failure::Failure;
use crate::outputs::{atomic_file, is_take};
use clap::Args;
use serde::Serialize;
use sinew_character::{CharacterBinding, CharacterReport};
use sinew_io::{AtomicFile, BakedCharacter, OpenedScene, SinkReport};
use sinew_sim::rest_shape::RestShapeReport;
use sinew_sim::{Body, BodyKind, SolverReason};
use sinew_skeleton::{Bone, DriveKind};
use sinew_take::Player;
use std::fmt;
use std::io::Write;
use std::path::PathBuf;

/// Where statistics go.
#[derive(Args, Default)]
pub(crate) struct StatsOptions {
    /// Write statistics as JSON: masses, mesh sizes, timings and the hash of the final state.
    #[arg(long = "stats", value_name = "FILE.json")]
    pub(crate) path: Option<PathBuf>,

    /// Print the statistics as JSON instead of a summary.
    #[arg(long)]
    pub(crate) json: bool,
}

impl StatsOptions {
    /// Whether the user asked for statistics.
    pub(crate) fn wanted(&self) -> bool {
        self.json || self.path.is_some()
    }

    /// Creates the statistics file, before any work is done.
    pub(crate) fn create_file(&self) -> Result<Option<AtomicFile>, Failure> {
        if let Some(path) = self.path.as_deref().filter(|path| is_take(path)) {
            let path = path.display();
            return Err(Failure::input(format!("{path}: statistics are written as JSON: give NAME.json")));
        }
        self.path.as_deref().map(atomic_file).transpose()
    }

    /// Writes statistics to the file, and prints them if they are wanted as JSON.
    pub(crate) fn report(&self, stats: &Stats, file: Option<AtomicFile>) -> Result<(), Failure> {
        write_json(stats, file)?;
        if self.json {
            say_json(stats);
        }
        Ok(())
    }
}

/// Writes statistics to a file, if there is one.
pub(crate) fn write_json(stats: &impl Serialize, file: Option<AtomicFile>) -> Result<(), Failure> {
    let Some(mut file) = file else { return Ok(()) };
    let written = file.write_all(to_json(stats).as_bytes());
    written.and_then(|()| file.commit()).map_err(|e| Failure::input(format!("stats: {e}")))
}

/// Prints statistics.
pub(crate) fn say_json(stats: &impl Serialize) {
    say!("{}", to_json(stats));
}

fn to_json(stats: &impl Serialize) -> String {
    serde_json::to_string_pretty(stats).unwrap_or_default() + "\n"
}

/// Timings of a run (s).
#[derive(Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) build_seconds: f64,
    pub(crate) wall_seconds: f64,
    /// The time of the take at which `wall_seconds` began to count.
    pub(crate) begun_at: f64,
}

/// The JSON object that `--stats` writes.
#[derive(Serialize)]
pub(crate) struct Stats {
    /// The version; it also identifies the file as written by Sinew.
    sinew: &'static str,
    pub(crate) bodies: Vec<BodyStats>,
    /// The characters from files, compared with plain skinning.
    pub(crate) characters: Vec<CharacterStats>,
    bones: usize,
    /// Degrees of freedom of all joints.
    dof: usize,
    /// Degrees of freedom of the nodes that are not fixed.
    node_dof: usize,
    pub(crate) skeletons: Vec<SkeletonStats>,
    /// Linear momentum at the end (kg m/s).
    momentum: [f64; 3],
    /// Angular momentum about the origin at the end (kg m²/s).
    angular_momentum: [f64; 3],
    frames: usize,
    pub(crate) steps: usize,
    stable_step_seconds: f64,
    /// The time of the take at the end (s).
    pub(crate) simulated_seconds: f64,
    /// How much of it this run has simulated, where the beginning was recorded before (s).
    #[serde(skip)]
    pub(crate) stepped_seconds: f64,
    pub(crate) build_seconds: f64,
    pub(crate) wall_seconds: f64,
    /// How long outputs were compressed and written after the last frame (s).
    pub(crate) write_seconds: f64,
    pub(crate) realtime_factor: f64,
    pub(crate) solver: &'static str,
    /// Why this solver was chosen.
    solver_reason: String,
    /// Implicit steps that did not reach their tolerance.
    pub(crate) unsolved_steps: usize,
    /// Those of them that ran out of their time budget.
    late_steps: usize,
    /// Implicit sub-steps that kept surfaces apart by barriers.
    barrier_substeps: usize,
    /// Those that were left to springs.
    barrier_fallbacks: usize,
    /// Exact constraints that were dropped because others contradict them, by name.
    dropped_constraints: Vec<String>,
    /// What happened to them.
    #[serde(skip)]
    pub(crate) dropped_words: Vec<String>,
    threads: usize,
    max_inverted: usize,
    /// The same as a fraction of all tets.
    pub(crate) inverted_fraction: f64,
    diagonalised_fraction: f64,
    pub(crate) retries: usize,
    state_hash: String,
}

/// A character from a file beside plain skinning. Distances are between flesh and its skinned place (m), changes of volume fractions of that at bind.
#[derive(Serialize)]
pub(crate) struct CharacterStats {
    pub(crate) name: String,
    /// The largest extent at bind (m).
    pub(crate) size: f64,
    first_frame_mean: f64,
    first_frame_max: f64,
    take_mean: f64,
    take_max: f64,
    volume_change: f64,
    skinning_volume_change: f64,
    /// The parts that stay rigid.
    pub(crate) rigid_parts: Vec<String>,
    #[serde(skip)]
    pub(crate) report: CharacterReport,
    #[serde(skip)]
    pub(crate) body: usize,
}

impl CharacterStats {
    fn of(binding: &CharacterBinding, baked: &BakedCharacter) -> CharacterStats {
        let report = baked.report.clone();
        CharacterStats {
            name: baked.name.clone(),
            size: report.size,
            first_frame_mean: report.first_frame_mean,
            first_frame_max: report.first_frame_max,
            take_mean: report.take_mean,
            take_max: report.take_max.value,
            volume_change: report.volume_change,
            skinning_volume_change: report.skinning_volume_change,
            rigid_parts: binding.rigid_parts().to_vec(),
            report,
            body: binding.body,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct BodyStats {
    pub(crate) name: String,
    /// What it is made of: `flesh`, a `sheet` (cloth and shells), or `points` (springs and custom bodies).
    pub(crate) kind: &'static str,
    pub(crate) tets: usize,
    pub(crate) nodes: usize,
    surface_vertices: usize,
    pub(crate) mass: f64,
    pub(crate) volume: f64,
    /// Whether its surface may collide with itself.
    pub(crate) self_contact: bool,
    /// What keeps it from sagging.
    sag: &'static str,
    /// How well its rest shape carries its weight.
    rest_shape: Option<RestShapeStats>,
    #[serde(skip)]
    rest_shape_line: String,
}

#[derive(Serialize)]
struct RestShapeStats {
    /// The fraction of the weight that elastic stress balances in the drawn shape.
    carried: f64,
    /// The largest distance of the flesh at rest from the drawn shape in the bind pose (m).
    farthest: f64,
    /// The mean of that distance (m).
    mean: f64,
    newton_steps: usize,
}

impl RestShapeStats {
    fn of(report: &RestShapeReport) -> RestShapeStats {
        let RestShapeReport { carried, farthest, mean, newton, .. } = *report;
        RestShapeStats { carried, farthest, mean, newton_steps: newton }
    }
}

#[derive(Serialize)]
pub(crate) struct SkeletonStats {
    pub(crate) name: String,
    pub(crate) bones: usize,
    dof: usize,
    /// Mass of the bones without flesh (kg).
    bone_mass: f64,
    /// Joints whose motion was prescribed in the last step.
    prescribed_joints: Vec<JointStats>,
}

/// Torques of a joint, one per degree of freedom (N m; N for translations).
#[derive(Serialize)]
struct JointStats {
    bone: String,
    /// The torque at the end.
    torque: Vec<f64>,
    /// The largest torque of the take.
    peak_torque: Vec<f64>,
}

impl SkeletonStats {
    fn of(player: &Player, index: usize) -> SkeletonStats {
        let rig = &player.model.rigs()[index];
        let prescribed = rig.skeleton.bones().iter().zip(player.drives(index));
        let prescribed =
            prescribed.filter(|(bone, drive)| **drive == DriveKind::Motion && bone.joint.v_count > 0);
        let joint = |(bone, _): (&Bone, &DriveKind)| JointStats {
            bone: bone.name.clone(),
            torque: player.torques(index).get(bone.joint.v()).unwrap_or_default().to_vec(),
            peak_torque: player.peak_torques(index)[bone.joint.v()].to_vec(),
        };
        SkeletonStats {
            name: rig.name.clone(),
            bones: rig.skeleton.bones().len(),
            dof: rig.skeleton.v_count(),
            bone_mass: rig.bone_mass,
            prescribed_joints: prescribed.map(joint).collect(),
        }
    }
}

/// What a body is made of.
fn kind_of(body: &Body) -> &'static str {
    match (&body.kind, body.thickness()) {
        (BodyKind::Tets, _) => "flesh",
        (BodyKind::Custom(_), Some(_)) => "sheet",
        (BodyKind::Custom(_), None) => "points",
    }
}

impl Stats {
    pub(crate) fn of(player: &Player, timing: Timing) -> Stats {
        // bodies
        let (model, summary) = (&player.model, &player.summary);
        let bodies = model.bodies().iter().map(|body| BodyStats {
            name: body.name.clone(),
            kind: kind_of(body),
            tets: body.tets.len(),
            nodes: body.nodes.len(),
            surface_vertices: body.surface.vertices.len(),
            mass: body.mass,
            volume: body.volume,
            self_contact: false,
            sag: body.sag.name(),
            rest_shape: body.rest_shape.as_ref().map(RestShapeStats::of),
            rest_shape_line: body.rest_shape.map_or_else(String::new, |report| report.to_string()),
        });

        // the whole
        let element_steps = (summary.steps * model.elements().count()).max(1);
        Stats {
            sinew: env!("CARGO_PKG_VERSION"),
            bodies: bodies.collect(),
            characters: Vec::new(),
            bones: model.rigs().iter().map(|rig| rig.skeleton.bones().len()).sum(),
            dof: model.rigs().iter().map(|rig| rig.skeleton.v_count()).sum(),
            skeletons: (0..model.rigs().len()).map(|rig| SkeletonStats::of(player, rig)).collect(),
            momentum: player.state.momentum(model).into(),
            angular_momentum: player.state.angular_momentum(model).into(),
            node_dof: 3 * model.node_inverse_mass().iter().filter(|&&m| m > 0.0).count(),
            frames: summary.frames,
            steps: summary.steps,
            stable_step_seconds: model.stable_step().seconds,
            simulated_seconds: player.state.time,
            stepped_seconds: player.state.time - timing.begun_at,
            build_seconds: timing.build_seconds,
            wall_seconds: timing.wall_seconds,
            write_seconds: 0.0,
            realtime_factor: (player.state.time - timing.begun_at) / timing.wall_seconds.max(1e-9),
            solver: player.solver().kind().name(),
            solver_reason: player.solver().reason.to_string(),
            unsolved_steps: player.unsolved_steps(),
            late_steps: player.late_steps(),
            barrier_substeps: player.barrier_substeps(),
            barrier_fallbacks: player.barrier_fallbacks(),
            dropped_constraints: player
                .dropped_points()
                .iter()
                .map(|point| point.constraint.clone())
                .collect(),
            dropped_words: player.dropped_points().iter().map(dropped_words).collect(),
            threads: rayon::current_num_threads(),
            max_inverted: summary.max_inverted,
            inverted_fraction: summary.max_inverted as f64 / model.elements().count().max(1) as f64,
            diagonalised_fraction: summary.diagonalised as f64 / element_steps as f64,
            retries: summary.retries,
            state_hash: format!("{:016x}", player.state.hash()),
        }
    }

    /// The same with what an output measured of the characters.
    pub(crate) fn with_characters(self, source: &OpenedScene, written: &SinkReport) -> Stats {
        let found = |baked: &BakedCharacter| {
            let binding = source.bindings().find(|binding| binding.name == baked.name)?;
            Some(CharacterStats::of(binding, baked))
        };
        Stats { characters: written.characters.iter().filter_map(found).collect(), ..self }
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // bodies and skeletons
        for body in &self.bodies {
            write!(f, "{}: {:.4} kg", body.name, body.mass)?;
            if body.kind == "flesh" {
                write!(f, ", {:.6} m³, {} tets", body.volume, body.tets)?;
            }
            writeln!(f, ", {} nodes, {} surface vertices", body.nodes, body.surface_vertices)?;
            if !body.rest_shape_line.is_empty() {
                writeln!(f, "{}: {}", body.name, body.rest_shape_line)?;
            }
        }
        for skeleton in &self.skeletons {
            writeln!(
                f,
                "{}: {} bones, {} degrees of freedom, {:.4} kg without flesh",
                skeleton.name, skeleton.bones, skeleton.dof, skeleton.bone_mass
            )?;
        }

        // speed
        let limit = match self.solver {
            "explicit" => format!(" of at most {:.2} ms", 1e3 * self.stable_step_seconds),
            _ => String::new(),
        };
        write!(
            f,
            "{:.2} s simulated in {:.2} s ({:.1} × real time), {} {} steps{limit} on {} threads, built in {:.2} s, written in {:.2} s",
            self.stepped_seconds,
            self.wall_seconds,
            self.realtime_factor,
            self.steps,
            self.solver,
            self.threads,
            self.build_seconds,
            self.write_seconds
        )?;

        // what was left out
        let without = self.bodies.iter().filter(|body| !body.self_contact).map(|body| body.name.as_str());
        let without: Vec<&str> = without.collect();
        if !self.skeletons.is_empty() && !without.is_empty() {
            write!(f, "\n{}: no contact with itself, which --self-contact adds", without.join(", "))?;
        }

        // difficulties
        if self.retries > 0 {
            write!(f, "\n{} retries: frames that diverged were repeated with smaller steps", self.retries)?;
        }
        if self.solver_reason != SolverReason::Asked.to_string() {
            write!(f, "\n{} steps: {}", self.solver, self.solver_reason)?;
        }
        if self.unsolved_steps > 0 {
            write!(f, "\n{} implicit steps did not reach their tolerance", self.unsolved_steps)?;
            if self.late_steps > 0 {
                write!(f, ", {} of them because they ran out of time", self.late_steps)?;
            }
        }
        if self.barrier_fallbacks > 0 {
            write!(
                f,
                "\n{} steps left flesh no room between bones and obstacles: springs took them",
                self.barrier_fallbacks
            )?;
        }
        if self.max_inverted > 0 {
            write!(f, "\nup to {} tets were inverted at the same time", self.max_inverted)?;
        }
        Ok(())
    }
}

/// What happened to an exact constraint that was dropped.
fn dropped_words(point: &sinew_take::DroppedPoint) -> String {
    let held = match point.beside.is_empty() {
        true => "nothing of it can move".to_owned(),
        false => format!("{} holds its point elsewhere", point.beside.join(" with ")),
    };
    format!(
        "constraint '{}' was dropped from {:.2} s on: {held}, up to {:.1} cm from its target; move its target, or end one of them",
        point.constraint,
        point.time,
        100.0 * point.distance
    )
}
