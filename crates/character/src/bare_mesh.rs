//! A bare mesh as a scene of its own: a jelly that hangs by its topmost tenth and sways, or cloth that hangs by two corners.
//!
//! A bare mesh does not say its unit. Its coordinates are taken as metres, and its stiffness is chosen so that its own weight stretches it
//! alike at any size and shape: a 10 m cow of table jelly would be a puddle, a 15 cm rabbit of cow's stiffness a stone.

use crate::{CharacterError, DEFAULT_FPS, DEFAULT_SECONDS, DEFAULT_TETS, EARTH_GRAVITY};
use sinew_control::Motion;
use sinew_flesh::{Fabric, Material};
use sinew_math::Vec3;
use sinew_mesh::TriMesh;
use sinew_sim::desc::{BodyDesc, CageSize, NetworkDesc, PinDesc, Region, Sag, ShapeDesc};
use sinew_sim::{ImplicitSettings, Solver, WorldDesc};
use sinew_take::Scene;

/// The strain under the body's weight at its pin, and in a hanging column of its height: enough to be seen, and within the stretch limits with
/// room for swinging.
const GRAVITY_STRAIN: f64 = 0.25;
/// The amplitude of the pinned part, as a fraction of the body's longest side.
const SWAY_FRACTION: f64 = 0.04;
/// The air slows cloth more than its own damping does (1/s).
const CLOTH_AIR_DRAG: f64 = 1.0;
/// The fraction of the height that is pinned.
const PINNED_FRACTION: f64 = 0.1;

/// The scene of a bare mesh: the mesh as jelly, hung by its topmost tenth, swaying gently, with y up; and a note on the unit and the
/// stiffness that were chosen.
///
/// # Errors
/// If all vertices are at one point.
pub fn hanging_jelly(name: &str, shape: ShapeDesc) -> Result<(Scene, String), CharacterError> {
    let bounds = match &shape {
        ShapeDesc::Surface { surface, .. } => surface.bounds(),
        ShapeDesc::Tets(tets) => tets.bounds(),
        ShapeDesc::Custom(kind) => kind.surface().bounds(),
        ShapeDesc::Network(_) | ShapeDesc::Skin(_) => None,
    };
    let size = bounds.map_or(Vec3::zeros(), |(min, max)| max - min);
    if size.max() <= 0.0 {
        return Err(CharacterError::whole("all vertices are at one point: there is no body"));
    }
    // a flat body has no height to sag along; its longest side stands in
    let height = if size.y > 1e-3 * size.max() { size.y } else { size.max() };

    // as stiff as its weight needs
    let jelly = Material::NAMED[0].1;
    let pinned_length = bounds.map_or(height, |(_, max)| match &shape {
        ShapeDesc::Surface { surface, .. } => weight_length(surface, max.y - PINNED_FRACTION * size.y),
        ShapeDesc::Tets(tets) => weight_length(&tets.boundary().0, max.y - PINNED_FRACTION * size.y),
        ShapeDesc::Custom(kind) => weight_length(kind.surface(), max.y - PINNED_FRACTION * size.y),
        ShapeDesc::Network(_) | ShapeDesc::Skin(_) => 0.0,
    });
    let young = jelly.density * EARTH_GRAVITY * height.max(pinned_length) / GRAVITY_STRAIN;
    let material = Material { young, ..jelly };
    let note = format!(
        "a bare mesh has no unit: its {:.3} × {:.3} × {:.3} are taken as metres, and its jelly has Young's \
         modulus {young:.3e} Pa, so that its weight stretches it alike at any size; write a scene file to choose otherwise",
        size.x, size.y, size.z
    );

    // hung by its top, which sways
    let amplitude = Vec3::x() * (SWAY_FRACTION * size.max());
    let sway = Motion::Shake { amplitude, frequency: slowest_frequency(&material, height) };
    let pin = PinDesc { region: Region::End { direction: Vec3::y(), fraction: PINNED_FRACTION } };
    let body = BodyDesc {
        name: name.to_owned(),
        shape,
        material,
        velocity: Vec3::zeros(),
        pins: vec![pin],
        loads: Vec::new(),
        attachment: None,
        sag: Sag::Free,
        ..BodyDesc::default()
    };
    let mut scene = empty_scene(name);
    scene.world.bodies.push(body);
    scene.pin_motions.push(vec![sway]);
    Ok((scene, note))
}

/// The scene of a bare surface as cloth, y up: hung by the two ends of its uppermost border, or of its longest side if it lies flat.
///
/// # Errors
/// If all vertices are at one point.
pub fn hanging_cloth(
    name: &str,
    surface: TriMesh,
    fabric: Fabric,
) -> Result<(Scene, String), CharacterError> {
    let size = surface.bounds().map_or(Vec3::zeros(), |(min, max)| max - min);
    if size.max() <= 0.0 {
        return Err(CharacterError::whole("all vertices are at one point: there is no cloth"));
    }
    let note = format!(
        "a bare mesh has no unit: its {:.3} × {:.3} × {:.3} are taken as metres of cloth, hung by two corners; write a scene \
         file with kind = \"cloth\" to choose otherwise",
        size.x, size.y, size.z
    );
    let pins = border_ends(&surface, &size).map(|x| PinDesc { region: Region::Nearest(x) });
    let mesh = ShapeDesc::Surface { surface, cage: CageSize::Tets(DEFAULT_TETS) };
    let mut scene = empty_scene(name);
    // snapping taut takes more iterations than flesh does
    scene.solver = Solver::Auto(ImplicitSettings { max_newton: 40, ..ImplicitSettings::default() });
    scene.world.bodies.push(BodyDesc {
        name: name.to_owned(),
        shape: ShapeDesc::Network(NetworkDesc::cloth(mesh, fabric)),
        pins: pins.to_vec(),
        air_drag: CLOTH_AIR_DRAG,
        ..BodyDesc::default()
    });
    Ok((scene, note))
}

