//! Names of meshes and materials that say that a part is hard.

use sinew_control::name_words;

/// Words for what does not swing, in the singular and in lower case.
const HARD_WORDS: [&str; 56] = [
    "antler",
    "armor",
    "armour",
    "axe",
    "beak",
    "blade",
    "bone",
    "boot",
    "buckle",
    "button",
    "carapace",
    "chrome",
    "claw",
    "cornea",
    "crown",
    "dagger",
    "eye",
    "eyeball",
    "fang",
    "fingernail",
    "gauntlet",
    "glass",
    "glasses",
    "goggles",
    "gun",
    "hammer",
    "hat",
    "helm",
    "helmet",
    "hoof",
    "hooves",
    "horn",
    "iris",
    "iron",
    "knife",
    "knives",
    "metal",
    "nail",
    "pistol",
    "pupil",
    "rifle",
    "sandal",
    "shield",
    "shoe",
    "skull",
    "sneaker",
    "spear",
    "steel",
    "sword",
    "talon",
    "teeth",
    "toenail",
    "tooth",
    "tusk",
    "visor",
    "weapon",
];

/// The word of a name that says that it is something hard; digits are no part of words.
pub(crate) fn hard_word(name: &str) -> Option<&'static str> {
    let words = name_words(name);
    let mut letters = words.iter().flat_map(|word| word.split(|c: char| !c.is_alphabetic()));
    letters.find_map(|word| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        HARD_WORDS.iter().copied().find(|hard| *hard == word || *hard == singular)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_count_in_any_spelling() {
        let hard = [
            "Helmet",
            "leftShoe_02",
            "LEFT.BOOTS",
            "Knight-Armour",
            "hat1",
            "Hat2Big",
            "M_Glasses",
            "HUDHat",
            "Teeth_low",
        ];
        for name in hard {
            assert!(hard_word(name).is_some(), "{name}");
        }
        let soft = [
            "that", "Thorn", "Chatter", "Body", "skin", "Boneless", "Snail", "Eyebrow", "Cow", "Ironing", "",
        ];
        for name in soft {
            assert_eq!(hard_word(name), None, "{name}");
        }
    }
}
