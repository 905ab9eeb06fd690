//! `[[obstacle]]` of a scene file.

use super::motion::read_motion;
use super::section::Section;
use crate::mesh_file::read_surface;
use crate::scene_schema::{ObstacleMobility, ObstacleTable};
use sinew_contact::{ConvexHull, DistanceGrid, HeightField, ShapeFault, TriangleSolid};
use sinew_control::Motion;
use sinew_files::{Loaded, ReadError};
use sinew_math::{Isometry, Rotation, Vec3, nalgebra, so3};
use sinew_sim::desc::{Mobility, ObstacleDesc, Shape};
use std::path::Path;

/// Cells of a grid along its longest side when nothing is said.
const DEFAULT_CELLS: usize = 48;
/// A vector or quaternion whose length is off 1 by less than this is of length 1: the round-off of making it so.
const UNIT: f64 = 4.0 * f64::EPSILON;

/// The obstacle of a table and how it moves. `earlier` are the obstacles above it in the file, `radians` what a unit of its angles is.
pub(super) fn read_obstacle(
    section: &Section<ObstacleTable>,
    earlier: &[ObstacleDesc],
    radians: f64,
    folder: &Path,
) -> Result<Loaded<(ObstacleDesc, Motion)>, ReadError> {
    let name = match &section.name {
        Some(name) if earlier.iter().any(|other| other.name == *name) => {
            return Err(section.error("name", format!("an obstacle above is named `{name}` too: rename one")));
        }
        Some(name) => name.clone(),
        None => format!("obstacle-{}", earlier.len() + 1),
    };

    // where it is and how it moves
    let motion = read_motion(section.optional("motion", &section.table().motion).as_ref())?;
    let mobility = read_mobility(section, earlier, radians)?;
    let rotation = match section.rotation {
        Some(rotation) => read_rotation(rotation).map_err(|what| section.error("rotation", what))?,
        None => so3::exp(&(section.turn.map_or(Vec3::zeros(), Vec3::from) * radians)),
    };
    let position = section.position.map_or(Vec3::zeros(), Vec3::from);

    // what it is, which may be a file
    let shape = read_shape(section, folder)?;
    let desc = ObstacleDesc {
        name,
        shape: shape.value,
        pose: Isometry::from_parts(position.into(), rotation),
        mobility,
        friction: section.friction,
        stiffness: section.stiffness.unwrap_or(1.0),
        is_glass: section.glass.unwrap_or(false),
    };
    Ok(Loaded { value: (desc, motion), notes: shape.notes })
}

/// A rotation as a quaternion (x, y, z, w). One of length 1 keeps every bit.
pub(super) fn read_rotation(numbers: [f64; 4]) -> Result<Rotation, &'static str> {
    let [x, y, z, w] = numbers;
    let quaternion = nalgebra::Quaternion::new(w, x, y, z);
    let length = quaternion.norm();
    if length < 1e-9 {
        return Err("`rotation` has no length: give a unit quaternion [x, y, z, w]");
    }
    let is_unit = (length - 1.0).abs() <= UNIT;
    Ok(if is_unit { Rotation::new_unchecked(quaternion) } else { Rotation::new_normalize(quaternion) })
}

fn read_mobility(
    section: &Section<ObstacleTable>,
    earlier: &[ObstacleDesc],
    radians: f64,
) -> Result<Mobility, ReadError> {
    // a part moves with its whole
    if let Some(whole) = &section.part_of {
        if let Some(key) = section.first_of(&["density", "motion", "velocity", "spin", "mobility"]) {
            let message = format!("`{key}` and `part_of` exclude each other: a part moves with its whole");
            return Err(section.error(key, message));
        }
        let found = earlier.iter().position(|other| other.name == *whole);
        return found.map(Mobility::PartOf).ok_or_else(|| {
            let message = format!("no obstacle above is named `{whole}`: an obstacle stands above its parts");
            section.error("part_of", message)
        });
    }
    // what is not said follows from the other keys
    let mobility = section.mobility.unwrap_or(match (section.density, &section.motion) {
        (Some(_), _) => ObstacleMobility::Dynamic,
        (None, Some(_)) => ObstacleMobility::Kinematic,
        (None, None) => ObstacleMobility::Fixed,
    });
    let (foreign, word): (&[&str], _) = match mobility {
        ObstacleMobility::Fixed => (&["motion", "density", "velocity", "spin"], "fixed"),
        ObstacleMobility::Kinematic => (&["density", "velocity", "spin"], "kinematic"),
        ObstacleMobility::Dynamic => (&["motion"], "dynamic"),
    };
    if let Some(key) = section.first_of(foreign) {
        let message = match key {
            "velocity" | "spin" => {
                format!("`{key}` goes with `density`: only a dynamic obstacle has one of its own")
            }
            _ => format!("`{key}` does not go with mobility = \"{word}\""),
        };
        return Err(section.error(key, message));
    }
    Ok(match mobility {
        ObstacleMobility::Fixed => Mobility::Fixed,
        ObstacleMobility::Kinematic => Mobility::Kinematic,
        ObstacleMobility::Dynamic => Mobility::Free {
            density: section.needed("density", section.density)?,
            velocity: section.velocity.map_or(Vec3::zeros(), Vec3::from),
            spin: section.spin.map_or(Vec3::zeros(), Vec3::from) * radians,
        },
    })
}

