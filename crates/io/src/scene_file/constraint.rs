//! `[[constraint]]` of a scene file.

use super::keys::ScenePart;
use super::motion::read_motion;
use super::performance::read_interpolation;
use super::region::read_region;
use super::section::Section;
use crate::Up;
use sinew_character::nearest;
use sinew_control::{
    ConstraintMotion, Extrapolation, Interpolation, Key, KeyValue, Keyframes, Motion, PlaceMotion,
};
use sinew_files::ReadError;
use sinew_math::Vec3;
use sinew_sim::WorldDesc;
use sinew_sim::desc::{BeltDesc, ConstraintDesc, ConstraintKind, PointDesc};

/// Keys that go with some kinds only.
const LED: [&str; 3] = ["place", "path", "motion"];
const LONG: [&str; 2] = ["length", "lengths"];

/// Reads all constraints of a scene and how they are led. `world` has all that they can hold.
pub(super) fn read_constraints(
    scene: &Section,
    world: &WorldDesc,
    up: Up,
) -> Result<(Vec<ConstraintDesc>, Vec<ConstraintMotion>), ReadError> {
    let (mut all, mut motions) = (Vec::new(), Vec::new());
    for section in scene.sections("constraint", ScenePart::Constraint)? {
        let name = match section.text("name")? {
            Some(name) if all.iter().any(|other: &ConstraintDesc| other.name == name) => {
                let message = format!("a constraint above is named `{name}` too: rename one");
                return Err(section.error("name", message));
            }
            Some(name) => name.to_owned(),
            None => format!("constraint-{}", all.len() + 1),
        };
        let kind = read_kind(&section, world, up)?;
        let stiffness = section.number("stiffness", "above 0 and at most 1e12", |k| k > 0.0 && k <= 1e12)?;
        let damping = section.number("damping", "from 0 to 1000", |d| (0.0..=1000.0).contains(&d))?;
        motions.push(read_motion_of(&section)?);
        all.push(ConstraintDesc { name, kind, stiffness, damping });
    }
    Ok((all, motions))
}

fn read_kind(section: &Section, world: &WorldDesc, up: Up) -> Result<ConstraintKind, ReadError> {
    let kind = section.one_of(&["drag", "pin", "join", "belt"])?;
    let (foreign, words): (&[&str], _) = match kind {
        "drag" | "pin" => (&LONG, "`join` or `belt`"),
        _ => (&LED, "`drag` or `pin`"),
    };
    if let Some(key) = foreign.iter().find(|key| section.has(key)) {
        return Err(section.error(key, format!("`{key}` goes with {words}, not with `{kind}`")));
    }
    if kind != "join" && section.has("rope") {
        return Err(section.error("rope", "`rope` goes with `join` only"));
    }
    let length = section.number("length", "0 or more", |l| l >= 0.0)?;
    Ok(match kind {
        "drag" | "pin" => {
            let point = section.needed(kind, section.section(kind, ScenePart::Point)?)?;
            let (point, place) = (read_point(&point, world, up)?, read_place(section)?);
            if kind == "drag" {
                ConstraintKind::Drag { point, place }
            } else {
                ConstraintKind::Pin { point, place }
            }
        }
        "join" => {
            let ends = section.sections(kind, ScenePart::Point)?;
            let [a, b] = &ends[..] else {
                let message = format!("`join` has {} points: it takes two", ends.len());
                return Err(section.error(kind, message));
            };
            let points = [read_point(a, world, up)?, read_point(b, world, up)?];
            ConstraintKind::Join { points, length, is_unilateral: section.flag("rope")? }
        }
        _ => {
            let belt = section.needed(kind, section.section(kind, ScenePart::Belt)?)?;
            if let Some(length) = length.filter(|length| *length == 0.0) {
                return Err(
                    section.error("length", format!("`length` is {length}: that of a belt is above 0"))
                );
            }
            let axis = belt.needed("axis", belt.vector("axis")?)?;
            if axis.norm() < 1e-9 {
                return Err(belt.error("axis", "`axis` has no length: it must point somewhere"));
            }
            let center = belt.needed("center", belt.vector("center")?)?;
            ConstraintKind::Belt(BeltDesc { body: read_body(&belt, world)?, center, axis, length })
        }
    })
}

/// Where a point is held at the start: at the first key of its path, where it is said, or where the point is.
fn read_place(section: &Section) -> Result<Option<Vec3>, ReadError> {
    let given = section.vector("place")?;
    if section.has("path") {
        if given.is_some() {
            return Err(
                section.error("place", "`place` and `path` exclude each other: the path has the first place")
            );
        }
        let rows = section.number_rows::<4>("path")?;
        return Ok(rows.first().map(|[_, x, y, z]| Vec3::new(*x, *y, *z)));
    }
    Ok(given)
}

