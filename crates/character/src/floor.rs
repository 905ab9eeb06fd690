//! Where a floor belongs under a scene that has none.

use crate::CharacterBinding;
use sinew_math::Vec3;
use sinew_sim::{Model, State};
use sinew_take::Scene;

/// Poses of a motion that are sampled, at most.
const POSES: usize = 240;
/// Those of them at which flesh is carried along, which takes longer.
const CARRIED_POSES: usize = 48;

/// The lowest height, against gravity (m), that surfaces reach when motions alone move them; at rest where nothing is driven. `None`
/// without gravity or bodies.
pub fn lowest_height(scene: &Scene, characters: &[&CharacterBinding]) -> Option<f64> {
    let up = (-scene.world.gravity).try_normalize(0.0)?;
    let of_characters = characters.iter().map(|character| lowest_of_character(scene, character, &up));
    let is_character = |body: usize| characters.iter().any(|character| character.body == body);
    let others: Vec<usize> = (0..scene.world.bodies.len()).filter(|body| !is_character(*body)).collect();
    let of_others =
        || lowest_in_motion(scene, &others, &up).unwrap_or_else(|| lowest_at_rest(scene, &others, &up));
    let of_others = if others.is_empty() { f64::INFINITY } else { of_others() };
    let lowest = of_characters.fold(of_others, f64::min);
    lowest.is_finite().then_some(lowest)
}

fn lowest_of_character(scene: &Scene, character: &CharacterBinding, up: &Vec3) -> f64 {
    let count = scene.frame_count().clamp(1, POSES);
    let mut lowest = f64::INFINITY;
    for i in 0..=count {
        let pose = character.pose_at(scene.seconds * i as f64 / count as f64);
        let points = character.skinned_surfaces(&pose);
        lowest = points.iter().flatten().map(|p| p.dot(up)).fold(lowest, f64::min);
    }
    lowest
}

/// Flesh on bones that are driven, carried along by them.
fn lowest_in_motion(scene: &Scene, bodies: &[usize], up: &Vec3) -> Option<f64> {
    if scene.performances.is_empty() {
        return None;
    }
    // what is wrong with it is reported when it is played
    let model = Model::build(&scene.world).ok()?;
    let mut state = State::at_rest(&model);
    let mut lowest = f64::INFINITY;
    for i in 0..=CARRIED_POSES {
        // bones where the motion has them, flesh along with them
        let time = scene.seconds * i as f64 / CARRIED_POSES as f64;
        for ((performance, rig), state) in scene.performances.iter().zip(model.rigs()).zip(&mut state.rigs) {
            performance.pose(&rig.skeleton, time, state);
        }
        state.carry_flesh(&model);

        // the lowest vertex
        for body in bodies.iter().map(|body| &model.bodies()[*body]) {
            let nodes = &state.node_x[body.nodes.clone()];
            for point in 0..body.embedding.point_count() {
                let x: Vec3 =
                    body.embedding.point(point).map(|(node, weight)| weight * nodes[node as usize]).sum();
                lowest = lowest.min(x.dot(up));
            }
        }
    }
    Some(lowest)
}

fn lowest_at_rest(scene: &Scene, bodies: &[usize], up: &Vec3) -> f64 {
    let lowest = |points: &[Vec3]| points.iter().map(|p| p.dot(up)).fold(f64::INFINITY, f64::min);
    let of_body = |body: &usize| lowest(scene.world.bodies[*body].shape.points());
    bodies.iter().map(of_body).fold(f64::INFINITY, f64::min)
}
