//! Articulated rigid bodies as unknowns of an implicit step: poses, inertia, wrenches and the Jacobian of the joints.
//!
//! Bones of all rigs are numbered consecutively from 1, 0 is the world, and the degrees of freedom of all rigs are concatenated. Twists and wrenches are about the origin of
//! the world, in its axes, so that those of a bone and its parent can be added.

use crate::substep::Substep;
use crate::{Control, Model};
use sinew_math::spatial::{Frame, RigidInertia, Twist, Wrench, cross_matrix};
use sinew_math::{Mat3, Vec3};
use sinew_skeleton::{
    BoneId, DriveKind, Drives, Feedback, JointStep, Kinematics, MassProperties, SkeletonState, StatePath,
};

/// Bones of all rigs at the current iterate and at the beginning of the step.
#[derive(Clone, Debug, Default)]
pub(super) struct Bones {
    /// Current poses of the bones.
    pub(super) frames: Vec<Frame>,
    /// For each degree of freedom the twist of its bone at unit rate: the columns of the joint Jacobian.
    pub(super) columns: Vec<Twist>,
    /// Poses at the beginning of the step.
    pub(super) start_frames: Vec<Frame>,
    /// Poses one step before that.
    pub(super) back_frames: Vec<Frame>,
    /// Â: the inertial prediction.
    pub(super) aims: Vec<Frame>,
    /// Parent of each bone, 0 for the world.
    pub(super) parents: Vec<u32>,
    /// The bone of each degree of freedom.
    pub(super) dof_bone: Vec<u32>,
    /// Index of the first degree of freedom of each rig, and the total count.
    pub(super) rig_dofs: Vec<usize>,
    /// Whether a degree of freedom is unknown; the others are prescribed.
    pub(super) is_sought: Vec<bool>,
    /// Prescribed torques, 0 for joints with prescribed motion.
    torque: Vec<f64>,
    /// Feedback of torque-driven joints of each rig towards a path, empty without any, and where the path has them at the end.
    feedback: Vec<Vec<Feedback>>,
    path_ends: Vec<SkeletonState>,
    /// Reference coordinates of joint damping.
    pub(super) starts: Vec<SkeletonState>,
    kinematics: Kinematics,
    path: StatePath,
    /// 1/h²
    inertia_rate: f64,
    h: f64,
}

impl Bones {
    /// Sets up a sub-step; returns the joint coordinates at its end, extrapolated at constant velocity for unknown joints and on their path for prescribed ones.
    pub(super) fn begin(
        &mut self,
        model: &Model,
        control: &Control,
        Substep { to: fraction, h, dt, .. }: Substep,
        starts: &[SkeletonState],
    ) -> Vec<SkeletonState> {
        self.prepare(model);
        self.h = h;
        self.inertia_rate = 1.0 / (h * h);
        self.starts = starts.to_vec();

        // drives, and joint coordinates at the end of the sub-step
        let mut ends = Vec::with_capacity(starts.len());
        self.feedback.resize(starts.len(), Vec::new());
        self.path_ends.clear();
        for (i, (rig, start)) in model.rigs().iter().zip(starts).enumerate() {
            let skeleton = &rig.skeleton;
            let control = control.rigs.get(i);
            let limp = Drives::limp(skeleton);
            let kinds = control.map_or(limp.kinds(), |control| &control.drives);
            let mut end = start.clone();
            end.move_along_velocity(skeleton, h);
            if let Some(control) = control {
                self.path.fit(skeleton, &control.from, &control.to, dt);
            }
            self.feedback[i].clear();
            self.feedback[i].extend(control.iter().flat_map(|control| &control.feedback));
            let mut path_end = start.clone();
            for (b, (bone, kind)) in skeleton.bones().iter().zip(kinds).enumerate() {
                let follows = *kind == DriveKind::Torque && !self.feedback[i].is_empty();
                if follows {
                    self.path.place(skeleton, BoneId(b as u32), (fraction, dt), &mut path_end);
                } else if let Some(own) = self.feedback[i].get_mut(bone.joint.v()) {
                    own.fill(Feedback::default());
                }
                for dof in bone.joint.v() {
                    self.is_sought[self.rig_dofs[i] + dof] = *kind == DriveKind::Torque;
                    let given = control.map_or(0.0, |control| control.torque[dof]);
                    self.torque[self.rig_dofs[i] + dof] =
                        if *kind == DriveKind::Torque { given } else { 0.0 };
                }
                if control.is_some() && *kind == DriveKind::Motion {
                    self.path.place(skeleton, BoneId(b as u32), (fraction, dt), &mut end);
                }
            }
            ends.push(end);
            self.path_ends.push(path_end);
        }

        // inertial prediction from the poses at the last two times
        self.start_frames = self.frames_of(model, starts);
        self.aim(model);
        ends
    }

