//! A motion of a whole skeleton: its joint coordinates at evenly spaced times, and the curve between them.

use crate::curve::{Interpolation, KeyShape, KeyValue, Piece, Sample};
use crate::fit::{self, Aim};
use crate::keyframes::{Beyond, neighbour, wrapped};
use crate::part_value::{PartPlace, bone_ids, places_of, rotation_of, vector_of};
use core::fmt;
use core::ops::Range;
use sinew_math::Isometry;
use sinew_skeleton::{Part, Skeleton, SkeletonState};

/// Joint coordinates in frames at an even rate, sampled at any time by a chosen interpolation.
#[derive(Clone, Debug, PartialEq)]
pub struct SkeletonMotion {
    frame_seconds: f64,
    q_count: usize,
    v_count: usize,
    places: Vec<PartPlace>,
    frames: Vec<f64>,
    /// How values between frames are found.
    pub interpolation: Interpolation,
    /// What holds before the first frame and after the last.
    pub beyond: Beyond,
}

/// A motion that a skeleton cannot have: all that is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionError {
    /// Everything that was found, one sentence each.
    pub faults: Vec<String>,
}

impl fmt::Display for MotionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.faults.join("\n"))
    }
}

impl core::error::Error for MotionError {}

impl SkeletonMotion {
    /// A motion from frames of joint coordinates, one after the other, each of [`Skeleton::q_count`] numbers as in
    /// [`SkeletonState::q`]. Either all is well, or all faults are reported together.
    pub fn build(
        skeleton: &Skeleton,
        frame_seconds: f64,
        frames: Vec<f64>,
    ) -> Result<SkeletonMotion, MotionError> {
        SkeletonMotion::from_frames(skeleton, frame_seconds, frames, |_| false)
    }

    /// [`SkeletonMotion::build`] for frames that were a motion's before: quaternions that are of length 1 up to round-off keep every bit.
    pub fn restored(
        skeleton: &Skeleton,
        frame_seconds: f64,
        frames: Vec<f64>,
    ) -> Result<SkeletonMotion, MotionError> {
        let is_unit = |q: &[f64]| {
            let squared: f64 = q.iter().map(|x| x * x).sum();
            (squared - 1.0).abs() <= 8.0 * f64::EPSILON
        };
        SkeletonMotion::from_frames(skeleton, frame_seconds, frames, is_unit)
    }

    /// Quaternions that `stays` accepts are left as they are, all others are brought to length 1.
    fn from_frames(
        skeleton: &Skeleton,
        frame_seconds: f64,
        mut frames: Vec<f64>,
        stays: impl Fn(&[f64]) -> bool,
    ) -> Result<SkeletonMotion, MotionError> {
        let places: Vec<PartPlace> = bone_ids(skeleton).flat_map(|bone| places_of(skeleton, bone)).collect();
        let q_count = skeleton.q_count();
        let faults = find_faults(skeleton, frame_seconds, &frames);
        if !faults.is_empty() {
            return Err(MotionError { faults });
        }
        let balls: Vec<_> =
            places.iter().filter(|place| place.part == Part::Ball).map(|place| place.q.clone()).collect();
        for frame in frames.chunks_exact_mut(q_count.max(1)) {
            for q in &balls {
                if !stays(&frame[q.clone()]) {
                    let unit = rotation_of(&frame[q.clone()]);
                    frame[q.clone()].copy_from_slice(unit.as_vector().as_slice());
                }
            }
        }
        Ok(SkeletonMotion {
            frame_seconds,
            q_count,
            v_count: skeleton.v_count(),
            places,
            frames,
            interpolation: Interpolation::default(),
            beyond: Beyond::default(),
        })
    }

    /// A motion from where every bone stands in the world in every frame, in the order of [`Skeleton::bones`]. Joints take the
    /// coordinates that come nearest; what a joint cannot do is left to the bones below it.
    pub fn from_bone_poses(
        skeleton: &Skeleton,
        frame_seconds: f64,
        frames: &[Vec<Isometry>],
    ) -> Result<SkeletonMotion, MotionError> {
        let count = skeleton.bones().len();
        let wrong = |(i, frame): (usize, &Vec<Isometry>)| {
            let numbers = |pose: &Isometry| pose.translation.vector.is_sound() && pose.rotation.is_sound();
            if frame.len() != count {
                Some(format!("frame {i} has {} bone poses, the skeleton {count} bones", frame.len()))
            } else {
                frame.iter().position(|pose| !numbers(pose)).map(|bone| {
                    format!("frame {i}: the pose of bone '{}' is not finite", skeleton.bones()[bone].name)
                })
            }
        };
        let faults: Vec<String> = frames.iter().enumerate().filter_map(wrong).collect();
        if !faults.is_empty() {
            return Err(MotionError { faults });
        }
        let mut state = SkeletonState::at_rest(skeleton);
        let mut q = Vec::with_capacity(frames.len() * skeleton.q_count());
        for world_from_bone in frames {
            fit::pose(skeleton, &mut state, |bone| Some(Aim::Pose(world_from_bone[bone.index()])));
            q.extend_from_slice(&state.q);
        }
        SkeletonMotion::build(skeleton, frame_seconds, q)
    }

