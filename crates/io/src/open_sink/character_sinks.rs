//! Writes a scene with characters from rigged files as GLB files: one per character, and one for all other bodies.

use super::report::RiggedGlb;
use crate::OpenedScene;
use sinew_gltf::{CharacterGlb, ClipPlace, GlbReport, GlbSink, RigGlb, SkinnedGlb, SkinnedGlbOptions};
use sinew_take::{Frame, FrameSink, PartsSink, SinkError, SurfaceInfo};
use std::path::PathBuf;

/// The sinks of all characters and of the other bodies.
pub(super) struct CharacterSinks<'a> {
    characters: Vec<CharacterGlb<'a>>,
    others: Option<OtherBodies>,
    /// The file of each character, then that of the other bodies.
    files: Vec<PathBuf>,
}

/// The sink of bodies that do not come from rigged files.
pub(super) enum OtherBodies {
    /// Flesh on bones.
    Rigged(Box<PartsSink<RigGlb>>),
    /// Surfaces with morph targets.
    Morphing(Box<PartsSink<GlbSink>>),
}

impl<'a> CharacterSinks<'a> {
    /// The sinks of the characters of a scene, in the order of `files`.
    pub(super) fn new(
        opened: &'a OpenedScene,
        files: &[PathBuf],
        options: SkinnedGlbOptions,
        others: Option<OtherBodies>,
    ) -> CharacterSinks<'a> {
        let characters = opened.characters.iter().zip(files);
        let sink = |(character, file)| CharacterGlb::new(&opened.scene, character, file, options);
        CharacterSinks { characters: characters.map(sink).collect(), others, files: files.to_vec() }
    }

    /// The take as one clip of the files that earlier clips are in.
    pub(super) fn with_clip(self, before: Vec<SkinnedGlb>, clip: ClipPlace) -> CharacterSinks<'a> {
        let mut before = before.into_iter();
        let characters = self.characters.into_iter().map(|sink| sink.with_clip(before.next(), clip));
        CharacterSinks { characters: characters.collect(), ..self }
    }

    /// The files that later clips go into.
    pub(super) fn into_writers(self) -> Vec<SkinnedGlb> {
        self.characters.into_iter().filter_map(CharacterGlb::into_writer).collect()
    }

    /// The compression of every file with a skeleton.
    pub(super) fn rigged(&self) -> Vec<RiggedGlb> {
        let of_character = |sink: &CharacterGlb| {
            let character = Some(sink.name().to_owned());
            Some(RiggedGlb { character, report: sink.report()?.clone() })
        };
        let others = match &self.others {
            Some(OtherBodies::Rigged(sink)) => sink.sink().report(),
            _ => None,
        };
        let others = others.map(|report| RiggedGlb { character: None, report: report.clone() });
        self.characters.iter().filter_map(of_character).chain(others).collect()
    }

    /// The compression of other bodies without a skeleton.
    pub(super) fn morphing(&self) -> Option<&GlbReport> {
        match &self.others {
            Some(OtherBodies::Morphing(sink)) => sink.sink().report(),
            _ => None,
        }
    }

    /// What each file contains, for the user.
    pub(super) fn hints(&self) -> Vec<String> {
        if self.files.len() == 1 {
            return vec![
                "The .glb is the character's file with its flesh: it plays wherever the original does."
                    .into(),
            ];
        }
        let of_character = |(sink, file): (&CharacterGlb, &PathBuf)| {
            format!("{} is the file of '{}' with its flesh.", file.display(), sink.name())
        };
        let mut hints: Vec<String> = self.characters.iter().zip(&self.files).map(of_character).collect();
        if let (Some(_), Some(file)) = (&self.others, self.files.last()) {
            hints.push(format!("{} contains the bodies that do not come from rigged files.", file.display()));
        }
        hints
    }

    fn each(
        &mut self,
        mut call: impl FnMut(&mut dyn FrameSink) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        self.characters.iter_mut().try_for_each(|sink| call(sink))?;
        match &mut self.others {
            Some(OtherBodies::Rigged(sink)) => call(&mut **sink),
            Some(OtherBodies::Morphing(sink)) => call(&mut **sink),
            None => Ok(()),
        }
    }
}

impl FrameSink for CharacterSinks<'_> {
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
