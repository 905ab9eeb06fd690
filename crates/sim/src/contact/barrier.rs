//! Intersection-free contact of implicit steps: logarithmic barriers between points and triangles and between edges, with lagged smoothed friction. `[Li2020]`
//!
//! ```text
//! E(x) = Σ m b(d(x)) + Σ μ λ f₀(|u(x)|)
//! ```
//!
//! over all pairs of surfaces and faces of obstacles that are closer than d̂. A step begins without intersections; each iterate moves only as far as no pair meets (`BarrierContact::max_step`), so that the end has
//! none either, whatever the accuracy of the solve. Positions of surface points are linear in those of nodes, so that a motion of nodes along a line moves all points along lines. Obstacles and other prescribed
//! motions are carried out by the caller in parts that meet nothing (`BarrierContact::advance`).

mod barrier_mesh;
mod barrier_pairs;
mod intersections;
mod lagged_friction;

pub use intersections::{Intersections, find_intersections};

use super::contacts::kinematic_pose;
use crate::desc::Mobility;
use crate::substep::Substep;
use crate::{Control, Model, NodeEnergy, State};
use barrier_mesh::{BarrierMesh, Owner};
use barrier_pairs::{BarrierPair, BarrierScale, PairKind, PointMotions};
use lagged_friction::LaggedFriction;
use rayon::prelude::*;
use sinew_contact::{PairDistance, PairHessian, ParallelEdges, Shape};
use sinew_math::sparse::Row;
use sinew_math::{Isometry, Mat3, Vec3, nalgebra::Point3};

/// Workspace of barriers.
#[derive(Clone, Debug, Default)]
pub(crate) struct BarrierContact {
    mesh: BarrierMesh,
    points: PointMotions,
    /// Positions of points at the beginning of the stage and at the last accepted iterate (m).
    start: Vec<Vec3>,
    base: Vec<Vec3>,
    /// Scale of the barrier at each point of flesh: its stiffness times d̂ (N).
    stiffness: Vec<f64>,
    /// Pairs that may be in range, and the barrier of each at the last evaluation.
    pairs: Vec<BarrierPair>,
    measured: Vec<Measured>,
    frictions: Vec<LaggedFriction>,
    hessians: Vec<(u32, PairHessian)>,
    friction_hessians: Vec<Mat3>,
    /// Forces on points (N).
    forces: Vec<Vec3>,
    /// Remaining displacements of points of obstacles and of planes while products include them (m); empty otherwise.
    carried: Vec<Vec3>,
    carried_planes: Vec<Vec3>,
    /// Poses of obstacles at the beginning and the end of the stage.
    poses: Vec<[Isometry; 2]>,
    /// Interval of the step, for poses between them.
    interval: [f64; 2],
    /// How much of the prescribed motion has been carried out.
    fraction: f64,
    h: f64,
    energy: f64,
    in_contact: usize,
    /// For each body whether it was in range of a barrier at the beginning or the end of the stage, and whether an obstacle was.
    touches_body: Vec<bool>,
    touches_obstacle: bool,
    /// Whether nodes move on curves, so that each trial point must be checked by itself.
    pub(crate) checks_path: bool,
}

/// The barrier of a pair at given positions.
#[derive(Clone, Copy, Debug)]
struct Measured {
    distance: PairDistance,
    /// Energy with its mollifier (J), and its gradient with respect to the four points (N).
    energy: f64,
    gradient: [Vec3; 4],
    /// The mollifier, 1 unless edges are nearly parallel.
    factor: f64,
}

/// The barriers in an implicit step of a model.
#[derive(Debug)]
pub(crate) struct BarrierNodes<'a> {
    model: &'a Model,
    own: &'a mut BarrierContact,
}

impl BarrierContact {
    /// Whether a model has only obstacles that barriers support.
    pub(crate) fn supports(model: &Model) -> bool {
        BarrierMesh::supports(model)
    }

    /// Prepares for a sub-step that begins at a state without intersections.
    pub(crate) fn begin(&mut self, model: &Model, control: &Control, substep: Substep, state: &State) {
        self.mesh.prepare(model);
        self.h = substep.h;
        self.interval = [substep.from, substep.to];
        self.fraction = 0.0;
        self.find_poses(model, control, state);
        self.find_stiffness(model);
        self.place(model, control, &state.node_x, 0.0);
        self.start.clone_from(&self.points.x);
        self.stop();
        self.find_pairs(model);
        self.measure();
        self.lag_friction(model);
        self.touches_body.clear();
        self.touches_body.resize(model.bodies().len(), false);
        self.touches_obstacle = false;
        self.note_touching(model);
    }

