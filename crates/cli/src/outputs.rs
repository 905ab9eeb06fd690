//! Where a take goes: the one place where a file name becomes a format.

use crate::character_outputs::{CharacterOutputs, Others};
use crate::failure::Failure;
use crate::rig_output::RigOutput;
use clap::Args;
use sinew_character::{CharacterFrames, CharacterWatch, ShownSurfaces};
use sinew_files::{Replace, check_output, plan_outputs};
use sinew_gltf::{GlbOptions, GlbSink, SkinnedGlbOptions, SkinnedGlbReport};
use sinew_io::{ObjSequence, OpenedScene, PointCacheFormat, PointCacheSink, TAKE_EXTENSION, UsdaSink};
use sinew_render::{Look, Preview, PreviewOptions, View};
use sinew_sim::Model;
use sinew_take::{FrameSink, LoopCloser, SceneParts, Up};
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

    /// Whether a preview can be drawn: one that would replace what it may not is left out, since nobody asked for it by name.
    fn has_preview(&self, picture: &Path) -> bool {
        let checked = if self.no_preview { None } else { Some(check_output(picture, self.replace())) };
        match checked {
            Some(Err(error)) => {
                warn!("note: no preview is drawn: {error}");
                false
            }
            found => found.is_some(),
        }
    }

    fn skinned(&self) -> SkinnedGlbOptions {
        let defaults = SkinnedGlbOptions::default();
        let component_limit = self.morph_targets.map_or(defaults.component_limit, usize::from);
        let error_fraction = self.error.map_or(defaults.error_fraction, |percent| 0.01 * percent);
        SkinnedGlbOptions { component_limit, error_fraction, ..defaults }
    }
}

/// Where a take goes.
pub(crate) struct Outputs<'a> {
    take: Format<'a>,
    preview: Option<Preview>,
    files: Vec<PathBuf>,
    source: &'a OpenedScene,
    /// Frames of the cycle and how far from its start it ended (m), if the take is one.
    cycle: Option<(usize, f64)>,
    /// What flesh did to each character from a file.
    watches: Vec<CharacterWatch<'a>>,
}

/// What frames are written as.
enum Format<'a> {
    Glb(Box<GlbSink>),
    /// The own files of characters.
    Own(Box<CharacterOutputs<'a>>),
    /// Flesh on the skeletons of the scene.
    Rig(Box<RigOutput>),
    Objs(ObjSequence),
    PointCache(PointCacheSink),
    Usda(UsdaSink),
    /// Nothing beside the preview: the states are recorded, or were.
    Recording,
}

/// Whether a path names a recorded take.
pub(crate) fn is_take(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(TAKE_EXTENSION))
}

impl<'a> Outputs<'a> {
    /// Where so many frames of a scene go; nothing is opened yet.
    pub(crate) fn plan(
        output: &Path,
        options: &OutputOptions,
        source: &'a OpenedScene,
        frame_count: usize,
    ) -> Result<Outputs<'a>, Failure> {
        let up = Up::against(source.scene.world.gravity);
        let extension = output.extension().map(|e| e.to_string_lossy().to_lowercase());
        // a GLB of whatever is in no rigged file
        let all = SceneParts {
            bodies: (0..source.scene.world.bodies.len()).collect(),
            rigs: (0..source.scene.world.rigs.len()).collect(),
        };
        let morphs = || {
            let defaults = GlbOptions::default();
            let component_limit = options.morph_targets.map_or(defaults.component_limit, usize::from);
            let frame_count = Some(frame_count);
            let error_fraction = options.error.map_or(defaults.error_fraction, |percent| 0.01 * percent);
            let options = GlbOptions { frame_count, up, component_limit, error_fraction, ..defaults };
            Box::new(GlbSink::new(output, options))
        };

