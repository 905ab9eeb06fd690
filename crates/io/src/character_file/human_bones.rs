//! The map from human bones to nodes that VRM files carry.

use super::document::{Document, Part};
use super::findings::Findings;
use std::collections::BTreeMap;

/// Which edition of VRM a map comes from; some names differ (thumbs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VrmEdition {
    /// `VRM`, edition 0.
    Zero,
    /// `VRMC_vrm`, edition 1.
    One,
}

/// Human bones by the names of VRM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HumanBones {
    /// Where the map comes from.
    pub edition: VrmEdition,
    /// The node of each bone that has one.
    pub nodes: BTreeMap<String, usize>,
}

/// Reads the map; `None` if the file has none.
pub(super) fn read(document: &Document, findings: &mut Findings) -> Option<HumanBones> {
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
