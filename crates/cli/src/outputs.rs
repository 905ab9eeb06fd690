//! The options of outputs, and what is printed about them.

use crate::failure::Failure;
use clap::Args;
use sinew_files::{Replace, check_output, plan_outputs};
use sinew_io::{GlbForm, OpenedScene, SinkOptions, SinkReport, TAKE_EXTENSION};
use sinew_render::Look;
use std::path::{Path, PathBuf};

/// How outputs are written.
#[derive(Args, Clone, Default)]
pub(crate) struct OutputOptions {
    /// The most morph targets that a body's motion is written with, up to 240; more follow it more closely, some viewers take fewer [default: 64].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=240))]
    morph_targets: Option<u16>,

    /// How far a vertex of a .glb may be from where it was simulated, in per cent of the body's size [default: 0.1].
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    error: Option<f64>,

    /// Write the .glb of a character as surfaces that stand where they were simulated, without skeleton, skin and textures, instead of flesh on bones.
    #[arg(long)]
    world: bool,

    /// Do not draw the preview picture beside the output.
    #[arg(long)]
    pub(crate) no_preview: bool,

    /// Let outputs replace files that Sinew did not write, and takes that are unfinished. What is read is never replaced.
    #[arg(long)]
    pub(crate) force: bool,
}

impl OutputOptions {
    /// What outputs may replace.
    pub(crate) fn replace(&self) -> Replace {
        if self.force { Replace::Any } else { Replace::Ours }
    }

    /// Whether a preview can be drawn beside an output: one that would replace what it may not is left out, since nobody asked for it by name.
    fn has_preview(&self, output: &Path) -> bool {
        if self.no_preview {
            return false;
        }
        let checked = check_output(&output.with_extension("png"), self.replace());
        if let Err(error) = &checked {
            warn!("note: no preview is drawn: {error}");
        }
        checked.is_ok()
    }

    /// The options of the sink that writes a scene to `output`.
    pub(crate) fn sink(&self, output: &Path, source: &OpenedScene) -> SinkOptions {
        let defaults = SinkOptions::default();
        SinkOptions {
            glb_form: if self.world { GlbForm::World } else { GlbForm::Rigged },
            component_limit: self.morph_targets.map_or(defaults.component_limit, usize::from),
            error_fraction: self.error.map_or(defaults.error_fraction, |percent| 0.01 * percent),
            preview: self.has_preview(output),
            looks: zoo_looks(source),
            ..defaults
        }
    }
}

/// Prints what was lost.
pub(crate) fn warn_of_losses(report: &SinkReport) {
    report.warnings().iter().for_each(|warning| warn!("note: {warning}"));
}

/// Prints what was written, and what to do with it.
pub(crate) fn print(report: &SinkReport) {
    report.lines().iter().for_each(|line| say!("{line}"));
}

/// Whether a path names a recorded take.
pub(crate) fn is_take(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(TAKE_EXTENSION))
}

/// The look of a character of the zoo; none for other scenes, whose files and bodies have looks of their own.
pub(crate) fn zoo_looks(source: &OpenedScene) -> Vec<Look> {
    let found = sinew_zoo::find(&source.scene.name).filter(|_| source.characters.is_empty());
    found.map(|character| Look::srgb(character.color)).into_iter().collect()
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let percent: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if percent > 0.0 && percent <= 100.0 {
        Ok(percent)
    } else {
        Err("give a percentage above 0 and up to 100".into())
    }
}

/// No output may replace another, what was read, or what others wrote unless that is wanted.
pub(crate) fn plan_files<'a>(
    paths: impl IntoIterator<Item = &'a PathBuf>,
    replace: Replace,
) -> Result<(), Failure> {
    plan_outputs(paths.into_iter().map(PathBuf::as_path), replace).map_err(Failure::input)
}
