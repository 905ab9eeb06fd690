//! Repair of normals, tangents, texture coordinates and colours that are not finite: they are replaced in the buffers that are kept, so that
//! neither pictures nor results have them.

use super::accessor::{Accessor, Component};
use super::buffers::{Buffers, Stored};
use super::document_reader::{DocumentReader, Part};
use super::findings::Findings;
use sinew_character::{CharacterMesh, CharacterPrimitive};
use sinew_math::Vec3;
use sinew_take::unit_or_up;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What stands in for numbers that are not finite.
#[derive(Clone, Copy)]
enum Stand {
    /// The normal of the surface.
    Normal,
    /// These numbers.
    Fixed([f32; 4]),
}

/// A place in a buffer (bytes) and the number that belongs there.
struct Patch {
    buffer: usize,
    at: usize,
    number: f32,
}

/// Replaces what is not finite in the buffers, with a note for each accessor.
pub(super) fn repair(
    document: &DocumentReader,
    meshes: &[CharacterMesh],
    findings: &mut Findings,
) -> Vec<(usize, Stored)> {
    let mut patches = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, (value, mesh)) in document.list("meshes").iter().zip(meshes).enumerate() {
        let part = Part { value, path: format!("meshes[{index}]") };
        let entries = part.list("primitives").unwrap_or_default();
        for (place, (value, primitive)) in entries.iter().zip(&mesh.primitives).enumerate() {
            let Some(attributes) = part.item("primitives", place, value).get("attributes") else { continue };
            for (name, accessor) in attributes.value.as_object().into_iter().flatten() {
                let (Some(stand), Some(accessor)) = (stand_of(name), accessor.as_u64()) else { continue };
                if !seen.insert(accessor) {
                    continue;
                }
                let found = find(document, accessor as usize, stand, primitive);
                if found.vertices > 0 {
                    let (path, count) = (&attributes.path, found.vertices);
                    findings.note(format!(
                        "{path}.{name}: {count} vertices have values that are not finite: replaced"
                    ));
                }
                patches.extend(found.patches);
            }
        }
    }
    patched(document.buffers, &patches)
}

fn stand_of(name: &str) -> Option<Stand> {
    match name {
        "NORMAL" => Some(Stand::Normal),
        "TANGENT" => Some(Stand::Fixed([1.0, 0.0, 0.0, 1.0])),
        _ if name.starts_with("TEXCOORD_") => Some(Stand::Fixed([0.0; 4])),
        _ if name.starts_with("COLOR_") => Some(Stand::Fixed([1.0; 4])),
        _ => None,
    }
}

/// What is wrong with one accessor.
#[derive(Default)]
struct Found {
    vertices: usize,
    patches: Vec<Patch>,
}

/// Looks through an accessor of single precision; one that cannot be read is nobody's business here.
fn find(document: &DocumentReader, index: usize, stand: Stand, primitive: &CharacterPrimitive) -> Found {
    let mut found = Found::default();
    let Some((accessor, width, place)) = stored(document, index) else { return found };

    // vertices with NaN or infinite numbers
    let mut numbers = [0.0; 4];
    let bad: Vec<usize> = (0..accessor.count)
        .filter(|vertex| {
            accessor.read_raw(*vertex, &mut numbers[..width]);
            !numbers[..width].iter().all(|number| number.is_finite())
        })
        .collect();
    found.vertices = bad.len();

    // what stands there instead
    let normals = match stand {
        Stand::Normal if !bad.is_empty() => normals(primitive),
        _ => Vec::new(),
    };
    for vertex in bad {
        let right = match stand {
            Stand::Fixed(numbers) => numbers,
            Stand::Normal => {
                let [x, y, z] = normals.get(vertex).copied().unwrap_or([0.0, 1.0, 0.0]);
                [x, y, z, 0.0]
            }
        };
        let patch = |i: usize| Patch {
            buffer: place.buffer,
            at: place.start + vertex * place.stride + 4 * i,
            number: right[i],
        };
        found.patches.extend((0..width).map(patch));
    }
    found
}

/// Where the elements of an accessor are.
struct StoredPlace {
    buffer: usize,
    start: usize,
    stride: usize,
}

/// An accessor of single precision that has bytes of its own, how many numbers an element has, and where they are. Sparse ones are left to
/// the few programs that write them.
fn stored<'a>(document: &DocumentReader<'a>, index: usize) -> Option<(Accessor<'a>, usize, StoredPlace)> {
    let part = document.entry("accessors", index).ok()?;
    let accessor = Accessor::find(document, index).ok()?;
    let width = match part.text("type")? {
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        _ => return None,
    };
    if accessor.component != Component::F32 || part.get("sparse").is_some() {
        return None;
    }
    let view = document.entry("bufferViews", part.index("bufferView").ok()??).ok()?;
    let offset = |part: &Part| part.index("byteOffset").ok().map(|offset| offset.unwrap_or(0));
    let stride = view.index("byteStride").ok()?.filter(|stride| *stride > 0).unwrap_or(4 * width);
    // all of it was checked when the accessor was found
    let place =
        StoredPlace { buffer: view.index("buffer").ok()??, start: offset(&view)? + offset(&part)?, stride };
    Some((accessor, width, place))
}

/// Unit normals of the vertices of a primitive: the mean of the triangles around, weighted by area.
fn normals(primitive: &CharacterPrimitive) -> Vec<[f32; 3]> {
    let mut sums = vec![Vec3::zeros(); primitive.positions.len()];
    for triangle in &primitive.triangles {
        let [a, b, c] = triangle.map(|vertex| primitive.positions[vertex as usize]);
        let doubled_area = (b - a).cross(&(c - a));
        triangle.iter().for_each(|vertex| sums[*vertex as usize] += doubled_area);
    }
    sums.into_iter().map(|sum| unit_or_up(sum.into())).collect()
}

/// The buffers that change, with what belongs there.
fn patched(buffers: &Buffers, patches: &[Patch]) -> Vec<(usize, Stored)> {
    let changed: BTreeSet<usize> = patches.iter().map(|patch| patch.buffer).collect();
    let copy = |buffer: usize| {
        let mut bytes = buffers.bytes(buffer)?.to_vec();
        for patch in patches.iter().filter(|patch| patch.buffer == buffer) {
            bytes.get_mut(patch.at..patch.at + 4)?.copy_from_slice(&patch.number.to_le_bytes());
        }
        let length = bytes.len();
        Some((buffer, Stored::Elsewhere(Arc::new(bytes), length)))
    };
    changed.into_iter().filter_map(copy).collect()
}
