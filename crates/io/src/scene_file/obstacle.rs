//! `[[obstacle]]` and `[contact]` of a scene file.

use super::keys::ScenePart;
use super::motion::read_motion;
use super::section::Section;
use crate::mesh_file::read_surface;
use sinew_contact::{ConvexHull, DistanceGrid, HeightField, ShapeFault, TriangleSolid};
use sinew_control::Motion;
use sinew_files::{Loaded, ReadError};
use sinew_math::{Isometry, Vec3, so3};
use sinew_sim::desc::{ContactDesc, Mobility, ObstacleDesc, Response, Shape};
use std::path::Path;

const SHAPES: [&str; 9] =
    ["plane", "sphere", "box", "capsule", "cylinder", "hull", "mesh", "grid", "heights"];
/// Cells of a grid along its longest side when nothing is said.
const DEFAULT_CELLS: f64 = 48.0;

/// Reads an obstacle and how it moves. `earlier` are the obstacles above it in the file.
pub(super) fn read_obstacle(
    section: &Section,
    earlier: &[ObstacleDesc],
    folder: &Path,
) -> Result<Loaded<(ObstacleDesc, Motion)>, ReadError> {
    let name = match section.text("name")? {
        Some(name) if earlier.iter().any(|other| other.name == name) => {
            return Err(section.error("name", format!("an obstacle above is named `{name}` too: rename one")));
        }
        Some(name) => name.to_owned(),
        None => format!("obstacle-{}", earlier.len() + 1),
    };
    let degrees = core::f64::consts::PI / 180.0;
    let position = section.vector("position")?.unwrap_or(Vec3::zeros());
    let turned = section.vector("turn")?.unwrap_or(Vec3::zeros()) * degrees;
    let friction = section.number("friction", "0 or more", |f| f >= 0.0)?;
    let stiffness = section.number("stiffness", "above 0 and at most 1e6", |s| s > 0.0 && s <= 1e6)?;
    let density = section.number("density", "above 0 and below 1e9", |d| d > 0.0 && d < 1e9)?;
    let velocity = section.vector("velocity")?;
    let spin = section.vector("spin")?;
    let motion = read_motion(section)?;
    let part_of = section.text("part_of")?;
    let mobility = match density {
        _ if part_of.is_some() => {
            if let Some(key) =
                ["density", "motion", "velocity", "spin"].into_iter().find(|key| section.has(key))
            {
                let message =
                    format!("`{key}` and `part_of` exclude each other: a part moves with its whole");
                return Err(section.error(key, message));
            }
            let whole = earlier.iter().position(|other| Some(other.name.as_str()) == part_of);
            let Some(whole) = whole else {
                let message = format!(
                    "no obstacle above is named `{}`: an obstacle stands above its parts",
                    part_of.unwrap_or_default()
                );
                return Err(section.error("part_of", message));
            };
            Mobility::PartOf(whole)
        }
        Some(_) if section.has("motion") => {
            let message = "`density` and `motion` exclude each other: an obstacle moves by itself or is led";
            return Err(section.error("density", message));
        }
        Some(density) => Mobility::Free {
            density,
            velocity: velocity.unwrap_or(Vec3::zeros()),
            spin: spin.unwrap_or(Vec3::zeros()) * degrees,
        },
        None => {
            for (key, given) in [("velocity", velocity), ("spin", spin)] {
                if given.is_some() {
                    let message =
                        format!("`{key}` goes with `density`: only a free obstacle has one of its own");
                    return Err(section.error(key, message));
                }
            }
            if section.has("motion") { Mobility::Kinematic } else { Mobility::Fixed }
        }
    };
    let shape = read_shape(section, folder)?;
    let desc = ObstacleDesc {
        name,
        shape: shape.value,
        pose: Isometry::from_parts(position.into(), so3::exp(&turned)),
        mobility,
        friction,
        stiffness: stiffness.unwrap_or(1.0),
        is_glass: section.has("glass") && section.flag("glass")?,
    };
    Ok(Loaded { value: (desc, motion), notes: shape.notes })
}

