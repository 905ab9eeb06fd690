//! Checkpoints: serialised states from which a simulation resumes with the same bits.
//!
//! Layout, little-endian, in words of eight bytes: `SNWSTATE`, a version, the node count, the count of joint numbers, of obstacles, of friction anchors and of friction anchors between surfaces, the sub-step backoff, time, supplied energy,
//! positions and velocities of nodes, coordinates and velocities of joints rig by rig, thirteen numbers per obstacle, eight per friction anchor, five per friction anchor between surfaces, and a
//! checksum of all that. Version 5 is written where bodies have coordinates of their own: the count of these and their velocities stands after the other counts, and
//! they stand after the joints. Version 3, which is still read, has no friction anchors between surfaces, nor their count.

use core::ops::Range;
use sinew_math::Vec3;
use sinew_sim::contact::{ObstacleFrictionAnchor, ObstacleState, PairFrictionAnchor};
use sinew_sim::{Model, State, SubstepBackoff};
use sinew_skeleton::SkeletonState;
use thiserror::Error;

/// A saved state.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint(Vec<u8>);

/// Bytes that are not a state of this model.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CheckpointError {
    /// Not a checkpoint, or of an unknown version.
    #[error("this is not a saved state, or one of another version of Sinew")]
    Foreign,
    /// The checkpoint of another model.
    #[error(
        "the saved state has {found} {of_what}, but the model has {expected}: it belongs to another model"
    )]
    OtherModel {
        /// What is counted: nodes, joint coordinates, obstacles or coordinates of bodies.
        of_what: &'static str,
        /// The count of the saved state.
        found: u64,
        /// The count of the model.
        expected: u64,
    },
    /// Truncated or altered.
    #[error("the saved state is damaged: {0}")]
    Damaged(&'static str),
}

/// Where time and the nodes are among the words of a checkpoint, for lossless compression: positions change by velocity times time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeWords {
    /// The time.
    pub time: usize,
    /// Coordinates of node positions.
    pub positions: Range<usize>,
    /// Coordinates of node velocities, as many.
    pub velocities: Range<usize>,
}

const WORD: &[u8; 8] = b"SNWSTATE";
const VERSION: u64 = 4;
/// The version with coordinates of bodies.
const VERSION_WITH_BODIES: u64 = 5;
/// The version without friction anchors between surfaces.
const VERSION_WITHOUT_PAIRS: u64 = 3;
/// Size of the header, time, energy and checksum (bytes).
const FRAME_BYTES: usize = 88;
/// Size of an obstacle, of a friction anchor on an obstacle and of one between surfaces (bytes).
const OBSTACLE_BYTES: usize = 104;
const ANCHOR_BYTES: usize = 64;
const PAIR_ANCHOR_BYTES: usize = 40;

