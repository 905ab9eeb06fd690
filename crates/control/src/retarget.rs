//! Motion retargeting between humanoids.
//!
//! ```text
//! R_target(t) = R_source(t) R_source,rest⁻¹ R_target,rest           for bones that both have, in the world
//! p_target(t) = s p_source(t) + offset                              for the hips, s the ratio of hip heights
//! ```
//!
//! Retargeting transfers the rotation of each bone since rest in the world, so that neither the local frames of bones nor
//! intermediate bones matter. Both rest poses should show the same pose, best a T-pose; bones that only the target has keep their
//! rest pose relative to their parents. Foot contacts are not enforced.

use crate::humanoid::{BoneMap, HumanBone};
use crate::joint_fit::{self, BoneTarget};
use crate::part_slot::slots_of;
use crate::skeleton_motion::{MotionError, SkeletonMotion};
use core::fmt;
use sinew_math::{Rotation, Vec3};
use sinew_skeleton::{BoneId, JointPrimitive, Kinematics, Skeleton, SkeletonState};

/// A humanoid skeleton with its rest pose and bone map.
#[derive(Clone, Copy, Debug)]
pub struct Humanoid<'a> {
    /// The skeleton.
    pub skeleton: &'a Skeleton,
    /// Its rest pose; for motions of the Carnegie Mellon database the first frame.
    pub rest: &'a SkeletonState,
    /// Its humanoid bones, by index in [`Skeleton::bones`].
    pub bones: &'a BoneMap,
}

/// Options of retargeting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetargetOptions {
    /// The up direction in both worlds, of any length above 0.
    pub up: Vec3,
    /// Scale of translations from source to target; `None` for the ratio of hip heights at rest.
    pub scale: Option<f64>,
    /// Position of the source's origin in the target's world (m).
    pub offset: Vec3,
}

impl Default for RetargetOptions {
    /// Y up, the scale from hip heights, and no offset.
    fn default() -> RetargetOptions {
        RetargetOptions { up: Vec3::y(), scale: None, offset: Vec3::zeros() }
    }
}

/// Two humanoids between which motion cannot be retargeted, with all faults.
#[derive(Clone, Debug, PartialEq)]
pub struct RetargetError {
    /// All faults, one sentence each.
    pub faults: Vec<String>,
}

impl fmt::Display for RetargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.faults.join("\n"))
    }
}

impl core::error::Error for RetargetError {}

/// The transfer of poses and motions from one humanoid to another.
#[derive(Clone, Debug)]
pub struct Retarget {
    /// For each bone of the target that the source has too: the source's bone, and source_from_target at rest.
    pairs: Vec<Option<(BoneId, Rotation)>>,
    hips: (BoneId, BoneId),
    scale: f64,
    offset: Vec3,
    rest: SkeletonState,
}

impl Retarget {
    /// Checks two humanoids and pairs their bones.
    ///
    /// # Errors
    /// All faults together: invalid rest poses, missing hips, bone indices out of range, invalid options.
    pub fn build(
        source: &Humanoid,
        target: &Humanoid,
        options: &RetargetOptions,
    ) -> Result<Retarget, RetargetError> {
        // check both humanoids and the options
        let mut faults = Vec::new();
        for (figure, name) in [(source, "source"), (target, "target")] {
            find_faults(figure, name, &mut faults);
        }
        let numbers = [options.up.norm(), options.scale.unwrap_or(1.0)];
        if numbers.iter().any(|x| !(x.is_finite() && *x > 0.0))
            || !options.offset.iter().all(|x| x.is_finite())
        {
            faults.push(
                "the options are invalid: give a finite offset, a scale above 0 and an up direction that is not zero"
                    .into(),
            );
        }
        let bones = |bone| Some((id(source.bones.get(bone)?), id(target.bones.get(bone)?)));
        let (Some(hips), true) = (bones(HumanBone::Hips), faults.is_empty()) else {
            return Err(RetargetError { faults });
        };

        // scale by the ratio of hip heights
        let mut source_at_rest = Kinematics::default();
        source_at_rest.update(source.skeleton, source.rest);
        let mut target_at_rest = Kinematics::default();
        target_at_rest.update(target.skeleton, target.rest);
        let up = options.up.normalize();
        let heights = [height(&source_at_rest, hips.0, &up), height(&target_at_rest, hips.1, &up)];
        if options.scale.is_none() && !heights.iter().all(|height| *height > 0.0) {
            let [from, to] = heights;
            let fault = format!(
                "the hips are {from} m (source) and {to} m (target) above the lowest bone: give a scale"
            );
            return Err(RetargetError { faults: vec![fault] });
        }

        // pair the bones that both have
        let mut pairs = vec![None; target.skeleton.bones().len()];
        for (from, to) in HumanBone::ALL.into_iter().filter_map(bones) {
            let [from_rest, to_rest] =
                [source_at_rest.world_from_bone(from), target_at_rest.world_from_bone(to)]
                    .map(|pose| pose.rotation);
            pairs[to.index()] = Some((from, from_rest.inverse() * to_rest));
        }
        Ok(Retarget {
            pairs,
            hips,
            scale: options.scale.unwrap_or(heights[1] / heights[0]),
            offset: options.offset,
            rest: target.rest.clone(),
        })
    }

