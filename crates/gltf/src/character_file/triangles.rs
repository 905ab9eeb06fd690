//! Triangles of a primitive, from lists, strips and fans.

use super::accessor::{Accessor, Component};
use super::document_reader::{DocumentReader, Part};
use super::findings::Findings;

/// Corners one after another: those of the indices, or of all vertices in order.
enum Corners<'a> {
    Indexed(Accessor<'a>),
    All(usize),
}

impl Corners<'_> {
    fn count(&self) -> usize {
        match self {
            Corners::Indexed(accessor) => accessor.count,
            Corners::All(count) => *count,
        }
    }

    fn corner(&self, place: usize) -> u32 {
        match self {
            Corners::Indexed(accessor) => {
                let mut corner = [0.0];
                accessor.read_raw(place, &mut corner);
                corner[0] as u32
            }
            Corners::All(_) => place as u32,
        }
    }
}

/// Reads the triangles of a primitive; none, with a note, if it has points or lines.
pub(super) fn read(
    document: &DocumentReader,
    part: &Part,
    vertex_count: usize,
    findings: &mut Findings,
) -> Result<Vec<[u32; 3]>, String> {
    // whether there are any
    let path = &part.path;
    let mode = part.whole("mode")?.unwrap_or(4);
    if !(4..=6).contains(&mode) {
        let kind = match mode {
            0 => "points",
            1..=3 => "lines",
            _ => {
                return Err(format!(
                    "{path}.mode is {mode}, which glTF does not know: export the file again"
                ));
            }
        };
        findings.note(format!("{path} has {kind}: it has no surface, its vertices are kept"));
        return Ok(Vec::new());
    }
    if u32::try_from(vertex_count).is_err() {
        return Err(format!("{path} has {vertex_count} vertices: split the mesh"));
    }

    // their corners
    let corners = match part.index("indices")? {
        Some(index) => {
            let accessor = Accessor::find(document, index)?;
            accessor.expect(
                "SCALAR",
                &[Component::U8, Component::U16, Component::U32],
                "corners of triangles",
            )?;
            Corners::Indexed(accessor)
        }
        None => Corners::All(vertex_count),
    };
    let count = corners.count();
    document.charge(count, if mode == 4 { 4 } else { 12 }, path)?;
    if let Some(place) = (0..count).find(|place| corners.corner(*place) as usize >= vertex_count) {
        let corner = corners.corner(place);
        return Err(format!(
            "{path}: corner {place} is vertex {corner} of {vertex_count}: export the file again"
        ));
    }
    if mode == 4 && count % 3 != 0 {
        findings.note(format!(
            "{path} has {count} corners, no multiple of 3: the last {} were left out",
            count % 3
        ));
    }

    // three at a time
    let take = |places: [usize; 3]| places.map(|place| corners.corner(place));
    let strung = count.saturating_sub(2);
    Ok(match mode {
        4 => (0..count / 3).map(|i| take([3 * i, 3 * i + 1, 3 * i + 2])).collect(),
        // every second one the other way round, so that all face alike; those without area only join pieces
        5 => (0..strung).map(|i| take([i, i + 1 + i % 2, i + 2 - i % 2])).filter(has_three_corners).collect(),
        _ => (0..strung).map(|i| take([i + 1, i + 2, 0])).filter(has_three_corners).collect(),
    })
}

fn has_three_corners([a, b, c]: &[u32; 3]) -> bool {
    a != b && b != c && c != a
}
