//! The schema of scene files (TOML): one serde type per table, for reading and for writing.
//!
//! The fields are the keys, their doc comments are the documentation, and their attributes say what a key takes. The checks of the reader
//! (`checked_document`), the JSON Schema for editors ([`scene_json_schema`]) and the tables of `docs/scenes.md` ([`scene_keys_table`]) are
//! derived from these types. `scene_file` and `scene_writer` convert them from and to scenes.

mod body;
mod bone;
mod character;
mod checker;
mod constraint;
mod contact;
mod edit;
mod expectation;
mod field_names;
mod json_schema;
mod key_table;
mod material;
mod metaphor;
mod motion;
mod muscle;
mod network;
mod number;
mod obstacle;
mod part;
mod performance;
mod region;
mod renamed_key;
mod scene;
mod skin;
mod solver;
mod text;
mod toml_value;

pub use body::{BodyTable, LoadTable, PinTable};
pub use bone::{BoneTable, FleshRadius, JointType, TieTable};
pub use character::{CharacterTable, DriveMode, ShapeMode};
pub(crate) use checker::{SceneDocument, checked_document, line_of};
pub use constraint::{BeltTable, ConstraintTable, PointTable};
pub use contact::ContactTable;
pub use edit::{BodyEditTable, CharacterEditTable, EditTable, ObstacleEditTable, PinEditTable};
pub(crate) use field_names::field_names;
pub use json_schema::scene_json_schema;
pub use key_table::{SceneKey, scene_keys, scene_keys_table};
pub use material::{ElasticLaw, MaterialChoice, MaterialName, MaterialTable, SagMode};
pub use metaphor::{FrameChoice, MetaphorChoice, MetaphorTable};
pub use motion::{GlideTable, KeyedMotionTable, MotionTable, ShakeTable, SpinTable};
pub use muscle::{MuscleDriverTable, MuscleEndTable, MuscleTable};
pub use network::{BodyKind, FabricChoice, FabricName, FabricTable, SheetElements};
pub use number::{CurveKey, CurveKeyTable, CurveKind, CurveTable, KeyRows, KeyedNumber, KeyedVector};
pub use obstacle::{ObstacleMobility, ObstacleTable};
pub use part::ScenePart;
pub use performance::{
    BoneChoice, BoneGroup, BoneMotionTable, Coordinates, CueTable, Curve, GoalTable, JointDriver, KeyTable,
};
pub use region::{BallTable, BodySide, BoxTable, EndChoice, RegionTable};
pub use scene::{AngleUnit, SceneFile, UpAxis};
pub use skin::{
    BandsTable, DriveTable, DrivenNumber, FixedSkinTable, SkinMuscleTable, SkinPartTable, SkinTable,
};
pub use solver::{Accuracy, ContactChoice, ExactChoice, SolverChoice, SolverTable};

use serde::{Deserialize, Deserializer};

/// A position, a direction or a velocity: x, y and z.
pub type Vector = [f64; 3];

/// A unit quaternion (x, y, z, w).
pub type Quaternion = [f64; 4];

/// The largest number of a scene; no length, velocity or force is beyond it.
pub(crate) const NUMBER_LIMIT: f64 = 1e9;

/// A whole number, which may be written as 5000, 5000.0 or 5e3.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if number < 0.0 || number.fract() != 0.0 || number > 2f64.powi(53) {
        return Err(serde::de::Error::custom(format!("{number} is not a whole number, 0 or more")));
    }
    Ok(Some(number as usize))
}
