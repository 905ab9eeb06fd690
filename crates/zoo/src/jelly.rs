//! A jelly pudding on a shaking plate.

use crate::character_desc::{EARTH, at};
use sinew_control::Motion;
use sinew_flesh::Material;
use sinew_math::{Rotation, Vec3, real};
use sinew_mesh::{ImplicitSurface, Primitive};
use sinew_sim::Solver;
use sinew_sim::desc::{BodyDesc, CageSize, PinDesc, Region, Sag, ShapeDesc, WorldDesc};
use sinew_take::Scene;

/// Number of ribs around the dome.
const RIBS: usize = 10;

/// A dome of jelly with ribs and a cherry on top; its base is pinned to a shaking plate.
pub fn jelly() -> Scene {
    // tiers, cherry and ribs
    let tiers = [(0.03, 0.12, 0.034), (0.065, 0.098, 0.045), (0.105, 0.08, 0.045), (0.14, 0.06, 0.036)];
    let tier = |(y, radius, height): (f64, f64, f64)| {
        Primitive::ellipsoid(at(0.0, y, 0.0), Rotation::identity(), [radius, height, radius]).blended(0.03)
    };
    let mut primitives: Vec<Primitive> = tiers.into_iter().map(tier).collect();
    primitives.push(Primitive::sphere(at(0.0, 0.195, 0.0), 0.027).blended(0.008));
    for rib in 0..RIBS {
        let angle = core::f64::consts::TAU * rib as f64 / RIBS as f64;
        let outward = at(real::cos(angle), 0.0, real::sin(angle));
        let ends = [outward * 0.098 + at(0.0, 0.03, 0.0), outward * 0.045 + at(0.0, 0.15, 0.0)];
        primitives.push(Primitive::round_cone(ends, [0.026, 0.016]).blended(0.01));
    }

    // the primitives are valid, so the surface exists; `Model::build` would reject an empty one
    let surface =
        ImplicitSurface::build(&primitives).and_then(|implicit| implicit.surface(0.006)).unwrap_or_default();
    let body = BodyDesc {
        name: "jelly".into(),
        shape: ShapeDesc::Surface { surface, cage: CageSize::Tets(5000) },
        material: Material::soft_solid(7e3, 0.4, 1000.0, 0.05),
        velocity: Vec3::zeros(),
        pins: vec![PinDesc { region: Region::End { direction: -Vec3::y(), fraction: 0.2 } }],
        loads: Vec::new(),
        attachment: None,
        sag: Sag::Free,
        ..BodyDesc::default()
    };

    // the plate shakes the pinned base
    let shake = Motion::Shake { amplitude: at(0.014, 0.0, 0.005), frequency: 1.7 };
    Scene {
        name: "jelly".into(),
        world: WorldDesc { gravity: EARTH, bodies: vec![body], ..WorldDesc::default() },
        pin_motions: vec![vec![shake]],
        obstacle_motions: Vec::new(),
        constraint_motions: Vec::new(),
        curves: Default::default(),
        solver: Solver::default(),
        performances: Vec::new(),
        preroll: 0.0,
        seconds: 4.0,
        fps: 60.0,
        edits: Vec::new(),
    }
}
