//! Writes regions and rigid motions as tables.

use super::number::keyed_vector;
use super::vector;
use crate::scene_schema::{
    BallTable, BoxTable, EndChoice, GlideTable, KeyedMotionTable, MotionTable, RegionTable, ShakeTable,
    SpinTable,
};
use sinew_control::Motion;
use sinew_sim::desc::Region;

pub(super) fn region_table(region: &Region) -> RegionTable {
    let mut table = RegionTable::default();
    match region {
        Region::End { direction, fraction } => {
            table.end = Some(EndChoice::Direction(vector(direction)));
            table.fraction = Some(*fraction);
        }
        Region::Box { min, max } => table.cuboid = Some(BoxTable { min: vector(min), max: vector(max) }),
        Region::Ball { center, radius } => {
            table.ball = Some(BallTable { center: vector(center), radius: *radius });
        }
        Region::Nearest(place) => table.nearest = Some(vector(place)),
    }
    table
}

/// The table of a motion; `None` if nothing moves.
///
/// # Errors
/// If it is keyed by splines with tension, continuity or bias.
pub(super) fn motion_table(motion: &Motion) -> Result<Option<MotionTable>, &'static str> {
    let mut table = MotionTable::default();
    match motion {
        Motion::Still => return Ok(None),
        Motion::Keyed(keyed) => {
            table.keyed = Some(KeyedMotionTable {
                translation: Some(keyed_vector(&keyed.translation)?),
                turns: Some(keyed_vector(&keyed.turns)?),
                center: Some(vector(&keyed.center)),
            });
        }
        Motion::Shake { amplitude, frequency } => {
            table.shake = Some(ShakeTable { amplitude: vector(amplitude), frequency: *frequency });
        }
        Motion::Spin { axis, center, rate } => {
            table.spin = Some(SpinTable { axis: vector(axis), center: Some(vector(center)), rate: *rate });
        }
        Motion::Glide { velocity } => table.glide = Some(GlideTable { velocity: vector(velocity) }),
    }
    Ok(Some(table))
}
