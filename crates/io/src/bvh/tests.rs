//! A small file against plain matrix products, and files with errors.

use super::*;
use sinew_math::nalgebra::{Matrix4, Vector4};
use sinew_skeleton::{BoneId, Kinematics, Skeleton};

/// Two roots, mixed channel orders, a position channel of an inner joint, a joint without channels, names with spaces, two end sites.
const SMALL: &str = "HIERARCHY
ROOT Bip 01 hips {
  OFFSET 1 2 3
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT spine
  {
    OFFSET 0.5 10 0
    CHANNELS 4 Yrotation Zposition Xrotation Yrotation
    JOINT still { OFFSET 0 3 1 CHANNELS 0
      End Site { OFFSET 0 1 0 } End Site
      { OFFSET 1 0 0 } } }
  JOINT leg { OFFSET -2 -9 0.25 CHANNELS 1 zROTATION End Site { OFFSET 0 -8 0 } }
}
ROOT prop { OFFSET 4 0 0 CHANNELS 3 Xrotation Zrotation Yrotation }
MOTION
Frames: 3
Frame Time: .04
1 20 -3  10 20 30  5 0.5 -70 33  12  1 2 3
1.5 21 -2  100 -20 90  15 0.25 -60 -133  -120  91 -32 3

-1.5 19 2e0  181 -200 -90  -15 1.25 160 13  359  -91 132 30
";

/// The same by 4×4 matrices straight from the text: the offset, then one matrix per channel.
fn naive(positions_replace: bool, frame: usize) -> Vec<Matrix4<f64>> {
    // joints and numbers as they stand in the text
    let joints: [(Option<usize>, [f64; 3], &str); 5] = [
        (None, [1.0, 2.0, 3.0], "XYZzyx"),
        (Some(0), [0.5, 10.0, 0.0], "yZxy"),
        (Some(1), [0.0, 3.0, 1.0], ""),
        (Some(0), [-2.0, -9.0, 0.25], "z"),
        (None, [4.0, 0.0, 0.0], "xzy"),
    ];
    let line = SMALL.lines().skip_while(|line| !line.starts_with("Frame Time")).skip(1);
    let line = line.filter(|line| !line.is_empty()).nth(frame).unwrap();
    let mut numbers = line.split_whitespace().map(|word| word.parse::<f64>().unwrap());

    // offset and channels, one after the other
    let mut world: Vec<Matrix4<f64>> = Vec::new();
    for (parent, offset, channels) in joints {
        let (mut shift, mut turn) = (offset, Matrix4::identity());
        for channel in channels.chars() {
            let x = numbers.next().unwrap();
            let axis = "xyz".find(channel.to_ascii_lowercase()).unwrap();
            if channel.is_uppercase() {
                shift[axis] = if positions_replace { x } else { shift[axis] + x };
            } else {
                let (s, c) = (real::sin(x.to_radians()), real::cos(x.to_radians()));
                let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
                let mut one = Matrix4::identity();
                (one[(i, i)], one[(i, j)], one[(j, i)], one[(j, j)]) = (c, -s, s, c);
                turn *= one;
            }
        }
        let local = Matrix4::new_translation(&Vec3::from(shift)) * turn;
        world.push(parent.map_or(local, |parent: usize| world[parent] * local));
    }
    world
}

/// Positions of order 30 through four products: tens of ε.
#[test]
fn joint_poses_agree_with_plain_matrix_products() {
    for position in [BvhPosition::InsteadOfOffset, BvhPosition::AddedToOffset] {
        let bvh =
            read_bvh(SMALL.as_bytes(), &BvhOptions { position, ..BvhOptions::default() }).unwrap().value;
        assert_eq!((bvh.frame_count, bvh.channel_count, bvh.frame_seconds), (3, 14, 0.04));
        assert_eq!(bvh.joints[0].name, "Bip 01 hips");
        assert_eq!(bvh.joints[2].ends.len(), 2);
        for frame in 0..3 {
            let world = bvh.world_from_joints(frame).unwrap();
            for (found, expected) in world.iter().zip(naive(position == BvhPosition::InsteadOfOffset, frame))
            {
                let difference = (found.to_homogeneous() - expected).amax();
                assert!(difference < 1e-13, "frame {frame}: {difference:e}");
            }
        }
        assert!(bvh.world_from_joints(3).is_none());
    }
}

