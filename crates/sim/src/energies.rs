//! Energies of a state, by where they are.

/// Where the energy of a state is (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// In motion: Σ m v²/2 over free nodes, and that of bones, coordinates of bodies and free obstacles.
    pub kinetic: f64,
    /// In deformation, in the springs and stops of joints, and in those of contacts with obstacles.
    pub elastic: f64,
    /// In height, zero at rest: −Σ m g · (x − X) over free nodes, bones and free obstacles.
    pub potential: f64,
}
