//! A scene in which everything touches everything, for tests of determinism and of allocations.

use sinew::control::DriveMode;
use sinew::prelude::*;

/// Two limp starfish on each other, two bars of eight vertices across each other, and a ball and a box that are dynamic: on the ground, with contact of all bodies with each other and themselves.
pub(crate) fn crowd(solver: Solver) -> Scene {
    let mut scene = sinew::zoo::starfish(1500);
    let ShapeDesc::Surface { surface, .. } = &scene.world.bodies[0].shape else { unreachable!("one") };
    let (low, high) = surface.bounds().expect("it has vertices");
    let floor = low.y - 1e-3;

    // the second starfish, above the first and aside
    let offset = Vec3::new(0.05, high.y - low.y + 2e-3, 0.02);
    let (mut body, mut rig) = (scene.world.bodies[0].clone(), scene.world.rigs[0].clone());
    (body.name, rig.name) = ("upper".into(), "upper".into());
    if let ShapeDesc::Surface { surface, .. } = &mut body.shape {
        surface.vertices.iter_mut().for_each(|x| *x += offset);
    }
    if let Some(attachment) = &mut body.attachment {
        attachment.rig = "upper".into();
    }
    let root = &mut rig.skeleton.bones[0].parent_from_joint;
    *root = Isometry::translation(offset.x, offset.y, offset.z) * *root;
    scene.world.bodies.push(body);
    scene.world.rigs.push(rig);
    scene.performances.push(scene.performances[0].clone());
    scene.performances.iter_mut().for_each(|performance| performance.set_drive_mode(DriveMode::Ragdoll));

    // bars, whose cage is finer than their triangles, so that edges meet
    for (name, size, height) in
        [("lower bar", [0.2, 0.02, 0.03], 0.012), ("upper bar", [0.03, 0.02, 0.2], 0.035)]
    {
        let mut surface = sinew::mesh::shapes::cuboid(size);
        surface.vertices.iter_mut().for_each(|x| *x += Vec3::new(0.35, floor + height, 0.0));
        scene.world.bodies.push(BodyDesc {
            name: name.into(),
            shape: ShapeDesc::Surface { surface, cage: CageSize::Tets(1200) },
            material: Material::soft_solid(2e5, 0.4, 1000.0, 0.2),
            attachment: None,
            ..scene.world.bodies[0].clone()
        });
    }
    scene.pin_motions.resize(scene.world.bodies.len(), Vec::new());

    // obstacles
    scene.world.obstacles.push(ObstacleDesc::ground(floor));
    let mobility = Mobility::Free { density: 300.0, velocity: Vec3::zeros(), spin: Vec3::x() };
    let ball = Isometry::translation(offset.x, high.y + offset.y + 0.03, offset.z);
    let cube = Isometry::translation(0.35, floor + 0.07, 0.0);
    for (name, shape, pose) in [
        ("ball", Shape::Sphere { radius: 0.025 }, ball),
        ("box", Shape::Cuboid { half: Vec3::repeat(0.02) }, cube),
    ] {
        scene.world.obstacles.push(ObstacleDesc { mobility, ..ObstacleDesc::fixed(name, shape, pose) });
    }

    // contact of all with all
    scene.world.gravity = Vec3::new(0.0, -9.81, 0.0);
    scene.world.contact.between_bodies = true;
    scene.world.contact.self_contact = scene.world.bodies.iter().map(|body| body.name.clone()).collect();
    (scene.solver, scene.preroll, scene.seconds) = (solver, 0.0, 0.2);
    scene
}
