//! Writes elastic skin: `[body.skin]` and `[character.skin]`.

use super::mesh::MeshFiles;
use super::region::region_table;
use super::{nonzero, quaternion, vector};
use crate::scene_schema::{
    BandsTable, DriveTable, DrivenNumber, FixedSkinTable, SkinMuscleTable, SkinPartTable, SkinTable,
};
use sinew_math::Vec3;
use sinew_sim::desc::{
    BandsDesc, DriveSource, ImplicitMuscleDesc, ImplicitMuscleDrive, MuscleParameter, SkinDesc, SkinFactors,
    SkinRegion, SolidShape,
};

/// The table of a skin, whose files begin with `stem`.
pub(super) fn skin_table(skin: &SkinDesc, stem: &str, files: &mut MeshFiles) -> Result<SkinTable, String> {
    if !skin.fat_field.is_empty() {
        return Err("has fat that is painted".into());
    }
    let muscles = skin.muscles.iter().map(|muscle| muscle_table(muscle, stem, files));
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
        return_rate: Some(skin.return_rate),
        friction: Some(skin.friction),
        feedback: skin.feedback.then_some(true),
        bands: skin.bands.as_ref().map(bands_table),
        muscle: muscles.collect::<Result<_, _>>()?,
        part: skin.regions.iter().map(part_table).collect(),
        fixed: skin
            .fixed
            .iter()
            .map(|part| FixedSkinTable { region: region_table(&part.region), bone: part.bone.clone() })
            .collect(),
        ..SkinTable::default()
    })
}

fn bands_table(bands: &BandsDesc) -> BandsTable {
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
        SolidShape::Metaballs(_) => return Err(format!("has the muscle '{}' of metaballs", muscle.name)),
    }
    Ok(table)
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
