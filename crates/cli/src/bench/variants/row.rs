//! A row of the table of variants, and the last line.

use super::comparison::Distance;
use serde::Serialize;
use std::fmt;

/// One variant of one take.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Row {
    pub(super) bench: &'static str,
    pub(super) file: String,
    pub(super) animation: String,
    pub(super) variant: String,
    /// Why there is no measurement.
    pub(super) error: Option<String>,
    /// How many times were compared.
    pub(super) common: usize,
    /// The largest distance of a vertex (% of size), and the time of it (s).
    pub(super) distance: f64,
    pub(super) time: f64,
    /// That of plain skinning alone (% of size).
    pub(super) skinned_distance: f64,
    /// What the distance must not exceed (% of size).
    pub(super) bar: f64,
    pub(super) retries: usize,
    /// Whether it is above its bar, failed, or was repeated with smaller steps.
    pub(super) is_missed: bool,
}

impl Row {
    /// The head of the table.
    pub(super) const HEAD: &'static str = "file                     animation            variant                  times  skinning     flesh  at time retries
                                                                             % of size % of size        s";

    /// A comparison, measured or failed, without its names.
    pub(super) fn of(result: Result<Distance, String>, bar: f64) -> Row {
        let row = Row { bench: "variants", bar, ..Row::default() };
        match result {
            Err(error) => Row { error: Some(error), is_missed: true, ..row },
            Ok(distance) => Row {
                common: distance.common,
                distance: distance.largest,
                time: distance.time,
                skinned_distance: distance.skinned,
                retries: distance.retries,
                // NaN is above every bar, and nothing to compare is nothing shown
                is_missed: distance.largest.total_cmp(&bar).is_gt()
                    || distance.retries > 0
                    || distance.common == 0,
                ..row
            },
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<24} {:<20} {:<24} ", self.file, self.animation, self.variant)?;
        if let Some(error) = &self.error {
            return write!(f, "error: {error}");
        }
        write!(
            f,
            "{:>5} {:>9.4} {:>9.4} {:>8.3} {:>7}{}",
            self.common,
            self.skinned_distance,
            self.distance,
            self.time,
            self.retries,
            if self.is_missed { "  missed" } else { "" }
        )
    }
}

/// How many rows miss their bar, and the one that is farthest above it; one line.
pub(super) fn verdict(rows: &[Row]) -> String {
    let missed: Vec<&Row> = rows.iter().filter(|row| row.is_missed).collect();
    let worst = |rows: &mut dyn Iterator<Item = &Row>| {
        let farthest = rows.max_by(|a, b| (a.distance / a.bar).total_cmp(&(b.distance / b.bar)));
        farthest.map_or(String::new(), |row| {
            let Row { file, animation, variant, distance, .. } = row;
            format!("at most {distance:.3} % of size ({file} {animation}, {variant})")
        })
    };
    if missed.is_empty() {
        return format!("all {} variants are the same: {}", rows.len(), worst(&mut rows.iter()));
    }
    let errors = missed.iter().filter(|row| row.error.is_some()).count();
    format!(
        "{} of {} variants are not the same, {errors} with an error: {}",
        missed.len(),
        rows.len(),
        worst(&mut missed.into_iter())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_missed_beyond_its_bar_without_a_value_and_without_common_times() {
        let near = Distance { largest: 0.9, common: 3, ..Distance::default() };
        let of = |distance: Distance| Row::of(Ok(distance), 1.0).is_missed;
        assert!(!of(near));
        assert!(of(Distance { largest: 1.1, ..near }) && of(Distance { largest: f64::NAN, ..near }));
        assert!(of(Distance { common: 0, ..near }) && of(Distance { retries: 1, ..near }));
        let rows = [Row::of(Ok(near), 1.0), Row::of(Err("no skin".into()), 1.0)];
        assert!(verdict(&rows).starts_with("1 of 2 variants are not the same, 1 with an error"));
        assert!(verdict(&rows[..1]).starts_with("all 1 variants are the same: at most 0.900 %"));
    }
}
