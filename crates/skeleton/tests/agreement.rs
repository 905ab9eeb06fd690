//! Agreement of two methods: the recursions and the dense mass matrix, forward and inverse dynamics, Jacobians and their
//! transposes.
//!
//! The reference uses no spatial vectors. It visits the primitives of all joints in the world frame, writes the velocity of each
//! centre of mass and the angular velocity of each bone as sums over degrees of freedom, differentiates these sums in rotating
//! frames, and assembles the Newton-Euler equations:
//!
//! ```text
//! M = Σ m J_vᵀ J_v + J_wᵀ I J_w + A,   b = Σ J_vᵀ (m (J̇_v q̇ − g) − f) + J_wᵀ (I J̇_w q̇ + w × I w − t)
//! ```

mod common;

use common::{Random, random_drives};
use sinew_math::nalgebra::{DMatrix, DVector};
use sinew_math::spatial::Wrench;
use sinew_math::{Isometry, Mat3, Rotation, Vec3, nalgebra::Quaternion, nalgebra::Unit, so3};
use sinew_skeleton::*;

/// One degree of freedom in the world: a rotation about an axis through a point, or a translation along an axis.
#[derive(Clone)]
struct JointAxis {
    dof: usize,
    is_rotation: bool,
    axis: Vec3,
    axis_rate: Vec3,
    point: Vec3,
    point_rate: Vec3,
}

/// A moving frame: pose, angular velocity and velocity of its origin in the world.
#[derive(Clone)]
struct MovingFrame {
    pose: Isometry,
    w: Vec3,
    v: Vec3,
    axes: Vec<JointAxis>,
}

impl MovingFrame {
    fn world() -> MovingFrame {
        MovingFrame { pose: Isometry::identity(), w: Vec3::zeros(), v: Vec3::zeros(), axes: Vec::new() }
    }

    fn rigid(&mut self, step: &Isometry) {
        self.v += self.w.cross(&(self.pose.rotation * step.translation.vector));
        self.pose *= step;
    }

    fn rotate(&mut self, dof: usize, axis: Vec3, q: f64, rate: f64) {
        let axis_w = self.pose.rotation * axis;
        self.push(dof, true, axis_w, self.w);
        self.w += axis_w * rate;
        self.pose.rotation *= so3::exp(&(axis * q));
    }

    fn translate(&mut self, dof: usize, axis: Vec3, q: f64, rate: f64) {
        self.rigid(&Isometry::translation(axis.x * q, axis.y * q, axis.z * q));
        let axis_w = self.pose.rotation * axis;
        self.push(dof, false, axis_w, self.w);
        self.v += axis_w * rate;
    }

    /// The axes of a ball joint are those of the frame after it.
    fn ball(&mut self, dof: usize, rotation: Rotation, rate: Vec3) {
        self.pose.rotation *= rotation;
        self.w += self.pose.rotation * rate;
        for k in 0..3 {
            self.push(dof + k, true, self.pose.rotation * Vec3::ith(k, 1.0), self.w);
        }
    }

    fn push(&mut self, dof: usize, is_rotation: bool, axis: Vec3, carried_by: Vec3) {
        let axis_rate = carried_by.cross(&axis);
        let (point, point_rate) = (self.pose.translation.vector, self.v);
        self.axes.push(JointAxis { dof, is_rotation, axis, axis_rate, point, point_rate });
    }
}

struct Dense {
    mass: DMatrix<f64>,
    bias: DVector<f64>,
}

fn dense(skeleton: &Skeleton, state: &SkeletonState, gravity: Vec3, wrenches: &[Wrench]) -> Dense {
    let n = skeleton.v_count();
    let mut all: Vec<MovingFrame> = Vec::new();
    let mut out = Dense { mass: DMatrix::zeros(n, n), bias: DVector::zeros(n) };
    for (i, bone) in skeleton.bones().iter().enumerate() {
        // the frame after its joint, primitive by primitive
        let mut frame = bone.parent.map_or_else(MovingFrame::world, |p| all[p.index()].clone());
        frame.rigid(&bone.parent_from_joint.isometry());
        let (mut q, mut v) = (bone.joint.q_offset, bone.joint.v_offset);
        for part in skeleton.parts(&bone.joint) {
            let (x, u) = (&state.q[q..], &state.v[v..]);
            match part {
                JointPrimitive::Revolute(a) => frame.rotate(v, *a, x[0], u[0]),
                JointPrimitive::Prismatic(a) => frame.translate(v, *a, x[0], u[0]),
                JointPrimitive::Translation => {
                    // all three translate in the frame before any of them
                    frame.rigid(&Isometry::translation(x[0], x[1], x[2]));
                    (0..3).for_each(|k| frame.translate(v + k, Vec3::ith(k, 1.0), 0.0, 0.0));
                    frame.v += frame.pose.rotation * Vec3::new(u[0], u[1], u[2]);
                }
                JointPrimitive::Ball => {
                    let rotation = Unit::new_normalize(Quaternion::new(x[3], x[0], x[1], x[2]));
                    frame.ball(v, rotation, Vec3::new(u[0], u[1], u[2]));
                }
            }
            q += part.q_count();
            v += part.v_count();
        }

        // its contribution to the equations of motion
        add_bone(bone, &frame, state, gravity, wrenches.get(i).copied().unwrap_or_default(), &mut out);
        all.push(frame);
    }
    add_passive(skeleton, state, &mut out);
    out
}

