//! Opens the frame sink of a path: the one place where a file extension selects an output format.
//!
//! [`open_sink`] makes a [`TakeSink`] for a path. A sink may write several files, because each character from a rigged file is written to a
//! copy of that file; [`SinkPlan::files`] lists them before anything is written.
//!
//! | path | written |
//! | --- | --- |
//! | `NAME.glb` | a rigged file with its flesh as morph targets, skeletons with flesh, or plain surfaces; `NAME-CHARACTER.glb` for each character if there are several bodies |
//! | `NAME.usda` | a USD stage with time samples, images in `NAME-textures` |
//! | `NAME.abc` | an Alembic archive with time samples |
//! | `NAME.pc2`, `NAME.mdd` | a point cache per object, with the object at rest as OBJ and MTL beside it, images in `NAME-textures` |
//! | `NAME` | a folder with one OBJ file per frame, materials and images |
//! | `NAME.take` | only the preview: a `TakeRecorder` records the states |
//!
//! A preview, the contact sheet `NAME.png`, is drawn beside each of them unless the options turn it off.

mod character_sinks;
mod options;
mod report;
mod take_sink;

pub use options::{GlbForm, SinkOptions};
pub use report::{BakedCharacter, RiggedGlb, SinkReport};
pub use take_sink::TakeSink;

use crate::{
    AlembicSink, Appearance, ObjSequence, OpenedScene, PointCacheFormat, PointCacheSink, TAKE_EXTENSION,
    UsdaSink,
};
use character_sinks::{CharacterSinks, OtherBodies};
use sinew_character::{ObjectSpace, ShownObjects};
use sinew_gltf::{ClipPlace, GlbOptions, GlbSink, RigFile, RigGlb, SkinnedGlb};
use sinew_render::{Look, Preview, PreviewOptions, View};
use sinew_sim::Model;
use sinew_take::{PartsSink, SceneParts, SinkError, Up};
use std::path::{Path, PathBuf};
use take_sink::{FormatSink, Viewed};

/// The camera azimuth of previews (degrees): shapes are easier to recognise slightly from the side.
const PREVIEW_AZIMUTH: f64 = 3.0;

/// Opens a sink for a take of a scene, in the format of the extension of `path`. The model must be that of the scene.
///
/// Files appear when the take ends; [`TakeSink::report`] then says what was written and how accurate it is.
///
/// ```
/// use sinew_io::{CharacterChoice, SinkOptions, open_sink, open_source};
/// use sinew_take::Player;
///
/// # let folder = tempfile::tempdir()?;
/// # let [mesh, target] = ["tetrahedron.obj", "take.glb"].map(|name| folder.path().join(name));
/// # std::fs::write(&mesh, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")?;
/// let mut opened = open_source(&mesh, &CharacterChoice::default())?.value;
/// opened.scene.seconds = 0.1;
///
/// let mut player = Player::build(&opened.scene)?;
/// let options = SinkOptions { preview: false, ..SinkOptions::default() };
/// let mut sink = open_sink(&target, &opened, &player.model, &options)?;
/// player.play(&mut [&mut sink], |_| {})?;
///
/// let report = sink.report();
/// assert!(report.warnings().is_empty());
/// assert_eq!(report.files, [target]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open_sink<'a>(
    path: impl AsRef<Path>,
    opened: &'a OpenedScene,
    model: &Model,
    options: &SinkOptions,
) -> Result<TakeSink<'a>, SinkError> {
    SinkPlan::new(path, opened, options)?.open(model)
}

/// The files that a sink will write, known before the model is built.
pub struct SinkPlan<'a> {
    path: PathBuf,
    opened: &'a OpenedScene,
    options: SinkOptions,
    format: Format,
}

/// The output format of a path and a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// Surfaces with morph targets, without a skeleton.
    WorldGlb,
    /// One rigged file per character, and one more for all other bodies.
    CharacterGlbs,
    /// Flesh on the skeletons of the scene.
    RigGlb,
    /// A folder of OBJ files.
    ObjSequence,
    /// A point cache.
    PointCache(PointCacheFormat),
    /// A USD stage.
    Usda,
    /// An Alembic archive.
    Alembic,
    /// Only the preview: states are recorded elsewhere.
    Recording,
}

