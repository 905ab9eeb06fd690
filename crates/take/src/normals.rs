//! Area-weighted vertex normals of a surface.
//!
//! Files often hold a vertex several times, once per patch or texture seam. Vertices at the same rest position
//! share their normal, so that no seam is visible.

use crate::frame::SurfaceInfo;
use std::collections::HashMap;

/// The connectivity of a surface, from which normals are computed in any pose.
pub struct Smoothing<'a> {
    triangles: &'a [[u32; 3]],
    /// For each vertex the first one at the same rest position.
    first_there: Vec<u32>,
}

impl<'a> Smoothing<'a> {
    /// Finds the coincident vertices of a surface.
    pub fn of(surface: &'a SurfaceInfo) -> Smoothing<'a> {
        Smoothing::with_creases(surface, &[])
    }

    /// The same, where the normals of the surface's file tell creases: coincident vertices whose normals there differ keep theirs apart.
    /// Without a normal for each vertex there are no creases.
    pub fn with_creases(surface: &'a SurfaceInfo, file_normals: &[[f32; 3]]) -> Smoothing<'a> {
        let mut first_at = HashMap::with_capacity(surface.rest.len());
        let has_normals = file_normals.len() == surface.rest.len();
        let first_there = surface.rest.iter().enumerate().map(|(v, place)| {
            // adding zero makes −0 and +0 one
            let key = place.map(|c| (c + 0.0).to_bits());
            // files round the normals of one vertex alike: to a tenth of the 8 bits that some store them in
            let crease = if has_normals { file_normals[v].map(|c| (1e3 * c).round() as i32) } else { [0; 3] };
            *first_at.entry((key, crease)).or_insert(v as u32)
        });
        Smoothing { first_there: first_there.collect(), triangles: &surface.triangles }
    }

    /// Unit normals of the vertices in a pose: the mean of the triangles around, weighted by area. A vertex
    /// without triangles, or whose triangles cancel, points along +y.
    pub fn normals(&self, positions: &[[f32; 3]]) -> Vec<[f32; 3]> {
        let mut own = vec![[0.0f64; 3]; positions.len()];
        for triangle in self.triangles {
            let [a, b, c] = triangle.map(|v| positions[v as usize].map(f64::from));
            let doubled_area = cross(difference(b, a), difference(c, a));
            triangle.iter().for_each(|v| add(&mut own[*v as usize], doubled_area));
        }
        let mut shared = own.clone();
        for (v, first) in self.first_there.iter().enumerate().filter(|(v, first)| *v != **first as usize) {
            add(&mut shared[*first as usize], own[v]);
        }
        let normal = |(own, first): (&[f64; 3], &u32)| {
            let shared = shared[*first as usize];
            // the two sides of a sheet cancel: each keeps its own
            let cancels = squared(shared) < 1e-6 * squared(*own);
            unit_or_up(if cancels { *own } else { shared })
        };
        own.iter().zip(&self.first_there).map(normal).collect()
    }
}

/// The unit vector along `v`, +y if the length of `v` is negligible or not finite.
pub fn unit_or_up(v: [f64; 3]) -> [f32; 3] {
    let length = squared(v).sqrt();
    if length > 1e-150 && length.is_finite() { v.map(|c| (c / length) as f32) } else { [0.0, 1.0, 0.0] }
}

fn squared(v: [f64; 3]) -> f64 {
    v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
}

fn add(sum: &mut [f64; 3], v: [f64; 3]) {
    (0..3).for_each(|i| sum[i] += v[i]);
}

fn difference(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    fn ball() -> SurfaceInfo {
        let mesh = shapes::sphere(0.01, 3);
        let rest = mesh.vertices.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
        SurfaceInfo { name: "ball".into(), triangles: mesh.triangles, rest }
    }

    #[test]
    fn normals_of_a_sphere_point_away_from_its_centre() {
        let ball = ball();
        for (normal, v) in Smoothing::of(&ball).normals(&ball.rest).iter().zip(&ball.rest) {
            let along = (0..3).map(|i| normal[i] * v[i] / 0.01).sum::<f32>();
            // the ring of triangles is symmetric to within the square of an edge over the radius (0.15²)
            assert!(along > 1.0 - 0.0225 / 2.0, "{along}");
        }
    }

    #[test]
    fn a_ball_of_single_triangles_is_as_smooth_as_a_whole_one() {
        let whole = ball();
        let corners: Vec<u32> = whole.triangles.concat();
        let apart = SurfaceInfo {
            name: "apart".into(),
            triangles: (0..corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
            rest: corners.iter().map(|v| whole.rest[*v as usize]).collect(),
        };
        let expected = Smoothing::of(&whole).normals(&whole.rest);
        let found = Smoothing::of(&apart).normals(&apart.rest);
        for (normal, v) in found.iter().zip(&corners) {
            // the same sums in another order
            assert!((0..3).all(|i| (normal[i] - expected[*v as usize][i]).abs() < 1e-6));
        }
    }

    #[test]
    fn creases_of_the_file_stay_and_seams_of_its_texture_do_not_show() {
        // two triangles at a right angle, which share an edge; each has its own vertices
        let rest = vec![
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0],
        ];
        let bent = SurfaceInfo { name: "bent".into(), triangles: vec![[0, 1, 2], [3, 4, 5]], rest };
        let (front, above) = ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0]);
        let flat = [front, front, front, above, above, above];
        assert_eq!(Smoothing::with_creases(&bent, &flat).normals(&bent.rest), flat);
        let smooth = Smoothing::with_creases(&bent, &[[0.0, 0.0, 1.0]; 6]).normals(&bent.rest);
        assert_eq!(smooth[0], smooth[4]);
        assert_eq!(smooth, Smoothing::of(&bent).normals(&bent.rest));
    }

    #[test]
    fn both_sides_of_a_sheet_keep_their_normals_and_a_lone_vertex_points_up() {
        let side = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let rest = [side.as_slice(), &side, &[[5.0, 5.0, 5.0]]].concat();
        let sheet = SurfaceInfo { name: "sheet".into(), triangles: vec![[0, 1, 2], [3, 5, 4]], rest };
        let normals = Smoothing::of(&sheet).normals(&sheet.rest);
        assert_eq!(
            (normals[0], normals[3], normals[6]),
            ([0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0])
        );
    }
}
