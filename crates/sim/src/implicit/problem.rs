//! The incremental potential of one implicit step: its value, gradient and Hessian over free nodes and joints.

use super::bones::Bones;
use super::deformation_damping::DeformationDamping;
use super::home_terms::HomeTerms;
use super::rigid_obstacles::{RigidObstacles, RigidPose};
use crate::NodeEnergy;
use crate::SolveReport;
use crate::exact_constraints::ExactConstraints;
use crate::factors::Factors;
use crate::metaphor_forces::MetaphorForces;
use crate::substep::Substep;
use crate::{Control, Model, State, StepError};
use sinew_flesh::{ElasticHessian, ElasticPotential};
use sinew_math::lanes::{Kernel, Lanes, dispatch};
use sinew_math::parallel::for_each_part;
use sinew_math::sparse::Row;
use sinew_math::spatial::{Frame, RigidInertia, Twist, Wrench};
use sinew_math::{Mat3, Vec3};
use sinew_skeleton::{DriveKind, SkeletonState};

/// Node positions, joint coordinates and poses of dynamic obstacles.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    pub(super) x: Vec<Vec3>,
    pub(super) rigs: Vec<SkeletonState>,
    pub(super) obstacles: Vec<RigidPose>,
}

/// The gradient of the potential at a point.
#[derive(Clone, Debug, Default)]
pub(super) struct Gradient {
    /// For free nodes (N); 0 for all others.
    pub(super) nodes: Vec<Vec3>,
    /// For all degrees of freedom, unknown or prescribed (N m or N).
    pub(super) joints: Vec<f64>,
    /// For dynamic obstacles, about their centres of mass.
    pub(super) obstacles: Vec<Wrench>,
}

/// A displacement of nodes and joints, with nodes in single precision: the vectors of conjugate gradients.
#[derive(Clone, Debug, Default)]
pub(super) struct Motion {
    /// For free nodes; other entries are ignored.
    pub(super) nodes: Vec<Row>,
    /// For unknown joints; 0 for all others.
    pub(super) joints: Vec<f64>,
    /// For dynamic obstacles, about their centres of mass.
    pub(super) obstacles: Vec<Twist>,
}

/// The incremental potential of one step, with workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct Problem {
    pub(super) bones: Bones,
    pub(super) obstacles: RigidObstacles,
    /// Poses of bones and obstacles at the current iterate; unused without dynamic obstacles.
    rigid_frames: Vec<Frame>,
    /// Poses of all rigid bodies at the beginning of the step: the world, bones, and all obstacles if any is dynamic.
    pub(super) start_frames: Vec<Frame>,
    pub(super) homes: HomeTerms,
    /// Points that are held exactly.
    pub(super) exact: ExactConstraints,
    /// Whether multipliers hold them, not projection.
    pub(super) uses_multipliers: bool,
    pub(super) start: Point,
    /// Extrapolation of the state to the end of the step at constant velocity.
    pub(super) onward: Point,
    /// x̂ of the free nodes: the inertial prediction.
    pub(super) aim: Vec<Vec3>,
    /// m/h² of free nodes (N/m), 0 for all others.
    pub(super) inertia: Vec<f64>,
    /// Coefficient over the step of damping of free nodes against their bones, or against the air (N/m).
    pub(super) drag: Vec<f64>,
    /// Damping of the deformation of bodies without bones.
    pub(super) deformation: DeformationDamping,
    /// Positions that damping pulls nodes towards, in the frame of their reference bone.
    pub(super) carried: Vec<Vec3>,
    /// Load forces on nodes (N), with those of metaphors; empty if there are none.
    load: Vec<Vec3>,
    metaphor_forces: MetaphorForces,
    is_dragged: bool,
    /// Whether bodies wait, so that fewer nodes are free than usual.
    pub(super) any_waits: bool,
    pub(super) h: f64,
    elastic: ElasticPotential,
    hessian: ElasticHessian,
    elastic_energy: f64,
    node_gradients: Vec<Vec3>,
    wrenches: Vec<Wrench>,
    twists: Vec<Twist>,
    joint_stiffness: Vec<f64>,
    /// The Hessian over joints without the contribution of flesh, row by row.
    joint_matrix: Vec<f64>,
    /// Radii at which joint gradients are converted to forces (m).
    pub(super) joint_reach: Vec<f64>,
}

