//! One `[[body]]` of a scene file: its mesh, brought to metres and into place, and what it is made of.

use super::keys::ScenePart;
use super::motion::read_motion;
use super::region::read_region;
use super::section::Section;
use crate::Up;
use crate::mesh_file::{read_surface, read_tets};
use sinew_character::DEFAULT_TETS;
use sinew_control::Motion;
use sinew_files::{Loaded, ReadError};
use sinew_flesh::{Law, Material, StretchLimits};
use sinew_math::Vec3;
use sinew_sim::desc::{BodyDesc, CageSize, LoadDesc, PinDesc, Sag, ShapeDesc};
use std::path::Path;

/// Reads a body and how its pins move. `earlier` are the bodies above it in the file.
pub(super) fn read_body(
    section: &Section,
    earlier: &[BodyDesc],
    up: Up,
    folder: &Path,
) -> Result<Loaded<(BodyDesc, Vec<Motion>)>, ReadError> {
    // all that costs nothing is checked before a mesh is read
    let source = section.one_of(&["surface", "tets"])?;
    let file = folder.join(section.needed(source, section.text(source)?)?);
    let name = read_name(section, &file, earlier)?;
    let cage = read_cage(section, source)?;
    let material = read_material(section, "jelly")?;
    let velocity = section.vector("velocity")?.unwrap_or(Vec3::zeros());
    let scale = section.number("scale", "above 0 and at most 1e6", |s| s > 0.0 && s <= 1e6)?.unwrap_or(1.0);
    let translate = section.vector("translate")?.unwrap_or(Vec3::zeros());
    let mut pins = Vec::new();
    let mut motions = Vec::new();
    for pin in section.sections("pin", ScenePart::Pin)? {
        pins.push(PinDesc { region: read_region(&pin, up)? });
        motions.push(read_motion(&pin)?);
    }
    let loads = read_loads(section, up)?;
    let sag = read_sag(section)?;

    let place = |points: &mut [Vec3]| points.iter_mut().for_each(|p| *p = *p * scale + translate);
    let named_at = |mut error: ReadError| {
        error.message += &format!(" (named in line {} of the scene)", section.line(source));
        error
    };
    let shape = match source {
        "surface" => read_surface(&file).map_err(named_at)?.map(|mut surface| {
            place(&mut surface.vertices);
            ShapeDesc::Surface { surface, cage }
        }),
        _ => read_tets(&file).map_err(named_at)?.map(|mut tets| {
            place(&mut tets.nodes);
            ShapeDesc::Tets(tets)
        }),
    };
    let notes = shape.notes.iter().map(|note| format!("{name}: {note}")).collect();
    let body = BodyDesc { name, shape: shape.value, material, velocity, pins, loads, attachment: None, sag };
    Ok(Loaded { value: (body, motions), notes })
}

/// What keeps a body from sagging from its shape; nothing when nothing is said.
pub(super) fn read_sag(section: &Section) -> Result<Sag, ReadError> {
    let names = Sag::NAMED.map(|(name, _)| name);
    Ok(section.choice("sag", &names)?.and_then(Sag::named).unwrap_or_default())
}

/// What pushes on a body.
pub(super) fn read_loads(section: &Section, up: Up) -> Result<Vec<LoadDesc>, ReadError> {
    let mut loads = Vec::new();
    for load in section.sections("load", ScenePart::Load)? {
        let force = load.needed("force", load.vector("force")?)?;
        loads.push(LoadDesc { region: read_region(&load, up)?, force });
    }
    Ok(loads)
}

/// The name given, or the file's; a given name must be new, a file's is numbered until it is.
pub(super) fn read_name(section: &Section, file: &Path, earlier: &[BodyDesc]) -> Result<String, ReadError> {
    let taken = |name: &str| earlier.iter().any(|body| body.name == name);
    if let Some(name) = section.text("name")? {
        if name.is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control) {
            return Err(section.error("name", "`name` must be 1 to 200 printable characters"));
        }
        if taken(name) {
            return Err(section
                .error("name", format!("a body above is named `{name}` too: names tell outputs apart")));
        }
        return Ok(name.to_owned());
    }
    let stem = file.file_stem().map_or("body".into(), |stem| stem.to_string_lossy().into_owned());
    let mut name = stem.clone();
    for number in 2.. {
        if !taken(&name) {
            break;
        }
        name = format!("{stem}-{number}");
    }
    Ok(name)
}

pub(super) fn read_cage(section: &Section, source: &str) -> Result<CageSize, ReadError> {
    let tets = section.number("cage_tets", "a whole number from 1 to 20000000", |n| {
        (1.0..=2e7).contains(&n) && n.fract() == 0.0
    })?;
    let edge = section.number("cage_edge", "above 0", |edge| edge > 0.0)?;
    let cage = match (tets, edge) {
        (Some(_), Some(_)) => {
            let message = "`cage_tets` and `cage_edge` exclude each other: keep one";
            return Err(section.error("cage_edge", message));
        }
        (_, Some(edge)) => CageSize::Edge(edge),
        (Some(tets), None) => CageSize::Tets(tets as usize),
        (None, None) => return Ok(CageSize::Tets(DEFAULT_TETS)),
    };
    if source == "tets" {
        let key = if tets.is_some() { "cage_tets" } else { "cage_edge" };
        return Err(section.error(key, format!("`{key}` goes with `surface`: tets need no cage")));
    }
    Ok(cage)
}

/// What a body is made of; `usual` when nothing is said.
pub(super) fn read_material(body: &Section, defaults: &str) -> Result<Material, ReadError> {
    let names = Material::NAMED.map(|(name, _)| name);
    let named = |section: &Section, key: &str| -> Result<Material, ReadError> {
        let name = section.choice(key, &names)?.unwrap_or(defaults);
        Material::named(name).ok_or_else(|| section.error(key, format!("no material is named `{name}`")))
    };
    if !body.has("material") || body.is_text("material") {
        return named(body, "material");
    }
    let section = body.needed("material", body.section("material", ScenePart::Material)?)?;
    let mut material = named(&section, "name")?;
    match section.choice("law", &["stvk", "corotational", "neo-hookean"])? {
        Some("stvk") => material.law = Law::StVenantKirchhoff(StretchLimits::default()),
        Some("corotational") => material.law = Law::Corotational,
        Some(_) => material.law = Law::StableNeoHookean,
        None => {}
    }
    if let Some([lower, upper]) = section.numbers("stretch_limits")? {
        let Law::StVenantKirchhoff(limits) = &mut material.law else {
            return Err(section.error("stretch_limits", "`stretch_limits` goes with law = \"stvk\" only"));
        };
        *limits = StretchLimits { lower, upper };
    }
    let number = |key: &str| section.number(key, "finite", f64::is_finite);
    let numbers = [
        ("young", &mut material.young),
        ("poisson", &mut material.poisson),
        ("density", &mut material.density),
        ("damping", &mut material.damping_ratio),
    ];
    for (key, slot) in numbers {
        *slot = number(key)?.unwrap_or(*slot);
    }
    let faults: Vec<String> = material.faults().iter().map(ToString::to_string).collect();
    if faults.is_empty() {
        return Ok(material);
    }
    Err(body.error("material", format!("material: {}", faults.join("; "))))
}
