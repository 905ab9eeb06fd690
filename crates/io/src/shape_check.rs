//! Whether a frame has the shape its take began with, so that sinks can index without fear.

use sinew_take::{Frame, SinkError, SurfaceInfo};

/// Fails if the triangles of a surface name vertices it does not have.
pub(crate) fn check_surfaces(surfaces: &[SurfaceInfo]) -> Result<(), SinkError> {
    for surface in surfaces {
        let count = surface.rest.len();
        if surface.triangles.iter().flatten().any(|&v| v as usize >= count) {
            let name = &surface.name;
            return Err(SinkError(format!("the surface of `{name}` names vertices beyond its {count}")));
        }
    }
    Ok(())
}

/// Fails if a frame has other bodies or vertices than the take began with, or is not finite.
pub(crate) fn check_frame(surfaces: &[SurfaceInfo], frame: &Frame) -> Result<(), SinkError> {
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
