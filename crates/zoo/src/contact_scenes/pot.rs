//! A rubber pot thrown onto the ground.                                                   [Faloutsos1995, figures 4.10 and 4.11]

use super::soft_object::SoftObject;
use crate::character_desc::at;
use core::f64::consts::TAU;
use sinew_flesh::Material;
use sinew_math::{Isometry, Rotation, Vec3, real, so3};
use sinew_mesh::Primitive;
use sinew_sim::desc::{ContactDesc, ObstacleDesc};
use sinew_take::Scene;

/// Number of staves of its wall.
const STAVES: usize = 20;

/// A pot with two handles is thrown and lands: with friction it tips, turns over and comes to stand on its rim; without, it slides on.
pub fn pot(friction: f64) -> Scene {
    let object = SoftObject {
        name: if friction > 0.0 { "pot" } else { "pot-slippery" },
        primitives: primitives(),
        spacing: 0.011,
        tets: 1200,
        material: Material::soft_solid(60e3, 0.4, 900.0, 0.03),
        pose: Isometry::from_parts(at(0.0, 0.3, 0.0).into(), so3::exp(&(Vec3::z() * -0.35))),
        velocity: at(1.0, 0.0, 0.0),
    };
    let mut scene = object.scene(5.0);
    scene.world.obstacles = vec![ObstacleDesc::ground(0.0)];
    scene.world.contact = ContactDesc { friction, ..ContactDesc::default() };
    scene
}

/// A wall of staves around a floor, a wider rim, and a handle on either side. It stands at height 0.
fn primitives() -> Vec<Primitive> {
    let mut primitives = Vec::new();
    let outline = [(0.062, 0.013), (0.088, 0.06), (0.09, 0.105), (0.073, 0.145), (0.084, 0.165)];
    for stave in 0..STAVES {
        let place = |(radius, y): (f64, f64), by: f64| {
            let angle = TAU * (stave as f64 + by) / STAVES as f64;
            at(radius * real::cos(angle), y, radius * real::sin(angle))
        };
        for ends in outline.windows(2) {
            let [from, to] = [place(ends[0], 0.0), place(ends[1], 0.0)];
            primitives.push(Primitive::round_cone([from, to], [0.0135, 0.0135]).blended(0.008));
        }
        // the rim
        primitives.push(
            Primitive::round_cone([place(outline[4], 0.0), place(outline[4], 1.0)], [0.014; 2])
                .blended(0.004),
        );
    }
    let level = Rotation::identity();
    primitives.push(Primitive::ellipsoid(at(0.0, 0.016, 0.0), level, [0.07, 0.0155, 0.07]).blended(0.01));
    for side in [1.0, -1.0] {
        let ear = [(0.088, 0.125), (0.122, 0.132), (0.13, 0.1), (0.092, 0.082)];
        for ends in ear.windows(2) {
            let ends = [0, 1].map(|k: usize| at(side * ends[k].0, ends[k].1, 0.0));
            primitives.push(Primitive::round_cone(ends, [0.0125; 2]).blended(0.006));
        }
    }
    primitives
}
