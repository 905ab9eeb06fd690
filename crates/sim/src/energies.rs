//! The energy balance of a state.

/// Energies of a state (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// Kinetic: Σ m v²/2 over free nodes, plus that of bones, generalised coordinates and dynamic obstacles.
    pub kinetic: f64,
    /// Elastic: of flesh, of springs and limits of joints, and of contacts with obstacles.
    pub elastic: f64,
    /// Gravitational, zero at rest: −Σ m g · (x − X) over free nodes, bones and dynamic obstacles.
    pub potential: f64,
}
