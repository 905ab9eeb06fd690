//! Reads Stanford PLY: ASCII, and binary of either byte order.
//!
//! The elements `vertex` (x, y, z) and `face` (vertex_indices or vertex_index) are read; other elements and properties are skipped. Memory
//! grows with the bytes that are read, never with the counts of the header. General libraries build a map of named properties per vertex,
//! ten times as large as the mesh, which is why there is a reader here.

mod body;
mod header;

use crate::surface_builder::SurfaceBuilder;
use body::Body;
use header::{Element, Header, Property};
use sinew_files::{Loaded, ReadError};
use sinew_mesh::TriMesh;

/// Reads a surface from the bytes of a PLY file, whose unit is taken as metres.
pub fn read_ply(bytes: &[u8]) -> Result<Loaded<TriMesh>, ReadError> {
    let header = Header::read(bytes)?;
    let mut body = Body::of(bytes, &header);
    let mut surface = SurfaceBuilder::default();
    for element in &header.elements {
        // an element without properties has no bytes, so its count may be anything
        if element.properties.is_empty() {
            continue;
        }
        match element.name.as_str() {
            "vertex" => read_vertices(element, &mut body, &mut surface)?,
            "face" => read_faces(element, &mut body, &mut surface)?,
            "tristrips" => {
                return Err(ReadError::whole(
                    "triangle strips are not supported: export the mesh with plain faces",
                ));
            }
            _ => (0..element.count).try_for_each(|_| {
                element.properties.iter().try_for_each(|property| skip(property, &mut body))
            })?,
        }
    }
    surface.finish()
}

fn read_vertices(element: &Element, body: &mut Body, surface: &mut SurfaceBuilder) -> Result<(), ReadError> {
    // the coordinate of each property; 3 for other properties
    let axes: Vec<usize> = element.properties.iter().map(Property::axis).collect();
    if let Some(missing) = (0..3).find(|axis| !axes.contains(axis)) {
        let name = ["x", "y", "z"][missing];
        return Err(ReadError::whole(format!("the vertices have no property {name}: x, y and z are needed")));
    }
    for _ in 0..element.count {
        let place = body.place();
        let mut position = [0.0; 4];
        for (property, &axis) in element.properties.iter().zip(&axes) {
            match property {
                Property::Scalar { kind, .. } => position[axis] = body.value(*kind)?,
                Property::List { .. } => skip(property, body)?,
            }
        }
        surface.vertex([position[0], position[1], position[2]], place)?;
    }
    Ok(())
}

fn read_faces(element: &Element, body: &mut Body, surface: &mut SurfaceBuilder) -> Result<(), ReadError> {
    let holds_corners = |property: &Property| matches!(property, Property::List { name, .. } if name == "vertex_indices" || name == "vertex_index");
    if !element.properties.iter().any(holds_corners) {
        return Err(ReadError::whole(
            "the faces have no list vertex_indices (or vertex_index): export the mesh with its faces",
        ));
    }
    let mut corners = Vec::new();
    for _ in 0..element.count {
        let place = body.place();
        corners.clear();
        for property in &element.properties {
            match property {
                Property::List { count, item, .. } if holds_corners(property) => {
                    for _ in 0..body.list_length(*count)? {
                        corners.push(body.index(*item)?);
                    }
                }
                _ => skip(property, body)?,
            }
        }
        surface.face(&corners, place)?;
    }
    Ok(())
}

