//! A body with bones as a `[[character]]`.

use super::words::{number, rounded, text, vector};
use super::{cues, keys};
use super::{material, region, write_load, write_shape};
use sinew_math::{Rotation, Vec3};
use sinew_sim::desc::{AttachmentDesc, BodyDesc, Hold, RigDesc, ShapeDesc, TieDesc};
use sinew_skeleton::{BoneDesc, DriveRule, JointKind, MassDesc, Parent, Skeleton, SkeletonDesc, SolidShape};
use sinew_take::Scene;

/// Writes a body that hangs on a rig.
pub(super) fn write(scene: &Scene, body: &BodyDesc) -> Result<String, String> {
    let refuse = |what: &str| Err(format!("'{}' {what}, which a scene file cannot say", body.name));
    let Some(attachment) = &body.attachment else { return refuse("has no bones") };
    let Some(place) = scene.world.rigs.iter().position(|rig| rig.name == attachment.rig) else {
        return refuse("hangs on a skeleton that is not there");
    };
    let (rig, performance) = (&scene.world.rigs[place], scene.performances.get(place));
    if rig.name != body.name {
        return refuse("shares its skeleton or has it under another name");
    }
    if !body.pins.is_empty() || body.velocity != Vec3::zeros() || !attachment.skin_weights.is_empty() {
        return refuse("has bones and beside them pins, a velocity or painted weights");
    }
    if matches!(body.shape, ShapeDesc::Tets(_)) {
        return refuse("has bones in tets of its own");
    }
    let mut page = format!("[[character]]\nname = {}\n", text(&body.name));
    page += &write_shape(body);
    page += &format!("material = {}\n", material(&body.material));
    page += &format!("sag = {}\n", text(body.sag.name()));
    page += &write_attachment(attachment)?;
    page += &write_bones(rig)?;
    let skeleton = Skeleton::build(&rig.skeleton.with_plain_masses()).map_err(|error| error.to_string())?;
    page += &keys::write(performance, scene.preroll, &skeleton)?;
    page += &cues::write(performance, &skeleton)?;
    for load in &body.loads {
        page += &format!("[[character.load]]\n{}", write_load(load));
    }
    Ok(page)
}

fn write_attachment(attachment: &AttachmentDesc) -> Result<String, String> {
    let mut page = format!(
        "core_stiffness = {}\ncore_reach = {}\n",
        number(attachment.core.stiffness),
        number(attachment.core.reach)
    );
    if attachment.anchored {
        page += "anchored = true\n";
    }
    page += "tie = [\n";
    for TieDesc { bone, hold } in &attachment.ties {
        let bone = bone.as_ref().map_or(String::new(), |bone| format!("bone = {}, ", text(bone)));
        let hold = match hold {
            Hold::Inside { margin } => format!("inside = {}", number(*margin)),
            Hold::Near { distance } => format!("near = {}", number(*distance)),
            Hold::Region(part) => format!("region = {}", region(part)),
            Hold::Nodes(nodes) => format!("nodes = {nodes:?}"),
            Hold::Painted { .. } => {
                return Err("a tie goes by painted weights, which a scene file cannot say".into());
            }
        };
        page += &format!("    {{ {bone}{hold} }},\n");
    }
    Ok(page + "]\n")
}

fn write_bones(rig: &RigDesc) -> Result<String, String> {
    let mut page = "bone = [\n".to_owned();
    for (i, bone) in rig.skeleton.bones.iter().enumerate() {
        page += &format!(
            "    {},\n",
            write_bone(&rig.skeleton, i)
                .map_err(|what| { format!("bone '{}' {what}, which a scene file cannot say", bone.name) })?
        );
    }
    Ok(page + "]\n")
}

fn write_bone(skeleton: &SkeletonDesc, i: usize) -> Result<String, &'static str> {
    let bone = &skeleton.bones[i];
    let from = begin(skeleton, i)?;
    let mut words = vec![format!("name = {}", text(&bone.name))];
    if let Some(parent) = parent(skeleton, bone) {
        words.push(format!("parent = {}", text(&skeleton.bones[parent].name)));
    }
    words.push(joint(&bone.joint.kind)?);
    if !bone.joint.dofs.is_empty() || bone.joint.drive != DriveRule::TorqueOrMotion {
        return Err("has springs, limits or a rule for its drive in its joint");
    }
    words.push(format!("from = {}", vector(&tidy(from))));
    match &bone.mass {
        MassDesc::Massless => {}
        MassDesc::Solid { shape: SolidShape::Capsule { from: start, to, radius }, density }
            if *start == Vec3::zeros() =>
        {
            words.push(format!("to = {}", vector(&tidy(from + to))));
            words.push(format!("radius = {}", number(*radius)));
            words.push(format!("density = {}", number(*density)));
        }
        _ => return Err("has a mass other than that of a capsule that begins at its joint"),
    }
    Ok(format!("{{ {} }}", words.join(", ")))
}

/// A place to a nanometre: without the round-off of sums of offsets.
fn tidy(place: Vec3) -> Vec3 {
    place.map(|x| rounded(x, 9))
}

fn parent(skeleton: &SkeletonDesc, bone: &BoneDesc) -> Option<usize> {
    match &bone.parent {
        Parent::World => None,
        Parent::Index(i) => Some(*i),
        Parent::Named(name) => skeleton.bones.iter().position(|bone| bone.name == *name),
    }
}

/// Where a bone begins at rest (m).
fn begin(skeleton: &SkeletonDesc, i: usize) -> Result<Vec3, &'static str> {
    let (mut begin, mut next) = (Vec3::zeros(), Some(i));
    // no chain of parents is longer than there are bones
    for _ in 0..=skeleton.bones.len() {
        let Some(bone) = next.and_then(|i| skeleton.bones.get(i)) else { return Ok(begin) };
        if bone.parent_from_joint.rotation != Rotation::identity() {
            return Err("has a frame that is turned at rest");
        }
        begin += bone.parent_from_joint.translation.vector;
        next = parent(skeleton, bone);
    }
    Err("is its own ancestor")
}

fn joint(kind: &JointKind) -> Result<String, &'static str> {
    let with_axis = |word: &str, axis: &Vec3| format!("joint = \"{word}\", axis = {}", vector(axis));
    Ok(match kind {
        JointKind::Fixed => "joint = \"fixed\"".into(),
        JointKind::Ball => "joint = \"ball\"".into(),
        JointKind::Free => "joint = \"free\"".into(),
        JointKind::Revolute(axis) => with_axis("revolute", axis),
        JointKind::Prismatic(axis) => with_axis("prismatic", axis),
        JointKind::Cylindrical(axis) => with_axis("cylindrical", axis),
        JointKind::Planar(axis) => with_axis("planar", axis),
        JointKind::Universal(axis, second) => {
            format!("{}, second_axis = {}", with_axis("universal", axis), vector(second))
        }
        JointKind::Composite(_) => return Err("has several joints in one"),
    })
}
