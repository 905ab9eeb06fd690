//! What a page of the viewer shows: a character's file as it is, or the GLB files that a take was written to.

use crate::character_file::{extension_of, open_character};
use crate::opened_scene::OpenedScene;
use sinew_character::Placement;
use sinew_files::{Loaded, ReadError, ReadErrors, read_bytes};
use sinew_gltf::PageModel;
use sinew_math::Vec3;
use sinew_take::Up;
use std::path::{Path, PathBuf};

/// A character's file for a page: byte by byte if it is a GLB that needs no other file, else packed into one.
///
/// # Errors
/// All that keeps the file from being read.
pub fn view_file(path: &Path) -> Result<Loaded<PageModel>, ReadErrors> {
    let Loaded { value: file, mut notes } = open_character(path)?;
    let is_gltf = extension_of(path).as_deref() != Some("fbx");
    if is_gltf && file.is_self_contained() {
        // compression that our reader undoes is left as it is
        return Ok(Loaded { value: PageModel::new(read_bytes(path)?), notes });
    }
    let packed = file.to_self_contained_glb();
    let packed =
        packed.map_err(|error| ReadErrors::from(ReadError::whole(error.to_string())).within(path))?;
    notes.extend(packed.notes);
    Ok(Loaded { value: PageModel::new(packed.value), notes })
}

/// The GLB files of a scene for a page: one as it is, several where they stand in the scene.
///
/// `files` are those of [`crate::SinkPlan::files`]: one for each character from a file, then that of the other bodies.
///
/// # Errors
/// A file that cannot be read.
pub fn view_outputs(opened: &OpenedScene, files: &[PathBuf]) -> Result<Vec<PageModel>, ReadErrors> {
    let up = Up::against(opened.scene.world.gravity);
    let placements: Vec<&Placement> = opened.bindings().map(|binding| &binding.placement).collect();
    let read = |(index, file): (usize, &PathBuf)| {
        let model = PageModel::new(read_bytes(file)?);
        // other bodies are written where they are, y up
        let placement = placements.get(index).filter(|_| files.len() > 1);
        Ok(PageModel { placement: placement.map(|placement| y_up_matrix(placement, up)), ..model })
    };
    files.iter().enumerate().map(read).collect()
}

/// x ↦ U (t + s R x) column by column, where U turns the up axis of the scene to y.
fn y_up_matrix(placement: &Placement, up: Up) -> [f64; 16] {
    let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
    let turned = axes.map(|axis| up.to_y_up(&(placement.scale * (placement.rotation * axis))));
    let origin = up.to_y_up(&placement.translation);
    let column = |v: Vec3, w: f64| [v.x, v.y, v.z, w];
    let columns =
        [column(turned[0], 0.0), column(turned[1], 0.0), column(turned[2], 0.0), column(origin, 1.0)];
    core::array::from_fn(|i| columns[i / 4][i % 4])
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::so3;

    /// Points go where the placement and the change of axes put them; round-off of a few products of numbers near one.
    #[test]
    fn a_matrix_places_points_as_the_scene_does() {
        let placement = Placement {
            translation: Vec3::new(1.0, -2.0, 0.5),
            rotation: so3::exp(&Vec3::new(0.3, -0.2, 0.9)),
            scale: 1.7,
        };
        let point = Vec3::new(0.2, 0.4, -0.6);
        for up in [Up::Y, Up::Z] {
            let matrix = y_up_matrix(&placement, up);
            let found = Vec3::from_fn(|row, _| {
                matrix[12 + row] + (0..3).map(|column| matrix[4 * column + row] * point[column]).sum::<f64>()
            });
            let scene = placement.translation + placement.scale * (placement.rotation * point);
            assert!((found - up.to_y_up(&scene)).norm() < 1e-14);
        }
    }
}
