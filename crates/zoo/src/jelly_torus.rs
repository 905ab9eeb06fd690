//! A ring of jelly, pinned at the top and shaken.

use sinew_control::Motion;
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_mesh::shapes;
use sinew_sim::Solver;
use sinew_sim::desc::{BodyDesc, CageSize, PinDesc, Region, Sag, ShapeDesc, WorldDesc};
use sinew_take::Scene;

/// A ring of jelly that hangs from its top, is shaken sideways, and stretches and wobbles under gravity.
pub fn jelly_torus() -> Scene {
    let mut surface = shapes::torus(0.14, 0.055, 128, 64);
    // upright: the axis of `shapes::torus` is y
    for v in &mut surface.vertices {
        *v = Vec3::new(v.x, -v.z, v.y);
    }

    // pinned at the top
    let body = BodyDesc {
        name: "jelly-torus".into(),
        shape: ShapeDesc::Surface { surface, cage: CageSize::Tets(6000) },
        material: Material {
            young: 12e3,
            damping_ratio: 0.1,
            ..Material::named("jelly").unwrap_or(Material::NAMED[0].1)
        },
        velocity: Vec3::zeros(),
        pins: vec![PinDesc { region: Region::End { direction: Vec3::y(), fraction: 0.1 } }],
        loads: Vec::new(),
        attachment: None,
        sag: Sag::Free,
        ..BodyDesc::default()
    };

    // the pin shakes
    let swing = Motion::Shake { amplitude: Vec3::new(0.05, 0.0, 0.015), frequency: 0.8 };
    Scene {
        name: "jelly-torus".into(),
        world: WorldDesc {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            bodies: vec![body],
            rigs: Vec::new(),
            ..WorldDesc::default()
        },
        pin_motions: vec![vec![swing]],
        performances: Vec::new(),
        obstacle_motions: Vec::new(),
        constraint_motions: Vec::new(),
        curves: Default::default(),
        solver: Solver::default(),
        preroll: 0.0,
        seconds: 4.0,
        fps: 60.0,
        edits: Vec::new(),
    }
}