/// Nodes per parallel task.
const CHUNK: usize = 512;

/// The acceleration (m/s²) that defines a negligible gradient, whatever the initial gradient of the step was.
const SMALL_ACCELERATION: f64 = 0.01;

impl Problem {
    /// Sets up the potential of a sub-step.
    pub(super) fn begin(&mut self, model: &Model, control: &Control, substep: Substep, state: &State) {
        let h = substep.h;
        self.h = h;
        self.start.x.clone_from(&state.node_x);
        self.start.rigs.clone_from(&state.rigs);
        self.onward.rigs = self.bones.begin(model, control, substep, &state.rigs);
        self.obstacles.begin(model, control, h, state);
        self.obstacles.extrapolate(&mut self.onward.obstacles);
        self.start_frames.clone_from(&self.bones.start_frames);
        self.start_frames.extend_from_slice(&self.obstacles.start_frames);
        self.homes.begin(model, state);
        let Problem { elastic, homes, start, .. } = self;
        elastic.begin_step(model.elements(), homes.start_of(model, &start.x), h);
        self.gather_loads(model, control, substep, state);
        self.set_inertia(model, control, state);
        let Problem { exact, inertia, .. } = self;
        exact.begin(model, control, substep, state, |node| inertia[node] > 0.0);
        self.set_drag(model);
        self.onward.x.clone_from(&state.node_x);
        for node in 0..model.node_count() {
            if model.node_inverse_mass()[node] > 0.0 {
                self.onward.x[node] += h * state.node_v[node];
            }
        }
        self.place_pins(model, control, substep.to);
        self.place_homes(model);
    }

    /// Node positions at the start of the solve (m), as elasticity sees them.
    pub(super) fn bind_start(&self, model: &Model) -> &[Vec3] {
        self.homes.start_of(model, &self.start.x)
    }

    /// Takes homes where bones go in the initial guess, and flesh with them, moving on as it does relative to its home.
    pub(super) fn place_homes(&mut self, model: &Model) {
        if model.homes().is_empty() {
            return;
        }
        let frames = self.bones.frames_of(model, &self.onward.rigs);
        self.homes.place_end(model, &frames);
        for node in model.homes().bodies.iter().flat_map(|body| body.nodes.clone()) {
            if model.node_inverse_mass()[node] > 0.0 {
                let start = &self.homes.start;
                let bind = start.bind_x[node] + self.h * start.bind_v[node];
                self.onward.x[node] = self.homes.world(model, node, &bind);
            }
        }
    }

    /// Sets up a static problem: no damping, and inertia only as regularisation with a pseudo time step `h` (s).
    pub(super) fn begin_static(&mut self, model: &Model, control: &Control, h: f64, state: &State) {
        self.begin(model, control, Substep::at_end(h), state);
        self.elastic.begin_static();
        self.drag.iter_mut().for_each(|drag| *drag = 0.0);
        self.deformation.begin_static();
        self.is_dragged = false;
    }

    /// Forces that are constant in the sub-step: loads and metaphors.
    fn gather_loads(&mut self, model: &Model, control: &Control, substep: Substep, state: &State) {
        self.load.clear();
        if model.loads().is_empty() && model.metaphors().is_empty() {
            return;
        }
        self.load.resize(model.node_count(), Vec3::zeros());
        for (i, load) in model.loads().iter().enumerate() {
            let force = control.load_force(model, i);
            for (node, fraction) in &load.node_fractions {
                self.load[*node as usize] += *fraction * force;
            }
        }
        if !model.metaphors().is_empty() {
            let when = (substep.to, substep.h);
            self.metaphor_forces.push_ahead(model, control, when, state, &mut self.load);
        }
    }

    fn set_inertia(&mut self, model: &Model, control: &Control, state: &State) {
        let h = self.h;
        self.aim.clone_from(&state.node_x);
        self.inertia.clear();
        for node in 0..model.node_count() {
            let is_free = model.node_inverse_mass()[node] > 0.0;
            self.inertia.push(if is_free { model.node_mass()[node] / (h * h) } else { 0.0 });
            self.aim[node] += h * state.node_v[node] + h * h * model.gravity();
        }
        // what waits counts as fixed
        self.any_waits = false;
        for (_, body) in model.bodies().iter().enumerate().filter(|(i, _)| control.body_waits(model, *i)) {
            self.inertia[body.nodes.clone()].fill(0.0);
            self.any_waits = true;
        }
    }

