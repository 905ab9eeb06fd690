//! The flesh that one node shows: the vertices of its surfaces, and their linear blend skinning frame by frame.
//!
//! ```text
//! x = Σ_j w_j J_j (p + δ) = x_p + A δ,   A = Σ_j w_j A_j
//! ```
//!
//! with p the vertex and the morph targets of the file, J_j the joint matrices of a frame and A_j their linear parts. A surface
//! without skin has one joint, its node.

use sinew_character::{CharacterPose, JointWeight, Mat4, RiggedCharacter, SkinWeights, SurfaceId};
use sinew_math::Mat3;
use sinew_math::svd::Svd;
use sinew_take::SinkError;
use std::ops::Range;
use std::sync::Arc;

/// The flesh that a node shows.
#[derive(Debug)]
pub(super) struct Body {
    /// The node.
    pub(super) node: usize,
    /// Its surfaces, by primitive.
    pub(super) parts: Vec<Part>,
    /// Where its vertices are among those of all bodies.
    pub(super) vertices: Range<usize>,
}

/// A surface of a body.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) surface: SurfaceId,
    /// Its place among the surfaces as they are given.
    pub(super) given: usize,
    /// Where its vertices are among those of the body.
    pub(super) vertices: Range<usize>,
    weights: Option<Arc<SkinWeights>>,
}

/// A_j and ‖A_j‖.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    linear: Mat3,
    scale: f64,
}

impl Body {
    /// The bodies of all surfaces, by node; fails where a surface does not exist or is named twice.
    pub(super) fn all(character: &RiggedCharacter, surfaces: &[SurfaceId]) -> Result<Vec<Body>, SinkError> {
        // by node, whatever order they are given in
        let mut order: Vec<usize> = (0..surfaces.len()).collect();
        order.sort_by_key(|given| surfaces[*given]);
        let mut bodies: Vec<Body> = Vec::new();
        let mut last = None;
        for given in order {
            // in the file, and once
            let surface = surfaces[given];
            let named = |message: &str| {
                SinkError(format!("primitive {} of node {} {message}", surface.primitive, surface.node))
            };
            let primitive = character
                .primitive(surface)
                .ok_or_else(|| named("is not in the file: give surfaces that `surfaces()` lists"))?;
            if last.replace(surface) == Some(surface) {
                return Err(named("is given twice: give each surface once"));
            }

            // a body for each node, a part for each of its primitives
            if bodies.last().is_none_or(|body| body.node != surface.node) {
                let start = bodies.last().map_or(0, |body| body.vertices.end);
                let vertices = start..start;
                bodies.push(Body { node: surface.node, parts: Vec::new(), vertices });
            }
            let Some(body) = bodies.last_mut() else { continue };
            let first = body.vertices.len();
            body.vertices.end += primitive.positions.len();
            body.parts.push(Part {
                surface,
                given,
                vertices: first..body.vertices.len(),
                weights: primitive.weights.clone().filter(|_| character.is_skinned(surface)),
            });
        }
        Ok(bodies)
    }

    /// How many vertices there are.
    pub(super) fn vertex_count(&self) -> usize {
        self.vertices.len()
    }

    /// The part that a vertex of the body is in, and its place there.
    pub(super) fn part_of(&self, vertex: usize) -> (&Part, usize) {
        let place = self.parts.partition_point(|part| part.vertices.end <= vertex);
        let part = &self.parts[place];
        (part, vertex - part.vertices.start)
    }

    /// The joints of the skin in a pose, then the node.
    pub(super) fn joints(&self, character: &RiggedCharacter, pose: &CharacterPose) -> Vec<Joint> {
        let skin = character.nodes[self.node].skin;
        let mut matrices = skin.and_then(|skin| character.joint_matrices(skin, pose)).unwrap_or_default();
        matrices.push(pose.world_from_node[self.node]);
        let joint = |matrix: &Mat4| {
            let linear = matrix.fixed_view::<3, 3>(0, 0).into_owned();
            Joint { linear, scale: Svd::of(&linear).sigma.x }
        };
        matrices.iter().map(joint).collect()
    }
}

impl Part {
    /// The joints of a vertex of the part; none if it follows the node.
    pub(super) fn weights(&self, vertex: usize) -> &[JointWeight] {
        self.weights.as_ref().map_or(&[], |weights| weights.of(vertex))
    }

    /// Whether joints move it, rather than its node.
    pub(super) fn is_skinned(&self) -> bool {
        self.weights.is_some()
    }

    /// A and s = Σ_j w_j ‖A_j‖ of a vertex of the part, where the joints of the body stand so.
    pub(super) fn map(&self, joints: &[Joint], vertex: usize) -> (Mat3, f64) {
        let Some(weights) = &self.weights else {
            return joints.last().map_or((Mat3::zeros(), 0.0), |joint| (joint.linear, joint.scale));
        };
        let add = |(linear, scale): (Mat3, f64), entry: &JointWeight| {
            let joint = &joints[entry.joint as usize];
            (linear + entry.weight * joint.linear, scale + entry.weight * joint.scale)
        };
        weights.of(vertex).iter().fold((Mat3::zeros(), 0.0), add)
    }

    /// s alone.
    pub(super) fn scale(&self, joints: &[Joint], vertex: usize) -> f64 {
        match &self.weights {
            Some(weights) => {
                weights.of(vertex).iter().map(|entry| entry.weight * joints[entry.joint as usize].scale).sum()
            }
            None => joints.last().map_or(0.0, |joint| joint.scale),
        }
    }
}