    /// Takes into account that joints on a path end a single solve with the velocity v' of the path, not with the mean velocity of the step. What hangs on them then
    /// accelerates at (v' − v)/h:
    ///
    /// ```text
    /// q' − q − h w = h (v' − v),   w = (q' − q)/h − (v' − v)
    /// ```
    pub(super) fn aim_along_paths(&mut self, model: &Model, control: &Control, ends: &[SkeletonState]) {
        for (i, (rig, end)) in model.rigs().iter().zip(ends).enumerate() {
            let Some(control) = control.rigs.get(i) else { continue };
            let start = &mut self.starts[i];
            let mut way = vec![0.0; start.v.len()];
            end.difference_from(&rig.skeleton, start, &mut way);
            let bones = rig.skeleton.bones().iter().zip(&control.drives);
            for (bone, _) in bones.filter(|(_, kind)| **kind == DriveKind::Motion) {
                for dof in bone.joint.v() {
                    start.v[dof] = way[dof] / self.h - (end.v[dof] - start.v[dof]);
                }
            }
        }
        self.aim(model);
    }

    /// Finds where bones were a step before they began, and with it where they go if nothing pushes.
    fn aim(&mut self, model: &Model) {
        let h = self.h;
        let mut backs = self.starts.clone();
        for (rig, back) in model.rigs().iter().zip(&mut backs) {
            back.move_along_velocity(&rig.skeleton, -h);
        }
        self.back_frames = self.frames_of(model, &backs);
        self.aims.clear();
        let pairs = self.start_frames.iter().zip(&self.back_frames);
        self.aims.extend(pairs.map(|(start, back)| Frame {
            rotation: 2.0 * start.rotation - back.rotation,
            origin: 2.0 * start.origin - back.origin + h * h * model.gravity(),
        }));
    }

    /// Whether any joint is unknown.
    pub(super) fn any_sought(&self) -> bool {
        self.is_sought.iter().any(|sought| *sought)
    }

    fn prepare(&mut self, model: &Model) {
        self.parents = vec![0];
        self.dof_bone.clear();
        self.rig_dofs = vec![0];
        for rig in model.rigs() {
            for (b, bone) in rig.skeleton.bones().iter().enumerate() {
                self.parents.push(bone.parent.map_or(0, |parent| (rig.bones.start + parent.index()) as u32));
                self.dof_bone.extend(bone.joint.v().map(|_| (rig.bones.start + b) as u32));
            }
            self.rig_dofs.push(self.dof_bone.len());
        }
        self.is_sought.resize(self.dof_bone.len(), false);
        self.torque.resize(self.dof_bone.len(), 0.0);
    }

    /// Poses of all bones at the given joint coordinates, the world first.
    pub(super) fn frames_of(&mut self, model: &Model, states: &[SkeletonState]) -> Vec<Frame> {
        let mut frames = vec![Frame::default()];
        for (rig, state) in model.rigs().iter().zip(states) {
            self.kinematics.update(&rig.skeleton, state);
            frames.extend_from_slice(self.kinematics.world_frames());
        }
        frames
    }

    /// Moves the bones to the given joint coordinates and updates the joint Jacobian.
    pub(super) fn place(&mut self, model: &Model, states: &[SkeletonState]) {
        self.frames.clear();
        self.frames.push(Frame::default());
        self.columns.clear();
        for (rig, state) in model.rigs().iter().zip(states) {
            self.kinematics.update(&rig.skeleton, state);
            self.frames.extend_from_slice(self.kinematics.world_frames());
            for (bone, frame) in rig.skeleton.bones().iter().zip(self.kinematics.world_frames()) {
                for column in &self.kinematics.columns()[bone.joint.v()] {
                    let angular = frame.rotation * column.angular;
                    let linear = frame.rotation * column.linear - angular.cross(&frame.origin);
                    self.columns.push(Twist::new(angular, linear));
                }
            }
        }
    }

