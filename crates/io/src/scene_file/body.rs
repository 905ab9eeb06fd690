//! Reads `[[body]]` of a scene file: the mesh, scaled to metres and placed, its material, pins and loads.

use super::material::{read_material, sag_of};
use super::motion::read_motion;
use super::network::{read_fabric, shape_of_kind};
use super::region::read_region;
use super::section::Section;
use crate::Up;
use crate::mesh_file::{read_surface, read_tets};
use crate::scene_schema::{BodyTable, LoadTable, PinTable, Vector};
use sinew_character::DEFAULT_TETS;
use sinew_control::Motion;
use sinew_files::{Loaded, ReadError};
use sinew_math::Vec3;
use sinew_sim::desc::{BodyDesc, CageSize, LoadDesc, PinDesc, ShapeDesc};
use std::path::Path;

/// Reads a body and the motions of its pins. `earlier` are the bodies above it in the file.
pub(super) fn read_body(
    section: &Section<BodyTable>,
    earlier: &[BodyDesc],
    up: Up,
    folder: &Path,
) -> Result<Loaded<(BodyDesc, Vec<Motion>)>, ReadError> {
    // everything cheap is checked before a mesh is read
    let mesh = match (&section.surface, &section.tets) {
        (Some(file), _) => MeshSource { key: "surface", file },
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

    // the mesh
    let placing = Placing { scale: section.scale, translate: section.translate };
    let shape = mesh.read(folder, cage, &placing).map_err(|mut error| {
        error.message += &format!(" (line {} of the scene)", section.line(mesh.key));
        error
    })?;

    // the body
    let notes = shape.notes.iter().map(|note| format!("{name}: {note}")).collect();
    let body = BodyDesc {
        name,
        shape: shape_of_kind(section, fabric, shape.value),
        material,
        velocity: section.velocity.map_or(Vec3::zeros(), Vec3::from),
        pins,
        loads,
        attachment: None,
        sag: section.sag.map(sag_of).unwrap_or_default(),
        air_drag: section.air_drag.unwrap_or(0.0),
    };
    Ok(Loaded { value: (body, motions), notes })
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
        Ok(LoadDesc { region, force: Vec3::from(load.force) })
    };
    loads.iter().map(read).collect()
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
