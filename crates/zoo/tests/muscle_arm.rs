//! The arm that its muscles bend: muscle force moves bones, and no joint torque does.

use sinew_character::human_muscles;
use sinew_control::BoneMap;
use sinew_sim::Model;
use sinew_skeleton::Skeleton;
use sinew_take::Player;
use sinew_zoo::muscle_arm;

/// The elbow's angle (rad) at some times (s), and volumes of the flesh relative to rest.
fn play(activates: bool, times: &[f64]) -> Vec<(f64, f64)> {
    let mut scene = muscle_arm();
    if !activates {
        scene.curves.muscles.clear();
    }
    let mut player = Player::build(&scene).expect("sound");
    let volume = |player: &Player, x: &[sinew_math::Vec3]| -> f64 {
        let of = |tet: &[u32; 4]| {
            let [a, b, c, d] = tet.map(|node| x[node as usize]);
            (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
        };
        player.model.tets().iter().map(of).sum()
    };
    let mut found = Vec::new();
    for time in times {
        while player.state.time < time - 1e-6 {
            player.advance().expect("no divergence");
        }
        let change = volume(&player, &player.state.node_x) / volume(&player, player.model.node_rest()) - 1.0;
        found.push((player.state.rigs[0].q[0], change));
    }
    assert_eq!(player.summary.retries, 0);
    found
}

/// It hangs at −42° at first, and comes to rest near there without activation: flesh at the elbow bends it by 10° at most. Muscles lift it above its rest, and the flesh keeps its volume to 2 %: fat around muscles has ν = 0.45, and is compressed beside the bent elbow.
#[test]
#[expect(clippy::print_stdout, reason = "docs/layers.md and decision 028 have numbers of it")]
fn muscles_lift_the_forearm_and_without_them_it_hangs() {
    let lifted = play(true, &[0.1, 2.4, 4.4]);
    println!("{lifted:?}");
    let degrees: Vec<f64> = lifted.iter().map(|(angle, _)| angle.to_degrees()).collect();
    assert!(degrees[0] < -30.0 && degrees[1] > 30.0 && degrees[2] < -30.0, "{degrees:?}");
    assert!(lifted.iter().all(|(_, change)| change.abs() < 0.02), "{lifted:?}");
    let hanging = play(false, &[2.4]);
    assert!(hanging[0].0.to_degrees() < -20.0, "{hanging:?}");
}

/// Sixteen muscles find their bones; those of both sides agree to 10 % in volume, by how the cage cuts them, and every one has fibres that could pull by a few hundred newtons or more.
#[test]
fn human_muscles_are_laid_out_on_both_sides_of_the_dancer() {
    let mut scene = sinew_zoo::dancer(8_000, 0.02);
    let skeleton = Skeleton::build(&scene.world.rigs[0].skeleton.with_plain_masses()).expect("sound");
    let name = scene.world.bodies[0].name.clone();
    scene.world.muscles = human_muscles(&scene.world, &name, &BoneMap::find_in(&skeleton)).expect("human");
    let model = Model::build(&scene.world).expect("sound");
    let (left, right) = model.muscles().split_at(8);
    assert_eq!(right.len(), 8);
    for (left, right) in left.iter().zip(right) {
        assert_eq!(left.name.replace("left", "right"), right.name);
        assert!(
            (left.volume / right.volume - 1.0).abs() < 0.1,
            "{}: {} {}",
            left.name,
            left.volume,
            right.volume
        );
        assert!(left.max_force() > 200.0 && left.end_nodes.iter().all(|end| !end.is_empty()), "{left:?}");
    }
}
