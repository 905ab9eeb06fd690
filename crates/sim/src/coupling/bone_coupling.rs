//! Motion of bones in explicit steps: wrenches from flesh, articulated-body dynamics, and the motion of fixed nodes.

use super::bone_support::{BoneSupport, FreeSkeleton, Mobility as BoneMobility};
use crate::desc::Mobility;
use crate::rig::{CoreGround, CoreMotion, Rig};
use crate::substep::Substep;
use crate::{BoneError, Control, Energies, Model, RigControl, State};
use sinew_flesh::CornerForces;
use sinew_math::parallel::for_each_part;
use sinew_math::spatial::{Frame, RigidInertia, Wrench};
use sinew_math::{Mat3, Vec3};
use sinew_skeleton::{
    BoneId, DriveKind, Drives, Dynamics, DynamicsError, Energies as BoneEnergies, JointDrive, Kinematics,
    Loads, MomentumCorrection, SkeletonState, StatePath,
};

/// The velocity field of a rigid bone: the velocity at x is `at_origin + angular × x`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Field {
    pub(crate) angular: Vec3,
    pub(crate) at_origin: Vec3,
    /// Maximum fraction of a node's velocity relative to the bone that damping may remove in a sub-step.
    pub(crate) max_drag: f64,
    /// The acceleration of the bone if nothing holds it (m/s²): gravity, or 0 where all joints of its rig are prescribed.
    pub(crate) fall: Vec3,
    /// Rotation of the bone's frame, which also rotates its gravity compensation.
    pub(crate) rotation: Mat3,
    /// Origin of the bone's frame (m).
    pub(crate) origin: Vec3,
}

impl Field {
    #[inline(always)]
    pub(crate) fn at(&self, x: &Vec3) -> Vec3 {
        self.at_origin + self.angular.cross(x)
    }
}

/// Forces on nodes in a sub-step that act on bones.
pub(crate) struct Pushes<'a> {
    pub(crate) corner_forces: &'a CornerForces,
    /// External forces except gravity (N); empty without any.
    pub(crate) load: &'a [Vec3],
    /// For each free node the reaction on its bone: from damping, and from gravity compensation (N).
    pub(crate) drag: &'a [Vec3],
    /// Impulses of elements at the limit of compression on nodes (N s); empty without any.
    pub(crate) squeezed: &'a [Vec3],
    /// For each free node with a home the fraction ρ of a change of its bones' velocity that it takes over.
    pub(crate) follow: &'a [f64],
    /// Wrenches of constraints on the bones of all rigs, the world first, about the origin of the world; empty without constraints.
    pub(crate) bones: &'a [Wrench],
    /// Whether the cores of limbs are in contact with each other.
    pub(crate) cores_collide: bool,
}

/// What fixed obstacles do to the core of a bone in a sub-step of `h` (s): the force and the torque about its origin, in the world; inertia is added in the bone's frame.
fn bear_on_obstacles(
    (model, state): (&Model, &State),
    (rig, kinematics): (&Rig, &Kinematics),
    (bone, h): (usize, f64),
    added: &mut RigidInertia,
) -> Wrench {
    let frame = &kinematics.world_frames()[bone];
    let twist = &kinematics.velocities()[bone];
    let velocity = |place: &Vec3| frame.rotation * twist.at(place) + h * model.gravity();
    let motion = CoreMotion { frame, velocity: &velocity, h };
    let obstacles = model.obstacles().iter().zip(&state.obstacles);
    let mut sum = Wrench::default();
    for (obstacle, now) in obstacles.filter(|(obstacle, _)| obstacle.mobility == Mobility::Fixed) {
        let ground = CoreGround { shape: &obstacle.shape, pose: &now.pose, friction: obstacle.friction };
        rig.cores.bear(bone, (&motion, &ground), (&mut sum.force, &mut sum.torque), added);
    }
    sum
}

