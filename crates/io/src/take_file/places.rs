//! Where the frames of each version of a take are in its file.

use crate::scene_schema::EditTable;
use crate::take_file::chunk::ChunkKind;
use core::ops::Range;
use sinew_take::{History, VersionId};

/// The place of a chunk of frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) kind: ChunkKind,
    pub(super) offset: u64,
    /// Bytes from there to the end of the file when it was opened.
    pub(super) left: u64,
    /// The checksum of the chunk before it.
    pub(super) before: u64,
    /// Its first frame, and its number of frames.
    pub(super) first: usize,
    pub(super) count: usize,
    /// The time of its last frame (s); NaN if it is not known.
    pub(super) last_time: f64,
}

/// The first frames of a chunk, as many as a version shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) place: Place,
    pub(super) count: usize,
}

impl Span {
    /// The frames.
    pub(super) fn frames(&self) -> Range<usize> {
        self.place.first..self.place.first + self.count
    }
}

/// The chunks of frames that each version has recorded itself, and whether it is complete.
#[derive(Debug, Default)]
pub(super) struct Places {
    versions: Vec<(Vec<Place>, bool)>,
}

impl Places {
    fn version(&mut self, id: VersionId) -> &mut (Vec<Place>, bool) {
        let count = self.versions.len().max(id.number());
        self.versions.resize_with(count, Default::default);
        &mut self.versions[id.number() - 1]
    }

    /// Adds a chunk that a version has recorded.
    pub(super) fn add(&mut self, id: VersionId, place: Place) {
        self.version(id).0.push(place);
    }

    /// Says whether all frames of a version are recorded.
    pub(super) fn set_complete(&mut self, id: VersionId, is_complete: bool) {
        self.version(id).1 = is_complete;
    }

    /// Whether all frames of a version are recorded.
    pub(super) fn is_complete(&self, id: VersionId) -> bool {
        self.versions.get(id.number() - 1).is_some_and(|version| version.1)
    }

    /// The chunks that a version has recorded itself.
    pub(super) fn own(&self, id: VersionId) -> &[Place] {
        self.versions.get(id.number() - 1).map_or(&[], |version| &version.0)
    }

    /// All frames of a version, in order: those that it shares with others, then its own.
    pub(super) fn spans(&self, history: &History<EditTable>, id: VersionId) -> Vec<Span> {
        let mut spans = Vec::new();
        let (mut next, mut end) = (Some(id), usize::MAX);
        while let Some(id) = next {
            let own = self.own(id).iter().rev().filter(|place| place.first < end);
            spans.extend(own.map(|place| Span { place: *place, count: place.count.min(end - place.first) }));
            let shared = history.version(id).and_then(|version| version.shared);
            next = shared.map(|(id, _)| id);
            end = end.min(shared.map_or(0, |(_, frames)| frames));
        }
        spans.reverse();
        spans
    }

    /// The last frames of a version.
    pub(super) fn last(&self, history: &History<EditTable>, id: VersionId) -> Option<Span> {
        self.spans(history, id).pop()
    }
}