    /// Rates of change of all components of A at the given joint coordinates and velocities. Also moves the bones there.
    pub(super) fn rates(&mut self, model: &Model, states: &[SkeletonState]) -> Vec<Frame> {
        self.place(model, states);
        let speeds: Vec<f64> = states.iter().flat_map(|state| &state.v).copied().collect();
        let mut twists = Vec::new();
        self.twists(&speeds, &mut twists);
        let rate = |(twist, frame): (&Twist, &Frame)| Frame {
            rotation: cross_matrix(&twist.angular) * frame.rotation,
            origin: Bones::at(twist, &frame.origin),
        };
        twists.iter().zip(&self.frames).map(rate).collect()
    }

    /// ∂/∂A ½ ‖A'‖²_M as a wrench about the origin of the world: the momentum of a bone at a frame whose components change at the given rate.
    pub(super) fn momentum(mass: &MassProperties, frame: &Frame, rate: &Frame) -> Wrench {
        let first = mass.mass * mass.center;
        let over_rotation = rate.rotation * second_moments(mass) + rate.origin * first.transpose();
        let over_origin = rate.rotation * first + mass.mass * rate.origin;
        Wrench { torque: turning(frame, &over_rotation, &over_origin), force: over_origin }
    }

    /// Inertia and joint energies: returns their part of the potential (J), adds gradients with respect to bones as wrenches and with respect to joints, and the joint stiffness.
    pub(super) fn evaluate(
        &self,
        model: &Model,
        states: &[SkeletonState],
        wrenches: &mut [Wrench],
        joints: &mut [f64],
        stiffness: &mut [f64],
    ) -> f64 {
        let mut sum = 0.0;
        for (i, (rig, state)) in model.rigs().iter().zip(states).enumerate() {
            for (b, bone) in rig.skeleton.bones().iter().enumerate() {
                let place = rig.bones.start + b;
                let (frame, aim) = (&self.frames[place], &self.aims[place]);
                let mass = &bone.mass;
                let first = mass.mass * mass.center;
                let second = second_moments(mass);
                let (turned, moved) = (frame.rotation - aim.rotation, frame.origin - aim.origin);
                let gradient_rotation = (turned * second + moved * first.transpose()) * self.inertia_rate;
                let gradient_origin = (turned * first + mass.mass * moved) * self.inertia_rate;
                sum += 0.5 * (gradient_rotation.dot(&turned) + gradient_origin.dot(&moved));
                wrenches[place].torque += turning(frame, &gradient_rotation, &gradient_origin);
                wrenches[place].force += gradient_origin;
            }
            let dofs = self.rig_dofs[i]..self.rig_dofs[i + 1];
            sum += self.joint_step(i).evaluate(
                &rig.skeleton,
                state,
                &mut joints[dofs.clone()],
                &mut stiffness[dofs],
            );
        }
        sum
    }

