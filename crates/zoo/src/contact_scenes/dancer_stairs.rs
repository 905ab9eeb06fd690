//! The dancer goes limp at the top of a staircase, and falls down it.

use crate::character_desc::{EARTH, at};
use crate::dancer;
use sinew_control::{DriveMode, Motion};
use sinew_math::{Isometry, Rotation, Vec3};
use sinew_sim::desc::{ContactDesc, ObstacleDesc, Shape};
use sinew_take::{Scene, SceneChange, SceneEdit};

/// Steps, with the height and the depth of each (m), as in houses, and the width of the stairs.
const STEPS: usize = 8;
const RISE: f64 = 0.17;
const TREAD: f64 = 0.28;
const WIDTH: f64 = 2.4;
/// The depth of the landing that she stands on (m).
const LANDING: f64 = 1.0;
/// She stands at the edge of the landing, and falls at walking speed (m/s).
const SPEED: f64 = 1.0;
/// Tets and the spacing of the surface (m): coarser than those of the dance.
const TETS: usize = 3000;
const SPACING: f64 = 0.02;

/// The dancer, limp, falls from a landing down the stairs to the floor.
pub fn dancer_stairs() -> Scene {
    let mut scene = dancer(TETS, SPACING);
    scene.name = "dancer-stairs".into();

    // limp from the first frame on, by an edit, which gives joints their stops
    let rig = scene.world.rigs[0].name.clone();
    let limp = SceneChange::Drive { rig, mode: DriveMode::Ragdoll };
    scene.edits.push(SceneEdit { time: 0.0, changes: vec![limp] });
    scene.world.bodies.iter_mut().for_each(|body| body.velocity = at(0.0, 0.0, SPEED));

    // a landing, steps that go down along z, and a floor
    let top = STEPS as f64 * RISE;
    add(&mut scene, "floor", Shape::Plane { normal: Vec3::y() }, -top * Vec3::y());
    for i in 0..STEPS {
        let height = top - i as f64 * RISE;
        let depth = if i == 0 { LANDING } else { TREAD };
        let front = 0.1 + TREAD * i as f64;
        let half = 0.5 * at(WIDTH, height, depth);
        let middle = at(0.0, 0.5 * height - top, front - 0.5 * depth);
        add(&mut scene, &format!("step {}", i + 1), Shape::Cuboid { half }, middle);
    }
    scene.world.gravity = EARTH;
    let self_contact = scene.world.bodies.iter().map(|body| body.name.clone()).collect();
    scene.world.contact = ContactDesc { friction: 0.5, self_contact, ..ContactDesc::default() };
    scene.preroll = 0.0;
    scene.seconds = 4.0;
    scene
}

/// Adds a static obstacle.
fn add(scene: &mut Scene, name: &str, shape: Shape, place: Vec3) {
    let at = Isometry::from_parts(place.into(), Rotation::identity());
    scene.world.obstacles.push(ObstacleDesc::fixed(name, shape, at));
    scene.obstacle_motions.push(Motion::Still);
}
