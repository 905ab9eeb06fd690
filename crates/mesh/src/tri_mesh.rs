//! Triangle mesh, with its volume and area.

use sinew_math::Vec3;

/// A triangle mesh, counter-clockwise seen from outside. It may be open, inconsistently oriented or self-intersecting: real
/// characters are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions (m).
    pub vertices: Vec<Vec3>,
    /// Three vertex indices per triangle.
    pub triangles: Vec<[u32; 3]>,
}

impl TriMesh {
    /// The corners of triangle `t` (m).
    pub fn corners(&self, t: usize) -> [Vec3; 3] {
        self.triangles[t].map(|v| self.vertices[v as usize])
    }

    /// The smallest and largest coordinates of the vertices (m); `None` without vertices.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        bounds(&self.vertices)
    }

    /// The volume (m³) enclosed by a closed surface, by the divergence theorem: Σ a · (b × c) / 6 over its triangles.
    pub fn signed_volume(&self) -> f64 {
        let corner = self.vertices.first().copied().unwrap_or_default();
        (0..self.triangles.len())
            .map(|t| {
                let [a, b, c] = self.corners(t).map(|p| p - corner);
                a.dot(&b.cross(&c)) / 6.0
            })
            .sum()
    }

    /// The area of the surface (m²).
    pub fn area(&self) -> f64 {
        (0..self.triangles.len())
            .map(|t| {
                let [a, b, c] = self.corners(t);
                0.5 * (b - a).cross(&(c - a)).norm()
            })
            .sum()
    }
}

pub(crate) fn bounds(points: &[Vec3]) -> Option<(Vec3, Vec3)> {
    let first = *points.first()?;
    Some(points.iter().fold((first, first), |(lo, hi), p| (lo.inf(p), hi.sup(p))))
}

#[cfg(test)]
mod tests {
    use crate::shapes;

    #[test]
    fn the_volume_of_a_box_is_independent_of_its_position() {
        let mut cube = shapes::cuboid([2.0, 3.0, 0.5]);
        for v in &mut cube.vertices {
            *v += sinew_math::Vec3::new(10.0, -20.0, 30.0);
        }
        assert!((cube.signed_volume() - 3.0).abs() < 1e-12);
        assert!((cube.area() - 2.0 * (6.0 + 1.0 + 1.5)).abs() < 1e-12);
    }
}
