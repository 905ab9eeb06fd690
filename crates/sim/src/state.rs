//! All that moves.

use crate::contact::{self, ObstacleFrictionAnchor, ObstacleState, PairFrictionAnchor};
use crate::coupling::{BoneCoupling, bone_weights};
use crate::{Model, Rig};
use sinew_math::Vec3;
use sinew_skeleton::{Kinematics, Momentum, SkeletonState};
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
    /// The world at rest, with the velocities it starts with.
    pub fn at_rest(model: &Model) -> State {
        State::from_motion(model, model.node_rest.clone(), model.node_start_v.clone())
    }

    /// The world with its nodes at given positions (m) and velocities (m/s), as the start of a run.
    pub fn from_motion(model: &Model, node_x: Vec<Vec3>, node_v: Vec<Vec3>) -> State {
        let rigs = model.rigs.iter().map(|rig| SkeletonState::at_rest(&rig.skeleton)).collect();
        let obstacles = model.obstacles.iter().map(|obstacle| obstacle.start).collect();
        let mut state = State { node_x, node_v, rigs, obstacles, ..State::default() };
        for &node in model.pins.iter().flat_map(|pin| &pin.nodes) {
            state.node_v[node as usize] = Vec3::zeros();
        }
        state.restart(model);
        state
    }

    /// Takes positions and velocities, changed from outside, for the start of a run: puts fixed nodes where their bones are and opens a new account of
    /// the energy.
    pub fn restart(&mut self, model: &Model) {
        let mut coupling = BoneCoupling::default();
        coupling.prepare(model);
        coupling.refresh(model, self);
        coupling.place_fixed_nodes(model, self);
        let Energies { kinetic, elastic, potential } = self.energies(model);
        self.supplied_energy = kinetic + elastic + potential;
    }

    /// Puts all flesh that hangs on bones where the bones have gone, each free node where the bones around it would take it on average, and opens a new
    /// account of the energy. Where joints bend sharply the flesh is thin until it settles.
    ///
    /// ```text
    /// x = Σ_b w_b T_b X,    T_b from where bone b is at rest to where it is now
    /// ```
    pub fn carry_flesh(&mut self, model: &Model) {
        let frames = |rig: &Rig, state: &SkeletonState| {
            let mut kinematics = Kinematics::default();
            kinematics.update(&rig.skeleton, state);
            kinematics.world_frames().to_vec()
        };
        let mut world_from_rest = vec![None];
        for (rig, state) in model.rigs.iter().zip(&self.rigs) {
            let rest = SkeletonState::at_rest(&rig.skeleton);
            let pairs = frames(rig, state).into_iter().zip(frames(rig, &rest));
            world_from_rest.extend(pairs.map(Some));
        }
        for (node, bones) in bone_weights(model).iter().enumerate() {
            let is_pinned = model.node_inverse_mass[node] == 0.0 && !model.fixed_nodes.holds(node);
            if is_pinned || bones.is_empty() {
                continue;
            }
            let carried = |(bone, weight): &(u32, f32)| {
                let (now, rest) = world_from_rest[*bone as usize].as_ref()?;
                Some(f64::from(*weight) * now.point(&rest.point_back(&model.node_rest[node])))
            };
            self.node_x[node] = bones.iter().filter_map(carried).sum();
        }
        self.restart(model);
    }

    /// Gives each free node the velocity of the bone it is damped against, where it is now, on top of its own: flesh sets off with its bones.
    pub fn move_along(&mut self, model: &Model) {
        let mut coupling = BoneCoupling::default();
        coupling.prepare(model);
        coupling.refresh(model, self);
        for (node, bone) in model.fixed_nodes.node_reference.iter().enumerate() {
            if model.node_inverse_mass[node] > 0.0 {
                self.node_v[node] += coupling.fields[*bone as usize].at(&self.node_x[node]);
            }
        }
        self.restart(model);
    }

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

    /// Where the energy is.
    pub fn energies(&self, model: &Model) -> Energies {
        let mut coupling = BoneCoupling::default();
        coupling.prepare(model);
        coupling.refresh(model, self);
        let (bones_kinetic, bones_potential, springs) = coupling.energies(model, self);
        let (obstacles_kinetic, obstacles_potential) = contact::energies(model, self);
        let in_contact = contact::contact_energy(model, self);
        Energies {
            kinetic: self.node_kinetic_energy(model) + bones_kinetic + obstacles_kinetic,
            elastic: model.elements.energy(&self.node_x) + springs + in_contact,
            potential: self.node_potential_energy(model) + bones_potential + obstacles_potential,
        }
    }

    pub(crate) fn node_kinetic_energy(&self, model: &Model) -> f64 {
        let free = model.node_inverse_mass.iter().zip(&model.node_mass).zip(&self.node_v);
        free.map(|((&inverse, mass), v)| if inverse > 0.0 { 0.5 * mass * v.norm_squared() } else { 0.0 })
            .sum()
    }

    pub(crate) fn node_potential_energy(&self, model: &Model) -> f64 {
        let lifted = |node: usize| model.gravity.dot(&(self.node_x[node] - model.node_rest[node]));
        let free = (0..model.node_count()).filter(|&node| model.node_inverse_mass[node] > 0.0);
        -free.map(|node| model.node_mass[node] * lifted(node)).sum::<f64>()
    }

    /// Σ m v of nodes, bones and free obstacles (kg m/s).
    pub fn momentum(&self, model: &Model) -> Vec3 {
        self.momenta(model).linear
    }

    /// Σ m x × v of nodes, bones and free obstacles about the origin (kg m²/s).
    pub fn angular_momentum(&self, model: &Model) -> Vec3 {
        self.momenta(model).angular
    }

    /// Both momenta: of bones with what is fixed to them, of all other nodes, and of free obstacles.
    fn momenta(&self, model: &Model) -> Momentum {
        let mut sum = Momentum::default();
        for (node, mass) in
            model.node_mass.iter().enumerate().filter(|(node, _)| !model.fixed_nodes.holds(*node))
        {
            sum.linear += *mass * self.node_v[node];
            sum.angular += *mass * self.node_x[node].cross(&self.node_v[node]);
        }
        for (rig, state) in model.rigs.iter().zip(&self.rigs) {
            let mut kinematics = Kinematics::default();
            kinematics.update(&rig.skeleton, state);
            let bones = Momentum::of(&rig.skeleton, &kinematics);
            sum.linear += bones.linear;
            sum.angular += bones.angular;
        }
        let obstacles = contact::momenta(model, self);
        sum.linear += obstacles.linear;
        sum.angular += obstacles.angular;
        sum
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
