//! Animations: which nodes move, and their keys.

use crate::{AnimationChannel, CharacterError, FaultyPart, RiggedCharacter};

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

impl RiggedCharacter {
    /// The animation of this name, or of this index; the first one if `wanted` is `None`, and none if there are none.
    pub fn find_animation(&self, wanted: Option<&str>) -> Result<Option<usize>, CharacterError> {
        let Some(wanted) = wanted else { return Ok((!self.animations.is_empty()).then_some(0)) };
        let by_name = self.animations.iter().position(|a| a.name.as_deref() == Some(wanted));
        let by_number = wanted.parse().ok().filter(|i: &usize| *i < self.animations.len());
        by_name.or(by_number).map(Some).ok_or_else(|| {
            let named = |(i, a): (usize, &CharacterAnimation)| {
                format!("{i} ({})", a.name.as_deref().unwrap_or("without a name"))
            };
            let names = self.animations.iter().enumerate().map(named).collect::<Vec<_>>().join(", ");
            let there = if names.is_empty() { "none".to_owned() } else { names };
            let message = format!("there is no animation '{wanted}': the file has {there}");
            CharacterError::of(FaultyPart::Animation, message)
        })
    }
}
