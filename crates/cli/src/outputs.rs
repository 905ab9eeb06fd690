//! Command-line options of outputs, checks before they are written, and reports about them.

use crate::failure::Failure;
use clap::Args;
use sinew_files::{Replace, check_output, plan_outputs};
use sinew_gltf::{FleshBake, Quantization};
use sinew_io::{AtomicFile, GlbForm, OpenedScene, SinkOptions, SinkReport, TAKE_EXTENSION};
use sinew_render::Look;
use sinew_sim::FleshSkinOptions;
use std::path::{Path, PathBuf};

/// Options of every command that writes a take in another format.
#[derive(Args, Clone, Default)]
pub(crate) struct OutputOptions {
    /// The maximum number of morph targets for the motion of each body in a .glb, up to 240. More targets follow the motion more closely, but some viewers support only a few [default: 64].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=240))]
    morph_targets: Option<u16>,

    /// What carries flesh in the .glb of a character with a skeleton: `morphs`, morph targets; `bones`, helper bones under its joints, which every engine plays that plays skinned glTF; `bones+morphs`, helper bones and
    /// morph targets for what they leave [default: morphs; where these miss the error, or make the file more than three times as large, 16 helper bones and as many morph targets as a file of that size has room for, if helpers are found within seconds].
    #[arg(long, value_name = "HOW", value_parser = parse_bake)]
    bake: Option<FleshBake>,

    /// The maximum number of helper bones of each body with --bake bones [default: 64].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    helpers: Option<u16>,

    /// The maximum number of bones that move a vertex with --bake bones: 4, which all engines read, or 8 [default: 4].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    influences: Option<u8>,

    /// How far a vertex in a .glb may be from its simulated position, in percent of the body's size, whatever the size of the file [default: 0.1, as far as the file stays below three times its size without flesh].
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    error: Option<f64>,

    /// Write the file and end with code 0 even if a .glb misses the error.
    #[arg(long)]
    allow_error: bool,

    /// Store morph targets of a .glb with skeleton in fewer bits: positions in 16, normals in 8. Such files are a half to a third of the size, but need KHR_mesh_quantization, which Godot and Bevy refuse.
    #[arg(long)]
    quantize: bool,

    /// Pack vertices, morph targets and keys of a .glb with skeleton for the web (EXT_meshopt_compression), best together with --quantize. Viewers need the decoder: three.js and Babylon.js have it; Blender, Godot and Bevy refuse such files.
    #[arg(long)]
    compress: bool,

    /// Write a character's .glb as plain meshes at their simulated positions, without skeleton, skinning and textures, and point caches in the world instead of the space of each mesh.
    #[arg(long)]
    world: bool,

    /// Draw an elastic skin that slides over the flesh and wrinkles where flesh is compressed, in place of the flesh itself: on every body of flesh, with its drawn surface as the skin at rest.
    #[arg(long)]
    skin: bool,

    /// Do not draw the preview picture next to the output.
    #[arg(long)]
    pub(crate) no_preview: bool,

    /// Also replace files that Sinew did not write, and unfinished takes. Input files are never replaced.
    #[arg(long)]
    pub(crate) force: bool,
}

impl OutputOptions {
    /// The default options, without a preview.
    pub(crate) fn without_preview() -> OutputOptions {
        OutputOptions { no_preview: true, ..OutputOptions::default() }
    }

    /// What outputs may replace.
    pub(crate) fn replace(&self) -> Replace {
        if self.force { Replace::Any } else { Replace::Ours }
    }

    /// Whether to draw a preview next to an output. A preview that must not replace an existing file is skipped with a note, since the user did not name it.
    fn has_preview(&self, output: &Path) -> bool {
        if self.no_preview {
            return false;
        }
        let checked = check_output(&output.with_extension("png"), self.replace());
        if let Err(error) = &checked {
            warn!("note: the preview is skipped: {error}");
        }
        checked.is_ok()
    }

    /// The options of the sink that writes `source` to `output`.
    pub(crate) fn sink(&self, output: &Path, source: &OpenedScene) -> SinkOptions {
        let defaults = SinkOptions::default();
        SinkOptions {
            glb_form: if self.world { GlbForm::World } else { GlbForm::Rigged },
            component_limit: self.morph_targets.map_or(defaults.component_limit, usize::from),
            error_fraction: self.error.map_or(defaults.error_fraction, |percent| 0.01 * percent),
            quantization: if self.quantize { Quantization::Quantized } else { Quantization::Floats },
            is_compressed: self.compress,
            bake: self.bake.unwrap_or(defaults.bake),
            is_compact: self.error.is_none() && self.morph_targets.is_none(),
            helper_limit: self.helpers.map(usize::from),
            influence_limit: self.influences.map_or(defaults.influence_limit, usize::from),
            preview: self.has_preview(output),
            skin: self.skin.then(FleshSkinOptions::default),
            looks: zoo_looks(source),
            ..defaults
        }
    }
}

/// Prints what the output format could not hold.
pub(crate) fn warn_of_losses(report: &SinkReport) {
    report.warnings().iter().for_each(|warning| warn!("WARNING: {warning}"));
}

/// Fails if a .glb is less accurate than asked for, unless that is allowed. Where no error was asked for, 0.1 % is an aim: a warning says how far it was missed.
pub(crate) fn check_error(report: &SinkReport, options: &OutputOptions) -> Result<(), Failure> {
    match report.missed_errors().first() {
        Some((error, allowed)) if !options.allow_error && options.error.is_some() => {
            Err(Failure::Accuracy(format!(
                "the .glb was written, but it is up to {:.1} mm off where {:.1} mm were asked for: try --bake bones+morphs, raise --morph-targets or --error, shorten it with --seconds, or accept it with --allow-error",
                1e3 * error,
                1e3 * allowed
            )))
        }
        _ => Ok(()),
    }
}

/// Prints which files were written and how to use them.
pub(crate) fn print(report: &SinkReport) {
    report.lines().iter().for_each(|line| tell!("{line}"));
}

/// Whether a path names a recorded take.
pub(crate) fn is_take(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(TAKE_EXTENSION))
}

/// The look of a character of the zoo; empty for other scenes, which define their own.
pub(crate) fn zoo_looks(source: &OpenedScene) -> Vec<Look> {
    let found = sinew_zoo::find(&source.scene.name).filter(|_| source.characters.is_empty());
    found.map(|character| Look::srgb(character.color)).into_iter().collect()
}

fn parse_bake(text: &str) -> Result<FleshBake, String> {
    match text {
        "bones" => Ok(FleshBake::Bones),
        "auto" => Ok(FleshBake::Auto),
        "morphs" => Ok(FleshBake::Morphs),
        "bones+morphs" => Ok(FleshBake::BonesAndMorphs),
        _ => Err("choose bones, morphs or bones+morphs".into()),
    }
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let percent: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if percent > 0.0 && percent <= 100.0 {
        Ok(percent)
    } else {
        Err("give a percentage above 0 and up to 100".into())
    }
}

/// Checks that no output replaces another output, an input, or a file that `replace` protects.
pub(crate) fn plan_files<'a>(
    paths: impl IntoIterator<Item = &'a PathBuf>,
    replace: Replace,
) -> Result<(), Failure> {
    plan_outputs(paths.into_iter().map(PathBuf::as_path), replace).map_err(Failure::input)
}

/// Creates an output file before any work is done, so that a bad path is reported at once.
pub(crate) fn atomic_file(path: &Path) -> Result<AtomicFile, Failure> {
    AtomicFile::create(path).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}
