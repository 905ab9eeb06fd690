//! A state as bytes, to go on from later with the same bits.
//!
//! Layout, little-endian, in words of eight bytes: `SNWSTATE`, a version, the node count, the caution of stepping, time, supplied energy, positions,
//! velocities, and a checksum of all that.

use sinew_math::Vec3;
use sinew_sim::{Caution, Model, State};
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
    #[error("the saved state has {found} nodes and the model {expected}: it belongs to another model")]
    OtherModel {
        /// Nodes of the saved state.
        found: u64,
        /// Nodes of the model.
        expected: u64,
    },
    /// Cut short or changed.
    #[error("the saved state is damaged: {0}")]
    Damaged(&'static str),
}

const WORD: &[u8; 8] = b"SNWSTATE";
const VERSION: u64 = 1;
/// Everything but positions and velocities.
const FRAME_BYTES: usize = 56;

impl Checkpoint {
    /// Saves a state.
    pub fn of(state: &State) -> Checkpoint {
        let mut bytes = Vec::with_capacity(FRAME_BYTES + 48 * state.node_x.len());
        bytes.extend_from_slice(WORD);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(state.node_x.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&state.caution.doublings.to_le_bytes());
        bytes.extend_from_slice(&state.caution.calm_steps.to_le_bytes());
        let vectors = state.node_x.iter().chain(&state.node_v).flat_map(|v| v.iter());
        for number in [&state.time, &state.supplied_energy].into_iter().chain(vectors) {
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

    /// The state that was saved, for a model with as many nodes.
    pub fn restore(&self, model: &Model) -> Result<State, CheckpointError> {
        let mut words = self.0.chunks_exact(8).map(|word| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(word);
            bytes
        });
        if words.next().as_ref() != Some(WORD) || words.next().map(u64::from_le_bytes) != Some(VERSION) {
            return Err(CheckpointError::Foreign);
        }
        let found = words.next().map(u64::from_le_bytes).ok_or(CheckpointError::Foreign)?;
        let expected = model.node_count() as u64;
        if found != expected {
            return Err(CheckpointError::OtherModel { found, expected });
        }
        if self.0.len() != FRAME_BYTES + 48 * model.node_count() {
            return Err(CheckpointError::Damaged("it has another length than its nodes need"));
        }
        let caution = words.next().unwrap_or_default();
        let half =
            |i: usize| u32::from_le_bytes([caution[i], caution[i + 1], caution[i + 2], caution[i + 3]]);
        let caution = Caution { doublings: half(0), calm_steps: half(4) };
        let mut number = || words.next().map(f64::from_le_bytes).unwrap_or_default();
        let (time, supplied_energy) = (number(), number());
        let mut vectors = || (0..expected).map(|_| Vec3::new(number(), number(), number())).collect();
        let (node_x, node_v) = (vectors(), vectors());
        let state = State { time, node_x, node_v, supplied_energy, caution };
        if !state.caution.is_sound() || words.next().map(u64::from_le_bytes) != Some(state.hash()) {
            return Err(CheckpointError::Damaged("its checksum does not fit"));
        }
        Ok(state)
    }
}
