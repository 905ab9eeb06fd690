//! The words of names that artists give.

/// Splits a name at separators and at camel-case boundaries, in lower case: `leftShoe_02`, `LeftShoe02` and `LEFT.SHOE 02` begin with left, and `LHipJoint` is l, hip, joint. Digits stay
/// with the letters before them.
pub fn name_words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (i, &c) in letters.iter().enumerate() {
        // a capital after another letter begins a word, and so does the last of several capitals: `HUDHat`
        let before = i.checked_sub(1).map(|i| letters[i]);
        let after = letters.get(i + 1);
        let begins = c.is_uppercase()
            && before.is_some_and(|b| !b.is_uppercase() || after.is_some_and(|a| a.is_lowercase()));
        if !c.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
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
    fn separators_and_capitals_begin_words() {
        let cases: [(&str, &[&str]); 6] = [
            ("leftShoe_02", &["left", "shoe", "02"]),
            ("LeftShoe02", &["left", "shoe02"]),
            ("LEFT.SHOE", &["left", "shoe"]),
            ("HUDHat", &["hud", "hat"]),
            ("mixamorig1_Spine2Twist", &["mixamorig1", "spine2", "twist"]),
            ("--", &[]),
        ];
        for (name, words) in cases {
            assert_eq!(name_words(name), words, "{name}");
        }
    }
}