/// The fraction of a change of a bone's velocity that a node takes over in a sub-step of `h` (s): by its spring, of which the node takes over `follow`, and by elasticity between bones, of
/// `stiffness` per mass (1/s²) and its viscosity β.
///
/// ```text
/// min(1, w ρ + (h² + h β) k/m)
/// ```
#[inline]
fn follow_fraction(model: &Model, follow: f64, h: f64, (weight, stiffness): (f64, f64)) -> f64 {
    (weight * follow + h * (h + model.stable_step().viscosity) * stiffness).min(1.0)
}

/// Workspace of all rigs.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoneCoupling {
    rigs: Vec<RigCoupling>,
    /// Velocity fields of the bones of all rigs, the world first.
    pub(crate) fields: Vec<Field>,
    /// Fields of the bones' accelerations relative to free fall in the last sub-step, likewise: only `angular` and `at_origin` are set.
    accelerations: Vec<Field>,
    support: BoneSupport,
}

/// Workspace of one rig.
#[derive(Clone, Debug)]
struct RigCoupling {
    kinematics: Kinematics,
    dynamics: Dynamics,
    drives: Drives,
    path: StatePath,
    /// Where the path has the joints at the end of a sub-step, and how they move there.
    goal: SkeletonState,
    floating: MomentumCorrection,
    wrenches: Vec<Wrench>,
    /// Displacements to that path, and for each degree of freedom the drag of feedback towards it.
    off: Vec<f64>,
    drag: Vec<f64>,
    /// Whether all joints are prescribed, so that flesh cannot move the bones.
    is_prescribed: bool,
    /// Whether there is a path for prescribed joints; without one they keep their velocities.
    has_path: bool,
    /// Whether the dynamics have been solved in this step.
    is_solved: bool,
}

/// Worlds with fewer nodes are summed on one thread.
const FEW_NODES: usize = 1024;

impl BoneCoupling {
    /// Computes the motion of bones in a state.
    pub(crate) fn of(model: &Model, state: &State) -> BoneCoupling {
        let mut coupling = BoneCoupling::default();
        coupling.prepare(model);
        coupling.refresh(model, state);
        coupling
    }

    /// Prepares for a step of `dt` (s): computes the motion of bones and fits the paths of prescribed joints.
    pub(crate) fn begin(&mut self, model: &Model, control: &Control, dt: f64, state: &State) {
        self.prepare(model);
        for (i, (coupling, rig)) in self.rigs.iter_mut().zip(model.rigs()).enumerate() {
            coupling.is_solved = false;
            coupling.has_path = i < control.rigs.len();
            coupling.is_prescribed = match control.rigs.get(i) {
                Some(control) => {
                    coupling.path.fit(&rig.skeleton, &control.from, &control.to, dt);
                    control.drives.iter().all(|kind| *kind == DriveKind::Motion)
                }
                None => {
                    coupling.drives.go_limp(&rig.skeleton);
                    false
                }
            };
        }
        self.refresh(model, state);
    }

    /// Resizes for the bones of a model.
    pub(crate) fn prepare(&mut self, model: &Model) {
        let fits = |(coupling, rig): (&RigCoupling, &Rig)| {
            let (bones, dofs) = (rig.skeleton.bones().len(), rig.skeleton.v_count());
            coupling.drives.kinds().len() == bones && coupling.drives.values().len() == dofs
        };
        let rigs = model.rigs();
        if self.rigs.len() != rigs.len() || !self.rigs.iter().zip(rigs).all(fits) {
            self.rigs = rigs.iter().map(RigCoupling::new).collect();
        }
    }

    /// Computes poses and velocities of bones.
    pub(crate) fn refresh(&mut self, model: &Model, state: &State) {
        let bones = model.rigs().last().map_or(1, |rig| rig.bones.end);
        self.fields.resize(bones, Field::default());
        self.fields[0].max_drag = 1.0;
        self.accelerations.resize(bones, Field::default());
        for ((coupling, rig), state) in self.rigs.iter_mut().zip(model.rigs()).zip(&state.rigs) {
            coupling.kinematics.update(&rig.skeleton, state);
            for (i, frame) in coupling.kinematics.world_frames().iter().enumerate() {
                let velocity = &coupling.kinematics.velocities()[i];
                let angular = frame.rotation * velocity.angular;
                let linear = frame.rotation * velocity.linear;
                self.fields[rig.bones.start + i] = Field {
                    angular,
                    at_origin: linear - angular.cross(&frame.origin),
                    max_drag: if coupling.is_prescribed { 1.0 } else { rig.max_drag[i] },
                    fall: if coupling.is_prescribed { Vec3::zeros() } else { model.gravity() },
                    rotation: frame.rotation,
                    origin: frame.origin,
                };
            }
        }
    }

