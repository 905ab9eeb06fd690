//! Reads TetGen's `.node` and `.ele` files.
//!
//! Comments begin with `#`. Nodes are numbered from 0 or from 1, as the first node says. Attributes and boundary markers are ignored; of
//! elements with ten nodes, the four corners are read. In tets of negative volume two corners are swapped, with a note.

use crate::surface_builder::{VERTEX_LIMIT, check_position};
use crate::text::{Lines, number, words};
use sinew_files::{Loaded, Place, ReadError};
use sinew_math::Vec3;
use sinew_mesh::TetMesh;
use std::path::Path;

/// The most tets: as many as the most nodes usually have.
const TET_LIMIT: usize = 5 * VERTEX_LIMIT;

/// Reads tets from the bytes of a `.node` and an `.ele` file, whose unit is taken as metres.
pub fn read_tetgen(node: &[u8], ele: &[u8]) -> Result<Loaded<TetMesh>, ReadError> {
    let nodes = read_nodes(node).map_err(|error| error.within(Path::new(".node")))?;
    read_elements(ele, nodes).map_err(|error| error.within(Path::new(".ele")))
}

/// The nodes of a `.node` file and the number of the first one.
pub(crate) struct Nodes {
    positions: Vec<Vec3>,
    first: u64,
}

pub(crate) fn read_nodes(bytes: &[u8]) -> Result<Nodes, ReadError> {
    // the header
    let mut rows = Rows::of(bytes);
    let (count, dimension) = rows.header("nodes", 3)?;
    if dimension != 3 {
        return Err(ReadError::line(
            rows.line,
            format!("the nodes have {dimension} dimensions: tets need 3"),
        ));
    }
    if count > VERTEX_LIMIT as u64 {
        return Err(ReadError::line(
            rows.line,
            format!("the file states {count} nodes: at most {VERTEX_LIMIT} are supported"),
        ));
    }

    // nodes in the order of their numbers
    let mut nodes = Nodes { positions: Vec::new(), first: 0 };
    for i in 0..count {
        let row = rows.next_of("nodes", i, count)?;
        let index: u64 = row.number(0, "node number")?;
        if i == 0 {
            nodes.first = index;
        }
        if index.checked_sub(nodes.first) != Some(i) || nodes.first > 1 {
            let message = format!(
                "found node number {index}, expected {}: nodes must be numbered in order, from 0 or 1",
                nodes.first.min(1) + i
            );
            return Err(ReadError::line(rows.line, message));
        }
        // the position
        let mut position = [0.0; 3];
        for (axis, coordinate) in position.iter_mut().enumerate() {
            *coordinate = row.number(1 + axis, "coordinate")?;
        }
        nodes.positions.push(check_position(position, Place::Line(rows.line))?);
    }
    Ok(nodes)
}

pub(crate) fn read_elements(bytes: &[u8], nodes: Nodes) -> Result<Loaded<TetMesh>, ReadError> {
    // the header
    let mut rows = Rows::of(bytes);
    let (count, corner_count) = rows.header("tets", 4)?;
    if corner_count != 4 && corner_count != 10 {
        return Err(ReadError::line(
            rows.line,
            format!("the tets have {corner_count} nodes: 4 or 10 are supported"),
        ));
    }
    if count > TET_LIMIT as u64 {
        return Err(ReadError::line(
            rows.line,
            format!("the file states {count} tets: at most {TET_LIMIT} are supported"),
        ));
    }

    // corners by number
    let Nodes { positions, first } = nodes;
    let mut mesh = TetMesh { nodes: positions, tets: Vec::new() };
    let mut swapped = 0usize;
    for i in 0..count {
        let row = rows.next_of("tets", i, count)?;
        let mut tet = [0u32; 4];
        for (c, corner) in tet.iter_mut().enumerate() {
            let index: u64 = row.number(1 + c, "node number")?;
            let from_zero = index.checked_sub(first).filter(|&i| i < mesh.nodes.len() as u64);
            *corner = from_zero.ok_or_else(|| {
                let last = first + mesh.nodes.len() as u64 - 1;
                let message =
                    format!("node {index} does not exist (nodes are {first} to {last}): do the two files belong together?");
                ReadError::line(row.line, message)
            })? as u32;
        }
        mesh.tets.push(tet);
        // positive volume
        if mesh.tet_volume(mesh.tets.len() - 1) < 0.0 {
            let last = mesh.tets.len() - 1;
            mesh.tets[last].swap(2, 3);
            swapped += 1;
        }
    }
    let mut notes = Vec::new();
    if swapped > 0 {
        notes
            .push(format!("{swapped} of {count} tets had negative volume: two corners of each were swapped"));
    }
    Ok(Loaded { value: mesh, notes })
}

