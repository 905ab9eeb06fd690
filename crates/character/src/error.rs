//! Why no flesh can be made of a character.

/// What is wrong with a character, and what to do about it. File readers add the name of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CharacterError {
    /// Which part of the character is at fault.
    pub part: FaultyPart,
    /// What is wrong and what to do.
    pub message: String,
}

/// A part of a character that can be at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultyPart {
    /// The character as a whole.
    Character,
    /// A node or joint, by its label.
    Joint(String),
    /// A surface, mesh or material, by its name.
    Surface(String),
    /// The animation that is played.
    Animation,
    /// The captured motion that is played, which comes from another file.
    Motion,
}

impl CharacterError {
    /// An error about the character as a whole.
    pub fn whole(message: impl Into<String>) -> CharacterError {
        CharacterError { part: FaultyPart::Character, message: message.into() }
    }

    /// An error about a part of the character.
    pub fn of(part: FaultyPart, message: impl Into<String>) -> CharacterError {
        CharacterError { part, message: message.into() }
    }
}
