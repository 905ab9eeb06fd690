//! The surface that the engine shows.

use bevy::mesh::VertexAttributeValues;
use bevy::mesh::morph::{MeshMorphWeights, MorphWeights};
use bevy::mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes};
use bevy::prelude::*;
use std::fmt;

/// The surface that the engine shows, computed as its shaders do from the joints and weights of its animation.
///
/// ```text
/// x = Σⱼ wⱼ Tⱼ Bⱼ⁻¹ (X + Σₖ aₖ Δₖ)
/// ```
///
/// with skin weights w, joints T, bind poses B, and weights a of morph targets Δ.
pub(crate) struct Surface {
    /// Vertices of all meshes in the world.
    pub(crate) points: Vec<Vec3>,
    /// The largest distance by which morph targets move a vertex.
    displacement: f32,
}

impl Surface {
    /// The surface of all meshes, after an update of the engine.
    pub(crate) fn of(world: &mut World) -> Result<Surface, String> {
        let mut surface = Surface { points: Vec::new(), displacement: 0.0 };
        let mut shown =
            world.query::<(&Mesh3d, &GlobalTransform, Option<&SkinnedMesh>, Option<&MeshMorphWeights>)>();
        let meshes = world.resource::<Assets<Mesh>>();
        for (mesh, placed, skin, weights) in shown.iter(world) {
            let mesh = meshes.get(&mesh.0).ok_or("a mesh is missing")?;
            let joints = skin.map(|skin| joint_matrices(world, skin)).transpose()?;
            let weights = match weights {
                Some(MeshMorphWeights::Value { weights }) => weights.as_slice(),
                Some(MeshMorphWeights::Reference(node)) => {
                    world.get::<MorphWeights>(*node).map(MorphWeights::weights).unwrap_or_default()
                }
                None => &[],
            };
            surface.add(mesh, placed.to_matrix(), joints.as_deref(), weights)?;
        }
        if let Some(point) = surface.points.iter().find(|point| !point.is_finite()) {
            return Err(format!("a vertex is at {point}"));
        }
        match surface.points.is_empty() {
            true => Err("the scene shows no vertices".to_string()),
            false => Ok(surface),
        }
    }

    /// Adds the vertices of a mesh.
    fn add(
        &mut self,
        mesh: &Mesh,
        placed: Mat4,
        joints: Option<&[Mat4]>,
        weights: &[f32],
    ) -> Result<(), String> {
        let rest = mesh.attribute(Mesh::ATTRIBUTE_POSITION).and_then(VertexAttributeValues::as_float3);
        let rest = rest.ok_or("a mesh has no positions")?;
        let targets = mesh.get_morph_targets().unwrap_or_default();
        for (vertex, position) in rest.iter().enumerate() {
            // targets lie one after the other
            let deltas = targets.iter().skip(vertex).step_by(rest.len());
            let delta: Vec3 = deltas.zip(weights).map(|(delta, weight)| delta.position * *weight).sum();
            let world_from_rest = match (joints, influences(mesh, vertex)) {
                (Some(joints), Some((indices, weights))) => {
                    let parts = indices.iter().zip(weights);
                    let parts = parts.map(|(joint, weight)| Some(*joints.get(usize::from(*joint))? * weight));
                    parts
                        .sum::<Option<Mat4>>()
                        .ok_or("a vertex follows a joint that its skin does not have")?
                }
                _ => placed,
            };
            self.displacement = self.displacement.max(world_from_rest.transform_vector3(delta).length());
            self.points.push(world_from_rest.transform_point3(Vec3::from(*position) + delta));
        }
        Ok(())
    }

    /// The lengths of the box around it.
    fn lengths(&self) -> Vec3 {
        let max = self.points.iter().fold(Vec3::NEG_INFINITY, |max, point| max.max(*point));
        max - self.points.iter().fold(Vec3::INFINITY, |min, point| min.min(*point))
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [x, y, z] = self.lengths().to_array();
        write!(
            f,
            "{x:.3} x {y:.3} x {z:.3} m, morph targets move vertices by up to {:.4} m",
            self.displacement
        )
    }
}

/// The matrices of a skin, from bind pose to world.
fn joint_matrices(world: &World, skin: &SkinnedMesh) -> Result<Vec<Mat4>, String> {
    let inverses = world.resource::<Assets<SkinnedMeshInverseBindposes>>();
    let inverses = inverses.get(&skin.inverse_bindposes).ok_or("a skin has no bind poses")?;
    let pose = |joint: &Entity| world.get::<GlobalTransform>(*joint).ok_or("a joint is missing");
    let matrix = |(joint, inverse): (&Entity, &Mat4)| Ok(pose(joint)?.to_matrix() * *inverse);
    skin.joints.iter().zip(inverses.iter()).map(matrix).collect()
}

/// Joints and weights of a vertex.
fn influences(mesh: &Mesh, vertex: usize) -> Option<([u16; 4], [f32; 4])> {
    match (mesh.attribute(Mesh::ATTRIBUTE_JOINT_INDEX)?, mesh.attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT)?) {
        (VertexAttributeValues::Uint16x4(joints), VertexAttributeValues::Float32x4(weights)) => {
            Some((joints[vertex], weights[vertex]))
        }
        _ => None,
    }
}