    /// Whether flesh moves the rig that a bone of the world belongs to.
    pub(crate) fn is_moved_by_flesh(&self, model: &Model, bone: usize) -> bool {
        let mut rigs = self.rigs.iter().zip(model.rigs());
        rigs.any(|(coupling, rig)| rig.bones.contains(&bone) && !coupling.is_prescribed)
    }

    /// What a free node with a home, which was at x, takes over in a sub-step of `h` (s) from the accelerations of its bones relative to free fall (m/s²).
    #[inline]
    pub(crate) fn taken_over(&self, model: &Model, (node, follow): (usize, f64), h: f64, x: &Vec3) -> Vec3 {
        let inverse_mass = model.node_inverse_mass()[node];
        model.homes().of_node(node).iter().fold(Vec3::zeros(), |sum, part| {
            let fraction = follow_fraction(model, follow, h, (part.weight, part.stiffness * inverse_mass));
            sum + fraction * self.accelerations[part.bone as usize].at(x)
        })
    }

    /// The world pose of a bone of a rig.
    pub(crate) fn frame(&self, rig: usize, bone: usize) -> &Frame {
        &self.rigs[rig].kinematics.world_frames()[bone]
    }

    /// Poses of the bones of all rigs, the world first; empty where no muscle needs them.
    pub(crate) fn world_frames(&self, model: &Model) -> Vec<Frame> {
        if !model.muscle_store().has_lines() {
            return Vec::new();
        }
        let bones = self.rigs.iter().flat_map(|rig| rig.kinematics.world_frames().iter().copied());
        core::iter::once(Frame::default()).chain(bones).collect()
    }

    /// Energy of fully prescribed rigs (J); its change over a step is the work of the prescribed joints.
    pub(crate) fn prescribed_energy(&self, model: &Model, state: &State) -> f64 {
        let rigs = self.rigs.iter().zip(model.rigs()).zip(&state.rigs);
        let prescribed = rigs.filter(|((coupling, _), _)| coupling.is_prescribed);
        prescribed
            .map(|((coupling, rig), state)| {
                BoneEnergies::of(&rig.skeleton, &coupling.kinematics, state, &model.gravity()).total()
            })
            .sum()
    }

    /// Kinetic energy of all bones, elastic energy of joints, and potential energy of bones and of gravity compensation.
    pub(crate) fn energies(&self, model: &Model, state: &State) -> Energies {
        let mut sum = Energies::default();
        for ((coupling, rig), state) in self.rigs.iter().zip(model.rigs()).zip(&state.rigs) {
            let own = BoneEnergies::of(&rig.skeleton, &coupling.kinematics, state, &model.gravity());
            sum.kinetic += own.kinetic;
            sum.potential += own.gravity - rig.rest_potential;
            sum.elastic += own.springs;
        }
        sum.potential = sum.potential + self.balance_energy(model, state) - model.rest_balance();
        sum
    }

    /// The potential of gravity compensation (J).
    fn balance_energy(&self, model: &Model, state: &State) -> f64 {
        let frame = |bone: usize| (self.fields[bone].rotation, self.fields[bone].origin);
        model.balance_energy(&state.node_x, frame)
    }

    /// Torques of all drives of a rig in the last sub-step (N m, N), computed or prescribed.
    pub(crate) fn torques(&self, rig: usize) -> &[f64] {
        self.rigs.get(rig).map_or(&[], |coupling| &coupling.dynamics.torque)
    }

