//! Networks of springs on tets, and shells.

use crate::sheets::world;
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_mesh::{CageSize, shapes};
use sinew_sim::desc::{
    BodyDesc, LoadDesc, NetworkDesc, NetworkKind, PinDesc, Region, ShapeDesc, SheetElements,
};
use sinew_sim::implicit::settle;
use sinew_sim::{Control, Model, State};

/// The elongation of a bar of 0.4 m × 0.1 m × 0.1 m, clamped at one end and pulled by 10 N at the other, without gravity (m).
fn elongation(shape: ShapeDesc) -> f64 {
    let end = |direction| Region::End { direction, fraction: 1e-3 };
    let body = BodyDesc {
        shape,
        material: Material::soft_solid(1e5, 0.25, 1000.0, 0.1),
        pins: vec![PinDesc { region: end(-Vec3::x()) }],
        loads: vec![LoadDesc { region: end(Vec3::x()), force: Vec3::new(10.0, 0.0, 0.0) }],
        ..BodyDesc::default()
    };
    let mut world = world(vec![body]);
    world.gravity = Vec3::zeros();
    let model = Model::build(&world).expect("sound");
    let mut state = State::at_rest(&model);
    assert!(settle(&model, &Control::still(&model), &mut state).expect("it settles").converged);
    let pulled = model.node_rest().iter().zip(&state.node_x).filter(|(rest, _)| rest.x > 0.4 - 1e-6);
    let (sum, count) = pulled.fold((0.0, 0), |(sum, count), (rest, x)| (sum + x.x - rest.x, count + 1));
    sum / f64::from(count)
}

/// The same tets as flesh and as springs: F L/(E A) = 4 mm. Edges of the five tets of a cube are in nine directions, not in all, and springs of a free face have no flesh beyond it that braces them: springs are as stiff as flesh of
/// Poisson's ratio 1/4 to a third, on both meshes.
#[test]
fn springs_are_about_as_stiff_as_flesh() {
    for across in [2, 4] {
        let tets = || ShapeDesc::Tets(shapes::beam(across, [0.4, 0.1, 0.1]));
        let network = NetworkDesc { mesh: Box::new(tets()), kind: NetworkKind::Solid };
        let [flesh, springs] = [tets(), ShapeDesc::Network(network)].map(elongation);
        assert!((flesh / 4e-3 - 1.0).abs() < 0.1, "{flesh}");
        assert!((springs / flesh - 1.0).abs() < 0.33, "{across}: {springs} {flesh}");
    }
}

/// One word makes another body of a surface, with the mass that goes with it: that of the solid, of the wall and of the fabric.
#[test]
fn a_surface_becomes_flesh_springs_a_shell_or_cloth() {
    let (radius, thickness) = (0.1, 2e-3);
    let mesh = || ShapeDesc::Surface { surface: shapes::sphere(radius, 3), cage: CageSize::Tets(500) };
    let elements = SheetElements::Triangles;
    let of_kind = |kind| ShapeDesc::Network(NetworkDesc { mesh: Box::new(mesh()), kind });
    let mass = |shape| {
        let material = Material::soft_solid(1e5, 0.4, 1000.0, 0.1);
        Model::build(&world(vec![BodyDesc { shape, material, ..BodyDesc::default() }])).expect("sound").mass()
    };
    let ball = 4.0 / 3.0 * core::f64::consts::PI * radius.powi(3);
    let area = 4.0 * core::f64::consts::PI * radius * radius;
    let fabric = sinew_flesh::Fabric::default();
    let wanted = [
        (mesh(), 1000.0 * ball),
        (of_kind(NetworkKind::Solid), 1000.0 * ball),
        (of_kind(NetworkKind::Shell { thickness, elements }), 1000.0 * area * thickness),
        (of_kind(NetworkKind::Cloth { fabric, thickness: None, elements }), 0.13 * area),
    ];
    // triangles of a ball of 642 vertices have 1 % less area than it, and enclose 1.5 % less
    for (shape, wanted) in wanted {
        let found = mass(shape);
        assert!((found / wanted - 1.0).abs() < 0.02, "{found} {wanted}");
    }
}
