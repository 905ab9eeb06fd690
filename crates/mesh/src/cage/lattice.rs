//! The body-centred cubic tetrahedral lattice.
//!
//! With half a cube edge as the unit, cube corners have even and cube centres odd coordinates, and a tet spans the centres of two
//! neighbouring cubes and one edge of the face between them. All faces lie in planes such as x ± y = even, so neighbours are
//! mirror images and barycentric coordinates are sums and halves. There are twelve congruent tets per cube, with dihedral angles
//! of 60° and 90°.

use sinew_math::Vec3;

/// A lattice in space. Lattice coordinates count half cube edges from `origin`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lattice {
    /// Cube edge (m).
    pub(crate) edge: f64,
    /// The origin of lattice coordinates (m).
    origin: Vec3,
}

/// The key of a lattice tet: the Morton code of its first cube, then four bits for which of the twelve tets of the cube. Sorting
/// by it is sorting along a Morton curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TetKey(pub(crate) u64);

/// Bits per axis of a cube index.
const AXIS_BITS: u32 = 19;

/// The maximum number of cubes along an axis, margins included.
pub(crate) const CUBES_PER_AXIS: f64 = (1u32 << AXIS_BITS) as f64;

/// Empty cubes below the surface, so that no cube index is negative.
const MARGIN: f64 = 4.0;

/// The volume of a tet relative to a cube: twelve fill it.
pub(crate) const TET_FRACTION: f64 = 1.0 / 12.0;

impl Lattice {
    /// A lattice of cubes of the given edge (m) with a corner at the centre of the box, so that a symmetric surface gets a
    /// symmetric cage; or displaced by `shift` (in edges). `None` if the box takes too many cubes.
    pub(crate) fn around(bounds: (Vec3, Vec3), edge: f64, shift: [f64; 3]) -> Option<Self> {
        let (lo, hi) = bounds;
        let widest = (hi - lo).amax() / edge + 2.0 * MARGIN + 4.0;
        if widest.is_nan() || widest >= CUBES_PER_AXIS {
            return None;
        }
        let half_cubes = ((hi - lo) / (2.0 * edge)).map(|n| n.ceil() + MARGIN);
        Some(Self { edge, origin: (lo + hi) / 2.0 - (half_cubes + Vec3::from(shift)) * edge })
    }

    /// From space (m) to lattice coordinates.
    pub(crate) fn lattice_from_space(&self, p: &Vec3) -> Vec3 {
        (p - self.origin) * (2.0 / self.edge)
    }

    /// From lattice coordinates to space (m).
    pub(crate) fn space_from_lattice(&self, p: &Vec3) -> Vec3 {
        self.origin + p * (self.edge / 2.0)
    }

    /// The volume of a tet (m³).
    pub(crate) fn tet_volume(&self) -> f64 {
        self.edge * self.edge * self.edge * TET_FRACTION
    }
}

/// A decoded lattice tet: the face between its two cubes, and its axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LatticeTet {
    /// Centre of the face between the two cubes (lattice coordinates).
    face: [i32; 3],
    /// Axis from the first cube to the second.
    across: usize,
    /// Axis and sign from the centre of the face to the edge.
    towards: usize,
    sign: i32,
}

impl LatticeTet {
    pub(crate) fn of(key: TetKey) -> Self {
        let (cube, which) = (key.cube(), (key.0 & 15) as usize);
        let across = which / 4;
        let mut face = cube.map(|c| 2 * c + 1);
        face[across] += 1;
        Self {
            face,
            across,
            towards: (across + 1 + (which >> 1 & 1)) % 3,
            sign: if which & 1 == 1 { 1 } else { -1 },
        }
    }

    fn along(&self) -> usize {
        3 - self.across - self.towards
    }

