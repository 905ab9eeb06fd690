//! Our own step: kinematics, hybrid dynamics, integration.

use crate::peer::{GRAVITY, Peer};
use crate::tree::{CENTER, INERTIA, BoneCoupling, LinkJoint, MASS, Tree};
use sinew_math::{Mat3, Vec3};
use sinew_skeleton::{
    BoneDesc, BoneId, DofDesc, Drives, Dynamics, JointDesc, JointKind, Kinematics, Loads, MassDesc,
    MassProperties, Parent, Skeleton, SkeletonDesc, SkeletonState,
};

/// A tree as a skeleton.
pub struct Sinew {
    h: f64,
    skeleton: Skeleton,
    drives: Drives,
    state: SkeletonState,
    kinematics: Kinematics,
    dynamics: Dynamics,
    /// Bones with hinges, in the order of the tree.
    hinged: Vec<BoneId>,
}

impl Peer for Sinew {
    fn of(tree: &Tree, h: f64) -> Sinew {
        let bones = tree.links.iter().enumerate().map(|(i, link)| bone(i, link, tree)).collect();
        let skeleton = Skeleton::build(&SkeletonDesc { bones }).expect("a sound tree");
        let hinged = |(i, link): (usize, &BoneCoupling)| match link.joint {
            LinkJoint::Free => None,
            LinkJoint::Hinge(_) | LinkJoint::TwoHinges(..) => skeleton.bone_of_desc(i),
        };
        Sinew {
            h,
            hinged: tree.links.iter().enumerate().filter_map(hinged).collect(),
            drives: Drives::limp(&skeleton),
            state: SkeletonState::at_rest(&skeleton),
            kinematics: Kinematics::default(),
            dynamics: Dynamics::default(),
            skeleton,
        }
    }

    fn bodies(&self) -> usize {
        self.skeleton.bones().len()
    }

    fn dof(&self) -> usize {
        self.skeleton.v_count()
    }

    fn step(&mut self) {
        let loads = Loads { gravity: Vec3::y() * GRAVITY, wrenches: &[], passive_step: self.h };
        self.kinematics.update(&self.skeleton, &self.state);
        self.dynamics
            .solve(&self.skeleton, &self.kinematics, &self.state, &self.drives, &loads)
            .expect("masses and finite forces");
        self.state.advance(&self.skeleton, &self.dynamics.acceleration, self.h);
    }

    fn angles(&self) -> Vec<f64> {
        self.hinged.iter().flat_map(|bone| self.state.q_of(&self.skeleton, *bone)).copied().collect()
    }

    fn rates(&self) -> Vec<f64> {
        self.hinged.iter().flat_map(|bone| self.state.v_of(&self.skeleton, *bone)).copied().collect()
    }
}

fn bone(i: usize, link: &BoneCoupling, tree: &Tree) -> BoneDesc {
    let tensor = Mat3::from_diagonal_element(INERTIA);
    let passive =
        DofDesc { stiffness: tree.stiffness, rest: tree.rest, damping: tree.damping, ..DofDesc::default() };
    BoneDesc {
        name: format!("bone {i}"),
        parent: link.parent.map_or(Parent::World, Parent::Index),
        parent_from_joint: link.parent_from_joint,
        joint: match link.joint {
            LinkJoint::Free => JointDesc::of(JointKind::Free),
            LinkJoint::Hinge(axis) => JointDesc::of(JointKind::Revolute(axis)).with(passive),
            LinkJoint::TwoHinges(a, b) => JointDesc::of(JointKind::Universal(a, b)).with(passive),
        },
        mass: MassDesc::Given(MassProperties { mass: MASS, center: CENTER, tensor }),
    }
}
