//! A soft rubber duck tumbling in a rotating box.                                                [Capell2004, figure 4.5]

use super::soft_object::SoftObject;
use crate::character_desc::at;
use sinew_control::Motion;
use sinew_flesh::Material;
use sinew_math::{Isometry, Rotation, Vec3, so3};
use sinew_mesh::Primitive;
use sinew_sim::desc::{ContactDesc, Mobility, ObstacleDesc, Shape};
use sinew_take::Scene;

/// Half extents of the interior of the box (m), half the thickness of its walls (m).
const ROOM: Vec3 = at(0.2, 0.2, 0.16);
const HALF_WALL: f64 = 0.01;
/// Backward tilt of the box (degrees), so that nothing falls out of its open front.
const LEAN: f64 = 24.0;
/// Revolutions of the box per second.
const RATE: f64 = 0.22;

/// A duck sits in a rotating box with an open front that is tilted back.
pub fn duck_box() -> Scene {
    // the duck
    let lean: Rotation = so3::exp(&(Vec3::x() * -LEAN.to_radians()));
    let object = SoftObject {
        name: "duck-box",
        primitives: primitives(),
        spacing: 0.0085,
        tets: 1200,
        material: Material::soft_solid(20e3, 0.42, 700.0, 0.05),
        pose: Isometry::from_parts((lean * at(0.0, -ROOM.y + 0.005, -0.05)).into(), lean),
        velocity: Vec3::zeros(),
    };
    let mut scene = object.scene(6.0);

    // five walls that rotate together
    let walls = [
        ("floor", -Vec3::y()),
        ("lid", Vec3::y()),
        ("left wall", -Vec3::x()),
        ("right wall", Vec3::x()),
        ("back wall", -Vec3::z()),
    ];
    let spin = Motion::Spin { axis: lean * Vec3::z(), center: Vec3::zeros(), rate: RATE };
    for (name, outward) in walls {
        let across = ROOM.component_mul(&outward.abs());
        let half =
            ROOM + Vec3::repeat(2.0 * HALF_WALL) - across.map(|x| if x > 0.0 { x + HALF_WALL } else { 0.0 });
        let middle = outward * (across.norm() + HALF_WALL);
        let pose = Isometry::from_parts((lean * middle).into(), lean);
        let wall = ObstacleDesc::fixed(name, Shape::Cuboid { half }, pose);
        scene.world.obstacles.push(ObstacleDesc { mobility: Mobility::Kinematic, ..wall });
        scene.obstacle_motions.push(spin.clone());
    }
    scene.world.contact = ContactDesc { friction: 0.4, ..ContactDesc::default() };
    scene
}

/// A duck that faces right, sitting at height 0.
pub(super) fn primitives() -> Vec<Primitive> {
    let tilted = |degrees: f64| -> Rotation { so3::exp(&(Vec3::z() * degrees.to_radians())) };
    let mut primitives = vec![
        // body with a flat bottom, breast, tail that points up
        Primitive::ellipsoid(at(0.0, 0.056, 0.0), tilted(0.0), [0.096, 0.055, 0.066]).blended(0.02),
        Primitive::ellipsoid(at(0.045, 0.07, 0.0), tilted(30.0), [0.06, 0.052, 0.054]).blended(0.03),
        Primitive::round_cone([at(-0.07, 0.075, 0.0), at(-0.115, 0.115, 0.0)], [0.034, 0.013]).blended(0.02),
        // neck, head and bill
        Primitive::round_cone([at(0.055, 0.1, 0.0), at(0.062, 0.14, 0.0)], [0.034, 0.033]).blended(0.015),
        Primitive::sphere(at(0.066, 0.158, 0.0), 0.044).blended(0.012),
        Primitive::ellipsoid(at(0.114, 0.15, 0.0), tilted(-6.0), [0.026, 0.0095, 0.022]).blended(0.006),
        Primitive::ellipsoid(at(0.108, 0.142, 0.0), tilted(-14.0), [0.018, 0.008, 0.017]).blended(0.004),
    ];
    for side in [1.0, -1.0] {
        // wings and eyes
        let wing = so3::exp(&at(0.0, side * 0.12, 0.25));
        primitives.push(
            Primitive::ellipsoid(at(-0.018, 0.075, side * 0.06), wing, [0.052, 0.026, 0.014]).blended(0.008),
        );
        primitives.push(Primitive::sphere(at(0.09, 0.17, side * 0.028), 0.0105).blended(0.003));
    }
    primitives
}
