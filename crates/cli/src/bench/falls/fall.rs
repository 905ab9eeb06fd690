//! One fall of one character: the world it falls in, how it is dropped, and what is measured on the way.

use super::free_roots::free_roots;
use super::row::Row;
use super::sheet::FallSheet;
use crate::failure::Failure;
use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use sinew_character::TakeSettings;
use sinew_control::DriveMode;
use sinew_files::Replace;
use sinew_io::{CharacterChoice, OpenedScene};
use sinew_math::{Isometry, Rotation, Vec3, so3};
use sinew_sim::desc::{ObstacleDesc, Sag, Shape};
use sinew_sim::{Model, Overlap, State};
use sinew_skeleton::{JointPrimitive, SkeletonState};
use sinew_take::{Frame, Player, Scene};
use sinew_zoo::source;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Frames between two measurements of overlap.
const OVERLAP_EVERY: usize = 12;
/// The height of the fall, and the height and depth of a step of the stairs, as fractions of the character's size.
const DROP: f64 = 0.5;
const STEP: [f64; 2] = [0.1, 0.2];
const STEPS: usize = 5;
/// How far below the origin the ground is, as a multiple of the size: built-in characters are around the origin, and must not touch it before they are dropped.
const BELOW: f64 = 3.0;

/// What a fall is, told to the process that simulates it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fall {
    /// The file of the character, or its name in the zoo.
    pub(super) character: PathBuf,
    pub(super) is_limp: bool,
    pub(super) seed: u64,
    pub(super) on_stairs: bool,
    pub(super) self_contact: bool,
    pub(super) seconds: f64,
    /// How much processor time all of it may take (s).
    pub(super) limit: f64,
    pub(super) sheet: Option<PathBuf>,
}

impl Fall {
    /// The row before anything is measured.
    pub(super) fn row(&self) -> Row {
        let name = self.character.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Row {
            bench: "falls".into(),
            character: name,
            mode: if self.is_limp { "limp" } else { "two-way" }.into(),
            seed: self.seed,
            ground: if self.on_stairs { "stairs" } else { "floor" }.into(),
            self_contact: self.self_contact,
            ..Row::default()
        }
    }

    /// Simulates the fall.
    pub(super) fn measure(&self) -> Result<Row, String> {
        // the scene, and the character above the ground
        let opened = self.open()?;
        let mut player = Player::build(&opened.scene).map_err(|error| error.to_string())?;
        let start = Instant::now();
        player.preroll(|_, _| {}).map_err(|error| error.to_string())?;
        let mut wall = start.elapsed();
        let up = up_of(&opened.scene);
        let size = size_of(&player.model);
        self.drop_from(&player.model.clone(), (&up, size), &mut player.state);

        // the fall
        let mut sheet = self.sheet.is_some().then(|| FallSheet::new(&opened, &player.model));
        let at_start = Overlap::of_vertices(&player.model, &player.state);
        let mut row = Row { size, ..self.row() };
        let mut cpu = Duration::ZERO;
        let mut frame = Frame::default();
        let mut lowest = f64::INFINITY;
        loop {
            if let Some(sheet) = &mut sheet {
                frame.update(&player.model, &player.state);
                sheet.add(player.frame(), player.frame_count(), &frame);
            }
            row.max_parted_fraction =
                row.max_parted_fraction.max(parted(&player.model, &player.state) / size);
            let height = height_of(&up, &player.state);
            lowest = lowest.min(height);
            row.max_rise_fraction = row.max_rise_fraction.max((height - lowest) / size);
            if player.frame() % OVERLAP_EVERY == 0 || player.frame() >= player.frame_count() {
                let deeper = self.deeper(&player.model, &player.state, &at_start);
                row.max_overlap_fraction = row.max_overlap_fraction.max(deeper / size);
                let sunk = Overlap::in_obstacles(&player.model, &player.state);
                row.max_sunk_fraction = row.max_sunk_fraction.max(sunk / size);
            }
            if player.frame() >= player.frame_count() {
                break;
            }
            if ProcessTime::now().as_duration().as_secs_f64() > self.limit {
                return Err(format!(
                    "stopped at {:.2} s after {:.0} s of processor time",
                    player.state.time, self.limit
                ));
            }
            let (start, cpu_start) = (Instant::now(), ProcessTime::now());
            let report = player.advance().map_err(|error| error.to_string())?;
            wall += start.elapsed();
            cpu += cpu_start.elapsed();
            row.retried_frames += usize::from(report.retries > 0);
        }
        if let (Some(sheet), Some(path)) = (sheet, &self.sheet) {
            sheet.write(path, Replace::Any)?;
        }

        // the row
        let tets = player.model.elements().count();
        row.seconds = player.state.time;
        row.tets = tets;
        row.bones = player.model.rigs().iter().map(|rig| rig.skeleton.bones().len()).sum();
        row.seconds_per_simulated_second =
            wall.as_secs_f64() / (opened.scene.preroll.max(0.0) + player.state.time).max(1e-9);
        row.cpu_per_simulated_second = cpu.as_secs_f64() / player.state.time.max(1e-9);
        row.max_inverted_fraction = player.summary.max_inverted as f64 / tets.max(1) as f64;
        row.end_speed = end_speed(&player.model, &player.state);
        row.peak_memory_mb = peak_memory();
        Ok(row.judged())
    }

