//! What the sink of a path wrote, how accurate it is, and what was lost.

use crate::{CharacterReport, GlbReport, SkinnedGlbReport};
use std::path::PathBuf;

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub struct SinkReport {
    /// All files and folders.
    pub files: Vec<PathBuf>,
    /// The compression of a GLB of plain surfaces.
    pub glb: Option<GlbReport>,
    /// The compression of each GLB with a skeleton.
    pub skinned: Vec<SkinnedGlbReport>,
    /// What flesh did to a character.
    pub character: Option<CharacterReport>,
    /// How far flesh was from its start at the end of a cycle (m), before the cycle was closed.
    pub loop_gap: Option<f64>,
    pub(super) has_preview: bool,
    pub(super) hint: Option<&'static str>,
}

impl SinkReport {
    /// The largest distance between a vertex as simulated and as a GLB plays it (m); `None` for formats without loss.
    pub fn largest_error(&self) -> Option<f64> {
        let plain = self.glb.iter().flat_map(|glb| &glb.bodies).map(|body| body.largest_error);
        let skinned = self.skinned.iter().flat_map(|glb| &glb.bodies).map(|body| body.largest_error);
        plain.chain(skinned).reduce(f64::max)
    }

    /// What was lost: bodies whose morph targets do not meet the error asked for, and what a character's file could not hold.
    pub fn warnings(&self) -> Vec<String> {
        let plain = self.glb.iter().flat_map(|glb| &glb.bodies).filter(|body| !body.is_met());
        let skinned = self.skinned.iter().flat_map(|glb| {
            let missed = glb.bodies.iter().filter(|body| !body.is_met()).map(ToString::to_string);
            glb.notes.iter().cloned().chain(missed)
        });
        plain.map(ToString::to_string).chain(skinned).collect()
    }

    /// The report in sentences, without the warnings.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();

        // compression, motion and volume
        let plain = self.glb.iter().flat_map(|glb| &glb.bodies).filter(|body| body.is_met());
        lines.extend(plain.map(ToString::to_string));
        if let Some(gap) = self.loop_gap {
            lines.push(format!(
                "the cycle closed with flesh {:.2} mm from its start; that is spread over the cycle, whose last frame is its first",
                1e3 * gap
            ));
        }
        lines.extend(self.character.iter().flat_map(character_lines));
        for glb in &self.skinned {
            let met = glb.bodies.iter().filter(|body| body.is_met());
            lines.extend(met.map(ToString::to_string));
            lines.push(format!("{} bytes, {} of them morph targets and keys", glb.bytes, glb.bytes_added));
        }

        // files
        lines.extend(self.files.iter().map(|file| format!("wrote {}", file.display())));
        lines.extend(self.hint.map(str::to_owned));
        if self.has_preview {
            lines.push("The .png shows six frames of the take.".into());
        }
        lines
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
