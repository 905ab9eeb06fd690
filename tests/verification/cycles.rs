//! Loops: a cycle is played before the take until flesh ends it as it began it.

use super::coupling::Worm;
use sinew::control::{Extrapolation, Interpolation, Performance, SkeletonMotion};
use sinew::math::real;
use sinew::prelude::*;
use sinew::skeleton::Skeleton;

const PERIOD: f64 = 0.5;

/// A worm whose middle joint bends up and down, one cycle of it, with a material of a given damping ratio.
fn cycle(damping: f64) -> Scene {
    let world = Worm { damping, ..Worm::default() }.world();
    let skeleton = Skeleton::build(&world.rigs[0].skeleton).expect("a sound skeleton");
    let keys = 20;
    let pose = |key: usize| {
        let mut state = SkeletonState::at_rest(&skeleton);
        let angle = 0.4 * real::sin(std::f64::consts::TAU * key as f64 / keys as f64);
        state.set_chart_of(&skeleton, BoneId(1), &[0.0, 0.0, angle]);
        state.q
    };
    let motion = SkeletonMotion::build(&skeleton, PERIOD / keys as f64, (0..=keys).flat_map(pose).collect());
    let motion = motion.expect("a sound motion").with(Interpolation::BSpline, Extrapolation::Loop);
    let performances = vec![Performance::of(Some(motion))];
    let mut scene = Scene { world, performances, ..Scene::default() };
    assert!(scene.make_loop());
    scene
}

/// Frames of preroll, and the largest distance of a node from its start after one cycle of the take (m).
fn play(scene: &Scene) -> (usize, f64) {
    let mut player = Player::build(scene).expect("a sound scene");
    let mut frames = 0;
    player.preroll(|_, _| frames += 1).expect("holds");
    let start = player.state.node_x.clone();
    (0..player.frame_count()).for_each(|_| {
        player.advance().expect("holds");
    });
    let moved = player.state.node_x.iter().zip(&start).map(|(x, then)| (x - then).norm());
    (frames, moved.fold(0.0, f64::max))
}

/// The transient of a swing of frequency f and damping ratio ζ decays by exp(−2π f ζ T) per cycle, so more damping closes a cycle earlier, and
/// well damped flesh long before the longest preroll of 30 s. A cycle that closed within ε L stays within it, as later differences are smaller.
#[test]
fn preroll_of_a_loop_ends_when_the_cycle_closes() {
    let [firm, lively] = [0.5, 0.1].map(|damping| play(&cycle(damping)));
    assert!(firm.0 <= lively.0 && lively.0 < 30 * 60, "{firm:?} {lively:?}");
    let frames_per_cycle = (60.0 * PERIOD) as usize;
    assert!(firm.0.is_multiple_of(frames_per_cycle) && firm.0 >= 2 * frames_per_cycle);
    // ε = 5e-4 of the diagonal of the worm of 0.6 m by 0.1 m by 0.1 m, which bends to less
    assert!(firm.1 <= 3.1e-4 && lively.1 <= 3.1e-4, "{firm:?} {lively:?}");
}
