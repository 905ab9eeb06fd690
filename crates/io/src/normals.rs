//! Smooth normals of a surface.

/// Unit normals of the vertices: the mean of the triangles around, weighted by area. A vertex without
/// triangles, or whose triangles cancel, points along +y.
pub(crate) fn smooth_normals(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<[f32; 3]> {
    let mut sums = vec![[0.0f64; 3]; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize].map(f64::from));
        let doubled_area = cross(difference(b, a), difference(c, a));
        for v in triangle {
            let sum = &mut sums[*v as usize];
            (0..3).for_each(|i| sum[i] += doubled_area[i]);
        }
    }
    sums.into_iter().map(unit_or_up).collect()
}

/// The unit vector along `v`, +y if `v` has no length to speak of.
pub(crate) fn unit_or_up(v: [f64; 3]) -> [f32; 3] {
    let length = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
    if length > 1e-150 && length.is_finite() { v.map(|c| (c / length) as f32) } else { [0.0, 1.0, 0.0] }
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

    #[test]
    fn normals_of_a_sphere_point_away_from_its_centre() {
        let ball = shapes::sphere(0.01, 3);
        let positions: Vec<[f32; 3]> =
            ball.vertices.iter().map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
        for (normal, v) in smooth_normals(&positions, &ball.triangles).iter().zip(&ball.vertices) {
            let along = (0..3).map(|i| f64::from(normal[i]) * v[i] / 0.01).sum::<f64>();
            // the ring of triangles is symmetric to within the square of an edge over the radius (0.15²)
            assert!(along > 1.0 - 0.0225 / 2.0, "{along}");
        }
    }

    #[test]
    fn a_vertex_without_triangles_points_up() {
        assert_eq!(smooth_normals(&[[1.0, 2.0, 3.0]], &[]), [[0.0, 1.0, 0.0]]);
    }
}
