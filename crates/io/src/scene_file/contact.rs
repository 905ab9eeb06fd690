//! Reads `[contact]` of a scene file.

use super::section::Section;
use crate::scene_schema::{ContactResponse, ContactTable};
use sinew_files::ReadError;
use sinew_sim::desc::{ContactDesc, Response};

/// Reads how contact is resolved. By default, bodies collide with each other if there are obstacles or a `[contact]` table.
pub(super) fn read_contact(
    contact: Option<&Section<ContactTable>>,
    has_obstacles: bool,
    self_contact: Vec<String>,
) -> Result<ContactDesc, ReadError> {
    let defaults = ContactDesc { between_bodies: has_obstacles, self_contact, ..ContactDesc::default() };
    let Some(contact) = contact else { return Ok(defaults) };
    let response = match contact.response {
        Some(ContactResponse::Projection) => Response::Projection,
        Some(ContactResponse::Impulse) => {
            Response::Impulse { restitution: contact.restitution.unwrap_or(0.0) }
        }
        _ => Response::Penalty,
    };
    if contact.restitution.is_some() && !matches!(response, Response::Impulse { .. }) {
        return Err(contact.error("restitution", "`restitution` needs response = \"impulse\""));
    }
    Ok(ContactDesc {
        response,
        friction: contact.friction.unwrap_or(defaults.friction),
        stiffness: contact.stiffness.unwrap_or(defaults.stiffness),
        between_bodies: contact.bodies.unwrap_or(true),
        longest_step: contact.longest_step.unwrap_or(defaults.longest_step),
        ..defaults
    })
}
