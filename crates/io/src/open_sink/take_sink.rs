//! Writes a take to one path: the sink of the format, the preview, and measurements of the characters.

use super::character_sinks::CharacterSinks;
use super::report::{BakedCharacter, RiggedGlb, SinkReport};
use crate::{AlembicSink, ObjSequence, OpenedScene, PointCacheSink, UsdaSink};
use sinew_character::{CharacterFrames, CharacterWatch, ObjectFrames, ShownObjects};
use sinew_gltf::{GlbReport, GlbSink, RigGlb, SkinnedGlb};
use sinew_render::Preview;
use sinew_sim::FleshSkinOptions;
use sinew_take::{Frame, FrameSink, LoopCloser, SinkError, SkinStage, SurfaceInfo};
use std::path::PathBuf;

/// Writes a take to the files of a path; made by [`open_sink`](crate::open_sink()).
pub struct TakeSink<'a> {
    files: Vec<PathBuf>,
    sinks: Cycle<'a>,
    skin: Option<SkinStage>,
}

/// The sinks of one path.
struct Sinks<'a> {
    format: FormatSink<'a>,
    preview: Option<Viewed<'a, Preview>>,
    /// The name and the measurements of each character from a rigged file.
    watches: Vec<(&'a str, CharacterWatch<'a>)>,
}

/// Whether the last frame is made equal to the first.
enum Cycle<'a> {
    Open(Sinks<'a>),
    Closed(LoopCloser<Sinks<'a>>),
}

/// The sink of a format.
pub(super) enum FormatSink<'a> {
    WorldGlb(Box<Viewed<'a, GlbSink>>),
    CharacterGlbs(Box<CharacterSinks<'a>>),
    RigGlb(Box<RigGlb>),
    ObjSequence(Viewed<'a, ObjSequence>),
    PointCache(Viewed<'a, PointCacheSink>),
    Usda(Viewed<'a, UsdaSink>),
    Alembic(Viewed<'a, AlembicSink>),
    Recording,
}

/// A sink that receives the surfaces to show: those of rigged files in place of the simulated flesh.
pub(super) enum Viewed<'a, S> {
    Simulated(S),
    Character(CharacterFrames<'a, S>),
    Objects(ObjectFrames<'a, S>),
}

impl<'a> TakeSink<'a> {
    /// A sink that writes `files`. `cycle` is the number of frames of a cycle, not counting the first.
    pub(super) fn new(
        files: Vec<PathBuf>,
        opened: &'a OpenedScene,
        format: FormatSink<'a>,
        preview: Option<Viewed<'a, Preview>>,
        cycle: Option<usize>,
    ) -> TakeSink<'a> {
        let watches = opened.bindings().map(|binding| {
            let watch = CharacterWatch::new(binding.played(&opened.scene));
            (binding.name.as_str(), watch.with_limits(opened.limits_of(binding)))
        });
        let sinks = Sinks { format, preview, watches: watches.collect() };
        let sinks = match cycle {
            Some(frame_count) => Cycle::Closed(LoopCloser::new(sinks, frame_count)),
            None => Cycle::Open(sinks),
        };
        TakeSink { files, sinks, skin: None }
    }

    /// With skin over the flesh.
    pub(super) fn with_skin(self, options: Option<FleshSkinOptions>, opened: &OpenedScene) -> TakeSink<'a> {
        let stage = |options| SkinStage::new(options, opened.flesh_bodies());
        TakeSink { skin: options.map(stage), ..self }
    }

    /// What was written and how accurate it is; complete once the take has ended.
    pub fn report(&self) -> SinkReport {
        let (sinks, loop_gap) = match &self.sinks {
            Cycle::Open(sinks) => (sinks, None),
            Cycle::Closed(closer) => (closer.sink(), Some(closer.gap())),
        };
        let watched = sinks.watches.iter().filter_map(|(name, watch)| {
            Some(BakedCharacter { name: (*name).to_owned(), report: watch.report()? })
        });
        SinkReport {
            files: self.files.clone(),
            glb: sinks.format.morphing().cloned(),
            rigged: sinks.format.rigged(),
            characters: watched.collect(),
            loop_gap,
            has_preview: sinks.preview.is_some(),
            hints: sinks.format.hints(),
            skin: self.skin.as_ref().map(|skin| skin.notes().to_vec()).unwrap_or_default(),
        }
    }

    /// The files that later clips go into; none unless the sink was opened for an earlier clip.
    pub fn into_writers(self) -> Vec<SkinnedGlb> {
        let sinks = match self.sinks {
            Cycle::Open(sinks) => sinks,
            Cycle::Closed(closer) => closer.into_sink(),
        };
        match sinks.format {
            FormatSink::CharacterGlbs(sinks) => sinks.into_writers(),
            _ => Vec::new(),
        }
    }

    fn as_sink(&mut self) -> &mut dyn FrameSink {
        match &mut self.sinks {
            Cycle::Open(sinks) => sinks,
            Cycle::Closed(closer) => closer,
        }
    }
}

impl FrameSink for TakeSink<'_> {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        if let Some(skin) = &mut self.skin {
            skin.begin(surfaces);
        }
        self.as_sink().begin(surfaces, fps)
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        match self.skin.take() {
            None => self.as_sink().frame(frame),
            Some(mut skin) => {
                let written = self.as_sink().frame(skin.frame(frame));
                self.skin = Some(skin);
                written
            }
        }
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.as_sink().finish()
    }
}

impl Sinks<'_> {
    fn each(
        &mut self,
        mut call: impl FnMut(&mut dyn FrameSink) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        if let Some(sink) = self.format.as_sink() {
            call(sink)?;
        }
        if let Some(preview) = &mut self.preview {
            call(preview)?;
        }
        self.watches.iter_mut().try_for_each(|(_, watch)| call(watch))
    }
}

impl FrameSink for Sinks<'_> {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        self.each(|sink| sink.begin(surfaces, fps))
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.each(|sink| sink.frame(frame))
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.each(|sink| sink.finish())
    }
}