    /// How much deeper a vertex is in other flesh than at the start (m), and, where an animation moves the joints, than the skinned shape of that pose.
    fn deeper(&self, model: &Model, state: &State, at_start: &[f64]) -> f64 {
        let now = Overlap::of_vertices(model, state);
        let mut drawn = at_start.to_vec();
        if !self.is_limp {
            let mut skinned = state.clone();
            skinned.carry_flesh(model);
            let animated = Overlap::of_vertices(model, &skinned);
            drawn.iter_mut().zip(animated).for_each(|(drawn, animated)| *drawn = drawn.max(animated));
        }
        now.iter().zip(&drawn).map(|(now, drawn)| now - drawn).fold(0.0, f64::max)
    }

    /// The character alone in a world with ground.
    fn open(&self) -> Result<OpenedScene, String> {
        let lead = if self.is_limp { DriveMode::Ragdoll } else { DriveMode::TwoWay };
        let choice = CharacterChoice { lead: Some(lead), ..CharacterChoice::default() };
        let opened =
            source::open(Some(&self.character), &choice).map_err(|error| Failure::from(error).text())?;
        let mut opened = opened.value;
        let scene = &mut opened.scene;
        let fps = scene.fps;
        if scene.world.gravity == Vec3::zeros() {
            scene.world.gravity = Vec3::new(0.0, -9.81, 0.0);
        }
        free_roots(scene);
        scene.world.obstacles.clear();
        scene.obstacle_motions.clear();
        scene.world.constraints.clear();
        scene.constraint_motions.clear();
        scene.world.bodies.iter_mut().for_each(|body| {
            body.pins.clear();
            body.loads.clear();
            // what no longer hangs from anything does not sag
            if body.attachment.is_none() {
                body.sag = Sag::Free;
            }
        });
        scene.pin_motions.iter_mut().for_each(Vec::clear);
        let settings = TakeSettings {
            seconds: self.seconds,
            fps,
            lead: Some(lead),
            self_contact: self.self_contact,
            ..TakeSettings::default()
        };
        settings.apply(scene);
        // what drives joints at the start drives them to the end
        scene.performances.iter_mut().for_each(|performance| performance.cues.retain(|cue| cue.time <= 0.0));
        scene.edits.clear();

        // the size is known once bodies are built
        let model = Model::build(&scene.world).map_err(|error| error.to_string())?;
        let (up, size) = (up_of(scene), size_of(&model));
        self.add_ground(&up, size, scene);
        Ok(opened)
    }

    /// A floor, with stairs on it if wanted.
    fn add_ground(&self, up: &Vec3, size: f64, scene: &mut Scene) {
        let floor = Shape::Plane { normal: *up };
        let base = -BELOW * size * up;
        let at = Isometry::from_parts(base.into(), Rotation::identity());
        scene.world.obstacles.push(ObstacleDesc::fixed("floor", floor, at));
        if !self.on_stairs {
            return;
        }
        // up is an axis; stairs go down along another
        let along = if up.x.abs() > 0.5 { Vec3::y() } else { Vec3::x() };
        for i in 0..STEPS {
            let height = STEP[0] * size * (STEPS - i) as f64;
            let half = size
                * (0.5 * STEP[1] * along.abs() + 2.0 * (Vec3::repeat(1.0) - along.abs() - up.abs()))
                + 0.5 * height * up.abs();
            let at = base + along * (STEP[1] * size * (i as f64 - 1.0)) + 0.5 * height * up;
            let shape = Shape::Cuboid { half };
            let name = format!("step {}", i + 1);
            let at = Isometry::from_parts(at.into(), Rotation::identity());
            scene.world.obstacles.push(ObstacleDesc::fixed(&name, shape, at));
        }
    }

    /// Turns the character as the seed says and lifts it above the ground, at rest.
    fn drop_from(&self, model: &Model, (up, size): (&Vec3, f64), state: &mut State) {
        // about the middle of its nodes
        let middle = state.node_x.iter().sum::<Vec3>() / state.node_x.len().max(1) as f64;
        let turn = so3::exp(&seeded_rotation(self.seed));
        let lowest =
            state.node_x.iter().map(|x| up.dot(&(turn * (x - middle)))).fold(f64::INFINITY, f64::min);
        let top = if self.on_stairs { STEP[0] * size * (STEPS - 1) as f64 } else { 0.0 };
        let lift = up * (top + (DROP - BELOW) * size - lowest);
        let moved =
            Isometry::from_parts(lift.into(), turn) * Isometry::translation(-middle.x, -middle.y, -middle.z);
        state.node_x.iter_mut().for_each(|x| *x = moved.transform_point(&(*x).into()).coords);
        state.node_v.iter_mut().for_each(|v| *v = Vec3::zeros());

        // roots move along; joints keep their angles
        for (rig, own) in model.rigs().iter().zip(&mut state.rigs) {
            own.v.fill(0.0);
            for bone in rig.skeleton.bones().iter().filter(|bone| bone.parent.is_none()) {
                move_root(&moved, (&bone.parent_from_joint.isometry(), bone.joint.q()), own);
            }
        }
        state.anchors.clear();
        state.pair_anchors.clear();
        let energies = state.energies(model);
        state.supplied_energy = energies.kinetic + energies.elastic + energies.potential;
    }
}

