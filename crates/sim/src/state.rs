//! All that moves.

use crate::friction_anchor::{ObstacleFrictionAnchor, PairFrictionAnchor};
use crate::obstacle::ObstacleState;
use sinew_math::Vec3;
use sinew_skeleton::SkeletonState;
use xxhash_rust::xxh3::Xxh3;

/// All that must be saved to go on with the same bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// How long the world has run (s).
    pub time: f64,
    /// Node positions (m).
    pub node_x: Vec<Vec3>,
    /// Node velocities (m/s).
    pub node_v: Vec<Vec3>,
    /// Joint coordinates and velocities of each rig.
    pub rigs: Vec<SkeletonState>,
    /// Where each obstacle is.
    pub obstacles: Vec<ObstacleState>,
    /// What touching points remember, sorted by point and obstacle.
    pub anchors: Vec<ObstacleFrictionAnchor>,
    /// Where vertices that touch a soft surface are held on it by friction, sorted by vertex; one each at most.
    pub pair_anchors: Vec<PairFrictionAnchor>,
    /// Energy at the start plus all work done by pins, loads and joints since (J): what motion can have come from. The guard against divergence
    /// measures by it.
    pub supplied_energy: f64,
    /// How stepping has fared, so that it does not fail anew in every step.
    pub backoff: SubstepBackoff,
}

/// How carefully a state is stepped: what it learnt from steps that diverged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubstepBackoff {
    /// Steps are begun with 2 to this power as many sub-steps as stability at rest asks for.
    pub doublings: u32,
    /// Steps since that number last changed.
    pub calm_steps: u32,
}

/// Where the energy of a state is (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// In motion: Σ m v²/2 over free nodes, and that of bones and free obstacles.
    pub kinetic: f64,
    /// In deformation, in the springs and stops of joints, and in those of what touches obstacles.
    pub elastic: f64,
    /// In height, zero at rest: −Σ m g · (x − X) over free nodes, bones and free obstacles.
    pub potential: f64,
}

impl SubstepBackoff {
    /// Steps without trouble after which half as many sub-steps are tried again.
    const CALM: u32 = 30;

    /// A step that diverges is tried with up to 256 times the sub-steps that suffice at rest: a neo-Hookean solid whose areas have
    /// grown a hundredfold is that much faster.
    pub(crate) const MAX_DOUBLINGS: u32 = 8;

    /// Whether stepping can have left it: what a damaged file says may not.
    pub fn is_sound(&self) -> bool {
        self.doublings <= SubstepBackoff::MAX_DOUBLINGS && self.calm_steps <= SubstepBackoff::CALM
    }

    /// What a step leaves behind that held with so many doublings.
    pub(crate) fn after(self, doublings: u32) -> SubstepBackoff {
        let calm_steps = if doublings == self.doublings { self.calm_steps.saturating_add(1) } else { 0 };
        if calm_steps >= SubstepBackoff::CALM && doublings > 0 {
            return SubstepBackoff { doublings: doublings - 1, calm_steps: 0 };
        }
        SubstepBackoff { doublings, calm_steps: calm_steps.min(SubstepBackoff::CALM) }
    }
}

impl State {
    /// Becomes a copy of another state, in the memory it has.
    pub(crate) fn copy_from(&mut self, other: &State) {
        self.time = other.time;
        self.supplied_energy = other.supplied_energy;
        self.backoff = other.backoff;
        self.node_x.clone_from(&other.node_x);
        self.node_v.clone_from(&other.node_v);
        self.obstacles.clone_from(&other.obstacles);
        self.anchors.clear();
        // room for those to come as well
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

    /// A fingerprint of every bit.
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
