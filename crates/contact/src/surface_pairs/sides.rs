//! The directions that all normals of a patch face: two patches of which all normals face one direction do not fold onto each other.
//!
//! Directions are those to the faces, edges and corners of a cube, at most 28° from any other. A patch that faces a direction does so with each of its parts.

use super::lane_box::Lane;

/// A set of directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sides(u32);

/// Normals count as facing a direction above this sine, times the sum of magnitudes: more than the rounding of a few operations in single precision.
const SLACK: f32 = 1e-5;

/// A bit for each axis; those of opposite directions are 16 higher.
const BITS: [[u32; 4]; 4] =
    [[1, 2, 4, 8], [16, 32, 64, 128], [256, 512, 1024, 2048], [4096, 8192, 16_384, 32_768]];

impl Sides {
    /// No direction.
    pub(super) const NONE: Sides = Sides(0);
    /// All of them, what an empty patch faces.
    pub(super) const ALL: Sides = Sides(u32::MAX);

    /// The directions that a triangle with these edges faces; none if it has no area.
    #[inline(always)]
    pub(super) fn of_triangle([ax, ay, az, _]: &Lane, [bx, by, bz, _]: &Lane) -> Sides {
        let (x, y, z) = (ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx);
        let (sum, off) = (x + y, x - y);
        let along = [
            [x, y, z, sum],
            [off, x + z, x - z, y + z],
            [y - z, sum + z, sum - z, off + z],
            [off - z, 0.0, 0.0, 0.0],
        ];
        let least = SLACK * (x.abs() + y.abs() + z.abs());
        // four comparisons at once, each with its own bits
        let mut found = [0u32; 4];
        for (along, bits) in along.iter().zip(&BITS) {
            for k in 0..4 {
                found[k] |= if along[k] > least { bits[k] } else { 0 };
                found[k] |= if along[k] < -least { bits[k] << 16 } else { 0 };
            }
        }
        let found = found[0] | found[1] | found[2] | found[3];
        Sides(found)
    }

    /// The directions that two patches both face.
    #[inline(always)]
    pub(super) fn and(self, other: Sides) -> Sides {
        Sides(self.0 & other.0)
    }

    /// Whether there is no direction.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::real;

    /// Triangles at an angle face a common direction up to 124°, as if joined at an edge, and none if they are back to back or without area.
    #[test]
    fn patches_face_what_all_of_their_triangles_face() {
        let turned = |degrees: f64| {
            let (sin, cos) = (real::sin(degrees.to_radians()) as f32, real::cos(degrees.to_radians()) as f32);
            Sides::of_triangle(&[0.0, 1.0, 0.0, 0.0], &[-cos, 0.0, sin, 0.0])
        };
        for i in 0..72 {
            let own = turned(5.0 * f64::from(i));
            assert!(!own.is_empty() && own.and(own) == own && Sides::ALL.and(own) == own);
            assert!(!own.and(turned(5.0 * f64::from(i) + 120.0)).is_empty());
            assert!(own.and(turned(5.0 * f64::from(i) + 180.0)).is_empty());
        }
        assert!(Sides::of_triangle(&[1.0, 0.0, 0.0, 0.0], &[2.0, 0.0, 0.0, 0.0]).is_empty());
        assert!(Sides::of_triangle(&[f32::NAN, 0.0, 0.0, 0.0], &[0.0, 1.0, 0.0, 0.0]).is_empty());
        assert!(Sides::NONE.is_empty());
    }
}
