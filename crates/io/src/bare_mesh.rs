//! Makes a scene of a mesh file that is given without a scene file.

use crate::mesh_file::{Mesh, read_mesh};
use sinew_character::{DEFAULT_TETS, hanging_jelly};
use sinew_files::{Loaded, ReadError};
use sinew_sim::desc::{CageSize, ShapeDesc};
use sinew_take::Scene;
use std::path::Path;

/// The scene of a mesh file: a body of jelly that hangs from its topmost tenth and sways gently, y up. A note says which unit and stiffness
/// were chosen.
pub fn scene_of_mesh(path: &Path) -> Result<Loaded<Scene>, ReadError> {
    let Loaded { value: mesh, mut notes } = read_mesh(path)?;
    let shape = match mesh {
        Mesh::Surface(surface) => ShapeDesc::Surface { surface, cage: CageSize::Tets(DEFAULT_TETS) },
        Mesh::Tets(tets) => ShapeDesc::Tets(tets),
    };
    let name = path.file_stem().map_or("body".into(), |stem| stem.to_string_lossy().into_owned());
    let made = hanging_jelly(&name, shape);
    let (scene, note) = made.map_err(|error| ReadError::whole(error.message).within(path))?;
    notes.push(note);
    Ok(Loaded { value: scene, notes })
}