    /// Moves bones and the nodes fixed to them by one sub-step. The work of the drives is counted as energy
    /// supplied to the world.
    pub(crate) fn move_bones(
        &mut self,
        model: &Model,
        control: &Control,
        pushes: &Pushes,
        substep: Substep,
        state: &mut State,
    ) -> Result<(), BoneError> {
        let Substep { to: fraction, h, dt, .. } = substep;

        // wrenches on all bones
        for (coupling, rig) in self.rigs.iter_mut().zip(model.rigs()) {
            coupling.gather(model, rig, pushes, h, state);
        }
        for (coupling, rig) in self.rigs.iter_mut().zip(model.rigs()) {
            coupling.dynamics.added_drag.clear();
            if !model.limb_shapes().pairs.is_empty() {
                coupling.dynamics.added_drag.reserve(rig.skeleton.v_count());
            }
        }
        if pushes.cores_collide && self.find_limb_contacts(model) {
            state.supplied_energy += self.bear_on_each_other(model, h);
        }
        for (i, (coupling, rig)) in self.rigs.iter_mut().zip(model.rigs()).enumerate() {
            // drives
            let named = |error: DynamicsError| BoneError { rig: rig.name.clone(), error };
            let path = (fraction, dt);
            coupling.set_drives(rig, control.rigs.get(i), (path, h), &state.rigs[i]).map_err(named)?;
            coupling.begin_feedback();

            // joint accelerations and torques; prescribed rigs only need the torques at the end of the step
            let is_last = fraction == 1.0;
            if !coupling.is_prescribed || is_last {
                let loads = Loads { gravity: model.gravity(), wrenches: &coupling.wrenches, passive_step: h };
                let (skeleton, bones, drives) = (&rig.skeleton, &state.rigs[i], &coupling.drives);
                // no warm start from an earlier step, which a resumed run has not seen
                let solved = if coupling.is_solved {
                    coupling.dynamics.solve_next_centered(skeleton, bones, drives, &loads, h)
                } else {
                    coupling.dynamics.solve_centered(skeleton, &coupling.kinematics, bones, drives, &loads, h)
                };
                solved.map_err(named)?;
                coupling.finish_feedback();
                coupling.is_solved = true;
                coupling.yield_to_flesh(&mut self.accelerations[rig.bones.clone()]);
            }

            // motion and work of the drives
            if coupling.is_prescribed {
                let power: f64 = coupling
                    .wrenches
                    .iter()
                    .zip(coupling.kinematics.velocities())
                    .map(|(f, v)| v.dot(f))
                    .sum();
                state.supplied_energy -= h * power;
                state.rigs[i].q.copy_from_slice(&coupling.goal.q);
                state.rigs[i].v.copy_from_slice(&coupling.goal.v);
            } else {
                let before = coupling.power_along_paths(rig, &state.rigs[i].v);
                coupling.advance(rig, &model.gravity(), h, &mut state.rigs[i]);
                let drives = coupling.dynamics.torque.iter().zip(&state.rigs[i].v);
                let after: f64 = drives.map(|(torque, v)| torque * v).sum();
                // joints along a path move at the mean of their velocities before and after
                let along_paths = coupling.power_along_paths(rig, &state.rigs[i].v);
                state.supplied_energy += h * (after + 0.5 * (before - along_paths));
            }
        }

        // fixed nodes follow
        self.refresh(model, state);
        self.place_fixed_nodes(model, state);
        Ok(())
    }

    /// Finds the limbs in contact of which one may give way; returns whether there are any.
    fn find_limb_contacts(&mut self, model: &Model) -> bool {
        let BoneCoupling { rigs, support, fields, .. } = self;
        let free = rigs.iter().zip(model.rigs()).filter(|(own, _)| !own.is_prescribed).map(|(_, rig)| rig);
        let gives_way = |bone: u32| free.clone().any(|rig| rig.bones.contains(&(bone as usize)));
        support.detect(model.limb_shapes(), fields, gives_way)
    }

