//! The extent of the bodies in one frame: bounds, and extreme points in many directions.

use crate::render_frame::RenderFrame;
use sinew_math::{Vec3, real};
use sinew_take::Up;

/// Directions in which the extreme points are found: other points lie at most one per cent of the extent beyond them, far less than the margin of
/// a picture.
const DIRECTIONS: usize = 96;

/// The extent of the bodies in one frame.
pub(crate) struct Extent {
    /// Bounds (m), y up.
    pub(crate) low: Vec3,
    pub(crate) high: Vec3,
    /// Extreme points in many directions, in the frame's own axes (m).
    pub(crate) extremes: Vec<Vec3>,
}

impl Extent {
    /// The extent of the surfaces with the given indices and of the cage, together with the skinned surfaces if asked for.
    pub(crate) fn of<'a>(
        render_frame: &'a RenderFrame,
        framed: &[usize],
        up: Up,
        with_skinned: bool,
    ) -> Extent {
        let skinned: &'a [Vec<[f32; 3]>] = if with_skinned { &render_frame.skinned } else { &[] };
        let points = || {
            let chosen =
                |surfaces: &'a [Vec<[f32; 3]>]| framed.iter().filter_map(|index| surfaces.get(*index));
            chosen(&render_frame.surfaces).chain(chosen(skinned)).flatten().chain(&render_frame.cage)
        };

        // bounds
        let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
        for p in points() {
            let p = up.to_y_up(&Vec3::from(p.map(f64::from)));
            (low, high) = (low.inf(&p), high.sup(&p));
        }

        // extreme points
        let directions: Vec<[f32; 3]> = (0..DIRECTIONS).map(direction).collect();
        let mut farthest = vec![(f32::NEG_INFINITY, [0.0f32; 3]); DIRECTIONS];
        for p in points() {
            for (direction, farthest) in directions.iter().zip(&mut farthest) {
                let far = p[0] * direction[0] + p[1] * direction[1] + p[2] * direction[2];
                if far > farthest.0 {
                    *farthest = (far, *p);
                }
            }
        }
        let found = farthest.iter().filter(|(far, _)| far.is_finite());
        Extent { low, high, extremes: found.map(|(_, p)| Vec3::from(p.map(f64::from))).collect() }
    }

    /// The centre of the bounds (m), y up; the origin if there are no points.
    pub(crate) fn centre(&self) -> Vec3 {
        if self.low.x.is_finite() { (self.low + self.high) / 2.0 } else { Vec3::zeros() }
    }
}

/// A direction on a Fibonacci spiral over the sphere.
fn direction(i: usize) -> [f32; 3] {
    let y = 1.0 - (2.0 * i as f64 + 1.0) / DIRECTIONS as f64;
    let radius = (1.0 - y * y).max(0.0).sqrt();
    let angle = i as f64 * 2.399_963_229_728_653;
    [(radius * real::cos(angle)) as f32, y as f32, (radius * real::sin(angle)) as f32]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn at(x: f32) -> Extent {
        let surfaces = vec![vec![[x, 0.0, 0.0], [x + 1.0, 1.0, 0.0], [x + 0.5, 0.5, 0.2]]];
        Extent::of(&RenderFrame { surfaces, ..RenderFrame::default() }, &[0], Up::Y, false)
    }

    #[test]
    fn extreme_points_and_bounds_are_found() {
        let extent = at(0.0);
        assert!(
            extent.extremes.contains(&Vec3::zeros()) && extent.extremes.contains(&Vec3::new(1.0, 1.0, 0.0))
        );
        assert_eq!((extent.low.x, extent.high.y), (0.0, 1.0));
    }
}
