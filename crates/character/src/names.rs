//! Bones and surfaces by their names, with the nearest right name where one is misspelt.

use core::cmp::Reverse;
use sinew_skeleton::{BoneId, Skeleton};

/// The name that is nearest to a misspelt one, of several as near the one that begins alike; `None` if none is near.
pub fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let name: String = name.chars().take(60).collect();
    let name = name.to_lowercase().replace('-', "_");
    let distance = |other: &str| strsim::osa_distance(&name, &other.replace('-', "_"));
    let alike = |other: &str| name.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let near = names.iter().copied().min_by_key(|other| (distance(other), Reverse(alike(other))))?;
    (distance(near) <= (near.chars().count() / 3).max(1)).then_some(near)
}

/// The bone of a name, or an error that says what the skeleton has instead.
pub fn find_bone(skeleton: &Skeleton, name: &str) -> Result<BoneId, String> {
    skeleton.find_bone(name).ok_or_else(|| {
        let names: Vec<&str> = skeleton.bones().iter().map(|bone| bone.name.as_str()).collect();
        let hint = nearest(name, &names).map_or_else(
            || format!("; it has {}", names.join(", ")),
            |near| format!("; did you mean `{near}`?"),
        );
        let hint: String = hint.chars().take(300).collect();
        format!("the skeleton has no bone `{name}`{hint}")
    })
}

/// The name itself, or with the first number behind it that makes it new.
pub(crate) fn distinct_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut found = name.to_owned();
    let mut number = 2;
    while is_taken(&found) {
        found = format!("{name}-{number}");
        number += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_names_as_near_the_one_that_begins_alike_is_meant() {
        assert_eq!(nearest("pat", &["fat", "part"]), Some("part"));
        assert_eq!(nearest("fta", &["part", "fat"]), Some("fat"));
        assert_eq!(nearest("spline", &["part", "fat"]), None);
    }
}
