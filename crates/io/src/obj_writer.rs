//! Writes Wavefront OBJ: positions, texture coordinates, normals, faces and the materials of faces.
//!
//! Vertices and triangles keep their order, and positions read back bit for bit. Texture coordinates and normals are written for surfaces that
//! have an appearance, one of each per vertex.

use crate::appearance::{Appearance, SurfaceAppearance};
use crate::mtl::material_names;
use sinew_files::signature::OBJ_COMMENT;
use sinew_take::{Smoothing, SurfaceInfo};
use std::io::{self, Write};

/// What is written of surfaces that may move.
pub(crate) struct ObjWriter<'a> {
    /// The surfaces, whose triangles the caller has checked.
    pub(crate) surfaces: &'a [SurfaceInfo],
    /// What they look like.
    pub(crate) appearance: &'a Appearance,
    /// The index of the first surface in the appearance.
    pub(crate) first: usize,
    /// The file of the materials.
    pub(crate) library: &'a str,
}

/// How many vertices, texture coordinates and normals precede an object.
#[derive(Clone, Copy, Default)]
struct Counts {
    vertices: usize,
    uvs: usize,
    normals: usize,
}

impl ObjWriter<'_> {
    /// Writes one object per surface at the given positions (m), with a comment at the top.
    pub(crate) fn write<Positions: AsRef<[[f32; 3]]>>(
        &self,
        positions: &[Positions],
        comment: &str,
        mut file: impl Write,
    ) -> io::Result<()> {
        writeln!(file, "{OBJ_COMMENT}{comment}")?;
        if !self.appearance.materials.is_empty() {
            writeln!(file, "mtllib {}", self.library)?;
        }
        let materials = material_names(self.appearance);
        let mut before = Counts::default();
        for (index, (info, positions)) in self.surfaces.iter().zip(positions).enumerate() {
            let look = self.appearance.surface(self.first + index);
            let after = write_vertices(info, look, positions.as_ref(), before, &mut file)?;
            write_faces(info, look, &materials, [before, after], &mut file)?;
            for vertex in loose_vertices(info) {
                let vertex = vertex + before.vertices + 1;
                writeln!(file, "l {vertex} {vertex}")?;
            }
            before = after;
        }
        file.flush()
    }
}

/// Writes the vertices of an object, and returns how many precede the next.
fn write_vertices(
    info: &SurfaceInfo,
    look: &SurfaceAppearance,
    positions: &[[f32; 3]],
    before: Counts,
    file: &mut impl Write,
) -> io::Result<Counts> {
    // positions
    let name: String = info.name.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
    writeln!(file, "o {name}")?;
    for [x, y, z] in positions {
        writeln!(file, "v {x} {y} {z}")?;
    }

    // texture coordinates, from the lower left corner
    let uvs = look.uv_sets.first().filter(|uvs| uvs.len() == positions.len()).map_or(&[][..], Vec::as_slice);
    for [u, v] in uvs {
        writeln!(file, "vt {u} {}", 1.0 - v)?;
    }

    // normals, of surfaces that have an appearance
    let mut normals = Vec::new();
    if !look.groups.is_empty() {
        normals = Smoothing::with_creases(info, &look.normals).normals(positions);
    }
    for normal in &normals {
        let [x, y, z] = rounded(*normal);
        writeln!(file, "vn {x} {y} {z}")?;
    }
    let Counts { vertices, uvs: uvs_before, normals: normals_before } = before;
    Ok(Counts {
        vertices: vertices + positions.len(),
        uvs: uvs_before + uvs.len(),
        normals: normals_before + normals.len(),
    })
}

/// Writes the triangles of an object, whose vertices are those between two counts.
fn write_faces(
    info: &SurfaceInfo,
    look: &SurfaceAppearance,
    materials: &[String],
    [before, after]: [Counts; 2],
    file: &mut impl Write,
) -> io::Result<()> {
    // corners
    let (has_uvs, has_normals) = (after.uvs > before.uvs, after.normals > before.normals);
    let corner = |v: u32| {
        let v = v as usize + 1;
        let (vertex, uv, normal) = (v + before.vertices, v + before.uvs, v + before.normals);
        match (has_uvs, has_normals) {
            (true, true) => format!("{vertex}/{uv}/{normal}"),
            (true, false) => format!("{vertex}/{uv}"),
            (false, true) => format!("{vertex}//{normal}"),
            (false, false) => vertex.to_string(),
        }
    };

    // the first triangle of each material
    let mut group_starts = look.groups.iter().scan(0, |start, group| {
        let first = *start;
        *start += group.triangle_count;
        Some((first, group.material.and_then(|material| materials.get(material))))
    });
    let mut next_group = group_starts.next();

    // triangles
    for (index, triangle) in info.triangles.iter().enumerate() {
        while let Some((_, material)) = next_group.filter(|(first, _)| *first <= index) {
            if let Some(material) = material {
                writeln!(file, "usemtl {material}")?;
            }
            next_group = group_starts.next();
        }
        let [a, b, c] = triangle.map(corner);
        writeln!(file, "f {a} {b} {c}")?;
    }
    Ok(())
}

/// A unit vector to four decimals: 0.004° at most.
pub(crate) fn rounded(normal: [f32; 3]) -> [f32; 3] {
    // adding zero makes −0 positive
    normal.map(|c| (1e4 * c).round() / 1e4 + 0.0)
}

/// The vertices that are in no triangle. Blender drops them, which changes the indices of all later vertices, unless another statement uses
/// them: a line from a vertex to itself does, and adds no edge.
fn loose_vertices(info: &SurfaceInfo) -> impl Iterator<Item = usize> {
    let mut is_used = vec![false; info.rest.len()];
    info.triangles.iter().flatten().for_each(|&v| is_used[v as usize] = true);
    is_used.into_iter().enumerate().filter_map(|(v, used)| (!used).then_some(v))
}
