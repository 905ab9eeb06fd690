//! The characters and cages of Kim and Pollard, beside their published timings on a 2.8 GHz Core 2 and a GTX 280.     [KimPollard2011, tables III and IV]

use super::best_time;
use crate::failure::Failure;
use serde::Serialize;
use sinew_control::DriveMode;
use sinew_flesh::{CornerForces, Diagonalise, NodeMotion};
use sinew_math::Vec3;
use sinew_sim::desc::ObstacleDesc;
use sinew_sim::{Control, Model, RigControl, State, Stepper};
use sinew_skeleton::{Drives, Dynamics, Kinematics, Loads};
use sinew_take::{PlayError, Player, Scene};
use sinew_zoo::{dancer, fish, starfish, worm};
use std::time::{Duration, Instant};

/// The cost of simulating a character for one second.
#[derive(Serialize)]
pub(super) struct Second {
    bench: &'static str,
    work: &'static str,
    tets: usize,
    nodes: usize,
    surface_vertices: usize,
    bones: usize,
    dof: usize,
    threads: usize,
    /// The time step (ms): the published one, or a shorter one if that is not stable.
    step_ms: f64,
    seconds_per_simulated_second: f64,
    /// The same with the longest stable step, which takes use.
    own_step_ms: f64,
    seconds_with_own_step: f64,
    /// The published times, on the CPU alone and with the GPU (s).
    kim_cpu_seconds: Option<f64>,
    kim_gpu_seconds: Option<f64>,
    target_seconds: f64,
}

/// The cost of one step of a cage, split as in the publication.
#[derive(Serialize)]
pub(super) struct Step {
    bench: &'static str,
    work: &'static str,
    cage: &'static str,
    tets: usize,
    nodes: usize,
    surface_vertices: usize,
    bones: usize,
    threads: usize,
    step_ms: f64,
    update_surface_ms: f64,
    elastic_forces_ms: f64,
    /// The dynamics and kinematics of the skeleton.
    skeleton_ms: f64,
    /// The rest of the step: damping, the dynamics of the nodes, and forces passed on to bones.
    nodes_ms: f64,
    kim_cpu_ms: f64,
    kim_gpu_ms: f64,
}

struct Work {
    name: &'static str,
    scene: fn() -> Scene,
    /// The published time step (s).
    step: f64,
    /// The published times of one simulated second (s).
    cpu: Option<f64>,
    gpu: Option<f64>,
    /// The time to stay below (s).
    target: f64,
    /// Whether it lies on the ground with a free root bone.
    on_ground: bool,
}

const WORKS: [Work; 4] = [
    Work {
        name: "dancer",
        scene: || dancer(8_600, 0.0097),
        step: 0.5e-3,
        cpu: Some(13.24),
        gpu: Some(1.33),
        target: 0.35,
        on_ground: false,
    },
    Work {
        name: "starfish",
        scene: || starfish(200),
        step: 1e-3,
        cpu: Some(0.49),
        gpu: None,
        target: 0.03,
        on_ground: true,
    },
    Work {
        name: "fish",
        scene: || fish(420),
        step: 1e-3,
        cpu: Some(0.50),
        gpu: None,
        target: 0.03,
        on_ground: true,
    },
    Work {
        name: "worm",
        scene: || worm(720),
        step: 1e-3,
        cpu: Some(0.57),
        gpu: None,
        target: 0.03,
        on_ground: true,
    },
];

/// The published cages: name, tets, and the time of a step on the CPU and with the GPU (ms).
const CAGES: [(&str, usize, f64, f64); 4] = [
    ("coarse", 200, 0.437, 0.823),
    ("moderate", 3_400, 2.047, 0.784),
    ("fine", 9_000, 4.767, 0.865),
    ("very fine", 37_600, 19.132, 1.547),
];

/// How long each measurement is repeated.
const PATIENCE: Duration = Duration::from_millis(400);
/// How long each character is timed (s), how long it moves before that (s), and how often it is timed.
const PLAYED: f64 = 1.0;
const BEFORE: f64 = 0.5;
const TRIES: usize = 3;

