//! Reads a chunk of frames of versions 2 and 3 of the format: positions in full, and a bookmark from which the simulation can resume. Tests write it.
//!
//! ```text
//! first frame, frame count, node count, rig count, obstacle count, and q and v of each rig     8 bytes each
//! per frame: time, three numbers per node, q of all rigs, thirteen numbers per obstacle        8 bytes each
//! bookmark: five counts of the summary, last and peak torques, one of each per v, the last state
//! ```
//!
//! Positions are `f64`, as simulated. Surfaces are computed from them exactly as during the simulation, so a take bakes to the same bytes that
//! the simulation would have written.

use crate::take_file::chunk::number;
use sinew_math::Vec3;
use sinew_sim::{Model, ObstacleState, State};
use sinew_skeleton::SkeletonState;
use sinew_take::{Bookmark, Checkpoint, JointTorques, Summary};

/// Bytes of the five counts of a summary.
const SUMMARY_BYTES: usize = 40;

/// The sizes of the parts of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) nodes: usize,
    /// Numbers of coordinates and of velocities of each rig.
    pub(super) rigs: Vec<(usize, usize)>,
    pub(super) obstacles: usize,
}

/// Numbers per obstacle.
const OBSTACLE: usize = 13;
/// Numbers of a head before those of the rigs.
const HEAD: usize = 5;

/// The head of a chunk.
#[derive(Clone, Debug)]
pub(super) struct FramesHead {
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) sizes: Sizes,
    /// Bytes of the head.
    bytes: usize,
}

impl Sizes {
    pub(super) fn of(model: &Model) -> Sizes {
        let rigs = model.rigs().iter().map(|rig| (rig.skeleton.q_count(), rig.skeleton.v_count()));
        Sizes { nodes: model.node_count(), rigs: rigs.collect(), obstacles: model.obstacles().len() }
    }

    fn frame_bytes(&self) -> Option<usize> {
        let q = self.rigs.iter().try_fold(0usize, |sum, (q, _)| sum.checked_add(*q))?;
        let obstacles = self.obstacles.checked_mul(OBSTACLE)?;
        self.nodes.checked_mul(3)?.checked_add(q)?.checked_add(obstacles)?.checked_add(1)?.checked_mul(8)
    }

    /// Bytes of the torques: two per degree of freedom.
    fn torque_bytes(&self) -> Option<usize> {
        self.rigs.iter().try_fold(0usize, |sum, (_, v)| sum.checked_add(v.checked_mul(16)?))
    }

    /// Appends the head of a chunk, whose frame count [`set_count`] fills in later.
    #[cfg(test)]
    pub(super) fn write_head(&self, first: usize, out: &mut Vec<u8>) {
        let rigs = self.rigs.iter().flat_map(|(q, v)| [*q, *v]);
        for count in [first, 0, self.nodes, self.rigs.len(), self.obstacles].into_iter().chain(rigs) {
            out.extend_from_slice(&(count as u64).to_le_bytes());
        }
    }
}

/// Sets the frame count of the head at the start of the contents.
#[cfg(test)]
pub(super) fn set_count(contents: &mut [u8], count: usize) {
    contents[8..16].copy_from_slice(&(count as u64).to_le_bytes());
}

