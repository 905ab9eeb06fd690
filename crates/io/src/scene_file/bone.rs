//! Reads `[[character.bone]]` of a scene file: bones, their joints and masses, and the flesh around them.

use super::obstacle::read_rotation;
use super::section::Section;
use crate::scene_schema::{BoneTable, FleshRadius, JointType};
use sinew_character::FleshSegment;
use sinew_files::ReadError;
use sinew_math::{Isometry, Mat3, Rotation, Vec3};
use sinew_skeleton::{
    BoneDesc, DofDesc, DriveRule, JointDesc, JointKind, JointPrimitive, MassDesc, MassProperties, Parent,
    SkeletonDesc, SolidShape,
};

/// Bones and the flesh around them.
#[derive(Default)]
pub(super) struct Bones {
    pub(super) skeleton: SkeletonDesc,
    pub(super) flesh: Vec<FleshSegment>,
}

/// The default density of a bone (kg/m³).
const DEFAULT_DENSITY: f64 = 1200.0;

/// Reads bones; `radians` is the unit of their angles (rad). The frame of a bone has its origin where the bone begins, and the axes of the
/// world unless the bone is rotated.
pub(super) fn read_bones(sections: &[Section<BoneTable>], radians: f64) -> Result<Bones, ReadError> {
    let mut bones = Bones::default();
    for section in sections {
        let frame = BoneFrame::find(sections, section)?;
        let tip = frame.tip(section);
        bones.skeleton.bones.push(BoneDesc {
            name: section.name.clone(),
            parent: section.parent.clone().map_or(Parent::World, Parent::Named),
            parent_from_joint: frame.parent_from_joint,
            joint: read_joint(section, radians)?,
            mass: read_mass(section, tip),
        });
        if let Some(radii) = section.flesh {
            let radii = match radii {
                FleshRadius::Even(radius) => [radius; 2],
                FleshRadius::Ends(radii) => radii,
            };
            let from = frame.world_from_bone.translation.vector;
            let to = section.to.map_or(from + frame.world_from_bone.rotation * tip, Vec3::from);
            bones.flesh.push(FleshSegment { ends: [from, to], radii });
        }
    }
    Ok(bones)
}

/// The pose of a bone at rest.
struct BoneFrame {
    parent_from_joint: Isometry,
    world_from_bone: Isometry,
}

impl BoneFrame {
    /// The frame of a bone, from those of its ancestors. Frames without rotation are added, not multiplied, so that they keep every bit.
    fn find(sections: &[Section<BoneTable>], bone: &Section<BoneTable>) -> Result<BoneFrame, ReadError> {
        BoneFrame::find_within(sections, bone, sections.len())
    }

    /// `depth` limits the number of ancestors; building the skeleton reports a cycle of parents.
    fn find_within(
        sections: &[Section<BoneTable>],
        bone: &Section<BoneTable>,
        depth: usize,
    ) -> Result<BoneFrame, ReadError> {
        // building the skeleton reports a missing parent
        let parent = bone.parent.as_ref().filter(|_| depth > 0);
        let parent = parent.and_then(|name| sections.iter().find(|other| other.name == *name));
        let world_from_parent = match parent {
            Some(parent) => BoneFrame::find_within(sections, parent, depth - 1)?.world_from_bone,
            None => Isometry::identity(),
        };

        // the rotation of the bone
        let rotation = match bone.rotation {
            Some(rotation) => read_rotation(rotation).map_err(|what| bone.error("rotation", what))?,
            None => Rotation::identity(),
        };
        let above = world_from_parent.translation.vector;
        let is_parent_rotated = world_from_parent.rotation != Rotation::identity();

        // `from` is in world coordinates, `offset` in the parent's
        let (offset, begin) = match (bone.from.map(Vec3::from), bone.offset.map(Vec3::from)) {
            (Some(from), _) if is_parent_rotated => {
                (world_from_parent.rotation.inverse() * (from - above), from)
            }
            (Some(from), _) => (from - above, from),
            (None, offset) => {
                let offset = bone.needed("from", offset)?;
                let turned = if is_parent_rotated { world_from_parent.rotation * offset } else { offset };
                (offset, above + turned)
            }
        };
        let world_rotation = if is_parent_rotated { world_from_parent.rotation * rotation } else { rotation };
        Ok(BoneFrame {
            parent_from_joint: Isometry::from_parts(offset.into(), rotation),
            world_from_bone: Isometry::from_parts(begin.into(), world_rotation),
        })
    }