fn add_bone(
    bone: &Bone,
    frame: &MovingFrame,
    state: &SkeletonState,
    gravity: Vec3,
    wrench: Wrench,
    out: &mut Dense,
) {
    // inertia and centre of mass in the world
    let r: Mat3 = frame.pose.rotation.to_rotation_matrix().into_inner();
    let inertia = r * bone.mass.tensor * r.transpose();
    let arm = r * bone.mass.center;
    let center = frame.pose.translation.vector + arm;
    let center_rate = frame.v + frame.w.cross(&arm);

    // columns of both Jacobians, and J̇ q̇ of both
    let (mut j, mut v_bias, mut w_bias) = (Vec::new(), Vec3::zeros(), Vec3::zeros());
    for joint_axis in &frame.axes {
        let rate = state.v[joint_axis.dof];
        if joint_axis.is_rotation {
            let reach = center - joint_axis.point;
            j.push((joint_axis.dof, joint_axis.axis.cross(&reach), joint_axis.axis));
            v_bias += (joint_axis.axis_rate.cross(&reach)
                + joint_axis.axis.cross(&(center_rate - joint_axis.point_rate)))
                * rate;
            w_bias += joint_axis.axis_rate * rate;
        } else {
            j.push((joint_axis.dof, joint_axis.axis, Vec3::zeros()));
            v_bias += joint_axis.axis_rate * rate;
        }
    }

    // Newton-Euler equations projected on the Jacobians
    let force = r * wrench.force;
    let torque = r * wrench.torque - arm.cross(&force);
    let push = bone.mass.mass * (v_bias - gravity) - force;
    let twist = inertia * w_bias + frame.w.cross(&(inertia * frame.w)) - torque;
    for (a, va, wa) in &j {
        out.bias[*a] += va.dot(&push) + wa.dot(&twist);
        for (b, vb, wb) in &j {
            out.mass[(*a, *b)] += bone.mass.mass * va.dot(vb) + wa.dot(&(inertia * wb));
        }
    }
}

/// Springs act on the chart; for a ball joint ω·∂E = dE/dt by a fourth-order difference.
fn add_passive(skeleton: &Skeleton, state: &SkeletonState, out: &mut Dense) {
    for (i, bone) in skeleton.bones().iter().enumerate() {
        let id = BoneId(i as u32);
        for dof in bone.joint.v() {
            let desc = &skeleton.dofs()[dof];
            let energy = |step: f64| {
                let mut moved = state.clone();
                moved.v.fill(0.0);
                moved.v[dof] = step;
                moved.move_along_velocity(skeleton, 1.0);
                let x = moved.chart_of(skeleton, id);
                let spring = |(x, k): (&f64, usize)| {
                    0.5 * skeleton.dofs()[k].stiffness
                        * (x - skeleton.dofs()[k].rest)
                        * (x - skeleton.dofs()[k].rest)
                };
                x.iter().zip(bone.joint.v()).map(spring).sum::<f64>()
            };
            let h = 1e-3;
            let derivative =
                (8.0 * (energy(h) - energy(-h)) - (energy(2.0 * h) - energy(-2.0 * h))) / (12.0 * h);
            out.bias[dof] += derivative + desc.damping * state.v[dof];
            out.mass[(dof, dof)] += desc.armature;
        }
    }
}

