//! Validation of skeleton descriptions.

mod common;

use common::{Random, bone, particle};
use proptest::prelude::*;
use sinew_math::{Isometry, Mat3, Vec3};
use sinew_skeleton::*;

fn hinge(name: &str, parent: Parent) -> BoneDesc {
    bone(name, parent, Vec3::x(), JointKind::Revolute(Vec3::z()), particle(1.0, Vec3::x()))
}

fn faults(bones: Vec<BoneDesc>) -> Vec<String> {
    let error = Skeleton::build(&SkeletonDesc { bones }).unwrap_err();
    error.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn bones_are_sorted_topologically_and_indices_are_mapped() {
    let named = |name: &str| Parent::Named(name.into());
    let bones = vec![
        hinge("hand", named("arm")),
        hinge("arm", named("trunk")),
        hinge("trunk", Parent::World),
        hinge("leg", Parent::Index(2)),
    ];
    let skeleton = Skeleton::build(&SkeletonDesc { bones }).unwrap();
    let names: Vec<&str> = skeleton.bones().iter().map(|bone| bone.name.as_str()).collect();
    assert_eq!(names, ["trunk", "arm", "hand", "leg"]);
    assert_eq!(skeleton.bone_of_desc(0), skeleton.find_bone("hand"));
    assert_eq!(skeleton.desc_of_bone(BoneId(2)), 0);
    assert_eq!(skeleton.bone(BoneId(3)).parent, Some(BoneId(0)));
}

#[test]
fn bones_given_parents_first_keep_their_order() {
    let skeleton = Skeleton::build(&Random(4).tree(30)).unwrap();
    for i in 0..30 {
        assert_eq!(skeleton.desc_of_bone(BoneId(i as u32)), i);
    }
}

#[test]
fn all_faults_are_reported_together() {
    let mut bad = hinge("arm", Parent::Named("trnk".into()));
    bad.joint.kind = JointKind::Revolute(Vec3::zeros());
    bad.mass = MassDesc::Solid {
        shape: SolidShape::Capsule { from: Vec3::zeros(), to: Vec3::x(), radius: 0.0 },
        density: 1.0,
    };
    let found = faults(vec![hinge("trunk", Parent::World), bad, hinge("trunk", Parent::World)]);
    assert_eq!(
        found,
        [
            "bone 'trunk': bones 0 and 2 both have this name: rename one",
            "bone 'arm': its parent 'trnk' does not exist: add that bone or name another",
            "bone 'arm': joint axis [0.0, 0.0, 0.0] has no direction: give a finite one that is not zero",
            "bone 'arm': capsule radius [0.0] m must be finite and above zero",
        ]
    );
}

#[test]
fn cycles_are_reported_once() {
    let found = faults(vec![
        hinge("root", Parent::World),
        hinge("a", Parent::Index(2)),
        hinge("b", Parent::Index(3)),
        hinge("c", Parent::Index(1)),
        hinge("tail", Parent::Index(3)),
        hinge("self", Parent::Index(5)),
    ]);
    assert_eq!(
        found,
        [
            "bone 'a': is its own ancestor: a → b → c → a; give one of them another parent",
            "bone 'self': is its own ancestor: self → self; give one of them another parent",
        ]
    );
}

#[test]
fn torque_joints_without_inertia_are_rejected_unless_driven_by_motion() {
    let mut end = hinge("end", Parent::Index(0));
    end.mass = MassDesc::Massless;
    let found = faults(vec![hinge("root", Parent::World), end.clone()]);
    assert!(
        found.len() == 1 && found[0].starts_with("bone 'end': its joint has no inertia against a torque"),
        "{found:?}"
    );

    // valid: a fixed joint, armature, a descendant with mass, or motion only
    let root = hinge("root", Parent::World);
    let build = |bones: Vec<BoneDesc>| Skeleton::build(&SkeletonDesc { bones });
    let mut fixed = end.clone();
    fixed.joint = JointDesc::default();
    assert!(build(vec![root.clone(), fixed]).is_ok());
    let mut rotor = end.clone();
    rotor.joint = rotor.joint.with(DofDesc { armature: 1e-4, ..DofDesc::default() });
    assert!(build(vec![root.clone(), rotor]).is_ok());
    let mut across = hinge("tip", Parent::Index(1));
    across.joint.kind = JointKind::Revolute(Vec3::y());
    assert!(build(vec![root.clone(), end.clone(), across]).is_ok());

    // a motion-only joint rejects torques and steps with a motion
    end.joint.drive = DriveRule::MotionOnly;
    let skeleton = build(vec![root, end]).unwrap();
    let mut drives = Drives::limp(&skeleton);
    assert!(drives.set(&skeleton, BoneId(1), JointDrive::Torque(&[1.0])).is_err());
    drives.set(&skeleton, BoneId(1), JointDrive::Motion(&[1.0])).unwrap();
    let state = SkeletonState::at_rest(&skeleton);
    let (mut kinematics, mut dynamics) = (Kinematics::default(), Dynamics::default());
    kinematics.update(&skeleton, &state);
    dynamics.solve(&skeleton, &kinematics, &state, &drives, &Loads::default()).unwrap();
}

/// A particle on the axis of its hinge, and two aligned hinges with no mass between them.
#[test]
fn inertia_must_lie_off_the_axis() {
    let on_axis =
        bone("needle", Parent::World, Vec3::x(), JointKind::Revolute(Vec3::z()), particle(1.0, Vec3::z()));
    assert_eq!(faults(vec![on_axis]).len(), 1);
    let mut between = hinge("between", Parent::World);
    between.mass = MassDesc::Massless;
    let mut outer = hinge("outer", Parent::Index(0));
    outer.parent_from_joint = Isometry::identity();
    assert_eq!(faults(vec![between, outer]).len(), 1);
}

#[test]
fn values_out_of_range_are_rejected() {
    let with = |dof: DofDesc| {
        let mut bone = hinge("bone", Parent::World);
        bone.joint = bone.joint.with(dof);
        faults(vec![bone]).remove(0)
    };
    let dof = DofDesc::default();
    assert_eq!(
        with(DofDesc { lower: 1.0, upper: -1.0, ..dof }),
        "bone 'bone': degree of freedom 0: limits 1 to -1 contain no coordinate: swap or correct them"
    );
    assert!(with(DofDesc { stiffness: -1.0, ..dof }).contains("stiffness -1"));
    assert!(with(DofDesc { armature: f64::INFINITY, ..dof }).contains("armature inf"));
    let mut many = hinge("bone", Parent::World);
    many.joint.kind = JointKind::Composite(vec![JointKind::Free, JointKind::Revolute(Vec3::z())]);
    assert!(faults(vec![many]).remove(0).contains("7 degrees of freedom: at most 6"));
    let mut far = hinge("bone", Parent::World);
    far.parent_from_joint.translation.vector.x = f64::NAN;
    assert!(faults(vec![far]).remove(0).contains("rest transform is not finite"));
    assert_eq!(faults(vec![]), ["the skeleton has no bones: add one"]);
}

#[test]
fn mismatched_states_and_drives_are_rejected() {
    let skeleton = Skeleton::build(&SkeletonDesc { bones: vec![hinge("bone", Parent::World)] }).unwrap();
    assert!(SkeletonState::default().check(&skeleton).is_err());
    assert!(SkeletonState { q: vec![f64::NAN], v: vec![0.0] }.check(&skeleton).is_err());
    assert!(SkeletonState { q: vec![0.0], v: vec![0.0] }.check(&skeleton).is_ok());
    let mut drives = Drives::limp(&skeleton);
    assert!(drives.set(&skeleton, BoneId(0), JointDrive::Torque(&[1.0, 2.0])).is_err());
    assert!(drives.set(&skeleton, BoneId(0), JointDrive::Torque(&[f64::NAN])).is_err());
    assert!(drives.set(&skeleton, BoneId(7), JointDrive::Torque(&[])).is_err());
}

/// Numbers as in user input and corrupt files.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -3.0..3.0f64,
        1 => Just(0.0),
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(1e300), Just(-1e-300), Just(f64::MAX)],
    ]
}