    /// Notes which bodies and obstacles are in range of a barrier.
    fn note_touching(&mut self, model: &Model) {
        for (pair, _) in self.pairs.iter().zip(&self.measured).filter(|(_, m)| m.energy > 0.0) {
            self.touches_obstacle |= matches!(pair.kind, PairKind::PointPlane(_));
            for point in pair.points {
                match model.contact_surface().materials.body_of(point) {
                    Some(body) => self.touches_body[body] = true,
                    None => self.touches_obstacle = true,
                }
            }
        }
    }

    /// Whether a body was in range of a barrier at the beginning or the end of the stage.
    pub(crate) fn touches(&self, body: usize) -> bool {
        self.touches_body.get(body) == Some(&true)
    }

    /// Whether an obstacle was.
    pub(crate) fn touches_obstacle(&self) -> bool {
        self.touches_obstacle
    }

    /// The energy for the solver.
    pub(crate) fn on<'a>(&'a mut self, model: &'a Model) -> BarrierNodes<'a> {
        BarrierNodes { model, own: self }
    }

    /// The barrier energy at the last evaluation (J).
    pub(crate) fn energy(&self) -> f64 {
        self.energy
    }

    /// Number of surface points in range of a barrier at the end of the step.
    pub(crate) fn in_contact(&self) -> usize {
        self.in_contact
    }

    /// Whether prescribed motion of obstacles remains to be carried out in this stage.
    pub(crate) fn obstacles_move(&self) -> bool {
        self.poses.iter().any(|[from, to]| from != to)
    }

    /// The fraction, at most 1, of a motion from nodes at `x` to nodes at `next` (m), and of obstacles from the last accepted fraction of their motion to `fraction`, that meets nothing.
    pub(crate) fn free_fraction(
        &mut self,
        model: &Model,
        control: &Control,
        (x, next): (&[Vec3], &[Vec3]),
        fraction: f64,
    ) -> f64 {
        self.place(model, control, next, fraction);
        let BarrierContact { points, base, .. } = self;
        core::mem::swap(&mut points.x, base);
        let ends: Vec<_> = points.planes.iter().map(|ends| ends[0]).collect();
        self.place(model, control, x, self.fraction);
        let PointMotions { x, motion, planes } = &mut self.points;
        motion.clear();
        motion.extend(self.base.iter().zip(x.iter()).map(|(next, x)| next - x));
        planes.iter_mut().zip(ends).for_each(|(plane, end)| plane[1] = end);
        self.find_pairs(model);
        self.max_fraction()
    }

    /// Lets products with the Hessian include the remaining motion of obstacles, until [`BarrierContact::end_carrying`].
    pub(crate) fn begin_carrying(&mut self, model: &Model, control: &Control) {
        let now = self.points.x.clone();
        let planes: Vec<_> = self.points.planes.iter().map(|ends| ends[0].0).collect();
        self.place_obstacles(model, control, 1.0);
        self.carried.clear();
        self.carried.extend(self.points.x.iter().zip(&now).map(|(end, x)| end - x));
        self.carried_planes.clear();
        self.carried_planes.extend(self.points.planes.iter().zip(&planes).map(|(end, x)| end[0].0 - x));
        self.place_obstacles(model, control, self.fraction);
    }

    pub(crate) fn end_carrying(&mut self) {
        self.carried.clear();
        self.carried_planes.clear();
    }

    /// Accepts nodes at `x` (m) and a fraction of the motion of obstacles.
    pub(crate) fn advance(&mut self, model: &Model, control: &Control, x: &[Vec3], fraction: f64) {
        self.fraction = fraction;
        self.place(model, control, x, fraction);
        self.stop();
        self.find_pairs(model);
    }

    /// Moves obstacles to the end of the stage and counts contacts, with nodes at the end of the step. Springs have no history here.
    pub(crate) fn finish(&mut self, model: &Model, state: &mut State) {
        state.anchors.clear();
        state.pair_anchors.clear();
        state.obstacles.iter_mut().zip(&self.poses).for_each(|(own, [_, to])| own.pose = *to);
        self.place_flesh(model, &state.node_x);
        self.measure();
        self.note_touching(model);
        self.forces.clear();
        self.forces.resize(self.points.x.len(), Vec3::zeros());
        self.in_contact = 0;
        for (pair, measured) in self.pairs.iter().zip(&self.measured).filter(|(_, m)| m.energy > 0.0) {
            for (point, weight) in pair.points.iter().zip(measured.distance.weights) {
                let mark = &mut self.forces[*point as usize].x;
                if weight != 0.0 && (*point as usize) < self.mesh.flesh_count && *mark == 0.0 {
                    *mark = 1.0;
                    self.in_contact += 1;
                }
            }
        }
    }

