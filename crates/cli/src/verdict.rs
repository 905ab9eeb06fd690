//! The verdict on a take, from its measures: it looks sound, or what is wrong with it and what to try.

use crate::stats::{CharacterStats, Stats};
use sinew_character::Peak;
use sinew_control::DriveMode;

/// Inverted elements up to this fraction are not seen: they lie in folds.
const INVERTED: f64 = 5e-3;
/// Flesh farther from its skinned place than this fraction of the character is torn off rather than swinging.
const FARTHEST: f64 = 0.15;
/// Skin of people stretches by half; this is three times as far.
const STRETCH: f64 = 2.5;
/// Flesh is at its limit now and then; when so much of it is, its swing is cut off.
const AT_LIMIT: f64 = 0.05;
/// Steps that do not converge are taken as they are; a few of them are not seen.
const UNSOLVED: f64 = 0.05;

/// What the user chose, as far as it tells what else to try.
#[derive(Clone, Copy)]
pub(crate) struct Chosen {
    /// The jiggle of character files; 0 where it changes nothing.
    pub(crate) jiggle: f64,
    /// Whether a recorded take goes on, which edits change and options of the command line do not.
    pub(crate) is_recorded: bool,
}

impl Chosen {
    /// Jiggle acts on flesh in the artist's shape, which flesh has on bones that follow a motion.
    pub(crate) fn of(jiggle: Option<f64>, lead: Option<DriveMode>) -> Chosen {
        let is_dynamic = lead.is_some_and(|lead| lead != DriveMode::OneWay);
        Chosen { jiggle: if is_dynamic { 0.0 } else { jiggle.unwrap_or(1.0) }, is_recorded: false }
    }

    /// The same for a take that goes on.
    pub(crate) fn of_take(jiggle: Option<f64>, lead: Option<DriveMode>) -> Chosen {
        Chosen { is_recorded: true, ..Chosen::of(jiggle, lead) }
    }

    /// How to ask for a solver.
    fn solver(&self, kind: &str) -> String {
        if self.is_recorded {
            format!("try an edit with 'solver = {{ kind = \"{kind}\" }}'")
        } else {
            format!("try --solver {kind}")
        }
    }
}

/// What is wrong with a take, worst first, each with what to try; nothing if it looks sound.
pub(crate) fn find_faults(stats: &Stats, chosen: &Chosen) -> Vec<String> {
    let mut faults = Vec::new();
    let softer = remedy(stats, chosen);

    // the simulation as a whole
    if stats.retries > 0 {
        faults.push(format!(
            "{} frames diverged and were repeated with smaller steps: {softer}",
            stats.retries
        ));
    }
    if stats.inverted_fraction > INVERTED {
        let percent = 100.0 * stats.inverted_fraction;
        faults.push(format!("up to {percent:.1} % of the elements were inverted: {softer}"));
    }
    faults.extend(stats.dropped_words.iter().cloned());
    let unsolved = stats.unsolved_steps as f64 / stats.steps.max(1) as f64;
    if unsolved > UNSOLVED {
        let percent = 100.0 * unsolved;
        faults.push(format!("{percent:.0} % of the steps did not converge: {}", chosen.solver("explicit")));
    }

    // each character
    for character in &stats.characters {
        faults.extend(of_character(character, stats.characters.len() > 1, &softer));
    }
    faults
}

/// What is wrong with a character; one sentence, since its faults have one cause and one remedy.
fn of_character(character: &CharacterStats, are_several: bool, softer: &str) -> Option<String> {
    let report = &character.report;
    let of = |peak: &Peak| {
        let owner = if are_several { format!(" of {}", character.name) } else { String::new() };
        peak.bone.as_ref().map_or(format!("flesh{owner}"), |bone| format!("flesh at {bone}{owner}"))
    };
    if report.take_max.value > FARTHEST * report.size {
        let (far, peak) = (100.0 * report.take_max.value / report.size, &report.take_max);
        return Some(format!(
            "{} was {far:.0} % of the body's size from its skinned place at {:.2} s: {softer}",
            of(peak),
            peak.time
        ));
    }
    if report.stretch.value > STRETCH {
        let peak = &report.stretch;
        return Some(format!("{} stretched {:.1} × at {:.2} s: {softer}", of(peak), peak.value, peak.time));
    }
    (report.at_limit > AT_LIMIT).then(|| {
        let percent = 100.0 * report.at_limit;
        format!(
            "{percent:.0} % of the flesh of {} was at its limit at the same time: {softer}",
            character.name
        )
    })
}

/// What makes flesh easier to simulate.
fn remedy(stats: &Stats, chosen: &Chosen) -> String {
    if !stats.characters.is_empty() && chosen.jiggle > 0.0 {
        // two digits are enough
        let when = if chosen.is_recorded { "record it anew with" } else { "try" };
        return format!("{when} --jiggle {}", (50.0 * chosen.jiggle).round() / 100.0);
    }
    // the other solver would send back
    if stats.solver == "explicit" {
        format!("{}, a finer cage or gentler forces", chosen.solver("implicit"))
    } else {
        "try a finer cage or gentler forces".to_owned()
    }
}
