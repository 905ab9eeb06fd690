//! Where a floor belongs under a scene that has none.

use crate::CharacterScene;
use crate::scene_source::SceneSource;
use sinew_math::Vec3;
use sinew_sim::desc::ShapeDesc;

/// Poses of a motion that are looked at, at most.
const POSES: usize = 240;

impl SceneSource {
    /// The lowest height, against gravity (m), that surfaces reach as the motion alone has them: of a character in all its motion, of other scenes at rest.
    /// `None` where nothing falls or nothing is there.
    pub fn lowest_height(&self) -> Option<f64> {
        let up = (-self.scene().world.gravity).try_normalize(0.0)?;
        let lowest = match self.character() {
            Some(character) => lowest_of_character(character, &up),
            None => lowest_at_rest(self, &up),
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

fn lowest_at_rest(source: &SceneSource, up: &Vec3) -> f64 {
    let lowest = |points: &[Vec3]| points.iter().map(|p| p.dot(up)).fold(f64::INFINITY, f64::min);
    let body = |shape: &ShapeDesc| match shape {
        ShapeDesc::Surface { surface, .. } => lowest(&surface.vertices),
        ShapeDesc::Tets(mesh) => lowest(&mesh.nodes),
    };
    source.scene().world.bodies.iter().map(|desc| body(&desc.shape)).fold(f64::INFINITY, f64::min)
}
