//! All that moves.

use crate::Model;
use sinew_math::Vec3;
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
    /// Energy at the start plus all work done by pins and loads since (J): what motion can have come from. The guard against divergence
    /// measures by it.
    pub supplied_energy: f64,
    /// How stepping has fared, so that it does not fail anew in every step.
    pub caution: Caution,
}

/// How carefully a state is stepped: what it learnt from steps that diverged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caution {
    /// Steps are begun with 2 to this power as many sub-steps as stability at rest asks for.
    pub doublings: u32,
    /// Steps since that number last changed.
    pub calm_steps: u32,
}

/// Where the energy of a state is (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// In motion: Σ m v²/2 over free nodes.
    pub kinetic: f64,
    /// In deformation.
    pub elastic: f64,
    /// In height, zero at rest: −Σ m g · (x − X) over free nodes.
    pub potential: f64,
}

impl Caution {
    /// Steps without trouble after which half as many sub-steps are tried again.
    const CALM: u32 = 30;

    /// A step that diverges is tried with up to 256 times the sub-steps that suffice at rest: a neo-Hookean solid whose areas have
    /// grown a hundredfold is that much faster.
    pub(crate) const MOST_DOUBLINGS: u32 = 8;

    /// Whether stepping can have left it: what a damaged file says may not.
    pub fn is_sound(&self) -> bool {
        self.doublings <= Caution::MOST_DOUBLINGS && self.calm_steps <= Caution::CALM
    }

    /// What a step leaves behind that held with so many doublings.
    pub(crate) fn after(self, doublings: u32) -> Caution {
        let calm_steps = if doublings == self.doublings { self.calm_steps.saturating_add(1) } else { 0 };
        if calm_steps >= Caution::CALM && doublings > 0 {
            return Caution { doublings: doublings - 1, calm_steps: 0 };
        }
        Caution { doublings, calm_steps: calm_steps.min(Caution::CALM) }
    }
}

impl State {
    /// The world at rest, with the velocities it starts with.
    pub fn at_rest(model: &Model) -> State {
        State::from_motion(model, model.node_rest.clone(), model.node_start_v.clone())
    }

    /// The world with its nodes at given positions (m) and velocities (m/s), as the start of a run.
    pub fn from_motion(model: &Model, node_x: Vec<Vec3>, node_v: Vec<Vec3>) -> State {
        let mut state =
            State { time: 0.0, node_x, node_v, supplied_energy: 0.0, caution: Caution::default() };
        for &node in model.pins.iter().flat_map(|pin| &pin.nodes) {
            state.node_v[node as usize] = Vec3::zeros();
        }
        let Energies { kinetic, elastic, potential } = state.energies(model);
        state.supplied_energy = kinetic + elastic + potential;
        state
    }

    /// Becomes a copy of another state, in the memory it has.
    pub(crate) fn copy_from(&mut self, other: &State) {
        self.time = other.time;
        self.supplied_energy = other.supplied_energy;
        self.caution = other.caution;
        self.node_x.clone_from(&other.node_x);
        self.node_v.clone_from(&other.node_v);
    }

    /// Where the energy is.
    pub fn energies(&self, model: &Model) -> Energies {
        Energies {
            kinetic: self.kinetic_energy(model),
            elastic: model.elements.energy(&self.node_x),
            potential: self.potential_energy(model),
        }
    }

    pub(crate) fn kinetic_energy(&self, model: &Model) -> f64 {
        let free = model.node_inverse_mass.iter().zip(&model.node_mass).zip(&self.node_v);
        free.map(|((&inverse, mass), v)| if inverse > 0.0 { 0.5 * mass * v.norm_squared() } else { 0.0 })
            .sum()
    }

    pub(crate) fn potential_energy(&self, model: &Model) -> f64 {
        let lifted = |node: usize| model.gravity.dot(&(self.node_x[node] - model.node_rest[node]));
        let free = (0..model.node_count()).filter(|&node| model.node_inverse_mass[node] > 0.0);
        -free.map(|node| model.node_mass[node] * lifted(node)).sum::<f64>()
    }

    /// Σ m v (kg m/s).
    pub fn momentum(&self, model: &Model) -> Vec3 {
        model.node_mass.iter().zip(&self.node_v).map(|(mass, v)| *mass * v).sum()
    }

    /// Σ m x × v about the origin (kg m²/s).
    pub fn angular_momentum(&self, model: &Model) -> Vec3 {
        let nodes = model.node_mass.iter().zip(&self.node_x).zip(&self.node_v);
        nodes.map(|((mass, x), v)| *mass * x.cross(v)).sum()
    }

    /// A fingerprint of every bit.
    pub fn hash(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(&self.time.to_le_bytes());
        hash.update(&self.supplied_energy.to_le_bytes());
        hash.update(&self.caution.doublings.to_le_bytes());
        hash.update(&self.caution.calm_steps.to_le_bytes());
        for v in self.node_x.iter().chain(&self.node_v) {
            for x in v.iter() {
                hash.update(&x.to_le_bytes());
            }
        }
        hash.digest()
    }
}
