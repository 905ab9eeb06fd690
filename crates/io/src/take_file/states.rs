//! Reads and writes a chunk of states: a bookmark at every frame, so that each of them loads to the bit and the simulation can continue from it.
//!
//! ```text
//! first frame, frame count, time of the last frame, rig count, degrees of freedom of each rig   8 bytes each
//! length of each frame in bytes                                                            8 bytes each
//! frames, compressed (`packing`): five counts of the summary, last and peak torques, the state as a checkpoint
//! ```

use crate::take_file::chunk::number;
use crate::take_file::packing::Predictor;
use sinew_take::{Bookmark, Checkpoint, JointTorques, NodeWords, Summary};

/// Words of the summary.
const SUMMARY: usize = 5;
/// Words of a head before those of the rigs.
const HEAD: usize = 4;

/// Collects the frames of a chunk.
#[derive(Debug, Default)]
pub(super) struct StatesWriter {
    predictor: Predictor,
    first: usize,
    /// Time of the last frame (s).
    last_time: f64,
    rigs: Vec<usize>,
    lengths: Vec<usize>,
    packed: Vec<u8>,
    words: Vec<u64>,
}

impl StatesWriter {
    /// The number of frames collected.
    pub(super) fn frame_count(&self) -> usize {
        self.lengths.len()
    }

    /// Their size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.packed.len()
    }

    /// Adds a frame.
    pub(super) fn add(&mut self, bookmark: &Bookmark) {
        self.last_time = bookmark.checkpoint.time().unwrap_or(f64::NAN);
        if self.lengths.is_empty() {
            self.first = bookmark.frame;
            self.rigs.clear();
            self.rigs.extend(bookmark.torques.iter().map(|rig| rig.last.len()));
        }
        let nodes = words_of(bookmark, &mut self.words);
        let before = self.packed.len();
        self.predictor.pack(&self.words, nodes, &mut self.packed);
        self.lengths.push(self.packed.len() - before);
    }

    /// Appends the contents of the chunk, and begins another one.
    pub(super) fn write(&mut self, out: &mut Vec<u8>) {
        for count in [self.first, self.lengths.len()] {
            out.extend_from_slice(&(count as u64).to_le_bytes());
        }
        out.extend_from_slice(&self.last_time.to_le_bytes());
        for count in [self.rigs.len()].iter().chain(&self.rigs).chain(&self.lengths) {
            out.extend_from_slice(&(*count as u64).to_le_bytes());
        }
        out.extend_from_slice(&self.packed);
        self.lengths.clear();
        self.packed.clear();
        self.predictor.clear();
    }
}

/// The words of a bookmark, and where its nodes are among them.
fn words_of(bookmark: &Bookmark, words: &mut Vec<u64>) -> Option<NodeWords> {
    let Summary { frames, steps, retries, max_inverted, diagonalised } = bookmark.summary;
    words.clear();
    words.extend([frames, steps, retries, max_inverted, diagonalised].map(|count| count as u64));
    let torques = bookmark.torques.iter().flat_map(|rig| rig.last.iter().chain(&rig.peak));
    words.extend(torques.map(|torque| torque.to_bits()));
    let start = words.len();
    words.extend(bookmark.checkpoint.as_bytes().chunks_exact(8).map(number));
    Some(shifted(bookmark.checkpoint.node_words()?, start))
}

fn shifted(nodes: NodeWords, by: usize) -> NodeWords {
    NodeWords {
        time: nodes.time + by,
        positions: nodes.positions.start + by..nodes.positions.end + by,
        velocities: nodes.velocities.start + by..nodes.velocities.end + by,
    }
}

/// The head of a chunk.
#[derive(Clone, Debug)]
pub(super) struct StatesHead {
    first: usize,
    /// Degrees of freedom of each rig.
    rigs: Vec<usize>,
    /// Lengths of the frames, and where the first of them begins (bytes).
    lengths: Vec<usize>,
    start: usize,
}

