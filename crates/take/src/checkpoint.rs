//! A state as bytes, to go on from later with the same bits.
//!
//! Layout, little-endian, in words of eight bytes: `SNWSTATE`, a version, the node count, the count of joint numbers, of obstacles, of grips and of grips between surfaces, the caution of stepping, time, supplied energy,
//! positions and velocities of nodes, coordinates and velocities of joints rig by rig, thirteen numbers per obstacle, eight per grip, five per grip between surfaces, and a
//! checksum of all that. Version 3, which is still read, has no grips between surfaces, nor their count.

use sinew_math::Vec3;
use sinew_sim::contact::{HeldGrip, ObstacleState, PairGrip};
use sinew_sim::{Caution, Model, State};
use sinew_skeleton::SkeletonState;
use thiserror::Error;

/// A saved state.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint(Vec<u8>);

/// Bytes that are no state of this model.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CheckpointError {
    /// Not a checkpoint at all, or of another version.
    #[error("these bytes are no saved state of this version")]
    Foreign,
    /// Another model's.
    #[error("the saved state has {found} {of_what} and the model {expected}: it belongs to another model")]
    OtherModel {
        /// Nodes, joint numbers or obstacles.
        of_what: &'static str,
        /// How many the saved state has.
        found: u64,
        /// How many the model has.
        expected: u64,
    },
    /// Cut short or changed.
    #[error("the saved state is damaged: {0}")]
    Damaged(&'static str),
}

const WORD: &[u8; 8] = b"SNWSTATE";
const VERSION: u64 = 4;
/// Without grips between surfaces.
const VERSION_WITHOUT_PAIRS: u64 = 3;
/// Everything but positions and velocities.
const FRAME_BYTES: usize = 88;
/// Of one obstacle, of one grip and of one between surfaces.
const OBSTACLE_BYTES: usize = 104;
const GRIP_BYTES: usize = 64;
const PAIR_GRIP_BYTES: usize = 40;

