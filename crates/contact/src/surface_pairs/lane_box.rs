//! Axis-aligned boxes in single precision, four lanes wide: half the memory, and one instruction instead of three.
//!
//! Rounding to nearest is monotone, so the error of a box of rounded points is at most that of one rounded point: comparisons of
//! boxes allow for [`ROUND_OFF`] of the largest magnitude in them.

use crate::box_tree::Bounds;
use sinew_math::Vec3;

/// An axis-aligned box; the last lane is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(16))]
pub(super) struct LaneBox {
    pub(super) min: Lane,
    pub(super) max: Lane,
}

/// Three coordinates and a zero.
pub(super) type Lane = [f32; 4];

/// The relative error of a few operations in single precision: sixteen roundings of 2⁻²⁴.
pub(super) const ROUND_OFF: f64 = 1e-6;

#[inline(always)]
pub(super) fn lane(v: &Vec3) -> Lane {
    [v.x as f32, v.y as f32, v.z as f32, 0.0]
}

#[inline(always)]
fn each(a: &Lane, b: &Lane, f: impl Fn(f32, f32) -> f32) -> Lane {
    // written out, since `from_fn` is a call per lane in builds with several units
    [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])]
}

/// Lane-wise minimum and maximum, by one instruction each: if one of a pair is NaN, the second.
#[inline(always)]
pub(super) fn min(a: &Lane, b: &Lane) -> Lane {
    each(a, b, |a, b| if a < b { a } else { b })
}

#[inline(always)]
pub(super) fn max(a: &Lane, b: &Lane) -> Lane {
    each(a, b, |a, b| if a > b { a } else { b })
}

#[inline(always)]
pub(super) fn minus(a: &Lane, b: &Lane) -> Lane {
    each(a, b, |a, b| a - b)
}

#[inline(always)]
pub(super) fn plus(a: &Lane, b: &Lane) -> Lane {
    each(a, b, |a, b| a + b)
}

#[inline(always)]
pub(super) fn times(a: &Lane, b: &Lane) -> Lane {
    each(a, b, |a, b| a * b)
}

#[inline(always)]
pub(super) fn dot(a: &Lane, b: &Lane) -> f32 {
    let [x, y, z, _] = times(a, b);
    x + y + z
}

/// Whether every lane of the first is at most that of the second.
#[inline(always)]
pub(super) fn is_below(a: &Lane, b: &Lane) -> bool {
    (a[0] <= b[0]) & (a[1] <= b[1]) & (a[2] <= b[2]) & (a[3] <= b[3])
}

impl LaneBox {
    /// The empty box.
    pub(super) const EMPTY: LaneBox = LaneBox {
        min: [f32::INFINITY, f32::INFINITY, f32::INFINITY, 0.0],
        max: [f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY, 0.0],
    };

    pub(super) fn of(bounds: &Bounds) -> LaneBox {
        LaneBox { min: lane(&bounds.min), max: lane(&bounds.max) }
    }

    #[inline(always)]
    pub(super) fn with(&self, p: &Lane) -> LaneBox {
        LaneBox { min: min(p, &self.min), max: max(p, &self.max) }
    }

    #[inline(always)]
    pub(super) fn and(&self, other: &LaneBox) -> LaneBox {
        LaneBox { min: min(&self.min, &other.min), max: max(&self.max, &other.max) }
    }

    #[inline(always)]
    pub(super) fn intersects(&self, other: &LaneBox) -> bool {
        is_below(&self.min, &other.max) & is_below(&other.min, &self.max)
    }

    /// The squared diagonal.
    #[inline(always)]
    pub(super) fn size(&self) -> f32 {
        let across = minus(&self.max, &self.min);
        dot(&across, &across)
    }

    /// The largest magnitude of a coordinate; 0 for the empty box.
    pub(super) fn max_magnitude(&self) -> f64 {
        let all = self.min.iter().chain(&self.max).map(|x| f64::from(x.abs()));
        all.filter(|x| x.is_finite()).fold(0.0, f64::max)
    }

    /// The distance of two boxes.
    #[inline(always)]
    pub(super) fn distance(&self, other: &LaneBox) -> f32 {
        let apart = max(&minus(&other.min, &self.max), &minus(&self.min, &other.max));
        let apart = max(&apart, &[0.0; 4]);
        dot(&apart, &apart).sqrt()
    }

    /// The largest distance between a vector in this box and one in another.
    #[inline(always)]
    pub(super) fn difference(&self, other: &LaneBox) -> f32 {
        let apart = max(&minus(&self.max, &other.min), &minus(&other.max, &self.min));
        dot(&apart, &apart).sqrt()
    }
}

