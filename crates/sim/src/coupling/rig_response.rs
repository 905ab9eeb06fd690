//! Prediction for controllers: how a skeleton that carries its flesh responds to its drives, by hybrid dynamics.
//!
//! Over the step of a controller flesh is taken as rigid with its bones, and points in contact with obstacles as at rest. Both are inertia J⁺ that is added to that of bones
//! ([`Dynamics::added_inertia`]): particles of the mass of each node, and for each point in contact a particle much heavier than the character that does not fall. What a drive does
//! to the rest of the skeleton, to the root above all, is then known before the step is taken:
//!
//! ```text
//! q̈, τ = hybrid dynamics of (J + J⁺, drives, g)
//! ```
//!
//! and is affine in the drives. Flesh that is bent resists: elastic forces of the state on all nodes act on the bones that carry these. They have no resultant, so that they move no root, but torques have to overcome them.
//! Flesh with a home rests in every pose and does not. A contact only pushes: one whose particle would move away from the obstacle is released, and the response is solved again. The step itself knows nothing of this; where the
//! prediction is wrong, because flesh gives way or slides, a controller sees the error in the next state.

use crate::contact::contact_forces;
use crate::{Model, State};
use sinew_flesh::{CornerForces, Diagonalise, NodeMotion};
use sinew_math::spatial::{Frame, RigidInertia, Twist, Wrench};
use sinew_math::{Mat3, Vec3};
use sinew_skeleton::{BoneId, Drives, Dynamics, DynamicsError, Kinematics, Loads, SkeletonState};

/// The mass of all points in contact relative to that of the character: a hundred times, so that they yield by a hundredth of what would move the whole character freely.
const CONTACT_MASS: f64 = 100.0;

/// The response of one rig, filled from a state. Dropping it costs time, never a different result.
#[derive(Clone, Debug, Default)]
pub struct RigResponse {
    kinematics: Kinematics,
    dynamics: Dynamics,
    /// Flesh that each bone carries, in its frame.
    flesh: Vec<RigidInertia>,
    /// Elastic forces, and what they do to each bone, in its frame.
    corner_forces: CornerForces,
    elastic: Vec<Wrench>,
    contacts: Vec<ContactPoint>,
    wrenches: Vec<Wrench>,
    gravity: Vec3,
}

/// A point of the surface of flesh that is in contact with an obstacle, carried by a bone.
#[derive(Clone, Copy, Debug)]
struct ContactPoint {
    bone: BoneId,
    place: Vec3,
    /// Away from the obstacle, in the world.
    normal: Vec3,
    mass: f64,
    is_pressed: bool,
}

impl RigResponse {
    /// Computes poses, the flesh that bones carry, and contacts of a rig in a state.
    ///
    /// # Panics
    /// If the model has no such rig.
    pub fn update(&mut self, model: &Model, rig: usize, state: &State) {
        self.update_moving(model, rig, state, &state.rigs[rig]);
    }

    /// The same with other joint velocities than those of the state, which bones and the flesh on them are taken to have.
    ///
    /// # Panics
    /// If the model has no such rig, or the joints are those of another.
    pub fn update_moving(&mut self, model: &Model, rig: usize, state: &State, joints: &SkeletonState) {
        self.gravity = model.gravity();
        self.kinematics.update(&model.rigs()[rig].skeleton, joints);
        self.gather_flesh(model, rig, state);
        self.gather_elastic(model, rig, state);
        self.find_contacts(model, rig, state);
        self.set_loads();
    }

    /// Poses and velocities of the bones.
    pub fn kinematics(&self) -> &Kinematics {
        &self.kinematics
    }

    /// Solves for the accelerations of torque-driven joints, and the torques of motion-driven ones, over a step of `dt` (s), with the springs, dampers and stops of joints as they are in a state of them.
    ///
    /// # Errors
    /// If the equations of motion have no solution.
    pub fn solve(
        &mut self,
        (model, rig): (&Model, usize),
        joints: &SkeletonState,
        drives: &Drives,
        dt: f64,
    ) -> Result<(), DynamicsError> {
        let RigResponse { kinematics, dynamics, wrenches, gravity, .. } = self;
        let loads = Loads { gravity: *gravity, wrenches, passive_step: dt };
        dynamics.solve(&model.rigs()[rig].skeleton, kinematics, joints, drives, &loads)
    }

