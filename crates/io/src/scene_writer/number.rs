//! Writes numbers that may be keyed.

use crate::scene_schema::{CurveKey, CurveKeyTable, CurveKind, CurveTable, KeyedNumber, KeyedVector};
use sinew_control::{
    BezierCurve, BezierKey, Curve, Extrapolation, Handles, Interpolation, KeyShape, Keyframes, VectorCurve,
};
use sinew_math::Vec3;

/// A constant, or a table of keys.
pub(super) fn keyed_number(curve: &Curve) -> Result<KeyedNumber, &'static str> {
    Ok(match curve {
        Curve::Constant(value) => KeyedNumber::Constant(*value),
        Curve::Spline(keys) => KeyedNumber::Curve(spline_table(keys)?),
        Curve::Bezier(curve) => KeyedNumber::Curve(bezier_table(curve)),
    })
}

/// A vector of constants and curves.
pub(super) fn keyed_vector(curve: &VectorCurve) -> Result<KeyedVector, &'static str> {
    let [x, y, z] = &curve.0;
    Ok([keyed_number(x)?, keyed_number(y)?, keyed_number(z)?])
}

/// A vector of constants.
pub(super) fn constant_vector(v: &Vec3) -> KeyedVector {
    [v.x, v.y, v.z].map(KeyedNumber::Constant)
}

/// A curve with handles.
pub(super) fn bezier_table(curve: &BezierCurve) -> CurveTable {
    let key = |key: &BezierKey| {
        let BezierKey { time, value, handles } = *key;
        let plain = CurveKeyTable { time, value, ..CurveKeyTable::default() };
        match handles {
            Handles::Auto => CurveKey::Row([time, value]),
            Handles::Slope(slope) => CurveKey::Table(CurveKeyTable { slope: Some(slope), ..plain }),
            Handles::Offsets { left, right } => {
                CurveKey::Table(CurveKeyTable { left: Some(left), right: Some(right), ..plain })
            }
        }
    };
    CurveTable {
        keys: curve.keys().iter().map(key).collect(),
        is_loop: (curve.extrapolation() == Extrapolation::Loop).then_some(true),
        ..CurveTable::default()
    }
}

/// A curve with one interpolation between all keys.
pub(super) fn spline_table(keys: &Keyframes<f64>) -> Result<CurveTable, &'static str> {
    if keys.keys().iter().any(|key| key.shape != KeyShape::default()) {
        return Err("is keyed with tension, continuity or bias");
    }
    let kind = match keys.interpolation() {
        Interpolation::KochanekBartels => CurveKind::KochanekBartels,
        Interpolation::BSpline => CurveKind::BSpline,
        Interpolation::Linear => CurveKind::Linear,
        Interpolation::Step => CurveKind::Step,
    };
    Ok(CurveTable {
        keys: keys.keys().iter().map(|key| CurveKey::Row([key.time, key.value])).collect(),
        interpolation: Some(kind),
        is_loop: (keys.extrapolation() == Extrapolation::Loop).then_some(true),
        snap: None,
    })
}