fn vector() -> impl Strategy<Value = Vec3> {
    [number(), number(), number()].prop_map(Vec3::from)
}

fn kind() -> impl Strategy<Value = JointKind> {
    let simple = prop_oneof![
        Just(JointKind::Fixed),
        vector().prop_map(JointKind::Revolute),
        vector().prop_map(JointKind::Prismatic),
        vector().prop_map(JointKind::Cylindrical),
        (vector(), vector()).prop_map(|(a, b)| JointKind::Universal(a, b)),
        Just(JointKind::Ball),
        vector().prop_map(JointKind::Planar),
        Just(JointKind::Free),
    ];
    simple.prop_recursive(2, 6, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(JointKind::Composite))
}

fn mass() -> impl Strategy<Value = MassDesc> {
    prop_oneof![
        Just(MassDesc::Massless),
        (number(), vector(), number()).prop_map(|(mass, center, moment)| {
            MassDesc::Given(MassProperties { mass, center, tensor: Mat3::from_diagonal_element(moment) })
        }),
        (vector(), number(), number()).prop_map(|(to, radius, density)| MassDesc::Solid {
            shape: SolidShape::Capsule { from: Vec3::zeros(), to, radius },
            density,
        }),
        (vector(), number()).prop_map(|(size, density)| MassDesc::Solid {
            shape: SolidShape::Box { size, pose: Isometry::identity() },
            density,
        }),
        prop::collection::vec((number(), vector()), 0..4).prop_map(|points| {
            MassDesc::Points(points.into_iter().map(|(mass, point)| PointMass { mass, point }).collect())
        }),
    ]
}