    /// k = m ĉ/h with ĉ h = e^(c h) − 1: an isolated node then retains the fraction e^(−c h) of its velocity, as in explicit stepping.
    fn set_drag(&mut self, model: &Model) {
        self.drag.clear();
        self.drag.resize(model.node_count(), 0.0);
        self.carried.clear();
        self.carried.resize(model.node_count(), Vec3::zeros());
        self.is_dragged = false;
        for node in model.homes().bodies.iter().flat_map(|body| body.nodes.clone()) {
            self.is_dragged = true;
            self.drag[node] = model.homes().springs[node].damping * self.h * self.inertia[node];
            self.carried[node] = self.homes.start.bind_x[node];
        }
        for (i, body) in model.bodies().iter().enumerate() {
            let has_parts = !model.parts().of_body(i).is_empty();
            let factors = if has_parts { Factors::default() } else { body.factors };
            let grown = factors.growth(node_damping_rate(model, i) * self.h);
            if grown == 0.0 {
                continue;
            }
            self.is_dragged = true;
            for node in body.nodes.clone() {
                self.drag[node] = grown * self.inertia[node];
                let bone = model.fixed_nodes().node_reference[node] as usize;
                self.carried[node] = self.bones.start_frames[bone].point_back(&self.start.x[node]);
            }
        }
        let Problem { deformation, inertia, start, .. } = self;
        deformation.begin(model, self.h, &start.x, |node| inertia[node] > 0.0);
    }

    /// Uses the damping rate c unmodified: k = m c/h, without the correction that matches a single solve to explicit decay.
    pub(super) fn drag_plainly(&mut self, model: &Model) {
        for (i, body) in model.bodies().iter().enumerate() {
            let rate = node_damping_rate(model, i);
            if rate > 0.0 {
                for node in body.nodes.clone() {
                    self.drag[node] = rate * self.h * self.inertia[node];
                }
            }
        }
        let Problem { deformation, inertia, .. } = self;
        deformation.damp_plainly(model, self.h, |node| inertia[node] > 0.0);
    }

    /// Sets the reference strain of viscous damping by extrapolating from that at node positions `x` (m) through that at the start of the problem, by a factor `s`.
    pub(super) fn begin_strain_beyond(&mut self, model: &Model, x: &[Vec3], s: f64) {
        self.elastic.begin_step(model.elements(), x, self.h);
        let Problem { elastic, homes, start, .. } = self;
        elastic.begin_beyond(model.elements(), homes.start_of(model, &start.x), s);
    }

    fn place_pins(&mut self, model: &Model, control: &Control, fraction: f64) {
        for (i, pin) in model.pins().iter().enumerate() {
            let pose = control.pin(i).pose(fraction, &pin.center);
            for &node in &pin.nodes {
                let node = node as usize;
                self.onward.x[node] = pose.rotation * model.node_rest()[node] + pose.translation.vector;
            }
        }
    }

    /// Moves nodes that are fixed to bones with the bones, at the joint coordinates of the point.
    pub(super) fn place_bones(&mut self, model: &Model, point: &mut Point) {
        if model.rigs().is_empty() {
            return;
        }
        self.bones.place(model, &point.rigs);
        for (bone, frame) in self.bones.frames.iter().enumerate().skip(1) {
            for tie in model.fixed_nodes().ties_of_bone(bone) {
                point.x[tie.node as usize] = frame.point(&tie.place);
            }
        }
    }

    /// Number of rigid bodies before the obstacles: the world and all bones.
    pub(super) fn bone_count(&self) -> usize {
        self.bones.parents.len()
    }

    /// Shows extra energies the poses of rigid bodies at a point; bones must have been placed there last.
    pub(super) fn show_bodies(&mut self, point: &Point, extras: &mut [&mut dyn NodeEnergy]) {
        let Problem { bones, obstacles, rigid_frames, .. } = self;
        if !obstacles.any() {
            extras.iter_mut().for_each(|extra| extra.see_bones(&bones.frames));
            return;
        }
        rigid_frames.clear();
        rigid_frames.extend_from_slice(&bones.frames);
        rigid_frames.resize(bones.parents.len(), Frame::default());
        obstacles.append_frames(&point.obstacles, rigid_frames);
        extras.iter_mut().for_each(|extra| extra.see_bones(rigid_frames));
    }

