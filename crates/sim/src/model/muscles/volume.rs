//! Which fraction of each tet is inside a muscle, by samples.

use crate::body::Shape;
use crate::desc::MuscleVolume;
use sinew_math::Vec3;
use sinew_mesh::{Solid, TetMesh, TriMesh};

/// Samples along each direction of a tet: 20 in all.
const SAMPLES: usize = 4;

/// A muscle's volume at rest.
pub(super) enum MuscleShape<'a> {
    /// The whole body, of these points.
    Body(&'a [Vec3]),
    Mesh(Box<Solid>, &'a TriMesh),
    /// An ellipsoid of revolution with ends and a radius.
    Spindle([Vec3; 2], f64),
}

impl<'a> MuscleShape<'a> {
    pub(super) fn build(
        volume: &'a MuscleVolume,
        ends: Option<[Vec3; 2]>,
        shape: &'a Shape,
    ) -> Result<MuscleShape<'a>, String> {
        match (volume, ends) {
            (MuscleVolume::Body, _) => Ok(MuscleShape::Body(&shape.surface.vertices)),
            (MuscleVolume::Mesh(mesh), _) => {
                let solid = Solid::build(mesh).map_err(|error| format!("its mesh: {error}"))?;
                Ok(MuscleShape::Mesh(Box::new(solid), mesh))
            }
            (MuscleVolume::Spindle(radius), Some(ends)) => Ok(MuscleShape::Spindle(ends, *radius)),
            (MuscleVolume::Spindle(_), None) => {
                Err("a spindle needs an origin and an insertion: give both".into())
            }
        }
    }

    /// The ends of its longest direction (m): the point farthest from the middle, and the one farthest from that.
    pub(super) fn ends(&self) -> [Vec3; 2] {
        let points = match self {
            MuscleShape::Body(points) => points,
            MuscleShape::Mesh(_, mesh) => mesh.vertices.as_slice(),
            MuscleShape::Spindle(ends, _) => return *ends,
        };
        let farthest = |from: &Vec3| {
            let far = |x: &&Vec3| (*x - from).norm_squared();
            points.iter().max_by(|a, b| far(a).total_cmp(&far(b))).copied().unwrap_or_default()
        };
        let middle = points.iter().sum::<Vec3>() / points.len().max(1) as f64;
        let first = farthest(&middle);
        [first, farthest(&first)]
    }

    /// For each tet the fraction of it that is inside.
    pub(super) fn fractions(&self, mesh: &TetMesh) -> Vec<f64> {
        if let MuscleShape::Body(_) = self {
            return vec![1.0; mesh.tets.len()];
        }
        let weights = sample_weights();
        let mut points = Vec::with_capacity(weights.len() * mesh.tets.len());
        for tet in &mesh.tets {
            let corners = tet.map(|node| mesh.nodes[node as usize]);
            points.extend(weights.iter().map(|w| (0..4).map(|k| w[k] * corners[k]).sum::<Vec3>()));
        }
        let inside = self.contains_each(&points);
        let count = weights.len();
        inside.chunks(count).map(|own| own.iter().filter(|own| **own).count() as f64 / count as f64).collect()
    }

    fn contains_each(&self, points: &[Vec3]) -> Vec<bool> {
        match self {
            MuscleShape::Body(_) => vec![true; points.len()],
            MuscleShape::Mesh(solid, _) => solid.contains_each(points),
            // (2 z/L)² + (r/R)² ≤ 1 about the middle
            MuscleShape::Spindle([a, b], radius) => {
                let (middle, length) = (0.5 * (a + b), (b - a).norm());
                let axis = (b - a) / length;
                let is_inside = |x: &Vec3| {
                    let along = (x - middle).dot(&axis);
                    let across = (x - middle - along * axis).norm();
                    let (z, r) = (2.0 * along / length, across / radius);
                    z * z + r * r <= 1.0
                };
                points.iter().map(is_inside).collect()
            }
        }
    }
}

/// Barycentric coordinates of samples that are spread evenly over a tet.
fn sample_weights() -> Vec<[f64; 4]> {
    let mut all = Vec::new();
    let last = SAMPLES - 1;
    for i in 0..=last {
        for j in 0..=last - i {
            for k in 0..=last - i - j {
                let counts = [i, j, k, last - i - j - k];
                all.push(counts.map(|count| (count as f64 + 0.25) / SAMPLES as f64));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    #[test]
    fn samples_are_inside_and_their_mean_is_the_middle() {
        let all = sample_weights();
        assert_eq!(all.len(), 20);
        for k in 0..4 {
            let mean = all.iter().map(|w| w[k]).sum::<f64>() / 20.0;
            assert!((mean - 0.25).abs() < 1e-12);
        }
        assert!(
            all.iter().all(|w| (w.iter().sum::<f64>() - 1.0).abs() < 1e-12 && w.iter().all(|w| *w > 0.0))
        );
    }

    /// 4/3 π (L/2) R² of a spindle in a lattice of some 40,000 samples, of which those near the surface are right to about the square root of their number: 2 %.
    #[test]
    fn the_fractions_of_a_spindle_add_up_to_its_volume() {
        let mesh = shapes::beam(8, [0.2, 0.1, 0.1]);
        let (low, high) =
            mesh.nodes.iter().fold((mesh.nodes[0], mesh.nodes[0]), |(l, h), x| (l.inf(x), h.sup(x)));
        let middle = 0.5 * (low + high);
        let half = Vec3::new(0.08, 0.0, 0.0);
        let spindle = MuscleShape::Spindle([middle - half, middle + half], 0.03);
        let fractions = spindle.fractions(&mesh);
        let volume: f64 = fractions.iter().enumerate().map(|(tet, f)| f * mesh.tet_volume(tet)).sum();
        let exact = 4.0 / 3.0 * core::f64::consts::PI * 0.08 * 0.03 * 0.03;
        assert!((volume / exact - 1.0).abs() < 0.02, "{volume} {exact}");
    }
}
