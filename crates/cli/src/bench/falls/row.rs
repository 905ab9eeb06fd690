//! A row of the table of falls, the bars it is held against, and the last line.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One fall of one character.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) bench: String,
    pub(super) character: String,
    /// `limp` or `two-way`.
    pub(super) mode: String,
    pub(super) seed: u64,
    /// `floor` or `stairs`.
    pub(super) ground: String,
    pub(super) self_contact: bool,
    /// Why there is no measurement.
    pub(super) error: Option<String>,
    /// The length of the fall (s).
    pub(super) seconds: f64,
    pub(super) tets: usize,
    pub(super) bones: usize,
    /// The largest extent of the character (m).
    pub(super) size: f64,
    pub(super) seconds_per_simulated_second: f64,
    /// Processor time of all threads in the fall, over its length, for which other work on the machine does not count.
    pub(super) cpu_per_simulated_second: f64,
    /// The largest fraction of tets inverted at the same time.
    pub(super) max_inverted_fraction: f64,
    /// The deepest overlap of flesh with itself beyond that at the start, over the size.
    pub(super) max_overlap_fraction: f64,
    /// The deepest that flesh was in the ground, over the size.
    pub(super) max_sunk_fraction: f64,
    /// The farthest that the middle of its flesh rose from where it was lowest, over the size: more than a bounce is a leap.
    pub(super) max_rise_fraction: f64,
    /// The farthest that a joint was pulled apart from where it was at the start, over the size.
    pub(super) max_parted_fraction: f64,
    pub(super) retried_frames: usize,
    /// The root mean square of the speed of all mass at the end (m/s).
    pub(super) end_speed: f64,
    /// The largest resident memory of the process that simulated this fall alone (MB); `None` where the system does not report it.
    pub(super) peak_memory_mb: Option<f64>,
    /// The bars that are missed.
    pub(super) missed: Vec<String>,
}

/// What a fall must not exceed.
struct Bar {
    name: &'static str,
    unit: &'static str,
    /// The value of a row, and its limit.
    value: fn(&Row) -> (f64, f64),
}

/// At the end a limp character on a floor lies still, or moves slower than this fraction of √(g L), the speed at which something falls through half its size L: 1.2 m/s for a person. On stairs it may still be falling from one to
/// the next, and one that an animation moves may run, at this speed and at √2 times that.
const END_SPEED: f64 = 0.3;
const GRAVITY: f64 = 9.81;

const BARS: [Bar; 8] = [
    Bar { name: "retries", unit: "", value: |row| (row.retried_frames as f64, 3.0) },
    Bar { name: "inverted", unit: " %", value: |row| (100.0 * row.max_inverted_fraction, 2.0) },
    Bar { name: "overlap", unit: " %", value: |row| (100.0 * row.max_overlap_fraction, 2.0) },
    Bar { name: "sunk", unit: " %", value: |row| (100.0 * row.max_sunk_fraction, 3.0) },
    Bar { name: "parted", unit: " %", value: |row| (100.0 * row.max_parted_fraction, 3.0) },
    Bar { name: "memory", unit: " MB", value: |row| (row.peak_memory_mb.unwrap_or(0.0), 600.0) },
    Bar { name: "time", unit: " s/s", value: |row| (row.idle_seconds(), 3.0) },
    Bar { name: "speed", unit: " m/s", value: |row| (row.end_speed, row.plausible_speed()) },
];

impl Row {
    /// The head of the table.
    pub(super) const HEAD: &'static str = "character              mode     seed ground  retries inverted  overlap   sunk  parted  end speed   memory     wall      cpu
                                                         %        %      %       %        m/s       MB      s/s      s/s";

    /// The time that a second takes at most where nothing else runs (s): the processor time is what it takes on one core.
    fn idle_seconds(&self) -> f64 {
        self.seconds_per_simulated_second.min(self.cpu_per_simulated_second)
    }

    /// How fast the character may still be at the end (m/s).
    fn plausible_speed(&self) -> f64 {
        let fraction = match (self.mode.as_str(), self.ground.as_str()) {
            ("two-way", _) => core::f64::consts::SQRT_2,
            (_, "stairs") => 1.0,
            _ => END_SPEED,
        };
        fraction * (GRAVITY * self.size).sqrt()
    }

    /// The same with the bars that it misses. NaN misses every bar.
    pub(super) fn judged(mut self) -> Row {
        let is_met = |bar: &&Bar| {
            let (value, limit) = (bar.value)(&self);
            value <= limit
        };
        self.missed = match &self.error {
            Some(_) => vec!["error".into()],
            None => BARS.iter().filter(|bar| !is_met(bar)).map(|bar| bar.name.into()).collect(),
        };
        self
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<22.22} {:<8} {:>4} {:<7}", self.character, self.mode, self.seed, self.ground)?;
        if let Some(error) = &self.error {
            return write!(f, " error: {error}");
        }
        write!(
            f,
            " {:>7} {:>8.2} {:>8.2} {:>6.2} {:>7.2} {:>10.3} {:>8.0} {:>8.2} {:>8.2}",
            self.retried_frames,
            100.0 * self.max_inverted_fraction,
            100.0 * self.max_overlap_fraction,
            100.0 * self.max_sunk_fraction,
            100.0 * self.max_parted_fraction,
            self.end_speed,
            self.peak_memory_mb.unwrap_or(f64::NAN),
            self.seconds_per_simulated_second,
            self.cpu_per_simulated_second
        )?;
        if !self.missed.is_empty() {
            write!(f, "  misses {}", self.missed.join(", "))?;
        }
        Ok(())
    }
}

/// Which bars are missed, by how many falls, and by how much at most; one line.
pub(super) fn verdict(rows: &[Row]) -> String {
    let missing = rows.iter().filter(|row| !row.missed.is_empty()).count();
    if missing == 0 {
        return format!("all bars are met by {} falls", rows.len());
    }
    let errors = rows.iter().filter(|row| row.error.is_some()).count();
    let mut parts: Vec<String> = (errors > 0).then(|| format!("error {errors}")).into_iter().collect();
    for bar in &BARS {
        let over = |row: &&Row| (bar.value)(row).0 - (bar.value)(row).1;
        let missed = rows.iter().filter(|row| row.missed.iter().any(|name| name == bar.name));
        let count = missed.clone().count();
        if let Some(worst) = missed.max_by(|a, b| over(a).total_cmp(&over(b))) {
            let (value, limit) = (bar.value)(worst);
            parts.push(format!(
                "{} {count} (up to {value:.2}{} of at most {limit:.2}, {} {} on {} {})",
                bar.name, bar.unit, worst.character, worst.mode, worst.ground, worst.seed
            ));
        }
    }
    format!("bars are missed by {missing} of {} falls: {}", rows.len(), parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fall_misses_what_is_above_its_bar_and_what_is_no_value() {
        let good = Row { size: 1.7, end_speed: 1.2, peak_memory_mb: Some(200.0), ..Row::default() };
        assert!(good.clone().judged().missed.is_empty());
        let bad = Row { end_speed: 1.3, max_overlap_fraction: f64::NAN, retried_frames: 4, ..good.clone() };
        assert_eq!(bad.judged().missed, ["retries", "overlap", "speed"]);
        let broken = Row { error: Some("diverged".into()), ..good.clone() }.judged();
        assert_eq!(broken.missed, ["error"]);
        let line = verdict(&[good.clone().judged(), broken]);
        assert_eq!(line, "bars are missed by 1 of 2 falls: error 1");
        assert_eq!(verdict(&[good.judged()]), "all bars are met by 1 falls");
    }
}