    /// The scale of translations from source to target.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Retargets a motion frame by frame; the interpolation stays the same.
    ///
    /// # Errors
    /// If the motion does not fit the source.
    ///
    /// # Panics
    /// If the skeletons are not those this was built from.
    pub fn motion(
        &self,
        source: &Skeleton,
        target: &Skeleton,
        motion: &SkeletonMotion,
    ) -> Result<SkeletonMotion, MotionError> {
        if !motion.fits(source) {
            return Err(MotionError {
                faults: vec!["the motion belongs to another skeleton than the source".into()],
            });
        }
        let mut from = SkeletonState::at_rest(source);
        let mut to = self.rest.clone();
        let mut frames = Vec::with_capacity(motion.frame_count() * target.q_count());
        for i in 0..motion.frame_count() {
            from.q.copy_from_slice(motion.frame(i));
            self.pose(source, target, &from, &mut to);
            frames.extend_from_slice(&to.q);
        }
        let carried = SkeletonMotion::build(target, motion.frame_seconds(), frames)?;
        Ok(carried.with(motion.interpolation, motion.extrapolation))
    }

    /// Sets the target's coordinates from a pose of the source. Of equivalent hinge angles it takes the one nearest to the previous value.
    ///
    /// # Panics
    /// If the skeletons or states are not those this was built from.
    pub fn pose(&self, source: &Skeleton, target: &Skeleton, from: &SkeletonState, to: &mut SkeletonState) {
        let mut kinematics = Kinematics::default();
        kinematics.update(source, from);
        let aim = |bone: BoneId| {
            let (source_bone, source_from_target) = self.pairs[bone.index()]?;
            Some(BoneTarget::Rotation(kinematics.world_from_bone(source_bone).rotation * source_from_target))
        };
        let found = joint_fit::pose(target, to, aim);

        // translate the hips to their target, by the topmost ancestor whose joint translates freely
        let hips = kinematics.world_from_bone(self.hips.0).translation.vector * self.scale + self.offset;
        let by = hips - found[self.hips.1.index()].translation.vector;
        let mut carrier = None;
        let mut next = Some(self.hips.1);
        while let Some(bone) = next {
            if slots_of(target, bone).any(|slot| slot.part == JointPrimitive::Translation) {
                carrier = Some(bone);
            }
            next = target.bone(bone).parent;
        }
        if let Some(carrier) = carrier {
            joint_fit::shift(target, carrier, &found, &by, to);
        }
    }
}

fn id(index: usize) -> BoneId {
    BoneId(index as u32)
}

fn find_faults(figure: &Humanoid, name: &str, faults: &mut Vec<String>) {
    if let Err(error) = figure.rest.check(figure.skeleton) {
        faults.push(format!("the {name}'s rest pose is invalid: {error}"));
    }
    if figure.bones.get(HumanBone::Hips).is_none() {
        faults.push(format!(
            "the {name}'s hips were not found: in a scene, name them with human = {{ hips = \"JOINT\" }}"
        ));
    }
    let count = figure.skeleton.bones().len();
    for (bone, index) in figure.bones.iter().filter(|(_, index)| *index >= count) {
        let bone = bone.name();
        faults.push(format!(
            "the {name}'s {bone} is bone {index}, but it has only {count} bones, counted from 0"
        ));
    }
}