impl StatesHead {
    /// The first frame, the number of frames and the time of the last one (s), which the first bytes of the contents tell.
    pub(super) fn range(contents: &[u8]) -> Option<(usize, usize, f64)> {
        let word = |i: usize| contents.get(8 * i..8 * i + 8).map(number);
        let size = |i: usize| word(i).and_then(|word| usize::try_from(word).ok());
        let (first, count, last_time) = (size(0)?, size(1)?, f64::from_bits(word(2)?));
        first.checked_add(count)?;
        (count > 0).then_some((first, count, last_time))
    }

    /// Reads the head of a chunk; `None` if the contents do not match it.
    pub(super) fn read(contents: &[u8]) -> Option<StatesHead> {
        let words = contents.len() / 8;
        let size = |i: usize| (i < words).then(|| usize::try_from(number(&contents[8 * i..])).ok()).flatten();
        let (first, count, _) = StatesHead::range(contents)?;
        let rig_count = size(3).filter(|rigs| *rigs <= words && count <= words)?;
        let numbers = |from: usize, count: usize| (from..from + count).map(size).collect::<Option<Vec<_>>>();
        let rigs = numbers(HEAD, rig_count)?;
        let lengths = numbers(HEAD + rig_count, count)?;
        let start = 8 * (HEAD + rig_count + count);
        let end = lengths.iter().try_fold(start, |sum, length| sum.checked_add(*length))?;
        (end == contents.len()).then_some(StatesHead { first, rigs, lengths, start })
    }

    /// Words before the checkpoint.
    fn checkpoint_start(&self) -> Option<usize> {
        self.rigs.iter().try_fold(SUMMARY, |sum, v| sum.checked_add(v.checked_mul(2)?))
    }

    /// The bookmarks of all frames, in order.
    pub(super) fn bookmarks<'a>(&'a self, contents: &'a [u8]) -> impl Iterator<Item = Option<Bookmark>> + 'a {
        let mut predictor = Predictor::default();
        let (mut at, mut words) = (self.start, Vec::new());
        self.lengths.iter().enumerate().map(move |(i, length)| {
            let bytes = contents.get(at..at + length)?;
            at += length;
            let read = predictor.unpack(bytes, &mut words, |words| self.nodes_of(words))?;
            (read == *length).then(|| self.bookmark(self.first + i, &words)).flatten()
        })
    }

    /// The bookmark of a frame of the chunk by its index.
    pub(super) fn bookmark_at(&self, contents: &[u8], index: usize) -> Option<Bookmark> {
        let mut predictor = Predictor::default();
        let (mut at, mut words) = (self.start, Vec::new());
        for length in self.lengths.get(..=index)? {
            let bytes = contents.get(at..at + length)?;
            at += length;
            predictor.unpack(bytes, &mut words, |words| self.nodes_of(words))?;
        }
        self.bookmark(self.first + index, &words)
    }

    /// Where the nodes are among the words of a frame.
    fn nodes_of(&self, words: &[u64]) -> Option<NodeWords> {
        let start = self.checkpoint_start()?;
        // the header of a checkpoint is enough to find them
        let header = bytes_of(words.get(start..)?.get(..16)?);
        let nodes = Checkpoint::node_words_of(&header, words.len() - start)?;
        Some(shifted(nodes, start))
    }

    fn bookmark(&self, frame: usize, words: &[u64]) -> Option<Bookmark> {
        let start = self.checkpoint_start()?;
        let count = |i: usize| words.get(i).and_then(|word| usize::try_from(*word).ok());
        let summary = Summary {
            frames: count(0)?,
            steps: count(1)?,
            retries: count(2)?,
            max_inverted: count(3)?,
            diagonalised: count(4)?,
        };
        let mut torques = words.get(SUMMARY..start)?.iter().map(|word| f64::from_bits(*word));
        let mut rig = |v: &usize| JointTorques {
            last: torques.by_ref().take(*v).collect(),
            peak: torques.by_ref().take(*v).collect(),
        };
        let torques = self.rigs.iter().map(&mut rig).collect();
        let checkpoint = Checkpoint::from_bytes(bytes_of(&words[start..]));
        Some(Bookmark { frame, summary, torques, checkpoint })
    }
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 * words.len());
    words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    bytes
}
