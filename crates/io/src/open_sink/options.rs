//! Options of the outputs of a take.

use sinew_gltf::{FleshBake, Quantization, SkinnedGlbOptions};
use sinew_render::Look;
use sinew_sim::FleshSkinOptions;

/// Options of the outputs of a take.
#[derive(Clone, Debug, PartialEq)]
pub struct SinkOptions {
    /// What a GLB of flesh on bones contains, and where the vertices of point caches are.
    pub glb_form: GlbForm,
    /// The most morph targets per body of a GLB, up to 240. More of them follow the take more closely, but some viewers support fewer.
    pub component_limit: usize,
    /// The largest error allowed at a vertex of a GLB, as a fraction of the body's size.
    pub error_fraction: f64,
    /// How numbers of morph targets are stored in the GLB of a skinned body.
    pub quantization: Quantization,
    /// Whether the buffer of a skinned body's GLB is packed for the web (`EXT_meshopt_compression`).
    pub is_compressed: bool,
    /// What carries the flesh of a skinned body in a GLB.
    pub bake: FleshBake,
    /// Whether the GLB of a skinned body may have fewer morph targets than its error needs, to stay below three times its size without flesh; with [`FleshBake::Auto`] only.
    pub is_compact: bool,
    /// The most helper bones per skinned body of a GLB; `None` for as many as fit the purpose.
    pub helper_limit: Option<usize>,
    /// The most bones of a vertex that helper bones move, 4 or 8.
    pub influence_limit: usize,
    /// Whether the take is a cycle, whose last frame is made equal to its first.
    pub is_loop: bool,
    /// The number of frames, including the first; `None` for that of the scene.
    pub frame_count: Option<usize>,
    /// Whether a contact sheet is drawn beside the output.
    pub preview: bool,
    /// Skin that slides over the flesh and wrinkles, in place of it; none to show flesh as it is.
    pub skin: Option<FleshSkinOptions>,
    /// Looks of the first shown surfaces; if empty, materials of rigged files and default colours for other bodies.
    pub looks: Vec<Look>,
}

/// What a GLB of flesh on bones contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GlbForm {
    /// The skeleton with its animation, and flesh as morph targets under its skinning. Point caches of characters fit the meshes of their
    /// files as Blender imports them.
    #[default]
    Rigged,
    /// Surfaces in world space, without skeleton, skin and textures. Point caches are in world space.
    World,
}

impl Default for SinkOptions {
    fn default() -> SinkOptions {
        let SkinnedGlbOptions {
            component_limit,
            error_fraction,
            bake,
            is_compact,
            helper_limit,
            influence_limit,
            ..
        } = SkinnedGlbOptions::default();
        SinkOptions {
            glb_form: GlbForm::default(),
            component_limit,
            error_fraction,
            quantization: Quantization::default(),
            is_compressed: false,
            bake,
            is_compact,
            helper_limit,
            influence_limit,
            is_loop: false,
            frame_count: None,
            preview: true,
            skin: None,
            looks: Vec::new(),
        }
    }
}

impl SinkOptions {
    pub(super) fn skinned(&self) -> SkinnedGlbOptions {
        let SinkOptions { component_limit, error_fraction, quantization, is_compressed, .. } = *self;
        let SinkOptions { bake, is_compact, helper_limit, influence_limit, .. } = *self;
        SkinnedGlbOptions {
            component_limit,
            error_fraction,
            quantization,
            is_compressed,
            bake,
            is_compact,
            helper_limit,
            influence_limit,
            ..SkinnedGlbOptions::default()
        }
    }
}