impl Checkpoint {
    /// Saves a state.
    pub fn of(state: &State) -> Checkpoint {
        let joint_numbers: usize = state.rigs.iter().map(|rig| rig.q.len() + rig.v.len()).sum();
        let mut bytes = Vec::with_capacity(FRAME_BYTES + 48 * state.node_x.len() + 8 * joint_numbers);
        bytes.extend_from_slice(WORD);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(state.node_x.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(joint_numbers as u64).to_le_bytes());
        bytes.extend_from_slice(&(state.obstacles.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(state.grips.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(state.pair_grips.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&state.caution.doublings.to_le_bytes());
        bytes.extend_from_slice(&state.caution.calm_steps.to_le_bytes());
        let vectors = state.node_x.iter().chain(&state.node_v).flat_map(|v| v.iter());
        let joints = state.rigs.iter().flat_map(|rig| rig.q.iter().chain(&rig.v));
        for number in [&state.time, &state.supplied_energy].into_iter().chain(vectors).chain(joints) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let obstacles = state.obstacles.iter().flat_map(ObstacleState::numbers);
        let grips = state.grips.iter().flat_map(HeldGrip::numbers);
        let pair_grips = state.pair_grips.iter().flat_map(PairGrip::numbers);
        for number in obstacles.chain(grips).chain(pair_grips) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&state.hash().to_le_bytes());
        Checkpoint(bytes)
    }

    /// The saved bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Takes bytes to be a saved state; [`Checkpoint::restore`] checks them.
    pub fn from_bytes(bytes: Vec<u8>) -> Checkpoint {
        Checkpoint(bytes)
    }

    /// The state that was saved, for a model with as many nodes and joints.
    pub fn restore(&self, model: &Model) -> Result<State, CheckpointError> {
        let mut words = self.0.chunks_exact(8).map(|word| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(word);
            bytes
        });
        if words.next().as_ref() != Some(WORD) {
            return Err(CheckpointError::Foreign);
        }
        let version = words.next().map(u64::from_le_bytes);
        if ![Some(VERSION), Some(VERSION_WITHOUT_PAIRS)].contains(&version) {
            return Err(CheckpointError::Foreign);
        }
        let found = words.next().map(u64::from_le_bytes).ok_or(CheckpointError::Foreign)?;
        let expected = model.node_count() as u64;
        if found != expected {
            return Err(CheckpointError::OtherModel { of_what: "nodes", found, expected });
        }
        let found = words.next().map(u64::from_le_bytes).ok_or(CheckpointError::Foreign)?;
        let joint_numbers: usize =
            model.rigs.iter().map(|rig| rig.skeleton.q_count() + rig.skeleton.v_count()).sum();
        if found != joint_numbers as u64 {
            let expected = joint_numbers as u64;
            return Err(CheckpointError::OtherModel {
                of_what: "joint coordinates and velocities",
                found,
                expected,
            });
        }
        let found = words.next().map(u64::from_le_bytes).ok_or(CheckpointError::Foreign)?;
        let obstacle_count = model.obstacles.len();
        if found != obstacle_count as u64 {
            let expected = obstacle_count as u64;
            return Err(CheckpointError::OtherModel { of_what: "obstacles", found, expected });
        }
        let grips = words.next().map(u64::from_le_bytes);
        let grip_bytes = bytes_of(grips, GRIP_BYTES);
        let (pair_grip_bytes, frame_bytes) = if version == Some(VERSION) {
            (bytes_of(words.next().map(u64::from_le_bytes), PAIR_GRIP_BYTES), FRAME_BYTES)
        } else {
            (0, FRAME_BYTES - 8)
        };
        let fixed =
            frame_bytes + 48 * model.node_count() + 8 * joint_numbers + OBSTACLE_BYTES * obstacle_count;
        if self.0.len() != fixed.saturating_add(grip_bytes).saturating_add(pair_grip_bytes) {
            return Err(CheckpointError::Damaged("it has another length than its nodes and joints need"));
        }
        let caution = words.next().unwrap_or_default();
        let half =
            |i: usize| u32::from_le_bytes([caution[i], caution[i + 1], caution[i + 2], caution[i + 3]]);
        let caution = Caution { doublings: half(0), calm_steps: half(4) };
        let mut number = || words.next().map(f64::from_le_bytes).unwrap_or_default();
        let (time, supplied_energy) = (number(), number());
        let mut vectors = || (0..expected).map(|_| Vec3::new(number(), number(), number())).collect();
        let (node_x, node_v) = (vectors(), vectors());
        let rig = |rig: &sinew_sim::Rig| {
            let q = (0..rig.skeleton.q_count()).map(|_| number()).collect();
            SkeletonState { q, v: (0..rig.skeleton.v_count()).map(|_| number()).collect() }
        };
        let rigs = model.rigs.iter().map(rig).collect();
        let mut number = || words.next().map(f64::from_le_bytes).unwrap_or_default();
        let mut obstacle = |_| ObstacleState::from_numbers(core::array::from_fn(|_| number()));
        let obstacles = (0..obstacle_count).map(&mut obstacle).collect();
        let mut grip = |_| HeldGrip::from_numbers(core::array::from_fn(|_| number()));
        let grips = (0..grip_bytes / GRIP_BYTES).map(&mut grip).collect();
        let mut pair_grip = |_| PairGrip::from_numbers(core::array::from_fn(|_| number()));
        let pair_grips = (0..pair_grip_bytes / PAIR_GRIP_BYTES).map(&mut pair_grip).collect();
        let state =
            State { time, node_x, node_v, rigs, obstacles, grips, pair_grips, supplied_energy, caution };
        if !state.caution.is_sound() || words.next().map(u64::from_le_bytes) != Some(state.hash()) {
            return Err(CheckpointError::Damaged("its checksum does not fit"));
        }
        Ok(state)
    }
}

/// Bytes of so many things, or more than any file has.
fn bytes_of(count: Option<u64>, each: usize) -> usize {
    let count = count.and_then(|count| usize::try_from(count).ok());
    count.and_then(|count| count.checked_mul(each)).unwrap_or(usize::MAX / 2)
}