    /// Clears the wrenches on all rigid bodies.
    fn clear_wrenches(&mut self) {
        self.wrenches.clear();
        self.wrenches.resize(self.bones.parents.len() + self.obstacles.start_frames.len(), Wrench::default());
    }

    /// Computes the potential (J), its gradient and the number of inverted elements at a point. The bones must have been placed there last.
    pub(super) fn evaluate(
        &mut self,
        model: &Model,
        point: &Point,
        extras: &mut [&mut dyn NodeEnergy],
        gradient: &mut Gradient,
    ) -> (f64, usize) {
        // elastic energy and its gradient
        let bind_x = self.homes.bind(model, &point.x);
        let found = self.elastic.evaluate(model.elements(), bind_x);
        self.elastic_energy = found.energy;
        let n = self.bones.dof_bone.len();
        let mut sum = found.energy;
        let mut nodes = core::mem::take(&mut self.node_gradients);
        nodes.resize(model.node_count(), Vec3::zeros());
        for_each_part(nodes.as_mut_slice(), CHUNK, |first, chunk| {
            dispatch(GradientKernel { problem: self, model, first, gradients: chunk });
        });

        // springs towards home, and what bones bear of such flesh
        self.clear_wrenches();
        if !model.homes().is_empty() {
            let springs = self.homes.add_springs(model, &point.x, &mut nodes);
            (sum, self.elastic_energy) = (sum + springs, self.elastic_energy + springs);
            self.homes.add_reactions(model, &point.x, &mut nodes, &mut self.wrenches);
        }

        // loads and extra energies
        for (node, load) in self.load.iter().enumerate() {
            nodes[node] -= load;
            sum -= load.dot(&(point.x[node] - self.start.x[node]));
        }
        self.show_bodies(point, extras);
        for extra in extras.iter_mut() {
            sum += extra.evaluate(&point.x, &mut nodes);
        }

        // inertia of bones, and joint energies
        gradient.joints.clear();
        gradient.joints.resize(n, 0.0);
        self.joint_stiffness.clear();
        self.joint_stiffness.resize(n, 0.0);
        if n > 0 {
            let (wrenches, stiffness) = (&mut self.wrenches, &mut self.joint_stiffness);
            sum += self.bones.evaluate(model, &point.rigs, wrenches, &mut gradient.joints, stiffness);
        }
        if n > 0 || self.obstacles.any_sought() {
            extras.iter().for_each(|extra| extra.add_bone_gradients(&mut self.wrenches));
        }

        // inertia of free nodes; fixed nodes pass their forces on to their bones
        gradient.nodes.clear();
        gradient.nodes.resize(model.node_count(), Vec3::zeros());
        for node in 0..model.node_count() {
            let inertia = self.inertia[node];
            if inertia > 0.0 {
                let ahead = point.x[node] - self.aim[node];
                sum += 0.5 * inertia * ahead.norm_squared();
                gradient.nodes[node] = nodes[node] + inertia * ahead;
            } else if n > 0 && model.fixed_nodes().holds(node) {
                let wrench = &mut self.wrenches[model.fixed_nodes().node_bone[node] as usize];
                wrench.force += nodes[node];
                wrench.torque += point.x[node].cross(&nodes[node]);
            }
        }

        // damping, gravity compensation, and wrenches projected onto the joints
        if self.is_dragged {
            sum += self.add_drag(model, point, gradient);
        }
        sum += self.deformation.evaluate(model, &point.x, &mut gradient.nodes);
        if n > 0 {
            sum += self.add_balance(model, point, gradient);
            self.bones.add_wrenches(&mut self.wrenches, &mut gradient.joints);
        }
        let on_obstacles = &self.wrenches[self.bones.parents.len()..];
        sum += self.obstacles.evaluate(&point.obstacles, on_obstacles, &mut gradient.obstacles);
        self.node_gradients = nodes;
        (sum + self.constrain(point, gradient), found.inverted)
    }

