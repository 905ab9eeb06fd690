//! The triangles, edges and points between which barriers act: the surfaces of bodies and the faces of obstacles.

use crate::desc::Mobility;
use crate::model::ModelId;
use crate::{Model, Obstacle};
use sinew_contact::{Bounds, BoxTree, Shape};
use sinew_math::Vec3;

/// Surfaces of a model, built once.
///
/// Points are numbered as those of the contact surface, followed by the vertices of obstacles.
#[derive(Clone, Debug, Default)]
pub(super) struct BarrierMesh {
    key: Option<ModelId>,
    /// Number of points that are embedded in nodes.
    pub(super) flesh_count: usize,
    pub(super) surfaces: Vec<BarrierSurface>,
    /// Rest positions of all points, those of obstacles in their own frame (m).
    pub(super) rest: Vec<Vec3>,
    /// Activation distance d̂ of the barrier at each point (m); infinite at obstacles.
    pub(super) range: Vec<f64>,
    /// Shortest edge at each point of flesh (m).
    pub(super) edge: Vec<f64>,
    /// Mean of the elastic stiffness at rest of each node over the three directions (N/m).
    pub(super) node_stiffness: Vec<f64>,
    /// Obstacles that are planes.
    pub(super) planes: Vec<usize>,
}

/// One surface, with bounding volume hierarchies.
#[derive(Clone, Debug)]
pub(super) struct BarrierSurface {
    /// What the surface belongs to.
    pub(super) owner: Owner,
    pub(super) points: Vec<u32>,
    pub(super) edges: Vec<[u32; 2]>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) edge_tree: BoxTree,
    pub(super) triangle_tree: BoxTree,
    pub(super) collides_with_itself: bool,
}

/// What a surface belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The body with this index.
    Body(usize),
    /// The obstacle with this index.
    Obstacle(usize),
}

/// d̂ relative to the shortest edge at a point: a contact is resolved as finely as the surface is.
const RANGE_OF_EDGE: f64 = 0.1;
/// d̂ is at most this fraction of the diagonal of the body: flesh visibly rests on what it touches.
const RANGE_OF_BODY: f64 = 2e-3;

impl BarrierMesh {
    /// Builds the surfaces of a model unless they are known.
    pub(super) fn prepare(&mut self, model: &Model) {
        if self.key.as_ref() == Some(model.id()) {
            return;
        }
        *self = BarrierMesh { key: Some(model.id().clone()), ..BarrierMesh::default() };
        for i in 0..model.bodies().len() {
            self.add_body(model, i);
        }
        self.flesh_count = self.rest.len();
        for (i, obstacle) in model.obstacles().iter().enumerate() {
            self.add_obstacle(i, obstacle);
        }
        self.node_stiffness = vec![0.0; model.node_count()];
        model.own_elements().for_each_rest_stiffness(|nodes, blocks| {
            for (i, node) in nodes.iter().enumerate() {
                self.node_stiffness[*node as usize] += blocks[i * nodes.len() + i].trace() / 3.0;
            }
        });
    }

    /// Whether all obstacles have faces that barriers can keep out of, and none is dynamic.
    pub(super) fn supports(model: &Model) -> bool {
        let has_faces = |obstacle: &Obstacle| match &obstacle.shape {
            Shape::Grid(grid) => !grid.surface().triangles.is_empty(),
            _ => !matches!(obstacle.mobility, Mobility::Free { .. }),
        };
        !model.has_free_obstacles() && model.obstacles().iter().all(has_faces)
    }

    fn add_body(&mut self, model: &Model, index: usize) {
        let (body, first) = (&model.bodies()[index], self.rest.len() as u32);
        // points of the contact surface, of which barriers see the drawn ones, which come first
        self.rest.extend_from_slice(&body.contact_mesh().0.vertices);
        let triangles = body.surface.triangles.iter().map(|t| t.map(|v| first + v)).collect();
        let collides_with_itself = model.contact_surface().desc.self_contact.contains(&body.name);
        let surface = BarrierSurface::build(Owner::Body(index), triangles, &self.rest, collides_with_itself);

        // the range by edges, and by the size of the body
        let (low, high) = body.surface.bounds().unwrap_or_default();
        self.range.resize(self.rest.len(), RANGE_OF_BODY * (high - low).norm());
        self.edge.resize(self.rest.len(), (high - low).norm());
        for [a, b] in &surface.edges {
            let length = (self.rest[*a as usize] - self.rest[*b as usize]).norm();
            for point in [a, b].map(|point| *point as usize).into_iter().filter(|_| length > 0.0) {
                self.range[point] = self.range[point].min(RANGE_OF_EDGE * length);
                self.edge[point] = self.edge[point].min(length);
            }
        }
        self.surfaces.push(surface);
    }

    fn add_obstacle(&mut self, index: usize, obstacle: &Obstacle) {
        if matches!(obstacle.shape, Shape::Plane { .. }) {
            self.planes.push(index);
            return;
        }
        let first = self.rest.len() as u32;
        self.rest.extend_from_slice(&obstacle.surface.vertices);
        self.range.resize(self.rest.len(), f64::INFINITY);
        let triangles = obstacle.surface.triangles.iter().map(|t| t.map(|v| first + v)).collect();
        self.surfaces.push(BarrierSurface::build(Owner::Obstacle(index), triangles, &self.rest, false));
    }
}

impl BarrierSurface {
    fn build(owner: Owner, triangles: Vec<[u32; 3]>, rest: &[Vec3], with_itself: bool) -> BarrierSurface {
        let mut edges: Vec<[u32; 2]> = triangles
            .iter()
            .flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]])
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let mut points: Vec<u32> = triangles.as_flattened().to_vec();
        points.sort_unstable();
        points.dedup();
        let boxes = |corners: &[u32]| Bounds::around(corners.iter().map(|i| &rest[*i as usize]));
        let edge_boxes: Vec<Bounds> = edges.iter().map(|edge| boxes(edge)).collect();
        let triangle_boxes: Vec<Bounds> = triangles.iter().map(|triangle| boxes(triangle)).collect();
        BarrierSurface {
            owner,
            points,
            edge_tree: BoxTree::build(&edge_boxes),
            triangle_tree: BoxTree::build(&triangle_boxes),
            edges,
            triangles,
            collides_with_itself: with_itself,
        }
    }

    pub(super) fn is_obstacle(&self) -> bool {
        matches!(self.owner, Owner::Obstacle(_))
    }

    /// Whether barriers act between two surfaces, and between one and itself.
    pub(super) fn collides_with(&self, other: &BarrierSurface, between_bodies: bool) -> bool {
        match (self.owner, other.owner) {
            (Owner::Obstacle(_), Owner::Obstacle(_)) => false,
            (Owner::Body(a), Owner::Body(b)) if a == b => self.collides_with_itself,
            (Owner::Body(_), Owner::Body(_)) => between_bodies,
            _ => true,
        }
    }
}
