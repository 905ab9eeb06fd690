//! A perspective camera fitted to a set of points.

use sinew_math::{Vec3, real};

/// The tangent of half the vertical field of view: 26° in all, a long lens with little perspective distortion.
const HALF_HEIGHT: f64 = 0.23;
/// The fraction of the picture that the points may fill; the rest is margin.
const FILL: f64 = 0.82;

/// A perspective camera.
pub(crate) struct Camera {
    eye: Vec3,
    right: Vec3,
    up: Vec3,
    back: Vec3,
    half_width: f64,
    half_height: f64,
}

impl Camera {
    /// A camera on the side of +z, y up, at an elevation above the horizon (degrees). At `zoom` 1 the points fill the picture.
    ///
    /// A point with coordinates (x, y, z) along right, up and back is in the picture of an eye at
    /// (a, b, c) if |x − a| ≤ w (c − z) and |y − b| ≤ h (c − z). With A = max(x + w z) and
    /// B = max(−x + w z) the first holds for all points if a = (A − B)/2 and w c ≥ (A + B)/2, and so for y.
    pub(crate) fn fitted<I: Iterator<Item = Vec3>>(
        points: impl Fn() -> I,
        aspect: f64,
        elevation: f64,
        zoom: f64,
    ) -> Camera {
        // the camera's axes
        let elevation = elevation.to_radians();
        let right = Vec3::x();
        let back = Vec3::new(0.0, real::sin(elevation), real::cos(elevation));
        let up = back.cross(&right);

        // the extremes A and B of both axes
        let (w, h) = (HALF_HEIGHT * aspect * FILL, HALF_HEIGHT * FILL);
        let max = |measure: &dyn Fn(f64, f64, f64) -> f64| {
            points()
                .map(|p| measure(p.dot(&right), p.dot(&up), p.dot(&back)))
                .fold(f64::NEG_INFINITY, f64::max)
        };
        let [max_right, max_left] = [max(&|x, _, z| x + w * z), max(&|x, _, z| w * z - x)];
        let [max_up, max_down] = [max(&|_, y, z| y + h * z), max(&|_, y, z| h * z - y)];
        let nearest = max(&|_, _, z| z);
        if !nearest.is_finite() {
            return Camera {
                eye: back,
                right,
                up,
                back,
                half_width: HALF_HEIGHT * aspect,
                half_height: HALF_HEIGHT,
            };
        }

        // as near as both axes allow; points that are all one point are seen from some way off
        let distance = ((max_right + max_left) / (2.0 * w)).max((max_up + max_down) / (2.0 * h));
        let distance = distance.max(nearest + 1e-6 * (1.0 + nearest.abs()));
        let eye = right * (max_right - max_left) / 2.0 + up * (max_up - max_down) / 2.0 + back * distance;
        let (half_width, half_height) = (HALF_HEIGHT * aspect / zoom, HALF_HEIGHT / zoom);
        Camera { eye, right, up, back, half_width, half_height }
    }

    /// A camera on the side of +z that looks at the origin from a distance (m) and an elevation (degrees), y up.
    pub(crate) fn around_origin(elevation: f64, distance: f64, half_height: f64, aspect: f64) -> Camera {
        let elevation = elevation.to_radians();
        let right = Vec3::x();
        let back = Vec3::new(0.0, real::sin(elevation), real::cos(elevation));
        let up = back.cross(&right);
        Camera { eye: back * distance, right, up, back, half_width: half_height * aspect, half_height }
    }

    /// The position of the camera (m).
    pub(crate) fn eye(&self) -> Vec3 {
        self.eye
    }

    /// The axes of the picture: right, up and towards the eye.
    pub(crate) fn axes(&self) -> [Vec3; 3] {
        [self.right, self.up, self.back]
    }

    /// Projects a point: x from −1 left to 1 right, y from −1 bottom to 1 top, and the distance in front of the eye (m).
    /// `None` if it is not in front.
    pub(crate) fn project(&self, point: Vec3) -> Option<(f64, f64, f64)> {
        let offset = point - self.eye;
        let distance = -offset.dot(&self.back);
        let x = offset.dot(&self.right) / (self.half_width * distance);
        let y = offset.dot(&self.up) / (self.half_height * distance);
        (distance > 0.0 && x.is_finite() && y.is_finite()).then_some((x, y, distance))
    }

    /// The direction from the eye through a point of the picture.
    pub(crate) fn ray(&self, x: f64, y: f64) -> Vec3 {
        self.right * (x * self.half_width) + self.up * (y * self.half_height) - self.back
    }

    /// The tangent of half the vertical field of view.
    pub(crate) fn half_height(&self) -> f64 {
        self.half_height
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    #[test]
    fn all_points_are_visible_and_the_outermost_reach_the_margin() {
        for (size, aspect) in [([1.0, 1.0, 1.0], 1.2), ([5.0, 0.1, 0.1], 0.5), ([0.01, 3.0, 0.2], 2.0)] {
            let points = shapes::cuboid(size).vertices;
            let camera = Camera::fitted(|| points.iter().copied(), aspect, 15.0, 1.0);
            let seen: Vec<_> = points.iter().map(|p| camera.project(*p).unwrap()).collect();
            let widest = seen.iter().map(|(x, y, _)| x.abs().max(y.abs())).fold(0.0, f64::max);
            assert!((widest - FILL).abs() < 1e-9, "{widest}");
        }
    }

    #[test]
    fn a_ray_through_a_projected_point_reaches_it() {
        let points = shapes::cuboid([1.0, 2.0, 3.0]).vertices;
        let camera = Camera::fitted(|| points.iter().copied(), 1.5, -30.0, 2.0);
        let (x, y, distance) = camera.project(points[3]).unwrap();
        assert!((camera.eye() + camera.ray(x, y) * distance - points[3]).norm() < 1e-12);
    }

    #[test]
    fn no_points_or_one_give_a_camera() {
        Camera::fitted(std::iter::empty, 1.0, 15.0, 1.0);
        let camera = Camera::fitted(|| std::iter::once(Vec3::new(1.0, 2.0, 3.0)), 1.0, 15.0, 1.0);
        assert!(camera.project(Vec3::new(1.0, 2.0, 3.0)).is_some());
    }
}