    /// Takes exact constraints into account: removes what they bear from the gradient, or adds the forces of multipliers to it and returns their part λ · (Cᵀx − y) of the Lagrangian (J).
    pub(super) fn constrain(&self, point: &Point, gradient: &mut Gradient) -> f64 {
        if self.exact.is_empty() {
            return 0.0;
        }
        if !self.uses_multipliers {
            self.exact.project(&mut gradient.nodes);
            return 0.0;
        }
        let multipliers = &self.exact.multipliers;
        self.exact.add_forces(multipliers, |node, force| gradient.nodes[node] += force);
        let gaps = self.exact.gaps(&point.x);
        -multipliers.iter().zip(gaps).map(|(force, gap)| force.dot(&gap)).sum::<f64>()
    }

    fn add_drag(&mut self, model: &Model, point: &Point, gradient: &mut Gradient) -> f64 {
        let mut sum = 0.0;
        for (node, &drag) in self.drag.iter().enumerate() {
            if drag > 0.0 {
                let has_home = model.homes().holds(node);
                let bone = if has_home { 0 } else { model.fixed_nodes().node_reference[node] as usize };
                let there = match self.bones.frames.get(bone) {
                    _ if has_home => self.homes.world(model, node, &self.carried[node]),
                    Some(frame) => frame.point(&self.carried[node]),
                    None => self.carried[node],
                };
                let slip = point.x[node] - there;
                let pull = drag * slip;
                sum += 0.5 * pull.dot(&slip);
                gradient.nodes[node] += pull;
                if has_home {
                    self.homes.add_reaction(model, node, &there, &pull, &mut self.wrenches);
                    continue;
                }
                self.wrenches[bone].force -= pull;
                self.wrenches[bone].torque -= there.cross(&pull);
            }
        }
        sum
    }

    /// Gravity compensation by bones: a follower force m R c that rotates with the bone and has the potential −m R c · (x − o).
    fn add_balance(&mut self, model: &Model, point: &Point, gradient: &mut Gradient) -> f64 {
        let mut sum = 0.0;
        for (node, lift) in model.node_lift().iter().enumerate().filter(|(_, lift)| **lift != Vec3::zeros()) {
            let bone = model.fixed_nodes().node_reference[node] as usize;
            let frame = &self.bones.frames[bone];
            let pull = frame.rotation * lift * -model.node_mass()[node];
            sum += pull.dot(&(point.x[node] - frame.origin));
            gradient.nodes[node] += pull;
            self.wrenches[bone].force -= pull;
            self.wrenches[bone].torque -= point.x[node].cross(&pull);
        }
        sum
    }

    /// Load forces on nodes (N); empty if there are none.
    pub(super) fn load(&self) -> &[Vec3] {
        &self.load
    }

    /// The elastic energy at the last evaluation (J).
    pub(super) fn elastic_energy(&self) -> f64 {
        self.elastic_energy
    }

    /// Norm of the gradient over free nodes and unknown joints (N).
    pub(super) fn norm(&self, gradient: &Gradient) -> f64 {
        let nodes: f64 = gradient.nodes.iter().map(Vec3::norm_squared).sum();
        let joints = gradient.joints.iter().zip(&self.joint_reach).zip(&self.bones.is_sought);
        let joints: f64 =
            joints.map(|((g, reach), sought)| if *sought { (g / reach) * (g / reach) } else { 0.0 }).sum();
        let obstacles = gradient.obstacles.iter().map(|wrench| (&wrench.torque, &wrench.force));
        (nodes + joints + self.obstacles.norm_squared(obstacles)).sqrt()
    }

    /// Sets the radii that convert joint gradients to forces: √(inertia / mass) of the subtree that each joint moves.
    pub(super) fn set_joint_reach(&mut self, model: &Model) {
        let n = self.bones.dof_bone.len();
        self.joint_reach.clear();
        if n == 0 {
            return;
        }
        let inertias = self.bones.inertias(model);
        let mut masses: Vec<f64> = inertias.iter().map(|inertia| inertia.mass).collect();
        for bone in (1..masses.len()).rev() {
            let own = masses[bone];
            masses[self.bones.parents[bone] as usize] += own;
        }
        let mut matrix = vec![0.0; n * n];
        self.bones.add_inertia_matrix(inertias, &mut matrix);
        for dof in 0..n {
            let reach = (matrix[dof * n + dof] / masses[self.bones.dof_bone[dof] as usize]).sqrt();
            self.joint_reach.push(if reach > 1e-6 { reach } else { 1.0 });
        }
    }

