//! Renamed and removed keys of scene files: old names still work, with a note that gives the new ones, and so do removed keys at the value that everything has now.

use super::ScenePart;

/// A key that has been renamed.
pub(super) struct RenamedKey {
    /// The table it belongs to.
    pub(super) part: ScenePart,
    /// Its old name.
    pub(super) old: &'static str,
    /// Its new name.
    pub(super) new: &'static str,
    /// The new values for true and false; `None` if values are the same.
    pub(super) flag_words: Option<FlagWords>,
}

/// Words that replace true and false.
pub(super) struct FlagWords {
    pub(super) yes: &'static str,
    pub(super) no: &'static str,
}

const fn renamed(part: ScenePart, old: &'static str, new: &'static str) -> RenamedKey {
    RenamedKey { part, old, new, flag_words: None }
}

/// All renamed keys.
pub(super) const RENAMED_KEYS: &[RenamedKey] = &[
    renamed(ScenePart::Region, "share", "fraction"),
    renamed(ScenePart::Character, "run_up", "preroll_approach"),
    renamed(ScenePart::Character, "settle", "preroll_hold"),
    RenamedKey {
        part: ScenePart::Character,
        old: "balanced",
        new: "sag",
        flag_words: Some(FlagWords { yes: "balanced", no: "free" }),
    },
];

/// A key that has been removed.
pub(super) struct RemovedKey {
    /// The table it belonged to.
    pub(super) part: ScenePart,
    /// Its name.
    pub(super) name: &'static str,
    /// The value that asks for what is done anyway, if there is one.
    pub(super) usual: Option<&'static str>,
    /// Why it was removed, and what to do.
    pub(super) why: &'static str,
}

/// All removed keys.
pub(super) const REMOVED_KEYS: &[RemovedKey] = &[
    RemovedKey {
        part: ScenePart::Contact,
        name: "response",
        usual: Some("penalty"),
        why: "\"projection\" and \"impulse\" gained energy, so contact is resolved by penalty springs; remove it, and raise `stiffness` if bodies sink in too deep",
    },
    RemovedKey {
        part: ScenePart::Contact,
        name: "restitution",
        usual: None,
        why: "penalty springs return what the damping of materials leaves; remove it, and lower the `damping` of the material for a higher rebound",
    },
];

/// Finds the removed key of a name.
pub(super) fn find_removed(part: ScenePart, name: &str) -> Option<&'static RemovedKey> {
    REMOVED_KEYS.iter().find(|key| key.part == part && key.name == name)
}

/// Finds the renamed key of an old name.
pub(super) fn find_renamed(part: ScenePart, old: &str) -> Option<&'static RenamedKey> {
    RENAMED_KEYS.iter().find(|key| key.part == part && key.old == old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_names_are_keys_and_old_ones_are_not() {
        for key in RENAMED_KEYS {
            assert!(key.part.keys().contains(&key.new), "{}", key.new);
            assert!(!key.part.keys().contains(&key.old), "{}", key.old);
        }
        assert!(REMOVED_KEYS.iter().all(|key| !key.part.keys().contains(&key.name)));
    }
}
