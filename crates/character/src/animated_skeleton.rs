//! An animation of one rigged character as captured motion for another.

use crate::bones::rigid;
use crate::{CapturedMotion, CharacterError, FaultyPart, RiggedCharacter};
use sinew_control::SkeletonMotion;
use sinew_math::Isometry;
use sinew_skeleton::{BoneDesc, BoneId, JointDesc, JointKind, MassDesc, Parent, Skeleton, SkeletonDesc};

/// Animations are sampled this often (Hz).
const RATE: f64 = 60.0;
/// A joint that shifts against its parent by more than this fraction of the skeleton's size becomes free.
const SHIFTS: f64 = 1e-3;
/// The largest number of bone poses that an animation may have: hours of any character.
const MAX_POSES: f64 = 2e7;

impl CapturedMotion {
    /// The motion of one of a character's animations, by its index: the joints of its skins, or without skins all nodes at or below what
    /// the animation moves, sampled 60 times a second. Joints rest where they were bound.
    ///
    /// # Errors
    /// If there is no such animation, if it moves no joint, or if it is too long for memory.
    pub fn of_animation(
        rigged: &RiggedCharacter,
        animation: usize,
    ) -> Result<CapturedMotion, CharacterError> {
        let Some(played) = rigged.animations.get(animation) else {
            let message =
                format!("there is no animation {animation}: the file has {}", rigged.animations.len());
            return Err(fault(message));
        };
        let mut joints = Joints::find(rigged, animation);
        if joints.node.is_empty() {
            return Err(fault(
                "its animation moves no joint: give a file with a skeleton and keys for it".into(),
            ));
        }
        let seconds = played.duration;
        if seconds * RATE * joints.node.len() as f64 > MAX_POSES {
            let count = joints.node.len();
            return Err(fault(format!(
                "its animation lasts {seconds:.3e} s, too long for {count} joints: look for a stray key at its end"
            )));
        }

        // where joints stand in every frame
        let frames = (seconds * RATE).round().max(1.0) as usize;
        let step = if seconds > 0.0 { seconds / frames as f64 } else { 1.0 / RATE };
        let mut poses = Vec::with_capacity(frames + 1);
        for frame in 0..=frames {
            let pose = rigged.pose_at(animation, step * frame as f64).unwrap_or_else(|| rigged.rest_pose());
            poses.push(joints.node.iter().map(|node| rigid(&pose.world_from_node[*node])).collect());
        }
        joints.free_shifting(&poses);

        // the skeleton that moves so
        let skeleton = joints.skeleton(rigged);
        let built = Skeleton::build(&skeleton).map_err(|error| fault(error.to_string()))?;
        let sorted = |frame: Vec<Isometry>| {
            (0..frame.len()).map(|bone| frame[built.desc_of_bone(BoneId(bone as u32))]).collect()
        };
        let poses: Vec<Vec<Isometry>> = poses.into_iter().map(sorted).collect();
        let motion = SkeletonMotion::from_bone_poses(&built, step, &poses)
            .map_err(|error| fault(error.to_string()))?;
        Ok(CapturedMotion {
            skeleton,
            motion,
            calibration: 0,
            smoothing: 0.0,
            first: None,
            last: None,
            is_cycle: false,
        })
    }
}

fn fault(message: String) -> CharacterError {
    CharacterError::of(FaultyPart::Motion, message)
}

/// The joints that an animation moves, parents before children.
struct Joints {
    node: Vec<usize>,
    parent: Vec<Option<usize>>,
    rest: Vec<Isometry>,
    is_free: Vec<bool>,
}

impl Joints {
    fn find(rigged: &RiggedCharacter, animation: usize) -> Joints {
        // the joints of skins, if there are any
        let skinned = rigged.find_joints();
        if !skinned.is_empty() {
            return Joints {
                node: skinned.iter().map(|joint| joint.node).collect(),
                parent: skinned.iter().map(|joint| joint.parent).collect(),
                rest: skinned.iter().map(|joint| rigid(&joint.bind)).collect(),
                is_free: skinned.iter().map(|joint| joint.parent.is_none()).collect(),
            };
        }

        // without a skin: what is moved, and all below
        let mut is_moved = vec![false; rigged.nodes.len()];
        for channel in &rigged.animations[animation].channels {
            is_moved[channel.node] = true;
        }
        let mut found =
            Joints { node: Vec::new(), parent: Vec::new(), rest: Vec::new(), is_free: Vec::new() };
        let mut place: Vec<Option<usize>> = vec![None; rigged.nodes.len()];
        for &node in &rigged.order {
            let above = rigged.nodes[node].parent;
            let parent = above.and_then(|parent| place[parent]);
            place[node] = parent;
            is_moved[node] |= above.is_some_and(|parent| is_moved[parent]);
            if is_moved[node] && rigged.nodes[node].mesh.is_none() {
                place[node] = Some(found.node.len());
                found.node.push(node);
                found.parent.push(parent);
                found.rest.push(rigid(&rigged.nodes[node].world_from_node));
                found.is_free.push(parent.is_none());
            }
        }
        found
    }

