//! What `sinew simulate` says at the end: in at most twelve lines what was made, how fast, what was written, and a verdict.

use crate::outputs;
use crate::report::{Verbosity, verbosity};
use crate::stats::Stats;
use crate::verdict::{self, Chosen};
use sinew_io::SinkReport;
use std::path::Path;

/// Lines about bodies, then the rest are counted.
const MAX_BODIES: usize = 2;
/// Names in a list, then the rest are counted.
const MAX_NAMES: usize = 5;
/// Warnings and questions about the input, then the rest are counted; the first warning is always told.
const MAX_WARNINGS: usize = 3;

/// A finished take.
pub(crate) struct Summary<'a> {
    pub(crate) stats: &'a Stats,
    pub(crate) written: &'a SinkReport,
    pub(crate) chosen: Chosen,
    /// How many questions were asked about the input.
    pub(crate) questions: usize,
    /// How many notes were not printed.
    pub(crate) hidden_notes: usize,
    /// Whether standard output is for JSON.
    pub(crate) is_json: bool,
}

impl Summary<'_> {
    /// Prints the summary as far as the user wants it.
    pub(crate) fn print(&self) {
        let mut warnings = verdict::find_faults(self.stats, &self.chosen);
        let is_sound = warnings.is_empty();
        warnings.extend(self.written.warnings());

        // what was made
        let is_verbose = verbosity() == Verbosity::Verbose;
        if !self.is_json {
            if is_verbose {
                tell!("{}", self.stats);
                outputs::print(self.written);
            } else {
                self.lines().iter().for_each(|line| tell!("{line}"));
            }
        }

        // what is wrong with it
        let room = MAX_WARNINGS.saturating_sub(self.questions).max(1);
        let shown = if is_verbose { warnings.len() } else { warnings.len().min(room) };
        warnings[..shown].iter().for_each(|warning| warn!("WARNING: {warning}"));
        let hidden = warnings.len() - shown + self.hidden_notes;
        if !self.is_json && is_sound {
            tell!("looks sound{}", more(hidden));
        } else if !self.is_json && hidden > 0 {
            tell!("notes that -v shows: {hidden}");
        }
    }

    /// What was made, how fast, and what was written.
    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            (0..self.stats.bodies.len()).take(MAX_BODIES).map(|body| self.body_line(body)).collect();
        if self.stats.bodies.len() > MAX_BODIES {
            lines.push(format!("bodies beside these: {}", self.stats.bodies.len() - MAX_BODIES));
        }
        let rigid: Vec<String> =
            self.stats.characters.iter().flat_map(|character| character.rigid_parts.clone()).collect();
        if !rigid.is_empty() {
            lines.push(format!("rigid: {}", listed(&rigid)));
        }
        let Stats { stepped_seconds, wall_seconds, write_seconds, realtime_factor, build_seconds, .. } =
            self.stats;
        lines.push(format!(
            "{stepped_seconds:.2} s simulated in {wall_seconds:.2} s ({realtime_factor:.1} × real time), built in {build_seconds:.2} s, written in {write_seconds:.2} s"
        ));
        lines.extend(self.written.loop_line());
        let files: Vec<String> =
            self.written.files.iter().map(|file| Path::new(file).display().to_string()).collect();
        if !files.is_empty() {
            lines.push(format!("wrote {}", files.join(", ")));
        }
        lines
    }

    /// What a body became.
    fn body_line(&self, index: usize) -> String {
        let stats = self.stats;
        let body = &stats.bodies[index];
        let mut line = format!("{}: ", body.name);
        if let Some(character) = stats.characters.iter().find(|character| character.body == index) {
            line += &format!("{:.2} m large, ", character.size);
        }
        line += &format!("{} kg", rounded(body.mass));
        match body.kind {
            "flesh" => line += " of flesh",
            "sheet" => return line + &format!(", a sheet of {} nodes", body.nodes),
            _ => return line + &format!(", {} nodes", body.nodes),
        }
        if let Some(skeleton) = stats.skeletons.iter().find(|skeleton| skeleton.name == body.name) {
            line += &format!(" on {} bones", skeleton.bones);
        }
        line + &format!(", {} tets", body.tets)
    }
}

/// How many notes are not shown, at the end of a line.
fn more(hidden: usize) -> String {
    match hidden {
        0 => String::new(),
        1 => " (1 note: -v shows it)".into(),
        _ => format!(" ({hidden} notes: -v shows them)"),
    }
}

/// A number with three digits.
fn rounded(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.2e}"),
    }
}

/// The first of some names, and how many follow.
fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(MAX_NAMES)].join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        rest => format!("{shown} and {rest} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_lists_stay_short() {
        assert_eq!([1234.5, 62.04, 1.234, 0.0123].map(rounded), ["1234", "62.0", "1.23", "1.23e-2"]);
        let names: Vec<String> = (0..7).map(|i| format!("part {i}")).collect();
        assert_eq!(listed(&names[..2]), "part 0, part 1");
        assert!(listed(&names).ends_with("part 4 and 2 more"));
        assert_eq!([more(0), more(2)], ["", " (2 notes: -v shows them)"]);
    }
}