    /// √Σ (m g)² over all free nodes, bones and dynamic obstacles (N).
    pub(super) fn weight(&self, model: &Model) -> f64 {
        self.small_gradient(model) / SMALL_ACCELERATION * model.gravity().norm()
    }

    /// A gradient norm (N) so small that no step needs a residual below the tolerance times it.
    pub(super) fn small_gradient(&self, model: &Model) -> f64 {
        let own = self.inertia.iter().map(|inertia| inertia * self.h * self.h);
        let bones = model.rigs().iter().flat_map(|rig| rig.skeleton.bones()).map(|bone| bone.mass.mass);
        let all = own.chain(bones).chain(self.obstacles.masses());
        SMALL_ACCELERATION * all.map(|m| m * m).sum::<f64>().sqrt()
    }

    /// Computes the Hessian at the point of the last gradient evaluation.
    pub(super) fn update_hessian(
        &mut self,
        model: &Model,
        point: &Point,
        extras: &mut [&mut dyn NodeEnergy],
    ) {
        let bind_x = self.homes.bind(model, &point.x);
        self.hessian.update(model.elements(), &self.elastic, bind_x);
        self.homes.update(model, &point.x);
        self.show_bodies(point, extras);
        extras.iter_mut().for_each(|extra| extra.update(&point.x));
        if self.bones.any_sought() {
            let mut inertias = self.bones.inertias(model);
            if self.is_dragged {
                self.add_dragged(model, &mut inertias);
            }
            let mut matrix = core::mem::take(&mut self.joint_matrix);
            self.fill_joint_matrix(inertias, &mut matrix);
            self.joint_matrix = matrix;
        }
    }

    /// Adds the damping of nodes to the inertia of their bones, as point masses at the nodes' carried positions.
    fn add_dragged(&self, model: &Model, inertias: &mut [RigidInertia]) {
        for (node, &drag) in self.drag.iter().enumerate() {
            let bone = model.fixed_nodes().node_reference[node] as usize;
            if drag > 0.0 && bone > 0 && !model.homes().holds(node) {
                let there = self.bones.frames[bone].point(&self.carried[node]);
                let more = RigidInertia::new(drag, there, Mat3::zeros());
                inertias[bone].mass += more.mass;
                inertias[bone].first_moment += more.first_moment;
                inertias[bone].tensor += more.tensor;
            }
        }
    }

    /// Assembles the joint-space matrix of rigid bodies and joint stiffness; rows of prescribed joints are those of the identity.
    pub(super) fn fill_joint_matrix(&self, inertias: Vec<RigidInertia>, matrix: &mut Vec<f64>) {
        let n = self.bones.dof_bone.len();
        matrix.clear();
        matrix.resize(n * n, 0.0);
        self.bones.add_inertia_matrix(inertias, matrix);
        for dof in 0..n {
            matrix[dof * n + dof] += self.joint_stiffness[dof];
        }
        self.isolate(matrix);
    }

    /// Decouples prescribed joints from all others.
    pub(super) fn isolate(&self, matrix: &mut [f64]) {
        let n = self.bones.dof_bone.len();
        for dof in (0..n).filter(|&dof| !self.bones.is_sought[dof]) {
            for other in 0..n {
                matrix[dof * n + other] = 0.0;
                matrix[other * n + dof] = 0.0;
            }
            matrix[dof * n + dof] = 1.0;
        }
    }

