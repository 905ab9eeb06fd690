//! Penetration depths of surfaces into themselves, each other and obstacles, as a diagnostic.

use crate::{Model, State};
use rayon::prelude::*;
use sinew_contact::{Bounds, BoxTree, nearest_on_triangle};
use sinew_math::{Mat3, Vec3};
use sinew_mesh::WindingTree;

/// Maximum penetration depths (m).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlap {
    /// Into themselves and each other: the largest depth, at rest, of the flesh that a vertex of a surface is inside of; bodies of other kinds than tets are not looked into.
    pub surfaces: f64,
    /// Into obstacles.
    pub obstacles: f64,
}

/// Winding number above which a point is inside; for closed surfaces it is 0 outside and 1 inside, in between near holes.
const INSIDE: f64 = 0.6;
/// A point this far outside of a tet, in barycentric coordinates, is still inside: faces leave no gaps.
const ON_FACE: f64 = 1e-9;

impl Overlap {
    /// Measures a state. Tests every vertex, which takes as long as about a hundred steps.
    pub fn of(model: &Model, state: &State) -> Overlap {
        let surfaces = Overlap::of_vertices(model, state).into_iter().fold(0.0, f64::max);
        Overlap { surfaces, obstacles: Overlap::in_obstacles(model, state) }
    }

    /// The largest depth of a vertex in an obstacle (m).
    pub fn in_obstacles(model: &Model, state: &State) -> f64 {
        let x = vertices(model, state);
        let mut deepest = 0.0f64;
        for (obstacle, now) in model.obstacles().iter().zip(&state.obstacles) {
            for x in &x {
                let p = now.pose.rotation.inverse_transform_vector(&(x - now.pose.translation.vector));
                deepest = deepest.max(-obstacle.shape.probe(&p).distance);
            }
        }
        deepest
    }

    /// The depth of each vertex of the contact surfaces in other flesh (m), 0 for those outside, which tells what is deeper than in another state. As expensive as [`Overlap::of`].
    pub fn of_vertices(model: &Model, state: &State) -> Vec<f64> {
        in_surfaces(model, &state.node_x, &vertices(model, state))
    }
}

/// The vertices of all contact surfaces (m).
fn vertices(model: &Model, state: &State) -> Vec<Vec3> {
    let surface = model.contact_surface();
    (0..surface.count()).map(|i| surface.at(i, &state.node_x)).collect()
}

/// Depth in flesh, for the vertices of all contact surfaces at some positions (m).
///
/// Where a vertex is inside a tet that none of its own nodes carry, it is at a material point of other flesh. Its depth is the distance of that point from the surface at rest, and 0 where the tet is not filled:
/// folds of skin in the crease of a joint, or normals that turn over, do not matter.
fn in_surfaces(model: &Model, node_x: &[Vec3], x: &[Vec3]) -> Vec<f64> {
    // surfaces at rest
    let surfaces = || model.bodies().iter().map(|body| body.contact_mesh().0);
    let rest = surfaces().flat_map(|surface| (0..surface.triangles.len()).map(|t| surface.corners(t)));
    let rest: Vec<[Vec3; 3]> = rest.collect();
    let rest_boxes = BoxTree::build(&rest.iter().map(Bounds::around).collect::<Vec<_>>());
    let winding = WindingTree::build(rest.clone());
    let depth_at = |material: &Vec3| {
        if winding.winding_number(material) < INSIDE {
            return 0.0;
        }
        let distance = |t: usize| (nearest_on_triangle(material, &rest[t]).point - material).norm_squared();
        rest_boxes.find_nearest(material, f64::INFINITY, distance).map_or(0.0, |(_, squared)| squared.sqrt())
    };

    // flesh as it is
    let corners = |tet: &[u32; 4], x: &[Vec3]| tet.map(|node| x[node as usize]);
    let boxes = model.tets().iter().map(|tet| Bounds::around(&corners(tet, node_x)));
    let boxes = BoxTree::build(&boxes.collect::<Vec<_>>());
    let depth = |vertex: usize| {
        let (mut deepest, p) = (0.0f64, x[vertex]);
        boxes.for_each_near(&Bounds::around([&p]), |t| {
            let tet = &model.tets()[t];
            let moves_along = |(node, _)| tet.contains(&(node as u32));
            if let Some(weights) = weights_in(&corners(tet, node_x), &p)
                && !model.contact_surface().row(vertex).any(moves_along)
            {
                let at_rest = corners(tet, model.node_rest());
                let material: Vec3 = at_rest.iter().zip(weights).map(|(x, weight)| weight * x).sum();
                deepest = deepest.max(depth_at(&material));
            }
        });
        deepest
    };
    (0..x.len()).into_par_iter().with_min_len(64).map(depth).collect()
}

/// The barycentric coordinates of a point in a tet; none outside of it, and in tets without volume.
fn weights_in([a, b, c, d]: &[Vec3; 4], p: &Vec3) -> Option<[f64; 4]> {
    let edges = Mat3::from_columns(&[b - a, c - a, d - a]);
    let w = edges.try_inverse()? * (p - a);
    let weights = [1.0 - w.x - w.y - w.z, w.x, w.y, w.z];
    weights.iter().all(|weight| *weight >= -ON_FACE).then_some(weights)
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
            ..BodyDesc::default()
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
