//! The parts of a character that stay rigid.

use crate::CharacterBinding;

impl CharacterBinding {
    /// The names of the parts that stay rigid.
    pub fn rigid_parts(&self) -> &[String] {
        &self.flesh.rigid_parts
    }
}
