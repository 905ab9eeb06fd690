//! Samples of a surface: vertices no closer than a distance, each of which stands for those around it.

use sinew_math::Vec3;
use sinew_mesh::TriMesh;
use std::collections::HashMap;

/// A subset of the vertices of a surface.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    /// Whether each vertex is one.
    pub(super) is_sample: Vec<bool>,
    /// The area that each one stands for (m²); 0 for others.
    pub(super) area: Vec<f64>,
}

/// Vertices whose normals differ by more than this (cosine) do not stand for each other: those of the two sides of a thin part.
const SAME_SIDE: f64 = 0.3;

/// Chooses samples at least `spacing` (m) apart on each side of the surface. Sharp vertices come first, so that corners and tips are among them.
pub(super) fn choose_samples(surface: &TriMesh, spacing: f64) -> Samples {
    // area and mean normal of each vertex; the mean is the shorter, the sharper it is
    let count = surface.vertices.len();
    let (mut area, mut normals) = (vec![0.0; count], vec![Vec3::zeros(); count]);
    for (t, corners) in surface.triangles.iter().enumerate() {
        let [a, b, c] = surface.corners(t);
        let normal = (b - a).cross(&(c - a)) / 6.0;
        for v in corners {
            normals[*v as usize] += normal;
            area[*v as usize] += normal.norm();
        }
    }
    let flatness = |v: usize| if area[v] > 0.0 { normals[v].norm() / area[v] } else { 1.0 };
    let mut order: Vec<u32> = (0..count as u32).filter(|v| area[*v as usize] > 0.0).collect();
    order.sort_by_key(|v| ((FLATNESS_STEPS * flatness(*v as usize)) as u32, *v));

    // greedily, with the samples so far in a grid
    let mut grid: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    let cell = |x: &Vec3| [0, 1, 2].map(|k| (x[k] / spacing).floor() as i64);
    let mut samples = Samples { is_sample: vec![false; count], area: vec![0.0; count] };
    for v in order {
        let (x, normal) = (surface.vertices[v as usize], normals[v as usize]);
        let stands_for = |other: &u32| {
            let theirs = normals[*other as usize];
            (surface.vertices[*other as usize] - x).norm_squared() < spacing * spacing
                && theirs.dot(&normal) > SAME_SIDE * theirs.norm() * normal.norm()
        };
        let at = cell(&x);
        let near = (0..27).find_map(|i| {
            let there = [at[0] + i % 3 - 1, at[1] + i / 3 % 3 - 1, at[2] + i / 9 - 1];
            grid.get(&there)?.iter().copied().find(stands_for)
        });
        let own = near.unwrap_or(v);
        if near.is_none() {
            samples.is_sample[v as usize] = true;
            grid.entry(at).or_default().push(v);
        }
        samples.area[own as usize] += area[v as usize];
    }
    samples
}

/// Flatness is compared in this many steps, within which the order of vertices decides.
const FLATNESS_STEPS: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    /// No two samples on one side are closer, every vertex is near one, areas add up, and corners are samples.
    #[test]
    fn samples_are_apart_and_stand_for_all() {
        let ball = shapes::sphere(0.1, 4);
        let spacing = 0.03;
        let samples = choose_samples(&ball, spacing);
        let chosen: Vec<Vec3> =
            (0..ball.vertices.len()).filter(|v| samples.is_sample[*v]).map(|v| ball.vertices[v]).collect();
        for (i, a) in chosen.iter().enumerate() {
            assert!(chosen[..i].iter().all(|b| (a - b).norm() >= spacing));
        }
        assert!(ball.vertices.iter().all(|v| chosen.iter().any(|s| (s - v).norm() < spacing)));
        let whole: f64 = (0..ball.triangles.len())
            .map(|t| {
                let [a, b, c] = ball.corners(t);
                0.5 * (b - a).cross(&(c - a)).norm()
            })
            .sum();
        assert!((samples.area.iter().sum::<f64>() - whole).abs() < 1e-12);
        let block = shapes::cuboid([0.1, 0.1, 0.1]);
        assert!(choose_samples(&block, 0.05).is_sample.iter().all(|is| *is));
    }

    /// Both sides of a plate thinner than the spacing have their own.
    #[test]
    fn both_sides_of_a_thin_plate_have_samples() {
        let plate = shapes::cuboid([0.1, 0.001, 0.1]);
        let samples = choose_samples(&plate, 0.05);
        let heights = plate.vertices.iter().zip(&samples.is_sample).filter(|(_, is)| **is).map(|(v, _)| v.y);
        let (low, high) =
            heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
        assert!(high > low);
    }
}
