//! Random skeletons of every joint kind from a seeded generator.

#![allow(dead_code, reason = "each test file uses its own part")]

use sinew_math::{Isometry, Mat3, Vec3, so3};
use sinew_skeleton::*;

/// Pseudo-random numbers between −1 and 1.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * 0.5 * (self.number() + 1.0)
    }
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.between(0.0, count as f64) as usize).min(count - 1)
    }
    pub(crate) fn vector(&mut self) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number())
    }
    pub(crate) fn pose(&mut self) -> Isometry {
        Isometry::from_parts((self.vector() * 0.5).into(), so3::exp(&(self.vector() * 2.0)))
    }
    pub(crate) fn kind(&mut self) -> JointKind {
        match self.below(10) {
            0 => JointKind::Fixed,
            1 => JointKind::Revolute(self.vector()),
            2 => JointKind::Prismatic(self.vector()),
            3 => JointKind::Cylindrical(self.vector()),
            4 => JointKind::Universal(Vec3::new(1.0, 0.2 * self.number(), 0.0), Vec3::new(0.0, 0.3, 1.0)),
            5 => JointKind::Ball,
            6 => JointKind::Planar(self.vector()),
            7 => JointKind::Free,
            8 => JointKind::Composite(vec![
                JointKind::Prismatic(self.vector()),
                JointKind::Ball,
                JointKind::Prismatic(self.vector()),
            ]),
            _ => JointKind::Composite(vec![
                JointKind::Revolute(Vec3::x()),
                JointKind::Prismatic(self.vector()),
                JointKind::Universal(Vec3::y(), Vec3::new(0.1, 0.0, 1.0)),
            ]),
        }
    }
    pub(crate) fn mass(&mut self) -> MassProperties {
        let mass = self.between(0.2, 3.0);
        let arm = Mat3::from_fn(|_, _| 0.3 * self.number()) + Mat3::identity() * 0.2;
        let second = arm * arm.transpose() * mass;
        let tensor = Mat3::identity() * second.trace() - second;
        MassProperties { mass, center: self.vector() * 0.3, tensor }
    }
    /// A tree of `count` bones of all kinds, some with springs, dampers and rotors.
    pub(crate) fn tree(&mut self, count: usize) -> SkeletonDesc {
        let mut bones = Vec::new();
        for i in 0..count {
            let parent =
                if i == 0 || self.below(8) == 0 { Parent::World } else { Parent::Index(self.below(i)) };
            let mut joint = JointDesc::of(self.kind());
            if self.below(3) == 0 {
                joint = joint.with(DofDesc {
                    rest: 0.3 * self.number(),
                    stiffness: self.between(0.0, 5.0),
                    damping: self.between(0.0, 0.5),
                    armature: self.between(0.0, 0.4),
                    ..DofDesc::default()
                });
            }
            let mass = MassDesc::Given(self.mass());
            bones.push(BoneDesc {
                name: format!("bone {i}"),
                parent,
                parent_from_joint: self.pose(),
                joint,
                mass,
            });
        }
        SkeletonDesc { bones }
    }
    pub(crate) fn state(&mut self, skeleton: &Skeleton) -> SkeletonState {
        let mut state = SkeletonState::at_rest(skeleton);
        state.v.iter_mut().for_each(|v| *v = self.number());
        state.move_along_velocity(skeleton, 1.0);
        state.v.iter_mut().for_each(|v| *v = 2.0 * self.number());
        state
    }
}

/// A bone whose joint is at a point of its parent (m).
pub(crate) fn bone(name: &str, parent: Parent, at: Vec3, kind: JointKind, mass: MassProperties) -> BoneDesc {
    BoneDesc {
        name: name.into(),
        parent,
        parent_from_joint: Isometry::translation(at.x, at.y, at.z),
        joint: JointDesc::of(kind),
        mass: MassDesc::Given(mass),
    }
}

/// A particle (kg) at a point (m).
pub(crate) fn particle(mass: f64, center: Vec3) -> MassProperties {
    MassProperties { mass, center, tensor: Mat3::zeros() }
}

/// Random drives of both kinds.
pub(crate) fn random_drives(random: &mut Random, skeleton: &Skeleton) -> Drives {
    let mut drives = Drives::limp(skeleton);
    for i in 0..skeleton.bones().len() {
        let values: Vec<f64> =
            (0..skeleton.bones()[i].joint.v_count).map(|_| 3.0 * random.number()).collect();
        let drive =
            if random.below(2) == 0 { JointDrive::Torque(&values) } else { JointDrive::Motion(&values) };
        drives.set(skeleton, BoneId(i as u32), drive).unwrap();
    }
    drives
}
