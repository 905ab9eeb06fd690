//! Reads STL: ASCII and binary.
//!
//! Binary files may begin with the word `solid` too, so the length decides: 84 bytes and 50 per triangle. An ASCII file cannot have that
//! length, because four letters read as a count mean gigabytes. STL repeats each vertex in every triangle; vertices with equal coordinates
//! are welded, in order of first appearance.

use crate::surface_builder::SurfaceBuilder;
use crate::text::{Lines, number, words};
use sinew_files::{Loaded, Place, ReadError};
use sinew_mesh::TriMesh;
use std::collections::HashMap;

const HEADER_BYTES: usize = 84;
const TRIANGLE_BYTES: usize = 50;

/// Reads a surface from the bytes of an STL file, whose unit is taken as metres.
pub fn read_stl(bytes: &[u8]) -> Result<Loaded<TriMesh>, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::whole("the file is empty"));
    }
    // the length that a binary file with this count has
    let stated =
        bytes.get(80..HEADER_BYTES).and_then(|count| count.first_chunk()).map(|c| u32::from_le_bytes(*c));
    let stated_bytes = stated.map(|count| HEADER_BYTES as u64 + TRIANGLE_BYTES as u64 * u64::from(count));

    // which of the two formats it is
    let mut welded = Welded::default();
    let mut notes = Vec::new();
    if stated_bytes == Some(bytes.len() as u64) {
        read_binary(bytes, &mut welded)?;
    } else if looks_like_text(bytes) {
        read_text(bytes, &mut welded)?;
    } else if let (Some(count), Some(stated_bytes)) = (stated, stated_bytes) {
        if stated_bytes > bytes.len() as u64 {
            let holds = (bytes.len() - HEADER_BYTES) / TRIANGLE_BYTES;
            let message = format!(
                "the file states {count} triangles but ends after {holds}: it is cut short, or not an STL file"
            );
            return Err(ReadError::byte(80, message));
        }
        let extra = bytes.len() as u64 - stated_bytes;
        notes.push(format!("{extra} bytes after the last triangle were ignored"));
        read_binary(&bytes[..stated_bytes as usize], &mut welded)?;
    } else {
        let message =
            format!("the file ({} bytes) neither begins with `solid` nor has a binary header", bytes.len());
        return Err(ReadError::whole(message + ": is this an STL file?"));
    }
    let mut read = welded.surface.finish()?;
    read.notes.extend(notes);
    Ok(read)
}

fn looks_like_text(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    start.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"))
        && !bytes.iter().take(512).any(|b| *b == 0)
}

fn read_binary(bytes: &[u8], welded: &mut Welded) -> Result<(), ReadError> {
    for (t, triangle) in bytes[HEADER_BYTES..].chunks_exact(TRIANGLE_BYTES).enumerate() {
        let place = Place::Byte(HEADER_BYTES + t * TRIANGLE_BYTES);
        let mut corners = [0; 3];
        // the first twelve bytes are the normal, which follows from the order of the corners
        for (corner, position) in corners.iter_mut().zip(triangle[12..48].as_chunks::<12>().0) {
            let (coordinates, _) = position.as_chunks::<4>();
            let position = [0, 1, 2].map(|i| f64::from(f32::from_le_bytes(coordinates[i])));
            *corner = welded.vertex(position, place)?;
        }
        welded.surface.face(&corners, place)?;
    }
    Ok(())
}

