//! Skin over muscles: how far it slides, that it stays outside, and that its scenes are files.

use sinew_math::Vec3;
use sinew_sim::desc::{BandsDesc, ShapeDesc};
use sinew_take::{Frame, Player, Scene};
use sinew_zoo::{arm_skin_with, penguin_skin};

/// Plays a scene, calling `watch` at each frame with the player.
fn play(scene: &Scene, frames: usize, mut watch: impl FnMut(&Player)) {
    let mut player = Player::build(scene).expect("it builds");
    for _ in 0..frames {
        player.advance().expect("a frame");
        watch(&player);
    }
}

/// How far skin over the biceps moves along the upper arm from the straight arm to the bent one (m). The upper arm does not move.
fn slide(bands: BandsDesc) -> f64 {
    let scene = arm_skin_with(bands);
    let mut player = Player::build(&scene).expect("it builds");
    player.preroll(|_, _| {}).expect("a preroll");
    let rest = player.model.node_rest();
    let over_biceps = |x: &Vec3| (x - Vec3::new(-0.12, 0.07, 0.0)).norm_squared();
    let node = (0..rest.len())
        .min_by(|a, b| over_biceps(&rest[*a]).total_cmp(&over_biceps(&rest[*b])))
        .expect("nodes");
    let before = player.state.node_x[node];
    // bent most from 0.35 to 0.6 of 2.4 s
    for _ in 0..72 {
        player.advance().expect("a frame");
    }
    (player.state.node_x[node] - before).x.abs()
}

/// As the elbow bends the biceps swells and becomes shorter. Skin that is tied to it is carried along; below loose skin it slides away. The numbers are those of `docs/layers.md`: 7.3 and 1.1 mm.
#[test]
fn the_biceps_slides_below_loose_skin_and_carries_tied_skin_along() {
    let loose = slide(BandsDesc { stiffness: 300.0, slack: 0.015, ..BandsDesc::default() });
    let tied = slide(BandsDesc { stiffness: 1e5, slack: 0.0, ..BandsDesc::default() });
    assert!(tied > 4e-3 && loose < 0.35 * tied, "{tied} {loose}");
}

/// At every frame of 1/60 s no point of the skin is in the fat by more than a hundredth of its thickness.
#[test]
fn the_penguins_skin_stays_out_of_the_fat() {
    let scene = penguin_skin();
    let ShapeDesc::Skin(skin) = &scene.world.bodies[0].shape else { panic!("a skin") };
    let (mut frame, mut deepest) = (Frame::default(), 0.0f64);
    let bones = |player: &Player, name: &str| {
        player.model.rigs()[0].skeleton.find_bone(name).expect("a bone").index()
    };
    let mut rest = Frame::default();
    let at_rest = Player::build(&scene).expect("it builds");
    rest.update(&at_rest.model, &sinew_sim::State::at_rest(&at_rest.model));
    play(&scene, 120, |player| {
        frame.update(&player.model, &player.state);
        for muscle in &skin.muscles {
            let bone = bones(player, muscle.bone.as_ref().expect("on a bone"));
            let world_from_solid = frame.bones[0][bone] * rest.bones[0][bone].inverse() * muscle.pose;
            for (node, x) in player.state.node_x.iter().enumerate() {
                // poles are fixed, wherever muscles go
                if player.model.bone_of_node(node).is_some() {
                    continue;
                }
                let local = world_from_solid.inverse_transform_point(&(*x).into()).coords;
                deepest = deepest.max(skin.fat - muscle.solid.probe(&local).distance);
            }
        }
        assert!(player.state.node_x.iter().all(|x| x.norm() < 2.0));
    });
    assert!(deepest < 0.01 * skin.fat, "{deepest}");
}
