//! Coulomb friction of skin on the fat in implicit steps, with lagged normal forces.                       \[Li2020, §5\]
//!
//! ```text
//! D = Σ μ λ f₀(|T (x − x_carried)|),    λ = m ω² ⟨t − d(x)⟩,    T = I − n nᵀ
//! ```
//!
//! x_carried is where the bone of the muscle below takes a point from the start of the step. λ, n and the bone are those of the last update, so that D is convex in between.

use super::muscle_layer::LayerPoint;
use sinew_contact::SmoothFriction;
use sinew_math::spatial::Frame;
use sinew_math::{Mat3, Vec3};

/// Friction of all nodes of a skin in a step.
#[derive(Debug, Default)]
pub(super) struct FatFriction {
    nodes: Vec<NodeFriction>,
}

/// Friction of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeFriction {
    /// μ λ (N)
    pub(super) limit: f64,
    pub(super) normal: Vec3,
    pub(super) bone: u32,
}

/// Poses of bones now and at the start of the step, with node positions there.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepStart<'a> {
    pub(super) frames: &'a [Frame],
    pub(super) start_frames: &'a [Frame],
    pub(super) start_x: &'a [Vec3],
    /// The length of the step (s).
    pub(super) h: f64,
}

/// Skin that slides more slowly than this (m/s) sticks.
const STICKING_SPEED: f64 = 1e-3;
/// Limits count as unchanged if they change by less than this fraction of their sum: the error of friction that is allowed.
const SAME_LIMITS: f64 = 0.01;

impl StepStart<'_> {
    /// Where a bone takes a node from the start of the step (m).
    pub(super) fn carried(&self, node: usize, bone: u32) -> Vec3 {
        let (bone, x) = (bone as usize, &self.start_x[node]);
        match (self.frames.get(bone), self.start_frames.get(bone)) {
            (Some(now), Some(then)) => now.point(&then.point_back(x)),
            _ => *x,
        }
    }
}

impl FatFriction {
    /// Forgets all contacts.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
    }

    /// Whether no node rubs.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Takes over what presses each node, `limit` (N) for the nearest point of the layer; returns whether limits changed.
    pub(super) fn update(
        &mut self,
        near: &[Option<LayerPoint>],
        of: impl Fn(usize, &LayerPoint) -> NodeFriction,
    ) -> bool {
        self.nodes.resize(near.len(), NodeFriction::default());
        let (mut changed, mut sum) = (0.0, 0.0);
        for (node, (own, near)) in self.nodes.iter_mut().zip(near).enumerate() {
            let next = near.as_ref().map_or(NodeFriction::default(), |near| of(node, near));
            changed += (next.limit - own.limit).abs();
            sum += next.limit.max(own.limit);
            *own = next;
        }
        changed > SAME_LIMITS * sum
    }

    /// The friction of a node and its slip, if it rubs.
    fn of(&self, node: usize, x: &Vec3, start: &StepStart) -> Option<(NodeFriction, SmoothFriction, Vec3)> {
        let own = *self.nodes.get(node).filter(|own| own.limit > 0.0)?;
        let off = x - start.carried(node, own.bone);
        let law = SmoothFriction { limit: own.limit, slip: STICKING_SPEED * start.h };
        Some((own, law, off - off.dot(&own.normal) * own.normal))
    }

    /// D of a node (J), its gradient (N), and the bone that feels the opposite.
    pub(super) fn evaluate(&self, node: usize, x: &Vec3, start: &StepStart) -> Option<(f64, Vec3, u32)> {
        let (own, law, slip) = self.of(node, x, start)?;
        Some((law.energy(&slip), law.gradient(&slip), own.bone))
    }

    /// ∂²D/∂x² of a node (N/m).
    pub(super) fn hessian(&self, node: usize, x: &Vec3, start: &StepStart) -> Option<Mat3> {
        let (own, law, slip) = self.of(node, x, start)?;
        let tangent = Mat3::identity() - own.normal * own.normal.transpose();
        Some(tangent * law.hessian(&slip) * tangent)
    }
}
