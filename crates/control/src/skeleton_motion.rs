//! Motion clip of a skeleton: joint coordinates in evenly spaced frames, with spline interpolation between them.

use crate::joint_fit::{self, BoneTarget};
use crate::keyframes::{Extrapolation, neighbour, wrapped};
use crate::motion_cut::{MotionCut, find_cuts, gap};
use crate::part_slot::{PartSlot, bone_ids, rotation_of, slots_of, vector_of};
use crate::path_follower::ON_PATH;
use crate::spline::{Interpolation, KeyShape, KeyValue, Sample, Segment};
use core::fmt;
use core::ops::Range;
use sinew_math::{Isometry, Vec3};
use sinew_skeleton::{JointPrimitive, Skeleton, SkeletonState};

/// Joint coordinates at a constant frame rate, sampled at any time by a chosen interpolation.
///
/// Interpolation stops at sudden cuts ([`SkeletonMotion::cuts`]): a joint goes on as it moved until the time of the frame that it jumps to.
#[derive(Clone, Debug, PartialEq)]
pub struct SkeletonMotion {
    frame_seconds: f64,
    q_count: usize,
    v_count: usize,
    slots: Vec<PartSlot>,
    frames: Vec<f64>,
    /// Jumps between frames, in the order of slots and intervals.
    cuts: Vec<MotionCut>,
    /// How values between frames are interpolated.
    pub interpolation: Interpolation,
    /// The values before the first frame and after the last.
    pub extrapolation: Extrapolation,
}

/// A motion that does not fit its skeleton, with all faults.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionError {
    /// All faults, one sentence each.
    pub faults: Vec<String>,
}

impl fmt::Display for MotionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.faults.join("\n"))
    }
}

impl core::error::Error for MotionError {}

impl SkeletonMotion {
    /// Builds a motion from consecutive frames of joint coordinates, each with [`Skeleton::q_count`] numbers as in
    /// [`SkeletonState::q`], `frame_seconds` (s) apart.
    ///
    /// # Errors
    /// All faults together: a frame time that is not above 0, incomplete frames, coordinates that are not finite.
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
        // check all frames
        let slots: Vec<PartSlot> = bone_ids(skeleton).flat_map(|bone| slots_of(skeleton, bone)).collect();
        let q_count = skeleton.q_count();
        let faults = find_faults(skeleton, frame_seconds, &frames);
        if !faults.is_empty() {
            return Err(MotionError { faults });
        }

