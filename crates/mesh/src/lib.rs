//! Geometry at rest: triangle and tet meshes, what is inside a surface, cages around it and
//! embeddings that let a fine surface ride in a coarse cage. Knows nothing of forces.

pub mod shapes;
mod tet_mesh;
mod tri_mesh;

pub use tet_mesh::TetMesh;
pub use tri_mesh::TriMesh;
