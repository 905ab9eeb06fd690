//! Hyperelastic finite elements: isotropic materials with energy, stress and stress derivative, and linear tetrahedra in SIMD batches
//! that map node positions to forces ([`CornerForces`]), energy and gradient ([`ElasticPotential`]) and Hessian products
//! ([`ElasticHessian`]). The crate knows nothing of bones, time stepping or files.
//!
//! ```
//! use sinew_flesh::{CornerForces, Diagonalise, ElementDesc, Elements, Material, NodeMotion};
//! use sinew_math::Vec3;
//! use sinew_mesh::shapes;
//!
//! // a block of muscle, stretched by 10 % along x
//! let mesh = shapes::beam(2, [0.4, 0.1, 0.1]);
//! let material = Material::named("muscle").expect("a built-in material");
//! let describe = |&nodes: &[u32; 4]| ElementDesc { nodes, material, fill: 1.0, viscosity: 0.0 };
//! let elements = Elements::build(&mesh.nodes, &mesh.tets.iter().map(describe).collect::<Vec<_>>());
//! let x: Vec<Vec3> = mesh.nodes.iter().map(|x| Vec3::new(1.1 * x.x, x.y, x.z)).collect();
//! let v = vec![Vec3::zeros(); x.len()];
//!
//! let mut forces = CornerForces::default();
//! let report = forces.update(&elements, NodeMotion { x: &x, v: &v }, Diagonalise::Selectively);
//! let mut node_force = vec![Vec3::zeros(); x.len()];
//! forces.on_nodes(&elements, &mut node_force);
//!
//! assert_eq!(report.inverted, 0);
//! assert!(elements.energy(&x) > 0.0);
//! // internal forces sum to zero
//! assert!(node_force.iter().sum::<Vec3>().norm() < 1e-9);
//! ```

mod block;
mod compression_limit;
mod elements;
mod fabric;
mod fibre;
mod force_length;
mod forces;
mod gather;
mod hessian;
mod law;
mod material;
pub mod network;
mod patch_volumes;
mod patches;
mod potential;

pub use block::ElementDesc;
pub use compression_limit::CompressionLimit;
pub use elements::Elements;
pub use fabric::{Fabric, FabricFault};
pub use fibre::{Fibre, FibreTangent};
pub use force_length::ForceLength;
pub use forces::{CornerForces, Diagonalise, ForceReport, NodeMotion};
pub use hessian::ElasticHessian;
pub use material::{Lame, Law, Material, MaterialFault, StretchLimits};
pub use patches::PatchList;
pub use potential::{ElasticPotential, Evaluation};