fn skip(property: &Property, body: &mut Body) -> Result<(), ReadError> {
    match property {
        Property::Scalar { kind, .. } => body.value(*kind).map(drop),
        Property::List { count, item, .. } => {
            (0..body.list_length(*count)?).try_for_each(|_| body.value(*item).map(drop))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::Vec3;

    const TEXT: &str = "ply\nformat ascii 1.0\ncomment made by hand\nobj_info none\nelement vertex 4\n\
        property uchar red\nproperty float x\nproperty double y\nproperty float z\nelement edge 1\n\
        property int vertex1\nproperty int vertex2\nelement face 2\nproperty uchar flag\n\
        property list uchar int vertex_indices\nend_header\n\
        255 0 0 0\n0 1 0 0\n0 1 1 0\n0 0 1 0.5\n0 1\n7 3 0 1 2\n7 4 0 1 2 3\n";

    fn binary(big: bool) -> Vec<u8> {
        let mut bytes = format!(
            "ply\r\nformat binary_{}_endian 1.0\r\nelement face 1\r\nproperty list int8 uint16 vertex_index\r\n\
             element vertex 3\r\nproperty float32 x\r\nproperty float64 y\r\nproperty int16 z\r\n\
             property list uchar uchar extra\r\nend_header\r\n",
            if big { "big" } else { "little" }
        )
        .into_bytes();
        let mut push = |le: &[u8]| {
            let mut le = le.to_vec();
            if big {
                le.reverse();
            }
            bytes.extend(le);
        };
        push(&[3]);
        [2u16, 1, 0].iter().for_each(|i| push(&i.to_le_bytes()));
        for (x, y, z) in [(0.5f32, 0.25f64, -3i16), (1.0, 0.0, 0), (0.0, 1.0, 0)] {
            push(&x.to_le_bytes());
            push(&y.to_le_bytes());
            push(&z.to_le_bytes());
            push(&[2]);
            push(&[9]);
            push(&[9]);
        }
        bytes
    }

    #[test]
    fn unneeded_elements_and_properties_are_skipped() {
        let mesh = read_ply(TEXT.as_bytes()).unwrap().value;
        assert_eq!(mesh.vertices[3], Vec3::new(0.0, 1.0, 0.5));
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn both_byte_orders_give_the_same_mesh() {
        let little = read_ply(&binary(false)).unwrap().value;
        assert_eq!(little, read_ply(&binary(true)).unwrap().value);
        assert_eq!(little.vertices[0], Vec3::new(0.5, 0.25, -3.0));
        assert_eq!(little.triangles, [[2, 1, 0]]);
    }

    #[test]
    fn every_truncation_is_detected() {
        let whole = binary(false);
        for end in 0..whole.len() {
            assert!(read_ply(&whole[..end]).is_err(), "{end} of {} bytes", whole.len());
        }
        // in text the last number may lose digits, so only ends of words are tried
        for end in (0..TEXT.len() - 1).filter(|&end| TEXT.as_bytes()[end].is_ascii_whitespace()) {
            assert!(read_ply(&TEXT.as_bytes()[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn a_count_beyond_the_file_is_an_error() {
        for (from, to) in [
            ("element vertex 4", "element vertex 4000000000"),
            ("element vertex 4", "element vertex 18446744073709551615"),
            ("element edge 1", "element edge 999999999999"),
            ("element face 2", "element face 4000000000"),
            ("7 4 0 1 2 3", "7 4000000000 0 1 2 3"),
        ] {
            let error = read_ply(TEXT.replace(from, to).as_bytes()).unwrap_err().to_string();
            assert!(error.contains("ends") || error.contains("`"), "{to}: {error}");
        }
        let empty = "element nothing 18446744073709551615\nelement vertex 4";
        assert!(read_ply(TEXT.replace("element vertex 4", empty).as_bytes()).is_ok());
    }

    #[test]
    fn errors_give_the_place() {
        for (from, to, words) in [
            ("ply\n", "plx\n", "does not begin with `ply`"),
            ("ascii", "utf8", "line 2: format `utf8`"),
            ("property double y", "property double w", "no property y"),
            ("property double y", "property quad y", "line 8: type `quad`"),
            ("vertex_indices", "corners", "no list vertex_indices"),
            ("0 1 1 0\n", "0 1 nan 0\n", "coordinate y is NaN"),
            ("0 1 1 0\n", "0 1 one 0\n", "line 19: `one` is not a number"),
            ("7 3 0 1 2", "7 3 0 1 8", "line 22: a face refers to vertex 9"),
            ("7 3 0 1 2", "7 3 0 1 -2", "-2"),
            ("7 3 0 1 2", "7 -3 0 1 2", "-3"),
            ("end_header", "end_heade", "end_header"),
        ] {
            let error = read_ply(TEXT.replacen(from, to, 1).as_bytes()).unwrap_err().to_string();
            assert!(error.contains(words), "{to:?}: {error}");
        }
    }
}
