//! Numbers that may be keyed: a constant, or a curve over the time of the take.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A number, or a curve over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum KeyedNumber {
    /// The same at all times.
    Constant(f64),
    /// Keyed.
    Curve(CurveTable),
}

/// A vector whose components are numbers or curves: x, y and z.
pub type KeyedVector = [KeyedNumber; 3];

impl Default for KeyedNumber {
    fn default() -> KeyedNumber {
        KeyedNumber::Constant(0.0)
    }
}

impl From<f64> for KeyedNumber {
    fn from(value: f64) -> KeyedNumber {
        KeyedNumber::Constant(value)
    }
}

/// Values at given times, or a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum KeyRows {
    /// Seconds and values.
    Rows(Vec<[f64; 2]>),
    /// Keyed.
    Curve(CurveTable),
}

/// A number over the time of the take. Any number in a list below that may be keyed takes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurveTable {
    /// Values at given times (s), in order; a key that is a table has handles.
    #[schemars(title = "list of [seconds, value] or tables")]
    pub keys: Vec<CurveKey>,
    /// The interpolation between keys; handles need `bezier`.
    #[schemars(extend("default" = "bezier"))]
    pub interpolation: Option<CurveKind>,
    /// Whether it repeats after the last key. Otherwise the first and the last value hold outside of the keys.
    #[serde(rename = "loop")]
    #[schemars(extend("default" = false))]
    pub is_loop: Option<bool>,
    /// Whether each key is moved to the nearest frame.
    #[schemars(extend("default" = false))]
    pub snap: Option<bool>,
}

/// A key of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CurveKey {
    /// Time (s) and value, with automatic handles.
    Row([f64; 2]),
    /// With handles.
    Table(CurveKeyTable),
}

/// A key of a curve with Bézier handles. Without any of them they are automatic: smooth, and never beyond the neighbouring keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "allOf" = [{ "not": { "required": ["slope", "left"] } }, { "not": { "required": ["slope", "right"] } }]
))]
pub struct CurveKeyTable {
    /// Its time (s).
    pub time: f64,
    /// Its value.
    pub value: f64,
    /// The slope of the curve at the key (per s).
    #[schemars(extend("x-default" = "automatic"))]
    pub slope: Option<f64>,
    /// Where its left handle ends, relative to the key (s, value); the time is 0 or less.
    #[schemars(title = "[seconds, value]", extend("x-default" = "opposite to `right`, which makes a smooth key"))]
    pub left: Option<[f64; 2]>,
    /// Where its right handle ends, relative to the key (s, value); the time is 0 or more. Handles that are together longer than the time between two keys are shortened.
    #[schemars(title = "[seconds, value]", extend("x-default" = "opposite to `left`, which makes a smooth key"))]
    pub right: Option<[f64; 2]>,
}

/// How a curve runs between its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CurveKind {
    /// Through the values, with handles.
    Bezier,
    /// Through the values, smoothly.
    KochanekBartels,
    /// Near the values, smoother.
    BSpline,
    /// Straight from value to value.
    Linear,
    /// Constant, with a jump to the next value.
    Step,
}
