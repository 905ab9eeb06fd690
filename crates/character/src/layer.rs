//! Thin layers over flesh: clothes, fur and hair cards that lie close to it move along, so that it does not come through.
//!
//! A vertex of a sheet takes the displacement from skinning of the flesh that is nearest at bind, by a factor that fades with the distance d
//! between them: what lies on the flesh follows it wholly, what hangs free stays as it is skinned.
//!
//! ```text
//! x = x_skinned + w(d) (y − y_skinned),   w = 1 for d ≤ d₀,  0 for d ≥ d₁,  linear between
//! ```

use sinew_contact::{Bounds, BoxTree, nearest_on_triangle};
use sinew_math::Vec3;
use sinew_mesh::TriMesh;

/// d₀ and d₁ as fractions of the character's size: a thick coat, and a skirt that stands off.
const CLOSE: f64 = 0.01;
const FAR: f64 = 0.03;

/// A vertex that follows a point of the flesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LayerVertex {
    /// The vertex, in its own surface.
    pub(crate) vertex: u32,
    /// Vertices of the flesh, and how much of the displacement of each it takes.
    pub(crate) flesh: [(u32, f64); 3],
}

/// The flesh at bind, prepared for the search of what lies on it.
pub(crate) struct LayerFinder<'a> {
    surface: &'a TriMesh,
    tree: BoxTree,
    close: f64,
    far: f64,
}

impl<'a> LayerFinder<'a> {
    /// The flesh of a character of a size (m).
    pub(crate) fn build(surface: &'a TriMesh, size: f64) -> LayerFinder<'a> {
        let boxes: Vec<Bounds> = (0..surface.triangles.len())
            .map(|triangle| Bounds::around(&corners(surface, triangle)))
            .collect();
        LayerFinder { surface, tree: BoxTree::build(&boxes), close: CLOSE * size, far: FAR * size }
    }

    /// The flesh that a point (m) takes its displacement from, vertices with their fractions; `None` far from all flesh.
    pub(crate) fn find(&self, point: &Vec3) -> Option<[(u32, f64); 3]> {
        let nearest = |triangle: usize| nearest_on_triangle(point, &corners(self.surface, triangle));
        let limit = self.far * self.far;
        let (triangle, squared) = self
            .tree
            .find_nearest(point, limit, |triangle| (nearest(triangle).point - point).norm_squared())?;
        let weight = ((self.far - squared.sqrt()) / (self.far - self.close)).min(1.0);
        let (vertices, fractions) = (self.surface.triangles[triangle], nearest(triangle).weights);
        Some([0, 1, 2].map(|i| (vertices[i], weight * fractions[i])))
    }
}

fn corners(surface: &TriMesh, triangle: usize) -> [Vec3; 3] {
    surface.triangles[triangle].map(|v| surface.vertices[v as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_on_the_flesh_follows_wholly_and_what_hangs_free_not_at_all() {
        let surface =
            TriMesh { vertices: vec![Vec3::zeros(), Vec3::x(), Vec3::y()], triangles: vec![[0, 1, 2]] };
        let finder = LayerFinder::build(&surface, 1.0);
        let at = |height: f64| {
            finder.find(&Vec3::new(0.25, 0.5, height)).map(|flesh| flesh.map(|(_, weight)| weight))
        };
        assert_eq!(at(0.005), Some([0.25, 0.25, 0.5]));
        let half = at(-0.02).unwrap();
        assert!((half.iter().sum::<f64>() - 0.5).abs() < 1e-12);
        assert_eq!(at(0.031), None);
    }
}
