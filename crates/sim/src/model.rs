//! The immutable, validated model of a world: flat arrays over the nodes of all bodies.

mod build;
mod constraints;
mod harmonic_weights;
mod hash;
mod home;
mod metaphors;
mod muscles;
mod painted_stiffness;
mod step_numbers;
mod surface_point;
mod unheld;

pub use harmonic_weights::HarmonicWeights;
pub(crate) use step_numbers::power_of_two;
pub use surface_point::SurfacePoint;

use crate::body::Body;
use crate::body_kind::{BodyKind, CoordinateState};
use crate::constraint::Constraint;
use crate::contact_surface::ContactSurface;
use crate::desc::Mobility;
use crate::home::Homes;
use crate::metaphor::Metaphor;
use crate::muscle::{Muscle, Muscles};
use crate::obstacle::Obstacle;
use crate::part::Parts;
use crate::rig::{FixedNodes, LimbShapes, Rig};
use crate::stable_step::StableStep;
use core::ops::Range;
use sinew_contact::SolidMass;
use sinew_flesh::Elements;
use sinew_math::spatial::Frame;
use sinew_math::{Mat3, Vec3};
use std::sync::Arc;
use step_numbers::OwnNumbers;
use unheld::Unheld;

/// A validated world: flat arrays over the nodes of all bodies.
#[derive(Clone, Debug)]
pub struct Model {
    /// Gravitational acceleration (m/s²).
    gravity: Vec3,
    /// The gravity that the homes of flesh were drawn under (m/s²).
    home_gravity: Vec3,
    /// The bodies, each with a range of nodes.
    bodies: Vec<Body>,
    /// Node positions as drawn (m): the initial configuration.
    node_rest: Vec<Vec3>,
    /// Stress-free node positions (m): as drawn, except for bodies with a computed rest shape.
    node_unstressed: Vec<Vec3>,
    /// Gravity compensation by bones at each node, as an acceleration in the frame of its bone (m/s²); empty without.
    node_lift: Vec<Vec3>,
    /// Initial node velocities (m/s).
    node_start_v: Vec<Vec3>,
    /// Node masses (kg).
    node_mass: Vec<f64>,
    /// Inverse masses of free nodes, 0 for pinned ones and those moved by bones or generalised coordinates (1/kg).
    node_inverse_mass: Vec<f64>,
    /// Four node indices per tet.
    tets: Vec<[u32; 4]>,
    /// The elastic elements, one per tet.
    elements: Elements,
    /// Nodes with prescribed rigid motion.
    pins: Vec<Pin>,
    /// External forces.
    loads: Vec<Load>,
    /// The skeletons.
    rigs: Vec<Rig>,
    limb_shapes: LimbShapes,
    /// For each node, whether flesh at it is stopped before it passes through itself: that of bodies with self-contact. Empty if there are none.
    lockable_nodes: Vec<bool>,
    /// Rigid obstacles.
    obstacles: Vec<Obstacle>,
    /// Soft constraints: dragged, pinned and joined points, and belts.
    constraints: Vec<Constraint>,
    /// Control metaphors.
    metaphors: Vec<Metaphor>,
    /// Muscles, shared by copies.
    muscles: Arc<Muscles>,
    /// The surface points considered in contact detection.
    contact_surface: ContactSurface,
    /// Potential of gravity compensation at rest (J).
    rest_balance: f64,
    /// Nodes fixed to bones.
    fixed_nodes: FixedNodes,
    /// Where skinning has nodes of flesh that rests there.
    homes: Homes,
    /// Connected parts of bodies without bones.
    parts: Parts,
    /// How each bone is turned at rest, those of all rigs together, the world first.
    rest_rotations: Vec<Mat3>,
    /// Stability limit of explicit time steps.
    stable_step: StableStep,
    /// Initial generalised coordinates and velocities of bodies that have them, body by body.
    body_start: CoordinateState,
    /// Ranges of nodes moved by generalised coordinates, in order.
    reduced_nodes: Vec<Range<usize>>,
    /// Bodies and obstacles that nothing holds.
    unheld: Unheld,
    /// Identity of the model, which steppers use to validate cached data.
    id: ModelId,
    /// What factors of stiffness and damping are relative to; none in a model whose numbers are its own.
    own_numbers: Option<Box<OwnNumbers>>,
    /// Whether damping is that of a step, in a copy of a model.
    has_step_damping: bool,
}

/// Identity of a model, shared by its copies only. Workspaces compare it to decide whether cached data are valid.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelId(Arc<()>);