    /// For each degree of freedom the inertia that it turns or shifts, if all others are locked (kg m² or kg): that of the bones and the flesh beyond the joint, or where these are in contact that of the rest of the character, if it is larger.
    pub fn carried_inertia(&self, model: &Model, rig: usize, inertia: &mut Vec<f64>) {
        // of each subtree, about the origin of the world
        let skeleton = &model.rigs()[rig].skeleton;
        let frames = self.kinematics.world_frames();
        let mut subtrees: Vec<(RigidInertia, bool)> = (0..frames.len())
            .map(|i| {
                let own = in_world(&frames[i], &(skeleton.bones()[i].inertia + self.flesh[i]));
                (own, self.contacts.iter().any(|contact| contact.bone.index() == i))
            })
            .collect();
        for i in (0..frames.len()).rev() {
            let (own, stands) = subtrees[i];
            if let Some(parent) = skeleton.bones()[i].parent {
                let (whole, any_stands) = &mut subtrees[parent.index()];
                *whole = *whole + own;
                *any_stands |= stands;
            }
        }
        let mut whole = RigidInertia::default();
        let roots = skeleton.bones().iter().zip(&subtrees).filter(|(bone, _)| bone.parent.is_none());
        roots.for_each(|(_, (own, _))| whole = whole + *own);

        // about the axis of each degree of freedom
        inertia.clear();
        inertia.resize(skeleton.v_count(), 0.0);
        for ((bone, frame), (own, stands)) in skeleton.bones().iter().zip(frames).zip(&subtrees) {
            for (dof, column) in bone.joint.v().zip(&self.kinematics.columns()[bone.joint.v()]) {
                let angular = frame.rotation * column.angular;
                let twist =
                    Twist::new(angular, frame.rotation * column.linear - angular.cross(&frame.origin));
                let of = |body: &RigidInertia| twist.dot(&body.times(&twist));
                let beyond = of(own);
                let rest = if *stands { of(&whole) - beyond } else { 0.0 };
                inertia[dof] = beyond.max(rest);
            }
        }
    }

    /// Accelerations of all degrees of freedom in the last solution (rad/s² or m/s²).
    pub fn acceleration(&self) -> &[f64] {
        &self.dynamics.acceleration
    }

    /// Torques of all drives in the last solution (N m or N).
    pub fn torque(&self) -> &[f64] {
        &self.dynamics.torque
    }

    /// The acceleration of a point of a bone in the last solution, in the world (m/s²).
    pub fn point_acceleration(&self, bone: BoneId, point_in_bone: &Vec3) -> Vec3 {
        let loads = Loads { gravity: self.gravity, ..Loads::default() };
        self.dynamics.point_acceleration(&self.kinematics, &loads, bone, point_in_bone)
    }

    /// The angular acceleration of a bone in the last solution, in the world (rad/s²).
    pub fn angular_acceleration(&self, bone: BoneId) -> Vec3 {
        let frame = &self.kinematics.world_frames()[bone.index()];
        frame.rotation * self.dynamics.bone_acceleration(bone).angular
    }

    /// Whether any point is in contact with an obstacle.
    pub fn has_contact(&self) -> bool {
        !self.contacts.is_empty()
    }

    /// Releases the contacts of a bone that is to accelerate away from them (m/s², world): a rigid bone cannot push itself off.
    pub fn release_bone(&mut self, bone: BoneId, acceleration: &Vec3) {
        let own = self.contacts.iter_mut().filter(|contact| contact.bone == bone);
        own.filter(|contact| acceleration.dot(&contact.normal) > 0.0)
            .for_each(|contact| contact.is_pressed = false);
        self.set_loads();
    }

    /// Releases the contacts that the last solution pulls at; returns whether there are any.
    pub fn release_pulling(&mut self) -> bool {
        let mut contacts = core::mem::take(&mut self.contacts);
        let mut any = false;
        for contact in contacts.iter_mut().filter(|contact| contact.is_pressed) {
            let leaves = self.point_acceleration(contact.bone, &contact.place).dot(&contact.normal) > 0.0;
            contact.is_pressed = !leaves;
            any |= leaves;
        }
        self.contacts = contacts;
        if any {
            self.set_loads();
        }
        any
    }

