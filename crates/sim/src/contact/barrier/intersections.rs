//! Intersections of surfaces with each other, with themselves and with obstacles: what barriers must not begin with.

use super::BarrierContact;
use super::barrier_mesh::{BarrierMesh, BarrierSurface, Owner};
use super::barrier_pairs;
use crate::substep::Substep;
use crate::{Control, Model, State};
use core::fmt;
use sinew_contact::{Bounds, triangles_intersect};
use sinew_math::Vec3;

/// Intersections of a state, by the two surfaces with the most of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intersections {
    /// The body and the other body or obstacle.
    pub names: [String; 2],
    /// How many pairs of triangles of these two intersect or touch; points behind it if the other is a plane.
    pub pairs: usize,
    /// The same of all bodies and obstacles.
    pub all: usize,
}

impl fmt::Display for Intersections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = &self.names;
        if first == second {
            write!(f, "'{first}' intersects itself in {} pairs of triangles", self.pairs)?;
        } else {
            write!(f, "'{first}' and '{second}' intersect in {} pairs of triangles", self.pairs)?;
        }
        if self.all > self.pairs {
            write!(f, " ({} in the whole scene)", self.all)?;
        }
        Ok(())
    }
}

/// A gap of less than this fraction of the activation distance counts as a contact.
const TOUCHING: f64 = 1e-6;
/// A point this deep in an obstacle, relative to its size, whose triangles do not intersect it is enclosed: faces of curved obstacles cut off less.
const ENCLOSED: f64 = 0.02;

/// Finds the intersections of a state by tests of triangles; none if there are none. Obstacles are where the state has them.
pub fn find_intersections(model: &Model, state: &State) -> Option<Intersections> {
    BarrierContact::default().intersections(model, state)
}

impl BarrierContact {
    /// The intersections of a state, if there are any.
    pub(crate) fn intersections(&mut self, model: &Model, state: &State) -> Option<Intersections> {
        // everything where the state has it
        self.mesh.prepare(model);
        self.poses.clear();
        self.poses.extend(state.obstacles.iter().map(|obstacle| [obstacle.pose; 2]));
        self.h = Substep::at_end(1.0).h;
        self.find_stiffness(model);
        self.place(model, &Control::default(), &state.node_x, 0.0);
        self.stop();
        self.find_pairs(model);

        // triangles, planes, enclosed surfaces, and pairs that touch
        let mut found = Count::default();
        self.count_triangles(model, &mut found);
        self.count_planes(model, &mut found);
        self.count_enclosed(model, state, &mut found);
        if found.all == 0 {
            self.count_touching(model, &mut found);
        }
        found.into_intersections(model)
    }

    fn count_triangles(&self, model: &Model, found: &mut Count) {
        let BarrierMesh { surfaces, .. } = &self.mesh;
        let between = model.contact_surface().desc.between_bodies;
        for (i, first) in surfaces.iter().enumerate() {
            for second in surfaces[i..].iter().filter(|second| first.collides_with(second, between)) {
                found.add([first.owner, second.owner], self.count_between(first, second));
            }
        }
    }

    fn count_between(&self, first: &BarrierSurface, second: &BarrierSurface) -> usize {
        let corners = |t: &[u32; 3]| t.map(|i| self.points.x[i as usize]);
        let all = second.triangle_tree.bounds();
        let mut count = 0;
        for (i, triangle) in first.triangles.iter().enumerate() {
            let own = corners(triangle);
            let bounds = Bounds::around(&own);
            if !bounds.intersects(&all) {
                continue;
            }
            second.triangle_tree.for_each_near(&bounds, |j| {
                let other = &second.triangles[j];
                let is_known = first.owner == second.owner && j <= i;
                let is_adjacent = other.iter().any(|corner| triangle.contains(corner));
                count += usize::from(!is_known && !is_adjacent && triangles_intersect(&own, &corners(other)));
            });
        }
        count
    }

    fn count_planes(&self, model: &Model, found: &mut Count) {
        for (place, ends) in self.points.planes.iter().enumerate() {
            let (origin, normal) = ends[0];
            for surface in self.mesh.surfaces.iter().filter(|surface| !surface.is_obstacle()) {
                let is_behind = |point: &&u32| (self.points.x[**point as usize] - origin).dot(&normal) <= 0.0;
                let count = surface.points.iter().filter(is_behind).count();
                found.add([surface.owner, Owner::Obstacle(self.mesh.planes[place])], count);
            }
        }
        debug_assert!(self.mesh.planes.iter().all(|i| *i < model.obstacles().len()));
    }

    fn count_enclosed(&self, model: &Model, state: &State, found: &mut Count) {
        for surface in self.mesh.surfaces.iter().filter(|surface| !surface.is_obstacle()) {
            let Some(point) = surface.points.first() else { continue };
            let x: Vec3 = self.points.x[*point as usize];
            for (i, obstacle) in
                model.obstacles().iter().enumerate().filter(|(i, _)| !self.mesh.planes.contains(i))
            {
                let pose = &state.obstacles[i].pose;
                let p = pose.rotation.inverse_transform_vector(&(x - pose.translation.vector));
                let bounds = obstacle.shape.bounds();
                let deep = -ENCLOSED * bounds.radius();
                let is_enclosed = bounds.contains(&p) && obstacle.shape.probe(&p).distance < deep;
                found.add([surface.owner, Owner::Obstacle(i)], usize::from(is_enclosed));
            }
        }
    }

    /// Pairs without a gap that a motion could keep a fraction of.
    fn count_touching(&self, _model: &Model, found: &mut Count) {
        for pair in &self.pairs {
            if self.points.distance(pair).distance <= TOUCHING * pair.barrier.range {
                let owners = match pair.kind {
                    barrier_pairs::PairKind::PointPlane(plane) => {
                        [self.owner_of(pair.points[0]), Owner::Obstacle(self.mesh.planes[plane as usize])]
                    }
                    _ => [self.owner_of(pair.points[0]), self.owner_of(pair.points[3])],
                };
                found.add(owners, 1);
            }
        }
    }

    fn owner_of(&self, point: u32) -> Owner {
        let has = |surface: &&BarrierSurface| surface.points.binary_search(&point).is_ok();
        self.mesh.surfaces.iter().find(has).map_or(Owner::Body(0), |surface| surface.owner)
    }
}

/// Intersections of two surfaces with the most of them, and of all.
#[derive(Default)]
struct Count {
    owners: Option<[Owner; 2]>,
    pairs: usize,
    all: usize,
}

impl Count {
    fn add(&mut self, owners: [Owner; 2], count: usize) {
        self.all += count;
        if self.owners == Some(owners) {
            self.pairs += count;
        } else if count > self.pairs {
            (self.owners, self.pairs) = (Some(owners), count);
        }
    }

    fn into_intersections(self, model: &Model) -> Option<Intersections> {
        let name = |owner: Owner| match owner {
            Owner::Body(i) => model.bodies()[i].name.clone(),
            Owner::Obstacle(i) => model.obstacles()[i].name.clone(),
        };
        let Count { owners, pairs, all } = self;
        owners.map(|owners| Intersections { names: owners.map(name), pairs, all })
    }
}
