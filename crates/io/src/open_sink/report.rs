//! What the sink of a path wrote, how accurate it is, and what was lost.

use sinew_character::CharacterReport;
use sinew_gltf::{GlbReport, SkinnedGlbReport};
use std::path::PathBuf;

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub struct SinkReport {
    /// All files and folders.
    pub files: Vec<PathBuf>,
    /// The compression of bodies that a GLB holds without skeleton.
    pub glb: Option<GlbReport>,
    /// The compression of each GLB with a skeleton.
    pub rigged: Vec<RiggedGlb>,
    /// What flesh did to each character from a file.
    pub characters: Vec<BakedCharacter>,
    /// How far flesh was from its start at the end of a cycle (m), before the cycle was closed.
    pub loop_gap: Option<f64>,
    pub(super) has_preview: bool,
    pub(super) hints: Vec<String>,
}

/// A GLB with a skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct RiggedGlb {
    /// The character whose own file it is; `None` for the bodies that came from no rigged file.
    pub character: Option<String>,
    /// Its compression.
    pub report: SkinnedGlbReport,
}

/// A character from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedCharacter {
    /// Its name in the scene.
    pub name: String,
    /// What flesh did to it.
    pub report: CharacterReport,
}

impl SinkReport {
    /// The largest distance between a vertex as simulated and as a GLB plays it (m); `None` for formats without loss.
    pub fn largest_error(&self) -> Option<f64> {
        let plain = self.glb.iter().flat_map(|glb| &glb.bodies).map(|body| body.largest_error);
        let rigged = self.rigged.iter().flat_map(|glb| &glb.report.bodies).map(|body| body.largest_error);
        plain.chain(rigged).reduce(f64::max)
    }

    /// What was lost: bodies whose morph targets do not meet the error asked for, and what a character's file could not hold.
    pub fn warnings(&self) -> Vec<String> {
        let plain = self.glb.iter().flat_map(|glb| &glb.bodies).filter(|body| !body.is_met());
        let mut warnings: Vec<String> = plain.map(ToString::to_string).collect();
        for RiggedGlb { character, report } in &self.rigged {
            let of = self.prefix(character.as_deref());
            warnings.extend(report.notes.iter().map(|note| format!("{of}{note}")));
            let missed = report.bodies.iter().filter(|body| !body.is_met());
            warnings.extend(missed.map(|body| format!("{of}{body}")));
        }
        warnings
    }

    /// The report in sentences, without the warnings.
    pub fn lines(&self) -> Vec<String> {
        // cycle, motion and volume
        let plain = self.glb.iter().flat_map(|glb| &glb.bodies).filter(|body| body.is_met());
        let mut lines: Vec<String> = plain.map(ToString::to_string).collect();
        if let Some(gap) = self.loop_gap {
            lines.push(format!(
                "the cycle closed with flesh {:.2} mm from its start; that is spread over the cycle, whose last frame is its first",
                1e3 * gap
            ));
        }
        for BakedCharacter { name, report } in &self.characters {
            let of = if self.characters.len() == 1 { String::new() } else { format!("{name}: ") };
            lines.extend(character_lines(report).map(|line| format!("{of}{line}")));
        }

        // compression
        for RiggedGlb { character, report } in &self.rigged {
            let of = self.prefix(character.as_deref());
            let met = report.bodies.iter().filter(|body| body.is_met());
            lines.extend(met.map(|body| format!("{of}{body}")));
            let (bytes, added) = (report.bytes, report.bytes_added);
            lines.push(format!("{of}{bytes} bytes, {added} of them morph targets and keys"));
        }

        // files
        lines.extend(self.files.iter().map(|file| format!("wrote {}", file.display())));
        lines.extend(self.hints.iter().cloned());
        if self.has_preview {
            lines.push("The .png shows six frames of the take.".into());
        }
        lines
    }

    /// The name of a character before a line about its file, if there are several files.
    fn prefix(&self, character: Option<&str>) -> String {
        let has_several = self.rigged.len() + self.glb.iter().len() > 1;
        character.filter(|_| has_several).map(|name| format!("{name}: ")).unwrap_or_default()
    }
}

fn character_lines(report: &CharacterReport) -> [String; 2] {
    [
        format!(
            "in the first frame flesh is up to {:.1} mm from where skinning puts it ({:.1} mm on average), in the take up to {:.1} mm",
            1e3 * report.settled[0],
            1e3 * report.settled[1],
            1e3 * report.farthest
        ),
        format!(
            "volume changed by up to {:.1} %, by plain skinning up to {:.1} %",
            100.0 * report.flesh_change,
            100.0 * report.skinned_change
        ),
    ]
}
