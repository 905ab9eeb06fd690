//! How a character belongs to a scene: which body and rig it is there, and how their motion is carried back to the character's own
//! nodes and surfaces.

use crate::bones::Bones;
use crate::flesh::{Flesh, Part};
use crate::rigid_skin::RigidSkin;
use crate::{CharacterPose, NodeTransform, Placement, RiggedCharacter, SurfaceId};
use sinew_control::{Extrapolation, Performance, SkeletonMotion};
use sinew_math::{Isometry, Vec3};
use sinew_take::{Frame, Scene, SurfaceInfo};
use std::sync::Arc;

/// A character in a scene.
#[derive(Clone, Debug)]
pub struct CharacterBinding {
    /// Its name in the scene.
    pub name: String,
    /// The body that is its flesh, by its index in the scene.
    pub body: usize,
    /// Its rig, by its index in the scene.
    pub rig: usize,
    /// The character as it stands in the scene.
    pub rigged: Arc<RiggedCharacter>,
    /// Where the scene has put it.
    pub placement: Placement,
    /// The animation that is played.
    pub animation: Option<usize>,
    pub(crate) bones: Bones,
    /// For each bone of the built skeleton its index in the description.
    pub(crate) desc_of_bone: Vec<usize>,
    pub(crate) flesh: Flesh,
    /// How soft each vertex of the flesh is.
    pub(crate) softness: Arc<[f32]>,
    pub(crate) motion: Option<SkeletonMotion>,
    /// How simulated bones skin flesh that rests at its skinned shape.
    pub(crate) home: Option<RigidSkin>,
}

/// A character and what it does in a scene, from which its frames follow.
#[derive(Clone, Copy, Debug)]
pub struct PlayedCharacter<'a> {
    /// How it belongs to the scene.
    pub binding: &'a CharacterBinding,
    performance: Option<&'a Performance>,
}

/// One surface of a character in one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterPart {
    /// Which surface.
    pub id: SurfaceId,
    /// Its vertices in the world (m), in the order of the file.
    pub vertices: Vec<Vec3>,
    /// Whether any of it is flesh.
    pub is_flesh: bool,
}

impl CharacterBinding {
    /// The character as a scene plays it.
    pub fn played<'a>(&'a self, scene: &'a Scene) -> PlayedCharacter<'a> {
        PlayedCharacter { binding: self, performance: scene.performances.get(self.rig) }
    }

    /// The pose at a time (s) in which nothing but its own animation moves the character.
    pub fn pose_at(&self, time: f64) -> CharacterPose {
        let Some(animation) = self.animation else { return self.rigged.rest_pose() };
        let seconds = self.motion.as_ref().map_or(0.0, SkeletonMotion::seconds);
        let loops = self.motion.as_ref().is_some_and(|motion| motion.extrapolation == Extrapolation::Loop)
            && seconds > 0.0;
        // where rounds of a cycle meet within round-off, the earlier one ends
        let rounds = if loops { ((time / seconds - 1e-9).ceil() - 1.0).max(0.0) } else { 0.0 };
        let time = (time - rounds * seconds).min(seconds);
        self.rigged.pose_at(animation, time).unwrap_or_else(|| self.rigged.rest_pose())
    }

    /// The pose in which bones stand as they were simulated, in the order of the skeleton; nodes that are no bones follow their parents.
    pub fn pose_of_bones(&self, time: f64, world_from_bone: &[Isometry]) -> CharacterPose {
        let mut pose = self.pose_at(time);
        let mut of_node = vec![None; self.rigged.nodes.len()];
        for (bone, world_from_bone) in world_from_bone.iter().enumerate() {
            let place = self.desc_of_bone[bone];
            of_node[self.bones.node[place]] =
                Some(world_from_bone.to_homogeneous() * self.bones.bone_from_node[place]);
        }
        for &node in &self.rigged.order {
            let parent = self.rigged.nodes[node].parent.map(|parent| pose.world_from_node[parent]);
            if let Some(world) = of_node[node] {
                pose.world_from_node[node] = world;
                let local = parent.and_then(|parent| parent.try_inverse()).map_or(world, |back| back * world);
                pose.parent_from_node[node] = NodeTransform::of_matrix(&local);
            } else {
                let local = pose.parent_from_node[node].matrix();
                pose.world_from_node[node] = parent.map_or(local, |parent| parent * local);
            }
        }
        pose
    }

    /// The surfaces of the character, in the order of its parts.
    pub fn surface_ids(&self) -> Vec<SurfaceId> {
        self.flesh.parts.iter().map(|part| part.id).collect()
    }

