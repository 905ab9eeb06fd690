//! The state of a world: everything that changes during a run.

use crate::friction_anchor::{ObstacleFrictionAnchor, PairFrictionAnchor};
use crate::obstacle::ObstacleState;
use sinew_math::Vec3;
use sinew_skeleton::SkeletonState;
use xxhash_rust::xxh3::Xxh3;

/// Everything that must be saved to resume a run bit by bit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Simulated time (s).
    pub time: f64,
    /// Node positions (m).
    pub node_x: Vec<Vec3>,
    /// Node velocities (m/s).
    pub node_v: Vec<Vec3>,
    /// Joint coordinates and velocities of each rig.
    pub rigs: Vec<SkeletonState>,
    /// Generalised coordinates of bodies that have them, body by body.
    pub body_q: Vec<f64>,
    /// Velocities of these coordinates.
    pub body_v: Vec<f64>,
    /// State of each obstacle.
    pub obstacles: Vec<ObstacleState>,
    /// Friction anchors on obstacles, sorted by point and obstacle.
    pub anchors: Vec<ObstacleFrictionAnchor>,
    /// Friction anchors on soft surfaces, sorted by vertex; at most one per vertex.
    pub pair_anchors: Vec<PairFrictionAnchor>,
    /// Initial energy plus all work done since by pins, loads and joints (J): an upper bound for the energy of motion, by which
    /// the energy check detects divergence.
    pub supplied_energy: f64,
    /// Sub-step refinement after divergence, so that not every step diverges anew.
    pub backoff: SubstepBackoff,
}

/// Adaptive refinement of explicit sub-steps after divergence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubstepBackoff {
    /// Steps start with 2 to this power times the sub-steps that stability at rest requires.
    pub doublings: u32,
    /// Successful steps since that number last changed.
    pub calm_steps: u32,
}

impl SubstepBackoff {
    /// Successful steps after which half as many sub-steps are tried again.
    const CALM: u32 = 30;

    /// A step that diverges is repeated with up to 256 times the sub-steps that suffice at rest: in a neo-Hookean solid whose areas have
    /// grown a hundredfold, waves are that much faster.
    pub(crate) const MAX_DOUBLINGS: u32 = 8;

    /// Whether the values are in the range that stepping produces; a corrupted file may contain others.
    pub fn is_sound(&self) -> bool {
        self.doublings <= SubstepBackoff::MAX_DOUBLINGS && self.calm_steps <= SubstepBackoff::CALM
    }

    /// The refinement after a step that succeeded with so many doublings.
    pub(crate) fn after(self, doublings: u32) -> SubstepBackoff {
        let calm_steps = if doublings == self.doublings { self.calm_steps.saturating_add(1) } else { 0 };
        if calm_steps >= SubstepBackoff::CALM && doublings > 0 {
            return SubstepBackoff { doublings: doublings - 1, calm_steps: 0 };
        }
        SubstepBackoff { doublings, calm_steps: calm_steps.min(SubstepBackoff::CALM) }
    }
}

impl State {
    /// Becomes a copy of another state, reusing its memory.
    pub(crate) fn copy_from(&mut self, other: &State) {
        self.time = other.time;
        self.supplied_energy = other.supplied_energy;
        self.backoff = other.backoff;
        self.node_x.clone_from(&other.node_x);
        self.node_v.clone_from(&other.node_v);
        self.body_q.clone_from(&other.body_q);
        self.body_v.clone_from(&other.body_v);
        self.obstacles.clone_from(&other.obstacles);
        self.anchors.clear();
        // reserve room for anchors added later as well
        self.anchors.reserve(other.anchors.capacity());
        self.anchors.extend_from_slice(&other.anchors);
        self.pair_anchors.clear();
        self.pair_anchors.reserve(other.pair_anchors.capacity());
        self.pair_anchors.extend_from_slice(&other.pair_anchors);
        self.rigs.resize(other.rigs.len(), SkeletonState::default());
        for (rig, other) in self.rigs.iter_mut().zip(&other.rigs) {
            rig.q.clone_from(&other.q);
            rig.v.clone_from(&other.v);
        }
    }

    /// Hash of all bits.
    pub fn hash(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(&self.time.to_le_bytes());
        hash.update(&self.supplied_energy.to_le_bytes());
        hash.update(&self.backoff.doublings.to_le_bytes());
        hash.update(&self.backoff.calm_steps.to_le_bytes());
        for v in self.node_x.iter().chain(&self.node_v) {
            for x in v.iter() {
                hash.update(&x.to_le_bytes());
            }
        }
        for x in self.rigs.iter().flat_map(|rig| rig.q.iter().chain(&rig.v)) {
            hash.update(&x.to_le_bytes());
        }
        for x in self.body_q.iter().chain(&self.body_v) {
            hash.update(&x.to_le_bytes());
        }
        for x in self.obstacles.iter().flat_map(ObstacleState::numbers) {
            hash.update(&x.to_le_bytes());
        }
        for x in self.anchors.iter().flat_map(ObstacleFrictionAnchor::numbers) {
            hash.update(&x.to_le_bytes());
        }
        for x in self.pair_anchors.iter().flat_map(PairFrictionAnchor::numbers) {
            hash.update(&x.to_le_bytes());
        }
        hash.digest()
    }
}
