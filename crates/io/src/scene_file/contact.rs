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
    Ok(contact.map_or_else(|| defaults.clone(), |contact| contact_from(contact, &defaults)))
}

/// Contact parameters in which the given keys differ from others.
pub(super) fn contact_from(contact: &ContactTable, others: &ContactDesc) -> ContactDesc {
    ContactDesc {
        friction: contact.friction.unwrap_or(others.friction),
        stiffness: contact.stiffness.unwrap_or(others.stiffness),
        between_bodies: contact.bodies.unwrap_or(others.between_bodies),
        longest_step: contact.longest_step.unwrap_or(others.longest_step),
        ..others.clone()
    }
}