/// Both sides are sums of a few hundred products of order ten with a round-off of 10⁻¹³; the equations amplify that by the
/// condition number of the mass matrix, some thousands. The derivatives of springs add the fourth-order error h⁴ of their
/// difference, 10⁻¹².
#[test]
fn recursions_agree_with_the_dense_mass_matrix() {
    let mut worst: f64 = 0.0;
    for seed in 0..200 {
        // a random tree, state, drives and loads
        let mut random = Random(seed);
        let count = 1 + random.below(12);
        let Ok(skeleton) = Skeleton::build(&random.tree(count)) else { panic!("seed {seed} does not build") };
        let state = random.state(&skeleton);
        let drives = random_drives(&mut random, &skeleton);
        let gravity = random.vector() * 10.0;
        let wrenches: Vec<Wrench> =
            (0..count).map(|_| Wrench::new(random.vector() * 3.0, random.vector() * 5.0)).collect();

        // hybrid dynamics
        let mut kinematics = Kinematics::default();
        kinematics.update(&skeleton, &state);
        let mut dynamics = Dynamics::default();
        let loads = Loads { gravity, wrenches: &wrenches, passive_step: 0.0 };
        dynamics.solve(&skeleton, &kinematics, &state, &drives, &loads).unwrap();

        // M q̈ + b = τ must hold in every row, whatever was prescribed and whatever was computed
        let Dense { mass, bias } = dense(&skeleton, &state, gravity, &wrenches);
        let a = DVector::from_column_slice(&dynamics.acceleration);
        let tau = DVector::from_column_slice(&dynamics.torque);
        let residual = &mass * &a + &bias - &tau;
        let size = 1.0 + (&mass * &a).amax().max(bias.amax()).max(tau.amax());
        if !residual.is_empty() {
            worst = worst.max(residual.amax() / size);
        }
        assert!(residual.is_empty() || residual.amax() < 1e-9 * size, "seed {seed}: {residual}");

        // prescribed values are unchanged; computed ones agree with the dense solve
        let given: Vec<bool> = (0..count)
            .flat_map(|i| {
                let id = BoneId(i as u32);
                let motion = matches!(drives.get(&skeleton, id), JointDrive::Motion(_));
                skeleton.bone(id).joint.v().map(move |_| motion)
            })
            .collect();
        let free: Vec<usize> = (0..given.len()).filter(|&k| !given[k]).collect();
        let m_vv = mass.select_rows(&free).select_columns(&free);
        let right = DVector::from_iterator(
            free.len(),
            free.iter().map(|&k| {
                let known: f64 = (0..given.len()).filter(|&j| given[j]).map(|j| mass[(k, j)] * a[j]).sum();
                tau[k] - bias[k] - known
            }),
        );
        if !free.is_empty() {
            let found = m_vv.cholesky().expect("a mass matrix is positive definite").solve(&right);
            for (k, &dof) in free.iter().enumerate() {
                assert!((found[k] - a[dof]).abs() < 1e-9 * (1.0 + found.amax()), "seed {seed} dof {dof}");
            }
        }
    }
    assert!(worst < 1e-11, "{worst:.1e}");
}

/// Round-off of two recursions, amplified by the condition number of the mass matrix.
#[test]
fn inverse_dynamics_inverts_forward_dynamics() {
    for seed in 1000..1100 {
        let mut random = Random(seed);
        let skeleton = Skeleton::build(&random.tree(10)).unwrap();
        let state = random.state(&skeleton);
        let mut drives = Drives::limp(&skeleton);
        let torque: Vec<f64> = (0..skeleton.v_count()).map(|_| random.number()).collect();
        for (i, bone) in skeleton.bones().iter().enumerate() {
            drives.set(&skeleton, BoneId(i as u32), JointDrive::Torque(&torque[bone.joint.v()])).unwrap();
        }
        let mut kinematics = Kinematics::default();
        kinematics.update(&skeleton, &state);
        let loads = Loads { gravity: Vec3::new(0.0, -9.81, 0.0), wrenches: &[], passive_step: 1e-3 };
        let (mut forward, mut inverse) = (Dynamics::default(), Dynamics::default());
        forward.solve(&skeleton, &kinematics, &state, &drives, &loads).unwrap();
        for (i, bone) in skeleton.bones().iter().enumerate() {
            let motion = &forward.acceleration[bone.joint.v()];
            drives.set(&skeleton, BoneId(i as u32), JointDrive::Motion(motion)).unwrap();
        }
        inverse.solve(&skeleton, &kinematics, &state, &drives, &loads).unwrap();
        for (found, given) in inverse.torque.iter().zip(&torque) {
            assert!((found - given).abs() < 1e-9, "seed {seed}: {found} {given}");
        }
    }
}

