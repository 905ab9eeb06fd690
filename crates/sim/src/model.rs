//! All that never changes during a run, checked once.

mod build;
mod constraints;
mod hash;
mod unheld;

use crate::body::Body;
use crate::body_kind::{BodyKind, CoordinateState};
use crate::constraint::Constraint;
use crate::contact_surface::ContactSurface;
use crate::desc::Mobility;
use crate::obstacle::Obstacle;
use crate::rig::{FixedNodes, Rig};
use crate::stable_step::StableStep;
use core::ops::Range;
use sinew_contact::SolidMass;
use sinew_flesh::Elements;
use sinew_math::spatial::Frame;
use sinew_math::{Mat3, Vec3};
use std::sync::Arc;
use unheld::Unheld;

/// A world ready to be stepped: flat arrays over the nodes of all bodies.
#[derive(Clone, Debug)]
pub struct Model {
    /// Acceleration of free fall (m/s²).
    gravity: Vec3,
    /// The bodies, each a range of the nodes.
    bodies: Vec<Body>,
    /// Node positions as they are drawn (m): where a run begins.
    node_rest: Vec<Vec3>,
    /// Node positions without stress (m): those drawn, but for bodies with a rest shape.
    node_unstressed: Vec<Vec3>,
    /// What bones bear of the weight of each node, per mass and as its bone sees it (m/s²); empty if they bear nothing.
    node_lift: Vec<Vec3>,
    /// Node velocities at the start (m/s).
    node_start_v: Vec<Vec3>,
    /// Node masses (kg).
    node_mass: Vec<f64>,
    /// 1 / mass of free nodes, 0 for pinned ones and those that bones or coordinates move (1/kg).
    node_inverse_mass: Vec<f64>,
    /// Four node indices per tet.
    tets: Vec<[u32; 4]>,
    /// The elastic elements, one per tet.
    elements: Elements,
    /// What is held.
    pins: Vec<Pin>,
    /// What pushes.
    loads: Vec<Load>,
    /// The skeletons.
    rigs: Vec<Rig>,
    /// What bodies touch besides each other.
    obstacles: Vec<Obstacle>,
    /// Points that are dragged, pinned or joined, and belts.
    constraints: Vec<Constraint>,
    /// The points that may touch.
    contact_surface: ContactSurface,
    /// The potential of what balances flesh, at rest (J).
    rest_balance: f64,
    /// Which nodes are fixed to bones.
    fixed_nodes: FixedNodes,
    /// The time step that explicit stepping may take.
    stable_step: StableStep,
    /// Coordinates and velocities at the start of bodies that have others than their points, body by body.
    body_start: CoordinateState,
    /// The nodes that such coordinates move, in order.
    reduced_nodes: Vec<Range<usize>>,
    /// What nothing holds.
    unheld: Unheld,
    /// Tells models apart for what steppers keep about them.
    id: ModelId,
}

/// What a model is known by: copies of a model have the same, all others have not. Scratch tells by it what it was made for.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelId(Arc<()>);

impl PartialEq for ModelId {
    fn eq(&self, other: &ModelId) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Nodes that move rigidly together.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// Whose nodes: an index into [`Model::bodies`].
    pub body: usize,
    /// The nodes that are held.
    pub nodes: Vec<u32>,
    /// Their middle at rest (m): the point about which the pin turns during a step.
    pub center: Vec3,
}

/// A constant force, carried to nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Whose nodes: an index into [`Model::bodies`].
    pub body: usize,
    /// The force on each node (N).
    pub node_forces: Vec<(u32, Vec3)>,
}

/// What a model is made of.
impl Model {
    /// Acceleration of free fall (m/s²).
    #[inline]
    pub fn gravity(&self) -> Vec3 {
        self.gravity
    }

    /// The bodies, each a range of the nodes.
    #[inline]
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Node positions as they are drawn (m): where a run begins.
    #[inline]
    pub fn node_rest(&self) -> &[Vec3] {
        &self.node_rest
    }

    /// Node positions without stress (m): those drawn, but for bodies with a rest shape.
    #[inline]
    pub fn node_unstressed(&self) -> &[Vec3] {
        &self.node_unstressed
    }

    /// Node velocities at the start (m/s).
    #[inline]
    pub fn node_start_v(&self) -> &[Vec3] {
        &self.node_start_v
    }

    /// Node masses (kg).
    #[inline]
    pub fn node_mass(&self) -> &[f64] {
        &self.node_mass
    }

    /// 1 / mass of free nodes, 0 for pinned ones and those that bones or coordinates move (1/kg).
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