    /// The corners (lattice coordinates), ordered so that the volume is positive.
    pub(crate) fn corners(&self) -> [[i32; 3]; 4] {
        let [mut b1, mut b2, mut a1, mut a2] = [self.face; 4];
        b1[self.across] -= 1;
        b2[self.across] += 1;
        for a in [&mut a1, &mut a2] {
            a[self.towards] += self.sign;
        }
        // the sign of (b2 − b1) · ((a1 − b1) × (a2 − b1)) for a1 → a2 along the third axis
        let handed = if (self.across + 1) % 3 == self.towards { self.sign } else { -self.sign };
        a1[self.along()] -= handed;
        a2[self.along()] += handed;
        [b1, b2, a1, a2]
    }

    /// Barycentric coordinates of a point (lattice coordinates), in the order of [`Self::corners`].
    ///
    /// With q relative to the centre of the face and y = ±q towards the edge: the two corners on the edge sum to y, the two cube
    /// centres to 1 − y, and the differences within the pairs are q along and across.
    pub(crate) fn barycentric(&self, p: &Vec3) -> [f64; 4] {
        let q = |axis: usize| p[axis] - f64::from(self.face[axis]);
        let y = f64::from(self.sign) * q(self.towards);
        let handed = if (self.across + 1) % 3 == self.towards { self.sign } else { -self.sign };
        let (x, z) = (q(self.across), f64::from(handed) * q(self.along()));
        [(1.0 - y - x) / 2.0, (1.0 - y + x) / 2.0, (y - z) / 2.0, (y + z) / 2.0]
    }

    /// The point (lattice coordinates) at barycentric coordinates.
    pub(crate) fn point(&self, b: &[f64; 4]) -> Vec3 {
        let corners = self.corners();
        (0..4).map(|i| b[i] * to_vec(corners[i])).sum()
    }

    fn key(&self) -> TetKey {
        let mut first = self.face;
        first[self.across] -= 1;
        let cube = first.map(|c| ((c - 1) / 2) as u32);
        let side = usize::from((self.across + 2) % 3 == self.towards);
        let which = 4 * self.across + 2 * side + usize::from(self.sign > 0);
        TetKey(morton(cube) << 4 | which as u64)
    }
}

impl TetKey {
    fn cube(self) -> [i32; 3] {
        let gather = |bits: u64| {
            let mut x = bits & 0x1249_2492_4924_9249;
            for (shift, mask) in GATHER {
                x = (x ^ (x >> shift)) & mask;
            }
            x as i32
        };
        let code = self.0 >> 4;
        [gather(code), gather(code >> 1), gather(code >> 2)]
    }

    /// The tet that contains a point (lattice coordinates): in the cube of the point, the axes in order of distance from the
    /// centre give the nearest face and its nearest edge. `None` outside the lattice.
    pub(crate) fn containing(p: &Vec3) -> Option<Self> {
        if !p.iter().all(|x| (2.0..2.0 * CUBES_PER_AXIS).contains(x)) {
            return None;
        }
        let cube = [p.x, p.y, p.z].map(|x| (x / 2.0).floor() as i32);
        let q = [0, 1, 2].map(|k| p[k] - f64::from(2 * cube[k] + 1));
        let far = |a: usize, b: usize| if q[b].abs() > q[a].abs() { b } else { a };
        let across = far(far(0, 1), 2);
        let towards = far((across + 1) % 3, (across + 2) % 3);
        let mut face = cube.map(|c| 2 * c + 1);
        face[across] += if q[across] >= 0.0 { 1 } else { -1 };
        Some(LatticeTet { face, across, towards, sign: if q[towards] >= 0.0 { 1 } else { -1 } }.key())
    }

    /// The 24 tets that overlap a cube.
    pub(crate) fn of_cube(cube: [i32; 3]) -> impl Iterator<Item = Self> {
        (0..3).flat_map(move |across| {
            [0, 1].into_iter().flat_map(move |back| {
                let mut first = cube;
                first[across] -= back;
                let code = morton(first.map(|c| c as u32)) << 4;
                (0..4).map(move |edge| Self(code | (4 * across as u64 + edge)))
            })
        })
    }

