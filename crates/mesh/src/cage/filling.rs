//! How much of each tet is solid, and where in it.
//!
//! The one idea: points spread evenly over a tet are asked whether they are inside; the fraction that
//! is gives the fill, and their barycentric coordinates give each corner its part of the volume
//! (KimPollard2011, §4.3). Corners are then kept from vanishing, so that no node is light enough to set the
//! time step.

use super::lattice::TetKey;
use crate::TetMesh;

/// Samples per cut tet. Their fill errs by about 64^(−2/3) = 6 % of a tet, which over the hundreds of
/// cut tets of a body falls below a percent of its volume; twice as many would halve the speed of
/// a build for a third less error.
pub(crate) const SAMPLES: usize = 64;

/// No corner holds less than this fraction of its tet's filled volume, a quarter of the even share.
///
/// The stiffness of a tet is its fill times that of a full one, K = w K₁, and a corner's mass is then
/// at least a quarter of w m₁, with m₁ = ρV/4 that of a full one. So
///
/// ```text
/// ω² = max vᵀ K v / vᵀ M v ≤ max w vᵀ K₁ v / (w/4 · m₁ vᵀ v) = 4 ω₁²
/// ```
///
/// and the highest frequency of any tet, which bounds that of the mesh, is at most twice that of a
/// full tet. Without the bound it grows as the mass of the lightest corner vanishes.
pub(crate) const MIN_CORNER_FRACTION: f64 = 1.0 / 16.0;

/// The fill (1) and corner volumes (a quarter of the tet each, m³) of tets that are full.
pub fn full_fill(mesh: &TetMesh) -> (Vec<f64>, Vec<[f64; 4]>) {
    let corner_volume = (0..mesh.tets.len()).map(|t| [mesh.tet_volume(t) / 4.0; 4]).collect();
    (vec![1.0; mesh.tets.len()], corner_volume)
}

/// Points spread evenly over a tet, as barycentric coordinates; a different set for each tet, so
/// that their errors do not add up.
///
/// Multiples of (1/g, 1/g², 1/g³) mod 1 with g⁴ = g + 1 fill the cube evenly; folding brings the cube
/// onto the tet (RocchiniCignoni2000).
pub(crate) fn samples(key: TetKey) -> impl Iterator<Item = [f64; 4]> {
    const STEP: [f64; 3] = [0.819_172_513_396_164_4, 0.671_043_606_703_789_2, 0.549_700_477_901_970_3];
    let start = [1, 2, 3].map(|axis| unit(key.0.wrapping_mul(3).wrapping_add(axis)));
    (0..SAMPLES).map(move |i| {
        let at = |axis: usize| {
            let x = start[axis] + i as f64 * STEP[axis];
            x - x.floor()
        };
        fold([at(0), at(1), at(2)])
    })
}

/// Folds the unit cube onto a tet, volume for volume.
fn fold([mut s, mut t, mut u]: [f64; 3]) -> [f64; 4] {
    if s + t > 1.0 {
        (s, t) = (1.0 - s, 1.0 - t);
    }
    if s + t + u > 1.0 {
        if t + u > 1.0 {
            (t, u) = (1.0 - u, 1.0 - s - t);
        } else {
            (s, u) = (1.0 - t - u, s + t + u - 1.0);
        }
    }
    [1.0 - s - t - u, s, t, u]
}

/// A number in 0..1 that looks like chance (SplitMix64).
fn unit(seed: u64) -> f64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
}

/// Raises corners to [`MIN_CORNER_FRACTION`] of their sum; the others pay in proportion to what they
/// have above it, so the sum stays and none falls below.
pub(crate) fn raise_light_corners(corners: &mut [f64; 4]) {
    let total: f64 = corners.iter().sum();
    let least = MIN_CORNER_FRACTION * total;
    let lacking: f64 = corners.iter().map(|c| (least - c).max(0.0)).sum();
    let above: f64 = corners.iter().map(|c| (c - least).max(0.0)).sum();
    if lacking > 0.0 && above > 0.0 {
        for c in corners {
            *c = least + (*c - least).max(0.0) * (1.0 - lacking / above);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of each coordinate over a tet is 1/4, its mean square 1/10; 64 even samples err by
    /// about 64^(−2/3) of the spread √(1/10 − 1/16) ≈ 0.2.
    #[test]
    fn samples_are_even_over_the_tet() {
        for key in [TetKey(0), TetKey(77), TetKey(123_456_789)] {
            let (mut mean, mut square) = ([0.0; 4], [0.0; 4]);
            for b in samples(key) {
                assert!(b.iter().all(|&x| x >= -1e-15) && (b.iter().sum::<f64>() - 1.0).abs() < 1e-14);
                for i in 0..4 {
                    mean[i] += b[i] / SAMPLES as f64;
                    square[i] += b[i] * b[i] / SAMPLES as f64;
                }
            }
            let error = 0.2 / 16.0;
            assert!(mean.iter().all(|m| (m - 0.25).abs() < 3.0 * error), "{mean:?}");
            assert!(square.iter().all(|m| (m - 0.1).abs() < 3.0 * error), "{square:?}");
        }
    }

    #[test]
    fn light_corners_are_raised_and_the_sum_stays() {
        for corners in [[1.0, 0.0, 0.0, 0.0], [0.5, 0.4, 0.1, 0.0], [0.25; 4], [0.9, 0.07, 0.02, 0.01]] {
            let mut raised = corners;
            raise_light_corners(&mut raised);
            assert!((raised.iter().sum::<f64>() - 1.0).abs() < 1e-15);
            assert!(raised.iter().all(|&c| c >= MIN_CORNER_FRACTION - 1e-15), "{raised:?}");
        }
        let mut even = [0.25; 4];
        raise_light_corners(&mut even);
        assert_eq!(even, [0.25; 4]);
    }

    /// The highest frequency of a tet scales with √(stiffness / mass of its lightest corner); both
    /// carry the fill, which cancels.
    #[test]
    fn no_corner_is_lighter_than_a_quarter_of_its_even_fraction() {
        let fill = 0.01;
        let mut corners = [fill, 0.0, 0.0, 0.0];
        raise_light_corners(&mut corners);
        let lightest = corners.iter().fold(f64::MAX, |m, &c| m.min(c));
        let frequency_ratio = (fill / lightest / 4.0).sqrt();
        assert!(frequency_ratio <= 2.0 + 1e-12);
    }
}