/// The non-empty lines of a file.
struct Rows<'a> {
    lines: Lines<'a>,
    line: usize,
}

struct Row<'a> {
    words: Vec<&'a [u8]>,
    line: usize,
}

impl<'a> Rows<'a> {
    fn of(bytes: &'a [u8]) -> Rows<'a> {
        Rows { lines: Lines::of(bytes), line: 1 }
    }

    fn next(&mut self) -> Option<Row<'a>> {
        for (line, text) in self.lines.by_ref() {
            self.line = line;
            let text = text.split(|&b| b == b'#').next().unwrap_or_default();
            // the longest row that matters is an element of ten nodes
            let words: Vec<&[u8]> = words(text).take(11).collect();
            if !words.is_empty() {
                return Some(Row { words, line });
            }
        }
        None
    }

    fn next_of(&mut self, what: &str, i: u64, count: u64) -> Result<Row<'a>, ReadError> {
        self.next().ok_or_else(|| {
            let message = format!("the file ends after {i} of {count} {what}: it is cut short");
            ReadError::line(self.line, message)
        })
    }

    /// The first row: the count, and the second number or its default.
    fn header(&mut self, what: &str, defaults: u64) -> Result<(u64, u64), ReadError> {
        let row = self.next().ok_or_else(|| ReadError::whole("the file is empty"))?;
        let count = row.number(0, "the count")?;
        if count == 0 {
            return Err(ReadError::line(row.line, format!("the file has no {what}")));
        }
        let second = if row.words.len() > 1 { row.number(1, "the second number")? } else { defaults };
        Ok((count, second))
    }
}

impl Row<'_> {
    fn number<T: std::str::FromStr>(&self, column: usize, what: &str) -> Result<T, ReadError> {
        let word = self.words.get(column).ok_or_else(|| {
            ReadError::line(
                self.line,
                format!("{what} is missing: this line has {} numbers", self.words.len()),
            )
        })?;
        number(word, self.line, what)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const NODE: &str =
        "# four nodes\n4 3 1 1\n1 0 0 0 0.5 1\n2 1 0 0 0.5 1 # marked\n\n3 0 1 0 0.5 1\n4 0 0 1 0.5 1\n";
    pub(crate) const ELE: &str = "2 4 0\n1 1 2 3 4\n2 1 2 4 3\n# made by hand\n";

    fn read(node: &str, ele: &str) -> Result<Loaded<TetMesh>, ReadError> {
        read_tetgen(node.as_bytes(), ele.as_bytes())
    }

    #[test]
    fn tets_of_negative_volume_are_reoriented_with_a_note() {
        let Loaded { value, notes } = read(NODE, ELE).unwrap();
        assert_eq!(value.tets, [[0, 1, 2, 3], [0, 1, 2, 3]]);
        assert!(notes[0].starts_with("1 of 2 tets"), "{notes:?}");
    }

    #[test]
    fn nodes_may_be_numbered_from_zero_and_elements_may_have_ten_nodes() {
        let node = "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n";
        assert_eq!(read(node, "1 10 0\n0 0 1 2 3 0 0 0 0 0 0\n").unwrap().value.tets, [[0, 1, 2, 3]]);
    }

    #[test]
    fn errors_give_the_line() {
        for (node, ele, words) in [
            ("", ELE, ".node: the file is empty"),
            ("0 3 0 0", ELE, ".node, line 1: the file has no nodes"),
            ("4000000000 3", ELE, "at most"),
            ("9999999 3\n1 0 0 0", ELE, ".node, line 2: the file ends after 1 of 9999999"),
            ("1 2\n1 0 0", ELE, "2 dimensions"),
            ("2 3\n5 0 0 0", ELE, "found node number 5, expected 1"),
            ("2 3\n1 0 0 0\n7 0 0 0", ELE, "found node number 7, expected 2"),
            ("1 3\n1 0 nan 0", ELE, "coordinate y is NaN"),
            ("1 3\n1 0 0", ELE, "coordinate is missing"),
            (NODE, "", ".ele: the file is empty"),
            (NODE, "1 5\n1 1 2 3 4 5", "the tets have 5 nodes"),
            (NODE, "1 4\n1 1 2 3 5", ".ele, line 2: node 5 does not exist (nodes are 1 to 4)"),
            (NODE, "1 4\n1 0 2 3 4", ".ele, line 2: node 0 does not exist (nodes are 1 to 4)"),
            (NODE, "3 4\n1 1 2 3 4", ".ele, line 2: the file ends after 1 of 3 tets"),
        ] {
            let error = read(node, ele).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