prop_compose! {
    fn any_bone()(
        name in 0..12u8,
        parent in prop_oneof![Just(Parent::World), (0..9usize).prop_map(Parent::Index), (0..12u8).prop_map(|n| Parent::Named(n.to_string()))],
        at in vector(),
        kind in kind(),
        mass in mass(),
        (stiffness, lower, armature) in (number(), number(), number()),
        entries in 0..3usize,
    ) -> BoneDesc {
        let dof = DofDesc { stiffness, lower, armature, ..DofDesc::default() };
        BoneDesc {
            name: name.to_string(),
            parent,
            parent_from_joint: Isometry::translation(at.x, at.y, at.z),
            joint: JointDesc { kind, dofs: vec![dof; entries], drive: DriveRule::default() },
            mass,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_description_is_built_or_rejected_without_panic(bones in prop::collection::vec(any_bone(), 0..8)) {
        match Skeleton::build(&SkeletonDesc { bones }) {
            Err(error) => prop_assert!(!error.faults.is_empty() && !error.to_string().is_empty()),
            Ok(skeleton) => {
                let mut state = SkeletonState::at_rest(&skeleton);
                let (mut kinematics, mut dynamics) = (Kinematics::default(), Dynamics::default());
                for _ in 0..3 {
                    kinematics.update(&skeleton, &state);
                    let loads = Loads { gravity: -Vec3::y(), ..Loads::default() };
                    if dynamics.solve(&skeleton, &kinematics, &state, &Drives::limp(&skeleton), &loads).is_ok() {
                        prop_assert!(dynamics.acceleration.iter().all(|a| a.is_finite()));
                        state.advance(&skeleton, &dynamics.acceleration, 1e-3);
                    }
                }
                let target = IkTarget::reach(BoneId(0), Vec3::x(), Vec3::y());
                let settings = IkSettings { iterations: 3, ..IkSettings::default() };
                prop_assert!(Ik::default().solve(&skeleton, &[target], &settings, &mut state).is_ok());
            }
        }
    }
}
