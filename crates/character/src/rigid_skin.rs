//! Linear blend skinning of the flesh by rigid bones: where a simulation has the home of each vertex.
//!
//! The character's own skinning may differ from it: joints may scale, morph targets may be keyed, and joints may be fitted to their poses only nearly. The
//! difference is added to simulated flesh, so that flesh at home is exactly the character's own shape.

use sinew_math::{Isometry, Vec3};
use sinew_skeleton::{Kinematics, Skeleton, SkeletonState};

/// The bones of every vertex of the flesh, with weights.
#[derive(Clone, Debug)]
pub(crate) struct RigidSkin {
    ends: Vec<u32>,
    parts: Vec<SkinPart>,
}

/// A bone's part in a vertex.
#[derive(Clone, Copy, Debug)]
struct SkinPart {
    /// The bone, by its index in the skeleton.
    bone: u32,
    weight: f64,
    /// The vertex at bind in the frame of the bone (m).
    place: Vec3,
}

impl RigidSkin {
    /// Skins vertices at bind (m) by weights over the bones of a skeleton's description. Vertices without weights follow the first bone.
    pub(crate) fn build(vertices: &[Vec3], weights: &[Vec<(u32, f32)>], skeleton: &Skeleton) -> RigidSkin {
        let mut kinematics = Kinematics::default();
        kinematics.update(skeleton, &SkeletonState::at_rest(skeleton));
        let frames = kinematics.world_frames();
        let (mut ends, mut parts) = (vec![0], Vec::new());
        for (vertex, weights) in vertices.iter().zip(weights) {
            let of_bone = |(place, weight): &(u32, f32)| {
                let bone = skeleton.bone_of_desc(*place as usize)?;
                (*weight > 0.0).then_some((bone.index(), f64::from(*weight)))
            };
            let mut own: Vec<(usize, f64)> = weights.iter().filter_map(of_bone).collect();
            if own.is_empty() {
                own.push((0, 1.0));
            }
            let sum: f64 = own.iter().map(|(_, weight)| weight).sum();
            for (bone, weight) in own {
                let place = frames[bone].point_back(vertex);
                parts.push(SkinPart { bone: bone as u32, weight: weight / sum, place });
            }
            ends.push(parts.len() as u32);
        }
        RigidSkin { ends, parts }
    }

    /// Where bones, given in the order of the skeleton, put a vertex of the flesh.
    pub(crate) fn place(&self, bones: &[Isometry], vertex: usize) -> Vec3 {
        let parts = &self.parts[self.ends[vertex] as usize..self.ends[vertex + 1] as usize];
        parts.iter().fold(Vec3::zeros(), |sum, part| {
            sum + part.weight * bones[part.bone as usize].transform_point(&part.place.into()).coords
        })
    }
}
