//! Constraints as `[[constraint]]`.

use super::words::{list, number, text, vector};
use super::{motion, region};
use sinew_control::{ConstraintMotion, Extrapolation, Interpolation, Keyframes, PlaceMotion};
use sinew_sim::desc::{ConstraintDesc, ConstraintKind, PointDesc};
use sinew_take::Scene;

/// Writes all points that are held and all belts.
pub(super) fn write(scene: &Scene) -> Result<String, String> {
    let mut page = String::new();
    let still = ConstraintMotion::default();
    for (i, constraint) in scene.world.constraints.iter().enumerate() {
        let prescribed = scene.constraint_motions.get(i).unwrap_or(&still);
        page += &write_one(constraint);
        page += &write_motion_of(constraint, prescribed)
            .map_err(|what| format!("constraint '{}' {what}, which is not written", constraint.name))?;
    }
    Ok(page)
}

fn write_one(desc: &ConstraintDesc) -> String {
    let mut page = format!("\n[[constraint]]\nname = {}\n", text(&desc.name));
    match &desc.kind {
        ConstraintKind::Drag { point, .. } => page += &format!("drag = {}\n", write_point(point)),
        ConstraintKind::Pin { point, .. } => page += &format!("pin = {}\n", write_point(point)),
        ConstraintKind::Join { points: [a, b], length, is_unilateral } => {
            page += &format!("join = [{}, {}]\n", write_point(a), write_point(b));
            page += &write_number("length", *length);
            page += if *is_unilateral { "rope = true\n" } else { "" };
        }
        ConstraintKind::Belt(belt) => {
            page += &format!(
                "belt = {{ body = {}, center = {}, axis = {} }}\n",
                text(&belt.body),
                vector(&belt.center),
                vector(&belt.axis)
            );
            page += &write_number("length", belt.length);
        }
    }
    page += &write_number("stiffness", desc.stiffness);
    page + &write_number("damping", desc.damping)
}

fn write_number(key: &str, value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!("{key} = {}\n", number(value)))
}

fn write_point(point: &PointDesc) -> String {
    match point {
        PointDesc::Surface { body, place } => {
            format!("{{ body = {}, surface = {} }}", text(body), vector(place))
        }
        PointDesc::Inside { body, place } => {
            format!("{{ body = {}, inside = {} }}", text(body), vector(place))
        }
        PointDesc::Region { body, region: part } => {
            format!("{{ body = {}, region = {} }}", text(body), region(part))
        }
        PointDesc::Bone { rig, bone, place } => {
            let place = place.map_or(String::new(), |place| format!(", place = {}", vector(&place)));
            format!("{{ character = {}, bone = {}{place} }}", text(rig), text(bone))
        }
        PointDesc::Obstacle { obstacle, place } => {
            let place = place.map_or(String::new(), |place| format!(", place = {}", vector(&place)));
            format!("{{ obstacle = {}{place} }}", text(obstacle))
        }
    }
}

/// Where a constraint pulls to, how strong it is and how long; one curve for all of it.
fn write_motion_of(desc: &ConstraintDesc, prescribed: &ConstraintMotion) -> Result<String, &'static str> {
    let own = match &desc.kind {
        ConstraintKind::Drag { place, .. } | ConstraintKind::Pin { place, .. } => *place,
        _ => None,
    };
    let place = own.map_or(String::new(), |place| format!("place = {}\n", vector(&place)));
    let mut curves = Vec::new();
    let mut page = match &prescribed.place {
        PlaceMotion::Still => place,
        PlaceMotion::Moved(moved) => place + &motion(moved),
        PlaceMotion::Along(path) => {
            curves.push((path.interpolation(), path.extrapolation()));
            let row = |key: &sinew_control::Key<sinew_math::Vec3>| {
                list(&[key.time, key.value.x, key.value.y, key.value.z])
            };
            format!("path = [{}]\n", path.keys().iter().map(row).collect::<Vec<_>>().join(", "))
        }
    };
    for (name, keys) in [("strengths", &prescribed.strength), ("lengths", &prescribed.length)] {
        if let Some(keys) = keys {
            curves.push((keys.interpolation(), keys.extrapolation()));
            page += &format!("{name} = [{}]\n", write_keys(keys));
        }
    }
    let Some((interpolation, beyond)) = curves.first().copied() else { return Ok(page) };
    if curves.iter().any(|other| *other != (interpolation, beyond)) {
        return Err("is led along curves of different kinds");
    }
    let curve = match interpolation {
        Interpolation::KochanekBartels => "kochanek-bartels",
        Interpolation::BSpline => "b-spline",
        Interpolation::Linear => "linear",
        Interpolation::Step => "step",
    };
    page += &format!("interpolation = {}\n", text(curve));
    page += if beyond == Extrapolation::Loop { "loop = true\n" } else { "" };
    Ok(page)
}

fn write_keys(keys: &Keyframes<f64>) -> String {
    keys.keys().iter().map(|key| list(&[key.time, key.value])).collect::<Vec<_>>().join(", ")
}
