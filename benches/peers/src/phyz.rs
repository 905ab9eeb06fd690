//! phyz: the articulated-body algorithm, then semi-implicit Euler and forward kinematics, by its own `Simulator`.
//!
//! It has no joint of two axes, so a hinge on a body without mass takes the first. Its dampers are implicit, its springs explicit.

use crate::peer::{GRAVITY, Peer};
use crate::tree::{CENTER, INERTIA, LinkJoint, MASS, Tree};
use phyz::{
    Joint, JointType, Mat3, Model, ModelBuilder, Simulator, SpatialInertia, SpatialTransform, State, Vec3,
};
use sinew_math::Isometry;

/// A tree as a model of phyz.
pub struct Phyz {
    simulator: Simulator,
    model: Model,
    state: State,
    /// The first hinge in `q` and `v`, which have the same length here.
    first_hinge: usize,
}

impl Peer for Phyz {
    fn of(tree: &Tree, h: f64) -> Phyz {
        let mut builder = ModelBuilder::new().gravity(Vec3::new(0.0, GRAVITY, 0.0)).dt(h);
        let full =
            SpatialInertia::new(MASS, vector(CENTER), Mat3::diagonal(Vec3::new(INERTIA, INERTIA, INERTIA)));
        let none = SpatialInertia::new(0.0, Vec3::zeros(), Mat3::zero());
        let (mut count, mut first_hinge) = (0, 0);
        // the body of every link
        let mut bodies: Vec<i32> = Vec::new();
        for link in &tree.links {
            let mut parent = link.parent.map_or(-1, |parent| bodies[parent]);
            let mut place = transform(&link.parent_from_joint);
            let axis = match link.joint {
                LinkJoint::Free => None,
                LinkJoint::Hinge(axis) => Some(axis),
                LinkJoint::TwoHinges(first, second) => {
                    builder = builder.add_body("", parent, hinge(place, vector(first), tree), none);
                    (parent, place) = (count, SpatialTransform::identity());
                    count += 1;
                    Some(second)
                }
            };
            let joint = match axis {
                Some(axis) => hinge(place, vector(axis), tree),
                None => {
                    first_hinge = 6;
                    Joint::free(place)
                }
            };
            builder = builder.add_body("", parent, joint, full);
            bodies.push(count);
            count += 1;
        }
        let model = builder.build();
        let state = model.default_state();
        Phyz { simulator: Simulator::new(), model, state, first_hinge }
    }

    fn bodies(&self) -> usize {
        self.model.nbodies()
    }

    fn dof(&self) -> usize {
        self.model.nv
    }

    fn step(&mut self) {
        self.simulator.step(&self.model, &mut self.state);
    }

    fn angles(&self) -> Vec<f64> {
        self.state.q.as_slice()[self.first_hinge..].to_vec()
    }

    fn rates(&self) -> Vec<f64> {
        self.state.v.as_slice()[self.first_hinge..].to_vec()
    }
}

fn hinge(place: SpatialTransform, axis: Vec3, tree: &Tree) -> Joint {
    Joint {
        joint_type: JointType::Revolute,
        parent_to_joint: place,
        axis,
        stiffness: tree.stiffness,
        spring_ref: tree.rest,
        damping: tree.damping,
        ..Joint::default()
    }
}

fn vector(v: sinew_math::Vec3) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}

/// phyz turns coordinates of the parent into those of the joint.
fn transform(parent_from_joint: &Isometry) -> SpatialTransform {
    let m = parent_from_joint.rotation.to_rotation_matrix().transpose();
    let m = m.matrix();
    let row = |i: usize| [m[(i, 0)], m[(i, 1)], m[(i, 2)]];
    let ([a, b, c], [d, e, f], [g, h, i]) = (row(0), row(1), row(2));
    SpatialTransform::new(Mat3::new(a, b, c, d, e, f, g, h, i), vector(parent_from_joint.translation.vector))
}
