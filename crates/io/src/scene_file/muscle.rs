//! Reads `[[muscle]]` and `[[character.muscle]]` of a scene file.

use super::Reading;
use super::constraint::{body_names, known};
use super::number::read_number;
use super::section::Section;
use crate::mesh_file::read_surface;
use crate::scene_schema::{CharacterTable, MuscleDriverTable, MuscleEndTable, MuscleTable};
use sinew_character::{CharacterBinding, human_muscles};
use sinew_control::{BezierKey, BoneMap, Curve, Extrapolation, JointCurve, MuscleDrive};
use sinew_files::ReadError;
use sinew_flesh::ForceLength;
use sinew_math::Vec3;
use sinew_sim::WorldDesc;
use sinew_sim::desc::{
    FibreField, FleshMuscleDesc, LineMuscleDesc, MuscleDesc, MuscleEnd, MuscleKind, MuscleTissue,
    MuscleVolume,
};
use sinew_skeleton::Skeleton;

/// Reads the muscles of one list and adds them to those before. `own` is the character that they are written in.
pub(super) fn read_muscles(
    sections: &[Section<MuscleTable>],
    (world, own): (&WorldDesc, Option<&str>),
    reading: &Reading,
    all: &mut Vec<(MuscleDesc, MuscleDrive)>,
) -> Result<(), ReadError> {
    for section in sections {
        let name = match &section.name {
            Some(name) if all.iter().any(|(other, _)| other.name == *name) => {
                let message = format!("a muscle above is also named `{name}`: rename one");
                return Err(section.error("name", message));
            }
            Some(name) => name.clone(),
            None => format!("muscle-{}", all.len() + 1),
        };
        let body = read_body(section, world, own)?;
        let attachment =
            world.bodies.iter().find(|other| other.name == body).and_then(|own| own.attachment.as_ref());
        let rig = attachment.map(|attachment| attachment.rig.clone());
        let is_line = section.line.unwrap_or(false);
        let kind = if is_line {
            read_line(section, rig.as_ref(), &body)?
        } else {
            read_flesh(section, body, reading)?
        };
        let drive = read_drive(section, rig, reading)?;
        all.push((MuscleDesc { name, kind, curve: read_curve(section, is_line)? }, drive));
    }
    Ok(())
}

/// Adds the muscles of a human figure, if a character asks for them. `binding` is that of a character from a file.
pub(super) fn read_human_muscles(
    section: &Section<CharacterTable>,
    (world, name): (&WorldDesc, &str),
    binding: Option<&CharacterBinding>,
    all: &mut Vec<(MuscleDesc, MuscleDrive)>,
) -> Result<(), ReadError> {
    let Some(activations) = &section.table().human_muscles else { return Ok(()) };
    let error = |what: String| section.error("human_muscles", format!("`human_muscles`: {what}"));
    let map = match binding {
        Some(binding) => binding.human_bones(),
        None => {
            let body = world.bodies.iter().find(|body| body.name == name);
            let rig = body.and_then(|body| body.attachment.as_ref()).map(|own| &own.rig);
            let rig = world.rigs.iter().find(|other| Some(&other.name) == rig);
            let skeleton = rig.and_then(|rig| Skeleton::build(&rig.skeleton.with_plain_masses()).ok());
            skeleton.map(|skeleton| BoneMap::find_in(&skeleton)).unwrap_or_default()
        }
    };
    let muscles = human_muscles(world, name, &map).map_err(error)?;
    let names: Vec<&str> = muscles.iter().map(|muscle| muscle.name.as_str()).collect();
    if let Some(unknown) = activations.keys().find(|name| !names.contains(&name.as_str())) {
        return Err(error(format!("there is no \"{unknown}\": there is {}", names.join(", "))));
    }
    // names of several characters are told apart
    let is_taken = muscles.iter().any(|muscle| all.iter().any(|(other, _)| other.name == muscle.name));
    for muscle in muscles {
        let activation = match activations.get(&muscle.name) {
            Some(number) => read_number(section, "human_muscles", number)?,
            None => Curve::Constant(0.0),
        };
        let drive = MuscleDrive { activation, joint: None };
        if let Some(fault) = drive.fault() {
            return Err(error(format!("{}: {fault}", muscle.name)));
        }
        let name = if is_taken { format!("{name} {}", muscle.name) } else { muscle.name };
        all.push((MuscleDesc { name, ..muscle }, drive));
    }
    Ok(())
}

fn read_body(
    section: &Section<MuscleTable>,
    world: &WorldDesc,
    own: Option<&str>,
) -> Result<String, ReadError> {
    match (&section.table().body, own, body_names(world).as_slice()) {
        (Some(_), Some(own), _) => {
            Err(section
                .error("body", format!("this muscle is written in character \"{own}\": leave `body` out")))
        }
        (None, Some(own), _) => Ok(own.to_owned()),
        (None, None, [only]) => Ok((*only).to_owned()),
        (name, None, names) => known(section, "body", name.as_ref(), names),
    }
}