    /// out = Hessian × motion. Entries of the motion at fixed nodes are overwritten by the motion of their bones.
    pub(super) fn multiply(
        &mut self,
        model: &Model,
        point: &Point,
        extras: &mut [&mut dyn NodeEnergy],
        motion: &mut Motion,
        out: &mut Motion,
    ) {
        // fixed nodes follow their bones
        let n = self.bones.dof_bone.len();
        let sought = self.bones.any_sought();
        if sought {
            self.bones.twists(&motion.joints, &mut self.twists);
            for (bone, twist) in self.twists.iter().enumerate().skip(1) {
                for tie in model.fixed_nodes().ties_of_bone(bone) {
                    let node = tie.node as usize;
                    motion.nodes[node] = row(&Bones::at(twist, &point.x[node]));
                }
            }
        }

        // flesh, inertia and damping, then extra energies
        self.hessian.multiply(model.elements(), self.homes.turn_back(model, &motion.nodes));
        let this = &*self;
        for_each_part(out.nodes.as_mut_slice(), CHUNK, |first, chunk| {
            dispatch(ProductKernel { problem: this, model, first, motion: &motion.nodes, out: chunk });
        });
        self.deformation.multiply_rigid(model, &motion.nodes, &mut out.nodes);
        let any_sought = sought || self.obstacles.any_sought();
        self.append_obstacle_twists(point, motion);
        let twists: &[Twist] = if any_sought { &self.twists } else { &[] };
        extras.iter_mut().for_each(|extra| {
            extra.move_bones(twists);
            extra.multiply(&motion.nodes, &mut out.nodes);
        });

        // forces on bones, projected onto the joints
        self.clear_wrenches();
        if sought {
            let bones = self.bones.parents.len();
            for (bone, wrench) in self.wrenches[..bones].iter_mut().enumerate().skip(1) {
                for tie in model.fixed_nodes().ties_of_bone(bone) {
                    let pull = vector(&out.nodes[tie.node as usize]);
                    wrench.force += pull;
                    wrench.torque += point.x[tie.node as usize].cross(&pull);
                }
            }
        }
        if any_sought {
            extras.iter().for_each(|extra| extra.add_bone_products(&motion.nodes, &mut self.wrenches));
            let on_obstacles = &self.wrenches[self.bones.parents.len()..];
            self.obstacles.multiply(&point.obstacles, &motion.obstacles, on_obstacles, &mut out.obstacles);
        }
        if sought {
            if self.is_dragged {
                self.couple_drag(model, motion, out);
            }
            out.joints.fill(0.0);
            self.bones.add_wrenches(&mut self.wrenches, &mut out.joints);
            for dof in 0..n {
                let own = &self.joint_matrix[dof * n..(dof + 1) * n];
                out.joints[dof] += own.iter().zip(&motion.joints).map(|(a, b)| a * b).sum::<f64>();
                if !self.bones.is_sought[dof] {
                    out.joints[dof] = 0.0;
                }
            }
        }

        // constrained nodes have no equation
        for (node, out) in out.nodes.iter_mut().enumerate() {
            if self.inertia[node] == 0.0 {
                *out = [0.0; 4];
            }
        }
    }

    /// Appends the twists of obstacles to those of bones.
    fn append_obstacle_twists(&mut self, point: &Point, motion: &Motion) {
        if !self.obstacles.any_sought() {
            return;
        }
        if !self.bones.any_sought() {
            self.twists.clear();
        }
        self.twists.resize(self.bones.parents.len(), Twist::default());
        self.obstacles.append_twists(&point.obstacles, &motion.obstacles, &mut self.twists);
    }

    /// Adds the off-diagonal damping terms between nodes and moving bones.
    fn couple_drag(&mut self, model: &Model, motion: &Motion, out: &mut Motion) {
        for (node, &drag) in self.drag.iter().enumerate() {
            let bone = model.fixed_nodes().node_reference[node] as usize;
            if drag > 0.0 && bone > 0 && !model.homes().holds(node) {
                let there = self.bones.frames[bone].point(&self.carried[node]);
                let pull = row(&(drag * Bones::at(&self.twists[bone], &there)));
                (0..3).for_each(|i| out.nodes[node][i] -= pull[i]);
                let own = drag * vector(&motion.nodes[node]);
                self.wrenches[bone].force -= own;
                self.wrenches[bone].torque -= there.cross(&own);
            }
        }
    }

    /// Whether any node is damped.
    pub(super) fn is_damped(&self) -> bool {
        self.drag.iter().chain(&self.deformation.diagonal).any(|rate| *rate > 0.0)
    }

    /// Inertia and damping of a node (N/m).
    #[inline(always)]
    pub(super) fn own_diagonal(&self, node: usize) -> f64 {
        self.inertia[node] + self.drag[node] + self.deformation.diagonal[node]
    }