    /// The end of the bone in its own frame (m).
    fn tip(&self, bone: &BoneTable) -> Vec3 {
        let begin = self.world_from_bone.translation.vector;
        match (bone.to, bone.tip) {
            (Some(to), _) if self.world_from_bone.rotation != Rotation::identity() => {
                self.world_from_bone.rotation.inverse() * (Vec3::from(to) - begin)
            }
            (Some(to), _) => Vec3::from(to) - begin,
            (None, tip) => tip.map_or(Vec3::zeros(), Vec3::from),
        }
    }
}

fn read_mass(bone: &BoneTable, tip: Vec3) -> MassDesc {
    if let Some(mass) = bone.mass {
        let [xx, yy, zz, xy, xz, yz] = bone.inertia.unwrap_or_default();
        let tensor = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        let center = bone.center.map_or(Vec3::zeros(), Vec3::from);
        return MassDesc::Given(MassProperties { mass, center, tensor });
    }
    let Some(radius) = bone.radius else { return MassDesc::Massless };
    MassDesc::Solid {
        shape: SolidShape::Capsule { from: Vec3::zeros(), to: tip, radius },
        density: bone.density.unwrap_or(DEFAULT_DENSITY),
    }
}

fn read_joint(bone: &Section<BoneTable>, radians: f64) -> Result<JointDesc, ReadError> {
    // the kind of the joint
    let default = if bone.parent.is_some() { JointType::Ball } else { JointType::Free };
    let joint = bone.joint.unwrap_or(default);
    let axis = || bone.needed("axis", bone.axis.map(Vec3::from));
    let kind = match joint {
        JointType::Fixed => JointKind::Fixed,
        JointType::Revolute => JointKind::Revolute(axis()?),
        JointType::Prismatic => JointKind::Prismatic(axis()?),
        JointType::Cylindrical => JointKind::Cylindrical(axis()?),
        JointType::Planar => JointKind::Planar(axis()?),
        JointType::Universal => {
            let second = bone.needed("second_axis", bone.second_axis.map(Vec3::from))?;
            JointKind::Universal(axis()?, second)
        }
        JointType::Ball => JointKind::Ball,
        JointType::Free => JointKind::Free,
    };

    // limits apply to all coordinates, which must have the same unit
    let mixes = matches!(joint, JointType::Cylindrical | JointType::Planar | JointType::Free);
    if let Some(key) = bone.first_of(&["limits", "spring_rest"]).filter(|_| mixes) {
        let message = format!(
            "`{key}` applies to all coordinates of a joint, but this joint has both angles and lengths: split it into two bones"
        );
        return Err(bone.error(key, message));
    }

    // springs, dampers and limits
    let unit = if matches!(kind, JointKind::Prismatic(_)) { 1.0 } else { radians };
    let limits = bone.limits.map(|limits| limits.map(|limit| limit * unit));
    let dof = DofDesc {
        rest: bone.spring_rest.map_or(0.0, |rest| rest * unit),
        stiffness: bone.stiffness.unwrap_or(0.0),
        damping: bone.damping.unwrap_or(0.0),
        armature: bone.armature.unwrap_or(0.0),
        lower: limits.map_or(f64::NEG_INFINITY, |[lower, _]| lower),
        upper: limits.map_or(f64::INFINITY, |[_, upper]| upper),
        limit_stiffness: bone.stop_stiffness.unwrap_or(0.0),
        limit_damping: bone.stop_damping.unwrap_or(0.0),
    };
    let is_motion_only = bone.motion_only.unwrap_or(false);
    let drive = if is_motion_only { DriveRule::MotionOnly } else { DriveRule::TorqueOrMotion };
    // a joint without springs, dampers and limits has no entry
    let dofs = if dof == DofDesc::default() { Vec::new() } else { vec![dof] };
    Ok(JointDesc { kind, dofs, drive })
}

/// The unit of each degree of freedom of a joint (rad or m).
pub(super) fn pose_units(parts: &[JointPrimitive], radians: f64) -> Vec<f64> {
    let unit = |part: &JointPrimitive| match part {
        JointPrimitive::Revolute(_) | JointPrimitive::Ball => radians,
        JointPrimitive::Prismatic(_) | JointPrimitive::Translation => 1.0,
    };
    parts.iter().flat_map(|part| vec![unit(part); part.v_count()]).collect()
}