    fn find_poses(&mut self, model: &Model, control: &Control, state: &State) {
        self.poses.clear();
        for (i, obstacle) in model.obstacles().iter().enumerate() {
            let ends = self.interval.map(|at| match obstacle.mobility {
                Mobility::Kinematic => kinematic_pose(obstacle, control, i, at),
                _ => state.obstacles[i].pose,
            });
            let ends = match obstacle.mobility {
                Mobility::PartOf(carrier) => {
                    self.poses[carrier].map(|pose| pose * obstacle.carrier_from_shape)
                }
                _ => ends,
            };
            self.poses.push(ends);
        }
    }

    /// The pose of an obstacle at a fraction of the stage.
    fn pose(&self, model: &Model, control: &Control, i: usize, fraction: f64) -> Isometry {
        let (obstacle, [from, to]) = (&model.obstacles()[i], self.interval);
        match (obstacle.mobility, &self.poses[i]) {
            _ if fraction == 1.0 => self.poses[i][1],
            (_, [start, end]) if start == end => *start,
            (Mobility::PartOf(carrier), _) => {
                self.pose(model, control, carrier, fraction) * obstacle.carrier_from_shape
            }
            _ => kinematic_pose(obstacle, control, i, from + fraction * (to - from)),
        }
    }

    /// The force that barriers at each point are scaled by: a fraction of the shortest edge there, against the stiffness 1/K = Σ φ²/(m/h² + elastic stiffness) that resists a force.
    fn find_stiffness(&mut self, model: &Model) {
        let (surface, node) = (model.contact_surface(), &self.mesh.node_stiffness);
        let of = |n: usize| model.node_mass()[n] / (self.h * self.h) + node[n];
        self.stiffness.clear();
        self.stiffness.extend((0..self.mesh.flesh_count).map(|point| {
            let give = surface.row(point).map(|(n, weight)| weight * weight / of(n)).sum::<f64>();
            CAPACITY * self.mesh.edge[point] / give
        }));
    }

    fn place_flesh(&mut self, model: &Model, node_x: &[Vec3]) {
        self.points.x.resize(self.mesh.rest.len(), Vec3::zeros());
        let surface = model.contact_surface();
        let flesh = &mut self.points.x[..self.mesh.flesh_count];
        flesh.par_iter_mut().with_min_len(1024).enumerate().for_each(|(i, x)| *x = surface.at(i, node_x));
    }

    /// Places all points and planes, at a fraction of the motion of obstacles.
    fn place(&mut self, model: &Model, control: &Control, node_x: &[Vec3], fraction: f64) {
        self.place_flesh(model, node_x);
        self.place_obstacles(model, control, fraction);
    }

    fn place_obstacles(&mut self, model: &Model, control: &Control, fraction: f64) {
        for s in 0..self.mesh.surfaces.len() {
            let Owner::Obstacle(i) = self.mesh.surfaces[s].owner else { continue };
            let pose = self.pose(model, control, i, fraction);
            for &point in &self.mesh.surfaces[s].points {
                let rest = self.mesh.rest[point as usize];
                self.points.x[point as usize] = (pose * Point3::from(rest)).coords;
            }
        }
        self.points.planes.clear();
        for p in 0..self.mesh.planes.len() {
            let i = self.mesh.planes[p];
            let Shape::Plane { normal } = &model.obstacles()[i].shape else { continue };
            let pose = self.pose(model, control, i, fraction);
            self.points.planes.push([barrier_pairs::plane_at(&pose, normal); 2]);
        }
    }

    /// No point moves.
    fn stop(&mut self) {
        self.points.motion.clear();
        self.points.motion.resize(self.points.x.len(), Vec3::zeros());
        self.points.planes.iter_mut().for_each(|ends| ends[1] = ends[0]);
        self.base.clone_from(&self.points.x);
    }

    fn find_pairs(&mut self, model: &Model) {
        let BarrierContact { mesh, points, stiffness, pairs, .. } = self;
        barrier_pairs::find_pairs(mesh, points, &BarrierScale { model, force: stiffness }, pairs);
    }

    /// The largest fraction of the motion of all points that no pair meets in.
    fn max_fraction(&self) -> f64 {
        let fraction = |pair: &BarrierPair| self.points.max_step(pair);
        self.pairs.par_iter().with_min_len(256).map(fraction).reduce(|| 1.0, f64::min)
    }

    /// Measures all pairs at the current positions.
    fn measure(&mut self) {
        let BarrierContact { points, pairs, measured, .. } = self;
        pairs.par_iter().with_min_len(256).map(|pair| Measured::of(points, pair)).collect_into_vec(measured);
    }

