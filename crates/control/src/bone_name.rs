//! Parsing of bone names: side, and key without side and prefix.

use crate::name_words::name_words;

/// A side of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// A parsed bone name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BoneName {
    /// The side, if the name has one.
    pub(crate) side: Option<Side>,
    /// All other words, in lower case and joined.
    pub(crate) key: String,
    /// Number of characters of the name without prefix.
    pub(crate) length: usize,
}

impl BoneName {
    /// Parses the names of a rig without the prefix common to all of them.
    pub(crate) fn of_all(names: &[&str]) -> Vec<BoneName> {
        let bare: Vec<&str> = names.iter().map(|name| without_known_prefix(name)).collect();
        let common = common_prefix(&bare);
        bare.iter().map(|name| BoneName::of(&name[common..])).collect()
    }

    fn of(name: &str) -> BoneName {
        let mut side = None;
        let mut key = String::new();
        for word in name_words(name) {
            match word.as_str() {
                "left" | "l" if side.is_none() => side = Some(Side::Left),
                "right" | "r" if side.is_none() => side = Some(Side::Right),
                // VRoid's mark of the centre
                "c" => {}
                _ => key.push_str(&word),
            }
        }
        if side.is_none() {
            (side, key) = side_within(key);
        }
        BoneName { side, key, length: name.chars().count() }
    }
}

/// Splits the side off a lower-case key such as `lefthand`.
fn side_within(key: String) -> (Option<Side>, String) {
    for (word, side) in [("left", Side::Left), ("right", Side::Right)] {
        if let Some(rest) = key.strip_prefix(word).or_else(|| key.strip_suffix(word)) {
            return (Some(side), rest.to_string());
        }
    }
    (None, key)
}

/// Removes the prefix of a widespread rig. Such rigs may contain bones of other origin, so the prefix need not be common to all
/// names.
fn without_known_prefix(name: &str) -> &str {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let after = |prefix: &str| {
        let start = name.get(..prefix.len())?;
        start.eq_ignore_ascii_case(prefix).then(|| &name[prefix.len()..])
    };
    let plain = ["cc_base_", "j_bip_", "def-"].into_iter().find_map(after);
    // a number and a separator follow
    let numbered = ["mixamorig", "valvebiped.bip", "bip"].into_iter().find_map(|prefix| {
        let rest = after(prefix)?.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix(is_separator)
    });
    plain.or(numbered).unwrap_or(name)
}

fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '_' | '-' | '.')
}

/// Length in bytes of the prefix common to all names, up to a separator and shorter than any name.
fn common_prefix(names: &[&str]) -> usize {
    let [first, rest @ ..] = names else { return 0 };
    if rest.is_empty() {
        return 0;
    }
    let shared = rest.iter().fold(first.len(), |shared, name| {
        let same = first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
        shared.min(same).min(name.len().saturating_sub(1))
    });
    let shared = shared.min(first.len().saturating_sub(1));
    let ends = first.char_indices().filter(|(_, c)| is_separator(*c)).map(|(i, c)| i + c.len_utf8());
    ends.take_while(|end| *end <= shared).last().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_split_into_side_and_key() {
        let cases = [
            ("LHipJoint", Some(Side::Left), "hipjoint"),
            ("LowerBack", None, "lowerback"),
            ("rForearmBend", Some(Side::Right), "forearmbend"),
            ("upper_arm.R", Some(Side::Right), "upperarm"),
            ("thighL", Some(Side::Left), "thigh"),
            ("righthand", Some(Side::Right), "hand"),
            ("Armature|mixamorig9:LeftUpLeg", Some(Side::Left), "upleg"),
            ("mixamorig1_Spine2", None, "spine2"),
            ("ValveBiped.Bip01_R_Calf", Some(Side::Right), "calf"),
            ("éclair_l", Some(Side::Left), "éclair"),
            ("", None, ""),
        ];
        for (name, side, key) in cases {
            let found = &BoneName::of_all(&[name])[0];
            assert_eq!((found.side, found.key.as_str()), (side, key), "{name}");
        }
    }

    #[test]
    fn common_prefix_is_ignored() {
        let keys: Vec<String> = BoneName::of_all(&["hero_a_hips", "hero_a_hand_l", "hero_a_head"])
            .into_iter()
            .map(|n| n.key)
            .collect();
        assert_eq!(keys, ["hips", "hand", "head"]);
        assert_eq!(common_prefix(&["é_a", "é_b"]), 3);
        assert_eq!(common_prefix(&["a_", "a_b"]), 0);
    }
}