pub(super) fn seconds() -> Result<Vec<Second>, Failure> {
    // head of the table
    say!(
        "kim: one simulated second of the published characters, on {} threads",
        rayon::current_num_threads()
    );
    say!(
        "{:>10} {:>7} {:>9} {:>6} {:>5} {:>9} {:>10} {:>9} {:>10} {:>10} {:>10} {:>8}",
        "work",
        "tets",
        "vertices",
        "bones",
        "dof",
        "step ms",
        "seconds",
        "own ms",
        "seconds",
        "KIM CPU",
        "KIM GPU",
        "target"
    );
    let mut rows = Vec::new();

    // one row per character
    for work in &WORKS {
        let row = second(work)?;
        let given = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.2}"));
        say!(
            "{:>10} {:>7} {:>9} {:>6} {:>5} {:>9.3} {:>10.4} {:>9.3} {:>10.4} {:>10} {:>10} {:>8}",
            row.work,
            row.tets,
            row.surface_vertices,
            row.bones,
            row.dof,
            row.step_ms,
            row.seconds_per_simulated_second,
            row.own_step_ms,
            row.seconds_with_own_step,
            given(row.kim_cpu_seconds),
            given(row.kim_gpu_seconds),
            row.target_seconds
        );
        rows.push(row);
    }
    Ok(rows)
}

fn second(work: &Work) -> Result<Second, Failure> {
    // the scene
    let mut scene = (work.scene)();
    scene.seconds = BEFORE + PLAYED;
    if work.on_ground {
        put_on_ground(&mut scene);
    }

    // the published step, then the longest stable one from the same state
    let mut with_own_step = Player::build(&scene)?;
    scene.world.max_step = Some(work.step);
    let mut player = Player::build(&scene)?;
    for _ in 0..(BEFORE * scene.fps) as usize {
        player.advance().map_err(PlayError::Step)?;
    }
    let (step_ms, seconds) = time(&mut player, scene.fps)?;
    with_own_step.resume_from(&player.bookmark()).map_err(Failure::input)?;
    let (own_step_ms, seconds_with_own_step) = time(&mut with_own_step, scene.fps)?;

    // the row
    let model = &player.model;
    Ok(Second {
        bench: "kim",
        work: work.name,
        tets: model.tets().len(),
        nodes: model.node_count(),
        surface_vertices: model.bodies().iter().map(|body| body.surface.vertices.len()).sum(),
        bones: model.rigs().iter().map(|rig| rig.skeleton.bones().len()).sum(),
        dof: model.rigs().iter().map(|rig| rig.skeleton.v_count()).sum(),
        threads: rayon::current_num_threads(),
        step_ms,
        seconds_per_simulated_second: seconds,
        own_step_ms,
        seconds_with_own_step,
        kim_cpu_seconds: work.cpu,
        kim_gpu_seconds: work.gpu,
        target_seconds: work.target,
    })
}

/// The time step (ms), and the time to simulate one second (s): always the same second, the fastest of a few tries.
fn time(player: &mut Player, fps: f64) -> Result<(f64, f64), Failure> {
    let start = player.bookmark();
    let (mut best, mut steps) = (f64::INFINITY, 0);
    for _ in 0..TRIES {
        player.resume_from(&start).map_err(Failure::input)?;
        let before = player.summary.steps;
        let begin = Instant::now();
        for _ in 0..(PLAYED * fps) as usize {
            player.advance().map_err(PlayError::Step)?;
        }
        best = best.min(begin.elapsed().as_secs_f64());
        steps = player.summary.steps - before;
    }
    player.resume_from(&start).map_err(Failure::input)?;
    Ok((1e3 * PLAYED / steps.max(1) as f64, best / PLAYED))
}

/// Adds gravity and a ground under a swimmer, and frees its root bone.
fn put_on_ground(scene: &mut Scene) {
    let points = scene.world.bodies.iter().flat_map(|body| body.shape.points());
    let lowest = points.map(|point| point.y).fold(f64::INFINITY, f64::min);
    scene.world.gravity = -Vec3::y() * 9.81;
    scene.world.obstacles.push(ObstacleDesc::ground(lowest));
    scene.obstacle_motions.push(sinew_control::Motion::Still);
    scene.performances.iter_mut().for_each(|performance| performance.set_drive_mode(DriveMode::TwoWay));
}

