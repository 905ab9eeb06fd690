//! Which part of a body is meant.

use super::keys::ScenePart;
use super::section::Section;
use crate::Up;
use sinew_files::ReadError;
use sinew_math::Vec3;
use sinew_sim::desc::Region;

const ENDS: [&str; 6] = ["top", "bottom", "left", "right", "front", "back"];

/// Reads the region of a pin or a load.
pub(super) fn read_region(section: &Section, up: Up) -> Result<Region, ReadError> {
    let region = section.needed("region", section.section("region", ScenePart::Region)?)?;
    let kind = region.one_of(&["end", "box", "ball", "nearest"])?;
    if kind != "end" && region.has("fraction") {
        return Err(region.error("fraction", "`fraction` goes with `end` only"));
    }
    match kind {
        "end" => {
            let fraction = region.number("fraction", "above 0 and at most 1", |s| s > 0.0 && s <= 1.0)?;
            Ok(Region::End { direction: read_direction(&region, up)?, fraction: fraction.unwrap_or(0.1) })
        }
        "box" => {
            let section = region.needed("box", region.section("box", ScenePart::RegionBox)?)?;
            let min = section.needed("min", section.vector("min")?)?;
            let max = section.needed("max", section.vector("max")?)?;
            if (0..3).any(|i| min[i] > max[i]) {
                return Err(section.error("max", "`max` is below `min`: swap them"));
            }
            Ok(Region::Box { min, max })
        }
        "ball" => {
            let section = region.needed("ball", region.section("ball", ScenePart::RegionBall)?)?;
            let center = section.needed("center", section.vector("center")?)?;
            let radius = section.number("radius", "above 0", |r| r > 0.0)?;
            Ok(Region::Ball { center, radius: section.needed("radius", radius)? })
        }
        _ => Ok(Region::Nearest(region.needed("nearest", region.vector("nearest")?)?)),
    }
}

/// A named direction as one sees the body from the front, or a vector.
fn read_direction(region: &Section, up: Up) -> Result<Vec3, ReadError> {
    if !region.is_text("end") {
        let direction = region.needed("end", region.vector("end")?)?;
        if direction.norm() < 1e-9 {
            return Err(region.error("end", "`end` has no length: it must point somewhere"));
        }
        return Ok(direction);
    }
    let in_y_up = match region.choice("end", &ENDS)? {
        Some("top") => Vec3::y(),
        Some("bottom") => -Vec3::y(),
        Some("left") => -Vec3::x(),
        Some("right") => Vec3::x(),
        Some("front") => Vec3::z(),
        _ => -Vec3::z(),
    };
    Ok(match up {
        Up::Y => in_y_up,
        Up::Z => Vec3::new(in_y_up.x, -in_y_up.z, in_y_up.y),
    })
}
