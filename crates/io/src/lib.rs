//! File formats of Sinew: reads meshes, motions, scenes and rigged characters; writes takes as GLB, USD, Alembic, point caches and OBJ sequences.
//!
//! Readers work on bytes and allocate nothing on the word of a header. Writers are [`sinew_take::FrameSink`]s whose output appears under its
//! name complete or not at all. There is no physics here.

mod alembic;
mod appearance;
mod bare_character;
mod bare_mesh;
mod bare_motion;
mod bvh;
mod character_file;
mod distinct_names;
mod fbx;
mod file_looks;
mod frame_source;
mod frame_spill;
mod mesh_file;
mod metaphor_edits;
mod motion_frames;
mod mtl;
mod obj;
mod obj_sequence;
mod obj_writer;
mod open_sink;
mod open_source;
mod opened_scene;
mod ply;
mod point_cache;
mod polygon;
mod rigged_file;
mod scene_file;
pub mod scene_schema;
mod scene_writer;
mod softness_points;
mod softness_texture;
mod stl;
mod surface_builder;
mod take_file;
mod tetgen;
mod text;
mod texture_folder;
mod usda;
mod viewed;

pub use alembic::AlembicSink;
pub use appearance::{
    Alpha, Appearance, MaterialGroup, SurfaceAppearance, SurfaceMaterial, TextureImage, TextureSlot,
    TextureWrap,
};
pub use bare_mesh::scene_of_mesh;
pub use bare_motion::scene_of_motion;
pub use bvh::{
    Bvh, BvhBody, BvhChannel, BvhJoint, BvhOptions, BvhPosition, CMU_METRES, read_bvh, read_bvh_in,
};
pub use character_file::{CHARACTER_EXTENSIONS, is_character_file, open_character};
pub use fbx::{FbxCharacter, read_fbx};
pub use frame_source::{CharacterFrameSource, SceneSurfaces, TakeFrameSource};
pub use mesh_file::{Mesh, SURFACE_EXTENSIONS, TET_EXTENSIONS, read_mesh, read_surface, read_tets};
pub use metaphor_edits::{metaphor_start, scale_metaphor};
pub use obj::read_obj;
pub use obj_sequence::ObjSequence;
pub use open_sink::{
    BakedCharacter, GlbForm, RiggedGlb, SinkOptions, SinkPlan, SinkReport, TakeSink, open_sink,
};
pub use open_source::{open_scene, open_source};
pub use opened_scene::{CharacterChoice, OpenedScene};
pub use ply::read_ply;
pub use point_cache::{Mdd, Pc2, PointCacheFormat, PointCacheSink, PointSamples, read_mdd, read_pc2};
pub use rigged_file::CaptureFile;
pub use scene_file::{read_edits, read_scene, read_scene_text};
pub use scene_schema::{
    EditTable, SceneFile, SceneKey, ScenePart, scene_json_schema, scene_keys, scene_keys_table,
};

/// The tables of scene files, for programs that write scenes and edits.
pub mod tables {
    pub use crate::scene_schema::{
        AngleUnit, BallTable, BandsTable, BodyEditTable, BodyTable, BoneMotionTable, BoneTable, BoxTable,
        CharacterEditTable, CharacterTable, ConstraintTable, ContactTable, Coordinates, Curve, CurveKey,
        CurveKeyTable, CurveKind, CurveTable, DriveMode, GoalTable, JointType, KeyRows, KeyTable,
        KeyedMotionTable, KeyedNumber, KeyedVector, MaterialChoice, MaterialName, MaterialTable,
        MetaphorChoice, MetaphorTable, MotionTable, MuscleTable, ObstacleEditTable, ObstacleMobility,
        ObstacleTable, PointTable, RegionTable, ShapeMode, SkinTable, SolverChoice, SolverTable, UpAxis,
        Vector,
    };
}
pub use scene_writer::{SceneFiles, SceneWriteError, edit_tables, write_scene};
pub use sinew_files::{
    AtomicFile, AtomicFolder, CapturedFile, CapturedFiles, Loaded, Place, ReadError, ReadErrors,
};
pub use sinew_take::Up;
pub use softness_points::SoftnessPoints;
pub use stl::read_stl;
pub use take_file::{
    Existing, MAX_CHUNK_FRAMES, TAKE_EXTENSION, TakeEditor, TakeEnding, TakeFile, TakeOrigin, TakeRecipe,
    TakeRecorder,
};
pub use tetgen::read_tetgen;
pub use usda::UsdaSink;
pub use viewed::{view_file, view_outputs};

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The names of all entries of a folder, sorted.
    pub(crate) fn names_in(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
