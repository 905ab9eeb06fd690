//! Every file format of Sinew, in and out: meshes and scenes are read here, and takes are written as GLB,
//! USD, point caches, OBJ sequences and pictures. Knows no physics.
//!
//! Readers work on bytes and never trust a header; writers are [`sinew_take::FrameSink`]s whose output
//! appears whole under its name or not at all.

mod bare_mesh;
mod bare_motion;
mod bvh;
mod character_file;
mod character_scene;
mod components;
mod distinct_names;
mod flesh_around;
mod floor;
mod frame_spill;
mod glb;
mod glb_container;
mod mesh_file;
mod motion_frames;
mod nearest;
mod normals;
mod obj;
mod obj_sequence;
mod palette;
mod picture;
mod ply;
mod point_cache;
mod polygon;
mod preview;
mod rig_glb;
mod scene_file;
pub mod scene_schema;
mod scene_source;
mod scene_writer;
mod shape_check;
mod skinned_glb;
mod stl;
mod surface_builder;
mod take_file;
mod tetgen;
mod text;
mod up;
mod usda;

pub use bare_mesh::scene_of_mesh;
pub use bare_motion::scene_of_motion;
pub use bvh::{Bvh, BvhBody, BvhChannel, BvhJoint, BvhOptions, BvhPosition, CMU_METRES, read_bvh};
pub use character_file::{
    AnimationChannel, CHARACTER_EXTENSIONS, ChannelInterpolation, ChannelPath, CharacterAnimation,
    CharacterFile, CharacterJoint, CharacterMaterial, CharacterMesh, CharacterNode, CharacterPose,
    CharacterPrimitive, CharacterSkin, CharacterSource, HumanBones, JointWeight, Mat4, MorphTarget,
    NodeTransform, SkinWeights, SourceForm, SurfaceId, VrmEdition, open_character, read_character,
};
pub use character_scene::{
    Capture, CharacterFrames, CharacterGlb, CharacterOptions, CharacterPart, CharacterReport, CharacterScene,
    CharacterWatch,
};
pub use flesh_around::{FleshSegment, figure_flesh, flesh_around};
pub use glb::{GlbBodyReport, GlbOptions, GlbReport, GlbSink};
pub use mesh_file::{Mesh, SURFACE_EXTENSIONS, TET_EXTENSIONS, read_mesh, read_surface, read_tets};
pub use obj::read_obj;
pub use obj_sequence::ObjSequence;
pub use picture::{
    Arrow, CharacterFrameSource, FrameCallback, FrameSource, Image, Layout, Look, Marks, Overlays,
    PictureError, PictureFormat, PictureOptions, PictureReport, RenderFrame, TakeFrameSource, Texture, View,
    render_picture,
};
pub use ply::read_ply;
pub use point_cache::{Mdd, Pc2, PointCacheFormat, PointCacheSink, PointSamples, read_mdd, read_pc2};
pub use preview::{Preview, PreviewOptions};
pub use rig_glb::{RigFile, RigGlb};
pub use scene_file::{read_scene, read_scene_text};
pub use scene_schema::{SceneFile, SceneKey, ScenePart, scene_json_schema, scene_keys, scene_keys_table};
pub use scene_source::{CharacterChoice, SceneSource, open_scene, open_source};
pub use scene_writer::{SceneFiles, SceneWriteError, write_scene};
pub use sinew_files::{
    AtomicFile, AtomicFolder, CapturedFile, CapturedFiles, Loaded, Place, ReadError, ReadErrors,
};
pub use skinned_glb::{ErrorMeasure, SkinnedBodyReport, SkinnedGlb, SkinnedGlbOptions, SkinnedGlbReport};
pub use stl::read_stl;
pub use take_file::{
    Existing, TAKE_EXTENSION, TakeEnding, TakeFile, TakeOrigin, TakeRecipe, TakeRecorder, TakeSettings,
};
pub use tetgen::read_tetgen;
pub use up::Up;
pub use usda::UsdaSink;

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The names of all that is in a folder, sorted.
    pub(crate) fn names_in(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