    /// The joints of a rig in this step.
    fn joint_step(&self, rig: usize) -> JointStep<'_> {
        JointStep {
            start: &self.starts[rig],
            torque: &self.torque[self.rig_dofs[rig]..self.rig_dofs[rig + 1]],
            feedback: &self.feedback[rig],
            path: &self.path_ends[rig],
            h: self.h,
        }
    }

    /// Adds the feedback of a rig at the end of the step to torques (N m or N).
    pub(super) fn add_feedback(&self, model: &Model, rig: usize, end: &SkeletonState, torques: &mut [f64]) {
        self.joint_step(rig).add_feedback(&model.rigs()[rig].skeleton, end, torques);
    }

    /// Spatial inertias of all bones divided by h², about the origin of the world.
    pub(super) fn inertias(&self, model: &Model) -> Vec<RigidInertia> {
        let mut inertias = vec![RigidInertia::default()];
        for rig in model.rigs() {
            for (b, bone) in rig.skeleton.bones().iter().enumerate() {
                let frame = &self.frames[rig.bones.start + b];
                let center = frame.point(&bone.mass.center);
                let tensor = frame.rotation * bone.mass.tensor * frame.rotation.transpose();
                let rate = self.inertia_rate;
                inertias.push(RigidInertia::new(rate * bone.mass.mass, center, rate * tensor));
            }
        }
        inertias
    }

    /// Twists of all bones for the given joint rates.
    pub(super) fn twists(&self, rates: &[f64], twists: &mut Vec<Twist>) {
        twists.clear();
        twists.resize(self.parents.len(), Twist::default());
        let mut dof = 0;
        for bone in 1..self.parents.len() {
            let mut twist = twists[self.parents[bone] as usize];
            while self.dof_bone.get(dof) == Some(&(bone as u32)) {
                twist += self.columns[dof] * rates[dof];
                dof += 1;
            }
            twists[bone] = twist;
        }
    }

    /// Adds the generalised forces of wrenches on bones. The wrenches are accumulated towards the roots.
    pub(super) fn add_wrenches(&self, wrenches: &mut [Wrench], joints: &mut [f64]) {
        let mut dof = self.dof_bone.len();
        for bone in (1..self.parents.len()).rev() {
            let wrench = wrenches[bone];
            while dof > 0 && self.dof_bone[dof - 1] == bone as u32 {
                dof -= 1;
                joints[dof] += self.columns[dof].dot(&wrench);
            }
            let parent = &mut wrenches[self.parents[bone] as usize];
            parent.torque += wrench.torque;
            parent.force += wrench.force;
        }
    }

    /// Adds the joint-space inertia matrix Σ Sᵀ J S by the composite rigid body algorithm, row by row.
    pub(super) fn add_inertia_matrix(&self, mut inertias: Vec<RigidInertia>, matrix: &mut [f64]) {
        // composite inertias, from the leaves to the roots
        let n = self.dof_bone.len();
        for bone in (1..self.parents.len()).rev() {
            let own = inertias[bone];
            let parent = &mut inertias[self.parents[bone] as usize];
            parent.mass += own.mass;
            parent.first_moment += own.first_moment;
            parent.tensor += own.tensor;
        }

        // first degree of freedom of each bone
        let mut first_dof = vec![n; self.parents.len()];
        for (dof, bone) in self.dof_bone.iter().enumerate().rev() {
            first_dof[*bone as usize] = dof;
        }

        // entries of each degree of freedom with those of its ancestors
        for dof in 0..n {
            let bone = self.dof_bone[dof];
            let momentum = inertias[bone as usize].times(&self.columns[dof]);
            let mut next = bone;
            while next > 0 {
                let mut other = first_dof[next as usize];
                while other < n && self.dof_bone[other] == next {
                    if next != bone || other <= dof {
                        let value = self.columns[other].dot(&momentum);
                        matrix[dof * n + other] += value;
                        if other != dof {
                            matrix[other * n + dof] += value;
                        }
                    }
                    other += 1;
                }
                next = self.parents[next as usize];
            }
        }
    }

    /// The velocity of a twist at a point.
    #[inline(always)]
    pub(super) fn at(twist: &Twist, x: &Vec3) -> Vec3 {
        twist.linear + twist.angular.cross(x)
    }

    /// Joint coordinates after a displacement of the unknown joints along `rates`.
    pub(super) fn moved(
        &self,
        model: &Model,
        from: &[SkeletonState],
        rates: &[f64],
        fraction: f64,
        to: &mut Vec<SkeletonState>,
    ) {
        to.clear();
        to.extend_from_slice(from);
        for (i, (rig, to)) in model.rigs().iter().zip(to).enumerate() {
            for (dof, v) in to.v.iter_mut().enumerate() {
                let dof = self.rig_dofs[i] + dof;
                *v = if self.is_sought[dof] { fraction * rates[dof] } else { 0.0 };
            }
            to.move_along_velocity(&rig.skeleton, 1.0);
        }
    }
}

/// ∫ ρ x xᵀ about the origin of a bone's frame.
fn second_moments(mass: &MassProperties) -> Mat3 {
    Mat3::identity() * (0.5 * mass.tensor.trace()) - mass.tensor
        + mass.mass * mass.center * mass.center.transpose()
}

/// Moment about the origin of the world of gradients with respect to the components of a frame.
fn turning(frame: &Frame, over_rotation: &Mat3, over_origin: &Vec3) -> Vec3 {
    let columns = (0..3).map(|k| frame.rotation.column(k).cross(&over_rotation.column(k)));
    columns.fold(frame.origin.cross(over_origin), |sum, part| sum + part)
}
