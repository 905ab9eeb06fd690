//! Roll of flesh about its bones: the best-fit rotation between skinned and simulated places, by the polar decomposition of their cross-covariance.
//!
//! ```text
//! H = Σᵢ (xᵢ − x̄)(yᵢ − ȳ)ᵀ,   H = R S
//! ```
//!
//! with the simulated places x and the skinned places y of the vertices that one bone mainly carries: R minimises Σ |xᵢ − x̄ − R (yᵢ − ȳ)|² (orthogonal Procrustes). A shift of the whole and a
//! stretch leave R alone.

use sinew_math::svd::{Polar, Svd};
use sinew_math::{Mat3, Vec3, so3};

/// A bone mainly carries a vertex from this weight on.
const MAIN_WEIGHT: f32 = 0.6;
/// Fewer vertices say little about a rotation.
const MIN_VERTICES: usize = 8;
/// Vertices along a line leave the rotation about it open: the second singular value of H is at least this fraction of the first.
const MIN_SPREAD: f64 = 1e-4;

/// The vertices that each bone mainly carries.
#[derive(Debug)]
pub(crate) struct RolledBones {
    vertices: Vec<(usize, Vec<u32>)>,
}

impl RolledBones {
    /// Sorts vertices by bones, given the bones of each vertex with weights.
    pub(crate) fn of(bone_count: usize, weights: &[Vec<(u32, f32)>]) -> RolledBones {
        let mut vertices = vec![Vec::new(); bone_count];
        for (vertex, weights) in (0..).zip(weights) {
            for (bone, _) in weights.iter().filter(|(_, weight)| *weight >= MAIN_WEIGHT) {
                vertices[*bone as usize].push(vertex);
            }
        }
        let enough = |(_, vertices): &(usize, Vec<u32>)| vertices.len() >= MIN_VERTICES;
        RolledBones { vertices: vertices.into_iter().enumerate().filter(enough).collect() }
    }

    /// The largest angle (rad) by which the vertices of a bone are rotated from their skinned places, and the bone.
    pub(crate) fn largest_angle(&self, skinned: &[Vec3], simulated: &[Vec3]) -> Option<(f64, usize)> {
        let angle =
            |(bone, vertices): &(usize, Vec<u32>)| Some((angle(vertices, skinned, simulated)?, *bone));
        self.vertices.iter().filter_map(angle).max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

/// The angle of the best-fit rotation of some vertices (rad); `None` if they lie along a line.
fn angle(vertices: &[u32], skinned: &[Vec3], simulated: &[Vec3]) -> Option<f64> {
    let mean =
        |points: &[Vec3]| vertices.iter().map(|v| points[*v as usize]).sum::<Vec3>() / vertices.len() as f64;
    let (from, to) = (mean(skinned), mean(simulated));
    let outer = |v: &u32| (simulated[*v as usize] - to) * (skinned[*v as usize] - from).transpose();
    let covariance: Mat3 = vertices.iter().map(outer).sum();
    let sigma = Svd::of(&covariance).sigma;
    (sigma.y > MIN_SPREAD * sigma.x).then(|| so3::log(&Polar::of(&covariance).quaternion()).norm())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of ten vertices about an axis along z, 0.1 m long.
    fn ring() -> Vec<Vec3> {
        let place = |i: u32| {
            let angle = f64::from(i) * core::f64::consts::TAU / 10.0;
            so3::axis_angle(&Vec3::z(), angle)
                * Vec3::new(0.03, 0.0, if i.is_multiple_of(2) { 0.05 } else { -0.05 })
        };
        (0..10).map(place).collect()
    }

    #[test]
    fn a_rotation_about_the_bone_is_found_whatever_the_shift_and_stretch() {
        let skinned = ring();
        let turn = so3::axis_angle(&Vec3::z(), 0.35);
        let simulated: Vec<Vec3> =
            skinned.iter().map(|p| turn * (1.3 * p) + Vec3::new(2.0, -1.0, 0.5)).collect();
        let rolled = RolledBones::of(2, &vec![vec![(1, 0.7), (0, 0.3)]; 10]);
        let (angle, bone) = rolled.largest_angle(&skinned, &simulated).unwrap();
        assert!((angle - 0.35).abs() < 1e-12 && bone == 1, "{angle} at {bone}");
    }

    #[test]
    fn few_vertices_and_vertices_along_a_line_have_no_angle() {
        let skinned = ring();
        assert_eq!(RolledBones::of(1, &vec![vec![(0, 1.0)]; 7]).largest_angle(&skinned, &skinned), None);
        assert_eq!(RolledBones::of(1, &vec![vec![(0, 0.5)]; 10]).largest_angle(&skinned, &skinned), None);
        let line: Vec<Vec3> = (0..10).map(|i| Vec3::new(f64::from(i), 0.0, 0.0)).collect();
        assert_eq!(RolledBones::of(1, &vec![vec![(0, 1.0)]; 10]).largest_angle(&line, &line), None);
    }
}
