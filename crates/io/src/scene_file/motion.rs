//! How what is held moves.

use super::keys::ScenePart;
use super::section::Section;
use sinew_control::Motion;
use sinew_files::ReadError;
use sinew_math::Vec3;

/// Reads the motion of a pin; absent, it is held still.
pub(super) fn read_motion(pin: &Section) -> Result<Motion, ReadError> {
    let Some(motion) = pin.section("motion", ScenePart::Motion)? else { return Ok(Motion::Still) };
    let kind = motion.one_of(&["shake", "spin", "glide"])?;
    match kind {
        "shake" => {
            let section = motion.needed(kind, motion.section(kind, ScenePart::MotionShake)?)?;
            let amplitude = section.needed("amplitude", section.vector("amplitude")?)?;
            let frequency = section.number("frequency", "from 0 to 1000", |f| (0.0..=1000.0).contains(&f))?;
            Ok(Motion::Shake { amplitude, frequency: section.needed("frequency", frequency)? })
        }
        "spin" => {
            let section = motion.needed(kind, motion.section(kind, ScenePart::MotionSpin)?)?;
            let axis = section.needed("axis", section.vector("axis")?)?;
            if axis.norm() < 1e-9 {
                return Err(section.error("axis", "`axis` has no length: it must point somewhere"));
            }
            let center = section.vector("center")?.unwrap_or(Vec3::zeros());
            let rate = section.number("rate", "from -1000 to 1000", |r| r.abs() <= 1000.0)?;
            Ok(Motion::Spin { axis, center, rate: section.needed("rate", rate)? })
        }
        _ => {
            let section = motion.needed(kind, motion.section(kind, ScenePart::MotionGlide)?)?;
            Ok(Motion::Glide { velocity: section.needed("velocity", section.vector("velocity")?)? })
        }
    }
}
