//! Forward kinematics: poses, velocities and velocity-product accelerations of all bones (the first recursion of hybrid
//! dynamics).
//!
//! ```text
//! T_λi = function of q_i
//! V_i  = Ad(T_λi⁻¹) V_λ + S_i q̇_i                                          [KimPollard2011, table I]
//! η_i  = ad(V_i) S_i q̇_i + Ṡ_i q̇_i
//! ```
//!
//! A joint is a sequence of primitives, and the same recursion runs through it: with W_k the velocity after primitive k and u_k
//! its own contribution, W_k = Ad W_(k−1) + u_k and (Ṡ q̇)_k = Ad (Ṡ q̇)_(k−1) + ad(W_k) u_k, since the columns of each primitive
//! are constant. Velocities are in body frames unless a name says world.

use crate::joint::JointPrimitive;
use crate::state::SkeletonState;
use crate::{BoneId, Skeleton, chart};
use sinew_math::spatial::{Frame, Twist, Wrench};
use sinew_math::{Isometry, Mat3, Vec3, so3};

/// Poses and velocities of all bones, filled from a state by [`Kinematics::update`].
#[derive(Clone, Debug, Default)]
pub struct Kinematics {
    parent_from_bone: Vec<Frame>,
    world_from_bone: Vec<Frame>,
    velocity: Vec<Twist>,
    bias: Vec<Twist>,
    columns: Vec<Twist>,
}

/// The relative motion of a joint.
struct JointMotion {
    /// T
    parent_from_bone: Frame,
    /// S q̇
    velocity: Twist,
    /// Ṡ q̇
    bias: Twist,
}

impl Kinematics {
    /// Computes poses, velocities and joint columns of a state.
    ///
    /// # Panics
    /// If the lengths of the state do not match the skeleton; see [`SkeletonState::check`].
    pub fn update(&mut self, skeleton: &Skeleton, state: &SkeletonState) {
        // arrays over bones and degrees of freedom
        let count = skeleton.bones().len();
        self.parent_from_bone.resize(count, Frame::default());
        self.world_from_bone.resize(count, Frame::default());
        self.velocity.resize(count, Twist::default());
        self.bias.resize(count, Twist::default());
        self.columns.resize(skeleton.v_count(), Twist::default());

        // parents come before children
        for (i, bone) in skeleton.bones().iter().enumerate() {
            let joint = &bone.joint;
            let motion = joint_motion(
                &bone.parent_from_joint,
                skeleton.parts(joint),
                &state.q[joint.q()],
                &state.v[joint.v()],
                &mut self.columns[joint.v()],
            );

            // composed with the motion of the parent
            let frame = motion.parent_from_bone;
            let mut velocity = motion.velocity;
            self.world_from_bone[i] = match bone.parent {
                Some(parent) => {
                    velocity += frame.twist_back(&self.velocity[parent.index()]);
                    self.world_from_bone[parent.index()].then(&frame)
                }
                None => frame,
            };
            self.parent_from_bone[i] = frame;
            self.velocity[i] = velocity;
            self.bias[i] = velocity.ad(&motion.velocity) + motion.bias;
        }
    }

    /// The pose of a bone in the world.
    pub fn world_from_bone(&self, bone: BoneId) -> Isometry {
        self.world_from_bone[bone.index()].isometry()
    }

    /// The poses of all bones in the world, as matrices, in the order of [`Skeleton::bones`].
    #[inline]
    pub fn world_frames(&self) -> &[Frame] {
        &self.world_from_bone
    }

    /// The poses of all bones in their parents, as matrices, in the order of [`Skeleton::bones`].
    #[inline]
    pub fn parent_from_bone(&self) -> &[Frame] {
        &self.parent_from_bone
    }

    /// V: velocities of all bones, each at the origin and in the axes of its own frame.
    #[inline]
    pub fn velocities(&self) -> &[Twist] {
        &self.velocity
    }

    /// η: velocity-product accelerations of all bones (for q̈ = 0), each in its own frame.
    #[inline]
    pub fn biases(&self) -> &[Twist] {
        &self.bias
    }

    /// S: the motion subspace, one column per degree of freedom, in the frame of the bone that it moves.
    #[inline]
    pub fn columns(&self) -> &[Twist] {
        &self.columns
    }

    /// A point of a bone, in the world (m).
    #[inline]
    pub fn point(&self, bone: BoneId, point_in_bone: &Vec3) -> Vec3 {
        self.world_from_bone[bone.index()].point(point_in_bone)
    }

    /// The velocity of a point of a bone, in the world (m/s).
    #[inline]
    pub fn point_velocity(&self, bone: BoneId, point_in_bone: &Vec3) -> Vec3 {
        self.world_from_bone[bone.index()].rotation * self.velocity[bone.index()].at(point_in_bone)
    }

