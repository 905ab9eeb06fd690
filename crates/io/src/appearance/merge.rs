//! The appearance of objects that are made of several surfaces.

use super::{Appearance, MaterialGroup, SurfaceAppearance, SurfaceMaterial};
use sinew_character::ObjectSource;

impl Appearance {
    /// The appearance of objects, given where their vertices came from. A surface without a list that another surface of its object has gets
    /// zeros, white or up.
    pub(crate) fn merged(self, sources: &[ObjectSource]) -> Appearance {
        let object = |source: &ObjectSource| {
            let surfaces = (source.first_surface..).map(|surface| self.surface(surface));
            merge(&surfaces.zip(&source.vertices).collect::<Vec<_>>())
        };
        let surfaces = sources.iter().map(object).collect();
        Appearance { surfaces, ..self }
    }
}

impl Appearance {
    /// Adds the surfaces of another appearance, with their materials and images.
    pub(crate) fn append(&mut self, mut other: Appearance) {
        // indices of materials and images
        let (first_material, first_image) = (self.materials.len(), self.images.len());
        let groups = other.surfaces.iter_mut().flat_map(|surface| &mut surface.groups);
        groups.filter_map(|group| group.material.as_mut()).for_each(|material| *material += first_material);
        let slots = other.materials.iter_mut().flat_map(SurfaceMaterial::textures_mut);
        slots.for_each(|slot| slot.image += first_image);

        // names that are taken, in upper or lower case
        for (number, image) in (first_image + 1..).zip(&mut other.images) {
            let is_taken = |name: &str| self.images.iter().any(|own| own.name.eq_ignore_ascii_case(name));
            while is_taken(&image.name) {
                image.name = format!("{number}-{}", image.name);
            }
        }
        self.surfaces.append(&mut other.surfaces);
        self.materials.append(&mut other.materials);
        self.images.append(&mut other.images);
    }
}

/// Surfaces, and the vertices of each that are used.
type Parts<'a> = [(&'a SurfaceAppearance, &'a Option<Vec<u32>>)];

fn merge(parts: &Parts) -> SurfaceAppearance {
    let set_count = parts.iter().map(|(surface, _)| surface.uv_sets.len()).max().unwrap_or(0);
    let uv_set =
        |set: usize| join(parts, |surface| surface.uv_sets.get(set).map_or(&[], Vec::as_slice), [0.0; 2]);
    SurfaceAppearance {
        groups: joined_groups(parts),
        uv_sets: (0..set_count).map(uv_set).collect(),
        normals: join(parts, |surface| &surface.normals, [0.0, 1.0, 0.0]),
        colors: join(parts, |surface| &surface.colors, [1.0; 3]),
    }
}

/// One list of all surfaces, each with its used vertices; empty if no surface has it.
fn join<T: Copy>(parts: &Parts, list: impl Fn(&SurfaceAppearance) -> &[T], default: T) -> Vec<T> {
    if parts.iter().all(|(surface, _)| list(surface).is_empty()) {
        return Vec::new();
    }
    let mut joined = Vec::new();
    for (surface, used) in parts {
        let list = list(surface);
        match used {
            Some(used) => {
                joined.extend(used.iter().map(|v| list.get(*v as usize).copied().unwrap_or(default)))
            }
            None => joined.extend_from_slice(list),
        }
    }
    joined
}

/// Neighbours of one material become one group.
fn joined_groups(parts: &Parts) -> Vec<MaterialGroup> {
    let mut groups: Vec<MaterialGroup> = Vec::new();
    for group in parts.iter().flat_map(|(surface, _)| &surface.groups) {
        match groups.last_mut().filter(|last| last.material == group.material) {
            Some(last) => last.triangle_count += group.triangle_count,
            None => groups.push(*group),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surfaces_of_an_object_are_joined_with_the_vertices_that_are_used() {
        let group = |material, triangle_count| MaterialGroup { material, triangle_count };
        let textured = SurfaceAppearance {
            groups: vec![group(Some(1), 2)],
            uv_sets: vec![vec![[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]],
            ..SurfaceAppearance::default()
        };
        let painted = SurfaceAppearance {
            groups: vec![group(Some(1), 3)],
            colors: vec![[0.5; 3], [0.25; 3]],
            ..SurfaceAppearance::default()
        };
        let all = Appearance {
            surfaces: vec![SurfaceAppearance::default(), textured, painted],
            ..Appearance::default()
        };
        let sources = [
            ObjectSource { first_surface: 0, vertices: vec![None] },
            ObjectSource { first_surface: 1, vertices: vec![Some(vec![0, 2]), Some(vec![1])] },
        ];
        let merged = all.merged(&sources);
        assert_eq!(merged.surfaces[0], SurfaceAppearance::default());
        let expected = SurfaceAppearance {
            groups: vec![group(Some(1), 5)],
            uv_sets: vec![vec![[0.1, 0.2], [0.5, 0.6], [0.0; 2]]],
            normals: Vec::new(),
            colors: vec![[1.0; 3], [1.0; 3], [0.25; 3]],
        };
        assert_eq!(merged.surfaces[1], expected);
    }
}
