//! Vertices and faces as they come from a file, checked and made into a [`TriMesh`].
//!
//! All surface readers end here, so all of them refuse and mend the same things: coordinates must be
//! finite, indices in range, totals sane; faces with fewer than three corners are dropped with a note.
//! Vertices keep the order and number of the file.

use crate::polygon::triangulate;
use sinew_files::{Loaded, Place, ReadError};
use sinew_math::Vec3;
use sinew_mesh::TriMesh;

/// More vertices than any machine this runs on can simulate.
pub(crate) const VERTEX_LIMIT: usize = 1 << 26;
/// As many triangles as that many vertices usually have.
const TRIANGLE_LIMIT: usize = 1 << 27;
/// Beyond this, single precision pictures and squared lengths lose their meaning.
const COORDINATE_LIMIT: f64 = 1e9;

/// A surface as it comes from a file.
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

    /// Adds a face; its corners count from 0 and may name vertices that are yet to come.
    pub(crate) fn face(&mut self, corners: &[u32], place: Place) -> Result<(), ReadError> {
        if corners.len() < 3 {
            self.small_faces += 1;
            return Ok(());
        }
        if self.corners.len() + corners.len() > 3 * TRIANGLE_LIMIT {
            let message = format!("more than {TRIANGLE_LIMIT} triangles: reduce the mesh first");
            return Err(ReadError { file: None, place, message });
        }
        self.corners.extend_from_slice(corners);
        self.faces.push(Face { end: self.corners.len(), place });
        Ok(())
    }

    /// The surface of all that was added.
    pub(crate) fn finish(self) -> Result<Loaded<TriMesh>, ReadError> {
        let SurfaceBuilder { vertices, corners, faces, small_faces } = self;
        if vertices.is_empty() {
            return Err(ReadError::whole("no vertices in it: is this a mesh file?"));
        }
        if faces.is_empty() {
            let count = vertices.len();
            return Err(ReadError::whole(format!(
                "{count} vertices but no faces: a point cloud has no inside; export the mesh with its faces"
            )));
        }
        let mut triangles = Vec::new();
        let mut start = 0;
        for face in &faces {
            let corners = &corners[start..face.end];
            start = face.end;
            if let Some(&bad) = corners.iter().find(|&&corner| corner as usize >= vertices.len()) {
                let message = format!(
                    "a face names vertex {} (counted from 1) of {}: the file is cut short or its indices are wrong; export it again",
                    u64::from(bad) + 1,
                    vertices.len()
                );
                return Err(ReadError { file: None, place: face.place, message });
            }
            triangulate(corners, &vertices, &mut triangles);
        }
        let mut notes = Vec::new();
        if small_faces > 0 {
            notes.push(format!("{small_faces} faces with fewer than three corners were left out"));
        }
        let all = triangles.len();
        triangles.retain(|&[a, b, c]| a != b && b != c && c != a);
        if triangles.len() < all {
            notes.push(format!("{} triangles that name a vertex twice were left out", all - triangles.len()));
        }
        if triangles.is_empty() {
            return Err(ReadError::whole(
                "every face names one vertex twice: nothing is left of the surface",
            ));
        }
        Ok(Loaded { value: TriMesh { vertices, triangles }, notes })
    }
}

/// A position that can be computed with, or an error at its place.
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