/// The two vertices farthest from each other sideways among those at the top; of a surface that lies flat, at the end of its shorter side.
fn border_ends(surface: &TriMesh, size: &Vec3) -> [Vec3; 2] {
    let is_flat = size.y < 0.1 * size.max();
    // the direction to that border, and the one along it
    let (toward, along) = match (is_flat, size.x >= size.z) {
        (false, true) => (1, 0),
        (false, false) => (1, 2),
        (true, true) => (2, 0),
        (true, false) => (0, 2),
    };
    let sign = if is_flat { -1.0 } else { 1.0 };
    let top = surface.vertices.iter().map(|x| sign * x[toward]).fold(f64::NEG_INFINITY, f64::max);
    let border = || surface.vertices.iter().filter(|x| sign * x[toward] > top - 0.02 * size[toward]);
    let first = border().copied().reduce(|a, b| if b[along] < a[along] { b } else { a });
    let last = border().copied().reduce(|a, b| if b[along] > a[along] { b } else { a });
    [first.unwrap_or_default(), last.unwrap_or_default()]
}

/// A scene of nothing, under the gravity of the Earth with y up, of the default length and frame rate.
pub fn empty_scene(name: &str) -> Scene {
    Scene {
        name: name.to_owned(),
        world: WorldDesc { gravity: -Vec3::y() * EARTH_GRAVITY, ..WorldDesc::default() },
        pin_motions: Vec::new(),
        performances: Vec::new(),
        obstacle_motions: Vec::new(),
        constraint_motions: Vec::new(),
        curves: Default::default(),
        solver: Solver::default(),
        preroll: 0.0,
        seconds: DEFAULT_SECONDS,
        fps: DEFAULT_FPS,
        edits: Vec::new(),
    }
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

/// The frequency (Hz) of the first shear vibration of a column of this height (m) clamped at one end:
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

    fn tetrahedron(size: f64) -> ShapeDesc {
        let corner = |x: f64, y: f64, z: f64| Vec3::new(x, y, z) * size;
        let vertices =
            vec![corner(0.0, 0.0, 0.0), corner(1.0, 0.0, 0.0), corner(0.0, 1.0, 0.0), corner(0.0, 0.0, 1.0)];
        let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
        ShapeDesc::Surface { surface: TriMesh { vertices, triangles }, cage: CageSize::Tets(100) }
    }

    /// A pyramid cut at nine tenths of its height has a hundredth of its base there: 1/3 × base × height over base/100.
    #[test]
    fn stiffness_grows_with_size_so_that_sag_does_not() {
        for size in [0.15, 1.0, 10.0] {
            let (scene, note) = hanging_jelly("thing", tetrahedron(size)).unwrap();
            let material = scene.world.bodies[0].material;
            let strain = material.density * EARTH_GRAVITY * (100.0 / 3.0 * size) / material.young;
            assert!((strain / GRAVITY_STRAIN - 1.0).abs() < 1e-9);
            assert!(material.faults().is_empty() && note.contains("taken as metres"));
            assert!(matches!(scene.pin_motions[0][..], [Motion::Shake { .. }]));
        }
    }

    #[test]
    fn cloth_hangs_by_the_corners_of_its_border() {
        let flat = sinew_mesh::shapes::sheet([2.0, 1.0], [4, 2]);
        let (scene, note) = hanging_cloth("sheet", flat.clone(), Fabric::default()).unwrap();
        let at = |pin: usize| scene.world.bodies[0].pins[pin].region.clone();
        assert_eq!(at(0), Region::Nearest(Vec3::new(-1.0, 0.0, -0.5)));
        assert_eq!(at(1), Region::Nearest(Vec3::new(1.0, 0.0, -0.5)));
        assert!(note.contains("metres of cloth"));
        let upright =
            TriMesh { vertices: flat.vertices.iter().map(|x| Vec3::new(x.x, x.z, 0.0)).collect(), ..flat };
        let (scene, _) = hanging_cloth("sheet", upright, Fabric::default()).unwrap();
        assert_eq!(scene.world.bodies[0].pins[0].region, Region::Nearest(Vec3::new(-1.0, 0.5, 0.0)));
    }

    #[test]
    fn a_mesh_without_extent_is_no_body() {
        let error = hanging_jelly("thing", tetrahedron(0.0)).unwrap_err();
        assert!(error.message.contains("one point"), "{error}");
    }
}
