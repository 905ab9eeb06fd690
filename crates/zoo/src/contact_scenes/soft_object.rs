//! Description of a soft object without bones.

use crate::character_desc::EARTH;
use sinew_flesh::Material;
use sinew_math::{Isometry, Vec3};
use sinew_mesh::{ImplicitSurface, Primitive};
use sinew_sim::desc::{BodyDesc, CageSize, Sag, ShapeDesc, WorldDesc};
use sinew_take::Scene;

/// A soft object made of implicit primitives.
pub(super) struct SoftObject {
    pub(super) name: &'static str,
    pub(super) primitives: Vec<Primitive>,
    /// Spacing of surface vertices (m).
    pub(super) spacing: f64,
    /// Approximate number of tets of its cage.
    pub(super) tets: usize,
    pub(super) material: Material,
    /// Initial pose.
    pub(super) pose: Isometry,
    /// Initial velocity (m/s).
    pub(super) velocity: Vec3,
}

impl SoftObject {
    /// Builds the scene of the object alone, under gravity.
    pub(super) fn scene(self, seconds: f64) -> Scene {
        // the primitives are valid, so the surface exists; `Model::build` would reject an empty one
        let mut surface = ImplicitSurface::build(&self.primitives)
            .and_then(|implicit| implicit.surface(self.spacing))
            .unwrap_or_default();
        for v in &mut surface.vertices {
            *v = self.pose.rotation * *v + self.pose.translation.vector;
        }

        // a body without bones, and its scene
        let body = BodyDesc {
            name: self.name.into(),
            shape: ShapeDesc::Surface { surface, cage: CageSize::Tets(self.tets) },
            material: self.material,
            velocity: self.velocity,
            pins: Vec::new(),
            loads: Vec::new(),
            attachment: None,
            sag: Sag::Free,
            ..BodyDesc::default()
        };
        Scene {
            name: self.name.into(),
            world: WorldDesc { gravity: EARTH, bodies: vec![body], ..WorldDesc::default() },
            pin_motions: vec![Vec::new()],
            obstacle_motions: Vec::new(),
            constraint_motions: Vec::new(),
            curves: Default::default(),
            performances: Vec::new(),
            preroll: 0.0,
            seconds,
            solver: Default::default(),
            fps: 60.0,
            edits: Vec::new(),
        }
    }
}
