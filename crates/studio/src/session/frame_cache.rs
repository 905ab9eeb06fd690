//! States of frames that are kept in memory, up to a limit; all others are in the take file.

use sinew_sim::State;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The memory that states may take (bytes).
const LIMIT: usize = 256 << 20;

/// States by their frames.
#[derive(Default)]
pub struct FrameCache {
    states: BTreeMap<usize, Arc<State>>,
    bytes: usize,
    revision: u64,
}

impl FrameCache {
    /// The state of a frame, if it is in memory.
    pub fn get(&self, frame: usize) -> Option<Arc<State>> {
        self.states.get(&frame).cloned()
    }

    /// The memory that is taken (bytes).
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps a state that was read under a revision of the take; one of an older revision is not kept. States farthest from it give way.
    pub fn insert(&mut self, frame: usize, state: Arc<State>, revision: u64) {
        if revision != self.revision {
            return;
        }
        self.bytes += size_of_state(&state);
        if let Some(before) = self.states.insert(frame, state) {
            self.bytes -= size_of_state(&before);
        }
        while self.bytes > LIMIT && self.states.len() > 1 {
            let ends = [self.states.first_key_value(), self.states.last_key_value()];
            let farthest =
                ends.into_iter().flatten().map(|(key, _)| *key).max_by_key(|key| key.abs_diff(frame));
            let Some(gone) = farthest.and_then(|key| self.states.remove(&key)) else { break };
            self.bytes -= size_of_state(&gone);
        }
    }

    /// Forgets frames from one on, which begins a revision.
    pub fn forget_from(&mut self, frame: usize, revision: u64) {
        for state in self.states.split_off(&frame).values() {
            self.bytes -= size_of_state(state);
        }
        self.revision = revision;
    }
}

/// The memory of a state (bytes), nearly: its nodes, joints and contacts.
fn size_of_state(state: &State) -> usize {
    let joints: usize = state.rigs.iter().map(|rig| rig.q.len() + rig.v.len()).sum();
    let numbers = 6 * state.node_x.len() + state.body_q.len() + state.body_v.len() + joints;
    8 * numbers + 128 * (state.anchors.len() + state.pair_anchors.len() + state.obstacles.len()) + 256
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::Vec3;

    fn state(megabytes: usize) -> Arc<State> {
        let nodes = (megabytes << 20) / 48;
        Arc::new(State { node_x: vec![Vec3::zeros(); nodes], ..State::default() })
    }

    #[test]
    fn the_frames_farthest_from_the_last_one_give_way() {
        let mut cache = FrameCache::default();
        for frame in 0..10 {
            cache.insert(frame, state(60), 0);
            assert!(cache.bytes() <= LIMIT);
        }
        assert!(cache.get(9).is_some() && cache.get(8).is_some());
        assert!(cache.get(0).is_none());
        cache.insert(0, state(60), 0);
        assert!(cache.get(0).is_some() && cache.get(9).is_none());
    }

    #[test]
    fn what_an_edit_invalidates_is_forgotten_and_not_taken_back() {
        let mut cache = FrameCache::default();
        (0..4).for_each(|frame| cache.insert(frame, state(1), 0));
        cache.forget_from(2, 1);
        assert!(cache.get(1).is_some() && cache.get(2).is_none());
        // a reader that is late
        cache.insert(3, state(1), 0);
        assert!(cache.get(3).is_none());
        cache.forget_from(0, 2);
        assert_eq!(cache.bytes(), 0);
    }
}
