//! What a user wrote, with names, units and paths resolved.

use sinew_control::Motion;
use sinew_sim::WorldDesc;

/// A scene: a world and how to play it.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Its name, for outputs that need one.
    pub name: String,
    /// All that the model is built from.
    pub world: WorldDesc,
    /// How each pin moves: one list per body of the world, one motion per pin of that body.
    pub pin_motions: Vec<Vec<Motion>>,
    /// How long to play (s).
    pub seconds: f64,
    /// Frames per second.
    pub fps: f64,
}
