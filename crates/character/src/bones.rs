//! Bones made of joints: where they stand at bind, how they may move, and how thick they are.

use crate::flesh::Flesh;
use crate::{CharacterJoint, Mat4, NodeTransform, RiggedCharacter};
use sinew_control::{BoneMap, HumanBone};
use sinew_math::{Isometry, Vec3, distance_to_segment};
use sinew_sim::desc::{Hold, TieDesc};
use sinew_skeleton::{
    BoneDesc, BoneId, JointDesc, JointKind, MassDesc, Parent, Skeleton, SkeletonDesc, SolidShape,
};

/// Bones and the nodes they were made of.
#[derive(Clone, Debug)]
pub(crate) struct Bones {
    pub(crate) desc: SkeletonDesc,
    /// For each bone, in the order of the description, its node.
    pub(crate) node: Vec<usize>,
    /// The node's frame in the bone's at bind, which holds the node's scale.
    pub(crate) bone_from_node: Vec<Mat4>,
    /// For each node its bone.
    pub(crate) of_node: Vec<Option<u32>>,
    /// Joints that carry no vertex and nothing that does.
    pub(crate) left_out: usize,
}

/// The radius of a bone as a fraction of its distance to the skin around it, of which the nearer quarter counts, so that bones stay
/// inside.
const RADIUS_FRACTION: f64 = 0.45;
const NEARER: f64 = 0.25;
/// The smallest radius and length of a bone, as fractions of the character's size.
const THINNEST: f64 = 1e-3;
const SHORTEST: f64 = 2e-3;
/// Nodes whose surface has this weight of a bone are fixed to it.
const WHOLLY_PAINTED: f64 = 0.9;
/// How much denser bones are than the flesh that fills the same place in the cage (kg/m³).
const DENSITY: f64 = 250.0;

impl Bones {
    /// Makes bones of the joints that carry flesh, or have descendants that do.
    pub(crate) fn build(rigged: &RiggedCharacter, flesh: &Flesh) -> Bones {
        let joints = rigged.find_joints();
        // which joints become bones
        let mut carries: Vec<bool> = joints.iter().map(|joint| joint.vertex_fraction > 0.0).collect();
        for i in (0..joints.len()).rev() {
            if let (true, Some(parent)) = (carries[i], joints[i].parent) {
                carries[parent] = true;
            }
        }
        let kept: Vec<usize> = (0..joints.len()).filter(|&i| carries[i]).collect();
        let mut place = vec![None; joints.len()];
        let mut of_node = vec![None; rigged.nodes.len()];
        for (bone, &joint) in kept.iter().enumerate() {
            place[joint] = Some(bone);
            of_node[joints[joint].node] = Some(bone as u32);
        }

        // where they stand, and how thick they are
        let frames: Vec<Isometry> = kept.iter().map(|&i| rigid(&joints[i].bind)).collect();
        let parents: Vec<Option<usize>> =
            kept.iter().map(|&i| joints[i].parent.and_then(|p| place[p])).collect();
        let segments = segments(&frames, &parents, flesh, &of_node, rigged);
        let radii = radii(&segments, flesh, &of_node, rigged, &parents);

        // as the description of a skeleton
        let bone = |(bone, joint): (usize, &CharacterJoint)| {
            let parent_from_joint = match parents[bone] {
                Some(parent) => frames[parent].inverse() * frames[bone],
                None => frames[bone],
            };
            let back = |point: &Vec3| frames[bone].inverse().transform_point(&(*point).into()).coords;
            let solid = |[from, to]: &[Vec3; 2]| MassDesc::Solid {
                shape: SolidShape::Capsule { from: back(from), to: back(to), radius: radii[bone] },
                density: DENSITY,
            };
            BoneDesc {
                name: rigged.nodes[joint.node].label.clone(),
                parent: parents[bone].map_or(Parent::World, Parent::Index),
                parent_from_joint,
                joint: JointDesc::of(if parents[bone].is_none() { JointKind::Free } else { JointKind::Ball }),
                mass: MassDesc::Sum(segments[bone].iter().map(solid).collect()),
            }
        };
        let desc = SkeletonDesc { bones: kept.iter().map(|&i| &joints[i]).enumerate().map(bone).collect() };
        let bone_from_node =
            |(&joint, frame): (&usize, &Isometry)| frame.inverse().to_homogeneous() * joints[joint].bind;
        Bones {
            desc,
            node: kept.iter().map(|&i| joints[i].node).collect(),
            bone_from_node: kept.iter().zip(&frames).map(bone_from_node).collect(),
            of_node,
            left_out: joints.len() - kept.len(),
        }
    }

