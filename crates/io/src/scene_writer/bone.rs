//! Writes bones as `[[character.bone]]`.
//!
//! The ends of a bone are written in world coordinates (`from`, `to`) if they read back bit for bit, and else in the frames of the bones
//! (`offset`, `tip`).

use super::{quaternion, vector};
use crate::scene_schema::{BoneTable, JointType};
use sinew_math::{Mat3, Vec3};
use sinew_skeleton::{
    BoneDesc, DofDesc, DriveRule, JointDesc, JointKind, MassDesc, MassProperties, Parent, SkeletonDesc,
    SolidShape,
};

/// The tables of the bones of a valid skeleton.
pub(super) fn bone_tables(skeleton: &SkeletonDesc) -> Result<Vec<BoneTable>, String> {
    let mut places = Places { skeleton, begins: vec![None; skeleton.bones.len()] };
    let table = |(i, bone): (usize, &BoneDesc)| {
        bone_table(bone, i, &mut places).map_err(|what| format!("has a bone '{}' that {what}", bone.name))
    };
    skeleton.bones.iter().enumerate().map(table).collect()
}

fn bone_table(bone: &BoneDesc, i: usize, places: &mut Places) -> Result<BoneTable, &'static str> {
    // name and orientation
    let mut table = BoneTable {
        name: bone.name.clone(),
        parent: places.parent(i).map(|parent| places.skeleton.bones[parent].name.clone()),
        ..BoneTable::default()
    };
    table.rotation = quaternion(&bone.parent_from_joint.rotation);

    // where it begins
    let Begin { world, is_exact } = places.begin(i);
    if is_exact {
        table.from = Some(vector(&world));
    } else {
        table.offset = Some(vector(&bone.parent_from_joint.translation.vector));
    }

    // mass and end
    match &bone.mass {
        MassDesc::Massless => {}
        MassDesc::Solid { shape: SolidShape::Capsule { from, to, radius }, density }
            if *from == Vec3::zeros() =>
        {
            let end = tidy(world + to);
            if is_exact && places.has_no_rotations() && same_bits(&(end - world), to) {
                table.to = Some(vector(&end));
            } else {
                table.tip = Some(vector(to));
            }
            (table.radius, table.density) = (Some(*radius), Some(*density));
        }
        MassDesc::Given(MassProperties { mass, center, tensor }) => {
            table.mass = Some(*mass);
            table.center = Some(vector(center));
            table.inertia = Some(symmetric(tensor).ok_or("has an inertia tensor that is not symmetric")?);
        }
        _ => return Err("has a mass that is not that of a capsule at its joint"),
    }

    // joint
    apply_joint(&bone.joint, &mut table)?;
    Ok(table)
}

/// The positions of bones in the world, as the reader computes them.
struct Places<'a> {
    skeleton: &'a SkeletonDesc,
    begins: Vec<Option<Begin>>,
}

#[derive(Clone, Copy)]
struct Begin {
    /// Where the bone begins (m).
    world: Vec3,
    /// Whether the offset from its parent follows from it bit for bit.
    is_exact: bool,
}

impl Places<'_> {
    fn parent(&self, i: usize) -> Option<usize> {
        match &self.skeleton.bones[i].parent {
            Parent::World => None,
            Parent::Index(parent) => Some(*parent),
            Parent::Named(name) => self.skeleton.bones.iter().position(|bone| bone.name == *name),
        }
    }

    /// Whether no bone is rotated, so that all frames have the axes of the world.
    fn has_no_rotations(&self) -> bool {
        self.skeleton.bones.iter().all(|bone| quaternion(&bone.parent_from_joint.rotation).is_none())
    }

    fn begin(&mut self, i: usize) -> Begin {
        if let Some(begin) = self.begins[i] {
            return begin;
        }
        let above = self.parent(i).map_or(Vec3::zeros(), |parent| self.begin(parent).world);
        let offset = self.skeleton.bones[i].parent_from_joint.translation.vector;
        let candidates = [tidy(above + offset), above + offset];
        let exact = candidates.into_iter().find(|world| same_bits(&(world - above), &offset));
        let begin = match exact.filter(|_| self.has_no_rotations()) {
            Some(world) => Begin { world, is_exact: true },
            None => Begin { world: above + offset, is_exact: false },
        };
        self.begins[i] = Some(begin);
        begin
    }
}

/// A position rounded to a nanometre, which removes the round-off of sums of offsets.
fn tidy(place: Vec3) -> Vec3 {
    place.map(|x| (x * 1e9).round() / 1e9)
}

fn same_bits(a: &Vec3, b: &Vec3) -> bool {
    a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// The six entries of a symmetric matrix; `None` if it is not symmetric.
fn symmetric(m: &Mat3) -> Option<[f64; 6]> {
    let is_symmetric = (0..3).all(|i| (0..i).all(|j| m[(i, j)].to_bits() == m[(j, i)].to_bits()));
    is_symmetric.then(|| [m[(0, 0)], m[(1, 1)], m[(2, 2)], m[(0, 1)], m[(0, 2)], m[(1, 2)]])
}

fn apply_joint(joint: &JointDesc, table: &mut BoneTable) -> Result<(), &'static str> {
    let (kind, axis) = match &joint.kind {
        JointKind::Fixed => (JointType::Fixed, None),
        JointKind::Ball => (JointType::Ball, None),
        JointKind::Free => (JointType::Free, None),
        JointKind::Revolute(axis) => (JointType::Revolute, Some(axis)),
        JointKind::Prismatic(axis) => (JointType::Prismatic, Some(axis)),
        JointKind::Cylindrical(axis) => (JointType::Cylindrical, Some(axis)),
        JointKind::Planar(axis) => (JointType::Planar, Some(axis)),
        JointKind::Universal(axis, second) => {
            table.second_axis = Some(vector(second));
            (JointType::Universal, Some(axis))
        }
        JointKind::Composite(_) => return Err("has a composite joint"),
    };
    (table.joint, table.axis) = (Some(kind), axis.map(vector));
    table.motion_only = (joint.drive == DriveRule::MotionOnly).then_some(true);
    apply_dofs(&joint.dofs, table)
}

/// Sets springs, dampers and limits, which must be the same for all degrees of freedom.
fn apply_dofs(dofs: &[DofDesc], table: &mut BoneTable) -> Result<(), &'static str> {
    let Some(dof) = dofs.first() else { return Ok(()) };
    if dofs.iter().any(|other| other != dof) {
        return Err("has a joint whose degrees of freedom differ in springs or limits");
    }
    let some = |x: f64| (x != 0.0).then_some(x);
    table.spring_rest = some(dof.rest);
    table.stiffness = some(dof.stiffness);
    table.damping = some(dof.damping);
    table.armature = some(dof.armature);
    table.stop_stiffness = some(dof.limit_stiffness);
    table.stop_damping = some(dof.limit_damping);
    let has_limits = dof.lower != f64::NEG_INFINITY || dof.upper != f64::INFINITY;
    if has_limits && !(dof.lower.is_finite() && dof.upper.is_finite()) {
        return Err("has a joint with a limit on one side only");
    }
    table.limits = has_limits.then_some([dof.lower, dof.upper]);
    let mixes = matches!(table.joint, Some(JointType::Cylindrical | JointType::Planar | JointType::Free));
    if mixes && (has_limits || table.spring_rest.is_some()) {
        return Err("has a joint with both angles and lengths, and limits or a spring whose rest is not 0");
    }
    Ok(())
}
