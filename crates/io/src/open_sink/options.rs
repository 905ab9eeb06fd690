//! How the outputs of a take are written.

use sinew_gltf::SkinnedGlbOptions;
use sinew_render::Look;

/// How the outputs of a take are written.
#[derive(Clone, Debug, PartialEq)]
pub struct SinkOptions {
    /// What a GLB of flesh on bones holds.
    pub glb_form: GlbForm,
    /// The most morph targets per body of a GLB, up to 240; more follow the take more closely, but some viewers support fewer.
    pub component_limit: usize,
    /// The largest error allowed at a vertex of a GLB, as a fraction of the body's size.
    pub error_fraction: f64,
    /// Whether the take is a cycle whose last frame becomes its first.
    pub is_loop: bool,
    /// The number of frames that will be played, the first included; `None` is that of the scene.
    pub frame_count: Option<usize>,
    /// Whether a contact sheet is drawn beside the output.
    pub preview: bool,
    /// Looks of the first surfaces that are shown; empty for those of characters' files, and default colours of other bodies.
    pub looks: Vec<Look>,
}

/// What a GLB of flesh on bones holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GlbForm {
    /// The skeleton with its animation, and flesh as morph targets under its skinning.
    #[default]
    Rigged,
    /// Surfaces where they were simulated, without skeleton, skin and textures.
    World,
}

impl Default for SinkOptions {
    fn default() -> SinkOptions {
        let SkinnedGlbOptions { component_limit, error_fraction, .. } = SkinnedGlbOptions::default();
        SinkOptions {
            glb_form: GlbForm::default(),
            component_limit,
            error_fraction,
            is_loop: false,
            frame_count: None,
            preview: true,
            looks: Vec::new(),
        }
    }
}

impl SinkOptions {
    pub(super) fn skinned(&self) -> SkinnedGlbOptions {
        let SinkOptions { component_limit, error_fraction, .. } = *self;
        SkinnedGlbOptions { component_limit, error_fraction, ..SkinnedGlbOptions::default() }
    }
}
