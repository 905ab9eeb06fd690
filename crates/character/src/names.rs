//! Bones and surfaces by their names, with the nearest right name where one is misspelt.

use sinew_skeleton::{BoneId, Skeleton};

/// The name that is nearest to a misspelt one; `None` if none is near.
pub fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let name: String = name.chars().take(60).collect();
    let distance =
        |other: &str| strsim::osa_distance(&name.to_lowercase().replace('-', "_"), &other.replace('-', "_"));
    let near = names.iter().copied().min_by_key(|other| distance(other))?;
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
