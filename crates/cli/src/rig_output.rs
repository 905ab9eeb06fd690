//! A take of flesh on bones as a skinned GLB: planned before there is a model, written once there is one.

use crate::failure::Failure;
use sinew_gltf::{RigFile, RigGlb, SkinnedGlbOptions, SkinnedGlbReport};
use sinew_sim::Model;
use sinew_take::Up;
use sinew_take::{FrameSink, PartsSink, SceneParts};
use std::path::{Path, PathBuf};

/// Where a take of flesh on bones goes.
pub(crate) struct RigOutput {
    target: PathBuf,
    options: SkinnedGlbOptions,
    up: Up,
    colors: Vec<[f32; 3]>,
    /// What is written; everything where nothing is said.
    parts: Option<SceneParts>,
    file: Option<RigFile>,
    report: Option<SkinnedGlbReport>,
}

impl RigOutput {
    /// Nothing is opened yet.
    pub(crate) fn new(target: &Path, options: SkinnedGlbOptions, up: Up, colors: Vec<[f32; 3]>) -> RigOutput {
        RigOutput { target: target.to_path_buf(), options, up, colors, parts: None, file: None, report: None }
    }

    /// The same for some parts of the scene.
    pub(crate) fn with_parts(self, parts: SceneParts) -> RigOutput {
        RigOutput { parts: Some(parts), ..self }
    }

    /// What wants the frames of a model.
    pub(crate) fn sink(&mut self, model: &Model) -> Result<Box<dyn FrameSink + '_>, Failure> {
        let parts = self.parts.clone().unwrap_or_else(|| SceneParts::all(model));
        let file = RigFile::build(model, &parts, self.up, &self.colors).map_err(Failure::input)?;
        let glb = RigGlb::new(self.file.insert(file), self.target.clone(), self.options, &mut self.report);
        Ok(match self.parts {
            Some(_) => Box::new(PartsSink::new(parts, glb)),
            None => Box::new(glb),
        })
    }

    /// What was written, after the end.
    pub(crate) fn report(&self) -> Option<&SkinnedGlbReport> {
        self.report.as_ref()
    }
}
