//! Skeletons that are held by the world, let go: what is to fall must be free to.

use sinew_control::{Performance, SkeletonMotion};
use sinew_sim::desc::RigDesc;
use sinew_skeleton::{JointKind, Parent, Skeleton, SkeletonState};
use sinew_take::Scene;

/// Frees the roots that are fixed to the world. Motions keep all other joints, and have these roots where they were.
pub(super) fn free_roots(scene: &mut Scene) {
    for (rig, performance) in scene.world.rigs.iter_mut().zip(&mut scene.performances) {
        free_rig(rig, performance);
    }
}

fn free_rig(rig: &mut RigDesc, performance: &mut Performance) {
    let is_held =
        |bone: &sinew_skeleton::BoneDesc| bone.parent == Parent::World && bone.joint.kind == JointKind::Fixed;
    // faults are told when the model is built
    let Ok(held) = Skeleton::build(&rig.skeleton.with_plain_masses()) else { return };
    let roots = rig.skeleton.bones.iter_mut().filter(|bone| is_held(bone));
    roots.for_each(|bone| bone.joint.kind = JointKind::Free);
    let Ok(free) = Skeleton::build(&rig.skeleton.with_plain_masses()) else { return };
    performance.motion = performance.motion.take().and_then(|motion| moved_to(&motion, &held, &free));
}

/// A motion of one skeleton as a motion of another with the same bones, of which some have other joints: those stay at rest.
fn moved_to(motion: &SkeletonMotion, from: &Skeleton, to: &Skeleton) -> Option<SkeletonMotion> {
    let mut frames = Vec::new();
    for i in 0..motion.frame_count() {
        let mut state = SkeletonState::at_rest(to);
        for (old, new) in from.bones().iter().zip(to.bones()) {
            let (old, new) = (old.joint.q(), new.joint.q());
            if old.len() == new.len() {
                state.q[new].copy_from_slice(&motion.frame(i)[old]);
            }
        }
        frames.extend(state.q);
    }
    let moved = SkeletonMotion::build(to, motion.frame_seconds(), frames).ok()?;
    Some(moved.with(motion.interpolation, motion.extrapolation))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arm of the zoo hangs from the world: let go, its root has six degrees of freedom more and its other joints move as before.
    #[test]
    fn a_held_root_is_let_go_and_other_joints_keep_their_motion() {
        let character = sinew_zoo::find("arm").expect("an arm");
        let held = (character.build)();
        let mut free = (character.build)();
        free_roots(&mut free);
        let skeleton = |scene: &Scene| {
            Skeleton::build(&scene.world.rigs[0].skeleton.with_plain_masses()).expect("sound")
        };
        let (before, after) = (skeleton(&held), skeleton(&free));
        assert_eq!(after.v_count(), before.v_count() + 6);
        let motion = |scene: &Scene| scene.performances[0].motion.clone().expect("a motion");
        let (old, new) = (motion(&held), motion(&free));
        assert!(new.fits(&after) && new.seconds() == old.seconds());
        for i in 0..old.frame_count() {
            assert_eq!(new.frame(i)[7..], *old.frame(i));
        }
    }
}
