//! Reads `[body.skin]` and `[character.skin]`: elastic skin over muscles.

use super::region::read_region;
use super::section::Section;
use crate::Up;
use crate::mesh_file::read_surface;
use crate::scene_schema::{BandsTable, DriveTable, DrivenNumber, SkinMuscleTable, SkinPartTable, SkinTable};
use crate::softness_points::SoftnessPoints;
use sinew_contact::DistanceGrid;
use sinew_files::ReadError;
use sinew_flesh::network::Anisotropy;
use sinew_math::nalgebra::Quaternion;
use sinew_math::{Isometry, Rotation, Vec3};
use sinew_mesh::{ImplicitSurface, PointField, Primitive, TriMesh};
use sinew_sim::desc::{
    BandsDesc, Deformation, DriveSource, FixedSkin, ImplicitMuscleDesc, ImplicitMuscleDrive, ImplicitSolid,
    MuscleParameter, SkinDesc, SkinFactors, SkinRegion, SolidShape,
};
use sinew_sim::wrap_skin;
use std::path::Path;
use std::sync::Arc;

/// Cells of the distance grid of a muscle.
const DEFAULT_CELLS: usize = 64;

/// Where a skin is read.
pub(super) struct SkinPlace<'a> {
    /// The name of its body, and of its skeleton if it has one.
    pub(super) name: &'a str,
    pub(super) has_bones: bool,
    pub(super) up: Up,
    pub(super) folder: &'a Path,
}

/// Reads a skin with its surface, or wraps one.
pub(super) fn read_skin(
    section: &Section<SkinTable>,
    surface: Option<TriMesh>,
    place: &SkinPlace,
) -> Result<SkinDesc, ReadError> {
    // muscles, and the surface over them
    let items = section.items("muscle", &section.table().muscle);
    let numbered = items.iter().enumerate();
    let muscles: Vec<ImplicitMuscleDesc> =
        numbered.map(|(i, muscle)| read_muscle(muscle, i, place)).collect::<Result<_, _>>()?;
    let default = SkinDesc::default();
    let fat = section.fat.unwrap_or(default.fat);
    let surface = match (surface, section.wrap) {
        (Some(_), Some(_)) => {
            return Err(
                section.error("wrap", "`wrap` makes the surface of the skin: remove `surface`, or `wrap`")
            );
        }
        (Some(surface), None) => surface,
        (None, None) => {
            return Err(section.error("wrap", "skin needs a `surface`, or `wrap` in its skin table"));
        }
        (None, Some(count)) => {
            let up = if place.up == Up::Y { Vec3::y() } else { Vec3::z() };
            let axis = section.axis.map(|ends| ends.map(Vec3::from));
            wrap_skin(&muscles, fat, count, axis, &up).map_err(|what| section.error("wrap", what))?
        }
    };

    // numbers
    let anisotropy = match (section.direction, section.weights) {
        (None, None) => None,
        (Some(direction), Some(weights)) => Some(Anisotropy { direction: Vec3::from(direction), weights }),
        _ => return Err(section.error("weights", "`direction` and `weights` need each other")),
    };
    let mut fabric = default.fabric;
    let numbers = [
        (&mut fabric.areal_density, section.areal_density),
        (&mut fabric.stretch, section.stretch),
        (&mut fabric.poisson, section.poisson),
        (&mut fabric.bending, section.bending),
        (&mut fabric.damping, section.damping),
    ];
    numbers.into_iter().for_each(|(own, given)| *own = given.unwrap_or(*own));
    let fat_field = match &section.fat_points {
        None => default.fat_field.clone(),
        Some(file) => read_fat(section, file, place)?,
    };
    let parts = section.items("part", &section.table().part);
    let fixed = section.items("fixed", &section.table().fixed);
    Ok(SkinDesc {
        surface,
        fabric,
        anisotropy,
        rest_length: section.rest_length.unwrap_or(default.rest_length),
        rest_curvature: section.rest_curvature.unwrap_or(default.rest_curvature),
        even_points: section.even_points.unwrap_or(section.wrap.is_some()),
        pressure: section.pressure.unwrap_or(default.pressure),
        rig: place.has_bones.then(|| place.name.to_owned()),
        muscles,
        fat,
        fat_field,
        return_rate: section.return_rate.unwrap_or(default.return_rate),
        friction: section.friction.unwrap_or(default.friction),
        bands: section.bands.as_ref().map(read_bands),
        regions: parts.iter().map(|part| read_part(part, place.up)).collect::<Result<_, _>>()?,
        fixed: fixed
            .iter()
            .map(|part| {
                let region = read_region(&part.child("region", &part.table().region), place.up)?;
                Ok(FixedSkin { region, bone: part.bone.clone() })
            })
            .collect::<Result<_, ReadError>>()?,
        feedback: section.feedback.unwrap_or(default.feedback),
    })
}

/// Reads what fat is multiplied by at points.
fn read_fat(section: &Section<SkinTable>, file: &str, place: &SkinPlace) -> Result<PointField, ReadError> {
    let points = SoftnessPoints::read(&place.folder.join(file))
        .map_err(|error| section.error("fat_points", error.to_string()))?;
    let own = points.of_body(place.name);
    if own.is_empty() {
        let name = place.name;
        let message = format!("`{file}` has points of other bodies, and none of '{name}': rename them there");
        return Err(section.error("fat_points", message));
    }
    Ok(own)
}

