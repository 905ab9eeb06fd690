//! Skeletons without flesh: kinematics, hybrid dynamics and integration on one thread.

use crate::failure::Failure;
use serde::Serialize;
use sinew_math::{Isometry, Mat3, Vec3};
use sinew_skeleton::{
    BoneDesc, BoneId, DofDesc, Drives, Dynamics, JointDesc, JointDrive, JointKind, Kinematics, Loads,
    MassDesc, MassProperties, Parent, Skeleton, SkeletonDesc, SkeletonState,
};
use std::time::{Duration, Instant};

/// One line of the table.
#[derive(Serialize)]
pub(super) struct Row {
    bench: &'static str,
    tree: &'static str,
    bones: usize,
    dof: usize,
    /// Joints whose motion is prescribed; the others are driven by torque.
    prescribed_joints: usize,
    step_us: f64,
}

pub(super) fn run() -> Result<Vec<Row>, Failure> {
    // head of the table
    say!("skeleton: kinematics, hybrid dynamics and integration, one thread");
    say!(
        "{:>9} {:>6} {:>6} {:>11} {:>11} {:>10}",
        "tree",
        "bones",
        "DOF",
        "prescribed",
        "µs/step",
        "µs/bone"
    );

    // one row per tree, without and with prescribed joints
    let trees = [("starfish", starfish()), ("long", long_tree(100)), ("long", long_tree(1000))];
    let mut rows = Vec::new();
    for (tree, desc) in &trees {
        for prescribe_every in [usize::MAX, 2] {
            let row = measure(tree, desc, prescribe_every).map_err(Failure::input)?;
            say!(
                "{:>9} {:>6} {:>6} {:>11} {:>11.2} {:>10.3}",
                row.tree,
                row.bones,
                row.dof,
                row.prescribed_joints,
                row.step_us,
                row.step_us / row.bones as f64
            );
            rows.push(row);
        }
    }
    Ok(rows)
}

/// A free central bone and five arms of three bones, each attached by a universal joint: 16 bones, 26 degrees of freedom.
fn starfish() -> SkeletonDesc {
    let mut bones = vec![bone("middle".into(), Parent::World, Vec3::zeros(), JointKind::Free)];
    for arm in 0..5 {
        let base = bones.len();
        let at = Vec3::new(0.1 * f64::from(arm), 0.1, 0.0);
        let universal = JointKind::Universal(Vec3::y(), Vec3::z());
        bones.push(bone(format!("arm {arm}"), Parent::Index(0), at, universal));
        for k in 0..2 {
            let hinge = JointKind::Revolute(Vec3::z());
            bones.push(bone(format!("arm {arm}.{k}"), Parent::Index(base + k), Vec3::x() * 0.2, hinge));
        }
    }
    SkeletonDesc { bones }
}

/// A chain of hinges with a side branch at every third bone.
fn long_tree(count: usize) -> SkeletonDesc {
    let link = |i: usize| {
        let parent = if i == 0 { Parent::World } else { Parent::Index(i - 1 - (i % 3) / 2) };
        let axis = if i.is_multiple_of(2) { Vec3::z() } else { Vec3::y() };
        bone(format!("bone {i}"), parent, Vec3::x() * 0.2, JointKind::Revolute(axis))
    };
    SkeletonDesc { bones: (0..count).map(link).collect() }
}

fn bone(name: String, parent: Parent, at: Vec3, kind: JointKind) -> BoneDesc {
    let tensor = Mat3::from_diagonal_element(2e-3);
    BoneDesc {
        name,
        parent,
        parent_from_joint: Isometry::translation(at.x, at.y, at.z),
        joint: JointDesc::of(kind).with(DofDesc { stiffness: 1.0, damping: 0.05, ..DofDesc::default() }),
        mass: MassDesc::Given(MassProperties { mass: 0.5, center: Vec3::x() * 0.1, tensor }),
    }
}

/// Times a step in which every `prescribe_every`-th joint but the root's has a prescribed motion.
fn measure(
    tree: &'static str,
    desc: &SkeletonDesc,
    prescribe_every: usize,
) -> Result<Row, Box<dyn core::error::Error>> {
    // the skeleton and the drives of its joints
    let skeleton = Skeleton::build(desc)?;
    let mut drives = Drives::limp(&skeleton);
    let mut prescribed_joints = 0;
    if prescribe_every < desc.bones.len() {
        for i in (1..desc.bones.len()).step_by(prescribe_every) {
            let id = BoneId(i as u32);
            drives.set(&skeleton, id, JointDrive::Motion(&vec![0.0; skeleton.bone(id).joint.v_count]))?;
            prescribed_joints += 1;
        }
    }

    // the fastest batch of steps
    let mut state = SkeletonState::at_rest(&skeleton);
    let (mut kinematics, mut dynamics) = (Kinematics::default(), Dynamics::default());
    let h = 1e-4;
    let loads = Loads { gravity: Vec3::new(0.0, -9.81, 0.0), wrenches: &[], passive_step: h };
    let batch = 20_000 / desc.bones.len();
    let mut best = f64::INFINITY;
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(400) {
        let begin = Instant::now();
        for _ in 0..batch {
            kinematics.update(&skeleton, &state);
            dynamics.solve(&skeleton, &kinematics, &state, &drives, &loads)?;
            state.advance(&skeleton, &dynamics.acceleration, h);
        }
        best = best.min(begin.elapsed().as_secs_f64() / batch as f64);
    }
    Ok(Row {
        bench: "skeleton",
        tree,
        bones: desc.bones.len(),
        dof: skeleton.v_count(),
        prescribed_joints,
        step_us: 1e6 * best,
    })
}
