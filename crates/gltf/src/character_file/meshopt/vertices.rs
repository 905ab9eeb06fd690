//! The vertex codec of meshoptimizer, versions 0 and 1: columns of bytes, as differences from vertex to vertex, packed in groups of 16.
//!
//! A block holds up to 256 vertices. Of every byte of the vertex it has a column, whose groups of 16 are packed with 0, 1, 2, 4 or 8 bits
//! each; the largest packed number says that the byte follows in full. Four columns at a time are differences of bytes, of 16-bit or of
//! 32-bit numbers. The last bytes of the data are the vertex that differences begin with.

use super::byte_reader::{ByteReader, unfold};

/// The largest size of a block (bytes), and of a column.
const BLOCK_BYTES: usize = 8192;
const COLUMN: usize = 256;
/// Bytes that are packed together.
const GROUP: usize = 16;
/// The first byte, without the version.
const HEADER: u8 = 0xa0;
/// The smallest size of what stands behind the last block, by version (bytes).
const TAIL: [usize; 2] = [32, 24];
/// How many bits each kind of group has, in version 0 and, by the control of the column, in version 1.
const BITS: [usize; 4] = [0, 2, 4, 8];
const BITS_OF_CONTROL: [[usize; 4]; 2] = [[0, 1, 2, 4], [1, 2, 4, 8]];

/// Decodes so many vertices of so many bytes each; `None` if the data is not sound.
pub(super) fn decode(data: &[u8], count: usize, stride: usize) -> Option<Vec<u8>> {
    // what stands at the beginning and the end
    let mut reader = ByteReader::of(data);
    let header = reader.byte()?;
    let version = usize::from(header & 0x0f);
    if header & 0xf0 != HEADER || version >= TAIL.len() {
        return None;
    }
    let quads = stride / 4;
    let tail = stride + version * quads;
    let padded = tail.max(TAIL[version]);
    let behind = data.get(data.len().checked_sub(tail)?..)?;
    let (mut last, channels) = (behind[..stride].to_vec(), &behind[stride..]);
    if reader.len() < padded {
        return None;
    }

    // block after block
    let block = ((BLOCK_BYTES / stride) & !(GROUP - 1)).min(COLUMN);
    let mut vertices = vec![0; count.checked_mul(stride)?];
    for vertices in vertices.chunks_mut(block * stride) {
        let control = reader.take(version * quads)?;
        for quad in 0..quads {
            let packing = if version == 0 { Packing::Zero } else { Packing::One(control[quad]) };
            let columns = read_columns(&mut reader, packing, vertices.len() / stride)?;
            let channel = channels.get(quad).copied().unwrap_or(0);
            let mut column = Column { vertices, stride, quad, last: &mut last };
            column.sum(&columns, channel)?;
        }
    }
    (reader.len() == padded).then_some(vertices)
}

/// How columns are packed: the same in all of version 0, by two bits for each of four in version 1.
#[derive(Clone, Copy)]
enum Packing {
    Zero,
    One(u8),
}

/// Four columns of a block.
fn read_columns(reader: &mut ByteReader, packing: Packing, count: usize) -> Option<[[u8; COLUMN]; 4]> {
    let mut columns = [[0; COLUMN]; 4];
    for (place, column) in columns.iter_mut().enumerate() {
        let control = match packing {
            Packing::Zero => None,
            Packing::One(controls) => Some(usize::from(controls >> (2 * place) & 3)),
        };
        match control {
            None => read_groups(reader, &BITS, &mut column[..count.next_multiple_of(GROUP)])?,
            Some(2) => {}
            Some(3) => column[..count].copy_from_slice(reader.take(count)?),
            Some(control) => {
                let bits = &BITS_OF_CONTROL[control];
                read_groups(reader, bits, &mut column[..count.next_multiple_of(GROUP)])?;
            }
        }
    }
    Some(columns)
}

fn read_groups(reader: &mut ByteReader, bits: &[usize; 4], column: &mut [u8]) -> Option<()> {
    let kinds = reader.take((column.len() / GROUP).div_ceil(4))?;
    for (group, bytes) in column.chunks_exact_mut(GROUP).enumerate() {
        let kind = kinds[group / 4] >> (2 * (group % 4)) & 3;
        read_group(reader, bits[usize::from(kind)], bytes)?;
    }
    Some(())
}

fn read_group(reader: &mut ByteReader, bits: usize, bytes: &mut [u8]) -> Option<()> {
    match bits {
        0 => bytes.fill(0),
        8 => bytes.copy_from_slice(reader.take(GROUP)?),
        bits => {
            let packed = reader.take(GROUP * bits / 8)?;
            let largest = (1 << bits) - 1;
            for (i, byte) in bytes.iter_mut().enumerate() {
                let within = i * bits % 8;
                // single bits begin with the lowest, others with the highest
                let shift = if bits == 1 { within } else { 8 - bits - within };
                let small = packed[i * bits / 8] >> shift & largest;
                *byte = if small == largest { reader.byte()? } else { small };
            }
        }
    }
    Some(())
}

/// Where four columns of a block go.
struct Column<'a> {
    vertices: &'a mut [u8],
    stride: usize,
    quad: usize,
    /// The vertex before the next one.
    last: &'a mut [u8],
}

impl Column<'_> {
    /// Adds up the differences of four columns.
    fn sum(&mut self, columns: &[[u8; COLUMN]; 4], channel: u8) -> Option<()> {
        let at = 4 * self.quad;
        let mut before = [0; 4];
        before.copy_from_slice(&self.last[at..at + 4]);
        for (i, vertex) in self.vertices.chunks_exact_mut(self.stride).enumerate() {
            let difference: [u8; 4] = std::array::from_fn(|byte| columns[byte][i]);

            // differences of bytes or of pairs of bytes, or the bits that change
            before = match channel & 3 {
                0 => std::array::from_fn(|byte| {
                    before[byte].wrapping_add(unfold(u32::from(difference[byte])) as u8)
                }),
                1 => {
                    let pair = |bytes: [u8; 4], at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
                    let sum = |at: usize| {
                        pair(before, at)
                            .wrapping_add(unfold(u32::from(pair(difference, at))) as u16)
                            .to_le_bytes()
                    };
                    let [[a, b], [c, d]] = [sum(0), sum(2)];
                    [a, b, c, d]
                }
                2 => {
                    let turned = u32::from_le_bytes(difference).rotate_right(u32::from(channel >> 4));
                    (turned ^ u32::from_le_bytes(before)).to_le_bytes()
                }
                _ => return None,
            };
            vertex[at..at + 4].copy_from_slice(&before);
        }
        self.last[at..at + 4].copy_from_slice(&before);
        Some(())
    }
}