pub(super) fn read_bands(table: &BandsTable) -> BandsDesc {
    let default = BandsDesc::default();
    BandsDesc {
        stiffness: table.stiffness.unwrap_or(default.stiffness),
        damping_ratio: table.damping.unwrap_or(default.damping_ratio),
        slack: table.slack.unwrap_or(default.slack),
        automatic: table.automatic.unwrap_or(default.automatic),
        by_hand: table.by_hand.iter().map(|ends| ends.map(Vec3::from)).collect(),
    }
}

fn read_part(part: &Section<SkinPartTable>, up: Up) -> Result<SkinRegion, ReadError> {
    let region = read_region(&part.child("region", &part.table().region), up)?;
    let or_one = |factor: Option<f64>| factor.unwrap_or(1.0);
    let factors = SkinFactors {
        mass: or_one(part.mass),
        elasticity: or_one(part.elasticity),
        damping: or_one(part.damping),
        rest_length: or_one(part.rest_length),
        rest_curvature: or_one(part.rest_curvature),
        fat: or_one(part.fat),
        bands: or_one(part.bands),
        slack: or_one(part.slack),
    };
    Ok(SkinRegion { region, factors })
}

fn read_muscle(
    muscle: &Section<SkinMuscleTable>,
    i: usize,
    place: &SkinPlace,
) -> Result<ImplicitMuscleDesc, ReadError> {
    if let (Some(_), false) = (&muscle.bone, place.has_bones) {
        return Err(muscle.error("bone", "there are no bones here: muscles on bones need `[[character]]`"));
    }
    let rotation = match muscle.rotation {
        None => Rotation::identity(),
        Some([x, y, z, w]) => {
            let quaternion = Quaternion::new(w, x, y, z);
            if quaternion.norm() < 1e-9 {
                return Err(muscle.error("rotation", "`rotation` is zero: give a unit quaternion"));
            }
            // unit ones keep every bit
            if (quaternion.norm() - 1.0).abs() < 1e-12 {
                Rotation::new_unchecked(quaternion)
            } else {
                Rotation::from_quaternion(quaternion)
            }
        }
    };
    let center = muscle.center.map_or(Vec3::zeros(), Vec3::from);
    Ok(ImplicitMuscleDesc {
        name: muscle.name.clone().unwrap_or_else(|| format!("muscle {}", i + 1)),
        bone: muscle.bone.clone(),
        pose: Isometry::from_parts(center.into(), rotation),
        solid: ImplicitSolid {
            shape: read_shape(muscle, place.folder)?,
            deformation: Deformation {
                scale: muscle.scale.map_or(Vec3::repeat(1.0), Vec3::from),
                taper: muscle.taper.unwrap_or(0.0),
                twist: muscle.twist.unwrap_or(0.0),
                bend: muscle.bend.unwrap_or(0.0),
            },
        },
        drives: muscle.drive.iter().map(read_drive).collect(),
    })
}

fn read_drive(drive: &DriveTable) -> ImplicitMuscleDrive {
    ImplicitMuscleDrive {
        parameter: match drive.number.unwrap_or(DrivenNumber::Swell) {
            DrivenNumber::Swell => MuscleParameter::Swell,
            DrivenNumber::Length => MuscleParameter::Length,
            DrivenNumber::Taper => MuscleParameter::Taper,
            DrivenNumber::Twist => MuscleParameter::Twist,
            DrivenNumber::Bend => MuscleParameter::Bend,
        },
        source: drive
            .joint
            .as_ref()
            .map_or(DriveSource::Time, |bone| DriveSource::JointAngle { bone: bone.clone() }),
        keys: drive.keys.clone(),
    }
}

fn read_shape(muscle: &Section<SkinMuscleTable>, folder: &Path) -> Result<SolidShape, ReadError> {
    if let Some(radius) = muscle.radius {
        return Ok(match muscle.length {
            None => SolidShape::Sphere { radius },
            Some(length) => SolidShape::Capsule { half_length: 0.5 * length, radius },
        });
    }
    if let Some(radii) = muscle.radii.map(Vec3::from) {
        return Ok(match muscle.squareness {
            None => SolidShape::Ellipsoid { radii },
            Some(squareness) => SolidShape::Superquadric { radii, squareness },
        });
    }
    if let Some(balls) = &muscle.balls {
        let smallest = balls.iter().map(|ball| ball[3]).fold(f64::INFINITY, f64::min);
        let blend = muscle.blend.unwrap_or(0.5 * smallest);
        let parts = balls.iter().map(|&[x, y, z, r]| Primitive::sphere(Vec3::new(x, y, z), r).blended(blend));
        let parts: Vec<Primitive> = parts.collect();
        let surface =
            ImplicitSurface::build(&parts).map_err(|error| muscle.error("balls", error.to_string()))?;
        return Ok(SolidShape::Metaballs(Arc::new(surface)));
    }
    let file = muscle.needed("mesh", muscle.mesh.as_ref())?;
    let surface = read_surface(&folder.join(file))?.value;
    let grid = DistanceGrid::of_surface(surface, muscle.cells.unwrap_or(DEFAULT_CELLS));
    Ok(SolidShape::Grid(Arc::new(grid.map_err(|error| muscle.error("mesh", error.to_string()))?)))
}
