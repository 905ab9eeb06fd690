//! Where a floor belongs under a scene that has none.

use crate::CharacterScene;
use crate::scene_source::SceneSource;
use sinew_math::Vec3;
use sinew_sim::{Model, State};
use sinew_take::Scene;

/// Poses of a motion that are looked at, at most.
const POSES: usize = 240;
/// Those of them at which flesh is carried along, which takes longer.
const CARRIED_POSES: usize = 48;

impl SceneSource {
    /// The lowest height, against gravity (m), that surfaces reach as motions alone have them; at rest where nothing is led.
    /// `None` where nothing falls or nothing is there.
    pub fn lowest_height(&self) -> Option<f64> {
        let up = (-self.scene().world.gravity).try_normalize(0.0)?;
        let lowest = match self.character() {
            Some(character) => lowest_of_character(character, &up),
            None => lowest_in_motion(self.scene(), &up).unwrap_or_else(|| lowest_at_rest(self, &up)),
        };
        lowest.is_finite().then_some(lowest)
    }
}

fn lowest_of_character(character: &CharacterScene, up: &Vec3) -> f64 {
    let count = character.scene.frame_count().clamp(1, POSES);
    let mut lowest = f64::INFINITY;
    for i in 0..=count {
        let pose = character.pose_at(character.scene.seconds * i as f64 / count as f64);
        for id in character.surface_ids() {
            let points = character.file.world_vertices(id, &pose).unwrap_or_default();
            lowest = points.iter().map(|p| p.dot(up)).fold(lowest, f64::min);
        }
    }
    lowest
}

/// Flesh on bones that are led, carried along by them.
fn lowest_in_motion(scene: &Scene, up: &Vec3) -> Option<f64> {
    if scene.performances.is_empty() {
        return None;
    }
    // what is wrong with it is told when it is played
    let model = Model::build(&scene.world).ok()?;
    let mut state = State::at_rest(&model);
    let mut lowest = f64::INFINITY;
    for i in 0..=CARRIED_POSES {
        let time = scene.seconds * i as f64 / CARRIED_POSES as f64;
        for ((performance, rig), state) in scene.performances.iter().zip(&model.rigs).zip(&mut state.rigs) {
            performance.pose(&rig.skeleton, time, state);
        }
        state.carry_flesh(&model);
        for body in &model.bodies {
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

fn lowest_at_rest(source: &SceneSource, up: &Vec3) -> f64 {
    let lowest = |points: &[Vec3]| points.iter().map(|p| p.dot(up)).fold(f64::INFINITY, f64::min);
    let bodies = source.scene().world.bodies.iter();
    bodies.map(|body| lowest(body.shape.points())).fold(f64::INFINITY, f64::min)
}