pub(super) fn steps(max_tets: usize) -> Result<Vec<Step>, Failure> {
    // head of the table
    say!("kim: one step of the starfish in the four published cages (ms)");
    say!(
        "{:>10} {:>7} {:>8} {:>8} {:>9} {:>9} {:>8} {:>9} {:>9}",
        "cage",
        "tets",
        "step",
        "surface",
        "elastic",
        "skeleton",
        "nodes",
        "KIM CPU",
        "KIM GPU"
    );
    let mut rows = Vec::new();

    // one row per cage
    for (cage, size, cpu, gpu) in CAGES.into_iter().filter(|(_, size, _, _)| *size <= max_tets) {
        let model = Model::build(&starfish(size).world).map_err(Failure::input)?;
        let row = step(cage, &model, cpu, gpu);
        say!(
            "{:>10} {:>7} {:>8.4} {:>8.4} {:>9.4} {:>9.4} {:>8.4} {:>9} {:>9}",
            row.cage,
            row.tets,
            row.step_ms,
            row.update_surface_ms,
            row.elastic_forces_ms,
            row.skeleton_ms,
            row.nodes_ms,
            row.kim_cpu_ms,
            row.kim_gpu_ms
        );
        rows.push(row);
    }
    Ok(rows)
}

/// Times a step and its parts. The parts are timed separately, since a step does several of them at once.
fn step(cage: &'static str, model: &Model, kim_cpu_ms: f64, kim_gpu_ms: f64) -> Step {
    // a whole sub-step
    let start = State::at_rest(model);
    let mut control = Control::still(model);
    control.rigs[0] = RigControl::limp(&model.rigs()[0]);
    let mut stepper = Stepper::default();
    let mut state = start.clone();
    let dt = 7.5 * model.stable_step().seconds;
    let mut substep = f64::INFINITY;
    best_time(PATIENCE, || {
        state.clone_from(&start);
        let begin = Instant::now();
        if let Ok(report) = stepper.step(model, &control, dt, &mut state) {
            substep = substep.min(begin.elapsed().as_secs_f64() / report.substeps as f64);
        }
    });

    // elastic forces
    let mut corner_forces = CornerForces::default();
    let elastic = best_time(PATIENCE, || {
        let motion = NodeMotion { x: &state.node_x, v: &state.node_v };
        corner_forces.update(model.elements(), motion, Diagonalise::Selectively);
    });

    // surface
    let body = &model.bodies()[0];
    let mut vertices = vec![Vec3::zeros(); body.surface.vertices.len()];
    let surface = best_time(PATIENCE, || {
        body.embedding.interpolate(&state.node_x[body.nodes.clone()], &mut vertices);
    });

    // skeleton
    let skeleton = &model.rigs()[0].skeleton;
    let (mut kinematics, mut dynamics, drives) =
        (Kinematics::default(), Dynamics::default(), Drives::limp(skeleton));
    let wrenches = vec![Default::default(); skeleton.bones().len()];
    let bones = best_time(PATIENCE, || {
        kinematics.update(skeleton, &state.rigs[0]);
        let loads = Loads { gravity: model.gravity(), wrenches: &wrenches, passive_step: 1e-3 };
        // cannot fail: no joint is prescribed, and every bone has mass
        let _ = dynamics.solve_centered(skeleton, &kinematics, &state.rigs[0], &drives, &loads, 1e-3);
    });

    // the row
    let step = substep + surface;
    Step {
        bench: "kim",
        work: "starfish",
        cage,
        tets: model.tets().len(),
        nodes: model.node_count(),
        surface_vertices: vertices.len(),
        bones: skeleton.bones().len(),
        threads: rayon::current_num_threads(),
        step_ms: 1e3 * step,
        update_surface_ms: 1e3 * surface,
        elastic_forces_ms: 1e3 * elastic,
        skeleton_ms: 1e3 * bones,
        nodes_ms: 1e3 * (substep - elastic - bones).max(0.0),
        kim_cpu_ms,
        kim_gpu_ms,
    }
}
