//! How deep surfaces are in themselves, in each other and in obstacles, for whoever wants to know.

use crate::{Model, State};
use rayon::prelude::*;
use sinew_contact::{Bounds, BoxTree, nearest_on_triangle};
use sinew_math::Vec3;
use sinew_mesh::WindingTree;

/// How deep surfaces are where they should not be (m).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlap {
    /// In themselves and in each other: how far the deepest vertex that is inside of other flesh is from the surface it has come to.
    pub surfaces: f64,
    /// In obstacles.
    pub obstacles: f64,
}

/// How far before a vertex it is tried whether that is inside, in parts of the distance of vertices.
const OFF_SURFACE: f64 = 0.2;
/// The winding number from which on a point is inside; 0 outside and 1 inside of closed surfaces, in between near holes.
const INSIDE: f64 = 0.6;
/// A vertex has come to a triangle if it was so many times as far from it at rest, and not right beside it; others hang together.
const CAME_NEARER: f64 = 2.0;

impl Overlap {
    /// Measures a state: looks at every vertex, which takes as long as some hundred steps.
    pub fn of(model: &Model, state: &State) -> Overlap {
        let x: Vec<Vec3> = (0..model.contact_surface().count())
            .map(|i| model.contact_surface().at(i, &state.node_x))
            .collect();
        let mut obstacles = 0.0f64;
        for (obstacle, now) in model.obstacles().iter().zip(&state.obstacles) {
            for x in &x {
                let p = now.pose.rotation.inverse_transform_vector(&(x - now.pose.translation.vector));
                obstacles = obstacles.max(-obstacle.shape.probe(&p).distance);
            }
        }
        Overlap { surfaces: in_surfaces(model, &x), obstacles }
    }
}

/// A vertex is inside of other flesh if a point before it, off its own surface, is inside of any.
fn in_surfaces(model: &Model, x: &[Vec3]) -> f64 {
    let rest: Vec<Vec3> =
        model.bodies().iter().flat_map(|body| body.surface.vertices.iter().copied()).collect();
    let (mut triangles, mut normals) = (Vec::new(), vec![Vec3::zeros(); x.len()]);
    let mut first = 0;
    for body in model.bodies() {
        triangles.extend(body.surface.triangles.iter().map(|triangle| triangle.map(|v| first + v as usize)));
        first += body.surface.vertices.len();
    }
    for corners in &triangles {
        let [a, b, c] = corners.map(|v| x[v]);
        corners.iter().for_each(|v| normals[*v] += (b - a).cross(&(c - a)));
    }
    let places: Vec<[Vec3; 3]> = triangles.iter().map(|corners| corners.map(|v| x[v])).collect();
    let boxes = BoxTree::build(&places.iter().map(Bounds::around).collect::<Vec<_>>());
    let winding = WindingTree::build(places.clone());
    let off = OFF_SURFACE * model.contact_surface().spacing;
    let depth = |vertex: usize| {
        let normal = normals[vertex].try_normalize(0.0)?;
        if winding.winding_number(&(x[vertex] + off * normal)) < INSIDE {
            return None;
        }
        let distance = |t: usize| {
            let now = (nearest_on_triangle(&x[vertex], &places[t]).point - x[vertex]).norm_squared();
            let at_rest = triangles[t].map(|v| rest[v]);
            let then = (nearest_on_triangle(&rest[vertex], &at_rest).point - rest[vertex]).norm_squared();
            let near = (CAME_NEARER * CAME_NEARER * now)
                .max(model.contact_surface().spacing * model.contact_surface().spacing);
            if then < near { f64::INFINITY } else { now }
        };
        boxes.find_nearest(&x[vertex], f64::INFINITY, distance).map(|(_, squared)| squared.sqrt())
    };
    let depths = (0..x.len()).into_par_iter().with_min_len(256).filter_map(depth);
    depths.filter(|depth| depth.is_finite()).reduce(|| 0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desc::{BodyDesc, CageSize, ObstacleDesc, Sag, ShapeDesc, WorldDesc};
    use sinew_flesh::Material;
    use sinew_mesh::shapes;

    fn ball(name: &str, x: f64) -> BodyDesc {
        let mut surface = shapes::sphere(0.1, 4);
        surface.vertices.iter_mut().for_each(|v| v.x += x);
        BodyDesc {
            name: name.into(),
            shape: ShapeDesc::Surface { surface, cage: CageSize::Tets(500) },
            material: Material::soft_solid(1e4, 0.4, 1000.0, 0.1),
            velocity: Vec3::zeros(),
            pins: Vec::new(),
            loads: Vec::new(),
            attachment: None,
            sag: Sag::Free,
        }
    }

    /// Two balls of radius 100 mm whose middles are 185 mm apart, on ground that is 3 mm above their lowest points: vertices lie on the balls, so that the deepest is as deep as the
    /// balls are to within the sagitta of a facet, (5 mm)²/2r = 0.2 mm, and what its place on the grid costs, as much again.
    #[test]
    fn balls_in_each_other_and_in_the_ground_are_as_deep_as_they_are() {
        let bodies = vec![ball("a", 0.0), ball("b", 0.3)];
        let obstacles = vec![ObstacleDesc::ground(-0.097)];
        let world = WorldDesc { bodies, obstacles, ..WorldDesc::default() };
        let model = Model::build(&world).expect("sound");
        let mut state = State::at_rest(&model);
        assert_eq!(Overlap::of(&model, &state).surfaces, 0.0);
        state.node_x[model.bodies()[1].nodes.clone()].iter_mut().for_each(|x| x.x -= 0.115);
        let overlap = Overlap::of(&model, &state);
        assert!(
            (overlap.surfaces - 0.015).abs() < 5e-4 && (overlap.obstacles - 0.003).abs() < 5e-4,
            "{overlap:?}"
        );
    }
}
