//! A row of the table of characters, the bars it is held against, and the last line.

use serde::Serialize;
use std::fmt;
use std::path::Path;

/// One take of one character. Distances are in percent of the character's size, volumes in percent of that at bind.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Row {
    pub(super) bench: &'static str,
    pub(super) file: String,
    pub(super) animation: String,
    /// Why there is no measurement.
    pub(super) error: Option<String>,
    pub(super) frames: usize,
    /// The length of the take (s).
    pub(super) seconds: f64,
    pub(super) tets: usize,
    pub(super) bones: usize,
    /// The largest extent of the character (m).
    pub(super) size: f64,
    pub(super) solver: &'static str,
    pub(super) retries: usize,
    /// Implicit steps that did not reach their tolerance.
    pub(super) unsolved_steps: usize,
    /// The largest fraction of tets inverted at the same time.
    pub(super) inverted_fraction: f64,
    pub(super) first_frame_mean: f64,
    pub(super) first_frame_max: f64,
    pub(super) take_mean: f64,
    pub(super) take_max: f64,
    /// The bone whose flesh was farthest from its skinned place.
    pub(super) take_max_bone: Option<String>,
    /// The largest rotation of a bone's flesh against its skinned place (degrees).
    pub(super) roll: f64,
    pub(super) roll_bone: Option<String>,
    /// The largest ratio of the length of an edge to its length at bind or skinned, whichever is longer.
    pub(super) stretch: f64,
    /// The largest fraction of vertices at their limit at the same time.
    pub(super) at_limit: f64,
    pub(super) volume_change: f64,
    pub(super) skinning_volume_change: f64,
    /// Wall time of the steps per simulated second, the preroll included on both sides.
    pub(super) wall_per_second: f64,
    /// From the file to a model that is ready to step (s).
    pub(super) build_seconds: f64,
    /// The part of it that reading and making flesh took (s).
    pub(super) open_seconds: f64,
    /// The bars that are missed.
    pub(super) missed: Vec<&'static str>,
}

/// What a take must not exceed.
struct Bar {
    name: &'static str,
    unit: &'static str,
    /// The value of a row, and its limit.
    value: fn(&Row) -> (f64, f64),
}

const BARS: [Bar; 9] = [
    Bar { name: "retries", unit: "", value: |row| (row.retries as f64, 0.0) },
    Bar { name: "inverted", unit: " %", value: |row| (100.0 * row.inverted_fraction, 0.5) },
    Bar { name: "first mean", unit: " %", value: |row| (row.first_frame_mean, 0.5) },
    Bar { name: "first max", unit: " %", value: |row| (row.first_frame_max, 4.0) },
    Bar { name: "take max", unit: " %", value: |row| (row.take_max, 15.0) },
    Bar { name: "roll", unit: "°", value: |row| (row.roll, 15.0) },
    Bar { name: "volume", unit: " %", value: |row| (row.volume_change, row.skinning_volume_change + 1.0) },
    Bar { name: "wall", unit: " s/s", value: |row| (row.wall_per_second, 0.4) },
    Bar { name: "build", unit: " s", value: |row| (row.build_seconds, 0.7) },
];

impl Row {
    /// The head of the table.
    pub(super) const HEAD: &'static str = "file                     animation                frames retries inverted  first mean, max  take max   roll   volume  skinning      wall   build
                                                                           %         % of size         %      °        %         %       s/s       s";

    /// A take that could not be measured.
    pub(super) fn failed(path: &Path, animation: &str, error: String) -> Row {
        let (file, animation, error) = (name_of(path), animation.to_owned(), Some(error));
        Row { bench: "characters", file, animation, error, ..Row::default() }.judged()
    }

    /// The same with the bars that it misses.
    pub(super) fn judged(mut self) -> Row {
        // NaN misses every bar
        let is_met = |bar: &&Bar| {
            let (value, limit) = (bar.value)(&self);
            value <= limit
        };
        self.missed = match &self.error {
            Some(_) => vec!["error"],
            None => BARS.iter().filter(|bar| !is_met(bar)).map(|bar| bar.name).collect(),
        };
        self
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<24} {:<24} ", shortened(&self.file, 24), shortened(&self.animation, 24))?;
        if let Some(error) = &self.error {
            return write!(f, "error: {error}");
        }
        write!(
            f,
            "{:>6} {:>7} {:>8.2} {:>7.2} {:>8.2} {:>9.1} {:>6.1} {:>8.2} {:>9.2} {:>9.3} {:>7.2}",
            self.frames,
            self.retries,
            100.0 * self.inverted_fraction,
            self.first_frame_mean,
            self.first_frame_max,
            self.take_max,
            self.roll,
            self.volume_change,
            self.skinning_volume_change,
            self.wall_per_second,
            self.build_seconds
        )?;
        if !self.missed.is_empty() {
            write!(f, "  misses {}", self.missed.join(", "))?;
        }
        Ok(())
    }
}

/// Which bars are missed, by how many takes, and by how much at most; one line.
pub(super) fn verdict(rows: &[Row]) -> String {
    let missing = rows.iter().filter(|row| !row.missed.is_empty()).count();
    if missing == 0 {
        return format!("all bars are met by {} takes", rows.len());
    }
    let errors = rows.iter().filter(|row| row.error.is_some()).count();
    let mut parts: Vec<String> = (errors > 0).then(|| format!("error {errors}")).into_iter().collect();
    for bar in &BARS {
        let over = |row: &&Row| (bar.value)(row).0 - (bar.value)(row).1;
        let missed = rows.iter().filter(|row| row.missed.contains(&bar.name));
        let count = missed.clone().count();
        if let Some(worst) = missed.max_by(|a, b| over(a).total_cmp(&over(b))) {
            let (value, limit) = (bar.value)(worst);
            parts.push(format!(
                "{} {count} (up to {value:.2}{} of at most {limit:.2}, {} {})",
                bar.name, bar.unit, worst.file, worst.animation
            ));
        }
    }
    format!("bars are missed by {missing} of {} takes: {}", rows.len(), parts.join("; "))
}

/// The name of a file without its folder.
pub(in crate::bench) fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The end of a text that is too long for its column, where names differ.
fn shortened(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    let end: String = text.chars().skip(count + 1 - width).collect();
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_misses_what_is_above_its_bar_and_what_is_no_value() {
        let good = Row { volume_change: 2.9, skinning_volume_change: 2.0, ..Row::default() };
        assert!(good.clone().judged().missed.is_empty());
        let bad = Row { retries: 1, roll: f64::NAN, volume_change: 3.1, ..good.clone() }.judged();
        assert_eq!(bad.missed, ["retries", "roll", "volume"]);
        let broken = Row::failed(Path::new("a/b.glb"), "walk", "no skin".into());
        assert_eq!((broken.file.as_str(), &*broken.missed), ("b.glb", &["error"][..]));
        let line = verdict(&[good.clone().judged(), bad, broken]);
        assert!(
            line.starts_with("bars are missed by 2 of 3 takes: error 1; retries 1 (up to 1.00"),
            "{line}"
        );
        assert_eq!(verdict(&[good.judged()]), "all bars are met by 1 takes");
    }

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(shortened("CharacterArmature|Walk", 8), "…re|Walk");
        assert_eq!(shortened("Walk", 8), "Walk");
    }
}