    /// What is held.
    #[inline]
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }

    /// What pushes.
    #[inline]
    pub fn loads(&self) -> &[Load] {
        &self.loads
    }

    /// The skeletons.
    #[inline]
    pub fn rigs(&self) -> &[Rig] {
        &self.rigs
    }

    /// What bodies touch besides each other.
    #[inline]
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// Points that are dragged, pinned or joined, and belts.
    #[inline]
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// The time step that explicit stepping may take.
    #[inline]
    pub fn stable_step(&self) -> StableStep {
        self.stable_step
    }

    /// Coordinates and velocities at the start of bodies that have others than their points, body by body.
    #[inline]
    pub fn body_start(&self) -> &CoordinateState {
        &self.body_start
    }

    /// What bones bear of the weight of each node, per mass and as its bone sees it (m/s²); empty if they bear nothing.
    #[inline]
    pub(crate) fn node_lift(&self) -> &[Vec3] {
        &self.node_lift
    }

    /// The points that may touch.
    #[inline]
    pub(crate) fn contact_surface(&self) -> &ContactSurface {
        &self.contact_surface
    }

    /// The potential of what balances flesh, at rest (J).
    #[inline]
    pub(crate) fn rest_balance(&self) -> f64 {
        self.rest_balance
    }

    /// Which nodes are fixed to bones.
    #[inline]
    pub(crate) fn fixed_nodes(&self) -> &FixedNodes {
        &self.fixed_nodes
    }

    /// Tells models apart for what steppers keep about them.
    #[inline]
    pub(crate) fn id(&self) -> &ModelId {
        &self.id
    }
}

impl Model {
    /// Mass of all flesh and all bones (kg).
    pub fn mass(&self) -> f64 {
        let bodies: f64 = self.bodies.iter().map(|body| body.mass).sum();
        bodies + self.rigs.iter().map(|rig| rig.bone_mass).sum::<f64>()
    }

    /// The bone that a node is fixed to, as the place of a rig and its bone.
    pub fn bone_of_node(&self, node: usize) -> Option<(usize, sinew_skeleton::BoneId)> {
        let bone = *self.fixed_nodes.node_bone.get(node)? as usize;
        let rig = self.rigs.iter().position(|rig| rig.bones.contains(&bone))?;
        Some((rig, sinew_skeleton::BoneId((bone - self.rigs[rig].bones.start) as u32)))
    }

    /// How many nodes all bodies have.
    pub fn node_count(&self) -> usize {
        self.node_rest.len()
    }

    /// Mass and inertia of what an obstacle moves with, if that is free.
    pub(crate) fn solid(&self, obstacle: usize) -> Option<&SolidMass> {
        self.obstacles[self.obstacles[obstacle].carrier].solid.as_ref()
    }

    /// Whether an obstacle ever leaves its place.
    pub fn obstacle_moves(&self, obstacle: usize) -> bool {
        self.obstacles[self.obstacles[obstacle].carrier].mobility != Mobility::Fixed
    }

    /// The body that owns a node.
    pub fn body_of_node(&self, node: usize) -> &Body {
        self.bodies.iter().find(|body| body.nodes.contains(&node)).expect("every node belongs to a body")
    }

    /// Another model, of the same rest shapes, that falls in another way (m/s²).
    #[cfg(test)]
    pub(crate) fn under_gravity(&self, gravity: Vec3) -> Model {
        Model { gravity, id: ModelId::default(), ..self.clone() }
    }

    /// Whether any body is of another kind than tets.
    pub(crate) fn has_custom_bodies(&self) -> bool {
        self.bodies.iter().any(|body| matches!(body.kind, BodyKind::Custom(_)))
    }

    /// The first body with coordinates of its own.
    pub(crate) fn reduced_body(&self) -> Option<&Body> {
        self.bodies.iter().find(|body| body.kind.coordinates().is_some())
    }

    /// Whether a node is moved by coordinates of its body.
    pub(crate) fn is_reduced(&self, node: usize) -> bool {
        self.reduced_nodes.iter().any(|nodes| nodes.contains(&node))
    }

    /// Whether a node is moved by a bone or by coordinates of its body.
    pub(crate) fn is_carried(&self, node: usize) -> bool {
        self.fixed_nodes.holds(node) || self.is_reduced(node)
    }

    /// Whether anything can touch.
    pub(crate) fn can_collide(&self) -> bool {
        !self.obstacles.is_empty() || self.contact_surface.has_pairs
    }

    /// Whether any obstacle is moved by what touches it.
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

    /// Where bones stand at rest, those of all rigs together, the world first.
    pub(crate) fn rest_frames(&self) -> Vec<Frame> {
        let bones = self.rigs.iter().flat_map(|rig| &rig.rest_frames).copied();
        core::iter::once(Frame::default()).chain(bones).collect()
    }

    /// The potential of what balances flesh, with nodes at `x` (m) and each bone turned and placed as `frame` says (J): a force m Rᵢ c that turns with the bone has
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
