//! Penetration depths of surfaces into themselves, each other and obstacles, as a diagnostic.

use crate::{Model, State};
use rayon::prelude::*;
use sinew_contact::{Bounds, BoxTree, nearest_on_triangle};
use sinew_math::Vec3;
use sinew_mesh::WindingTree;

/// Maximum penetration depths (m).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlap {
    /// Into themselves and each other: the largest distance of a vertex inside other flesh from the surface it has penetrated.
    pub surfaces: f64,
    /// Into obstacles.
    pub obstacles: f64,
}

/// Offset in front of a vertex at which the inside test is evaluated, relative to the vertex spacing.
const OFF_SURFACE: f64 = 0.2;
/// Winding number above which a point is inside; for closed surfaces it is 0 outside and 1 inside, in between near holes.
const INSIDE: f64 = 0.6;
/// A vertex has approached a triangle if it was this many times farther from it at rest and not adjacent to it; others are neighbours on the surface.
const CAME_NEARER: f64 = 2.0;

impl Overlap {
    /// Measures a state. Tests every vertex, which takes as long as about a hundred steps.
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

/// Depth in flesh: a vertex is inside other flesh if a point slightly in front of it is inside any surface.
fn in_surfaces(model: &Model, x: &[Vec3]) -> f64 {
    // surfaces of all bodies, with vertex normals
    let surfaces = || model.bodies().iter().map(|body| body.contact_mesh().0);
    let rest: Vec<Vec3> = surfaces().flat_map(|surface| surface.vertices.iter().copied()).collect();
    let (mut triangles, mut normals) = (Vec::new(), vec![Vec3::zeros(); x.len()]);
    let mut first = 0;
    for surface in surfaces() {
        triangles.extend(surface.triangles.iter().map(|triangle| triangle.map(|v| first + v as usize)));
        first += surface.vertices.len();
    }
    for corners in &triangles {
        let [a, b, c] = corners.map(|v| x[v]);
        corners.iter().for_each(|v| normals[*v] += (b - a).cross(&(c - a)));
    }

    // acceleration structures
    let places: Vec<[Vec3; 3]> = triangles.iter().map(|corners| corners.map(|v| x[v])).collect();
    let boxes = BoxTree::build(&places.iter().map(Bounds::around).collect::<Vec<_>>());
    let winding = WindingTree::build(places.clone());
    let off = OFF_SURFACE * model.contact_surface().spacing;

    // depth of a vertex below the nearest triangle that it has approached
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

    // maximum over all vertices
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
            air_drag: 0.0,
        }
    }

    /// Two balls of radius 100 mm whose centres are 185 mm apart, on ground that is 3 mm above their lowest points: vertices lie on the balls, so the largest depth equals that of the
    /// balls to within the sagitta of a facet, (5 mm)²/2r = 0.2 mm, and about as much again from the sampling by vertices.
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
