//! Selection of the points of a body in a region.

use super::Region;
use sinew_math::Vec3;

impl Region {
    /// The indices of the points in the region. `extent` are the points that define the extent of the body.
    pub(crate) fn select(&self, points: &[Vec3], extent: &[Vec3]) -> Vec<u32> {
        if let Region::Nearest(place) = self {
            let distance = |i: &usize| (points[*i] - place).norm_squared();
            let nearest = (0..points.len()).min_by(|i, j| distance(i).total_cmp(&distance(j)));
            return nearest.map(|i| i as u32).into_iter().collect();
        }
        let threshold = self.threshold(extent);
        (0..points.len() as u32).filter(|&i| self.holds(&points[i as usize], threshold)).collect()
    }

    /// For an end: the coordinate along its direction at which it begins.
    fn threshold(&self, extent: &[Vec3]) -> f64 {
        let Region::End { direction, fraction } = self else { return 0.0 };
        let reach =
            |worst: f64, pick: fn(f64, f64) -> f64| extent.iter().map(|p| p.dot(direction)).fold(worst, pick);
        let (low, high) = (reach(f64::INFINITY, f64::min), reach(f64::NEG_INFINITY, f64::max));
        high - fraction * (high - low)
    }

    fn holds(&self, p: &Vec3, threshold: f64) -> bool {
        match self {
            Region::End { direction, .. } => p.dot(direction) >= threshold,
            Region::Box { min, max } => (0..3).all(|i| min[i] <= p[i] && p[i] <= max[i]),
            Region::Ball { center, radius } => (p - center).norm() <= *radius,
            Region::Nearest(_) => false,
        }
    }

    /// Faults of the region's parameters.
    pub(crate) fn fault(&self) -> Option<String> {
        let finite = |v: &Vec3| v.iter().all(|x| x.is_finite());
        match self {
            Region::End { direction, fraction } => {
                if !finite(direction) || direction.norm() == 0.0 {
                    return Some(format!("its direction {:?} is zero or not finite", direction.as_slice()));
                }
                (!(0.0..=1.0).contains(fraction))
                    .then(|| format!("its fraction {fraction} is not between 0 and 1"))
            }
            Region::Box { min, max } => (!(0..3).all(|i| min[i] <= max[i]))
                .then(|| format!("its box from {:?} to {:?} is empty", min.as_slice(), max.as_slice())),
            Region::Ball { center, radius } => (!finite(center) || !radius.is_finite() || *radius < 0.0)
                .then(|| format!("its ball of radius {radius} m is empty or not finite")),
            Region::Nearest(p) => (!finite(p)).then(|| "its place is not finite".to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_topmost_tenth_is_measured_on_the_extent() {
        let points: Vec<Vec3> = (0..=10).map(|i| Vec3::new(0.0, f64::from(i), 0.0)).collect();
        let top = Region::End { direction: Vec3::y(), fraction: 0.2 };
        assert_eq!(top.select(&points, &points), [8, 9, 10]);
        assert_eq!(top.select(&points, &points[..6]), [4, 5, 6, 7, 8, 9, 10]);
    }

    #[test]
    fn boxes_balls_and_nearest_points_select() {
        let points: Vec<Vec3> = (0..=10).map(|i| Vec3::new(f64::from(i), 0.0, 0.0)).collect();
        let ball = Region::Ball { center: Vec3::new(4.0, 0.0, 0.0), radius: 1.0 };
        assert_eq!(ball.select(&points, &points), [3, 4, 5]);
        let slab = Region::Box { min: Vec3::new(8.5, -1.0, -1.0), max: Vec3::new(20.0, 1.0, 1.0) };
        assert_eq!(slab.select(&points, &points), [9, 10]);
        assert_eq!(Region::Nearest(Vec3::new(6.4, 3.0, 0.0)).select(&points, &points), [6]);
    }
}
