//! Checks that frames have the surfaces their take began with, so that sinks can index them safely.

use crate::frame::{Frame, SinkError, SurfaceInfo};

/// Returns an error if a triangle refers to a vertex that its surface does not have.
pub fn check_surfaces(surfaces: &[SurfaceInfo]) -> Result<(), SinkError> {
    for surface in surfaces {
        let count = surface.rest.len();
        if surface.triangles.iter().flatten().any(|&v| v as usize >= count) {
            let name = &surface.name;
            return Err(SinkError(format!("the triangles of `{name}` refer to vertices beyond its {count}")));
        }
    }
    Ok(())
}

/// Returns an error if surfaces cannot be written to a format with 31-bit counts that stores the vertices at rest.
pub fn check_written_rest(surfaces: &[SurfaceInfo]) -> Result<(), SinkError> {
    check_surfaces(surfaces)?;
    for surface in surfaces {
        let name = &surface.name;
        signed_count(surface.rest.len(), &format!("vertices of `{name}`"))?;
        if let Some(v) = surface.rest.iter().position(|p| p.iter().any(|c| !c.is_finite())) {
            return Err(SinkError(format!("vertex {v} of `{name}` is not finite at rest")));
        }
    }
    Ok(())
}

/// Returns an error if a frame has other surfaces or vertex counts than the take began with, or non-finite positions.
pub fn check_frame(surfaces: &[SurfaceInfo], frame: &Frame) -> Result<(), SinkError> {
    if surfaces.len() != frame.surfaces.len() {
        let (has, had) = (frame.surfaces.len(), surfaces.len());
        return Err(SinkError(format!(
            "the frame at {} s has {has} surfaces, the take began with {had}",
            frame.time
        )));
    }
    for (surface, positions) in surfaces.iter().zip(&frame.surfaces) {
        let (name, has, had) = (&surface.name, positions.len(), surface.rest.len());
        if has != had {
            let message =
                format!("`{name}` has {has} vertices at {} s, the take began with {had}", frame.time);
            return Err(SinkError(message));
        }
        if let Some(v) = positions.iter().position(|p| p.iter().any(|c| !c.is_finite())) {
            return Err(SinkError(format!("vertex {v} of `{name}` is not finite at {} s", frame.time)));
        }
    }
    Ok(())
}

/// Returns an error unless a frame at `time` (s) follows the one at `last` (s) even in single precision, in which times are written.
pub fn check_time(last: Option<f64>, time: f64) -> Result<(), SinkError> {
    let follows = last.is_none_or(|last| time as f32 > last as f32);
    if follows && time.is_finite() && time >= 0.0 {
        return Ok(());
    }
    let last = last.unwrap_or_default();
    Err(SinkError(format!("a frame at {time} s follows one at {last} s: time must grow")))
}

/// A count as a signed 32-bit integer; `what` names what is counted in the error.
pub fn signed_count(count: usize, what: &str) -> Result<i32, SinkError> {
    i32::try_from(count).map_err(|_| {
        SinkError(format!("{count} {what} are more than the {} that the format can count", i32::MAX))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_beyond_31_bits_are_refused() {
        assert_eq!(signed_count(i32::MAX as usize, "vertices").unwrap(), i32::MAX);
        let error = signed_count(i32::MAX as usize + 1, "vertices of `a`").unwrap_err();
        assert!(error.0.contains("2147483648 vertices of `a`"), "{error}");
    }

    #[test]
    fn time_must_grow_where_it_is_written() {
        check_time(None, 0.0).unwrap();
        check_time(Some(0.0), 0.1).unwrap();
        // one part in 10⁹ is lost in single precision
        for (last, time) in
            [(None, f64::NAN), (None, -1.0), (Some(1.0), 1.0), (Some(1.0), 1.0 + 1e-9), (Some(2.0), 1.0)]
        {
            assert!(check_time(last, time).is_err(), "{last:?} {time}");
        }
    }
}