        // normalise quaternions
        let balls: Vec<_> = slots
            .iter()
            .filter(|slot| slot.part == JointPrimitive::Ball)
            .map(|slot| slot.q.clone())
            .collect();
        for frame in frames.chunks_exact_mut(q_count.max(1)) {
            for q in &balls {
                if !stays(&frame[q.clone()]) {
                    let unit = rotation_of(&frame[q.clone()]);
                    frame[q.clone()].copy_from_slice(unit.as_vector().as_slice());
                }
            }
        }
        Ok(SkeletonMotion {
            cuts: find_cuts(skeleton, frame_seconds, &frames),
            frame_seconds,
            q_count,
            v_count: skeleton.v_count(),
            slots,
            frames,
            interpolation: Interpolation::default(),
            extrapolation: Extrapolation::default(),
        })
    }

    /// Builds a motion from the world poses of all bones in every frame, in the order of [`Skeleton::bones`], by inverse
    /// kinematics. Each joint takes the coordinates nearest to its bone's pose; its descendants compensate for the rest as far as
    /// their joints allow.
    pub fn from_bone_poses(
        skeleton: &Skeleton,
        frame_seconds: f64,
        frames: &[Vec<Isometry>],
    ) -> Result<SkeletonMotion, MotionError> {
        // check all poses
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

        // fit each frame, starting from the coordinates of the one before
        let mut state = SkeletonState::at_rest(skeleton);
        let mut q = Vec::with_capacity(frames.len() * skeleton.q_count());
        for world_from_bone in frames {
            joint_fit::pose(skeleton, &mut state, |bone| {
                Some(BoneTarget::Pose(world_from_bone[bone.index()]))
            });
            q.extend_from_slice(&state.q);
        }
        SkeletonMotion::build(skeleton, frame_seconds, q)
    }

    /// The same motion with another interpolation and extrapolation.
    pub fn with(mut self, interpolation: Interpolation, extrapolation: Extrapolation) -> SkeletonMotion {
        (self.interpolation, self.extrapolation) = (interpolation, extrapolation);
        self
    }

    /// Returns a range of frames as a motion of its own: to trim a calibration pose before the motion, or to cut out a loop.
    ///
    /// # Errors
    /// If the range is empty or ends beyond the last frame.
    pub fn cut(&self, frames: Range<usize>) -> Result<SkeletonMotion, MotionError> {
        let count = self.frame_count();
        if frames.is_empty() || frames.end > count {
            let fault = format!(
                "frames {frames:?} are not a part of this motion: give a range of at least one frame within 0..{count}"
            );
            return Err(MotionError { faults: vec![fault] });
        }
        let kept = self.frames[frames.start * self.q_count..frames.end * self.q_count].to_vec();
        let mut part = self.with_frames(kept);
        part.cuts.retain(|cut| frames.contains(&cut.interval) && cut.interval + 1 < frames.end);
        for cut in &mut part.cuts {
            cut.interval -= frames.start;
            cut.time = self.frame_seconds * (cut.interval + 1) as f64;
        }
        Ok(part)
    }

    /// Where joints jump between two frames, further than any body moves, in the order of joints.
    pub fn cuts(&self) -> &[MotionCut] {
        &self.cuts
    }

    /// What to tell about sudden cuts, if there are any: how many, and the first of the longest.
    pub fn cut_note(&self, skeleton: &Skeleton) -> Option<String> {
        let longest = self
            .cuts
            .iter()
            .max_by(|a, b| a.distance.total_cmp(&b.distance).then(b.time.total_cmp(&a.time)))?;
        let bone = &skeleton.bone(longest.bone).name;
        let others = match self.cuts.len() {
            1 => String::new(),
            count => format!(", and {} times more", count - 1),
        };
        Some(format!(
            "the motion jumps: bone '{bone}' by {:.2} m at {:.2} s{others}; flesh is carried along without a shock",
            longest.distance, longest.time
        ))
    }

    /// Whether a joint part jumps in the interval after a frame.
    pub(crate) fn is_cut(&self, slot: usize, interval: usize) -> bool {
        self.cuts.binary_search_by_key(&(slot, interval), |cut| (cut.slot, cut.interval)).is_ok()
    }

    /// Whether a joint part jumps where a loop starts again: its last frame is not its first.
    fn wraps_with_a_jump(&self, slot: &PartSlot) -> bool {
        self.extrapolation == Extrapolation::Loop
            && gap(slot, self.frame(self.frame_count() - 1), self.frame(0)) > ON_PATH
    }

    /// The index ranges of all joint parts in a frame.
    pub(crate) fn slots(&self) -> &[PartSlot] {
        &self.slots
    }

    /// The same motion, with its cuts, and with other frames of the same layout.
    pub(crate) fn with_frames(&self, frames: Vec<f64>) -> SkeletonMotion {
        SkeletonMotion { frames, slots: self.slots.clone(), cuts: self.cuts.clone(), ..*self }
    }

    /// Number of frames, at least one.
    pub fn frame_count(&self) -> usize {
        // a skeleton without coordinates has one frame without numbers
        self.frames.len().checked_div(self.q_count).unwrap_or(1)
    }

    /// Time between frames (s).
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

    /// Whether the motion has the joint layout of a skeleton.
    pub fn fits(&self, skeleton: &Skeleton) -> bool {
        let mut slots = bone_ids(skeleton).flat_map(|bone| slots_of(skeleton, bone));
        self.slots.iter().all(|own| slots.next().as_ref() == Some(own)) && slots.next().is_none()
    }

    /// Writes coordinates and velocities at a time (s) after the first frame, and the accelerations of all degrees of freedom
    /// (rad/s², m/s²). Resizes the arrays.
    pub fn sample_into(&self, time: f64, state: &mut SkeletonState, acceleration: &mut Vec<f64>) {
        state.q.resize(self.q_count, 0.0);
        state.v.resize(self.v_count, 0.0);
        acceleration.resize(self.v_count, 0.0);
        let at = self.locate(time);
        for (index, slot) in self.slots.iter().enumerate() {
            let at = self.beyond_cut(index, at);
            let (q, v) = (&mut state.q[slot.q.clone()], &mut state.v[slot.v.clone()]);
            let a = &mut acceleration[slot.v.clone()];
            match slot.part {
                JointPrimitive::Revolute(_) | JointPrimitive::Prismatic(_) => {
                    let sample = self.sample_value((index, at), |frame| frame[slot.q.start]);
                    (q[0], v[0], a[0]) = (sample.value, sample.rate, sample.acceleration);
                }
                JointPrimitive::Translation => {
                    let sample = self.sample_value((index, at), |frame| vector_of(&frame[slot.q.clone()]));
                    q.copy_from_slice(sample.value.as_slice());
                    v.copy_from_slice(sample.rate.as_slice());
                    a.copy_from_slice(sample.acceleration.as_slice());
                }
                JointPrimitive::Ball => {
                    let sample = self.sample_value((index, at), |frame| rotation_of(&frame[slot.q.clone()]));
                    q.copy_from_slice(sample.value.as_vector().as_slice());
                    v.copy_from_slice(sample.rate.as_slice());
                    a.copy_from_slice(sample.acceleration.as_slice());
                }
            }
        }
    }

    /// Returns coordinates and velocities at a time (s) after the first frame.
    pub fn sample(&self, time: f64) -> SkeletonState {
        let mut state = SkeletonState::default();
        self.sample_into(time, &mut state, &mut Vec::new());
        state
    }

    /// Takes a state of the motion at a time (s) across all jumps until a later time: joints that jump in between go where their motion after the last
    /// jump comes from. Returns whether any does.
    pub(crate) fn cross_cuts(&self, time: f64, end: f64, state: &mut SkeletonState) -> bool {
        let mut any = false;
        let count = self.frame_count();
        if count < 2 || (self.cuts.is_empty() && self.extrapolation == Extrapolation::Hold) {
            return any;
        }

        // the last jump of each joint in between
        let (first, last) = (self.intervals_before(time), self.intervals_before(end));
        let segments = (count - 1) as i64;
        let frame_at = |start: i64| match self.extrapolation {
            Extrapolation::Loop => start.rem_euclid(segments) as usize,
            Extrapolation::Hold => start as usize,
        };
        for (index, slot) in self.slots.iter().enumerate() {
            let jumps_to = |frame: usize| match frame {
                0 => self.wraps_with_a_jump(slot) || self.is_cut(index, count - 2),
                _ => self.is_cut(index, frame - 1),
            };
            let Some(start) = (first + 1..=last).rev().find(|start| jumps_to(frame_at(*start))) else {
                continue;
            };

            // backwards from the frame after the jump, at the speed with which the motion goes on from there
            let frame = frame_at(start);
            let (from, moves) = (self.frame(frame), frame + 1 < count && !self.is_cut(index, frame));
            let rate = if moves {
                let next = &self.frame(frame + 1)[slot.q.clone()];
                slot.part.difference(&from[slot.q.clone()], next) / self.frame_seconds
            } else {
                Vec3::zeros()
            };
            let by = rate * (time - start as f64 * self.frame_seconds);
            slot.part.integrate(&from[slot.q.clone()], &by, &mut state.q[slot.q.clone()]);
            state.v[slot.v.clone()].copy_from_slice(&rate.as_slice()[..slot.v.len()]);
            any = true;
        }
        any
    }

    /// How many intervals between frames have begun before a time (s), counted through all rounds of a loop.
    fn intervals_before(&self, time: f64) -> i64 {
        let segments = self.frame_count() as i64 - 1;
        let within = match self.locate(time) {
            FramePosition::At(i) => i,
            FramePosition::Between(i, t) => i + usize::from(t >= self.frame_end()),
        };
        match self.extrapolation {
            Extrapolation::Hold => within as i64,
            Extrapolation::Loop => {
                // at the seam the earlier round has not ended yet
                let within = within.min(segments.max(1) as usize - 1);
                // from the middle of the interval, where round-off does not matter
                let rounds = (time - (within as f64 + 0.5) * self.frame_seconds) / self.seconds();
                within as i64 + segments * rounds.round() as i64
            }
        }
    }

    /// The time into an interval (s) from which on it counts as the next: its end but for round-off.
    fn frame_end(&self) -> f64 {
        self.frame_seconds * (1.0 - 1e-9)
    }

    /// The position after a jump, if a joint part jumps there.
    fn beyond_cut(&self, slot: usize, at: FramePosition) -> FramePosition {
        match at {
            FramePosition::Between(i, t) if t >= self.frame_end() && self.is_cut(slot, i) => {
                match self.extrapolation {
                    _ if i + 2 < self.frame_count() => FramePosition::Between(i + 1, 0.0),
                    Extrapolation::Hold => FramePosition::At(i + 1),
                    // the next round is beyond it
                    Extrapolation::Loop => at,
                }
            }
            at => at,
        }
    }

    fn locate(&self, time: f64) -> FramePosition {
        let (count, seconds) = (self.frame_count(), self.seconds());
        let is_later = time > 0.5 * seconds;
        let time = match self.extrapolation {
            Extrapolation::Hold if time > seconds => return FramePosition::At(count - 1),
            Extrapolation::Hold => time,
            Extrapolation::Loop => wrapped(time, 0.0, seconds),
        };
        if !(time >= 0.0 && count > 1) {
            return FramePosition::At(0);
        }
        let frames = (time / self.frame_seconds).min((count - 1) as f64);
        // where rounds of a loop meet within round-off, the earlier one ends: a take of whole rounds ends with the last pose of the motion
        let is_seam = self.extrapolation == Extrapolation::Loop && is_later && frames <= 1e-9;
        let frames = if is_seam { (count - 1) as f64 } else { frames };
        if self.interpolation == Interpolation::Step {
            // a time within round-off of the next frame counts as that frame
            return FramePosition::At(((frames + 1e-9).floor() as usize).min(count - 1));
        }
        let i = (frames.floor() as usize).min(count - 2);
        FramePosition::Between(i, (frames - i as f64) * self.frame_seconds)
    }

    /// A joint part at a position among the frames.
    fn sample_value<T: KeyValue>(
        &self,
        (slot, at): (usize, FramePosition),
        value: impl Fn(&[f64]) -> T,
    ) -> Sample<T> {
        let value = |i: usize| value(self.frame(i));
        let (i, t) = match at {
            FramePosition::At(i) => return Sample::constant(value(i)),
            FramePosition::Between(i, t) => (i, t),
        };
        // none across a cut
        let gap = |offset| {
            let k = neighbour(i, offset, self.frame_count() - 1, self.extrapolation);
            (!self.is_cut(slot, k)).then(|| value(k).gap(&value(k + 1)))
        };
        let gap = match (self.interpolation, gap(0)) {
            // on as it moved before the jump
            (_, None) => [gap(-1).unwrap_or_default(); 3],
            (Interpolation::Linear | Interpolation::Step, Some(own)) => {
                [T::Rate::default(), own, T::Rate::default()]
            }
            (_, Some(own)) => [gap(-1).unwrap_or(own), own, gap(1).unwrap_or(own)],
        };
        let segment =
            Segment { start: value(i), gap, span: [self.frame_seconds; 5], shape: [KeyShape::default(); 2] };
        segment.sample(self.interpolation, t)
    }
}

