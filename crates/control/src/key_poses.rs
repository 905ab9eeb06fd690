//! Key poses of a skeleton at arbitrary times, resampled to evenly spaced frames.

use crate::keyframes::{Extrapolation, Key, KeyError, Keyframes};
use crate::part_slot::{bone_ids, rotation_of, slots_of, vector_of};
use crate::skeleton_motion::{MotionError, SkeletonMotion};
use crate::spline::{Interpolation, KeyValue};
use sinew_skeleton::{JointPrimitive, Skeleton, SkeletonState};

/// Upper bound on the coordinates of a resampled motion: 1 GB, hours of any character.
const MAX_NUMBERS: f64 = 1.25e8;

impl SkeletonMotion {
    /// Builds a motion from key poses, each with the coordinates of [`SkeletonState::q`]: samples the spline of `interpolation`, with
    /// the keys' tension, continuity and bias, every `frame_seconds` (s) from the first key on. Between frames the motion is a
    /// Catmull-Rom spline, which differs from the given one by O(h³), h the frame time, where that is smooth.
    ///
    /// # Errors
    /// If keys are out of order or not finite, a pose does not fit the skeleton, or there would be too many frames.
    pub fn from_key_poses(
        skeleton: &Skeleton,
        frame_seconds: f64,
        keys: &[Key<Vec<f64>>],
        interpolation: Interpolation,
    ) -> Result<SkeletonMotion, MotionError> {
        // check the times, the poses and the number of frames
        let times: Vec<Key<f64>> =
            keys.iter().map(|key| Key { value: 0.0, time: key.time, shape: key.shape }).collect();
        let mut faults = Keyframes::build(times, interpolation, Extrapolation::Hold)
            .err()
            .map_or_else(Vec::new, |e| e.faults);
        for (i, key) in keys.iter().enumerate() {
            let state = SkeletonState { q: key.value.clone(), v: vec![0.0; skeleton.v_count()] };
            faults.extend(state.check(skeleton).err().map(|error| format!("key {}: {error}", i + 1)));
        }
        let seconds = keys.last().map_or(0.0, |key| key.time) - keys.first().map_or(0.0, |key| key.time);
        let numbers = (seconds / frame_seconds + 1.0) * skeleton.q_count() as f64;
        if !(frame_seconds > 0.0 && numbers < MAX_NUMBERS) {
            faults.push(format!(
                "frames of {frame_seconds} s over {seconds} s are too many: give a longer frame time, above 0"
            ));
        }
        if !faults.is_empty() {
            return Err(MotionError { faults });
        }

        // the last frame is at the last key or after it, where the curve holds its value
        let count = (seconds / frame_seconds - 1e-9).ceil().max(0.0) as usize + 1;
        let times: Vec<f64> = (0..count).map(|i| keys[0].time + frame_seconds * i as f64).collect();

        // sample one spline per part of each joint
        let mut frames = vec![0.0; count * skeleton.q_count()];
        for slot in bone_ids(skeleton).flat_map(|bone| slots_of(skeleton, bone)) {
            let mut write = |i: usize, value: &[f64]| {
                let start = i * skeleton.q_count();
                frames[start + slot.q.start..start + slot.q.end].copy_from_slice(value);
            };
            let own = |q: &[f64]| q[slot.q.clone()].to_vec();
            match slot.part {
                JointPrimitive::Revolute(_) | JointPrimitive::Prismatic(_) => {
                    let curve = curve_of(keys, interpolation, |q| own(q)[0])?;
                    times.iter().enumerate().for_each(|(i, t)| write(i, &[curve.value(*t)]));
                }
                JointPrimitive::Translation => {
                    let curve = curve_of(keys, interpolation, |q| vector_of(&own(q)))?;
                    times.iter().enumerate().for_each(|(i, t)| write(i, curve.value(*t).as_slice()));
                }
                JointPrimitive::Ball => {
                    let curve = curve_of(keys, interpolation, |q| rotation_of(&own(q)))?;
                    times
                        .iter()
                        .enumerate()
                        .for_each(|(i, t)| write(i, curve.value(*t).as_vector().as_slice()));
                }
            }
        }
        SkeletonMotion::build(skeleton, frame_seconds, frames)
    }
}

fn curve_of<T: KeyValue>(
    keys: &[Key<Vec<f64>>],
    interpolation: Interpolation,
    value: impl Fn(&[f64]) -> T,
) -> Result<Keyframes<T>, MotionError> {
    let keys =
        keys.iter().map(|key| Key { time: key.time, value: value(&key.value), shape: key.shape }).collect();
    Keyframes::build(keys, interpolation, Extrapolation::Hold)
        .map_err(|KeyError { faults }| MotionError { faults })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton_motion::tests::{limb, wave};

    #[test]
    fn frames_lie_on_the_spline_of_each_joint() {
        let skeleton = limb();
        let (poses, q_count) = (wave(&skeleton, 3), skeleton.q_count());
        let keys: Vec<_> = [1.0, 1.5, 2.25]
            .iter()
            .zip(poses.chunks(q_count))
            .map(|(t, q)| Key::at(*t, q.to_vec()))
            .collect();
        let motion =
            SkeletonMotion::from_key_poses(&skeleton, 0.125, &keys, Interpolation::KochanekBartels).unwrap();
        assert_eq!(motion.frame_count(), 11);
        // frames 0, 4 and 10 are at the keys and match them, quaternions to the round-off of their products
        for (frame, pose) in [0, 4, 10].into_iter().zip(poses.chunks(q_count)) {
            assert!(motion.frame(frame).iter().zip(pose).all(|(a, b)| (a - b).abs() < 1e-14));
        }
        let hinge = keys.iter().map(|key| Key::at(key.time, key.value[11])).collect();
        let hinge = Keyframes::build(hinge, Interpolation::KochanekBartels, Extrapolation::Hold).unwrap();
        assert!((motion.frame(7)[11] - hinge.value(1.875)).abs() < 1e-14);
    }

    #[test]
    fn faults_are_reported_together() {
        let skeleton = limb();
        let keys = [Key::at(1.0, vec![]), Key::at(1.0, vec![f64::NAN; skeleton.q_count()])];
        let error = SkeletonMotion::from_key_poses(&skeleton, 0.0, &keys, Interpolation::Linear).unwrap_err();
        assert_eq!(error.faults.len(), 4, "{error}");
        let keys = wave(&skeleton, 2);
        let keys: Vec<_> =
            keys.chunks(skeleton.q_count()).zip([0.0, 1e9]).map(|(q, t)| Key::at(t, q.to_vec())).collect();
        assert!(SkeletonMotion::from_key_poses(&skeleton, 1e-3, &keys, Interpolation::Linear).is_err());
        assert!(SkeletonMotion::from_key_poses(&skeleton, 1e-3, &[], Interpolation::Linear).is_err());
    }
}
