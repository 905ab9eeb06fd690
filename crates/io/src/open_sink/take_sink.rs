//! The sink of a path: the format's own sink, a preview, and measurements of a character.

use super::report::SinkReport;
use crate::{
    CharacterFrames, CharacterGlb, CharacterScene, CharacterWatch, GlbSink, ObjSequence, PointCacheSink,
    RigGlb, UsdaSink,
};
use sinew_render::Preview;
use sinew_take::{Frame, FrameSink, LoopCloser, SinkError, SurfaceInfo};
use std::path::PathBuf;

/// Writes a take to the files that a path asks for; made by [`open_sink`](crate::open_sink).
pub struct TakeSink<'a> {
    files: Vec<PathBuf>,
    sinks: Cycle<'a>,
}

/// The sinks of one path.
struct Sinks<'a> {
    format: FormatSink<'a>,
    preview: Option<Viewed<'a, Preview>>,
    watch: Option<CharacterWatch<'a>>,
}

/// Whether the last frame is made the first again.
enum Cycle<'a> {
    Open(Sinks<'a>),
    Closed(LoopCloser<Sinks<'a>>),
}

/// The sink of a format.
pub(super) enum FormatSink<'a> {
    WorldGlb(Box<Viewed<'a, GlbSink>>),
    CharacterGlb(Box<CharacterGlb<'a>>),
    RigGlb(Box<RigGlb>),
    ObjSequence(Viewed<'a, ObjSequence>),
    PointCache(Viewed<'a, PointCacheSink>),
    Usda(Viewed<'a, UsdaSink>),
    Recording,
}

/// A sink that receives the surfaces a viewer should see: those of a character's file instead of the flesh that was simulated.
pub(super) enum Viewed<'a, S> {
    Simulated(S),
    Character(CharacterFrames<'a, S>),
}

impl<'a> TakeSink<'a> {
    /// A sink that writes `files`. `cycle` is the number of frames of a cycle, the first not counted.
    pub(super) fn new(
        files: Vec<PathBuf>,
        format: FormatSink<'a>,
        preview: Option<Viewed<'a, Preview>>,
        character: Option<&'a CharacterScene>,
        cycle: Option<usize>,
    ) -> TakeSink<'a> {
        let sinks = Sinks { format, preview, watch: character.map(CharacterWatch::new) };
        let sinks = match cycle {
            Some(frame_count) => Cycle::Closed(LoopCloser::new(sinks, frame_count)),
            None => Cycle::Open(sinks),
        };
        TakeSink { files, sinks }
    }

    /// What was written and how accurate it is; meaningful once the take has been played to its end.
    pub fn report(&self) -> SinkReport {
        let (sinks, loop_gap) = match &self.sinks {
            Cycle::Open(sinks) => (sinks, None),
            Cycle::Closed(closer) => (closer.sink(), Some(closer.gap())),
        };
        let skinned = match &sinks.format {
            FormatSink::CharacterGlb(sink) => sink.report(),
            FormatSink::RigGlb(sink) => sink.report(),
            _ => None,
        };
        let glb = match &sinks.format {
            FormatSink::WorldGlb(sink) => sink.sink().report(),
            _ => None,
        };
        SinkReport {
            files: self.files.clone(),
            glb: glb.cloned(),
            skinned: skinned.into_iter().cloned().collect(),
            character: sinks.watch.as_ref().and_then(CharacterWatch::report),
            loop_gap,
            has_preview: sinks.preview.is_some(),
            hint: sinks.format.hint(),
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
        self.as_sink().begin(surfaces, fps)
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.as_sink().frame(frame)
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
        if let Some(watch) = &mut self.watch {
            call(watch)?;
        }
        Ok(())
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
            FormatSink::CharacterGlb(sink) => Some(&mut **sink),
            FormatSink::RigGlb(sink) => Some(&mut **sink),
            FormatSink::ObjSequence(sink) => Some(sink),
            FormatSink::PointCache(sink) => Some(sink),
            FormatSink::Usda(sink) => Some(sink),
            FormatSink::Recording => None,
        }
    }

    /// What to do with the output.
    fn hint(&self) -> Option<&'static str> {
        match self {
            FormatSink::WorldGlb(_) => {
                Some("The .glb plays in Blender, in game engines and in any glTF viewer.")
            }
            FormatSink::CharacterGlb(_) => Some(
                "The .glb is the character's own file with its flesh as morph targets: it plays wherever that plays.",
            ),
            FormatSink::RigGlb(_) => Some(
                "The .glb has the skeleton, with keys for every frame, and flesh as morph targets under its skin: it plays in Blender, in game engines and in any glTF viewer.",
            ),
            FormatSink::PointCache(_) => {
                Some("The cache goes on the rest .obj beside it: see docs/formats.md.")
            }
            FormatSink::Recording => Some("`sinew bake` converts the .take without simulating again."),
            FormatSink::ObjSequence(_) | FormatSink::Usda(_) => None,
        }
    }
}

impl<'a, S: FrameSink> Viewed<'a, S> {
    pub(super) fn new(character: Option<&'a CharacterScene>, sink: S) -> Viewed<'a, S> {
        match character {
            Some(character) => Viewed::Character(CharacterFrames::new(character, sink)),
            None => Viewed::Simulated(sink),
        }
    }

    fn sink(&self) -> &S {
        match self {
            Viewed::Simulated(sink) => sink,
            Viewed::Character(frames) => frames.sink(),
        }
    }

    fn as_sink(&mut self) -> &mut dyn FrameSink {
        match self {
            Viewed::Simulated(sink) => sink,
            Viewed::Character(frames) => frames,
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