/// Position (m) and velocity (m/s) of a point.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct MovingPoint {
    pub(super) position: Lane,
    pub(super) velocity: Lane,
}

impl MovingPoint {
    #[inline(always)]
    pub(super) fn new(x: &Vec3, v: &Vec3) -> MovingPoint {
        MovingPoint { position: lane(x), velocity: lane(v) }
    }

    /// The box of this point only.
    #[inline(always)]
    pub(super) fn as_box(&self) -> MovingBox {
        let around = |point: Lane| LaneBox { min: point, max: point };
        MovingBox { position: around(self.position), velocities: around(self.velocity) }
    }
}

/// Boxes of positions (m) and velocities (m/s).
#[derive(Clone, Copy, Debug)]
pub(super) struct MovingBox {
    pub(super) position: LaneBox,
    pub(super) velocities: LaneBox,
}

impl MovingBox {
    /// The empty box.
    pub(super) const EMPTY: MovingBox = MovingBox { position: LaneBox::EMPTY, velocities: LaneBox::EMPTY };

    #[inline(always)]
    pub(super) fn with(&self, p: &MovingPoint) -> MovingBox {
        MovingBox { position: self.position.with(&p.position), velocities: self.velocities.with(&p.velocity) }
    }

    #[inline(always)]
    pub(super) fn and(&self, other: &MovingBox) -> MovingBox {
        MovingBox {
            position: self.position.and(&other.position),
            velocities: self.velocities.and(&other.velocities),
        }
    }

    /// Whether two boxes are within reach of each other, or will be within the time if velocities persist: the first box is swept
    /// by its velocity relative to the second.
    #[inline(always)]
    pub(super) fn may_meet(&self, other: &MovingBox, reach: f32, time: f32) -> bool {
        let (time, reach, zero) = ([time; 4], [reach; 4], [0.0; 4]);
        let back = times(&time, &minus(&self.velocities.min, &other.velocities.max));
        let ahead = times(&time, &minus(&self.velocities.max, &other.velocities.min));
        let min = minus(&plus(&self.position.min, &min(&back, &zero)), &reach);
        let max = plus(&plus(&self.position.max, &max(&ahead, &zero)), &reach);
        LaneBox { min, max }.intersects(&other.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_contain_their_points_up_to_round_off() {
        let points = [Vec3::new(0.1, -7.3, 1e-9), Vec3::new(-0.3, 2.0 / 3.0, 5.0), Vec3::new(1e3, 0.0, 0.7)];
        let found = points.iter().fold(LaneBox::EMPTY, |sum, p| sum.with(&lane(p)));
        let exact = Bounds::around(&points);
        let slack = ROUND_OFF * found.max_magnitude();
        for k in 0..3 {
            assert!((f64::from(found.min[k]) - exact.min[k]).abs() <= slack);
            assert!((f64::from(found.max[k]) - exact.max[k]).abs() <= slack);
        }
        assert_eq!((found.min[3], found.max[3]), (0.0, 0.0));
        assert_eq!(found, LaneBox::of(&exact));
        assert_eq!(found.and(&LaneBox::EMPTY), found);
        assert!(found.intersects(&found) && !found.intersects(&LaneBox::EMPTY));
        assert_eq!(LaneBox::EMPTY.max_magnitude(), 0.0);
        let as_box = MovingPoint::new(&points[0], &points[1]).as_box();
        assert_eq!(as_box.position, LaneBox::EMPTY.with(&lane(&points[0])));
    }

    /// Each corner of one against each corner of the other.
    #[test]
    fn difference_bounds_the_distance_of_all_corners() {
        let a = LaneBox { min: [0.0, -1.0, 2.0, 0.0], max: [1.0, 3.0, 2.5, 0.0] };
        let b = LaneBox { min: [-4.0, 0.0, 2.0, 0.0], max: [0.5, 0.25, 9.0, 0.0] };
        let corner = |of: &LaneBox, i: usize| -> Lane {
            core::array::from_fn(|k| if i >> k & 1 == 0 { of.min[k] } else { of.max[k] })
        };
        let apart = |i: usize, j: usize| {
            let off = minus(&corner(&a, i), &corner(&b, j));
            dot(&off, &off).sqrt()
        };
        let max =
            (0..8).flat_map(|i| (0..8).map(move |j| (i, j))).map(|(i, j)| apart(i, j)).fold(0.0, f32::max);
        assert!((a.difference(&b) - max).abs() < 1e-5 && a.difference(&b) == b.difference(&a));
    }
}
