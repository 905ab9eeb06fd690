//! The scene of a session with its model: what does not change while a take is directed.

use sinew_io::OpenedScene;
use sinew_math::Vec3;
use sinew_render::Look;
use sinew_sim::Model;
use sinew_take::{Up, VersionId};
use std::sync::Arc;

/// A scene, and the model that its take begins with.
pub struct Document {
    /// Its name.
    pub name: String,
    /// The scene, with the characters of rigged files in it.
    pub opened: OpenedScene,
    /// Its model without edits. All frames of the take have its nodes, bones, surfaces and obstacles.
    pub model: Arc<Model>,
    /// Frames per second.
    pub fps: f64,
    /// The axis that points up.
    pub up: Up,
}

impl Document {
    /// The looks of the shown surfaces: those of the scene, and colours of built-in characters.
    pub fn looks(&self, looks: &[Look]) -> Vec<Look> {
        zoo_looks(&self.opened, looks)
    }

    /// The size of a body at rest: its largest extent (m).
    pub fn body_size(&self, body: usize) -> f64 {
        let bounds = self.model.bodies().get(body).and_then(|body| body.surface.bounds());
        bounds.map_or(1.0, |(low, high): (Vec3, Vec3)| (high - low).amax())
    }

    /// The time of a frame (s).
    pub fn time_of(&self, frame: usize) -> f64 {
        frame as f64 / self.fps
    }
}

/// The number of a version, counted from 1.
pub(super) fn number(id: VersionId) -> usize {
    id.number()
}

/// Looks with the colours of built-in characters.
pub(crate) fn zoo_looks(opened: &OpenedScene, looks: &[Look]) -> Vec<Look> {
    let mut looks = looks.to_vec();
    let name = &opened.scene.name;
    let found =
        sinew_zoo::find(name.strip_suffix("-scene").unwrap_or(name)).filter(|_| opened.characters.is_empty());
    if let (Some(look), Some(character)) = (looks.first_mut(), found) {
        *look = Look::srgb(character.color);
    }
    looks
}
