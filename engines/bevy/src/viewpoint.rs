//! Where the camera stands.

use bevy::prelude::*;

/// The tangent of half the vertical field of view.
const HALF_HEIGHT: f32 = 0.23;
/// The fraction of the picture that the points may fill.
const FILL: f32 = 0.82;
/// The direction of the camera from the front, and its elevation (degrees).
const AZIMUTH: f32 = 28.0;
const ELEVATION: f32 = 15.0;

/// Where the camera stands, such that points fill the picture: lens and direction are those of `sinew render`, so that both pictures compare.
pub(crate) struct Viewpoint {
    pub(crate) transform: Transform,
    pub(crate) projection: PerspectiveProjection,
}

impl Viewpoint {
    /// The nearest eye from which all points are in the picture.
    ///
    /// A point (x, y, z) along right, up and back is in the picture of an eye at (a, b, c) if |x − a| ≤ w (c − z) and |y − b| ≤ h (c − z). With
    /// A = max(x + w z) and B = max(−x + w z) the first holds for all points if a = (A − B)/2 and w c ≥ (A + B)/2, and so for y.
    pub(crate) fn fitted(points: &[Vec3], aspect: f32) -> Viewpoint {
        let rotation =
            Quat::from_rotation_y(AZIMUTH.to_radians()) * Quat::from_rotation_x(-ELEVATION.to_radians());
        let max = |measure: &dyn Fn(Vec3) -> f32| {
            let in_camera = points.iter().map(|point| rotation.inverse() * *point);
            in_camera.map(measure).fold(f32::NEG_INFINITY, f32::max)
        };
        let (w, h) = (HALF_HEIGHT * aspect * FILL, HALF_HEIGHT * FILL);
        let [max_right, max_left] = [max(&|p| p.x + w * p.z), max(&|p| w * p.z - p.x)];
        let [max_up, max_down] = [max(&|p| p.y + h * p.z), max(&|p| h * p.z - p.y)];
        let distance = ((max_right + max_left) / (2.0 * w)).max((max_up + max_down) / (2.0 * h));
        let eye = Vec3::new((max_right - max_left) / 2.0, (max_up - max_down) / 2.0, distance);

        let (nearest, farthest) = (distance - max(&|p| p.z), distance + max(&|p| -p.z));
        let projection = PerspectiveProjection {
            fov: 2.0 * HALF_HEIGHT.atan(),
            aspect_ratio: aspect,
            near: 0.5 * nearest,
            far: 2.0 * farthest,
            ..default()
        };
        Viewpoint {
            transform: Transform::from_translation(rotation * eye).with_rotation(rotation),
            projection,
        }
    }
}
