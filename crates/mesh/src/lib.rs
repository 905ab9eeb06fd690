//! Geometry at rest: triangle and tet meshes, what is inside a surface, cages around it and
//! embeddings that let a fine surface ride in a coarse cage. Knows nothing of forces.

mod cage;
mod disjoint_sets;
mod embedding;
mod finding;
mod holes;
mod implicit;
mod orientation;
pub mod shapes;
mod solid;
mod tet_mesh;
mod tri_mesh;
mod winding;

pub use cage::{Cage, CageError, CageFinding, CageSize, full_fill};
pub use disjoint_sets::DisjointSets;
pub use embedding::Embedding;
pub use finding::Finding;
pub use implicit::{ImplicitSurface, ImplicitSurfaceError, Primitive, PrimitiveShape};
pub use solid::{Solid, SolidError};
pub use tet_mesh::{TetFault, TetMesh};
pub use tri_mesh::TriMesh;
pub use winding::WindingTree;
