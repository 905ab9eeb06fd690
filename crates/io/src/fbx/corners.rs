//! Corners of polygons as vertices: corners with the same position, normal, texture coordinates and colour share one.

use sinew_gltf::SurfaceLook;
use std::collections::HashMap;

/// What one corner has.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Corner {
    vertex: u32,
    normal: [u32; 3],
    uv: [u32; 2],
    color: [u32; 4],
}

/// The vertices of one primitive, in the order in which corners first need them.
#[derive(Default)]
pub(super) struct Corners {
    found: HashMap<Corner, u32>,
    /// For each vertex the one of the file that it is a copy of.
    pub(super) sources: Vec<u32>,
    pub(super) look: SurfaceLook,
    /// How many normals and texture coordinates were not finite.
    pub(super) repaired: usize,
}

impl Corners {
    /// The vertex of a corner of the mesh; `None` if its position is missing.
    pub(super) fn vertex(&mut self, mesh: &ufbx::Mesh, corner: usize) -> Option<u32> {
        let vertex = *mesh.vertex_indices.get(corner)?;
        let attribute = |indices: &[u32]| indices.get(corner).map(|index| *index as usize);
        let normal = attribute(&mesh.vertex_normal.indices).and_then(|i| mesh.vertex_normal.values.get(i));
        let uv = attribute(&mesh.vertex_uv.indices).and_then(|i| mesh.vertex_uv.values.get(i));
        let color = attribute(&mesh.vertex_color.indices).and_then(|i| mesh.vertex_color.values.get(i));
        let normal = normal.map_or([0.0, 1.0, 0.0], |n| [n.x as f32, n.y as f32, n.z as f32]);
        // glTF counts from the upper edge of the image
        let uv = uv.map_or([0.0; 2], |uv| [uv.x as f32, (1.0 - uv.y) as f32]);
        let color = color.map_or([1.0; 4], |c| [c.x as f32, c.y as f32, c.z as f32, c.w as f32]);
        let normal = self.unit(normal);
        let uv = self.finite(uv);
        let color = self.finite(color).map(|c| c.clamp(0.0, 1.0));

        // the vertex that has just this, new if there is none yet
        let key = Corner {
            vertex,
            normal: normal.map(f32::to_bits),
            uv: uv.map(f32::to_bits),
            color: color.map(f32::to_bits),
        };
        if let Some(known) = self.found.get(&key) {
            return Some(*known);
        }
        let place = u32::try_from(self.sources.len()).ok()?;
        self.found.insert(key, place);
        self.sources.push(vertex);
        if mesh.vertex_normal.exists {
            self.look.normals.push(normal);
        }
        if mesh.vertex_uv.exists {
            self.look.uvs.push(uv);
        }
        if mesh.vertex_color.exists {
            self.look.colors.push(color);
        }
        Some(place)
    }

    /// The vector brought to length one; up if it has no direction.
    fn unit(&mut self, v: [f32; 3]) -> [f32; 3] {
        let unit = sinew_take::unit_or_up(v.map(f64::from));
        self.repaired += usize::from(!v.iter().all(|c| c.is_finite()));
        unit
    }

    /// The numbers, with 0 in place of those that are not finite.
    fn finite<const N: usize>(&mut self, numbers: [f32; N]) -> [f32; N] {
        let is_sound = numbers.iter().all(|c| c.is_finite());
        self.repaired += usize::from(!is_sound);
        if is_sound { numbers } else { [0.0; N] }
    }
}