impl FormatSink<'_> {
    fn as_sink(&mut self) -> Option<&mut dyn FrameSink> {
        match self {
            FormatSink::WorldGlb(sink) => Some(&mut **sink),
            FormatSink::CharacterGlbs(sinks) => Some(&mut **sinks),
            FormatSink::RigGlb(sink) => Some(&mut **sink),
            FormatSink::ObjSequence(sink) => Some(sink),
            FormatSink::PointCache(sink) => Some(sink),
            FormatSink::Usda(sink) => Some(sink),
            FormatSink::Alembic(sink) => Some(sink),
            FormatSink::Recording => None,
        }
    }

    /// The compression of bodies without a skeleton.
    fn morphing(&self) -> Option<&GlbReport> {
        match self {
            FormatSink::WorldGlb(sink) => sink.sink().report(),
            FormatSink::CharacterGlbs(sinks) => sinks.morphing(),
            _ => None,
        }
    }

    /// The compression of every file with a skeleton.
    fn rigged(&self) -> Vec<RiggedGlb> {
        match self {
            FormatSink::CharacterGlbs(sinks) => sinks.rigged(),
            FormatSink::RigGlb(sink) => {
                let report = sink.report().cloned();
                report.map(|report| RiggedGlb { character: None, report }).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// How to use the output, for the user.
    fn hints(&self) -> Vec<String> {
        let hint = match self {
            FormatSink::CharacterGlbs(sinks) => return sinks.hints(),
            FormatSink::ObjSequence(_) | FormatSink::Usda(_) | FormatSink::Alembic(_) => return Vec::new(),
            FormatSink::WorldGlb(_) => "The .glb plays in Blender, in game engines and in any glTF viewer.",
            FormatSink::RigGlb(_) => {
                "The .glb contains the skeleton, keyed in every frame, and flesh as morph targets: it plays in Blender, in game engines and in any glTF viewer."
            }
            FormatSink::PointCache(_) => {
                "Apply each cache to the mesh of its name as Blender imports the original file, or to the -rest.obj file beside it: see docs/formats.md."
            }
            FormatSink::Recording => "`sinew bake` converts the .take without simulating again.",
        };
        vec![hint.to_owned()]
    }
}

impl<'a, S: FrameSink> Viewed<'a, S> {
    pub(super) fn new(opened: &'a OpenedScene, sink: S) -> Viewed<'a, S> {
        let shown = opened.shown();
        if shown.is_plain() {
            return Viewed::Simulated(sink);
        }
        Viewed::Character(CharacterFrames::new(shown, sink))
    }

    /// A sink that receives objects.
    pub(super) fn objects(opened: &OpenedScene, objects: ShownObjects<'a>, sink: S) -> Viewed<'a, S> {
        if opened.shown().is_plain() {
            return Viewed::Simulated(sink);
        }
        Viewed::Objects(ObjectFrames::new(objects, sink))
    }

    fn sink(&self) -> &S {
        match self {
            Viewed::Simulated(sink) => sink,
            Viewed::Character(frames) => frames.sink(),
            Viewed::Objects(frames) => frames.sink(),
        }
    }

    fn as_sink(&mut self) -> &mut dyn FrameSink {
        match self {
            Viewed::Simulated(sink) => sink,
            Viewed::Character(frames) => frames,
            Viewed::Objects(frames) => frames,
        }
    }
}

impl<S: FrameSink> FrameSink for Viewed<'_, S> {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        self.as_sink().begin(surfaces, fps)
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.as_sink().frame(frame)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.as_sink().finish()
    }
}