/// The height of a bone above the lowest bone (m).
fn height(kinematics: &Kinematics, bone: BoneId, up: &Vec3) -> f64 {
    let heights = kinematics.world_frames().iter().map(|frame| frame.origin.dot(up));
    kinematics.world_frames()[bone.index()].origin.dot(up) - heights.fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spline::KeyValue;
    use sinew_math::{Isometry, so3};
    use sinew_skeleton::{BoneDesc, JointDesc, JointKind, MassDesc, MassProperties, Parent, SkeletonDesc};

    fn skeleton(bones: &[(&str, Option<usize>, Isometry, JointKind)]) -> Skeleton {
        let bone = |(name, parent, pose, kind): &(&str, Option<usize>, Isometry, JointKind)| BoneDesc {
            name: name.to_string(),
            parent: parent.map_or(Parent::World, Parent::Index),
            parent_from_joint: *pose,
            joint: JointDesc::of(kind.clone()),
            mass: MassDesc::Given(MassProperties {
                mass: 1.0,
                center: Vec3::new(0.0, 0.1, 0.0),
                tensor: sinew_math::Mat3::identity() * 0.1,
            }),
        };
        Skeleton::build(&SkeletonDesc { bones: bones.iter().map(bone).collect() }).unwrap()
    }

    fn at(x: f64, y: f64, z: f64, turned: Vec3) -> Isometry {
        Isometry::from_parts(Vec3::new(x, y, z).into(), so3::exp(&turned))
    }

    /// A humanoid with all bone frames aligned with the world, hips 0.9 m above the feet.
    fn plain() -> Skeleton {
        let o = Vec3::zeros();
        skeleton(&[
            ("Hips", None, at(0.0, 0.9, 0.0, o), JointKind::Free),
            ("Spine", Some(0), at(0.0, 0.2, 0.0, o), JointKind::Ball),
            ("LeftUpLeg", Some(0), at(0.1, 0.0, 0.0, o), JointKind::Ball),
            ("LeftLeg", Some(2), at(0.0, -0.45, 0.0, o), JointKind::Ball),
            ("LeftFoot", Some(3), at(0.0, -0.45, 0.0, o), JointKind::Ball),
        ])
    }

    /// Another of half the height, with arbitrary bone frames, hips below a free root, a twist bone between knee and foot, and a hinge knee.
    fn odd() -> Skeleton {
        let (a, b) = (Vec3::new(0.4, -1.0, 0.3), Vec3::new(-0.7, 0.2, 1.1));
        let (ra, rb) = (so3::exp(&a), so3::exp(&b));
        let in_frame = |r: Rotation, x: f64, y: f64| Vec3::from(r.inverse() * Vec3::new(x, y, 0.0));
        let leg = in_frame(ra, 0.0, -0.2);
        let hinge = ra.inverse() * Vec3::x();
        let slot = |p: Vec3, r: Rotation| Isometry::from_parts(p.into(), r);
        skeleton(&[
            ("root", None, at(0.0, 0.0, 0.0, b), JointKind::Free),
            ("pelvis", Some(0), slot(in_frame(rb, 0.0, 0.45), rb.inverse() * ra), JointKind::Ball),
            ("spine_01", Some(1), slot(in_frame(ra, 0.0, 0.1), ra.inverse() * rb), JointKind::Ball),
            ("thigh_l", Some(1), slot(in_frame(ra, 0.05, 0.0), Rotation::identity()), JointKind::Ball),
            ("calf_l", Some(3), slot(leg, Rotation::identity()), JointKind::Revolute(hinge)),
            ("calf_twist_01_l", Some(4), slot(leg * 0.5, Rotation::identity()), JointKind::Ball),
            ("foot_l", Some(5), slot(leg * 0.75, rb), JointKind::Ball),
        ])
    }

    fn swing(skeleton: &Skeleton, frames: usize) -> SkeletonMotion {
        let mut q = Vec::new();
        for i in 0..frames {
            let mut state = SkeletonState::at_rest(skeleton);
            let s = 0.4 * i as f64;
            state.set_chart_of(skeleton, BoneId(0), &[0.1 * s, 0.05, 0.3 * s, 0.1, 0.5 * s, -0.2]);
            state.set_chart_of(skeleton, BoneId(1), &[0.2, 0.3 * s, 0.1]);
            state.set_chart_of(skeleton, BoneId(2), &[0.6 * s, -0.1, 0.2]);
            state.set_chart_of(skeleton, BoneId(3), &[0.5 * s, 0.0, 0.0]);
            state.set_chart_of(skeleton, BoneId(4), &[-0.2 * s, 0.1, 0.0]);
            q.extend(state.q);
        }
        SkeletonMotion::build(skeleton, 0.1, q).unwrap()
    }

    /// Rotations since rest agree in the world and the hips' positions differ by the scale, to the round-off of a few products.
    #[test]
    fn world_rotations_since_rest_agree() {
        // retarget a motion
        let (source, target) = (plain(), odd());
        let (source_map, target_map) = (BoneMap::find_in(&source), BoneMap::find_in(&target));
        assert_eq!(target_map.iter().count(), 5);
        let rests = [&source, &target].map(SkeletonState::at_rest);
        let retarget = Retarget::build(
            &Humanoid { skeleton: &source, rest: &rests[0], bones: &source_map },
            &Humanoid { skeleton: &target, rest: &rests[1], bones: &target_map },
            &RetargetOptions::default(),
        )
        .unwrap();
        // legs of 0.2 m (1 + 1/2 + 3/4) below hips at 0.45 m, against 0.9 m
        assert!((retarget.scale() - 0.5).abs() < 1e-14);
        let motion = swing(&source, 6);
        let carried = retarget.motion(&source, &target, &motion).unwrap();

        // compare rotations since rest and hips in every frame
        let (mut rest, mut now) =
            ([Kinematics::default(), Kinematics::default()], [Kinematics::default(), Kinematics::default()]);
        rest[0].update(&source, &rests[0]);
        rest[1].update(&target, &rests[1]);
        for i in 0..6 {
            let t = 0.1 * i as f64;
            now[0].update(&source, &motion.sample(t));
            now[1].update(&target, &carried.sample(t));
            for (bone, from) in source_map.iter() {
                let to = id(target_map.get(bone).unwrap());
                let since = |k: usize, bone: BoneId| {
                    now[k].world_from_bone(bone).rotation * rest[k].world_from_bone(bone).rotation.inverse()
                };
                let gap = since(0, id(from)).gap(&since(1, to)).norm();
                assert!(gap < 1e-12, "frame {i} {}: {gap:e}", bone.name());
            }
            let hips = |k: usize, bone: usize| now[k].world_from_bone(id(bone)).translation.vector;
            let expected = hips(0, source_map.get(HumanBone::Hips).unwrap()) * retarget.scale();
            assert!((hips(1, target_map.get(HumanBone::Hips).unwrap()) - expected).norm() < 1e-13);
        }
    }

    #[test]
    fn retargeting_to_the_same_skeleton_is_the_identity() {
        let source = plain();
        let (map, rest) = (BoneMap::find_in(&source), SkeletonState::at_rest(&source));
        let figure = Humanoid { skeleton: &source, rest: &rest, bones: &map };
        let retarget = Retarget::build(&figure, &figure, &RetargetOptions::default()).unwrap();
        assert_eq!(retarget.scale(), 1.0);
        let motion = swing(&source, 4);
        let same = retarget.motion(&source, &source, &motion).unwrap();
        for i in 0..4 {
            let mut kinematics = [Kinematics::default(), Kinematics::default()];
            kinematics[0].update(&source, &motion.sample(0.1 * i as f64));
            kinematics[1].update(&source, &same.sample(0.1 * i as f64));
            for (a, b) in kinematics[0].world_frames().iter().zip(kinematics[1].world_frames()) {
                assert!((a.origin - b.origin).norm() < 1e-14 && (a.rotation - b.rotation).amax() < 1e-14);
            }
        }
    }

    #[test]
    fn faults_are_reported_together() {
        let source = plain();
        let (mut map, mut rest) = (BoneMap::default(), SkeletonState::at_rest(&source));
        map.set(HumanBone::Head, Some(99));
        rest.q[0] = f64::NAN;
        let figure = Humanoid { skeleton: &source, rest: &rest, bones: &map };
        let options = RetargetOptions { scale: Some(-1.0), ..RetargetOptions::default() };
        assert_eq!(Retarget::build(&figure, &figure, &options).unwrap_err().faults.len(), 7);
    }
}
