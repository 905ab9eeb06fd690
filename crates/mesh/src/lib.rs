//! Meshes and geometry at rest: triangle and tetrahedral meshes, inside tests, embedding cages, and implicit surfaces. Knows
//! nothing of forces.
//!
//! A surface becomes a [`Solid`], which repairs it and tests points for being inside; a [`Cage`] of tets is built around the
//! solid, and its [`Embedding`] interpolates the surface from the nodes of the cage:
//!
//! ```
//! use sinew_math::Vec3;
//! use sinew_mesh::{Cage, CageSize, Solid, shapes};
//!
//! let surface = shapes::sphere(0.5, 2);
//! let solid = Solid::build(&surface)?;
//! assert!(solid.contains(&Vec3::new(0.1, 0.2, 0.0)));
//!
//! // some 300 tets carry the surface: moving their nodes moves its vertices
//! let cage = Cage::build(&solid, CageSize::Tets(300))?;
//! let lifted: Vec<Vec3> = cage.mesh.nodes.iter().map(|x| x + Vec3::z()).collect();
//! let mut vertices = vec![Vec3::zeros(); surface.vertices.len()];
//! cage.embedding.interpolate(&lifted, &mut vertices);
//! assert!((vertices[0] - surface.vertices[0] - Vec3::z()).norm() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cage;
mod disjoint_sets;
mod embedding;
mod finding;
mod holes;
mod implicit;
mod long_triangles;
mod node_neighbours;
mod orientation;
mod point_field;
mod refine;
pub mod shapes;
mod solid;
mod tet_mesh;
mod thickness;
mod tri_mesh;
mod winding;

pub use cage::{Cage, CageError, CageFinding, CageSize, full_fill};
pub use disjoint_sets::DisjointSets;
pub use embedding::Embedding;
pub use finding::Finding;
pub use implicit::{ImplicitSurface, ImplicitSurfaceError, Primitive, PrimitiveShape};
pub use node_neighbours::NodeNeighbours;
pub use point_field::PointField;
pub use refine::{split_long_edges, split_long_edges_between};
pub use solid::{Solid, SolidError};
pub use tet_mesh::{TetFault, TetMesh};
pub use thickness::local_thickness;
pub use tri_mesh::TriMesh;
pub use winding::WindingTree;
