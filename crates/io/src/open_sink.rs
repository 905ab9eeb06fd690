//! Frame sinks by file name: the one place where the extension of a path becomes an output format.
//!
//! [`open_sink`] makes a [`TakeSink`] for a path. Several characters of one scene go to one file each: the sink of a path may write any number of
//! files, which [`SinkPlan::files`] lists before anything is opened.
//!
//! | path | written |
//! | --- | --- |
//! | `NAME.glb` | a character file with its flesh as morph targets, the skeleton of other flesh on bones, or plain surfaces |
//! | `NAME.usda` | a USD stage with time samples |
//! | `NAME.pc2`, `NAME.mdd` | a point cache per surface, with the surface at rest as OBJ beside it |
//! | `NAME` | a folder with one OBJ file per frame |
//! | `NAME.take` | nothing but the preview: a `TakeRecorder` records states |
//!
//! A contact sheet, `NAME.png`, is drawn beside each of them unless the options say otherwise.

mod options;
mod report;
mod take_sink;

pub use options::{GlbForm, SinkOptions};
pub use report::SinkReport;
pub use take_sink::TakeSink;

use crate::{
    CharacterGlb, GlbOptions, GlbSink, ObjSequence, PointCacheFormat, PointCacheSink, RigFile, RigGlb,
    SceneSource, TAKE_EXTENSION, UsdaSink,
};
use sinew_render::{Look, Preview, PreviewOptions, View};
use sinew_sim::Model;
use sinew_take::{SinkError, Up};
use std::path::{Path, PathBuf};
use take_sink::{FormatSink, Viewed};

/// The azimuth of the camera of previews (degrees): shapes read better a little from the side.
const PREVIEW_AZIMUTH: f64 = 3.0;

/// Opens a sink for the take of a scene, in the format that the extension of `path` asks for. The model must be that of the scene.
///
/// Files appear when the take has been played to its end; [`TakeSink::report`] then says what was written and how accurate it is.
///
/// ```
/// use sinew_io::{SceneSource, SinkOptions, open_sink, scene_of_mesh};
/// use sinew_take::Player;
///
/// # let folder = tempfile::tempdir()?;
/// # let [mesh, target] = ["tetrahedron.obj", "take.glb"].map(|name| folder.path().join(name));
/// # std::fs::write(&mesh, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")?;
/// let mut scene = scene_of_mesh(&mesh)?.value;
/// scene.seconds = 0.1;
/// let source = SceneSource::Scene(Box::new(scene));
///
/// let mut player = Player::build(source.scene())?;
/// let options = SinkOptions { preview: false, ..SinkOptions::default() };
/// let mut sink = open_sink(&target, &source, &player.model, &options)?;
/// player.play(&mut [&mut sink], |_| {})?;
///
/// let report = sink.report();
/// assert!(report.warnings().is_empty());
/// assert_eq!(report.files, [target]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open_sink<'a>(
    path: impl AsRef<Path>,
    source: &'a SceneSource,
    model: &Model,
    options: &SinkOptions,
) -> Result<TakeSink<'a>, SinkError> {
    SinkPlan::new(path, source, options)?.open(model)
}

/// What a sink is going to write, known before the model is built.
pub struct SinkPlan<'a> {
    path: PathBuf,
    source: &'a SceneSource,
    options: SinkOptions,
    format: Format,
}

/// What a path asks for, given the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// Surfaces with morph targets, without skeleton.
    WorldGlb,
    /// The character's own file.
    CharacterGlb,
    /// Flesh on the skeletons of the scene.
    RigGlb,
    /// A folder of OBJ files.
    ObjSequence,
    /// A point cache.
    PointCache(PointCacheFormat),
    /// A USD stage.
    Usda,
    /// Nothing besides the preview: states are recorded.
    Recording,
}