fn read_text(bytes: &[u8], welded: &mut Welded) -> Result<(), ReadError> {
    // vertices gather until their loop ends
    let mut corners = Vec::new();
    let mut ended = false;
    let mut last_line = 1;
    for (line, text) in Lines::of(bytes) {
        last_line = line;
        let mut words = words(text);
        let Some(first) = words.next() else { continue };
        ended = false;
        if first.eq_ignore_ascii_case(b"vertex") {
            // a corner
            let mut position = [0.0; 3];
            for coordinate in &mut position {
                let word =
                    words.next().ok_or_else(|| ReadError::line(line, "`vertex` takes three coordinates"))?;
                *coordinate = number(word, line, "coordinate")?;
            }
            corners.push(welded.vertex(position, Place::Line(line))?);
        } else if first.eq_ignore_ascii_case(b"endloop") {
            // the end of a triangle
            if corners.len() != 3 {
                let message =
                    format!("this facet has {} corners: facets of STL files are triangles", corners.len());
                return Err(ReadError::line(line, message));
            }
            welded.surface.face(&corners, Place::Line(line))?;
            corners.clear();
        } else if first.eq_ignore_ascii_case(b"endsolid") {
            ended = true;
        }
    }
    if !ended {
        return Err(ReadError::line(last_line, "the file ends without `endsolid`: it is cut short"));
    }
    Ok(())
}

/// A surface with vertices of equal coordinates welded.
#[derive(Default)]
struct Welded {
    surface: SurfaceBuilder,
    vertex_at: HashMap<[u64; 3], u32>,
}

impl Welded {
    fn vertex(&mut self, position: [f64; 3], place: Place) -> Result<u32, ReadError> {
        // adding zero turns −0 into +0
        let key = position.map(|c| (c + 0.0).to_bits());
        if let Some(&known) = self.vertex_at.get(&key) {
            return Ok(known);
        }
        let index = self.surface.vertex_count() as u32;
        self.surface.vertex(position, place)?;
        self.vertex_at.insert(key, index);
        Ok(index)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use sinew_mesh::shapes;

    /// A binary STL of a surface, whose header begins with the given bytes.
    pub(crate) fn binary_stl(mesh: &TriMesh, header: &[u8]) -> Vec<u8> {
        let mut bytes = header.to_vec();
        bytes.resize(80, b' ');
        bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
        for t in 0..mesh.triangles.len() {
            bytes.extend([0; 12]);
            for corner in mesh.corners(t) {
                corner.iter().for_each(|c| bytes.extend((*c as f32).to_le_bytes()));
            }
            bytes.extend([0; 2]);
        }
        bytes
    }

    pub(crate) fn text_stl(mesh: &TriMesh) -> String {
        let mut text = String::from("solid made by hand\n");
        for t in 0..mesh.triangles.len() {
            text += " facet normal 0 0 0\n  outer loop\n";
            mesh.corners(t).iter().for_each(|c| text += &format!("   vertex {} {} {}\n", c.x, c.y, c.z));
            text += "  endloop\n endfacet\n";
        }
        text + "endsolid made by hand\n"
    }

    #[test]
    fn a_cube_of_twelve_triangles_has_eight_vertices() {
        let cube = shapes::cuboid([1.0, 2.0, 0.5]);
        for bytes in [binary_stl(&cube, b"solid or not"), text_stl(&cube).into_bytes()] {
            let mesh = read_stl(&bytes).unwrap().value;
            assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (8, 12));
            assert!((mesh.signed_volume() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn vertices_are_welded_whatever_the_sign_of_zero() {
        let text = "solid\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nvertex -0 0 -0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendsolid";
        assert_eq!(read_stl(text.as_bytes()).unwrap().value.vertices.len(), 4);
    }

    #[test]
    fn every_truncation_is_detected() {
        let cube = shapes::cuboid([1.0, 1.0, 1.0]);
        let binary = binary_stl(&cube, b"solid");
        for end in 0..binary.len() {
            assert!(read_stl(&binary[..end]).is_err(), "{end}");
        }
        let text = text_stl(&cube);
        let end = text.len() - "endsolid made by hand\n".len();
        assert!(read_stl(&text.as_bytes()[..end]).unwrap_err().message.contains("cut short"));
    }

    #[test]
    fn a_wrong_count_is_an_error_and_extra_bytes_are_a_note() {
        let mut bytes = binary_stl(&shapes::cuboid([1.0; 3]), b"");
        bytes.push(0);
        assert!(read_stl(&bytes).unwrap().notes[0].contains("1 bytes after"));
        bytes[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(read_stl(&bytes).unwrap_err().message.contains("the file states 4294967295 triangles"));
    }
}
