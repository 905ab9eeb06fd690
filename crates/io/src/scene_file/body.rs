//! Reads `[[body]]` of a scene file: the mesh, scaled to metres and placed, its material, pins and loads.

use super::material::{read_material, sag_of};
use super::motion::read_motion;
use super::network::{read_fabric, shape_of_kind};
use super::number::{read_number, read_vector};
use super::painted::read_painted;
use super::region::read_region;
use super::section::Section;
use super::skin::{SkinPlace, read_skin};
use crate::Up;
use crate::mesh_file::{read_surface, read_tets};
use crate::scene_schema::{BodyKind, BodyTable, KeyedNumber, LoadTable, PinTable, Vector};
use schemars::JsonSchema;
use serde::Deserialize;
use sinew_character::DEFAULT_TETS;
use sinew_control::{Curve, Motion, VectorCurve};
use sinew_files::{Loaded, ReadError};
use sinew_math::Vec3;
use sinew_mesh::TriMesh;
use sinew_sim::desc::{BodyDesc, CageSize, LoadDesc, PinDesc, ShapeDesc};
use std::path::Path;

/// The largest air drag (1/s): what moves stops within a step.
const MAX_AIR_DRAG: f64 = 1e6;

/// Reads a body, the motions of its pins and its air drag. `earlier` are the bodies above it in the file.
pub(super) fn read_body(
    section: &Section<BodyTable>,
    earlier: &[BodyDesc],
    up: Up,
    folder: &Path,
) -> Result<Loaded<(BodyDesc, Vec<Motion>, Curve)>, ReadError> {
    // everything cheap is checked before a mesh is read
    let is_wrapped = section.skin.as_ref().is_some_and(|skin| skin.wrap.is_some());
    let mesh = match (&section.surface, &section.tets) {
        (Some(file), _) => MeshSource { key: "surface", file },
        (None, None) if is_wrapped => MeshSource { key: "", file: "skin" },
        (None, tets) => MeshSource { key: "tets", file: section.needed("tets", tets.as_ref())? },
    };
    let name = section.name.as_deref();
    let name = read_name(name, Path::new(mesh.file), earlier).map_err(|what| section.error("name", what))?;
    if let ("tets", Some(key)) = (mesh.key, section.first_of(&["cage_tets", "cage_edge"])) {
        return Err(section.error(key, format!("`{key}` needs `surface`: tets have no cage")));
    }
    let cage = read_cage(section.cage_tets, section.cage_edge);
    let material = read_material(section, &section.table().material, "jelly")?;
    let fabric = read_fabric(section)?;
    let (pins, motions) = read_pins(&section.items("pin", &section.table().pin), up)?;
    let loads = read_loads(&section.items("load", &section.table().load), up)?;
    let air_drag = read_air_drag(section, &section.table().air_drag)?.unwrap_or(Curve::Constant(0.0));

    // the mesh
    let placing = Placing { scale: section.scale, translate: section.translate };
    let is_read = !mesh.key.is_empty();
    let shape = if is_read {
        mesh.read(folder, cage, &placing).map_err(|mut error| {
            error.message += &format!(" (line {} of the scene)", section.line(mesh.key));
            error
        })?
    } else {
        Loaded { value: ShapeDesc::default(), notes: Vec::new() }
    };

    // the body
    let notes = shape.notes.iter().map(|note| format!("{name}: {note}")).collect();
    let painted = name.clone();
    let place = SkinPlace { name: &painted, has_bones: false, up, folder };
    let shape = match (section.kind, section.optional("skin", &section.table().skin)) {
        (Some(BodyKind::Skin), Some(skin)) => {
            ShapeDesc::Skin(Box::new(read_skin(&skin, surface_of(shape.value), &place)?))
        }
        (Some(BodyKind::Skin), None) => {
            return Err(
                section.error("kind", "kind = \"skin\" needs a table `[body.skin]`, which may be empty")
            );
        }
        (_, Some(skin)) => return Err(skin.error("wrap", "`skin` needs kind = \"skin\"")),
        (_, None) => shape_of_kind(section, fabric, shape.value),
    };
    let body = BodyDesc {
        name,
        shape,
        material,
        velocity: section.velocity.map_or(Vec3::zeros(), Vec3::from),
        pins,
        loads,
        attachment: None,
        sag: section.sag.map(sag_of).unwrap_or_default(),
        air_drag: air_drag.value(0.0),
        softness: read_painted(section, &section.softness_points, &painted, folder)?,
    };
    Ok(Loaded { value: (body, motions, air_drag), notes })
}

