//! Reads `[[obstacle]]` of a scene file: shape, pose and mobility.

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

/// The default number of cells of a distance grid along its longest side.
const DEFAULT_CELLS: usize = 48;
/// The round-off of normalising: a vector or quaternion whose length differs from 1 by less than this counts as unit.
const UNIT: f64 = 4.0 * f64::EPSILON;

/// Reads an obstacle and its motion. `earlier` are the obstacles above it in the file, `radians` is the unit of its angles (rad).
pub(super) fn read_obstacle(
    section: &Section<ObstacleTable>,
    earlier: &[ObstacleDesc],
    radians: f64,
    folder: &Path,
) -> Result<Loaded<(ObstacleDesc, Motion)>, ReadError> {
    // a unique name
    let name = match &section.name {
        Some(name) if earlier.iter().any(|other| other.name == *name) => {
            return Err(
                section.error("name", format!("an obstacle above is also named `{name}`: rename one"))
            );
        }
        Some(name) => name.clone(),
        None => format!("obstacle-{}", earlier.len() + 1),
    };

    // pose and motion
    let motion = read_motion(section.optional("motion", &section.table().motion).as_ref())?;
    let mobility = read_mobility(section, earlier, radians)?;
    let rotation = match section.rotation {
        Some(rotation) => read_rotation(rotation).map_err(|what| section.error("rotation", what))?,
        None => so3::exp(&(section.turn.map_or(Vec3::zeros(), Vec3::from) * radians)),
    };
    let position = section.position.map_or(Vec3::zeros(), Vec3::from);

    // shape, which may be a file
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

/// Reads a rotation from a quaternion (x, y, z, w), and normalises it unless it is a unit quaternion already.
pub(super) fn read_rotation(numbers: [f64; 4]) -> Result<Rotation, &'static str> {
    let [x, y, z, w] = numbers;
    let quaternion = nalgebra::Quaternion::new(w, x, y, z);
    let length = quaternion.norm();
    if length < 1e-9 {
        return Err("`rotation` is zero: give a unit quaternion [x, y, z, w]");
    }
    let is_unit = (length - 1.0).abs() <= UNIT;
    Ok(if is_unit { Rotation::new_unchecked(quaternion) } else { Rotation::new_normalize(quaternion) })
}

fn read_mobility(
    section: &Section<ObstacleTable>,
    earlier: &[ObstacleDesc],
    radians: f64,
) -> Result<Mobility, ReadError> {
    // a part moves with the obstacle that it belongs to
    if let Some(whole) = &section.part_of {
        if let Some(key) = section.first_of(&["density", "motion", "velocity", "spin", "mobility"]) {
            let message = format!("`{key}` and `part_of` cannot be combined: a part moves with its obstacle");
            return Err(section.error(key, message));
        }
        let found = earlier.iter().position(|other| other.name == *whole);
        return found.map(Mobility::PartOf).ok_or_else(|| {
            let message = format!("no obstacle above is named `{whole}`: put an obstacle before its parts");
            section.error("part_of", message)
        });
    }

    // by default, mobility follows from the other keys
    let mobility = section.mobility.unwrap_or(match (section.density, &section.motion) {
        (Some(_), _) => ObstacleMobility::Dynamic,
        (None, Some(_)) => ObstacleMobility::Kinematic,
        (None, None) => ObstacleMobility::Fixed,
    });

    // reject keys of another mobility
    let (foreign, word): (&[&str], _) = match mobility {
        ObstacleMobility::Fixed => (&["motion", "density", "velocity", "spin"], "fixed"),
        ObstacleMobility::Kinematic => (&["density", "velocity", "spin"], "kinematic"),
        ObstacleMobility::Dynamic => (&["motion"], "dynamic"),
    };
    if let Some(key) = section.first_of(foreign) {
        let message = match key {
            "velocity" | "spin" => {
                format!("`{key}` needs `density`: only dynamic obstacles have an initial velocity")
            }
            _ => format!("`{key}` has no meaning with mobility = \"{word}\""),
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
        // primitives
        "plane" => {
            let normal = Vec3::from(section.needed(kind, section.plane)?);
            let length = normal.norm();
            if length < 1e-9 {
                return Err(
                    section.error(kind, "`plane` is zero: give the normal that points out of the ground")
                );
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
        // height fields and meshes
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

/// Reads a shape made from a surface file.
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
        error.message += &format!(" (line {} of the scene)", section.line(kind));
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
        let message =
            format!("`columns` is {columns}: it must be at most the number of heights ({})", heights.len());
        return Err(section.error("columns", message));
    }
    let spacing = section.needed("spacing", section.spacing)?;
    let field = HeightField::build([columns, heights.len() / columns], spacing, heights);
    field.map(Shape::Heights).map_err(|ShapeFault(what)| section.error("heights", what))
}
