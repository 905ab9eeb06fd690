//! Reports what a sink wrote: its files, their accuracy, and warnings.

use sinew_character::CharacterReport;
use sinew_gltf::{GlbReport, SkinnedGlbReport};
use std::path::PathBuf;

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub struct SinkReport {
    /// All files and folders.
    pub files: Vec<PathBuf>,
    /// The compression of bodies of a GLB without a skeleton.
    pub glb: Option<GlbReport>,
    /// The compression of each GLB with a skeleton.
    pub rigged: Vec<RiggedGlb>,
    /// Measurements of each character from a rigged file.
    pub characters: Vec<BakedCharacter>,
    /// The distance of flesh from its start at the end of a cycle (m), before the cycle was closed.
    pub loop_gap: Option<f64>,
    /// Surfaces that have no skin although it was asked for, and why.
    pub skin: Vec<String>,
    pub(super) has_preview: bool,
    pub(super) hints: Vec<String>,
}

/// A GLB with a skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct RiggedGlb {
    /// The character whose file it is; `None` for bodies that do not come from rigged files.
    pub character: Option<String>,
    /// Its compression.
    pub report: SkinnedGlbReport,
}

/// A character from a rigged file.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedCharacter {
    /// Its name in the scene.
    pub name: String,
    /// Its measurements: displacement of the flesh, and change of volume.
    pub report: CharacterReport,
}

impl SinkReport {
    /// The largest distance between a vertex as simulated and as played by a GLB (m); `None` for lossless formats.
    pub fn largest_error(&self) -> Option<f64> {
        let plain = self.glb.iter().flat_map(|glb| &glb.bodies).map(|body| body.largest_error);
        let rigged = self.rigged.iter().flat_map(|glb| &glb.report.bodies).map(|body| body.largest_error);
        plain.chain(rigged).reduce(f64::max)
    }

    /// The bodies whose error is larger than allowed: the largest error and what was allowed (m), worst ratio first; empty if all were met.
    pub fn missed_errors(&self) -> Vec<(f64, f64)> {
        let plain = self.glb.iter().flat_map(|glb| &glb.bodies).filter(|body| !body.is_met());
        let plain = plain.map(|body| (body.largest_error, body.allowed_error));
        let rigged = self.rigged.iter().flat_map(|glb| &glb.report.bodies).filter(|body| !body.is_met());
        let mut missed: Vec<(f64, f64)> =
            plain.chain(rigged.map(|body| (body.largest_error, body.allowed_error))).collect();
        missed.sort_by(|a, b| (b.0 * a.1).total_cmp(&(a.0 * b.1)));
        missed
    }

    /// Warnings: bodies whose morph targets exceed the allowed error, and what a character's file could not represent.
    pub fn warnings(&self) -> Vec<String> {
        let plain = self.glb.iter().flat_map(|glb| &glb.bodies).filter(|body| !body.is_met());
        let mut warnings: Vec<String> = plain.map(ToString::to_string).collect();
        warnings.extend(self.skin.iter().cloned());
        for RiggedGlb { character, report } in &self.rigged {
            let of = self.prefix(character.as_deref());
            warnings.extend(report.notes.iter().map(|note| format!("{of}{note}")));
            let missed = report.bodies.iter().filter(|body| body.is_too_far());
            warnings.extend(missed.map(|body| format!("{of}{body}")));
        }
        warnings
    }

    /// The report for the user, without the warnings.
    pub fn lines(&self) -> Vec<String> {
        // cycle, motion and volume
        let plain = self.glb.iter().flat_map(|glb| &glb.bodies).filter(|body| body.is_met());
        let mut lines: Vec<String> = plain.map(ToString::to_string).collect();
        lines.extend(self.loop_line());
        for BakedCharacter { name, report } in &self.characters {
            let of = if self.characters.len() == 1 { String::new() } else { format!("{name}: ") };
            lines.extend(character_lines(report).map(|line| format!("{of}{line}")));
        }

        // compression
        for RiggedGlb { character, report } in &self.rigged {
            let of = self.prefix(character.as_deref());
            let met = report.bodies.iter().filter(|body| !body.is_too_far());
            lines.extend(met.map(|body| format!("{of}{body}")));
            let (bytes, added) = (report.bytes, report.bytes_added);
            lines.push(format!("{of}{bytes} bytes, {added} of them flesh and its keys"));
        }

        // files
        lines.extend(self.files.iter().map(|file| format!("wrote {}", file.display())));
        lines.extend(self.hints.iter().cloned());
        if self.has_preview {
            lines.push("The .png shows six frames of the take.".into());
        }
        lines
    }

    /// How well a cycle closed; `None` if the take is none.
    pub fn loop_line(&self) -> Option<String> {
        let gap = 1e3 * self.loop_gap?;
        Some(format!(
            "at the end of the cycle, flesh was {gap:.2} mm from its start; this gap is spread over the cycle, so that its last frame equals its first"
        ))
    }

    /// A prefix with the character's name if there are several files.
    fn prefix(&self, character: Option<&str>) -> String {
        let has_several = self.rigged.len() + self.glb.iter().len() > 1;
        character.filter(|_| has_several).map(|name| format!("{name}: ")).unwrap_or_default()
    }
}

fn character_lines(report: &CharacterReport) -> [String; 2] {
    [
        format!(
            "flesh is up to {:.1} mm from the skinned surface in the first frame ({:.1} mm on average), and up to {:.1} mm during the take",
            1e3 * report.first_frame_max,
            1e3 * report.first_frame_mean,
            1e3 * report.take_max.value
        ),
        format!(
            "volume changed by up to {:.1} % (with skinning alone: up to {:.1} %)",
            100.0 * report.volume_change,
            100.0 * report.skinning_volume_change
        ),
    ]
}