    /// Adds the wrenches of limbs in contact to those on bones, whose added inertia is known; returns the energy that they supply (J).
    fn bear_on_each_other(&mut self, model: &Model, h: f64) -> f64 {
        // how bones give way
        self.support.mobility.clear();
        self.support.mobility.resize(self.fields.len(), BoneMobility::NONE);
        for (coupling, rig) in self.rigs.iter().zip(model.rigs()).filter(|(own, _)| !own.is_prescribed) {
            let added = &coupling.dynamics.added_inertia;
            for (i, (bone, frame)) in
                rig.skeleton.bones().iter().zip(coupling.kinematics.world_frames()).enumerate()
            {
                self.support.mobility[rig.bones.start + i] =
                    BoneMobility::of(frame, &(bone.inertia + added[i]));
            }
        }
        self.support.begin();
        let mut given = 0.0;
        for (coupling, rig) in self.rigs.iter_mut().zip(model.rigs()).filter(|(own, _)| !own.is_prescribed) {
            let mut own = FreeSkeleton {
                bones: rig.bones.clone(),
                skeleton: &rig.skeleton,
                kinematics: &coupling.kinematics,
                drag: &mut coupling.dynamics.added_drag,
            };
            given += self.support.push_within(&mut own, &self.fields, h);
        }
        given += self.support.push_between(&self.fields, h);

        // wrenches in the frames of bones
        for (coupling, rig) in self.rigs.iter_mut().zip(model.rigs()) {
            let own = &self.support.wrenches[rig.bones.clone()];
            for ((wrench, push), frame) in
                coupling.wrenches.iter_mut().zip(own).zip(coupling.kinematics.world_frames())
            {
                let torque = push.torque - frame.origin.cross(&push.force);
                *wrench += Wrench::new(frame.rotation.tr_mul(&torque), frame.rotation.tr_mul(&push.force));
            }
        }
        given
    }

    /// Moves fixed nodes with their bones.
    pub(crate) fn place_fixed_nodes(&self, model: &Model, state: &mut State) {
        for (coupling, rig) in self.rigs.iter().zip(model.rigs()) {
            for (i, frame) in coupling.kinematics.world_frames().iter().enumerate() {
                let velocity = &coupling.kinematics.velocities()[i];
                for tie in model.fixed_nodes().ties_of(rig.bones.start, BoneId(i as u32)) {
                    state.node_x[tie.node as usize] = frame.point(&tie.place);
                    state.node_v[tie.node as usize] = frame.rotation * velocity.at(&tie.place);
                }
            }
        }
    }
}

impl RigCoupling {
    fn new(rig: &Rig) -> RigCoupling {
        RigCoupling {
            kinematics: Kinematics::default(),
            dynamics: Dynamics::default(),
            drives: Drives::limp(&rig.skeleton),
            path: StatePath::default(),
            goal: SkeletonState::at_rest(&rig.skeleton),
            floating: MomentumCorrection::default(),
            wrenches: vec![Wrench::default(); rig.skeleton.bones().len()],
            off: vec![0.0; rig.skeleton.v_count()],
            drag: vec![0.0; rig.skeleton.v_count()],
            is_prescribed: false,
            has_path: false,
            is_solved: false,
        }
    }