fn read_curve(section: &Section<MuscleTable>, is_line: bool) -> Result<ForceLength, ReadError> {
    let defaults = ForceLength::default();
    let max_stress = if is_line {
        if section.has("stress") {
            return Err(section.error("stress", "a line has no cross-section: give its `force` (N)"));
        }
        *section.needed("force", section.force.as_ref())?
    } else {
        if section.has("force") {
            let message = "fibres have a `stress` (Pa), and their force is that times their cross-section; `force` needs line = true";
            return Err(section.error("force", message));
        }
        section.stress.unwrap_or(defaults.max_stress)
    };
    Ok(ForceLength {
        max_stress,
        optimal_stretch: section.optimal.unwrap_or(defaults.optimal_stretch),
        passive: section.passive.unwrap_or(defaults.passive),
    })
}

fn end_of(table: &MuscleEndTable) -> MuscleEnd {
    MuscleEnd { place: Vec3::from(table.place), radius: table.radius, bone: table.bone.clone() }
}

fn read_flesh(
    section: &Section<MuscleTable>,
    body: String,
    reading: &Reading,
) -> Result<MuscleKind, ReadError> {
    if section.has("via") {
        return Err(section.error("via", "`via` needs line = true: fibres run through flesh"));
    }
    let ends = match (&section.origin, &section.insertion) {
        (Some(origin), Some(insertion)) => Some([end_of(origin), end_of(insertion)]),
        (None, None) => None,
        (Some(_), None) => return Err(section.error("origin", "`origin` needs `insertion` as well")),
        (None, Some(_)) => return Err(section.error("insertion", "`insertion` needs `origin` as well")),
    };
    let volume = match (&section.surface, section.radius) {
        (Some(file), _) => {
            let read = read_surface(&reading.folder.join(file)).map_err(|mut error| {
                error.message += &format!(" (line {} of the scene)", section.line("surface"));
                error
            })?;
            MuscleVolume::Mesh(read.value)
        }
        (None, Some(radius)) => {
            section.needed("origin", ends.as_ref())?;
            MuscleVolume::Spindle(radius)
        }
        (None, None) => MuscleVolume::Body,
    };
    let tissue = match section.own_tissue {
        Some(false) => {
            if let Some(key) = section.first_of(&["young", "poisson"]) {
                return Err(section.error(key, format!("`{key}` has no meaning with own_tissue = false")));
            }
            None
        }
        _ => {
            let defaults = MuscleTissue::default();
            Some(MuscleTissue {
                young: section.young.unwrap_or(defaults.young),
                poisson: section.poisson.unwrap_or(defaults.poisson),
            })
        }
    };
    let fibres = section.fibres.map_or(FibreField::Harmonic, |along| FibreField::Along(Vec3::from(along)));
    Ok(MuscleKind::Flesh(Box::new(FleshMuscleDesc { body, volume, ends, fibres, tissue })))
}

fn read_line(
    section: &Section<MuscleTable>,
    rig: Option<&String>,
    body: &str,
) -> Result<MuscleKind, ReadError> {
    if let Some(key) = section.first_of(&["surface", "radius", "fibres", "own_tissue", "young", "poisson"]) {
        return Err(section
            .error(key, format!("`{key}` has no meaning with line = true: a line is not made of flesh")));
    }
    let Some(rig) = rig else {
        return Err(section.error("line", format!("a line pulls on bones, and \"{body}\" has none")));
    };
    let mut points = Vec::new();
    let origin = section.needed("origin", section.origin.as_ref())?;
    let insertion = section.needed("insertion", section.insertion.as_ref())?;
    let via = section.via.iter().flatten().map(|via| ("via", via));
    for (key, table) in [("origin", origin)].into_iter().chain(via).chain([("insertion", insertion)]) {
        let Some(bone) = &table.bone else {
            return Err(
                section.error(key, format!("each point of a line is on a bone: give `{key}` a `bone`"))
            );
        };
        if table.radius.is_some() {
            return Err(section.error(key, "points of a line have no `radius`"));
        }
        points.push((bone.clone(), Vec3::from(table.place)));
    }
    Ok(MuscleKind::Line(LineMuscleDesc { rig: rig.clone(), points }))
}

fn read_drive(
    section: &Section<MuscleTable>,
    rig: Option<String>,
    reading: &Reading,
) -> Result<MuscleDrive, ReadError> {
    let joint =
        section.driver.as_ref().map(|driver| read_driver(section, driver, rig, reading)).transpose()?;
    let activation = match &section.table().activation {
        Some(number) => read_number(section, "activation", number)?,
        None => Curve::Constant(if joint.is_some() { 1.0 } else { 0.0 }),
    };
    let drive = MuscleDrive { activation, joint };
    match drive.fault() {
        Some(fault) => {
            Err(section.error(if section.has("activation") { "activation" } else { "driver" }, fault))
        }
        None => Ok(drive),
    }
}

fn read_driver(
    section: &Section<MuscleTable>,
    driver: &MuscleDriverTable,
    rig: Option<String>,
    reading: &Reading,
) -> Result<JointCurve, ReadError> {
    let Some(rig) = rig else {
        return Err(section.error("driver", "a driver needs a joint, and this body has no bones"));
    };
    let keys = driver.keys.iter().map(|[angle, value]| BezierKey::auto(angle * reading.radians, *value));
    let curve = Curve::build(keys.collect(), Extrapolation::Hold)
        .map_err(|error| section.error("driver", format!("`driver`: {}", error.faults.join("; "))))?;
    let coordinate = driver.coordinate.unwrap_or(1).max(1) - 1;
    Ok(JointCurve { rig, bone: driver.bone.clone(), coordinate, curve })
}
