//! Reads `[[constraint]]` of a scene file: drags, pins, joins and belts.

use super::bone_motion::{beyond_of, interpolation};
use super::motion::read_motion;
use super::number::read_curve;
use super::region::read_region;
use super::section::Section;
use crate::Up;
use crate::scene_schema::{BeltTable, ConstraintTable, Curve as CurveName, KeyRows, PointTable};
use schemars::JsonSchema;
use serde::Deserialize;
use sinew_character::nearest;
use sinew_control::{
    ConstraintMotion, Curve, Extrapolation, Interpolation, Key, KeyValue, Keyframes, Motion, PlaceMotion,
};
use sinew_files::ReadError;
use sinew_math::Vec3;
use sinew_sim::WorldDesc;
use sinew_sim::desc::{BeltDesc, ConstraintDesc, ConstraintKind, PointDesc};

/// Keys of drags and pins only.
const PLACED: [&str; 3] = ["place", "path", "motion"];
/// Keys of joins and belts only.
const LONG: [&str; 2] = ["length", "lengths"];

/// Reads all constraints of a scene and their motions. `world` has everything that they may refer to.
pub(super) fn read_constraints(
    sections: &[Section<ConstraintTable>],
    world: &WorldDesc,
    up: Up,
) -> Result<(Vec<ConstraintDesc>, Vec<ConstraintMotion>), ReadError> {
    let (mut all, mut motions) = (Vec::new(), Vec::new());
    for section in sections {
        let name = match &section.name {
            Some(name) if all.iter().any(|other: &ConstraintDesc| other.name == *name) => {
                let message = format!("a constraint above is also named `{name}`: rename one");
                return Err(section.error("name", message));
            }
            Some(name) => name.clone(),
            None => format!("constraint-{}", all.len() + 1),
        };
        let kind = read_kind(section, world, up)?;
        motions.push(read_motion_of(section)?);
        let (stiffness, damping, is_exact) =
            (section.stiffness, section.damping, section.exact.unwrap_or(false));
        if let (true, Some(key)) = (is_exact, section.first_of(&["join", "belt", "stiffness", "damping"])) {
            return Err(
                section.error(key, format!("`{key}` has no meaning with `exact`: remove one of them"))
            );
        }
        all.push(ConstraintDesc { name, kind, stiffness, damping, is_exact });
    }
    Ok((all, motions))
}

fn read_kind(
    section: &Section<ConstraintTable>,
    world: &WorldDesc,
    up: Up,
) -> Result<ConstraintKind, ReadError> {
    // reject keys of other kinds
    let kind = section.first_of(&["drag", "pin", "join", "belt"]).unwrap_or("drag");
    let (foreign, words): (&[&str], _) = match kind {
        "drag" | "pin" => (&LONG, "`join` or `belt`"),
        _ => (&PLACED, "`drag` or `pin`"),
    };
    if let Some(key) = section.first_of(foreign) {
        return Err(section.error(key, format!("`{key}` needs {words}: it has no meaning with `{kind}`")));
    }

    // one point
    let table = section.table();
    if let Some(point) = section.optional("drag", &table.drag) {
        return Ok(ConstraintKind::Drag {
            point: read_point(&point, world, up)?,
            place: read_place(section),
        });
    }
    if let Some(point) = section.optional("pin", &table.pin) {
        return Ok(ConstraintKind::Pin { point: read_point(&point, world, up)?, place: read_place(section) });
    }

    // two points, or a line around a body
    if let Some(points) = &table.join {
        let ends = section.items("join", points);
        let [a, b] = &ends[..] else {
            return Err(section.error("join", format!("`join` has {} points: it takes two", ends.len())));
        };
        let points = [read_point(a, world, up)?, read_point(b, world, up)?];
        let is_unilateral = section.rope.unwrap_or(false);
        return Ok(ConstraintKind::Join { points, length: section.length, is_unilateral });
    }
    let belt = section.needed("belt", section.optional("belt", &table.belt))?;
    if section.length == Some(0.0) {
        return Err(section.error("length", "`length` is 0: it must be above 0 for a belt"));
    }
    read_belt(&belt, section.length, world)
}

fn read_belt(
    belt: &Section<BeltTable>,
    length: Option<f64>,
    world: &WorldDesc,
) -> Result<ConstraintKind, ReadError> {
    let axis = Vec3::from(belt.axis);
    if axis.norm() < 1e-9 {
        return Err(belt.error("axis", "`axis` is zero: give a direction"));
    }
    let body = known(belt, "body", Some(&belt.body), &body_names(world))?;
    Ok(ConstraintKind::Belt(BeltDesc { body, center: Vec3::from(belt.center), axis, length }))
}

/// The target of a point at the start: `place`, or the first key of `path`; by default where the point is.
fn read_place(section: &ConstraintTable) -> Option<Vec3> {
    let path_start = || section.path.as_ref()?.first().map(|[_, x, y, z]| Vec3::new(*x, *y, *z));
    section.place.map(Vec3::from).or_else(path_start)
}

