//! Trees that all libraries can be given.

use core::f64::consts::TAU;
use sinew_math::{Isometry, Vec3, so3};

/// Links, parents first.
pub struct Tree {
    /// What it is called in the table.
    pub name: &'static str,
    /// Its links.
    pub links: Vec<BoneCoupling>,
    /// Stiffness of the spring in every hinge (N m/rad).
    pub stiffness: f64,
    /// The angle at which that spring is at rest (rad); trees begin at 0.
    pub rest: f64,
    /// Damping of every hinge (N m s/rad).
    pub damping: f64,
}

/// A body and its joint.
pub struct BoneCoupling {
    /// Which link it hangs from; `None` for the world.
    pub parent: Option<usize>,
    /// Where the joint stands.
    pub parent_from_joint: Isometry,
    /// How it moves.
    pub joint: LinkJoint,
}

/// How a link moves against its parent.
#[derive(Clone, Copy)]
pub enum LinkJoint {
    /// Anyhow, without springs.
    Free,
    /// About an axis.
    Hinge(Vec3),
    /// About a first axis, then about a second one that the first turn carries along.
    TwoHinges(Vec3, Vec3),
}

/// Mass of every link (kg).
pub const MASS: f64 = 0.5;
/// Centre of mass in the frame of the link (m).
pub const CENTER: Vec3 = Vec3::new(0.1, 0.0, 0.0);
/// Moment of inertia about any axis through the centre of mass (kg m²).
pub const INERTIA: f64 = 2e-3;

impl Tree {
    /// A free body in the middle and five arms of three bones, of which the innermost turn both ways: 16 bones, 26 degrees of
    /// freedom.
    pub fn starfish() -> Tree {
        let middle = BoneCoupling { parent: None, parent_from_joint: Isometry::identity(), joint: LinkJoint::Free };
        let mut links = vec![middle];
        for arm in 0..5 {
            let around = so3::exp(&(Vec3::z() * (TAU / 5.0 * f64::from(arm))));
            let at = around * Vec3::new(0.1, 0.0, 0.02);
            links.push(BoneCoupling {
                parent: Some(0),
                parent_from_joint: Isometry::from_parts(at.into(), around),
                joint: LinkJoint::TwoHinges(Vec3::y(), Vec3::z()),
            });
            for _ in 0..2 {
                links.push(bent(Some(links.len() - 1), Vec3::z()));
            }
        }
        Tree { name: "starfish", links, stiffness: 1.0, rest: 0.3, damping: 0.05 }
    }

    /// A chain of hinges about two axes in turns, coiled so that gravity pulls at all of them.
    pub fn chain(count: usize) -> Tree {
        let axis = |i: usize| if i.is_multiple_of(2) { Vec3::z() } else { Vec3::y() };
        let links = (0..count).map(|i| bent(i.checked_sub(1), axis(i))).collect();
        Tree { name: "chain", links, stiffness: 1.0, rest: 0.3, damping: 0.05 }
    }

    /// The same with a torque of 0.1 N m in every hinge and no damping: springs so soft and so far from rest that it does not matter
    /// at which end of a step a library evaluates them (k h² is 1e-11 of a link's inertia).
    pub fn torqued(self) -> Tree {
        Tree { stiffness: 1e-6, rest: 1e5, damping: 0.0, ..self }
    }
}

/// A link of 0.2 m that leaves its parent at an angle.
fn bent(parent: Option<usize>, axis: Vec3) -> BoneCoupling {
    let rotation = so3::exp(&Vec3::new(0.3, 0.1, 0.2));
    let parent_from_joint = Isometry::from_parts(Vec3::new(0.2, 0.0, 0.0).into(), rotation);
    BoneCoupling { parent, parent_from_joint, joint: LinkJoint::Hinge(axis) }
}
