//! The index codecs of meshoptimizer: triangles that reuse recent edges and vertices, and plain sequences.

use super::byte_reader::{ByteReader, unfold};

/// The first bytes, without their versions, of triangles and of sequences; versions 0 and 1 are known.
const TRIANGLES_HEADER: u8 = 0xe0;
const SEQUENCE_HEADER: u8 = 0xd0;
const MAX_VERSION: u8 = 1;
/// The table of common codes behind the data of triangles (bytes), and what stands behind a sequence.
const TABLE: usize = 16;
const SEQUENCE_TAIL: usize = 4;

/// Decodes so many corners of triangles; `None` if the data is not sound.
pub(super) fn decode_triangles(data: &[u8], count: usize) -> Option<Vec<u32>> {
    let version = version_of(data, TRIANGLES_HEADER)?;
    let end = data.len().checked_sub(TABLE)?;
    let codes = data.get(1..1 + count / 3)?;
    let mut triangles = Triangles {
        corners: Vec::with_capacity(count),
        edges: Recent::new([u32::MAX; 2]),
        vertices: Recent::new(u32::MAX),
        next: 0,
        last: 0,
        reader: ByteReader::of(data.get(1 + count / 3..end)?),
        // codes 13 and 14 step by one since version 1
        first_step: if version == 0 { 15 } else { 13 },
    };
    for code in codes {
        if *code < 0xf0 {
            triangles.beside_edge(usize::from(code >> 4), code & 15)?;
        } else if *code < 0xfe {
            triangles.common(data[end + usize::from(code & 15)]);
        } else {
            triangles.free(*code == 0xfe)?;
        }
    }
    (triangles.reader.len() == 0).then_some(triangles.corners)
}

/// Decodes so many indices of any order; `None` if the data is not sound.
pub(super) fn decode_sequence(data: &[u8], count: usize) -> Option<Vec<u32>> {
    version_of(data, SEQUENCE_HEADER)?;
    let mut reader = ByteReader::of(data.get(1..data.len().checked_sub(SEQUENCE_TAIL)?)?);
    // every index takes a byte or more
    let mut indices = Vec::with_capacity(count.min(data.len()));
    let mut last = [0u32; 2];
    for _ in 0..count {
        let number = reader.variable_length()?;
        let last = &mut last[(number & 1) as usize];
        *last = last.wrapping_add(unfold(number >> 1));
        indices.push(*last);
    }
    (reader.len() == 0).then_some(indices)
}

fn version_of(data: &[u8], header: u8) -> Option<u8> {
    let first = *data.first()?;
    (first & 0xf0 == header && first & 0x0f <= MAX_VERSION).then_some(first & 0x0f)
}

/// The last sixteen of something.
struct Recent<T> {
    entries: [T; 16],
    /// Where the next one goes.
    at: usize,
}

impl<T: Copy> Recent<T> {
    fn new(nothing: T) -> Recent<T> {
        Recent { entries: [nothing; 16], at: 0 }
    }

    fn push(&mut self, entry: T) {
        self.entries[self.at] = entry;
        self.at = (self.at + 1) & 15;
    }

    /// The entry so many places before the next one.
    fn back(&self, places: usize) -> T {
        self.entries[self.at.wrapping_sub(places) & 15]
    }
}

struct Triangles<'a> {
    corners: Vec<u32>,
    edges: Recent<[u32; 2]>,
    vertices: Recent<u32>,
    /// The first vertex that was not named yet.
    next: u32,
    /// The last vertex that was named by its difference.
    last: u32,
    reader: ByteReader<'a>,
    first_step: u8,
}

impl Triangles<'_> {
    /// A triangle on a recent edge, with a corner that is new, recent, or given.
    fn beside_edge(&mut self, edge: usize, corner: u8) -> Option<()> {
        let [a, b] = self.edges.back(1 + edge);
        let c = if corner == 0 {
            self.new_vertex()
        } else if corner < self.first_step {
            self.vertices.back(1 + usize::from(corner))
        } else {
            let c = match corner {
                15 => self.given()?,
                // 13 is one before the last, 14 one after
                step => self.last.wrapping_add((u32::from(step) * 2).wrapping_sub(27)),
            };
            self.last = c;
            c
        };
        if corner == 0 || corner >= self.first_step {
            self.vertices.push(c);
        }
        self.edges.push([c, b]);
        self.edges.push([a, c]);
        self.corners.extend([a, b, c]);
        Some(())
    }

    /// A triangle with a new corner, and two that are new or recent.
    fn common(&mut self, code: u8) {
        let a = self.new_vertex();
        let [b, c] = [code >> 4, code & 15].map(|corner| (corner, self.new_or_recent(corner)));
        self.push_free(a, b, c);
    }

    /// A triangle whose corners are new, recent or given.
    fn free(&mut self, is_first_new: bool) -> Option<()> {
        let code = self.reader.byte()?;
        if code == 0 {
            self.next = 0;
        }
        let a = if is_first_new { self.new_vertex() } else { 0 };
        let [mut b, mut c] = [code >> 4, code & 15].map(|corner| (corner, self.new_or_recent(corner)));

        // given ones come after all new ones
        let a = if is_first_new { a } else { self.given()? };
        for (corner, vertex) in [&mut b, &mut c] {
            if *corner == 15 {
                *vertex = self.given()?;
            }
        }
        self.push_free(a, b, c);
        Some(())
    }

    fn push_free(&mut self, a: u32, (b_code, b): (u8, u32), (c_code, c): (u8, u32)) {
        self.vertices.push(a);
        for (code, vertex) in [(b_code, b), (c_code, c)] {
            if code == 0 || code == 15 {
                self.vertices.push(vertex);
            }
        }
        self.edges.push([b, a]);
        self.edges.push([c, b]);
        self.edges.push([a, c]);
        self.corners.extend([a, b, c]);
    }

    fn new_or_recent(&mut self, corner: u8) -> u32 {
        if corner == 0 { self.new_vertex() } else { self.vertices.back(usize::from(corner)) }
    }

    fn new_vertex(&mut self) -> u32 {
        self.next = self.next.wrapping_add(1);
        self.next.wrapping_sub(1)
    }

    /// A vertex by its difference from the last such one.
    fn given(&mut self) -> Option<u32> {
        let difference = unfold(self.reader.variable_length()?);
        self.last = self.last.wrapping_add(difference);
        Some(self.last)
    }
}
