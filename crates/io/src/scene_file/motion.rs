//! Reads `motion = { … }` of a scene file: the rigid motion of a pin or an obstacle.

use super::number::read_vector;
use super::section::Section;
use crate::scene_schema::{KeyedVector, MotionTable};
use sinew_control::{KeyedMotion, Motion, VectorCurve};
use sinew_files::ReadError;
use sinew_math::Vec3;
use std::sync::Arc;

/// Reads a motion; without a table, nothing moves.
pub(super) fn read_motion(motion: Option<&Section<MotionTable>>) -> Result<Motion, ReadError> {
    let Some(motion) = motion else { return Ok(Motion::Still) };
    if let Some(shake) = &motion.shake {
        return Ok(Motion::Shake { amplitude: Vec3::from(shake.amplitude), frequency: shake.frequency });
    }
    if let Some(glide) = &motion.glide {
        return Ok(Motion::Glide { velocity: Vec3::from(glide.velocity) });
    }
    if let Some(keyed) = motion.optional("keyed", &motion.table().keyed) {
        let vector = |key: &str, vector: &Option<KeyedVector>| match vector {
            Some(vector) => read_vector(&keyed, key, vector),
            None => Ok(VectorCurve::from(Vec3::zeros())),
        };
        return Ok(Motion::Keyed(Arc::new(KeyedMotion {
            translation: vector("translation", &keyed.translation)?,
            turns: vector("turns", &keyed.turns)?,
            center: keyed.center.map_or(Vec3::zeros(), Vec3::from),
        })));
    }
    let spin = motion.needed("spin", motion.optional("spin", &motion.table().spin))?;
    let axis = Vec3::from(spin.axis);
    if axis.norm() < 1e-9 {
        return Err(spin.error("axis", "`axis` is zero: give a direction"));
    }
    let center = spin.center.map_or(Vec3::zeros(), Vec3::from);
    Ok(Motion::Spin { axis, center, rate: spin.rate })
}