    /// The tet across the face opposite corner `i`: its mirror image in that face.
    ///
    /// The tets are the chambers of a reflection group, so the mirror image of the corner is the fourth corner of the neighbour.
    pub(crate) fn neighbour(self, i: usize) -> Self {
        let tet = LatticeTet::of(self);
        let corners = tet.corners();
        if i >= 2 {
            // the two cubes stay; the edge rotates by 90° about its remaining end, within the face
            let stays = corners[5 - i];
            let along = tet.along();
            let sign = stays[along] - tet.face[along];
            LatticeTet { towards: along, sign, ..tet }.key()
        } else {
            // the edge stays, and the remaining cube pairs with the next one around it
            let cube = corners[1 - i];
            let middle = |axis: usize| (corners[2][axis] + corners[3][axis]) / 2;
            let mut face = cube;
            face[tet.towards] = middle(tet.towards);
            let sign = middle(tet.across) - cube[tet.across];
            LatticeTet { face, across: tet.towards, towards: tet.across, sign }.key()
        }
    }
}

const GATHER: [(u32, u64); 5] = [
    (2, 0x10c3_0c30_c30c_30c3),
    (4, 0x100f_00f0_0f00_f00f),
    (8, 0x001f_0000_ff00_00ff),
    (16, 0x001f_0000_0000_ffff),
    (32, 0x0000_0000_001f_ffff),
];

/// Interleaves the lowest 21 bits of three coordinates.
pub(crate) fn morton(p: [u32; 3]) -> u64 {
    let spread = |x: u32| {
        let mut x = u64::from(x) & 0x001f_ffff;
        x = (x | x << 32) & 0x001f_0000_0000_ffff;
        x = (x | x << 16) & 0x001f_0000_ff00_00ff;
        x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
        x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
        (x | x << 2) & 0x1249_2492_4924_9249
    };
    spread(p[0]) | spread(p[1]) << 1 | spread(p[2]) << 2
}

pub(crate) fn to_vec(p: [i32; 3]) -> Vec3 {
    Vec3::new(f64::from(p[0]), f64::from(p[1]), f64::from(p[2]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tets() -> impl Iterator<Item = TetKey> {
        (0..12).map(|which| TetKey(morton([5, 6, 9]) << 4 | which))
    }

    #[test]
    fn every_tet_has_positive_volume_a_twelfth_of_a_cube() {
        for key in tets() {
            let [a, b, c, d] = LatticeTet::of(key).corners().map(to_vec);
            let volume = (b - a).dot(&(c - a).cross(&(d - a))) / 6.0;
            // a cube has edge 2 in lattice units
            assert_eq!(volume, 8.0 * TET_FRACTION);
            assert_eq!(LatticeTet::of(key).key(), key);
        }
    }

    #[test]
    fn barycentric_coordinates_and_points_are_inverse() {
        for key in tets() {
            let tet = LatticeTet::of(key);
            let p = Vec3::new(11.3, 12.9, 18.2);
            let b = tet.barycentric(&p);
            assert!((b.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            assert!((tet.point(&b) - p).norm() < 1e-13);
        }
    }

    #[test]
    fn neighbours_share_three_corners_and_adjacency_is_mutual() {
        for key in tets() {
            let corners = LatticeTet::of(key).corners();
            for i in 0..4 {
                let other = key.neighbour(i);
                let theirs = LatticeTet::of(other).corners();
                assert!((0..4).all(|j| (j == i) != theirs.contains(&corners[j])), "{key:?} {i}");
                assert!((0..4).any(|j| other.neighbour(j) == key));
            }
        }
    }

    #[test]
    fn a_point_has_no_negative_coordinate_in_the_tet_that_contains_it() {
        for i in 0..200 {
            let t = f64::from(i);
            let p = Vec3::new(20.0 + 0.37 * t % 5.0, 22.0 + 0.73 * t % 7.0, 30.0 + 0.11 * t % 3.0);
            let key = TetKey::containing(&p).unwrap();
            assert!(LatticeTet::of(key).barycentric(&p).iter().all(|&b| b >= -1e-14));
            assert!(TetKey::of_cube([p.x, p.y, p.z].map(|x| (x / 2.0).floor() as i32)).any(|k| k == key));
        }
    }
}
