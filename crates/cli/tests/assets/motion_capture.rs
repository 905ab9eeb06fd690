//! Captured motions by two roads: the skeleton that the reader makes, and plain 4×4 matrices straight from the words of the file.

use sinew_io::{BvhBody, BvhOptions, CMU_METRES, read_bvh};
use sinew_math::nalgebra::Matrix4;
use sinew_math::{Vec3, real};
use sinew_skeleton::{Kinematics, Skeleton};

/// A file, its joints and frames.
const MOTIONS: [(&str, usize, usize); 2] =
    [("cmu_02_01_walk.bvh", 31, 344), ("cmu_05_02_dance.bvh", 31, 1124)];

/// The joints of a file as its words say them, lengths in its own unit.
struct PlainMotion {
    joints: Vec<PlainJoint>,
    /// All numbers after `Frame Time:`, frame after frame (file units, degrees).
    numbers: Vec<f64>,
}

struct PlainJoint {
    parent: Option<usize>,
    offset: Vec3,
    channels: Vec<String>,
}

impl PlainMotion {
    /// Splits on whitespace; braces alone say what hangs from what.
    fn read(text: &str) -> PlainMotion {
        let mut words = text.split_whitespace();
        let mut joints: Vec<PlainJoint> = Vec::new();
        // the joint of every open brace; an end site stands for none
        let mut open: Vec<Option<usize>> = Vec::new();
        while let Some(word) = words.next() {
            match word {
                "ROOT" | "JOINT" => {
                    let parent = open.last().copied().flatten();
                    joints.push(PlainJoint { parent, offset: Vec3::zeros(), channels: Vec::new() });
                    open.push(Some(joints.len() - 1));
                }
                "End" => open.push(None),
                "}" => drop(open.pop()),
                "OFFSET" => {
                    let offset = Vec3::from_fn(|_, _| words.next().unwrap().parse().unwrap());
                    if let Some(joint) = open.last().copied().flatten() {
                        joints[joint].offset = offset;
                    }
                }
                "CHANNELS" => {
                    let count: usize = words.next().unwrap().parse().unwrap();
                    let channels = (0..count).map(|_| words.next().unwrap().to_string());
                    joints.last_mut().unwrap().channels = channels.collect();
                }
                "Time:" => break,
                _ => {}
            }
        }
        PlainMotion { joints, numbers: words.skip(1).map(|word| word.parse().unwrap()).collect() }
    }

    fn channel_count(&self) -> usize {
        self.joints.iter().map(|joint| joint.channels.len()).sum()
    }

    /// Where the joints stand in a frame: the offset, which positions replace, then a matrix for each turn in the order written.
    fn world_from_joints(&self, frame: usize) -> Vec<Matrix4<f64>> {
        let mut numbers = self.numbers[frame * self.channel_count()..].iter();
        let mut world: Vec<Matrix4<f64>> = Vec::new();
        for joint in &self.joints {
            let (mut shift, mut turns) = (joint.offset, Matrix4::identity());
            for channel in &joint.channels {
                let x = *numbers.next().unwrap();
                match channel.as_str() {
                    "Xposition" => shift.x = x,
                    "Yposition" => shift.y = x,
                    "Zposition" => shift.z = x,
                    "Xrotation" => turns *= turn(1, 2, x),
                    "Yrotation" => turns *= turn(2, 0, x),
                    "Zrotation" => turns *= turn(0, 1, x),
                    other => panic!("no channel: {other}"),
                }
            }
            let parent_from_joint = Matrix4::new_translation(&shift) * turns;
            world.push(joint.parent.map_or(parent_from_joint, |parent| world[parent] * parent_from_joint));
        }
        world
    }
}

/// A turn that takes axis i towards axis j.
fn turn(i: usize, j: usize, degrees: f64) -> Matrix4<f64> {
    let (sine, cosine) = (real::sin(degrees.to_radians()), real::cos(degrees.to_radians()));
    let mut matrix = Matrix4::identity();
    (matrix[(i, i)], matrix[(i, j)]) = (cosine, -sine);
    (matrix[(j, i)], matrix[(j, j)]) = (sine, cosine);
    matrix
}

/// Joints lie within 4 m of the origin, at most 10 joints deep. Three turns and a shift per joint are 40 products, each off by a few
/// ε of the length they turn: 40 · 4 ε · 4 m = 1.4e-13 m, and the road through quaternions twice as much. A turn in the wrong
/// order moves the nearest joint by a millimetre.
#[test]
fn captured_joints_stand_where_plain_matrices_put_them() {
    for (name, joint_count, frame_count) in MOTIONS {
        let bytes = std::fs::read(super::assets().join(name)).expect("a file of the assets");
        let plain = PlainMotion::read(core::str::from_utf8(&bytes).unwrap());
        assert_eq!(plain.joints.len(), joint_count, "{name}");
        assert_eq!(plain.numbers.len(), frame_count * plain.channel_count(), "{name}");

        let options = BvhOptions { metres_per_unit: CMU_METRES, ..BvhOptions::default() };
        let bvh = read_bvh(&bytes, &options).unwrap().value;
        let skeleton = Skeleton::build(&bvh.to_skeleton(&BvhBody::default())).unwrap();
        let motion = bvh.to_motion(&skeleton).unwrap();
        assert_eq!(skeleton.bones().len(), joint_count, "{name}");
        assert_eq!(motion.frame_count(), frame_count, "{name}");

        let mut kinematics = Kinematics::default();
        for frame in [0, 1, frame_count / 3, frame_count / 2, 2 * frame_count / 3, frame_count - 1] {
            kinematics.update(&skeleton, &motion.sample(frame as f64 * motion.frame_seconds()));
            for (i, world_from_joint) in plain.world_from_joints(frame).iter().enumerate() {
                let expected = world_from_joint.fixed_view::<3, 1>(0, 3) * CMU_METRES;
                assert!(expected.norm() < 4.0, "{name}: joint {i} of frame {frame} is at {expected}");
                let found = kinematics.world_from_bone(skeleton.bone_of_desc(i).unwrap());
                let apart = (found.translation.vector - expected).norm();
                assert!(apart < 1e-12, "{name}: joint {i} of frame {frame} is {apart:e} m off");
            }
        }
    }
}
