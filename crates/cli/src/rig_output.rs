//! A take of flesh on bones as a skinned GLB: planned before there is a model, written once there is one.

use crate::failure::Failure;
use sinew_gltf::{RigFile, RigGlb, SkinnedGlbOptions, SkinnedGlbReport};
use sinew_sim::Model;
use sinew_take::SceneParts;
use sinew_take::Up;
use std::path::{Path, PathBuf};

/// Where a take of flesh on bones goes.
pub(crate) struct RigOutput {
    target: PathBuf,
    options: SkinnedGlbOptions,
    up: Up,
    colors: Vec<[f32; 3]>,
    file: Option<RigFile>,
    report: Option<SkinnedGlbReport>,
}

impl RigOutput {
    /// Nothing is opened yet.
    pub(crate) fn new(target: &Path, options: SkinnedGlbOptions, up: Up, colors: Vec<[f32; 3]>) -> RigOutput {
        RigOutput { target: target.to_path_buf(), options, up, colors, file: None, report: None }
    }

    /// What wants the frames of a model.
    pub(crate) fn sink(&mut self, model: &Model) -> Result<RigGlb<'_>, Failure> {
        let file =
            RigFile::build(model, &SceneParts::all(model), self.up, &self.colors).map_err(Failure::input)?;
        Ok(RigGlb::new(self.file.insert(file), self.target.clone(), self.options, &mut self.report))
    }

    /// What was written, after the end.
    pub(crate) fn report(&self) -> Option<&SkinnedGlbReport> {
        self.report.as_ref()
    }
}
