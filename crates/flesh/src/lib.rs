//! Elastic bodies: materials with energy, stress and stress derivative, and the batched elements
//! that turn node positions into forces. Knows nothing of bones, time or files.

mod material;

pub use material::{Law, Material, StretchLimits};
