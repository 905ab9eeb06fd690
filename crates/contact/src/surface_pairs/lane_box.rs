//! Boxes in single precision, four lanes wide: half the memory, and one instruction where there were three.
//!
//! Rounding to the nearest keeps order, so a box of rounded points is off by no more than one rounded point is: whoever compares boxes allows for
//! [`ROUND_OFF`] of the largest number in them.

use crate::box_tree::Bounds;
use sinew_math::Vec3;

/// A box with sides along the axes; the last lane is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(16))]
pub(super) struct LaneBox {
    pub(super) min: Lane,
    pub(super) max: Lane,
}

/// Three coordinates and nothing.
pub(super) type Lane = [f32; 4];

/// What a few operations in single precision are off by at most, in parts of the largest number among them: sixteen roundings of 2⁻²⁴.
pub(super) const ROUND_OFF: f64 = 1e-6;

#[inline]
pub(super) fn lane(v: &Vec3) -> Lane {
    [v.x as f32, v.y as f32, v.z as f32, 0.0]
}

#[inline]
fn each(a: &Lane, b: &Lane, f: impl Fn(f32, f32) -> f32) -> Lane {
    core::array::from_fn(|k| f(a[k], b[k]))
}

/// The lesser and the greater of two, by one instruction each: of a pair with one that is no number, the second.
#[inline]
pub(super) fn least(a: &Lane, b: &Lane) -> Lane {
    each(a, b, |a, b| if a < b { a } else { b })
}

#[inline]
pub(super) fn most(a: &Lane, b: &Lane) -> Lane {
    each(a, b, |a, b| if a > b { a } else { b })
}

#[inline]
pub(super) fn minus(a: &Lane, b: &Lane) -> Lane {
    each(a, b, |a, b| a - b)
}

#[inline]
pub(super) fn plus(a: &Lane, b: &Lane) -> Lane {
    each(a, b, |a, b| a + b)
}

#[inline]
pub(super) fn times(a: &Lane, b: &Lane) -> Lane {
    each(a, b, |a, b| a * b)
}

#[inline]
pub(super) fn dot(a: &Lane, b: &Lane) -> f32 {
    let [x, y, z, _] = times(a, b);
    x + y + z
}

/// Whether no number of the first is above that of the second.
#[inline]
pub(super) fn is_below(a: &Lane, b: &Lane) -> bool {
    (a[0] <= b[0]) & (a[1] <= b[1]) & (a[2] <= b[2]) & (a[3] <= b[3])
}

impl LaneBox {
    /// Around nothing.
    pub(super) const EMPTY: LaneBox = LaneBox {
        min: [f32::INFINITY, f32::INFINITY, f32::INFINITY, 0.0],
        max: [f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY, 0.0],
    };

    pub(super) fn of(bounds: &Bounds) -> LaneBox {
        LaneBox { min: lane(&bounds.min), max: lane(&bounds.max) }
    }

    #[inline]
    pub(super) fn with(&self, p: &Lane) -> LaneBox {
        LaneBox { min: least(p, &self.min), max: most(p, &self.max) }
    }

    #[inline]
    pub(super) fn and(&self, other: &LaneBox) -> LaneBox {
        LaneBox { min: least(&self.min, &other.min), max: most(&self.max, &other.max) }
    }

    #[inline]
    pub(super) fn intersects(&self, other: &LaneBox) -> bool {
        is_below(&self.min, &other.max) & is_below(&other.min, &self.max)
    }

    /// Square of the diagonal.
    #[inline]
    pub(super) fn size(&self) -> f32 {
        let across = minus(&self.max, &self.min);
        dot(&across, &across)
    }

    /// The largest magnitude of a coordinate; 0 for a box around nothing.
    pub(super) fn farthest(&self) -> f64 {
        let all = self.min.iter().chain(&self.max).map(|x| f64::from(x.abs()));
        all.filter(|x| x.is_finite()).fold(0.0, f64::max)
    }

    /// The most that a vector in this box and one in another differ by.
    #[inline]
    pub(super) fn difference(&self, other: &LaneBox) -> f32 {
        let apart = most(&minus(&self.max, &other.min), &minus(&other.max, &self.min));
        dot(&apart, &apart).sqrt()
    }
}

/// Where a point is (m) and how it moves (m/s).
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct MovingPoint {
    pub(super) place: Lane,
    pub(super) velocity: Lane,
}