/// The surface of a shape; none of tets.
pub(super) fn surface_of(shape: ShapeDesc) -> Option<TriMesh> {
    match shape {
        ShapeDesc::Surface { surface, .. } => Some(surface),
        _ => None,
    }
}

/// The mesh file that a body is made of.
pub(super) struct MeshSource<'a> {
    /// The key that names it: `surface` or `tets`.
    pub(super) key: &'static str,
    pub(super) file: &'a str,
}

/// How the points of a mesh file are placed in the world.
pub(super) struct Placing {
    /// Metres per unit of the file.
    pub(super) scale: Option<f64>,
    /// Translation after scaling (m).
    pub(super) translate: Option<Vector>,
}

impl MeshSource<'_> {
    /// Reads the mesh and places it.
    pub(super) fn read(
        &self,
        folder: &Path,
        cage: CageSize,
        placing: &Placing,
    ) -> Result<Loaded<ShapeDesc>, ReadError> {
        let file = folder.join(self.file);
        if self.key == "tets" {
            return Ok(read_tets(&file)?.map(|mut tets| {
                placing.apply(&mut tets.nodes);
                ShapeDesc::Tets(tets)
            }));
        }
        Ok(read_surface(&file)?.map(|mut surface| {
            placing.apply(&mut surface.vertices);
            ShapeDesc::Surface { surface, cage }
        }))
    }
}

impl Placing {
    /// Scales and moves points; without either they keep every bit.
    pub(super) fn apply(&self, points: &mut [Vec3]) {
        if self.scale.is_none() && self.translate.is_none() {
            return;
        }
        let scale = self.scale.unwrap_or(1.0);
        let translate = self.translate.map_or(Vec3::zeros(), Vec3::from);
        points.iter_mut().for_each(|p| *p = *p * scale + translate);
    }
}

/// Reads pins and their motions.
pub(super) fn read_pins(
    pins: &[Section<PinTable>],
    up: Up,
) -> Result<(Vec<PinDesc>, Vec<Motion>), ReadError> {
    let (mut descs, mut motions) = (Vec::new(), Vec::new());
    for pin in pins {
        descs.push(PinDesc { region: read_region(&pin.child("region", &pin.table().region), up)? });
        motions.push(read_motion(pin.optional("motion", &pin.table().motion).as_ref())?);
    }
    Ok((descs, motions))
}

/// Reads loads.
pub(super) fn read_loads(loads: &[Section<LoadTable>], up: Up) -> Result<Vec<LoadDesc>, ReadError> {
    let read = |load: &Section<LoadTable>| {
        let region = read_region(&load.child("region", &load.table().region), up)?;
        Ok(LoadDesc { region, force: read_vector(load, "force", &load.force)?.value(0.0) })
    };
    loads.iter().map(read).collect()
}

/// Reads the forces of loads that are keyed.
pub(super) fn read_forces(loads: &[Section<LoadTable>]) -> Result<Vec<Option<VectorCurve>>, ReadError> {
    let read = |load: &Section<LoadTable>| {
        let force = read_vector(load, "force", &load.force)?;
        Ok((!force.is_constant()).then_some(force))
    };
    loads.iter().map(read).collect()
}

/// Reads the air drag of a body, if it is given.
pub(super) fn read_air_drag<T: JsonSchema + for<'de> Deserialize<'de>>(
    section: &Section<T>,
    number: &Option<KeyedNumber>,
) -> Result<Option<Curve>, ReadError> {
    let Some(number) = number else { return Ok(None) };
    let rate = read_number(section, "air_drag", number)?;
    match rate.key_values().into_iter().find(|(_, rate)| !(0.0..=MAX_AIR_DRAG).contains(rate)) {
        None => Ok(Some(rate)),
        Some((_, rate)) => {
            let limit = format!("`air_drag` is {rate}: it must be from 0 to {MAX_AIR_DRAG:e}");
            Err(section.error("air_drag", limit))
        }
    }
}

/// The given name, which must be unique, or the name of the file, numbered if it is taken.
pub(super) fn read_name(given: Option<&str>, file: &Path, earlier: &[BodyDesc]) -> Result<String, String> {
    let taken = |name: &str| earlier.iter().any(|body| body.name == name);
    if let Some(name) = given {
        if name.is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control) {
            return Err("`name` must be 1 to 200 printable characters".into());
        }
        if taken(name) {
            return Err(format!("a body above is also named `{name}`: names must be unique"));
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

/// The resolution of a cage.
pub(super) fn read_cage(tets: Option<usize>, edge: Option<f64>) -> CageSize {
    match edge {
        Some(edge) => CageSize::Edge(edge),
        None => CageSize::Tets(tets.unwrap_or(DEFAULT_TETS)),
    }
}
