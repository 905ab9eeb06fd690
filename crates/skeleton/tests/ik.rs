//! Inverse kinematics: reachable and unreachable targets, limits, pins and locks.

mod common;

use common::{Random, bone, particle};
use sinew_math::{Vec3, so3};
use sinew_skeleton::*;

/// A chain of bones of length 1 along x, each with a particle.
fn chain(count: usize, kind: JointKind) -> SkeletonDesc {
    let one = |i: usize| {
        let (parent, at) =
            if i == 0 { (Parent::World, Vec3::zeros()) } else { (Parent::Index(i - 1), Vec3::x()) };
        let mut mass = particle(1.0, Vec3::x() * 0.5);
        mass.tensor = sinew_math::Mat3::from_diagonal_element(0.1);
        bone(&format!("bone {i}"), parent, at, kind.clone(), mass)
    };
    SkeletonDesc { bones: (0..count).map(one).collect() }
}

fn tip(count: usize, position: Vec3) -> IkTarget {
    IkTarget::reach(BoneId(count as u32 - 1), Vec3::x(), position)
}

fn point(skeleton: &Skeleton, state: &SkeletonState, bone: BoneId, p: &Vec3) -> Vec3 {
    let mut kinematics = Kinematics::default();
    kinematics.update(skeleton, state);
    kinematics.point(bone, p)
}

#[test]
fn targets_within_reach_are_reached() {
    let mut random = Random(3);
    let mut ik = Ik::default();
    for kind in [JointKind::Ball, JointKind::Universal(Vec3::y(), Vec3::z())] {
        let skeleton = Skeleton::build(&chain(4, kind)).unwrap();
        for _ in 0..100 {
            // from 0.8 to 3.6 of a chain of length 4
            let direction = random.vector().normalize();
            let target = direction * random.between(0.8, 3.6);
            let mut state = SkeletonState::at_rest(&skeleton);
            let report = ik.solve(&skeleton, &[tip(4, target)], &IkSettings::default(), &mut state).unwrap();
            assert!(report.reached && report.position_error <= 1e-6, "{target} {report:?}");
            assert!((point(&skeleton, &state, BoneId(3), &Vec3::x()) - target).norm() <= 1e-6);
        }
    }
}

#[test]
fn orientations_within_reach_are_reached() {
    let skeleton = Skeleton::build(&chain(5, JointKind::Ball)).unwrap();
    let mut random = Random(5);
    for _ in 0..50 {
        let wanted = so3::exp(&(random.vector() * 1.5));
        let target =
            IkTarget { orientation: Some(wanted), ..tip(5, Vec3::new(2.0, 1.0, -0.5) + random.vector()) };
        let mut state = SkeletonState::at_rest(&skeleton);
        let report = Ik::default().solve(&skeleton, &[target], &IkSettings::default(), &mut state).unwrap();
        assert!(report.reached && report.orientation_error <= 1e-5, "{report:?}");
    }
}

/// A straight chain has no gradient towards its own root: the perturbation breaks the symmetry.
#[test]
fn a_straight_limb_folds_towards_its_root() {
    let skeleton = Skeleton::build(&chain(3, JointKind::Revolute(Vec3::z()))).unwrap();
    let mut state = SkeletonState::at_rest(&skeleton);
    let report =
        Ik::default().solve(&skeleton, &[tip(3, Vec3::x() * 1.5)], &IkSettings::default(), &mut state);
    assert!(report.unwrap().reached);
}

/// For an unreachable target the best pose points straight at it. Steps end at 10⁻⁴ rad, and a limb bent by that falls short by its
/// square; 10⁻³ allows for the slow last approach and for round-off of a distance of 10⁶.
#[test]
fn unreachable_targets_are_pointed_at() {
    let skeleton = Skeleton::build(&chain(3, JointKind::Ball)).unwrap();
    for distance in [4.0, 30.0, 1e6] {
        let mut state = SkeletonState::at_rest(&skeleton);
        let target = Vec3::new(-1.0, 2.0, 2.0) / 3.0 * distance;
        let report =
            Ik::default().solve(&skeleton, &[tip(3, target)], &IkSettings::default(), &mut state).unwrap();
        assert!(!report.reached);
        let excess = report.position_error - (distance - 3.0);
        assert!(excess > -1e-9 * distance && excess < 1e-3, "{distance} {report:?}");
        assert!(state.q.iter().all(|q| q.is_finite()));
    }
}

