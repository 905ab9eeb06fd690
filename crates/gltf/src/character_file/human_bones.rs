//! The map from human bones to nodes that VRM files carry.

use super::document_reader::{DocumentReader, Part};
use super::findings::Findings;
use sinew_character::{HumanBones, VrmEdition};
use std::collections::BTreeMap;

/// Reads the map; `None` if the file has none.
pub(super) fn read(document: &DocumentReader, findings: &mut Findings) -> Option<HumanBones> {
    let extensions = document.root().get("extensions")?;
    let bones = |name: &str| extensions.get(name)?.get("humanoid")?.get("humanBones");
    let mut found = Vec::new();
    let edition = if let Some(part) = bones("VRMC_vrm") {
        let members = part.value.as_object()?;
        found.extend(members.iter().map(|(name, value)| (name.clone(), Part { value, path: part.at(name) })));
        VrmEdition::One
    } else {
        let part = bones("VRM")?;
        for (i, value) in part.value.as_array()?.iter().enumerate() {
            let entry = Part { value, path: format!("{}[{i}]", part.path) };
            found.push((entry.text("bone").unwrap_or_default().to_string(), entry));
        }
        VrmEdition::Zero
    };
    let count = document.list("nodes").len();
    let mut nodes = BTreeMap::new();
    for (name, part) in found {
        match part.index_below("node", count, "nodes") {
            Ok(Some(node)) if !name.is_empty() => {
                nodes.insert(name, node);
            }
            Ok(_) => {}
            Err(message) => findings.note(format!("{message}; the bone was left out of the map")),
        }
    }
    Some(HumanBones { edition, nodes })
}
