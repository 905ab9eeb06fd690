//! How deep surfaces are in themselves, in each other and in obstacles, for whoever wants to know.

use crate::{Body, Model, State};
use sinew_contact::{NearPair, PairSurface, SurfacePairs, nearest_on_triangle};
use sinew_math::Vec3;

/// How deep surfaces are where they should not be (m).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlap {
    /// In themselves and in each other: how far the deepest vertex is behind the triangle nearest to it that it does not hang together with.
    pub surfaces: f64,
    /// In obstacles.
    pub obstacles: f64,
}

/// A gauge for [`Overlap`], with trees of its own over all surfaces.
#[derive(Clone, Debug)]
pub struct OverlapGauge {
    finder: SurfacePairs,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
}

impl OverlapGauge {
    /// A gauge that sees down to a depth (m); what is deeper is not seen. Limbs must be thicker than that.
    pub fn build(model: &Model, deepest: f64) -> OverlapGauge {
        let surfaces: Vec<PairSurface> = model.bodies.iter().map(pair_surface).collect();
        let count = model.touch.count();
        OverlapGauge {
            finder: SurfacePairs::build(&surfaces, 0.0, deepest),
            x: vec![Vec3::zeros(); count],
            v: vec![Vec3::zeros(); count],
        }
    }

    /// Measures a state.
    pub fn measure(&mut self, model: &Model, state: &State) -> Overlap {
        for (i, x) in self.x.iter_mut().enumerate() {
            *x = model.touch.at(i, &state.node_x);
        }
        let mut overlap = Overlap::default();
        self.finder.refit(&self.x, &self.v);
        self.finder.find(&self.x, &self.v, 0.0, 0.0);
        for own in self.finder.pairs().chunk_by(|a, b| a.vertex == b.vertex) {
            let nearest = own.iter().min_by(|a, b| a.distance.total_cmp(&b.distance));
            if let Some(pair) = nearest.filter(|pair| self.is_behind(pair)) {
                overlap.surfaces = overlap.surfaces.max(pair.distance);
            }
        }
        for (obstacle, now) in model.obstacles.iter().zip(&state.obstacles) {
            for x in &self.x {
                let p = now.pose.rotation.inverse_transform_vector(&(x - now.pose.translation.vector));
                overlap.obstacles = overlap.obstacles.max(-obstacle.shape.probe(&p).distance);
            }
        }
        overlap
    }

    /// Whether the vertex of a pair is behind its triangle.
    fn is_behind(&self, pair: &NearPair) -> bool {
        let [a, b, c] = self.finder.triangle(pair.triangle).map(|v| self.x[v as usize]);
        let p = self.x[pair.vertex as usize];
        let off = p - nearest_on_triangle(&p, &[a, b, c]).point;
        // well behind, and not beside an edge
        off.dot(&(b - a).cross(&(c - a)).normalize()) < -0.5 * pair.distance
    }
}

fn pair_surface(body: &Body) -> PairSurface<'_> {
    let (triangles, rest) = (&body.surface.triangles, &body.surface.vertices);
    PairSurface { triangles, rest, touches_itself: true, touches_others: true }
}