    /// The same motion with another interpolation.
    pub fn with(mut self, interpolation: Interpolation, beyond: Beyond) -> SkeletonMotion {
        (self.interpolation, self.beyond) = (interpolation, beyond);
        self
    }

    /// Some of the frames, as a motion that begins with the first of them: to leave out a pose for calibration before the motion
    /// proper, or to cut a loop.
    ///
    /// # Errors
    /// If the range is empty or ends beyond the last frame.
    pub fn cut(&self, frames: Range<usize>) -> Result<SkeletonMotion, MotionError> {
        let count = self.frame_count();
        if frames.is_empty() || frames.end > count {
            let fault =
                format!("frames {frames:?} hold none, or not all of them are among the {count} there are");
            return Err(MotionError { faults: vec![fault] });
        }
        let kept = self.frames[frames.start * self.q_count..frames.end * self.q_count].to_vec();
        Ok(self.with_frames(kept))
    }

    /// Where the parts of joints stand in a frame.
    pub(crate) fn places(&self) -> &[PartPlace] {
        &self.places
    }

    /// The same with other frames, as many numbers each.
    pub(crate) fn with_frames(&self, frames: Vec<f64>) -> SkeletonMotion {
        SkeletonMotion { frames, places: self.places.clone(), ..*self }
    }

    /// How many frames there are: one at least.
    pub fn frame_count(&self) -> usize {
        // a skeleton without coordinates does not move, however many frames it has
        self.frames.len().checked_div(self.q_count).unwrap_or(1)
    }

    /// Time from frame to frame (s).
    pub fn frame_seconds(&self) -> f64 {
        self.frame_seconds
    }

    /// Time from the first frame to the last (s).
    pub fn seconds(&self) -> f64 {
        self.frame_seconds * (self.frame_count() - 1) as f64
    }

    /// The joint coordinates of a frame.
    ///
    /// # Panics
    /// If there is no such frame.
    pub fn frame(&self, i: usize) -> &[f64] {
        &self.frames[i * self.q_count..(i + 1) * self.q_count]
    }

    /// Whether the motion is one of a skeleton with these joints.
    pub fn fits(&self, skeleton: &Skeleton) -> bool {
        let mut places = bone_ids(skeleton).flat_map(|bone| places_of(skeleton, bone));
        self.places.iter().all(|own| places.next().as_ref() == Some(own)) && places.next().is_none()
    }

    /// Coordinates and velocities at a time (s) after the first frame, with the accelerations of all degrees of freedom
    /// (rad/s², m/s²); arrays are brought to length.
    pub fn sample_into(&self, time: f64, state: &mut SkeletonState, acceleration: &mut Vec<f64>) {
        state.q.resize(self.q_count, 0.0);
        state.v.resize(self.v_count, 0.0);
        acceleration.resize(self.v_count, 0.0);
        let at = self.locate(time);
        for place in &self.places {
            let (q, v) = (&mut state.q[place.q.clone()], &mut state.v[place.v.clone()]);
            let a = &mut acceleration[place.v.clone()];
            match place.part {
                Part::Turn(_) | Part::Slide(_) => {
                    let sample = self.sample_value(&at, |frame| frame[place.q.start]);
                    (q[0], v[0], a[0]) = (sample.value, sample.rate, sample.acceleration);
                }
                Part::Shift => {
                    let sample = self.sample_value(&at, |frame| vector_of(&frame[place.q.clone()]));
                    q.copy_from_slice(sample.value.as_slice());
                    v.copy_from_slice(sample.rate.as_slice());
                    a.copy_from_slice(sample.acceleration.as_slice());
                }
                Part::Ball => {
                    let sample = self.sample_value(&at, |frame| rotation_of(&frame[place.q.clone()]));
                    q.copy_from_slice(sample.value.as_vector().as_slice());
                    v.copy_from_slice(sample.rate.as_slice());
                    a.copy_from_slice(sample.acceleration.as_slice());
                }
            }
        }
    }

