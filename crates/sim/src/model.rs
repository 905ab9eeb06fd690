//! All that never changes during a run, checked once.

mod build;
mod constraints;
mod hash;

use crate::body::Body;
use crate::constraint::Constraint;
use crate::contact_surface::ContactSurface;
use crate::desc::Mobility;
use crate::obstacle::Obstacle;
use crate::rig::{FixedNodes, Rig};
use crate::stable_step::StableStep;
use sinew_contact::SolidMass;
use sinew_flesh::Elements;
use sinew_math::spatial::Frame;
use sinew_math::{Mat3, Vec3};
use std::sync::Arc;

/// A world ready to be stepped: flat arrays over the nodes of all bodies.
#[derive(Clone, Debug)]
pub struct Model {
    /// Acceleration of free fall (m/s²).
    pub gravity: Vec3,
    /// The bodies, each a range of the nodes.
    pub bodies: Vec<Body>,
    /// Node positions as they are drawn (m): where a run begins.
    pub node_rest: Vec<Vec3>,
    /// Node positions without stress (m): those drawn, but for bodies with a rest shape.
    pub node_unstressed: Vec<Vec3>,
    /// What bones bear of the weight of each node, per mass and as its bone sees it (m/s²); empty if they bear nothing.
    pub(crate) node_lift: Vec<Vec3>,
    /// Node velocities at the start (m/s).
    pub node_start_v: Vec<Vec3>,
    /// Node masses (kg).
    pub node_mass: Vec<f64>,
    /// 1 / mass of free nodes, 0 for pinned ones and those fixed to bones (1/kg).
    pub node_inverse_mass: Vec<f64>,
    /// Four node indices per tet.
    pub tets: Vec<[u32; 4]>,
    /// The elastic elements, one per tet.
    pub elements: Elements,
    /// What is held.
    pub pins: Vec<Pin>,
    /// What pushes.
    pub loads: Vec<Load>,
    /// The skeletons.
    pub rigs: Vec<Rig>,
    /// What bodies touch besides each other.
    pub obstacles: Vec<Obstacle>,
    /// Points that are dragged, pinned or joined, and belts.
    pub constraints: Vec<Constraint>,
    /// The points that may touch.
    pub(crate) contact_surface: ContactSurface,
    /// The potential of what balances flesh, at rest (J).
    pub(crate) rest_balance: f64,
    /// Which nodes are fixed to bones.
    pub(crate) fixed_nodes: FixedNodes,
    /// The time step that explicit stepping may take.
    pub stable_step: StableStep,
    /// Tells models apart for what steppers keep about them.
    pub(crate) id: ModelId,
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

    /// Whether anything can touch.
    pub(crate) fn can_collide(&self) -> bool {
        !self.obstacles.is_empty() || self.contact_surface.has_pairs
    }

    /// Whether any obstacle is moved by what touches it.
    pub(crate) fn has_free_obstacles(&self) -> bool {
        self.obstacles.iter().any(|obstacle| obstacle.solid.is_some())
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