/// Appends a frame.
#[cfg(test)]
pub(super) fn write_frame(state: &State, out: &mut Vec<u8>) {
    out.reserve(8 * (1 + 3 * state.node_x.len()));
    out.extend_from_slice(&state.time.to_le_bytes());
    for v in &state.node_x {
        let [x, y, z] = [v.x, v.y, v.z].map(f64::to_le_bytes);
        out.extend_from_slice([x, y, z].as_flattened());
    }
    for q in state.rigs.iter().flat_map(|rig| &rig.q) {
        out.extend_from_slice(&q.to_le_bytes());
    }
    for number in state.obstacles.iter().flat_map(ObstacleState::numbers) {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// Appends the bookmark that a take resumes from.
#[cfg(test)]
pub(super) fn write_bookmark(bookmark: &Bookmark, out: &mut Vec<u8>) {
    let Summary { frames, steps, retries, max_inverted, diagonalised } = bookmark.summary;
    for count in [frames, steps, retries, max_inverted, diagonalised] {
        out.extend_from_slice(&(count as u64).to_le_bytes());
    }
    for torque in bookmark.torques.iter().flat_map(|rig| rig.last.iter().chain(&rig.peak)) {
        out.extend_from_slice(&torque.to_le_bytes());
    }
    out.extend_from_slice(bookmark.checkpoint.as_bytes());
}

impl FramesHead {
    /// Reads the head of a chunk; `None` if the contents do not match it.
    pub(super) fn read(contents: &[u8]) -> Option<FramesHead> {
        let words = contents.len() / 8;
        let word = |i: usize| (i < words).then(|| number(&contents[8 * i..]));
        let size = |i: usize| word(i).and_then(|n| usize::try_from(n).ok());
        let (first, count, nodes, rig_count, obstacles) = (size(0)?, size(1)?, size(2)?, size(3)?, size(4)?);
        if rig_count > words || obstacles > words || count == 0 {
            return None;
        }
        let rigs = (0..rig_count).map(|i| Some((size(HEAD + 2 * i)?, size(HEAD + 1 + 2 * i)?)));
        let sizes = Sizes { nodes, rigs: rigs.collect::<Option<_>>()?, obstacles };
        let head = FramesHead { first, count, bytes: 8 * (HEAD + 2 * rig_count), sizes };
        let torques = head.sizes.torque_bytes()?;
        let end = head.bookmark_start()?.checked_add(SUMMARY_BYTES)?.checked_add(torques)?;
        first.checked_add(count)?;
        (end <= contents.len()).then_some(head)
    }

    fn bookmark_start(&self) -> Option<usize> {
        self.sizes.frame_bytes()?.checked_mul(self.count)?.checked_add(self.bytes)
    }

    /// A frame of the chunk by its index, as a state without velocities.
    pub(super) fn frame(&self, contents: &[u8], place: usize) -> Option<State> {
        let size = self.sizes.frame_bytes()?;
        let start = self.bytes.checked_add(place.checked_mul(size)?)?;
        let bytes = contents.get(start..start.checked_add(size)?)?;
        let mut numbers = floats(bytes);
        let mut next = || numbers.next().unwrap_or_default();
        let time = next();
        let node_x = (0..self.sizes.nodes).map(|_| Vec3::new(next(), next(), next())).collect();
        let mut rig = |(q, v): &(usize, usize)| SkeletonState {
            q: (0..*q).map(|_| next()).collect(),
            v: vec![0.0; *v],
        };
        let rigs = self.sizes.rigs.iter().map(&mut rig).collect();
        let mut obstacle = |_| ObstacleState::from_numbers(core::array::from_fn(|_| next()));
        let obstacles = (0..self.sizes.obstacles).map(&mut obstacle).collect();
        let node_v = vec![Vec3::zeros(); self.sizes.nodes];
        Some(State { time, node_x, node_v, rigs, obstacles, ..State::default() })
    }

    /// The time of the last frame (s).
    pub(super) fn last_time(&self, contents: &[u8]) -> Option<f64> {
        let start = self.bytes.checked_add((self.count - 1).checked_mul(self.sizes.frame_bytes()?)?)?;
        floats(contents.get(start..start.checked_add(8)?)?).next()
    }

    /// The bookmark at the last frame of the chunk.
    pub(super) fn bookmark(&self, contents: &[u8]) -> Option<Bookmark> {
        let bytes = contents.get(self.bookmark_start()?..)?;
        let (counts, bytes) = bytes.split_at_checked(SUMMARY_BYTES)?;
        let count = |i: usize| usize::try_from(number(&counts[8 * i..])).ok();
        let summary = Summary {
            frames: count(0)?,
            steps: count(1)?,
            retries: count(2)?,
            max_inverted: count(3)?,
            diagonalised: count(4)?,
        };
        let (torques, state) = bytes.split_at_checked(self.sizes.torque_bytes()?)?;
        let mut torques = floats(torques);
        let mut rig = |(_, v): &(usize, usize)| JointTorques {
            last: torques.by_ref().take(*v).collect(),
            peak: torques.by_ref().take(*v).collect(),
        };
        let torques = self.sizes.rigs.iter().map(&mut rig).collect();
        let checkpoint = Checkpoint::from_bytes(state.to_vec());
        Some(Bookmark { frame: self.first + self.count - 1, summary, torques, checkpoint })
    }
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    bytes.chunks_exact(8).map(|word| f64::from_bits(number(word)))
}