impl PartialEq for ModelId {
    fn eq(&self, other: &ModelId) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Nodes with a common prescribed rigid motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// The body of the nodes: an index into [`Model::bodies`].
    pub body: usize,
    /// The pinned nodes.
    pub nodes: Vec<u32>,
    /// Their centre at rest (m): the point about which the pin rotates during a step.
    pub center: Vec3,
}

/// An external force, distributed to nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The body of the nodes: an index into [`Model::bodies`].
    pub body: usize,
    /// The total force (N), unless the control of a step gives another one.
    pub force: Vec3,
    /// The fraction of it on each node; they add up to 1.
    pub node_fractions: Vec<(u32, f64)>,
}

/// Accessors.
impl Model {
    /// Connected parts of bodies without bones.
    #[inline]
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Gravitational acceleration (m/s²).
    #[inline]
    pub fn gravity(&self) -> Vec3 {
        self.gravity
    }

    /// The bodies, each with a range of nodes.
    #[inline]
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Node positions as drawn (m): the initial configuration.
    #[inline]
    pub fn node_rest(&self) -> &[Vec3] {
        &self.node_rest
    }

    /// Stress-free node positions (m): as drawn, except for bodies with a computed rest shape.
    #[inline]
    pub fn node_unstressed(&self) -> &[Vec3] {
        &self.node_unstressed
    }

    /// Initial node velocities (m/s).
    #[inline]
    pub fn node_start_v(&self) -> &[Vec3] {
        &self.node_start_v
    }

    /// Node masses (kg).
    #[inline]
    pub fn node_mass(&self) -> &[f64] {
        &self.node_mass
    }

    /// Inverse masses of free nodes, 0 for pinned ones and those moved by bones or generalised coordinates (1/kg).
    #[inline]
    pub fn node_inverse_mass(&self) -> &[f64] {
        &self.node_inverse_mass
    }

    /// Four node indices per tet.
    #[inline]
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// The elastic elements, one per tet.
    #[inline]
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// Nodes with prescribed rigid motion.
    #[inline]
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }

    /// External forces.
    #[inline]
    pub fn loads(&self) -> &[Load] {
        &self.loads
    }

    /// The skeletons.
    #[inline]
    pub fn rigs(&self) -> &[Rig] {
        &self.rigs
    }

    /// Rigid obstacles.
    #[inline]
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// Soft constraints: dragged, pinned and joined points, and belts.
    #[inline]
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// Control metaphors.
    #[inline]
    pub fn metaphors(&self) -> &[Metaphor] {
        &self.metaphors
    }

    /// Muscles.
    #[inline]
    pub fn muscles(&self) -> &[Muscle] {
        &self.muscles.all
    }

    /// Muscles with their fibres.
    #[inline]
    pub(crate) fn muscle_store(&self) -> &Arc<Muscles> {
        &self.muscles
    }

    /// Stability limit of explicit time steps.
    #[inline]
    pub fn stable_step(&self) -> StableStep {
        self.stable_step
    }

    /// Initial generalised coordinates and velocities of bodies that have them, body by body.
    #[inline]
    pub fn body_start(&self) -> &CoordinateState {
        &self.body_start
    }

    /// Gravity compensation by bones at each node, as an acceleration in the frame of its bone (m/s²); empty without.
    #[inline]
    pub(crate) fn node_lift(&self) -> &[Vec3] {
        &self.node_lift
    }

    /// The surface points considered in contact detection.
    #[inline]
    pub(crate) fn contact_surface(&self) -> &ContactSurface {
        &self.contact_surface
    }

    /// Potential of gravity compensation at rest (J).
    #[inline]
    pub(crate) fn rest_balance(&self) -> f64 {
        self.rest_balance
    }

    /// Nodes fixed to bones.
    #[inline]
    pub(crate) fn fixed_nodes(&self) -> &FixedNodes {
        &self.fixed_nodes
    }

    /// Where skinning has nodes of flesh that rests there.
    #[inline]
    pub(crate) fn homes(&self) -> &Homes {
        &self.homes
    }

    /// Whether each node is of a body that collides with itself; empty if none does.
    pub(crate) fn lockable_nodes(&self) -> &[bool] {
        &self.lockable_nodes
    }

    /// The shapes of limbs that keep apart.
    pub(crate) fn limb_shapes(&self) -> &LimbShapes {
        &self.limb_shapes
    }

    /// Whether any flesh rests at its skinned shape.
    #[inline]
    pub fn has_homes(&self) -> bool {
        !self.homes.is_empty()
    }

    /// How a bone is turned at rest, by its index among those of all rigs, the world first.
    #[inline]
    pub(crate) fn rest_rotation(&self, bone: usize) -> &Mat3 {
        &self.rest_rotations[bone]
    }

    /// Identity of the model, which steppers use to validate cached data.
    #[inline]
    pub(crate) fn id(&self) -> &ModelId {
        &self.id
    }
}