#[test]
fn the_skeleton_of_a_file_moves_as_the_file_does() {
    let scale = 0.01;
    let options = BvhOptions { metres_per_unit: scale, ..BvhOptions::default() };
    let bvh = read_bvh(SMALL.as_bytes(), &options).unwrap().value;
    let quarter = sinew_math::so3::exp(&Vec3::new(core::f64::consts::FRAC_PI_2, 0.0, 0.0));
    let body = BvhBody { world_from_file: quarter, ..BvhBody::default() };
    let skeleton = Skeleton::build(&bvh.to_skeleton(&body)).unwrap();
    let motion = bvh.to_motion(&skeleton).unwrap();
    let mut kinematics = Kinematics::default();
    for frame in 0..3 {
        kinematics.update(&skeleton, &motion.sample(frame as f64 * motion.frame_seconds()));
        for (i, expected) in naive(true, frame).iter().enumerate() {
            let found = kinematics.world_from_bone(skeleton.bone_of_desc(i).unwrap());
            let origin = expected * Vector4::new(0.0, 0.0, 0.0, 1.0);
            let expected_origin = quarter * (origin.xyz() * scale);
            // lengths of 0.3 m through a few products
            assert!((found.translation.vector - expected_origin).norm() < 1e-14, "frame {frame} joint {i}");
            let turned = quarter.to_homogeneous() * expected;
            let difference = (found.rotation.to_homogeneous().fixed_view::<3, 3>(0, 0)
                - turned.fixed_view::<3, 3>(0, 0))
            .amax();
            assert!(difference < 1e-14, "frame {frame} joint {i}: {difference:e}");
        }
    }
    assert_eq!(skeleton.bone(BoneId(0)).name, "Bip 01 hips");
}

#[test]
fn errors_give_the_line_and_the_counts() {
    let error = |from: &str, to: &str| {
        let text = SMALL.replacen(from, to, 1);
        assert_ne!(text, SMALL, "{from}");
        read_bvh(text.as_bytes(), &BvhOptions::default()).unwrap_err().to_string()
    };

    // one change each
    let cases = [
        ("Frames: 3", "Frames: 4", "line 16: the file states 4 frames but has 3"),
        ("Frames: 3", "Frames: 18446744073709551615", "frames but has 3"),
        ("Frames: 3", "Frames: -3", "is not a number, or out of range"),
        (
            " 91 -32 3\n",
            " 91 -32\n",
            "line 19: this frame has 13 numbers, but the joints have 14 channels (1 complete",
        ),
        (" 91 -32 3\n", " 91 -32 3 4\n", "line 19: this frame has 15 numbers"),
        ("1.5 21", "nan 21", "line 19: a channel value is NaN"),
        ("1.5 21", "1e999 21", "line 19: a channel value is inf"),
        ("OFFSET 1 2 3", "OFFSET 1 x 3", "line 3: an offset `x` is not a number"),
        ("    OFFSET 0.5 10 0\n", "", "joint 'spine', which begins in line 5, has no OFFSET"),
        ("CHANNELS 1 zROTATION", "", "joint 'leg', which begins in line 12, has no CHANNELS"),
        ("CHANNELS 6 X", "CHANNELS 7 X", "line 5: `JOINT` is not a channel"),
        ("CHANNELS 6 X", "CHANNELS 4000000000 X", "the joint states 4000000000 channels but lists 6"),
        (
            "CHANNELS 6 X",
            "CHANNELS 5 X",
            "line 4: expected OFFSET, CHANNELS, JOINT, End Site or `}`, found `Xrotation`",
        ),
        ("Yposition", "Xposition", "line 4: `Xposition` is given twice"),
        ("Frame Time: .04", "Frame Time: 0", "line 17: the frame time is 0 s"),
        ("MOTION", "", "line 16: expected ROOT or MOTION, found `Frames:`"),
        ("HIERARCHY", "HIER", "line 1: expected `HIERARCHY`, found `HIER`"),
    ];
    for (from, to, expected) in cases {
        let found = error(from, to);
        assert!(found.contains(expected), "{found}\nshould say\n{expected}");
    }

    // a hierarchy that does not end
    let cut = &SMALL[..SMALL.find("}\nROOT prop").unwrap()];
    let found = read_bvh(cut.as_bytes(), &BvhOptions::default()).unwrap_err().to_string();
    assert!(found.contains("a `}` is missing"), "{found}");
}

#[test]
fn nesting_is_limited() {
    let deep = |depth: usize| {
        let mut text = String::from("HIERARCHY\nROOT a { OFFSET 0 0 0 CHANNELS 0\n");
        text.push_str(&"JOINT a { OFFSET 0 1 0 CHANNELS 0\n".repeat(depth));
        text.push_str(&"}".repeat(depth + 1));
        text.push_str("\nMOTION\nFrames: 0\nFrame Time: 1\n");
        read_bvh(text.as_bytes(), &BvhOptions::default())
    };
    let bvh = deep(999).unwrap().value;
    assert_eq!(bvh.joints.len(), 1000);
    assert_eq!(bvh.to_skeleton(&BvhBody::default()).bones.len(), 1000);
    assert!(deep(100_000).unwrap_err().to_string().contains("nested deeper than 1000"));
}
