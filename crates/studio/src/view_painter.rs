//! Drawing viewports elsewhere than in the software renderer: on a graphics card, if the window has one.

use sinew_math::Vec3;
use sinew_render::{LiveMesh, LiveTopology, Marks, OrbitCamera, Scalar};
use std::sync::Arc;

/// Everything that is drawn of a frame.
pub struct ViewScene {
    /// What stays the same from frame to frame.
    pub topology: Arc<LiveTopology>,
    /// The frame.
    pub now: LiveMesh,
    /// The same under plain skinning, if that is compared.
    pub skinned: Option<LiveMesh>,
    /// Later frames, the latest first.
    pub later: Vec<LiveMesh>,
    /// Edges of the cages (m).
    pub cage: Vec<[Vec3; 2]>,
    /// Bones and forces.
    pub marks: Marks,
    /// What colours mean, and the end of their scale.
    pub legend: Option<(Scalar, f64)>,
}

/// Draws viewports.
pub trait ViewPainter {
    /// Draws a frame into a viewport of a size (pixels), and returns the picture.
    fn paint(
        &mut self,
        slot: usize,
        scene: &Arc<ViewScene>,
        is_skinned: bool,
        camera: &OrbitCamera,
        size: [usize; 2],
    ) -> egui::TextureId;
}
