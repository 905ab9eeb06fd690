//! `[character.motion]`, `[[character.key]]`, `[[character.goal]]` and `[[character.cue]]`: the motion of a skeleton, and what drives it.

use super::{KeyedNumber, Vector, whole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The motion of the joints of a character.
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
    #[schemars(extend("x-default" = "by the length of its legs", "exclusiveMinimum" = 0))]
    pub unit: Option<f64>,
    /// Instead of `bvh`, a .csv file with the joint coordinates of every frame.
    #[schemars(extend("format" = "path"))]
    pub frames: Option<String>,
    /// Duration of a frame of that file (s).
    #[schemars(extend("x-default" = "needed by `frames`", "exclusiveMinimum" = 0, "maximum" = 600))]
    pub frame_seconds: Option<f64>,
    /// The first frame to play.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 0))]
    pub first: Option<usize>,
    /// The last frame to play.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("x-default" = "the last"))]
    pub last: Option<usize>,
    /// Whether it repeats after the last frame.
    #[serde(rename = "loop")]
    #[schemars(extend("default" = false))]
    pub is_loop: Option<bool>,
    /// Cutoff frequency of the low-pass filter that removes jitter (Hz); 0 for none.
    #[schemars(extend("x-default" = "8 for `bvh`", "minimum" = 0, "maximum" = 1000))]
    pub smooth: Option<f64>,
    /// The interpolation between frames or keys.
    #[schemars(extend("x-default" = "\"b-spline\"; \"kochanek-bartels\" for keys"))]
    pub interpolation: Option<Curve>,
}

/// An interpolation between values at given times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Curve {
    /// Through the values, with tension, continuity and bias.
    KochanekBartels,
    /// Near the values, smoother.
    BSpline,
    /// Straight from value to value.
    Linear,
    /// Constant, with a jump to the next value.
    Step,
}

/// A key pose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyTable {
    /// Its time (s).
    #[schemars(extend("minimum" = 0, "maximum" = 86400))]
    pub time: f64,
    /// Joint coordinates of bones: `{ neck = [0, 0, 20] }` (degrees, or m). Bones that are not named keep theirs.
    #[schemars(extend("x-default" = "as before"))]
    pub pose: Option<BTreeMap<String, Coordinates>>,
    /// Tension of the curve at the key.
    #[schemars(extend("default" = 0, "minimum" = -1, "maximum" = 1))]
    pub tension: Option<f64>,
    /// Continuity of the curve at the key.
    #[schemars(extend("default" = 0, "minimum" = -1, "maximum" = 1))]
    pub continuity: Option<f64>,
    /// Bias of the curve towards a neighbouring key.
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

/// Where a point of a character is to be, for joints driven by `reach`, `servo` or `direct`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "oneOf" = [{ "required": ["bone"] }, { "required": ["skin"] }],
    "anyOf" = [{ "required": ["place"] }, { "required": ["path"] }],
    "allOf" = [{ "not": { "required": ["place", "path"] } }, { "not": { "required": ["turn", "turns"] } }],
    "dependencies" = { "point": ["bone"], "body": ["skin"] }
))]
pub struct GoalTable {
    /// Its name, by which an edit can change it or end it.
    #[schemars(extend("x-default" = "goal-1, …"))]
    pub name: Option<String>,
    /// The bone that a point is meant of.
    pub bone: Option<String>,
    /// The position of that point at rest (m).
    #[schemars(extend("x-default" = "where the bone begins"))]
    pub point: Option<Vector>,
    /// Instead of `bone`, the point of the skin nearest to this position at rest (m); the bone that carries most of it moves it.
    pub skin: Option<Vector>,
    /// The body that `skin` is of.
    #[schemars(extend("x-default" = "the character's own flesh"))]
    pub body: Option<String>,
    /// Where the point is to be (m).
    #[schemars(extend("x-default" = "by `path`"))]
    pub place: Option<Vector>,
    /// Instead of `place`, where it is to be at given times (s, m).
    #[schemars(title = "list of [seconds, x, y, z]", extend("x-default" = "by `place`"))]
    pub path: Option<Vec<[f64; 4]>>,
    /// How the bone is to be turned from rest, as a rotation vector (axis times angle in radians).
    #[schemars(extend("x-default" = "open"))]
    pub turn: Option<Vector>,
    /// Instead of `turn`, the same at given times (s, rad).
    #[schemars(title = "list of [seconds, x, y, z]", extend("x-default" = "open"))]
    pub turns: Option<Vec<[f64; 4]>>,
    /// The interpolation between times.
    #[schemars(extend("default" = "kochanek-bartels"))]
    pub interpolation: Option<Curve>,
    /// Whether it repeats after the last time.
    #[serde(rename = "loop")]
    #[schemars(extend("default" = false))]
    pub is_loop: Option<bool>,
    /// From when on it is wanted (s).
    #[schemars(extend("default" = 0, "minimum" = 0, "maximum" = 86400))]
    pub begin: Option<f64>,
    /// Until when it is wanted (s).
    #[schemars(extend("x-default" = "the end", "minimum" = 0, "maximum" = 86400))]
    pub end: Option<f64>,
    /// Goals of higher priority are met first, the others as well as those leave room for.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(extend("default" = 1, "minimum" = 0, "maximum" = 1000))]
    pub priority: Option<usize>,
    /// Time constant with which `direct` approaches it (s). A target that stays is approached no faster than a limb of that length swings under its weight.
    #[schemars(extend("default" = 0.12, "exclusiveMinimum" = 0, "maximum" = 600))]
    pub reach_time: Option<f64>,
    /// How long `reach` and `servo` take to bend the motion towards it as it begins, and back as it ends (s); `direct` takes as long to ask for all of the way to a target that stays.
    #[schemars(extend("default" = 0.3, "minimum" = 0, "maximum" = 600))]
    pub blend: Option<f64>,
}

/// From a time on, some joints are driven by something else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["drive"] }, { "required": ["torque"] }]))]
pub struct CueTable {
    /// Its time (s).
    #[schemars(extend("minimum" = -86400, "maximum" = 86400))]
    pub time: f64,
    /// The bones whose joints it applies to, or `"roots"` for the bones without a parent.
    #[schemars(extend("x-default" = "all"))]
    pub bones: Option<BoneChoice>,
    /// What drives them from then on.
    pub drive: Option<JointDriver>,
    /// A torque on the joint of one bone (N m or N), a number or a curve for each of its degrees of freedom; keys are at times of the take.
    #[schemars(title = "list of numbers or curves")]
    pub torque: Option<Vec<KeyedNumber>>,
}

/// Which bones are meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BoneChoice {
    /// A group of bones.
    Group(BoneGroup),
    /// Bones by name.
    Named(Vec<String>),
}

/// A group of bones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BoneGroup {
    /// Bones without a parent.
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
    /// The motion, bent so that goals are met (inverse kinematics).
    Reach,
    /// Torques that track the motion, bent so that goals are met; the joint is compliant.
    Servo,
    /// Accelerations that meet goals as well as physics allows.
    Direct,
}
