//! The known word that a misspelt one was probably meant to be, by edit distance.

/// The known word nearest to a misspelt one; none if all are too far from it.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word: String = word.chars().take(60).collect();
    let distance =
        |other: &str| strsim::osa_distance(&word.to_lowercase().replace('-', "_"), &other.replace('-', "_"));
    let near = known.iter().copied().min_by_key(|other| distance(other))?;
    (distance(near) <= (near.chars().count() / 3).max(1)).then_some(near)
}
