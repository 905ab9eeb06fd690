//! Prints how long one full step takes (kinematics, hybrid dynamics and integration) and how long inverse kinematics takes to
//! follow a moving target, on one core.
//!
//! `cargo run --release -p sinew-skeleton --example step_time`

use sinew_math::{Isometry, Mat3, Vec3, real};
use sinew_skeleton::*;
use std::time::Instant;

/// A starfish: a free body in the middle, arms of three bones of which the innermost turn both ways.
fn starfish() -> SkeletonDesc {
    let mut bones = vec![capsule("middle", Parent::World, Vec3::zeros(), JointKind::Free)];
    for arm in 0..5 {
        let at = Vec3::new(0.1 * f64::from(arm), 0.1, 0.0);
        let base = bones.len();
        bones.push(capsule(
            &format!("arm {arm} base"),
            Parent::Index(0),
            at,
            JointKind::Universal(Vec3::y(), Vec3::z()),
        ));
        for k in 0..2 {
            let parent = Parent::Index(base + k);
            bones.push(capsule(
                &format!("arm {arm} bone {k}"),
                parent,
                Vec3::x() * 0.2,
                JointKind::Revolute(Vec3::z()),
            ));
        }
    }
    SkeletonDesc { bones }
}

/// A chain of hinges along x with a side branch at every third bone.
fn long_tree(count: usize) -> SkeletonDesc {
    let bone = |i: usize| {
        let parent = if i == 0 { Parent::World } else { Parent::Index(i - 1 - (i % 3) / 2) };
        let axis = if i.is_multiple_of(2) { Vec3::z() } else { Vec3::y() };
        capsule(&format!("bone {i}"), parent, Vec3::x() * 0.2, JointKind::Revolute(axis))
    };
    SkeletonDesc { bones: (0..count).map(bone).collect() }
}

fn capsule(name: &str, parent: Parent, at: Vec3, kind: JointKind) -> BoneDesc {
    let mass =
        MassProperties { mass: 0.5, center: Vec3::x() * 0.1, tensor: Mat3::from_diagonal_element(2e-3) };
    BoneDesc {
        name: name.into(),
        parent,
        parent_from_joint: Isometry::translation(at.x, at.y, at.z),
        joint: JointDesc::of(kind).with(DofDesc { stiffness: 1.0, damping: 0.05, ..DofDesc::default() }),
        mass: MassDesc::Given(mass),
    }
}

/// The least time of a step (µs) over some thousand batches.
fn measure(
    desc: &SkeletonDesc,
    share_driven_by_motion: usize,
) -> Result<(f64, usize), Box<dyn core::error::Error>> {
    let skeleton = Skeleton::build(desc)?;
    let mut state = SkeletonState::at_rest(&skeleton);
    let mut drives = Drives::limp(&skeleton);
    for i in (1..skeleton.bones().len()).step_by(share_driven_by_motion) {
        let id = BoneId(i as u32);
        let zeros = vec![0.0; skeleton.bone(id).joint.v_count];
        drives.set(&skeleton, id, JointDrive::Motion(&zeros))?;
    }
    let (mut kinematics, mut dynamics) = (Kinematics::default(), Dynamics::default());
    let h = 1e-4;
    let loads = Loads { gravity: Vec3::new(0.0, -9.81, 0.0), wrenches: &[], passive_step: h };
    let steps = 200_000 / skeleton.bones().len() / 20;
    let mut least = f64::INFINITY;
    for _ in 0..50 {
        let start = Instant::now();
        for _ in 0..steps {
            kinematics.update(&skeleton, &state);
            dynamics.solve(&skeleton, &kinematics, &state, &drives, &loads)?;
            state.advance(&skeleton, &dynamics.acceleration, h);
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e6 / steps as f64);
    }
    Ok((least, skeleton.v_count()))
}

/// The mean time (µs) and iterations of a pose whose target goes round an arm's tip.
fn measure_ik(desc: &SkeletonDesc) -> Result<(f64, f64), Box<dyn core::error::Error>> {
    let skeleton = Skeleton::build(desc)?;
    let mut state = SkeletonState::at_rest(&skeleton);
    let settings = IkSettings { locked: vec![BoneId(0)], tolerance: 1e-4, ..IkSettings::default() };
    let tip = skeleton.find_bone("arm 0 bone 1").unwrap_or(BoneId(0));
    let (mut ik, mut iterations, poses) = (Ik::default(), 0, 1000);
    let start = Instant::now();
    for k in 0..poses {
        let angle = 0.05 * f64::from(k);
        let target = Vec3::new(0.4, 0.1 + 0.1 * real::sin(angle), 0.15 * real::cos(angle));
        let target = IkTarget::reach(tip, Vec3::x() * 0.2, target);
        iterations += ik.solve(&skeleton, &[target], &settings, &mut state)?.iterations;
    }
    let poses = f64::from(poses);
    Ok((start.elapsed().as_secs_f64() * 1e6 / poses, iterations as f64 / poses))
}

#[expect(clippy::print_stdout, reason = "its purpose")]
fn main() -> Result<(), Box<dyn core::error::Error>> {
    for (name, desc) in [("starfish", starfish()), ("long tree", long_tree(1000))] {
        for (drive, share) in [("all torque", usize::MAX), ("half motion", 2)] {
            let (time, dofs) = measure(&desc, share)?;
            let count = desc.bones.len();
            println!(
                "{name}, {drive}: {count} bones, {dofs} degrees of freedom: {time:.2} µs a step, {:.3} µs a bone",
                time / count as f64
            );
        }
    }
    let (time, iterations) = measure_ik(&starfish())?;
    println!("inverse kinematics, one arm: {time:.1} µs a pose, {iterations:.1} iterations");
    Ok(())
}
