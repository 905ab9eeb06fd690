//! What a take amounts to, for machines and for people.

use serde::Serialize;
use sinew_sim::SolverReason;
use sinew_sim::rest_shape::RestShapeReport;
use sinew_skeleton::{Bone, DriveKind};
use sinew_take::Player;
use std::fmt;

/// Clocks of a run (s).
#[derive(Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) build_seconds: f64,
    pub(crate) wall_seconds: f64,
    /// When in the take the clock was started (s of the take).
    pub(crate) begun_at: f64,
}

/// The object that `--stats` writes.
#[derive(Serialize)]
pub(crate) struct Stats {
    /// The version, by which the file is known as one of Sinew.
    sinew: &'static str,
    bodies: Vec<BodyStats>,
    bones: usize,
    /// Degrees of freedom of all joints.
    dof: usize,
    /// Coordinates of nodes that are free to move.
    node_dof: usize,
    skeletons: Vec<SkeletonStats>,
    /// Of all that moves, at the end (kg m/s).
    momentum: [f64; 3],
    /// About the origin (kg m²/s).
    angular_momentum: [f64; 3],
    frames: usize,
    steps: usize,
    stable_step_seconds: f64,
    simulated_seconds: f64,
    build_seconds: f64,
    wall_seconds: f64,
    realtime_factor: f64,
    solver: &'static str,
    /// Why steps are explicit or implicit.
    solver_reason: String,
    /// Implicit steps that did not reach their tolerance.
    unsolved_steps: usize,
    /// Those of them that ran out of their budget of time.
    late_steps: usize,
    threads: usize,
    max_inverted: usize,
    diagonalised_fraction: f64,
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
    /// What keeps it from sagging.
    sag: &'static str,
    /// How its rest shape carries it.
    rest_shape: Option<RestShapeStats>,
    #[serde(skip)]
    rest_shape_line: String,
}

#[derive(Serialize)]
struct RestShapeStats {
    /// The fraction of the weight that stress carries in the drawn shape.
    carried: f64,
    /// How far flesh rests from the drawn shape in the bind pose (m).
    farthest: f64,
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
struct SkeletonStats {
    name: String,
    bones: usize,
    dof: usize,
    /// Mass of the bones without flesh (kg).
    bone_mass: f64,
    /// Joints that were driven by a motion in the last step.
    prescribed_joints: Vec<JointStats>,
}

/// Torques of a joint (N m, or N where it slides), one per degree of freedom.
#[derive(Serialize)]
struct JointStats {
    bone: String,
    /// At the end.
    torque: Vec<f64>,
    /// The largest of the take.
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

impl Stats {
    pub(crate) fn of(player: &Player, timing: Timing) -> Stats {
        let (model, summary) = (&player.model, &player.summary);
        let bodies = model.bodies().iter().map(|body| BodyStats {
            name: body.name.clone(),
            tets: body.tets.len(),
            nodes: body.nodes.len(),
            surface_vertices: body.surface.vertices.len(),
            mass: body.mass,
            volume: body.volume,
            sag: body.sag.name(),
            rest_shape: body.rest_shape.as_ref().map(RestShapeStats::of),
            rest_shape_line: body.rest_shape.map_or_else(String::new, |report| report.to_string()),
        });
        let element_steps = (summary.steps * model.elements().count()).max(1);
        Stats {
            sinew: env!("CARGO_PKG_VERSION"),
            bodies: bodies.collect(),
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
            build_seconds: timing.build_seconds,
            wall_seconds: timing.wall_seconds,
            realtime_factor: (player.state.time - timing.begun_at) / timing.wall_seconds.max(1e-9),
            solver: player.solver().kind().name(),
            solver_reason: player.solver().reason.to_string(),
            unsolved_steps: player.unsolved_steps(),
            late_steps: player.late_steps(),
            threads: rayon::current_num_threads(),
            max_inverted: summary.max_inverted,
            diagonalised_fraction: summary.diagonalised as f64 / element_steps as f64,
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
        let limit = match self.solver {
            "explicit" => format!(" of at most {:.2} ms", 1e3 * self.stable_step_seconds),
            _ => String::new(),
        };
        write!(
            f,
            "{:.2} s in {:.2} s ({:.1} × real time), {} {} steps{limit} on {} threads, built in {:.2} s",
            self.simulated_seconds,
            self.wall_seconds,
            self.realtime_factor,
            self.steps,
            self.solver,
            self.threads,
            self.build_seconds
        )?;
        if self.retries > 0 {
            write!(f, "\n{} times a frame diverged and was taken again with smaller steps", self.retries)?;
        }
        if self.solver_reason != SolverReason::Asked.to_string() {
            write!(f, "\n{} steps: {}", self.solver, self.solver_reason)?;
        }
        if self.unsolved_steps > 0 {
            write!(f, "\n{} implicit steps did not reach their tolerance", self.unsolved_steps)?;
            if self.late_steps > 0 {
                write!(f, ", {} of them for want of time", self.late_steps)?;
            }
        }
        if self.max_inverted > 0 {
            write!(f, "\nup to {} tets were turned inside out at one time", self.max_inverted)?;
        }
        Ok(())
    }
}
