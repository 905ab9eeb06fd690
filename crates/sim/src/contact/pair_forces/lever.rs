//! The couple of friction between two surfaces that are a distance apart, so that contact conserves angular momentum.
//!
//! Force and reaction act at the two points of a contact, which g leads between. Friction f is across g, so that the two alone exert the torque g × f. The second surface bears the couple τ = −g × f, by forces on its nodes
//! that move it as a rigid body would:
//!
//! ```text
//! fₙ = θ × rₙ,   θ = I⁻¹ τ,   I = Σ (|rₙ|² − rₙ rₙᵀ),   rₙ = xₙ − x̄
//! Σ fₙ = 0,      Σ rₙ × fₙ = I θ = τ
//! ```
//!
//! The transpose gives the velocity that friction acts against: ω = I⁻¹ Σ rₙ × vₙ is the rotation of the nodes, which moves the point at the end of g by ω × g.

use super::super::pair_contact::PairContact;
use crate::contact_surface::ContactSurface;
use crate::friction_anchor::SoftPair;
use sinew_contact::SurfacePairs;
use sinew_math::{Mat3, Vec3};

/// The nodes of the second surface of a contact as a rigid body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lever<'a> {
    surface: &'a ContactSurface,
    /// The points whose nodes they are: the corners of the triangle, or of the two triangles beside the edge.
    points: [u32; 4],
    count: usize,
    middle: Vec3,
    /// I⁻¹ (1/m²); zero if the nodes are on a line.
    inverse: Mat3,
    /// g (m).
    gap: Vec3,
}

/// Nodes are on a line if I has a determinant below this fraction of the cube of its trace: some 1e-4 of their distances off it.
const ON_A_LINE: f64 = 1e-9;

impl<'a> Lever<'a> {
    /// The lever of a contact with a gap g (m) and nodes at the given positions (m).
    pub(super) fn of(
        surface: &'a ContactSurface,
        finder: &SurfacePairs,
        contact: &PairContact,
        gap: Vec3,
        node_x: &[Vec3],
    ) -> Lever<'a> {
        let (points, count) = match contact.pair {
            SoftPair::VertexTriangle { .. } => {
                let [_, a, b, c] = contact.points;
                ([a, b, c, c], 3)
            }
            SoftPair::Edges { edges: [_, second] } => {
                let edge = finder.edge(second);
                ([edge.ends[0], edge.ends[1], edge.wings[0], edge.wings[1]], 4)
            }
        };
        let mut lever = Lever { surface, points, count, middle: Vec3::zeros(), inverse: Mat3::zeros(), gap };

        // the middle of the nodes, and their moments about it
        let (sum, number) = lever
            .nodes()
            .fold((Vec3::zeros(), 0.0), |(sum, number), node| (sum + node_x[node], number + 1.0));
        lever.middle = sum / f64::max(number, 1.0);
        let mut moments = Mat3::zeros();
        for node in lever.nodes() {
            let r = node_x[node] - lever.middle;
            moments += r.norm_squared() * Mat3::identity() - r * r.transpose();
        }
        let size = moments.trace();
        if moments.determinant() > ON_A_LINE * size * size * size {
            lever.inverse = moments.try_inverse().unwrap_or_else(Mat3::zeros);
        }
        lever
    }

    /// The nodes; one that carries several points comes several times.
    fn nodes(&self) -> impl Iterator<Item = usize> + use<'a> {
        let (surface, points) = (self.surface, self.points);
        let points = points.into_iter().take(self.count);
        points.flat_map(move |point| surface.row(point as usize).map(|(node, _)| node))
    }

    /// ω × g, for nodes at the given positions (m) with the given velocities (m/s).
    pub(super) fn velocity(&self, node_x: &[Vec3], node_v: &[Vec3]) -> Vec3 {
        let spin: Vec3 = self.nodes().map(|node| (node_x[node] - self.middle).cross(&node_v[node])).sum();
        (self.inverse * spin).cross(&self.gap)
    }

    /// Adds the couple of a contact force f (N) to the forces on nodes (N).
    pub(super) fn add_couple(&self, force: &Vec3, node_x: &[Vec3], node_force: &mut [Vec3]) {
        let turn = self.inverse * -self.gap.cross(force);
        self.nodes().for_each(|node| node_force[node] += turn.cross(&(node_x[node] - self.middle)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;
    use crate::desc::{BodyDesc, Sag, ShapeDesc, WorldDesc};
    use sinew_flesh::Material;
    use sinew_mesh::shapes;

    fn world() -> WorldDesc {
        let block = |name: &str, y: f64| {
            let mut mesh = shapes::beam(2, [0.1; 3]);
            mesh.nodes.iter_mut().for_each(|x| x.y += y);
            BodyDesc {
                name: name.into(),
                shape: ShapeDesc::Tets(mesh),
                material: Material::soft_solid(1e5, 0.3, 1000.0, 0.0),
                velocity: Vec3::zeros(),
                pins: Vec::new(),
                loads: Vec::new(),
                attachment: None,
                sag: Sag::Free,
                ..BodyDesc::default()
            }
        };
        let mut world =
            WorldDesc { bodies: vec![block("lower", 0.0), block("upper", 0.2)], ..WorldDesc::default() };
        world.contact.between_bodies = true;
        world
    }

    /// The couple adds no force and the torque −g × f, and does the work of f on the velocity −ω × g: ⟨f, −ω × g⟩ = ⟨fₙ, vₙ⟩, for triangles and edges.
    #[test]
    fn the_couple_is_the_transpose_of_the_velocity() {
        let model = Model::build(&world()).expect("sound");
        let surface = model.contact_surface();
        let finder = surface.pairs().expect("bodies collide");
        let (x, mut seed) = (model.node_rest(), 3.0f64);
        let mut random = || {
            seed = (seed * 997.0 + 0.1) % 1.0 + 0.5;
            seed - 1.0
        };
        let mut vector = || Vec3::new(random(), random(), random());
        let edge = (finder.edge_count() - 1) as u32;
        let [a, b, c] = finder.triangle(5);
        let kinds = [
            (SoftPair::VertexTriangle { vertex: 90, triangle: 5 }, [90, a, b, c]),
            (
                SoftPair::Edges { edges: [0, edge] },
                [0, 1, finder.edge(edge).ends[0], finder.edge(edge).ends[1]],
            ),
        ];
        for (pair, points) in kinds {
            let contact =
                PairContact { pair, points, weights: [1.0, -0.2, -0.3, -0.5], depth: 0.0, normal: Vec3::y() };
            let (gap, force) = (1e-3 * vector(), vector());
            let v: Vec<Vec3> = x.iter().map(|_| vector()).collect();
            let lever = Lever::of(surface, finder, &contact, gap, x);
            let mut forces = vec![Vec3::zeros(); x.len()];
            lever.add_couple(&force, x, &mut forces);
            let sum: Vec3 = forces.iter().sum();
            let torque: Vec3 = forces.iter().zip(x).map(|(f, x)| x.cross(f)).sum();
            let power: f64 = forces.iter().zip(&v).map(|(f, v)| f.dot(v)).sum();
            // sums of nodes of some 0.1 m and forces of some 0.05 N, a few ε each
            assert!(sum.norm() < 1e-15 && (torque + gap.cross(&force)).norm() < 1e-15, "{sum} {torque}");
            assert!(
                torque.norm() > 1e-4 && (power + force.dot(&lever.velocity(x, &v))).abs() < 1e-14,
                "{power}"
            );
        }
    }
}