const SHAPES: [&str; 9] =
    ["plane", "sphere", "box", "capsule", "cylinder", "hull", "mesh", "grid", "heights"];

fn read_shape(section: &Section<ObstacleTable>, folder: &Path) -> Result<Loaded<Shape>, ReadError> {
    let kind = section.first_of(&SHAPES).unwrap_or(SHAPES[0]);
    let pair = |numbers: Option<[f64; 2]>| section.needed(kind, numbers);
    let mut notes = Vec::new();
    let shape = match kind {
        // shapes of few numbers
        "plane" => {
            let normal = Vec3::from(section.needed(kind, section.plane)?);
            let length = normal.norm();
            if length < 1e-9 {
                return Err(section.error(kind, "`plane` has no length: it must point out of the ground"));
            }
            let is_unit = (length - 1.0).abs() <= UNIT;
            Shape::Plane { normal: if is_unit { normal } else { normal / length } }
        }
        "sphere" => Shape::Sphere { radius: section.needed(kind, section.sphere)? },
        "box" => Shape::Cuboid { half: 0.5 * Vec3::from(section.needed(kind, section.cuboid)?) },
        "capsule" => {
            let [length, radius] = pair(section.capsule)?;
            Shape::Capsule { half_length: 0.5 * length, radius }
        }
        "cylinder" => {
            let [length, radius] = pair(section.cylinder)?;
            Shape::Cylinder { half_length: 0.5 * length, radius }
        }
        // shapes of many
        "heights" => read_heights(section)?,
        _ => {
            let read = read_mesh_shape(section, kind, folder)?;
            notes = read.notes;
            read.value
        }
    };
    if let Some(fault) = shape.fault() {
        return Err(section.error(kind, format!("`{kind}`: {fault}")));
    }
    Ok(Loaded { value: shape, notes })
}

/// A shape that is made from a surface.
fn read_mesh_shape(
    section: &Section<ObstacleTable>,
    kind: &str,
    folder: &Path,
) -> Result<Loaded<Shape>, ReadError> {
    let file = match kind {
        "hull" => &section.hull,
        "mesh" => &section.mesh,
        _ => &section.grid,
    };
    let read = read_surface(&folder.join(section.needed(kind, file.as_ref())?)).map_err(|mut error| {
        error.message += &format!(" (named in line {} of the scene)", section.line(kind));
        error
    })?;
    let mut surface = read.value;
    if let Some(scale) = section.scale {
        surface.vertices.iter_mut().for_each(|v| *v *= scale);
    }
    let shape = match kind {
        "hull" => ConvexHull::build(&surface.vertices).map(Shape::Convex),
        "mesh" => TriangleSolid::build(surface).map(Shape::Mesh),
        _ => DistanceGrid::of_surface(surface, section.cells.unwrap_or(DEFAULT_CELLS)).map(Shape::Grid),
    };
    let value = shape.map_err(|ShapeFault(what)| section.error(kind, what))?;
    Ok(Loaded { value, notes: read.notes })
}

fn read_heights(section: &Section<ObstacleTable>) -> Result<Shape, ReadError> {
    let heights = section.heights.clone().unwrap_or_default();
    let columns = section.needed("columns", section.columns)?;
    if columns > heights.len() {
        let message = format!("`columns` is {columns}: it must be at most the {} heights", heights.len());
        return Err(section.error("columns", message));
    }
    let spacing = section.needed("spacing", section.spacing)?;
    let field = HeightField::build([columns, heights.len() / columns], spacing, heights);
    field.map(Shape::Heights).map_err(|ShapeFault(what)| section.error("heights", what))
}
