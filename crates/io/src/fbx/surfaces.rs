//! Meshes of an FBX file: polygons made into triangles, one primitive for each material, with weights and blend shapes.

use super::corners::Corners;
use super::skins::Skins;
use super::{Budget, named, quoted, vec3};
use sinew_character::{
    CharacterMesh, CharacterPrimitive, JointWeight, MorphTarget, SkinWeights, SkinWeightsBuilder,
};
use sinew_files::ReadError;
use sinew_gltf::SurfaceLook;
use sinew_math::Vec3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Sums of weights nearer to 1 than this are round-off of single precision.
const SUM_TOLERANCE: f64 = 1e-3;

/// The surfaces of a file.
pub(super) struct Surfaces {
    pub(super) meshes: Vec<CharacterMesh>,
    /// For each mesh the look of each primitive.
    pub(super) looks: Vec<Vec<SurfaceLook>>,
    /// For each mesh of the file its place; none for one without triangles, or that is hidden wherever it stands.
    pub(super) place: Vec<Option<usize>>,
}

/// Reads all meshes.
pub(super) fn read(
    scene: &ufbx::Scene,
    skins: &Skins,
    budget: &mut Budget,
    notes: &mut Vec<String>,
) -> Result<Surfaces, ReadError> {
    let mut found = Surfaces { meshes: Vec::new(), looks: Vec::new(), place: Vec::new() };
    for (index, mesh) in scene.meshes.iter().enumerate() {
        let name = quoted(mesh_name(mesh));
        let is_hidden = !mesh.element.instances.iter().any(|node| node.visible);
        if is_hidden && mesh.num_triangles > 0 {
            notes.push(format!("mesh {name} is hidden in the file: left out"));
        }
        if is_hidden || mesh.num_triangles == 0 {
            found.place.push(None);
            continue;
        }
        let reader = MeshReader { mesh, name, skins, skin: skins.of_mesh[index], budget, notes };
        let (mesh, looks) = reader.read()?;
        found.place.push(Some(found.meshes.len()));
        found.meshes.push(mesh);
        found.looks.push(looks);
    }
    Ok(found)
}

/// The name of a mesh; most files name only the node that shows it.
fn mesh_name(mesh: &ufbx::Mesh) -> &str {
    let own: &str = &mesh.element.name;
    if own.is_empty() {
        mesh.element.instances.iter().next().map_or("", |node| node.element.name.as_ref())
    } else {
        own
    }
}

struct MeshReader<'a> {
    mesh: &'a ufbx::Mesh,
    name: String,
    skins: &'a Skins,
    skin: Option<usize>,
    budget: &'a mut Budget,
    notes: &'a mut Vec<String>,
}

impl<'a> MeshReader<'a> {
    fn read(mut self) -> Result<(CharacterMesh, Vec<SurfaceLook>), ReadError> {
        let channels = self.channels();
        let (mut primitives, mut looks) = (Vec::new(), Vec::new());
        let mesh = self.mesh;
        for part in mesh.material_parts.iter().filter(|part| part.num_triangles > 0) {
            let (primitive, look) = self.read_part(part, &channels)?;
            primitives.push(primitive);
            looks.push(look);
        }
        let mesh = CharacterMesh {
            name: named(mesh_name(self.mesh)),
            primitives,
            morph_weights: channels.iter().map(|channel| finite_or_zero(channel.weight)).collect(),
            target_names: channels.iter().map(|channel| channel.element.name.to_string()).collect(),
        };
        Ok((mesh, looks))
    }

