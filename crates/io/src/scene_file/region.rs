//! Reads `region = { … }` of a scene file: a part of a body.

use super::section::Section;
use crate::Up;
use crate::scene_schema::{BodySide, EndChoice, RegionTable};
use sinew_files::ReadError;
use sinew_math::Vec3;
use sinew_sim::desc::Region;

/// The default size of an end, as a fraction of the body's extent.
const DEFAULT_FRACTION: f64 = 0.1;

/// Reads a region.
pub(super) fn read_region(region: &Section<RegionTable>, up: Up) -> Result<Region, ReadError> {
    if let Some(cuboid) = region.optional("box", &region.table().cuboid) {
        let (min, max) = (Vec3::from(cuboid.min), Vec3::from(cuboid.max));
        if (0..3).any(|i| min[i] > max[i]) {
            return Err(cuboid.error("max", "`max` is below `min`: swap them"));
        }
        return Ok(Region::Box { min, max });
    }
    if let Some(ball) = &region.ball {
        return Ok(Region::Ball { center: Vec3::from(ball.center), radius: ball.radius });
    }
    if let Some(place) = region.nearest {
        return Ok(Region::Nearest(Vec3::from(place)));
    }
    let direction = match region.needed("end", region.end)? {
        EndChoice::Side(side) => direction_of(side, up),
        EndChoice::Direction(direction) => Vec3::from(direction),
    };
    if direction.norm() < 1e-9 {
        return Err(region.error("end", "`end` is zero: give a direction"));
    }
    Ok(Region::End { direction, fraction: region.fraction.unwrap_or(DEFAULT_FRACTION) })
}

/// The direction of a side of a body, seen from the front.
fn direction_of(side: BodySide, up: Up) -> Vec3 {
    let in_y_up = match side {
        BodySide::Top => Vec3::y(),
        BodySide::Bottom => -Vec3::y(),
        BodySide::Left => -Vec3::x(),
        BodySide::Right => Vec3::x(),
        BodySide::Front => Vec3::z(),
        BodySide::Back => -Vec3::z(),
    };
    match up {
        Up::Y => in_y_up,
        Up::Z => Vec3::new(in_y_up.x, -in_y_up.z, in_y_up.y),
    }
}
