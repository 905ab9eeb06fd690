//! The bones of a character that are written by hand.

use super::section::Section;
use sinew_character::FleshSegment;
use sinew_files::ReadError;
use sinew_math::{Isometry, Vec3};
use sinew_skeleton::{
    BoneDesc, DofDesc, DriveRule, JointDesc, JointKind, MassDesc, Parent, SkeletonDesc, SolidShape,
};

/// Bones and the flesh around them.
#[derive(Default)]
pub(super) struct Bones {
    pub(super) skeleton: SkeletonDesc,
    pub(super) flesh: Vec<FleshSegment>,
}

const JOINTS: [&str; 8] =
    ["fixed", "revolute", "prismatic", "cylindrical", "universal", "ball", "planar", "free"];

/// What a bone weighs when nothing is said (kg/m³).
const DEFAULT_DENSITY: f64 = 1200.0;

/// Reads `[[character.bone]]`. A bone's frame stands at its beginning with the axes of the world.
pub(super) fn read_bones(sections: &[Section]) -> Result<Bones, ReadError> {
    let mut bones = Bones::default();
    let mut begins: Vec<(String, Vec3)> = Vec::new();
    for section in sections {
        let name = section.needed("name", section.text("name")?)?.to_owned();
        let from = section.needed("from", section.vector("from")?)?;
        let to = section.vector("to")?.unwrap_or(from);
        let above = match section.text("parent")? {
            None => Vec3::zeros(),
            Some(parent) => match begins.iter().find(|(name, _)| name == parent) {
                Some((_, begin)) => *begin,
                // a parent further down, or none at all: the skeleton says which
                None => find_begin(sections, parent)?.unwrap_or_default(),
            },
        };
        let positive = |key: &str| section.number(key, "above 0", |x| x > 0.0);
        let density = section.number("density", "from 0 to 1e6", |x| (0.0..=1e6).contains(&x))?;
        let radius = positive("radius")?;
        let shape = radius.map(|radius| SolidShape::Capsule { from: Vec3::zeros(), to: to - from, radius });
        bones.skeleton.bones.push(BoneDesc {
            name: name.clone(),
            parent: section.text("parent")?.map_or(Parent::World, |parent| Parent::Named(parent.to_owned())),
            parent_from_joint: Isometry::translation(from.x - above.x, from.y - above.y, from.z - above.z),
            joint: read_joint(section)?,
            mass: shape.map_or(MassDesc::Massless, |shape| MassDesc::Solid {
                shape,
                density: density.unwrap_or(DEFAULT_DENSITY),
            }),
        });
        if section.has("flesh") {
            let radii = section.number_or_pair("flesh", "above 0", |r| r > 0.0)?;
            bones.flesh.push(FleshSegment { ends: [from, to], radii: section.needed("flesh", radii)? });
        }
        begins.push((name, from));
    }
    Ok(bones)
}

fn find_begin(sections: &[Section], name: &str) -> Result<Option<Vec3>, ReadError> {
    for section in sections {
        if section.text("name")? == Some(name) {
            return section.vector("from");
        }
    }
    Ok(None)
}

fn read_joint(section: &Section) -> Result<JointDesc, ReadError> {
    let word = section.choice("joint", &JOINTS)?;
    let default = if section.has("parent") { "ball" } else { "free" };
    let word = word.unwrap_or(default);
    let axis = || section.needed("axis", section.vector("axis")?);
    let kind = match word {
        "fixed" => JointKind::Fixed,
        "revolute" => JointKind::Revolute(axis()?),
        "prismatic" => JointKind::Prismatic(axis()?),
        "cylindrical" => JointKind::Cylindrical(axis()?),
        "planar" => JointKind::Planar(axis()?),
        "universal" => {
            let second = section.needed("second_axis", section.vector("second_axis")?)?;
            JointKind::Universal(axis()?, second)
        }
        "ball" => JointKind::Ball,
        _ => JointKind::Free,
    };
    let strength = |key: &str| section.number(key, "0 or more", |x| x >= 0.0);
    if section.has("limits") && matches!(word, "cylindrical" | "planar" | "free") {
        let message = "`limits` are one pair for all coordinates: this joint has both angles and lengths; split it in two bones";
        return Err(section.error("limits", message));
    }
    let slides = matches!(kind, JointKind::Prismatic(_));
    let unit = if slides { 1.0 } else { core::f64::consts::PI / 180.0 };
    let limits = section.numbers::<2>("limits")?.map(|limits| limits.map(|limit| limit * unit));
    let stiffness = strength("stiffness")?.unwrap_or(0.0);
    let stop = strength("stop_stiffness")?.unwrap_or(0.0);
    let dof = DofDesc {
        stiffness,
        damping: strength("damping")?.unwrap_or(0.0),
        armature: strength("armature")?.unwrap_or(0.0),
        lower: limits.map_or(f64::NEG_INFINITY, |[lower, _]| lower),
        upper: limits.map_or(f64::INFINITY, |[_, upper]| upper),
        limit_stiffness: stop,
        limit_damping: strength("stop_damping")?.unwrap_or(0.0),
        ..DofDesc::default()
    };
    let drive = if section.flag("motion_only")? { DriveRule::MotionOnly } else { DriveRule::TorqueOrMotion };
    Ok(JointDesc { drive, ..JointDesc::of(kind).with(dof) })
}

/// What each degree of freedom of a joint is counted in: radians for a degree, or metres.
pub(super) fn pose_unit(parts: &[sinew_skeleton::JointPrimitive]) -> Vec<f64> {
    let unit = |part: &sinew_skeleton::JointPrimitive| match part {
        sinew_skeleton::JointPrimitive::Revolute(_) | sinew_skeleton::JointPrimitive::Ball => {
            core::f64::consts::PI / 180.0
        }
        sinew_skeleton::JointPrimitive::Prismatic(_) | sinew_skeleton::JointPrimitive::Translation => 1.0,
    };
    parts.iter().flat_map(|part| vec![unit(part); part.v_count()]).collect()
}
