//! Skin over flesh as a stage between a simulation and its sinks: frames come with the surfaces of flesh, and leave with those of skin.

use crate::{Frame, SurfaceInfo};
use sinew_math::Vec3;
use sinew_mesh::TriMesh;
use sinew_sim::{FleshSkin, FleshSkinOptions};

/// The skins of all surfaces of a take.
#[derive(Debug, Default)]
pub struct SkinStage {
    options: FleshSkinOptions,
    /// Which bodies are flesh.
    flesh: Vec<bool>,
    skins: Vec<Option<FleshSkin>>,
    frame: Frame,
    /// Surfaces that have none, and why.
    notes: Vec<String>,
}

impl SkinStage {
    /// Skin with options, over the bodies that are flesh.
    pub fn new(options: FleshSkinOptions, flesh: Vec<bool>) -> SkinStage {
        SkinStage { options, flesh, ..SkinStage::default() }
    }

    /// Makes the skins of surfaces at rest.
    pub fn begin(&mut self, surfaces: &[SurfaceInfo]) {
        self.notes.clear();
        self.skins.clear();
        for (i, info) in surfaces.iter().enumerate() {
            if !self.flesh.get(i).copied().unwrap_or(true) {
                self.skins.push(None);
                continue;
            }
            let vertices = info.rest.iter().map(|x| Vec3::from(x.map(f64::from))).collect();
            let surface = TriMesh { vertices, triangles: info.triangles.clone() };
            let built = FleshSkin::build(&surface, &self.options);
            if let Err(faults) = &built {
                self.notes.push(format!("{} is drawn without skin: {}", info.name, faults.join("; ")));
            }
            self.skins.push(built.ok());
        }
    }

    /// Lets the next frame be the first one, as after a jump to another time.
    pub fn restart(&mut self) {
        self.skins.iter_mut().flatten().for_each(FleshSkin::restart);
    }

    /// The frame with skin in place of flesh.
    pub fn frame(&mut self, flesh: &Frame) -> &Frame {
        self.frame.clone_from(flesh);
        for (skin, surface) in self.skins.iter_mut().zip(&mut self.frame.surfaces) {
            if let Some(skin) = skin {
                skin.follow(surface);
            }
        }
        &self.frame
    }

    /// Surfaces that have no skin, and why.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}
