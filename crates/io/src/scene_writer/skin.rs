//! Writes elastic skin: `[body.skin]` and `[character.skin]`.

use super::mesh::MeshFiles;
use super::region::region_table;
use super::{nonzero, quaternion, vector};
use crate::scene_schema::{
    BandsTable, DriveTable, DrivenNumber, FixedSkinTable, SkinMuscleTable, SkinPartTable, SkinTable,
};
use crate::softness_points::MAX_SOFTNESS;
use sinew_math::Vec3;
use sinew_mesh::{ImplicitSurface, Primitive, PrimitiveShape};
use sinew_sim::desc::{
    BandsDesc, DriveSource, ImplicitMuscleDesc, ImplicitMuscleDrive, MuscleParameter, SkinDesc, SkinFactors,
    SkinRegion, SolidShape,
};

/// The table of a skin, whose files begin with `stem`.
pub(super) fn skin_table(skin: &SkinDesc, stem: &str, files: &mut MeshFiles) -> Result<SkinTable, String> {
    let muscles = skin.muscles.iter().map(|muscle| muscle_table(muscle, stem, files));
    let muscle = muscles.collect::<Result<_, _>>()?;
    let is_painted = !skin.fat_field.is_empty();
    let range = 0.0..=MAX_SOFTNESS;
    if let Some((_, factor)) = skin.fat_field.points().iter().find(|(_, factor)| !range.contains(factor)) {
        return Err(format!(
            "has fat that is painted {factor} times as thick, where 0 to {MAX_SOFTNESS} is possible"
        ));
    }
    let fat_points = is_painted.then(|| files.add_points(&format!("{stem}-fat"), &skin.fat_field));
    Ok(SkinTable {
        areal_density: Some(skin.fabric.areal_density),
        stretch: Some(skin.fabric.stretch),
        poisson: Some(skin.fabric.poisson),
        bending: Some(skin.fabric.bending),
        damping: Some(skin.fabric.damping),
        direction: skin.anisotropy.map(|own| vector(&own.direction)),
        weights: skin.anisotropy.map(|own| own.weights),
        rest_length: Some(skin.rest_length),
        rest_curvature: Some(skin.rest_curvature),
        even_points: Some(skin.even_points),
        pressure: Some(skin.pressure),
        fat: Some(skin.fat),
        fat_points,
        return_rate: Some(skin.return_rate),
        friction: Some(skin.friction),
        feedback: skin.feedback.then_some(true),
        bands: skin.bands.as_ref().map(bands_table),
        muscle,
        part: skin.regions.iter().map(part_table).collect(),
        fixed: skin
            .fixed
            .iter()
            .map(|part| FixedSkinTable { region: region_table(&part.region), bone: part.bone.clone() })
            .collect(),
        ..SkinTable::default()
    })
}

pub(super) fn bands_table(bands: &BandsDesc) -> BandsTable {
    BandsTable {
        stiffness: Some(bands.stiffness),
        damping: Some(bands.damping_ratio),
        slack: Some(bands.slack),
        automatic: Some(bands.automatic),
        by_hand: bands.by_hand.iter().map(|ends| ends.each_ref().map(vector)).collect(),
    }
}

fn part_table(part: &SkinRegion) -> SkinPartTable {
    let SkinFactors { mass, elasticity, damping, rest_length, rest_curvature, fat, bands, slack } =
        part.factors;
    SkinPartTable {
        region: region_table(&part.region),
        mass: Some(mass),
        elasticity: Some(elasticity),
        damping: Some(damping),
        rest_length: Some(rest_length),
        rest_curvature: Some(rest_curvature),
        fat: Some(fat),
        bands: Some(bands),
        slack: Some(slack),
    }
}

fn muscle_table(
    muscle: &ImplicitMuscleDesc,
    stem: &str,
    files: &mut MeshFiles,
) -> Result<SkinMuscleTable, String> {
    let deformation = muscle.solid.deformation;
    let mut table = SkinMuscleTable {
        name: Some(muscle.name.clone()),
        bone: muscle.bone.clone(),
        center: nonzero(&muscle.pose.translation.vector),
        rotation: quaternion(&muscle.pose.rotation),
        scale: (deformation.scale != Vec3::repeat(1.0)).then(|| vector(&deformation.scale)),
        taper: (deformation.taper != 0.0).then_some(deformation.taper),
        twist: (deformation.twist != 0.0).then_some(deformation.twist),
        bend: (deformation.bend != 0.0).then_some(deformation.bend),
        drive: muscle.drives.iter().map(drive_table).collect(),
        ..SkinMuscleTable::default()
    };
    match &muscle.solid.shape {
        SolidShape::Sphere { radius } => table.radius = Some(*radius),
        SolidShape::Ellipsoid { radii } => table.radii = Some(vector(radii)),
        SolidShape::Capsule { half_length, radius } => {
            (table.radius, table.length) = (Some(*radius), Some(2.0 * half_length));
        }
        SolidShape::Superquadric { radii, squareness } => {
            (table.radii, table.squareness) = (Some(vector(radii)), Some(*squareness));
        }
        SolidShape::Grid(grid) => {
            let Some(cells) = grid.cells() else {
                return Err(format!("has the muscle '{}' of given distances", muscle.name));
            };
            table.mesh = Some(files.add_surface(&format!("{stem}-muscle"), grid.surface()));
            table.cells = Some(cells);
        }
        SolidShape::Metaballs(surface) => {
            let Some((balls, blend)) = balls_of(surface) else {
                return Err(format!(
                    "has the muscle '{}' of cones, ellipsoids or balls that blend differently",
                    muscle.name
                ));
            };
            (table.balls, table.blend) = (Some(balls), Some(blend));
        }
    }
    Ok(table)
}

/// Centres and radii of balls with the length over which they blend; `None` if they are no balls, or blend over several lengths.
fn balls_of(surface: &ImplicitSurface) -> Option<(Vec<[f64; 4]>, f64)> {
    let ball = |part: &Primitive| match part.shape {
        PrimitiveShape::RoundCone { ends: [a, b], radii: [r, s] } if a == b && r == s => {
            Some([a.x, a.y, a.z, r])
        }
        _ => None,
    };
    let parts = surface.primitives();
    let blend = parts.first()?.blend;
    let balls = parts.iter().map(ball).collect::<Option<_>>()?;
    parts.iter().all(|part| part.blend == blend).then_some((balls, blend))
}

fn drive_table(drive: &ImplicitMuscleDrive) -> DriveTable {
    DriveTable {
        number: Some(match drive.parameter {
            MuscleParameter::Swell => DrivenNumber::Swell,
            MuscleParameter::Length => DrivenNumber::Length,
            MuscleParameter::Taper => DrivenNumber::Taper,
            MuscleParameter::Twist => DrivenNumber::Twist,
            MuscleParameter::Bend => DrivenNumber::Bend,
        }),
        joint: match &drive.source {
            DriveSource::Time => None,
            DriveSource::JointAngle { bone } => Some(bone.clone()),
        },
        keys: drive.keys.clone(),
    }
}
