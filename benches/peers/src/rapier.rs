//! rapier: a multibody in a world without colliders, by its own `PhysicsWorld`, in double precision.
//!
//! A joint of two axes is unwritten there (`todo!`), so a hinge on a body without mass takes the first. Springs and dampers are
//! implicit. One solver iteration per step instead of four, since each of them is a step of its own for a multibody.

use crate::peer::{GRAVITY, Peer};
use crate::tree::{CENTER, INERTIA, LinkJoint, MASS, Tree};
use rapier3d_f64::prelude::{
    GenericJoint, GenericJointBuilder, JointAxesMask, MassProperties, Multibody, MultibodyJointHandle,
    PhysicsWorld, Pose, RigidBodyBuilder, RigidBodyHandle, Rotation, Vector,
};
use sinew_math::Isometry;

/// Where the turn about x stands among the six motions of a joint.
const TURN_X: usize = 3;

/// A tree as a multibody of rapier.
pub struct Rapier {
    world: PhysicsWorld,
    hinges: Vec<MultibodyJointHandle>,
}

impl Peer for Rapier {
    fn of(tree: &Tree, h: f64) -> Rapier {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::new(0.0, GRAVITY, 0.0);
        world.integration_parameters.dt = h;
        world.integration_parameters.num_solver_iterations = 1;
        let ground = world.bodies.insert(RigidBodyBuilder::fixed());
        let mut rapier = Rapier { world, hinges: Vec::new() };
        // the body of every link
        let mut bodies: Vec<RigidBodyHandle> = Vec::new();
        for link in &tree.links {
            let parent = link.parent.map_or(ground, |parent| bodies[parent]);
            let place = pose(&link.parent_from_joint);
            bodies.push(match link.joint {
                LinkJoint::Free => rapier.insert_body(MASS, INERTIA),
                LinkJoint::Hinge(axis) => {
                    let body = rapier.insert_body(MASS, INERTIA);
                    rapier.insert_hinge(parent, body, hinge(place, vector(axis)))
                }
                LinkJoint::TwoHinges(first, second) => {
                    let between = rapier.insert_body(0.0, 0.0);
                    rapier.insert_hinge(parent, between, hinge(place, vector(first)));
                    let body = rapier.insert_body(MASS, INERTIA);
                    rapier.insert_hinge(between, body, hinge(Pose::IDENTITY, vector(second)))
                }
            });
        }
        rapier.set_passive(tree);
        rapier
    }

    fn bodies(&self) -> usize {
        // without the ground
        self.world.bodies.len() - 1
    }

    fn dof(&self) -> usize {
        self.multibody().ndofs()
    }

    fn step(&mut self) {
        self.world.step();
    }

    fn angles(&self) -> Vec<f64> {
        let angle = |hinge: &MultibodyJointHandle| {
            let (multibody, link) = self.world.multibody_joints.get(*hinge)?;
            Some(multibody.link(link)?.joint.coords()[TURN_X])
        };
        self.hinges.iter().filter_map(angle).collect()
    }

    fn rates(&self) -> Vec<f64> {
        let rate = |hinge: &MultibodyJointHandle| {
            let (multibody, link) = self.world.multibody_joints.get(*hinge)?;
            Some(multibody.joint_velocity(multibody.link(link)?)[0])
        };
        self.hinges.iter().filter_map(rate).collect()
    }
}

impl Rapier {
    fn insert_body(&mut self, mass: f64, inertia: f64) -> RigidBodyHandle {
        let properties = MassProperties::new(vector(CENTER), mass, Vector::splat(inertia));
        let body = RigidBodyBuilder::dynamic().additional_mass_properties(properties).can_sleep(false);
        self.world.bodies.insert(body)
    }

    fn insert_hinge(
        &mut self,
        parent: RigidBodyHandle,
        body: RigidBodyHandle,
        joint: GenericJoint,
    ) -> RigidBodyHandle {
        let handle = self.world.multibody_joints.insert(parent, body, joint, true);
        self.hinges.push(handle.expect("a tree"));
        body
    }

    /// Springs and dampers of the hinges; nothing else is damped.
    fn set_passive(&mut self, tree: &Tree) {
        for hinge in &self.hinges {
            let Some((multibody, link)) = self.world.multibody_joints.get_mut(*hinge) else { continue };
            let free = multibody.ndofs() - self.hinges.len();
            let damping = multibody.damping_mut();
            damping.fill(tree.damping);
            damping.rows_mut(0, free).fill(0.0);
            if let Some(link) = multibody.link_mut(link) {
                link.joint.set_spring(TURN_X, tree.stiffness, tree.rest);
            }
        }
    }

    fn multibody(&self) -> &Multibody {
        self.world.multibody_joints.multibodies().next().expect("one multibody")
    }
}

/// A hinge turns about x in rapier: x is laid along the axis on both sides.
fn hinge(place: Pose, axis: Vector) -> GenericJoint {
    let axis_from_x = Pose::from_parts(Vector::ZERO, Rotation::from_rotation_arc(Vector::X, axis));
    GenericJointBuilder::new(JointAxesMask::LOCKED_REVOLUTE_AXES)
        .local_frame1(place * axis_from_x)
        .local_frame2(axis_from_x)
        .build()
}

fn vector(v: sinew_math::Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn pose(isometry: &Isometry) -> Pose {
    let [x, y, z, w] = isometry.rotation.coords.into();
    Pose::from_parts(vector(isometry.translation.vector), Rotation::from_xyzw(x, y, z, w))
}