    /// The diagonal block of each node in the Hessian.
    pub(super) fn diagonal_blocks(&self, model: &Model, extras: &[&mut dyn NodeEnergy]) -> Vec<Mat3> {
        let own = (0..self.inertia.len()).map(|node| self.own_diagonal(node));
        let mut blocks: Vec<Mat3> = own.map(Mat3::from_diagonal_element).collect();
        self.hessian.add_diagonal(model.elements(), &mut blocks);
        if !model.homes().is_empty() {
            self.homes.turn_blocks(model, &mut blocks);
        }
        extras.iter().for_each(|extra| extra.add_diagonal(&mut blocks));
        blocks
    }

    /// Torques of drives: as prescribed for torque-driven joints, from the gradient for joints with prescribed motion.
    pub(super) fn write_torques(
        &self,
        model: &Model,
        control: &Control,
        (gradient, ends): (&[f64], &[SkeletonState]),
        torques: &mut Vec<Vec<f64>>,
    ) {
        torques.resize(model.rigs().len(), Vec::new());
        for (i, torques) in torques.iter_mut().enumerate() {
            let dofs = self.bones.rig_dofs[i]..self.bones.rig_dofs[i + 1];
            torques.clear();
            torques.extend_from_slice(&gradient[dofs]);
            let bones = model.rigs()[i].skeleton.bones().iter();
            let Some(control) = control.rigs.get(i) else { continue };
            for (bone, _) in bones.zip(&control.drives).filter(|(_, kind)| **kind == DriveKind::Torque) {
                torques[bone.joint.v()].copy_from_slice(&control.torque[bone.joint.v()]);
            }
            self.bones.add_feedback(model, i, &ends[i], torques);
        }
    }

    /// Reports where a step produced non-finite values.
    pub(super) fn failure(&self, model: &Model, state: &State, _report: &SolveReport) -> StepError {
        let is_bad =
            |node: &usize| !(state.node_x[*node] + state.node_v[*node]).iter().all(|x| x.is_finite());
        let worst = (0..model.node_count()).find(is_bad).unwrap_or(0);
        StepError::Diverged {
            body: model.body_of_node(worst).name.clone(),
            time: state.time,
            place: model.node_rest()[worst].into(),
            substeps: 1,
            substep: self.h,
        }
    }
}

/// Damping rate of the nodes of a body against their bones, or against the air (1/s).
fn node_damping_rate(model: &Model, body: usize) -> f64 {
    let own = &model.bodies()[body];
    if model.parts().of_body(body).is_empty() { own.damping_rate } else { own.air_drag }
}

/// Elastic gradients of a chunk of nodes that begins at `first`.
struct GradientKernel<'a> {
    problem: &'a Problem,
    model: &'a Model,
    first: usize,
    gradients: &'a mut [Vec3],
}

impl Kernel for GradientKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (i, gradient) in self.gradients.iter_mut().enumerate() {
            let node = self.first + i;
            *gradient = self.problem.elastic.gradient_of(self.model.elements(), node);
            if let Some(rotation) = self.problem.homes.rotation(self.model, node) {
                *gradient = rotation * *gradient;
            }
        }
    }
}

/// Hessian products of a chunk of nodes that begins at `first`: flesh, inertia and damping.
struct ProductKernel<'a> {
    problem: &'a Problem,
    model: &'a Model,
    first: usize,
    motion: &'a [Row],
    out: &'a mut [Row],
}

impl Kernel for ProductKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (i, out) in self.out.iter_mut().enumerate() {
            let node = self.first + i;
            let own = self.problem.own_diagonal(node) as f32;
            let sum = self.problem.hessian.on_node(self.model.elements(), node);
            let mut sum = self.problem.homes.product(self.model, node, sum, &self.motion[node]);
            for k in 0..4 {
                sum[k] += own * self.motion[node][k];
            }
            *out = sum;
        }
    }
}

/// Converts a vector to single precision.
#[inline(always)]
pub(super) fn row(x: &Vec3) -> Row {
    [x.x as f32, x.y as f32, x.z as f32, 0.0]
}

/// Converts a vector to double precision.
#[inline(always)]
pub(super) fn vector(row: &Row) -> Vec3 {
    Vec3::new(f64::from(row[0]), f64::from(row[1]), f64::from(row[2]))
}