impl MovingPoint {
    #[inline]
    pub(super) fn new(x: &Vec3, v: &Vec3) -> MovingPoint {
        MovingPoint { place: lane(x), velocity: lane(v) }
    }

    /// A box around nothing else.
    #[inline]
    pub(super) fn alone(&self) -> MovingBox {
        let around = |point: Lane| LaneBox { min: point, max: point };
        MovingBox { place: around(self.place), velocities: around(self.velocity) }
    }
}

/// Boxes around places (m) and around velocities (m/s).
#[derive(Clone, Copy, Debug)]
pub(super) struct MovingBox {
    pub(super) place: LaneBox,
    pub(super) velocities: LaneBox,
}

impl MovingBox {
    /// Around nothing.
    pub(super) const EMPTY: MovingBox = MovingBox { place: LaneBox::EMPTY, velocities: LaneBox::EMPTY };

    #[inline]
    pub(super) fn with(&self, p: &MovingPoint) -> MovingBox {
        MovingBox { place: self.place.with(&p.place), velocities: self.velocities.with(&p.velocity) }
    }

    #[inline]
    pub(super) fn and(&self, other: &MovingBox) -> MovingBox {
        MovingBox { place: self.place.and(&other.place), velocities: self.velocities.and(&other.velocities) }
    }

    /// Whether two are within reach of each other, or will be in time if all goes on as it moves: the first box, stretched by where it can go as the second sees it.
    #[inline]
    pub(super) fn may_meet(&self, other: &MovingBox, reach: f32, time: f32) -> bool {
        let (time, reach, zero) = ([time; 4], [reach; 4], [0.0; 4]);
        let back = times(&time, &minus(&self.velocities.min, &other.velocities.max));
        let ahead = times(&time, &minus(&self.velocities.max, &other.velocities.min));
        let min = minus(&plus(&self.place.min, &least(&back, &zero)), &reach);
        let max = plus(&plus(&self.place.max, &most(&ahead, &zero)), &reach);
        LaneBox { min, max }.intersects(&other.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_hold_what_they_were_put_around_up_to_round_off() {
        let points = [Vec3::new(0.1, -7.3, 1e-9), Vec3::new(-0.3, 2.0 / 3.0, 5.0), Vec3::new(1e3, 0.0, 0.7)];
        let found = points.iter().fold(LaneBox::EMPTY, |sum, p| sum.with(&lane(p)));
        let exact = Bounds::around(&points);
        let slack = ROUND_OFF * found.farthest();
        for k in 0..3 {
            assert!((f64::from(found.min[k]) - exact.min[k]).abs() <= slack);
            assert!((f64::from(found.max[k]) - exact.max[k]).abs() <= slack);
        }
        assert_eq!((found.min[3], found.max[3]), (0.0, 0.0));
        assert_eq!(found, LaneBox::of(&exact));
        assert_eq!(found.and(&LaneBox::EMPTY), found);
        assert!(found.intersects(&found) && !found.intersects(&LaneBox::EMPTY));
        assert_eq!(LaneBox::EMPTY.farthest(), 0.0);
        let alone = MovingPoint::new(&points[0], &points[1]).alone();
        assert_eq!(alone.place, LaneBox::EMPTY.with(&lane(&points[0])));
    }

    /// Each corner of one against each corner of the other.
    #[test]
    fn no_two_vectors_of_two_boxes_differ_by_more() {
        let a = LaneBox { min: [0.0, -1.0, 2.0, 0.0], max: [1.0, 3.0, 2.5, 0.0] };
        let b = LaneBox { min: [-4.0, 0.0, 2.0, 0.0], max: [0.5, 0.25, 9.0, 0.0] };
        let corner = |of: &LaneBox, i: usize| -> Lane {
            core::array::from_fn(|k| if i >> k & 1 == 0 { of.min[k] } else { of.max[k] })
        };
        let apart = |i: usize, j: usize| {
            let off = minus(&corner(&a, i), &corner(&b, j));
            dot(&off, &off).sqrt()
        };
        let most =
            (0..8).flat_map(|i| (0..8).map(move |j| (i, j))).map(|(i, j)| apart(i, j)).fold(0.0, f32::max);
        assert!((a.difference(&b) - most).abs() < 1e-5 && a.difference(&b) == b.difference(&a));
    }
}
