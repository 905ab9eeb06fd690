//! Edits in a few words, for lists.

use sinew_io::EditTable;
use sinew_io::tables::MetaphorChoice;

/// What an edit does, in a few words.
pub(crate) fn summary(edit: &EditTable) -> String {
    let mut words = Vec::new();
    if edit.gravity.is_some() {
        words.push("gravity".to_owned());
    }
    for metaphor in &edit.metaphor {
        let kind = match metaphor.kind {
            MetaphorChoice::Stretch => "stretch",
            MetaphorChoice::Bend => "bend",
            MetaphorChoice::Twist => "twist",
            MetaphorChoice::Push => "push",
        };
        words.push(format!("{kind} {}", metaphor.body));
    }
    words.extend(edit.remove_metaphor.iter().map(|name| format!("end {name}")));
    for constraint in &edit.constraint {
        words.push(constraint.name.clone().unwrap_or_else(|| "constraint".into()));
    }
    words.extend(edit.remove.iter().map(|name| format!("{name} lets go")));
    for body in &edit.body {
        words.push(format!("{} changes", body.name));
    }
    for character in &edit.character {
        if let Some(mode) = character.mode {
            let mode = format!("{mode:?}").to_lowercase();
            words.push(format!("{} {mode}", character.name));
        }
        words.extend(character.goal.iter().map(|goal| goal.name.clone().unwrap_or_else(|| "goal".into())));
        words.extend(character.remove_goal.iter().map(|name| format!("{name} lets go")));
    }
    words.extend(edit.obstacle.iter().map(|obstacle| format!("{} changes", obstacle.name)));
    words.extend(edit.activation.iter().flatten().map(|(muscle, _)| format!("activate {muscle}")));
    if edit.contact.is_some() {
        words.push("contact".into());
    }
    if edit.solver.is_some() {
        words.push("solver".into());
    }
    if words.is_empty() { "nothing".into() } else { words.join(", ") }
}
