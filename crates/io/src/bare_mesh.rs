//! A mesh file as a scene of its own: a jelly that hangs by its topmost tenth and sways.
//!
//! A bare mesh does not say its unit. Its coordinates are taken as metres, and its stiffness is chosen so
//! that its own weight stretches it alike at any size and shape: a 10 m cow of table jelly would be a puddle, a 15 cm rabbit of
//! cow's stiffness a stone.

use crate::mesh_file::{Mesh, read_mesh};
use crate::scene_file::{DEFAULT_FPS, DEFAULT_SECONDS, DEFAULT_TETS, EARTH_GRAVITY};
use sinew_control::Motion;
use sinew_files::{Loaded, ReadError};
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_mesh::TriMesh;
use sinew_sim::desc::{BodyDesc, CageSize, PinDesc, Region, Sag, ShapeDesc};
use sinew_sim::{Solver, WorldDesc};
use sinew_take::Scene;
use std::path::Path;

/// The strain that the body's weight makes where it is held, and in a hanging column of its height: enough to be seen, and within the stretch
/// limits with room for swinging.
const GRAVITY_STRAIN: f64 = 0.25;
/// How far the held part swings, as a fraction of the body's longest side.
const SWAY_FRACTION: f64 = 0.04;
/// How much of the height is held.
const HELD_FRACTION: f64 = 0.1;

/// The scene of a bare mesh file: the mesh as jelly, hung by its topmost tenth, swaying gently, with y up.
/// A note says which unit and stiffness were chosen.
pub fn scene_of_mesh(path: &Path) -> Result<Loaded<Scene>, ReadError> {
    let Loaded { value: mesh, mut notes } = read_mesh(path)?;
    let bounds = match &mesh {
        Mesh::Surface(surface) => surface.bounds(),
        Mesh::Tets(tets) => tets.bounds(),
    };
    let size = bounds.map_or(Vec3::zeros(), |(min, max)| max - min);
    if size.max() <= 0.0 {
        return Err(ReadError::whole("all vertices are at one point: there is no body").within(path));
    }
    // a flat body has no height to sag along; its longest side stands in
    let height = if size.y > 1e-3 * size.max() { size.y } else { size.max() };

    let jelly = Material::NAMED[0].1;
    let held_length = bounds.map_or(height, |(_, max)| match &mesh {
        Mesh::Surface(surface) => weight_length(surface, max.y - HELD_FRACTION * size.y),
        Mesh::Tets(tets) => weight_length(&tets.boundary().0, max.y - HELD_FRACTION * size.y),
    });
    let young = jelly.density * EARTH_GRAVITY * height.max(held_length) / GRAVITY_STRAIN;
    let material = Material { young, ..jelly };
    let amplitude = Vec3::x() * (SWAY_FRACTION * size.max());
    let sway = Motion::Shake { amplitude, frequency: slowest_frequency(&material, height) };

    let name = path.file_stem().map_or("body".into(), |stem| stem.to_string_lossy().into_owned());
    notes.push(format!(
        "a bare mesh has no unit: its {:.3} × {:.3} × {:.3} are taken as metres, and its jelly has Young's \
         modulus {young:.3e} Pa, so that its weight stretches it alike at any size; write a scene file to choose otherwise",
        size.x, size.y, size.z
    ));
    let shape = match mesh {
        Mesh::Surface(surface) => ShapeDesc::Surface { surface, cage: CageSize::Tets(DEFAULT_TETS) },
        Mesh::Tets(tets) => ShapeDesc::Tets(tets),
    };
    let pin = PinDesc { region: Region::End { direction: Vec3::y(), fraction: HELD_FRACTION } };
    let body = BodyDesc {
        name: name.clone(),
        shape,
        material,
        velocity: Vec3::zeros(),
        pins: vec![pin],
        loads: Vec::new(),
        attachment: None,
        sag: Sag::Free,
    };
    let scene = Scene {
        name,
        world: WorldDesc {
            gravity: -Vec3::y() * EARTH_GRAVITY,
            bodies: vec![body],
            rigs: Vec::new(),
            ..WorldDesc::default()
        },
        pin_motions: vec![vec![sway]],
        performances: Vec::new(),
        obstacle_motions: Vec::new(),
        constraint_motions: Vec::new(),
        solver: Solver::default(),
        preroll: 0.0,
        seconds: DEFAULT_SECONDS,
        fps: DEFAULT_FPS,
    };
    Ok(Loaded { value: scene, notes })
}

/// Volume over the area of the cut at height `y` (m): the length of the column that would pull on the cut as the whole body does. A rabbit
/// that hangs by its ears pulls on them like a column much longer than itself. 0 where the cut is empty or the surface too torn to tell.
fn weight_length(surface: &TriMesh, y: f64) -> f64 {
    // twice the area, by the segments in which triangles cross the plane, all with the solid on one side
    let mut area = 0.0;
    for t in 0..surface.triangles.len() {
        let corners = surface.corners(t);
        let (mut enters, mut leaves) = (None, None);
        for i in 0..3 {
            let (a, b) = (corners[i], corners[(i + 1) % 3]);
            if (a.y > y) != (b.y > y) {
                let crossing = a + (b - a) * ((y - a.y) / (b.y - a.y));
                *if b.y > y { &mut enters } else { &mut leaves } = Some(crossing);
            }
        }
        if let (Some(p), Some(q)) = (enters, leaves) {
            area += p.z * q.x - p.x * q.z;
        }
    }
    let length = surface.signed_volume() / (0.5 * area);
    if length.is_finite() { length.abs() } else { 0.0 }
}

/// The frequency (Hz) of the first shear vibration of a column of this height (m) held at one end:
///
/// ```text
/// f = √(μ / ρ) / (4 H)
/// ```
///
/// Gravity stiffens a hanging body, so its own frequency lies somewhat above: it sways along without
/// being driven into resonance.
fn slowest_frequency(material: &Material, height: f64) -> f64 {
    (material.lame().mu / material.density).sqrt() / (4.0 * height)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene_of(text: &str) -> Result<Loaded<Scene>, ReadError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thing.obj");
        std::fs::write(&path, text).unwrap();
        scene_of_mesh(&path)
    }

    fn tetrahedron(size: f64) -> String {
        format!("v 0 0 0\nv {size} 0 0\nv 0 {size} 0\nv 0 0 {size}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    }

    /// A pyramid cut at nine tenths of its height has a hundredth of its base there: 1/3 × base × height over base/100.
    #[test]
    fn stiffness_grows_with_size_so_that_sag_does_not() {
        for size in [0.15, 1.0, 10.0] {
            let Loaded { value: scene, notes } = scene_of(&tetrahedron(size)).unwrap();
            let material = scene.world.bodies[0].material;
            let strain = material.density * EARTH_GRAVITY * (100.0 / 3.0 * size) / material.young;
            assert!((strain / GRAVITY_STRAIN - 1.0).abs() < 1e-9);
            assert!(material.faults().is_empty());
            assert!(notes.iter().any(|note| note.contains("taken as metres")));
            assert!(matches!(scene.pin_motions[0][..], [Motion::Shake { .. }]));
        }
    }

    #[test]
    fn a_mesh_without_extent_is_no_body() {
        assert!(scene_of("v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n").unwrap_err().message.contains("one point"));
    }
}
