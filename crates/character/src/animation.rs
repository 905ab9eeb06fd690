//! Animations: which nodes move, and their keys.

use crate::AnimationChannel;

/// Keys of some nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CharacterAnimation {
    /// Its name.
    pub name: Option<String>,
    /// The time of its last key (s).
    pub duration: f64,
    /// What moves; no node and path twice.
    pub channels: Vec<AnimationChannel>,
}
