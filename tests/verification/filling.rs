//! Fill of cages: solids with the same cage deform according to the filled volume.

use super::bodies::world;
use sinew::mesh::shapes;
use sinew::prelude::*;

/// A cube of 0.2 m with a spherical cavity of the given radius (m), or none.
fn hollow_cube(radius: f64) -> TriMesh {
    let mut cube = shapes::cuboid([0.2; 3]);
    if radius > 0.0 {
        let hollow = shapes::sphere(radius, 3);
        let first = cube.vertices.len() as u32;
        cube.vertices.extend(&hollow.vertices);
        cube.triangles.extend(hollow.triangles.iter().map(|&[a, b, c]| [a + first, c + first, b + first]));
    }
    cube
}

/// The displacement of the loaded top of a cube (m), and the number of tets of its cage.
fn sinking(radius: f64) -> (f64, usize) {
    let body = BodyDesc {
        name: "cube".into(),
        shape: ShapeDesc::Surface { surface: hollow_cube(radius), cage: CageSize::Edge(0.1) },
        material: Material::soft_solid(2e4, 0.3, 1000.0, 0.4),
        velocity: Vec3::zeros(),
        pins: vec![PinDesc { region: Region::End { direction: -Vec3::y(), fraction: 0.01 } }],
        loads: vec![LoadDesc {
            region: Region::End { direction: Vec3::y(), fraction: 0.01 },
            force: Vec3::new(0.0, -20.0, 0.0),
        }],
        attachment: None,
        sag: Sag::Free,
        ..BodyDesc::default()
    };
    let model = world(Vec3::zeros(), body);
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::default();
    for _ in 0..120 {
        stepper.step(&model, &Control::still(&model), 1.0 / 60.0, &mut state).expect("holds");
    }
    let mut frame = Frame::default();
    frame.update(&model, &state);
    let top: Vec<f64> = (frame.surfaces[0].iter())
        .zip(&model.bodies()[0].surface.vertices)
        .filter(|(_, rest)| rest.y > 0.0999)
        .map(|(now, rest)| rest.y - f64::from(now[1]))
        .collect();
    (top.iter().sum::<f64>() / top.len() as f64, model.bodies()[0].tets.len())
}

/// Three solids with the same cage under the same load: the larger the cavity, the softer [KimPollard2011, fig. 8].
#[test]
fn larger_cavity_in_the_same_cage_is_softer() {
    let [(full, full_tets), (hollow, hollow_tets), (hollower, hollower_tets)] =
        [0.0, 0.08, 0.092].map(sinking);
    assert!(full_tets == hollow_tets && hollow_tets == hollower_tets);
    assert!(full > 1e-4 && 1.05 * full < hollow && 1.05 * hollow < hollower, "{full} {hollow} {hollower}");
}