fn read_motion_of(section: &Section) -> Result<ConstraintMotion, ReadError> {
    let interpolation = read_interpolation(section)?.unwrap_or(Interpolation::KochanekBartels);
    let curve =
        (interpolation, if section.flag("loop")? { Extrapolation::Loop } else { Extrapolation::Hold });
    if section.has("path") && section.has("motion") {
        return Err(section.error("motion", "`path` and `motion` exclude each other: keep one"));
    }
    let path: Vec<_> = section
        .number_rows::<4>("path")?
        .iter()
        .map(|[t, x, y, z]| Key::at(*t, Vec3::new(*x, *y, *z)))
        .collect();
    let place = match (read_motion(section)?, build_keys(section, "path", path, curve)?) {
        (_, Some(path)) => PlaceMotion::Along(path),
        (Motion::Still, None) => PlaceMotion::Still,
        (motion, None) => PlaceMotion::Moved(motion),
    };
    let numbers = |key: &str, words: &str, accepts: fn(f64) -> bool| {
        let rows = section.number_rows::<2>(key)?;
        if let Some([t, value]) = rows.iter().find(|[_, value]| !accepts(*value)) {
            return Err(section.error(key, format!("`{key}` is {value} at {t} s: it must be {words}")));
        }
        let keys = rows.iter().map(|[t, value]| Key::at(*t, *value)).collect();
        build_keys(section, key, keys, curve)
    };
    Ok(ConstraintMotion {
        place,
        strength: numbers("strengths", "from 0 to 1", |s| (0.0..=1.0).contains(&s))?,
        length: numbers("lengths", "0 or more", |l| l >= 0.0)?,
    })
}

fn build_keys<T: KeyValue>(
    section: &Section,
    key: &str,
    keys: Vec<Key<T>>,
    (interpolation, beyond): (Interpolation, Extrapolation),
) -> Result<Option<Keyframes<T>>, ReadError> {
    if !section.has(key) {
        return Ok(None);
    }
    let built = Keyframes::build(keys, interpolation, beyond);
    built.map(Some).map_err(|error| section.error(key, format!("`{key}`: {}", error.faults.join("; "))))
}

fn read_point(point: &Section, world: &WorldDesc, up: Up) -> Result<PointDesc, ReadError> {
    let whose = point.one_of(&["body", "character", "obstacle"])?;
    let kinds: &[&'static str] = if whose == "body" { &["surface", "inside", "region"] } else { &["place"] };
    let others: &[&str] = if whose == "body" { &["bone", "place"] } else { &["surface", "inside", "region"] };
    if let Some(key) = others.iter().find(|key| point.has(key)) {
        return Err(point.error(key, format!("`{key}` does not go with `{whose}`")));
    }
    match whose {
        "body" => {
            let body = read_body(point, world)?;
            match point.one_of(kinds)? {
                "surface" => {
                    Ok(PointDesc::Surface { body, place: point.needed("surface", point.vector("surface")?)? })
                }
                "inside" => {
                    Ok(PointDesc::Inside { body, place: point.needed("inside", point.vector("inside")?)? })
                }
                _ => Ok(PointDesc::Region { body, region: read_region(point, up)? }),
            }
        }
        "character" => {
            let rigs: Vec<&str> = world.rigs.iter().map(|rig| rig.name.as_str()).collect();
            let rig = known(point, "character", &rigs)?;
            let found = world.rigs.iter().find(|other| other.name == rig);
            let bones = found.iter().flat_map(|rig| &rig.skeleton.bones);
            let bone = known(point, "bone", &bones.map(|bone| bone.name.as_str()).collect::<Vec<_>>())?;
            Ok(PointDesc::Bone { rig, bone, place: point.vector("place")? })
        }
        _ => {
            if point.has("bone") {
                return Err(point.error("bone", "`bone` goes with `character`"));
            }
            let names: Vec<&str> = world.obstacles.iter().map(|obstacle| obstacle.name.as_str()).collect();
            let obstacle = known(point, "obstacle", &names)?;
            Ok(PointDesc::Obstacle { obstacle, place: point.vector("place")? })
        }
    }
}

fn read_body(section: &Section, world: &WorldDesc) -> Result<String, ReadError> {
    known(section, "body", &world.bodies.iter().map(|body| body.name.as_str()).collect::<Vec<_>>())
}

/// The name that a key gives, one of those that there are.
fn known(section: &Section, key: &str, names: &[&str]) -> Result<String, ReadError> {
    let name = section.needed(key, section.text(key)?)?;
    if names.contains(&name) {
        return Ok(name.to_owned());
    }
    let meant = nearest(name, names).map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
    Err(section.error(key, format!("there is no {key} \"{}\"{meant}", name.escape_debug())))
}
