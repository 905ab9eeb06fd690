//! Ten soft creatures in a bowl: bodies of four shapes that collide with each other and with the bowl.

use super::duck;
use super::soft_object::SoftObject;
use crate::character_desc::at;
use crate::{fish, starfish, worm};
use sinew_contact::HeightField;
use sinew_control::Motion;
use sinew_flesh::Material;
use sinew_math::{Isometry, Rotation, Vec3, real, so3};
use sinew_sim::desc::{BodyDesc, CageSize, ContactDesc, ObstacleDesc, Shape, ShapeDesc};
use sinew_take::Scene;

/// Points of the bowl each way, and their distance (m).
const POINTS: usize = 29;
const SPACING: f64 = 0.025;
/// Height of the bowl over the distance from its middle squared (1/m).
const STEEPNESS: f64 = 1.2;
/// Creatures begin three by three, so far above each other and from the axis of the bowl (m) that none touches another.
const APART: f64 = 0.31;
const ASIDE: f64 = 0.175;
/// Tets of each.
const TETS: usize = 260;

/// Ducks, starfish, fish and worms without bones fall into a bowl and come to lie on each other.
pub fn pile() -> Scene {
    let duck = SoftObject {
        name: "pile",
        primitives: duck::primitives(),
        spacing: 0.012,
        tets: TETS,
        material: Material::soft_solid(60e3, 0.42, 700.0, 0.1),
        pose: Isometry::identity(),
        velocity: Vec3::zeros(),
    };
    let mut scene = duck.scene(4.0);
    let shapes = [
        ("duck", 1.0, scene.world.bodies.remove(0)),
        ("starfish", 0.9, starfish(200).world.bodies.remove(0)),
        ("fish", 0.45, fish(400).world.bodies.remove(0)),
        ("worm", 0.34, worm(400).world.bodies.remove(0)),
    ];
    let material = Material::soft_solid(60e3, 0.42, 700.0, 0.1);
    for i in 0..10 {
        let (name, scale, shape) = &shapes[i % shapes.len()];
        let turn = so3::exp(&(at(1.1, 0.7, -0.4) * (1.0 + 0.83 * i as f64)));
        let (level, angle) = (i / 3, core::f64::consts::PI * (2.0 * i as f64 / 3.0 + 0.3 * (i / 3) as f64));
        let middle = at(ASIDE * real::cos(angle), 0.25 + APART * level as f64, ASIDE * real::sin(angle));
        let body = BodyDesc {
            name: format!("{name} {}", i / shapes.len() + 1),
            material,
            attachment: None,
            ..shape.clone()
        };
        scene.world.bodies.push(placed(body, *scale, &turn, &middle));
        scene.pin_motions.resize(scene.world.bodies.len(), Vec::new());
    }
    // heights of a paraboloid are finite, so that there is a bowl
    if let Ok(bowl) = bowl() {
        scene.world.obstacles.push(ObstacleDesc::fixed("bowl", Shape::Heights(bowl), Isometry::identity()));
        scene.obstacle_motions.push(Motion::Still);
    }
    scene.world.contact = ContactDesc { friction: 0.35, between_bodies: true, ..ContactDesc::default() };
    scene
}

/// A body scaled and turned about the middle of its surface, which is moved to a place (m).
fn placed(mut body: BodyDesc, scale: f64, turn: &Rotation, middle: &Vec3) -> BodyDesc {
    if let ShapeDesc::Surface { surface, cage } = &mut body.shape {
        *cage = CageSize::Tets(TETS);
        if let Some((low, high)) = surface.bounds() {
            let center = 0.5 * (low + high);
            surface.vertices.iter_mut().for_each(|v| *v = turn * (scale * (*v - center)) + middle);
        }
    }
    body
}

fn bowl() -> Result<HeightField, sinew_contact::ShapeFault> {
    let from_middle = |i: usize| SPACING * (i as f64 - 0.5 * (POINTS - 1) as f64);
    let height = |i: usize| {
        let (x, z) = (from_middle(i % POINTS), from_middle(i / POINTS));
        STEEPNESS * (x * x + z * z)
    };
    HeightField::build([POINTS; 2], SPACING, (0..POINTS * POINTS).map(height).collect())
}