/// Moves a free root joint: a position and a quaternion (x, y, z, w). Others stay where they are.
fn move_root(moved: &Isometry, (joint, q): (&Isometry, core::ops::Range<usize>), state: &mut SkeletonState) {
    let Ok(own) = <&mut [f64; 7]>::try_from(&mut state.q[q]) else { return };
    let rotation = sinew_math::nalgebra::Quaternion::new(own[6], own[3], own[4], own[5]);
    let pose =
        Isometry::from_parts(Vec3::new(own[0], own[1], own[2]).into(), Rotation::from_quaternion(rotation));
    let next = joint.inverse() * moved * joint * pose;
    let (t, r) = (next.translation.vector, next.rotation);
    *own = [t.x, t.y, t.z, r.i, r.j, r.k, r.w];
}

/// A rotation vector (rad) for a seed: none for 0, else a turn about an axis, both from a sequence of low discrepancy.
fn seeded_rotation(seed: u64) -> Vec3 {
    let fraction = |step: f64| (step * seed as f64).fract();
    let (height, angle) = (2.0 * fraction(0.819_172_5) - 1.0, core::f64::consts::TAU * fraction(0.671_043_6));
    let radius = (1.0 - height * height).max(0.0).sqrt();
    let axis =
        Vec3::new(radius * sinew_math::real::cos(angle), height, radius * sinew_math::real::sin(angle));
    axis * (core::f64::consts::PI * fraction(0.549_700_5))
}

/// Against gravity.
fn up_of(scene: &Scene) -> Vec3 {
    (-scene.world.gravity).try_normalize(0.0).unwrap_or_else(Vec3::y)
}

/// The largest extent of all bodies at rest (m).
fn size_of(model: &Model) -> f64 {
    let bounds = model.bodies().iter().filter_map(|body| body.surface.bounds());
    bounds.map(|(low, high)| (high - low).amax()).fold(0.0, f64::max).max(1e-6)
}

/// How far translations of joints are beyond their range (m).
fn parted(model: &Model, state: &State) -> f64 {
    let mut farthest = 0.0f64;
    for (rig, own) in model.rigs().iter().zip(&state.rigs) {
        for bone in rig.skeleton.bones().iter().filter(|bone| bone.parent.is_some()) {
            if rig.skeleton.parts(&bone.joint).first() != Some(&JointPrimitive::Translation) {
                continue;
            }
            for (q, dof) in own.q[bone.joint.q()].iter().zip(&rig.skeleton.dofs()[bone.joint.v()]).take(3) {
                farthest = farthest.max(q - dof.upper).max(dof.lower - q);
            }
        }
    }
    farthest
}

/// How high the middle of all nodes is (m).
fn height_of(up: &Vec3, state: &State) -> f64 {
    state.node_x.iter().map(|x| up.dot(x)).sum::<f64>() / state.node_x.len().max(1) as f64
}

/// The root mean square of the speed of all mass (m/s).
fn end_speed(model: &Model, state: &State) -> f64 {
    let mass =
        model.node_mass().iter().sum::<f64>() + model.rigs().iter().map(|rig| rig.bone_mass).sum::<f64>();
    (2.0 * state.energies(model).kinetic / mass.max(f64::MIN_POSITIVE)).sqrt()
}

/// The largest resident memory of this process so far (MB), where the system reports it.
fn peak_memory() -> Option<f64> {
    let text = std::fs::read_to_string(Path::new("/proc/self/status")).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fall(character: &str, limit: f64) -> Fall {
        Fall {
            character: character.into(),
            is_limp: true,
            seed: 0,
            on_stairs: false,
            self_contact: true,
            seconds: 0.1,
            limit,
            sheet: None,
        }
    }

    /// The rabbit of the zoo is shaped to sag from what it is pinned to. Let go, it falls.
    #[test]
    fn what_hangs_by_pins_is_let_go() {
        let opened = fall("rabbit-twist", 60.0).open().expect("falls");
        assert!(Model::build(&opened.scene.world).is_ok());
    }

    /// Building a model takes some processor time, so that a fall without any is stopped before its first frame, and says where.
    #[test]
    fn a_fall_that_takes_too_long_is_an_error() {
        let error = fall("worm", 1e-9).measure().expect_err("stopped");
        assert!(error.starts_with("stopped at 0.00 s after"), "{error}");
    }
}