impl Checkpoint {
    /// Saves a state.
    pub fn of(state: &State) -> Checkpoint {
        // header
        let joint_numbers: usize = state.rigs.iter().map(|rig| rig.q.len() + rig.v.len()).sum();
        let mut bytes = Vec::with_capacity(FRAME_BYTES + 48 * state.node_x.len() + 8 * joint_numbers);
        bytes.extend_from_slice(WORD);
        let body_numbers = state.body_q.len() + state.body_v.len();
        let version = if body_numbers > 0 { VERSION_WITH_BODIES } else { VERSION };
        bytes.extend_from_slice(&version.to_le_bytes());
        bytes.extend_from_slice(&(state.node_x.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(joint_numbers as u64).to_le_bytes());
        bytes.extend_from_slice(&(state.obstacles.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(state.anchors.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(state.pair_anchors.len() as u64).to_le_bytes());
        if body_numbers > 0 {
            bytes.extend_from_slice(&(body_numbers as u64).to_le_bytes());
        }
        bytes.extend_from_slice(&state.backoff.doublings.to_le_bytes());
        bytes.extend_from_slice(&state.backoff.calm_steps.to_le_bytes());

        // nodes and joints, then obstacles and friction anchors
        let vectors = state.node_x.iter().chain(&state.node_v).flat_map(|v| v.iter());
        let joints = state.rigs.iter().flat_map(|rig| rig.q.iter().chain(&rig.v));
        let bodies = state.body_q.iter().chain(&state.body_v);
        let first = [&state.time, &state.supplied_energy].into_iter();
        for number in first.chain(vectors).chain(joints).chain(bodies) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let obstacles = state.obstacles.iter().flat_map(ObstacleState::numbers);
        let anchors = state.anchors.iter().flat_map(ObstacleFrictionAnchor::numbers);
        let pair_anchors = state.pair_anchors.iter().flat_map(PairFrictionAnchor::numbers);
        for number in obstacles.chain(anchors).chain(pair_anchors) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&state.hash().to_le_bytes());
        Checkpoint(bytes)
    }

    /// The saved bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Wraps the bytes of a saved state; [`Checkpoint::restore`] checks them.
    pub fn from_bytes(bytes: Vec<u8>) -> Checkpoint {
        Checkpoint(bytes)
    }

    /// Where time and the nodes are among its words of eight bytes; `None` if this is not a checkpoint.
    pub fn node_words(&self) -> Option<NodeWords> {
        Checkpoint::node_words_of(&self.0, self.0.len() / 8)
    }

    /// The time of the state (s); `None` if this is not a checkpoint.
    pub fn time(&self) -> Option<f64> {
        let at = 8 * self.node_words()?.time;
        Some(f64::from_le_bytes(self.0.get(at..at + 8)?.try_into().ok()?))
    }

    /// Where time and the nodes are in a checkpoint of so many words that begins with `header`.
    pub fn node_words_of(header: &[u8], word_count: usize) -> Option<NodeWords> {
        let word = |i: usize| header.get(8 * i..8 * i + 8).and_then(|word| word.try_into().ok());
        let number = |i: usize| word(i).map(u64::from_le_bytes);
        let time: usize = match number(1)? {
            VERSION => 8,
            VERSION_WITH_BODIES => 9,
            VERSION_WITHOUT_PAIRS => 7,
            _ => return None,
        };
        let count = usize::try_from(number(2)?).ok()?.checked_mul(3)?;
        let positions = time + 2..(time + 2).checked_add(count)?;
        let velocities = positions.end..positions.end.checked_add(count)?;
        (word(0)? == *WORD && velocities.end <= word_count).then_some(NodeWords {
            time,
            positions,
            velocities,
        })
    }

    /// Returns the saved state, for a model with as many nodes, joints and obstacles.
    pub fn restore(&self, model: &Model) -> Result<State, CheckpointError> {
        // magic word and version
        let mut words = self.0.chunks_exact(8).map(|word| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(word);
            bytes
        });
        let head = Head::read(&mut words, model)?;
        if self.0.len() != head.bytes {
            return Err(CheckpointError::Damaged("its length does not match its number of nodes and joints"));
        }

        // backoff, time and energy
        let backoff = words.next().unwrap_or_default();
        let half =
            |i: usize| u32::from_le_bytes([backoff[i], backoff[i + 1], backoff[i + 2], backoff[i + 3]]);
        let backoff = SubstepBackoff { doublings: half(0), calm_steps: half(4) };
        let mut number = || words.next().map(f64::from_le_bytes).unwrap_or_default();
        let (time, supplied_energy) = (number(), number());

        // nodes, joints and coordinates of bodies
        let mut vectors =
            || (0..model.node_count()).map(|_| Vec3::new(number(), number(), number())).collect();
        let (node_x, node_v) = (vectors(), vectors());
        let mut numbers = |count: usize| (0..count).map(|_| number()).collect::<Vec<f64>>();
        let mut rig = |rig: &sinew_sim::Rig| {
            let q = numbers(rig.skeleton.q_count());
            SkeletonState { q, v: numbers(rig.skeleton.v_count()) }
        };
        let rigs = model.rigs().iter().map(&mut rig).collect();
        let start = model.body_start();
        let (body_q, body_v) = (numbers(start.q.len()), numbers(start.v.len()));

        // obstacles and friction anchors
        let mut obstacle = |_| ObstacleState::from_numbers(core::array::from_fn(|_| number()));
        let obstacles = (0..model.obstacles().len()).map(&mut obstacle).collect();
        let mut anchor = |_| ObstacleFrictionAnchor::from_numbers(core::array::from_fn(|_| number()));
        let anchors = (0..head.anchors).map(&mut anchor).collect();
        let mut pair_anchor = |_| PairFrictionAnchor::from_numbers(core::array::from_fn(|_| number()));
        let pair_anchors = (0..head.pair_anchors).map(&mut pair_anchor).collect();
        let state = State {
            time,
            node_x,
            node_v,
            rigs,
            body_q,
            body_v,
            obstacles,
            anchors,
            pair_anchors,
            supplied_energy,
            backoff,
        };
        if !state.backoff.is_sound() || words.next().map(u64::from_le_bytes) != Some(state.hash()) {
            return Err(CheckpointError::Damaged("its checksum does not match"));
        }
        Ok(state)
    }
}

/// The header of a checkpoint.
struct Head {
    /// Friction anchors on obstacles and between surfaces.
    anchors: usize,
    pair_anchors: usize,
    /// The length of the checkpoint.
    bytes: usize,
}

impl Head {
    /// Reads the counts, and compares those that a model has.
    fn read(words: &mut impl Iterator<Item = [u8; 8]>, model: &Model) -> Result<Head, CheckpointError> {
        // format and version
        if words.next().as_ref() != Some(WORD) {
            return Err(CheckpointError::Foreign);
        }
        let mut count = || words.next().map(u64::from_le_bytes).ok_or(CheckpointError::Foreign);
        let version = count()?;
        if ![VERSION_WITH_BODIES, VERSION, VERSION_WITHOUT_PAIRS].contains(&version) {
            return Err(CheckpointError::Foreign);
        }

        // counts that a model has
        let check = |of_what: &'static str, found: u64, expected: usize| {
            let expected = expected as u64;
            if found == expected {
                Ok(())
            } else {
                Err(CheckpointError::OtherModel { of_what, found, expected })
            }
        };
        let skeletons = model.rigs().iter().map(|rig| &rig.skeleton);
        let joint_numbers: usize = skeletons.map(|skeleton| skeleton.q_count() + skeleton.v_count()).sum();
        let body_numbers = model.body_start().q.len() + model.body_start().v.len();
        check("nodes", count()?, model.node_count())?;
        check("joint coordinates and velocities", count()?, joint_numbers)?;
        check("obstacles", count()?, model.obstacles().len())?;