    /// The wrench on a bone, in its frame, of a force (N) at a point of it, both in the world.
    #[inline]
    pub fn wrench_of_force(&self, bone: BoneId, force: &Vec3, point: &Vec3) -> Wrench {
        let frame = &self.world_from_bone[bone.index()];
        Wrench::of_force_at(frame.rotation.tr_mul(force), &frame.point_back(point))
    }

    /// The point Jacobian by columns: calls `each` with every degree of freedom that moves the bone, the angular velocity (rad/s)
    /// of the bone and the velocity (m/s) of the point for a unit rate of it, all in the world.
    pub fn for_each_column(
        &self,
        skeleton: &Skeleton,
        bone: BoneId,
        point: &Vec3,
        mut each: impl FnMut(usize, Vec3, Vec3),
    ) {
        let mut next = Some(bone);
        while let Some(bone) = next {
            let frame = &self.world_from_bone[bone.index()];
            let point_in_bone = frame.point_back(point);
            for dof in skeleton.bone(bone).joint.v() {
                let column = &self.columns[dof];
                each(dof, frame.rotation * column.angular, frame.rotation * column.at(&point_in_bone));
            }
            next = skeleton.bone(bone).parent;
        }
    }

    /// Adds Jᵀ f: the generalised force (N m or N) of a force (N, world) at a point (m, world) of a bone.
    pub fn add_force(
        &self,
        skeleton: &Skeleton,
        bone: BoneId,
        (force, point): (&Vec3, &Vec3),
        torque: &mut [f64],
    ) {
        let mut wrench = self.wrench_of_force(bone, force, point);
        let mut next = Some(bone);
        while let Some(bone) = next {
            for dof in skeleton.bone(bone).joint.v() {
                torque[dof] += self.columns[dof].dot(&wrench);
            }
            wrench = self.parent_from_bone[bone.index()].wrench(&wrench);
            next = skeleton.bone(bone).parent;
        }
    }
}

#[inline]
fn joint_motion(
    start: &Frame,
    parts: &[JointPrimitive],
    q: &[f64],
    v: &[f64],
    columns: &mut [Twist],
) -> JointMotion {
    let mut motion =
        JointMotion { parent_from_bone: *start, velocity: Twist::default(), bias: Twist::default() };
    let (mut q, mut done) = (q, 0);
    for part in parts {
        // the coordinates, velocities and columns of this primitive
        let (own_q, rest) = q.split_at(part.q_count());
        q = rest;
        let (before, own) = columns.split_at_mut(done);
        done += part.v_count();
        let v = &v[done - part.v_count()..done];

        // transform what came before, then add its own motion
        match part {
            JointPrimitive::Revolute(axis) => {
                motion.rotate(&so3::axis_angle(axis, own_q[0]), before);
                own[0] = Twist::new(*axis, Vec3::zeros());
                motion.add(own[0] * v[0]);
            }
            JointPrimitive::Prismatic(axis) => {
                motion.translate(&(axis * own_q[0]), before);
                own[0] = Twist::new(Vec3::zeros(), *axis);
                motion.add(own[0] * v[0]);
            }
            JointPrimitive::Translation => {
                motion.translate(&Vec3::new(own_q[0], own_q[1], own_q[2]), before);
                (0..3).for_each(|k| own[k] = Twist::new(Vec3::zeros(), Vec3::ith(k, 1.0)));
                motion.add(Twist::new(Vec3::zeros(), Vec3::new(v[0], v[1], v[2])));
            }
            JointPrimitive::Ball => {
                motion.rotate(&chart::rotation(own_q).to_rotation_matrix().into_inner(), before);
                (0..3).for_each(|k| own[k] = Twist::new(Vec3::ith(k, 1.0), Vec3::zeros()));
                motion.add(Twist::new(Vec3::new(v[0], v[1], v[2]), Vec3::zeros()));
            }
        }
    }
    motion
}

impl JointMotion {
    /// Transforms everything so far by a rotation.
    #[inline]
    fn rotate(&mut self, rotation: &Mat3, before: &mut [Twist]) {
        self.parent_from_bone.rotation *= rotation;
        if before.is_empty() {
            return;
        }
        let transform =
            |t: &mut Twist| *t = Twist::new(rotation.tr_mul(&t.angular), rotation.tr_mul(&t.linear));
        before.iter_mut().for_each(transform);
        transform(&mut self.velocity);
        transform(&mut self.bias);
    }

    /// Transforms everything so far by a translation.
    #[inline]
    fn translate(&mut self, by: &Vec3, before: &mut [Twist]) {
        self.parent_from_bone.origin += self.parent_from_bone.rotation * by;
        let transform = |t: &mut Twist| t.linear = t.at(by);
        before.iter_mut().for_each(transform);
        transform(&mut self.velocity);
        transform(&mut self.bias);
    }

    /// Adds the velocity of a primitive.
    #[inline]
    fn add(&mut self, own: Twist) {
        self.velocity += own;
        self.bias += self.velocity.ad(&own);
    }
}
