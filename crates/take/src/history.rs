//! Versions of a take: what edits, undo and redo make of it.
//!
//! Every change of the edits makes a version. It begins with the frames of another version, up to the first frame at which their edits differ, and records only what follows. Undo returns to the version
//! that a version was made from, redo to the one that was left by undo. Nothing of a version is lost until it is dropped.

use core::fmt;

/// The number of a version, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VersionId(usize);

/// An edit as a version lists it.
pub trait TimedEdit: Clone + PartialEq {
    /// When it takes effect (s).
    fn time(&self) -> f64;
}

/// One version of a take.
#[derive(Clone, Debug, PartialEq)]
pub struct Version<E> {
    /// The version it was made from, to which undo returns.
    pub parent: Option<VersionId>,
    /// The version whose frames it begins with, and how many of them.
    pub shared: Option<(VersionId, usize)>,
    /// Its edits.
    pub edits: Vec<E>,
    /// The length that it is to have (s).
    pub seconds: f64,
    /// Its recorded frames, the shared ones included.
    pub frame_count: usize,
}

/// All versions of a take, and the current one.
#[derive(Clone, Debug, PartialEq)]
pub struct History<E> {
    fps: f64,
    versions: Vec<Version<E>>,
    head: VersionId,
    /// For each version the one made from it that was current last.
    last_child: Vec<Option<VersionId>>,
}

impl VersionId {
    /// The first version of every take.
    pub const FIRST: VersionId = VersionId(1);

    /// The version of a number; `None` for 0.
    pub fn of_number(number: usize) -> Option<VersionId> {
        (number > 0).then_some(VersionId(number))
    }

    /// Its number, counted from 1.
    pub fn number(self) -> usize {
        self.0
    }

    fn index(self) -> usize {
        self.0 - 1
    }
}

impl fmt::Display for VersionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl<E: TimedEdit> History<E> {
    /// A take of one version without frames.
    pub fn new(fps: f64, edits: Vec<E>, seconds: f64) -> History<E> {
        let first = Version { parent: None, shared: None, edits, seconds, frame_count: 0 };
        History { fps, versions: vec![first], head: VersionId::FIRST, last_child: vec![None] }
    }

    /// The number of the current version.
    pub fn head_id(&self) -> VersionId {
        self.head
    }

    /// The current version.
    pub fn head(&self) -> &Version<E> {
        &self.versions[self.head.index()]
    }

    /// The version of a number, if there is one.
    pub fn version(&self, id: VersionId) -> Option<&Version<E>> {
        self.versions.get(id.index())
    }

    /// All versions with their numbers, in the order in which they were made.
    pub fn versions(&self) -> impl Iterator<Item = (VersionId, &Version<E>)> {
        self.versions.iter().enumerate().map(|(i, version)| (VersionId(i + 1), version))
    }

    /// The number of frames of a complete current version, including the first.
    pub fn frame_goal(&self) -> usize {
        ((self.head().seconds * self.fps).round() as usize).saturating_add(1)
    }

    /// The version that the current one would become with other edits: it begins with the frames of the version that has most of them.
    pub fn revised(&self, edits: Vec<E>) -> Version<E> {
        let shared = self.versions().map(|(id, version)| (id, self.common_frames(version, &edits)));
        // of equally good ones the current version, else the latest
        let (id, frame_count) = shared
            .max_by_key(|(id, frames)| (*frames, *id == self.head, *id))
            .filter(|(_, frames)| *frames > 0)
            .map_or((None, 0), |(id, frames)| (Some(id), frames));
        Version {
            parent: Some(self.head),
            shared: id.map(|id| (id, frame_count)),
            edits,
            seconds: self.head().seconds,
            frame_count,
        }
    }

    /// How many frames of a version are also those of a version with other edits.
    fn common_frames(&self, version: &Version<E>, edits: &[E]) -> usize {
        let sorted = |edits: &[E]| {
            let mut edits = edits.to_vec();
            edits.sort_by_key(|edit| self.frame_of(edit));
            edits
        };
        let (own, other) = (sorted(&version.edits), sorted(edits));
        let same = own.iter().zip(&other).take_while(|(a, b)| a == b).count();
        let differ = own[same..].first().into_iter().chain(other[same..].first());
        match differ.map(|edit| self.frame_of(edit)).min() {
            // the state at the frame of an edit is the last one without it
            Some(frame) => version.frame_count.min(frame.saturating_add(1)),
            None => version.frame_count,
        }
    }

    /// The frame of an edit.
    pub fn frame_of(&self, edit: &E) -> usize {
        (edit.time() * self.fps).round().max(0.0) as usize
    }

    /// Replaces edits and length (s) of a take that has one version without frames; returns whether it has.
    pub fn replace_first(&mut self, edits: Vec<E>, seconds: f64) -> bool {
        let is_new = self.versions.len() == 1 && self.head().frame_count == 0;
        if is_new {
            *self = History::new(self.fps, edits, seconds);
        }
        is_new
    }