#[test]
fn the_error_never_grows_with_more_iterations() {
    for seed in 0..40 {
        let mut random = Random(seed);
        let skeleton = Skeleton::build(&random.tree(10)).unwrap();
        let start = random.state(&skeleton);
        let targets: Vec<IkTarget> = (0..3)
            .map(|_| IkTarget::reach(BoneId(random.below(10) as u32), random.vector(), random.vector() * 3.0))
            .collect();
        let mut last = f64::INFINITY;
        for iterations in 0..25 {
            let settings = IkSettings { iterations, ..IkSettings::default() };
            let mut state = start.clone();
            Ik::default().solve(&skeleton, &targets, &settings, &mut state).unwrap();
            let gap = |t: &IkTarget| {
                (point(&skeleton, &state, t.bone, &t.point_in_bone) - t.position).norm_squared()
            };
            let error: f64 = targets.iter().map(gap).sum();
            assert!(
                error <= last * (1.0 + 1e-5) + 1e-12,
                "seed {seed}, iteration {iterations}: {last} to {error}"
            );
            last = error;
        }
    }
}

#[test]
fn limits_are_respected_for_any_target() {
    let mut desc = chain(4, JointKind::Ball);
    for (i, bone) in desc.bones.iter_mut().enumerate() {
        if i % 2 == 1 {
            bone.joint.kind = JointKind::Revolute(Vec3::z());
        }
        bone.joint.dofs = vec![DofDesc { lower: -0.3, upper: 0.6, ..DofDesc::default() }];
    }
    let skeleton = Skeleton::build(&desc).unwrap();
    let mut random = Random(11);
    let mut ik = Ik::default();
    for _ in 0..100 {
        let mut state = random.state(&skeleton);
        ik.solve(&skeleton, &[tip(4, random.vector() * 5.0)], &IkSettings::default(), &mut state).unwrap();
        for i in 0..4 {
            for x in state.chart_of(&skeleton, BoneId(i)) {
                assert!((-0.3 - 1e-12..=0.6 + 1e-12).contains(&x), "{x}");
            }
        }
    }
}

/// A pin has 10⁴ times the weight of a target: if both are reachable both are met; otherwise it deviates by about 10⁻⁴ of the error.
#[test]
fn pinned_points_hold_while_others_reach() {
    let mut desc = chain(6, JointKind::Ball);
    desc.bones[0].joint = JointDesc::of(JointKind::Free);
    let skeleton = Skeleton::build(&desc).unwrap();
    let mut state = SkeletonState::at_rest(&skeleton);
    let mut kinematics = Kinematics::default();
    kinematics.update(&skeleton, &state);
    let pin = IkTarget::pin(&kinematics, BoneId(2), Vec3::zeros());
    let settings = IkSettings { iterations: 300, ..IkSettings::default() };
    let mut ik = Ik::default();
    let near = tip(6, Vec3::new(3.0, 2.5, 1.0));
    assert!(ik.solve(&skeleton, &[pin, near], &settings, &mut state).unwrap().reached);
    let far = tip(6, Vec3::new(2.0, 20.0, 0.0));
    ik.solve(&skeleton, &[pin, far], &settings, &mut state).unwrap();
    let slip = (point(&skeleton, &state, BoneId(2), &Vec3::zeros()) - Vec3::x() * 2.0).norm();
    assert!(slip < 2e-4 * 16.0, "{slip}");
}

#[test]
fn locked_joints_stay() {
    let skeleton = Skeleton::build(&chain(4, JointKind::Ball)).unwrap();
    let mut state = SkeletonState::at_rest(&skeleton);
    let settings = IkSettings { locked: vec![BoneId(0), BoneId(2)], ..IkSettings::default() };
    let report =
        Ik::default().solve(&skeleton, &[tip(4, Vec3::new(2.0, 1.5, 0.5))], &settings, &mut state).unwrap();
    assert!(report.reached, "{report:?}");
    for id in [BoneId(0), BoneId(2)] {
        assert_eq!(state.q_of(&skeleton, id), [0.0, 0.0, 0.0, 1.0]);
    }
}

#[test]
fn invalid_targets_are_rejected() {
    let skeleton = Skeleton::build(&chain(2, JointKind::Ball)).unwrap();
    let mut state = SkeletonState::at_rest(&skeleton);
    let mut solve = |target| Ik::default().solve(&skeleton, &[target], &IkSettings::default(), &mut state);
    assert_eq!(
        solve(tip(9, Vec3::zeros())).unwrap_err().to_string(),
        "target 0 refers to bone 8, but the skeleton has 2"
    );
    assert!(solve(tip(2, Vec3::new(f64::NAN, 0.0, 0.0))).is_err());
    assert!(solve(IkTarget { weight: -1.0, ..tip(2, Vec3::x()) }).is_err());
}