    /// Wrenches on all bones: forces on fixed nodes, and the reactions of damping and gravity compensation. The order of every sum is fixed.
    fn gather(&mut self, model: &Model, rig: &Rig, pushes: &Pushes, h: f64, state: &State) {
        let RigCoupling { kinematics, wrenches, dynamics, is_prescribed, .. } = self;
        // obstacles wait during the preroll, in which all joints are prescribed
        let bears = !*is_prescribed;
        dynamics.added_inertia.resize(wrenches.len(), RigidInertia::default());
        let load = |i: usize| {
            let bone = BoneId(i as u32);
            let frame = &kinematics.world_frames()[i];
            let origin = frame.origin;
            let (mut force, mut torque) = (Vec3::zeros(), Vec3::zeros());
            let mut added = RigidInertia::default();

            // forces on fixed nodes
            for tie in model.fixed_nodes().ties_of(rig.bones.start, bone) {
                let node = tie.node as usize;
                // of flesh with a home bones bear what they do to free nodes, by their weights
                let has_home = model.homes().holds(node);
                let mut push = if has_home {
                    Vec3::zeros()
                } else {
                    pushes.corner_forces.on_node(model.elements(), node)
                };
                if let Some(load) = pushes.load.get(node) {
                    push += load;
                }
                if let Some(impulse) = pushes.squeezed.get(node) {
                    push += impulse / h;
                }
                force += push;
                torque += (state.node_x[node] - origin).cross(&push);
            }

            // reactions of damping and gravity compensation, and of springs towards home by the weights of bones
            let dragged =
                model.fixed_nodes().dragged_by(rig.bones.start, bone).iter().map(|node| (*node, 1.0));
            let at_home = model.homes().of_bone(rig.bones.start + i);
            for (node, weight) in dragged.chain(at_home.iter().map(|share| (share.node, share.weight))) {
                let node = node as usize;
                let push = weight * pushes.drag[node];
                // the position of the node when damping was applied
                let x = state.node_x[node] - h * state.node_v[node];
                force += push;
                torque += (x - origin).cross(&push);
            }

            // flesh that follows what the bone does in this sub-step
            for share in at_home.iter().filter(|_| !*is_prescribed) {
                let node = share.node as usize;
                let (x, mass) = (state.node_x[node] - h * state.node_v[node], model.node_mass()[node]);
                let fraction =
                    follow_fraction(model, pushes.follow[node], h, (share.weight, share.stiffness / mass));
                added.add_particle(fraction * mass, &frame.point_back(&x));
            }

            // fixed obstacles that its core bears on
            if bears {
                let pushed = bear_on_obstacles((model, state), (rig, kinematics), (i, h), &mut added);
                force += pushed.force;
                torque += pushed.torque;
            }

            // forces of constraints
            if let Some(pull) = pushes.bones.get(rig.bones.start + i) {
                force += pull.force;
                torque += pull.torque - origin.cross(&pull.force);
            }
            let rotation = &frame.rotation;
            (Wrench::new(rotation.tr_mul(&torque), rotation.tr_mul(&force)), added)
        };

        // in parallel over bones
        let bones = if model.node_count() < FEW_NODES { wrenches.len() } else { 1 };
        let parts = (wrenches.as_mut_slice(), dynamics.added_inertia.as_mut_slice());
        for_each_part(parts, bones, |first, (wrenches, added)| {
            wrenches.iter_mut().zip(added).enumerate().for_each(|(i, (wrench, added))| {
                (*wrench, *added) = load(first + i);
            });
        });
    }

    /// What flesh that follows the bones does to them, now that their accelerations are known: it is added to the wrenches, and the fields of the accelerations tell what bones do to flesh.
    fn yield_to_flesh(&mut self, accelerations: &mut [Field]) {
        let bones = self.dynamics.added_inertia.iter().zip(&mut self.wrenches).zip(accelerations);
        for (i, ((added, wrench), field)) in bones.enumerate() {
            let (acceleration, frame) =
                (self.dynamics.bone_acceleration(BoneId(i as u32)), &self.kinematics.world_frames()[i]);
            *wrench = *wrench - added.times(acceleration);
            let angular = frame.rotation * acceleration.angular;
            let at_origin = frame.rotation * acceleration.linear - angular.cross(&frame.origin);
            *field = Field { angular, at_origin, ..Field::default() };
        }
    }

    /// The power of drives along paths at joint velocities (W).
    fn power_along_paths(&self, rig: &Rig, v: &[f64]) -> f64 {
        let bones = rig.skeleton.bones().iter().zip(self.drives.kinds());
        let driven = bones.filter(|(_, kind)| self.has_path && **kind == DriveKind::Motion);
        driven.flat_map(|(bone, _)| bone.joint.v()).map(|dof| self.dynamics.torque[dof] * v[dof]).sum()
    }

