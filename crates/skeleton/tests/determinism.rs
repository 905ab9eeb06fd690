//! Determinism: equal inputs give equal bits.

mod common;

use common::Random;
use sinew_math::Vec3;
use sinew_skeleton::*;

fn run(
    skeleton: &Skeleton,
    state: &mut SkeletonState,
    (kinematics, dynamics): (&mut Kinematics, &mut Dynamics),
    steps: usize,
) {
    let loads = Loads { gravity: Vec3::new(0.0, -9.81, 0.0), wrenches: &[], passive_step: 1e-3 };
    for _ in 0..steps {
        kinematics.update(skeleton, state);
        dynamics.solve(skeleton, kinematics, state, &Drives::limp(skeleton), &loads).unwrap();
        state.advance(skeleton, &dynamics.acceleration, 1e-3);
    }
}

fn bits(state: &SkeletonState) -> Vec<u64> {
    state.q.iter().chain(&state.v).map(|x| x.to_bits()).collect()
}

#[test]
fn a_run_repeats_to_the_bit_with_fresh_or_used_work_arrays_and_when_resumed() {
    let mut random = Random(77);
    let skeleton = Skeleton::build(&random.tree(20)).unwrap();
    let other = Skeleton::build(&random.tree(7)).unwrap();
    let start = random.state(&skeleton);
    let mut whole = start.clone();
    run(&skeleton, &mut whole, (&mut Kinematics::default(), &mut Dynamics::default()), 200);

    // work arrays used for another skeleton before, and a stop halfway
    let (mut kinematics, mut dynamics) = (Kinematics::default(), Dynamics::default());
    run(&other, &mut random.state(&other), (&mut kinematics, &mut dynamics), 10);
    let mut halves = start;
    run(&skeleton, &mut halves, (&mut kinematics, &mut dynamics), 100);
    let mut resumed = halves.clone();
    run(&skeleton, &mut resumed, (&mut Kinematics::default(), &mut Dynamics::default()), 100);
    assert_eq!(bits(&whole), bits(&resumed));
}

/// Elementary functions come from one portable implementation and no product is fused, so these bits hold on every platform.
#[test]
fn the_hash_of_a_run_is_the_recorded_one() {
    let mut random = Random(78);
    let skeleton = Skeleton::build(&random.tree(12)).unwrap();
    let mut state = random.state(&skeleton);
    run(&skeleton, &mut state, (&mut Kinematics::default(), &mut Dynamics::default()), 100);
    // a multiplicative hash: any change of any bit shows
    let hash = bits(&state)
        .iter()
        .fold(0u64, |hash, x| (hash ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17));
    assert_eq!(hash, 0xc942_6b08_82e6_944c, "{hash:#x}");
}

#[test]
fn inverse_kinematics_repeats_to_the_bit_with_used_work_arrays() {
    let mut random = Random(79);
    let skeleton = Skeleton::build(&random.tree(15)).unwrap();
    let start = random.state(&skeleton);
    let targets = [
        IkTarget::reach(BoneId(14), Vec3::x(), random.vector()),
        IkTarget::reach(BoneId(6), Vec3::y(), random.vector()),
    ];
    let (mut a, mut b) = (start.clone(), start.clone());
    let mut used = Ik::default();
    used.solve(&skeleton, &targets[1..], &IkSettings::default(), &mut start.clone()).unwrap();
    used.solve(&skeleton, &targets, &IkSettings::default(), &mut a).unwrap();
    Ik::default().solve(&skeleton, &targets, &IkSettings::default(), &mut b).unwrap();
    assert_eq!(bits(&a), bits(&b));
}