impl<'a> SinkPlan<'a> {
    /// Plans the output of a scene to a path. Fails if the extension is not one of an output format.
    pub fn new(
        path: impl AsRef<Path>,
        opened: &'a OpenedScene,
        options: &SinkOptions,
    ) -> Result<SinkPlan<'a>, SinkError> {
        let format = format_of(path.as_ref(), opened, options)?;
        Ok(SinkPlan { path: path.as_ref().to_path_buf(), opened, options: options.clone(), format })
    }

    /// Plans only the preview of a take that is recorded to `path`.
    pub fn beside_recording(
        path: impl AsRef<Path>,
        opened: &'a OpenedScene,
        options: &SinkOptions,
    ) -> SinkPlan<'a> {
        let (path, options) = (path.as_ref().to_path_buf(), options.clone());
        SinkPlan { path, opened, options, format: Format::Recording }
    }

    /// All files and folders that will be written.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = match self.format {
            Format::PointCache(format) => {
                let names = self.objects().names();
                self.point_cache(format).files(names.iter().map(String::as_str))
            }
            Format::Usda => self.usda().files(),
            Format::CharacterGlbs => self.character_files(),
            _ => vec![self.path.clone()],
        };
        files.extend(self.options.preview.then(|| self.preview_path()));
        files
    }

    /// Opens the sink. The model must be that of the scene.
    pub fn open(self, model: &Model) -> Result<TakeSink<'a>, SinkError> {
        self.open_clip(model, Vec::new(), ClipPlace::Last)
    }

    /// Opens the sink of a take that is one clip of a character's file: behind the clips that `before` holds ([`TakeSink::into_writers`]), and in front of others unless it
    /// is the last. Fails if the output is none that clips can share.
    pub fn open_clip(
        self,
        model: &Model,
        before: Vec<SkinnedGlb>,
        clip: ClipPlace,
    ) -> Result<TakeSink<'a>, SinkError> {
        let is_one_of_several = clip == ClipPlace::Earlier || !before.is_empty();
        let format = match self.format_sink(model)? {
            FormatSink::CharacterGlbs(sinks) => {
                FormatSink::CharacterGlbs(Box::new(sinks.with_clip(before, clip)))
            }
            _ if is_one_of_several => {
                return Err(SinkError(format!(
                    "{}: several animations go into the .glb of a character file only: play one at a time",
                    self.path.display()
                )));
            }
            format => format,
        };
        let preview = self.options.preview.then(|| self.preview());
        let cycle = self.options.is_loop.then(|| self.frame_count().saturating_sub(1));
        let sink = TakeSink::new(self.files(), self.opened, format, preview, cycle);
        Ok(sink.with_skin(self.options.skin, self.opened))
    }

    fn format_sink(&self, model: &Model) -> Result<FormatSink<'a>, SinkError> {
        let (opened, path) = (self.opened, &self.path);
        Ok(match self.format {
            Format::WorldGlb => {
                FormatSink::WorldGlb(Box::new(Viewed::new(opened, GlbSink::new(path, self.glb_options()))))
            }
            Format::CharacterGlbs => {
                let (files, others) = (self.character_files(), self.other_bodies(model)?);
                let sinks = CharacterSinks::new(opened, &files, self.options.skinned(), others);
                FormatSink::CharacterGlbs(Box::new(sinks))
            }
            Format::RigGlb => FormatSink::RigGlb(Box::new(self.rig_glb(model, &SceneParts::all(model))?)),
            Format::ObjSequence => {
                let sink = ObjSequence::new(path).with_appearance(self.appearance());
                FormatSink::ObjSequence(Viewed::objects(opened, self.objects(), sink))
            }
            Format::PointCache(format) => {
                FormatSink::PointCache(Viewed::objects(opened, self.objects(), self.point_cache(format)))
            }
            Format::Usda => FormatSink::Usda(Viewed::objects(opened, self.objects(), self.usda())),
            Format::Alembic => {
                let sink = AlembicSink::new(path, self.up()).with_appearance(self.appearance());
                FormatSink::Alembic(Viewed::objects(opened, self.objects(), sink))
            }
            Format::Recording => FormatSink::Recording,
        })
    }

    /// The objects of the scene: in the spaces that importers of the original files give them, where positions are applied to those.
    fn objects(&self) -> ShownObjects<'a> {
        let is_cache =
            matches!(self.format, Format::PointCache(_)) && self.options.glb_form == GlbForm::Rigged;
        self.opened.objects(if is_cache { ObjectSpace::Own } else { ObjectSpace::World })
    }

    /// The appearance of the objects.
    fn appearance(&self) -> Appearance {
        self.opened.appearance().merged(&self.objects().sources())
    }

    fn point_cache(&self, format: PointCacheFormat) -> PointCacheSink {
        PointCacheSink::new(&self.path, format).with_appearance(self.appearance())
    }

    fn usda(&self) -> UsdaSink {
        UsdaSink::new(&self.path, self.up()).with_appearance(self.appearance())
    }

    /// The files of all characters, then that of the other bodies if there are any.
    fn character_files(&self) -> Vec<PathBuf> {
        let mut files = self.opened.character_targets(&self.path);
        let has_others = !self.opened.other_parts().bodies.is_empty();
        files.extend(has_others.then(|| self.path.clone()));
        files
    }

    /// The sink of the bodies that do not come from rigged files.
    fn other_bodies(&self, model: &Model) -> Result<Option<OtherBodies>, SinkError> {
        let parts = self.opened.other_parts();
        Ok(if parts.bodies.is_empty() {
            None
        } else if has_bones(self.opened, &parts.bodies) {
            let sink = self.rig_glb(model, &parts)?;
            Some(OtherBodies::Rigged(Box::new(PartsSink::new(parts, sink))))
        } else {
            let sink = GlbSink::new(&self.path, self.glb_options());
            Some(OtherBodies::Morphing(Box::new(PartsSink::new(parts, sink))))
        })
    }

    /// The sink of some bodies with their skeletons.
    fn rig_glb(&self, model: &Model, parts: &SceneParts) -> Result<RigGlb, SinkError> {
        // the looks of the options belong to shown surfaces, which are the bodies only if no character comes from a file
        let looks = if self.opened.characters.is_empty() { self.options.looks.as_slice() } else { &[] };
        let colors: Vec<[f32; 3]> = looks.iter().map(|look| look.color).collect();
        let rig = RigFile::build(model, parts, self.up(), &colors)?;
        Ok(RigGlb::new(rig, &self.path, self.options.skinned()))
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
        let preview = Preview::new(self.preview_path(), options)
            .with_looks(self.looks())
            .following(self.opened.character_surfaces());
        Viewed::new(self.opened, preview)
    }

    fn preview_path(&self) -> PathBuf {
        self.path.with_extension("png")
    }

    /// The looks of the options, or else of the scene.
    fn looks(&self) -> Vec<Look> {
        if self.options.looks.is_empty() { self.opened.looks() } else { self.options.looks.clone() }
    }

    fn frame_count(&self) -> usize {
        self.options.frame_count.unwrap_or(self.opened.scene.frame_count() + 1)
    }

    fn up(&self) -> Up {
        Up::against(self.opened.scene.world.gravity)
    }
}

