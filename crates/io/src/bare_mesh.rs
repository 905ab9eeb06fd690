//! Makes a scene of a mesh file that is given without a scene file.

use crate::mesh_file::{Mesh, read_mesh};
use sinew_character::{DEFAULT_TETS, hanging_cloth, hanging_jelly};
use sinew_files::{Loaded, ReadError};
use sinew_flesh::Fabric;
use sinew_sim::desc::{CageSize, ShapeDesc};
use sinew_take::Scene;
use std::path::Path;

/// The scene of a mesh file: a body of jelly that hangs from its topmost tenth and sways gently, y up, or cloth of a named fabric that hangs by two corners. A note says which unit and stiffness
/// were chosen.
pub fn scene_of_mesh(path: &Path, fabric: Option<&str>) -> Result<Loaded<Scene>, ReadError> {
    let Loaded { value: mesh, mut notes } = read_mesh(path)?;
    if let Some(fabric) = fabric {
        let (scene, note) = scene_of_cloth(path, mesh, fabric)?;
        notes.push(note);
        return Ok(Loaded { value: scene, notes });
    }
    let shape = match mesh {
        Mesh::Surface(surface) => ShapeDesc::Surface { surface, cage: CageSize::Tets(DEFAULT_TETS) },
        Mesh::Tets(tets) => ShapeDesc::Tets(tets),
    };
    let made = hanging_jelly(&name_of(path), shape);
    let (scene, note) = made.map_err(|error| ReadError::whole(error.message).within(path))?;
    notes.push(note);
    Ok(Loaded { value: scene, notes })
}

/// Cloth of a named fabric, on the surface of a mesh.
fn scene_of_cloth(path: &Path, mesh: Mesh, fabric: &str) -> Result<(Scene, String), ReadError> {
    let Some(fabric) = Fabric::named(fabric) else {
        let names: Vec<&str> = Fabric::NAMED.iter().map(|(name, _)| *name).collect();
        let message = format!("there is no fabric `{fabric}`: choose one of {}", names.join(", "));
        return Err(ReadError::whole(message));
    };
    let surface = match mesh {
        Mesh::Surface(surface) => surface,
        Mesh::Tets(tets) => tets.boundary().0,
    };
    hanging_cloth(&name_of(path), surface, fabric)
        .map_err(|error| ReadError::whole(error.message).within(path))
}

/// The name of a body from a file.
fn name_of(path: &Path) -> String {
    path.file_stem().map_or("body".into(), |stem| stem.to_string_lossy().into_owned())
}