    /// Whether the way from the last accepted positions meets something.
    fn crosses(&mut self) -> bool {
        let BarrierContact { points, base, pairs, .. } = self;
        points.motion.clear();
        points.motion.extend(points.x.iter().zip(base.iter()).map(|(x, base)| x - base));
        core::mem::swap(&mut points.x, base);
        let meets = pairs.par_iter().with_min_len(256).any(|pair| points.max_step(pair) < 1.0);
        core::mem::swap(&mut points.x, base);
        meets
    }

    fn lag_friction(&mut self, model: &Model) {
        self.frictions.clear();
        for (pair, measured) in self.pairs.iter().zip(&self.measured) {
            let force = -measured.factor * pair.barrier.derivative(measured.distance.distance);
            if force <= 0.0 || pair.friction <= 0.0 {
                continue;
            }
            let carried = match pair.kind {
                PairKind::PointPlane(plane) => self.carried(model, plane, pair.points[0]),
                _ => Vec3::zeros(),
            };
            self.frictions.push(LaggedFriction::new(pair, &measured.distance, force, carried, self.h));
        }
    }

    /// Displacement of a plane since the beginning of the stage where a point is.
    fn carried(&self, model: &Model, plane: u32, point: u32) -> Vec3 {
        let i = self.mesh.planes[plane as usize];
        let [from, to] = &self.poses[i];
        if from == to || model.obstacles().is_empty() {
            return Vec3::zeros();
        }
        let x = Point3::from(self.points.x[point as usize]);
        self.fraction * (x - from * to.inverse_transform_point(&x))
    }

    /// Adds forces on points to those on nodes by the transpose of the embedding.
    fn add_forces(&self, model: &Model, gradient: &mut [Vec3]) {
        for (point, force) in self.forces[..self.mesh.flesh_count].iter().enumerate() {
            if *force != Vec3::zeros() {
                let row = model.contact_surface().row(point);
                row.for_each(|(node, weight)| gradient[node] += weight * force);
            }
        }
    }
}

impl Measured {
    fn of(points: &PointMotions, pair: &BarrierPair) -> Measured {
        let distance = points.distance(pair);
        let (d, barrier) = (distance.distance, &pair.barrier);
        let mut found = Measured { distance, energy: 0.0, gradient: [Vec3::zeros(); 4], factor: 1.0 };
        if d >= barrier.range {
            return found;
        }
        if d <= 0.0 {
            found.energy = f64::INFINITY;
            return found;
        }
        let energy = barrier.energy(d);
        let edges = match pair.kind {
            PairKind::EdgeEdge(rest) => ParallelEdges::of(&points.at(&pair.points), rest),
            _ => None,
        };
        found.factor = edges.map_or(1.0, |edges| edges.factor);
        found.energy = found.factor * energy;
        let force = found.factor * barrier.derivative(d) * distance.normal;
        let turning = edges.map_or([Vec3::zeros(); 4], |edges| edges.gradient);
        found.gradient = core::array::from_fn(|i| distance.weights[i] * force + energy * turning[i]);
        found
    }
}

/// A barrier at a quarter of its range exerts the force that moves its point by a twentieth of the shortest edge there: −b′(d̂/4) = 4.33 k d̂. Softer barriers let gaps shrink to a hundredth of d̂ where flesh is pressed, and
/// their Hessians grow with the square of that.
const CAPACITY: f64 = 0.05 / 4.33;

/// Friction follows the normal forces of this many iterations of a stage.
const MAX_LAGS: usize = 12;

