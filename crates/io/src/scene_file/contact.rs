//! Reads `[contact]` of a scene file.

use super::section::Section;
use crate::scene_schema::ContactTable;
use sinew_files::ReadError;
use sinew_sim::desc::ContactDesc;

/// Reads how contact is resolved. By default, bodies collide with each other.
pub(super) fn read_contact(
    contact: Option<&Section<ContactTable>>,
    self_contact: Vec<String>,
) -> Result<ContactDesc, ReadError> {
    let defaults = ContactDesc { between_bodies: true, self_contact, ..ContactDesc::default() };
    let Some(contact) = contact else { return Ok(defaults) };
    Ok(ContactDesc {
        friction: contact.friction.unwrap_or(defaults.friction),
        stiffness: contact.stiffness.unwrap_or(defaults.stiffness),
        between_bodies: contact.bodies.unwrap_or(defaults.between_bodies),
        longest_step: contact.longest_step.unwrap_or(defaults.longest_step),
        ..defaults
    })
}