fn read_shape(section: &Section, folder: &Path) -> Result<Loaded<Shape>, ReadError> {
    let kind = section.one_of(&SHAPES)?;
    let mut notes = Vec::new();
    let long_and_round = |key: &str| -> Result<(f64, f64), ReadError> {
        let [length, radius] = section.needed(key, section.numbers(key)?)?;
        Ok((0.5 * length, radius))
    };
    let shape = match kind {
        "plane" => {
            let normal = section.needed(kind, section.vector(kind)?)?;
            let Some(normal) = normal.try_normalize(1e-9) else {
                return Err(section.error(kind, "`plane` has no length: it must point out of the ground"));
            };
            Ok(Shape::Plane { normal })
        }
        "sphere" => {
            let radius = section.needed(kind, section.number(kind, "above 0", |r| r > 0.0)?)?;
            Ok(Shape::Sphere { radius })
        }
        "box" => Ok(Shape::Cuboid { half: 0.5 * section.needed(kind, section.vector(kind)?)? }),
        "capsule" => long_and_round(kind).map(|(half_length, radius)| Shape::Capsule { half_length, radius }),
        "cylinder" => {
            long_and_round(kind).map(|(half_length, radius)| Shape::Cylinder { half_length, radius })
        }
        "heights" => read_heights(section),
        _ => {
            let scale =
                section.number("scale", "above 0 and at most 1e6", |s| s > 0.0 && s <= 1e6)?.unwrap_or(1.0);
            let file = folder.join(section.needed(kind, section.text(kind)?)?);
            let read = read_surface(&file)?;
            notes = read.notes;
            let mut surface = read.value;
            surface.vertices.iter_mut().for_each(|v| *v *= scale);
            let cells = section.number("cells", "a whole number from 4 to 500", |n| {
                (4.0..=500.0).contains(&n) && n.fract() == 0.0
            })?;
            match kind {
                "hull" => ConvexHull::build(&surface.vertices).map(Shape::Convex),
                "mesh" => TriangleSolid::build(surface).map(Shape::Mesh),
                _ => DistanceGrid::of_surface(surface, cells.unwrap_or(DEFAULT_CELLS) as usize)
                    .map(Shape::Grid),
            }
            .map_err(|ShapeFault(what)| section.error(kind, what))
        }
    }?;
    if let Some(fault) = shape.fault() {
        return Err(section.error(kind, format!("`{kind}`: {fault}")));
    }
    Ok(Loaded { value: shape, notes })
}

fn read_heights(section: &Section) -> Result<Shape, ReadError> {
    let heights = section.number_list("heights")?.unwrap_or_default();
    let is_count = |n: f64| n >= 2.0 && n.fract() == 0.0 && n <= heights.len() as f64;
    let columns = section.number("columns", "a whole number from 2 to all heights", is_count)?;
    let columns = section.needed("columns", columns)? as usize;
    let spacing = section.needed("spacing", section.number("spacing", "above 0", |s| s > 0.0)?)?;
    let rows = heights.len() / columns;
    let field = HeightField::build([columns, rows], spacing, heights);
    field.map(Shape::Heights).map_err(|ShapeFault(what)| section.error("heights", what))
}

/// Reads `[contact]`. Bodies touch each other where there are obstacles or the table is given, unless it says otherwise.
pub(super) fn read_contact(
    scene: &Section,
    has_obstacles: bool,
    self_contact: Vec<String>,
) -> Result<ContactDesc, ReadError> {
    let mut contact = ContactDesc { between_bodies: has_obstacles, self_contact, ..ContactDesc::default() };
    let Some(section) = scene.section("contact", ScenePart::Contact)? else { return Ok(contact) };
    contact.between_bodies = !section.has("bodies") || section.flag("bodies")?;
    if let Some(friction) = section.number("friction", "0 or more", |f| f >= 0.0)? {
        contact.friction = friction;
    }
    if let Some(stiffness) =
        section.number("stiffness", "above 0 and at most 1e6", |s| s > 0.0 && s <= 1e6)?
    {
        contact.stiffness = stiffness;
    }
    if let Some(step) = section.number("longest_step", "above 0", |s| s > 0.0)? {
        contact.longest_step = step;
    }
    let restitution = section.number("restitution", "from 0 to 1", |r| (0.0..=1.0).contains(&r))?;
    contact.response = match section.choice("response", &["penalty", "projection", "impulse"])? {
        Some("projection") => Response::Projection,
        Some("impulse") => Response::Impulse { restitution: restitution.unwrap_or(0.0) },
        _ => Response::Penalty,
    };
    if restitution.is_some() && !matches!(contact.response, Response::Impulse { .. }) {
        return Err(section.error("restitution", "`restitution` goes with response = \"impulse\" only"));
    }
    Ok(contact)
}