/// The position of a time among the frames.
#[derive(Clone, Copy, Debug)]
enum FramePosition {
    /// At a frame, with zero velocity.
    At(usize),
    /// Between a frame and the next, with the time since the first of them (s).
    Between(usize, f64),
}

fn find_faults(skeleton: &Skeleton, frame_seconds: f64, frames: &[f64]) -> Vec<String> {
    let (mut faults, q_count) = (Vec::new(), skeleton.q_count());
    if !(frame_seconds.is_finite() && frame_seconds > 0.0) {
        faults.push(format!("the frame time is {frame_seconds} s: give a finite time above 0"));
    }
    if q_count > 0 && frames.is_empty() {
        faults.push("there are no frames: give at least one".to_string());
    }
    let over = frames.len().checked_rem(q_count).unwrap_or(frames.len());
    if over != 0 {
        faults.push(format!(
            "{} numbers are not a whole number of frames of {q_count} coordinates: {over} are left over",
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
    use sinew_math::{Rotation, Vec3, so3};
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
                so3::exp(&Vec3::new(0.2, -0.1, 0.1 * i as f64)),
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
    fn motion_equals_keyframes_of_each_joint_part() {
        let skeleton = limb();
        let frames = wave(&skeleton, 9);
        let q_count = skeleton.q_count();
        for interpolation in [Interpolation::Linear, Interpolation::KochanekBartels, Interpolation::BSpline] {
            let motion = SkeletonMotion::build(&skeleton, 0.125, frames.clone())
                .unwrap()
                .with(interpolation, Extrapolation::Loop);
            assert!(motion.fits(&skeleton));
            let ball: Vec<Key<Rotation>> = (0..9)
                .map(|i| Key::at(0.125 * i as f64, rotation_of(&frames[i * q_count + 7..i * q_count + 11])))
                .collect();
            let ball = Keyframes::build(ball, interpolation, Extrapolation::Loop).unwrap();
            for t in [0.0, 0.06, 0.5, 0.7, 0.99, 1.4, -0.3] {
                let (state, key) = (motion.sample(t), ball.sample(t));
                // the formulas are the same, the times differ by round-off
                assert!(rotation_of(&state.q[7..11]).gap(&key.value).norm() < 1e-13);
                assert!((vector_of(&state.v[6..9]) - key.rate).norm() < 1e-12);
            }
        }
    }

    /// A wave whose last frame is not its first: where its rounds meet, within round-off, the earlier one ends, and the jump is in what follows.
    #[test]
    fn the_seam_of_a_loop_belongs_to_the_earlier_round() {
        let skeleton = limb();
        let motion = SkeletonMotion::build(&skeleton, 0.125, wave(&skeleton, 9)).unwrap();
        let motion = motion.with(Interpolation::Linear, Extrapolation::Loop);
        let distance = |a: &SkeletonState, b: &SkeletonState| -> f64 {
            a.q.iter().zip(&b.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let [first, last] = [0, 8].map(|i| motion.frame(i).to_vec());
        let [first, last] = [first, last].map(|q| SkeletonState { q, v: vec![0.0; skeleton.v_count()] });
        assert!(distance(&first, &last) > 0.1);
        for round in [1.0, 2.0] {
            for round_off in [-1e-15, 0.0, 1e-15] {
                let seam = round * (1.0 + round_off);
                assert!(distance(&motion.sample(seam), &last) < 1e-9);
                let mut state = motion.sample(seam - 0.01);
                assert!(!motion.cross_cuts(seam - 0.01, seam, &mut state));
                assert!(motion.cross_cuts(seam, seam + 0.01, &mut state));
            }
        }
        assert!(distance(&motion.sample(0.0), &first) < 1e-15);
    }

    /// Poses → coordinates → poses. Coordinate descent converges to round-off for poses that the joint can reach.
    #[test]
    fn inverse_kinematics_recovers_bone_poses() {
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
    fn step_interpolation_switches_at_the_time_of_the_frame() {
        let skeleton = limb();
        let motion = SkeletonMotion::build(&skeleton, 0.1, wave(&skeleton, 12)).unwrap();
        let motion = motion.with(Interpolation::Step, Extrapolation::Hold);
        // in floating point 0.7/0.1 is below 7
        for i in 0..12 {
            let state = motion.sample(i as f64 / 10.0);
            // quaternions are normalised again
            assert!(
                state.q.iter().zip(motion.frame(i)).all(|(a, b)| (a - b).abs() < 4.0 * f64::EPSILON),
                "{i}"
            );
        }
    }

    #[test]
    fn cut_motion_starts_with_the_first_frame_of_the_range() {
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
    fn faults_are_reported_together() {
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