    /// Makes bones thick where people have little flesh: skulls, hands and feet.
    pub(crate) fn harden(&mut self, human: &BoneMap, skeleton: &Skeleton) {
        for (bone, index) in human.iter() {
            let fraction = match bone {
                HumanBone::Head => 0.85,
                HumanBone::LeftHand
                | HumanBone::RightHand
                | HumanBone::LeftFoot
                | HumanBone::RightFoot
                | HumanBone::LeftToes
                | HumanBone::RightToes => 0.7,
                _ => continue,
            };
            let place = skeleton.desc_of_bone(BoneId(index as u32));
            let MassDesc::Sum(solids) = &mut self.desc.bones[place].mass else { continue };
            for solid in solids {
                if let MassDesc::Solid { shape: SolidShape::Capsule { radius, .. }, .. } = solid {
                    *radius *= fraction / RADIUS_FRACTION;
                }
            }
        }
    }

    /// Ties for what people have little flesh on: skulls, and hands and feet with all fingers and toes, follow their painted weights.
    pub(crate) fn ends(&self, human: &BoneMap, skeleton: &Skeleton) -> Vec<TieDesc> {
        use HumanBone::{Head, LeftFoot, LeftHand, RightFoot, RightHand};
        let ends: Vec<usize> = [Head, LeftHand, RightHand, LeftFoot, RightFoot]
            .into_iter()
            .filter_map(|bone| human.get(bone))
            .collect();
        let mut is_end = vec![false; skeleton.bones().len()];
        for (i, bone) in skeleton.bones().iter().enumerate() {
            // parents come first
            is_end[i] = ends.contains(&i) || bone.parent.is_some_and(|parent| is_end[parent.index()]);
        }
        let tie = |(bone, _): (&sinew_skeleton::Bone, &bool)| TieDesc {
            bone: Some(bone.name.clone()),
            hold: Hold::Painted { least: WHOLLY_PAINTED },
        };
        skeleton.bones().iter().zip(&is_end).filter(|(_, is_end)| **is_end).map(tie).collect()
    }

    /// Where bones stand when nodes stand somewhere, in the order of the description.
    pub(crate) fn poses(&self, world_from_node: &[Mat4]) -> Vec<Isometry> {
        self.node.iter().map(|&node| rigid(&world_from_node[node])).collect()
    }
}

/// The rigid part of a matrix, without its stretch.
fn rigid(matrix: &Mat4) -> Isometry {
    NodeTransform::of_matrix(matrix).isometry()
}

/// The lines through each bone (m, world at bind): to each joint below it, or through the flesh of a bone with none.
fn segments(
    frames: &[Isometry],
    parents: &[Option<usize>],
    flesh: &Flesh,
    of_node: &[Option<u32>],
    rigged: &RiggedCharacter,
) -> Vec<Vec<[Vec3; 2]>> {
    // to the joints below
    let origin = |bone: usize| frames[bone].translation.vector;
    let mut segments: Vec<Vec<[Vec3; 2]>> = vec![Vec::new(); frames.len()];
    for (child, parent) in parents.iter().enumerate() {
        if let Some(parent) =
            parent.filter(|parent| (origin(child) - origin(*parent)).norm() > SHORTEST * flesh.size)
        {
            segments[parent].push([origin(parent), origin(child)]);
        }
    }

    // ends of the skeleton go through their flesh
    let own = flesh.vertices_of_bones(frames.len(), of_node, rigged);
    for bone in 0..frames.len() {
        if !segments[bone].is_empty() {
            continue;
        }
        let at = origin(bone);
        let points = || own[bone].iter().map(|&v| flesh.surface.vertices[v as usize]);
        let middle = points().sum::<Vec3>() / own[bone].len().max(1) as f64;
        let along = if own[bone].is_empty() { Vec3::zeros() } else { middle - at };
        // through the middle of its flesh, not quite to the end of it
        let reach = along
            .try_normalize(1e-12)
            .map_or(0.0, |direction| points().map(|p| (p - at).dot(&direction)).fold(0.0, f64::max));
        let direction = along.try_normalize(1e-12).unwrap_or_default();
        segments[bone].push([at, at + direction * (0.9 * reach)]);
    }
    segments
}

fn radii(
    segments: &[Vec<[Vec3; 2]>],
    flesh: &Flesh,
    of_node: &[Option<u32>],
    rigged: &RiggedCharacter,
    parents: &[Option<usize>],
) -> Vec<f64> {
    let own = flesh.vertices_of_bones(segments.len(), of_node, rigged);
    let mut radii: Vec<f64> = Vec::with_capacity(segments.len());
    for (bone, lines) in segments.iter().enumerate() {
        let far = |vertex: &u32| {
            let p = &flesh.surface.vertices[*vertex as usize];
            lines.iter().map(|[from, to]| distance_to_segment(p, from, to)).fold(f64::INFINITY, f64::min)
        };
        let mut distances: Vec<f64> = own[bone].iter().map(far).collect();
        distances.sort_by(f64::total_cmp);
        let near = distances.get((NEARER * distances.len() as f64) as usize);
        let above = parents[bone].map_or(0.02 * flesh.size, |parent| 0.7 * radii[parent]);
        radii.push(near.map_or(above, |near| RADIUS_FRACTION * near).max(THINNEST * flesh.size));
    }
    radii
}
