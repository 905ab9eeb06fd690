//! Names of meshes and materials that say that a part is hard.

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

/// The word of a name that says that it is something hard.
pub(crate) fn hard_word(name: &str) -> Option<&'static str> {
    words(name).iter().find_map(|word| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        HARD_WORDS.iter().copied().find(|hard| *hard == word || *hard == singular)
    })
}

/// The words of a name in lower case: `leftShoe_02`, `LeftShoe`, `left shoe` and `LEFT.SHOE` are all made of left and shoe.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().take(200).collect();
    let mut words = vec![String::new()];
    for (i, &c) in letters.iter().enumerate() {
        let before = i.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(i + 1);
        // a capital after a small letter begins a word, and so does the last of several capitals: `HUDHat`
        let rises = c.is_uppercase() && before.is_some_and(char::is_lowercase);
        let ends_capitals = c.is_uppercase()
            && before.is_some_and(char::is_uppercase)
            && after.copied().is_some_and(char::is_lowercase);
        if !c.is_alphabetic() || rises || ends_capitals {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphabetic()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
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
