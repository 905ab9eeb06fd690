//! The GLB files of a scene with characters from files: each character in its own, all other bodies in one more.

use crate::failure::Failure;
use crate::rig_output::RigOutput;
use sinew_gltf::{CharacterGlb, GlbSink, SkinnedGlbOptions, SkinnedGlbReport};
use sinew_io::OpenedScene;
use sinew_sim::Model;
use sinew_take::{FrameSink, PartsSink, SceneParts};
use std::path::{Path, PathBuf};

/// Where the characters and bodies of a scene go.
pub(crate) struct CharacterOutputs<'a> {
    own: Vec<CharacterGlb<'a>>,
    others: Option<Others>,
    files: Vec<PathBuf>,
}

/// Where bodies go that came from no rigged file.
pub(crate) enum Others {
    /// Flesh on bones.
    Rig(RigOutput),
    /// Morphing surfaces.
    Morph(SceneParts, Box<GlbSink>),
}

impl<'a> CharacterOutputs<'a> {
    /// Where the characters of a scene go when it is written to `output`; `others` takes all other bodies, if there are any.
    pub(crate) fn new(
        source: &'a OpenedScene,
        output: &Path,
        options: SkinnedGlbOptions,
        others: Option<Others>,
    ) -> CharacterOutputs<'a> {
        let mut files = source.character_targets(output);
        let own = source.characters.iter().zip(&files);
        let own =
            own.map(|(character, file)| CharacterGlb::new(&source.scene, character, file, options)).collect();
        files.extend(others.is_some().then(|| output.to_path_buf()));
        CharacterOutputs { own, others, files }
    }

    /// All files that will be written.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// What wants the frames of a model.
    pub(crate) fn sinks(&mut self, model: &Model) -> Result<Vec<Box<dyn FrameSink + '_>>, Failure> {
        let mut sinks: Vec<Box<dyn FrameSink + '_>> = Vec::new();
        for own in &mut self.own {
            sinks.push(Box::new(own));
        }
        match &mut self.others {
            Some(Others::Rig(rig)) => sinks.push(rig.sink(model)?),
            Some(Others::Morph(parts, glb)) => {
                sinks.push(Box::new(PartsSink::new(parts.clone(), &mut **glb)));
            }
            None => {}
        }
        Ok(sinks)
    }

    /// What was written of flesh under skinning, with the name of the character where there are several files.
    pub(crate) fn reports(&self) -> Vec<(Option<&str>, &SkinnedGlbReport)> {
        let is_one = self.files.len() == 1;
        let own =
            self.own.iter().filter_map(|own| Some((Some(own.name()).filter(|_| !is_one), own.report()?)));
        let others = match &self.others {
            Some(Others::Rig(rig)) => rig.report(),
            _ => None,
        };
        own.chain(others.map(|report| (None, report))).collect()
    }

    /// What was written of bodies as morphing surfaces.
    pub(crate) fn morphs(&self) -> Option<&GlbSink> {
        match &self.others {
            Some(Others::Morph(_, glb)) => Some(glb),
            _ => None,
        }
    }

    /// Says what each file is.
    pub(crate) fn print(&self) {
        if self.files.len() == 1 {
            say!(
                "The .glb is the character's own file with its flesh as morph targets: it plays wherever that plays."
            );
            return;
        }
        for (own, file) in self.own.iter().zip(&self.files) {
            say!("{} is the file of '{}' with its flesh as morph targets.", file.display(), own.name());
        }
        if let (Some(_), Some(file)) = (&self.others, self.files.last()) {
            say!("{} has the bodies that came from no rigged file.", file.display());
        }
    }
}