    fn gather_flesh(&mut self, model: &Model, rig: usize, state: &State) {
        let bones = model.rigs()[rig].bones.clone();
        self.flesh.clear();
        self.flesh.resize(bones.len(), RigidInertia::default());
        for body in model.bodies() {
            for node in body.nodes.clone().filter(|node| !model.fixed_nodes().holds(*node)) {
                let mass = model.node_mass()[node];
                model.for_each_carrier(node, |bone, weight| {
                    if bones.contains(&bone) {
                        let own = bone - bones.start;
                        let place = self.kinematics.world_frames()[own].point_back(&state.node_x[node]);
                        self.flesh[own].add_particle(weight * mass, &place);
                    }
                });
            }
        }
    }

    fn gather_elastic(&mut self, model: &Model, rig: usize, state: &State) {
        let RigResponse { kinematics, corner_forces, elastic, .. } = self;
        let bones = model.rigs()[rig].bones.clone();
        elastic.clear();
        elastic.resize(bones.len(), Wrench::default());
        let motion = NodeMotion { x: &state.node_x, v: &state.node_v };
        corner_forces.update(model.elements(), motion, Diagonalise::Selectively);
        for body in model.bodies() {
            for node in body.nodes.clone().filter(|node| !model.homes().holds(*node)) {
                let force = corner_forces.on_node(model.elements(), node);
                model.for_each_carrier(node, |bone, weight| {
                    if bones.contains(&bone) {
                        let frame = &kinematics.world_frames()[bone - bones.start];
                        let (force, place) =
                            (frame.rotation.tr_mul(&force), frame.point_back(&state.node_x[node]));
                        elastic[bone - bones.start] += Wrench::of_force_at(weight * force, &place);
                    }
                });
            }
        }
    }

    fn find_contacts(&mut self, model: &Model, rig: usize, state: &State) {
        self.contacts.clear();
        if !model.can_collide() {
            return;
        }
        let bones = model.rigs()[rig].bones.clone();
        for found in contact_forces(model, state) {
            let row = model.contact_surface().row(found.vertex as usize);
            let Some(bone) = model.main_carrier(row).filter(|bone| bones.contains(bone)) else { continue };
            let bone = BoneId((bone - bones.start) as u32);
            let (obstacle, pose) = (found.obstacle as usize, &state.obstacles[found.obstacle as usize].pose);
            let p = pose.rotation.inverse_transform_vector(&(found.point - pose.translation.vector));
            let normal = pose.rotation * model.obstacles()[obstacle].shape.probe(&p).normal;
            let place = self.kinematics.world_frames()[bone.index()].point_back(&found.point);
            self.contacts.push(ContactPoint { bone, place, normal, mass: 0.0, is_pressed: true });
        }
        let whole = model.rigs()[rig].skeleton.mass() + self.flesh.iter().map(|own| own.mass).sum::<f64>();
        let mass = CONTACT_MASS * whole / self.contacts.len().max(1) as f64;
        self.contacts.iter_mut().for_each(|contact| contact.mass = mass);
    }

    /// Inertia of flesh and of pressed contacts, elastic and velocity-product forces of flesh, and forces that keep contacts from falling.
    fn set_loads(&mut self) {
        let RigResponse { kinematics, dynamics, flesh, elastic, contacts, wrenches, gravity, .. } = self;
        dynamics.added_inertia.clone_from(flesh);
        wrenches.clear();
        let spin = |(v, own): (&Twist, &RigidInertia)| v.minus_ad_transposed(&own.times(v));
        let spins = kinematics.velocities().iter().zip(flesh.iter()).map(spin);
        wrenches.extend(elastic.iter().zip(spins).map(|(elastic, spin)| *elastic - spin));
        for contact in contacts.iter().filter(|contact| contact.is_pressed) {
            let bone = contact.bone.index();
            dynamics.added_inertia[bone].add_particle(contact.mass, &contact.place);
            let lift = kinematics.world_frames()[bone].rotation.tr_mul(&(*gravity * -contact.mass));
            wrenches[bone] += Wrench::of_force_at(lift, &contact.place);
        }
    }
}

/// An inertia that is given in a frame, about the origin of the world.
fn in_world(frame: &Frame, own: &RigidInertia) -> RigidInertia {
    if own.mass <= 0.0 {
        return RigidInertia::default();
    }
    let center = own.first_moment / own.mass;
    let shift = Mat3::identity() * center.norm_squared() - center * center.transpose();
    let about_center = own.tensor - own.mass * shift;
    let rotation = frame.rotation;
    RigidInertia::new(own.mass, frame.point(&center), rotation * about_center * rotation.transpose())
}