        // counts of the state, as far as the version has them
        let anchor_bytes = bytes_of(count()?, ANCHOR_BYTES);
        let (mut pair_anchor_bytes, mut frame_bytes, mut bodies) = (0, FRAME_BYTES - 8, 0);
        if version != VERSION_WITHOUT_PAIRS {
            (pair_anchor_bytes, frame_bytes) = (bytes_of(count()?, PAIR_ANCHOR_BYTES), FRAME_BYTES);
        }
        if version == VERSION_WITH_BODIES {
            (bodies, frame_bytes) = (count()?, FRAME_BYTES + 8);
        }
        check("coordinates and velocities of bodies", bodies, body_numbers)?;

        // the length of a frame
        let fixed = frame_bytes
            + 48 * model.node_count()
            + 8 * (joint_numbers + body_numbers)
            + OBSTACLE_BYTES * model.obstacles().len();
        let bytes = fixed.saturating_add(anchor_bytes).saturating_add(pair_anchor_bytes);
        let (anchors, pair_anchors) = (anchor_bytes / ANCHOR_BYTES, pair_anchor_bytes / PAIR_ANCHOR_BYTES);
        Ok(Head { anchors, pair_anchors, bytes })
    }
}

/// The size of `count` items in bytes, or more than any file has on overflow.
fn bytes_of(count: u64, each: usize) -> usize {
    usize::try_from(count).ok().and_then(|count| count.checked_mul(each)).unwrap_or(usize::MAX / 2)
}
