//! Elastic bodies: materials with energy, stress and stress derivative, and the batched elements
//! that turn node positions into forces. Knows nothing of bones, time or files.

mod elements;
mod forces;
mod law;
mod material;

pub use elements::{ElementDesc, Elements};
pub use forces::{CornerForces, Diagonalise, ForceReport, NodeMotion};
pub use material::{Lame, Law, Material, MaterialFault, StretchLimits};