    /// Where a joint stands in its parent.
    fn parent_from_joint(&self, joint: usize, world: &[Isometry]) -> Isometry {
        self.parent[joint].map_or(world[joint], |parent| world[parent].inverse() * world[joint])
    }

    /// Makes free joints of those that shift against their parents, which ball joints cannot follow.
    fn free_shifting(&mut self, poses: &[Vec<Isometry>]) {
        let origin = self.rest[0].translation.vector;
        let reach =
            self.rest.iter().map(|rest| (rest.translation.vector - origin).norm()).fold(0.0, f64::max);
        for joint in 0..self.node.len() {
            let rest = self.parent_from_joint(joint, &self.rest).translation.vector;
            let shifts = |world: &Vec<Isometry>| {
                (self.parent_from_joint(joint, world).translation.vector - rest).norm() > SHIFTS * reach
            };
            self.is_free[joint] |= poses.iter().any(shifts);
        }
    }

    fn skeleton(&self, rigged: &RiggedCharacter) -> SkeletonDesc {
        let bone = |joint: usize| BoneDesc {
            name: rigged.nodes[self.node[joint]].label.clone(),
            parent: self.parent[joint].map_or(Parent::World, Parent::Index),
            parent_from_joint: self.parent_from_joint(joint, &self.rest),
            joint: JointDesc::of(if self.is_free[joint] { JointKind::Free } else { JointKind::Ball }),
            mass: MassDesc::default(),
        };
        SkeletonDesc { bones: (0..self.node.len()).map(bone).collect() }.with_plain_masses()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AnimationChannel, ChannelInterpolation, ChannelPath, CharacterAnimation, CharacterNode,
        NodeTransform, NodeTree,
    };
    use sinew_skeleton::{Kinematics, SkeletonState};

    /// A shoulder that turns by 90° about z and shifts by 1 m along x within a second, with an elbow half a metre along x below it.
    fn arm() -> RiggedCharacter {
        let at = |x: f64| NodeTransform::of_isometry(&Isometry::translation(x, 0.0, 0.0));
        let nodes = vec![
            CharacterNode::new("shoulder", at(0.0), vec![1]),
            CharacterNode::new("elbow", at(0.5), vec![]),
            CharacterNode::new("lamp", at(3.0), vec![]),
        ];
        let NodeTree { nodes, order } = NodeTree::build(nodes).0.unwrap();
        let half = core::f64::consts::FRAC_1_SQRT_2;
        let channel = |path, width, values| AnimationChannel {
            node: 0,
            path,
            interpolation: ChannelInterpolation::Linear,
            times: [0.0, 1.0].into(),
            width,
            values,
        };
        let channels = vec![
            channel(ChannelPath::Rotation, 4, vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half]),
            channel(ChannelPath::Translation, 3, vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
        ];
        let animations = vec![CharacterAnimation { name: None, duration: 1.0, channels }];
        RiggedCharacter { nodes, order, animations, ..RiggedCharacter::default() }
    }

    #[test]
    fn a_skeleton_without_skin_goes_where_its_animation_puts_it() {
        let captured = CapturedMotion::of_animation(&arm(), 0).unwrap();
        let names: Vec<&str> = captured.skeleton.bones.iter().map(|bone| bone.name.as_str()).collect();
        assert_eq!(names, ["shoulder", "elbow"]);
        assert_eq!(captured.motion.frame_count(), 61);

        let skeleton = Skeleton::build(&captured.skeleton).unwrap();
        let mut state = SkeletonState::at_rest(&skeleton);
        state.q.copy_from_slice(captured.motion.frame(60));
        let mut kinematics = Kinematics::default();
        kinematics.update(&skeleton, &state);
        let elbow = kinematics.world_frames()[1].origin;
        // by inverse kinematics, which ends below a millionth of the reach
        assert!((elbow - sinew_math::Vec3::new(1.0, 0.5, 0.0)).norm() < 1e-6, "{elbow}");
    }

    #[test]
    fn an_animation_that_is_missing_or_moves_nothing_is_refused() {
        assert!(CapturedMotion::of_animation(&arm(), 1).unwrap_err().message.contains("no animation 1"));
        let mut still = arm();
        still.animations[0].channels.clear();
        assert!(CapturedMotion::of_animation(&still, 0).unwrap_err().message.contains("moves no joint"));
    }
}
