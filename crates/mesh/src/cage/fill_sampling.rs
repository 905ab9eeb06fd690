//! Quasi-Monte Carlo sampling of the fill of a tet, and a lower bound on corner volumes.
//!
//! Low-discrepancy points in a tet are tested for being inside the solid. The inside fraction is the fill, and the barycentric coordinates
//! of the inside points distribute the volume to the corners (KimPollard2011, §4.3). Corner volumes are then bounded from below, so that no
//! light node limits the time step.

use super::lattice::TetKey;
use crate::TetMesh;

/// Samples per cut tet. The error of the fill is about 64^(−2/3) = 6 % of a tet, which averages to less than a percent of the volume over
/// the hundreds of cut tets of a body. Twice as many samples would double the build time for a third less error.
pub(crate) const SAMPLES: usize = 64;

/// The minimum fraction of the filled volume of a tet per corner: a quarter of the mean.
///
/// The stiffness of a tet is its fill times that of a full tet, K = w K₁, and the mass of a corner is then
/// at minimum a quarter of w m₁, with m₁ = ρV/4 that of a full tet. So
///
/// ```text
/// ω² = max vᵀ K v / vᵀ M v ≤ max w vᵀ K₁ v / (w/4 · m₁ vᵀ v) = 4 ω₁²
/// ```
///
/// and the highest frequency of any tet, which bounds that of the mesh, is at most twice that of a
/// full tet. Without the bound it diverges as the mass of the lightest corner vanishes.
pub(crate) const MIN_CORNER_FRACTION: f64 = 1.0 / 16.0;

/// The fill (1) and corner volumes (m³, a quarter of the tet each) of a mesh whose tets are all full.
pub fn full_fill(mesh: &TetMesh) -> (Vec<f64>, Vec<[f64; 4]>) {
    let corner_volume = (0..mesh.tets.len()).map(|t| [mesh.tet_volume(t) / 4.0; 4]).collect();
    (vec![1.0; mesh.tets.len()], corner_volume)
}

/// Low-discrepancy points in a tet, in barycentric coordinates; shifted differently in each tet, so that errors do not add up.
///
/// Multiples of (1/g, 1/g², 1/g³) mod 1 with g⁴ = g + 1 (the R₃ sequence) fill the unit cube evenly; folding maps the cube
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

/// Folds the unit cube onto a tet, preserving volume.
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

/// A pseudo-random number in [0, 1) (SplitMix64).
fn unit(seed: u64) -> f64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
}

/// Raises corner volumes to [`MIN_CORNER_FRACTION`] of their sum. The others are reduced in proportion to their excess, so the sum
/// is preserved and none falls below the bound.
pub(crate) fn raise_light_corners(corners: &mut [f64; 4]) {
    let total: f64 = corners.iter().sum();
    let minimum = MIN_CORNER_FRACTION * total;
    let lacking: f64 = corners.iter().map(|c| (minimum - c).max(0.0)).sum();
    let above: f64 = corners.iter().map(|c| (c - minimum).max(0.0)).sum();
    if lacking > 0.0 && above > 0.0 {
        for c in corners {
            *c = minimum + (*c - minimum).max(0.0) * (1.0 - lacking / above);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of each coordinate over a tet is 1/4, its mean square 1/10; the error of 64 samples is
    /// about 64^(−2/3) of the standard deviation √(1/10 − 1/16) ≈ 0.2.
    #[test]
    fn sample_moments_are_those_of_the_uniform_distribution() {
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
    fn light_corners_are_raised_and_the_sum_is_preserved() {
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

    /// The highest frequency of a tet scales with √(stiffness / mass of its lightest corner); both are
    /// proportional to the fill, which cancels.
    #[test]
    fn no_corner_is_lighter_than_a_quarter_of_the_mean() {
        let fill = 0.01;
        let mut corners = [fill, 0.0, 0.0, 0.0];
        raise_light_corners(&mut corners);
        let lightest = corners.iter().fold(f64::MAX, |m, &c| m.min(c));
        let frequency_ratio = (fill / lightest / 4.0).sqrt();
        assert!(frequency_ratio <= 2.0 + 1e-12);
    }
}