impl Model {
    /// Total mass of flesh and bones (kg).
    pub fn mass(&self) -> f64 {
        let bodies: f64 = self.bodies.iter().map(|body| body.mass).sum();
        bodies + self.rigs.iter().map(|rig| rig.bone_mass).sum::<f64>()
    }

    /// The bone that a node is fixed to, as index of its rig and bone.
    pub fn bone_of_node(&self, node: usize) -> Option<(usize, sinew_skeleton::BoneId)> {
        let bone = *self.fixed_nodes.node_bone.get(node)? as usize;
        let rig = self.rigs.iter().position(|rig| rig.bones.contains(&bone))?;
        Some((rig, sinew_skeleton::BoneId((bone - self.rigs[rig].bones.start) as u32)))
    }

    /// Number of nodes of all bodies.
    pub fn node_count(&self) -> usize {
        self.node_rest.len()
    }

    /// Mass and inertia of the rigid body that an obstacle is part of, if it is dynamic.
    pub(crate) fn solid(&self, obstacle: usize) -> Option<&SolidMass> {
        self.obstacles[self.obstacles[obstacle].carrier].solid.as_ref()
    }

    /// Whether an obstacle can move.
    pub fn obstacle_moves(&self, obstacle: usize) -> bool {
        self.obstacles[self.obstacles[obstacle].carrier].mobility != Mobility::Fixed
    }

    /// Returns the body that a node belongs to.
    pub fn body_of_node(&self, node: usize) -> &Body {
        self.bodies.iter().find(|body| body.nodes.contains(&node)).expect("every node belongs to a body")
    }

    /// A copy of the model with the same rest shapes and another gravity (m/s²).
    #[cfg(test)]
    pub(crate) fn under_gravity(&self, gravity: Vec3) -> Model {
        Model { gravity, id: ModelId::default(), ..self.clone() }
    }

    /// The gravity under which flesh rests at its home (m/s²): that of the first model of a take.
    #[inline]
    pub(crate) fn home_gravity(&self) -> Vec3 {
        self.home_gravity
    }

    /// Whether any body is not a tet mesh.
    pub(crate) fn has_custom_bodies(&self) -> bool {
        self.bodies.iter().any(|body| matches!(body.kind, BodyKind::Custom(_)))
    }

    /// The first body with generalised coordinates.
    pub(crate) fn reduced_body(&self) -> Option<&Body> {
        self.bodies.iter().find(|body| body.kind.coordinates().is_some())
    }

    /// Whether a node is moved by generalised coordinates of its body.
    pub(crate) fn is_reduced(&self, node: usize) -> bool {
        self.reduced_nodes.iter().any(|nodes| nodes.contains(&node))
    }

    /// Whether a node is moved by a bone or by generalised coordinates.
    pub(crate) fn is_carried(&self, node: usize) -> bool {
        self.fixed_nodes.holds(node) || self.is_reduced(node)
    }

    /// Whether contact is possible.
    pub(crate) fn can_collide(&self) -> bool {
        !self.obstacles.is_empty() || self.contact_surface.has_pairs
    }

    /// Whether any obstacle is dynamic.
    pub(crate) fn has_free_obstacles(&self) -> bool {
        self.obstacles.iter().any(|obstacle| obstacle.solid.is_some())
    }

    /// Whether nothing holds some body or dynamic obstacle: no bone, pin or constraint.
    pub fn has_unheld(&self) -> bool {
        self.unheld.any()
    }

    /// The bodies and obstacles that nothing holds: no bone, pin or constraint.
    pub(crate) fn unheld(&self) -> &Unheld {
        &self.unheld
    }

    /// Rest poses of the bones of all rigs, the world first.
    pub(crate) fn rest_frames(&self) -> Vec<Frame> {
        let bones = self.rigs.iter().flat_map(|rig| &rig.rest_frames).copied();
        core::iter::once(Frame::default()).chain(bones).collect()
    }

    /// Potential of gravity compensation with nodes at `x` (m) and bones at the rotation and origin that `frame` returns (J): a follower force m Rᵢ c has the potential
    /// −m Rᵢ c · (x − oᵢ).
    pub(crate) fn balance_energy(&self, x: &[Vec3], frame: impl Fn(usize) -> (Mat3, Vec3)) -> f64 {
        let mut energy = 0.0;
        for (node, lift) in self.node_lift.iter().enumerate().filter(|(_, lift)| **lift != Vec3::zeros()) {
            let (rotation, origin) = frame(self.fixed_nodes.node_reference[node] as usize);
            let lift = rotation * lift;
            energy -= self.node_mass[node] * lift.dot(&(x[node] - origin));
        }
        energy
    }
}