/// The format that a path asks for.
fn format_of(path: &Path, opened: &OpenedScene, options: &SinkOptions) -> Result<Format, SinkError> {
    let bodies: Vec<usize> = (0..opened.scene.world.bodies.len()).collect();
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    Ok(match extension.as_deref() {
        Some("glb") => match options.glb_form {
            GlbForm::Rigged if !opened.characters.is_empty() => Format::CharacterGlbs,
            GlbForm::Rigged if has_bones(opened, &bodies) => Format::RigGlb,
            GlbForm::Rigged | GlbForm::World => Format::WorldGlb,
        },
        Some(TAKE_EXTENSION) => Format::Recording,
        Some("pc2") => Format::PointCache(PointCacheFormat::Pc2),
        Some("mdd") => Format::PointCache(PointCacheFormat::Mdd),
        Some("usda") => Format::Usda,
        Some("abc") => Format::Alembic,
        None => Format::ObjSequence,
        Some(other) => {
            return Err(SinkError(format!(
                "{}: .{other} is not an output format: use .glb, .usda, .abc, .pc2, .mdd or .take, or a name without extension for a folder of .obj files",
                path.display()
            )));
        }
    })
}

/// Whether any of some bodies is attached to bones.
fn has_bones(opened: &OpenedScene, bodies: &[usize]) -> bool {
    bodies.iter().any(|body| opened.scene.world.bodies[*body].attachment.is_some())
}
