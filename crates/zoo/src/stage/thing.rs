//! A soft thing without bones, in the words of the stage.

use crate::figure::EARTH;
use sinew_flesh::Material;
use sinew_math::{Isometry, Vec3};
use sinew_mesh::{ImplicitSurface, Primitive};
use sinew_sim::desc::{BodyDesc, CageSize, Sag, ShapeDesc, WorldDesc};
use sinew_take::Scene;

/// A soft thing.
pub(super) struct Thing {
    pub(super) name: &'static str,
    pub(super) primitives: Vec<Primitive>,
    /// Distance of surface vertices (m).
    pub(super) spacing: f64,
    /// About how many tets its cage has.
    pub(super) tets: usize,
    pub(super) material: Material,
    /// Where it is at the start.
    pub(super) pose: Isometry,
    /// How fast it is then (m/s).
    pub(super) velocity: Vec3,
}

impl Thing {
    /// The scene of the thing alone, under its own weight.
    pub(super) fn scene(self, seconds: f64) -> Scene {
        // the numbers of primitives are sound, so that there is a surface; without one the model says so
        let mut surface = ImplicitSurface::build(&self.primitives)
            .and_then(|implicit| implicit.surface(self.spacing))
            .unwrap_or_default();
        for v in &mut surface.vertices {
            *v = self.pose.rotation * *v + self.pose.translation.vector;
        }
        let body = BodyDesc {
            name: self.name.into(),
            shape: ShapeDesc::Surface { surface, cage: CageSize::Tets(self.tets) },
            material: self.material,
            velocity: self.velocity,
            pins: Vec::new(),
            loads: Vec::new(),
            attachment: None,
            sag: Sag::Free,
        };
        Scene {
            name: self.name.into(),
            world: WorldDesc { gravity: EARTH, bodies: vec![body], ..WorldDesc::default() },
            pin_motions: vec![Vec::new()],
            obstacle_motions: Vec::new(),
            constraint_motions: Vec::new(),
            performances: Vec::new(),
            preroll: 0.0,
            seconds,
            solver: Default::default(),
            fps: 60.0,
        }
    }
}
