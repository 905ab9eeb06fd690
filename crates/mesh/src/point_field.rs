//! A number over space, known at scattered points.
//!
//! Between them it is the mean of the nearest ones, weighted by the inverse square of their distances: their own values at the points, and no value beyond theirs anywhere.  \[Shepard1968\]

use kdtree::KdTree;
use kdtree::distance::squared_euclidean;
use rayon::prelude::*;
use sinew_math::Vec3;
use std::sync::Arc;

/// How many points count at a place.
const NEAREST: usize = 3;

/// Points, each with a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointField {
    points: Arc<[(Vec3, f32)]>,
}

impl PointField {
    /// A field that is known at points; those that are not finite are left out.
    pub fn new(points: impl IntoIterator<Item = (Vec3, f32)>) -> PointField {
        let is_finite =
            |(point, value): &(Vec3, f32)| point.iter().all(|c| c.is_finite()) && value.is_finite();
        PointField { points: points.into_iter().filter(is_finite).collect() }
    }

    /// Whether it is known nowhere.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The points with their values.
    pub fn points(&self) -> &[(Vec3, f32)] {
        &self.points
    }

    /// The values at places; 1 everywhere if it is known nowhere.
    pub fn at(&self, places: &[Vec3]) -> Vec<f32> {
        let mut tree: KdTree<f64, f32, [f64; 3]> = KdTree::new(3);
        for (point, value) in &*self.points {
            // points are finite, so that each can be added
            let _ = tree.add([point.x, point.y, point.z], *value);
        }
        let value = |place: &Vec3| {
            let near = tree.nearest(&[place.x, place.y, place.z], NEAREST, &squared_euclidean);
            let near = near.unwrap_or_default();
            match near.first() {
                None => 1.0,
                Some((distance, value)) if *distance == 0.0 => **value,
                Some(_) => {
                    let weighted = near.iter().map(|(distance, value)| (1.0 / distance, f64::from(**value)));
                    let (sum, weights) =
                        weighted.fold((0.0, 0.0), |(sum, all), (w, v)| (sum + w * v, all + w));
                    (sum / weights) as f32
                }
            }
        };
        places.par_iter().with_min_len(256).map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_exact_at_points_and_between_theirs_elsewhere() {
        let field = PointField::new([(Vec3::zeros(), 0.25), (Vec3::x(), 2.0), (Vec3::repeat(f64::NAN), 9.0)]);
        assert_eq!(field.at(&[Vec3::zeros(), Vec3::x()]), [0.25, 2.0]);
        // half way the mean, with one rounding to single precision
        assert!((field.at(&[Vec3::x() * 0.5])[0] - 1.125).abs() < 1e-6);
        let far = field.at(&[Vec3::x() * 1e9, Vec3::y() * 0.1]);
        assert!(far.iter().all(|value| (0.25..=2.0).contains(value)), "{far:?}");
        assert_eq!(PointField::default().at(&[Vec3::x()]), [1.0]);
        // a place that is nowhere has no nearest point
        assert_eq!(field.at(&[Vec3::repeat(f64::NAN)]), [1.0]);
    }
}