fn read_motion_of(section: &Section<ConstraintTable>) -> Result<ConstraintMotion, ReadError> {
    let curve = (
        interpolation(section.interpolation.unwrap_or(CurveName::KochanekBartels)),
        beyond_of(section.is_loop),
    );
    let place = match &section.path {
        Some(path) => {
            let keys = path.iter().map(|[t, x, y, z]| Key::at(*t, Vec3::new(*x, *y, *z))).collect();
            PlaceMotion::Along(build_keys(section, "path", keys, curve)?)
        }
        None => match read_motion(section.optional("motion", &section.table().motion).as_ref())? {
            Motion::Still => PlaceMotion::Still,
            motion => PlaceMotion::Moved(motion),
        },
    };
    let numbers = |key: &str, rows: &Option<KeyRows>, words: &str, accepts: fn(f64) -> bool| {
        let found = match rows {
            None => return Ok(Curve::Constant(1.0)),
            Some(KeyRows::Curve(table)) => read_curve(section, key, table)?,
            Some(KeyRows::Rows(rows)) => {
                let keys = rows.iter().map(|[t, value]| Key::at(*t, *value)).collect();
                Curve::Spline(build_keys(section, key, keys, curve)?)
            }
        };
        if let Some((t, value)) = found.key_values().into_iter().find(|(_, value)| !accepts(*value)) {
            return Err(section.error(key, format!("`{key}` is {value} at {t} s: it must be {words}")));
        }
        Ok(found)
    };
    Ok(ConstraintMotion {
        place,
        strength: numbers("strengths", &section.strengths, "from 0 to 1", |s| (0.0..=1.0).contains(&s))?,
        length: numbers("lengths", &section.lengths, "0 or more", |l| l >= 0.0)?,
    })
}

fn build_keys<T: KeyValue>(
    section: &Section<ConstraintTable>,
    key: &str,
    keys: Vec<Key<T>>,
    (interpolation, beyond): (Interpolation, Extrapolation),
) -> Result<Keyframes<T>, ReadError> {
    Keyframes::build(keys, interpolation, beyond)
        .map_err(|error| section.error(key, format!("`{key}`: {}", error.faults.join("; "))))
}

fn read_point(point: &Section<PointTable>, world: &WorldDesc, up: Up) -> Result<PointDesc, ReadError> {
    // what the point belongs to
    let whose = point.first_of(&["body", "character", "obstacle"]).unwrap_or("body");
    let foreign: &[&str] = match whose {
        "body" => &["bone", "place"],
        "character" => &["surface", "inside", "region"],
        _ => &["surface", "inside", "region", "bone"],
    };
    if let Some(key) = point.first_of(foreign) {
        return Err(point.error(key, format!("`{key}` has no meaning with `{whose}`")));
    }

    // the point itself
    match whose {
        "body" => read_body_point(point, world, up),
        "character" => {
            let rigs: Vec<&str> = world.rigs.iter().map(|rig| rig.name.as_str()).collect();
            let rig = known(point, "character", point.character.as_ref(), &rigs)?;
            let found = world.rigs.iter().find(|other| other.name == rig);
            let bones = found.iter().flat_map(|rig| &rig.skeleton.bones);
            let bones: Vec<&str> = bones.map(|bone| bone.name.as_str()).collect();
            let bone = known(point, "bone", point.bone.as_ref(), &bones)?;
            Ok(PointDesc::Bone { rig, bone, place: point.place.map(Vec3::from) })
        }
        _ => {
            let names: Vec<&str> = world.obstacles.iter().map(|obstacle| obstacle.name.as_str()).collect();
            let obstacle = known(point, "obstacle", point.obstacle.as_ref(), &names)?;
            Ok(PointDesc::Obstacle { obstacle, place: point.place.map(Vec3::from) })
        }
    }
}

/// Reads a point of a body, given in one of three ways.
fn read_body_point(point: &Section<PointTable>, world: &WorldDesc, up: Up) -> Result<PointDesc, ReadError> {
    let body = known(point, "body", point.body.as_ref(), &body_names(world))?;
    let ways = ["surface", "inside", "region"];
    let given: Vec<&str> = ways.into_iter().filter(|key| point.has(key)).collect();
    if let [first, second, ..] = given[..] {
        let message = format!("`{first}` and `{second}` cannot be combined: keep one");
        return Err(point.error(second, message));
    }
    if let Some(place) = point.surface {
        return Ok(PointDesc::Surface { body, place: Vec3::from(place) });
    }
    if let Some(place) = point.inside {
        return Ok(PointDesc::Inside { body, place: Vec3::from(place) });
    }
    match point.optional("region", &point.table().region) {
        Some(region) => Ok(PointDesc::Region { body, region: read_region(&region, up)? }),
        None => {
            let message = "drag, pin or join = { … } needs one of `surface`, `inside`, `region`";
            Err(point.error("surface", message))
        }
    }
}

pub(super) fn body_names(world: &WorldDesc) -> Vec<&str> {
    world.bodies.iter().map(|body| body.name.as_str()).collect()
}

/// The name that a key gives, which must be one of `names`.
pub(super) fn known<T: JsonSchema + for<'de> Deserialize<'de>>(
    section: &Section<T>,
    key: &str,
    name: Option<&String>,
    names: &[&str],
) -> Result<String, ReadError> {
    let name = section.needed(key, name)?;
    if names.contains(&name.as_str()) {
        return Ok(name.clone());
    }
    let meant = nearest(name, names).map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
    Err(section.error(key, format!("there is no {key} \"{}\"{meant}", name.escape_debug())))
}
