//! Reads `[contact]` of a scene file, and the contact keys of bodies and characters.

use super::section::Section;
use crate::scene_schema::{BodyTable, CharacterTable, ContactTable};
use sinew_files::ReadError;
use sinew_sim::contact::ContactMaterial;
use sinew_sim::desc::{BodyContactDesc, ContactDesc};

/// What bodies and characters say about their contact.
#[derive(Default)]
pub(super) struct BodyContacts {
    self_contact: Vec<String>,
    bodies: Vec<BodyContactDesc>,
}

/// The contact keys of a body or a character.
pub(super) struct ContactKeys {
    self_contact: Option<bool>,
    friction: Option<f64>,
    stiffness: Option<f64>,
}

impl From<&BodyTable> for ContactKeys {
    fn from(table: &BodyTable) -> Self {
        let BodyTable { self_contact, friction, contact_stiffness, .. } = *table;
        ContactKeys { self_contact, friction, stiffness: contact_stiffness }
    }
}

impl From<&CharacterTable> for ContactKeys {
    fn from(table: &CharacterTable) -> Self {
        let CharacterTable { self_contact, friction, contact_stiffness, .. } = *table;
        ContactKeys { self_contact, friction, stiffness: contact_stiffness }
    }
}

impl BodyContacts {
    /// Adds those of a body with a name.
    pub(super) fn add(&mut self, body: &str, keys: impl Into<ContactKeys>) {
        let ContactKeys { self_contact, friction, stiffness } = keys.into();
        let material = ContactMaterial { friction, stiffness: stiffness.unwrap_or(1.0) };
        if self_contact == Some(true) {
            self.self_contact.push(body.to_owned());
        }
        if material != ContactMaterial::default() {
            self.bodies.push(BodyContactDesc { body: body.to_owned(), material });
        }
    }
}

/// Reads how contact is resolved. By default, bodies collide with each other.
pub(super) fn read_contact(
    contact: Option<&Section<ContactTable>>,
    BodyContacts { self_contact, bodies }: BodyContacts,
) -> Result<ContactDesc, ReadError> {
    let defaults = ContactDesc { between_bodies: true, self_contact, bodies, ..ContactDesc::default() };
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