/// ⟨f, J v⟩ = ⟨Jᵀ f, v⟩, and J v is the velocity of the point, and the derivative of its position.
#[test]
fn point_jacobians_map_velocities_and_their_transposes_forces() {
    for seed in 0..50 {
        let mut random = Random(seed);
        let skeleton = Skeleton::build(&random.tree(9)).unwrap();
        let state = random.state(&skeleton);
        let mut kinematics = Kinematics::default();
        kinematics.update(&skeleton, &state);
        let (id, point_in_bone, force) = (BoneId(random.below(9) as u32), random.vector(), random.vector());
        let point = kinematics.point(id, &point_in_bone);
        let velocity = kinematics.point_velocity(id, &point_in_bone);

        // J v and Jᵀ f
        let mut sum = Vec3::zeros();
        kinematics.for_each_column(&skeleton, id, &point, |dof, _, linear| sum += linear * state.v[dof]);
        assert!((sum - velocity).norm() < 1e-12);
        let mut torque = vec![0.0; skeleton.v_count()];
        kinematics.add_force(&skeleton, id, (&force, &point), &mut torque);
        let back: f64 = torque.iter().zip(&state.v).map(|(t, v)| t * v).sum();
        assert!((back - force.dot(&velocity)).abs() < 1e-12);

        // against the derivative of the position
        let position = |h: f64| {
            let mut moved = state.clone();
            moved.move_along_velocity(&skeleton, h);
            let mut kinematics = Kinematics::default();
            kinematics.update(&skeleton, &moved);
            kinematics.point(id, &point_in_bone)
        };
        // central difference: error h² times third derivatives of some hundreds
        let derivative = (position(1e-5) - position(-1e-5)) / 2e-5;
        assert!((derivative - velocity).norm() < 1e-6, "seed {seed}");
    }
}

/// The acceleration of a point is the derivative of its velocity along the computed motion.
#[test]
fn point_accelerations_are_derivatives_of_point_velocities() {
    for seed in 0..30 {
        let mut random = Random(seed);
        let skeleton = Skeleton::build(&random.tree(6)).unwrap();
        let state = random.state(&skeleton);
        let mut kinematics = Kinematics::default();
        kinematics.update(&skeleton, &state);
        let mut dynamics = Dynamics::default();
        let loads = Loads { gravity: Vec3::new(0.0, 0.0, -9.81), ..Loads::default() };
        dynamics.solve(&skeleton, &kinematics, &state, &Drives::limp(&skeleton), &loads).unwrap();
        let (id, p) = (BoneId(5), random.vector());
        let found = dynamics.point_acceleration(&kinematics, &loads, id, &p);
        let velocity = |h: f64| {
            let mut moved = state.clone();
            moved.move_along_velocity(&skeleton, h);
            moved.v.iter_mut().zip(&dynamics.acceleration).for_each(|(v, a)| *v += h * a);
            let mut kinematics = Kinematics::default();
            kinematics.update(&skeleton, &moved);
            kinematics.point_velocity(id, &p)
        };
        let derivative = (velocity(1e-5) - velocity(-1e-5)) / 2e-5;
        assert!(
            (derivative - found).norm() < 1e-6 * (1.0 + found.norm()),
            "seed {seed}: {derivative} {found}"
        );
    }
}

/// Inertia added to bones is a force −J⁺ V̇: with that force among the wrenches, and nothing added, the same accelerations follow. Both solve the same equations; what differs is round-off,
/// amplified by the condition number of the mass matrix as above.
#[test]
fn added_inertia_is_a_force_against_the_acceleration() {
    for seed in 0..50 {
        let mut random = Random(seed);
        let count = 1 + random.below(8);
        let Ok(skeleton) = Skeleton::build(&random.tree(count)) else { panic!("seed {seed} does not build") };
        let state = random.state(&skeleton);
        let drives = random_drives(&mut random, &skeleton);
        let gravity = random.vector() * 10.0;
        let mut kinematics = Kinematics::default();
        kinematics.update(&skeleton, &state);

        // with added particles
        let mut added = vec![sinew_math::spatial::RigidInertia::default(); count];
        for own in &mut added {
            own.add_particle(0.7, &random.vector());
            own.add_particle(2.0, &random.vector());
        }
        let mut dynamics = Dynamics::default();
        dynamics.added_inertia.clone_from(&added);
        let loads = Loads { gravity, ..Loads::default() };
        dynamics.solve(&skeleton, &kinematics, &state, &drives, &loads).unwrap();

        // with their forces
        let force = |i: usize| -added[i].times(dynamics.bone_acceleration(BoneId(i as u32)));
        let wrenches: Vec<Wrench> = (0..count).map(force).collect();
        let mut plain = Dynamics::default();
        let loads = Loads { gravity, wrenches: &wrenches, passive_step: 0.0 };
        plain.solve(&skeleton, &kinematics, &state, &drives, &loads).unwrap();
        for (a, b) in dynamics.acceleration.iter().zip(&plain.acceleration) {
            assert!((a - b).abs() < 1e-7 * (1.0 + a.abs().max(b.abs())), "seed {seed}: {a} {b}");
        }
    }
}
