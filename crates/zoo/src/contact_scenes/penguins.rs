//! Two penguins that slide down the banks of an icy valley into each other.

use crate::character_desc::EARTH;
use crate::penguin;
use sinew_control::{DriveMode, Motion};
use sinew_math::{Isometry, Rotation, Vec3, so3};
use sinew_sim::desc::{CageSize, ContactDesc, ObstacleDesc, Shape, ShapeDesc};
use sinew_take::Scene;

/// The angle of the banks (degrees), and how far from the bottom of the valley each begins (m).
const STEEP: f64 = 14.0;
const START: f64 = 0.7;
/// Young's modulus (Pa): firmer than the waddling penguin, whose belly would be crushed.
const YOUNG: f64 = 20e3;
/// Tets of each.
const TETS: usize = 1500;

/// Two penguins with free roots slide towards each other, upright as they waddle, and collide.
pub fn penguins() -> Scene {
    let mut scene = one(-1.0);
    let other = one(1.0);
    scene.world.bodies.extend(other.world.bodies);
    scene.world.rigs.extend(other.world.rigs);
    scene.performances.extend(other.performances);
    scene.pin_motions.extend(other.pin_motions);
    scene.name = "penguins".into();

    // a valley of ice
    for (name, side) in [("left bank", -1.0), ("right bank", 1.0)] {
        let tilt: Rotation = so3::exp(&(Vec3::z() * side * STEEP.to_radians()));
        let plane = Shape::Plane { normal: tilt * Vec3::y() };
        scene.world.obstacles.push(ObstacleDesc::fixed(name, plane, Isometry::identity()));
        scene.obstacle_motions.push(Motion::Still);
    }
    scene.world.gravity = EARTH;
    scene.world.contact = ContactDesc { friction: 0.04, between_bodies: true, ..ContactDesc::default() };
    scene.preroll = 0.0;
    scene.seconds = 3.0;
    scene
}

/// A penguin on the bank of a side, facing the other.
fn one(side: f64) -> Scene {
    let mut scene = penguin();
    let name = if side < 0.0 { "left penguin" } else { "right penguin" };
    let tilt: Rotation = so3::exp(&(Vec3::z() * side * STEEP.to_radians()));
    let facing: Rotation = so3::exp(&(Vec3::y() * -side * core::f64::consts::FRAC_PI_2));
    let at = tilt * (Vec3::x() * side * START + Vec3::y() * 0.01);
    let place = Isometry::from_parts(at.into(), tilt * facing);
    for body in &mut scene.world.bodies {
        body.name = name.into();
        body.material.young = YOUNG;
        if let ShapeDesc::Surface { surface, cage } = &mut body.shape {
            *cage = CageSize::Tets(TETS);
            surface.vertices.iter_mut().for_each(|v| *v = place.transform_point(&(*v).into()).coords);
        }
        if let Some(attachment) = &mut body.attachment {
            attachment.rig = name.into();
        }
    }
    for rig in &mut scene.world.rigs {
        rig.name = name.into();
        for bone in rig.skeleton.bones.iter_mut().filter(|bone| bone.parent == sinew_skeleton::Parent::World)
        {
            bone.parent_from_joint = place * bone.parent_from_joint;
        }
    }
    scene.performances.iter_mut().for_each(|performance| performance.set_drive_mode(DriveMode::TwoWay));
    scene
}
