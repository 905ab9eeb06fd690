//! Writes muscles as `[[muscle]]`; angles of drivers are in radians.

use super::mesh::MeshFiles;
use super::number::keyed_number;
use super::vector;
use crate::scene_schema::{MuscleDriverTable, MuscleEndTable, MuscleTable};
use sinew_control::{BezierCurve, Curve, Handles, JointCurve, MuscleDrive};
use sinew_sim::desc::{FibreField, FleshMuscleDesc, MuscleDesc, MuscleEnd, MuscleKind, MuscleVolume};
use sinew_take::Scene;

/// The tables of all muscles of a scene.
pub(super) fn muscle_tables(scene: &Scene, meshes: &mut MeshFiles) -> Result<Vec<MuscleTable>, String> {
    let relaxed = MuscleDrive::default();
    let mut tables = Vec::new();
    for (i, muscle) in scene.world.muscles.iter().enumerate() {
        let drive = scene.curves.muscles.get(i).unwrap_or(&relaxed);
        let table = muscle_table(scene, muscle, drive, meshes);
        tables.push(table.map_err(|what| format!("muscle '{}': {what}", muscle.name))?);
    }
    Ok(tables)
}

fn muscle_table(
    scene: &Scene,
    muscle: &MuscleDesc,
    drive: &MuscleDrive,
    meshes: &mut MeshFiles,
) -> Result<MuscleTable, String> {
    let curve = &muscle.curve;
    let activation = keyed_number(&drive.activation).map_err(|what| format!("its activation {what}"))?;
    let driver = drive.joint.as_ref().map(driver_table).transpose()?;
    let own = match &muscle.kind {
        MuscleKind::Flesh(flesh) => {
            let table = flesh_table(flesh, &muscle.name, meshes);
            MuscleTable { stress: Some(curve.max_stress), ..table }
        }
        MuscleKind::Line(line) => {
            let body =
                scene.world.bodies.iter().find(|body| {
                    body.attachment.as_ref().is_some_and(|attachment| attachment.rig == line.rig)
                });
            let body = body.ok_or_else(|| format!("the skeleton '{}' has no flesh", line.rig))?;
            let point = |(bone, place): &(String, _)| MuscleEndTable {
                place: vector(place),
                bone: Some(bone.clone()),
                radius: None,
            };
            let [first, via @ .., last] = line.points.as_slice() else {
                return Err("its line has fewer than two points".into());
            };
            MuscleTable {
                body: Some(body.name.clone()),
                line: Some(true),
                origin: Some(point(first)),
                via: (!via.is_empty()).then(|| via.iter().map(point).collect()),
                insertion: Some(point(last)),
                force: Some(curve.max_stress),
                ..MuscleTable::default()
            }
        }
    };
    Ok(MuscleTable {
        name: Some(muscle.name.clone()),
        optimal: Some(curve.optimal_stretch),
        passive: Some(curve.passive),
        activation: Some(activation),
        driver,
        ..own
    })
}

fn flesh_table(flesh: &FleshMuscleDesc, name: &str, meshes: &mut MeshFiles) -> MuscleTable {
    let (surface, radius) = match &flesh.volume {
        MuscleVolume::Body => (None, None),
        MuscleVolume::Mesh(mesh) => (Some(meshes.add_surface(&file_stem(name), mesh)), None),
        MuscleVolume::Spindle(radius) => (None, Some(*radius)),
    };
    let end = |end: &MuscleEnd| MuscleEndTable {
        place: vector(&end.place),
        bone: end.bone.clone(),
        radius: end.radius,
    };
    let ends = flesh.ends.as_ref();
    MuscleTable {
        body: Some(flesh.body.clone()),
        surface,
        radius,
        origin: ends.map(|ends| end(&ends[0])),
        insertion: ends.map(|ends| end(&ends[1])),
        fibres: match &flesh.fibres {
            FibreField::Harmonic => None,
            FibreField::Along(direction) => Some(vector(direction)),
        },
        own_tissue: flesh.tissue.is_none().then_some(false),
        young: flesh.tissue.map(|tissue| tissue.young),
        poisson: flesh.tissue.map(|tissue| tissue.poisson),
        ..MuscleTable::default()
    }
}

/// A file name of a muscle: letters, digits and dashes.
fn file_stem(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!("muscle-{}", name.chars().map(plain).collect::<String>())
}

fn driver_table(joint: &JointCurve) -> Result<MuscleDriverTable, String> {
    let is_plain = |curve: &BezierCurve| curve.keys().iter().all(|key| key.handles == Handles::Auto);
    match &joint.curve {
        Curve::Bezier(curve) if is_plain(curve) => Ok(MuscleDriverTable {
            bone: joint.bone.clone(),
            coordinate: (joint.coordinate > 0).then_some(joint.coordinate + 1),
            keys: curve.keys().iter().map(|key| [key.time, key.value]).collect(),
        }),
        _ => Err("its driver is no list of angles with activations".into()),
    }
}
