//! A built skeleton: flat arrays over bones, coordinates and degrees of freedom.

use crate::desc::{DofDesc, JointDesc, SkeletonDesc};
use crate::joint::{Joint, JointPrimitive};
use crate::mass::MassProperties;
use crate::order::Order;
use sinew_math::spatial::{Frame, RigidInertia};

/// A bone of a [`Skeleton`]: its index among the sorted bones, parents first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoneId(pub u32);

impl BoneId {
    /// The index into arrays over bones.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One bone and the joint to its parent.
#[derive(Clone, Debug)]
pub struct Bone {
    /// Its name.
    pub name: String,
    /// Its parent; `None` for the world.
    pub parent: Option<BoneId>,
    /// Its frame in that of its parent at zero coordinates.
    pub parent_from_joint: Frame,
    /// The joint to its parent.
    pub joint: Joint,
    /// Its mass properties.
    pub mass: MassProperties,
    /// Its spatial inertia J, in its frame.
    pub inertia: RigidInertia,
}

/// Bones and joints, checked and immutable. A skeleton may have several roots.
#[derive(Clone, Debug)]
pub struct Skeleton {
    bones: Vec<Bone>,
    parts: Vec<JointPrimitive>,
    dofs: Vec<DofDesc>,
    q_count: usize,
    bone_of_desc: Vec<BoneId>,
    desc_of_bone: Vec<usize>,
}

impl Skeleton {
    /// Builds a description that has been checked.
    pub(crate) fn assemble(desc: &SkeletonDesc, order: &Order, masses: &[MassProperties]) -> Skeleton {
        let mut bone_of_desc = vec![BoneId(0); desc.bones.len()];
        for (place, &i) in order.sorted.iter().enumerate() {
            bone_of_desc[i] = BoneId(place as u32);
        }
        let mut skeleton = Skeleton {
            bones: Vec::with_capacity(desc.bones.len()),
            parts: Vec::new(),
            dofs: Vec::new(),
            q_count: 0,
            bone_of_desc,
            desc_of_bone: order.sorted.clone(),
        };
        for &i in &order.sorted {
            let bone = &desc.bones[i];
            let joint = skeleton.add_joint(&bone.joint);
            skeleton.bones.push(Bone {
                name: bone.name.clone(),
                parent: order.parent[i].map(|p| skeleton.bone_of_desc[p]),
                parent_from_joint: Frame::from(&bone.parent_from_joint),
                joint,
                mass: masses[i],
                inertia: masses[i].inertia(),
            });
        }
        skeleton
    }

    fn add_joint(&mut self, desc: &JointDesc) -> Joint {
        let (part_offset, q_offset, v_offset) = (self.parts.len(), self.q_count, self.dofs.len());
        desc.kind.lower(&mut self.parts);
        let parts = &self.parts[part_offset..];
        let v_count = parts.iter().map(JointPrimitive::v_count).sum();
        let q_count = parts.iter().map(JointPrimitive::q_count).sum();
        let part_count = parts.len();
        self.q_count += q_count;
        let dof =
            |i: usize| desc.dofs.get(if desc.dofs.len() == 1 { 0 } else { i }).copied().unwrap_or_default();
        self.dofs.extend((0..v_count).map(dof));
        let has_passive = self.dofs[v_offset..].iter().any(|dof| {
            dof.stiffness > 0.0 || dof.damping > 0.0 || dof.limit_stiffness > 0.0 || dof.limit_damping > 0.0
        });
        Joint {
            part_offset,
            part_count,
            q_offset,
            q_count,
            v_offset,
            v_count,
            drive: desc.drive,
            has_passive,
        }
    }

    /// All bones, parents first.
    #[inline]
    pub fn bones(&self) -> &[Bone] {
        &self.bones
    }

    /// One bone.
    #[inline]
    pub fn bone(&self, id: BoneId) -> &Bone {
        &self.bones[id.index()]
    }

    /// The bone of a name.
    pub fn find_bone(&self, name: &str) -> Option<BoneId> {
        self.bones.iter().position(|bone| bone.name == name).map(|i| BoneId(i as u32))
    }

    /// The bone at index `i` of the description.
    pub fn bone_of_desc(&self, i: usize) -> Option<BoneId> {
        self.bone_of_desc.get(i).copied()
    }

    /// The index of a bone in the description.
    pub fn desc_of_bone(&self, bone: BoneId) -> usize {
        self.desc_of_bone[bone.index()]
    }

    /// The number of coordinates: the length of [`crate::SkeletonState::q`].
    #[inline]
    pub fn q_count(&self) -> usize {
        self.q_count
    }

    /// The number of degrees of freedom: the length of [`crate::SkeletonState::v`].
    #[inline]
    pub fn v_count(&self) -> usize {
        self.dofs.len()
    }

    /// Passive elements of each degree of freedom.
    #[inline]
    pub fn dofs(&self) -> &[DofDesc] {
        &self.dofs
    }

    /// The primitives of a joint, in order.
    #[inline]
    pub fn parts(&self, joint: &Joint) -> &[JointPrimitive] {
        &self.parts[joint.parts()]
    }

    /// Total mass (kg).
    pub fn mass(&self) -> f64 {
        self.bones.iter().map(|bone| bone.mass.mass).sum()
    }
}
