//! The path of the point that the camera looks at: fixed, or a moving average of bodies that travel.

use crate::extent::Extent;
use sinew_math::Vec3;

/// The camera follows the mean over this time before and after (s), so that it does not sway with every step of a walk.
const FOLLOW: f64 = 0.5;

/// What the camera looks at over time (m), y up.
pub(crate) enum CameraPath {
    /// One point.
    Fixed(Vec3),
    /// The centre of the bodies at each time (s), if they travel farther over the ground than they are large.
    Follow(Vec<(f64, Vec3)>),
}

impl CameraPath {
    /// The path for extents in the order of their times (s).
    pub(crate) fn of<'a>(extents: impl Iterator<Item = (f64, &'a Extent)> + Clone) -> CameraPath {
        // bounds of all frames
        let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
        for (_, extent) in extents.clone() {
            (low, high) = (low.inf(&extent.low), high.sup(&extent.high));
        }
        let Some((_, first)) = extents.clone().next() else { return CameraPath::Fixed(Vec3::zeros()) };

        // the height stays, so that jumps are visible
        let size = extents.clone().map(|(_, extent)| (extent.high - extent.low).amax()).fold(0.0, f64::max);
        let start = first.centre();
        let distance = |extent: &Extent| (extent.centre() - start).xz().norm();
        let travel = extents.clone().map(|(_, extent)| distance(extent)).fold(0.0, f64::max);
        if travel > size && travel.is_finite() {
            let over_ground = |extent: &Extent| Vec3::new(extent.centre().x, start.y, extent.centre().z);
            return CameraPath::Follow(extents.map(|(time, extent)| (time, over_ground(extent))).collect());
        }
        CameraPath::Fixed(if low.x.is_finite() { (low + high) / 2.0 } else { Vec3::zeros() })
    }

    /// What the camera looks at (m, y up) at a time (s).
    pub(crate) fn target(&self, time: f64) -> Vec3 {
        match self {
            CameraPath::Fixed(target) => *target,
            CameraPath::Follow(path) => {
                let from = path.partition_point(|(t, _)| *t < time - FOLLOW);
                let to = path.partition_point(|(t, _)| *t <= time + FOLLOW);
                let here = path.partition_point(|(t, _)| *t < time - 1e-9).min(path.len() - 1);
                // a symmetric window, so that the ends do not pull the camera inwards
                let reach = here.saturating_sub(from).min(to.saturating_sub(here + 1));
                let window = &path[here - reach..=here + reach];
                window.iter().map(|(_, target)| *target).sum::<Vec3>() / window.len() as f64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extent::tests::at;

    #[test]
    fn the_camera_follows_only_what_travels_far() {
        let still = [at(0.0), at(0.5)];
        let path = CameraPath::of(still.iter().enumerate().map(|(i, o)| (i as f64, o)));
        assert_eq!(path.target(0.0), path.target(1.0));
        let far: Vec<Extent> = (0..10).map(|i| at(i as f32)).collect();
        let path = CameraPath::of(far.iter().enumerate().map(|(i, o)| (0.1 * i as f64, o)));
        // it moves steadily from the first to the last
        assert!((0..10).all(|i| (path.target(0.1 * f64::from(i)).x - (0.5 + f64::from(i))).abs() < 1e-9));
    }
}