    /// Coordinates and velocities at a time (s) after the first frame: what a simulation of the motion starts from.
    pub fn sample(&self, time: f64) -> SkeletonState {
        let mut state = SkeletonState::default();
        self.sample_into(time, &mut state, &mut Vec::new());
        state
    }

    fn locate(&self, time: f64) -> Place {
        let (count, seconds) = (self.frame_count(), self.seconds());
        let time = match self.beyond {
            Beyond::Hold if time > seconds => return Place::At(count - 1),
            Beyond::Hold => time,
            Beyond::Loop => wrapped(time, 0.0, seconds),
        };
        if !(time >= 0.0 && count > 1) {
            return Place::At(0);
        }
        let frames = (time / self.frame_seconds).min((count - 1) as f64);
        if self.interpolation == Interpolation::Step {
            // a time that is a frame's but for round-off is that frame's
            return Place::At(((frames + 1e-9).floor() as usize).min(count - 1));
        }
        let i = (frames.floor() as usize).min(count - 2);
        Place::Between(i, (frames - i as f64) * self.frame_seconds)
    }

    fn sample_value<T: KeyValue>(&self, at: &Place, value: impl Fn(&[f64]) -> T) -> Sample<T> {
        let value = |i: usize| value(self.frame(i));
        let (i, t) = match *at {
            Place::At(i) => return Sample::still(value(i)),
            Place::Between(i, t) => (i, t),
        };
        let gap = |offset| {
            let k = neighbour(i, offset, self.frame_count() - 1, self.beyond);
            value(k).gap(&value(k + 1))
        };
        let gap = match self.interpolation {
            Interpolation::Linear | Interpolation::Step => [T::Rate::default(), gap(0), T::Rate::default()],
            _ => [gap(-1), gap(0), gap(1)],
        };
        let piece =
            Piece { start: value(i), gap, span: [self.frame_seconds; 5], shape: [KeyShape::default(); 2] };
        piece.sample(self.interpolation, t)
    }
}

/// Where a time falls among frames.
enum Place {
    /// Held at a frame.
    At(usize),
    /// So many seconds after a frame that has another after it.
    Between(usize, f64),
}

