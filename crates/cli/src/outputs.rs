//! Where a take goes: the one place where a file name becomes a format.

use crate::failure::Failure;
use clap::Args;
use sinew_io::{GlbOptions, GlbSink, ObjSequence, Preview, PreviewOptions, TAKE_EXTENSION, Up};
use sinew_take::{FrameSink, Scene};
use std::path::{Path, PathBuf};

/// How outputs are written.
#[derive(Args, Clone, Default)]
pub(crate) struct OutputOptions {
    /// The most morph targets that a body's motion is written with, up to 240; more follow it more closely, some viewers take fewer [default: 64].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=240))]
    morph_targets: Option<u16>,

    /// Do not draw the preview picture beside the output.
    #[arg(long)]
    pub(crate) no_preview: bool,
}

/// Where a take goes.
pub(crate) struct Outputs {
    take: Format,
    preview: Option<Preview>,
    files: Vec<PathBuf>,
}

/// What frames are written as.
enum Format {
    Glb(GlbSink),
    Objs(ObjSequence),
    /// Nothing beside the preview: the states are recorded, or were.
    Recording,
}

/// Whether a path names a recorded take.
pub(crate) fn is_take(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(TAKE_EXTENSION))
}

impl Outputs {
    /// Where so many frames of a scene go; nothing is opened yet.
    pub(crate) fn plan(
        output: &Path,
        options: &OutputOptions,
        scene: &Scene,
        frame_count: usize,
    ) -> Result<Outputs, Failure> {
        let up = Up::against(scene.world.gravity);
        let extension = output.extension().map(|e| e.to_string_lossy().to_lowercase());
        let take = match extension.as_deref() {
            Some("glb") => {
                let usual = GlbOptions::default();
                let component_limit = options.morph_targets.map_or(usual.component_limit, usize::from);
                let frame_count = Some(frame_count);
                Format::Glb(GlbSink::new(output, GlbOptions { frame_count, up, component_limit, ..usual }))
            }
            Some(TAKE_EXTENSION) => Format::Recording,
            None => Format::Objs(ObjSequence::new(output)),
            Some(other) => {
                return Err(Failure::input(format!(
                    "{}: takes are written as .glb, as a folder of .obj files when OUT has no extension, or recorded as .take, not as .{other}",
                    output.display()
                )));
            }
        };
        Ok(Outputs::with_preview(take, output, options, up))
    }

    /// What goes beside a take that is recorded, whatever its name.
    pub(crate) fn beside_recording(output: &Path, options: &OutputOptions, scene: &Scene) -> Outputs {
        Outputs::with_preview(Format::Recording, output, options, Up::against(scene.world.gravity))
    }

    fn with_preview(take: Format, output: &Path, options: &OutputOptions, up: Up) -> Outputs {
        let picture = output.with_extension("png");
        let preview = (!options.no_preview).then(|| {
            Preview::new(&picture, PreviewOptions { up, turn: PREVIEW_TURN, ..PreviewOptions::default() })
        });
        let mut files = vec![output.to_path_buf()];
        files.extend(preview.is_some().then_some(picture));
        Outputs { take, preview, files }
    }

    /// All files and folders that will be written.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    pub(crate) fn sinks(&mut self) -> Vec<&mut dyn FrameSink> {
        let take: Option<&mut dyn FrameSink> = match &mut self.take {
            Format::Glb(glb) => Some(glb),
            Format::Objs(objs) => Some(objs),
            Format::Recording => None,
        };
        let preview = self.preview.as_mut().map(|preview| preview as &mut dyn FrameSink);
        take.into_iter().chain(preview).collect()
    }

    /// Says where morph targets do not follow the take as closely as they should.
    pub(crate) fn warn_of_losses(&self) {
        if let Format::Glb(glb) = &self.take
            && let Some(report) = glb.report()
        {
            report.bodies.iter().filter(|body| !body.is_met()).for_each(|body| warn!("note: {body}"));
        }
    }

    /// Says what was written, and what to do with it.
    pub(crate) fn print(&self) {
        if let Format::Glb(glb) = &self.take
            && let Some(report) = glb.report()
        {
            report.bodies.iter().filter(|body| body.is_met()).for_each(|body| say!("{body}"));
        }
        for file in &self.files {
            say!("wrote {}", file.display());
        }
        match self.take {
            Format::Glb(_) => say!("The .glb plays in Blender, in game engines and in any glTF viewer."),
            Format::Recording => say!("`sinew bake` converts the .take without simulating again."),
            Format::Objs(_) => {}
        }
        if self.preview.is_some() {
            say!("The .png shows six moments of the take.");
        }
    }
}

/// No output may overwrite another, or an input.
pub(crate) fn check_collisions<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), Failure> {
    let mut seen: Vec<&PathBuf> = Vec::new();
    for path in paths {
        if seen.contains(&path) {
            let path = path.display();
            return Err(Failure::input(format!("{path} is named twice: give every file a name of its own")));
        }
        seen.push(path);
    }
    Ok(())
}

/// The camera of previews stands a little to the side (degrees), where shapes read better than from straight ahead.
const PREVIEW_TURN: f64 = -25.0;