impl<'a> SinkPlan<'a> {
    /// Plans the output of a scene to a path. Fails if the extension is not that of an output format.
    pub fn new(
        path: impl AsRef<Path>,
        source: &'a SceneSource,
        options: &SinkOptions,
    ) -> Result<SinkPlan<'a>, SinkError> {
        let format = format_of(path.as_ref(), source, options)?;
        Ok(SinkPlan { path: path.as_ref().to_path_buf(), source, options: options.clone(), format })
    }

    /// Plans the preview alone, beside a take that is recorded under any name.
    pub fn beside_recording(
        path: impl AsRef<Path>,
        source: &'a SceneSource,
        options: &SinkOptions,
    ) -> SinkPlan<'a> {
        let (path, options) = (path.as_ref().to_path_buf(), options.clone());
        SinkPlan { path, source, options, format: Format::Recording }
    }

    /// All files and folders that will be written.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = match self.format {
            Format::PointCache(format) => {
                let sink = PointCacheSink::new(&self.path, format);
                match self.source.character() {
                    Some(character) => sink.files(character.surface_names().iter().map(String::as_str)),
                    None => {
                        sink.files(self.source.scene().world.bodies.iter().map(|body| body.name.as_str()))
                    }
                }
            }
            _ => vec![self.path.clone()],
        };
        files.extend(self.options.preview.then(|| self.preview_path()));
        files
    }

    /// Opens the sink. The model must be that of the scene.
    pub fn open(self, model: &Model) -> Result<TakeSink<'a>, SinkError> {
        let format = self.format_sink(model)?;
        let preview = self.options.preview.then(|| self.preview());
        let character = self.source.character();
        let cycle = self.options.is_loop.then(|| self.frame_count().saturating_sub(1));
        Ok(TakeSink::new(self.files(), format, preview, character, cycle))
    }

    fn format_sink(&self, model: &Model) -> Result<FormatSink<'a>, SinkError> {
        let (character, path) = (self.source.character(), &self.path);
        Ok(match self.format {
            Format::WorldGlb => {
                let sink = GlbSink::new(path, self.glb_options());
                FormatSink::WorldGlb(Box::new(Viewed::new(character, sink)))
            }
            Format::CharacterGlb => {
                let character = character
                    .ok_or_else(|| SinkError("the scene was not made of a character file".into()))?;
                FormatSink::CharacterGlb(Box::new(CharacterGlb::new(character, path, self.options.skinned())))
            }
            Format::RigGlb => {
                let rig = RigFile::build(model, self.up(), &self.looks())?;
                FormatSink::RigGlb(Box::new(RigGlb::new(rig, path, self.options.skinned())))
            }
            Format::ObjSequence => FormatSink::ObjSequence(Viewed::new(character, ObjSequence::new(path))),
            Format::PointCache(format) => {
                FormatSink::PointCache(Viewed::new(character, PointCacheSink::new(path, format)))
            }
            Format::Usda => FormatSink::Usda(Viewed::new(character, UsdaSink::new(path, self.up()))),
            Format::Recording => FormatSink::Recording,
        })
    }

    fn glb_options(&self) -> GlbOptions {
        let SinkOptions { component_limit, error_fraction, .. } = self.options;
        let frame_count = Some(self.frame_count());
        let up = self.up();
        GlbOptions { frame_count, up, component_limit, error_fraction, ..GlbOptions::default() }
    }

    fn preview(&self) -> Viewed<'a, Preview> {
        let view = View { azimuth: PREVIEW_AZIMUTH, ..View::default() };
        let options = PreviewOptions { up: self.up(), view, ..PreviewOptions::default() };
        let preview = Preview::new(self.preview_path(), options).with_looks(self.looks());
        Viewed::new(self.source.character(), preview)
    }

    fn preview_path(&self) -> PathBuf {
        self.path.with_extension("png")
    }

    /// The looks of the options, or those of the character's file.
    fn looks(&self) -> Vec<Look> {
        match self.source.character() {
            Some(character) if self.options.looks.is_empty() => character.looks(),
            _ => self.options.looks.clone(),
        }
    }

    fn frame_count(&self) -> usize {
        self.options.frame_count.unwrap_or(self.source.scene().frame_count() + 1)
    }

    fn up(&self) -> Up {
        Up::against(self.source.scene().world.gravity)
    }
}

/// The format that a path asks for.
fn format_of(path: &Path, source: &SceneSource, options: &SinkOptions) -> Result<Format, SinkError> {
    let has_bones = || source.scene().world.bodies.iter().any(|body| body.attachment.is_some());
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    Ok(match extension.as_deref() {
        Some("glb") => match options.glb_form {
            GlbForm::Rigged if source.character().is_some() => Format::CharacterGlb,
            GlbForm::Rigged if has_bones() => Format::RigGlb,
            GlbForm::Rigged | GlbForm::World => Format::WorldGlb,
        },
        Some(TAKE_EXTENSION) => Format::Recording,
        Some("pc2") => Format::PointCache(PointCacheFormat::Pc2),
        Some("mdd") => Format::PointCache(PointCacheFormat::Mdd),
        Some("usda") => Format::Usda,
        None => Format::ObjSequence,
        Some(other) => {
            return Err(SinkError(format!(
                "{}: takes are written as .glb, .usda, .pc2, .mdd, as a folder of .obj files when the name has no extension, or recorded as .take, not as .{other}",
                path.display()
            )));
        }
    })
}