fn find_faults(skeleton: &Skeleton, frame_seconds: f64, frames: &[f64]) -> Vec<String> {
    let (mut faults, q_count) = (Vec::new(), skeleton.q_count());
    if !(frame_seconds.is_finite() && frame_seconds > 0.0) {
        faults.push(format!("a frame lasts {frame_seconds} s: give a finite time above 0"));
    }
    if q_count > 0 && frames.is_empty() {
        faults.push("there are no frames: give one at least".to_string());
    }
    let over = frames.len().checked_rem(q_count).unwrap_or(frames.len());
    if over != 0 {
        faults.push(format!(
            "{} numbers are no whole frames: the skeleton has {q_count} coordinates, {over} are left over",
            frames.len()
        ));
    }
    let mut state = SkeletonState::at_rest(skeleton);
    for (i, frame) in frames.chunks_exact(q_count.max(1)).enumerate().filter(|_| q_count > 0) {
        state.q.copy_from_slice(frame);
        if let Err(error) = state.check(skeleton) {
            faults.push(format!("frame {i}: {error}"));
        }
    }
    faults
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::keyframes::{Key, Keyframes};
    use sinew_math::{Rotation, Vec3, turn};
    use sinew_skeleton::{
        BoneDesc, BoneId, JointDesc, JointKind, Kinematics, MassDesc, MassProperties, Parent, SkeletonDesc,
    };

    pub(crate) fn limb() -> Skeleton {
        let kinds = [
            JointKind::Free,
            JointKind::Ball,
            JointKind::Revolute(Vec3::x()),
            JointKind::Universal(Vec3::x(), Vec3::z()),
        ];
        let bone = |(i, kind): (usize, JointKind)| BoneDesc {
            name: format!("bone {i}"),
            parent: if i == 0 { Parent::World } else { Parent::Index(i - 1) },
            parent_from_joint: Isometry::from_parts(
                Vec3::new(0.1, 0.4, -0.2).into(),
                turn::exp(&Vec3::new(0.2, -0.1, 0.1 * i as f64)),
            ),
            joint: JointDesc::of(kind),
            mass: MassDesc::Given(MassProperties {
                mass: 1.0,
                center: Vec3::new(0.0, 0.2, 0.0),
                tensor: sinew_math::Mat3::identity() * 0.1,
            }),
        };
        Skeleton::build(&SkeletonDesc { bones: kinds.into_iter().enumerate().map(bone).collect() }).unwrap()
    }

    pub(crate) fn wave(skeleton: &Skeleton, frames: usize) -> Vec<f64> {
        let mut q = Vec::new();
        for i in 0..frames {
            let mut state = SkeletonState::at_rest(skeleton);
            for (dof, v) in state.v.iter_mut().enumerate() {
                *v = 0.8 * sinew_math::real::sin(0.3 * i as f64 + dof as f64);
            }
            state.move_along_velocity(skeleton, 1.0);
            q.extend(state.q);
        }
        q
    }

    #[test]
    fn a_motion_is_the_keyframes_of_each_part() {
        let skeleton = limb();
        let frames = wave(&skeleton, 9);
        let q_count = skeleton.q_count();
        for interpolation in [Interpolation::Linear, Interpolation::KochanekBartels, Interpolation::BSpline] {
            let motion = SkeletonMotion::build(&skeleton, 0.125, frames.clone())
                .unwrap()
                .with(interpolation, Beyond::Loop);
            assert!(motion.fits(&skeleton));
            let ball: Vec<Key<Rotation>> = (0..9)
                .map(|i| Key::at(0.125 * i as f64, rotation_of(&frames[i * q_count + 7..i * q_count + 11])))
                .collect();
            let ball = Keyframes::build(ball, interpolation, Beyond::Loop).unwrap();
            for t in [0.0, 0.06, 0.5, 0.7, 0.99, 1.4, -0.3] {
                let (state, key) = (motion.sample(t), ball.sample(t));
                // the same formulas on times that differ by round-off
                assert!(rotation_of(&state.q[7..11]).gap(&key.value).norm() < 1e-13);
                assert!((vector_of(&state.v[6..9]) - key.rate).norm() < 1e-12);
            }
        }
    }

    /// Poses → coordinates → poses. Alternation over the parts of a joint ends at round-off where the pose is one it can take.
    #[test]
    fn coordinates_are_found_again_from_bone_poses() {
        let skeleton = limb();
        let motion = SkeletonMotion::build(&skeleton, 0.1, wave(&skeleton, 5)).unwrap();
        let mut kinematics = Kinematics::default();
        let poses: Vec<Vec<Isometry>> = (0..5)
            .map(|i| {
                kinematics.update(&skeleton, &motion.sample(0.1 * i as f64));
                (0..4).map(|bone| kinematics.world_from_bone(BoneId(bone))).collect()
            })
            .collect();
        let again = SkeletonMotion::from_bone_poses(&skeleton, 0.1, &poses).unwrap();
        for i in 0..5 {
            kinematics.update(&skeleton, &again.sample(0.1 * i as f64));
            for (bone, pose) in poses[i].iter().enumerate() {
                let found = kinematics.world_from_bone(BoneId(bone as u32));
                assert!((found.translation.vector - pose.translation.vector).norm() < 1e-12);
                assert!(found.rotation.gap(&pose.rotation).norm() < 1e-12, "frame {i} bone {bone}");
            }
        }
    }

    #[test]
    fn a_step_is_taken_at_the_time_of_its_frame() {
        let skeleton = limb();
        let motion = SkeletonMotion::build(&skeleton, 0.1, wave(&skeleton, 12)).unwrap();
        let motion = motion.with(Interpolation::Step, Beyond::Hold);
        // 0.7/0.1 is below 7
        for i in 0..12 {
            let state = motion.sample(i as f64 / 10.0);
            // quaternions are brought to unit length once more
            assert!(
                state.q.iter().zip(motion.frame(i)).all(|(a, b)| (a - b).abs() < 4.0 * f64::EPSILON),
                "{i}"
            );
        }
    }

    #[test]
    fn a_cut_motion_begins_with_its_first_frame() {
        let skeleton = limb();
        let motion = SkeletonMotion::build(&skeleton, 0.1, wave(&skeleton, 6)).unwrap();
        let cut = motion.cut(2..5).unwrap();
        assert_eq!((cut.frame_count(), cut.frame(0), cut.frame(2)), (3, motion.frame(2), motion.frame(4)));
        assert!(
            motion.cut(2..7).is_err()
                && motion.cut(3..3).is_err()
                && motion.cut(usize::MAX - 1..usize::MAX).is_err()
        );
    }

    #[test]
    fn faults_are_told_together() {
        let skeleton = limb();
        let mut frames = wave(&skeleton, 3);
        frames[4] = f64::NAN;
        frames.push(1.0);
        let error = SkeletonMotion::build(&skeleton, 0.0, frames).unwrap_err();
        assert_eq!(error.faults.len(), 3, "{error}");
        assert!(SkeletonMotion::build(&skeleton, 0.1, vec![]).is_err());
        assert!(SkeletonMotion::from_bone_poses(&skeleton, 0.1, &[vec![]]).is_err());
    }
}
