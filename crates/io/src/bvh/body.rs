//! Converts a BVH file to a skeleton and a motion of that skeleton.

use super::{Bvh, BvhChannel, BvhJoint};
use sinew_control::{MotionError, SkeletonMotion};
use sinew_math::{Isometry, Rotation, Vec3};
use sinew_skeleton::{
    BoneDesc, JointDesc, JointKind, JointPrimitive, MassDesc, Parent, Skeleton, SkeletonDesc, SolidShape,
};
use std::collections::BTreeSet;

/// What a BVH file does not say about its bones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BvhBody {
    /// Density of the bones (kg/m³).
    pub density: f64,
    /// Radius of a bone as a fraction of its length.
    pub radius_per_length: f64,
    /// Rotation from the axes of the file to those of the world, applied to roots.
    pub world_from_file: Rotation,
}

impl Default for BvhBody {
    /// The density of water, bones ten times as long as thick, and the axes of the file.
    fn default() -> BvhBody {
        BvhBody { density: 1000.0, radius_per_length: 0.05, world_from_file: Rotation::identity() }
    }
}

impl Bvh {
    /// One bone per joint, in the same order. A joint is free if it has position channels, a ball joint if it has only rotations, and fixed
    /// without channels. A bone consists of capsules from its joint to its child joints and end sites. Repeated names get a number.
    pub fn to_skeleton(&self, body: &BvhBody) -> SkeletonDesc {
        let mut names = Names::default();
        let segments = self.segments();
        let lengths: Vec<f64> =
            segments.iter().flatten().map(Vec3::norm).filter(|length| *length > 0.0).collect();
        // a joint without children and end sites is a ball as thick as the mean bone
        let mean = if lengths.is_empty() { 1.0 } else { lengths.iter().sum::<f64>() / lengths.len() as f64 };
        let bone = |(joint, segments): (&BvhJoint, &Vec<Vec3>)| BoneDesc {
            name: names.unused(&joint.name),
            parent: joint.parent.map_or(Parent::World, Parent::Index),
            parent_from_joint: match joint.parent {
                None => {
                    Isometry::from_parts((body.world_from_file * joint.offset).into(), body.world_from_file)
                }
                Some(_) => Isometry::from_parts(joint.offset.into(), Rotation::identity()),
            },
            joint: JointDesc::of(kind(joint)),
            mass: capsules(segments, mean, body),
        };
        SkeletonDesc { bones: self.joints.iter().zip(&segments).map(bone).collect() }
    }

    /// The motion of a skeleton that [`Bvh::to_skeleton`] described.
    ///
    /// # Errors
    /// If there are no frames, or the skeleton does not have the bones of the file.
    pub fn to_motion(&self, skeleton: &Skeleton) -> Result<SkeletonMotion, MotionError> {
        // one bone per joint
        let expected: usize = self.joints.iter().map(|joint| kind(joint).v_count()).sum();
        if skeleton.bones().len() != self.joints.len() || skeleton.v_count() != expected {
            let (bones, joints) = (skeleton.bones().len(), self.joints.len());
            let fault = format!(
                "the skeleton has {bones} bones and {} degrees of freedom, but the file has {joints} and {expected}",
                skeleton.v_count()
            );
            return Err(MotionError { faults: vec![fault] });
        }

        // channel values to joint coordinates
        let mut frames = Vec::with_capacity(self.frame_count * skeleton.q_count());
        for frame in (0..self.frame_count).filter_map(|i| self.frame(i)) {
            let start = frames.len();
            frames.resize(start + skeleton.q_count(), 0.0);
            // translation and rotation of each joint
            for i in 0..self.joints.len() {
                let Some(bone) = skeleton.bone_of_desc(i).map(|id| skeleton.bone(id)) else { continue };
                let pose = self.parent_from_joint(i, frame);
                let mut at = start + bone.joint.q_offset;
                for part in skeleton.parts(&bone.joint) {
                    let own = &mut frames[at..at + part.q_count()];
                    match part {
                        JointPrimitive::Translation => {
                            own.copy_from_slice((pose.translation.vector - self.joints[i].offset).as_slice())
                        }
                        JointPrimitive::Ball => own.copy_from_slice(pose.rotation.as_vector().as_slice()),
                        JointPrimitive::Revolute(_) | JointPrimitive::Prismatic(_) => {}
                    }
                    at += part.q_count();
                }
            }
        }
        SkeletonMotion::build(skeleton, self.frame_seconds, frames)
    }

    /// For each joint, the positions of its child joints and end sites in its own frame (m).
    fn segments(&self) -> Vec<Vec<Vec3>> {
        let mut segments: Vec<Vec<Vec3>> = self.joints.iter().map(|joint| joint.ends.clone()).collect();
        for joint in &self.joints {
            if let Some(parent) = joint.parent {
                segments[parent].push(joint.offset);
            }
        }
        segments
    }
}

fn kind(joint: &BvhJoint) -> JointKind {
    if joint.channels.iter().any(|channel| matches!(channel, BvhChannel::Position(_))) {
        JointKind::Free
    } else if joint.channels.is_empty() {
        JointKind::Fixed
    } else {
        JointKind::Ball
    }
}

fn capsules(segments: &[Vec3], mean: f64, body: &BvhBody) -> MassDesc {
    let solid = |to: Vec3, length: f64| MassDesc::Solid {
        shape: SolidShape::Capsule { from: Vec3::zeros(), to, radius: body.radius_per_length * length },
        density: body.density,
    };
    // joints closer than a thousandth of the mean length coincide
    let long = segments.iter().filter(|to| to.norm() > 1e-3 * mean);
    let solids: Vec<MassDesc> = long.map(|to| solid(*to, to.norm())).collect();
    if solids.is_empty() { solid(Vec3::zeros(), mean) } else { MassDesc::Sum(solids) }
}

/// Makes names unique.
#[derive(Default)]
struct Names {
    taken: BTreeSet<String>,
    number: usize,
}

impl Names {
    /// The name, followed by a number if it is taken. Numbers only grow, so that repeating one name often stays cheap.
    fn unused(&mut self, name: &str) -> String {
        let mut found = name.to_string();
        while !self.taken.insert(found.clone()) {
            self.number += 1;
            found = format!("{name} {}", self.number + 1);
        }
        found
    }
}
