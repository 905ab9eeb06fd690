//! Friction and stiffness of every pair of surfaces that may be in contact: bodies with themselves, each other and obstacles, and obstacles with each other.

use crate::desc::WorldDesc;
use sinew_contact::{ContactMaterial, PairMaterial};

/// Contact properties of all pairs of bodies and obstacles of a model.
#[derive(Clone, Debug)]
pub(crate) struct PairMaterials {
    /// The body of each contact point.
    point_body: Vec<u32>,
    /// Number of bodies and obstacles.
    count: usize,
    body_count: usize,
    /// Row by row; obstacles follow bodies.
    table: Vec<PairMaterial>,
}

/// A surface that has friction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    /// That of the body with this index.
    Body(usize),
    /// That of the obstacle with this index.
    Obstacle(usize),
}

impl PairMaterials {
    /// The table of a world whose bodies have so many contact points each.
    pub(super) fn build(world: &WorldDesc, point_counts: impl Iterator<Item = usize>) -> PairMaterials {
        let all = materials(world);
        let default = world.contact.friction;
        let mut table = Vec::with_capacity(all.len() * all.len());
        for (i, first) in all.iter().enumerate() {
            let pair = |(j, second): (usize, &ContactMaterial)| {
                if i == j { first.with_itself(default) } else { first.with(second, default) }
            };
            table.extend(all.iter().enumerate().map(pair));
        }
        let mut point_body = Vec::new();
        for (body, count) in point_counts.enumerate() {
            point_body.resize(point_body.len() + count, body as u32);
        }
        PairMaterials { point_body, count: all.len(), body_count: world.bodies.len(), table }
    }

    /// Sets friction to that of another table, multiplied by the factors of both surfaces of a pair, or of the one that is in contact with itself.
    pub(crate) fn scale_friction(&mut self, own: &PairMaterials, factor: impl Fn(Surface) -> f64) {
        let of = |i: usize| match i.checked_sub(own.body_count) {
            None => factor(Surface::Body(i)),
            Some(obstacle) => factor(Surface::Obstacle(obstacle)),
        };
        for (i, (pair, own_pair)) in self.table.iter_mut().zip(&own.table).enumerate() {
            let (a, b) = (i / own.count, i % own.count);
            let factor = if a == b { of(a) } else { of(a) * of(b) };
            pair.friction = scaled_friction(own_pair.friction, factor);
        }
    }

    /// The largest stiffness factor of any pair, at least 1.
    pub(crate) fn max_stiffness(world: &WorldDesc) -> f64 {
        let all = materials(world);
        let (bodies, obstacles) = all.split_at(world.bodies.len());
        let mut most = all.iter().map(|own| own.stiffness).fold(1.0, f64::max);
        for (i, body) in bodies.iter().enumerate() {
            let others = bodies[..i].iter().chain(obstacles);
            most = others.map(|other| body.stiffness * other.stiffness).fold(most, f64::max);
        }
        most
    }

    /// The largest stiffness factor of bodies with each other and themselves.
    pub(super) fn max_soft_stiffness(&self) -> f64 {
        let rows = self.table.chunks(self.count.max(1)).take(self.body_count);
        rows.flat_map(|row| &row[..self.body_count]).map(|pair| pair.stiffness).fold(0.0, f64::max)
    }

    /// The body of a contact point; none if it is beyond those of bodies.
    pub(crate) fn body_of(&self, point: u32) -> Option<usize> {
        self.point_body.get(point as usize).map(|body| *body as usize)
    }

    /// The pair of the bodies of two contact points.
    #[inline]
    pub(crate) fn of_points(&self, first: u32, second: u32) -> &PairMaterial {
        let [first, second] = [first, second].map(|point| self.point_body[point as usize] as usize);
        self.of_bodies(first, second)
    }

    /// The pair of two bodies.
    pub(crate) fn of_bodies(&self, first: usize, second: usize) -> &PairMaterial {
        &self.table[first * self.count + second]
    }

    /// The pair of the body of a contact point and an obstacle.
    #[inline]
    pub(crate) fn of_point_on_obstacle(&self, point: u32, obstacle: u32) -> &PairMaterial {
        self.of_body_on_obstacle(self.point_body[point as usize] as usize, obstacle as usize)
    }

    /// The pair of a body and an obstacle.
    pub(crate) fn of_body_on_obstacle(&self, body: usize, obstacle: usize) -> &PairMaterial {
        &self.table[body * self.count + self.body_count + obstacle]
    }

    /// The pair of two obstacles.
    pub(crate) fn of_obstacles(&self, first: u32, second: u32) -> &PairMaterial {
        let [first, second] = [first, second].map(|obstacle| self.body_count + obstacle as usize);
        &self.table[first * self.count + second]
    }
}

/// A coefficient of friction, which may be infinite, multiplied by a factor.
pub(crate) fn scaled_friction(friction: f64, factor: f64) -> f64 {
    if factor == 0.0 { 0.0 } else { factor * friction }
}

/// The contact properties of bodies, then obstacles.
fn materials(world: &WorldDesc) -> Vec<ContactMaterial> {
    let bodies = world.bodies.iter().map(|body| world.contact.material(&body.name));
    bodies.chain(world.obstacles.iter().map(|obstacle| obstacle.material())).collect()
}
