//! Reads numbers that may be keyed: a constant or `{ keys = … }`.

use super::bone_motion::beyond_of;
use super::section::Section;
use crate::scene_schema::{CurveKey, CurveKeyTable, CurveKind, CurveTable, KeyedNumber, KeyedVector};
use schemars::JsonSchema;
use serde::Deserialize;
use sinew_control::{
    BezierKey, Curve, Factor, Handles, Interpolation, Key, KeyError, Keyframes, VectorCurve,
};
use sinew_files::ReadError;

/// Reads the number of a key.
pub(super) fn read_number<T: JsonSchema + for<'de> Deserialize<'de>>(
    section: &Section<T>,
    key: &str,
    number: &KeyedNumber,
) -> Result<Curve, ReadError> {
    match number {
        KeyedNumber::Constant(value) => Ok(Curve::Constant(*value)),
        KeyedNumber::Curve(table) => read_curve(section, key, table),
    }
}

/// Reads a factor of a body or an obstacle, if it is given.
pub(super) fn read_factor<T: JsonSchema + for<'de> Deserialize<'de>>(
    section: &Section<T>,
    factor: Factor,
    number: Option<&KeyedNumber>,
) -> Result<Option<Curve>, ReadError> {
    let Some(number) = number else { return Ok(None) };
    let (key, [least, most]) = (factor.key(), factor.range());
    let curve = read_number(section, key, number)?;
    match factor.fault(&curve) {
        None => Ok(Some(curve)),
        Some((_, value)) => {
            Err(section.error(key, format!("`{key}` is {value}: it must be from {least} to {most}")))
        }
    }
}

/// The factors of a body that are given, in the order of [`Factor::ALL`].
pub(super) fn read_factors<T: JsonSchema + for<'de> Deserialize<'de>>(
    section: &Section<T>,
    numbers: [&Option<KeyedNumber>; 3],
) -> Result<[Option<Curve>; 3], ReadError> {
    let mut curves = [const { None }; 3];
    for ((factor, number), curve) in Factor::ALL.into_iter().zip(numbers).zip(&mut curves) {
        *curve = read_factor(section, factor, number.as_ref())?;
    }
    Ok(curves)
}

/// Reads the vector of a key.
pub(super) fn read_vector<T: JsonSchema + for<'de> Deserialize<'de>>(
    section: &Section<T>,
    key: &str,
    vector: &KeyedVector,
) -> Result<VectorCurve, ReadError> {
    let [x, y, z] = vector;
    Ok(VectorCurve([
        read_number(section, key, x)?,
        read_number(section, key, y)?,
        read_number(section, key, z)?,
    ]))
}

/// Reads a curve.
pub(super) fn read_curve<T: JsonSchema + for<'de> Deserialize<'de>>(
    section: &Section<T>,
    key: &str,
    table: &CurveTable,
) -> Result<Curve, ReadError> {
    let snapped = |curve: Curve| match table.snap {
        Some(true) => curve.snapped(section.fps()),
        _ => Ok(curve),
    };
    let curve = build_curve(table).and_then(snapped);
    curve.map_err(|error| section.error(key, format!("`{key}`: {}", error.faults.join("; "))))
}

impl KeyedNumber {
    /// The number over time; keys are not snapped to frames.
    ///
    /// # Errors
    /// Keys that are out of order, or not finite.
    pub fn curve(&self) -> Result<Curve, KeyError> {
        match self {
            KeyedNumber::Constant(value) => Ok(Curve::Constant(*value)),
            KeyedNumber::Curve(table) => build_curve(table),
        }
    }
}

fn build_curve(table: &CurveTable) -> Result<Curve, KeyError> {
    let beyond = beyond_of(table.is_loop);
    let interpolation = match table.interpolation {
        None | Some(CurveKind::Bezier) => {
            let keys: Result<Vec<BezierKey>, KeyError> = table.keys.iter().map(bezier_key).collect();
            return Curve::build(keys?, beyond);
        }
        Some(CurveKind::KochanekBartels) => Interpolation::KochanekBartels,
        Some(CurveKind::BSpline) => Interpolation::BSpline,
        Some(CurveKind::Linear) => Interpolation::Linear,
        Some(CurveKind::Step) => Interpolation::Step,
    };
    let keys: Result<Vec<Key<f64>>, KeyError> = table.keys.iter().map(plain_key).collect();
    Keyframes::build(keys?, interpolation, beyond).map(Curve::Spline)
}

fn bezier_key(key: &CurveKey) -> Result<BezierKey, KeyError> {
    let CurveKeyTable { time, value, slope, left, right } = match key {
        CurveKey::Row([time, value]) => return Ok(BezierKey::auto(*time, *value)),
        CurveKey::Table(table) => table,
    };
    let opposite = |handle: [f64; 2]| handle.map(|x| -x);
    let handles = match (slope, left, right) {
        (Some(slope), _, _) => Handles::Slope(*slope),
        (None, Some(left), Some(right)) => Handles::Offsets { left: *left, right: *right },
        (None, Some(left), None) => Handles::Offsets { left: *left, right: opposite(*left) },
        (None, None, Some(right)) => Handles::Offsets { left: opposite(*right), right: *right },
        (None, None, None) => Handles::Auto,
    };
    Ok(BezierKey { time: *time, value: *value, handles })
}

/// A key of a curve without handles.
fn plain_key(key: &CurveKey) -> Result<Key<f64>, KeyError> {
    let key = bezier_key(key)?;
    if key.handles == Handles::Auto {
        return Ok(Key::at(key.time, key.value));
    }
    let fault = format!("the key at {} s has handles: they need interpolation = \"bezier\"", key.time);
    Err(KeyError { faults: vec![fault] })
}
