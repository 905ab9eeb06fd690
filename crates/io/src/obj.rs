//! Reads Wavefront OBJ: positions and faces.
//!
//! Texture coordinates, normals, colours, groups, materials, lines, points and unknown statements are ignored. Vertices keep the order of the
//! file, on which outputs rely; general libraries renumber them by first use, which is why there is a reader here.

use crate::surface_builder::SurfaceBuilder;
use crate::text::{Lines, number, quote, words};
use sinew_files::{Loaded, Place, ReadError};
use sinew_mesh::TriMesh;
use std::borrow::Cow;

/// Reads a surface from the bytes of an OBJ file, whose unit is taken as metres.
pub fn read_obj(bytes: &[u8]) -> Result<Loaded<TriMesh>, ReadError> {
    let mut surface = SurfaceBuilder::default();
    let mut corners = Vec::new();
    let mut lines = Lines::of(bytes);
    while let Some((line, text)) = next_statement(&mut lines) {
        let mut words = words(&text);
        match words.next() {
            // positions
            Some(b"v") => {
                let mut position = [0.0; 3];
                for (coordinate, axis) in position.iter_mut().zip(["x", "y", "z"]) {
                    let word = words.next().ok_or_else(|| {
                        ReadError::line(
                            line,
                            format!("this vertex has no {axis}: `v` takes three coordinates"),
                        )
                    })?;
                    *coordinate = number(word, line, "coordinate")?;
                }
                surface.vertex(position, Place::Line(line))?;
            }
            // faces
            Some(b"f" | b"fo") => {
                corners.clear();
                for word in words {
                    corners.push(corner(word, surface.vertex_count(), line)?);
                }
                surface.face(&corners, Place::Line(line))?;
            }
            // everything else is ignored
            _ => {}
        }
    }
    surface.finish()
}

/// The next line without its comment; a line that ends in a backslash is joined with the next one.
fn next_statement<'a>(lines: &mut Lines<'a>) -> Option<(usize, Cow<'a, [u8]>)> {
    let (number, first) = lines.next()?;
    let mut statement = Cow::Borrowed(first);
    if let Some(head) = first.strip_suffix(b"\\") {
        let mut joined = head.to_vec();
        for (_, next) in lines.by_ref() {
            joined.push(b' ');
            joined.extend_from_slice(next);
            if joined.last() != Some(&b'\\') {
                break;
            }
            joined.pop();
        }
        statement = Cow::Owned(joined);
    }
    if let Some(comment) = statement.iter().position(|&b| b == b'#') {
        statement = Cow::Owned(statement[..comment].to_vec());
    }
    Some((number, statement))
}

/// The vertex index of a face corner (`7`, `7/1`, `7//3`, `-1/…`), counted from 0.
fn corner(word: &[u8], vertex_count: usize, line: usize) -> Result<u32, ReadError> {
    let index = word.split(|&b| b == b'/').next().unwrap_or_default();
    let index: i64 = number(index, line, "vertex index")?;
    let from_zero = match index {
        1.. => Some(index - 1),
        0 => None,
        _ => (vertex_count as i64).checked_add(index).filter(|&i| i >= 0),
    };
    from_zero.and_then(|i| u32::try_from(i).ok()).ok_or_else(|| {
        let message = format!(
            "vertex index `{}` is invalid ({vertex_count} vertices so far): indices count from 1, or backwards from -1",
            quote(word)
        );
        ReadError::line(line, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::Vec3;

    fn read(text: &str) -> Result<Loaded<TriMesh>, ReadError> {
        read_obj(text.as_bytes())
    }

    #[test]
    fn vertices_keep_their_order_whatever_faces_use_them() {
        let mesh = read("v 9 9 9\nv 0 0 0\nv 0 1 0\nv 1 0 0 0.5 0.5 0.5\nv 7 7 7\nf 4 3 2\n").unwrap().value;
        assert_eq!(mesh.vertices.len(), 5);
        assert_eq!(mesh.vertices[0], Vec3::new(9.0, 9.0, 9.0));
        assert_eq!(mesh.vertices[4], Vec3::new(7.0, 7.0, 7.0));
        assert_eq!(mesh.triangles, [[3, 2, 1]]);
    }

    #[test]
    fn every_form_of_face_corner_is_read() {
        let text = "# scan\r\nmtllib x.mtl\r\no a\r\nv 0 0 0\r\nv 1 0 0\r\nv 1 1 0\r\nv 0 1 0\r\nvt 0 0\r\nvn 0 0 1\r\n\
                    usemtl skin\r\ns off\r\ng one\r\nf 1/1 2/1 3/1\r\nf 1//1 3//1 4//1\r\ng two\r\nf -4/1/1 -3/1/1 \\\r\n-2/1/1 # end\r\n\
                    l 1 2\r\np 3\r\ncurv2 1 2\r\nf 1 2 3 4";
        let mesh = read(text).unwrap().value;
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 2], [0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn a_face_may_precede_its_vertices() {
        assert!(read("f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0").is_ok());
    }

    #[test]
    fn errors_give_the_line() {
        for (text, words) in [
            ("", "no vertices"),
            ("v 0 0 0\n", "no faces"),
            ("v 0 0 0\nv 1 0\n", "line 2: this vertex has no z"),
            ("v 0 0 nan\n", "line 1: coordinate z is NaN"),
            ("v 0 -inf 0\n", "line 1: coordinate y is -inf"),
            ("v 0 1e300 0\n", "beyond 1e9"),
            ("v 0 0 x\n", "line 1: coordinate `x` is not a number"),
            ("v 0 0 0\nf 1 2 3\n", "line 2: a face refers to vertex 2"),
            ("v 0 0 0\nf 0 1 1\n", "line 2: vertex index `0`"),
            ("v 0 0 0\nf -1 -2 -3\n", "line 2: vertex index `-2`"),
            ("v 0 0 0\nf 1 1 99999999999\n", "line 2: vertex index `99999999999`"),
            ("v 0 0 0\nf 1 1 1\n", "every face repeats a vertex"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text:?}: {error}");
        }
    }
}