    /// Adds a version and makes it the current one. Returns `None`, and changes nothing, if it refers to versions or frames that do not exist.
    pub fn add(&mut self, version: Version<E>) -> Option<VersionId> {
        let parent = self.version(version.parent?).is_some();
        let shares = match version.shared {
            Some((id, frames)) => {
                self.version(id).is_some_and(|own| frames <= own.frame_count) && version.frame_count == frames
            }
            None => version.frame_count == 0,
        };
        if !parent || !shares {
            return None;
        }
        self.versions.push(version);
        self.last_child.push(None);
        self.go_to(VersionId(self.versions.len()))
    }

    /// Makes a version the current one; `None` if there is no such version.
    pub fn go_to(&mut self, id: VersionId) -> Option<VersionId> {
        let parent = self.version(id)?.parent;
        if let Some(parent) = parent {
            self.last_child[parent.index()] = Some(id);
        }
        self.head = id;
        Some(id)
    }

    /// The version to which undo returns.
    pub fn undo_target(&self) -> Option<VersionId> {
        self.head().parent
    }

    /// The version to which redo returns: the one made from the current one that was current last.
    pub fn redo_target(&self) -> Option<VersionId> {
        self.last_child[self.head.index()]
    }

    /// Changes the length of the current version (s).
    pub fn set_seconds(&mut self, seconds: f64) {
        self.versions[self.head.index()].seconds = seconds;
    }

    /// Counts frames that were recorded for the current version.
    pub fn add_frames(&mut self, count: usize) {
        self.versions[self.head.index()].frame_count += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An edit at a time (s), with a content.
    #[derive(Clone, Debug, PartialEq)]
    struct Change(f64, &'static str);

    impl TimedEdit for Change {
        fn time(&self) -> f64 {
            self.0
        }
    }

    /// A take of a second at 100 frames per second, completely recorded.
    fn recorded() -> History<Change> {
        let mut history = History::new(100.0, Vec::new(), 1.0);
        history.add_frames(101);
        history
    }

    fn edit(history: &mut History<Change>, edits: &[Change]) -> VersionId {
        let version = history.revised(edits.to_vec());
        history.add(version).expect("a sound version")
    }

    #[test]
    fn a_version_begins_with_all_frames_before_the_first_difference() {
        let mut history = recorded();
        let (a, b) = (Change(0.5, "a"), Change(0.7, "b"));
        edit(&mut history, std::slice::from_ref(&a));
        assert_eq!(history.head().shared, Some((VersionId(1), 51)));
        assert_eq!(history.frame_goal(), 101);
        history.add_frames(50);

        // a second edit keeps the frames of the first
        edit(&mut history, &[b.clone(), a.clone()]);
        assert_eq!(history.head().shared, Some((VersionId(2), 71)));
        history.add_frames(30);

        // without the first edit, the second one shares frames with the take as it was
        edit(&mut history, &[b]);
        assert_eq!(history.head().shared, Some((VersionId(1), 71)));
        // and without edits it is complete at once
        edit(&mut history, &[]);
        assert_eq!(history.head().shared, Some((VersionId(1), 101)));
        edit(&mut history, &[a]);
        assert_eq!(history.head().frame_count, 101);
    }

    #[test]
    fn undo_and_redo_go_along_the_branch_that_was_current_last() {
        let mut history = recorded();
        let first = edit(&mut history, &[Change(0.5, "a")]);
        let second = edit(&mut history, &[Change(0.5, "a"), Change(0.6, "b")]);
        assert_eq!((history.undo_target(), history.redo_target()), (Some(first), None));
        history.go_to(first);
        history.go_to(VersionId::FIRST);
        assert_eq!((history.undo_target(), history.redo_target()), (None, Some(first)));
        history.go_to(first);
        assert_eq!(history.redo_target(), Some(second));

        // an edit after undo begins another branch; the old one is kept
        let third = edit(&mut history, &[Change(0.5, "a"), Change(0.4, "c")]);
        history.go_to(first);
        assert_eq!(history.redo_target(), Some(third));
        assert_eq!(history.versions().count(), 4);
    }

    #[test]
    fn versions_of_what_does_not_exist_are_refused() {
        let mut history = recorded();
        let sound = history.revised(vec![Change(0.5, "a")]);
        let refused = [
            Version { parent: None, ..sound.clone() },
            Version { parent: VersionId::of_number(7), ..sound.clone() },
            Version { shared: Some((VersionId(1), 102)), frame_count: 102, ..sound.clone() },
            Version { shared: Some((VersionId(3), 1)), frame_count: 1, ..sound.clone() },
            Version { frame_count: 50, ..sound.clone() },
        ];
        for version in refused {
            assert_eq!(history.add(version), None);
        }
        assert_eq!(history.go_to(VersionId(2)), None);
        assert!(!history.replace_first(Vec::new(), 2.0));
        assert_eq!(history.head_id(), VersionId::FIRST);
        assert!(history.add(sound).is_some());
    }
}
