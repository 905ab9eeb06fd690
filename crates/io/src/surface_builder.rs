//! Builds a checked [`TriMesh`] from the vertices and faces of a file.
//!
//! All surface readers use it, so all of them reject and repair the same things: coordinates must be finite, indices in range and totals
//! below a limit; faces with fewer than three corners are dropped with a note. Vertices keep the order of the file.

use crate::polygon::triangulate;
use sinew_files::{Loaded, Place, ReadError};
use sinew_math::Vec3;
use sinew_mesh::TriMesh;

/// The most vertices: more than any machine can simulate.
pub(crate) const VERTEX_LIMIT: usize = 1 << 26;
/// The most triangles: as many as that many vertices usually have.
const TRIANGLE_LIMIT: usize = 1 << 27;
/// The most corners of a face; real ones have hundreds.
const CORNER_LIMIT: usize = 100_000;
/// The largest coordinate; beyond it, squared lengths and single precision lose their meaning.
const COORDINATE_LIMIT: f64 = 1e9;

/// A surface while it is read.
#[derive(Default)]
pub(crate) struct SurfaceBuilder {
    vertices: Vec<Vec3>,
    corners: Vec<u32>,
    faces: Vec<Face>,
    small_faces: usize,
}

struct Face {
    end: usize,
    place: Place,
}

impl SurfaceBuilder {
    /// Adds a vertex.
    pub(crate) fn vertex(&mut self, position: [f64; 3], place: Place) -> Result<(), ReadError> {
        if self.vertices.len() == VERTEX_LIMIT {
            let message = format!("more than {VERTEX_LIMIT} vertices: reduce the mesh first");
            return Err(ReadError { file: None, place, message });
        }
        self.vertices.push(check_position(position, place)?);
        Ok(())
    }

    /// The number of vertices so far.
    pub(crate) fn vertex_count(&self) -> usize {
        self.vertices.len()
    }

    /// Adds a face; its corners count from 0 and may refer to later vertices.
    pub(crate) fn face(&mut self, corners: &[u32], place: Place) -> Result<(), ReadError> {
        if corners.len() < 3 {
            self.small_faces += 1;
            return Ok(());
        }
        if corners.len() > CORNER_LIMIT {
            let count = corners.len();
            let message = format!(
                "a face has {count} corners, more than {CORNER_LIMIT}: triangulate the mesh before you export it"
            );
            return Err(ReadError { file: None, place, message });
        }
        if self.corners.len() + corners.len() > 3 * TRIANGLE_LIMIT {
            let message = format!("more than {TRIANGLE_LIMIT} triangles: reduce the mesh first");
            return Err(ReadError { file: None, place, message });
        }
        self.corners.extend_from_slice(corners);
        self.faces.push(Face { end: self.corners.len(), place });
        Ok(())
    }

    /// The surface of all vertices and faces.
    pub(crate) fn finish(self) -> Result<Loaded<TriMesh>, ReadError> {
        // there must be something
        let SurfaceBuilder { vertices, corners, faces, small_faces } = self;
        if vertices.is_empty() {
            return Err(ReadError::whole("the file has no vertices: is this a mesh file?"));
        }
        if faces.is_empty() {
            let count = vertices.len();
            return Err(ReadError::whole(format!(
                "the file has {count} vertices but no faces: a point cloud has no inside; export the mesh with its faces"
            )));
        }

        // faces as triangles
        let mut triangles = Vec::new();
        let mut start = 0;
        for face in &faces {
            let corners = &corners[start..face.end];
            start = face.end;
            if let Some(&bad) = corners.iter().find(|&&corner| corner as usize >= vertices.len()) {
                let message = format!(
                    "a face refers to vertex {} (counted from 1), but there are {} vertices: the file is cut short or its indices are wrong; export it again",
                    u64::from(bad) + 1,
                    vertices.len()
                );
                return Err(ReadError { file: None, place: face.place, message });
            }
            triangulate(corners, &vertices, &mut triangles);
        }

        // drop what is degenerate
        let mut notes = Vec::new();
        if small_faces > 0 {
            notes.push(format!("{small_faces} faces with fewer than three corners were dropped"));
        }
        let all = triangles.len();
        triangles.retain(|&[a, b, c]| a != b && b != c && c != a);
        if triangles.len() < all {
            notes.push(format!("{} triangles that repeat a vertex were dropped", all - triangles.len()));
        }
        if triangles.is_empty() {
            return Err(ReadError::whole("every face repeats a vertex: the surface has no area"));
        }
        Ok(Loaded { value: TriMesh { vertices, triangles }, notes })
    }
}

/// A finite position of moderate size, or an error at its place.
pub(crate) fn check_position(position: [f64; 3], place: Place) -> Result<Vec3, ReadError> {
    match position.iter().zip(["x", "y", "z"]).find(|(c, _)| !c.is_finite() || c.abs() > COORDINATE_LIMIT) {
        None => Ok(Vec3::from(position)),
        Some((c, axis)) => {
            let message = if c.is_finite() {
                format!("coordinate {axis} = {c:e} is beyond {COORDINATE_LIMIT:e}: choose a larger unit")
            } else {
                format!("coordinate {axis} is {c}: every coordinate must be a finite number; repair the mesh")
            };
            Err(ReadError { file: None, place, message })
        }
    }
}