        // what the name says
        let take = match (extension.as_deref(), source.characters.is_empty()) {
            (Some("glb"), false) if !options.world => {
                let parts = source.other_parts();
                let others = if parts.bodies.is_empty() {
                    None
                } else if has_bones(source, &parts) {
                    let rig = RigOutput::new(output, options.skinned(), up, Vec::new());
                    Some(Others::Rig(rig.with_parts(parts)))
                } else {
                    Some(Others::Morph(parts, morphs()))
                };
                Format::Own(Box::new(CharacterOutputs::new(source, output, options.skinned(), others)))
            }
            (Some("glb"), true) if !options.world && has_bones(source, &all) => {
                Format::Rig(Box::new(RigOutput::new(
                    output,
                    options.skinned(),
                    up,
                    looks_of(source).iter().map(|look| look.color).collect(),
                )))
            }
            (Some("glb"), _) => Format::Glb(morphs()),
            (Some(TAKE_EXTENSION), _) => Format::Recording,
            (Some("pc2"), _) => Format::PointCache(PointCacheSink::new(output, PointCacheFormat::Pc2)),
            (Some("mdd"), _) => Format::PointCache(PointCacheSink::new(output, PointCacheFormat::Mdd)),
            (Some("usda"), _) => Format::Usda(UsdaSink::new(output, up)),
            (None, _) => Format::Objs(ObjSequence::new(output)),
            (Some(other), _) => {
                return Err(Failure::input(format!(
                    "{}: takes are written as .glb, .usda, .pc2, .mdd, as a folder of .obj files when OUT has no extension, or recorded as .take, not as .{other}",
                    output.display()
                )));
            }
        };
        Ok(Outputs::with_preview(take, output, options, source))
    }

    /// What goes beside a take that is recorded, whatever its name.
    pub(crate) fn beside_recording(
        output: &Path,
        options: &OutputOptions,
        source: &'a OpenedScene,
    ) -> Outputs<'a> {
        Outputs::with_preview(Format::Recording, output, options, source)
    }

    fn with_preview(
        take: Format<'a>,
        output: &Path,
        options: &OutputOptions,
        source: &'a OpenedScene,
    ) -> Outputs<'a> {
        let up = Up::against(source.scene.world.gravity);
        let picture = output.with_extension("png");
        let preview = options.has_preview(&picture).then(|| {
            let view = View { azimuth: PREVIEW_AZIMUTH, ..View::default() };
            let options = PreviewOptions { up, view, ..PreviewOptions::default() };
            Preview::new(&picture, options).with_looks(looks_of(source))
        });
        let mut files = match &take {
            Format::PointCache(sink) => sink.files(source.shown().names().iter().map(String::as_str)),
            Format::Own(own) => own.files().to_vec(),
            _ => vec![output.to_path_buf()],
        };
        files.extend(preview.is_some().then_some(picture));
        let watches =
            source.bindings().map(|binding| CharacterWatch::new(binding.played(&source.scene))).collect();
        Outputs { take, preview, files, source, cycle: None, watches }
    }

    /// Makes the last of so many frames the first again.
    pub(crate) fn close_loop(&mut self, frame_count: usize) {
        self.cycle = Some((frame_count.saturating_sub(1), 0.0));
    }

    /// All files and folders that will be written.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Everything that wants the frames of the simulation of a model.
    pub(crate) fn sinks(&mut self, model: &Model) -> Result<Vec<Box<dyn FrameSink + '_>>, Failure> {
        let shown = self.source.shown();
        // other sinks than the characters' own see the surfaces of their files, not the flesh that was simulated
        fn seen<'s>(shown: &ShownSurfaces<'s>, sink: &'s mut dyn FrameSink) -> Box<dyn FrameSink + 's> {
            if shown.is_plain() {
                return Box::new(sink);
            }
            Box::new(CharacterFrames::new(shown.clone(), sink))
        }
        let mut sinks: Vec<Box<dyn FrameSink + '_>> = Vec::new();
        match &mut self.take {
            Format::Own(own) => sinks.extend(own.sinks(model)?),
            Format::Rig(rig) => sinks.push(rig.sink(model)?),
            Format::Glb(glb) => sinks.push(seen(&shown, &mut **glb)),
            Format::Objs(objs) => sinks.push(seen(&shown, objs)),
            Format::PointCache(cache) => sinks.push(seen(&shown, cache)),
            Format::Usda(usda) => sinks.push(seen(&shown, usda)),
            Format::Recording => {}
        }
        if let Some(preview) = &mut self.preview {
            sinks.push(seen(&shown, preview));
        }
        for watch in &mut self.watches {
            sinks.push(Box::new(watch));
        }
        match &mut self.cycle {
            Some((frame_count, gap)) => Ok(vec![Box::new(LoopCloser::new(sinks, *frame_count, gap))]),
            None => Ok(sinks),
        }
    }

    /// What was written of flesh under skinning, with the name of the character where there are several files.
    fn skinned_reports(&self) -> Vec<(Option<&str>, &SkinnedGlbReport)> {
        match &self.take {
            Format::Own(own) => own.reports(),
            Format::Rig(rig) => rig.report().map(|report| (None, report)).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// What was written of morphing surfaces.
    fn morphs(&self) -> Option<&GlbSink> {
        match &self.take {
            Format::Glb(glb) => Some(glb),
            Format::Own(own) => own.morphs(),
            _ => None,
        }
    }

    /// Says where morph targets do not follow the take as closely as they should.
    pub(crate) fn warn_of_losses(&self) {
        if let Some(report) = self.morphs().and_then(GlbSink::report) {
            report.bodies.iter().filter(|body| !body.is_met()).for_each(|body| warn!("note: {body}"));
        }
        for (name, report) in self.skinned_reports() {
            let of = name.map(|name| format!("{name}: ")).unwrap_or_default();
            report.notes.iter().for_each(|note| warn!("note: {of}{note}"));
            report.bodies.iter().filter(|body| !body.is_met()).for_each(|body| warn!("note: {of}{body}"));
        }
    }

    /// Says what was written, and what to do with it.
    pub(crate) fn print(&self) {
        if let Some(report) = self.morphs().and_then(GlbSink::report) {
            report.bodies.iter().filter(|body| body.is_met()).for_each(|body| say!("{body}"));
        }
        if let Some((_, gap)) = self.cycle {
            say!(
                "the cycle closed with flesh {:.2} mm from where it began; that is spread over it, and its last frame is its first",
                1e3 * gap
            );
        }
        self.print_watches();
        for (name, report) in self.skinned_reports() {
            let of = name.map(|name| format!("{name}: ")).unwrap_or_default();
            report.bodies.iter().filter(|body| body.is_met()).for_each(|body| say!("{of}{body}"));
            match (&self.take, name) {
                (Format::Own(own), name) if name.is_some() || own.files().len() == 1 => {
                    say!("{of}{} bytes, {} of them added", report.bytes, report.bytes_added)
                }
                _ => say!("{} bytes, {} of them morph targets and keys", report.bytes, report.bytes_added),
            }
        }
        for file in &self.files {
            say!("wrote {}", file.display());
        }
        match &self.take {
            Format::Glb(_) => say!("The .glb plays in Blender, in game engines and in any glTF viewer."),
            Format::Own(own) => own.print(),
            Format::Rig(_) => say!(
                "The .glb has the skeleton, with keys for every frame, and flesh as morph targets under its skin: it plays in Blender, in game engines and in any glTF viewer."
            ),
            Format::PointCache(_) => say!("The cache goes on the rest .obj beside it: see docs/formats.md."),
            Format::Usda(_) => {}
            Format::Recording => say!("`sinew bake` converts the .take without simulating again."),
            Format::Objs(_) => {}
        }
        if self.preview.is_some() {
            say!("The .png shows six moments of the take.");
        }
    }
}

impl Outputs<'_> {
    /// Says what flesh did to each character.
    fn print_watches(&self) {
        let is_one = self.watches.len() == 1;
        for (watch, binding) in self.watches.iter().zip(self.source.bindings()) {
            let Some(report) = watch.report() else { continue };
            let of = if is_one { String::new() } else { format!("{}: ", binding.name) };
            say!(
                "{of}in the first frame flesh is up to {:.1} mm from where skinning puts it ({:.1} mm on average), in the take up to {:.1} mm",
                1e3 * report.settled[0],
                1e3 * report.settled[1],
                1e3 * report.farthest
            );
            say!(
                "{of}volume changed by up to {:.1} %, by plain skinning up to {:.1} %",
                100.0 * report.flesh_change,
                100.0 * report.skinned_change
            );
        }
    }
}

/// What the surfaces of a source look like: those of a file as it says, those of the zoo in the colours of their characters.
pub(crate) fn looks_of(source: &OpenedScene) -> Vec<Look> {
    if !source.characters.is_empty() {
        return source.looks();
    }
    sinew_zoo::find(&source.scene.name).map(|character| Look::srgb(character.color)).into_iter().collect()
}

/// Whether any flesh of some parts of a scene hangs on bones.
fn has_bones(source: &OpenedScene, parts: &SceneParts) -> bool {
    parts.bodies.iter().any(|body| source.scene.world.bodies[*body].attachment.is_some())
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
pub(crate) fn plan<'a>(
    paths: impl IntoIterator<Item = &'a PathBuf>,
    replace: Replace,
) -> Result<(), Failure> {
    plan_outputs(paths.into_iter().map(PathBuf::as_path), replace).map_err(Failure::input)
}

/// The camera of previews stands a little to the side (degrees), where shapes read better than from straight ahead.
const PREVIEW_AZIMUTH: f64 = 3.0;