    /// What stays the same about those surfaces; their rest is the bind pose.
    pub fn surface_infos(&self) -> Vec<SurfaceInfo> {
        let pose = self.rigged.rest_pose();
        let info = |part: &Part| {
            let node = &self.rigged.nodes[part.id.node];
            let several = node.mesh.is_some_and(|mesh| self.rigged.meshes[mesh].primitives.len() > 1);
            let number = if several { format!(" {}", part.id.primitive + 1) } else { String::new() };
            let vertices =
                self.rigged.bind_vertices(part.id).or_else(|| self.rigged.world_vertices(part.id, &pose));
            SurfaceInfo {
                name: format!("{}{number}", node.label),
                triangles: self.rigged.primitive(part.id).map(|p| p.triangles.clone()).unwrap_or_default(),
                rest: vertices.unwrap_or_default().iter().map(single).collect(),
            }
        };
        self.flesh.parts.iter().map(info).collect()
    }

    /// How soft each vertex of the flesh is, in the order of the body's surface: 1 as chosen, more is softer, 0 is rigid.
    pub fn softness(&self) -> &[f32] {
        &self.softness
    }

    /// One number per vertex of the flesh as one per vertex of each surface; 0 where there is no flesh.
    pub fn values_on_surfaces(&self, flesh: &[f32]) -> Vec<Vec<f32>> {
        let value =
            |place: &Option<u32>| place.and_then(|place| flesh.get(place as usize)).copied().unwrap_or(0.0);
        self.flesh.parts.iter().map(|part| part.flesh_vertex.iter().map(value).collect()).collect()
    }

    /// The surfaces of the character as skinning alone puts them in a pose (m).
    pub fn skinned_surfaces(&self, pose: &CharacterPose) -> Vec<Vec<Vec3>> {
        let skinned = |part: &Part| self.rigged.world_vertices(part.id, pose).unwrap_or_default();
        self.flesh.parts.iter().map(skinned).collect()
    }
}

impl PlayedCharacter<'_> {
    /// Whether the character's own animation alone drives its bones at a time (s), so that its own poses are exact.
    pub fn is_prescribed_at(&self, time: f64) -> bool {
        let Some(motion) = &self.binding.motion else { return false };
        let prescribed = self.performance.is_none_or(|performance| performance.cues.is_empty());
        let within = motion.extrapolation == Extrapolation::Loop || time <= motion.seconds() + 1e-9;
        self.binding.animation.is_some() && prescribed && within
    }

    /// The pose of the character in a frame of the scene.
    pub fn pose_in(&self, frame: &Frame) -> CharacterPose {
        match frame.bones.get(self.binding.rig) {
            Some(bones) if !self.is_prescribed_at(frame.time) => {
                self.binding.pose_of_bones(frame.time, bones)
            }
            _ => self.binding.pose_at(frame.time),
        }
    }

    /// All surfaces of the character in a frame of the scene: flesh as it was simulated, layers moved along with it, the rest as it is
    /// skinned.
    pub fn parts_in(&self, frame: &Frame, pose: &CharacterPose) -> Vec<CharacterPart> {
        let binding = self.binding;
        let simulated = frame.surfaces.get(binding.body).map_or(&[][..], Vec::as_slice);
        let home = binding.home.as_ref().zip(frame.bones.get(binding.rig));
        // how far each vertex of the flesh is from where skinning puts it
        let mut moved = vec![Vec3::zeros(); simulated.len()];
        let part = |part: &Part| {
            let mut vertices = binding.rigged.world_vertices(part.id, pose).unwrap_or_default();
            let mut is_flesh = false;
            for (vertex, place) in vertices.iter_mut().zip(&part.flesh_vertex) {
                let Some((place, [x, y, z])) =
                    place.and_then(|place| Some((place as usize, simulated.get(place as usize)?)))
                else {
                    continue;
                };
                let at = Vec3::new(f64::from(*x), f64::from(*y), f64::from(*z));
                // flesh with a home is displaced from the character's own shape
                moved[place] = match home {
                    Some((home, bones)) => at - home.place(bones, place),
                    None => at - *vertex,
                };
                *vertex = if home.is_some() { *vertex + moved[place] } else { at };
                is_flesh = true;
            }
            CharacterPart { id: part.id, vertices, is_flesh }
        };
        let mut parts: Vec<CharacterPart> = binding.flesh.parts.iter().map(part).collect();

        // layers on the flesh
        for (shown, part) in parts.iter_mut().zip(&binding.flesh.parts) {
            for follower in &part.layer {
                let along = follower
                    .flesh
                    .iter()
                    .filter_map(|(vertex, weight)| Some(moved.get(*vertex as usize)? * *weight));
                shown.vertices[follower.vertex as usize] += along.sum::<Vec3>();
                shown.is_flesh = true;
            }
        }
        parts
    }
}

/// A point in single precision.
pub(crate) fn single(v: &Vec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}
