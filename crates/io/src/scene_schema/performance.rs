//! `[character.motion]`, `[[character.key]]` and `[[character.cue]]`: what a skeleton does.

use super::whole;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where the joints of a character go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "allOf" = [{ "not": { "required": ["bvh", "frames"] } }],
    "dependencies" = { "frames": ["frame_seconds"], "frame_seconds": ["frames"] }
))]
pub struct BoneMotionTable {
    /// A .bvh file; its motion is retargeted by the names of bones.
    #[schemars(extend("format" = "path", "x-default" = "the character's own"))]
    pub bvh: Option<String>,
    /// Metres per unit of that file.
    #[schemars(extend("x-default" = "0.0564 (CMU)", "exclusiveMinimum" = 0))]
    pub unit: Option<f64>,
    /// Instead, a .csv file with the joint coordinates of every frame.
    #[schemars(extend("format" = "path"))]
    pub frames: Option<String>,
    /// Time from frame to frame of that file (s).
    #[schemars(extend("x-default" = "needed by `frames`", "exclusiveMinimum" = 0, "maximum" = 600))]
    pub frame_seconds: Option<f64>,
    /// The first frame that is played.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 0))]
    pub first: Option<usize>,
    /// The last frame that is played.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("x-default" = "the last"))]
    pub last: Option<usize>,
    /// Whether it starts again after the last frame.
    #[serde(rename = "loop")]
    #[schemars(extend("default" = false))]
    pub is_loop: Option<bool>,
    /// Vibrations faster than this are taken for jitter and smoothed away (Hz); 0 to leave all as it is.
    #[schemars(extend("x-default" = "8 for `bvh`", "minimum" = 0, "maximum" = 1000))]
    pub smooth: Option<f64>,
    /// The curve between frames or keys.
    #[schemars(extend("x-default" = "\"b-spline\"; \"kochanek-bartels\" for keys"))]
    pub interpolation: Option<Curve>,
}

/// The curve between values at times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Curve {
    /// Through the values, with tension, continuity and bias.
    KochanekBartels,
    /// Near the values, smoother.
    BSpline,
    /// Straight from value to value.
    Linear,
    /// From value to value at once.
    Step,
}

/// A pose at a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyTable {
    /// When (s).
    #[schemars(extend("minimum" = 0, "maximum" = 86400))]
    pub time: f64,
    /// Bones and their coordinates: `{ neck = [0, 0, 20] }` (degrees, or m). Those that are not named stay as they were.
    #[schemars(extend("x-default" = "as before"))]
    pub pose: Option<BTreeMap<String, Coordinates>>,
    /// How tightly the curve passes.
    #[schemars(extend("default" = 0, "minimum" = -1, "maximum" = 1))]
    pub tension: Option<f64>,
    /// How smoothly it passes.
    #[schemars(extend("default" = 0, "minimum" = -1, "maximum" = 1))]
    pub continuity: Option<f64>,
    /// Which neighbour it leans to.
    #[schemars(extend("default" = 0, "minimum" = -1, "maximum" = 1))]
    pub bias: Option<f64>,
}

/// The coordinates of a joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Coordinates {
    /// Of a joint with one.
    One(f64),
    /// Of any joint.
    List(Vec<f64>),
}

impl Coordinates {
    /// All of them.
    pub fn as_slice(&self) -> &[f64] {
        match self {
            Coordinates::One(value) => core::slice::from_ref(value),
            Coordinates::List(values) => values,
        }
    }
}

/// From a time on, some joints are driven by something else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["drive"] }, { "required": ["torque"] }]))]
pub struct CueTable {
    /// From when (s).
    #[schemars(extend("minimum" = -86400, "maximum" = 86400))]
    pub time: f64,
    /// Whose joints, or `"roots"` for those of the bones that hang from the world.
    #[schemars(extend("x-default" = "all"))]
    pub bones: Option<BoneChoice>,
    /// What drives them from then on.
    pub drive: Option<JointDriver>,
    /// A torque on the joint of one bone (N m or N).
    pub torque: Option<Vec<f64>>,
}

/// Which bones are meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BoneChoice {
    /// Bones in one word.
    Group(BoneGroup),
    /// Bones by name.
    Named(Vec<String>),
}

/// Bones that one word stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BoneGroup {
    /// Those that hang from the world.
    Roots,
}

/// What drives joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JointDriver {
    /// The motion.
    Motion,
    /// Nothing: they go limp.
    Limp,
}