impl NodeEnergy for BarrierNodes<'_> {
    fn refresh(&mut self, x: &[Vec3], round: usize) -> bool {
        let BarrierNodes { model, own } = self;
        if round == 0 || round >= MAX_LAGS {
            return false;
        }
        own.place_flesh(model, x);
        own.measure();
        let before = own.frictions.len();
        own.lag_friction(model);
        before + own.frictions.len() > 0
    }

    fn evaluate(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        let BarrierNodes { model, own } = self;
        own.place_flesh(model, x);
        own.measure();
        if own.checks_path && own.crosses() {
            own.energy = f64::INFINITY;
            return f64::INFINITY;
        }

        // forces on points, then on nodes
        own.forces.clear();
        own.forces.resize(own.points.x.len(), Vec3::zeros());
        let BarrierContact { pairs, measured, forces, frictions, points, start, energy, .. } = &mut **own;
        let mut sum = 0.0;
        for (pair, measured) in pairs.iter().zip(measured).filter(|(_, measured)| measured.energy > 0.0) {
            sum += measured.energy;
            (0..4).for_each(|i| forces[pair.points[i] as usize] += measured.gradient[i]);
        }
        *energy = sum;
        for friction in frictions {
            let slip = friction.slip(&points.x, start);
            sum += friction.law.energy(&slip);
            let force = friction.law.gradient(&slip);
            (0..4).for_each(|i| forces[friction.points[i] as usize] += friction.weights[i] * force);
        }
        own.add_forces(model, gradient);
        sum
    }

    fn update(&mut self, x: &[Vec3]) {
        let BarrierNodes { model, own } = self;
        own.place_flesh(model, x);
        own.measure();
        let BarrierContact { pairs, measured, hessians, points, frictions, friction_hessians, start, .. } =
            &mut **own;
        hessians.clear();
        for (i, (pair, measured)) in pairs.iter().zip(measured.iter()).enumerate() {
            if measured.energy > 0.0 && measured.energy.is_finite() {
                let (d, barrier) = (measured.distance.distance, &pair.barrier);
                let found = measured.distance.hessian(
                    &points.at(&pair.points),
                    barrier.derivative(d),
                    barrier.second_derivative(d),
                );
                hessians.push((i as u32, found.scaled(measured.factor)));
            }
        }
        friction_hessians.clear();
        friction_hessians.extend(frictions.iter().map(|friction| friction.hessian(&points.x, start)));
    }

    fn multiply(&self, u: &[Row], out: &mut [Row]) {
        let surface = self.model.contact_surface();
        let is_flesh = |point: u32| (point as usize) < self.own.mesh.flesh_count;
        let moved = |point: u32| {
            if is_flesh(point) {
                let mut sum = Vec3::zeros();
                for (node, weight) in surface.row(point as usize) {
                    sum += weight * Vec3::new(u[node][0].into(), u[node][1].into(), u[node][2].into());
                }
                sum
            } else {
                self.own.carried.get(point as usize).copied().unwrap_or_default()
            }
        };
        let mut add = |point: u32, force: Vec3| {
            if is_flesh(point) && force != Vec3::zeros() {
                for (node, weight) in surface.row(point as usize) {
                    (0..3).for_each(|k| out[node][k] += (weight * force[k]) as f32);
                }
            }
        };
        for (pair, hessian) in &self.own.hessians {
            let BarrierPair { points, kind, .. } = self.own.pairs[*pair as usize];
            let mut u = points.map(moved);
            if let PairKind::PointPlane(plane) = kind {
                u[0] -= self.own.carried_planes.get(plane as usize).copied().unwrap_or_default();
            }
            let forces = hessian.times(&u);
            (0..4).for_each(|i| add(points[i], forces[i]));
        }
        for (friction, hessian) in self.own.frictions.iter().zip(&self.own.friction_hessians) {
            let slip: Vec3 = (0..4).map(|i| friction.weights[i] * moved(friction.points[i])).sum();
            let force = hessian * slip;
            (0..4).for_each(|i| add(friction.points[i], friction.weights[i] * force));
        }
    }

    fn add_diagonal(&self, blocks: &mut [Mat3]) {
        let surface = self.model.contact_surface();
        let mut add = |point: u32, block: Mat3| {
            if (point as usize) < self.own.mesh.flesh_count {
                surface
                    .row(point as usize)
                    .for_each(|(node, weight)| blocks[node] += weight * weight * block);
            }
        };
        for (pair, hessian) in &self.own.hessians {
            let points = self.own.pairs[*pair as usize].points;
            for v in &hessian.vectors[..hessian.rank] {
                (0..4).for_each(|i| add(points[i], v[i] * v[i].transpose()));
            }
        }
        for (friction, hessian) in self.own.frictions.iter().zip(&self.own.friction_hessians) {
            (0..4).for_each(|i| add(friction.points[i], friction.weights[i].powi(2) * hessian));
        }
    }

    fn max_step(&mut self, x: &[Vec3], motion: &[Vec3]) -> f64 {
        let BarrierNodes { model, own } = self;
        own.place_flesh(model, x);
        own.stop();
        let surface = model.contact_surface();
        let flesh = &mut own.points.motion[..own.mesh.flesh_count];
        flesh.par_iter_mut().with_min_len(1024).enumerate().for_each(|(i, m)| *m = surface.at(i, motion));
        own.find_pairs(model);
        let fraction = own.max_fraction();

        // what is farther away than the trial points get is measured at none of them
        if !own.checks_path {
            let BarrierContact { pairs, points, .. } = &mut **own;
            pairs.retain(|pair| points.is_near(pair, fraction));
        }
        fraction
    }
}