    /// The blend shapes that move this mesh.
    fn channels(&mut self) -> Vec<&'a ufbx::BlendChannel> {
        let channels = channels_of(self.mesh);
        let between = channels.iter().filter(|channel| channel.keyframes.len() > 1).count();
        if between > 0 {
            let name = &self.name;
            self.notes.push(format!(
                "mesh {name}: {between} blend shapes have shapes in between: only their last shape was taken"
            ));
        }
        channels
    }

    fn read_part(
        &mut self,
        part: &ufbx::MeshPart,
        channels: &[&ufbx::BlendChannel],
    ) -> Result<(CharacterPrimitive, SurfaceLook), ReadError> {
        // triangles over vertices with one normal each
        let mut corners = Corners::default();
        let mut triangles = Vec::with_capacity(part.num_triangles);
        let mut scratch = Vec::new();
        for face in part.face_indices.iter().filter_map(|face| self.mesh.faces.get(*face as usize)) {
            let count = ufbx::triangulate_face_vec(&mut scratch, self.mesh, *face) as usize;
            for triangle in scratch[..3 * count].chunks_exact(3) {
                let mut vertex = |i: usize| corners.vertex(self.mesh, triangle[i] as usize);
                if let (Some(a), Some(b), Some(c)) = (vertex(0), vertex(1), vertex(2)) {
                    triangles.push([a, b, c]);
                }
            }
        }
        if corners.repaired > 0 {
            let (name, count) = (&self.name, corners.repaired);
            self.notes.push(format!(
                "mesh {name}: {count} normals, colours or texture coordinates were not finite: replaced"
            ));
        }

        // what moves them; morph targets are written for every vertex
        self.budget.charge(corners.sources.len() * channels.len(), 12, &format!("mesh {}", self.name))?;
        let material = self.mesh.materials.get(part.index as usize).map(|m| m.element.typed_id as usize);
        let primitive = CharacterPrimitive {
            positions: self.positions(&corners.sources)?.into(),
            triangles,
            weights: self.weights(&corners.sources)?.map(Arc::new),
            targets: channels
                .iter()
                .map(|channel| Arc::new(morph_target(channel, &corners.sources)))
                .collect(),
            material,
            // in the look, which is written beside
            ..CharacterPrimitive::default()
        };
        Ok((primitive, corners.look))
    }

    fn positions(&self, sources: &[u32]) -> Result<Vec<Vec3>, ReadError> {
        let position =
            |vertex: &u32| self.mesh.vertices.get(*vertex as usize).map_or(Vec3::repeat(f64::NAN), vec3);
        let positions: Vec<Vec3> = sources.iter().map(position).collect();
        // as single precision, in which they are kept
        let is_sound = |position: &Vec3| position.iter().all(|x| (*x as f32).is_finite());
        match positions.iter().position(|position| !is_sound(position)) {
            None => Ok(positions),
            Some(first) => {
                let (name, vertex) = (&self.name, sources[first]);
                Err(ReadError::whole(format!(
                    "mesh {name}: vertex {vertex} is not at a finite position: move it, export again"
                )))
            }
        }
    }

    fn weights(&mut self, sources: &[u32]) -> Result<Option<SkinWeights>, ReadError> {
        let (Some(skin), Some(deformer)) = (self.skin, self.mesh.skin_deformers.iter().next()) else {
            return Ok(None);
        };
        let joint_of = &self.skins.joint_of_cluster[skin];
        let mut builder =
            SkinWeightsBuilder::new(sources.len(), self.skins.skins[skin].top as u32, SUM_TOLERANCE);
        let mut entries = Vec::new();
        for vertex in sources {
            entries.clear();
            let range = deformer.vertices.get(*vertex as usize).map_or(0..0, |own| {
                let begin = own.weight_begin as usize;
                begin..begin + own.num_weights as usize
            });
            for entry in deformer.weights.get(range).unwrap_or_default() {
                if let Some(joint) = joint_of.get(entry.cluster_index as usize).copied().flatten() {
                    entries.push(JointWeight { joint, weight: entry.weight });
                }
            }
            builder
                .add(&mut entries)
                .map_err(|message| ReadError::whole(format!("mesh {}: {message}", self.name)))?;
        }
        self.report(&builder);
        Ok(Some(builder.finish()))
    }

    /// Notes what was repaired about weights.
    fn report(&mut self, merged: &SkinWeightsBuilder) {
        let SkinWeightsBuilder { off, largest_gap, negative, without, .. } = merged;
        let name = &self.name;
        if *off > 0 {
            self.notes.push(format!(
                "mesh {name}: the weights of {off} vertices do not sum to 1 (off by up to {largest_gap:.2e}): scaled so that they do"
            ));
        }
        if *negative > 0 {
            self.notes.push(format!("mesh {name}: {negative} vertices have negative weights: left out"));
        }
        if *without > 0 {
            self.notes.push(format!(
                "mesh {name}: {without} vertices have no weights: they follow the topmost joint of the skin"
            ));
        }
    }
}

/// The blend shapes of a mesh, those of all its deformers.
pub(super) fn channels_of(mesh: &ufbx::Mesh) -> Vec<&ufbx::BlendChannel> {
    mesh.blend_deformers.iter().flat_map(|deformer| deformer.channels.iter()).map(AsRef::as_ref).collect()
}

fn morph_target(channel: &ufbx::BlendChannel, sources: &[u32]) -> MorphTarget {
    let mut target = MorphTarget::default();
    let Some(shape) = &channel.target_shape else { return target };
    let moved = shape.offset_vertices.iter().zip(shape.position_offsets.iter());
    let moved: BTreeMap<u32, Vec3> = moved.map(|(vertex, offset)| (*vertex, vec3(offset))).collect();
    for (place, vertex) in sources.iter().enumerate() {
        let delta = moved.get(vertex).filter(|delta| **delta != Vec3::zeros());
        if let Some(delta) = delta.filter(|delta| delta.iter().all(|x| (*x as f32).is_finite())) {
            target.vertices.push(place as u32);
            target.deltas.push(*delta);
        }
    }
    target
}

fn finite_or_zero(number: f64) -> f64 {
    if number.is_finite() { number } else { 0.0 }
}