    /// Advances by the computed accelerations, and corrects the momentum of floating trees.
    fn advance(&mut self, rig: &Rig, gravity: &Vec3, h: f64, state: &mut SkeletonState) {
        let skeleton = &rig.skeleton;
        let loads = Loads { gravity: *gravity, wrenches: &self.wrenches, passive_step: h };
        self.floating.predict(skeleton, &self.kinematics, &self.drives, &loads, h);
        state.advance(skeleton, &self.dynamics.acceleration, h);
        let driven = skeleton.bones().iter().zip(self.drives.kinds());
        for (bone, _) in driven.filter(|(_, kind)| self.has_path && **kind == DriveKind::Motion) {
            let (q, v) = (bone.joint.q(), bone.joint.v());
            state.q[q.clone()].copy_from_slice(&self.goal.q[q]);
            state.v[v.clone()].copy_from_slice(&self.goal.v[v]);
        }
        self.kinematics.update(skeleton, state);
        self.floating.correct(skeleton, &self.kinematics, state);
    }

    /// Finds how far joints with feedback are from their path at the end of a sub-step, at `(fraction, dt)`.
    fn place_feedback(
        &mut self,
        rig: &Rig,
        control: &RigControl,
        (path, state): ((f64, f64), &SkeletonState),
    ) {
        self.drag.fill(0.0);
        if control.feedback.is_empty() {
            return;
        }
        let torque_driven = control.drives.iter().enumerate().filter(|(_, kind)| **kind == DriveKind::Torque);
        for (i, _) in torque_driven {
            self.path.place(&rig.skeleton, BoneId(i as u32), path, &mut self.goal);
        }
        self.goal.difference_from(&rig.skeleton, state, &mut self.off);
    }

    /// Adds the drag of feedback to that of the joints; after other drag of the sub-step is known.
    fn begin_feedback(&mut self) {
        if self.drag.iter().all(|drag| *drag == 0.0) {
            return;
        }
        let added = &mut self.dynamics.added_drag;
        added.resize(self.drag.len(), 0.0);
        added.iter_mut().zip(&self.drag).for_each(|(added, drag)| *added += drag);
    }

    /// Takes from torques what feedback loses by the acceleration.
    fn finish_feedback(&mut self) {
        let Dynamics { torque, acceleration, .. } = &mut self.dynamics;
        let all = torque.iter_mut().zip(acceleration).zip(&self.drag);
        all.for_each(|((torque, acceleration), drag)| *torque -= drag * *acceleration);
    }

    /// Gives drives their torques, and those along a path the acceleration over a sub-step of `h` (s) that leads to the velocity of the path at
    /// `(fraction, dt)`. Whatever the length of the sub-steps, the accelerations of a step add up to its change of velocity.
    fn set_drives(
        &mut self,
        rig: &Rig,
        control: Option<&RigControl>,
        (path, h): ((f64, f64), f64),
        state: &SkeletonState,
    ) -> Result<(), DynamicsError> {
        let Some(control) = control else { return Ok(()) };
        self.place_feedback(rig, control, (path, state));
        for (i, bone) in rig.skeleton.bones().iter().enumerate() {
            let id = BoneId(i as u32);
            let mut values = [0.0; 6];
            let values = &mut values[..bone.joint.v_count];

            // what the joint is driven by
            let drive = match control.drives[i] {
                DriveKind::Torque => {
                    values.copy_from_slice(&control.torque[bone.joint.v()]);
                    for (value, dof) in values.iter_mut().zip(bone.joint.v()) {
                        let Some(own) = control.feedback.get(dof).filter(|own| own.acts()) else { continue };
                        let velocities = [state.v[dof], self.goal.v[dof]];
                        (*value, self.drag[dof]) = own.at_end_of_step(*value, self.off[dof], velocities, h);
                    }
                    JointDrive::Torque(values)
                }
                DriveKind::Motion => {
                    self.path.place(&rig.skeleton, id, path, &mut self.goal);
                    for (value, dof) in values.iter_mut().zip(bone.joint.v()) {
                        *value = (self.goal.v[dof] - state.v[dof]) / h;
                    }
                    JointDrive::Motion(values)
                }
            };
            if self.drives.set(&rig.skeleton, id, drive).is_err() {
                // the control was validated before the step, so only the state can be invalid
                return Err(DynamicsError::NotFinite { bone: bone.name.clone(), what: "drive" });
            }
        }
        Ok(())
    }
}
