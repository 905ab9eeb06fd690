//! Elastic bodies: materials with energy, stress and stress derivative, and the batched elements
//! that turn node positions into forces. Knows nothing of bones, time or files.

mod block;
mod elements;
mod forces;
mod gather;
mod hessian;
mod law;
mod material;
mod patch_volumes;
mod patches;
mod potential;

pub use block::ElementDesc;
pub use elements::Elements;
pub use forces::{CornerForces, Diagonalise, ForceReport, NodeMotion};
pub use hessian::ElasticHessian;
pub use material::{Lame, Law, Material, MaterialFault, StretchLimits};
pub use patches::PatchList;
pub use potential::{ElasticPotential, Evaluation};
